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

import math
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.certificate import balanced, certify_dual, certify_free
from pegasos.gram import KernelRows, Numbers, is_quick
from pegasos.kernels.vector import Vectors
from pegasos.problem import Floats, Problem, inner
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.kernel_interior import DenseSystem, InteriorPoint, LowRankSystem, PivotedFactor
from pegasos.solvers.working_set import Bounds, WorkingSet, chosen_rows, rows_within

_FINE_TOL = 1e-5  # working sets are in double for a tol below this
_WHOLE_ROWS, _WHOLE_ITEMS = 2048, 256  # up to this many vectors, or other items, all columns are loaded at the start
_NEW_ROWS = 512  # most rows whose columns a round loads
_BLOCK_VALUES = 1 << 25  # most kernel values loaded per round
_COLUMN_WORK, _SLOW_VALUES = 1e9, 1 << 15  # work per piece: operations on vectors, and values of other kernels
_CLIMB_WORK, _STEPS_PER_ROW = 5e7, 4  # most slopes updated per piece, and most steps per row
# below this number of steps, twice as many per row are allowed: they take less time than the overhead
_FEW_STEPS = 1 << 12
# fraction of the requested gap at which an ascent ends, for columns in double and in single precision
_AIM, _AIM_SINGLE = 0.9, 0.5
_LEAST_EFFORT = 1e-9
_STEPS_PER_SQUARE = 1.0  # steps that take as long as an interior point, per squared number of its rows
_EVIDENCE = 8  # steps per row before their rate is trusted
_MOST_INTERIORS = 6
_FAR = 1e-3  # relative error above which a low-rank factor says too little about the kernel
# fraction of the requested gap that an interior point aims at, which makes rows at bounds easier to recognize
_INTERIOR_AIM = 0.01
# most rows of an interior point on the whole matrix; above, most rows times squared rank
_DENSE_ROWS, _RANK_WORK = 3000, 1e10
_HALVINGS = 60  # bisection steps for the best intercept
_ROUNDING = 1e-15  # fraction of the objective: no step lowers a gap below this
_MOSTLY = 0.5  # fraction of a gap due to rounding above which further steps do not help
_SETTLEMENTS = 32  # rows tried when making two sums of doubles equal
_PATIENCE = 0.05  # least seconds per call: how often the driver checks the clock
_MARGIN = 1.5  # a busy machine may compute columns more slowly during a review than before
_SUM_SECONDS = 1e-9  # most seconds per kernel value in memory that a review sums

Column = npt.NDArray[np.float64]


@dataclass
class DecompositionState:
    """Everything a run needs to continue."""

    alpha: Column
    slope: Column  # sign_i - offset_i - score_i - d_i b_i, for all rows
    seed: int
    waiting: Numbers = field(default_factory=lambda: np.empty(0, np.intp))  # rows whose columns are still to be loaded
    is_chosen: bool = False  # whether this round has chosen the waiting rows
    column_seconds: float = 0.0  # seconds that the last column took
    level: float = 0.0  # the intercept, where it is free
    steps: int = 0
    rounds: int = 0
    primal: float = np.inf  # estimated from the slopes
    gap: float = np.inf
    least_gap: float = np.inf
    target: float = np.inf  # a review is due when the relative gap falls below this
    effort: float = 1.0  # multiplies the gap at which a climb ends; reduced when rounds change nothing
    # steps and gap at two earlier times
    marks: tuple[tuple[int, float], tuple[int, float]] = ((0, np.inf), (0, np.inf))
    inside: Numbers = field(default_factory=lambda: np.empty(0, np.intp))  # rows of an interior point, if any
    factor: PivotedFactor | None = None  # factor of their kernel matrix, while an interior point is being prepared
    interior: InteriorPoint | None = None
    n_interiors: int = 0
    working_set: WorkingSet | None = None  # working set of this round, where the table holds few of the columns
    is_fine: bool = False  # whether the matrix of the working set needs double precision
    is_exhausted: bool = False  # whether the remaining gap is room for rounding


@dataclass(frozen=True)
class _Block:
    """Some rows of the kernel matrix, restricted to some columns."""

    rows: KernelRows
    inside: Numbers

    def __call__(self, places: Numbers) -> Floats:
        return self.rows.values.block(self.inside[places], self.inside)


class Room(NamedTuple):
    """How far each b_i can still fall and rise."""

    down: Column  # at most 0
    up: Column  # at least 0


@dataclass(frozen=True)
class Decomposition:
    """Settings: the relative gap to reach, whether the intercept is free, and the largest number of steps."""

    tol: float | None = 1e-3
    is_free: bool = False
    max_steps: int | None = None

    def start(self, problem: Problem, seed: int) -> DecompositionState:
        """Start at the zero dual point."""
        return self.enter(problem, np.zeros(problem.rows.n_rows), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int, steps: int = 0) -> DecompositionState:
        """Start at a dual point of these rows, made feasible.

        If other code has reached it from zero in so many steps, these count as progress.
        """
        rows = _rows(problem)
        rows.columns.forget()
        nothing = np.zeros(rows.n_rows)
        state = DecompositionState(alpha=nothing, slope=problem.sign - problem.offset, seed=seed, steps=steps)
        self._estimate(problem, state, _room(problem, nothing))
        at_zero = state.gap
        feasible = self._feasible(problem, alpha) if alpha.any() else nothing
        if feasible.any():
            scores = rows.scores_of(rows.coefficients(problem, feasible))
            part = _best_part(problem, feasible, scores)
            state.alpha = part * feasible
            state.slope = _slopes(problem, state.alpha, part * scores)
            self._estimate(problem, state, _room(problem, state.alpha))
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
            state.slope = _slopes(problem, state.alpha, _rows(problem).scores_of(review.weights))
            state.target = 0.5 * min(tol, state.target)
            self._estimate(problem, state, _room(problem, state.alpha))
            # No step reduces the room for rounding.
            state.is_exhausted = review.certificate.rounding > _MOSTLY * review.certificate.gap
        return review

    def review_seconds(self, problem: Problem, state: DecompositionState) -> float:
        """Estimate the seconds of a review: for columns that are not in memory, and for the sums over all rows."""
        rows = _rows(problem)
        slots = rows.columns.slot_of[state.alpha > 0.0]
        per_column = state.column_seconds
        if per_column == 0.0 and isinstance(rows.items, Vectors):  # native code may have computed all columns so far
            per_column = 0.2 * _SUM_SECONDS * rows.n_rows * (rows.items.rows.n_features + 8)
        n_missing = len(slots) if rows.columns.is_mixed else int(np.sum(slots < 0))
        return _SUM_SECONDS * rows.n_rows * len(slots) + _MARGIN * per_column * n_missing

    def _feasible(self, problem: Problem, alpha: Floats) -> Column:
        """Bring the dual point within its bounds; where the intercept is free, make sum alpha_i sign_i = 0.

        What rounding leaves of that sum goes to free rows, so that rows at their bounds stay exactly there.
        """
        if not self.is_free:
            return np.clip(alpha, 0.0, problem.bound).astype(np.float64)
        near = np.clip(alpha, 0.0, problem.bound).astype(np.float64)
        room = np.minimum(near, problem.bound - near)
        n = min(_SETTLEMENTS, len(room))
        for row in np.argpartition(-room, n - 1)[:n] if n else ():
            left = float(np.sum(near[problem.sign > 0]) - np.sum(near[problem.sign < 0]))
            if left == 0.0 or not abs(left) < room[row]:
                break
            near[row] -= problem.sign[row] * left
        return balanced(problem, near)

    def _certified(self, problem: Problem, state: DecompositionState) -> Review:
        if not self.is_free:
            return Review(*certify_dual(problem, state.alpha), state.alpha)
        alpha = self._feasible(problem, state.alpha)
        certificate, weights, intercept = certify_free(problem, alpha)
        return Review(certificate, weights, alpha, intercept)

    def point(self, problem: Problem, state: DecompositionState) -> tuple[Column, Floats]:
        """Return the coefficients and the dual point."""
        return _rows(problem).coefficients(problem, state.alpha), state.alpha

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
                self._advance_interior(problem, state)
            state.rounds += 1
        elif takes_sets(_rows(problem)):
            self._advance_set(problem, state)
        elif not state.is_chosen:
            state.waiting = self._choose(problem, state)
            state.is_chosen = True
        elif not self._load(problem, state):
            (self._begin_interior if len(state.inside) else self._round)(problem, state)

    def _advance_set(self, problem: Problem, state: DecompositionState) -> None:
        """Do a piece of a round on a working set."""
        rows, chosen = _rows(problem), state.working_set
        unit = 1.0 / (problem.lam * problem.total)
        if chosen is None:
            state.working_set = self._choose_set(problem, state)
        elif chosen.load(rows):
            pass
        elif not chosen.is_climbed:
            before = chosen.steps
            chosen.climb(unit, keeps_sum=self.is_free)
            state.steps += chosen.steps - before
        elif not chosen.is_over:
            begun, part = perf_counter(), chosen.next_part(rows.n_rows)
            members = chosen.members[part]
            b = problem.sign[members] * state.alpha[members] + chosen.moved[part]
            chosen.ahead = _moved(problem, *(chosen.ahead or (state.alpha, state.slope)), members, b)
            n_moved = max(1, int(np.count_nonzero(chosen.moved[part])))  # only their columns are computed
            seconds = (perf_counter() - begun) / n_moved
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
            self._estimate(problem, state, _room(problem, state.alpha))
        if chosen.steps > 0 and state.primal - state.gap >= dual and abs(state.gap) > _ROUNDING * state.primal:
            return
        if state.primal - state.gap < dual:
            state.alpha, state.slope = before
            self._estimate(problem, state, _room(problem, state.alpha))
        if chosen.is_double:
            raise ExhaustedError
        state.is_fine = True

    def _choose_set(self, problem: Problem, state: DecompositionState) -> WorkingSet:
        """Choose the rows with the largest violations upward and downward."""
        room, damping = _room(problem, state.alpha), problem.damping
        above = state.slope - state.level
        rising, falling = np.where(room.up > 0.0, above, -np.inf), np.where(room.down < 0.0, -above, -np.inf)
        is_double = state.is_fine or self.tol is None or self.tol < _FINE_TOL
        members = chosen_rows(rising, falling, rows_within(_rows(problem).cache_bytes, is_double=is_double))
        curvature = problem.rows.squared_norms / (problem.lam * problem.total) + damping
        own_damping = damping[members] if problem.ridge > 0.0 else None
        own = Room(room.down[members], room.up[members])
        gap, _ = _gap(state.slope[members], own, damping[members], self.is_free)
        bounds = Bounds(state.slope[members], *own, curvature[members], own_damping)
        return WorkingSet.of(members, bounds, gap, is_double=is_double)

    def _load(self, problem: Problem, state: DecompositionState) -> bool:
        """Compute some of the waiting columns; return False if none is missing."""
        rows = _rows(problem)
        missing = rows.columns.missing(state.waiting)[: _columns_at_once(rows)]
        if len(missing) == 0:
            return False
        begun = perf_counter()
        rows.columns.load(missing)
        state.column_seconds = (perf_counter() - begun) / len(missing)
        return True

    def _round(self, problem: Problem, state: DecompositionState) -> None:
        n_new, state.waiting = len(state.waiting), state.waiting[:0]
        taken = self._climb(problem, state)
        state.rounds += 1
        state.is_chosen = False
        if taken == 0:  # each of many rows may hold a small part of the gap
            state.effort *= 0.5 if n_new else 0.1
        if state.effort < _LEAST_EFFORT or abs(state.gap) <= _ROUNDING * state.primal:
            raise ExhaustedError
        if self._is_slow(problem, state):
            self._choose_inside(problem, state)

    def _is_slow(self, problem: Problem, state: DecompositionState) -> bool:
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

    def _choose_inside(self, problem: Problem, state: DecompositionState) -> None:
        """Choose the rows of an interior point: all rows, or those that can move where there are many."""
        rows, room = _rows(problem), _room(problem, state.alpha)
        inside = np.flatnonzero(problem.cost > 0.0)
        if len(inside) > _DENSE_ROWS:
            inside = inside[self._can_move(state.slope[inside], Room(room.down[inside], room.up[inside]))]
        state.inside, state.n_interiors = inside, state.n_interiors + 1
        state.is_chosen = True
        if len(inside) <= _DENSE_ROWS and rows.columns.holds_all and not rows.columns.is_mixed:
            state.waiting = inside

    def _begin_interior(self, problem: Problem, state: DecompositionState) -> None:
        """Use the whole kernel matrix for a small problem, a low-rank factor for a large one."""
        rows, inside = _rows(problem), state.inside
        state.waiting, state.is_chosen = inside[:0], False
        if len(inside) > _DENSE_ROWS:
            most = int(math.sqrt(_RANK_WORK / len(inside)))
            state.factor = PivotedFactor(_Block(rows, inside), rows.squared_norms[inside], most)
            return
        unit = 1.0 / (problem.lam * problem.total)
        with one_thread_of_blas():
            self._pose(problem, state, DenseSystem(unit * rows.columns.square_of(inside).astype(np.float64)))

    def _advance_interior(self, problem: Problem, state: DecompositionState) -> None:
        if state.interior is not None:
            self._iterate(problem, state, state.interior)
        elif state.factor is not None:
            self._approximate(problem, state, state.factor)

    def _pose(self, problem: Problem, state: DecompositionState, system: DenseSystem | LowRankSystem) -> None:
        """Set up the problem of the interior point with this matrix."""
        inside, room = state.inside, _room(problem, state.alpha)
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
        state.alpha, state.slope = _moved(problem, state.alpha, state.slope, state.inside, b)
        state.interior, state.inside = None, state.inside[:0]
        self._estimate(problem, state, _room(problem, state.alpha))
        if not state.primal - state.gap >= dual:
            state.alpha, state.slope = before
            self._estimate(problem, state, _room(problem, state.alpha))
        state.marks = ((state.steps, state.gap), (state.steps, state.gap))
        state.least_gap = state.gap

    def _violations(self, problem: Problem, slope: Column, room: Room) -> Column:
        """Violation of each row: for pairs the difference from the extreme slope, else the gain of its step."""
        if self.is_free:
            lowest, highest = _extremes(slope, room)
            rising = np.where(room.up > 0.0, slope - lowest, 0.0)
            return np.maximum(np.maximum(rising, np.where(room.down < 0.0, highest - slope, 0.0)), 0.0)
        curvature = problem.rows.squared_norms / (problem.lam * problem.total) + problem.damping
        with np.errstate(divide="ignore", invalid="ignore"):
            full = np.where(curvature > 0.0, slope / curvature, np.inf * np.sign(slope))
        move = np.clip(np.nan_to_num(full), room.down, room.up)
        return np.asarray(move * (slope - 0.5 * curvature * move))

    def _choose(self, problem: Problem, state: DecompositionState) -> Numbers:
        """Choose rows without a column, with the largest violations of each sign: one sign would swing the slopes.

        Where the table has no room for them, the columns of the rows with the smallest violations are removed. Columns
        that native code computes are not loaded.
        """
        items, columns, n = _rows(problem).items, _rows(problem).columns, problem.rows.n_rows
        whole = _WHOLE_ROWS if isinstance(items, Vectors) else _WHOLE_ITEMS
        is_computed = columns.source is not None
        if state.rounds == 0 and n <= whole and columns.holds_all and not is_computed:
            return np.arange(n)
        if columns.n_kept == n or (is_computed and columns.n_kept < len(columns.table)):
            return np.empty(0, np.intp)
        violation = self._violations(problem, state.slope, _room(problem, state.alpha))
        new = self._most_violating(problem, state, violation)
        if columns.n_kept + len(new) > len(columns.table):
            kept = np.flatnonzero(columns.slot_of >= 0)
            free = (state.alpha[kept] > 0.0) & (state.alpha[kept] < problem.bound[kept])
            worth = violation[kept] + 1e-300 * free
            columns.keep_only(kept[np.sort(np.argsort(-worth, kind="stable")[: len(columns.table) // 2])])
        return new[:0] if is_computed else new

    def _most_violating(self, problem: Problem, state: DecompositionState, violation: Column) -> Numbers:
        """Return as many rows without a column as a round loads, half of each sign."""
        columns, n = _rows(problem).columns, problem.rows.n_rows
        outside = np.where(columns.slot_of >= 0, 0.0, violation)
        if state.rounds == 0:
            outside = outside * np.random.default_rng(state.seed).random(n)
        # Load few at first, while the rows are chosen by a model far from the solution.
        n_new = min(max(_NEW_ROWS // 2, columns.n_kept // 4), _NEW_ROWS, len(columns.table) - len(columns.table) // 2)
        return _largest_of_both(problem.sign, outside, min(n_new, _BLOCK_VALUES // n))

    def _can_move(self, slope: Column, room: Room) -> npt.NDArray[np.bool_]:
        """Rows whose move improves the objective, alone or together with another row."""
        lowest, highest = _extremes(slope, room) if self.is_free else (0.0, 0.0)
        return ((room.up > 0.0) & (slope > lowest)) | ((room.down < 0.0) & (slope < highest))

    def _steps_left(self, problem: Problem, state: DecompositionState) -> int:
        """Number of steps that a climb may take."""
        n = problem.rows.n_rows
        most = max(_STEPS_PER_ROW * n, min(2 * _STEPS_PER_ROW * n, _FEW_STEPS))
        return most if self.max_steps is None else max(0, min(most, self.max_steps - state.steps))

    def _climb(self, problem: Problem, state: DecompositionState) -> int:
        """Ascend on the rows with columns; return the number of steps."""
        rows, room, slope = _rows(problem), _room(problem, state.alpha), state.slope.copy()
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
        self._estimate(problem, state, _room(problem, alpha))
        return taken

    def _estimate(self, problem: Problem, state: DecompositionState, room: Room) -> None:
        """Estimate P and P - D from the slopes: D is half the sum of b_i (target_i + h_i)."""
        gap, state.level = _gap(state.slope, room, problem.damping, self.is_free)
        target = problem.sign - problem.offset
        dual = 0.5 * inner(problem.sign * state.alpha, target + state.slope)
        state.gap, state.primal = gap / problem.total, (gap + dual) / problem.total


def takes_sets(rows: KernelRows) -> bool:
    """Whether the table holds few of the columns, and kernel values are too cheap to be worth keeping."""
    return is_quick(rows.items) and rows.columns.is_narrow


def _largest_of_both(sign: npt.NDArray[Any], violation: Column, n: int) -> Numbers:
    """Return the n rows with the largest violations, at most half of each sign."""
    at_most, chosen = max(1, n // 2), []
    for side in (1, -1):
        candidates = np.flatnonzero((sign == side) & (violation > 0.0))
        if len(candidates) > at_most:
            candidates = candidates[np.argpartition(-violation[candidates], at_most - 1)[:at_most]]
        chosen.append(candidates)
    return np.sort(np.concatenate(chosen))


def _room(problem: Problem, alpha: Column) -> Room:
    left = problem.bound - alpha
    return Room(np.where(problem.sign > 0, -alpha, -left), np.where(problem.sign > 0, left, alpha))


def _moved(problem: Problem, alpha: Column, slope: Column, members: Numbers, b: Column) -> tuple[Column, Column]:
    """Move these rows to b; return the dual point and the slopes of all rows there."""
    rows = _rows(problem)
    after = np.clip(problem.sign[members] * b, 0.0, problem.bound[members])
    change = after - alpha[members]
    factors = np.zeros(rows.n_rows)
    factors[members] = -problem.sign[members] * change / (problem.lam * problem.total)
    slope, alpha = slope.copy(), alpha.copy()
    rows.add_columns(members[change != 0.0], factors, slope)
    if problem.ridge > 0.0:
        slope[members] -= problem.damping[members] * problem.sign[members] * change
    alpha[members] = after
    return alpha, slope


def _best_part(problem: Problem, alpha: Column, scores: Column) -> float:
    """Fraction of a dual point with the best objective: a point from another kernel may be far too long."""
    gain = inner(alpha, 1.0 - problem.sign * problem.offset)
    square = inner(problem.sign * alpha, scores) + 2.0 * float(problem.ridge_terms(alpha))
    return gain / square if 0.0 < gain < square < np.inf else 1.0


def _slopes(problem: Problem, alpha: Column, scores: Column) -> Column:
    """Compute h_i of a dual point with these scores."""
    slopes: Column = problem.sign - problem.offset - scores
    return slopes if problem.ridge == 0.0 else slopes - problem.damping * problem.sign * alpha


def _extremes(slope: Column, room: Room) -> tuple[float, float]:
    """Return the smallest slope of a row that can fall, and the largest slope of a row that can rise."""
    lowest = float(np.min(slope, where=room.down < 0.0, initial=np.inf))
    return lowest, float(np.max(slope, where=room.up > 0.0, initial=-np.inf))


def _gap(slope: Column, room: Room, damping: Column, is_free: bool) -> tuple[float, float]:
    """Duality gap implied by slopes and room, times total, and the best intercept, at which it is measured."""
    if damping.any():
        return _damped_gap(slope, room, damping, is_free)
    level = 0.0
    if is_free and len(slope):
        order = np.argsort(slope)
        passed = np.cumsum((room.up - room.down)[order])  # the gap falls until this exceeds the sum of all `up`
        level = float(slope[order[min(int(np.searchsorted(passed, np.sum(room.up))), len(order) - 1)]])
    above = slope - level
    return float(np.sum(above * np.where(above > 0.0, room.up, room.down))), level


def _damped_gap(slope: Column, room: Room, damping: Column, is_free: bool) -> tuple[float, float]:
    """The same with a ridge: a row contributes the largest m (h_i - level) - d_i m^2 / 2 within its room."""

    def moves(level: float) -> Column:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.nan_to_num((slope - level) / damping)
        return np.clip(found, room.down, room.up)

    level = 0.0
    if is_free and len(slope):
        low, high = float(slope.min()), float(slope.max())
        for _ in range(_HALVINGS):
            level = 0.5 * (low + high)
            low, high = (level, high) if float(np.sum(moves(level))) > 0.0 else (low, level)
    move = moves(level)
    return float(np.sum(move * (slope - level - 0.5 * damping * move))), level


def _rows(problem: Problem) -> KernelRows:
    assert isinstance(problem.rows, KernelRows)
    return problem.rows


def _columns_at_once(rows: KernelRows) -> int:
    """Columns per piece of work, set by counts because a product of another shape would round differently."""
    n = max(rows.n_rows, 1)
    if not isinstance(rows.items, Vectors):
        return max(1, _SLOW_VALUES // n)
    return int(np.clip(_COLUMN_WORK / (n * (rows.items.rows.n_features + 8)), 1, _NEW_ROWS))
