"""The path over lam: where it begins, that every point is proved, and that it is the path of the exact solutions."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from pegasos import _core
from pegasos.certificate import certify, certify_dual
from pegasos.solution import Status
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, Watcher, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.path import NearbyAscent, ScoredProblem, follow, largest_lam
from pegasos.solvers.pegasos import Pegasos
from tests.agreement.interior_point import optimum_of
from tests.problems import LAYOUTS, awkward_problem, problem_of, small_problems

TOL = 1e-6
SOLVER = Auto(Pegasos(), NearbyAscent(), TOL)


def path_of(problem, lams, tol=TOL, solver=SOLVER):
    return list(follow(problem, solver, lams, Stop(tol, 20_000), seed=0))


def without_offset(problem):
    return replace(problem, offset=np.zeros(problem.rows.n_rows))


@given(small_problems(offsets=(0.0,)))
def test_from_the_largest_lam_on_all_rows_at_their_costs_are_the_solution(problem):
    top = largest_lam(problem)
    for lam in (top, 1.5 * top, 40.0 * top):
        if lam > 0.0:
            certificate, _ = certify_dual(replace(problem, lam=lam), problem.cost)
            assert certificate.gap <= 1e-12 * (1.0 + certificate.primal)


@given(small_problems(offsets=(0.0,)))
def test_below_the_largest_lam_they_are_not(problem):
    top = largest_lam(problem)
    if top > 0.0:
        certificate, _ = certify_dual(replace(problem, lam=0.5 * top), problem.cost)
        assert certificate.gap > 1e-9 * certificate.primal


def test_rows_that_cancel_out_have_no_largest_lam():
    assert largest_lam(problem_of([[1.0], [1.0]], [1, -1])) == 0.0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_point_of_the_path_is_proved_and_the_proof_can_be_recomputed(layout):
    problem = awkward_problem(layout)
    lams = np.geomspace(1.0, 1e-4, 12)
    for lam, solution in zip(lams, path_of(problem, lams), strict=True):
        assert solution.status is Status.CERTIFIED
        anew = certify(replace(problem, lam=lam), solution.weights, solution.alpha)
        assert anew.relative_gap <= TOL
        assert anew.primal == pytest.approx(solution.certificate.primal, rel=1e-12)
        assert anew.dual == pytest.approx(solution.certificate.dual, rel=1e-12)
        assert anew.least_margin == pytest.approx(solution.certificate.least_margin, rel=1e-9)


def test_every_point_of_the_path_is_the_optimum_of_an_independent_solver():
    problem = awkward_problem()
    lams = np.geomspace(0.5, 1e-3, 5)
    for lam, solution in zip(lams, path_of(problem, lams), strict=True):
        best = optimum_of(replace(problem, lam=lam))
        assert solution.certificate.dual <= best.primal * (1.0 + 1e-9)
        assert best.dual <= solution.certificate.primal * (1.0 + 1e-9)
        assert np.linalg.norm(solution.weights - best.weights) <= 1.01 * solution.certificate.weight_radius + 1e-6


def test_every_point_of_the_path_is_a_fit_of_its_own_as_far_as_both_are_proved():
    problem = awkward_problem(dtype=np.float32)
    lams = np.geomspace(0.5, 1e-3, 8)
    for lam, solution in zip(lams, path_of(problem, lams), strict=True):
        alone = run(replace(problem, lam=lam), DualAscent(), Stop(TOL, 20_000))
        reach = alone.certificate.weight_radius + solution.certificate.weight_radius
        assert np.linalg.norm(alone.weights - solution.weights) <= reach


@settings(max_examples=40, deadline=None)
@given(small_problems(offsets=(0.0,)))
def test_as_lam_falls_the_objective_and_the_losses_fall_and_the_weights_grow(problem):
    lams = np.geomspace(2.0, 0.01, 6)
    points = path_of(problem, lams)
    for one, other in pairwise(points):  # lam falls from one to the other
        first, second = one.certificate, other.certificate
        assert second.dual <= first.primal + 1e-9
        shortest = np.sqrt(first.squared_norm) - first.weight_radius
        assert shortest <= np.sqrt(second.squared_norm) + second.weight_radius + 1e-9


def test_a_state_carried_over_is_the_state_entered_there():
    problem = awkward_problem()
    before, after = ScoredProblem.of(problem, 0.05), ScoredProblem.of(problem, 0.02)
    ascent = NearbyAscent()
    state = ascent.enter(before, problem.cost * 0.3, 0)
    ascent.advance_to(before, state, 200)
    ascent.review(before, state, None)
    alpha = state.alpha.copy()
    entered = ascent.enter(after, alpha, 3)
    carried = ascent.carry_over(state, before, after, 3)
    np.testing.assert_allclose(carried.weights, entered.weights, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(carried.alpha, alpha)
    assert carried.counters.alpha_sum == pytest.approx(entered.counters.alpha_sum, rel=1e-12)
    assert carried.counters.active == entered.counters.active
    assert carried.counters.visits == 0
    active = carried.counters.active
    np.testing.assert_array_equal(np.sort(carried.order[:active]), np.sort(entered.order[:active]))


def test_rows_that_are_firmly_at_their_bounds_are_left_alone():
    # Signs are right by far, wrong by far, and in between.
    problem = problem_of([[5.0], [-5.0], [0.5]], [1, 1, 1], lam=1.0)
    state = NearbyAscent().enter(problem, np.array([0.0, 1.0, 0.0]), 0)
    state.weights[0] = 1.0
    NearbyAscent()._recall(problem, state, problem.rows.scores_of(np.array([1.0, 0.0])))
    assert state.order[: state.counters.active].tolist() == [2]


def test_only_rows_that_are_there_can_be_recalled():
    counters, order = _core.DualCounters(), np.zeros(3, np.uint32)
    with pytest.raises(ValueError, match="not there"):
        _core.recall_rows(counters, order, np.array([3], np.uint32))
    with pytest.raises(ValueError, match="as many"):
        _core.recall_rows(counters, order, np.zeros(4, np.uint32))


def test_the_losses_of_a_scored_problem_are_those_of_the_problem():
    problem = replace(awkward_problem(), lam=0.3)
    weights = np.random.default_rng(0).normal(size=problem.weights_shape)
    mine, theirs = ScoredProblem.of(problem, 0.3).losses(weights), problem.losses(weights)
    assert mine == pytest.approx(theirs, rel=1e-12)


def test_an_interrupt_ends_the_path():
    watcher = Watcher(interrupted=lambda: True)
    with pytest.raises(KeyboardInterrupt):
        next(follow(awkward_problem(), SOLVER, [0.01, 0.001], Stop(1e-9, 1000), seed=0, watcher=watcher))
