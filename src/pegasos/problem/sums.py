"""The sums over the rows of a problem that its certificate needs, with room for their rounding.

Passes in double come first. Where the rounding of double may matter, the rows are summed again in extended precision,
block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem.arrays import Floats, inner
from pegasos.problem.objective import Losses
from pegasos.rounding import (
    DualSums,
    Gain,
    LongTerms,
    Primal,
    Room,
    hidden_length,
    is_negligible,
    is_settled,
    length_of,
    long_unit,
    lowered,
    smallest,
    sum_depth,
    unit,
)

if TYPE_CHECKING:
    from pegasos.problem.problem import Problem
    from pegasos.problem.rows import Rows

BLOCK_ROWS = 1024  # rows per block in extended precision


def dual_sums(rows: Rows, problem: Problem, alpha: Floats) -> DualSums:
    """w(alpha), alpha clipped to its bounds, and the linear term of the dual with room for rounding."""
    weights, gain = dual_terms(rows, problem, alpha)
    if not gain.off > 0.0 and gain.value == 0.0:
        return DualSums(weights, 0.0)
    mu, length = problem.lam * problem.total, length_of(weights)
    if is_settled(gain, length, mu):
        return DualSums(weights, *lowered(gain, length, mu), gain.off, gain.ridge)
    if not np.isfinite(rows.longest + length):
        return DualSums(weights, -np.inf, np.inf, np.inf)
    long_mu = np.longdouble(problem.lam) * np.longdouble(problem.total)
    long = long_dual_terms(rows, problem, alpha)
    found = long.dual_sums(weights, inner(weights, weights), long_mu, problem.cap_roundings)
    return found._replace(ridge=gain.ridge)


def dual_terms(rows: Rows, problem: Problem, alpha: Floats) -> tuple[npt.NDArray[np.float64], Gain]:
    """The rows' terms of w(alpha) and of the dual's linear term, with the bounds of their errors."""
    weights = np.empty(rows.n_features + 1)
    return weights, gain_of(rows, problem, _core.dual_sums(problem.native, alpha, weights))


def gain_of(rows: Rows, problem: Problem, sums: tuple[float, float, float, float, float]) -> Gain:
    """The dual's linear term with the bounds of both errors, from the sums of `_core.dual_sums`."""
    value, spent, wander, climbed, ridge = sums
    if not spent > 0.0:
        return Gain()
    carried, longest = problem.carried, rows.longest
    step = longest / (problem.lam * problem.total)
    roundings = 8.0 + rows.threads + problem.cap_roundings
    off = unit * (wander + step * (climbed + roundings * spent))
    of_offset = unit * (rows.scores_depth * carried.length * longest + 8.0 * carried.constant)
    of_sum = unit * (sum_depth(rows.n_rows) + rows.threads)
    error = spent * (of_offset + of_sum * (1.0 + problem.largest_offset)) + rows.n_rows * smallest
    return Gain(value, error + problem.ridge_error(of_sum, spent, ridge), off, ridge)


def long_dual_terms(rows: Rows, problem: Problem, alpha: Floats) -> LongTerms:
    """The same terms in extended precision, which is slow, for when the rounding of double matters."""
    found, reach = LongTerms.none(rows.n_features + 1), np.longdouble(0.0)
    for mine in blocks(rows):
        a = np.clip(alpha[mine].astype(np.longdouble), 0.0, problem.bound[mine])
        add_long(rows, mine, a * problem.sign[mine], found.own, found.spread)
        found.gain += np.sum(a * (1.0 - problem.sign[mine] * problem.offset[mine].astype(np.longdouble)))
        found.magnitude += np.sum(a * (1.0 + np.abs(problem.offset[mine])))
        found.ridge += problem.ridge_terms(a, mine)
        reach += np.sum(a * rows.lengths_of(mine))
    carried = problem.carried
    found.of_offset = unit * (rows.scores_depth * carried.length * reach + 8.0 * carried.constant * found.magnitude)
    found.depth = BLOCK_ROWS + rows.n_rows / BLOCK_ROWS + 8.0
    return found


def losses(rows: Rows, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
    """The sum of the losses of these weights, the least margin, and |w|^2."""
    total, least = _core.losses(problem.native, weights)
    return with_room(rows, problem, weights, total, least)


def with_room(rows: Rows, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float) -> Losses:
    """Add room for rounding to these sums of the losses.

    Over all rows rounding is negligible, unless features are badly scaled or the classes are nearly separated; only
    then are the rows examined one by one.
    """
    square, length = inner(weights, weights), length_of(weights)
    primal = problem.accounted(rows.scores_depth, length)
    bound = primal.bound(total)
    room = Room(0.0, bound)
    if not is_negligible(bound, primal.objective(total)) and np.isfinite(total + square):
        room = _long_room(rows, problem, weights, total, primal)
    return Losses(total, least, square, *room, primal.moved)


def _long_room(rows: Rows, problem: Problem, weights: npt.NDArray[np.float64], total: float, primal: Primal) -> Room:
    """How much the losses may exceed `total`, with each row's loss as large as rounding allows."""
    long = weights.astype(np.longdouble)
    farthest = float(sum(_farthest_losses(rows, problem, long, mine, primal) for mine in blocks(rows)))
    return primal.room(farthest, total)


def _farthest_losses(
    rows: Rows, problem: Problem, weights: npt.NDArray[np.longdouble], mine: slice, primal: Primal
) -> np.longdouble:
    offset = problem.offset[mine]
    scores, sizes = long_scores(rows, weights, mine)
    margins = problem.sign[mine] * (scores + offset)
    # Feature by feature: of features of very different size, |w| |x_i| would be far more than any score.
    of_score = long_unit * (primal.depth + 4.0) * sizes
    by_length = primal.carried_by_length
    if problem.carried.length > 0.0:  # the model adds the prior in double
        by_length += primal.moved
    of_offset = unit if problem.carried.length > 0.0 else long_unit if primal.length > 0.0 else 0.0
    by_constant = 8.0 * (unit * problem.carried.constant + of_offset * np.abs(offset))
    of_hidden = long_unit * (primal.depth + 4.0) * primal.length * hidden_length(rows.n_features)
    errors = of_score + of_hidden + by_length * rows.lengths_of(mine) + by_constant
    farthest = problem.loss.value(1.0 - margins + errors)
    counts = problem.cost[mine] > 0.0
    return np.longdouble(np.sum(problem.cost[mine][counts] * farthest[counts]))


def long_scores(
    rows: Rows, weights: npt.NDArray[np.longdouble], mine: slice
) -> tuple[npt.NDArray[np.longdouble], npt.NDArray[np.longdouble]]:
    """The scores of some rows with all the digits that the machine has, and the sums of their absolute terms."""
    begin, end, _ = mine.indices(rows.n_rows)
    scores, sizes = (np.empty(end - begin, np.longdouble) for _ in range(2))
    _core.long_scores(rows.native, begin, end, *map(_as_bytes, (weights, scores, sizes)))
    # What the constant column adds is the intercept of the model, which is a number in double.
    constant = rows.bias * np.float64(weights[-1])
    return scores + constant, sizes + abs(constant)


def add_long(
    rows: Rows,
    mine: slice,
    coefficients: npt.NDArray[np.longdouble],
    sums: npt.NDArray[np.longdouble],
    sizes: npt.NDArray[np.longdouble],
) -> None:
    """Add some rows, each times its coefficient, with all the digits that the machine has.

    The absolute terms are added to `sizes`.
    """
    begin, end, _ = mine.indices(rows.n_rows)
    room = np.zeros(2 * len(sums), np.longdouble)
    _core.add_long(rows.native, begin, end, *map(_as_bytes, (coefficients, sums, sizes, room)))
    sums[-1] += rows.bias * np.sum(coefficients)
    sizes[-1] += abs(rows.bias) * np.sum(np.abs(coefficients))


def blocks(rows: Rows) -> Iterator[slice]:
    """Iterate over all rows in blocks small enough that results take little memory."""
    return (slice(begin, begin + BLOCK_ROWS) for begin in range(0, rows.n_rows, BLOCK_ROWS))


def _as_bytes(longs: npt.NDArray[np.longdouble]) -> npt.NDArray[np.uint8]:
    """The memory of an array that native loops could not take otherwise."""
    return longs.view(np.uint8)
