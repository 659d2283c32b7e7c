"""`Problem`: what one certificate is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.losses import Loss
from pegasos.problem.arrays import Floats, constant, largest_of
from pegasos.problem.objective import Losses, RowsLike
from pegasos.problem.rows import Rows
from pegasos.rounding import Carried, CostSums, DualSums, Primal, cost_sums, nothing, sum_of, unit


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their signs, costs and offsets, and how strongly the weights are regularized.

    Attributes
    ----------
    rows : Rows, or rows that are given by a kernel
    sign : int8 array of shape (n_rows,), the labels, -1 or +1
    cost : float64 array of shape (n_rows,), what a mistake on a row costs: sample weight times class weight
    offset : float64 array of shape (n_rows,), a score known in advance
    lam : float
    total : float, the sum of the sample weights
    carried : Carried
        The prior whose scores are the offsets; empty where offsets are exact.
    cap, ridge : float
        The two numbers of the loss: its largest slope, and 1 / curvature where it is curved. See `losses`.
    """

    rows: RowsLike
    sign: npt.NDArray[np.int8]
    cost: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    lam: float
    total: float
    carried: Carried = nothing
    cap: float = 1.0
    ridge: float = 0.0

    @classmethod
    def plain(cls, rows: RowsLike, sign: npt.NDArray[np.int8], lam: float) -> Problem:
        """All costs 1, no offsets."""
        return cls(rows, sign, constant(1.0, rows.n_rows), constant(0.0, rows.n_rows), lam, float(rows.n_rows))

    @cached_property
    def native(self) -> _core.Problem:
        """The view that native loops use."""
        columns = self.sign, self.cost, self.offset
        return _core.make_problem(self.rows.native, *columns, self.lam, self.total, self.cap, self.ridge)

    @cached_property
    def loss(self) -> Loss:
        """The loss of a row with a cost of 1."""
        return Loss(self.cap, self.ridge)

    @property
    def without_empty_columns(self) -> Problem:
        """The problem of the occupied columns; itself where none is left out."""
        assert isinstance(self.rows, Rows)
        return self if self.rows.occupied is None else self._of_occupied_columns

    @cached_property
    def _of_occupied_columns(self) -> Problem:
        assert isinstance(self.rows, Rows)
        assert self.rows.occupied is not None
        return replace(self, rows=self.rows.of_columns(self.rows.occupied))

    @cached_property
    def bound(self) -> npt.NDArray[np.float64]:
        """Upper bounds of the dual variables: cap cost_i, 0 where the cost is 0."""
        return self.loss.bound_of(self.cost)

    @cached_property
    def damping(self) -> npt.NDArray[np.float64]:
        """Curvature that the loss adds to the dual: ridge / cost_i, 0 where the cost is 0."""
        if self.ridge == 0.0:
            return constant(0.0, self.rows.n_rows)
        if len(self.cost) > 0 and self.cost.strides == (0,):
            return constant(self.ridge / float(self.cost[0]) if self.cost[0] > 0.0 else 0.0, self.rows.n_rows)
        return np.divide(self.ridge, self.cost, where=self.cost > 0.0, out=np.zeros(self.rows.n_rows))

    def ridge_terms(self, alpha: npt.NDArray[Any], mine: slice = slice(None)) -> Any:
        """Sum ridge alpha_i^2 / (2 cost_i) over some rows, for alpha within its bounds, in the type of alpha."""
        if self.ridge == 0.0:
            return alpha.dtype.type(0.0)
        counts = alpha > 0.0
        a = alpha[counts]
        return np.sum(a * (a / self.cost[mine][counts])) * a.dtype.type(0.5 * self.ridge)

    @property
    def cap_roundings(self) -> float:
        """Units in the last place by which a dual variable at its bound may exceed cap cost_i."""
        return self.loss.cap_roundings

    def ridge_error(self, of_sum: float, spent: float, ridge: float) -> float:
        """Error that a loss other than the hinge adds to the dual; ``of_sum`` is the error of a sum, per term."""
        of_bounds = unit * self.cap_roundings * (spent * (1.0 + self.largest_offset) + 2.0 * ridge)
        return (of_sum + 8.0 * unit) * ridge + of_bounds

    @cached_property
    def radius(self) -> float:
        """|w*| is at most this: the radius of the ball that a projection may use."""
        if self.offset.strides == (0,) and self.offset[0] == 0.0:
            loss = float(np.sum(self.cost)) * self.loss.at_one
        else:
            loss = _core.losses_of_zero(self.native)
        return float(np.sqrt(loss / (self.lam * self.total)))

    @cached_property
    def reach(self) -> float:
        """Upper bound of sum_i cost_i |x_i|."""
        return self._cost_sums.reach(self.rows.n_features)

    @cached_property
    def square_reach(self) -> float:
        """Upper bound of the root of sum_i cost_i |x_i|^2."""
        return self._cost_sums.square_reach(self.rows.n_features)

    @cached_property
    def _cost_sums(self) -> CostSums:
        return cost_sums(self.cost, self.rows.squared_norms)

    @cached_property
    def share_of_positives(self) -> float:
        """Fraction of the rows with a positive sign."""
        return float(np.count_nonzero(self.sign > 0)) / max(self.rows.n_rows, 1)

    @cached_property
    def cost_sum(self) -> float:
        """Upper bound of sum_i cost_i."""
        return sum_of(self.cost)

    @cached_property
    def largest_offset(self) -> float:
        """The largest |offset_i|."""
        return largest_of(self.offset)

    def accounted(self, depth: float, length: float) -> Primal:
        """The quantities that bound the error of the losses, for scores of this depth and weights of this length."""
        mu, part = self.lam * self.total, self.cost_sum / self.total
        sizes = self.reach, self.cost_sum, self.largest_offset
        primal = Primal(depth, length, *sizes, self.carried, self.rows.n_rows, mu, part)
        return primal if self.loss.is_hinge else primal.of_loss(self.cap, self.ridge, self.square_reach)

    def shifted(self, intercept: float) -> Problem:
        """The same problem with an intercept added to every offset; its rounding is accounted for."""
        if self.largest_offset == 0.0:
            return replace(self, offset=constant(intercept, self.rows.n_rows))
        rounded = self.carried.constant + abs(intercept) + self.largest_offset
        return replace(self, offset=self.offset + intercept, carried=replace(self.carried, constant=rounded))

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """One weight per feature, and one for the constant column."""
        return (self.rows.n_features + 1,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """One dual variable per row."""
        return (self.rows.n_rows,)

    def within_bounds(self, alpha: Floats) -> Floats:
        """Clip the dual point to 0 <= alpha_i <= cap cost_i, without a copy if it is within these bounds."""
        is_within = alpha.min(initial=0.0) >= 0.0 and not (alpha > self.bound).any()
        return alpha if is_within else np.clip(alpha, 0.0, self.bound)

    def dual_sums(self, alpha: Floats) -> DualSums:
        """w(alpha), alpha clipped to its bounds, and the linear term of the dual with room for rounding."""
        return self.rows.dual_sums(self, alpha)

    def dual_weights(self, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
        """w(alpha), alpha clipped to its bounds, and the dual without |w|^2, times total."""
        sums = self.dual_sums(alpha)
        return sums.weights, sums.gain

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        return self.rows.losses(self, weights)

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2."""
        return self.rows.square(weights)
