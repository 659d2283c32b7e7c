"""Pegasos, block by block (for the loop, see cpp/core/pegasos/linear_pegasos.h).

Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM. Mathematical
Programming 127, 2011, on a walk over blocks (`solvers.walk`): a walk visits every row once. In addition to the current
block it needs memory for the weights and for one dual variable per row, from which the certificate is computed: after
whole walks alpha_i is cost_i times the fraction of walks in which row i violated, and w = w(alpha).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats
from pegasos.solvers.driver import Review
from pegasos.solvers.pegasos import Pegasos, PegasosState, growing_epochs
from pegasos.solvers.walk import BlockState, Walk, Walker, review_of, rows_of
from pegasos.source_problem import SourceProblem
from pegasos.window import Numbers

_SMALL_SCALE = 1e-6  # the loop would fold a smaller scale into the rows of its block only


@dataclass
class BlockPegasosState(BlockState):
    """Everything a run needs to continue; w = scale * weights and so on, as in `PegasosState`."""

    counters: list[_core.PegasosCounters]  # one per problem
    weight_sums: Floats | None
    alpha_sums: Floats | None
    order: npt.NDArray[np.uint32]  # order of the rows of the current block


@dataclass(frozen=True)
class BlockPegasos(Walker[BlockPegasosState]):
    """Settings: what is averaged, and the type of the weights."""

    average: Literal["uniform", "tail"] | None = None
    dtype: npt.DTypeLike = np.float64

    def start(self, problem: SourceProblem, seed: int) -> BlockPegasosState:
        """Start at zero weights."""
        shapes = problem.weights_shape, problem.alpha_shape
        weights, alpha = (np.zeros(shape, self.dtype) for shape in shapes)
        weight_sums, alpha_sums = (None if self.average is None else np.zeros(shape, self.dtype) for shape in shapes)
        counters = [_core.PegasosCounters() for _ in range(problem.n_problems)]
        for k, mine in enumerate(counters):
            mine.random = int(np.random.SeedSequence([seed, k]).generate_state(1, np.uint64)[0])
        order = np.empty(max(rows_of(problem, block) for block in range(problem.n_blocks)), np.uint32)
        return BlockPegasosState(Walk(seed), weights, alpha, counters, weight_sums, alpha_sums, order)

    def review_due(
        self, problem: SourceProblem, state: BlockPegasosState, epoch: int | None, tol: float | None
    ) -> bool:
        """Review after whole walks that grow by about a quarter: a certificate costs about as much as a walk."""
        n_walks = state.walk.number + 1
        return state.walk.place < 0 and (n_walks < 4 or n_walks in growing_epochs)

    def review(self, problem: SourceProblem, state: BlockPegasosState, tol: float | None) -> Review:
        """Certify the iterate or the average."""
        weights, alpha = self.point(problem, state)
        if state.walk.place >= 0:
            # In the middle of a walk, some rows are a walk ahead of the others; this brings all of them within their
            # bounds.
            n_walks, n_rows = state.walk.number + 1, problem.rows.n_rows
            alpha = alpha * alpha.dtype.type(state.walk.visits / (n_walks * n_rows))
        return review_of(problem, weights, alpha)[0]

    def point(self, problem: SourceProblem, state: BlockPegasosState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual points that the state represents."""
        if state.weight_sums is None or state.alpha_sums is None:
            self._fold(state)
            return state.weights.astype(np.float64), state.alpha
        weights, alpha = np.empty(problem.weights_shape), np.empty_like(state.alpha)
        with np.errstate(over="ignore", invalid="ignore"):  # the certificate reports it
            for k, now in enumerate(state.counters):
                averaged = max(now.averaged, 1)
                mean = now.scale_sum / averaged
                weights[k] = mean * state.weights[k].astype(np.float64) - state.weight_sums[k] / averaged
                alpha[k] = mean * state.alpha[k] - state.alpha_sums[k] / averaged
        return weights, alpha

    def _fold(self, state: BlockPegasosState) -> None:
        """Multiply the scales into the arrays of all rows, which the loop cannot do because it sees one block only."""
        for k, now in enumerate(state.counters):
            scale = now.scale
            with np.errstate(over="ignore", invalid="ignore"):
                state.weights[k] *= scale
                state.alpha[k] *= scale
            now.scale, now.scale_sum, now.squared_norm = 1.0, now.scale_sum / scale, now.squared_norm * scale * scale

    def _begin_walk(self, problem: SourceProblem, state: BlockPegasosState) -> None:
        super()._begin_walk(problem, state)
        number = state.walk.number
        if self.average == "tail" and number > 0 and (number & (number - 1)) == 0:
            for k, now in enumerate(state.counters):
                assert state.weight_sums is not None
                assert state.alpha_sums is not None
                state.weight_sums[k], state.alpha_sums[k] = 0.0, 0.0
                now.scale_sum, now.averaged = 0.0, 0

    def _begin_turn(self, problem: SourceProblem, state: BlockPegasosState, block: int) -> None:
        now, n_rows = state.counters[state.walk.turn], rows_of(problem, block)
        state.order[:n_rows] = np.arange(n_rows)
        now.position = n_rows  # all rows are drawn, so the loop shuffles first
        if now.scale < _SMALL_SCALE:
            self._fold(state)

    def _size(self, problem: SourceProblem, state: BlockPegasosState, k: int, block: int) -> int:
        return rows_of(problem, block)

    def _needs_all(self, state: BlockPegasosState, block: int) -> bool:
        return True

    def _rows_left(self, problem: SourceProblem, state: BlockPegasosState, block: int) -> Numbers:
        return np.arange(rows_of(problem, block) // problem.n_sides)

    def _work(self, problem: SourceProblem, state: BlockPegasosState, block: int, n_visits: int) -> None:
        k, span = state.walk.turn, problem.span(block)
        part = problem.part_of_block(problem.window.piece(block, whole=True), block, k)
        # The loop treats the rows of the block as all rows, so each row stands for more when there are more.
        share = problem.n_rows / part.rows.n_rows
        own = PegasosState(
            state.counters[k],
            state.weights[k],
            state.alpha[k, span],
            None if state.weight_sums is None else state.weight_sums[k],
            None if state.alpha_sums is None else state.alpha_sums[k, span],
            state.order[: part.rows.n_rows],
            "shuffle",
        )
        Pegasos(average=self.average, dtype=self.dtype).step(replace(part, cost=part.cost * share), own, n_visits)
