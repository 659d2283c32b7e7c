"""The sums over rows given by a kernel that a certificate needs, with room for their rounding.

Sums that rounding could change by more than a small fraction of the objective are repeated in extended precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats, Losses, Problem, inner
from pegasos.rounding import (
    DualSums,
    Gain,
    is_negligible,
    last_roundings,
    long_unit,
    lowered,
    negligible,
    smallest,
    sum_depth,
    unit,
)

if TYPE_CHECKING:
    from pegasos.gram.rows import KernelRows

_WORTH_DIGITS = 1e-6  # fraction of the objective: if rounding may be more, sums are repeated with more digits
_QUICK_VALUES = 1 << 22  # kernel values that are summed in extended precision wherever rounding is counted at all


def dual_sums(rows: KernelRows, problem: Problem, alpha: Floats) -> DualSums:
    """The coefficients of w(alpha), alpha clipped to its bounds, and the linear term of the dual with its room."""
    clipped = np.minimum(np.maximum(alpha.astype(np.float64), 0.0), problem.bound)
    ridge = float(problem.ridge_terms(clipped))
    value = inner(clipped, 1.0 - problem.sign * problem.offset) - ridge
    spent = float(np.sum(clipped))
    weights = rows.coefficients(problem, clipped)
    if spent == 0.0:
        return DualSums(weights, 0.0)
    mu, reach = problem.lam * problem.total, rows.reach(weights)
    depth = unit * (64.0 + sum_depth(rows.n_rows))
    of_sum = depth * spent * (1.0 + problem.largest_offset) + problem.ridge_error(depth, spent, ridge)
    of_prior = 8.0 * unit * spent * problem.carried.constant
    error = of_sum + of_prior + 0.5 * mu * _square_error(rows, weights, reach) + rows.n_rows * smallest
    gain = Gain(value, error, (4.0 + problem.cap_roundings) * unit * reach)
    if error > _worth_digits(rows, weights) * value:
        return _long_dual_sums(rows, problem, weights, value, of_sum + of_prior)._replace(ridge=ridge)
    # |w|^2 is a sum over kernel values, whose error is counted above, so the coefficients add no further error.
    return DualSums(weights, *lowered(gain, 0.0, mu), gain.off, ridge)


def _long_dual_sums(
    rows: KernelRows, problem: Problem, weights: npt.NDArray[np.float64], value: float, of_gain: float
) -> DualSums:
    """The same with |w|^2 summed in extended precision."""
    mu, reach = problem.lam * problem.total, rows.reach(weights)
    long = float(np.sum(weights * rows.long_scores(weights)) - np.longdouble(rows.square(weights)))
    room = of_gain + 0.5 * mu * (max(0.0, long) + _long_error(rows, weights) * reach * reach)
    return DualSums(weights, value - room, last_roundings(value, mu, reach), 4.0 * unit * reach)


def losses(rows: KernelRows, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
    """The sum of the losses of these coefficients, the least margin, and |w|^2."""
    scores = rows.scores(weights)
    total, least = _core.losses(problem.native, scores)
    return with_room(rows, problem, weights, Losses(total, least, inner(weights, scores[:-1])))


def with_room(rows: KernelRows, problem: Problem, weights: npt.NDArray[np.float64], found: Losses) -> Losses:
    """These losses as computed in double, with room for rounding."""
    reach = rows.reach(weights)
    primal = problem.accounted(rows.score_error(weights) / unit, reach)
    bound = primal.bound(found.total, 0.5 * primal.mu * _square_error(rows, weights, reach))
    objective = found.total + 0.5 * primal.mu * found.square
    if bound > _worth_digits(rows, weights) * objective and np.isfinite(objective):
        return _long_losses(rows, problem, weights, found._replace(moved=primal.moved))
    is_nothing = is_negligible(bound, objective)
    rounding, slack = (0.0, bound) if is_nothing else (bound, 0.0)
    return Losses(found.total, found.least_margin, found.square, rounding, slack, primal.moved)


def _long_losses(rows: KernelRows, problem: Problem, weights: npt.NDArray[np.float64], found: Losses) -> Losses:
    """Losses with room for rounding, from scores in extended precision."""
    scores, reach, mu = rows.long_scores(weights), rows.reach(weights), problem.lam * problem.total
    error = _long_error(rows, weights) * reach
    margins = problem.sign * (scores + problem.offset)
    # A score of 0 leaves an offset unchanged.
    of_offset = np.abs(problem.offset) * (problem.largest_offset > 0.0 and reach > 0.0)
    by_constant = 8.0 * unit * (problem.carried.constant + of_offset)
    farthest = problem.loss.value(1.0 - margins + error * rows.lengths + by_constant)
    counts = problem.cost > 0.0
    total = float(np.sum(problem.cost[counts] * farthest[counts]))
    square = float(np.sum(weights * scores) - np.longdouble(found.square))
    counted = max(0.0, total - found.total) + 0.5 * mu * (max(0.0, square) + error * reach)
    return found._replace(rounding=counted, slack=last_roundings(total, mu, reach))


def _worth_digits(rows: KernelRows, weights: npt.NDArray[np.float64]) -> float:
    """Fraction of the objective that rounding may be before sums are repeated in extended precision."""
    if rows.value_error > 0.0:
        return np.inf  # single-precision values are off by more than sums
    is_quick = not rows.columns.is_mixed and rows.n_rows * np.count_nonzero(weights) <= _QUICK_VALUES
    return negligible if is_quick else _WORTH_DIGITS


def _long_error(rows: KernelRows, weights: npt.NDArray[np.float64]) -> float:
    """`score_error` for sums in extended precision."""
    return rows.value_error + long_unit * (np.count_nonzero(weights) + 8.0)


def _square_error(rows: KernelRows, weights: npt.NDArray[np.float64], reach: float) -> float:
    """How far |w|^2 may be off."""
    return (rows.score_error(weights) + 8.0 * unit) * reach * reach
