"""An unregularized intercept: the textbook SVM, by the proximal point method.

    P(w, b) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_i (<w, x_i> + offset_i + b))

Its dual is that of the regularized problem, with sum_i alpha_i sign_i = 0. Around a center c,

    min_{w, b}  P(w, b) + lam/2 ((b - c) / bias)^2

is the regularized problem of `Problem`: (b - c) / bias is the weight of the constant column, and c an offset. At its
solution (w, b), g(b) = min_w P(w, b) has the slope lam (c - b) / bias^2, and with b as the next center the method
converges from any start (Rockafellar: Monotone operators and the proximal point algorithm. SIAM J. Control 14, 1976).
Two slopes predict where the slope is 0. The result is certified on the joint problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.certificate import balanced, best_intercept, certify_around, certify_free
from pegasos.problem import Floats, Problem, inner
from pegasos.solvers.driver import Choosy, EndsAnywhere, ExhaustedError, Review, Solver

_NEAR = 0.01  # relative gap of a dual point that is worth starting from
_FIRST_TOL = 0.1  # relative gap of the first stage
_TIGHTER = 0.2  # factor on the relative gap from one stage to the next
_LEAST_PART = 0.3  # fraction of the requested gap: no stage needs less
_WORTHWHILE = 0.99  # fraction of the gap that a stage may leave to count as progress
# this many stages without progress end the run where the gap is this small: what is left of it is rounding
_MOST_IDLE, _NEARLY_EXACT = 50, 1e-6
_FARTHEST = 50.0  # largest extrapolation, in multiples of the method's own step


class Ascent(Solver, Protocol):
    """A solver that can start at any dual point."""

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> Any:
        """Return the state at a dual point of these rows, brought within its bounds."""


@dataclass
class FreeState:
    """A stage: the state of a solver on the problem around a center."""

    inner: Any
    problem: Problem
    seed: int
    intercept: float  # the center
    tol: float = _FIRST_TOL
    last: tuple[float, float] | None = None  # intercept and slope at the end of the last stage
    n_stages: int = 0
    best: Review | None = None  # best of all stages
    is_exhausted: bool = False  # whether no step changes anything in this stage any more
    gap_before: float = np.inf  # relative gap of `best` after the last progress
    n_idle: int = 0  # stages since then, of those that were as exact as they could be
    visits_before: int = 0
    steps_before: int = 0


@dataclass(frozen=True)
class FreeIntercept:
    """Settings: the solver of each stage, and the relative gap to reach."""

    ascent: Ascent
    tol: float | None = 1e-3
    _has_weights: ClassVar[bool] = True  # whether the weights of a stage are those of the model

    def refuses(self, problem: Problem) -> str | None:
        """Reject what the solver of the stages rejects."""
        return self.ascent.refuses(problem) if isinstance(self.ascent, Choosy) else None

    def start(self, problem: Problem, seed: int) -> FreeState:
        """Start at the zero dual point, with its best intercept."""
        return self.enter(problem, np.zeros(problem.rows.n_rows), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> FreeState:
        """Start at a dual point of these rows, where it is near the optimum: elsewhere its intercept misleads."""
        certificate, _, intercept = certify_free(problem, alpha)
        if alpha.any() and not certificate.relative_gap <= _NEAR:
            return self.start(problem, seed)
        around = _around(problem, intercept)
        return FreeState(self.ascent.enter(around, balanced(problem, alpha), seed), around, seed, intercept)

    def steps(self, state: FreeState) -> int:
        """Number of steps so far, in all stages."""
        return state.steps_before + self.ascent.steps(state.inner)

    def visits(self, state: FreeState) -> int:
        """Number of rows visited so far, in all stages."""
        return state.visits_before + self.ascent.visits(state.inner)

    def advance_to(self, problem: Problem, state: FreeState, visits: int) -> None:
        """Continue with the stage."""
        if state.n_idle >= _MOST_IDLE:
            raise ExhaustedError
        try:
            self.ascent.advance_to(state.problem, state.inner, visits - state.visits_before)
        except ExhaustedError:
            if state.is_exhausted:
                raise
            state.is_exhausted = True  # the stage has ended, but another center may still help
            self.review(problem, state, self.tol)

    def next_look(self, problem: Problem, state: FreeState) -> int:
        """Return the next look of the stage's solver."""
        return state.visits_before + self.ascent.next_look(state.problem, state.inner)

    def review_due(self, problem: Problem, state: FreeState, epoch: int | None, tol: float | None) -> bool:
        """Review when the stage may have ended."""
        return state.is_exhausted or self.ascent.review_due(state.problem, state.inner, epoch, state.tol)

    def review(self, problem: Problem, state: FreeState, tol: float | None) -> Review:
        """Certify the joint problem; if the stage has reached its gap, start the next one."""
        of_stage = self.ascent.review(state.problem, state.inner, state.tol)
        review = self._of_stage(problem, state, of_stage, tol)
        is_over = state.is_exhausted or of_stage.certificate.relative_gap <= state.tol
        if is_over and (tol is None or review.certificate.relative_gap > tol):
            self._next_stage(problem, state, of_stage, tol)
        return review

    def last_review(self, problem: Problem, state: FreeState) -> Review:
        """Return the better of the point reached and the best one of all stages, without starting another."""
        if isinstance(self.ascent, EndsAnywhere):
            of_stage = self.ascent.last_review(state.problem, state.inner)
        else:
            of_stage = self.ascent.review(state.problem, state.inner, state.tol)
        return self._of_stage(problem, state, of_stage, self.tol)

    def _of_stage(self, problem: Problem, state: FreeState, of_stage: Review, tol: float | None) -> Review:
        """Certify the stage's point on the joint problem; return a better one of another stage if there is one."""
        alpha = balanced(problem, of_stage.alpha)
        certificate, weights, intercept = certify_free(problem, alpha)
        review = Review(certificate, weights, alpha, intercept)
        if tol is not None and certificate.relative_gap > tol and self._has_weights:
            own = self._with_own_weights(problem, of_stage.weights, alpha)
            review = own if own.is_better_than(review) else review
        if tol is not None and state.best is not None and state.best.is_better_than(review):
            review = state.best  # a stage may start far from where the last one ended
        state.best = review
        return review

    def _with_own_weights(
        self, problem: Problem, weights: npt.NDArray[np.float64], alpha: npt.NDArray[np.float64]
    ) -> Review:
        """Certify the weights of the stage, which may be more precise than those of its dual point."""
        weights = problem.rows.without_constant(weights)
        intercept = best_intercept(problem, weights)
        return Review(certify_around(problem, weights, alpha, intercept), weights, alpha, intercept)

    def point(self, problem: Problem, state: FreeState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights of the stage and their dual point."""
        return self.ascent.point(state.problem, state.inner)

    def intercept(self, problem: Problem, state: FreeState) -> float:
        """Return the intercept of the stage."""
        return state.intercept + _step(problem, self.point(problem, state)[1])

    def _next_stage(self, problem: Problem, state: FreeState, of_stage: Review, tol: float | None) -> None:
        bias, alpha = problem.rows.bias, of_stage.alpha
        # With huge features, the step of a dual point is mostly rounding; that of the weights need not be.
        own_step = problem.rows.constant_score(of_stage.weights) if self._has_weights else _step(problem, alpha)
        slope = -own_step * problem.lam / bias**2
        here = state.intercept + own_step  # the intercept at which g has this slope
        step = secant_step(state.last, (here, slope), own_step)
        least = 1e-12 if tol is None else _LEAST_PART * tol
        if state.is_exhausted or state.tol <= least:
            self._note_progress(state)
        state.last = here, slope
        state.steps_before += self.ascent.steps(state.inner)
        state.visits_before += self.ascent.visits(state.inner)
        state.intercept = here + step
        state.problem = _around(problem, state.intercept)
        state.inner = self.ascent.enter(state.problem, alpha, state.seed + state.n_stages)
        state.n_stages += 1
        state.tol = max(_TIGHTER * state.tol, least)

    @staticmethod
    def _note_progress(state: FreeState) -> None:
        """End the run when the last stages, as exact as they can be, have hardly changed the gap."""
        gap = np.inf if state.best is None else state.best.certificate.relative_gap
        if gap < _WORTHWHILE * state.gap_before:
            state.gap_before, state.n_idle, state.is_exhausted = gap, 0, False
        elif gap <= _NEARLY_EXACT:
            state.n_idle += 1


def secant_step(last: tuple[float, float] | None, here: tuple[float, float], own_step: float) -> float:
    """Distance to the zero of the line through two slopes; 0 if the line is not informative."""
    if last is None or last[0] == here[0]:
        return 0.0
    curvature = (here[1] - last[1]) / (here[0] - last[0])
    if not curvature > 0.0:
        return 0.0
    step = -here[1] / curvature
    return float(np.clip(step, -abs(_FARTHEST * own_step), abs(_FARTHEST * own_step)))


def _step(problem: Problem, alpha: Floats) -> float:
    """What the constant column adds to the center."""
    total = inner(problem.sign.astype(np.float64), np.clip(alpha, 0.0, problem.bound))
    return total * problem.rows.bias**2 / (problem.lam * problem.total)


def natural_bias(squared_norms: Floats) -> float:
    """Constant column about as long as a usual row, so that it neither dominates the rows nor lags behind."""
    quarters = 0.25 * squared_norms  # the sum of two of them is within range
    with np.errstate(over="ignore"):
        bias = 2.0 * float(np.sqrt(np.median(quarters) or quarters.mean()))
    return bias if 0.0 < bias < np.inf else 1.0


def _around(problem: Problem, centre: float) -> Problem:
    return replace(problem, offset=problem.offset + centre)
