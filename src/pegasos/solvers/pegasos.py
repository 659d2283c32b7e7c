"""Pegasos, exactly the published algorithm (for the loop, see cpp/core/pegasos/linear_pegasos.h).

Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM. Mathematical
Programming 127, 2011. Given a problem, the state after T steps holds the iterate w, its dual point alpha with
w = w(alpha), and on request the average of the iterates or of their tail.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeGuard

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import better_within_bounds, certify
from pegasos.problem import Floats, Problem, inner
from pegasos.solution import Solution
from pegasos.solvers.driver import Review

_LEAST_GAP = 1e-2  # smallest relative gap that a stream takes into account
_MOST_STEPS = 1 << 50  # exact as a double
Sampling = Literal["shuffle", "uniform", "balanced", "sequential"]


@dataclass
class PegasosState:
    """Everything a run needs to continue: plain arrays and counters, picklable."""

    counters: _core.PegasosCounters
    weights: Floats
    alphas: Floats
    weight_sums: Floats | None
    alpha_sums: Floats | None
    order: npt.NDArray[np.uint32]
    sampling: Sampling  # sampling that the order and the position refer to


@dataclass(frozen=True)
class Pegasos:
    """The settings of the algorithm.

    Attributes
    ----------
    batch_size : number of rows per step
    sampling : "shuffle" (epochs in random order), "uniform" (the paper), "balanced" (the two signs in turn, each in
        random order; rows that are drawn less often count more), or "sequential"
    projection : keep |w| within the problem's radius
    average : None for the last iterate, "uniform" for the mean of all, "tail" for the mean since the last
        epoch that is a power of two
    dtype : type of the weights
    last_step : number of the last step that `advance_to` takes
    """

    batch_size: int = 1
    sampling: Sampling = "shuffle"
    projection: bool = False
    average: Literal["uniform", "tail"] | None = None
    dtype: npt.DTypeLike = np.float64
    last_step: int | None = None

    def start(self, problem: Problem, seed: int) -> PegasosState:
        """Start at zero weights."""
        return self.enter(problem, np.zeros(problem.weights_shape, self.dtype), step=0, seed=seed)

    def enter(self, problem: Problem, weights: Floats, *, step: int, seed: int) -> PegasosState:
        """Start at a copy of given weights, after ``step`` steps on other rows."""
        counters = _core.PegasosCounters()
        counters.step = step
        counters.random = seed
        empty = np.empty(0, weights.dtype)
        sums = np.zeros_like(weights) if self.average is not None else None
        state = PegasosState(counters, weights, empty, sums, None, np.empty(0, np.uint32), self.sampling)
        return self.move_to(problem, state)

    def goes_on(self, state: PegasosState | None) -> TypeGuard[PegasosState]:
        """Whether there is a state, with the averages that these settings require."""
        return state is not None and (state.weight_sums is None) == (self.average is None)

    def resume(
        self, problem: Problem, state: PegasosState | None, weights: Floats, *, step: int, seed: int
    ) -> PegasosState:
        """Copy the state if it belongs to this many rows; otherwise start from its weights on new rows."""
        if not self.goes_on(state):
            return self.enter(problem, weights.astype(self.dtype), step=step, seed=seed)
        if len(state.alphas) != problem.rows.n_rows:
            return self.move_to(problem, state)
        resumed = copy.deepcopy(state)
        if not self._in_order(problem, state):
            self._begin_round(problem, resumed)
        resumed.counters.squared_norm = inner(state.weights, state.weights)
        return resumed

    def move_to(self, problem: Problem, state: PegasosState, *, fade_average: bool = False) -> PegasosState:
        """Copy weights and counters for a block of new rows, whose dual variables are 0."""
        dtype = state.weights.dtype
        averages = self.average is not None
        moved = PegasosState(
            copy.copy(state.counters),
            state.weights.copy(),
            alphas=np.zeros(problem.alpha_shape, dtype),
            weight_sums=None if state.weight_sums is None else state.weight_sums.copy(),
            alpha_sums=np.zeros(problem.alpha_shape, dtype) if averages else None,
            order=np.empty(0, np.uint32),
            sampling=self.sampling,
        )
        self._begin_round(problem, moved)
        # The loop maintains this only while projecting.
        moved.counters.squared_norm = inner(state.weights, state.weights)
        if fade_average:
            self._fade_average(moved)
        return moved

    def steps(self, state: PegasosState) -> int:
        """Steps taken so far."""
        return state.counters.step

    def visits(self, state: PegasosState) -> int:
        """Rows visited so far."""
        return state.counters.step * self.batch_size

    def advance_to(self, problem: Problem, state: PegasosState, visits: int) -> None:
        """Take steps until that many rows have been visited, or the last step is reached."""
        last = self.steps_until(-(-visits // self.batch_size))
        while state.counters.step < last:
            step = state.counters.step
            if step == self._next_tail(problem, step):
                self._restart_average(state)
            self.step(problem, state, int(min(last, self._next_tail(problem, step + 1))) - step)

    def ending_at(self, step: int) -> Self:
        """Return the solver that takes no step after this one."""
        return replace(self, last_step=step)

    def steps_until(self, step: int) -> int:
        """Return this number, or that of the last step if it is smaller."""
        return step if self.last_step is None else min(step, self.last_step)

    def step(self, problem: Problem, state: PegasosState, n_steps: int) -> None:
        """Take n_steps more steps."""
        _core.pegasos_advance(
            problem.native,
            state.counters,
            state.weights,
            state.alphas,
            state.weight_sums,
            state.alpha_sums,
            state.order,
            np.empty(self.batch_size, np.uint32),
            self.sampling,
            self.projection,
            problem.radius,
            n_steps,
        )

    def next_look(self, problem: Problem, state: PegasosState) -> int:
        """Look at the end of the epoch, where the dual point is within its bounds."""
        n = problem.rows.n_rows
        return (self.visits(state) // n + 1) * n

    def review_due(self, problem: Problem, state: PegasosState, epoch: int | None, tol: float | None) -> bool:
        """Review at whole epochs that grow by about a quarter: a certificate costs about as much as an epoch."""
        return epoch is not None and (epoch < 4 or epoch in growing_epochs)

    def review(self, problem: Problem, state: PegasosState, tol: float | None) -> Review:
        """Certify the iterate or the average."""
        weights, alpha = self.point(problem, state)
        alpha = better_within_bounds(problem, alpha)
        return Review(certify(problem, weights, alpha), weights, alpha)

    def point(self, problem: Problem, state: PegasosState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point that the state represents."""
        now = state.counters
        weights = state.weights.astype(np.float64)
        if state.weight_sums is None or state.alpha_sums is None or now.averaged == 0:
            return now.scale * weights, state.alphas * state.alphas.dtype.type(now.scale)
        mean = now.scale_sum / now.averaged
        with np.errstate(over="ignore", invalid="ignore"):  # the certificate reports it
            alpha = mean * state.alphas.astype(np.float64) - state.alpha_sums / now.averaged
            return mean * weights - state.weight_sums / now.averaged, alpha.astype(state.alphas.dtype)

    def _begin_round(self, problem: Problem, state: PegasosState) -> None:
        """Start a round with all rows; the loop separates the signs by position, negative rows first."""
        n, balanced = problem.rows.n_rows, self.sampling == "balanced"
        order = (
            np.argsort(problem.sign, kind="stable") if balanced else np.arange(n if self.sampling == "shuffle" else 0)
        )
        state.order, state.sampling = order.astype(np.uint32), self.sampling
        state.counters.position = 0 if balanced else n

    def _in_order(self, problem: Problem, state: PegasosState) -> bool:
        """Whether the state's order fits this sampling of these signs."""
        if self.sampling != state.sampling:
            return False
        return self.sampling != "balanced" or bool((np.diff(problem.sign[state.order]) >= 0).all())

    def _next_tail(self, problem: Problem, step: int) -> float:
        """First step, not before the given one, after which the tail average restarts."""
        if self.average != "tail":
            return np.inf
        epoch = 1
        while (start := -(-epoch * problem.rows.n_rows // self.batch_size)) < step:
            epoch *= 2
        return start

    def _fade_average(self, state: PegasosState) -> None:
        """Let the average so far count for an eighth of its steps: it serves until new steps outweigh it."""
        assert state.weight_sums is not None
        now = state.counters
        kept = faded(now.averaged)
        share = kept / now.averaged if now.averaged else 0.0
        state.weight_sums *= state.weight_sums.dtype.type(share)
        now.scale_sum *= share
        now.averaged = kept

    def _restart_average(self, state: PegasosState) -> None:
        assert state.weight_sums is not None
        assert state.alpha_sums is not None
        state.weight_sums[:] = 0
        state.alpha_sums[:] = 0
        state.counters.scale_sum = 0.0
        state.counters.averaged = 0


def faded(n_steps: int) -> int:
    """How many steps an average of this many counts for when the tail of a stream restarts."""
    return n_steps // 8


def _epochs_that_grow(factor: float, last: int) -> frozenset[int]:
    epochs, epoch = set(), 1
    while epoch < last:
        epochs.add(epoch)
        epoch = max(epoch + 1, int(epoch * factor))
    return frozenset(epochs)


growing_epochs = _epochs_that_grow(1.25, 10**9)


def steps_worth(lam: float, mean_squared_norm: float, solution: Solution) -> int:
    """How many steps of Pegasos the solution of another solver is worth: a stream continues from that step.

    A solution with a smaller gap counts as one with a relative gap of 1 %, so that later rows still move the weights.
    """
    gap = max(solution.certificate.gap, _LEAST_GAP * solution.certificate.primal)
    return int(min(max(_steps_to(lam, mean_squared_norm, gap), solution.n_steps), _MOST_STEPS))


def steps_of_start(problem: Problem, weights: npt.NDArray[np.float64], batch_size: int) -> int:
    """How many steps the initial weights of a stream are worth: their error is at most their objective.

    With one row per step, a stream that starts there takes first steps of about 2 P(0) / R^2. Steps of 1 / lam would
    throw
    the weights so far that one pass over the rows does not bring them back. A step over a batch counts as its rows.
    """
    primal = certify(problem, weights, np.zeros(problem.alpha_shape)).primal
    squared = problem.rows.mean_square
    return int(np.clip(_steps_to(problem.lam, squared, primal) / batch_size, 0, _MOST_STEPS))


def _steps_to(lam: float, mean_squared_norm: float, gap: float) -> float:
    """After t steps the error is about R^2 / (2 lam t), R^2 the mean of |x_i|^2.

    Shalev-Shwartz et al., theorem 1, without the logarithm.
    """
    rate = 2.0 * lam * gap
    return mean_squared_norm / rate if rate > 0.0 else math.inf
