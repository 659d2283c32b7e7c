"""The interior point on all classes at once: where it ends, and what it leaves where it is stopped."""

from dataclasses import replace

import numpy as np
import pytest

from pegasos import PegasosClassifier
from pegasos.certificate import certify
from pegasos.deadline import TimeIsUp, within
from pegasos.problem import Rows
from pegasos.solvers.auto import all_rows
from pegasos.solvers.crammer_singer import JointAscent
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.joint_interior import JointInterior
from tests.problems import LAYOUTS, awkward_joint_problem


def entered(problem):
    zero = np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape)
    return JointInterior().enter(problem, all_rows(problem), *zero)


def solved(problem, tol=1e-10):
    solver, state = JointInterior(), entered(problem)
    solver.advance(problem, state, 100, tol)
    return solver, state


@pytest.mark.parametrize("n_features", [20, 87])  # fewer than the rows, and more
@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_ends_at_the_optimum_of_dual_ascent(layout, n_features):
    problem = awkward_joint_problem(layout, n_features=n_features)
    _, state = solved(problem)
    exact = run(problem, JointAscent(), Stop(tol=1e-9, max_iter=20_000))
    np.testing.assert_allclose(state.best_weights, exact.weights, atol=1e-4)
    assert state.primal / problem.total == pytest.approx(exact.certificate.primal, rel=1e-8)


@pytest.mark.parametrize("n_features", [20, 87])
@pytest.mark.parametrize("lam", [1e-1, 1e-4, 1e-8])
def test_its_own_account_is_that_of_the_certificate(lam, n_features):
    problem = awkward_joint_problem(lam=lam, n_features=n_features)
    solver, state = solved(problem)
    alpha = solver.alpha_of(problem, state, state.best_shares)
    certificate = certify(problem, state.best_weights, alpha)
    assert certificate.relative_gap <= 1e-8
    assert certificate.primal * problem.total == pytest.approx(state.primal, rel=1e-9)
    assert certificate.dual * problem.total == pytest.approx(state.dual, rel=1e-9)


def test_shares_stay_positive_and_add_up_to_the_costs():
    problem = awkward_joint_problem()
    solver, state = JointInterior(), entered(problem)
    cost = problem.cost[state.chosen]
    for _ in range(8):
        solver.advance(problem, state, 1, 1e-10)
        assert (state.shares > 0.0).all()
        assert (state.below > 0.0).all()
        np.testing.assert_allclose(state.shares.sum(axis=1), cost, rtol=1e-12)


def test_on_the_bounds_most_shares_are_exactly_zero():
    problem = awkward_joint_problem()
    solver, state = solved(problem, 1e-12)
    inside, alpha = solver.alpha_of(problem, state, state.best_shares), solver.on_bounds(problem, state, 1e-12)
    assert np.count_nonzero(alpha) < 0.7 * np.count_nonzero(inside)
    assert certify(problem, state.best_weights, alpha).relative_gap <= 1e-6


def test_the_units_of_features_do_not_matter():
    plain = awkward_joint_problem(lam=1e-3)
    rows = plain.rows.values * 10.0 ** np.random.default_rng(0).integers(-3, 4, plain.rows.n_features)
    problem = replace(plain, rows=Rows.of(np.ascontiguousarray(rows), plain.rows.bias))
    _, state = solved(problem, 1e-9)
    assert state.relative_gap <= 1e-9


def test_where_time_is_up_the_point_stays_what_it_was():
    problem = awkward_joint_problem()
    solver, state = JointInterior(), entered(problem)
    solver.advance(problem, state, 3, 1e-10)
    before = state.weights.copy(), state.shares.copy(), state.iterations
    with pytest.raises(TimeIsUp), within(1e-9):
        solver.advance(problem, state, 1, 1e-10)
    np.testing.assert_array_equal(state.weights, before[0])
    np.testing.assert_array_equal(state.shares, before[1])
    assert state.iterations == before[2]


def test_a_matrix_that_is_too_large_has_no_price():
    problem = awkward_joint_problem()
    assert JointInterior().price(problem, problem.rows.n_rows) < np.inf
    wide = awkward_joint_problem(n_features=4000)
    assert JointInterior().price(wide, wide.rows.n_rows) < np.inf  # by the rows, which are few
    assert JointInterior().price(wide, 4000) == np.inf


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_that_are_fewer_than_the_features_are_rotated(layout):
    problem = awkward_joint_problem(layout, lam=1e-4)
    solver, state = solved(problem, 1e-12)
    assert state.basis is not None
    assert state.best_weights.shape == problem.weights_shape
    alpha = solver.alpha_of(problem, state, state.best_shares)
    certificate = certify(problem, state.best_weights, alpha)
    assert certificate.relative_gap <= 1e-8
    assert certificate.primal * problem.total == pytest.approx(state.primal, rel=1e-9)


def test_weights_survive_the_rotation():
    problem = awkward_joint_problem()
    exact = run(problem, JointAscent(), Stop(tol=1e-9, max_iter=20_000))
    state = JointInterior().enter(problem, all_rows(problem), exact.weights, exact.alpha)
    np.testing.assert_allclose(state.best_weights, exact.weights - exact.weights.mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("n_features", [20, 87])
def test_shares_on_their_bounds_keep_the_gap_at_any_lam(n_features):
    """Divided by lam, what the moved shares leave behind would be far more than the gap."""
    problem = awkward_joint_problem(lam=1e-7, n_features=n_features)
    solver, state = solved(problem, 1e-6)
    assert (state.primal - state.dual) / state.primal <= 1e-6
    alpha = solver.on_bounds(problem, state, 1e-5)
    assert np.count_nonzero(alpha) < np.count_nonzero(solver.alpha_of(problem, state, state.best_shares))
    assert certify(problem, state.best_weights, alpha).relative_gap <= 1e-5


def test_few_long_rows_are_certified():
    """Dual ascent does not end here, and a matrix of the features would be too large."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((20, 6000)) * 10.0 ** rng.integers(-3, 4, 6000)
    y = rng.integers(0, 3, 20)
    model = PegasosClassifier(1e-6, multi_class="crammer_singer", max_iter=2000, random_state=0)
    model.fit(X.astype(np.float32), y)
    assert model.certificate_.relative_gap <= 1e-3
