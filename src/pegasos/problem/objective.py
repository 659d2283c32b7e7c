"""What problems have in common: the cost of weights, and the protocols of rows and of any kind of problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem.arrays import Floats, inner
from pegasos.rounding import DualSums, unit

if TYPE_CHECKING:
    from pegasos.problem.problem import Problem


class Losses(NamedTuple):
    """The cost of weights: the sum of cost_i loss_i, the least sign_i score_i of a row with a positive cost, |w|^2.

    The exact losses and lam total |w|^2 / 2 exceed the computed ones by at most `rounding` + `slack`. `rounding` is
    part of the certificate; it is 0 where it would be negligible. The weights of the model lie within `moved` of the
    certified ones.
    """

    total: float
    least_margin: float
    square: float
    rounding: float = 0.0
    slack: float = 0.0
    moved: float = 0.0


def added(parts: Sequence[Losses], weights: npt.NDArray[np.float64]) -> Losses:
    """Combine the losses of parts of the rows, in their order, and add |w|^2."""
    total, least, rounding, slack = 0.0, np.inf, 0.0, 0.0
    for part in parts:
        total += part.total
        least = min(least, part.least_margin)
        rounding += part.rounding
        slack += part.slack + unit * total
    moved = max(part.moved for part in parts)
    return Losses(total, float(least), inner(weights, weights), rounding, slack, moved)


class Extent(Protocol):
    """The size of a problem."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of weights, without that of the constant column."""


class RowsLike(Extent, Protocol):
    """The rows of a problem, as the problem and its certificate see them. The rows define what weights are."""

    @property
    def bias(self) -> float:
        """Value of the constant column."""

    @property
    def squared_norms(self) -> Floats:
        """|x_i|^2 with the constant column."""

    @property
    def mean_square(self) -> float:
        """Mean of |x_i|^2, with the constant column."""

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """Upper bounds of |x_i|, with the constant column."""

    @property
    def longest(self) -> float:
        """Upper bound of all |x_i|, with the constant column."""

    @property
    def native(self) -> _core.Rows:
        """The view that native loops use."""

    def view(self, indices: npt.NDArray[Any], *, repeats: int = 1) -> RowsLike:
        """Return some of the rows, which follow one another ``repeats`` times."""

    def dual_sums(self, problem: Problem, alpha: Floats) -> DualSums:
        """Return w(alpha), alpha clipped to its bounds, and the linear term of the dual with room for rounding."""

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """Return the sum of the losses of these weights, the least margin, and |w|^2."""

    def with_room(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float) -> Losses:
        """Return these sums of the losses, with room for rounding."""

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """Return |w|^2."""

    def scores_of(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the score of every row."""

    def constant_score(self, weights: npt.NDArray[np.float64]) -> float:
        """Return what the constant column adds to every score."""

    def without_constant(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return weights whose constant column is 0, except for rounding."""


class Objective(Protocol):
    """The interface that the driver and the certificate require of any kind of problem."""

    @property
    def rows(self) -> Extent:
        """The rows; an epoch is that many visits."""

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """What a mistake on each row costs."""

    @property
    def bound(self) -> npt.NDArray[np.float64]:
        """Upper bound of each row's dual variables, or of their sum where there are several."""

    @property
    def lam(self) -> float:
        """The regularization."""

    @property
    def total(self) -> float:
        """Sum of the sample weights."""

    @property
    def radius(self) -> float:
        """|w*| is at most this."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of the weights."""

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """Shape of a dual point."""

    def within_bounds(self, alpha: Floats) -> Floats:
        """Return the dual point, brought within its bounds."""

    def dual_sums(self, alpha: Floats) -> DualSums:
        """Return w(alpha), alpha within its bounds, and the linear term of the dual, times total."""

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """Return the sum of the losses of these weights, the least margin, and |w|^2."""

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """Return |w|^2."""
