"""Dual coordinate ascent with shrinking (for the loop, see cpp/core/pegasos/dual_ascent.h).

Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008. From
any dual point within its bounds, the method reaches a dual point with a gap as small as requested: it converges
linearly. Rows that shrinking removed become active again whenever a certificate shows that the gap is still open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import certify_dual, dual_point
from pegasos.problem import Floats, Problem, Rows, inner, mean_of
from pegasos.solvers.driver import Review

_SMALL = 1_000_000  # stored values below which the cost of a certificate is not worth saving
_MOST_LOOKS = 64  # most looks between two certificates
# Part of the requested gap at which a sweep is the last: the rows that rest are not in its estimate, and a review that
# comes too early takes as long as several sweeps.
_GOAL = 0.75
_LEAST_WORK = 8e4  # nanoseconds between two looks: about what a look itself takes


def first_gap(problem: Problem) -> float:
    """|x|^2 / (lam total), with mean costs: how strongly rows interact, and the gap that an epoch of Pegasos leaves."""
    return problem.rows.mean_square * mean_of(problem.cost) / (problem.lam * problem.total)


def epochs_per_look(problem: Problem) -> int:
    """Number of epochs between looks: 1, unless there are few short rows."""
    rows = problem.rows
    stored = rows.n_stored if isinstance(rows, Rows) else rows.n_rows * rows.n_features
    epoch = 30.0 * rows.n_rows + 0.5 * stored
    return math.ceil(_LEAST_WORK / max(epoch, 1.0))


def is_now_and_then(problem: Problem, epoch: int | None, per_look: int) -> bool:
    """Whether a certificate is worth its cost after this many whole epochs, whatever the gap.

    True at looks whose number is a power of two, and then at every 64th: a review also removes the rounding errors
    accumulated in the weights.
    """
    is_small = problem.rows.n_rows * problem.rows.n_features <= _SMALL
    if epoch is None or epoch < (1 if is_small else 16):
        return False
    look = epoch // per_look
    return look > 0 and ((look & (look - 1)) == 0 or look % _MOST_LOOKS == 0)


def end_of_sweep(problem: Problem, visits: int, n_active: int) -> int:
    """The next look at a loop that does not end early: where an epoch takes long, the end of a sweep."""
    n = problem.rows.n_rows
    if n * problem.rows.n_features <= _SMALL:
        return end_of_epochs(problem, visits)
    return min((visits // n + 1) * n, visits + max(n_active or n, n // 16))


def end_of_epochs(problem: Problem, visits: int) -> int:
    """The end of as many epochs as lie between two looks."""
    stretch = problem.rows.n_rows * epochs_per_look(problem)
    return (visits // stretch + 1) * stretch


class Climbing(Protocol):
    """The interface of a state, for one thread or several."""

    weights: Floats
    target: float  # a review is due when the estimate of the relative gap falls below this
    goal: float  # the same for the loop, where it can end early
    alpha_sum: float  # sum_i alpha_i (1 - sign_i offset_i)

    @property
    def alpha(self) -> Any:
        """The dual point."""

    @property
    def visits(self) -> int:
        """Number of rows visited so far."""

    @property
    def sweep_gap(self) -> float:
        """Duality gap, times total, estimated by the last sweep."""

    @property
    def random(self) -> int:
        """State of the random generator."""

    @property
    def n_active(self) -> int:
        """Number of rows of the next sweep; 0 means all."""

    @property
    def n_left(self) -> int:
        """Number of rows that have not left; 0 means that all are recalled."""

    @property
    def left(self) -> npt.NDArray[np.uint32]:
        """The rows that have not left, in no particular order."""

    def recall_all_rows(self) -> None:
        """Sweep over all rows again."""


@dataclass
class DualState:
    """Everything a run needs to continue: plain arrays and counters, picklable."""

    counters: _core.DualCounters
    weights: Floats
    alpha: Floats
    order: npt.NDArray[np.uint32]
    rests: _core.Rests | None = None  # None where no row rests
    levels: npt.NDArray[np.uint8] | None = None  # how seldom each row is visited
    target: float = np.inf
    goal: float = 0.0  # estimate of the relative gap at which a call of the loop ends early

    @property
    def visits(self) -> int:
        """Number of rows visited so far."""
        return self.counters.visits

    @property
    def sweep_gap(self) -> float:
        """Duality gap, times total, estimated by the last sweep."""
        return self.counters.sweep_gap

    @property
    def alpha_sum(self) -> float:
        """sum_i alpha_i (1 - sign_i offset_i)."""
        return self.counters.alpha_sum

    @alpha_sum.setter
    def alpha_sum(self, value: float) -> None:
        self.counters.alpha_sum = value

    @property
    def random(self) -> int:
        """State of the random generator."""
        return self.counters.random

    @property
    def n_active(self) -> int:
        """Number of rows of the next sweep; 0 means all."""
        return self.counters.active

    @property
    def n_left(self) -> int:
        """Number of rows that have not left; 0 means that all are recalled."""
        active = self.counters.active
        return active if self.rests is None or active == 0 else self.rests.n_left

    @property
    def left(self) -> npt.NDArray[np.uint32]:
        """The rows that have not left, in no particular order."""
        return self.order[: self.n_left]

    def recall_all_rows(self) -> None:
        """Sweep over all rows again."""
        self.counters.recall_all_rows()


@dataclass(frozen=True)
class DualAscent:
    """Settings: only the type of the weights."""

    dtype: npt.DTypeLike = np.float64

    def start(self, problem: Problem, seed: int) -> Any:
        """Start at the zero dual point."""
        return self.enter(problem, np.broadcast_to(0.0, problem.alpha_shape), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> Any:
        """Start at a dual point of these rows, brought within its bounds."""
        is_zero = not alpha.any()
        own = np.zeros(problem.alpha_shape, self.dtype)
        if not is_zero:
            own[:] = problem.within_bounds(alpha)
        order = np.empty(problem.rows.n_rows, np.uint32)
        state = self._state(problem, own, order)
        state.counters.random = seed
        if not is_zero:
            self._settle(problem, state, *dual_point(problem, state.alpha))
        return state

    def steps(self, state: Climbing) -> int:
        """Number of coordinate steps so far."""
        return state.visits

    def visits(self, state: Climbing) -> int:
        """Number of rows visited so far."""
        return state.visits

    def advance_to(self, problem: Problem, state: Any, visits: int) -> None:
        """Visit rows until the given number is reached, or a sweep whose estimate of the gap is small enough."""
        n_visits = visits - state.counters.visits
        if n_visits > 0:
            self._visit(problem, state, n_visits)

    def _visit(self, problem: Problem, state: DualState, n_visits: int) -> None:
        arrays = state.weights, state.alpha, problem.rows.squared_norms, state.order
        _core.dual_advance(problem.native, state.counters, *arrays, n_visits, state.rests, state.levels, state.goal)

    def next_look(self, problem: Problem, state: Climbing) -> int:
        """The end of some epochs; the loop itself ends at the sweep that seems to be good enough."""
        return end_of_epochs(problem, self.visits(state))

    def review_due(self, problem: Problem, state: Climbing, epoch: int | None, tol: float | None) -> bool:
        """When the loop's own estimate of the gap is small enough, and at regular intervals."""
        if is_now_and_then(problem, epoch, epochs_per_look(problem)):
            return True
        if tol is None:
            return False
        target = min(tol, state.target)
        state.goal = _GOAL * target
        # |w|^2 takes time to compute, so it is skipped while the gap is too large even without it.
        gap = state.sweep_gap
        return not gap > target * (state.alpha_sum + gap) and not self.estimate(problem, state) > target

    def review(self, problem: Problem, state: Climbing, tol: float | None) -> Review:
        """Certify the dual point, and remove the rounding errors accumulated in the weights."""
        certificate, weights = certify_dual(problem, state.alpha)
        if certificate.is_finite:
            self._settle(problem, state, weights, certificate.dual)
        if tol is not None and not certificate.relative_gap <= tol:
            # Shrinking or the estimate was too optimistic: sweep all rows again, and trust the estimate less next time.
            if self.estimate(problem, state) <= min(tol, state.target):
                state.target = 0.5 * min(tol, state.target)
            state.recall_all_rows()
        return Review(certificate, weights, state.alpha)

    def point(self, problem: Problem, state: Climbing) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point that the loop has computed."""
        return state.weights.astype(np.float64), state.alpha

    def dual(self, problem: Problem, state: Climbing) -> float:
        """D(alpha), as tracked by the loop."""
        square = inner(state.weights, state.weights)
        return state.alpha_sum / problem.total - 0.5 * problem.lam * square

    def rows(self, problem: Problem, state: Climbing, *, all_rows: bool) -> npt.NDArray[np.uint32]:
        """Rows with a positive cost: all of them, or the active ones."""
        everyone = np.arange(problem.rows.n_rows, dtype=np.uint32)
        rows = everyone if all_rows or state.n_left == 0 else np.sort(state.left)
        return rows[problem.cost[rows] > 0.0]

    def estimate(self, problem: Problem, state: Climbing) -> float:
        """Relative gap, estimated by the last sweep."""
        gap = state.sweep_gap / problem.total
        primal = self.dual(problem, state) + gap
        return gap / primal if primal > 0.0 else 0.0

    def _state(self, problem: Problem, alpha: Floats, order: npt.NDArray[np.uint32]) -> DualState:
        """The state of zero weights with this dual point."""
        weights, levels = np.zeros(problem.weights_shape, self.dtype), np.zeros(len(order), np.uint8)
        return DualState(_core.DualCounters(), weights, alpha, order, _core.Rests(), levels)

    def _settle(self, problem: Problem, state: Climbing, weights: npt.NDArray[np.float64], dual: float) -> None:
        with np.errstate(over="ignore"):
            state.weights[:] = weights
        state.alpha_sum = problem.total * (dual + 0.5 * problem.lam * inner(weights, weights))
