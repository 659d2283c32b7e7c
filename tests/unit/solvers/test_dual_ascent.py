"""The native loop of dual ascent against its transcription, and what holds at every visit."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pegasos.certificate import certify_dual
from pegasos.solution import Status
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos
from tests.problems import LAYOUTS, PRECISIONS, awkward_problem, problem_of
from tests.reference import dual_ascent as reference
from tests.reference.objective import PlainProblem

SEED = 5
LAM = 0.01


@cache
def transcribed(cap=1.0, ridge=0.0):
    """Weights, dual point, rows in the sweep and estimate of the gap after each visit, by the transcription."""
    problem = replace(awkward_problem(lam=LAM), cap=cap, ridge=ridge)
    paper = reference.RestingAscent(PlainProblem.of(problem), seed=SEED)
    seen = []
    for _ in range(1000):
        paper.visit()
        seen.append((paper.w.copy(), paper.alpha.copy(), (len(paper.order), paper.n_left), paper.sweep_gap))
    return seen


def overlapping_problem(lam=1e-3, n_rows=300, layout="dense"):
    """Two clouds that overlap: most rows end at a bound and leave the sweep, some of them too early."""
    random = np.random.default_rng(8)
    sign = np.where(np.arange(n_rows) % 2, 1, -1)
    X = random.normal(size=(n_rows, 6)) + 0.7 * sign[:, None]
    return problem_of(X, sign, cost=random.uniform(0.1, 3.0, n_rows), lam=lam, bias=1.0, layout=layout)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", [(1.0, 0.0), (np.inf, 0.5), (1.0, 0.3), (0.7, 1.0), (2.5, 0.0)], ids=str)
def test_native_equals_the_transcription_visit_by_visit(loss, layout, precision):
    row_type, weight_type, tolerance = PRECISIONS[precision]
    problem = replace(awkward_problem(layout, row_type, lam=LAM), cap=loss[0], ridge=loss[1])
    solver = DualAscent(weight_type)
    state = solver.start(problem, SEED)
    for visit, (w, alpha, active, gap) in enumerate(transcribed(*loss), start=1):
        solver.advance_to(problem, state, visit)
        np.testing.assert_allclose(state.weights, w, rtol=0, atol=tolerance)
        np.testing.assert_allclose(state.alpha, alpha, rtol=0, atol=tolerance)
        if tolerance < 1e-9:
            assert (state.n_active, state.n_left) == active
            assert state.counters.sweep_gap == pytest.approx(min(gap, 1e300), rel=1e-9)
    assert state.weights.dtype == state.alpha.dtype == weight_type


def test_rows_really_left_the_sweep():
    left = [left for *_, (_, left), _ in transcribed()]
    assert min(left) < 35
    assert left[-1] < 41


def test_rows_at_a_bound_rest_and_come_back():
    """The sweeps get shorter, but no row that has not left is away for more than 32 of them."""
    problem, solver = overlapping_problem(lam=0.1), DualAscent()
    state = solver.start(problem, SEED)
    sizes, last_seen = [], dict.fromkeys(range(problem.rows.n_rows), 0)
    for sweep in range(200):
        size = state.n_active or problem.rows.n_rows
        here = set(state.order[:size].tolist()) if sweep else set(last_seen)
        last_seen |= dict.fromkeys(here, sweep)
        solver.advance_to(problem, state, state.visits + size)
        sizes.append(size)
        assert all(sweep - last_seen[row] <= 32 for row in state.left.tolist())
    assert min(sizes) < 0.3 * problem.rows.n_rows


@pytest.mark.parametrize("layout", LAYOUTS)
def test_recalled_rows_take_part_again(layout):
    problem = awkward_problem(layout, lam=LAM)
    solver, paper = DualAscent(), reference.RestingAscent(PlainProblem.of(problem), seed=SEED)
    state = solver.start(problem, SEED)
    for stretch in (300, 17, 1, 200):
        solver.advance_to(problem, state, solver.visits(state) + stretch)
        for _ in range(stretch):
            paper.visit()
        np.testing.assert_allclose(state.alpha, paper.alpha, rtol=0, atol=1e-10)
        state.counters.recall_all_rows()
        paper.recall_all_rows()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_resuming_equals_running_straight_through(layout, precision):
    row_type, weight_type, _ = PRECISIONS[precision]
    problem = awkward_problem(layout, row_type, lam=LAM)
    solver = DualAscent(weight_type)
    straight, resumed = solver.start(problem, SEED), solver.start(problem, SEED)
    solver.advance_to(problem, straight, 700)
    for visits in (1, 2, 40, 41, 42, 99, 350, 699, 700):
        solver.advance_to(problem, resumed, visits)
        resumed = pickle.loads(pickle.dumps(resumed))
    assert pickle.dumps(resumed.counters) == pickle.dumps(straight.counters)
    for name in ("weights", "alpha", "order"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(straight, name), err_msg=name)


def test_the_dual_value_never_falls():
    problem = overlapping_problem(lam=0.1)
    plain, solver = PlainProblem.of(problem), DualAscent()
    state = solver.start(problem, SEED)
    values = [0.0]
    for visits in range(1, 2000):
        solver.advance_to(problem, state, visits)
        values.append(plain.dual(state.alpha))
        assert solver.dual(problem, state) == pytest.approx(values[-1], rel=1e-10)
        assert (state.alpha >= 0.0).all()
        assert (state.alpha <= problem.cost).all()
    assert np.diff(values).min() >= -1e-15
    assert values[-1] > 0.9 * plain.primal(state.weights)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_zeros_go_to_their_bound_and_the_gap_closes(layout, dtype):
    X = np.vstack([np.zeros((4, 3)), np.eye(3), -np.eye(3)])
    offset = np.array([0.0, 2.0, -3.0, 1.0, 0, 0, 0, 0, 0, 0])
    sign = np.array([1, 1, 1, 1, 1, 1, 1, -1, -1, -1])
    problem = problem_of(X, sign, cost=0.7, offset=offset, lam=0.1, layout=layout, dtype=dtype)
    solution = run(problem, DualAscent(dtype), Stop(tol=1e-6))
    np.testing.assert_allclose(solution.alpha[:4], [0.7, 0.0, 0.7, 0.0], rtol=1e-6)
    assert solution.status is Status.CERTIFIED


def test_rows_that_cost_nothing_never_move():
    problem = awkward_problem(lam=LAM)
    free = problem.cost == 0.0
    solver = DualAscent()
    state = solver.start(problem, SEED)
    for visits in range(1, 500):
        solver.advance_to(problem, state, visits)
        assert not state.alpha[free].any()
    assert free.any()
    assert state.alpha[~free].any()


@pytest.mark.parametrize("sampling", ["shuffle", "uniform"])
def test_a_dual_point_of_pegasos_is_taken_further(sampling):
    problem = overlapping_problem(lam=0.1)
    pegasos, ascent = Pegasos(sampling=sampling), DualAscent()
    start = pegasos.start(problem, SEED)
    pegasos.advance_to(problem, start, 3 * problem.rows.n_rows)
    _, alpha = pegasos.point(problem, start)
    assert (alpha > 1.01 * problem.cost).any() == (sampling == "uniform")

    state = ascent.enter(problem, alpha, SEED)
    plain = PlainProblem.of(problem)
    np.testing.assert_allclose(state.alpha, plain.clip(alpha), rtol=1e-15)
    np.testing.assert_allclose(state.weights, plain.weights_of(plain.clip(alpha)), rtol=1e-10, atol=1e-12)
    before = certify_dual(problem, alpha)[0]
    solution = run(problem, ascent, Stop(tol=1e-9), state=state)
    assert solution.trace["dual"].min() >= before.dual
    assert solution.status is Status.CERTIFIED


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0])
def test_shrinking_loses_nothing(lam, layout):
    problem = overlapping_problem(lam=lam, layout=layout)
    solution = run(problem, DualAscent(), Stop(tol=1e-9, max_iter=20_000))
    assert solution.status is Status.CERTIFIED
    plain = PlainProblem.of(problem)
    gap = plain.primal(solution.weights) - plain.dual(solution.alpha)
    assert gap <= 1e-9 * plain.primal(solution.weights)


def test_most_rows_leave_the_sweep_when_most_are_at_a_bound():
    problem = overlapping_problem()
    solver = DualAscent()
    state = solver.start(problem, SEED)
    solver.advance_to(problem, state, 100 * problem.rows.n_rows)
    assert 0 < state.n_left < 0.5 * problem.rows.n_rows


def test_a_sweep_whose_estimate_reaches_the_goal_is_the_last_one():
    """The visits up to it are those of a run without a goal, and its estimate is the first that is small enough."""
    problem, solver = overlapping_problem(lam=0.1), DualAscent()
    free, bound = solver.start(problem, SEED), solver.start(problem, SEED)
    bound.goal = 0.01
    solver.advance_to(problem, bound, 100_000)
    assert bound.visits < 100_000
    assert solver.estimate(problem, bound) <= bound.goal
    sizes = []
    while free.visits < bound.visits:
        sizes.append(solver.estimate(problem, free))
        solver.advance_to(problem, free, free.visits + (free.n_active or problem.rows.n_rows))
    assert min(sizes[1:]) > bound.goal
    np.testing.assert_array_equal(bound.alpha, free.alpha)
    np.testing.assert_array_equal(bound.weights, free.weights)
