"""The page is one file that loads nothing; the command opens or writes it; building it again gives the same bytes."""

import importlib.util
import re
import runpy
import sys
import webbrowser
from pathlib import Path

import pytest

from pegasos import playground
from pegasos.cli import main

BUILD = Path(__file__).parents[2] / "web" / "playground" / "build.py"


def test_the_page_has_everything_inside():
    text = playground.page().read_text(encoding="utf-8")
    assert "/*WASM*/" not in text
    assert not re.findall(r"""(?:src|href)=["'](?!data:)[^"']+""", text)
    assert not re.findall(r"\b(?:fetch|XMLHttpRequest|importScripts)\b|https?://", text)
    assert len(text) < 400_000


def test_the_page_is_made_of_the_sources():
    """Except for the compiled core, which the slow test makes again."""
    if not BUILD.exists():
        pytest.skip("the sources of the page are not here")
    text = playground.page().read_text(encoding="utf-8")
    for source in BUILD.parent.glob("*.[jc]s*"):
        assert source.read_text(encoding="utf-8") in text, f"{source.name} has changed: make playground"


@pytest.mark.slow
def test_building_gives_the_same_bytes(tmp_path, monkeypatch):
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the compiler is missing: pip install --group playground")
    monkeypatch.setattr(sys, "argv", ["build.py", str(tmp_path / "again.html")])
    runpy.run_path(str(BUILD), run_name="__main__")
    assert (tmp_path / "again.html").read_bytes() == playground.page().read_bytes()


def test_the_command_writes_the_page_into_a_folder(tmp_path, capsys):
    assert main(["playground", "--output", str(tmp_path / "new")]) == 0
    written = tmp_path / "new" / "playground.html"
    assert written.read_bytes() == playground.page().read_bytes()
    assert str(written) in capsys.readouterr().out


@pytest.mark.parametrize("has_browser", [True, False])
def test_the_command_opens_the_page_and_prints_where_it_is(monkeypatch, capsys, has_browser):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or has_browser)
    assert main(["playground"]) == 0
    printed = capsys.readouterr().out
    assert opened == [playground.page().as_uri()]
    assert str(playground.page()) in printed
    assert ("no browser" in printed) is not has_browser
