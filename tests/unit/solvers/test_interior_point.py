"""The interior point: its linear algebra against numpy, its solutions against an independent solver."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

from pegasos import PegasosClassifier, _core
from pegasos.certificate import certify_dual, dual_point
from pegasos.problem import Problem, Rows
from pegasos.solvers.interior_point import InteriorPoint
from tests.agreement.interior_point import optimum_of
from tests.problems import awkward_problem


def matrix(problem, chosen):
    values = problem.rows.values
    dense = np.asarray(values.todense() if sp.issparse(values) else values, dtype=np.float64)
    extended = np.c_[dense, np.full(len(dense), problem.rows.bias)]
    return problem.sign[chosen, None] * extended[chosen]


def some_rows(problem):
    return np.flatnonzero(problem.cost > 0)[::2].astype(np.uint32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 5, 12, 31, 87])
def test_the_products_are_those_of_numpy(dtype, n_features):
    random = np.random.default_rng(n_features)
    values = random.normal(size=(130, n_features)).astype(dtype)
    values[random.random(values.shape) < 0.3] = 0
    sign = np.where(random.random(130) < 0.5, 1, -1).astype(np.int8)
    chosen = np.arange(3, 130, 2, dtype=np.uint32)
    scale = random.random(len(chosen)) * 10.0 ** random.integers(-3, 3, len(chosen))
    for layout in (values, sp.csr_matrix(values)):
        problem = Problem.plain(Rows.of(layout, 0.5), sign, 0.1)
        z = matrix(problem, chosen)
        weights = random.normal(size=n_features + 1)
        scores, total = np.empty(len(chosen)), np.empty(n_features + 1)
        gram, outer = np.empty((n_features + 1,) * 2), np.zeros((len(chosen),) * 2)
        _core.chosen_scores(problem.native, chosen, weights, scores)
        _core.chosen_sum(problem.native, chosen, scale, total)
        _core.gram(problem.native, chosen, scale, gram)
        _core.outer(problem.native, chosen, outer)
        exact = {"rtol": 1e-12, "atol": 1e-10}
        assert np.allclose(scores, z @ weights, **exact)
        assert np.allclose(total, scale @ z, **exact)
        assert np.allclose(np.tril(outer), np.tril(z @ z.T), **exact)
        expected = z.T @ (scale[:, None] * z)
        rounding = 1e-5 if dtype == np.float32 else 1e-12
        assert np.allclose(np.tril(gram), np.tril(expected), rtol=rounding, atol=rounding * np.abs(expected).max())


@pytest.mark.parametrize("side", [1, 2, 3, 17, 64, 101])
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


def test_rows_out_of_bounds_are_refused():
    problem = awkward_problem()
    far = np.array([problem.rows.n_rows], dtype=np.uint32)
    with pytest.raises(ValueError, match="out of bounds"):
        _core.chosen_scores(problem.native, far, np.zeros(problem.rows.n_features + 1), np.empty(1))


def solve_inside(problem, chosen, tol=1e-9):
    interior = InteriorPoint()
    alpha = np.zeros(problem.rows.n_rows)
    state = interior.enter(problem, alpha, np.zeros(problem.rows.n_features + 1), chosen)
    while not state.stalled and interior.gap(problem, state) > tol:
        interior.step(problem, state)
    alpha[chosen] = state.alpha
    return alpha, state


@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5])
def test_all_rows_give_the_optimum(lam):
    random = np.random.default_rng(0)
    values = random.normal(size=(60, 4)) * [1.0, 10.0, 100.0, 1.0]
    sign = np.where(values[:, 0] + random.normal(size=60) > 0, 1, -1).astype(np.int8)
    cost, offset = random.random(60) + 0.1, 0.3 * random.normal(size=60)
    problem = Problem(Rows.of(values, 1.0), sign, cost, offset, lam, 60.0)
    alpha, state = solve_inside(problem, np.arange(60, dtype=np.uint32))
    certificate, _ = certify_dual(problem, alpha)
    assert certificate.relative_gap < 1e-6
    exact = optimum_of(problem)
    assert certificate.dual <= exact.primal
    assert certificate.primal >= exact.dual
    assert state.iterations < 60


def test_few_rows_and_many_features_use_the_small_matrix():
    random = np.random.default_rng(0)
    problem = Problem.plain(Rows.of(random.normal(size=(20, 300)), 1.0), np.resize([1, -1], 20).astype(np.int8), 1e-6)
    alpha, state = solve_inside(problem, np.arange(20, dtype=np.uint32), tol=1e-14)
    assert state.outer is not None
    assert certify_dual(problem, alpha)[0].relative_gap < 1e-5


def test_rows_left_out_keep_their_place():
    problem = awkward_problem()
    chosen = some_rows(problem)
    interior = InteriorPoint()
    alpha = 0.5 * np.asarray(problem.cost)
    weights, before = dual_point(problem, alpha)
    state = interior.enter(problem, alpha, weights, chosen)
    while not state.stalled and interior.gap(problem, state) > 1e-10:
        interior.step(problem, state)
    moved = alpha.copy()
    moved[chosen] = state.alpha
    assert dual_point(problem, moved)[1] > before
    # No other choice for these rows is better: their share of the gap is closed.
    own_weights, _ = dual_point(problem, moved)
    r = 1.0 - matrix(problem, chosen) @ own_weights - problem.sign[chosen] * problem.offset[chosen]
    terms = problem.cost[chosen] * np.maximum(r, 0) - moved[chosen] * r
    assert np.sum(terms) / problem.total < 1e-8


@pytest.mark.parametrize("lam", [1e-4, 1e-6, 1e-8])
def test_features_of_any_scale_are_certified(lam):
    rows, labels = load_breast_cancer(return_X_y=True)
    model = PegasosClassifier(lam=lam, random_state=0).fit(rows, labels)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certify(rows, labels) == model.certificate_


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_row_that_rounding_has_put_on_its_bound_ends_the_iteration(share):
    problem = awkward_problem()
    chosen = some_rows(problem)
    interior = InteriorPoint()
    state = interior.enter(problem, np.zeros(problem.rows.n_rows), np.zeros(problem.weights_shape), chosen)
    state.alpha[2] = share * state.cost[2]
    before = state.alpha.copy()
    interior.step(problem, state)
    assert state.stalled
    np.testing.assert_array_equal(state.alpha, before)
