"""How several problems share a time budget, and what an interrupt of one means for the others."""

from types import SimpleNamespace

import numpy as np
import pytest

from pegasos.machines import solving
from pegasos.solution import Status
from pegasos.solvers.driver import Stop, Watcher, run
from pegasos.solvers.dual_ascent import DualAscent
from tests.problems import problem_of


class Clock:
    """A clock that only the runs move; each problem is a number of seconds, and ends when it had them."""

    def __init__(self, monkeypatch):
        self.now, self.asked = 0.0, []
        monkeypatch.setattr(solving, "perf_counter", lambda: self.now)
        monkeypatch.setattr(solving, "run_from", self.run)

    def run(self, problem, solver, stop, *, state, seed, watcher, begun):
        already = 0.0 if state is None else state
        taken = min(problem - already, stop.time_budget)
        self.asked.append((problem, stop.time_budget))
        self.now += taken
        done = already + taken
        status = Status.CERTIFIED if done >= problem - 1e-9 else Status.TIME
        return SimpleNamespace(status=status, state=done, alpha=np.zeros(1), followed_by=lambda other: other)


def solved(problems, budget):
    many = len(problems)
    return solving.solve_all(
        problems,
        [None] * many,
        Stop(1e-3, 100, budget),
        seed=0,
        n_jobs=1,
        states=[None] * many,
        watchers=[Watcher() for _ in problems],
    )


def test_a_hard_problem_gets_the_time_that_easy_ones_leave(monkeypatch):
    clock = Clock(monkeypatch)
    found = solved([5.0, 0.1, 0.1, 0.1], 8.0)
    assert [one.status for one in found] == [Status.CERTIFIED] * 4
    assert clock.asked[0] == (5.0, 2.0)
    assert clock.now == pytest.approx(5.3)


def test_problems_that_are_all_hard_end_with_the_budget(monkeypatch):
    clock = Clock(monkeypatch)
    found = solved([9.0, 9.0, 0.5], 6.0)
    assert [one.status for one in found] == [Status.TIME, Status.TIME, Status.CERTIFIED]
    assert clock.now == pytest.approx(6.0)
    assert len(clock.asked) <= 6


def test_a_problem_alone_is_not_begun_again_in_the_time_reserved_for_its_certificate(monkeypatch):
    clock = Clock(monkeypatch)
    run = clock.run

    def ends_early(problem, solver, stop, **of_run):
        return run(problem, solver, Stop(stop.tol, stop.max_iter, 0.5 * stop.time_budget), **of_run)

    monkeypatch.setattr(solving, "run_from", ends_early)
    assert [one.status for one in solved([9.0], 4.0)] == [Status.TIME]
    assert clock.asked == [(9.0, 2.0)]


def test_a_continuation_that_proves_less_leaves_the_earlier_result():
    random = np.random.default_rng(0)
    rows = random.normal(size=(300, 5))
    problem = problem_of(rows, np.where(rows[:, 0] + random.normal(size=300) > 0.0, 1, -1), lam=1e-3)
    better = run(problem, DualAscent(np.float64), Stop(1e-6))
    worse = run(problem, DualAscent(np.float64), Stop(1e-6, 1))
    assert better.certificate.relative_gap < worse.certificate.relative_gap
    found = better.followed_by(worse)
    assert (found.certificate, found.status) == (better.certificate, worse.status)
    assert np.array_equal(found.alpha, better.alpha)
    assert worse.followed_by(better).certificate == better.certificate


def test_after_an_interrupt_the_other_problems_are_told(monkeypatch):
    told = []

    def run(problem, solver, stop, *, state, seed, watcher, begun):
        told.append(watcher.interrupted())
        return SimpleNamespace(status=Status.INTERRUPTED, state=None, alpha=np.zeros(1))

    monkeypatch.setattr(solving, "run_from", run)
    solved([1.0, 1.0, 1.0], None)
    assert told == [False, True, True]
