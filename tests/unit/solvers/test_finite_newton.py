"""Newton's method on the primal of squared losses."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import PegasosClassifier, PegasosRegressor
from pegasos.problem import Problem, Rows, constant
from pegasos.solution import Status
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.finite_newton import FiniteNewton
from pegasos.solvers.pegasos import Pegasos


def problem_of(n, d, *, lam=1e-3, seed=0, values=np.asarray, weights=None, threads=1):
    """Squared epsilon-insensitive regression: each row twice."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = X @ random.normal(size=d) + random.standard_t(3, size=n)
    rows = Rows.of(values(X), 1.0, threads).view(np.tile(np.arange(n, dtype=np.uint32), 2), repeats=2)
    sign = np.repeat(np.array([1, -1], np.int8), n)
    cost = constant(1.0, 2 * n) if weights is None else np.tile(weights, 2)
    offset = np.concatenate([1.1 - y, -1.1 - y])
    total = float(n) if weights is None else float(weights.sum())
    return Problem(rows, sign, cost, offset, lam, total, cap=np.inf, ridge=0.5)


def solver_of(tol):
    return FiniteNewton(Auto(Pegasos(), DualAscent(np.float64), tol), tol)


def objective(problem, weights):
    rows = np.column_stack([problem.rows.own_values, np.ones(problem.rows.n_rows)])
    r = np.maximum(0.0, 1.0 - problem.sign * (rows @ weights + problem.offset))
    return 0.5 * problem.lam * weights @ weights + np.sum(problem.cost * r**2) / problem.total


@pytest.mark.parametrize(("n", "d"), [(40, 1), (300, 5), (5000, 2), (20_000, 30)])
@pytest.mark.parametrize("lam", [1e-6, 1e-3, 1.0])
def test_the_gradient_of_the_primal_vanishes_at_the_end(n, d, lam):
    problem = problem_of(n, d, lam=lam)
    found = run(problem, solver_of(1e-10), Stop(1e-10))
    assert found.status is Status.CERTIFIED
    assert found.certificate.primal == pytest.approx(objective(problem, found.weights), rel=1e-9)
    step = 1e-5
    for k in range(min(d + 1, 4)):
        ahead, behind = found.weights.copy(), found.weights.copy()
        ahead[k] += step
        behind[k] -= step
        assert objective(problem, ahead) > found.certificate.dual
        assert abs(objective(problem, ahead) - objective(problem, behind)) < 1e-8


@pytest.mark.parametrize("threads", [1, 2])
def test_sparse_rows_and_threads_lead_to_the_same_optimum(threads):
    exact = run(problem_of(9000, 6), solver_of(1e-12), Stop(1e-12))
    sparse = run(problem_of(9000, 6, values=sp.csr_matrix, threads=threads), solver_of(1e-12), Stop(1e-12))
    np.testing.assert_allclose(sparse.weights, exact.weights, rtol=1e-6, atol=1e-9)


def test_a_weight_of_two_is_the_row_twice_and_a_weight_of_zero_no_row():
    random = np.random.default_rng(3)
    X, y = random.normal(size=(200, 3)), random.normal(size=200)
    weights = random.integers(0, 3, size=200)
    settings = {"loss": "squared_epsilon_insensitive", "epsilon": 0.1, "tol": 1e-10}
    weighted = PegasosRegressor(1e-3, **settings).fit(X, y, sample_weight=weights.astype(float))
    repeated = PegasosRegressor(1e-3, **settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)


def test_a_run_that_resumes_from_a_pickled_state_equals_a_straight_one():
    problem, solver = problem_of(3000, 4), solver_of(1e-10)
    straight = run(problem, solver, Stop(1e-10))
    state = solver.start(problem, 0)
    solver.advance_to(problem, state, 1)
    resumed = run(problem, solver, Stop(1e-10), state=pickle.loads(pickle.dumps(state)))
    np.testing.assert_allclose(resumed.weights, straight.weights, rtol=1e-9)


def test_problems_that_it_does_not_suit_are_left_to_the_other_solver():
    solver = solver_of(1e-6)
    wide = problem_of(20, 50)
    assert not solver.suits(wide)
    assert run(wide, solver, Stop(1e-6)).status is Status.CERTIFIED
    capped = problem_of(100, 2)
    assert solver.suits(capped)
    assert not solver.suits(Problem(capped.rows, capped.sign, capped.cost, capped.offset, 1e-3, 100.0, ridge=0.5))


@pytest.mark.parametrize("exponent", [-6, 6])
def test_features_of_very_different_units_are_certified(exponent):
    random = np.random.default_rng(1)
    X = random.normal(size=(500, 6)) * 10.0 ** np.linspace(0, exponent, 6)
    y = np.where(X[:, 0] + random.normal(size=500) > 0.0, 1, 0)
    model = PegasosClassifier(1e-4, loss="squared_hinge", tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6


def test_a_smaller_tol_never_gives_a_larger_gap():
    gaps = [
        run(problem_of(40_000, 3), solver_of(tol), Stop(tol)).certificate.relative_gap for tol in (1e-2, 1e-5, 1e-9)
    ]
    assert gaps[0] >= gaps[1] - 1e-15
    assert gaps[2] <= 1e-9
