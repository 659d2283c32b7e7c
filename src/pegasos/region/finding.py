"""The region of a problem: which rows are pinned, and in which coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.gram import KernelRows
from pegasos.joint_problem import JointProblem
from pegasos.problem import Floats, Problem, Rows
from pegasos.region.bounds import Ball, Ends, JointPins, Point, Slacks, joint_pins_of, pinned, slacks_of
from pegasos.region.gram import FeatureProducts, GramRegion, GramSpace, KernelProducts
from pegasos.region.primal import PinnedPairs, PinnedRows, PrimalRegion, PrimalSpace, errors_of
from pegasos.region.rounds import Narrowed, NotDefiniteError, Space, curvatures, first_bounds, narrowed
from pegasos.rounding import unit

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]
Region = PrimalRegion | GramRegion

_MOST_FEATURES = 1200  # largest side of a matrix of features; beyond it, products of the pinned rows are used
_MOST_PINNED = 500  # largest side of a matrix of products
_MOST_WORK = 6e9  # most multiplications per round
_MOST_COPIED = 1 << 23  # most values of pinned rows that are copied
_TELLING = 1e-7  # fraction of the cost: a smaller slack pins nothing
_MOST_INTERCEPTS = 3  # most times that a free intercept is examined again
_MOST_LOOKS = 3
_SMALLER = 0.75  # fraction of the gap that makes another pass worth its cost
_NARROWER = 0.7  # fraction of its reach that makes another pass worth its cost


class Found(NamedTuple):
    """A region, or None where only the ball of the certificate is known; and P(w) and D(alpha), recomputed."""

    region: Region | None
    ends: Ends


class FreeIntercept(NamedTuple):
    """An unregularized intercept, and how far that of an exact solution may be from a center."""

    value: float
    reach: float
    centre: float | None = None  # None: the value itself

    @property
    def middle(self) -> float:
        """The center of the interval that contains an exact intercept."""
        return self.value if self.centre is None else self.centre


def find_region(
    problem: Problem | JointProblem, weights: Vector, alpha: Floats, intercept: FreeIntercept | None = None
) -> Found:
    """The region around the exact solution of a problem, from any weights and any dual point.

    Parameters
    ----------
    problem : Problem or JointProblem
    weights, alpha : as in `certify`
    intercept : FreeIntercept, optional
        Where the intercept is free, in which case the rows have no constant column.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(problem, JointProblem):
            return _joint_region(problem, weights, alpha)
        point = _point(problem, weights, alpha, intercept)
        try:
            return Found(_binary_region(problem, point, intercept), point.ends)
        except NotDefiniteError:
            return Found(None, point.ends)


def _point(problem: Problem, weights: Vector, alpha: Floats, intercept: FreeIntercept | None) -> Point:
    if intercept is None:
        return Point.of(problem, weights, alpha)
    return Point.free(problem, weights, alpha, intercept.value)


def _binary_region(problem: Problem, point: Point, intercept: FreeIntercept | None) -> Region | None:
    """Find a region, move to its center, and repeat from there while the gap falls enough to be worth its cost.

    The center and the multipliers of its residuals are a step of the augmented Lagrangian method from the current
    point. Any point is valid, and the predictions of the model are certified in every case.
    """
    model, gap, region = point.weights, math.inf, None
    # Bounds on the residuals of the exact solution remain valid from any point.
    low, high = np.full(problem.rows.n_rows, -np.inf), np.full(problem.rows.n_rows, np.inf)
    for _ in range(_MOST_LOOKS):
        look = _Look(problem, point, model, intercept, low, high)
        if not look.ball.gap < _SMALLER * gap or len(look.chosen) == 0:
            break
        gap, region = look.ball.gap, look.region()
        if not isinstance(problem.rows, Rows):  # for kernels, an objective costs as much as scoring many rows
            break
        intercept = look.nearer(region)
        point = point.better_of(problem, look.improved(region))
    return region


@dataclass(eq=False)
class _Look:
    """The region found from one point."""

    problem: Problem
    point: Point
    model: Vector  # the weights of the model
    intercept: FreeIntercept | None
    low: Vector  # bounds of the residuals of the exact solution, for all rows
    high: Vector
    ball: Ball = field(init=False)
    chosen: Numbers = field(init=False)
    scale: Vector = field(init=False)  # scales of the chosen rows, at the end
    residuals: Vector = field(init=False)  # residuals at the center

    def __post_init__(self) -> None:
        self.ball = self.point.ball(self.problem, self.model, self.problem.rows.bias)
        is_bounded = math.isfinite(self.ball.gap) and (self.intercept is None or math.isfinite(self.intercept.reach))
        self.slacks = slacks_of(self.problem, self.point.alpha)
        self.pinned = pinned(self.problem, self.point.alpha)
        telling = self.slacks.least > _TELLING * self.problem.cost
        self.chosen = np.flatnonzero(telling) if is_bounded else np.arange(0)

    def region(self) -> Region:
        """Narrow the bounds of the pinned rows."""
        slacks = self.slacks.of(self.chosen)
        self.chosen, slacks = _most_telling(self.problem, self.ball, self.chosen, slacks)
        if self.intercept is None:
            found = self._narrowed(self.ball, slacks, None)
        else:
            found = self._free(slacks, self.intercept)
        self.scale, self.residuals = found.scale, found.residuals
        return found.region

    def _narrowed(self, ball: Ball, slacks: Slacks, intercepts: tuple[float, float] | None) -> Narrowed[Region]:
        space = _space(self.pinned, ball, self.chosen, intercepts)
        low, high = first_bounds(ball, slacks, space)
        # The bounds are about residuals; where rows are pinned depends on the dual point.
        own = np.clip(self.point.alpha[self.chosen], 0.0, self.problem.bound[self.chosen])
        place = self.problem.damping[self.chosen] * own
        low = np.maximum(low, _moved(self.low[self.chosen], -place, -1.0))
        high = np.minimum(high, _moved(self.high[self.chosen], -place, 1.0))
        found = narrowed(ball, slacks, space, low, high)
        self.low[self.chosen] = _moved(found.low, place, -1.0)
        self.high[self.chosen] = _moved(found.high, place, 1.0)
        return found

    def _free(self, slacks: Slacks, intercept: FreeIntercept) -> Narrowed[Region]:
        """A smaller reach of the intercept gives a smaller ellipsoid, which gives a smaller reach."""
        ball = replace(self.ball, has_column=isinstance(self.problem.rows, Rows))
        for _ in range(_MOST_INTERCEPTS):
            around = ball.with_intercept(intercept.value, intercept.middle, intercept.reach)
            found = self._narrowed(around, slacks, (intercept.value, intercept.middle))
            nearer = _nearer(intercept, found.region)
            if not nearer.reach < _NARROWER * intercept.reach:
                break
            intercept = nearer
        return found

    def nearer(self, region: Region) -> FreeIntercept | None:
        """What the region implies for a free intercept."""
        return None if self.intercept is None else _nearer(self.intercept, region)

    def improved(self, region: Region) -> Point:
        """The center, and the dual point with the multipliers of its residuals."""
        assert isinstance(region.shift, np.ndarray)
        weights = self.model + region.shift.ravel()
        alpha = self.point.alpha.astype(np.float64)
        alpha[self.chosen] += self.problem.total * self.scale * self.residuals
        alpha = np.clip(alpha, 0.0, self.problem.bound)
        if self.intercept is None:
            return Point.of(self.problem, weights, alpha)
        weights[-1] = 0.0
        move = region.bounds_of_constant()[0]
        return Point.free(self.problem, weights, alpha, self.intercept.value + move)


def _moved(bounds: Vector, place: Vector, outward: float) -> Vector:
    """Bounds shifted by a position, moved outward by more than the rounding of the shift."""
    rounding = np.where(place == 0.0, 0.0, 16.0 * unit * (np.abs(place) + np.abs(bounds)))
    return bounds + place + outward * rounding


def _nearer(intercept: FreeIntercept, region: Region) -> FreeIntercept:
    move, reach = region.bounds_of_constant()
    return intercept._replace(centre=intercept.value + move, reach=reach) if reach < intercept.reach else intercept


def _most_telling(problem: Problem, ball: Ball, chosen: Numbers, slacks: Slacks) -> tuple[Numbers, Slacks]:
    """As many pinned rows as the work limit allows, by the curvature from the ball. Fewer are also valid."""
    most = _most_pinned(problem)
    if len(chosen) <= most:
        return chosen, slacks
    lengths = problem.rows.lengths[chosen]
    high = np.minimum(ball.radius * lengths, ball.total * ball.gap / slacks.least)
    telling = curvatures(slacks, -high, high) * np.square(lengths)
    kept = np.sort(np.argpartition(telling, len(telling) - most)[-most:])
    return chosen[kept], slacks.of(kept)


def _is_primal(problem: Problem) -> bool:
    return isinstance(problem.rows, Rows) and problem.rows.n_features < _MOST_FEATURES


def _most_pinned(problem: Problem) -> int:
    if not _is_primal(problem):
        return _MOST_PINNED
    return max(_MOST_PINNED, int(_MOST_WORK / (problem.rows.n_features + 1) ** 2))


def _space(problem: Problem, ball: Ball, chosen: Numbers, intercepts: tuple[float, float] | None) -> Space[Any]:
    """The pinned rows with the constant column of the ball; a free intercept belongs to the model and the middle."""
    rows = problem.rows
    if isinstance(rows, KernelRows):
        return _kernel_space(problem, rows, ball, chosen, intercepts)
    assert isinstance(rows, Rows)
    mine = _those(problem, rows.with_bias(ball.bias), chosen)
    if _is_primal(problem):
        return PrimalSpace(PinnedRows(mine, ball), ball)
    copied = rows.take(chosen).of_type(np.float64)
    products = FeatureProducts(copied, ball.middle - ball.weights)
    return GramSpace(products, mine.sign, ball, PinnedRows(mine, ball).residuals(ball.middle))


def _those(problem: Problem, rows: Rows, chosen: Numbers) -> Problem:
    each = problem.sign[chosen], problem.cost[chosen], problem.offset[chosen]
    # A copy of a few rows is read faster in every round than rows that are scattered in memory.
    is_small = rows.n_stored / max(rows.n_rows, 1) * len(chosen) <= _MOST_COPIED
    mine = rows.take(chosen) if is_small else rows.view(chosen)
    return replace(problem, rows=mine, sign=each[0], cost=np.ascontiguousarray(each[1]), offset=each[2])


def _kernel_space(
    problem: Problem, rows: KernelRows, ball: Ball, chosen: Numbers, intercepts: tuple[float, float] | None
) -> GramSpace:
    to_middle = ball.middle - ball.weights
    others = np.setdiff1d(np.flatnonzero(to_middle), chosen)
    together = np.concatenate([chosen, others])
    # A free intercept is separate from the coefficients, whose constant column must not move it.
    own, middle = intercepts or (0.0, 0.0)
    constant = 0.0 if intercepts is None else middle - own - ball.bias**2 * float(np.sum(to_middle))
    products = KernelProducts(rows.kernel, rows.items.take(together), len(chosen), to_middle[together], constant)
    support = np.flatnonzero(ball.middle)
    scores = rows.partial_scores(chosen, support, ball.middle) + middle
    sign, offset = problem.sign[chosen], problem.offset[chosen]
    residuals = 1.0 - sign * (scores + offset)
    account = problem.accounted(0.0, rows.reach(ball.middle) + abs(middle))
    errors = errors_of(account, rows.lengths[chosen], residuals)
    errors += rows.score_error(ball.middle) * rows.reach(ball.middle) * rows.lengths[chosen]
    return GramSpace(products, sign, ball, (residuals, errors))


def _joint_region(problem: JointProblem, weights: Vector, alpha: Floats) -> Found:
    point = Point.of(problem, weights, alpha)
    ball, ends = point.ball(problem, weights, problem.rows.bias), point.ends
    # With a kernel, a problem of all classes has the ball only.
    if not math.isfinite(ball.gap) or weights.size > _MOST_FEATURES or not isinstance(problem.rows, Rows):
        return Found(None, ends)
    pins = joint_pins_of(problem, alpha)
    telling = pins.slacks.least > _TELLING * problem.cost[pins.row]
    most = max(_MOST_PINNED, int(_MOST_WORK / weights.size**2))
    kept = np.flatnonzero(telling)
    if len(kept) > most:
        strongest = pins.slacks.least[kept]
        kept = np.sort(kept[np.argpartition(strongest, len(kept) - most)[-most:]])
    if len(kept) == 0:
        return Found(None, ends)
    slacks = pins.slacks.of(kept)
    mine = JointPins(pins.row[kept], pins.leader[kept], pins.rival[kept], pins.target[kept], slacks)
    space = PrimalSpace(PinnedPairs(problem, mine, ball), ball)
    try:
        return Found(narrowed(ball, slacks, space, *first_bounds(ball, slacks, space)).region, ends)
    except NotDefiniteError:
        return Found(None, ends)
