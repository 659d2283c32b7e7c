"""The stage of decomposition that replaces further steps by an interior point where that takes less work."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pegasos.gram import KernelRows, Numbers
from pegasos.problem import Floats, Problem
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.decomposition_state import DecompositionState
from pegasos.solvers.dual_slopes import Room, can_move, moved, room_of, rows_of
from pegasos.solvers.kernel_interior import DenseSystem, InteriorPoint, LowRankSystem, PivotedFactor

_STEPS_PER_SQUARE = 1.0  # steps that take as long as an interior point, per squared number of its rows
_EVIDENCE = 8  # steps per row before their rate is trusted
_MOST_INTERIORS = 6
_FAR = 1e-3  # relative error above which a low-rank factor says too little about the kernel
# fraction of the requested gap that an interior point aims at, which makes rows at bounds easier to recognize
_INTERIOR_AIM = 0.01
# most rows of an interior point on the whole matrix; above, most rows times squared rank
_DENSE_ROWS, _RANK_WORK = 3000, 1e10


@dataclass(frozen=True)
class _Block:
    """Some rows of the kernel matrix, restricted to some columns."""

    rows: KernelRows
    inside: Numbers

    def __call__(self, places: Numbers) -> Floats:
        return self.rows.values.block(self.inside[places], self.inside)


@dataclass(frozen=True)
class InteriorStage:
    """Settings: the relative gap to reach, and whether the intercept is free."""

    tol: float | None
    is_free: bool

    def is_slow(self, problem: Problem, state: DecompositionState) -> bool:
        """Whether the recent rate of steps means more work than an interior point, which supports only the hinge."""
        if not problem.loss.is_hinge:
            return False
        n, (older, newer) = problem.rows.n_rows, state.marks
        state.least_gap = min(state.least_gap, state.gap)
        taken = state.steps - older[0]
        if state.steps - newer[0] >= max(_EVIDENCE * n, newer[0] - older[0]):
            state.marks = newer, (state.steps, state.least_gap)
        aim = 0.5 * min(self.tol or 0.0, state.target) * state.primal
        if not 0.0 < aim < state.gap or taken < _EVIDENCE * n or state.n_interiors >= _MOST_INTERIORS:
            return False
        rate = math.log(older[1] / state.least_gap) / taken if 0.0 < state.least_gap < older[1] < np.inf else 0.0
        return math.log(state.gap / aim) > rate * _STEPS_PER_SQUARE * min(n, _DENSE_ROWS) ** 2

    def choose(self, problem: Problem, state: DecompositionState) -> None:
        """Choose the rows of an interior point: all rows, or those that can move where there are many."""
        rows, room = rows_of(problem), room_of(problem, state.alpha)
        inside = np.flatnonzero(problem.cost > 0.0)
        if len(inside) > _DENSE_ROWS:
            own = Room(room.down[inside], room.up[inside])
            inside = inside[can_move(state.slope[inside], own, is_free=self.is_free)]
        state.inside, state.n_interiors = inside, state.n_interiors + 1
        state.is_chosen = True
        if len(inside) <= _DENSE_ROWS and rows.columns.holds_all and not rows.columns.is_mixed:
            state.waiting = inside

    def begin(self, problem: Problem, state: DecompositionState) -> None:
        """Use the whole kernel matrix for a small problem, a low-rank factor for a large one."""
        rows, inside = rows_of(problem), state.inside
        state.waiting, state.is_chosen = inside[:0], False
        if len(inside) > _DENSE_ROWS:
            most = int(math.sqrt(_RANK_WORK / len(inside)))
            state.factor = PivotedFactor(_Block(rows, inside), rows.squared_norms[inside], most)
            return
        unit = 1.0 / (problem.lam * problem.total)
        with one_thread_of_blas():
            self._pose(problem, state, DenseSystem(unit * rows.columns.square_of(inside).astype(np.float64)))

    def advance(self, problem: Problem, state: DecompositionState) -> None:
        """Do a piece of work: an iteration, or some pivots of the low-rank factor."""
        if state.interior is not None:
            self._iterate(problem, state, state.interior)
        elif state.factor is not None:
            self._approximate(problem, state, state.factor)

    def _pose(self, problem: Problem, state: DecompositionState, system: DenseSystem | LowRankSystem) -> None:
        """Set up the problem of the interior point with this matrix."""
        inside, room = state.inside, room_of(problem, state.alpha)
        b, slope = (problem.sign * state.alpha)[inside], state.slope[inside]
        bounds = b + room.down[inside], b + room.up[inside]
        share = _INTERIOR_AIM * min(self.tol or 1.0, state.target)
        total = float(b.sum()) if self.is_free else None
        interior = InteriorPoint(system, slope + system.times(b), *bounds, total, share)
        interior.rest = (state.primal - state.gap) * problem.total - interior.objective(b, slope)
        state.interior = interior

    def _approximate(self, problem: Problem, state: DecompositionState, factor: PivotedFactor) -> None:
        """Add some pivots; once the factor is close to the kernel matrix, use it in an interior point."""
        unit = 1.0 / (problem.lam * problem.total)
        allowed = _INTERIOR_AIM * min(self.tol or 1.0, state.target) * (state.primal - state.gap) * problem.total
        if factor.error * unit * float(np.max(problem.cost[state.inside])) ** 2 > 2.0 * allowed and factor.advance():
            return
        state.factor = None
        if factor.error > _FAR * float(np.sum(problem.rows.squared_norms[state.inside])):
            state.inside, state.n_interiors = state.inside[:0], _MOST_INTERIORS
            return
        self._pose(problem, state, LowRankSystem(math.sqrt(unit) * factor.root[:, : factor.rank]))

    def _iterate(self, problem: Problem, state: DecompositionState, interior: InteriorPoint) -> None:
        """Run one iteration of the interior point; at its end, adopt its solution if that is better."""
        interior.advance()
        if not interior.is_over:
            return
        b, dual = interior.on_face(), state.primal - state.gap
        if b is interior.best[1] and interior.refine():
            return
        before = state.alpha.copy(), state.slope.copy()
        state.alpha, state.slope = moved(problem, state.alpha, state.slope, state.inside, b)
        state.interior, state.inside = None, state.inside[:0]
        state.estimate(problem, is_free=self.is_free)
        if not state.primal - state.gap >= dual:
            state.alpha, state.slope = before
            state.estimate(problem, is_free=self.is_free)
        state.marks = ((state.steps, state.gap), (state.steps, state.gap))
        state.least_gap = state.gap
