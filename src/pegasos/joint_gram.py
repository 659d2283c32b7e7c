"""The problem of all classes at once over rows that are given by their kernel.

The weights of a class are coefficients of the rows, w_r = sum_j coefficient_rj phi(x_j), so that scores and |W|^2 are
sums of kernel values. Every sum is bounded as in `gram`: where the rounding of double counts, it is repeated in
extended precision.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import cast

import numpy as np
import numpy.typing as npt

from pegasos.deadline import check_deadline
from pegasos.gram import KernelRows, Numbers
from pegasos.joint_problem import JointProblem
from pegasos.problem import Losses
from pegasos.rounding import (
    DualSums,
    Floats,
    Gain,
    Primal,
    is_negligible,
    last_roundings,
    long_unit,
    lowered,
    smallest,
    sum_depth,
    unit,
)

_COLUMNS_AT_ONCE = 256

Coefficients = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KernelJointProblem(JointProblem):
    """The same problem; weights are of shape (n_classes, n_rows), and include the constant column."""

    @classmethod
    def over(cls, rows: KernelRows, problem: JointProblem) -> KernelJointProblem:
        """The problem with these rows instead of its own."""
        values = {field.name: getattr(problem, field.name) for field in fields(JointProblem)}
        return cls(**{**values, "rows": rows})

    @property
    def _kernel_rows(self) -> KernelRows:
        return cast(KernelRows, self.rows)

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """One coefficient per class and row."""
        return (self.n_classes, self.rows.n_rows)

    def scores(self, weights: Coefficients) -> npt.NDArray[np.float64]:
        """The score of every class and row."""
        scores = np.zeros(weights.shape)
        support = np.flatnonzero(weights.any(axis=0))
        for begin in range(0, len(support), _COLUMNS_AT_ONCE):
            check_deadline()
            part = support[begin : begin + _COLUMNS_AT_ONCE]
            scores += weights[:, part] @ columns_of(self._kernel_rows, part)
        return scores

    def square(self, weights: Coefficients) -> float:
        """|W|^2."""
        return float(np.sum(weights * self.scores(weights)))

    def dual_sums(self, alpha: Floats) -> DualSums:
        """The coefficients of W(alpha), alpha within its bounds, and the linear term of the dual with its room."""
        kept = self.within_bounds(alpha.astype(np.float64))
        spent = float(kept.sum())
        weights = self.coefficients(kept)
        if spent == 0.0:
            return DualSums(weights, 0.0)
        own = np.take_along_axis(self.offset, self._own, axis=1)
        value = float(np.sum(kept * (1.0 + self.offset - own)))
        mu, reaches = self.lam * self.total, self._reaches(weights)
        depth = unit * (64.0 + sum_depth(kept.size) + 2.0 * self.n_classes)
        of_gain = depth * spent * (1.0 + 2.0 * self.largest_offset) + 16.0 * unit * spent * self.carried.constant
        error = of_gain + 0.5 * mu * self._square_error(weights, reaches) + kept.size * smallest
        off = (8.0 + self.n_classes) * unit * float(np.linalg.norm(reaches))
        if is_negligible(error, value):
            return DualSums(weights, *lowered(Gain(value, error, off), 0.0, mu), off)
        long = self._long_scores(weights)
        square = float(np.sum(weights * long) - np.longdouble(self.square(weights)))
        room = of_gain + 0.5 * mu * (max(0.0, square) + self._long_error(weights) * float(reaches @ reaches))
        return DualSums(weights, value - room, last_roundings(value, mu, float(np.linalg.norm(reaches))), off)

    def losses(self, weights: Coefficients) -> Losses:
        """The sum of the losses of these coefficients, the least margin, and |W|^2, with room for rounding."""
        scores, counts = self.scores(weights), self.cost > 0.0
        above = self._above(scores.T)
        total = float(np.sum(self.cost[counts] * np.maximum(above[counts], 0.0)))
        square, reaches = float(np.sum(weights * scores)), self._reaches(weights)
        least = 1.0 - float(above[counts].max(initial=-np.inf))
        mu, farthest = self.lam * self.total, float(reaches.max(initial=0.0))
        # A margin is the difference of two scores.
        depth = 2.0 * self._score_error(weights) / unit + 8.0
        sizes = self._reach, self._cost_sum, 2.0 * self.largest_offset
        primal = Primal(depth, farthest, *sizes, self.carried, self.rows.n_rows, mu)
        bound = primal.bound(total, 0.5 * mu * self._square_error(weights, reaches))
        found = Losses(total, least, square, moved=primal.moved)
        if is_negligible(bound, total + 0.5 * mu * square):
            return found._replace(slack=bound)
        if not np.isfinite(total + square):
            return found._replace(rounding=bound)
        return self._with_long_room(weights, found, reaches)

    def _with_long_room(self, weights: Coefficients, found: Losses, reaches: Coefficients) -> Losses:
        """These losses with room for rounding, from scores in extended precision."""
        long, mu, counts = self._long_scores(weights), self.lam * self.total, self.cost > 0.0
        error, of_offset = self._long_error(weights), np.abs(self.offset).max(axis=1) * bool(reaches.any())
        by_length = 2.0 * error * float(reaches.max(initial=0.0)) * self.rows.lengths
        by_constant = 16.0 * unit * (self.carried.constant + of_offset)
        farthest = np.maximum(self._above(long.T) + by_length + by_constant, 0.0)
        total = float(np.sum(self.cost[counts] * farthest[counts]))
        square = float(np.sum(weights * long) - np.longdouble(found.square))
        counted = max(0.0, total - found.total) + 0.5 * mu * (max(0.0, square) + error * float(reaches @ reaches))
        return found._replace(
            rounding=counted, slack=last_roundings(total, mu, float(np.linalg.norm(reaches))), moved=found.moved
        )

    @property
    def _own(self) -> Numbers:
        return self.codes[:, np.newaxis].astype(np.intp)

    def _above(self, scores: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """1 minus the margin of each row: its loss, if positive."""
        claims = scores + self.offset
        own = np.take_along_axis(claims, self._own, axis=1)[:, 0]
        np.put_along_axis(claims, self._own, -np.inf, axis=1)
        return np.asarray(1.0 + claims.max(axis=1) - own)

    def _reaches(self, weights: Coefficients) -> Coefficients:
        """sum_j |coefficient_rj| |x_j|, an upper bound of |w_r|."""
        return np.asarray(np.abs(weights) @ self.rows.lengths) * (1.0 + unit * (64.0 + self.rows.n_rows))

    def _score_error(self, weights: Coefficients) -> float:
        """How far the score of a row of length 1 may be off, for coefficients with a reach of 1."""
        return unit * (np.count_nonzero(weights.any(axis=0)) + 8.0)

    def _square_error(self, weights: Coefficients, reaches: Coefficients) -> float:
        return (self._score_error(weights) + 16.0 * unit) * float(reaches @ reaches)

    def _long_scores(self, weights: Coefficients) -> npt.NDArray[np.longdouble]:
        return np.array([self._kernel_rows.long_scores(mine) for mine in weights])

    def _long_error(self, weights: Coefficients) -> float:
        return long_unit * (np.count_nonzero(weights.any(axis=0)) + 8.0)


def columns_of(rows: KernelRows, numbers: Numbers) -> Floats:
    """These columns of the kernel matrix, kept in the table where that holds all of them."""
    if not rows.columns.holds_all:
        return rows.values.block(numbers, np.arange(rows.n_rows))
    rows.columns.load(numbers)
    return rows.columns.table[rows.columns.slot_of[numbers]][:, rows.columns.place_of]
