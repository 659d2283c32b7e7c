"""Dual ascent in threads: rounds against their transcription, and what holds after each of them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pegasos import PegasosClassifier
from pegasos.certificate import dual_point
from pegasos.solution import Status
from pegasos.solvers import split_ascent
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualState
from pegasos.solvers.split_ascent import SplitAscent, SplitState
from tests.problems import LAYOUTS, awkward_problem, problem_of
from tests.reference import dual_ascent as reference
from tests.reference.objective import PlainProblem

SEED = 5


@pytest.fixture(autouse=True)
def _few_rows_are_enough(monkeypatch):
    monkeypatch.setattr(split_ascent, "_FEWEST_VALUES", 0)
    monkeypatch.setattr(split_ascent, "_LARGEST_FIRST_GAP", 2.0)


def in_threads(problem, threads):
    return replace(problem, rows=problem.rows.in_threads(threads))


def sorted_problem(threads=2, n_rows=400, lam=0.1):
    """The two classes one after the other, as files often have them, with costs and offsets."""
    random = np.random.default_rng(8)
    sign = np.where(np.arange(n_rows) < n_rows // 2, 1, -1)
    X = random.normal(size=(n_rows, 6)) + 0.7 * sign[:, None]
    cost, offset = random.uniform(0.1, 2.0, n_rows), random.normal(size=n_rows) / 10
    return in_threads(problem_of(X, sign, cost=cost, offset=offset, lam=lam, bias=1.0), threads)


def part_of(plain, k, n):
    """What thread k of n sees, as the transcription knows problems."""
    return replace(
        plain,
        X=plain.X[k::n],
        sign=plain.sign[k::n],
        cost=plain.cost[k::n],
        offset=plain.offset[k::n],
        lam=plain.lam / n,
    )


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rounds_are_those_of_the_transcription(layout, threads):
    problem = in_threads(awkward_problem(layout, lam=3.0), threads)
    plain, solver = PlainProblem.of(problem), SplitAscent(np.float64)
    state = solver.start(problem, SEED)
    assert isinstance(state, SplitState)
    climbers = [reference.RestingAscent(part_of(plain, k, threads), seed=SEED + k) for k in range(threads)]
    w, n_visits = np.zeros(plain.X.shape[1]), len(climbers[0].alpha) // 4 + 1
    for _ in range(20):
        for climber in climbers:
            climber.w = w.copy()
            for _ in range(n_visits):
                climber.visit()
        w = w + sum(climber.w - w for climber in climbers) / threads
        solver.advance_to(problem, state, state.visits + 1)
        np.testing.assert_allclose(state.weights, w, rtol=0, atol=1e-10)
        for k, climber in enumerate(climbers):
            np.testing.assert_allclose(state.alpha[k::threads], climber.alpha, rtol=0, atol=1e-10)


@pytest.mark.parametrize("threads", [2, 5])
def test_the_dual_never_falls_and_the_weights_are_those_of_the_dual_point(threads):
    problem, solver = sorted_problem(threads), SplitAscent(np.float64)
    state = solver.start(problem, SEED)
    before = 0.0
    for _ in range(30):
        solver.advance_to(problem, state, state.visits + 1)
        weights, dual = dual_point(problem, state.alpha)
        assert dual >= before - 1e-12
        np.testing.assert_allclose(state.weights, weights, rtol=0, atol=1e-10)
        assert solver.dual(problem, state) == pytest.approx(dual, rel=1e-9)
        assert state.alpha.min() >= 0.0
        assert np.all(state.alpha <= problem.cost)
        before = dual


def test_threads_reach_the_optimum_of_one():
    one, two = (run(sorted_problem(threads), SplitAscent(np.float64), Stop(1e-9, 1000)) for threads in (1, 2))
    assert one.status is two.status is Status.CERTIFIED
    assert isinstance(one.state, DualState)
    assert isinstance(two.state, SplitState)
    assert two.certificate.primal == pytest.approx(one.certificate.primal, rel=1e-8)


def test_the_same_number_of_threads_gives_the_same_bits():
    first, second = (run(sorted_problem(3), SplitAscent(np.float64), Stop(None, 20), seed=SEED) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    np.testing.assert_array_equal(first.alpha, second.alpha)


def test_going_on_from_a_stored_state_is_running_straight_through():
    problem, solver = sorted_problem(), SplitAscent(np.float64)
    straight, cut = solver.start(problem, SEED), solver.start(problem, SEED)
    solver.advance_to(problem, straight, 2000)
    solver.advance_to(problem, cut, 700)
    cut = pickle.loads(pickle.dumps(cut))
    solver.advance_to(problem, cut, 2000)
    np.testing.assert_array_equal(cut.alpha, straight.alpha)
    np.testing.assert_array_equal(cut.weights, straight.weights)


def test_a_dual_point_is_entered_as_one_thread_enters_it():
    problem, solver = sorted_problem(), SplitAscent(np.float64)
    alpha = np.random.default_rng(0).uniform(-0.5, 3.0, problem.rows.n_rows)
    state = solver.enter(problem, alpha, SEED)
    np.testing.assert_array_equal(state.alpha, problem.within_bounds(alpha))
    weights, dual = dual_point(problem, alpha)
    np.testing.assert_allclose(state.weights, weights, rtol=1e-12)
    assert solver.dual(problem, state) == pytest.approx(dual, rel=1e-12)


def test_rows_left_in_the_sweeps_are_named_as_the_problem_names_them():
    problem, solver = sorted_problem(), SplitAscent(np.float64)
    state = solver.start(problem, SEED)
    solver.advance_to(problem, state, 20 * problem.rows.n_rows)
    assert 0 < state.n_left < problem.rows.n_rows
    assert len(np.unique(state.left)) == state.n_left
    free = np.flatnonzero((state.alpha > 0.0) & (state.alpha < problem.cost))
    assert set(free) <= set(state.left)
    state.recall_all_rows()
    assert state.n_left == 0


def test_where_rows_disturb_each_other_one_thread_climbs():
    assert isinstance(SplitAscent().start(sorted_problem(lam=1e-3), 0), DualState)
    assert isinstance(SplitAscent().start(sorted_problem(lam=0.1), 0), SplitState)


def test_no_thread_is_without_a_row():
    problem = sorted_problem(threads=8, n_rows=3, lam=100.0)
    state = SplitAscent().start(problem, 0)
    assert [len(part.alpha) for part in state.parts] == [1, 1, 1]
    assert run(problem, SplitAscent(), Stop(1e-9, 1000)).status is Status.CERTIFIED


@pytest.mark.parametrize("solver", ["auto", "dual"])
def test_a_classifier_is_certified_in_threads(solver):
    problem = sorted_problem()
    settings = {"lam": 0.1, "solver": solver, "tol": 1e-6, "random_state": 0}
    fits = [
        PegasosClassifier(**settings, n_jobs=n).fit(problem.rows.values, problem.sign, problem.cost) for n in (1, 2)
    ]
    assert all(fit.certificate_.relative_gap <= 1e-6 for fit in fits)
    assert fits[1].certificate_.primal == pytest.approx(fits[0].certificate_.primal, rel=2e-6)
