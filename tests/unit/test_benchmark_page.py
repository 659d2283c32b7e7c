"""The page on speed."""

import json

import pytest

from benchmarks import endings, page, patch, tables


def test_the_page_on_speed_is_made_of_the_results():
    assert page.PAGE.read_text(encoding="utf8") == page.page()


def test_the_table_of_the_page_on_migration_is_that_of_the_results():
    assert patch.PAGE.read_text(encoding="utf8") == patch.page()


def test_every_fit_of_that_table_has_the_gap_that_the_page_states():
    rows = json.loads(patch.RESULTS.read_text())["rows"]
    assert max(row["gap"] for row in rows) <= 1e-6


NAMES = {
    "a9a": "a9a",
    "covtype": "covtype",
    "mnist": "mnist",
    "fashion_mnist": "fashion_mnist",
    "kddcup99": "kddcup99",
    "generated": "dense_2m",
    "reuters21578": "reuters21578",
    "generated text": "sparse_1m",
}
README = page.PAGE.parents[1] / "README.md"


def shown_panels():
    """The rows of the README's first table of times: data set, lam, and a cell for each solver."""
    text = README.read_text(encoding="utf8")
    header = "| data | lam | pegasos | LIBLINEAR | LinearSVC | Snap ML | fastest rival / pegasos |\n"
    name = None
    for line in text.split(header)[1].split("\n\n")[0].splitlines()[1:]:
        first, lam, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        name = NAMES[first.partition(" (")[0]] if first else name
        yield name, float(lam), [cell.strip("*").removesuffix(" s") for cell in cells]


def test_the_times_in_the_readme_are_those_of_the_results():
    measured = {(row.problem, row.lam): row for row in tables.read(1e-3)}
    compared = 0
    for name, lam, (ours, liblinear, linear, snap, ratio) in shown_panels():
        row = measured[name, lam]
        snaps = [one for solver, one in row.outcomes.items() if solver.startswith("Snap ML")]
        best = min([one for one in snaps if one.reached] or snaps, key=lambda one: one.seconds)
        pairs = [(ours, row.outcomes["pegasos"]), (liblinear, row.outcomes["LIBLINEAR"])]
        for cell, outcome in [*pairs, (linear, row.outcomes["LinearSVC"]), (snap, best)]:
            assert cell.startswith(">") != outcome.reached, (name, lam, cell)
            assert float(cell.strip("> ")) == pytest.approx(outcome.seconds, rel=0.06), (name, lam, cell)
        assert float(ratio.strip("> ")) == pytest.approx(row.ratio, abs=0.051)
        compared += 1
    assert compared == 10


def test_the_share_of_certified_fits_in_the_readme_is_that_of_the_results():
    found = json.loads((page.RESULTS / "promise_coarse.json").read_text())
    (ours, n), (theirs, _) = found["shares"]["fit"], found["shares"]["LinearSVC"]
    text = " ".join((page.RESULTS.parents[1] / "README.md").read_text(encoding="utf8").split())
    assert f"Of {n} fits on {found['problems']} data sets, {ours} ended" in text
    assert f"at their defaults, reached {theirs} of them" in text
    finer = json.loads((page.RESULTS / "promise_full.json").read_text())
    kept, n = finer["shares"]["fit"]
    assert f"of its {n} fits on {finer['problems']} data sets" in text
    assert f"{kept} kept the promise" in text


def test_the_page_on_reliability_shows_how_soon_fits_end():
    assert endings.table() in endings.PAGE.read_text(encoding="utf8")
