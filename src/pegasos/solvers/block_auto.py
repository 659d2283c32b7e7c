"""Choose a solver for data out of core: a first walk of Pegasos where there are many rows, then dual ascent.

At zero weights every row violates, and the first walk of dual ascent pushes each to its bound; the second takes most of
them back. Pegasos forgets its first steps, and leaves a relative gap of about |x|^2 / (lam total) after one walk, with
a dual point that dual ascent continues from without another read. Where that gap would be large, dual ascent starts,
and sweeps each block twice while it is in memory: it needs more walks, and reading takes most of the time. Where its
walks do not reach the gap, Newton's method over the blocks does (`block_newton`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pegasos.problem import Floats
from pegasos.solvers.block_ascent import BlockAscent, BlockDualState
from pegasos.solvers.block_newton import BlockNewton
from pegasos.solvers.block_pegasos import BlockPegasos, BlockPegasosState
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.source_problem import SourceProblem

_FIRST_GAP_WORTH_HAVING = 0.2  # largest relative gap for which a first walk of Pegasos is worthwhile
_FIRST_FINISH = 4  # walks of dual ascent after which Newton's method is tried; then twice, four times as many, ...
_PRICE_PER_WALK = 1e8  # nanoseconds that Newton's method may be expected to take per walk done so far


@dataclass
class BlockAutoState:
    """The current state: Pegasos in the first walk, then dual ascent."""

    pegasos: BlockPegasosState | None = None
    dual: BlockDualState | None = None
    first_gap: float = np.inf  # relative gap that Pegasos is expected to leave
    next_finish: int = _FIRST_FINISH  # walk after which Newton's method is tried
    is_finished: bool = False  # whether Newton's method has ended with a point that is not reviewed yet
    best: Review | None = None  # the point that Newton's method left, while dual ascent has none with a smaller gap
    is_exhausted: bool = False  # whether rounding is most of the gap that Newton's method left


@dataclass(frozen=True)
class BlockAuto:
    """The solvers to choose from."""

    pegasos: BlockPegasos
    ascent: BlockAscent
    tol: float | None = None

    @classmethod
    def of_type(cls, dtype: npt.DTypeLike, tol: float | None = None) -> BlockAuto:
        """Create the solvers with weights of this type."""
        return cls(BlockPegasos(dtype=dtype), BlockAscent(dtype), tol)

    def start(self, problem: SourceProblem, seed: int) -> BlockAutoState:
        """Estimate from the rows of one block what Pegasos would leave after a walk."""
        squares = problem.window.piece(0, whole=True).rows.squared_norms
        first_gap = float(squares.mean(dtype=np.float64)) / (problem.lam * problem.total)
        if first_gap <= _FIRST_GAP_WORTH_HAVING and problem.loss.cap < np.inf:
            return BlockAutoState(pegasos=self.pegasos.start(problem, seed), first_gap=first_gap)
        return BlockAutoState(dual=self.ascent.start(problem, seed), first_gap=first_gap)

    def steps(self, state: BlockAutoState) -> int:
        """Rows visited so far, for all problems."""
        return self.visits(state)

    def visits(self, state: BlockAutoState) -> int:
        """Rows visited so far, for all problems."""
        return self._at_work(state).walk.visits

    def advance_to(self, problem: SourceProblem, state: BlockAutoState, visits: int) -> None:
        """Continue with the current solver, which changes after the first walk."""
        if state.is_exhausted:
            raise ExhaustedError
        if state.pegasos is not None:
            first_walk = problem.rows.n_rows
            self.pegasos.advance_to(problem, state.pegasos, min(visits, first_walk))
            if state.pegasos.walk.visits < first_walk or visits <= first_walk:
                return
            weights, alpha = self.pegasos.point(problem, state.pegasos)
            narrow = weights.astype(self.ascent.dtype)
            state.dual, state.pegasos = self._ascent(state).enter(problem, narrow, alpha, state.pegasos.walk), None
        assert state.dual is not None
        self._ascent(state).advance_to(problem, state.dual, visits)
        if state.dual.walk.place < 0 and state.dual.walk.number + 1 >= state.next_finish:
            self._finish(problem, state, state.dual)

    def _finish(self, problem: SourceProblem, state: BlockAutoState, dual: BlockDualState) -> None:
        """Solve the open problems by Newton's method; dual ascent would continue from there in double."""
        state.next_finish = 2 * (dual.walk.number + 1)
        # An estimate that a certificate has refuted, as happens with rounding in large rows, is not informative.
        is_trusted = dual.target == np.inf
        if self.tol is None or (is_trusted and not self._ascent(state).estimate(problem, dual) > self.tol):
            return
        newton = BlockNewton(problem, self.tol)
        if problem.n_problems * newton.price > _PRICE_PER_WALK * (dual.walk.number + 1):
            return
        weights, alpha = dual.weights.astype(np.float64), dual.alpha.astype(np.float64)
        for k in range(problem.n_problems):
            weights[k], alpha[k] = newton.solve(k)
        state.dual = replace(self._ascent(state), dtype=np.float64).enter(problem, weights, alpha, dual.walk)
        state.is_finished = True

    def next_look(self, problem: SourceProblem, state: BlockAutoState) -> int:
        """The end of the walk."""
        if state.pegasos is not None:
            return problem.rows.n_rows + (self.visits(state) >= problem.rows.n_rows)
        assert state.dual is not None
        return self._ascent(state).next_look(problem, state.dual)

    def review_due(self, problem: SourceProblem, state: BlockAutoState, epoch: int | None, tol: float | None) -> bool:
        """Review after the walk of Pegasos if that may be enough; then when dual ascent asks for it."""
        if state.dual is not None:
            return state.is_finished or self._ascent(state).review_due(problem, state.dual, epoch, tol)
        is_over = self.visits(state) == problem.rows.n_rows
        return is_over and tol is not None and 2.0 * state.first_gap <= tol  # the estimate is not a guarantee

    def review(self, problem: SourceProblem, state: BlockAutoState, tol: float | None) -> Review:
        """Certify the point reached, and return the better of it and the best that Newton's method left."""
        is_finished, state.is_finished = state.is_finished, False
        if state.dual is not None:
            review = self._ascent(state).review(problem, state.dual, tol)
            if is_finished and not (state.best is not None and state.best.is_better_than(review)):
                state.best = review._replace(alpha=review.alpha.copy())  # dual ascent changes its own in place
                certificate = review.certificate
                is_open = tol is not None and certificate.relative_gap > tol
                state.is_exhausted = is_open and certificate.rounding > 0.5 * certificate.gap
            return state.best if state.best is not None and state.best.is_better_than(review) else review
        assert state.pegasos is not None
        return self.pegasos.review(problem, state.pegasos, tol)

    def point(self, problem: SourceProblem, state: BlockAutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual points of the current solver."""
        if state.dual is not None:
            return self._ascent(state).point(problem, state.dual)
        assert state.pegasos is not None
        return self.pegasos.point(problem, state.pegasos)

    def _ascent(self, state: BlockAutoState) -> BlockAscent:
        return self.ascent if state.first_gap <= _FIRST_GAP_WORTH_HAVING else replace(self.ascent, sweeps=2)

    def _at_work(self, state: BlockAutoState) -> BlockDualState | BlockPegasosState:
        at_work = state.dual if state.dual is not None else state.pegasos
        assert at_work is not None
        return at_work
