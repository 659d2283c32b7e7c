"""The interior point method on all rows and nothing else: ``solver="interior_point"``.

`Auto` uses the same iterations where they are expected to be fastest, and on the rows near the margin only; here they
are the textbook's method for quadratic programs, from start to end. An iteration visits every row once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pegasos.certificate import certify, certify_dual
from pegasos.problem import Floats, Problem
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.interior_point import InteriorPoint, InteriorState

Vector = npt.NDArray[np.float64]

_LAST_TARGET = 1e-15  # relative gap at which iterations end


@dataclass(frozen=True)
class WholeInterior:
    """A solver without settings."""

    interior: InteriorPoint = field(default_factory=InteriorPoint)

    def refuses(self, problem: Problem) -> str | None:
        """Each iteration factors a matrix of features x features, or of rows x rows where these are fewer."""
        if np.isfinite(self.interior.price(problem, problem.rows.n_rows)):
            return None
        side = min(problem.rows.n_rows, problem.rows.n_features + 1)
        return (
            f"solver='interior_point' would factor a matrix of {side} x {side}, which is too large; use solver='auto', "
            "or fewer features."
        )

    def start(self, problem: Problem, seed: int) -> InteriorState:
        """In the middle of the box, around the weights 0."""
        return self._entered(problem, np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape))

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> InteriorState:
        """In the middle of the box, around the weights of a dual point."""
        _, weights = certify_dual(problem, alpha)
        return self._entered(problem, weights, alpha)

    def _entered(self, problem: Problem, weights: Vector, alpha: Floats) -> InteriorState:
        chosen = np.flatnonzero(problem.cost > 0.0).astype(np.uint32)
        return self.interior.enter(problem, chosen, weights, np.where(problem.cost > 0.0, alpha, 0.0))

    def steps(self, state: InteriorState) -> int:
        """Iterations so far."""
        return state.iterations

    def visits(self, state: InteriorState) -> int:
        """All chosen rows in each iteration."""
        return state.iterations * max(1, len(state.chosen))

    def next_look(self, problem: Problem, state: InteriorState) -> int:
        """After each iteration."""
        return self.visits(state) + max(1, len(state.chosen))

    def advance_to(self, problem: Problem, state: InteriorState, visits: int) -> None:
        """Whole iterations until that many rows have been visited."""
        while self.visits(state) < visits:
            before = state.iterations
            if state.stalled or state.relative_gap <= _LAST_TARGET:
                raise ExhaustedError
            self.interior.advance(problem, state, 1, _LAST_TARGET)
            if state.iterations == before:
                raise ExhaustedError

    def review_due(self, problem: Problem, state: InteriorState, epoch: int | None, tol: float | None) -> bool:
        """When the iterations know their gap to be small enough."""
        return tol is not None and state.relative_gap <= tol

    def review(self, problem: Problem, state: InteriorState, tol: float | None) -> Review:
        """The dual point moved to the bounds that it tends to, if that is good enough; else unchanged."""
        on_bounds = self._reviewed(problem, state, self._on_bounds(problem, state))
        if tol is not None and on_bounds.certificate.relative_gap <= tol:
            return on_bounds
        inside = self._reviewed(problem, state, state.best_alpha)
        return inside if inside.is_better_than(on_bounds) else on_bounds

    def point(self, problem: Problem, state: InteriorState) -> tuple[Vector, Floats]:
        """The best weights so far, and their dual point."""
        return state.best_weights.copy(), _whole(problem, state, state.best_alpha)

    def _reviewed(self, problem: Problem, state: InteriorState, alpha: Vector) -> Review:
        whole, weights = _whole(problem, state, alpha), state.best_weights.copy()
        return Review(certify(problem, weights, whole), weights, whole)

    @staticmethod
    def _on_bounds(problem: Problem, state: InteriorState) -> Vector:
        """Every row on the bound that its multiplier outweighs: in the limit one of the two is 0."""
        cost, bound = problem.cost[state.chosen], problem.bound[state.chosen]
        alpha = np.where(state.lower * cost > state.alpha, 0.0, state.alpha)
        return np.asarray(np.where(state.upper * cost > state.slack, bound, alpha))


def _whole(problem: Problem, state: InteriorState, alpha: Vector) -> Vector:
    """A dual point of all rows; those that cost nothing have 0."""
    whole = np.zeros(problem.alpha_shape)
    whole[state.chosen] = alpha
    return whole
