"""The one loop around every solver: why it ends is said truthfully, and what it saw is in the trace."""

import numpy as np
import pytest

from pegasos.certificate import certify
from pegasos.solution import Status
from pegasos.solvers import driver
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, Watcher, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos
from tests.problems import awkward_problem, problem_of

SOLVERS = {
    "pegasos": Pegasos(),
    "pegasos uniform batches": Pegasos(batch_size=4, sampling="uniform", average="tail"),
    "dual ascent": DualAscent(),
    "auto": Auto(Pegasos(), DualAscent()),
}
for_every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
NEVER = Stop(tol=0.0, max_iter=7)


def hard_problem():
    """Small lam: far from solved after a few epochs."""
    return awkward_problem(lam=1e-4)


def interrupted_after(limit):
    """Dual ascent into which somebody presses Ctrl-C once that many rows have been visited."""

    class Interrupted(DualAscent):
        def advance_to(self, problem, state, visits):
            super().advance_to(problem, state, min(visits, limit))
            if visits > limit:
                raise KeyboardInterrupt

    return Interrupted()


@for_every_solver
def test_certified_means_that_the_gap_is_at_most_tol(solver):
    problem = awkward_problem(lam=1.0)
    solution = run(problem, solver, Stop(tol=0.02))
    assert solution.status is Status.CERTIFIED
    recomputed = certify(problem, solution.weights, solution.alpha)
    assert recomputed.relative_gap <= 0.02
    assert recomputed.primal == solution.certificate.primal
    assert recomputed.dual == pytest.approx(solution.certificate.dual, rel=1e-12)


@for_every_solver
def test_epochs_means_that_all_were_run_and_the_gap_is_still_open(solver):
    problem = hard_problem()
    solution = run(problem, solver, Stop(tol=1e-9, max_iter=7))
    assert solution.status is Status.EPOCHS
    assert solution.n_epochs in (7, 8)  # a batch may run on over the end of an epoch
    assert solution.certificate.relative_gap > 1e-9
    assert solution.certificate == certify(problem, solution.weights, solution.alpha)


@for_every_solver
def test_completed_means_that_no_gap_was_requested(solver):
    solution = run(awkward_problem(lam=10.0), solver, Stop(tol=None, max_iter=20))
    assert solution.status is Status.COMPLETED
    assert solution.n_epochs in (20, 21)


@for_every_solver
def test_time_ends_a_run_that_is_not_certified(solver):
    problem = hard_problem()
    solution = run(problem, solver, Stop(tol=1e-9, time_budget=1e-9))
    assert solution.status is Status.TIME
    assert solution.n_steps > 0
    assert solution.certificate == certify(problem, solution.weights, solution.alpha)


def test_what_is_certified_when_time_ends_is_called_certified():
    solution = run(awkward_problem(lam=1.0), DualAscent(), Stop(tol=0.5, time_budget=1e-9))
    assert solution.status is Status.CERTIFIED


@for_every_solver
def test_a_watcher_can_stop_at_an_epoch(solver):
    seen = []

    def on_epoch(epoch, model):
        seen.append((epoch, model().weights.copy()))
        return epoch == 3

    solution = run(hard_problem(), solver, NEVER, watcher=Watcher(on_epoch=on_epoch))
    assert solution.status is Status.STOPPED
    assert [epoch for epoch, _ in seen] == [1, 2, 3]
    np.testing.assert_allclose(solution.weights, seen[-1][1], rtol=1e-9, atol=1e-12)


def test_a_watcher_can_interrupt_between_chunks():
    asked = []

    def interrupted():
        asked.append(True)
        return len(asked) == 4

    stop = Stop(tol=0.0, max_iter=1000)
    solution = run(hard_problem(), DualAscent(), stop, watcher=Watcher(interrupted=interrupted))
    assert solution.status is Status.INTERRUPTED
    assert len(asked) == 4
    assert solution.certificate.is_finite


def test_ctrl_c_leaves_the_point_reached():
    problem = hard_problem()
    solution = run(problem, interrupted_after(100), NEVER)
    assert solution.status is Status.INTERRUPTED
    assert solution.n_steps == 100
    assert solution.certificate == certify(problem, solution.weights, solution.alpha)
    assert solution.trace.rows[-1].step == 100


def test_ctrl_c_within_a_chunk_certifies_the_point_that_is_returned():
    class Halfway(DualAscent):
        """Interrupted where rows have been changed and not yet counted, just after a certificate."""

        def advance_to(self, problem, state, visits):
            if self.visits(state) > 0:
                state.alpha *= 0.5
                raise KeyboardInterrupt
            super().advance_to(problem, state, problem.rows.n_rows)

    problem = hard_problem()
    solution = run(problem, Halfway(), NEVER)
    assert solution.status is Status.INTERRUPTED
    assert solution.certificate == certify(problem, solution.weights, solution.alpha)


def test_ctrl_c_before_anything_was_learnt_is_raised_again():
    with pytest.raises(KeyboardInterrupt):
        run(hard_problem(), interrupted_after(0), NEVER)


def test_tol_zero_ends_where_rounding_begins():
    for seed in range(20):
        solution = run(awkward_problem(seed=seed, n_rows=12, n_features=5, lam=0.1), DualAscent(), Stop(tol=0.0))
        assert abs(solution.certificate.relative_gap) <= 1e-14
        assert solution.status is Status.ROUNDING
        # A computed gap of 0 does not prove a distance of 0.
        assert solution.certificate.weight_radius > 0.0


@pytest.mark.parametrize(("size", "dtype"), [(1e305, np.float64), (1e200, np.float64), (1e37, np.float32)])
@pytest.mark.parametrize("average", [None, "uniform", "tail"])
def test_overflow_gives_the_zero_model(average, size, dtype):
    problem = problem_of(size * np.array([[1, 0.1], [0.1, 1], [-1, 0.2]]), [1, -1, 1], lam=1e-6, dtype=dtype)
    solution = run(problem, Pegasos(average=average, dtype=dtype), Stop(max_iter=20))
    assert_is_zero_after_overflow(solution)


def test_a_dual_point_whose_weights_overflow_is_left_without_a_warning():
    problem = problem_of([[1e200, 0.0], [0.0, 1.0]], [1, -1])
    solver = DualAscent()
    solution = run(problem, solver, NEVER, state=solver.enter(problem, np.ones(2), 0))
    assert np.isfinite(solution.weights).all()
    assert solution.certificate == certify(problem, solution.weights, solution.alpha)
    assert solution.certificate.is_finite


def assert_is_zero_after_overflow(solution):
    assert solution.status is Status.OVERFLOW
    assert not solution.weights.any()
    assert not solution.alpha.any()
    assert (solution.certificate.primal, solution.certificate.dual) == (1.0, 0.0)
    assert np.isfinite(solution.trace["primal"]).all()


@for_every_solver
def test_the_trace_tells_every_certificate(solver):
    seen = []
    solution = run(hard_problem(), solver, Stop(tol=1e-15, max_iter=200), watcher=Watcher(on_review=seen.append))
    trace = solution.trace
    assert trace.rows == seen
    assert len(trace) > 3
    assert tuple(dict(trace)) == trace.keys() == ("step", "epoch", "seconds", "primal", "dual", "gap")
    assert trace["step"].dtype == np.int64
    assert (np.diff(trace["epoch"]) > 0).all()
    assert (np.diff(trace["seconds"]) >= 0).all()
    np.testing.assert_array_equal(trace["gap"], trace["primal"] - trace["dual"])
    assert (trace["gap"] >= 0).all()
    assert trace["dual"].max() <= trace["primal"].min()
    last, certificate = trace.rows[-1], solution.certificate
    assert (last.primal, last.dual, last.gap) == (certificate.primal, certificate.dual, certificate.gap)
    assert last.step == solution.n_steps


@for_every_solver
def test_the_speed_of_the_machine_changes_nothing(solver, monkeypatch):
    swift = run(hard_problem(), solver, NEVER, seed=3)
    monkeypatch.setattr(driver, "_CHUNK_SECONDS", 0.0)  # chunks of one row
    slow = run(hard_problem(), solver, NEVER, seed=3)
    np.testing.assert_array_equal(slow.weights, swift.weights)
    np.testing.assert_array_equal(slow.alpha, swift.alpha)
    assert slow.trace["primal"].tolist() == swift.trace["primal"].tolist()


def test_a_run_continues_from_the_state_of_another():
    problem, solver = hard_problem(), Pegasos(average="uniform")
    straight = run(problem, solver, Stop(tol=None, max_iter=7), seed=1)
    begun = run(problem, solver, Stop(tol=None, max_iter=3), seed=1)
    resumed = run(problem, solver, Stop(tol=None, max_iter=4), state=begun.state)
    np.testing.assert_array_equal(resumed.weights, straight.weights)
    assert (resumed.n_epochs, resumed.n_steps) == (7, 7 * problem.rows.n_rows)
    assert not np.array_equal(run(problem, solver, Stop(tol=None, max_iter=7), seed=2).weights, straight.weights)


class Exhausted(DualAscent):
    """Dual ascent that gives up at once where it continues from another point."""

    def advance_to(self, problem, state, visits):
        if state.order is self.bad.order:
            raise driver.ExhaustedError
        super().advance_to(problem, state, visits)


def test_a_bad_start_is_dropped_with_the_time_that_is_left(monkeypatch):
    problem, solver = awkward_problem(lam=1.0), Exhausted()
    bad = solver.start(problem, 0)
    object.__setattr__(solver, "bad", bad)
    budgets = []

    def recorded(*arguments, **settings):
        budgets.append(arguments[2].time_budget)
        return run(*arguments, **settings)

    monkeypatch.setattr(driver, "run", recorded)
    solution = driver.run_from(problem, solver, Stop(tol=0.02, time_budget=60.0), state=bad)
    assert solution.status is Status.CERTIFIED
    assert budgets[0] == 60.0
    assert 0.0 < budgets[1] < 60.0


def test_a_run_out_of_epochs_is_not_repeated_unless_asked():
    problem, solver = hard_problem(), DualAscent()
    few = Stop(tol=1e-9, max_iter=3)
    state = solver.start(problem, 0)
    assert driver.run_from(problem, solver, few, state=state).n_epochs == 3
    assert solver.visits(state) == 3 * problem.rows.n_rows
