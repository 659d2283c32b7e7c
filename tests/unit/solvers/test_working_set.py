"""Working sets: problems whose kernel columns do not fit, solved on some rows at a time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier
from pegasos.gram import columns
from pegasos.kernels import RBF
from pegasos.machines import landmarks
from pegasos.solution import Status
from pegasos.solvers import decomposition, working_set
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.decomposition_columns import takes_sets
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.working_set import chosen_rows
from tests.problems import kernel_problem_of


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    """A table of few columns, and sets of few rows."""
    monkeypatch.setattr(columns, "_LEAST_BYTES", 1 << 17)
    monkeypatch.setattr(working_set, "_ROWS", (300, 300))


def vast(n=700, *, C=10.0, bias=0.0, loss="hinge"):
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 4))
    sign = np.where(X[:, 0] * X[:, 1] + 0.5 * random.normal(size=n) > 0, 1, -1)
    problem = kernel_problem_of(RBF(0.3), X, sign, lam=1.0 / (C * n), bias=bias, cache_bytes=1.0)
    return problem if loss == "hinge" else replace(problem, cap=np.inf, ridge=0.5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("is_free", [True, False])
def test_the_optimum_is_that_of_a_whole_table(is_free, tol, loss, monkeypatch):
    problem = vast(C=1.0, bias=0.0 if is_free else 1.0, loss=loss)
    assert takes_sets(problem.rows)
    found = run(problem, Decomposition(tol, is_free), Stop(tol))
    monkeypatch.undo()
    whole = vast(C=1.0, bias=0.0 if is_free else 1.0, loss=loss)
    assert not takes_sets(whole.rows)
    best = run(whole, Decomposition(1e-9, is_free), Stop(1e-9))
    assert found.status is best.status is Status.CERTIFIED
    assert found.certificate.dual <= best.certificate.primal
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1.01 * tol)
    assert found.certificate.primal >= best.certificate.dual


def test_between_rounds_the_dual_never_falls_and_the_slopes_are_those_of_the_point():
    problem, solver = vast(C=1000.0), Decomposition(1e-9, is_free=True)
    state, duals = solver.start(problem, 0), []
    for _ in range(4):
        rounds = state.rounds
        while state.rounds == rounds:
            before = state.alpha
            solver._work(problem, state)
            assert state.rounds > rounds or state.alpha is before  # a round that is not over moves nothing
        duals.append(state.primal - state.gap)
        scores = problem.rows.scores_of(problem.rows.coefficients(problem, state.alpha))
        np.testing.assert_allclose(state.slope, problem.sign - scores, atol=1e-9)
    assert all(later >= earlier for earlier, later in pairwise(duals))
    assert duals[-1] > duals[0]


def test_a_set_has_rows_that_rise_and_rows_that_fall():
    rising, falling = np.array([3.0, 2.0, 1.0, -np.inf]), np.array([-np.inf, -1.0, -2.0, -0.5])
    np.testing.assert_array_equal(chosen_rows(rising, falling, 2), [0, 3])
    np.testing.assert_array_equal(chosen_rows(rising, falling, 4), [0, 1, 3])
    np.testing.assert_array_equal(chosen_rows(rising, np.full(4, -np.inf), 4), [0, 1])


def test_the_time_of_a_column_is_that_of_the_rows_that_moved(monkeypatch):
    """Otherwise a review takes longer than foreseen, and a budget ends before the point is certified."""
    now = [0.0]
    monkeypatch.setattr(decomposition, "perf_counter", lambda: now[0])
    problem, solver = vast(C=1.0), Decomposition(1e-9, is_free=True)
    state = solver.start(problem, 0)
    add_columns = type(problem.rows).add_columns

    def timed(rows, members, factors, scores):
        now[0] += float(len(members))  # a second per column
        add_columns(rows, members, factors, scores)

    monkeypatch.setattr(type(problem.rows), "add_columns", timed)
    while state.rounds == 0:
        solver._work(problem, state)
    assert state.column_seconds == pytest.approx(1.0)
    assert np.count_nonzero(state.alpha) < 700


@pytest.mark.parametrize("gamma", [0.02, 3.0])
def test_a_smooth_kernel_starts_from_landmarks_and_a_narrow_one_from_zero(gamma, monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 5))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    entered = []
    enter = Decomposition.enter
    monkeypatch.setattr(
        Decomposition, "enter", lambda self, p, alpha, seed: entered.append(alpha.any()) or enter(self, p, alpha, seed)
    )
    monkeypatch.setattr(landmarks, "_START_RANKS", (64, 64))
    settings = {"C": 10.0, "gamma": gamma, "cache_size": 0.1, "tol": 1e-3}
    model = KernelPegasosClassifier(regularize_intercept=False, random_state=0, **settings).fit(X, y)
    assert any(entered) == (gamma < 1.0)
    assert model.certificate_.relative_gap <= 1e-3


def test_a_dual_point_that_is_too_long_is_shortened_where_it_enters():
    problem = vast(C=100.0)
    state = Decomposition(1e-3, is_free=False).enter(problem, problem.cost, 0)
    assert state.primal - state.gap > 0.0
    assert 0.0 < state.alpha.max() < problem.cost.max()
