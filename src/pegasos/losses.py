"""Losses as data: every loss of the family has two parameters.

    phi(r) = max over 0 <= a <= cap of  a r - ridge a^2 / 2

A row costs ``cost_i phi(r_i)``. `cap` is the largest slope of the loss, and may be infinite; `ridge` is 1 / curvature
where the loss is curved, 0 for a piecewise linear one. For classification r_i = 1 - sign_i score_i. The solvers, the
certificate and the regions read these two numbers of a `Problem` and nothing else, so a loss is added by an entry of
`LOSSES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError


@dataclass(frozen=True)
class Loss:
    """The two parameters of a loss.

    Attributes
    ----------
    cap : float
        The largest slope; dual variables are at most cap times the cost of their row.
    ridge : float
        1 / curvature where the loss is curved; positive where cap is infinite.
    """

    cap: float = 1.0
    ridge: float = 0.0

    def slope(self, r: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """phi'(r): the maximizing a. At the kink of a piecewise linear loss it is 0."""
        if self.ridge == 0.0:
            return np.where(r > 0.0, self.cap, 0.0).astype(r.dtype, copy=False)
        return np.asarray(np.minimum(np.maximum(r, 0.0) / r.dtype.type(self.ridge), self.cap))

    def value(self, r: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """phi(r)."""
        positive = np.maximum(r, 0.0)
        if self.ridge == 0.0:
            return np.asarray(positive if self.cap == 1.0 else positive * self.cap)
        a = np.minimum(positive / r.dtype.type(self.ridge), self.cap)
        return np.asarray(a * (positive - r.dtype.type(0.5 * self.ridge) * a))

    @property
    def at_one(self) -> float:
        """phi(1): the loss of the zero vector on a row with a cost of 1 and no offset."""
        return 1.0 if self.is_hinge else float(self.value(np.ones(1))[0])

    def bound_of(self, cost: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Upper bounds of the dual variables of rows with these costs: cap cost_i, 0 where the cost is 0."""
        if self.cap == 1.0:
            return cost
        if len(cost) > 0 and cost.strides == (0,):  # one number for all rows
            return np.broadcast_to(self.bound_of(np.array(cost[:1])), cost.shape)
        return np.multiply(cost, self.cap, where=cost > 0.0, out=np.zeros_like(cost))

    @property
    def cap_roundings(self) -> float:
        """Units in the last place by which a dual variable at its bound may exceed cap cost_i."""
        return 0.0 if self.cap in (1.0, math.inf) else 2.0

    @property
    def words(self) -> str:
        """The names of the loss, where the table has it."""
        names = [name for name in LOSSES if LOSSES[name](self.ridge) == self and name not in _OF_CAP]
        return f"loss={names[0]!r}" if names else f"a loss with cap={self.cap:g} and ridge={self.ridge:g}"

    @property
    def is_hinge(self) -> bool:
        """Whether this is max(0, r)."""
        return self.cap == 1.0 and self.ridge == 0.0


HINGE = Loss()

# The two parameters of each loss, from its own parameter, if it has one.
LOSSES: dict[str, Callable[[float], Loss]] = {
    "hinge": lambda _: HINGE,  # max(0, r)
    "squared_hinge": lambda _: Loss(math.inf, 0.5),  # max(0, r)^2
    "huber_hinge": lambda smoothing: Loss(1.0, smoothing),  # r^2 / (2 smoothing) up to r = smoothing, a line beyond
    # Regression: each row occurs twice, with signs +1 and -1, and r = sign (y - score) - epsilon.
    "epsilon_insensitive": lambda _: HINGE,  # max(0, r)
    "squared_epsilon_insensitive": lambda _: Loss(math.inf, 0.5),  # max(0, r)^2
    "quantile": lambda _: HINGE,  # costs tau and 1 - tau for the two signs
    "huber": lambda delta: Loss(delta, 1.0),  # r^2 / 2 up to r = delta, a line beyond
}


_OF_CAP = ("huber",)  # losses whose parameter is the cap, not the ridge
CLASSIFICATION_LOSSES = ("hinge", "squared_hinge", "huber_hinge")
REGRESSION_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "huber")


def loss_of(name: str, parameter: float = 1.0) -> Loss:
    """The loss of this name; ``parameter`` is `smoothing` of "huber_hinge" and `delta` of "huber"."""
    if name not in LOSSES:
        raise PegasosError(f"loss must be one of {sorted(LOSSES)}; got {name!r}.")
    return LOSSES[name](float(parameter))
