"""Pegasos first, dual ascent from its dual point as soon as that closes the gap faster.

Pegasos brings its gap from epoch e to e + 1 down by the factor e/(e + 1), whatever the data; dual ascent raises its
lower bound by an amount that one epoch shows, and goes on only if that is more. Where lam is so small that an epoch of
Pegasos cannot even reach the scale of the solution, dual ascent is the faster one from the first row on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegasos.problem import Floats, Problem
from pegasos.solvers.driver import Review
from pegasos.solvers.dual_ascent import DualAscent, DualState
from pegasos.solvers.pegasos import Pegasos, PegasosState

# Steps of size 1/(lam t) settle within an epoch only when lam n exceeds |x|^2 by about this factor (measured).
_settles = 30.0


@dataclass
class AutoState:
    """The state of the solver at work, and what is needed to change over and back."""

    pegasos: PegasosState | None  # None once dual ascent has won
    dual: DualState | None  # None while Pegasos is at work
    seed: int
    visits_before: int = 0  # by Pegasos, when dual ascent is at work
    steps_before: int = 0
    gap: float = np.inf  # of the last certificate of Pegasos
    dual_before: float = 0.0  # the lower bound with which dual ascent began
    next_choice: int = 1  # the epoch after which to think again


@dataclass(frozen=True)
class Auto:
    """The two solvers it chooses from."""

    pegasos: Pegasos
    ascent: DualAscent

    def start(self, problem: Problem, seed: int) -> AutoState:
        """Pegasos, where one of its epochs gets anywhere."""
        mean_square = float(problem.rows.squared_norms.mean())
        if problem.lam * problem.total > _settles * mean_square:
            return AutoState(self.pegasos.start(problem, seed), None, seed)
        return self.enter(problem, np.zeros(problem.rows.n_rows, self.ascent.dtype), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> AutoState:
        """A dual point of these rows: dual ascent takes it further."""
        return AutoState(None, self.ascent.enter(problem, alpha, seed), seed)

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, of both solvers."""
        if state.dual is not None:
            return state.steps_before + self.ascent.steps(state.dual)
        assert state.pegasos is not None
        return self.pegasos.steps(state.pegasos)

    def visits(self, state: AutoState) -> int:
        """Rows visited so far, by both solvers."""
        if state.dual is not None:
            return state.visits_before + self.ascent.visits(state.dual)
        assert state.pegasos is not None
        return self.pegasos.visits(state.pegasos)

    def advance_to(self, problem: Problem, state: AutoState, visits: int) -> None:
        """Go on with the solver of the hour, epoch by epoch."""
        n = problem.rows.n_rows
        while (done := self.visits(state)) < visits:
            if state.pegasos is not None and done >= state.next_choice * n:
                self._choose(problem, state, state.pegasos)
            goal = visits if state.pegasos is None else min(visits, max(done + 1, state.next_choice * n))
            if state.dual is not None:
                self.ascent.advance_to(problem, state.dual, goal - state.visits_before)
            elif state.pegasos is not None:
                self.pegasos.advance_to(problem, state.pegasos, goal)

    def review_due(self, problem: Problem, state: AutoState, epoch: int, tol: float | None) -> bool:
        """As the solver at work sees it."""
        if state.dual is not None:
            return self.ascent.review_due(problem, state.dual, epoch, tol)
        assert state.pegasos is not None
        return self.pegasos.review_due(problem, state.pegasos, epoch, tol)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> Review:
        """The certificate of the solver at work."""
        if state.dual is not None:
            return self.ascent.review(problem, state.dual, tol)
        assert state.pegasos is not None
        review = self.pegasos.review(problem, state.pegasos, tol)
        state.gap = review.certificate.gap
        return review

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """The weights and the dual point of the solver at work."""
        if state.dual is not None:
            return self.ascent.point(problem, state.dual)
        assert state.pegasos is not None
        return self.pegasos.point(problem, state.pegasos)

    def _choose(self, problem: Problem, state: AutoState, pegasos: PegasosState) -> None:
        """Put dual ascent on trial for an epoch, or judge it."""
        epochs = self.pegasos.visits(pegasos) / problem.rows.n_rows
        if state.dual is None:
            _, alpha = self.pegasos.point(problem, pegasos)
            trial = self.ascent.enter(problem, alpha, state.seed)
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
