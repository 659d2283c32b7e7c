"""Newton's method on a smoothed problem, to a moderate gap; an interior point on the rows near the margin follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegasos.certificate import certify, stretched
from pegasos.problem import Floats, Problem
from pegasos.solvers.auto.prices import Prices
from pegasos.solvers.auto.stage import AT_BOUND, AutoState, Inside
from pegasos.solvers.driver import Review
from pegasos.solvers.newton import SMOOTH_RIDGE, Newton, NewtonState

_LEAST_GAP = 1e-3  # relative gap below which an interior point on the rows near the margin is faster
_MARGIN = 0.8  # Newton's method aims at this fraction of the requested gap by its own estimate
# approximate distance of a smoothed solution's residuals from the exact ones, per unit of softness
_PART_OF_SOFTNESS = 0.5


@dataclass(frozen=True)
class NewtonStage:
    """The estimates, and with them the relative gap to reach."""

    prices: Prices

    def steps(self, state: AutoState) -> int:
        """The visits: one Newton step takes about as long as this many steps of the others."""
        return self.visits(state)

    def visits(self, state: AutoState) -> int:
        """Rows visited so far."""
        return _of(state).visits

    def advance(self, problem: Problem, state: AutoState, visits: int) -> Inside | None:
        """Take one step; leave where it changes nothing."""
        newton = _of(state)
        solver = _solver(newton)
        solver.step(problem, newton, self._goal(problem, newton))
        if newton.stalled and newton.is_lost and solver.dtype != np.float64:
            # Single precision was not enough for these residuals, and the point it led to is not worth continuing from.
            state.newton = Newton(np.float64).start(problem)
            state.newton.visits = newton.visits
            return None
        return self._end(problem, newton) if newton.stalled else None

    def is_ready(self, state: AutoState) -> bool:
        """Never: `review_due` decides after each step."""
        return False

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """After the next step."""
        return self.visits(state) + 1

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """Whether all rows were in the last step and its estimate of the gap is small enough."""
        newton = _of(state)
        return newton.stride == 1 and newton.gap <= self._goal(problem, newton)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> tuple[Review, Inside | None]:
        """Certify its weights with its dual point, either moved to the bounds or scaled to its best lower bound."""
        newton = _of(state)
        _solver(newton).look_at_all(problem, newton)
        newton.reviews += 1
        weights = newton.weights
        alpha = _at_bounds(problem, newton.alpha)
        certificate = certify(problem, weights, alpha)
        if tol is not None and certificate.relative_gap <= tol:
            return Review(certificate, weights, alpha), None
        alpha = stretched(problem, newton.alpha)
        review = Review(certify(problem, weights, alpha), weights, alpha)
        if tol is None or review.certificate.relative_gap <= tol or tol >= _least_gap(problem):
            return review, None
        state.best = review
        return review, self._end(problem, newton)

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """Certify the weights with the dual point scaled to its best lower bound."""
        weights, alpha = self.point(problem, state)
        alpha = stretched(problem, alpha)
        return Review(certify(problem, weights, alpha), weights, alpha)

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point."""
        newton = _of(state)
        return newton.weights, _solver(newton).alpha_of_all(problem, newton)

    def _goal(self, problem: Problem, newton: NewtonState) -> float:
        """Gap at which a certificate is requested; it shrinks after each failed one."""
        assert self.prices.tol is not None
        return max(self.prices.tol, _least_gap(problem)) * _MARGIN * 0.5**newton.reviews

    def _end(self, problem: Problem, newton: NewtonState) -> Inside:
        """Continue inside with the rows near the margin or, if no step changes anything, with those that matter."""
        _solver(newton).look_at_all(problem, newton)
        if newton.stalled:
            chosen, fixed = self.prices.first_rows(problem, stretched(problem, newton.alpha))
            return Inside(chosen, newton.weights, fixed)
        alpha = _at_bounds(problem, newton.alpha)
        near = np.flatnonzero((alpha > 0.0) & (alpha < problem.bound)).astype(np.uint32)
        return Inside(near, newton.weights, alpha, width=_PART_OF_SOFTNESS * newton.softness)


def _of(state: AutoState) -> NewtonState:
    assert state.newton is not None
    return state.newton


def _solver(newton: NewtonState) -> Newton:
    return Newton(newton.residual.dtype)


def _least_gap(problem: Problem) -> float:
    """Gap below which other solvers take over; 0 where the loss is already smooth."""
    return _LEAST_GAP if problem.ridge < SMOOTH_RIDGE else 0.0


def _at_bounds(problem: Problem, alpha: Floats) -> npt.NDArray[np.float64]:
    """Move dual variables that are close to a bound onto it; a loss with a ridge has no such rows."""
    moved = np.array(alpha, np.float64)
    if problem.ridge > 0.0:
        return moved
    at_bound = moved >= (1.0 - AT_BOUND) * problem.bound
    moved[moved <= AT_BOUND * problem.cost] = 0.0
    moved[at_bound] = problem.bound[at_bound]
    return moved
