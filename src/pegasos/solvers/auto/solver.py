"""The solver: it begins with the cheapest stage, runs one at a time, and keeps the best point."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate, certify, certify_dual
from pegasos.problem import Floats, Problem
from pegasos.solvers.auto.ascent_stage import AscentStage
from pegasos.solvers.auto.faces import Faces
from pegasos.solvers.auto.interior_stage import InteriorStage
from pegasos.solvers.auto.newton_stage import NewtonStage
from pegasos.solvers.auto.pegasos_stage import PegasosStage
from pegasos.solvers.auto.prices import Prices
from pegasos.solvers.auto.stage import WARM_WIDTH, AutoState, Inside, Next, Stage, all_rows
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.dual_ascent import DualAscent, first_gap
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.newton import Newton
from pegasos.solvers.pegasos import Pegasos

_GAP_OF_ONE_EPOCH = 0.01  # relative gap at which Pegasos starts when no tol is given
_WARM_GAP = 3e-3  # relative gap above which a second-order method gains nothing from a starting point
# a relative gap this small that does not fall for this many epochs of dual ascent is due to rounding
_NEARLY_EXACT, _FUTILE = 1e-6, 512


@dataclass(frozen=True)
class Auto:
    """The solvers to choose from, and the relative gap to reach."""

    pegasos: Pegasos
    ascent: DualAscent
    tol: float | None = 1e-3
    interior: InteriorPoint = field(default_factory=InteriorPoint)
    interior_margin: float = 0.3  # fraction of the requested gap that an interior point aims at
    ends_at_once: bool = True  # whether a good enough starting point ends the run; a search stage sets its own gap

    @cached_property
    def prices(self) -> Prices:
        """Estimates of the work of each solver."""
        return Prices(self.tol, self.interior)

    @cached_property
    def _with_pegasos(self) -> Stage:
        return PegasosStage(self.pegasos, self.ascent, self.tol)

    @cached_property
    def _climbing(self) -> AscentStage:
        return AscentStage(self.ascent, self.prices, Faces())

    @cached_property
    def _inside(self) -> InteriorStage:
        return InteriorStage(self.interior, self.prices, self.interior_margin)

    def _stage(self, state: AutoState) -> Stage:
        """Return the current stage."""
        if state.newton is not None:
            return NewtonStage(self.prices)
        if state.interior is not None:
            return self._inside
        return self._climbing if state.pegasos is None else self._with_pegasos

    def start(self, problem: Problem, seed: int) -> AutoState:
        """Start Pegasos if one epoch is expected to reach the gap, else the solver with the least expected work."""
        gap = first_gap(problem)
        if gap <= (_GAP_OF_ONE_EPOCH if self.tol is None else self.tol) and problem.cap < np.inf:
            return AutoState(seed, pegasos=self.pegasos.start(problem, seed))
        if self.prices.begins_inside(problem, gap):
            state = AutoState(seed)
            self._inside.enter(problem, state, _in_the_middle(problem))
            return state
        if self.prices.begins_with_newton(problem, gap):
            return AutoState(seed, newton=Newton(self.ascent.dtype).start(problem))
        return AutoState(seed, dual=self.ascent.start(problem, seed))

    def begins_inside(self, problem: Problem) -> bool:
        """Whether an interior point on all rows is the first choice."""
        return self.prices.begins_inside(problem, first_gap(problem))

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> AutoState:
        """Start at a dual point of these rows, with an interior point or dual ascent."""
        return self._entered(problem, alpha, seed, *certify_dual(problem, alpha))

    def enter_from_afar(self, problem: Problem, alpha: Floats, seed: int) -> AutoState:
        """Start at the dual point of other rows, or at zero.

        Far from the optimum only dual ascent gains from it: an interior point starts better in the middle, and
        Newton's method, like a single epoch of Pegasos, at zero.
        """
        certificate, weights = certify_dual(problem, alpha)
        if certificate.relative_gap <= _WARM_GAP:
            return self._entered(problem, alpha, seed, certificate, weights)
        state = self.start(problem, seed)
        return state if state.dual is None else AutoState(seed, dual=self.ascent.enter(problem, alpha, seed))

    def _entered(
        self,
        problem: Problem,
        alpha: Floats,
        seed: int,
        certificate: Certificate,
        weights: npt.NDArray[np.float64],
    ) -> AutoState:
        best = Review(certificate, weights, problem.within_bounds(alpha))
        if self._is_settled(best):
            return AutoState(seed, dual=self.ascent.enter(problem, alpha, seed), best=best)
        if not self.begins_inside(problem):
            return AutoState(seed, dual=self.ascent.enter(problem, alpha, seed))
        state = AutoState(seed, best=best)
        if certificate.relative_gap <= _WARM_GAP:
            self._inside.enter(problem, state, Inside(all_rows(problem), weights, best.alpha, width=WARM_WIDTH))
        else:  # the weights 0 are better centered
            self._inside.enter(problem, state, _in_the_middle(problem))
        return state

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, by all solvers."""
        return self._stage(state).steps(state)

    def visits(self, state: AutoState) -> int:
        """Rows visited so far, by all solvers."""
        return self._stage(state).visits(state)

    def advance_to(self, problem: Problem, state: AutoState, visits: int) -> None:
        """Continue with the current solver; return early when its point should be reviewed."""
        while (done := self.visits(state)) < visits:
            if state.is_exhausted:
                raise ExhaustedError
            stage = self._stage(state)
            following = stage.advance(problem, state, visits)
            if following is not None:
                self.hand_over(problem, state, following)
            elif stage.is_ready(state) or self.visits(state) < done:
                return

    def hand_over(self, problem: Problem, state: AutoState, following: Next) -> None:
        """End the current stage, and begin the one that follows."""
        steps, visits = self.steps(state), self.visits(state)
        if isinstance(following, Inside):
            self._inside.enter(problem, state, following)
            if state.dual is not None:
                state.best = self.ascent.review(problem, state.dual, self.tol)
            state.dual = None
        else:
            self._climbing.resume(problem, state, following.alpha, state.seed)
            state.interior = None
            state.refused = following.refused or state.refused
            state.is_polishing |= following.is_last
            state.gaps.clear()
        state.pegasos = state.newton = None
        state.steps_before, state.visits_before = steps, visits

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """Return the next look of the current solver; while dual ascent is on trial, the end of an epoch."""
        return self.visits(state) + 1 if self._is_settled(state.best) else self._stage(state).next_look(problem, state)

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """Whether the current solver wants a review."""
        return self._is_settled(state.best) or self._stage(state).review_due(problem, state, epoch, tol)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> Review:
        """Certify the point reached; if it is not good enough, choose the next solver."""
        stage = self._stage(state)
        review, following = stage.review(problem, state, tol)
        if following is not None:
            self.hand_over(problem, state, following)
        if not isinstance(stage, AscentStage | InteriorStage):
            return review
        best = self._best(state, review)
        epochs = (self.visits(state) - state.best_visits) / problem.rows.n_rows
        is_nearly_exact = tol is not None and tol < best.certificate.relative_gap < _NEARLY_EXACT
        if isinstance(stage, AscentStage) and is_nearly_exact and epochs > _FUTILE:
            state.is_exhausted = True
        return best

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """Return the better of the point reached and the best one so far, without choosing another solver."""
        review = self._stage(state).last_review(problem, state)
        return review if state.best is None else _best_of_both(problem, review, state.best)

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point of the current solver."""
        return self._stage(state).point(problem, state)

    def _is_settled(self, best: Review | None) -> bool:
        """Whether the best point so far ends the run."""
        if self.tol is None or best is None or not self.ends_at_once:
            return False
        return best.certificate.relative_gap <= self.tol

    def _best(self, state: AutoState, review: Review) -> Review:
        """Return the better of this review and the best so far."""
        if state.best is None or not state.best.is_better_than(review):
            state.best, state.best_visits = review, self.visits(state)
        return state.best


def _in_the_middle(problem: Problem) -> Inside:
    """All rows, from the weights 0."""
    return Inside(all_rows(problem), np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape))


def _best_of_both(problem: Problem, one: Review, other: Review) -> Review:
    """Combine the weights of the lower primal with the dual point of the higher bound: any pair can be certified."""
    lower = min(one, other, key=lambda review: review.certificate.primal)
    higher = max(one, other, key=lambda review: review.certificate.dual)
    if lower is higher:
        return lower
    return Review(certify(problem, lower.weights, higher.alpha), lower.weights, higher.alpha)
