"""Problems of rows that were gathered: alone, or beside rows that are fixed at their bounds elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos import _core
from pegasos.problem import Problem, inner
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import FreeIntercept
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.partitioned import PartitionedProblem
from pegasos.solvers.passes import Terms, Vector, residuals
from pegasos.solvers.pegasos import Pegasos

_MOST_EPOCHS = 100_000
_AFFORDABLE = 2e10  # nanoseconds of an interior point
_ITERATIONS = 100
_ASCENT_EPOCHS = 400
_EPOCHS_PER_TURN = 20  # of dual ascent, before conjugate gradients go on
_PRODUCTS = 60


def solve_here(problem: Problem, tol: float, seed: int, *, is_free: bool) -> tuple[Vector, Vector]:
    """Weights and a dual point of gathered rows alone; a free intercept is in the weight of the constant column."""
    solver: Any = Auto(Pegasos(), DualAscent(np.float64), tol, ends_at_once=not is_free)
    solver = FreeIntercept(solver, tol) if is_free else solver
    solution = run(problem, solver, Stop(tol, _MOST_EPOCHS, None), seed=seed)
    weights = np.asarray(solution.weights, np.float64)
    if is_free:
        weights = weights.copy()
        weights[-1] = solution.intercept / problem.rows.bias
    return weights, np.asarray(solution.alpha, np.float64)


def beside_others(
    problem: PartitionedProblem, part: Problem, others: Terms, weights: Vector, tol: float
) -> tuple[Vector, Vector, float]:
    """The best weights with these rows' dual variables free and the others' fixed, these, and the lower bound."""
    scale = problem.lam * problem.total
    fixed, gain = others.weights * scale, others.gain.value
    everyone = np.flatnonzero(part.cost > 0.0).astype(np.uint32)
    price = InteriorPoint().price(part, len(everyone))
    found = None
    if part.rows.n_rows <= part.rows.n_features or not price < _AFFORDABLE:
        # Rows next to orthogonal need a few epochs of dual ascent.
        found, is_solved = _ascent(part, others, tol)
        price = np.inf if is_solved else price
    if price < _AFFORDABLE:
        found = _interior(part, everyone, fixed, gain, weights, tol)
    assert found is not None
    weights, alpha = found
    own = Terms.of(part, alpha)
    total = others.weights + own.weights
    dual = (gain + own.gain.value) / problem.total - 0.5 * problem.lam * inner(total, total)
    return weights, alpha, dual


def _interior(
    part: Problem, chosen: Any, fixed: Vector, gain: float, weights: Vector, tol: float
) -> tuple[Vector, Vector]:
    solver = InteriorPoint()
    state = solver.enter(part, chosen, weights, np.zeros(part.rows.n_rows), beside=(fixed, gain))
    solver.advance(part, state, _ITERATIONS, tol)
    alpha = np.zeros(part.rows.n_rows)
    alpha[chosen] = state.best_alpha
    return state.best_weights, alpha


def _ascent(part: Problem, others: Terms, tol: float) -> tuple[tuple[Vector, Vector], bool]:
    """Dual ascent in turns with conjugate gradients over the rows between their bounds; begun at the others' weights."""
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
        # The estimate is that of the rows that shrinking has left: the others may have something to say.
        is_solved = is_solved and _gap(part, state.weights, state.alpha, ascent.dual(part, state)) <= tol
        state.recall_all_rows()
    return (np.array(state.weights, np.float64), np.array(state.alpha, np.float64)), is_solved


def _gap(part: Problem, weights: Vector, alpha: Vector, dual: float) -> float:
    """The relative gap of w(alpha), from the terms of the rows that are here; those of the others are 0."""
    r = residuals(part, weights)
    gap = float(np.sum(part.cost * part.loss.value(r) - alpha * r)) / part.total
    return gap / (dual + gap) if dual + gap > 0.0 else 0.0
