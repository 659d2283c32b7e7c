"""The nu-formulations: find the parameter at which the dual point spends the fraction nu of the rows.

The dual of a nu-machine (Schoelkopf, Smola, Williamson, Bartlett: New support vector algorithms. Neural Computation 12,
2000) is that of the usual problem with sum_i alpha_i = nu N. A solution of the usual problem is one of the nu-problem
for the nu that its dual point spends, and that share is monotone in lam (classification and one class, where it rises)
or in epsilon (regression, where it falls). On each piece of the path alpha is affine in the parameter, so that a secant
ends after a few steps once it is on the right piece; every solve starts from the dual point of the last one. A machine
that can solve the dual of the nu-problem itself (`Machine.spend`) needs no search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from pegasos.errors import NuWarning, PegasosError, warn_caller
from pegasos.machines.base import Plan
from pegasos.machines.settings import Settings
from pegasos.machines.small_problems import largest_share
from pegasos.problem import Problem
from pegasos.solution import Solution, Status
from pegasos.solvers.driver import Stop
from pegasos.tasks.one_vs_one import Pairs

_FACTOR = 10.0  # ratio of consecutive parameters while one end of the bracket is unknown
_FARTHEST = 1e-9  # fraction of the first lam below which nothing changes
_MOST_SOLVES = 60
_SAMPLE = 512  # rows that the first lam is estimated from
_SAME = 1e-12  # fraction of the parameter: no step is smaller
_FINEST, _COARSEST = 1e-9, 1e-4  # fraction of nu: the finest and the coarsest accuracy of the search, depending on tol
_LARGEST_LAM = 1e300
_PATIENCE = 8  # solves without a better one after which the search ends, because their gaps do not resolve more
# A search ends with a solve that ended like this.
_ENDED = (Status.STOPPED, Status.TIME, Status.INTERRUPTED, Status.OVERFLOW)
_STILL = 1e-4  # fraction of the spent share: a smaller change over a factor counts as none


class Solved(NamedTuple):
    """A problem of the path with its solution; ``excess`` is the share that its dual point spends, minus nu."""

    value: float
    problem: Problem
    solution: Solution
    excess: float


class Aim(NamedTuple):
    """The share to spend, and the accuracy required."""

    nu: float
    near: float


@dataclass(frozen=True)
class ByLam:
    """The path over lam: the share spent rises with it."""

    problem: Problem

    def at(self, lam: float) -> Problem:
        """The problem of a lam."""
        return replace(self.problem, lam=lam)

    def first(self, nu: float) -> float:
        """Estimate from a sample the lam at which the mean of the rows, which spends everything, would spend nu."""
        n = self.problem.rows.n_rows
        some = np.arange(0, n, -(-n // _SAMPLE))
        rows, sign, cost = self.problem.rows.view(some), self.problem.sign[some], self.problem.cost[some]
        total = self.problem.total * len(some) / n
        sample = Problem(rows, sign, cost, self.problem.offset[some], 1.0, total)
        scores = rows.scores_of(sample.dual_weights(cost)[0])
        found = max(nu * float(np.mean(np.abs(scores))), 1e-12 * rows.longest * rows.longest)
        return _LARGEST_LAM if math.isnan(found) else min(max(found, 1e-300), _LARGEST_LAM)  # NaN by overflow


@dataclass(frozen=True)
class ByEpsilon:
    """The path over epsilon, of a problem whose tube has no width yet: the share spent falls with it."""

    problem: Problem

    def at(self, epsilon: float) -> Problem:
        """The problem of an epsilon."""
        carried = replace(self.problem.carried, constant=self.problem.carried.constant + epsilon)
        return replace(self.problem, offset=self.problem.offset + self.problem.sign * epsilon, carried=carried)


def solve_nu(
    machine: Any, problems: Sequence[Problem], solvers: Sequence[Any], *, stop: Stop, plan: Plan, asked: Settings
) -> tuple[Sequence[Problem], list[Solution], tuple[float, ...]]:
    """Solve the problems at the parameters that spend nu; return problems, solutions and parameters.

    ``asked`` are the user's settings; those of the plan and ``stop`` have the gap of the search. The time budget is
    shared by all solves. After one that is interrupted or stopped, the other problems get no time.
    """
    assert asked.nu is not None
    begun = perf_counter()
    aim = Aim(asked.nu, asked.nu * min(max(asked.tol or 0.0, _FINEST), _COARSEST))
    spent = machine.spend(problems, stop, plan, aim.nu)
    for one, watcher in zip(spent, plan.watchers, strict=True):
        if _is_solved(one):
            watcher.on_review(one.solution.trace.rows[0])
    if isinstance(problems, Pairs) and all(_is_solved(one) for one in spent):
        values = tuple(one.value for one in spent)
        return replace(problems, task=plan.task.with_found(values)), [one.solution for one in spent], values
    path, search = (ByEpsilon, _along_epsilon) if plan.task.nu_is_along == "epsilon" else (ByLam, _along_lam)
    found: list[Solved] = []
    for k, direct in enumerate(spent):
        problem = problems[k]
        if _is_solved(direct):
            found.append(Solved(direct.value, path(problem).at(direct.value), direct.solution, 0.0))
            continue
        is_over = any(each.solution.status in (Status.STOPPED, Status.INTERRUPTED) for each in found)
        left = None if stop.time_budget is None else max(0.0, stop.time_budget - (perf_counter() - begun))
        waiting = sum(not _is_solved(one) for one in spent[k:])
        mine = replace(stop, time_budget=0.0 if is_over else None if left is None else left / waiting)
        alone = replace(plan, states=[None], watchers=[plan.watchers[k]])
        solved = _Path(machine, solvers[k], mine, alone, aim.nu)
        try:
            one = None if direct is None else solved.from_point(path(problem).at, direct.value, direct.solution)
            if one is None or (abs(one.excess) > aim.near and one.solution.status is Status.CERTIFIED):
                one = search(problem, aim, solved, plan)
        except _EndedError as ended:
            one = ended.best
        found.append(one)
    return [each.problem for each in found], [each.solution for each in found], tuple(each.value for each in found)


def _is_solved(direct: Any) -> bool:
    """Whether the dual of the nu-problem is solved and certified."""
    return direct is not None and isinstance(direct.solution, Solution)


class _EndedError(Exception):
    """The search has ended before it spends nu."""

    def __init__(self, best: Solved) -> None:
        self.best = best


@dataclass
class _Path:
    """Solves the problems of one path, each from the dual point of another one, within one time budget."""

    machine: Any
    solver: Any
    stop: Stop
    plan: Plan
    nu: float
    begun: float = field(default_factory=perf_counter)
    best: Solved | None = None  # the solve that came nearest to nu

    def __call__(self, at: Callable[[float], Problem], value: float, last: Solved | None) -> Solved:
        """Solve the problem of this parameter, from the dual point of another one."""
        here = at(value)
        return self._solved(value, here, None if last is None else last.solution.alpha)

    def from_point(self, at: Callable[[float], Problem], value: float, point: Any) -> Solved:
        """Solve the problem of this parameter, from a dual point found elsewhere."""
        here = at(value)
        solved = self._solved(value, here, point.alpha)
        steps = solved.solution.n_steps + point.n_steps
        return solved._replace(solution=replace(solved.solution, n_steps=steps))

    def _solved(self, value: float, here: Problem, alpha: Any) -> Solved:
        try:
            solution = self._solution(here, alpha)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            raise self._ended(Status.INTERRUPTED) from None
        solved = Solved(value, here, solution, float(np.sum(solution.alpha)) / here.total - self.nu)
        is_over = solution.status in _ENDED
        if self.best is None or (not is_over and abs(solved.excess) < abs(self.best.excess)):
            self.best = solved
        if is_over:
            raise self._ended(solution.status)
        return solved

    def _solution(self, here: Problem, alpha: Any) -> Solution:
        state = None if alpha is None else self.solver.enter(here, alpha, self.plan.seed)
        stop, plan = self.stop, replace(self.plan, states=[state])
        if stop.time_budget is not None:
            stop = replace(stop, time_budget=max(0.0, stop.time_budget - (perf_counter() - self.begun)))
        solution: Solution = self.machine.solve([here], [self.solver], stop, plan)[0]
        return solution

    def _ended(self, status: Status) -> _EndedError:
        """The solve that came nearest to nu, which does not prove more than how the last one ended."""
        assert self.best is not None
        return _EndedError(self.best._replace(solution=replace(self.best.solution, status=status)))


def _along_epsilon(problem: Problem, aim: Aim, solved: _Path, plan: Plan) -> Solved:
    path = ByEpsilon(problem)
    low = solved(path.at, 0.0, None)
    if low.excess <= aim.near:  # the dual point cannot spend more, because the tube has no width
        return low
    widest = float(np.ptp(problem.offset - problem.sign)) + float(np.abs(problem.offset - problem.sign).max())
    high = Solved(widest, problem, low.solution, -aim.nu)  # nothing lies outside a tube this wide
    return _between(path.at, high, low, aim, solved)


def _along_lam(problem: Problem, aim: Aim, solved: _Path, plan: Plan) -> Solved:
    nu, most = aim.nu, _largest_share(problem, is_free=plan.terms.is_free)
    if nu > most * (1.0 + 1e-12):
        raise PegasosError(f"nu={nu:g} is infeasible: the largest nu for these rows is {most:.6g}; give at most that.")
    path = ByLam(problem)
    here = solved(path.at, path.first(nu), None)
    last, first = here, here.value
    while abs(here.excess) > aim.near and here.excess * last.excess > 0.0:
        value = here.value * (_FACTOR if here.excess < 0.0 else 1.0 / _FACTOR)
        last, here = here, solved(path.at, value, here)
        is_still = abs(here.excess - last.excess) <= _STILL * (nu + here.excess)
        if here.excess > 0.0 and last.excess > 0.0 and (here.value < _FARTHEST * first or is_still):
            return _smallest(here, nu, plan)
        if here.excess < 0.0 and here.value * _FARTHEST > first:
            return here  # the largest possible share, up to rounding
    if abs(here.excess) <= aim.near:
        return here
    low, high = sorted((last, here), key=lambda each: each.value)
    return _between(path.at, low, high, aim, solved)


def _smallest(here: Solved, nu: float, plan: Plan) -> Solved:
    """Handle the case that no lam spends as little as nu."""
    least = nu + here.excess
    if not plan.task.nu_may_be_small:
        raise PegasosError(
            f"nu={nu:g} is infeasible: the smallest nu for these rows is about {least:.6g}, at which the margin is 0; "
            "give more, or a kernel that separates the classes better."
        )
    warn_caller(
        f"nu={nu:g}: {plan.task.why_nu_is_small(least)}, so that the share of support vectors is at least "
        f"{least:.4g}. Give a larger nu, or use a kernel such as 'rbf'.",
        NuWarning,
    )
    return here


def _between(at: Callable[[float], Problem], under: Solved, over: Solved, aim: Aim, solved: _Path) -> Solved:
    """Secant search between two ends, of which ``under`` spends too little and ``over`` too much."""
    best = min(under, over, key=lambda each: abs(each.excess))
    ends, weights, last, since_best = [under, over], [under.excess, over.excess], -1, 0
    for _ in range(_MOST_SOLVES):
        is_narrow = abs(ends[1].value - ends[0].value) <= _SAME * max(abs(end.value) for end in ends)
        if abs(best.excess) <= aim.near or is_narrow or since_best >= _PATIENCE:
            break
        share = weights[0] / (weights[0] - weights[1])
        value = ends[0].value + share * (ends[1].value - ends[0].value)
        nearest = min(ends, key=lambda end: abs(end.value - value))
        here = solved(at, value, nearest)
        since_best += 1
        if abs(here.excess) < abs(best.excess):
            best, since_best = here, 0
        side = 0 if here.excess < 0.0 else 1
        ends[side], weights[side] = here, here.excess
        if last == side:  # the other end has not moved: halve its weight (Illinois)
            weights[1 - side] *= 0.5
        last = side
    return best


def _largest_share(problem: Problem, *, is_free: bool) -> float:
    """The largest share of total that a dual point can spend."""
    of_sign = [float(np.sum(problem.cost[problem.sign == sign])) for sign in (1, -1)]
    return float(largest_share(of_sign, is_free=is_free)) / problem.total


def met(solution: Solution, tol: float | None) -> Solution:
    """Set the status that this tol implies: the search uses a smaller gap. One that has ended has not spent nu."""
    is_met = tol is not None and solution.certificate.relative_gap <= tol and solution.status not in _ENDED
    return replace(solution, status=Status.CERTIFIED) if is_met else solution
