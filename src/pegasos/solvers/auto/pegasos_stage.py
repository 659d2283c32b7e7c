"""Pegasos, with a trial epoch of dual ascent now and then: the one that gains more continues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegasos.certificate import better_within_bounds, certify_dual
from pegasos.problem import Floats, Problem
from pegasos.solvers.auto.stage import AutoState
from pegasos.solvers.driver import Review
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos, PegasosState


@dataclass(frozen=True)
class PegasosStage:
    """Pegasos, and dual ascent on trial; the state has both while a trial lasts."""

    pegasos: Pegasos
    ascent: DualAscent
    tol: float | None

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, those of the trial included."""
        if state.dual is not None:
            return state.steps_before + self.ascent.steps(state.dual)
        return self.pegasos.steps(_of(state))

    def visits(self, state: AutoState) -> int:
        """Rows visited so far, those of the trial included."""
        if state.dual is not None:
            return state.visits_before + self.ascent.visits(state.dual)
        return self.pegasos.visits(_of(state))

    def advance(self, problem: Problem, state: AutoState, visits: int) -> None:
        """Advance up to the next choice; a failed trial does not count, so the number of visits then falls."""
        n, done = problem.rows.n_rows, self.visits(state)
        if done >= state.next_choice * n:
            pegasos = _of(state)
            self._choose(problem, state, pegasos)
            if state.dual is None and self.pegasos.visits(pegasos) < done:
                return
        until = min(visits, max(done + 1, state.next_choice * n))
        if state.dual is not None:
            self.ascent.advance_to(problem, state.dual, until - state.visits_before)
        else:
            self.pegasos.advance_to(problem, _of(state), until)

    def is_ready(self, state: AutoState) -> bool:
        """Never: `review_due` decides at the end of each epoch."""
        return False

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """Return the end of the epoch."""
        n = problem.rows.n_rows
        return (self.visits(state) // n + 1) * n

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """Whether the solver at work is due for a review."""
        if state.dual is not None:
            return self.ascent.review_due(problem, state.dual, epoch, tol)
        return self.pegasos.review_due(problem, _of(state), epoch, tol)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> tuple[Review, None]:
        """Review the solver at work."""
        if state.dual is not None:
            return self.ascent.review(problem, state.dual, tol), None
        review = self.pegasos.review(problem, _of(state), tol)
        state.gap = review.certificate.gap
        return review, None

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """Certify the point of the solver at work."""
        if state.dual is None:
            return self.pegasos.review(problem, _of(state), self.tol)
        alpha = state.dual.alpha
        certificate, weights = certify_dual(problem, alpha)
        return Review(certificate, weights, alpha)

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point of the solver at work."""
        if state.dual is not None:
            return self.ascent.point(problem, state.dual)
        return self.pegasos.point(problem, _of(state))

    def _choose(self, problem: Problem, state: AutoState, pegasos: PegasosState) -> None:
        """Start a trial epoch of dual ascent, or judge the one that has ended."""
        epochs = self.pegasos.visits(pegasos) / problem.rows.n_rows
        if state.dual is None:
            _, alpha = self.pegasos.point(problem, pegasos)
            trial = self.ascent.enter(problem, better_within_bounds(problem, alpha), state.seed)
            state.dual_before = self.ascent.dual(problem, trial)
            state.visits_before = self.pegasos.visits(pegasos)
            state.steps_before = self.pegasos.steps(pegasos)
            state.next_choice += 1
            state.dual = trial
        elif self.ascent.dual(problem, state.dual) - state.dual_before >= state.gap / (epochs + 1.0):
            state.pegasos = None
        else:
            state.next_choice = 2 * round(epochs)
            state.dual = None


def _of(state: AutoState) -> PegasosState:
    assert state.pegasos is not None
    return state.pegasos
