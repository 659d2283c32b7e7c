"""Kernel Pegasos, exactly the published algorithm (for the loop, see cpp/core/pegasos/linear_pegasos.h).

Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM. Mathematical
Programming 127, 2011, section 4. The iterate is w_t = 1/(lam t) sum_j count_j sign_j phi(x_j), where count_j is how
often row j was drawn and violated the margin (costs and batches scale the counts): alpha_j = n count_j / t.

It is the same loop as for linear Pegasos, on scores instead of weights. The rows of the next steps are drawn ahead, a
block of them at a time; within the block the loop has the kernel matrix of those rows, and afterwards the columns of
the rows that violated are added to all scores.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import better_within_bounds, certify
from pegasos.errors import PegasosError
from pegasos.gram import KernelRows, Numbers
from pegasos.problem import Floats, Problem, inner
from pegasos.solvers.driver import Review
from pegasos.solvers.pegasos import Pegasos, Sampling, growing_epochs

_ROWS_AT_ONCE = 512


@dataclass
class Deck:
    """Rows to draw from, with their own generator, so that draws from other decks have no influence."""

    rows: Numbers
    random: np.random.Generator
    left: Numbers  # rows of this round that are not drawn yet

    @classmethod
    def of(cls, rows: Numbers, seed: Any) -> Deck:
        """All rows still to come."""
        return cls(rows, np.random.default_rng(seed), rows[:0])

    def draw(self, n: int, sampling: Sampling) -> Numbers:
        """The next n rows: by shuffled rounds, uniformly at random, or in order."""
        if sampling == "uniform":
            return self.rows[self.random.integers(len(self.rows), size=n)]
        parts = [self.left[:n]]
        self.left = self.left[n:]
        while (missing := n - sum(map(len, parts))) > 0:
            self.left = self.rows if sampling == "sequential" else self.random.permutation(self.rows)
            parts.append(self.left[:missing])
            self.left = self.left[missing:]
        return np.concatenate(parts)


@dataclass
class KernelPegasosState:
    """Everything a run needs to continue: plain arrays and counters, picklable."""

    alpha: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]  # scores of all rows, and one unused entry
    alpha_sum: npt.NDArray[np.float64] | None  # sum of the iterates since the average started
    pool: Numbers  # rows to draw from
    decks: list[Deck]  # the pool, or one deck per sign in it; drawn from in turn
    unit: float  # lam total that the alphas refer to
    step: int = 0
    drawn: int = 0
    square: float = 0.0  # |w|^2, maintained when projecting
    averaged: int = 0
    tail_at: float = np.inf  # number of rows after which the tail average restarts: epochs 1, 2, 4, 8, ...


@dataclass(frozen=True)
class KernelPegasos:
    """The settings, the same as those of `Pegasos`."""

    pegasos: Pegasos

    def start(self, problem: Problem, seed: int) -> KernelPegasosState:
        """Start at the zero vector."""
        n = problem.rows.n_rows
        return self.enter(problem, np.zeros(n), np.arange(n), step=0, seed=seed)

    def enter(self, problem: Problem, alpha: Floats, pool: Numbers, *, step: int, seed: int) -> KernelPegasosState:
        """Start at a dual point, possibly outside its bounds, after ``step`` steps; ``pool`` is the rows to draw."""
        rows = _rows(problem)
        averages = self.pegasos.average is not None
        size = self.pegasos.batch_size
        if size > _ROWS_AT_ONCE and size * size > rows.columns.table.size:
            raise PegasosError(
                f"batch_size={size} needs a kernel matrix of {size * size * rows.dtype.itemsize / 2**20:.0f} MB; "
                "raise cache_size or use smaller batches."
            )
        state = KernelPegasosState(
            alpha.astype(np.float64),
            rows.scores(_rows(problem).coefficients(problem, alpha)),
            np.zeros(rows.n_rows) if averages else None,
            pool,
            self._decks(problem, pool, seed),
            problem.lam * problem.total,
            step,
        )
        if self.pegasos.average == "tail":
            state.tail_at = len(pool)
        state.square = float(np.sum(_rows(problem).coefficients(problem, state.alpha) * state.scores[:-1]))
        return state

    def resume(self, problem: Problem, state: KernelPegasosState) -> KernelPegasosState:
        """Return a copy that continues from the same weights; whatever else depends on the problem is recomputed."""
        resumed = copy.deepcopy(state)
        rows, unit = _rows(problem), problem.lam * problem.total
        resumed.alpha *= unit / state.unit
        if resumed.alpha_sum is not None:
            resumed.alpha_sum *= unit / state.unit
        resumed.unit = unit
        coefficients = rows.coefficients(problem, resumed.alpha)
        resumed.scores = rows.scores(coefficients)
        if not self._serve(problem, resumed.decks):
            resumed.decks = self._decks(problem, state.pool, state.step)
        resumed.square = inner(coefficients, resumed.scores[:-1])
        if (state.alpha_sum is None) != (self.pegasos.average is None):
            resumed.alpha_sum = None if self.pegasos.average is None else np.zeros(rows.n_rows)
            resumed.averaged = 0
        resumed.tail_at = np.inf
        if self.pegasos.average == "tail":
            resumed.tail_at = len(state.pool)
            while resumed.tail_at < state.drawn:
                resumed.tail_at *= 2
        return resumed

    def steps(self, state: KernelPegasosState) -> int:
        """Steps taken so far."""
        return state.step

    def visits(self, state: KernelPegasosState) -> int:
        """Rows visited so far."""
        return state.drawn

    def advance_to(self, problem: Problem, state: KernelPegasosState, visits: int) -> None:
        """Advance by whole blocks until that many rows are visited, or the last step is reached.

        Only the state and the last step decide where a block ends.
        """
        size, n = self.pegasos.batch_size, len(state.pool)
        while state.drawn < visits and (left := self.pegasos.steps_until(state.step + _ROWS_AT_ONCE) - state.step) > 0:
            if state.alpha_sum is not None and state.drawn >= state.tail_at:
                state.alpha_sum[:] = 0.0
                state.averaged = 0
                state.tail_at *= 2
            ahead = n - state.drawn % n  # rows left in this epoch
            self.step(problem, state, min(left, max(1, min(-(-ahead // size), _ROWS_AT_ONCE // size))))

    def ending_at(self, step: int) -> KernelPegasos:
        """Return the solver that takes no step after this one."""
        return KernelPegasos(self.pegasos.ending_at(step))

    def step(self, problem: Problem, state: KernelPegasosState, n_steps: int) -> None:
        """Take n_steps more steps, on rows drawn ahead."""
        rows, settings = _rows(problem), self.pegasos
        drawn, draw_weights = self.draw(state, n_steps * settings.batch_size)
        # The loop treats the block as the whole problem; the costs account for its fraction of the whole.
        block = _core.make_problem(
            _core.gram_rows(rows.columns.square_of(drawn)),
            problem.sign[drawn],
            problem.cost[drawn] * draw_weights * (len(state.pool) / len(drawn)),
            problem.offset[drawn],
            problem.lam,
            problem.total,
            problem.cap,
            problem.ridge,
        )
        # The last entry tracks the scaling of everything outside the block.
        weights = np.append(state.scores[drawn], 1.0)
        alphas = np.zeros(len(drawn))
        averages = state.alpha_sum is not None
        weight_sums, alpha_sums = (np.zeros_like(weights), np.zeros_like(alphas)) if averages else (None, None)
        now = _core.PegasosCounters()
        now.step, now.squared_norm = state.step, state.square
        _core.pegasos_advance(
            block,
            now,
            weights,
            alphas,
            weight_sums,
            alpha_sums,
            np.empty(0, np.uint32),
            np.empty(settings.batch_size, np.uint32),
            "sequential",
            settings.projection,
            problem.radius,
            n_steps,
        )
        if state.alpha_sum is not None and weight_sums is not None and alpha_sums is not None:
            state.alpha_sum += (now.scale_sum * weights[-1] - weight_sums[-1]) * state.alpha
            np.add.at(state.alpha_sum, drawn, now.scale_sum * alphas - alpha_sums)
            state.averaged += n_steps
        kept = now.scale * weights[-1]
        gained = np.zeros(rows.n_rows)
        np.add.at(gained, drawn, now.scale * alphas)
        state.alpha = kept * state.alpha + gained
        state.scores *= kept
        rows.add_columns(np.flatnonzero(gained), _rows(problem).coefficients(problem, gained), state.scores[:-1])
        state.square = now.scale**2 * now.squared_norm
        state.step = now.step
        state.drawn += len(drawn)

    def next_look(self, problem: Problem, state: KernelPegasosState) -> int:
        """Look at the end of the epoch, where the dual point is within its bounds."""
        n = len(state.pool)
        return (state.drawn // n + 1) * n

    def review_due(self, problem: Problem, state: KernelPegasosState, epoch: int | None, tol: float | None) -> bool:
        """Review at whole epochs that grow by about a quarter."""
        return epoch is not None and epoch in growing_epochs

    def review(self, problem: Problem, state: KernelPegasosState, tol: float | None) -> Review:
        """Certify the iterate or the average."""
        weights, alpha = self.point(problem, state)
        alpha = better_within_bounds(problem, alpha)
        return Review(certify(problem, weights, alpha), weights, alpha)

    def point(self, problem: Problem, state: KernelPegasosState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the coefficients and the dual point that the state represents."""
        alpha = state.alpha
        if state.alpha_sum is not None and state.averaged:
            alpha = state.alpha_sum / state.averaged
        return _rows(problem).coefficients(problem, alpha), alpha

    def _decks(self, problem: Problem, pool: Numbers, seed: int) -> list[Deck]:
        if self.pegasos.sampling != "balanced":
            return [Deck.of(pool, seed)]
        positive = problem.sign[pool] > 0
        groups = [group for group in (pool[~positive], pool[positive]) if len(group)]
        return [Deck.of(group, [seed, k]) for k, group in enumerate(groups)]

    def _serve(self, problem: Problem, decks: list[Deck]) -> bool:
        """Whether these decks fit this sampling and these signs."""
        if self.pegasos.sampling != "balanced":
            return len(decks) == 1
        return all(len(np.unique(problem.sign[deck.rows])) == 1 for deck in decks)

    def draw(self, state: KernelPegasosState, n: int) -> tuple[Numbers, npt.NDArray[np.float64]]:
        """Draw the next n rows from each deck in turn; also return 1/n over the probability of drawing each row."""
        n_decks = len(state.decks)
        rows, weights = np.empty(n, np.intp), np.empty(n)
        for k, deck in enumerate(state.decks):
            mine = slice((k - state.drawn) % n_decks, None, n_decks)
            rows[mine] = deck.draw(len(rows[mine]), self.pegasos.sampling)
            weights[mine] = n_decks * len(deck.rows) / len(state.pool)
        return rows, weights


def _rows(problem: Problem) -> KernelRows:
    assert isinstance(problem.rows, KernelRows)
    return problem.rows
