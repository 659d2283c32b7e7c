"""Dual coordinate ascent with shrinking, block by block (for the loop, see cpp/core/pegasos/dual_ascent.h).

Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008, on a
walk over blocks (`solvers.walk`). A turn is one sweep over the active rows of a block. Each block is shrunk
separately, and a block without active rows is not read. When the active rows of all blocks are no more than one block
has, they are gathered and swept together, as `DualAscent` would. All rows become active again when a certificate shows
that the gap is still open. Any order of the rows leads to the same optimum, so the optimum is that of `DualAscent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats, Problem, inner
from pegasos.solvers.driver import Review
from pegasos.solvers.walk import BlockState, Walk, Walker, review_of, rows_of
from pegasos.source_problem import SourceProblem, Sums
from pegasos.window import Numbers

_FIRST_PLANNED_LOOK = 16  # walk after which the first planned review is due
_CAUTION = 0.8  # fraction of tol: a failed certificate costs two passes over all rows


@dataclass
class Gathered:
    """The active rows of all blocks, swept together."""

    numbers: Numbers
    order: npt.NDArray[np.uint32]  # (n_problems, len(numbers))
    counters: list[_core.DualCounters]  # one per problem


class _Share(NamedTuple):
    """The part of a problem that the loop gets: some of its rows."""

    part: Problem
    mine: slice | Numbers  # which rows
    order: npt.NDArray[np.uint32]
    counters: _core.DualCounters


@dataclass
class BlockDualState(BlockState):
    """Everything a run needs to continue: plain arrays and counters."""

    order: npt.NDArray[np.uint32]  # (n_problems, n_rows): per block its own rows, active ones first
    counters: list[list[_core.DualCounters]]  # per problem and block
    resting: npt.NDArray[np.bool_]  # (n_problems, n_blocks): whether no row is active
    gathered: Gathered | None = None
    target: float = np.inf  # a review is due when the estimate of the relative gap falls below this


@dataclass(frozen=True)
class BlockAscent(Walker[BlockDualState]):
    """Settings: the type of the weights, and how often a block is swept while it is in memory."""

    dtype: npt.DTypeLike = np.float64
    sweeps: int = 1

    def start(self, problem: SourceProblem, seed: int) -> BlockDualState:
        """Start at the zero dual point."""
        alpha, weights = (np.zeros(shape, self.dtype) for shape in (problem.alpha_shape, problem.weights_shape))
        return self.enter(problem, weights, alpha, Walk(seed))

    def enter(self, problem: SourceProblem, weights: Floats, alpha: Floats, walk: Walk) -> BlockDualState:
        """Start at a dual point and its weights, at the end of a walk; both are changed in place."""
        n_problems, n_blocks = problem.n_problems, problem.n_blocks
        alpha = problem.within_bounds(alpha).astype(alpha.dtype, copy=False)
        counters = [[_core.DualCounters() for _ in range(n_blocks)] for _ in range(n_problems)]
        for k, of_problem in enumerate(counters):
            for block, mine in enumerate(of_problem):
                mine.random = _seed_of(walk.seed, k, block)
                mine.alpha_sum = problem.gain_of(alpha[k, problem.span(block)], block, k)
        order = np.empty(problem.alpha_shape, np.uint32)
        return BlockDualState(walk, weights, alpha, order, counters, np.zeros((n_problems, n_blocks), bool))

    def review_due(self, problem: SourceProblem, state: BlockDualState, epoch: int | None, tol: float | None) -> bool:
        """At the end of a walk, when the loop's own estimate of the gap is small enough, and at regular intervals."""
        if state.walk.place >= 0:
            return False
        n_walks = state.walk.number + 1
        if n_walks >= _FIRST_PLANNED_LOOK and (n_walks & (n_walks - 1)) == 0:
            return True
        return tol is not None and not self.estimate(problem, state) > min(_CAUTION * tol, state.target)

    def review(self, problem: SourceProblem, state: BlockDualState, tol: float | None) -> Review:
        """Certify the point reached, and remove the rounding errors accumulated in the weights."""
        review, found = review_of(problem, state.weights.astype(np.float64), state.alpha)
        # without a tol no certificate ends the run, so all rows must be swept again or only the active ones would be
        if tol is None:
            self._recall(problem, state, [False] * problem.n_problems)
        elif not review.certificate.relative_gap <= tol:
            # Shrinking or the estimate was too optimistic: sweep all rows again, and trust the estimate less next time.
            if self.estimate(problem, state) <= min(_CAUTION * tol, state.target):
                state.target = 0.5 * min(_CAUTION * tol, state.target)
            self._recall(problem, state, [part.relative_gap <= tol for part in review.certificate.parts])
        if review.certificate.is_finite:
            self._settle(state, found)
        return review

    def estimate(self, problem: SourceProblem, state: BlockDualState) -> float:
        """Largest relative gap, estimated by the last sweeps."""
        return max(self._estimate(problem, state, k) for k in range(problem.n_problems))

    def _estimate(self, problem: SourceProblem, state: BlockDualState, k: int) -> float:
        swept = state.counters[k] if state.gathered is None else [state.gathered.counters[k]]
        gap = sum(mine.sweep_gap for mine in swept)
        primal = (self._alpha_sum(state, k) + gap) / problem.total - 0.5 * problem.lam * inner(
            state.weights[k], state.weights[k]
        )
        return gap / problem.total / primal if primal > 0.0 else 0.0

    def _begin_walk(self, problem: SourceProblem, state: BlockDualState) -> None:
        if state.resting.all():  # no row is active anywhere: all become active again, as in a sweep
            self._recall(problem, state, [False] * problem.n_problems)
        if state.gathered is None and state.walk.number >= 0:
            self._consider_gathering(problem, state)
        super()._begin_walk(problem, state)

    def _consider_gathering(self, problem: SourceProblem, state: BlockDualState) -> None:
        """Gather the active rows once those of all blocks are no more than one block has, in rows and in bytes.

        The bytes of a row are those of an average row of its block. This is a property of the source, so that the
        available memory has no influence.
        """
        blocks, starts = range(problem.n_blocks), problem.window.source.starts
        if any(self._needs_all(state, block) for block in blocks):
            return
        rows, n_bytes = np.diff(starts), problem.window.block_bytes
        # Most walks end here, from the counters alone: row numbers of all blocks would take memory that is not
        # accounted for.
        if any(self._n_left(state, k) > problem.n_sides * rows.max() for k in range(problem.n_problems)):
            return
        n_left = np.array([len(self._rows_left(problem, state, block)) for block in blocks])
        if n_left.sum() > rows.max() or n_left @ (n_bytes / np.maximum(rows, 1)) > n_bytes.max():
            return
        left = [np.flatnonzero(self._is_left(problem, state, block)) + problem.span(block).start for block in blocks]
        numbers = np.concatenate(left)
        counters = [_core.DualCounters() for _ in range(problem.n_problems)]
        for k, mine in enumerate(counters):
            mine.random = _seed_of(state.walk.seed, k, problem.n_blocks + state.walk.number)
        state.gathered = Gathered(numbers, np.empty((problem.n_problems, len(numbers)), np.uint32), counters)

    def _recall(self, problem: SourceProblem, state: BlockDualState, is_done: list[bool]) -> None:
        """Activate all rows of all problems; a problem that is done has none to visit."""
        state.resting[:] = np.array(is_done)[:, None]
        for k, of_problem in enumerate(state.counters):
            for mine in of_problem:
                mine.recall_all_rows()
            if state.gathered is not None:
                of_problem[0].alpha_sum += state.gathered.counters[k].alpha_sum
        state.gathered = None
        problem.window.recall()

    def _settle(self, state: BlockDualState, found: list[Sums]) -> None:
        for k, sums in enumerate(found):
            with np.errstate(over="ignore"):
                state.weights[k] = sums.own.weights
            state.counters[k][0].alpha_sum += sums.own.gain - self._alpha_sum(state, k)

    def _alpha_sum(self, state: BlockDualState, k: int) -> float:
        of_blocks = sum(mine.alpha_sum for mine in state.counters[k])
        return of_blocks + (0.0 if state.gathered is None else state.gathered.counters[k].alpha_sum)

    def _n_turns(self, problem: SourceProblem) -> int:
        return self.sweeps * problem.n_problems

    def _order(self, problem: SourceProblem, state: BlockDualState) -> list[int]:
        return super()._order(problem, state) if state.gathered is None else [problem.n_blocks]

    def _size(self, problem: SourceProblem, state: BlockDualState, k: int, block: int) -> int:
        if state.gathered is not None:
            # Sweep few rows several times, because a look at the counters also has a cost.
            left = state.gathered.counters[k].active or len(state.gathered.numbers)
            return 0 if state.resting[k].all() else max(left, problem.n_rows // 16)
        if state.resting[k, block]:
            return 0
        return state.counters[k][block].active or rows_of(problem, block)

    def _needs_all(self, state: BlockDualState, block: int) -> bool:
        return any(
            of_problem[block].active == 0 and not state.resting[k, block] for k, of_problem in enumerate(state.counters)
        )

    def _n_left(self, state: BlockDualState, k: int) -> int:
        """Number of active rows of all blocks, for one problem."""
        pairs = zip(state.counters[k], state.resting[k], strict=True)
        return sum(mine.active for mine, is_resting in pairs if not is_resting)

    def _rows_left(self, problem: SourceProblem, state: BlockDualState, block: int) -> Numbers:
        return np.flatnonzero(self._is_left(problem, state, block).reshape(problem.n_sides, -1).any(axis=0))

    def _is_left(self, problem: SourceProblem, state: BlockDualState, block: int) -> npt.NDArray[np.bool_]:
        """For each of the problem's rows of a block: whether it is active in any of the problems."""
        is_left = np.zeros(rows_of(problem, block), bool)
        for k, of_problem in enumerate(state.counters):
            if not state.resting[k, block]:
                is_left[state.order[k, problem.span(block)][: of_problem[block].active]] = True
        return is_left

    def _announce(self, problem: SourceProblem, state: BlockDualState, order: list[int]) -> None:
        if state.gathered is None:
            super()._announce(problem, state, order)

    def _leave(self, problem: SourceProblem, state: BlockDualState, block: int) -> None:
        if state.gathered is None:
            super()._leave(problem, state, block)

    def _work(self, problem: SourceProblem, state: BlockDualState, block: int, n_visits: int) -> None:
        k = state.walk.turn % problem.n_problems
        if state.gathered is not None:
            numbers = state.gathered.numbers
            part = problem.gathered(numbers, k)
            self._sweep(state, k, _Share(part, numbers, state.gathered.order[k], state.gathered.counters[k]), n_visits)
            return
        span, counters = problem.span(block), state.counters[k][block]
        order, left = state.order[k, span], counters.active
        piece = problem.window.piece(block, whole=self._needs_all(state, block))
        part, here = problem.part_of_block(piece, block, k), problem.within_block(piece, block)
        if here is None:
            self._sweep(state, k, _Share(part, span, order, counters), n_visits)
            return
        # Only these rows of the block are in memory, and the loop addresses them by their positions.
        place = np.empty(len(order), np.uint32)
        place[here] = np.arange(len(here), dtype=np.uint32)
        places = np.zeros(len(here), np.uint32)
        places[:left] = place[order[:left]]
        self._sweep(state, k, _Share(part, here + span.start, places, counters), n_visits)
        order[:left] = here[places[:left]]

    def _sweep(self, state: BlockDualState, k: int, share: _Share, n_visits: int) -> None:
        """Visit rows; the dual variables of a slice are changed in place, those of row numbers in a copy."""
        part, weights = share.part, state.weights[k]
        alpha = state.alpha[k, share.mine]
        _core.dual_advance(part.native, share.counters, weights, alpha, part.rows.squared_norms, share.order, n_visits)
        if not isinstance(share.mine, slice):
            state.alpha[k, share.mine] = alpha

    def _end_turn(self, problem: SourceProblem, state: BlockDualState, block: int) -> None:
        k = state.walk.turn % problem.n_problems
        if state.gathered is None and state.counters[k][block].active == 0:
            state.resting[k, block] = True


def _seed_of(seed: int, k: int, number: int) -> int:
    """Seed of the generator of one problem on one block."""
    return int(np.random.SeedSequence([seed, k, number]).generate_state(1, np.uint64)[0])
