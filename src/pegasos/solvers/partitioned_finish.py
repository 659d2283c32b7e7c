"""Problems of gathered rows: alone, or with all other rows fixed at their bounds elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pegasos import _core
from pegasos.certificate import best_intercepts
from pegasos.deadline import time_left
from pegasos.problem import Problem, inner
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import FreeIntercept, secant_step
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.partitioned import PartitionedProblem
from pegasos.solvers.passes import Terms, Vector, residuals
from pegasos.solvers.pegasos import Pegasos

_MOST_EPOCHS = 100_000
_AFFORDABLE = 2e10  # nanoseconds that an interior point may take
_ITERATIONS = 100
_ASCENT_EPOCHS = 400
_EPOCHS_PER_TURN = 20  # epochs of dual ascent before conjugate gradients continue
_PRODUCTS = 60
_CENTERS = 20  # most centers in the search for a free intercept
_UNEVEN = 0.1  # fraction of tol: how much of the dual point may lack a counterpart of the other sign


def solve_here(problem: Problem, tol: float, seed: int, *, is_free: bool) -> tuple[Vector, Vector]:
    """Weights and a dual point of gathered rows alone; a free intercept is in the weight of the constant column."""
    solver: Any = Auto(Pegasos(), DualAscent(np.float64), tol, ends_at_once=not is_free)
    solver = FreeIntercept(solver, tol) if is_free else solver
    solution = run(problem, solver, Stop(tol, _MOST_EPOCHS, time_left()), seed=seed)
    weights = np.asarray(solution.weights, np.float64)
    if is_free:
        weights = weights.copy()
        weights[-1] = solution.intercept / problem.rows.bias
    return weights, np.asarray(solution.alpha, np.float64)


def beside_others(
    problem: PartitionedProblem, part: Problem, others: Terms, weights: Vector, tol: float
) -> tuple[Vector, Vector, float]:
    """Solve with these rows' dual variables free and the others fixed; return weights, dual variables, lower bound."""
    if problem.is_free:
        weights, alpha = _around_intercepts(problem, part, others, weights, tol)
    else:
        weights, alpha = _restricted(part, others, weights, tol)
    own = Terms.of(part, alpha)
    total = others.weights + own.weights
    if problem.is_free:
        total[-1] = 0.0
    dual = (others.gain.value + own.gain.value) / problem.total - 0.5 * problem.lam * inner(total, total)
    return weights, alpha, dual


def _around_intercepts(
    problem: PartitionedProblem, part: Problem, others: Terms, weights: Vector, tol: float
) -> tuple[Vector, Vector]:
    """With a free intercept, solve the regularized problem around a center, whose solution is the next center.

    This is the proximal point method of `free_intercept`. At the end, the dual variables of the heavier sign are
    reduced, so that together with those of the fixed rows both signs have equal sums.
    """
    bias = problem.bias
    center, last = bias * float(weights[-1]), None
    weights = weights.copy()
    for _ in range(_CENTERS):
        weights[-1] = 0.0
        gain = replace(others.gain, value=others.gain.value - center * others.uneven)
        around = replace(part, offset=part.offset + center)
        weights, alpha = _restricted(around, others._replace(gain=gain), weights, tol)
        uneven = others.uneven + inner(alpha, part.sign.astype(np.float64))
        # The step of a dual point would be mostly rounding where features are large; that of the weights need not be.
        own_step = bias * float(weights[-1])
        here = center + own_step
        if abs(uneven) <= _UNEVEN * tol * (abs(gain.value) + float(np.sum(alpha))):
            break
        slope = -own_step * problem.lam / bias**2
        center = here + secant_step(last, (here, slope), own_step)
        last = here, slope
    weights[-1] = 0.0
    lowest, highest = best_intercepts(part, part.rows.scores_of(weights), -others.uneven)
    # An end is infinite, on either side, where the gathered rows do not outweigh the others.
    here = max(here, lowest) if math.isfinite(lowest) else here
    weights[-1] = (min(here, highest) if math.isfinite(highest) else here) / bias
    return weights, _evened(part, alpha, uneven)


def _evened(part: Problem, alpha: Vector, uneven: float) -> Vector:
    """Reduce the dual variables of the heavier sign by this much, as far as possible."""
    heavier = part.sign > 0 if uneven > 0.0 else part.sign < 0
    spent = float(np.sum(alpha[heavier]))
    if not spent > 0.0:
        return alpha
    alpha = alpha.copy()
    alpha[heavier] *= max(0.0, 1.0 - abs(uneven) / spent)
    return alpha


def _restricted(part: Problem, others: Terms, weights: Vector, tol: float) -> tuple[Vector, Vector]:
    """Weights and dual variables of these rows, with those of the others fixed."""
    beside = others.weights * (part.lam * part.total), others.gain.value
    everyone = np.flatnonzero(part.cost > 0.0).astype(np.uint32)
    if len(everyone) == 0:
        return others.weights.copy(), np.zeros(part.rows.n_rows)
    price = InteriorPoint().price(part, len(everyone))
    found = None
    if part.rows.n_rows <= part.rows.n_features or not price < _AFFORDABLE:
        # Nearly orthogonal rows need only a few epochs of dual ascent.
        found, is_solved = _ascent(part, others, tol)
        price = np.inf if is_solved else price
    if price < _AFFORDABLE:
        found = _interior(part, everyone, beside, weights, tol)
    assert found is not None
    return found


def _interior(
    part: Problem, chosen: Any, beside: tuple[Vector, float], weights: Vector, tol: float
) -> tuple[Vector, Vector]:
    solver = InteriorPoint()
    state = solver.enter(part, chosen, weights, np.zeros(part.rows.n_rows), beside=beside)
    solver.advance(part, state, _ITERATIONS, tol)
    alpha = np.zeros(part.rows.n_rows)
    alpha[chosen] = state.best_alpha
    return state.best_weights, alpha


def _ascent(part: Problem, others: Terms, tol: float) -> tuple[tuple[Vector, Vector], bool]:
    """Alternate dual ascent from the others' weights with conjugate gradients over rows between their bounds."""
    ascent = DualAscent(np.float64)
    state = ascent.start(part, 0)
    state.weights[:] = others.weights
    state.alpha_sum = others.gain.value
    n, is_solved, epochs = part.rows.n_rows, False, 0
    while epochs < _ASCENT_EPOCHS and not is_solved:
        for _ in range(_EPOCHS_PER_TURN):
            epochs += 1
            ascent.advance_to(part, state, epochs * n)
            if ascent.estimate(part, state) <= tol:
                break
        free = np.flatnonzero((state.alpha > 0.0) & (state.alpha < part.bound)).astype(np.uint32)
        is_solved = ascent.estimate(part, state) <= tol
        if not is_solved and 0 < len(free) <= part.rows.n_features:
            _core.face_advance(part.native, free, state.weights, state.alpha, _PRODUCTS)
        own = Terms.of(part, state.alpha)
        state.weights[:] = others.weights + own.weights
        state.alpha_sum = others.gain.value + own.gain.value
        # The estimate covers the active rows only, so the others must be checked as well.
        is_solved = is_solved and _gap(part, state.weights, state.alpha, ascent.dual(part, state)) <= tol
        state.recall_all_rows()
    return (np.array(state.weights, np.float64), np.array(state.alpha, np.float64)), is_solved


def _gap(part: Problem, weights: Vector, alpha: Vector, dual: float) -> float:
    """Relative gap of w(alpha), from the terms of the local rows; those of the others are 0."""
    r = residuals(part, weights)
    gap = float(np.sum(part.cost * part.loss.value(r) + 0.5 * part.damping * alpha**2 - alpha * r)) / part.total
    return gap / (dual + gap) if dual + gap > 0.0 else 0.0
