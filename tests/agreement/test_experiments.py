"""The experiments: that their pages are those of their results, and that claims hold which can be checked quickly."""

import importlib
import json
import os
import subprocess
import sys

import pytest

from experiments import pages
from experiments.__main__ import names

needs_data = pytest.mark.skipif("PEGASOS_DATA" not in os.environ, reason="PEGASOS_DATA names no folder")


@pytest.mark.parametrize("name", names)
def test_every_page_is_made_of_its_results(name):
    results = pages.read(name)
    page = importlib.import_module(f"experiments.{name}").page(results)
    assert (pages.folder / f"{name.replace('_', '-')}.md").read_text(encoding="utf8") == page
    assert results["claims"], "what does the source say?"
    assert (pages.folder / results["picture"]).exists()
    assert f"]({results['picture']})" in page


def test_the_index_is_made_of_all_results():
    assert (pages.folder / "index.md").read_text(encoding="utf8") == pages.index()


def test_a_claim_that_did_not_hold_says_so_on_its_page_and_in_the_index():
    index = (pages.folder / "index.md").read_text(encoding="utf8")
    open_claims = [each for name in names for each in pages.read(name)["claims"] if not each["held"]]
    assert open_claims
    assert index.count("**did not hold**") == len(open_claims)


def test_the_four_points_of_the_slides_go_the_way_of_the_slides():
    from experiments import kernel_perceptron

    assert all(each["held"] for each in kernel_perceptron.measure(quick=True)["claims"])


def test_the_toy_data_are_learnt_as_the_report_says():
    from experiments import toy

    results = toy.measure(quick=True)
    assert all(each["held"] for each in results["claims"])
    assert results["found"]["clouds"]["new_rows"] >= 0.982


def test_results_on_file_keep_the_claims_that_matter():
    bound = pages.read("bound")
    pairs = zip(bound["curves"]["average, projected"], bound["bound"], strict=True)
    assert all(excess <= limit for excess, limit in pairs)
    fashion = [each["accuracy"] for each in pages.read("fashion_pairs")["pairs"] if each["model"].startswith("RBF")]
    assert sum(fashion) / len(fashion) >= 0.984


@needs_data
def test_more_rows_in_a_step_lead_nearer_and_small_batches_cost_nothing():
    from experiments import batch_size

    assert all(each["held"] for each in batch_size.measure(quick=True)["claims"])


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", names)
def test_every_experiment_has_a_quick_form_that_writes_nothing(name):
    before = {path: path.stat().st_mtime_ns for path in pages.folder.iterdir()}
    subprocess.run([sys.executable, "-m", f"experiments.{name}", "--quick"], check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in pages.folder.iterdir()} == before


def test_an_unknown_experiment_is_refused_in_a_sentence():
    call = [sys.executable, "-m", "experiments", "nonsense"]
    said = subprocess.run(call, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "there is no experiment 'nonsense'" in said.stderr


def test_result_files_are_plain_json():
    for path in pages.folder.glob("*.json"):
        assert isinstance(json.loads(path.read_text(encoding="utf8")), dict)
