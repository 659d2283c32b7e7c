"""An interior point on all rows, or on those that matter; the certificate shows which of the others are missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import certify
from pegasos.problem import Floats, Problem
from pegasos.solvers.auto.faces import most_products
from pegasos.solvers.auto.prices import Prices
from pegasos.solvers.auto.stage import AT_BOUND, Ascent, AutoState, Inside, Next, all_rows
from pegasos.solvers.driver import Review
from pegasos.solvers.dual_ascent import is_now_and_then
from pegasos.solvers.interior_point import INTERIOR_ITERATIONS, InteriorState

Vector = npt.NDArray[np.float64]

# iterations of an interior point before the first review and between later ones, unless it is ready earlier
_LOOKS = 8, 2
_HOPELESS = 10.0  # an interior point whose own gap is this many times tol is not reviewed (1 review in 65 succeeded)
# an interior point that takes fewer nanoseconds than this aims at this gap, whatever the tol
_CHEAP, _CHEAP_GAP = 2e7, 1e-8
_FAR_BELOW = 1e-4  # fraction of tol at which an interior point stops looking for a dual point on its bounds
_LAST_TARGET = 1e-15  # smallest relative gap that an interior point aims at
_FAR = 1.0  # a row this far beyond the margin, on the right side, may leave the interior point
_PATIENCE = 0.3  # fraction of the price of all rows that rounds on some of them may cost
_FAST_GROWTH = 1.5  # ratio of the sizes of two consecutive sets of rows
_FIRST_BLOCK = 512  # rows that an interior point starts with when all rows would be too many
_AFFORDABLE_PART = 4e9  # nanoseconds that an interior point on some rows may take before dual ascent has had as many


@dataclass(frozen=True)
class InteriorStage:
    """The interior point with its price, and the fraction of the requested gap that it aims at."""

    interior: Any
    prices: Prices
    margin: float

    def enter(self, problem: Problem, state: AutoState, at: Inside) -> None:
        """Start at the given weights."""
        tol = self.prices.tol
        assert tol is not None
        fixed = np.array(at.alpha, np.float64)
        state.interior = self.interior.enter(problem, at.chosen, at.weights, fixed, width=at.width)
        state.fixed = fixed
        # The sequence of targets is the same for every tol, so that a smaller tol ends at the same point or a later
        # one. It starts at its lower end where iterations cost almost nothing.
        aim = min(tol, _CHEAP_GAP) if self.prices.inside(problem, len(at.chosen)) < _CHEAP else tol
        state.target = self.margin * 10.0 ** math.floor(math.log10(max(aim, _LAST_TARGET)))
        state.gaps.clear()

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, an iteration counting as one."""
        return state.steps_before

    def visits(self, state: AutoState) -> int:
        """Rows visited so far; an iteration visits every chosen row."""
        return state.visits_before

    def advance(self, problem: Problem, state: AutoState, visits: int) -> None:
        """Iterate up to about this number of visits."""
        interior = _of(state)
        n, before = max(1, len(interior.chosen)), interior.iterations
        n_iterations = max(1, (visits - self.visits(state)) // n)
        self.interior.advance(problem, interior, n_iterations, state.target)
        done = max(1, interior.iterations - before)
        state.visits_before += done * n
        state.steps_before += done
        state.spent += self.prices.inside(problem, len(interior.chosen)) * done / INTERIOR_ITERATIONS

    def is_ready(self, state: AutoState) -> bool:
        """Whether it has reached its target or cannot get closer."""
        interior = _of(state)
        return bool(interior.stalled or interior.relative_gap <= state.target)

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """After a few iterations, or at once if it is ready."""
        if self.is_ready(state):
            return self.visits(state) + 1
        interior, every = _of(state), _LOOKS[state.best is not None]
        return self.visits(state) + int(every - interior.iterations % every) * len(interior.chosen)

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """When it is ready, and now and then unless its own gap is far too large."""
        if self.is_ready(state):
            return True
        is_hopeless = tol is not None and _of(state).relative_gap > _HOPELESS * tol
        return is_now_and_then(problem, epoch, 1) and not is_hopeless

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> tuple[Review, Next | None]:
        """Review the better of its dual point and the one on the bounds; then add rows or iterations."""
        interior = _of(state)
        weights = interior.best_weights.copy()

        def certified(alpha: Vector) -> Review:
            return Review(certify(problem, weights, alpha), weights, alpha)

        review = certified(self.on_bounds(problem, state))
        if tol is not None and review.certificate.relative_gap <= tol:
            return review, None
        inside = certified(self.whole(problem, state))
        best = inside if inside.is_better_than(review) else review
        if tol is None:
            return best, None
        if not self.is_ready(state):  # the second one has the exact support vectors
            return best if best.certificate.relative_gap > tol else review, None
        if best.certificate.relative_gap > tol:
            return best, self._go_on(problem, state)
        is_far_below = state.target <= _FAR_BELOW * min(tol, _CHEAP_GAP)
        if interior.stalled or is_far_below or not self.is_worth_bounds(problem, interior):
            return best, None
        # A dual point that is good enough but not on its bounds is worth a few more iterations.
        state.target *= 0.1
        return review, None

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """Certify the best point so far as it is."""
        weights, alpha = self.point(problem, state)
        return Review(certify(problem, weights, alpha), weights, alpha)

    def point(self, problem: Problem, state: AutoState) -> tuple[Vector, Floats]:
        """Return the best weights and the dual point of all rows."""
        return _of(state).best_weights.copy(), self.whole(problem, state)

    def whole(self, problem: Problem, state: AutoState) -> Vector:
        """Return the dual point of all rows that extends the best one of the interior point."""
        return _with_fixed(state, _of(state).best_alpha)

    def is_worth_bounds(self, problem: Problem, interior: InteriorState) -> bool:
        """Whether a dual point on its bounds is worth further iterations."""
        return True

    def on_bounds(self, problem: Problem, state: AutoState) -> Vector:
        """Move every row to the bound that its multiplier indicates, and let the other rows compensate.

        In the limit, either a_i or its multiplier u_i is 0. While a_i/cost_i < u_i, row i is treated as a row at 0;
        rows at their cost are recognized in the same way.
        """
        interior = _of(state)
        cost, bound = problem.cost[interior.chosen], problem.bound[interior.chosen]
        alpha = interior.alpha.copy()
        alpha[interior.lower * cost > interior.alpha] = 0.0
        at_bound = interior.upper * cost > interior.slack
        alpha[at_bound] = bound[at_bound]
        whole = _with_fixed(state, alpha)
        free = np.flatnonzero((whole > 0.0) & (whole < problem.bound)).astype(np.uint32)
        weights = np.empty(problem.weights_shape)
        _core.dual_sums(problem.native, whole, weights)
        _core.face_advance(problem.native, free, weights, whole, most_products(problem, len(free)))
        return whole

    def _go_on(self, problem: Problem, state: AutoState) -> Next | None:
        """Add the rows whose fixed dual variables are wrong; if all rows are in, lower the target or give up."""
        interior, everyone = _of(state), all_rows(problem)
        if len(interior.chosen) == len(everyone):
            state.is_exhausted = interior.stalled or state.target <= _LAST_TARGET
            state.target *= 0.1
            return None
        alpha, weights = self.whole(problem, state), interior.best_weights
        chosen = self._corrected(problem, state, weights, alpha)
        price, price_of_all = self.prices.inside(problem, len(chosen)), self.prices.inside(problem, len(everyone))
        best = alpha if state.best is None else state.best.alpha
        if price == np.inf:
            return Ascent(best, is_last=True)
        ascended = self.visits(state) / problem.rows.n_rows * self.prices.epoch(problem)
        if price_of_all == np.inf and price > max(_AFFORDABLE_PART, ascended):
            return Ascent(best, refused=price)  # growing sets may never end where all rows are too many
        return Inside(chosen, weights, alpha)

    def _corrected(self, problem: Problem, state: AutoState, weights: Vector, alpha: Vector) -> npt.NDArray[np.uint32]:
        """Return the next set of rows, or all where that is cheaper; ``alpha`` becomes 0 in those that leave."""
        interior, everyone = _of(state), all_rows(problem)
        r = 1.0 - problem.sign * (problem.rows.scores_of(weights) + problem.offset)
        wrong = problem.cost * problem.loss.value(r) + problem.damping * alpha**2 / 2.0 - alpha * r
        wrong[interior.chosen] = 0.0
        taken_in = _heaviest(problem, wrong, max(len(interior.chosen), _FIRST_BLOCK))
        is_far = (interior.lower > _FAR) & (interior.alpha < AT_BOUND * problem.cost[interior.chosen])
        alpha[interior.chosen[is_far]] = 0.0
        n_before, chosen = len(interior.chosen), np.union1d(interior.chosen[~is_far], taken_in).astype(np.uint32)
        # A set that still grows fast is not the last one, so its price counts before it is paid.
        expected = self.prices.inside(problem, len(chosen)) if len(chosen) > _FAST_GROWTH * n_before else 0.0
        is_slow = state.spent + expected > _PATIENCE * self.prices.inside(problem, len(everyone))
        return everyone if is_slow or len(taken_in) == 0 or 2 * len(chosen) > len(everyone) else chosen


def _of(state: AutoState) -> Any:
    assert state.interior is not None
    return state.interior


def _with_fixed(state: AutoState, alpha: Vector) -> Vector:
    """Extend a dual point of the chosen rows to all rows."""
    assert state.fixed is not None
    whole = state.fixed.copy()
    whole[_of(state).chosen] = alpha
    return np.asarray(whole, np.float64)


def _heaviest(problem: Problem, weight: Vector, most: int) -> npt.NDArray[np.uint32]:
    """Rows with the largest weights, among those with a positive cost."""
    weight = np.where(problem.cost > 0.0, weight, -np.inf)
    chosen = np.argpartition(-weight, most)[:most] if most < len(weight) else np.arange(len(weight))
    return np.sort(chosen[weight[chosen] > 0.0]).astype(np.uint32)
