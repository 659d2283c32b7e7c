"""Decomposition: kernel machines to a certified gap (the ascent itself: cpp/core/pegasos/decomposition.h).

    max_alpha  (1/total) sum_i (alpha_i (1 - sign_i offset_i) - d_i alpha_i^2 / 2) - lam/2 |w(alpha)|^2
    0 <= alpha_i <= cap cost_i,   d_i = ridge / cost_i

and sum_i alpha_i sign_i = 0 where the intercept is free. Joachims: Making large-scale SVM learning practical. 1999.
Fan, Chen, Lin: Working set selection using second order information. JMLR 6, 2005. In the variables b_i = sign_i
alpha_i the slope of the objective, times total, is h_i = sign_i - offset_i - score_i - d_i b_i; those of all rows are
kept current. The native ascent moves the rows whose kernel columns are in the table, or can be computed there; of other
kernels, each round loads the columns of the rows with the largest violations first. Where the rate of the steps says
that an interior point (`kernel_interior`) takes less work, that solves the problem instead. Given any dual point, the
result is a dual point of a gap as small as asked for.
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

_fine = 1e-5  # a tol below which working sets are in double
_few_columns = 4  # of so many columns the table must have room for one, or working sets are taken
_whole_rows, _whole_items = 2048, 256  # up to this many vectors, or other items, all columns are loaded at the start
_new_rows = 512  # rows whose columns a round loads at most
_block_values = 1 << 25  # kernel values loaded per round at most
_column_work, _slow_values = 1e9, 1 << 15  # of a piece: operations on vectors; values of other kernels
_climb_work, _steps_per_row = 5e7, 4  # slopes updated per piece at most, and steps for each row
_few_steps = 1 << 12  # up to so many, twice as many for each row: they take less time than what surrounds them
_aim, _aim_single = 0.9, 0.5  # the share of the gap to reach at which an ascent ends, by the type of the columns
_least_effort = 1e-9
_worth = 1.0  # of the square of the rows of an interior point: the steps that take as long as that
_evidence = 8  # steps for each row, before their rate counts
_most_interiors = 6
_far = 1e-3  # relative error of a factor of low rank that tells too little of the kernel
_of_aim = 0.01  # the share of the gap to reach that an interior point leaves: rows at bounds are easier to tell then
_dense_rows, _rank_work = 3000, 1e10  # of an interior point on the whole matrix; rows times squared rank beyond
_halvings = 60  # of an interval that holds the best intercept
_rounding = 1e-15  # relative to the objective: no step lowers a gap below this
_mostly = 0.5  # of a gap: what is room for rounding, where steps do not help
_settlements = 32  # rows tried to make two sums of doubles equal
_patience = 0.05  # seconds per call at least: how often the driver looks at the clock
_sum_seconds = 1e-9  # per kernel value in memory that a review sums up, at most

Column = npt.NDArray[np.float64]


@dataclass
class DecompositionState:
    """Everything a run needs to go on."""

    alpha: Column
    slope: Column  # sign_i - offset_i - score_i - d_i b_i, for all rows
    seed: int
    waiting: Numbers = field(default_factory=lambda: np.empty(0, np.intp))  # rows whose columns are to be loaded
    is_chosen: bool = False  # whether this round has chosen them
    column_seconds: float = 0.0  # what one took
    level: float = 0.0  # the intercept, where it is free
    steps: int = 0
    rounds: int = 0
    primal: float = np.inf  # estimated from the slopes
    gap: float = np.inf
    least_gap: float = np.inf
    target: float = np.inf  # a review is due when the relative gap falls below this
    effort: float = 1.0  # multiplies the gap at which a climb ends; falls where rounds change nothing
    marks: tuple[tuple[int, float], tuple[int, float]] = ((0, np.inf), (0, np.inf))  # steps and gap, some time ago
    inside: Numbers = field(default_factory=lambda: np.empty(0, np.intp))  # the rows of an interior point, if any
    factor: PivotedFactor | None = None  # of their kernel matrix, on the way to an interior point
    interior: InteriorPoint | None = None
    n_interiors: int = 0
    working_set: WorkingSet | None = None  # of this round, where the table holds few of the columns
    is_fine: bool = False  # whether single precision is not enough for its matrix
    is_exhausted: bool = False  # whether the gap that is left is room for rounding


@dataclass(frozen=True)
class _Block:
    """Rows of the kernel matrix of some of the rows."""

    rows: KernelRows
    inside: Numbers

    def __call__(self, places: Numbers) -> Floats:
        return self.rows.block(self.inside[places], self.inside)


class Room(NamedTuple):
    """How far each b_i may still fall and rise."""

    down: Column  # at most 0
    up: Column  # at least 0


@dataclass(frozen=True)
class Decomposition:
    """The settings: the relative gap to reach, whether the intercept is free, and the steps at most."""

    tol: float | None = 1e-3
    is_free: bool = False
    max_steps: int | None = None

    def start(self, problem: Problem, seed: int) -> DecompositionState:
        """The zero dual point."""
        return self.enter(problem, np.zeros(problem.rows.n_rows), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> DecompositionState:
        """A dual point of these rows, made feasible."""
        rows = _rows(problem)
        feasible = self._feasible(problem, alpha) if alpha.any() else np.zeros(rows.n_rows)
        rows.forget()
        state = DecompositionState(
            alpha=feasible,
            slope=problem.sign - problem.offset,
            seed=seed,
        )
        if feasible.any():
            scores = rows.scores_of(rows.coefficients(problem, feasible))
            part = _best_part(problem, feasible, scores)
            state.alpha = feasible = part * feasible
            state.slope = _slopes(problem, feasible, part * scores)
        self._estimate(problem, state, _room(problem, feasible))
        state.least_gap = state.gap
        state.marks = ((0, state.gap), (0, state.gap))
        return state

    def steps(self, state: DecompositionState) -> int:
        """Steps taken so far, each of one or two coordinates."""
        return state.steps

    def visits(self, state: DecompositionState) -> int:
        """The steps, and one for the choice of each round."""
        return state.steps + state.rounds

    def advance_to(self, problem: Problem, state: DecompositionState, visits: int) -> None:
        """Whole pieces of work for about as long as the driver waits; the last one may reach beyond."""
        until = perf_counter() + _patience
        while self.visits(state) < visits:
            self._work(problem, state)
            if perf_counter() >= until:
                return

    def next_look(self, problem: Problem, state: DecompositionState) -> int:
        """After every round: the slopes are at hand."""
        return self.visits(state) + 1

    def review_due(self, problem: Problem, state: DecompositionState, epoch: int | None, tol: float | None) -> bool:
        """When the slopes say that the gap is small enough, and after 4, 8, 16 ... epochs, where a round has ended."""
        if epoch is not None and epoch >= 4 and (epoch & (epoch - 1)) == 0 and state.working_set is None:
            return True
        return tol is not None and state.gap <= min(tol, state.target) * state.primal

    def review(self, problem: Problem, state: DecompositionState, tol: float | None) -> Review:
        """The certificate of the dual point, computed from the kernel."""
        review = self._certified(problem, state)
        is_open = tol is not None and review.certificate.relative_gap > tol
        if is_open and tol is not None and state.gap <= min(tol, state.target) * state.primal:
            # Rounding has led the slopes astray: correct them, and aim lower next time.
            state.slope = _slopes(problem, state.alpha, _rows(problem).scores_of(review.weights))
            state.target = 0.5 * min(tol, state.target)
            self._estimate(problem, state, _room(problem, state.alpha))
            # No step makes room for rounding smaller.
            state.is_exhausted = review.certificate.rounding > _mostly * review.certificate.gap
        return review

    def review_seconds(self, problem: Problem, state: DecompositionState) -> float:
        """About how long a review takes: for columns that are not in memory, and for the sums over all."""
        rows = _rows(problem)
        slots = rows.slot_of[state.alpha > 0.0]
        per_column = state.column_seconds
        if per_column == 0.0 and isinstance(rows.items, Vectors):  # native code may have computed all columns so far
            per_column = 0.2 * _sum_seconds * rows.n_rows * (rows.items.rows.n_features + 8)
        return _sum_seconds * rows.n_rows * len(slots) + per_column * int(np.sum(slots < 0))

    def _feasible(self, problem: Problem, alpha: Floats) -> Column:
        """The dual point within its bounds; where the intercept is free, with sum alpha_i sign_i = 0.

        What rounding has left of that sum goes to free rows, so that rows at their bounds stay exactly there.
        """
        if not self.is_free:
            return np.clip(alpha, 0.0, problem.bound).astype(np.float64)
        near = np.clip(alpha, 0.0, problem.bound).astype(np.float64)
        room = np.minimum(near, problem.bound - near)
        n = min(_settlements, len(room))
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
        """The coefficients and the dual point."""
        return _rows(problem).coefficients(problem, state.alpha), state.alpha

    def intercept(self, problem: Problem, state: DecompositionState) -> float:
        """The intercept, where it is free; otherwise the weights carry it."""
        return state.level

    def _work(self, problem: Problem, state: DecompositionState) -> None:
        """A piece of a round: some kernel columns, a climb, or a step of an interior point."""
        if state.is_exhausted:
            raise ExhaustedError
        if self._steps_left(problem, state) == 0:
            state.rounds += problem.rows.n_rows  # the epochs end
            return
        if state.rounds == 0 and self.review_due(problem, state, None, self.tol):
            state.rounds = 1  # where it was entered, the gap is small enough
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
        """A piece of a round on a working set."""
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
            seconds = (perf_counter() - begun) / len(members)
            state.column_seconds += (seconds - state.column_seconds) * (0.2 if state.column_seconds else 1.0)
        else:
            self._end_set(problem, state, chosen)

    def _end_set(self, problem: Problem, state: DecompositionState, chosen: WorkingSet) -> None:
        """Take over what the set has reached; where that is no gain, its matrix was not precise enough."""
        before, dual = (state.alpha, state.slope), state.primal - state.gap
        state.working_set = None
        state.rounds += 1
        if chosen.ahead is not None:
            state.alpha, state.slope = chosen.ahead
            self._estimate(problem, state, _room(problem, state.alpha))
        if chosen.steps > 0 and state.primal - state.gap >= dual and abs(state.gap) > _rounding * state.primal:
            return
        if state.primal - state.gap < dual:
            state.alpha, state.slope = before
            self._estimate(problem, state, _room(problem, state.alpha))
        if chosen.is_double:
            raise ExhaustedError
        state.is_fine = True

    def _choose_set(self, problem: Problem, state: DecompositionState) -> WorkingSet:
        """The rows that ask most to rise, and those that ask most to fall."""
        room, damping = _room(problem, state.alpha), problem.damping
        above = state.slope - state.level
        rising, falling = np.where(room.up > 0.0, above, -np.inf), np.where(room.down < 0.0, -above, -np.inf)
        is_double = state.is_fine or self.tol is None or self.tol < _fine
        members = chosen_rows(rising, falling, rows_within(_rows(problem).cache_bytes, is_double=is_double))
        curvature = problem.rows.squared_norms / (problem.lam * problem.total) + damping
        own_damping = damping[members] if problem.ridge > 0.0 else None
        own = Room(room.down[members], room.up[members])
        gap, _ = _gap(state.slope[members], own, damping[members], self.is_free)
        bounds = Bounds(state.slope[members], *own, curvature[members], own_damping)
        return WorkingSet.of(members, bounds, gap, is_double=is_double)

    def _load(self, problem: Problem, state: DecompositionState) -> bool:
        """Compute some of the columns that are waited for; False where none is missing."""
        rows = _rows(problem)
        missing = rows.missing(state.waiting)[: _columns_at_once(rows)]
        if len(missing) == 0:
            return False
        begun = perf_counter()
        rows.load(missing)
        state.column_seconds = (perf_counter() - begun) / len(missing)
        return True

    def _round(self, problem: Problem, state: DecompositionState) -> None:
        n_new, state.waiting = len(state.waiting), state.waiting[:0]
        taken = self._climb(problem, state)
        state.rounds += 1
        state.is_chosen = False
        if taken == 0:  # each of many rows may have a small part of the gap
            state.effort *= 0.5 if n_new else 0.1
        if state.effort < _least_effort or abs(state.gap) <= _rounding * state.primal:
            raise ExhaustedError
        if self._is_slow(problem, state):
            self._choose_inside(problem, state)

    def _is_slow(self, problem: Problem, state: DecompositionState) -> bool:
        """Whether the steps, at the rate of late, need more work than an interior point, which is for the hinge."""
        if not problem.loss.is_hinge:
            return False
        n, (older, newer) = problem.rows.n_rows, state.marks
        state.least_gap = min(state.least_gap, state.gap)
        taken = state.steps - older[0]
        if state.steps - newer[0] >= max(_evidence * n, newer[0] - older[0]):
            state.marks = newer, (state.steps, state.least_gap)
        aim = 0.5 * min(self.tol or 0.0, state.target) * state.primal
        if not 0.0 < aim < state.gap or taken < _evidence * n or state.n_interiors >= _most_interiors:
            return False
        rate = math.log(older[1] / state.least_gap) / taken if 0.0 < state.least_gap < older[1] < np.inf else 0.0
        return math.log(state.gap / aim) > rate * _worth * min(n, _dense_rows) ** 2

    def _choose_inside(self, problem: Problem, state: DecompositionState) -> None:
        """All rows, or of many rows those that can move, are to be the problem of an interior point."""
        rows, room = _rows(problem), _room(problem, state.alpha)
        inside = np.flatnonzero(problem.cost > 0.0)
        if len(inside) > _dense_rows:
            inside = inside[self._can_move(state.slope[inside], Room(room.down[inside], room.up[inside]))]
        state.inside, state.n_interiors = inside, state.n_interiors + 1
        state.is_chosen = True
        if len(inside) <= _dense_rows and rows.holds_all:
            state.waiting = inside

    def _begin_interior(self, problem: Problem, state: DecompositionState) -> None:
        """A small problem by its whole kernel matrix, a large one by a factor of low rank."""
        rows, inside = _rows(problem), state.inside
        state.waiting, state.is_chosen = inside[:0], False
        if len(inside) > _dense_rows:
            most = int(math.sqrt(_rank_work / len(inside)))
            state.factor = PivotedFactor(_Block(rows, inside), rows.squared_norms[inside], most)
            return
        unit = 1.0 / (problem.lam * problem.total)
        with one_thread_of_blas():
            self._pose(problem, state, DenseSystem(unit * rows.square_of(inside).astype(np.float64)))

    def _advance_interior(self, problem: Problem, state: DecompositionState) -> None:
        if state.interior is not None:
            self._iterate(problem, state, state.interior)
        elif state.factor is not None:
            self._approximate(problem, state, state.factor)

    def _pose(self, problem: Problem, state: DecompositionState, system: DenseSystem | LowRankSystem) -> None:
        """The problem of the interior point, with this matrix."""
        inside, room = state.inside, _room(problem, state.alpha)
        b, slope = (problem.sign * state.alpha)[inside], state.slope[inside]
        bounds = b + room.down[inside], b + room.up[inside]
        share = _of_aim * min(self.tol or 1.0, state.target)
        total = float(b.sum()) if self.is_free else None
        interior = InteriorPoint(system, slope + system.times(b), *bounds, total, share)
        interior.rest = (state.primal - state.gap) * problem.total - interior.objective(b, slope)
        state.interior = interior

    def _approximate(self, problem: Problem, state: DecompositionState, factor: PivotedFactor) -> None:
        """Some pivots more; the factor makes an interior point where it comes close to the kernel matrix."""
        unit = 1.0 / (problem.lam * problem.total)
        allowed = _of_aim * min(self.tol or 1.0, state.target) * (state.primal - state.gap) * problem.total
        if factor.error * unit * float(np.max(problem.cost[state.inside])) ** 2 > 2.0 * allowed and factor.advance():
            return
        state.factor = None
        if factor.error > _far * float(np.sum(problem.rows.squared_norms[state.inside])):
            state.inside, state.n_interiors = state.inside[:0], _most_interiors
            return
        self._pose(problem, state, LowRankSystem(math.sqrt(unit) * factor.root[:, : factor.rank]))

    def _iterate(self, problem: Problem, state: DecompositionState, interior: InteriorPoint) -> None:
        """One iteration of the interior point; at its end its solution is taken over, where that is better."""
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
        """How much each row asks to move: by pairs the difference to the extreme slope, else the gain of its step."""
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
        """The rows without a column that ask most to move, of both signs: one alone would swing the slopes.

        Where the table has no room for them, the columns of the rows that ask least leave it. Columns that native code
        computes are not waited for.
        """
        rows, n = _rows(problem), problem.rows.n_rows
        whole = _whole_rows if isinstance(rows.items, Vectors) else _whole_items
        is_computed = rows.source is not None
        if state.rounds == 0 and n <= whole and rows.holds_all and not is_computed:
            return np.arange(n)
        if rows.n_kept == n or (is_computed and rows.n_kept < len(rows.table)):
            return np.empty(0, np.intp)
        violation = self._violations(problem, state.slope, _room(problem, state.alpha))
        new = self._most_violating(problem, state, violation)
        if rows.n_kept + len(new) > len(rows.table):
            kept = np.flatnonzero(rows.slot_of >= 0)
            free = (state.alpha[kept] > 0.0) & (state.alpha[kept] < problem.bound[kept])
            worth = violation[kept] + 1e-300 * free
            rows.keep_only(kept[np.sort(np.argsort(-worth, kind="stable")[: len(rows.table) // 2])])
        return new[:0] if is_computed else new

    def _most_violating(self, problem: Problem, state: DecompositionState, violation: Column) -> Numbers:
        """As many rows without a column as a round loads, half of each sign."""
        rows, n = _rows(problem), problem.rows.n_rows
        outside = np.where(rows.slot_of >= 0, 0.0, violation)
        if state.rounds == 0:
            outside = outside * np.random.default_rng(state.seed).random(n)
        # Few at first, when they are chosen by a model that is far from the solution.
        n_new = min(max(_new_rows // 2, rows.n_kept // 4), _new_rows, len(rows.table) - len(rows.table) // 2)
        return _largest_of_both(problem.sign, outside, min(n_new, _block_values // n))

    def _can_move(self, slope: Column, room: Room) -> npt.NDArray[np.bool_]:
        """The rows that gain by moving, alone or with another one."""
        lowest, highest = _extremes(slope, room) if self.is_free else (0.0, 0.0)
        return ((room.up > 0.0) & (slope > lowest)) | ((room.down < 0.0) & (slope < highest))

    def _steps_left(self, problem: Problem, state: DecompositionState) -> int:
        """How many steps a climb may take."""
        n = problem.rows.n_rows
        most = max(_steps_per_row * n, min(2 * _steps_per_row * n, _few_steps))
        return most if self.max_steps is None else max(0, min(most, self.max_steps - state.steps))

    def _climb(self, problem: Problem, state: DecompositionState) -> int:
        """Ascent on the rows with columns; returns the number of steps."""
        rows, room, slope = _rows(problem), _room(problem, state.alpha), state.slope.copy()
        unit = 1.0 / (problem.lam * problem.total)
        dual = (state.primal - state.gap) * problem.total
        aim = _aim if rows.dtype == np.float64 else _aim_single
        share = 0.0 if self.tol is None else state.effort * aim * min(self.tol, state.target)
        damping = problem.damping if problem.ridge > 0.0 else None
        curvature = rows.squared_norms * unit + problem.damping
        point = slope, room.down, room.up, curvature, damping, unit, self.is_free, dual
        taken, *_ = rows.climb(point, 0.0, share, self._steps_left(problem, state), _climb_work)
        # From the nearer bound: the distance to the farther one has lost the last digits.
        positive = problem.sign > 0
        to_zero, to_bound = np.where(positive, -room.down, room.up), np.where(positive, room.up, -room.down)
        alpha = np.clip(np.where(to_zero < to_bound, to_zero, problem.bound - to_bound), 0.0, problem.bound)
        state.steps += taken
        state.alpha, state.slope = alpha, slope  # together: an interrupt may come at any time
        self._estimate(problem, state, _room(problem, alpha))
        return taken

    def _estimate(self, problem: Problem, state: DecompositionState, room: Room) -> None:
        """P and P - D, as far as the slopes are right: D is half the sum of b_i (target_i + h_i)."""
        gap, state.level = _gap(state.slope, room, problem.damping, self.is_free)
        target = problem.sign - problem.offset
        dual = 0.5 * inner(problem.sign * state.alpha, target + state.slope)
        state.gap, state.primal = gap / problem.total, (gap + dual) / problem.total


def takes_sets(rows: KernelRows) -> bool:
    """Whether the table holds few of the columns, and kernel values are so cheap that none is worth keeping."""
    return is_quick(rows.items) and _few_columns * len(rows.table) < rows.n_rows


def _largest_of_both(sign: npt.NDArray[Any], violation: Column, n: int) -> Numbers:
    """The n rows with the largest violations, at most half of each sign."""
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
    """The dual point with these rows at b, and the slopes of all rows there."""
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
    """The share of a dual point with the best objective: a point of another kernel may be far too long."""
    gain = inner(alpha, 1.0 - problem.sign * problem.offset)
    square = inner(problem.sign * alpha, scores) + 2.0 * float(problem.ridge_terms(alpha))
    return gain / square if 0.0 < gain < square < np.inf else 1.0


def _slopes(problem: Problem, alpha: Column, scores: Column) -> Column:
    """h_i of a dual point with these scores."""
    slopes: Column = problem.sign - problem.offset - scores
    return slopes if problem.ridge == 0.0 else slopes - problem.damping * problem.sign * alpha


def _extremes(slope: Column, room: Room) -> tuple[float, float]:
    """The least slope of a row that can fall, and the largest of one that can rise."""
    lowest = float(np.min(slope, where=room.down < 0.0, initial=np.inf))
    return lowest, float(np.max(slope, where=room.up > 0.0, initial=-np.inf))


def _gap(slope: Column, room: Room, damping: Column, is_free: bool) -> tuple[float, float]:
    """The duality gap that slopes and room tell, times total, and the intercept that it is measured at: the best."""
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
    """The same with a ridge: a row adds the largest m (h_i - level) - d_i m^2 / 2 within its room."""

    def moves(level: float) -> Column:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.nan_to_num((slope - level) / damping)
        return np.clip(found, room.down, room.up)

    level = 0.0
    if is_free and len(slope):
        low, high = float(slope.min()), float(slope.max())
        for _ in range(_halvings):
            level = 0.5 * (low + high)
            low, high = (level, high) if float(np.sum(moves(level))) > 0.0 else (low, level)
    move = moves(level)
    return float(np.sum(move * (slope - level - 0.5 * damping * move))), level


def _rows(problem: Problem) -> KernelRows:
    assert isinstance(problem.rows, KernelRows)
    return problem.rows


def _columns_at_once(rows: KernelRows) -> int:
    """How many columns are a piece of work: a matter of counts, since a product of other shape rounds otherwise."""
    n = max(rows.n_rows, 1)
    if not isinstance(rows.items, Vectors):
        return max(1, _slow_values // n)
    return int(np.clip(_column_work / (n * (rows.items.rows.n_features + 8)), 1, _new_rows))
