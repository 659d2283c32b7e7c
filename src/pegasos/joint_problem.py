"""The problem of all classes at once (Crammer, Singer: JMLR 2, 2001), another objective than that of `Problem`.

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
from pegasos.rounding import (
    Carried,
    DualSums,
    Floats,
    Gain,
    Primal,
    is_negligible,
    length_of,
    lowered,
    nothing,
    reach_of,
    smallest,
    sum_depth,
    sum_of,
    unit,
)


@dataclass(frozen=True, eq=False)
class JointProblem:
    """Rows with their classes, costs and offsets, and how strongly the weights are regularised.

    Weights are of shape (n_classes, n_features + 1), the last column for the constant one; dual points of shape
    (n_rows, n_classes).

    Attributes
    ----------
    rows : Rows
    codes : int32 array of shape (n_rows,), the class y_i of each row, from 0 to n_classes - 1
    cost : float64 array of shape (n_rows,), what a mistake on a row costs: sample weight times class weight
    offset : float64 array of shape (n_rows, n_classes), scores that are already there
    lam : float
    total : float, the sum of the sample weights
    carried : Carried
        The prior whose scores the offsets are; nothing where offsets are exact.
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
        """One weight a class and feature, and one a class for the constant column."""
        return (self.n_classes, self.rows.n_features + 1)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """One dual variable a row and class."""
        return (self.rows.n_rows, self.n_classes)

    @cached_property
    def native(self) -> _core.JointProblem:
        """What the loops see."""
        return _core.make_joint_problem(
            self.rows.native, self.codes, self.cost, self.offset, self.n_classes, self.lam, self.total
        )

    @property
    def cap(self) -> float:
        """The largest slope of the loss: this problem has one loss, which is a broken line."""
        return 1.0

    @property
    def bound(self) -> npt.NDArray[np.float64]:
        """The most that the dual variables of each row may be together: its cost."""
        return self.cost

    @cached_property
    def radius(self) -> float:
        """|W*| is at most this: lam |W*|^2 is the dual's linear term less the loss, so at most the loss of W = 0."""
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

    def dual_sums(self, alpha: Floats) -> DualSums:
        """W(alpha), alpha within its bounds, and sum_{i, r} alpha_ir (1 + offset_ir - offset_iy) with its room."""
        laid_out = np.empty(self.laid_out_shape)
        value, spent, wander, climbed = _core.joint_dual_sums(self.native, np.ascontiguousarray(alpha), laid_out)
        weights = self.picked_up(laid_out)
        if not spent > 0.0:
            return DualSums(weights, 0.0)
        # A row is added to its own class and taken from others: coefficients of length at most sqrt(2) alpha.
        mu, n, longest = self.lam * self.total, self.rows.n_rows, self.rows.longest
        off = unit * (wander + 1.5 * longest / mu * (climbed + (8.0 + self.n_classes) * spent))
        of_prior = (
            2.0 * unit * (4.0 * self.rows.scores_depth * self.carried.length * longest + 8.0 * self.carried.constant)
        )
        of_sum = unit * (sum_depth(n) + self.n_classes + 4.0) * (1.0 + 2.0 * self.largest_offset)
        gain = Gain(value, spent * (of_prior + of_sum) + n * smallest, off)
        return DualSums(weights, *lowered(gain, length_of(weights), mu), off)

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |W|^2, with room for rounding.

        A margin is the difference of two scores, each summed up one value after the other.
        """
        total, least = _core.joint_losses(self.native, self.laid_out(weights))
        sizes = self._reach, self._cost_sum, 2.0 * self.largest_offset
        mu, depth = self.lam * self.total, 8.0 * self.rows.scores_depth
        primal = Primal(depth, length_of(weights), *sizes, self.carried, self.rows.n_rows, mu)
        bound, square = primal.bound(total), self.square(weights)
        is_nothing = is_negligible(bound, primal.objective(total))
        return Losses(total, least, square, 0.0 if is_nothing else bound, bound if is_nothing else 0.0, primal.moved)

    @cached_property
    def _reach(self) -> float:
        return reach_of(self.cost, self.rows.squared_norms, self.rows.n_features)

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
        """Shape of the weights as the loops keep them."""
        return (self.rows.n_features + 1, _core.class_width(self.n_classes))

    def laid_out(self, weights: Floats) -> npt.NDArray[Any]:
        """The weights as the loops keep them: feature by feature, the classes together (class_weights.h)."""
        laid_out = np.zeros(self.laid_out_shape, weights.dtype)
        laid_out[:, : self.n_classes] = weights.T
        return laid_out

    def picked_up(self, laid_out: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The inverse of `laid_out`."""
        return np.ascontiguousarray(laid_out[:, : self.n_classes].T)


def no_offset(n_rows: int, n_classes: int) -> npt.NDArray[np.float64]:
    """Offsets of 0, in the memory of one number."""
    return np.broadcast_to(np.float64(0.0), (n_rows, n_classes))
