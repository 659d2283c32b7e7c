"""The experiments: that their pages are those of their results, and that claims hold which can be checked quickly."""

import importlib
import json
import os
import subprocess
import sys

import pytest
from scipy import stats

from experiments import judging, pages
from experiments.__main__ import names

needs_data = pytest.mark.skipif("PEGASOS_DATA" not in os.environ, reason="PEGASOS_DATA names no folder")


@pytest.mark.parametrize("name", names)
def test_every_page_is_made_of_its_results(name):
    results = pages.read(name)
    page = importlib.import_module(f"experiments.{name}").page(results)
    assert (pages.folder / f"{name.replace('_', '-')}.md").read_text(encoding="utf8") == page
    assert results["claims"] == importlib.import_module(f"experiments.{name}").claims(results)
    assert results["claims"] or name == "probabilities", "what does the source say?"
    assert (pages.folder / results["picture"]).exists()
    assert f"]({results['picture']})" in page


def test_the_index_is_made_of_all_results():
    assert (pages.folder / "index.md").read_text(encoding="utf8") == pages.index()


def test_every_verdict_is_on_its_page_and_counted_in_the_index():
    index = (pages.folder / "index.md").read_text(encoding="utf8")
    verdicts = [each["verdict"] for name in names for each in pages.read(name)["claims"]]
    assert set(verdicts) == set(judging.VERDICTS)
    for verdict in (judging.FAILED, judging.UNDECIDED):
        assert index.count(f"| **{verdict}** |") == verdicts.count(verdict)
    assert index.count(f"| {judging.HELD} |") == verdicts.count(judging.HELD)


def test_an_interval_within_the_range_holds_outside_fails_and_across_is_undecided():
    assert judging.Interval(0.1, 0.2).verdict(least=0.0) == judging.HELD
    assert judging.Interval(-0.2, -0.1).verdict(least=0.0) == judging.FAILED
    assert judging.Interval(-0.1, 0.1).verdict(least=0.0) == judging.UNDECIDED
    assert judging.Interval(0.07, 0.37).verdict(-0.15, 0.15) == judging.UNDECIDED
    assert judging.Interval(0.2, 0.3).verdict(-0.15, 0.15) == judging.FAILED
    assert judging.together(judging.HELD, judging.UNDECIDED) == judging.UNDECIDED
    assert judging.together(judging.UNDECIDED, judging.FAILED) == judging.FAILED
    assert judging.together(judging.HELD, judging.HELD) == judging.HELD


def test_the_interval_of_a_mean_is_students():
    low, high = judging.interval([1.0, 2.0, 3.0, 4.0])
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 3, 2.5, stats.sem([1, 2, 3, 4])))
    assert judging.interval([1.0]).verdict(least=0.0) == judging.UNDECIDED  # one measurement tells nothing


def test_the_four_points_of_the_slides_go_the_way_of_the_slides():
    from experiments import kernel_perceptron

    claims = kernel_perceptron.claims(kernel_perceptron.measure(quick=True))
    assert [each["verdict"] for each in claims] == [judging.HELD] * 2


def test_the_rings_of_the_kernel_perceptron_are_the_mistakes_that_its_page_names(monkeypatch):
    from experiments import kernel_perceptron

    results, drawn = pages.read("kernel_perceptron"), []
    monkeypatch.setattr(kernel_perceptron.pictures, "save", lambda figure, name: drawn.append(figure))
    kernel_perceptron.draw(results)
    text = " ".join(kernel_perceptron.page(results).split())
    for axes, passes in zip(drawn[0].axes, kernel_perceptron.shown_passes(results), strict=True):
        (rings,) = (each for each in axes.collections if each.get_label() == "mistake")
        ringed = [f"x{int(2 * x + y) + 1}" for x, y in rings.get_offsets()]
        assert ringed == kernel_perceptron.wrong_after(results, passes)
        assert f"after pass {passes}, {', '.join(ringed) or 'none'}" in text


def test_the_toy_data_are_learnt_as_the_report_says():
    from experiments import toy

    results = toy.measure(quick=True)
    assert [each["verdict"] for each in toy.claims(results)] == [judging.HELD] * 2
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

    claims = batch_size.claims(batch_size.measure(quick=True))
    assert claims[0]["verdict"] == judging.HELD
    assert claims[1]["verdict"] != judging.FAILED  # two seeds of a quick run may leave it open


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", names)
def test_every_experiment_has_a_quick_form_that_writes_nothing(name):
    before = {path: path.stat().st_mtime_ns for path in pages.folder.iterdir()}
    subprocess.run([sys.executable, "-m", f"experiments.{name}", "--quick"], check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in pages.folder.iterdir()} == before


@pytest.mark.slow
@pytest.mark.parametrize("name", names)
def test_every_experiment_runs_on_twins_of_its_data(name, monkeypatch):
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    before = {path: path.stat().st_mtime_ns for path in pages.folder.iterdir()}
    subprocess.run([sys.executable, "-m", f"experiments.{name}", "--twin"], check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in pages.folder.iterdir()} == before


def test_one_experiment_runs_on_the_twin_of_its_data(monkeypatch):
    from experiments import imbalance

    monkeypatch.setenv("PEGASOS_DATA", "twins")
    rows, is_rare, _, _ = next(imbalance.splits("kddcup99", 1))
    assert rows.shape[0] == len(is_rare)
    assert 0.0 < is_rare.mean() < 0.5


def test_an_unknown_experiment_is_refused_with_a_reason():
    call = [sys.executable, "-m", "experiments", "nonsense"]
    said = subprocess.run(call, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "there is no experiment 'nonsense'" in said.stderr


def test_result_files_are_plain_json():
    for path in pages.folder.glob("*.json"):
        assert isinstance(json.loads(path.read_text(encoding="utf8")), dict)
