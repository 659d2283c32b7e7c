"""Cutting planes against their transcription, and what holds at every plane."""

import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos import PegasosClassifier, PegasosError
from pegasos.certificate import dual_point
from pegasos.solution import Status
from pegasos.solvers.cutting_plane import CuttingPlane, highest
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from tests.agreement.interior_point import optimum_of
from tests.problems import LAYOUTS, awkward_problem, problem_of, small_problems
from tests.reference import cutting_plane as reference
from tests.reference.objective import PlainProblem

N_PLANES = 25


@cache
def transcribed():
    """Weights and dual point after each plane, by the transcription."""
    paper = reference.CuttingPlane(PlainProblem.of(awkward_problem()))
    seen = [(paper.w, paper.alpha)]
    for _ in range(N_PLANES):
        paper.cut()
        seen.append((paper.w, paper.alpha))
    return seen


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_native_equals_the_transcription_plane_by_plane(layout, dtype):
    problem, solver = awkward_problem(layout, dtype), CuttingPlane()
    state = solver.start(problem, 0)
    for plane, (w, alpha) in enumerate(transcribed()[:-1], start=1):
        solver.advance_to(problem, state, plane * problem.rows.n_rows)
        weights, dual = dual_point(problem, solver.point(problem, state)[1])
        np.testing.assert_allclose(state.weights, w, rtol=0, atol=1e-6)
        np.testing.assert_allclose(weights, w, rtol=0, atol=1e-6)
        assert dual == pytest.approx(PlainProblem.of(problem).dual(alpha), abs=1e-9)
    assert solver.steps(state) == N_PLANES


def test_what_the_state_says_of_the_gap_is_what_the_certificate_says():
    problem, solver = awkward_problem(), CuttingPlane()
    state = solver.start(problem, 0)
    for plane in range(1, 12):
        solver.advance_to(problem, state, plane * problem.rows.n_rows)
        certificate = solver.review(problem, state, None).certificate
        assert state.primal == pytest.approx(certificate.primal, rel=1e-12)
        assert state.dual == pytest.approx(certificate.dual, rel=1e-9, abs=1e-12)


def test_the_lower_bound_never_falls():
    problem, solver = awkward_problem(), CuttingPlane()
    state, duals = solver.start(problem, 0), []
    for plane in range(1, 60):
        solver.advance_to(problem, state, plane * problem.rows.n_rows)
        duals.append(state.dual)
    assert np.diff(duals).min() >= -1e-12
    assert duals[-1] > duals[5] > 0.0


@given(problem=small_problems())
def test_any_problem_is_solved_to_a_small_gap(problem):
    solution = run(problem, CuttingPlane(), Stop(tol=1e-7, max_iter=3000))
    assert solution.status in (Status.CERTIFIED, Status.ROUNDING)
    best = optimum_of(problem)
    assert solution.certificate.primal <= best.primal * (1.0 + 1e-6) + 1e-9


def test_resuming_equals_running_straight_through():
    problem, solver = awkward_problem(), CuttingPlane()
    straight = solver.start(problem, 0)
    solver.advance_to(problem, straight, 30 * problem.rows.n_rows)
    state = solver.start(problem, 0)
    for planes in (7, 8, 30):
        solver.advance_to(problem, state, planes * problem.rows.n_rows)
        state = pickle.loads(pickle.dumps(state))
    np.testing.assert_array_equal(state.weights, straight.weights)
    np.testing.assert_array_equal(*(solver.point(problem, one)[1] for one in (state, straight)))


def test_a_cost_of_two_is_the_row_twice_and_a_cost_of_zero_no_row():
    random = np.random.default_rng(3)
    X, sign = random.normal(size=(30, 4)), np.where(random.random(30) < 0.5, 1, -1)
    twice = np.concatenate([np.arange(29), np.arange(10)])
    cost = np.where(np.arange(30) < 10, 2.0, 1.0)
    cost[29] = 0.0
    weighted, repeated = (
        run(problem, CuttingPlane(), Stop(tol=1e-9, max_iter=3000))
        for problem in (problem_of(X, sign, cost=cost, total=39), problem_of(X[twice], sign[twice], total=39))
    )
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-6)


def test_it_continues_from_a_dual_point_of_another_solver():
    problem, solver = awkward_problem(), CuttingPlane()
    alpha = run(problem, DualAscent(), Stop(tol=None, max_iter=3)).alpha
    state = solver.enter(problem, alpha, 0)
    _, before = dual_point(problem, alpha)
    assert dual_point(problem, solver.point(problem, state)[1])[1] >= before - 1e-12
    solution = run(problem, solver, Stop(tol=1e-8, max_iter=3000), state=state)
    assert solution.status is Status.CERTIFIED


def test_planes_without_a_part_are_dropped_and_the_gap_closes_all_the_same():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 30))
    problem = problem_of(X, np.where(X[:, 0] + random.normal(size=400) > 0, 1, -1), lam=1e-3)
    solution = run(problem, CuttingPlane(), Stop(tol=1e-4, max_iter=2000))
    assert solution.status is Status.CERTIFIED
    assert len(solution.state.normals) < solution.n_steps


@given(st.integers(1, 12), st.integers(0, 10_000))
def test_the_highest_point_over_the_simplex_has_no_better_neighbor(n, seed):
    random = np.random.default_rng(seed)
    factor = random.normal(size=(n, random.integers(1, 6)))
    square, linear = factor @ factor.T, random.normal(size=n)
    beta = highest(square, linear, np.eye(n)[0])
    beta = np.eye(n)[0] if beta is None else beta
    slopes = linear - square @ beta
    assert beta.min() >= 0.0
    assert beta.sum() == pytest.approx(1.0, abs=1e-9)
    assert slopes.max() <= slopes @ beta + 1e-7


@pytest.mark.parametrize(
    "parameters",
    [{}, {"class_weight": "balanced"}, {"regularize_intercept": False}, {"fit_intercept": False}, {"C": 0.5}],
    ids=str,
)
def test_the_classifier_agrees_with_the_default_solver(parameters):
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 5))
    y = random.permutation(3)[np.argmax(X[:, :3] + 0.5 * random.normal(size=(200, 3)), axis=1)]
    given = {"lam": 0.01, **parameters} if "C" not in parameters else parameters
    one, other = (
        PegasosClassifier(solver=solver, tol=1e-6, random_state=0, max_iter=5000, **given).fit(X, y)
        for solver in ("cutting_plane", "auto")
    )
    assert one.certificate_.relative_gap <= 1e-6
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-6)
    assert one.certify(X, y).relative_gap <= 2e-6


def test_a_prior_is_followed():
    random = np.random.default_rng(2)
    X = random.normal(size=(100, 4))
    y = X[:, 0] > 0
    prior = PegasosClassifier(random_state=0).fit(X, y)
    model = PegasosClassifier(100.0, solver="cutting_plane", prior=prior).fit(X[:20], y[:20])
    np.testing.assert_allclose(model.coef_, prior.coef_, atol=0.02)


def test_numbers_that_leave_the_range_of_the_machine_end_the_run_with_a_status():
    random = np.random.default_rng(4)
    problem = problem_of(1e160 * random.normal(size=(30, 3)), np.where(random.random(30) < 0.5, 1, -1))
    assert run(problem, CuttingPlane(), Stop(max_iter=20)).status in (Status.ROUNDING, Status.OVERFLOW)


def test_what_planes_do_not_offer_is_refused_with_a_reason(tmp_path):
    X, y = np.eye(3), [0, 1, 2]
    with pytest.raises(PegasosError, match="crammer_singer"):
        PegasosClassifier(solver="cutting_plane", multi_class="crammer_singer").fit(X, y)
    with pytest.raises(PegasosError, match="fit_source needs a solver that goes from row to row"):
        PegasosClassifier(solver="cutting_plane").fit_source(tmp_path)
