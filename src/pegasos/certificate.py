"""The certificate: a bound on how far a solution is from the best possible, recomputed from the data.

For every w and every alpha with 0 <= alpha_i <= cap cost_i,  D(alpha) <= P* <= P(w).  The sums are independent of any
solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pegasos.problem import Losses, Objective, Problem
from pegasos.rounding import DualSums, Floats, is_negligible, unit


@dataclass(frozen=True)
class Certificate:
    """Proof of how good a solution is.

    Attributes
    ----------
    primal : float
        The objective P(w) of the weights returned.
    dual : float
        A lower bound D(alpha) on the best possible objective.
    gap : float
        ``primal - dual``: the weights are at most this far above the optimum.
    relative_gap : float
        ``gap / primal`` (0 if the objective is 0); with several problems the largest of theirs.
    weight_radius : float
        The exact solution lies within this distance of the weights: sqrt(gap / lam) where they are those of the dual
        point, and up to sqrt(2 gap / lam) where they are not.
    least_margin : float
        The smallest sign_i score_i among samples with a positive cost; 1 or more if no sample has a loss.
    squared_norm : float
        |w|^2.
    rounding : float
        The part of ``primal`` that is an allowance for rounding; 0 if that is less than 1e-10 of it.
    parts : tuple of Certificate
        One for each binary problem if there are several.

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
    least_margin: float = math.inf
    squared_norm: float = 0.0
    rounding: float = 0.0
    parts: tuple[Certificate, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        several = f" in each of {len(self.parts)} problems" if len(self.parts) > 1 else ""
        what = "sum of the objectives" if several else "objective"
        if self.relative_gap > _USELESS:
            return f"not certified: the {what} {self.primal:.6g} has no useful lower bound yet (proved {self.dual:.6g})"
        return (
            f"certified: the {what} {self.primal:.6g} is at most {in_percent(self.relative_gap)} above the best "
            f"possible{several} (proved lower bound {self.dual:.6g})"
        )

    @property
    def without_proof(self) -> Certificate:
        """Keep the objective only: for an indefinite kernel, the point is stationary and the dual bounds nothing."""
        parts = tuple(part.without_proof for part in self.parts)
        void = {"dual": -math.inf, "gap": math.inf, "relative_gap": math.inf, "weight_radius": math.inf}
        return replace(self, **void, parts=parts)

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are usable."""
        return math.isfinite(self.primal) and math.isfinite(self.dual)


_USELESS = 0.99  # relative gap above which the bound is a hundred times the best and not worth reporting
_INDEFINITE = 1e-6  # fraction of the primal: larger than the errors of kernel values


_SMALL_SHARE = 0.1  # largest fraction that may be taken from rows between their bounds
TINY = 2.0**-1070  # a smaller number has hardly any digits left; a smaller objective counts as 0


def _relative(gap: float, primal: float) -> float:
    # A dual above the primal, or a negative primal, occurs only if |w|^2 is not a norm: the kernel is indefinite.
    if not math.isfinite(gap) or primal < 0.0 or gap < -_INDEFINITE * primal:
        return math.inf
    return gap / primal if primal >= TINY else 0.0


def _radius(gap: float, lam: float, apart: float) -> float:
    """Bound of |w - w*|, where |w - w(alpha)| is ``apart``; both include room for rounding.

    |w - w*|^2 + |w(alpha) - w*|^2 is at most 2 gap / lam: halfway between the two is the center of a ball around w*.
    """
    square = gap / lam
    if not math.isfinite(square):
        return math.inf
    halfway = max(0.0, min(0.5 * square, 0.25 * apart * apart))
    return math.sqrt(halfway) + math.sqrt(square - halfway)


def in_percent(relative_gap: float) -> str:
    """Format how far above the best possible a relative gap below 1 leaves an objective."""
    # Relative to the optimum, which is at least primal - gap; rounded up, so that the statement remains true.
    share = 100.0 * relative_gap / (1.0 - relative_gap)
    if share <= 0.0:
        return "0 %"
    digits = 1 - math.floor(math.log10(share))
    rounded_up = math.ceil(share * 10**digits) / 10**digits
    return f"{rounded_up:.2g} %" if digits > 6 else f"{rounded_up:.{max(digits, 0)}f} %"


def certify(problem: Objective, weights: npt.NDArray[np.float64], alpha: Floats) -> Certificate:
    """Certify any weights (the last one is the intercept's) with any dual point, clipped to its bounds."""
    with np.errstate(over="ignore", invalid="ignore"):
        losses = problem.losses(weights)
        own = problem.dual_sums(alpha)
        if np.array_equal(own.weights, weights):
            return certificate_of(problem, losses, own, losses.square, 0.0)
        return certificate_of(problem, losses, own, problem.square(own.weights), problem.square(weights - own.weights))


def certify_dual(problem: Objective, alpha: Floats) -> tuple[Certificate, npt.NDArray[np.float64]]:
    """Certify the dual point alone; also return its weights w(alpha)."""
    with np.errstate(over="ignore", invalid="ignore"):
        own = problem.dual_sums(alpha)
        losses = problem.losses(own.weights)
        return certificate_of(problem, losses, own, losses.square, 0.0), own.weights


def dual_point(problem: Objective, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
    """Return the weights w(alpha) and the lower bound D(alpha), with alpha clipped to its bounds."""
    with np.errstate(over="ignore", invalid="ignore"):
        own = problem.dual_sums(alpha)
        return own.weights, float(own.gain / problem.total - 0.5 * problem.lam * problem.square(own.weights))


def better_within_bounds(problem: Objective, alpha: Floats) -> Floats:
    """Bring a dual point within its bounds: clip it, or scale it down first where that has a better lower bound.

    Clipping single rows corrects a few that were drawn too often. Where all rows of one sign are ahead of the others,
    it would leave weights unrelated to w(alpha).
    """
    spent = alpha if alpha.ndim == 1 else alpha.sum(axis=1)
    above = np.flatnonzero(spent > problem.bound)
    if not (spent[above] > problem.bound[above] * (1.0 + 1e-6)).any():
        return alpha
    positive = spent > 0.0
    scaled = alpha * float(np.min(problem.bound[positive] / spent[positive]))
    return scaled if dual_point(problem, scaled)[1] > dual_point(problem, alpha)[1] else alpha


def stretched(problem: Objective, alpha: Floats) -> npt.NDArray[np.float64]:
    """The multiple of a dual point with the best lower bound, within the bounds: D is a parabola along it."""
    clipped = problem.within_bounds(better_within_bounds(problem, alpha)).astype(np.float64, copy=False)
    own = problem.dual_sums(clipped)
    linear = (own.gain + own.ridge) / problem.total
    curvature = problem.lam * problem.square(own.weights) + 2.0 * own.ridge / problem.total
    spent = clipped.reshape(problem.rows.n_rows, -1).sum(axis=1)  # used part of each row's cost
    positive = spent > 0.0
    if not positive.any() or not curvature > 0.0:
        return np.asarray(clipped)
    best = linear / curvature
    room = float(np.min(problem.bound[positive] / spent[positive]))
    return np.asarray(clipped * max(0.0, min(best, room)))


def balanced(problem: Problem, alpha: Floats) -> npt.NDArray[np.float64]:
    """Make a dual point feasible for a free intercept, sum_i alpha_i sign_i = 0, by reducing the heavier side.

    Where the rows between their bounds suffice for that, the others stay exactly at theirs.
    """
    clipped = np.minimum(np.maximum(alpha.astype(np.float64), 0.0), problem.bound)
    of_sign = {sign: float(np.sum(clipped[problem.sign == sign])) for sign in (1, -1)}
    heavier = max(of_sign, key=lambda sign: of_sign[sign])
    lighter = of_sign[-heavier]
    excess = of_sign[heavier] - lighter
    if not excess > 0.0:
        return np.asarray(clipped)
    free = (problem.sign == heavier) & (clipped > 0.0) & (clipped < problem.bound)
    room = float(np.sum(clipped[free]))
    if excess < _SMALL_SHARE * room:
        clipped[free] *= 1.0 - excess / room
        return np.asarray(clipped)
    clipped[problem.sign == heavier] *= lighter / of_sign[heavier]
    return np.asarray(clipped)


def certify_free(problem: Problem, alpha: Floats) -> tuple[Certificate, npt.NDArray[np.float64], float]:
    """Certify a dual point with a free intercept; also return the weights w(alpha) and their best intercept.

    The intercept b is one more offset, and drops out of D where sum_i alpha_i sign_i = 0; there w(alpha) has no
    constant column, whatever its value.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        even = balanced(problem, alpha)
        own = problem.dual_sums(even)
        weights = problem.rows.without_constant(own.weights)
        best = best_intercept(problem, weights)
        losses = problem.shifted(best).losses(weights)
        certificate = certificate_of(problem, losses, _for_any_intercept(problem, own, even), losses.square, 0.0)
    # What rounding leaves in the constant column is part of the scores above, and therefore of the intercept.
    return certificate, weights, best + problem.rows.constant_score(weights)


def best_intercept(problem: Problem, weights: npt.NDArray[np.float64]) -> float:
    """An intercept with the least loss for these weights, which have no constant column."""
    return _one_of(*best_intercepts(problem, problem.rows.scores_of(weights)))


def certify_around(
    problem: Problem, weights: npt.NDArray[np.float64], even: npt.NDArray[np.float64], intercept: float
) -> Certificate:
    """Certify any weights and free intercept with a balanced dual point."""
    with np.errstate(over="ignore", invalid="ignore"):
        losses = problem.shifted(intercept).losses(weights)
        own = _for_any_intercept(problem, problem.dual_sums(even), even)
        apart = problem.square(weights - own.weights)
        return certificate_of(problem, losses, own, problem.square(own.weights), apart)


def sums_for_any_intercept(problem: Problem, even: npt.NDArray[np.float64]) -> DualSums:
    """Sums of a balanced dual point, as a bound for every intercept that may be optimal."""
    return _for_any_intercept(problem, problem.dual_sums(even), even)


def _for_any_intercept(problem: Problem, own: DualSums, even: npt.NDArray[np.float64]) -> DualSums:
    """Sums of a dual point that is balanced up to rounding, as a bound for every intercept that may be optimal.

    An intercept b adds -b sum_i alpha_i sign_i to the linear term. One that is optimal lies at a break of the loss, so
    |b| is at most 1 + |offset_i| + |w*| |x_i| for some row with a positive cost; of a loss without breaks as well,
    since beyond all of these the rows of one sign have a slope of 0.
    """
    spent = float(np.sum(even))
    if spent == 0.0:
        return own
    lengths = problem.rows.lengths[problem.cost > 0.0]
    longest = float(lengths.max(initial=0.0)) * (1.0 + 4.0 * unit)
    farthest = 1.0 + problem.largest_offset + 1.5 * problem.radius * longest
    room = 64.0 * unit * spent * farthest
    if is_negligible(room, own.gain):
        return own._replace(slack=own.slack + room)
    uneven = abs(math.fsum((even * problem.sign).tolist())) * (1.0 + 4.0 * unit)
    return own._replace(gain=own.gain - uneven * farthest, slack=own.slack + 4.0 * unit * abs(own.gain))


def _one_of(lowest: float, highest: float) -> float:
    """The middle of an interval, or its finite end."""
    if math.isfinite(lowest) and math.isfinite(highest):
        return 0.5 * (lowest + highest)
    return lowest if math.isfinite(lowest) else highest if math.isfinite(highest) else 0.0


def best_intercepts(problem: Problem, scores: npt.NDArray[np.float64], slope: float = 0.0) -> tuple[float, float]:
    """The lowest and the highest intercept with the least loss, which is convex in the intercept.

    Infinite where only rows of one sign have a positive cost. Further rows, all of them beyond a break, may add a
    constant ``slope``, times total.
    """
    if problem.ridge > 0.0:
        return _best_intercepts_curved(problem, scores, slope)
    # The loss is piecewise linear in the intercept.
    counts = problem.cost > 0.0
    sign, cost = problem.sign[counts], problem.cost[counts]
    breaks = sign - scores[counts] - problem.offset[counts]
    order = np.argsort(breaks, kind="stable")
    # Slopes before the first break and after each break.
    slopes = np.append(0.0, np.cumsum(cost[order])) - float(np.sum(cost[sign > 0])) + slope
    ends = np.concatenate([[-np.inf], breaks[order], [np.inf]])
    rounding = 1e-12 * float(np.sum(cost))
    lowest = int(np.searchsorted(slopes, -rounding))
    highest = int(np.searchsorted(slopes, rounding, side="right"))
    return float(ends[lowest]), float(ends[highest])


def _best_intercepts_curved(problem: Problem, scores: npt.NDArray[np.float64], slope: float) -> tuple[float, float]:
    """The same where the slope of the loss is piecewise linear: it rises by cost_i / ridge while r_i < cap ridge.

    The slope in the intercept at each break follows from that at the first one; it is 0 between two of them.
    """
    counts = problem.cost > 0.0
    sign, cost = problem.sign[counts], problem.cost[counts]
    zero = sign - scores[counts] - problem.offset[counts]  # where r_i = 0
    width = problem.cap * problem.ridge
    begin, end = np.where(sign > 0, zero - width, zero), np.where(sign > 0, zero, zero + width)
    rise = cost / problem.ridge
    breaks, changes = np.concatenate([begin, end]), np.concatenate([rise, -rise])
    is_finite = np.isfinite(breaks)
    bends = float(np.sum(changes[breaks == -np.inf]))  # before the first break
    order = np.argsort(breaks[is_finite], kind="stable")
    breaks, changes = breaks[is_finite][order], changes[is_finite][order]
    if len(breaks) == 0:
        return -math.inf, math.inf
    bend = np.concatenate([[bends], bends + np.cumsum(changes)])
    bend[np.abs(bend) <= 1e-13 * float(np.sum(rise))] = 0.0
    first = slope - float(np.sum(cost * sign * problem.loss.slope(sign * (zero - breaks[0]))))
    slopes = first + np.append(0.0, np.cumsum(bend[1:-1] * np.diff(breaks)))
    rounding = 1e-12 * float(np.sum(np.abs(slopes), initial=0.0) / len(slopes) + np.sum(cost))
    return (
        _crossing(breaks, slopes, bend, -rounding, is_lowest=True),
        _crossing(breaks, slopes, bend, rounding, is_lowest=False),
    )


def _crossing(
    breaks: npt.NDArray[np.float64],
    slopes: npt.NDArray[np.float64],
    bend: npt.NDArray[np.float64],
    level: float,
    *,
    is_lowest: bool,
) -> float:
    """Find where a piecewise linear, rising slope crosses a level: the lowest or the highest such place."""
    k = int(np.searchsorted(slopes, level, side="left" if is_lowest else "right"))
    before = float(breaks[k - 1]) if k > 0 else -math.inf
    behind = float(breaks[k]) if k < len(breaks) else math.inf
    if not bend[k] > 0.0:
        return behind if k > 0 else before
    near = max(k - 1, 0)
    return float(np.clip(breaks[near] + (level - slopes[near]) / bend[k], before, behind))


def intercept_reach(problem: Problem, alpha: Floats, intercept: float, radius: float) -> float:
    """How far the intercept of an exact solution may be, when its weights lie within this radius of w(alpha).

    Its score of row i, without intercept, lies within |x_i| radius of ours, and the best intercept falls where scores
    rise.
    """
    weights, _ = dual_point(problem, alpha)
    scores = problem.rows.scores_of(weights)
    reach = radius * problem.rows.lengths  # with the constant column, which is more than enough
    lowest, _ = best_intercepts(problem, scores + reach)
    _, highest = best_intercepts(problem, scores - reach)
    own = problem.rows.constant_score(weights)  # contained in both the scores and the intercept
    return max(highest + own - intercept, intercept - own - lowest, 0.0)


def combine(parts: list[Certificate]) -> Certificate:
    """Combine the certificates of several problems solved side by side."""
    if len(parts) == 1:
        return replace(parts[0], parts=tuple(parts))
    return Certificate(
        primal=_sum_of(part.primal for part in parts),
        dual=_sum_of(part.dual for part in parts),
        gap=_sum_of(part.gap for part in parts),
        relative_gap=max(part.relative_gap for part in parts),
        weight_radius=math.hypot(*(part.weight_radius for part in parts)),
        least_margin=min(part.least_margin for part in parts),
        squared_norm=_sum_of(part.squared_norm for part in parts),
        rounding=_sum_of(part.rounding for part in parts),
        parts=tuple(parts),
    )


def _sum_of(values: Iterable[float]) -> float:
    """The sum of the numbers, infinite if it is out of range."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def certificate_of(
    problem: Objective, losses: Losses, own: DualSums, dual_square: float, apart_square: float
) -> Certificate:
    """Build the certificate from the losses, the sums of the dual point, |w(alpha)|^2 and |w - w(alpha)|^2."""
    rounding = float(losses.rounding / problem.total)
    primal = float(losses.total / problem.total + 0.5 * problem.lam * losses.square) + rounding
    if 0.0 <= primal < TINY and own.gain != 0.0:  # alpha = 0 proves that no objective is below 0
        return certificate_of(problem, losses, DualSums(np.zeros_like(own.weights), 0.0), 0.0, losses.square)
    dual = float(own.gain / problem.total - 0.5 * problem.lam * dual_square)
    slack = (losses.slack + own.slack) / problem.total + 8.0 * unit * (abs(primal) + abs(dual))
    if 0.0 < dual - primal <= slack:
        dual = primal  # a bound lowered to the primal is still a lower bound
    elif 0.0 < dual - primal <= _INDEFINITE * primal:
        # the kernel is not quite positive semi-definite, so neither number is more accurate than that
        dual = primal - (dual - primal)
    gap = primal - dual
    apart = math.sqrt(max(apart_square, 0.0)) + own.off if apart_square < math.inf else math.inf
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=_relative(gap, primal),
        weight_radius=_radius(max(gap, 0.0) + slack, problem.lam, apart) + losses.moved,
        least_margin=losses.least_margin,
        squared_norm=losses.square,
        rounding=rounding,
    )
