"""Newton's method on the primal of squared losses, for few features; `Auto` for everything else.

A squared loss is smooth, so nothing needs to be smoothed or split into bounds: a few steps, each of which solves one
system in the features, end at the exact optimum (cpp/core/pegasos/finite_newton.h). They are one native call for small
problems, without an array of dual variables; the dual point is computed once, for the certificate. A problem that these
steps do not certify continues with `Auto` at the dual point reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import certify
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.auto import Auto, AutoState
from pegasos.solvers.driver import Review

Vector = npt.NDArray[np.float64]

_LARGEST_SIDE = 320  # side of the largest matrix that is factored at every step
_SHORT_SIDE = 64  # side up to which a step costs about as much as some epochs of dual ascent, for any number of rows
_CHEAP = 4e7  # products of two values of a row, over all rows: fewer take less time than other solvers need to start
_STEPS = 12  # steps that usually suffice; more are taken only where the gap is larger than requested
_MOST_STEPS = 60
_READS = 2  # visits of a step to each row
_MARGIN = 0.5  # fraction of the requested gap that the steps aim at
# A step with fewer products than this takes little time beside the rest of a fit. Such steps continue to the exact
# optimum, whatever tol is, where rounding leaves about this gap.
_CHEAPEST, _CHEAPEST_GAP = 2e5, 1e-24
_OTHER_WORK = 200  # products that take as long as the rest of what a step does for a row, its losses for example
_CLOSER = 0.01  # factor on that after a certificate that is not good enough
_LEAST_TARGET = 1e-14  # relative gap below which rounding decides


def goal_of(n_distinct: int, side: int, tol: float) -> tuple[float, float]:
    """The relative gap that suffices for this tol, and the one that the usual number of steps aims at."""
    enough = _MARGIN * tol
    return enough, min(enough, _CHEAPEST_GAP) if n_distinct * (side * side + _OTHER_WORK) <= _CHEAPEST else enough


@dataclass
class FiniteNewtonState:
    """A point with its scores, as plain picklable arrays; or the state of `Auto`."""

    seed: int
    weights: Vector = field(default_factory=lambda: np.empty(0))
    sum: Vector = field(default_factory=lambda: np.empty(0))
    scores: Vector = field(default_factory=lambda: np.empty(0))
    other: Vector = field(default_factory=lambda: np.empty(0))
    counters: _core.FiniteCounters = field(default_factory=_core.FiniteCounters)
    target: float = 0.0  # relative gap that ends the steps
    enough: float = 0.0  # relative gap that ends them after as many steps as usually suffice
    handed_over: AutoState | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the steps have reached the target, or cannot get closer."""
        counters = self.counters
        is_near = counters.gap <= (self.target if counters.steps < _STEPS else self.enough) and counters.stride == 1
        return is_near or counters.stalled or counters.steps >= _MOST_STEPS


@dataclass(frozen=True)
class FiniteNewton:
    """The solver that takes over where these steps are not suitable, and the relative gap to reach."""

    auto: Auto
    tol: float

    @property
    def ascent(self) -> Any:
        """The dual ascent of the other solver."""
        return self.auto.ascent

    def suits(self, problem: Problem) -> bool:
        """Whether steps on all rows are cheap, and more rows than features determine them."""
        rows = problem.rows
        side = rows.n_features + 1
        if np.isfinite(problem.cap) or not isinstance(rows, Rows) or side > _LARGEST_SIDE:
            return False
        n = rows.native.n_distinct
        return n >= side and (side <= _SHORT_SIDE or n * side * side <= _CHEAP)

    def start(self, problem: Problem, seed: int) -> FiniteNewtonState:
        """Start at the zero vector."""
        if not self.suits(problem):
            return FiniteNewtonState(seed, handed_over=self.auto.start(problem, seed))
        n, side = problem.rows.native.n_distinct, problem.rows.n_features + 1
        arrays = np.zeros(side), np.zeros(side), np.empty(n), np.empty(n)
        enough, target = goal_of(n, side, self.tol)
        return FiniteNewtonState(seed, *arrays, target=target, enough=enough)

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> FiniteNewtonState:
        """Start at a dual point of these rows."""
        return FiniteNewtonState(seed, handed_over=self.auto.enter(problem, alpha, seed))

    def enter_from_afar(self, problem: Problem, alpha: Floats, seed: int) -> FiniteNewtonState:
        """Start at the dual point of other rows."""
        return FiniteNewtonState(seed, handed_over=self.auto.enter_from_afar(problem, alpha, seed))

    def steps(self, state: FiniteNewtonState) -> int:
        """Rows read so far, as for other solvers: a step reads each of them twice."""
        return state.counters.visits + (0 if state.handed_over is None else self.auto.steps(state.handed_over))

    def visits(self, state: FiniteNewtonState) -> int:
        """Rows read so far."""
        return state.counters.visits + (0 if state.handed_over is None else self.auto.visits(state.handed_over))

    def next_look(self, problem: Problem, state: FiniteNewtonState) -> int:
        """The visits after the number of steps that usually suffices."""
        if state.handed_over is not None:
            return state.counters.visits + self.auto.next_look(problem, state.handed_over)
        return state.counters.visits + _STEPS * _READS * len(state.scores)

    def advance_to(self, problem: Problem, state: FiniteNewtonState, visits: int) -> None:
        """Take steps; return early when the point should be reviewed."""
        if state.handed_over is not None:
            self.auto.advance_to(problem, state.handed_over, visits - state.counters.visits)
            return
        while state.counters.visits < visits and not state.is_ready:
            n_steps = max(1, (visits - state.counters.visits) // (_READS * len(state.scores)))
            arrays = state.weights, state.sum, state.scores, state.other
            _core.finite_newton_advance(problem.native, state.counters, *arrays, n_steps, state.target)

    def review_due(self, problem: Problem, state: FiniteNewtonState, epoch: int | None, tol: float | None) -> bool:
        """Whether the steps have reached the target."""
        if state.handed_over is not None:
            return self.auto.review_due(problem, state.handed_over, epoch, tol)
        return state.is_ready

    def review(self, problem: Problem, state: FiniteNewtonState, tol: float | None) -> Review:
        """Certify the point reached; if it is not good enough, aim closer, or leave it to the other solver."""
        if state.handed_over is not None:
            return self.auto.review(problem, state.handed_over, tol)
        weights, alpha = self.point(problem, state)
        review = Review(certify(problem, weights, alpha), weights, alpha)
        if tol is not None and review.certificate.relative_gap > tol and state.is_ready:
            is_over = state.counters.stalled or state.counters.steps >= _MOST_STEPS
            state.enough *= _CLOSER
            state.target = min(state.target, state.enough)
            if is_over or state.enough < _LEAST_TARGET:
                state.handed_over = self.auto.enter(problem, alpha, state.seed)
        return review

    def point(self, problem: Problem, state: FiniteNewtonState) -> tuple[Vector, Floats]:
        """The weights, and the dual point that belongs to their scores."""
        if state.handed_over is not None:
            return self.auto.point(problem, state.handed_over)
        scores, alpha = state.scores, np.empty(problem.rows.n_rows)
        if state.counters.stride != 1:  # the scores of some rows are missing
            scores = np.ascontiguousarray(problem.rows.scores_of(state.weights)[: len(scores)])
        _core.alpha_of_scores(problem.native, scores, alpha)
        return state.weights.copy(), alpha
