"""The certificate: a bound on how far a solution is from the best possible, recomputed from the data.

For every w and every alpha with 0 <= alpha_i <= cost_i,  D(alpha) <= P* <= P(w).  No solver has a part in the sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pegasos.problem import Floats, Objective


@dataclass(frozen=True)
class Certificate:
    """Proof of how good a solution is.

    Attributes
    ----------
    primal : float
        The objective P(w) of the weights handed over.
    dual : float
        A lower bound D(alpha) on the best possible objective.
    gap : float
        ``primal - dual``: the weights are at most this far above the optimum.
    relative_gap : float
        ``gap / primal`` (0 when the objective is 0); of several problems the largest.
    weight_radius : float
        The exact solution lies within this distance of the weights: sqrt(2 gap / lam).
    parts : tuple of Certificate
        One for each binary problem when there are several.

    Examples
    --------
    >>> from pegasos.certificate import Certificate
    >>> print(Certificate(primal=0.25, dual=0.2499, gap=1e-4, relative_gap=4e-4, weight_radius=1.4))
    certified: the objective 0.25 is at most 0.041 % above the best possible (proved lower bound 0.2499)
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    weight_radius: float
    parts: tuple[Certificate, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        several = f" in each of {len(self.parts)} problems" if len(self.parts) > 1 else ""
        what = "sum of the objectives" if several else "objective"
        if self.relative_gap >= 1.0:
            return f"not certified: the {what} {self.primal:.6g} has no useful lower bound yet (proved {self.dual:.6g})"
        return (
            f"certified: the {what} {self.primal:.6g} is at most {_percent(self.relative_gap)} above the best possible"
            f"{several} (proved lower bound {self.dual:.6g})"
        )

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are usable."""
        return math.isfinite(self.primal) and math.isfinite(self.dual)


_indefinite = 1e-6  # of the primal: more than rounding


def _relative(gap: float, primal: float) -> float:
    # A dual above the primal, or a primal below 0, comes only of a |w|^2 that is none: of a kernel that is no kernel.
    if not math.isfinite(gap) or primal < 0.0 or gap < -_indefinite * primal:
        return math.inf
    return gap / primal if primal > 0.0 else 0.0


def _radius(gap: float, primal: float, dual: float, lam: float) -> float:
    """sqrt(2 gap / lam), with room for the rounding of the sums: a gap of 0 is not a distance of 0."""
    rounding = 16.0 * np.finfo(np.float64).eps * (abs(primal) + abs(dual))
    return math.sqrt(2.0 * (max(gap, 0.0) + rounding) / lam) if math.isfinite(gap) else math.inf


def _percent(relative_gap: float) -> str:
    # Of the optimum, which is at least primal - gap; rounded up, so that the sentence stays true.
    share = 100.0 * relative_gap / (1.0 - relative_gap)
    if share <= 0.0:
        return "0 %"
    digits = 1 - math.floor(math.log10(share))
    rounded_up = math.ceil(share * 10**digits) / 10**digits
    return f"{rounded_up:.2g} %" if digits > 6 else f"{rounded_up:.{max(digits, 0)}f} %"


def certify(problem: Objective, weights: npt.NDArray[np.float64], alpha: Floats) -> Certificate:
    """Certificate of any weights (the last one is the intercept's) with any dual point, clipped to its bounds."""
    with np.errstate(over="ignore", invalid="ignore"):
        loss, square = problem.loss_and_square(weights)
        own_weights, gain = problem.dual_weights(alpha)
        own_square = square if np.array_equal(own_weights, weights) else problem.square(own_weights)
        return _certificate(problem, loss, square, gain, own_square)


def certify_dual(problem: Objective, alpha: Floats) -> tuple[Certificate, npt.NDArray[np.float64]]:
    """Certificate of the dual point alone, and the weights w(alpha) that it belongs to."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights, gain = problem.dual_weights(alpha)
        loss, square = problem.loss_and_square(weights)
        return _certificate(problem, loss, square, gain, square), weights


def dual_point(problem: Objective, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
    """The weights w(alpha) and the lower bound D(alpha), with alpha clipped to its bounds."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights, gain = problem.dual_weights(alpha)
        return weights, float(gain / problem.total - 0.5 * problem.lam * problem.square(weights))


def stretched(problem: Objective, alpha: Floats) -> npt.NDArray[np.float64]:
    """The multiple of a dual point with the best lower bound, within the bounds: D is a parabola along it."""
    clipped = problem.within_bounds(alpha).astype(np.float64, copy=False)
    weights, dual = dual_point(problem, clipped)
    curvature = problem.lam * problem.square(weights)
    spent = clipped.reshape(problem.rows.n_rows, -1).sum(axis=1)  # of the cost of each row
    positive = spent > 0.0
    if not positive.any() or not curvature > 0.0:
        return np.asarray(clipped)
    best = (dual + 0.5 * curvature) / curvature
    room = float(np.min(problem.cost[positive] / spent[positive]))
    return np.asarray(clipped * max(0.0, min(best, room)))


def combine(parts: list[Certificate]) -> Certificate:
    """The certificate of several problems solved side by side."""
    if len(parts) == 1:
        return replace(parts[0], parts=tuple(parts))
    return Certificate(
        primal=math.fsum(part.primal for part in parts),
        dual=math.fsum(part.dual for part in parts),
        gap=math.fsum(part.gap for part in parts),
        relative_gap=max(part.relative_gap for part in parts),
        weight_radius=math.sqrt(math.fsum(part.weight_radius**2 for part in parts)),
        parts=tuple(parts),
    )


def _certificate(problem: Objective, loss: float, square: float, gain: float, dual_square: float) -> Certificate:
    primal = float(loss / problem.total + 0.5 * problem.lam * square)
    dual = float(gain / problem.total - 0.5 * problem.lam * dual_square)
    gap = primal - dual
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=_relative(gap, primal),
        weight_radius=_radius(gap, primal, dual, problem.lam),
    )
