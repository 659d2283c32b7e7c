"""The region of a problem: which rows are pinned, and in which coordinates."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.gram import KernelRows
from pegasos.joint_problem import JointProblem
from pegasos.problem import Floats, Problem, Rows
from pegasos.region.bounds import Ball, Ends, Slacks, ball_of, free_ball_of, joint_pins_of, slacks_of
from pegasos.region.gram import FeatureProducts, GramRegion, GramSpace, KernelProducts
from pegasos.region.primal import PinnedPairs, PinnedRows, PrimalRegion, PrimalSpace, errors_of
from pegasos.region.rounds import NotDefiniteError, Space, curvatures, first_bounds, narrowed
from pegasos.rounding import length_of

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]
Region = PrimalRegion | GramRegion

_MOST_FEATURES = 1200  # side of a matrix of features; beyond it, products of the pinned rows
_MOST_PINNED = 1000  # side of a matrix of products
_MOST_WORK = 6e9  # multiplications of a round
_MOST_COPIED = 1 << 23  # values of pinned rows that are copied
_TELLING = 1e-7  # of its cost: a smaller slack pins nothing
_MOST_INTERCEPTS = 3  # times that a free intercept is looked at again
_NARROWER = 0.7  # of its reach, for that to be worth its price


class Found(NamedTuple):
    """A region, or None where the ball of the certificate is all there is; and P(w) and D(alpha), recomputed."""

    region: Region | None
    ends: Ends


class FreeIntercept(NamedTuple):
    """An intercept that is not regularized, and how far that of an exact solution may be."""

    value: float
    reach: float


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
        if intercept is None:
            ball, ends = ball_of(problem, weights, alpha, problem.rows.bias)
        else:
            ball, ends = free_ball_of(problem, weights, alpha, intercept.value)
        is_bounded = math.isfinite(ball.gap) and (intercept is None or math.isfinite(intercept.reach))
        slacks = slacks_of(problem, alpha)
        chosen = _pinned(problem, slacks) if is_bounded else np.arange(0)
        if len(chosen) == 0:
            return Found(None, ends)
        pinned = Slacks(slacks.above[chosen], slacks.below[chosen])
        try:
            if intercept is None:
                return Found(_regularized(problem, ball, chosen, pinned), ends)
            return Found(_free(problem, ball, chosen, pinned, intercept), ends)
        except NotDefiniteError:
            return Found(None, ends)


def _pinned(problem: Problem, slacks: Slacks) -> Numbers:
    """Rows whose slack grows on both sides."""
    return np.flatnonzero(np.minimum(slacks.above, slacks.below) > _TELLING * problem.cost)


def _regularized(problem: Problem, ball: Ball, chosen: Numbers, slacks: Slacks) -> Region:
    chosen, slacks = _most_telling(problem, ball, chosen, slacks)
    space = _space(problem, ball, chosen, None)
    return narrowed(ball, slacks, space, *first_bounds(ball, slacks, space))[0]


def _free(problem: Problem, ball: Ball, chosen: Numbers, slacks: Slacks, intercept: FreeIntercept) -> Region:
    """A smaller reach of the intercept makes a smaller ellipsoid, which makes a smaller reach."""
    has_column = isinstance(problem.rows, Rows)
    around = replace(ball, has_column=has_column).with_intercept(intercept.value, intercept.value, intercept.reach)
    chosen, slacks = _most_telling(problem, around, chosen, slacks)
    low, high = np.full(len(chosen), -np.inf), np.full(len(chosen), np.inf)
    middle, reach = intercept.value, intercept.reach
    for _ in range(_MOST_INTERCEPTS):
        around = replace(ball, has_column=has_column).with_intercept(intercept.value, middle, reach)
        space = _space(problem, around, chosen, (intercept.value, middle))
        first_low, first_high = first_bounds(around, slacks, space)
        region, low, high = narrowed(
            around, slacks, space, np.maximum(low, first_low), np.minimum(high, first_high)
        )
        move, nearer = region.bounds_of_constant()
        if not nearer < _NARROWER * reach:
            break
        middle, reach = intercept.value + move, nearer
    return region


def _most_telling(problem: Problem, ball: Ball, chosen: Numbers, slacks: Slacks) -> tuple[Numbers, Slacks]:
    """As many pinned rows as the work allows, by the curvature that the ball gives them. Fewer are valid, too."""
    most = _most_pinned(problem)
    if len(chosen) <= most:
        return chosen, slacks
    lengths = problem.rows.lengths[chosen]
    high = np.minimum(ball.radius * lengths, ball.total * ball.gap / np.minimum(slacks.above, slacks.below))
    telling = curvatures(slacks, -high, high) * np.square(lengths)
    kept = np.sort(np.argpartition(telling, len(telling) - most)[-most:])
    return chosen[kept], Slacks(slacks.above[kept], slacks.below[kept])


def _is_primal(problem: Problem) -> bool:
    return isinstance(problem.rows, Rows) and problem.rows.n_features < _MOST_FEATURES


def _most_pinned(problem: Problem) -> int:
    if not _is_primal(problem):
        return _MOST_PINNED
    return max(_MOST_PINNED, int(_MOST_WORK / (problem.rows.n_features + 1) ** 2))


def _space(problem: Problem, ball: Ball, chosen: Numbers, intercepts: tuple[float, float] | None) -> Space[Any]:
    """The pinned rows with the constant column of the ball; a free intercept is that of the model, and the middle's."""
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
    # A copy of few rows is read faster, round after round, than rows that lie far apart.
    is_small = rows.n_stored / max(rows.n_rows, 1) * len(chosen) <= _MOST_COPIED
    mine = rows.take(chosen) if is_small else rows.view(chosen)
    return replace(problem, rows=mine, sign=each[0], cost=np.ascontiguousarray(each[1]), offset=each[2])


def _kernel_space(
    problem: Problem, rows: KernelRows, ball: Ball, chosen: Numbers, intercepts: tuple[float, float] | None
) -> GramSpace:
    to_middle = ball.middle - ball.weights
    others = np.setdiff1d(np.flatnonzero(to_middle), chosen)
    together = np.concatenate([chosen, others])
    # A free intercept stands beside the coefficients, whose constant column is not meant to move it.
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
    ball, ends = ball_of(problem, weights, alpha, problem.rows.bias)
    if not math.isfinite(ball.gap) or weights.size > _MOST_FEATURES:
        return Found(None, ends)
    pins = joint_pins_of(problem, alpha)
    telling = np.minimum(*pins.slacks) > _TELLING * problem.cost[pins.row]
    most = max(_MOST_PINNED, int(_MOST_WORK / weights.size**2))
    kept = np.flatnonzero(telling)
    if len(kept) > most:
        strongest = np.minimum(*pins.slacks)[kept]
        kept = np.sort(kept[np.argpartition(strongest, len(kept) - most)[-most:]])
    if len(kept) == 0:
        return Found(None, ends)
    columns = (column[kept] for column in pins[:-1])
    mine = pins._replace(**dict(zip(pins._fields, columns)), slacks=Slacks(*(each[kept] for each in pins.slacks)))
    space = PrimalSpace(PinnedPairs(problem, mine, ball), ball)
    try:
        return Found(narrowed(ball, mine.slacks, space, *first_bounds(ball, mine.slacks, space))[0], ends)
    except NotDefiniteError:
        return Found(None, ends)
