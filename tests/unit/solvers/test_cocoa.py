"""Rounds on partitions against their transcription, against the whole problem, and against exact optima."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.certificate import certify_dual, dual_point
from pegasos.problem import Rows
from pegasos.solution import Status
from pegasos.solvers.cocoa import (
    Climb,
    Cocoa,
    DualPoint,
    LostError,
    PartitionedProblem,
    PartitionsHere,
    combine,
    local_round,
)
from pegasos.solvers.driver import Stop, run
from tests.agreement.interior_point import optimum_of
from tests.problems import LAYOUTS, PRECISIONS, awkward_problem, small_problems
from tests.reference import cocoa as reference
from tests.reference.objective import PlainProblem

CUTS = {"one": [], "two": [20], "five, unequal": [1, 3, 30, 38]}


def cut(problem, cuts):
    """The problem's rows in partitions that end at these rows; each knows the total of all."""
    ends = [0, *cuts, problem.rows.n_rows]
    parts = []
    for begin, end in pairwise(ends):
        rows = Rows.of(problem.rows.values[begin:end], problem.rows.bias)
        columns = (column[begin:end] for column in (problem.sign, problem.cost, problem.offset))
        parts.append(replace(problem, rows=rows, **dict(zip(("sign", "cost", "offset"), columns, strict=True))))
    return parts


def partitioned(problem, cuts, kind=PartitionsHere):
    return PartitionedProblem(kind(cut(problem, cuts)), problem.lam, problem.total, problem.lam * problem.radius**2)


def alpha_of(state):
    return np.concatenate([share.alpha for share in state.point.held])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_rounds_equal_the_transcription(cuts, layout, precision):
    row_type, weight_type, tolerance = PRECISIONS[precision]
    problem = awkward_problem(layout, row_type, lam=0.01)
    whole, solver = partitioned(problem, cuts), Cocoa(2, weight_type)
    paper = reference.Cocoa([PlainProblem.of(part) for part in cut(problem, cuts)], local_epochs=2, seed=5)
    state = solver.start(whole, 5)
    for _ in range(12):
        solver.advance_to(whole, state, state.visits + 1)
        paper.round()
        np.testing.assert_allclose(alpha_of(state), np.concatenate(paper.alphas), rtol=0, atol=tolerance)
        np.testing.assert_allclose(state.point.weights, paper.weights(paper.alphas), rtol=0, atol=tolerance)


def test_the_transcription_took_a_round_back_and_had_momentum():
    problem = awkward_problem(lam=0.01)
    paper = reference.Cocoa([PlainProblem.of(part) for part in cut(problem, [20])], local_epochs=2, seed=5)
    thetas = []
    for _ in range(40):
        paper.round()
        thetas.append(paper.theta)
    assert max(thetas) > 3.0
    assert 1.0 in thetas


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_the_certificate_is_that_of_the_whole_problem_and_bounds_the_exact_optimum(cuts):
    problem = awkward_problem(lam=0.01)
    solution = run(partitioned(problem, cuts), Cocoa(), Stop(1e-6, 3000))
    assert solution.status is Status.CERTIFIED
    certificate, weights = certify_dual(problem, alpha_of(solution.state))
    assert certificate.primal == pytest.approx(solution.certificate.primal, rel=1e-12)
    assert certificate.dual == pytest.approx(solution.certificate.dual, rel=1e-12)
    assert certificate.least_margin == pytest.approx(solution.certificate.least_margin, rel=1e-9)
    np.testing.assert_allclose(weights, solution.weights, rtol=0, atol=1e-12)
    exact = optimum_of(problem)
    assert solution.certificate.dual <= exact.primal * (1 + 1e-12)
    assert exact.dual <= solution.certificate.primal <= exact.primal * (1 + 2e-6)
    assert np.linalg.norm(solution.weights - exact.weights) <= solution.certificate.weight_radius


@given(small_problems(), st.lists(st.integers(1, 11), unique=True, max_size=3))
def test_every_cut_reaches_the_optimum(problem, cuts):
    cuts = sorted(end for end in cuts if end < problem.rows.n_rows)
    solution = run(partitioned(problem, cuts), Cocoa(), Stop(1e-4, 3000))
    exact = optimum_of(problem)
    assert solution.certificate.dual <= exact.primal + 1e-9
    assert solution.certificate.primal <= exact.primal + solution.certificate.gap + 1e-9
    if solution.status is not Status.ROUNDING:
        assert solution.certificate.relative_gap <= 1e-4


@pytest.mark.parametrize("lam", [1e-3, 0.1])
def test_the_dual_never_falls(lam):
    solution = run(partitioned(awkward_problem(lam=lam), [8, 16, 24, 32]), Cocoa(1), Stop(None, 60))
    assert np.all(np.diff(solution.trace["dual"]) >= -1e-15)
    assert solution.trace["dual"][-1] > solution.trace["dual"][0]


def test_sigma_below_the_number_of_partitions_may_let_the_dual_fall():
    """So the safe value is not caution for nothing: the same rows in both partitions, moved twice as far as is good."""
    problem = awkward_problem(lam=0.01, n_rows=20)
    zero = np.zeros(problem.weights_shape)
    whole = replace(problem, total=2 * problem.total)
    share = local_round(whole, None, zero, zero, Climb(30, np.float64, sigma=1.0, beta=0.0, seed=0))
    safe = local_round(whole, None, zero, zero, Climb(30, np.float64, sigma=2.0, beta=0.0, seed=0))

    def dual_of_twice(share):
        return 2 * share.gain.value / whole.total - 0.5 * whole.lam * (2 * share.weights) @ (2 * share.weights)

    assert dual_of_twice(share) < dual_of_twice(safe)


def test_resuming_from_a_stored_state_equals_running_straight_through():
    whole, solver = partitioned(awkward_problem(), [10, 25]), Cocoa()
    state = solver.start(whole, 3)
    solver.advance_to(whole, state, 4 * 41)
    resumed = pickle.loads(pickle.dumps(state))
    for each in (state, resumed):
        solver.advance_to(whole, each, 9 * 41)
    assert np.array_equal(alpha_of(state), alpha_of(resumed))
    assert np.array_equal(state.point.weights, resumed.point.weights)


def test_max_iter_counts_rounds():
    solution = run(partitioned(awkward_problem(lam=1e-4), [10, 25]), Cocoa(2), Stop(1e-9, 7))
    assert solution.status is Status.EPOCHS
    assert solution.n_epochs == len(solution.trace) == 7
    assert solution.n_steps == 7 * 2 * 41


class Forgetful(PartitionsHere):
    """Loses the dual variables of partition 1 in the tenth and the twentieth round."""

    def round(self, point, before, climb):
        if climb.seed // self.n_partitions in {10, 20}:
            held = [None if k == 1 else share for k, share in enumerate(point.held)]
            if point.held[1] is not None:
                raise LostError(DualPoint(held, *combine((share.weights, share.gain) for share in held if share)))
        return super().round(point, before, climb)


def test_dual_variables_that_are_lost_cost_time_and_no_truth():
    problem = awkward_problem(lam=0.01)
    solution = run(partitioned(problem, [10, 25], Forgetful), Cocoa(), Stop(1e-6, 3000))
    assert solution.status is Status.CERTIFIED
    assert np.flatnonzero(np.diff(solution.trace["dual"]) < 0.0).tolist() == [9, 19]
    assert solution.certificate.primal == pytest.approx(optimum_of(problem).primal, rel=2e-6)
    assert dual_point(problem, alpha_of(solution.state))[1] == pytest.approx(solution.certificate.dual, rel=1e-12)
