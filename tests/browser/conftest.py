"""A Chromium for the tests of pages; without one they are skipped."""

import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
if getattr(os, "geteuid", lambda: 1)() == 0:
    FLAGS.append("--no-sandbox")


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="the driver is missing: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()
