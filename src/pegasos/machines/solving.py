"""Several binary problems that share rows, solved in parallel threads.

Whole problems run in parallel, each with its own state and generator, so the results are bit-identical for any number
of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import groupby
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from pegasos.kernels.base import n_threads as n_processors
from pegasos.problem import Problem
from pegasos.solution import Solution, Status, Trace, TraceRow
from pegasos.solvers.driver import Solver, Stop, Watcher, run_from

_WORTH_ANOTHER = 0.05  # part of a time budget: if less is left, problems that ran out of theirs are not continued
_RANKS = {status: rank for rank, status in enumerate(Status)}
_WORTH_THREADS = 1 << 20  # values of the rows of all problems: fewer are trained faster than threads start


def threads_of(n_jobs: int | None) -> int:
    """Number of threads for n_jobs. A positive number always applies, because bits may depend on it."""
    return n_jobs if n_jobs is not None and n_jobs > 0 else int(effective_n_jobs(n_jobs))


def threads_of_several(n_jobs: int | None) -> int:
    """Number of threads for whole problems, whose bits do not depend on it.

    By default as many as there are processors; one within a worker of joblib, whose siblings use the other processors.
    """
    if n_jobs is not None or get_active_backend()[0].nesting_level:
        return threads_of(n_jobs)
    return max(threads_of(None), n_processors())


def threads_of_problems(n_jobs: int | None, problems: Sequence[Problem]) -> int:
    """The same for linear problems; by default one thread where the work is not worth more."""
    rows: Any = problems[0].rows
    is_little = len(problems) == 1 or len(problems) * rows.n_stored < _WORTH_THREADS
    return threads_of(n_jobs) if is_little else threads_of_several(n_jobs)


def solve_all(
    problems: Sequence[Problem],
    solvers: Sequence[Solver],
    stop: Stop,
    *,
    seed: int,
    n_jobs: int | None,
    states: Sequence[Any],
    watchers: Sequence[Watcher],
    complete: Callable[[Problem, Solution], Solution] = lambda problem, solution: solution,
) -> list[Solution]:
    """One solution per problem, in order; a time budget is shared fairly, and problems may use what others leave.

    ``complete`` is called with each solution while its problem is in memory; a problem may be freed once it is solved.
    """
    n_threads = 1 if len(problems) == 1 else min(len(problems), threads_of(n_jobs))
    begun = perf_counter()
    deadline = None if stop.time_budget is None else begun + stop.time_budget

    def share_of(k: int) -> Stop:
        """The stopping rule of problem k, with its part of the time that is left now."""
        if deadline is None:
            return stop
        waiting = -(-(len(problems) - k) // n_threads)
        return replace(stop, time_budget=max(0.0, deadline - perf_counter()) / waiting)

    def solve(k: int) -> Solution:
        of_run: dict[str, Any] = {"state": states[k], "seed": seed, "watcher": watchers[k], "begun": begun}
        return complete(problems[k], run_from(problems[k], solvers[k], share_of(k), **of_run))

    together = _in_turn if n_threads == 1 else _in_threads
    found = together(solve, len(problems), n_threads, watchers)
    open_ = [k for k, solution in enumerate(found) if solution.status is Status.TIME]
    left = 0.0 if deadline is None else deadline - perf_counter()
    # A single problem had all the time: what it left was reserved for its certificate.
    if len(problems) == 1 or deadline is None or not open_ or left < _WORTH_ANOTHER * (deadline - begun):
        return found
    some: Any = _Some(problems, open_)
    more = solve_all(
        some,
        [solvers[k] for k in open_],
        replace(stop, time_budget=left),
        seed=seed,
        n_jobs=n_jobs,
        states=[_end_of(found[k], solvers[k], problems, k, seed) for k in open_],
        watchers=[watchers[k] for k in open_],
        complete=complete,
    )
    for k, solution in zip(open_, more, strict=True):
        found[k] = found[k].followed_by(solution)
    return found


@dataclass(frozen=True)
class _Some:
    """Some of the problems, each made on access."""

    problems: Any
    chosen: list[int]

    def __len__(self) -> int:
        return len(self.chosen)

    def __getitem__(self, k: int) -> Problem:
        problem: Problem = self.problems[self.chosen[k]]
        return problem


def _end_of(solution: Solution, solver: Any, problems: Sequence[Problem], k: int, seed: int) -> Any:
    """Where a run ended: its state, or the solver at its dual point."""
    return solver.enter(problems[k], solution.alpha, seed) if solution.state is None else solution.state


def _in_turn(
    solve: Callable[[int], Solution], n_problems: int, n_threads: int, watchers: Sequence[Watcher]
) -> list[Solution]:
    """After an interrupt, the other problems take one step and one certificate each."""
    found: list[Solution] = []
    for k in range(n_problems):
        if found and found[-1].status is Status.INTERRUPTED:
            watchers[k].interrupted = lambda: True
        found.append(solve(k))
    return found


def _in_threads(
    solve: Callable[[int], Solution], n_problems: int, n_threads: int, watchers: Sequence[Watcher]
) -> list[Solution]:
    """An interrupt reaches only the main thread, which stops the others, and raises it if there is no result."""
    interrupted = Event()
    for watcher in watchers:
        watcher.interrupted = interrupted.is_set
    with ThreadPoolExecutor(n_threads) as pool:
        futures: list[Future[Solution]] = []
        try:
            for k in range(n_problems):
                futures.append(pool.submit(solve, k))
            wait_for(futures)
        except KeyboardInterrupt:
            interrupted.set()
            if len(futures) < n_problems or all(future.result().n_steps == 0 for future in futures):
                raise
        finally:
            interrupted.set()  # one failed, so the others can stop
        return [future.result() for future in futures]


def wait_for(futures: Sequence[Future[Any]]) -> None:
    """Wait until all have ended, or one has failed."""
    # The waits are short because a thread that waits indefinitely may not notice an interrupt.
    while wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
        if any(future.done() and future.exception() for future in futures):
            return


def worst_status(solutions: Sequence[Solution]) -> Status:
    """The most informative status about what is missing."""
    return max((solution.status for solution in solutions), key=_RANKS.__getitem__)


def merge_traces(losses_of_zero: Callable[[], Sequence[float]], solutions: Sequence[Solution]) -> Trace:
    """Merge the traces of the problems on one clock: sums of the latest rows, starting from the zero vector.

    Problems that were certified at the same time form one row.
    """
    if len(solutions) == 1:
        return solutions[0].trace
    parts = tuple(solution.trace for solution in solutions)
    rows = [part.rows[0] for part in parts if len(part) == 1]
    if len(rows) == len(parts) and len({row.seconds for row in rows}) == 1:
        return Trace([_sum(rows)], of_problems=parts)
    events = [(row.seconds, k, row) for k, part in enumerate(parts) for row in part.rows]
    latest = np.array([TraceRow(0, 0.0, 0.0, loss, 0.0, loss) for loss in losses_of_zero()])
    merged = Trace(of_problems=parts)
    events.sort(key=lambda event: event[:2])
    for seconds, together in groupby(events, key=lambda event: event[0]):
        for _, k, row in together:
            latest[k] = row
        step, epochs, _, *numbers = latest.sum(axis=0).tolist()
        merged.rows.append(TraceRow(int(step), epochs / len(latest), seconds, *numbers))
    return merged


def add_traces(solutions: Sequence[Solution]) -> Trace:
    """Merge the traces row by row, for problems that advance together."""
    if len(solutions) == 1:
        return solutions[0].trace
    parts = tuple(solution.trace for solution in solutions)
    return Trace([_sum(rows) for rows in zip(*(part.rows for part in parts), strict=True)], of_problems=parts)


def _sum(rows: Sequence[TraceRow]) -> TraceRow:
    """Sums; the epoch is the mean, the clock the last."""
    return TraceRow(
        step=sum(row.step for row in rows),
        epoch=sum(row.epoch for row in rows) / len(rows),
        seconds=max(row.seconds for row in rows),
        primal=sum(row.primal for row in rows),
        dual=sum(row.dual for row in rows),
        gap=sum(row.gap for row in rows),
    )
