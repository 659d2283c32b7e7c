"""Dual ascent, until its rate shows that an interior point would need less work."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pegasos.certificate import certify_dual
from pegasos.problem import Floats, Problem
from pegasos.solvers.auto.faces import Faces
from pegasos.solvers.auto.prices import AFFORDABLE, Prices
from pegasos.solvers.auto.stage import WARM_WIDTH, AutoState, Inside, all_rows
from pegasos.solvers.driver import Review
from pegasos.solvers.dual_ascent import Climbing, DualAscent, end_of_epochs, epochs_per_look

_USUAL_GAP = 1e-6  # relative gap that remaining work is estimated for, whatever the tol
_STUCK_LOOKS = 8  # reviews without a smaller gap before single precision is considered the cause
_TRIAL = 0.3  # fraction of the price of an interior point that dual ascent may use before its rate decides


@dataclass(frozen=True)
class AscentStage:
    """Dual ascent, the prices, and the conjugate gradients that take turns with it, if the problem has any."""

    ascent: DualAscent
    prices: Prices
    faces: Faces | None

    def resume(self, problem: Problem, state: AutoState, alpha: Floats, random: int) -> None:
        """Continue in double from this point."""
        state.dual = replace(self.ascent, dtype=np.float64).enter(problem, alpha, random)

    def steps(self, state: AutoState) -> int:
        """Steps taken so far."""
        return state.steps_before + self.ascent.steps(_of(state))

    def visits(self, state: AutoState) -> int:
        """Rows visited so far."""
        return state.visits_before + self.ascent.visits(_of(state))

    def advance(self, problem: Problem, state: AutoState, visits: int) -> Inside | None:
        """Sweep up to the end of a stretch, and decide there how to continue."""
        end = end_of_epochs(problem, self.visits(state))
        goal = min(visits, end)
        self.ascent.advance_to(problem, _of(state), goal - state.visits_before)
        state.is_due = self.visits(state) < goal
        return self._consider(problem, state) if self.visits(state) >= end else None

    def is_ready(self, state: AutoState) -> bool:
        """Whether the loop has ended early, because its estimate of the gap is small enough."""
        return state.is_due

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """Return the end of a sweep or of a stretch."""
        of_ascent = state.visits_before + self.ascent.next_look(problem, _of(state))
        return min(end_of_epochs(problem, self.visits(state)), of_ascent)

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """Whether dual ascent is due for a review."""
        return self.ascent.review_due(problem, _of(state), epoch, tol)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> tuple[Review, Inside | None]:
        """Switch to double where the single-precision estimate was wrong; in double, change solvers."""
        dual = _of(state)
        claimed = self.ascent.estimate(problem, dual)
        review = self.ascent.review(problem, dual, tol)
        if tol is None or not claimed <= tol < review.certificate.relative_gap:
            return review, None
        if dual.alpha.dtype == np.float64:
            return review, self._end(problem, state, review)
        self._go_on_in_double(problem, state)
        return review, None

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """Certify the dual point reached."""
        alpha = _of(state).alpha
        certificate, weights = certify_dual(problem, alpha)
        return Review(certificate, weights, alpha)

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point."""
        return self.ascent.point(problem, _of(state))

    def _end(self, problem: Problem, state: AutoState, review: Review) -> Inside | None:
        """Where the precision of w(alpha) is the limit, switch to an interior point; after that, nothing is better."""
        if not review.certificate.rounding > 0.5 * review.certificate.gap:
            return None
        everyone = all_rows(problem)
        if state.is_polishing or not self.prices.inside(problem, len(everyone)) < np.inf:
            state.is_exhausted = True
            return None
        return Inside(everyone, *self.point(problem, state), width=WARM_WIDTH)

    def _go_on_in_double(self, problem: Problem, state: AutoState) -> None:
        dual = _of(state)
        state.visits_before, state.steps_before = self.visits(state), self.steps(state)
        self.resume(problem, state, dual.alpha, dual.random)

    def _consider(self, problem: Problem, state: AutoState) -> Inside | None:
        """At the end of a stretch, change solvers if that needs less work than the remaining epochs."""
        estimate = self.ascent.estimate(problem, _of(state))
        if self.prices.tol is None or state.is_polishing or not estimate > self.prices.tol:
            return None
        state.gaps.append(estimate)
        to_go = epochs_per_look(problem) * _looks_to_go(state.gaps, _USUAL_GAP)
        if to_go == math.inf and len(state.gaps) >= _STUCK_LOOKS and _of(state).alpha.dtype != np.float64:
            self._go_on_in_double(problem, state)
            state.gaps.clear()
            return None
        epoch, price = self.prices.epoch(problem), self.prices.inside(problem, problem.rows.n_rows)
        spent = self.visits(state) / problem.rows.n_rows * epoch
        has_tried = spent > max(_TRIAL * min(price, AFFORDABLE), state.refused)
        if has_tried and to_go * epoch > self.prices.reprieve(price, spent, len(state.gaps)):
            weights, alpha = self.point(problem, state)
            chosen, fixed = self.prices.first_rows(problem, alpha)
            if to_go * epoch > self.prices.inside(problem, len(chosen)):
                return Inside(chosen, weights, fixed)
        if self.faces is not None and self.faces.is_turn(problem, state, to_go, price, epoch=epoch):
            self._move_on_face(problem, state, self.faces)
        return None

    def _move_on_face(self, problem: Problem, state: AutoState, faces: Faces) -> None:
        """Move by conjugate gradients, and continue from there in double."""
        moved = faces.move(problem, state)
        if moved is None:
            return
        alpha, visits, products = moved
        random = _of(state).random
        state.visits_before, state.steps_before = self.visits(state) + visits, self.steps(state) + products
        self.resume(problem, state, alpha, random)
        state.gaps.clear()


def _of(state: AutoState) -> Climbing:
    assert state.dual is not None
    return state.dual


def _looks_to_go(gaps: list[float], tol: float) -> float:
    """How many more reviews are needed at the rate of the second half of the previous ones."""
    half = len(gaps) // 2
    if not gaps[half] > gaps[-1] > 0.0 or not tol > 0.0:
        return math.inf
    return (len(gaps) - 1 - half) * math.log(gaps[-1] / tol) / math.log(gaps[half] / gaps[-1])
