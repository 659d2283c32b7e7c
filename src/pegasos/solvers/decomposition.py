"""Decomposition: kernel machines to a certified gap (for the ascent itself, see cpp/core/pegasos/decomposition.h).

    max_alpha  (1/total) sum_i (alpha_i (1 - sign_i offset_i) - d_i alpha_i^2 / 2) - lam/2 |w(alpha)|^2
    0 <= alpha_i <= cap cost_i,   d_i = ridge / cost_i

and sum_i alpha_i sign_i = 0 where the intercept is free. Joachims: Making large-scale SVM learning practical. 1999.
Fan, Chen, Lin: Working set selection using second order information. JMLR 6, 2005. In the variables b_i = sign_i
alpha_i the slope of the objective, times total, is h_i = sign_i - offset_i - score_i - d_i b_i; the slopes of all rows
are kept current. The native ascent moves the rows whose kernel columns are in the table or can be computed natively.
For other kernels, each round first loads the columns of the rows with the largest violations. Where the rate of
progress shows that an interior point (`kernel_interior`) takes less work, it solves the problem instead. From any dual
point, the method reaches a dual point with a gap as small as requested.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import cast

import numpy as np

from pegasos.certificate import certify_dual, certify_free
from pegasos.kernels.vector import Vectors
from pegasos.problem import Floats, Problem
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.decomposition_columns import columns_to_load, load_some, takes_sets
from pegasos.solvers.decomposition_interior import InteriorStage
from pegasos.solvers.decomposition_state import DecompositionState
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.dual_slopes import Column, Room, feasible, gap_of, moved, room_of, rows_of, slopes_of
from pegasos.solvers.neighborhoods import fit_in_time, neighborhoods_of
from pegasos.solvers.working_set import Bounds, WorkingSet, chosen_rows, rows_within

_FINE_TOL = 1e-5  # working sets are in double for a tol below this
_CLIMB_WORK, _STEPS_PER_ROW = 5e7, 4  # most slopes updated per piece, and most steps per row
# below this number of steps, twice as many per row are allowed: they take less time than the overhead
_FEW_STEPS = 1 << 12
# fraction of the requested gap at which an ascent ends, for columns in double and in single precision
_AIM, _AIM_SINGLE = 0.9, 0.5
_LEAST_EFFORT = 1e-9
_ROUNDING = 1e-15  # fraction of the objective: no step lowers a gap below this
_MOSTLY = 0.5  # fraction of a gap due to rounding above which further steps do not help
_PATIENCE = 0.05  # least seconds per call: how often the driver checks the clock
_MARGIN = 1.5  # a busy machine may compute columns more slowly during a review than before
_SUM_SECONDS = 1e-9  # most seconds per kernel value in memory that a review sums


@dataclass(frozen=True)
class Decomposition:
    """Settings: the relative gap to reach, whether the intercept is free, and the largest number of steps."""

    tol: float | None = 1e-3
    is_free: bool = False
    max_steps: int | None = None

    @property
    def _interior(self) -> InteriorStage:
        return InteriorStage(self.tol, self.is_free)

    def start(self, problem: Problem, seed: int) -> DecompositionState:
        """Start at the zero dual point."""
        return self.enter(problem, np.zeros(problem.rows.n_rows), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int, steps: int = 0) -> DecompositionState:
        """Start at a dual point of these rows, made feasible.

        If other code has reached it from zero in so many steps, these count as progress.
        """
        rows = rows_of(problem)
        rows.columns.forget()
        nothing = np.zeros(rows.n_rows)
        state = DecompositionState(alpha=nothing, slope=problem.sign - problem.offset, seed=seed, steps=steps)
        state.estimate(problem, is_free=self.is_free)
        at_zero = state.gap
        near = feasible(problem, alpha, is_free=self.is_free) if alpha.any() else nothing
        if near.any():
            state.start_at(problem, near, rows.scores_of(rows.coefficients(problem, near)))
            state.estimate(problem, is_free=self.is_free)
        state.least_gap = state.gap
        state.marks = ((0, at_zero if steps else state.gap), (steps, state.gap))
        return state

    def steps(self, state: DecompositionState) -> int:
        """Number of steps taken so far, each on one or two coordinates."""
        return state.steps

    def visits(self, state: DecompositionState) -> int:
        """Number of steps, plus one for the choice of each round."""
        return state.steps + state.rounds

    def advance_to(self, problem: Problem, state: DecompositionState, visits: int) -> None:
        """Do whole pieces of work for about as long as the driver waits; the last one may take longer."""
        until = perf_counter() + _PATIENCE
        while self.visits(state) < visits:
            self._work(problem, state)
            if perf_counter() >= until:
                return

    def next_look(self, problem: Problem, state: DecompositionState) -> int:
        """Look after every round, because the slopes are available then."""
        return self.visits(state) + 1

    def review_due(self, problem: Problem, state: DecompositionState, epoch: int | None, tol: float | None) -> bool:
        """Review when the slopes show a small enough gap, and at the end of a round after 4, 8, 16 ... epochs."""
        if epoch is not None and epoch >= 4 and (epoch & (epoch - 1)) == 0 and state.working_set is None:
            return True
        return tol is not None and state.gap <= min(tol, state.target) * state.primal

    def review(self, problem: Problem, state: DecompositionState, tol: float | None) -> Review:
        """Certify the dual point from the kernel."""
        review = self._certified(problem, state)
        is_open = tol is not None and review.certificate.relative_gap > tol
        if is_open and tol is not None and state.gap <= min(tol, state.target) * state.primal:
            # Rounding has made the slopes inaccurate: recompute them, and aim lower next time.
            state.slope = slopes_of(problem, state.alpha, rows_of(problem).scores_of(review.weights))
            state.target = 0.5 * min(tol, state.target)
            state.estimate(problem, is_free=self.is_free)
            # No step reduces the room for rounding.
            state.is_exhausted = review.certificate.rounding > _MOSTLY * review.certificate.gap
        return review

    def review_seconds(self, problem: Problem, state: DecompositionState) -> float:
        """Estimate the seconds of a review: for columns that are not in memory, and for the sums over all rows."""
        rows = rows_of(problem)
        slots = rows.columns.slot_of[state.alpha > 0.0]
        per_column = state.column_seconds
        if per_column == 0.0 and isinstance(rows.items, Vectors):  # native code may have computed all columns so far
            per_column = 0.2 * _SUM_SECONDS * rows.n_rows * (rows.items.rows.n_features + 8)
        n_missing = len(slots) if rows.columns.is_mixed else int(np.sum(slots < 0))
        return _SUM_SECONDS * rows.n_rows * len(slots) + _MARGIN * per_column * n_missing

    def _certified(self, problem: Problem, state: DecompositionState) -> Review:
        if not self.is_free:
            return Review(*certify_dual(problem, state.alpha), state.alpha)
        alpha = feasible(problem, state.alpha, is_free=self.is_free)
        certificate, weights, intercept = certify_free(problem, alpha)
        return Review(certificate, weights, alpha, intercept)

    def point(self, problem: Problem, state: DecompositionState) -> tuple[Column, Floats]:
        """Return the coefficients and the dual point."""
        return rows_of(problem).coefficients(problem, state.alpha), state.alpha

    def intercept(self, problem: Problem, state: DecompositionState) -> float:
        """Return the intercept where it is free; otherwise the weights contain it."""
        return state.level

    def _work(self, problem: Problem, state: DecompositionState) -> None:
        """Do a piece of a round: some kernel columns, a climb, or a step of an interior point."""
        if state.is_exhausted:
            raise ExhaustedError
        if self._steps_left(problem, state) == 0:
            state.rounds += problem.rows.n_rows  # counts as an epoch, so that the run ends
            return
        if state.rounds == 0 and self.review_due(problem, state, None, self.tol):
            state.rounds = 1  # the starting point already has a small enough gap
        elif state.interior is not None or state.factor is not None:
            with one_thread_of_blas():
                self._interior.advance(problem, state)
            state.rounds += 1
        elif takes_sets(rows_of(problem)):
            self._advance_set(problem, state)
        elif not state.is_chosen:
            state.waiting = columns_to_load(problem, state, is_free=self.is_free)
            state.is_chosen = True
        elif not load_some(problem, state):
            (self._interior.begin if len(state.inside) else self._round)(problem, state)

    def _advance_set(self, problem: Problem, state: DecompositionState) -> None:
        """Do a piece of a round on a working set."""
        rows, chosen = rows_of(problem), state.working_set
        unit = 1.0 / (problem.lam * problem.total)
        if chosen is None:
            state.working_set = self._choose_set(problem, state)
        elif not chosen.is_climbed:
            if not chosen.load(rows):
                before = chosen.steps
                chosen.climb(unit, keeps_sum=self.is_free)
                state.steps += chosen.steps - before
        elif not chosen.is_over:
            begun, (members, change) = perf_counter(), chosen.next_part(rows.n_rows)
            b = problem.sign[members] * state.alpha[members] + change
            chosen.ahead = moved(problem, *(chosen.ahead or (state.alpha, state.slope)), members, b)
            seconds = (perf_counter() - begun) / len(members)
            state.column_seconds += (seconds - state.column_seconds) * (0.2 if state.column_seconds else 1.0)
        else:
            self._end_set(problem, state, chosen)

    def _end_set(self, problem: Problem, state: DecompositionState, chosen: WorkingSet) -> None:
        """Adopt what the set has reached; if that is not an improvement, its matrix was not precise enough."""
        before, dual = (state.alpha, state.slope), state.primal - state.gap
        state.working_set = None
        state.rounds += 1
        if chosen.ahead is not None:
            state.alpha, state.slope = chosen.ahead
            if len(chosen.neighborhoods) > 1:
                scores = problem.sign - problem.offset - problem.damping * problem.sign * state.alpha - state.slope
                state.start_at(problem, state.alpha, scores)
            state.estimate(problem, is_free=self.is_free)
        if chosen.steps > 0 and state.primal - state.gap >= dual and abs(state.gap) > _ROUNDING * state.primal:
            return
        if state.primal - state.gap < dual:
            state.alpha, state.slope = before
            state.estimate(problem, is_free=self.is_free)
        if chosen.is_double:
            raise ExhaustedError
        state.is_fine = True

    def _choose_set(self, problem: Problem, state: DecompositionState) -> WorkingSet:
        """Choose the rows with the largest violations upward and downward; at zero, all rows in neighborhoods."""
        rows, room, damping = rows_of(problem), room_of(problem, state.alpha), problem.damping
        is_double = state.is_fine or self.tol is None or self.tol < _FINE_TOL
        most = rows_within(rows.cache_bytes, is_double=is_double)
        items = cast(Vectors, rows.items)  # as `takes_sets` has found
        if state.rounds == 0 and not state.alpha.any() and fit_in_time(items, most):
            neighborhoods = neighborhoods_of(items, most, state.seed)
        else:
            above = state.slope - state.level
            rising, falling = np.where(room.up > 0.0, above, -np.inf), np.where(room.down < 0.0, -above, -np.inf)
            neighborhoods = [chosen_rows(rising, falling, most)]
        curvature = problem.rows.squared_norms / (problem.lam * problem.total) + damping
        bounds, gaps = [], []
        for members in neighborhoods:
            own_damping = damping[members] if problem.ridge > 0.0 else None
            own = Room(room.down[members], room.up[members])
            bounds.append(Bounds(state.slope[members], *own, curvature[members], own_damping))
            gaps.append(gap_of(state.slope[members], own, damping[members], self.is_free)[0])
        return WorkingSet.of(neighborhoods, bounds, gaps, is_double=is_double)

    def _round(self, problem: Problem, state: DecompositionState) -> None:
        n_new, state.waiting = len(state.waiting), state.waiting[:0]
        taken = self._climb(problem, state)
        state.rounds += 1
        state.is_chosen = False
        if taken == 0:  # each of many rows may hold a small part of the gap
            state.effort *= 0.5 if n_new else 0.1
        if state.effort < _LEAST_EFFORT or abs(state.gap) <= _ROUNDING * state.primal:
            raise ExhaustedError
        if self._interior.is_slow(problem, state):
            self._interior.choose(problem, state)

    def _steps_left(self, problem: Problem, state: DecompositionState) -> int:
        """Number of steps that a climb may take."""
        n = problem.rows.n_rows
        most = max(_STEPS_PER_ROW * n, min(2 * _STEPS_PER_ROW * n, _FEW_STEPS))
        return most if self.max_steps is None else max(0, min(most, self.max_steps - state.steps))

    def _climb(self, problem: Problem, state: DecompositionState) -> int:
        """Ascend on the rows with columns; return the number of steps."""
        rows, room, slope = rows_of(problem), room_of(problem, state.alpha), state.slope.copy()
        unit = 1.0 / (problem.lam * problem.total)
        dual = (state.primal - state.gap) * problem.total
        aim = _AIM if rows.columns.table.dtype == np.float64 else _AIM_SINGLE
        share = 0.0 if self.tol is None else state.effort * aim * min(self.tol, state.target)
        damping = problem.damping if problem.ridge > 0.0 else None
        curvature = rows.squared_norms * unit + problem.damping
        point = slope, room.down, room.up, curvature, damping, unit, self.is_free, dual
        taken, *_ = rows.columns.climb(point, 0.0, share, self._steps_left(problem, state), _CLIMB_WORK)
        # Compute from the nearer bound, because the distance to the farther one has lost its last digits.
        positive = problem.sign > 0
        to_zero, to_bound = np.where(positive, -room.down, room.up), np.where(positive, room.up, -room.down)
        alpha = np.clip(np.where(to_zero < to_bound, to_zero, problem.bound - to_bound), 0.0, problem.bound)
        state.steps += taken
        state.alpha, state.slope = alpha, slope  # assigned together because an interrupt may arrive at any time
        state.estimate(problem, is_free=self.is_free)
        return taken
