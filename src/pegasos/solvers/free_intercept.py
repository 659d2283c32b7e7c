"""An intercept that is not regularized: the textbook SVM, by the proximal point method.

    P(w, b) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_i (<w, x_i> + offset_i + b))

Its dual is that of the regularized problem, with sum_i alpha_i sign_i = 0. Around a centre c,

    min_{w, b}  P(w, b) + lam/2 ((b - c) / bias)^2

is the regularized problem of `Problem`: (b - c) / bias is the weight of the constant column, and c an offset. Its
solution (w, b) is where g(b) = min_w P(w, b) has the slope lam (c - b) / bias^2, and with b as the next centre the
method converges from any place (Rockafellar: Monotone operators and the proximal point algorithm. SIAM J. Control
14, 1976). Two slopes tell where the next one would be 0. What is returned is certified on the joint problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.certificate import balanced, best_intercept, certify_around, certify_free
from pegasos.problem import Floats, Problem, inner
from pegasos.solvers.driver import Choosy, EndsAnywhere, ExhaustedError, Review, Solver

_first_tol = 0.1  # the relative gap of the first stage
_tighter = 0.2  # how much smaller it is in the next
_least_part = 0.3  # of the gap to reach: no stage needs less
_rounding = 1e-12  # of the intercept: such a step is none
_farthest = 50.0  # times the step of the method itself that slopes may extrapolate it


class Ascent(Solver, Protocol):
    """A solver that can begin anywhere."""

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> Any:
        """Return the state at a dual point of these rows, brought within its bounds."""


@dataclass
class FreeState:
    """A stage: the state of a solver at the problem around a centre."""

    inner: Any
    problem: Problem
    seed: int
    intercept: float  # the centre
    tol: float = _first_tol
    last: tuple[float, float] | None = None  # intercept and slope at the end of the last stage
    n_stages: int = 0
    best: Review | None = None  # of all stages
    is_exhausted: bool = False  # no step changes anything in this stage any more
    visits_before: int = 0
    steps_before: int = 0


@dataclass(frozen=True)
class FreeIntercept:
    """The solver of each stage, and the relative gap to reach."""

    ascent: Ascent
    tol: float | None = 1e-3
    _has_weights: ClassVar[bool] = True  # whether the weights of a stage are those of the model

    def refuses(self, problem: Problem) -> str | None:
        """What the solver of the stages cannot take."""
        return self.ascent.refuses(problem) if isinstance(self.ascent, Choosy) else None

    def start(self, problem: Problem, seed: int) -> FreeState:
        """The zero dual point, and the intercept that is best for it."""
        return self.enter(problem, np.zeros(problem.rows.n_rows), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> FreeState:
        """A dual point of these rows."""
        _, _, intercept = certify_free(problem, alpha)
        around = _around(problem, intercept)
        return FreeState(self.ascent.enter(around, balanced(problem, alpha), seed), around, seed, intercept)

    def steps(self, state: FreeState) -> int:
        """Steps taken so far, of all stages."""
        return state.steps_before + self.ascent.steps(state.inner)

    def visits(self, state: FreeState) -> int:
        """Rows visited so far, in all stages."""
        return state.visits_before + self.ascent.visits(state.inner)

    def advance_to(self, problem: Problem, state: FreeState, visits: int) -> None:
        """Go on with the stage."""
        try:
            self.ascent.advance_to(state.problem, state.inner, visits - state.visits_before)
        except ExhaustedError:
            if state.is_exhausted:
                raise
            state.is_exhausted = True  # the stage has ended; another centre may still help

    def next_look(self, problem: Problem, state: FreeState) -> int:
        """As the solver of the stage sees it."""
        return state.visits_before + self.ascent.next_look(state.problem, state.inner)

    def review_due(self, problem: Problem, state: FreeState, epoch: int | None, tol: float | None) -> bool:
        """When the stage may be at its end."""
        return state.is_exhausted or self.ascent.review_due(state.problem, state.inner, epoch, state.tol)

    def review(self, problem: Problem, state: FreeState, tol: float | None) -> Review:
        """The certificate of the joint problem; a stage that has reached its gap makes room for the next."""
        of_stage = self.ascent.review(state.problem, state.inner, state.tol)
        review = self._of_stage(problem, state, of_stage, tol)
        is_over = state.is_exhausted or of_stage.certificate.relative_gap <= state.tol
        if is_over and (tol is None or review.certificate.relative_gap > tol):
            self._next_stage(problem, state, of_stage.alpha, tol)
        return review

    def last_review(self, problem: Problem, state: FreeState) -> Review:
        """The better of the point reached and the best one of all stages; none of them begins."""
        if isinstance(self.ascent, EndsAnywhere):
            of_stage = self.ascent.last_review(state.problem, state.inner)
        else:
            of_stage = self.ascent.review(state.problem, state.inner, state.tol)
        return self._of_stage(problem, state, of_stage, self.tol)

    def _of_stage(self, problem: Problem, state: FreeState, of_stage: Review, tol: float | None) -> Review:
        """The joint problem's certificate of the point that a stage has reached, or a better one of another stage."""
        alpha = balanced(problem, of_stage.alpha)
        certificate, weights, intercept = certify_free(problem, alpha)
        review = Review(certificate, weights, alpha, intercept)
        if tol is not None and certificate.relative_gap > tol and self._has_weights:
            own = self._with_own_weights(problem, of_stage.weights, alpha)
            review = own if own.is_better_than(review) else review
        if tol is not None and state.best is not None and state.best.is_better_than(review):
            review = state.best  # a stage may begin far from where the last one ended
        state.best = review
        return review

    def _with_own_weights(
        self, problem: Problem, weights: npt.NDArray[np.float64], alpha: npt.NDArray[np.float64]
    ) -> Review:
        """The weights of the stage, which may have more digits than those of its dual point."""
        weights = problem.rows.without_constant(weights)
        intercept = best_intercept(problem, weights)
        return Review(certify_around(problem, weights, alpha, intercept), weights, alpha, intercept)

    def point(self, problem: Problem, state: FreeState) -> tuple[npt.NDArray[np.float64], Floats]:
        """The weights of the stage and their dual point."""
        return self.ascent.point(state.problem, state.inner)

    def intercept(self, problem: Problem, state: FreeState) -> float:
        """The intercept of the stage."""
        return state.intercept + _step(problem, self.point(problem, state)[1])

    def _next_stage(self, problem: Problem, state: FreeState, alpha: Floats, tol: float | None) -> None:
        bias = problem.rows.bias
        own_step = _step(problem, alpha)
        slope = -own_step * problem.lam / bias**2
        here = state.intercept + own_step  # where g has this slope
        step = secant_step(state.last, (here, slope), own_step)
        if state.is_exhausted and abs(step + own_step) > _rounding * (abs(here) + bias):
            state.is_exhausted = False
        state.last = here, slope
        state.steps_before += self.ascent.steps(state.inner)
        state.visits_before += self.ascent.visits(state.inner)
        state.intercept = here + step
        state.problem = _around(problem, state.intercept)
        state.inner = self.ascent.enter(state.problem, alpha, state.seed + state.n_stages)
        state.n_stages += 1
        least = 1e-12 if tol is None else _least_part * tol
        state.tol = max(_tighter * state.tol, least)


def secant_step(last: tuple[float, float] | None, here: tuple[float, float], own_step: float) -> float:
    """How far to the zero of the line through two slopes; nowhere if the line does not tell."""
    if last is None or last[0] == here[0]:
        return 0.0
    curvature = (here[1] - last[1]) / (here[0] - last[0])
    if not curvature > 0.0:
        return 0.0
    step = -here[1] / curvature
    return float(np.clip(step, -abs(_farthest * own_step), abs(_farthest * own_step)))


def _step(problem: Problem, alpha: Floats) -> float:
    """What the constant column adds to the centre."""
    total = inner(problem.sign.astype(np.float64), np.clip(alpha, 0.0, problem.bound))
    return total * problem.rows.bias**2 / (problem.lam * problem.total)


def natural_bias(squared_norms: Floats) -> float:
    """A constant column about as long as a usual row: it neither outweighs them nor lags behind."""
    bias = float(np.sqrt(np.median(squared_norms) or squared_norms.mean()))
    return bias if 0.0 < bias < np.inf else 1.0


def _around(problem: Problem, centre: float) -> Problem:
    return replace(problem, offset=problem.offset + centre)
