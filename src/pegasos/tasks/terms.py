"""The numbers that turn rows and targets into problems: kept with a model, to certify it on the same problems."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pegasos import theory
from pegasos.errors import PegasosError
from pegasos.losses import HINGE, Loss

_LEAST_PRODUCT = 1e-305  # smallest lam times total whose inverse is well within range
_SINGLE_RANGE = 1e-20, 1e20  # costs outside this range may overflow or underflow single precision


def check_product(lam: float, total: float) -> None:
    """Raise an error if w(alpha) = sum_i alpha_i sign_i x_i / (lam total) is out of range; a stream may be empty."""
    if total > 0.0 and not _LEAST_PRODUCT <= lam * total < math.inf:
        raise PegasosError(
            f"lam={lam:g} times the total sample weight {total:g} must be at least {_LEAST_PRODUCT:g} and finite; use "
            "another lam, or multiply all sample weights by one factor."
        )


@dataclass(frozen=True)
class Terms:
    """How strongly the weights are regularized, relative to which total, and what the intercept is."""

    lam: float
    bias: float  # value of the constant column that carries a regularized intercept; 0 for none
    is_free: bool  # whether the intercept is not regularized
    total: float  # the sum of the sample weights
    C: float | None = None  # where C sets lam
    largest_norm: float = 0.0
    least_cost: float = 1.0  # smallest positive cost
    cap: float = 1.0  # the two numbers of the loss
    ridge: float = 0.0

    @classmethod
    def of(
        cls,
        lam: float | None,
        C: float | None,
        *,
        bias: float,
        is_free: bool,
        total: float,
        largest_norm: float = 0.0,
        least_cost: float = 1.0,
        loss: Loss = HINGE,
    ) -> Terms:
        """The terms of rows with this total weight; this is the only place where C is converted to lam."""
        if C is None:
            assert lam is not None, "the estimator has checked that there is a lam or a C"
            found = float(lam)
        else:
            C = float(C)
            found = theory.lam_of_c(C, total, largest_norm, least_cost)
        if not 0.0 < found < math.inf:
            raise PegasosError(f"C={C!r} makes lam = 1 / (C N) = {found}, which is not a positive number; change C.")
        check_product(found, total)
        return cls(found, bias, is_free, total, C, largest_norm, least_cost, loss.cap, loss.ridge)

    @property
    def loss(self) -> Loss:
        """The loss of a row with a cost of 1."""
        return Loss(self.cap, self.ridge)

    @property
    def is_hard(self) -> bool:
        """Whether the margin is hard."""
        return math.inf == self.C

    def suits_single(self, largest_factor: float) -> bool:
        """Whether costs, and their effect on the weights, stay well within the range of single precision."""
        least, most = _SINGLE_RANGE
        return all(least < number < most for number in self._extremes(largest_factor))

    def _extremes(self, largest_factor: float) -> tuple[float, float, float]:
        return self.least_cost, self.total * largest_factor, self.lam * self.total

    def lam_for(self, total: float) -> float:
        """The lam of a subset of the rows with this total weight."""
        return self.lam if self.C is None else theory.lam_of_c(self.C, total, self.largest_norm, self.least_cost)
