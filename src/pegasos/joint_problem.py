"""The problem of all classes at once (Crammer, Singer: JMLR 2, 2001), with an objective other than `Problem`'s.

    P(W) = lam/2 |W|^2 + (1/total) sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i> + offset_ir - offset_iy),  y = y_i

Its dual variables: alpha_ir >= 0 with sum_r alpha_ir <= cost_i; the entry of a row's own class is 0. They belong to

    w_r(alpha) = 1/(lam total) sum_i ([y_i = r] sum_s alpha_is - alpha_ir) x_i
    D(alpha)   = (1/total) sum_{i, r} alpha_ir (1 + offset_ir - offset_iy) - lam/2 |W(alpha)|^2  <=  min_W P(W)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Losses, Rows, constant, inner, largest_of
from pegasos.problem.sums import BLOCK_ROWS, add_long, blocks, long_scores
from pegasos.rounding import (
    Carried,
    DualSums,
    Floats,
    Gain,
    Primal,
    Room,
    cost_sums,
    is_negligible,
    is_settled,
    last_roundings,
    length_of,
    long_unit,
    lowered,
    nothing,
    smallest,
    sum_depth,
    sum_of,
    unit,
)


@dataclass(frozen=True, eq=False)
class JointProblem:
    """Rows with their classes, costs and offsets, and how strongly the weights are regularized.

    Weights are of shape (n_classes, n_features + 1), the last column for the constant one; dual points of shape
    (n_rows, n_classes).

    Attributes
    ----------
    rows : Rows
    codes : int32 array of shape (n_rows,), the class y_i of each row, from 0 to n_classes - 1
    cost : float64 array of shape (n_rows,), what a mistake on a row costs: sample weight times class weight
    offset : float64 array of shape (n_rows, n_classes), scores known in advance
    lam : float
    total : float, the sum of the sample weights
    carried : Carried
        The prior whose scores are the offsets; empty where offsets are exact.
    """

    rows: Rows
    codes: npt.NDArray[np.int32]
    cost: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    lam: float
    total: float
    carried: Carried = nothing

    @classmethod
    def plain(cls, rows: Rows, codes: npt.NDArray[Any], n_classes: int, lam: float) -> JointProblem:
        """All costs 1, no offsets."""
        n, offset = rows.n_rows, no_offset(rows.n_rows, n_classes)
        return cls(rows, codes.astype(np.int32), constant(1.0, n), offset, lam, float(n))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.offset.shape[1])

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """One weight per class and feature, and one per class for the constant column."""
        return (self.n_classes, self.rows.n_features + 1)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """One dual variable per row and class."""
        return (self.rows.n_rows, self.n_classes)

    @cached_property
    def native(self) -> _core.JointProblem:
        """The view that native loops use."""
        return _core.make_joint_problem(
            self.rows.native, self.codes, self.cost, self.offset, self.n_classes, self.lam, self.total
        )

    @property
    def cap(self) -> float:
        """The largest slope of the loss: this problem has one loss, which is piecewise linear."""
        return 1.0

    @property
    def bound(self) -> npt.NDArray[np.float64]:
        """Upper bound of the sum of each row's dual variables: its cost."""
        return self.cost

    @cached_property
    def radius(self) -> float:
        """|W*| is at most this: lam |W*|^2 is the dual's linear term minus the loss, so at most the loss of W = 0."""
        n = np.arange(self.rows.n_rows)
        claims = 1.0 + self.offset
        claims[n, self.codes] -= 1.0
        loss = float(np.sum(self.cost * (claims.max(axis=1) - claims[n, self.codes])))
        return float(np.sqrt(loss / (self.lam * self.total)))

    def within_bounds(self, alpha: Floats) -> Floats:
        """No entry below 0 or for the row's own class; rows that exceed their cost are scaled down to it."""
        kept = np.maximum(alpha, 0.0)
        kept[np.arange(len(kept)), self.codes] = 0.0
        spent = kept.sum(axis=1, dtype=np.float64)
        over = spent > self.cost
        kept[over] *= (self.cost[over] / spent[over])[:, None]
        return kept

    def coefficients(self, alpha: Floats) -> npt.NDArray[np.float64]:
        """What W(alpha) has of each row, for a dual point within its bounds; of shape (n_classes, n_rows)."""
        shares = -alpha.astype(np.float64)
        shares[np.arange(len(shares)), self.codes] -= shares.sum(axis=1)
        return np.ascontiguousarray(shares.T) / (self.lam * self.total)

    def dual_sums(self, alpha: Floats) -> DualSums:
        """W(alpha), alpha within its bounds, and sum_{i, r} alpha_ir (1 + offset_ir - offset_iy) with its room."""
        laid_out = np.empty(self.laid_out_shape)
        value, spent, wander, climbed = _core.joint_dual_sums(self.native, np.ascontiguousarray(alpha), laid_out)
        weights = self.picked_up(laid_out)
        if not spent > 0.0:
            return DualSums(weights, 0.0)
        # A row is added to its own class and subtracted from others: coefficients of length at most sqrt(2) alpha.
        mu, n, longest = self.lam * self.total, self.rows.n_rows, self.rows.longest
        off = unit * (wander + 1.5 * longest / mu * (climbed + (8.0 + self.n_classes) * spent))
        of_prior = (
            2.0 * unit * (4.0 * self.rows.scores_depth * self.carried.length * longest + 8.0 * self.carried.constant)
        )
        of_sum = unit * (sum_depth(n) + self.n_classes + 4.0) * (1.0 + 2.0 * self.largest_offset)
        gain, length = Gain(value, spent * (of_prior + of_sum) + n * smallest, off), length_of(weights)
        if is_settled(gain, length, mu) or not np.isfinite(longest + length):
            return DualSums(weights, *lowered(gain, length, mu), off)
        return self._long_dual_sums(alpha, weights, of_prior)

    def _long_dual_sums(self, alpha: Floats, weights: npt.NDArray[np.float64], of_prior: float) -> DualSums:
        """The same sums in extended precision, which is slow, for when the rounding of double matters."""
        mu = np.longdouble(self.lam) * np.longdouble(self.total)
        own, gain = np.zeros(weights.shape, np.longdouble), np.longdouble(0.0)
        sizes = np.zeros(weights.shape[1], np.longdouble)
        magnitude = reach = np.longdouble(0.0)
        for mine in blocks(self.rows):
            a, spent = self._long_shares(alpha[mine], mine)
            offset = self.offset[mine].astype(np.longdouble)
            gain += np.sum(a * (1.0 + offset - np.take_along_axis(offset, self.codes[mine][:, None], axis=1)))
            magnitude += np.sum(spent) * (1.0 + 2.0 * self.largest_offset)
            reach += np.sum(spent * self.rows.lengths_of(mine))
            for r in range(self.n_classes):
                add_long(self.rows, mine, np.where(self.codes[mine] == r, spent, -a[:, r]), own[r], sizes)
        own /= mu
        depth = BLOCK_ROWS + self.rows.n_rows / BLOCK_ROWS + self.n_classes + 8.0
        # A row is added to its own class and subtracted from others: coefficients of length at most sqrt(2) alpha.
        off = 1.5 * long_unit * depth * reach / mu
        error = long_unit * depth * magnitude + of_prior * magnitude
        length = np.sqrt(np.sum(own * own))
        dual = gain - error - 0.5 * mu * (length + off) ** 2 * (1.0 + 64.0 * long_unit)
        value = float(dual + 0.5 * mu * np.longdouble(self.square(weights)))
        apart = float(np.sqrt(np.sum((own - weights) ** 2)) + off)
        return DualSums(weights, value, last_roundings(value, float(mu), length_of(weights)), apart)

    def _long_shares(self, alpha: Floats, mine: slice) -> tuple[npt.NDArray[np.longdouble], npt.NDArray[np.longdouble]]:
        """Some rows of a dual point, brought within their bounds up to rounding, and what each row spends."""
        a = np.maximum(alpha.astype(np.longdouble), 0.0)
        np.put_along_axis(a, self.codes[mine][:, None].astype(np.intp), 0.0, axis=1)
        spent, cost = a.sum(axis=1), self.cost[mine] * (1.0 - 4.0 * long_unit * self.n_classes)
        over = spent > cost
        a[over] *= (cost[over] / spent[over])[:, None]
        spent[over] = cost[over]
        return a, spent

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |W|^2, with room for rounding.

        A margin is the difference of two scores, each summed sequentially.
        """
        total, least = _core.joint_losses(self.native, self.laid_out(weights))
        sizes = self._reach, self._cost_sum, 2.0 * self.largest_offset
        mu, depth = self.lam * self.total, 8.0 * self.rows.scores_depth
        primal = Primal(depth, length_of(weights), *sizes, self.carried, self.rows.n_rows, mu)
        bound, square = primal.bound(total), self.square(weights)
        room = Room(0.0, bound)
        if not is_negligible(bound, primal.objective(total)) and np.isfinite(total + square):
            room = self._long_room(weights, total, primal)
        return Losses(total, least, square, *room, primal.moved)

    def _long_room(self, weights: npt.NDArray[np.float64], total: float, primal: Primal) -> Room:
        """How much the losses may exceed `total`, with each row's loss as large as rounding allows."""
        long = weights.astype(np.longdouble)
        farthest = float(sum(self._farthest_losses(long, mine, primal) for mine in blocks(self.rows)))
        return primal.room(farthest, total)

    def _farthest_losses(self, weights: npt.NDArray[np.longdouble], mine: slice, primal: Primal) -> np.longdouble:
        codes, offset = self.codes[mine][:, None].astype(np.intp), self.offset[mine]
        claims = 1.0 + offset.astype(np.longdouble)
        for r in range(self.n_classes):
            claims[:, r] += long_scores(self.rows, weights[r], mine)[0]
        own = np.take_along_axis(claims, codes, axis=1)[:, 0] - 1.0
        np.put_along_axis(claims, codes, -np.inf, axis=1)
        above = claims.max(axis=1) - own  # the loss, if nonnegative
        by_length = long_unit * (primal.depth + 4.0) * primal.length + primal.carried_by_length
        if self.carried.length > 0.0:  # the model adds the prior in double
            by_length += primal.moved
        of_offset = unit if self.carried.length > 0.0 else long_unit if primal.length > 0.0 else 0.0
        by_constant = 16.0 * (unit * self.carried.constant + of_offset * np.abs(offset).max(axis=1))
        farthest = above + 2.0 * by_length * self.rows.lengths_of(mine) + by_constant
        counts = (self.cost[mine] > 0.0) & (farthest > 0.0)
        return np.longdouble(np.sum(self.cost[mine][counts] * farthest[counts]))

    @cached_property
    def _reach(self) -> float:
        return cost_sums(self.cost, self.rows.squared_norms).reach(self.rows.n_features)

    @cached_property
    def _cost_sum(self) -> float:
        return sum_of(self.cost)

    @cached_property
    def largest_offset(self) -> float:
        """The largest |offset_ir|."""
        return largest_of(self.offset)

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|W|^2."""
        return inner(weights, weights)

    @property
    def laid_out_shape(self) -> tuple[int, int]:
        """Shape of the weights in the layout of the loops."""
        return (self.rows.n_features + 1, _core.class_width(self.n_classes))

    def laid_out(self, weights: Floats) -> npt.NDArray[Any]:
        """The weights in the layout of the loops: feature by feature, all classes together (class_weights.h)."""
        laid_out = np.zeros(self.laid_out_shape, weights.dtype)
        laid_out[:, : self.n_classes] = weights.T
        return laid_out

    def picked_up(self, laid_out: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The inverse of `laid_out`."""
        return np.ascontiguousarray(laid_out[:, : self.n_classes].T)


def no_offset(n_rows: int, n_classes: int) -> npt.NDArray[np.float64]:
    """Offsets of 0, in the memory of one number."""
    return np.broadcast_to(np.float64(0.0), (n_rows, n_classes))
