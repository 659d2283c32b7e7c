"""The command ``pegasos certify``."""

import json

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from pegasos.cli import main
from pegasos.data import read


@pytest.fixture
def weights(rows, tmp_path):
    """Of LinearSVC, for C = 0.5 on the same rows."""
    X, y = read(rows)
    found = LinearSVC(C=0.5, loss="hinge", tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    path = tmp_path / "weights.npz"
    np.savez(path, coef=found.coef_, intercept=found.intercept_)
    return str(path)


def test_a_model_is_certified_by_its_own_dual_point(rows, model, capsys):
    assert main(["certify", model, rows]) == 0
    printed = capsys.readouterr().out
    assert "certified: the objective" in printed
    assert "the model's own dual point" in printed


def test_weights_of_another_tool_are_certified_for_their_problem(rows, weights, capsys):
    assert main(["certify", weights, rows, "--C", "0.5", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["certified"]
    certificate = values["certificate"]
    assert values["at_least_above"] <= certificate["gap"] / certificate["dual"]


def test_weights_for_another_problem_are_proved_to_be_bad(rows, weights, capsys):
    assert main(["certify", weights, rows, "--C", "0.001"]) == 1
    assert "the objective is proved to be at least" in capsys.readouterr().out


def test_the_same_weights_in_other_files_give_the_same_proof(rows, weights, tmp_path, capsys):
    held = np.load(weights)
    (tmp_path / "weights.json").write_text(
        json.dumps({"coef": held["coef"].tolist(), "intercept": held["intercept"].tolist(), "classes": [-1, 1]})
    )
    for path in (weights, tmp_path / "weights.json"):
        assert main(["certify", str(path), rows, "--C", "0.5", "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == second


def test_a_model_on_other_rows_is_judged_by_a_solution_for_those(model, rows, tmp_path, capsys):
    some = tmp_path / "some.svm"
    with open(rows) as file:
        some.write_text("".join(file.readlines()[:40]))
    assert main(["certify", model, str(some)]) == 1
    assert "a solution for these rows, found now" in capsys.readouterr().out


def test_what_is_missing_or_does_not_fit_raises_an_error(rows, weights, failing, tmp_path):
    assert "give --lam or --C" in failing("certify", weights, rows)
    np.savez(tmp_path / "w.npz", coef=np.ones((1, 5)), intercept=[0.0])
    assert "6 features, but the model has 5" in failing("certify", tmp_path / "w.npz", rows, "--lam", "1")
    np.savez(tmp_path / "w.npz", coef=np.ones((3, 6)), intercept=np.zeros(3))
    assert "weights of shape (1, 6) are needed" in failing("certify", tmp_path / "w.npz", rows, "--lam", "1")
    np.savez(tmp_path / "w.npz", coef=np.full((1, 6), np.nan), intercept=[0.0])
    assert "must be finite" in failing("certify", tmp_path / "w.npz", rows, "--lam", "1")
    (tmp_path / "w.json").write_text('{"coef": [[1, 2, 3, 4, 5, "x"]], "intercept": 0}')
    assert "must be numbers" in failing("certify", tmp_path / "w.json", rows, "--lam", "1")
    (tmp_path / "w.json").write_text('{"coef": [[1, 2, 3, 4, 5, 6]], "intercept": 0, "classes": ["a", "b"]}')
    assert "the rows have the classes" in failing("certify", tmp_path / "w.json", rows, "--lam", "1")
    assert "tol must be None or a number of at least 0" in failing("certify", weights, rows, "--C", "1", "--tol", "-1")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_weights_raise_an_error(rows, failing, tmp_path, save):
    path = tmp_path / "w.npz"
    save(path, coef=np.random.default_rng(0).random((1, 6)), intercept=[0.0])
    sound = path.read_bytes()
    damaged = bytearray(sound)
    for place in range(90, 130):
        damaged[place] ^= 0xFF
    path.write_bytes(damaged)
    assert f"{path} is damaged" in failing("certify", path, rows, "--lam", "1")


def test_a_tol_of_zero_is_not_the_default(rows, model):
    assert main(["certify", model, rows, "--tol", "0"]) == 1
