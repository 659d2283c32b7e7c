"""Dual ascent in threads: each climbs on rows of its own, and in rounds their moves are made at once.

    max_alpha  D(alpha) = (1/total) sum_i alpha_i (1 - sign_i offset_i) - lam/2 |w(alpha)|^2,   0 <= alpha_i <= cost_i

The rounds are those of CoCoA+ (Ma et al., ICML 2015) without momentum, sigma = number of threads K: a thread
begins a round at the weights of all and climbs as if each of its moves were made K times, so that the dual cannot fall.
Rows k, k + K, k + 2K, ... are thread k's: a thread that sees one end of a sorted file alone leads the others astray.
The same K gives the same bits.

Where |x|^2 / (lam total) is small, that takes hardly more epochs than one thread needs: to a gap of 1e-3, up to 1.3
times as many at 0.03; to 1e-5 up to twice as many, which still pays. At 0.3 it may be nine times as many (measured on
six data sets). So it is for the former, and for rows enough; elsewhere one thread climbs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.certificate import dual_point
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.dual_ascent import DualAscent, DualState, first_gap

_largest_first_gap = 0.06  # |x|^2 / (lam total) up to which the threads do not disturb each other, times K - 1
_fewest_values = 2_000_000  # stored: below, a round is too short for its threads
_rounds = 4  # in an epoch, at least
_longest_round = 1 << 16  # visits of a thread, where there are more rows than weights


@dataclass
class SplitState:
    """The states of the threads, the weights of all, and what each thread climbs on."""

    parts: list[DualState]
    weights: Floats
    problems: list[Problem] = field(default_factory=list)
    target: float = np.inf

    def __getstate__(self) -> dict[str, Any]:
        """Stored without the problems, which follow from the whole one."""
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
        """The duality gap, times total, as the last sweeps saw it."""
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
        """Where the generator of the first thread stands."""
        return self.parts[0].random

    @property
    def n_left(self) -> int:
        """How many rows shrinking has left in the sweeps; 0: all come back."""
        return sum(part.n_left for part in self.parts)

    @property
    def left(self) -> npt.NDArray[np.uint32]:
        """These rows, in no order."""
        n = len(self.parts)
        return np.concatenate([part.left * np.uint32(n) + np.uint32(k) for k, part in enumerate(self.parts)])

    def recall_all_rows(self) -> None:
        """Sweep over all rows again."""
        for part in self.parts:
            part.recall_all_rows()


@dataclass(frozen=True)
class SplitAscent(DualAscent):
    """The settings: only the type of the weights. The rows say how many threads there are."""

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> DualState | SplitState:
        """A dual point of these rows, for as many threads as pay."""
        n = _threads(problem)
        if n == 1:
            state: DualState = super().enter(problem, alpha, seed)
            return state
        alpha = problem.within_bounds(alpha).astype(self.dtype, copy=False)
        problems = _parts(problem, n)
        parts = [self._alone.start(part, seed + k) for k, part in enumerate(problems)]
        whole = SplitState(parts, self._zero_weights(problem), problems)
        if alpha.any():
            for k, part in enumerate(parts):
                part.alpha[:] = alpha[k::n]
            self._settle(problem, whole, *dual_point(problem, alpha))
        return whole

    def advance_to(self, problem: Problem, state: Any, visits: int) -> None:
        """Visit the rows that are missing; in threads, whole rounds."""
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
        n_visits = min(len(state.parts[0].alpha) // _rounds + 1, max(_longest_round, len(state.weights) // 8))

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
    """How many are worth it, each with a row at least; a kernel's rows are not for threads."""
    rows = problem.rows
    if not isinstance(rows, Rows) or rows.threads == 1 or rows.n_stored < _fewest_values:
        return 1
    n = min(rows.threads, rows.n_rows)
    return n if first_gap(problem) * (n - 1) <= _largest_first_gap else 1


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
