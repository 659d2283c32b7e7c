"""Small linear problems: each is solved by one native call, from the encoded rows to the sums of its certificate.

The loops are those of finite Newton steps and of the interior point (cpp/core/pegasos/small_linear.h), the certificate
is that of `certify`. What is not certified this way is left to the driver, which looks at the clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import Certificate, certificate_of
from pegasos.machines.base import Plan
from pegasos.problem import Losses, Problem, Rows
from pegasos.problem.sums import gain_of
from pegasos.rounding import DualSums, is_negligible, is_settled, length_of, lowered
from pegasos.solution import Solution, Status, Trace, TraceRow
from pegasos.solvers.auto import AutoState
from pegasos.solvers.driver import Stop, Watcher
from pegasos.solvers.finite_newton import goal_of
from pegasos.solvers.interior_point import InteriorPoint

Vector = npt.NDArray[np.float64]

_LARGEST_SIDE = 64  # side of the largest matrix
_MOST_PRODUCTS = 2e6  # rows times squared side: a step with more takes longer than what is saved around it
_QUICK = 2.6e6  # nanoseconds that an interior point may take where dual ascent is expected to take less
_LEAST_TOL = 1e-14  # smaller gaps are noise, which the driver says
_LEAST_EPOCHS = 100  # least number of epochs that a problem must be allowed
_AIM = 0.3  # fraction of the power of ten below the requested gap that an interior point aims at
_LARGEST_AIM, _LEAST_AIM = 1e-8, 1e-15


def solve_small(problems: Sequence[Any], solvers: Sequence[Any], stop: Stop, plan: Plan) -> list[Solution | None]:
    """The solution of each small problem that is certified at once; None for the others."""
    if not _is_plain(stop, plan) or not _has_small_rows(problems[0]):
        return [None] * len(problems)
    each, tol = zip(problems, solvers, plan.states, strict=True), stop.tol or 0.0
    begun = perf_counter()
    found = [
        _solved(problem, tol) if _suits(problem, solver) and not _is_good_enough(state, tol) else None
        for problem, solver, state in each
    ]
    seconds = perf_counter() - begun
    for solution in found:
        if solution is not None:
            solution.trace.rows.append(_row_of(solution, seconds))
    return [_told(solution, watcher) for solution, watcher in zip(found, plan.watchers, strict=True)]


def _told(solution: Solution | None, watcher: Watcher) -> Solution | None:
    """The solution, of which the watcher has been told; an interrupt in it leaves the solution."""
    if solution is None:
        return None
    try:
        watcher.on_review(solution.trace.rows[0])
    except KeyboardInterrupt:
        return replace(solution, status=Status.INTERRUPTED)
    return solution


def _row_of(solution: Solution, seconds: float) -> TraceRow:
    found = solution.certificate
    epochs = float(solution.n_epochs)
    return TraceRow(solution.n_steps, epochs, seconds, found.primal, found.dual, found.gap)


def _is_plain(stop: Stop, plan: Plan) -> bool:
    """Whether the problems are to be solved to a gap, unobserved and with any solver.

    A starting point that is not good enough already saves nothing here.
    """
    settings = plan.settings
    is_auto = settings.solver == "auto" and not settings.is_free
    has_goal = stop.tol is not None and stop.tol >= _LEAST_TOL and stop.max_iter >= _LEAST_EPOCHS
    return not plan.is_seen and is_auto and has_goal and not stop.is_hard


def _is_good_enough(state: Any, tol: float) -> bool:
    """Whether a run from this state would end at once."""
    return isinstance(state, AutoState) and state.best is not None and state.best.certificate.relative_gap <= tol


def _has_small_rows(problem: Any) -> bool:
    """Whether the rows are more than the features, and few enough for a matrix in the features at every step."""
    if not isinstance(problem, Problem) or not isinstance(problem.rows, Rows):
        return False
    n, side = problem.rows.native.n_distinct, problem.rows.n_features + 1
    return n >= side <= _LARGEST_SIDE and n * side * side <= _MOST_PRODUCTS


def _suits(problem: Problem, solver: Any) -> bool:
    """Whether the method for this loss is expected to be the fastest."""
    if problem.ridge > 0.0:
        return math.isinf(problem.cap)
    price = InteriorPoint().price(problem, problem.rows.native.n_distinct)
    return price < _QUICK or bool(solver.begins_inside(problem))


def _solved(problem: Problem, tol: float) -> Solution | None:
    side, n = problem.rows.n_features + 1, problem.rows.n_rows
    weights, alpha, own = np.empty(side), np.empty(n), np.empty(side)
    steps, visits, *sums = _core.small_linear(problem.native, *_goal(problem, tol), weights, alpha, own)
    certificate = _certified(problem, weights, own, sums)
    if certificate is None or not certificate.relative_gap <= tol:
        return None
    return Solution(weights, alpha, Status.CERTIFIED, certificate, Trace(), max(1, -(-visits // n)), steps, None)


def _goal(problem: Problem, tol: float) -> tuple[float, float]:
    """The relative gap that suffices, and the one to aim at first."""
    if problem.ridge > 0.0:
        rows: Any = problem.rows
        return goal_of(rows.native.n_distinct, rows.n_features + 1, tol)
    return tol, _AIM * 10.0 ** math.floor(math.log10(max(min(tol, _LARGEST_AIM), _LEAST_AIM)))


def _certified(problem: Problem, weights: Vector, own: Vector, sums: Any) -> Certificate | None:
    """The certificate from the sums of `_core.small_linear`; None where rounding counts."""
    of_dual, total, least = sums
    square, own_square, apart = problem.square(weights), problem.square(own), problem.square(weights - own)
    rows: Any = problem.rows
    primal = problem.accounted(rows.scores_depth, length_of(weights))
    room, own_length, mu = primal.bound(total), length_of(own), problem.lam * problem.total
    gain = gain_of(rows, problem, of_dual)
    if not (is_negligible(room, primal.objective(total)) and is_settled(gain, own_length, mu)):
        return None
    dual = DualSums(own, *lowered(gain, own_length, mu), gain.off, gain.ridge)
    losses = Losses(total, least, square, 0.0, room, primal.moved)
    return certificate_of(problem, losses, dual, own_square, apart)
