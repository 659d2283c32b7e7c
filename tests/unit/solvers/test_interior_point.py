"""The interior point and conjugate gradients: step by step against numpy, solutions against an independent solver."""

import gc
import pickle
import weakref
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from sklearn.datasets import load_breast_cancer

from pegasos import PegasosClassifier, _core
from pegasos.certificate import certify, dual_point
from pegasos.deadline import TimeIsUp, within
from pegasos.problem import Problem, Rows
from pegasos.solvers.interior_point import InteriorPoint
from tests.agreement.interior_point import optimum_of
from tests.problems import LAYOUTS, awkward_problem, problem_of, small_problems
from tests.reference import interior_point as reference


def matrix(problem, chosen):
    values = problem.rows.values
    dense = np.asarray(values.todense() if sp.issparse(values) else values, dtype=np.float64)
    extended = np.c_[dense, np.full(len(dense), problem.rows.bias)]
    return problem.sign[chosen, None] * extended[chosen]


def some_rows(problem):
    return np.flatnonzero(problem.cost > 0)[::2].astype(np.uint32)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [5, 87])
def test_every_iteration_is_that_of_the_transcription(layout, dtype, n_features):
    problem = awkward_problem(layout, dtype, n_features=n_features, lam=1e-3)
    chosen = some_rows(problem)
    random = np.random.default_rng(0)
    weights, alpha = 0.1 * random.normal(size=n_features + 1), 0.7 * np.asarray(problem.cost)
    solver = InteriorPoint()
    state = solver.enter(problem, chosen, weights, alpha, width=0.3)
    others = np.setdiff1d(np.arange(problem.rows.n_rows), chosen)
    fixed = matrix(problem, others).T @ alpha[others]
    q = 1.0 - problem.sign[chosen] * problem.offset[chosen]
    mu = problem.lam * problem.total
    Z, cost = matrix(problem, chosen), problem.cost[chosen]
    exact = reference.InteriorPoint(Z, q, cost, mu, fixed=fixed, w=weights, width=0.3)
    np.testing.assert_allclose(state.fixed, fixed, rtol=1e-9, atol=1e-12)
    for _ in range(8):
        solver.advance(problem, state, 1, 0.0)
        exact.iterate()
        np.testing.assert_allclose(state.weights, exact.w, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(state.alpha, exact.a, rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(state.upper, exact.v, rtol=1e-5, atol=1e-9)
    assert state.counters.iterations == 8


def test_many_iterations_at_once_are_as_many_one_by_one():
    problem, solver = awkward_problem(n_features=9), InteriorPoint()
    zero = np.zeros(10), np.zeros(problem.rows.n_rows)
    together, alone = (solver.enter(problem, some_rows(problem), *zero) for _ in range(2))
    solver.advance(problem, together, 6, 0.0)
    for _ in range(6):
        solver.advance(problem, alone, 1, 0.0)
        alone = pickle.loads(pickle.dumps(alone))
    np.testing.assert_array_equal(together.weights, alone.weights)
    np.testing.assert_array_equal(together.alpha, alone.alpha)
    assert (together.counters.primal, together.counters.dual) == (alone.counters.primal, alone.counters.dual)


@pytest.mark.parametrize("side", [1, 2, 3, 17, 47, 48, 49, 64, 101, 200])
def test_the_factor_solves(side):
    random = np.random.default_rng(side)
    root = random.normal(size=(side, side))
    definite = root @ root.T + side * np.eye(side)
    lower, solution = np.tril(definite), random.normal(size=side)
    right = definite @ solution
    assert _core.factor(lower)
    assert np.allclose(np.tril(lower), np.linalg.cholesky(definite))
    _core.solve(lower, right)
    assert np.allclose(right, solution)
    assert not _core.factor(-definite)


def test_a_pivot_lost_in_rounding_keeps_its_variable_in_place():
    column = np.random.default_rng(0).normal(size=(30, 3))
    root = np.hstack([column, column[:, :1]])  # the last variable is the first one again
    lower = np.tril(root.T @ root)
    assert not _core.factor(lower)
    right = root.T @ (column @ [1.0, 2.0, 3.0])
    _core.solve(lower, right)
    np.testing.assert_allclose(root @ right, column @ [1.0, 2.0, 3.0])


def test_rows_out_of_bounds_are_refused():
    problem = awkward_problem()
    far = np.array([problem.rows.n_rows], dtype=np.uint32)
    with pytest.raises(ValueError, match="out of bounds"):
        _core.outer(problem.native, far, np.empty((1, 1)))


def solve_inside(problem, tol=1e-10):
    solver = InteriorPoint()
    chosen = np.flatnonzero(problem.cost > 0).astype(np.uint32)
    state = solver.enter(problem, chosen, np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape))
    solver.advance(problem, state, 100, tol)
    alpha = np.zeros(problem.alpha_shape)
    alpha[chosen] = state.best_alpha
    return certify(problem, state.best_weights, alpha), state


@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_rows_give_the_optimum(lam, dtype):
    random = np.random.default_rng(0)
    values = (random.normal(size=(60, 4)) * [1.0, 10.0, 100.0, 1.0]).astype(dtype)
    sign = np.where(values[:, 0] + random.normal(size=60) > 0, 1, -1).astype(np.int8)
    cost, offset = random.random(60) + 0.1, 0.3 * random.normal(size=60)
    problem = Problem(Rows.of(values, 1.0), sign, cost, offset, lam, 60.0)
    certificate, state = solve_inside(problem)
    assert certificate.relative_gap < 1e-9
    exact = optimum_of(problem)
    assert certificate.dual <= exact.primal
    assert certificate.primal >= exact.dual
    assert state.counters.iterations < 40


def test_few_rows_and_many_features_use_the_small_matrix():
    random = np.random.default_rng(0)
    problem = Problem.plain(Rows.of(random.normal(size=(20, 300)), 1.0), np.resize([1, -1], 20).astype(np.int8), 1e-6)
    certificate, state = solve_inside(problem)
    assert state.outer is not None
    assert certificate.relative_gap < 1e-9


@given(small_problems(costs=(1e-6, 0.5, 1.0, 1e6), lams=(1e-9, 1e-3, 1.0)))
def test_rows_of_zeros_equal_rows_and_uneven_costs_are_handled(problem):
    certificate, _ = solve_inside(problem)
    assert certificate.relative_gap < 1e-6


def test_rows_left_out_keep_their_place():
    problem, solver = awkward_problem(), InteriorPoint()
    chosen = some_rows(problem)
    alpha = 0.5 * np.asarray(problem.cost)
    weights, before = dual_point(problem, alpha)
    state = solver.enter(problem, chosen, weights, alpha)
    solver.advance(problem, state, 100, 1e-12)
    alpha[chosen] = state.best_alpha
    own_weights, after = dual_point(problem, alpha)
    assert after > before
    # No other choice for these rows is better: their share of the gap is closed.
    r = 1.0 - matrix(problem, chosen) @ own_weights - problem.sign[chosen] * problem.offset[chosen]
    terms = problem.cost[chosen] * np.maximum(r, 0) - alpha[chosen] * r
    assert np.sum(terms) / problem.total < 1e-8


def test_threads_share_the_work():
    random = np.random.default_rng(0)
    sign = np.resize([1, -1], 4000).astype(np.int8)
    problem = Problem.plain(Rows.of(random.normal(size=(4000, 60)), 1.0), sign, 1e-4)
    alone, _ = solve_inside(problem)
    shared, _ = solve_inside(replace(problem, rows=problem.rows.in_threads(2)))
    assert shared.relative_gap < 1e-9
    assert shared.primal == pytest.approx(alone.primal, rel=1e-9)


@pytest.mark.parametrize("lam", [1e-4, 1e-6, 1e-8])
def test_features_of_any_scale_are_certified(lam):
    rows, labels = load_breast_cancer(return_X_y=True)
    model = PegasosClassifier(lam=lam, random_state=0).fit(rows, labels)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certify(rows, labels) == model.certificate_


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_products", [1, 4, 50])
def test_conjugate_gradients_are_those_of_the_transcription(layout, n_products):
    problem = awkward_problem(layout, np.float32, lam=1e-2)
    alpha = 0.3 * np.asarray(problem.cost)
    free = some_rows(problem)
    free = free[free != 3]  # a row without entries has no direction
    weights, before = dual_point(problem, alpha)
    Z, mu = matrix(problem, free), problem.lam * problem.total
    r = 1.0 - problem.sign[free] * problem.offset[free] - Z @ weights
    expected = reference.face_move(Z, r, mu, alpha[free], cost=problem.cost[free], n_products=n_products)
    others = np.setdiff1d(np.arange(len(alpha)), free)
    kept = alpha[others].copy()
    _, gain, linear = _core.face_advance(problem.native, free, weights, alpha, n_products)
    np.testing.assert_allclose(alpha[free], expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(alpha[others], kept)
    own_weights, after = dual_point(problem, alpha)
    np.testing.assert_allclose(weights, own_weights, rtol=1e-9, atol=1e-12)
    assert after == pytest.approx(before + gain / problem.total)
    assert gain > 0.0
    change = (1.0 - problem.sign * problem.offset) @ (alpha - 0.3 * np.asarray(problem.cost))
    assert linear == pytest.approx(change)


def test_conjugate_gradients_within_the_bounds_continue_to_the_exact_solution():
    random = np.random.default_rng(0)
    rows, sign = random.normal(size=(30, 40)) * np.geomspace(1.0, 0.05, 40), np.resize([1, -1], 30)
    exact, everyone = random.uniform(0.4, 0.6, 30), np.arange(30, dtype=np.uint32)
    problem = problem_of(rows, sign, lam=1e-3)
    problem = replace(problem, offset=sign - rows @ dual_point(problem, exact)[0][:-1])  # all residuals are 0 there
    alpha = np.full(30, 0.5)
    weights, _ = dual_point(problem, alpha)
    _core.face_advance(problem.native, everyone, weights, alpha, 300)
    np.testing.assert_allclose(alpha, exact, rtol=1e-4)


@pytest.mark.parametrize("n_features", [9, 87])
def test_where_time_is_up_the_point_stays_what_it_was(n_features):
    problem, solver = awkward_problem(n_features=n_features), InteriorPoint()
    zero = np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape)
    state = solver.enter(problem, some_rows(problem), *zero)
    solver.advance(problem, state, 2, 1e-12)
    before = state.weights.copy(), state.alpha.copy(), state.iterations
    with pytest.raises(TimeIsUp), within(1e-9):
        solver.advance(problem, state, 5, 1e-12)
    np.testing.assert_array_equal(state.weights, before[0])
    np.testing.assert_array_equal(state.alpha, before[1])
    assert state.iterations == before[2]


@pytest.mark.parametrize("is_view", [False, True])
def test_columns_that_are_empty_do_not_count(is_view):
    """All of them would make a matrix that is too large."""
    random = np.random.default_rng(0)
    few = random.normal(size=(60, 20)) * (random.random((60, 20)) < 0.5)
    columns = np.sort(random.choice(9000, 20, replace=False))
    wide = np.zeros((60, 9000))
    wide[:, columns] = few
    chosen = np.arange(0, 60, 2) if is_view else np.arange(60)
    sign = np.where(few[chosen, 0] + 0.3 * random.normal(size=len(chosen)) > 0.0, 1, -1).astype(np.int8)
    n = len(chosen)

    def solved(values):
        rows = Rows.of(sp.csr_matrix(values), 1.0)
        rows = rows.view(chosen) if is_view else rows
        problem = Problem(rows, sign, np.ones(n), np.zeros(n), 1e-5, float(n))
        solver, everyone = InteriorPoint(), np.arange(n, dtype=np.uint32)
        state = solver.enter(problem, everyone, np.zeros(problem.weights_shape), np.zeros(n))
        solver.advance(problem, state, 60, 1e-9)
        return certify(problem, state.best_weights, state.best_alpha), state.best_weights, solver.price(problem, 6000)

    certificate, weights, price = solved(wide)
    expected, narrow, _ = solved(few)
    assert price < np.inf
    assert certificate.relative_gap <= 1e-8
    assert certificate.primal == pytest.approx(expected.primal, rel=1e-8)
    np.testing.assert_allclose(weights[np.append(columns, 9000)], narrow, rtol=1e-3, atol=1e-5)
    assert np.count_nonzero(weights) <= 21


def test_a_problem_is_freed_after_the_interior_point_without_a_collector():
    problem = awkward_problem()
    solver, chosen = InteriorPoint(), some_rows(problem)
    state = solver.enter(problem, chosen, np.zeros(problem.weights_shape), np.zeros(problem.rows.n_rows))
    solver.advance(problem, state, 2, 1e-9)
    alive = weakref.ref(problem)
    gc.disable()
    try:
        del problem
        assert alive() is None
    finally:
        gc.enable()
