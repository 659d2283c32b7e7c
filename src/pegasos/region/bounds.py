"""What the duality gap implies about the exact solution before any row is pinned, and the slack of each row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.certificate import balanced, sums_for_any_intercept
from pegasos.joint_problem import JointProblem
from pegasos.problem import Losses, Objective, Problem
from pegasos.rounding import DualSums, Floats, length_of, unit

Vector = npt.NDArray[np.float64]

_INTERCEPT_SHARE = 0.02  # fraction of the gap that a free intercept may cost
_WIDER = 1.0 + 1e-9  # covers the rounding of a few operations


class Ends(NamedTuple):
    """P(w) and D(alpha)."""

    primal: float
    dual: float


class Slacks(NamedTuple):
    """Lower bound of a row's slack, by the distance s of its residual at the solution from where it is pinned.

    It is the largest m s - damping m^2 / 2 with -below <= m <= above: without damping, above * max(0, s) + below *
    max(0, -s); with damping, s^2 / (2 damping) while s is between -damping below and damping above.
    """

    above: Vector
    below: Vector
    damping: Vector

    def of(self, chosen: npt.NDArray[np.intp]) -> Slacks:
        """Those of some of the rows."""
        return Slacks(self.above[chosen], self.below[chosen], self.damping[chosen])

    @property
    def least(self) -> Vector:
        """The smaller side of each row."""
        return np.minimum(self.above, self.below)


def slacks_of(problem: Problem, alpha: Floats) -> Slacks:
    """cost_i phi(r) + d_i alpha_i^2 / 2 - alpha_i r with s = r - d_i alpha_i; for the hinge d_i = 0."""
    own = np.asarray(np.clip(alpha, 0.0, problem.bound), np.float64)
    # A difference of two doubles within a factor of two is exact, others are off by half a unit: none is too large.
    above = (problem.bound - own) * (1.0 - 2.0 * unit)
    if problem.cap_roundings > 0.0:
        above = np.maximum(above - 2.0 * unit * problem.cap_roundings * problem.bound, 0.0)
    return Slacks(above, own, problem.damping)


def pinned(problem: Problem, alpha: Floats) -> Problem:
    """The problem whose residuals are the distances s_i: the pinned positions are part of the offsets.

    The problem accounts for the rounding of these products and sums.
    """
    if problem.ridge == 0.0:
        return problem
    place = problem.damping * np.clip(alpha, 0.0, problem.bound)
    largest = problem.carried.constant + problem.largest_offset + float(np.max(place, initial=0.0))
    carried = replace(problem.carried, constant=largest)
    return replace(problem, offset=problem.offset + problem.sign * place, carried=carried)


@dataclass(frozen=True)
class Ball:
    """lam |w* - middle|^2 <= gap - the slacks of w*, over the total.

    Attributes
    ----------
    weights : array
        The weights of the model, in the same coordinates as `middle`.
    middle : array
        Halfway between them and those of the dual point.
    gap : float
        With room for rounding.
    bias : float
        The value of the constant column. A free intercept has one, too: its weight is within a known distance, and the
        square of that is part of the gap.
    """

    weights: Vector
    middle: Vector
    gap: float
    lam: float
    total: float
    bias: float
    has_column: bool = True  # whether the last weight is that of the constant column; coefficients of rows have none

    @property
    def radius(self) -> float:
        """|w* - middle| is at most this."""
        return math.sqrt(self.gap / self.lam) * _WIDER

    def with_intercept(self, own: float, middle: float, reach: float) -> Ball:
        """The ball of a problem whose free intercept lies within this reach of `middle`; `own` is that of the model.

        The constant column gets a value for which the known distance costs a small fraction of the gap.
        """
        reach = max(reach, unit * (1.0 + abs(middle)))
        bias = reach / math.sqrt(_INTERCEPT_SHARE * self.gap / self.lam)
        weights, centre = self.weights.copy(), self.middle.copy()
        if self.has_column:
            weights[-1], centre[-1] = own / bias, middle / bias
        gap = self.gap * (1.0 + _INTERCEPT_SHARE) * _WIDER
        return replace(self, weights=weights, middle=centre, gap=gap, bias=bias)


@dataclass(frozen=True, eq=False)
class Point:
    """Weights and a dual point, with their sums.

    Attributes
    ----------
    weights : array
    intercept : float
        A free one, in addition to the weights.
    alpha : array
    """

    weights: Vector
    intercept: float
    losses: Losses
    alpha: Floats
    own: DualSums
    ends: Ends

    @classmethod
    def of(cls, problem: Objective, weights: Vector, alpha: Floats) -> Point:
        """With an intercept that is one of the weights, or none."""
        losses, own = problem.losses(weights), problem.dual_sums(alpha)
        return cls(weights, 0.0, losses, alpha, own, _ends(problem, losses, own))

    @classmethod
    def free(cls, problem: Problem, weights: Vector, alpha: Floats, intercept: float) -> Point:
        """With a free intercept; the dual point is balanced."""
        even = balanced(problem, alpha)
        losses, own = problem.shifted(intercept).losses(weights), sums_for_any_intercept(problem, even)
        return cls(weights, intercept, losses, even, own, _ends(problem, losses, own))

    def better_of(self, problem: Objective, other: Point) -> Point:
        """Combine the weights with the smaller objective and the dual point with the larger one."""
        primal = self if self.ends.primal <= other.ends.primal else other
        dual = self if self.ends.dual >= other.ends.dual else other
        ends = Ends(primal.ends.primal, dual.ends.dual)
        return Point(primal.weights, primal.intercept, primal.losses, dual.alpha, dual.own, ends)

    def ball(self, problem: Objective, model: Vector, bias: float) -> Ball:
        """The ball of these two points, in coordinates where the model has the given weights."""
        lam, weights, losses, own = problem.lam, self.weights, self.losses, self.own
        primal, dual = self.ends
        slack = (losses.slack + own.slack) / problem.total + 8.0 * unit * (abs(primal) + abs(dual))
        gap = max(primal - dual, 0.0) + slack
        if not math.isfinite(gap):
            return Ball(model, weights, math.inf, lam, problem.total, bias)
        # w(alpha) is known up to `off`, and the middle is rounded.
        lengths = length_of_weights(problem, weights) + length_of_weights(problem, own.weights)
        off = own.off + losses.moved + 4.0 * unit * lengths
        apart = math.sqrt(max(problem.square(weights - own.weights), 0.0)) * (1.0 - 64.0 * unit) - off
        gap = gap - 0.25 * lam * max(apart, 0.0) ** 2 + 4.0 * lam * off * (math.sqrt(2.0 * gap / lam) + off)
        middle = 0.5 * (weights + own.weights)
        return Ball(model, middle, max(gap, 0.0) * _WIDER + 1e-300, lam, problem.total, bias)


def _ends(problem: Objective, losses: Losses, own: DualSums) -> Ends:
    primal = float((losses.total + losses.rounding) / problem.total + 0.5 * problem.lam * losses.square)
    dual = float(own.gain / problem.total - 0.5 * problem.lam * problem.square(own.weights))
    return Ends(primal, dual)


def length_of_weights(problem: Objective, weights: Vector) -> float:
    """Upper bound of |w|: for coefficients, the sum of the lengths of their terms."""
    reach = getattr(problem.rows, "reach", None)
    return float(reach(weights)) if reach is not None else length_of(weights)


class JointPins(NamedTuple):
    """Pinned differences of scores: for a row, the claim of class `rival` minus that of class `leader`."""

    row: npt.NDArray[np.intp]
    leader: npt.NDArray[np.intp]
    rival: npt.NDArray[np.intp]
    target: Vector  # the difference without the weights
    slacks: Slacks


def joint_pins_of(problem: JointProblem, alpha: Floats) -> JointPins:
    """For each row, the class with the largest dual variable against every other class that has one.

    The slack of a row is sum_r a_r (h_max - h_r) with h_r = [r != y] + s_r and a_y = cost - sum_{r != y} a_r. Let p be
    the leader. A rival with h_r < h_p has h_max - h_r >= h_p - h_r, and of all rivals ahead of p the sum of shares of
    a_p times h_r - h_p is at most a_p (h_max - h_p). So the slack is at least the sum over rivals of
    a_r max(0, h_p - h_r) + share_r a_p max(0, h_r - h_p), for any shares that add up to at most 1.
    """
    n = np.arange(problem.rows.n_rows)
    whole = problem.within_bounds(alpha).astype(np.float64)
    spent = whole.sum(axis=1)
    whole[n, problem.codes] = np.maximum(problem.cost - spent, 0.0) * (1.0 - 1e-12)
    leader = whole.argmax(axis=1)
    most = whole[n, leader]
    whole[n, leader] = 0.0
    others = whole.sum(axis=1)
    row, rival = np.nonzero(whole > 0.0)
    below = whole[row, rival] * (1.0 - 1e-12)
    above = most[row] * (whole[row, rival] / others[row]) * (1.0 - 1e-12)
    own, first = problem.codes[row], leader[row]
    claim = (rival != own).astype(np.float64) - (first != own)
    target = claim + problem.offset[row, rival] - problem.offset[row, first]
    return JointPins(row, first, rival, target, Slacks(above, below, np.zeros(len(row))))
