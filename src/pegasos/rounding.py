"""Rounding: bounds on the errors of the sums in a certificate.

A certificate is computed in double, u = 2^-53. Every term has an error bound, and every objective (rows in memory,
kernels, blocks of a source, partitions of a cluster, all classes at once) adds these bounds up here:

- primal: scores, offsets, a prior that the model includes, the intercept, costs, sums in blocks, |w|^2;
- dual: the linear term, and the distance between w(alpha) and its rounded sum.

Where the bound is below `negligible` of the objective, nothing is added to the certificate, and the bound only
enters the radius around the weights. Elsewhere it is part of `primal` and `dual`. docs/theory/rounding.md has the
proofs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]

unit = 2.0**-53
long_unit = float(np.finfo(np.longdouble).eps) / 2.0
smallest = 2.0**-1074
negligible = 1e-10  # fraction of the objective: rounding below this is not counted
_INNER_UNITS = 64.0  # units by which `inner` may be off, for up to 2^40 nonnegative terms
_OFFSET_UNITS = 8.0  # units of an offset: its own rounding, its sum with an intercept, and its sum with a score
_WEIGHT_UNITS = 4.0  # units by which the weights of a model differ from the certified ones
_BLOCK_TERMS = 512  # terms that are added sequentially


@dataclass(frozen=True)
class Carried:
    """What a model includes in addition to the learned weights: a prior, whose scores are the offsets.

    Attributes
    ----------
    length : float
        |w0|, with the weight of the constant column.
    constant : float
        |b0|, and any other constant that was rounded when it was added to the offsets.
    """

    length: float = 0.0
    constant: float = 0.0


nothing = Carried()


def all_of(each: Sequence[Carried]) -> Carried:
    """Combine the priors of several weight vectors into one."""
    return Carried(math.hypot(*(one.length for one in each)), max(one.constant for one in each))


class Room(NamedTuple):
    """What rounding may add to a sum: `counted` becomes part of the certificate, `slack` is the rest."""

    counted: float
    slack: float


@dataclass(frozen=True)
class Gain:
    """The dual without |w|^2, times total, of some of the rows: the linear term minus that of the ridge.

    Attributes
    ----------
    value : float
    error : float
        The exact term differs from `value` by at most this.
    off : float
        The exact sum of the rows' terms of w(alpha) differs from the rounded one by at most this, as a vector.
    ridge : float
        sum_i ridge alpha_i^2 / (2 cost_i), which is subtracted in `value`.
    """

    value: float = 0.0
    error: float = 0.0
    off: float = 0.0
    ridge: float = 0.0

    def __add__(self, other: Gain) -> Gain:
        sums = self.value + other.value, self.error + other.error, self.off + other.off
        return Gain(*sums, self.ridge + other.ridge)

    def with_sum_of(self, length: float) -> Gain:
        """The same after one more addition of vectors whose sum has this length."""
        return Gain(self.value, self.error + unit * abs(self.value), self.off + unit * length, self.ridge)


class DualSums(NamedTuple):
    """The sums of a dual point.

    The exact dual, times total, is at least ``gain - lam total |weights|^2 / 2 - slack``, and w(alpha) lies within
    `off` of `weights`. Without the ridge of the loss, `gain` would be larger by `ridge`.
    """

    weights: npt.NDArray[np.float64]
    gain: float
    slack: float = 0.0
    off: float = 0.0
    ridge: float = 0.0


@dataclass
class LongTerms:
    """The terms of w(alpha), times lam total, and of the dual, of some of the rows, in extended precision.

    Errors are counted feature by feature: where features differ in size by many orders of magnitude, the length of a
    row would say far too much about the small ones.
    """

    own: npt.NDArray[np.longdouble]  # sum_i alpha_i sign_i x_i
    spread: npt.NDArray[np.longdouble]  # sum_i alpha_i |x_ij|
    gain: np.longdouble  # the linear term
    magnitude: np.longdouble  # the sum of the absolute values of its terms
    ridge: np.longdouble
    of_offset: np.longdouble  # what the rounding of offsets may add to the linear term
    depth: float  # additions that a term may go through

    @classmethod
    def none(cls, side: int) -> LongTerms:
        """The terms of no rows."""
        zero = np.longdouble(0.0)
        return cls(np.zeros(side, np.longdouble), np.zeros(side, np.longdouble), zero, zero, zero, zero, 0.0)

    def __add__(self, other: LongTerms) -> LongTerms:
        sums = self.own + other.own, self.spread + other.spread, self.gain + other.gain
        more = self.magnitude + other.magnitude, self.ridge + other.ridge, self.of_offset + other.of_offset
        return LongTerms(*sums, *more, max(self.depth, other.depth) + 1.0)

    def dual_sums(
        self, weights: npt.NDArray[np.float64], square: float, mu: np.longdouble, cap_roundings: float
    ) -> DualSums:
        """The sums of the dual point, where `weights` is w(alpha) up to rounding and `square` its |w|^2."""
        own = self.own / mu
        rate = long_unit * self.depth + unit * cap_roundings
        off = rate * (self.spread + self.magnitude * hidden_length(len(own) - 1)) / mu  # of each weight
        of_bounds = unit * cap_roundings * (self.magnitude + 2.0 * self.ridge)
        error = long_unit * self.depth * (self.magnitude + self.ridge) + of_bounds + self.of_offset
        dual = self.gain - self.ridge - error
        dual -= 0.5 * mu * np.sum((np.abs(own) + off) ** 2) * (1.0 + 64.0 * long_unit)
        value = float(dual + 0.5 * mu * np.longdouble(square))
        apart = float(np.sqrt(np.sum((own - weights) ** 2)) + np.sqrt(np.sum(off * off)))
        return DualSums(weights, value, last_roundings(value, float(mu), length_of(weights)), apart)


def length_of(vector: Floats) -> float:
    """Upper bound of |vector|, scaled by a power of two so that no square is out of range."""
    largest = float(np.abs(vector).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return largest
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    scaled = vector / scale if scale >= 2.0**-1000 else (vector * 2.0**60) / (scale * 2.0**60)
    square = float(np.add.reduce(np.square(scaled, dtype=np.float64), axis=None))
    return scale * math.sqrt(square) * (1.0 + _INNER_UNITS * unit) + smallest


def sum_of(cost: npt.NDArray[np.float64]) -> float:
    """Upper bound of the sum of the costs."""
    if len(cost) > 0 and cost.strides == (0,):
        return float(cost[0]) * len(cost) * (1.0 + 2.0 * unit)
    return float(np.sum(cost)) * (1.0 + _INNER_UNITS * unit)


class CostSums(NamedTuple):
    """Upper bounds of two sums over the rows, within range because the costs are divided by ``scale``.

    Attributes
    ----------
    total : float
        At least the sum of the costs over ``scale``.
    root : float
        At least the root of the sum of cost_i |x_i|^2 over ``scale``.
    scale : float
        A power of two; 0 where no cost is positive.
    """

    total: float
    root: float
    scale: float

    def reach(self, n_features: int) -> float:
        """Upper bound of sum_i cost_i |x_i|."""
        if self.scale == 0.0:
            return 0.0
        return self.scale * (math.sqrt(self.total) * self.root + self.total * hidden_length(n_features)) + smallest

    def square_reach(self, n_features: int) -> float:
        """Upper bound of the root of sum_i cost_i |x_i|^2; lengths add up at most."""
        root = self.root + math.sqrt(self.total) * hidden_length(n_features)
        return math.sqrt(self.scale) * root * (1.0 + 4.0 * unit) + smallest


def cost_sums(cost: npt.NDArray[np.float64], squared_norms: Floats) -> CostSums:
    """The sums of rows with these costs, without an array of their number where the costs are constant."""
    is_constant = len(cost) > 0 and cost.strides == (0,)
    largest = float(cost[0]) if is_constant else float(np.max(cost, initial=0.0))
    if not largest > 0.0:
        return CostSums(0.0, 0.0, 0.0)
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    if is_constant:
        squares = largest / scale * float(np.add.reduce(squared_norms, dtype=np.float64))
        total = sum_of(cost) / scale
    else:
        squares = float(np.einsum("i,i", cost / scale, squared_norms))
        total = sum_of(cost / scale)
    widened = 1.0 + float(np.finfo(squared_norms.dtype).eps) + sum_depth(len(cost)) * unit
    return CostSums(total, math.sqrt(squares) * widened, scale)


def hidden_length(n_features: int) -> float:
    """Upper bound of the length that is lost when squares underflow."""
    return 2.0**-536 * math.sqrt(n_features + 1.0)


def sum_depth(n: int) -> float:
    """Number of additions that a term takes part in when n terms are summed in blocks, or pairwise."""
    return min(n, _BLOCK_TERMS) + n / _BLOCK_TERMS + 8.0


class Primal(NamedTuple):
    """The quantities that bound the error of the losses.

    Attributes
    ----------
    depth : float
        Roundings of a score: its error is at most depth u |w| |x|.
    length : float
        At least |w|.
    reach : float
        At least sum_i cost_i |x_i|.
    cost : float
        At least sum_i cost_i.
    largest_offset : float
    carried : Carried
    n_rows : int
    mu : float
        lam times total.
    part : float
        The fraction of the whole problem that these rows make up, by cost.
    cap, ridge : float
        The two numbers of the loss.
    square_reach : float
        At least the root of sum_i cost_i |x_i|^2; 0 for the hinge, which does not need it.
    """

    depth: float
    length: float
    reach: float
    cost: float
    largest_offset: float
    carried: Carried
    n_rows: int
    mu: float
    part: float = 1.0
    cap: float = 1.0
    ridge: float = 0.0
    square_reach: float = 0.0

    def of_loss(self, cap: float, ridge: float, square_reach: float) -> Primal:
        """The same for a loss other than the hinge."""
        return self._replace(cap=cap, ridge=ridge, square_reach=square_reach)

    @property
    def by_length(self) -> float:
        """The error of a score per |x_i|, where scores are summed in double."""
        return unit * (self.depth + _WEIGHT_UNITS) * self.length + self.carried_by_length

    @property
    def carried_by_length(self) -> float:
        """The part of it that is due to the prior, in whatever precision scores are summed."""
        return unit * (self.depth + _WEIGHT_UNITS) * self.carried.length

    @property
    def by_constant(self) -> float:
        """Error of a score that does not depend on the row; a score of 0 leaves an offset unchanged."""
        if self.length == 0.0 and self.carried == nothing:
            return 0.0
        return unit * _OFFSET_UNITS * (self.largest_offset + self.carried.constant) + self.depth * smallest

    @property
    def moved(self) -> float:
        """Distance of the model's weights from the certified ones: a sum with a prior is rounded."""
        return unit * _WEIGHT_UNITS * (self.length + self.carried.length) if self.length > 0.0 else 0.0

    @property
    def of_square(self) -> float:
        """Error of lam total |w|^2 / 2, including the effect of moving the weights."""
        moved = self.moved
        return self.mu * (_INNER_UNITS * unit * 0.5 * self.length * self.length + moved * (self.length + 0.5 * moved))

    def room(self, farthest: float, total: float) -> Room:
        """How much losses of at most ``farthest``, summed row by row, may exceed a computed total."""
        counted = max(0.0, farthest - total) + self.of_square
        return Room(counted, last_roundings(farthest, self.mu, self.length))

    def bound(self, total: float, of_square: float | None = None) -> float:
        """How much the exact losses and lam total |w|^2 / 2 may exceed the computed ones."""
        of_loss = 2.0 if self.ridge == 0.0 else 18.0
        of_scores = self._of_scores(total)
        of_sums = (sum_depth(self.n_rows) + of_loss) * unit * total + (self.n_rows * smallest if total > 0.0 else 0.0)
        of_products = 8.0 * smallest if self.cost > 0.0 else 0.0
        return of_scores + of_sums + of_products + (self.of_square if of_square is None else of_square)

    def _of_scores(self, total: float) -> float:
        """Effect of score errors e_i on the sum of the losses.

        A loss of slope s_i changes by at most (s_i + e_i / ridge) e_i, where s_i is at most cap, and the sum of
        cost_i s_i^2 at most 2 total / ridge.
        """
        by_cap = self.by_length * self.reach + self.by_constant * self.cost
        if self.ridge == 0.0:
            return by_cap if self.cap == 1.0 else self.cap * by_cap
        squares = self.by_length * self.square_reach + self.by_constant * math.sqrt(self.cost)
        slopes = math.sqrt(2.0 * total / self.ridge) * (1.0 + 1e-6)
        by_curvature = squares * (slopes + squares / self.ridge)
        return min(by_curvature, self.cap * by_cap if self.cap * by_cap >= 0.0 else math.inf)

    def objective(self, total: float) -> float:
        """Objective of these rows, times total; a part of the rows gets that fraction of |w|^2."""
        return total + 0.5 * self.mu * self.length * self.length * min(1.0, self.part)


def is_negligible(bound: float, objective: float) -> bool:
    """Whether a certificate may ignore this bound."""
    return bound <= negligible * objective


def lowered(gain: Gain, length: float, mu: float) -> tuple[float, float]:
    """Linear term with room for rounding, and the slack, for weights of this length and mu = lam total."""
    room, last = dual_bound(gain, length, mu), last_roundings(gain.value, mu, length)
    if _is_below(gain, length, mu, room):
        return gain.value - room - last, last
    if is_negligible(room, size_of_dual(gain, length, mu)):
        return gain.value, room
    return gain.value - room, last


def size_of_dual(gain: Gain, length: float, mu: float) -> float:
    """Size of both terms of the dual, times total: at most twice the linear one where the bound is useful."""
    return gain.value + 0.5 * mu * length * length


def dual_bound(gain: Gain, length: float, mu: float) -> float:
    """How far the exact dual, times total, may lie below the computed one."""
    of_square = 0.5 * _INNER_UNITS * unit * length * length
    return gain.error + mu * (gain.off * (length + 0.5 * gain.off) + of_square)


def is_settled(gain: Gain, length: float, mu: float) -> bool:
    """Whether more digits cannot matter: the bound is negligible, or the dual is below 0, which is known anyway."""
    room = dual_bound(gain, length, mu)
    return _is_below(gain, length, mu, room) or is_negligible(room, size_of_dual(gain, length, mu))


def _is_below(gain: Gain, length: float, mu: float, room: float) -> bool:
    return gain.value + room < 0.5 * mu * length * length


def last_roundings(value: float, mu: float, length: float) -> float:
    """Error that remains where the sums are exact: the rounding of a few operations on them."""
    return _INNER_UNITS * unit * (abs(value) + mu * length * length) + smallest
