"""Dual ascent in threads: each thread climbs on its own rows, and their moves are combined in rounds.

    max_alpha  D(alpha) = (1/total) sum_i alpha_i (1 - sign_i offset_i) - lam/2 |w(alpha)|^2,   0 <= alpha_i <= cost_i

The rounds are those of CoCoA+ (Ma et al., ICML 2015) without momentum, sigma = number of threads K: a thread starts a
round at the common weights and climbs as if each of its moves were made K times, so that the dual cannot fall. Thread k
has the rows k, k + K, k + 2K, ...: a thread that saw only one end of a sorted file would mislead the others. The same K
gives bit-identical results.

Where |x|^2 / (lam total) is small, this takes hardly more epochs than one thread needs: to a gap of 1e-3, up to 1.3
times as many at 0.03; to 1e-5 up to twice as many, which is still not slower. At 0.3 it may be nine times as many
(measured on six data sets). Threads are therefore used only where that number is small and there are enough rows;
elsewhere one thread climbs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.certificate import dual_point
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.dual_ascent import Climbing, DualAscent, DualState, end_of_sweep, first_gap

_LARGEST_FIRST_GAP = 0.06  # largest |x|^2 / (lam total), times K - 1, at which the threads do not disturb each other
_FEWEST_VALUES = 2_000_000  # stored values below which a round is too short for threads
_ROUNDS = 4  # least number of rounds per epoch
_LONGEST_ROUND = 1 << 16  # most visits of a thread per round, where there are more rows than weights


@dataclass
class SplitState:
    """The states of the threads, the common weights, and the problem of each thread."""

    parts: list[DualState]
    weights: Floats
    problems: list[Problem] = field(default_factory=list)
    target: float = np.inf
    goal: float = 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the problems, which follow from the whole one."""
        return {**vars(self), "problems": []}

    @property
    def alpha(self) -> Floats:
        """The dual point: row i is in part i mod K."""
        alpha = np.empty(sum(len(part.alpha) for part in self.parts), self.parts[0].alpha.dtype)
        for k, part in enumerate(self.parts):
            alpha[k :: len(self.parts)] = part.alpha
        return alpha

    @property
    def visits(self) -> int:
        """Rows visited so far."""
        return sum(part.visits for part in self.parts)

    @property
    def sweep_gap(self) -> float:
        """Duality gap, times total, estimated by the last sweeps."""
        return sum(part.sweep_gap for part in self.parts)

    @property
    def alpha_sum(self) -> float:
        """sum_i alpha_i (1 - sign_i offset_i)."""
        return sum(part.alpha_sum for part in self.parts)

    @alpha_sum.setter
    def alpha_sum(self, value: float) -> None:
        self.parts[0].alpha_sum += value - self.alpha_sum

    @property
    def random(self) -> int:
        """State of the first thread's generator."""
        return self.parts[0].random

    @property
    def n_active(self) -> int:
        """Number of rows of the next sweeps; 0 means all."""
        return sum(part.n_active for part in self.parts)

    @property
    def n_left(self) -> int:
        """Number of rows that have not left; 0 means that all are recalled."""
        return sum(part.n_left for part in self.parts)

    @property
    def left(self) -> npt.NDArray[np.uint32]:
        """The rows that have not left, in no particular order."""
        n = len(self.parts)
        return np.concatenate([part.left * np.uint32(n) + np.uint32(k) for k, part in enumerate(self.parts)])

    def recall_all_rows(self) -> None:
        """Sweep over all rows again."""
        for part in self.parts:
            part.recall_all_rows()


@dataclass(frozen=True)
class SplitAscent(DualAscent):
    """Settings: only the type of the weights. The rows determine the number of threads."""

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> DualState | SplitState:
        """Start at a dual point of these rows, with as many threads as are worthwhile."""
        n = _threads(problem)
        if n == 1:
            state: DualState = super().enter(problem, alpha, seed)
            return state
        alpha = problem.within_bounds(alpha).astype(self.dtype, copy=False)
        problems = _parts(problem, n)
        parts = [self._alone.start(part, seed + k) for k, part in enumerate(problems)]
        whole = SplitState(parts, np.zeros(problem.weights_shape, self.dtype), problems)
        if alpha.any():
            for k, part in enumerate(parts):
                part.alpha[:] = alpha[k::n]
            self._settle(problem, whole, *dual_point(problem, alpha))
        return whole

    def next_look(self, problem: Problem, state: Climbing) -> int:
        """With threads, the end of a sweep: rounds do not end early."""
        if isinstance(state, DualState):
            return super().next_look(problem, state)
        return end_of_sweep(problem, state.visits, state.n_active)

    def advance_to(self, problem: Problem, state: Any, visits: int) -> None:
        """Visit rows until the given number is reached; with threads, in whole rounds."""
        if isinstance(state, DualState):
            super().advance_to(problem, state, visits)
        elif state.visits < visits:
            state.problems = state.problems or _parts(problem, len(state.parts))
            with ThreadPoolExecutor(len(state.parts) - 1) as pool:
                while state.visits < visits:
                    self._round(state, pool)

    @property
    def _alone(self) -> DualAscent:
        return DualAscent(self.dtype)

    def _round(self, state: SplitState, pool: ThreadPoolExecutor) -> None:
        n_visits = min(len(state.parts[0].alpha) // _ROUNDS + 1, max(_LONGEST_ROUND, len(state.weights) // 8))

        def climb(k: int) -> None:
            part = state.parts[k]
            part.weights[:] = state.weights
            self._alone.advance_to(state.problems[k], part, part.visits + n_visits)

        others = [pool.submit(climb, k) for k in range(1, len(state.parts))]
        climb(0)
        for other in others:
            other.result()
        moved = sum(part.weights - state.weights for part in state.parts)
        state.weights += moved / len(state.parts)


def _threads(problem: Problem) -> int:
    """Number of worthwhile threads, each with at least one row; kernel rows are not split."""
    rows = problem.rows
    if not isinstance(rows, Rows) or rows.threads == 1 or rows.n_stored < _FEWEST_VALUES:
        return 1
    n = min(rows.threads, rows.n_rows)
    return n if first_gap(problem) * (n - 1) <= _LARGEST_FIRST_GAP else 1


def _parts(problem: Problem, n: int) -> list[Problem]:
    return [_part(problem, k, n) for k in range(n)]


def _part(problem: Problem, k: int, n: int) -> Problem:
    """Every n-th row from the k-th on, with moves that count n times."""
    own = slice(k, None, n)
    rows = problem.rows.view(np.arange(k, problem.rows.n_rows, n))
    sign = np.ascontiguousarray(problem.sign[own])
    return replace(
        problem, rows=rows, sign=sign, cost=problem.cost[own], offset=problem.offset[own], lam=problem.lam / n
    )
