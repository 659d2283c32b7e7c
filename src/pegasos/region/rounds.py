"""Pinned rows and the ellipsoid narrow each other, round after round; the result of every round is valid.

If a pinned row is known to have low <= r_i(w*) <= high, its slack is at least curvature_i r_i(w*)^2, and so (r_i is the
distance from where the row is pinned, which for the hinge is its margin)

    lam |w* - middle|^2 + (1/N) sum_i curvature_i r_i(w*)^2 <= gap:

an ellipsoid, which bounds every r_i(w*) in turn.
"""

from __future__ import annotations

import math
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from pegasos.region.bounds import Ball, Slacks
from pegasos.rounding import unit

Vector = npt.NDArray[np.float64]

_MOST_ROUNDS = 8
_WORTH = 0.07  # average narrowing per row, as a logarithm, that makes another round worth its cost
_WIDER = 1.0 + 1e-9


class NotDefiniteError(Exception):
    """Raised when a matrix cannot be factored: the kernel is not positive semi-definite, or double overflows."""


class Quadratic(NamedTuple):
    """What a space says of lam |w - middle|^2 + sum_i scale_i r_i(w)^2 at its computed minimum, the centre.

    Attributes
    ----------
    residuals, errors : arrays
        r_i(centre), and how far each may be off.
    least : float
        At most the value at the centre.
    slope : float
        At least half the length of the gradient there.
    """

    residuals: Vector
    errors: Vector
    least: float
    slope: float


Region_co = TypeVar("Region_co", covariant=True)


class Space(Protocol[Region_co]):
    """The pinned rows in coordinates of some kind."""

    @property
    def lengths(self) -> Vector:
        """Upper bound of the length of each pinned row."""

    @property
    def room(self) -> float:
        """The largest sum of scale_i |z_i|^2 whose rounding leaves the regularization intact."""

    def start(self) -> tuple[Vector, Vector]:
        """Return the residuals at the middle, with their error bounds."""

    def minimize(self, scale: Vector) -> Quadratic:
        """Find the center for these scales."""

    def squared_reaches(self) -> Vector:
        """Return upper bounds of z_i' M^-1 z_i, with M the matrix of the last quadratic."""

    def region(self, level: float) -> Region_co:
        """Return the ellipsoid (w - centre)' M (w - centre) <= level."""


def curvatures(slacks: Slacks, low: Vector, high: Vector) -> Vector:
    """The largest number such that curvature r^2 is at most the slack everywhere between low and high."""
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(high > 0.0, _curvature(slacks.above, slacks.damping, high), np.inf)
        below = np.where(low < 0.0, _curvature(slacks.below, slacks.damping, -low), np.inf)
    found = np.minimum(above, below) * (1.0 - 16.0 * unit)
    return np.where(np.isfinite(found), found, 0.0)


def _curvature(side: Vector, damping: Vector, end: Vector) -> Vector:
    """The slack at the end, over its square: 1 / (2 damping) up to damping times the side, and falling from there."""
    if not damping.any():
        return side / end
    far = (side - 0.5 * damping * side * (side / end)) / end
    return np.where(end <= damping * side, 0.5 / damping, far)


def _farthest(side: Vector, damping: Vector, most: float) -> Vector:
    """The distance at which the slack is `most`."""
    if not damping.any():
        return most / side
    turn = 0.5 * damping * side * side  # slack at damping times the side
    return np.where(most <= turn, np.sqrt(2.0 * damping * most), (most + turn) / side) * _WIDER


def capped(scale: Vector, lengths: Vector, room: float) -> Vector:
    """Reduce scales until their sum, in squares of lengths, fits the room: smaller ones are also valid."""
    squares = scale * np.square(lengths)
    if not float(np.sum(squares)) > room:
        return scale
    share = room / len(scale)
    return np.where(squares > share, scale * (share / np.maximum(squares, share)), scale)


def first_bounds(ball: Ball, slacks: Slacks, space: Space[Region_co]) -> tuple[Vector, Vector]:
    """What the ball, and each slack alone, imply for the residuals of the exact solution."""
    residuals, errors = space.start()
    reach = ball.radius * space.lengths + errors
    most = ball.total * ball.gap * _WIDER
    with np.errstate(divide="ignore", invalid="ignore"):
        below, above = (_farthest(side, slacks.damping, most) for side in (slacks.below, slacks.above))
        return np.maximum(residuals - reach, -below), np.minimum(residuals + reach, above)


class Narrowed(NamedTuple, Generic[Region_co]):
    """An ellipsoid, the bounds of the residuals that it implies, and the quadratic that it belongs to."""

    region: Region_co
    low: Vector
    high: Vector
    scale: Vector
    residuals: Vector  # residuals at the center


def narrowed(ball: Ball, slacks: Slacks, space: Space[Region_co], low: Vector, high: Vector) -> Narrowed[Region_co]:
    """Run rounds while they are worth their cost."""
    for k in range(_MOST_ROUNDS):
        scale = capped(curvatures(slacks, low, high) / ball.total, space.lengths, space.room)
        found = space.minimize(scale)
        level = _level(ball, found)
        reach = np.sqrt(level * space.squared_reaches()) * _WIDER + found.errors
        new_low, new_high = np.maximum(low, found.residuals - reach), np.minimum(high, found.residuals + reach)
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = np.log((high - low) / (new_high - new_low))
        low, high = new_low, new_high
        gain = float(np.mean(gains[np.isfinite(gains)])) if np.isfinite(gains).any() else 0.0
        if k + 1 == _MOST_ROUNDS or not gain > _WORTH:
            break
    return Narrowed(space.region(level), low, high, scale, found.residuals)


def _level(ball: Ball, found: Quadratic) -> float:
    """With half the gradient h at the centre, v = w* - centre has v'Mv + 2 h'v <= gap - least; M >= lam I."""
    of_slope = found.slope / math.sqrt(ball.lam)
    level = math.sqrt(max(ball.gap - found.least, 0.0) + of_slope**2) + of_slope
    return level**2 * _WIDER + 16.0 * unit * ball.gap
