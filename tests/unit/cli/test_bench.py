"""The command ``pegasos bench``."""

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.cli import main
from pegasos.cli.bench import _generated
from pegasos.cli.rivals import RacedRows, installed


@pytest.fixture(autouse=True)
def _without_snapml(monkeypatch):
    """Its import changes the arithmetic of the whole process: numbers below the normal ones become 0."""
    monkeypatch.setitem(sys.modules, "snapml", None)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5)).astype(np.float32)
SIGN = np.where(X[:, 0] + 0.5 * RNG.normal(size=200) > 0.2, 1.0, -1.0)


def objective(data, lam, weights, intercept):
    """By numpy alone."""
    losses = np.maximum(0.0, 1.0 - data.y * (data.X @ weights + intercept))
    return lam / 2 * (weights @ weights + intercept**2) + losses.mean()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_all_rivals_solve_the_same_problem(make):
    data, lam = RacedRows(make(X), SIGN), 0.01
    found = {}
    for rival in installed(None)[0]:
        setting = rival.ladder(1e-6)[-1]
        found[rival.name] = objective(data, lam, *rival.fit(rival.prepare(data), lam, setting))
    assert len(found) >= 3
    assert all(value == pytest.approx(found["pegasos"], rel=1e-2) for value in found.values())
    assert found["LinearSVC"] == pytest.approx(found["pegasos"], rel=1e-4)


def test_the_table_has_a_line_for_each_solver_and_json_the_same(rows, capsys):
    assert main(["bench", rows, "--lam", "0.01", "--target", "0.01", "--limit", "1"]) == 0
    head, columns, *lines = capsys.readouterr().out.splitlines()
    assert head == f"{rows}: 90 rows, 6 features, lam 0.01, to a gap of 0.01"
    assert columns.split()[:2] == ["solver", "seconds"]
    assert lines[0].split()[0] == "pegasos"
    assert main(["bench", rows, "--lam", "0.01", "--target", "0.01", "--limit", "1", "--json"]) == 0
    outcomes = json.loads(capsys.readouterr().out)["outcomes"]
    assert [one["name"] for one in outcomes] == [line.split("  ")[0] for line in lines]
    assert outcomes[0]["reached"]
    assert all(one["above"] <= 0.01 for one in outcomes if one["reached"])


def test_of_several_classes_the_largest_is_against_the_rest(tmp_path, capsys):
    path = tmp_path / "three.svm"
    path.write_text("".join(f"{k} 1:{k} 2:{i}\n" for i, k in enumerate([1, 2, 2, 3, 1, 2])))
    assert main(["bench", str(path), "--target", "0.1", "--limit", "0.1", "--lam", "0.1"]) == 0
    assert "class 2 against the rest: 6 rows" in capsys.readouterr().out


def test_generated_rows_are_sparse_and_of_both_classes():
    data = _generated()
    assert sp.issparse(data.X)
    assert 0.3 < np.mean(data.y > 0) < 0.7


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "0"], "--target must be a positive number, got 0.0."),
        (["--lam", "nan"], "--lam must be a positive number, got nan."),
        (["--n-jobs", "0"], "--n-jobs must be"),
    ],
)
def test_what_cannot_be_raced_raises_an_error(rows, failing, options, sentence):
    assert sentence in failing("bench", rows, *options)


def test_rows_of_one_class_raise_an_error(failing, tmp_path):
    path = tmp_path / "one.svm"
    path.write_text("1 1:1\n1 1:2\n")
    assert "has rows of one class only, 1: two are needed." in failing("bench", path)


@pytest.mark.slow  # no rival can be told to stop
def test_a_rival_that_gives_up_is_in_the_table_all_the_same(tmp_path, capsys):
    path = tmp_path / "huge.svm"
    path.write_text("1 1:1e38\n-1 1:-3e38\n1 1:3e38\n-1 2:1\n")
    assert main(["bench", str(path), "--limit", "0.5"]) == 0
    assert "SGDClassifier" in capsys.readouterr().out
