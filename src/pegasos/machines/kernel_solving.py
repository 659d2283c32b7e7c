"""How the problems of a kernel machine are solved: which together, in how many threads, and in which precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from pegasos.deadline import TimeIsUp, within
from pegasos.gram import KernelRows, is_computed, is_quick
from pegasos.kernels import Precomputed
from pegasos.kernels.vector import VectorKernel
from pegasos.machines.base import Plan
from pegasos.machines.budget import reduced
from pegasos.machines.landmarks import states_from_landmarks
from pegasos.machines.linear import with_reach
from pegasos.machines.precision import certified_again, proved_in_double, with_double_rows
from pegasos.machines.settings import Settings
from pegasos.machines.small_problems import (
    Reached,
    SmallProblems,
    Spent,
    Together,
    most_rows,
    most_table_rows,
    solve_together,
    spend_together,
)
from pegasos.machines.solving import solve_all, threads_of_several
from pegasos.problem import Problem
from pegasos.solution import Solution, Status
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.decomposition_columns import takes_sets
from pegasos.solvers.driver import Solver, Stop, Watcher
from pegasos.solvers.kernel_pegasos import KernelPegasosState
from pegasos.tasks.one_vs_one import Pairs

_ROWS_PER_THREAD = 1000  # pairs of fewer rows are solved sequentially, because starting threads would take longer
_FIRST_PART = 0.5  # part of a time budget for solving problems together, the kernel matrix included
# most vectors of a single problem that is solved without the driver: of few features, and of more
_ALONE, _ALONE_LONG = 4096, 2048
_LEAST_EPOCHS = 100  # least number of epochs that pairs solved together must be allowed


def solve_kernel(
    problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan, cache_bytes: float
) -> list[Solution]:
    """Solve small problems together and certify pairs, or one problem, that way; the driver solves the others."""

    def complete(problem: Problem, solution: Solution) -> Solution:
        solution = with_reach(problem, solution, plan.terms)
        return _complete_pair(problem, solution, plan, cache_bytes) if isinstance(problems, Pairs) else solution

    run: dict[str, Any] = {"seed": plan.seed, "complete": complete}
    if not _are_small(problems, stop, plan, cache_bytes):
        begun, states = perf_counter(), plan.states
        if _are_vast(problems, stop, plan):
            states = states_from_landmarks(problems, solvers, stop, plan)
            if stop.time_budget is not None:
                stop = replace(stop, time_budget=max(0.0, stop.time_budget - (perf_counter() - begun)))
        jobs = jobs_for(problems, plan.settings)
        return solve_all(problems, solvers, stop, n_jobs=jobs, states=states, watchers=plan.watchers, **run)
    begun = perf_counter()
    small = SmallProblems.of(problems, plan.terms.is_free)
    certifies = isinstance(problems, Pairs) or len(problems) == 1
    found, ended = _solved_together(small, stop, plan, cache_bytes, certifies=certifies)
    solutions = []
    for k, (solution, watcher) in enumerate(zip(found, plan.watchers, strict=True)):
        if isinstance(solution, Solution):
            watcher.on_review(solution.trace.rows[0])
            solutions.append(solution)
            continue
        if ended is Status.INTERRUPTED:
            watcher.interrupted = lambda: True
        left = None if stop.time_budget is None else max(0.0, stop.time_budget - (perf_counter() - begun))
        waiting = sum(not isinstance(one, Solution) for one in found[k:])
        mine = replace(stop, time_budget=None if left is None else left / waiting)
        problem, solver = problems[k], solvers[k]
        one: dict[str, Any] = {
            "n_jobs": 1,
            "states": [_entered(solver, problem, solution, plan)],
            "watchers": [watcher],
        }
        solutions += solve_all([problem], [solver], mine, **one, **run)
    return solutions


def _entered(solver: Any, problem: Problem, reached: Reached | None, plan: Plan) -> Any:
    """The state of the driver's solver at the point reached; None for a fresh start."""
    return None if reached is None else solver.enter(problem, reached.alpha, plan.seed, reached.n_steps)


def spend_kernel(
    problems: Sequence[Problem], stop: Stop, plan: Plan, nu: float, cache_bytes: float
) -> list[Spent | None]:
    """Small problems at the parameters whose solutions spend nu; None where these are not found directly.

    Pairs or one problem are certified at once; the driver certifies several targets.
    """
    is_along_lam = plan.task.nu_is_along == "lam"
    unknown: list[Spent | None] = [None] * len(problems)
    rows = problems.rows if isinstance(problems, Pairs) else problems[0].rows
    if not isinstance(rows, KernelRows) or not _are_small(problems, stop, plan, cache_bytes, takes_one=True):
        return unknown
    small = SmallProblems.of(problems, plan.terms.is_free)
    # Without a free intercept, the sum of all alpha is fixed, and not one of each sign.
    has_sums = small.is_free or not (small.sign < 0.0).any()
    if not has_sums or (is_along_lam and small.offset.any()):
        return unknown
    tol, threads = stop.tol or 0.0, _threads_for(small, plan, cache_bytes)
    certifies = isinstance(problems, Pairs) or len(problems) == 1
    how: dict[str, Any] = {"is_along_lam": is_along_lam, "certifies": certifies}
    found, ended = _in_batches(small, stop, lambda part: spend_together(part, nu, tol, threads, **how), goes_on=False)
    if ended is Status.INTERRUPTED:  # the search takes one step and one certificate of each of the others
        for one, watcher in zip(found, plan.watchers, strict=True):
            if one is None or not isinstance(one.solution, Solution):
                watcher.interrupted = lambda: True
    return found


def _threads_for(small: SmallProblems, plan: Plan, cache_bytes: float) -> int:
    """Threads that have enough to do, and room for their tables."""
    if small.most_threads == 1:
        return 1
    room = int(cache_bytes // (8.0 * small.sizes.max() ** 2))
    return max(1, min(small.most_threads, threads_of_several(plan.settings.n_jobs), room))


def _solved_together(
    small: SmallProblems, stop: Stop, plan: Plan, cache_bytes: float, *, certifies: bool
) -> tuple[list[Any], Status | None]:
    """The solutions certified at once, and what ended it; else the point reached, or None if there was no time.

    After an interrupt, or where the driver would have no time for another look at each of them, the points reached are
    the solutions, if they are certified at once at all.
    """
    begun, budget = perf_counter(), stop.time_budget
    tol, threads = stop.tol or 0.0, _threads_for(small, plan, cache_bytes)
    fine = plan.settings.fine
    found, ended = _in_batches(
        small, stop, lambda part: solve_together(part, tol, fine, threads, certifies=certifies), goes_on=certifies
    )
    left = np.inf if budget is None else budget - (perf_counter() - begun)
    is_last = ended is Status.INTERRUPTED or (ended is Status.TIME and small.driver_seconds > left)
    if ended is not None and not is_last:
        found = [one if one is None or _is_certified(one) else _reached(one) for one in found]
    return found, ended


def _in_batches(
    small: SmallProblems, stop: Stop, solve: Callable[[SmallProblems], Together], *, goes_on: bool
) -> tuple[list[Any], Status | None]:
    """What `solve` finds for each problem, None if there was no time, and what ended it early.

    ``goes_on`` after the end of the time: a look at the other problems gives certificates.
    """
    rows, budget, many = small.rows, stop.time_budget, len(small.sizes)
    found: list[Any] = []
    ended: Status | None = None
    try:
        with within(None if budget is None else _part_for(small, budget) * budget):
            if rows.columns.source is None and not small.is_mixed(stop.tol or 0.0):
                rows.columns.load(np.arange(rows.n_rows))
            for first, end in small.batches:
                if ended is None or (goes_on and ended is Status.TIME):
                    one = solve(small.part(first, end))
                    found, ended = found + one.found, ended or one.ended
    except TimeIsUp:
        return [None] * many, Status.TIME
    return found + [None] * (many - len(found)), ended


def _part_for(small: SmallProblems, budget: float) -> float:
    """The part of a budget that solving problems together may take: all, if the driver had no time for each of them."""
    return _FIRST_PART if small.driver_seconds < (1.0 - _FIRST_PART) * budget else 1.0


def _is_certified(found: Solution | Reached) -> bool:
    return isinstance(found, Solution) and found.status is Status.CERTIFIED


def _reached(found: Solution | Reached) -> Reached:
    return Reached(np.asarray(found.alpha, np.float64), found.n_steps)


def _are_small(
    problems: Sequence[Problem], stop: Stop, plan: Plan, cache_bytes: float, *, takes_one: bool = False
) -> bool:
    """Whether these are small problems in double, to be solved to a gap, unobserved and from a fresh start.

    One problem of many vectors is left to the driver, unless ``takes_one``: its climb keeps the columns that the
    certificate needs.
    """
    rows = problems.rows if isinstance(problems, Pairs) else problems[0].rows
    assert isinstance(rows, KernelRows)
    most_alone = _ALONE if is_computed(rows.kernel, rows.items) else _ALONE_LONG
    if len(problems) == 1 and isinstance(rows.kernel, VectorKernel) and rows.n_rows > most_alone and not takes_one:
        return False
    largest = max(len(mine) for mine in problems.members) if isinstance(problems, Pairs) else rows.n_rows
    if rows.columns.source is not None:
        is_small = largest <= most_rows and largest**2 * 8.0 <= cache_bytes
    else:
        is_quick = stop.time_budget is None or isinstance(rows.kernel, VectorKernel)  # quick enough to load all columns
        few = largest <= (2 * most_rows if isinstance(problems, Pairs) or takes_one else most_table_rows)
        is_small = rows.columns.holds_all and few and is_quick
    is_plain = stop.tol is not None and not stop.is_hard and plan.terms.loss.is_hinge
    is_plain = is_plain and stop.max_iter >= _LEAST_EPOCHS
    is_new = not plan.is_seen and all(state is None for state in plan.states)
    return is_plain and is_small and rows.dtype == np.float64 and is_new and plan.settings.solver != "pegasos"


def _are_vast(problems: Sequence[Problem], stop: Stop, plan: Plan) -> bool:
    """Whether these problems have so many rows that an approximation is a better start than 0."""
    rows = None if isinstance(problems, Pairs) else problems[0].rows
    is_new = all(state is None for state in plan.states)
    is_plain = stop.tol is not None and not stop.is_hard and plan.settings.solver == "auto"
    return isinstance(rows, KernelRows) and takes_sets(rows) and is_new and is_plain


def jobs_for(problems: Sequence[Problem], settings: Settings) -> int | None:
    """Threads for the problems: several may share a table only while it is not written to."""
    if isinstance(problems, Pairs):
        return _jobs_of_pairs(problems, settings)
    rows = problems[0].rows
    assert isinstance(rows, KernelRows)
    if len(problems) == 1:
        return settings.n_jobs
    if not rows.columns.holds_all or not isinstance(rows.kernel, VectorKernel) or settings.time_budget is not None:
        return 1
    rows.columns.load(np.arange(rows.n_rows))
    return settings.n_jobs


def _jobs_of_pairs(pairs: Pairs, settings: Settings) -> int:
    """As many as have room for their tables; one where starting threads takes longer than solving the pairs."""
    rows = pairs.rows
    assert isinstance(rows, KernelRows)
    # Where computing a kernel value is faster than fetching it, each pair computes its own.
    if rows.columns.holds_all and not is_quick(rows.items) and settings.time_budget is None:
        rows.columns.load(np.arange(rows.n_rows))
    if not isinstance(rows.kernel, VectorKernel | Precomputed):
        return 1
    largest = max(len(mine) for mine in pairs.members)
    if rows.columns.holds_all and largest < _ROWS_PER_THREAD:
        return 1
    return max(1, min(threads_of_several(settings.n_jobs), int(rows.cache_bytes // (largest**2 * rows.dtype.itemsize))))


def _complete_pair(problem: Problem, solution: Solution, plan: Plan, cache_bytes: float) -> Solution:
    """Complete a pair, in double where necessary, before its rows and their table are freed."""
    if not isinstance(solution.state, KernelPegasosState):  # the state may keep a reference to the table
        solution = replace(solution, state=None)
    solution, is_open = proved_in_double(problem, solution, plan.settings.tol, is_free=plan.terms.is_free)
    if is_open:
        solution = replace(_in_double([problem], [solution], [0], plan, cache_bytes)[1][0], state=None)
    return solution


def finish_kernel(
    problems: Sequence[Problem], solutions: list[Solution], plan: Plan, *, cache_bytes: float, max_support: int | None
) -> list[Solution]:
    """The solutions with certificates in double, and within the budget of support vectors."""
    if isinstance(problems, Pairs):
        return solutions
    settings = plan.settings
    found = [
        proved_in_double(problem, solution, settings.tol, is_free=plan.terms.is_free)
        for problem, solution in zip(problems, solutions, strict=True)
    ]
    solutions = [solution for solution, _ in found]
    doubtful = [k for k, (_, is_open) in enumerate(found) if is_open]
    if doubtful:
        problems, solutions = _in_double(problems, solutions, doubtful, plan, cache_bytes)
    elif max_support is not None:
        problems = with_double_rows(problems, cache_bytes)
    return reduced(problems, solutions, max_support)


def _in_double(
    problems: Sequence[Problem], solutions: list[Solution], doubtful: list[int], plan: Plan, cache_bytes: float
) -> tuple[list[Problem], list[Solution]]:
    """Continue with kernel values in double: single precision cannot prove the gap of these problems."""
    problems, settings = with_double_rows(problems, cache_bytes), plan.settings
    solutions = solutions.copy()
    if settings.solver == "pegasos":  # exactly the published algorithm: only the certificate is recomputed
        for k in doubtful:
            solutions[k] = certified_again(problems[k], solutions[k], settings.tol)
        return problems, solutions
    mine = [problems[k] for k in doubtful]
    solver = Decomposition(settings.tol, settings.is_free)
    spent = max((row.seconds for solution in solutions for row in solution.trace.rows), default=0.0)
    found = solve_all(
        mine,
        [solver] * len(mine),
        settings.stop(seconds=spent, is_hard=plan.terms.is_hard),
        seed=0,
        n_jobs=jobs_for(mine, settings),
        states=[solver.enter(problems[k], solutions[k].alpha, 0) for k in doubtful],
        watchers=[Watcher() for _ in mine],
        complete=lambda problem, solution: with_reach(problem, solution, plan.terms),
    )
    for k, solution in zip(doubtful, found, strict=True):
        solutions[k] = solutions[k].followed_by(solution)
    return problems, solutions
