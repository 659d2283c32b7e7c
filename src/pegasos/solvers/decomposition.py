"""Decomposition: kernel machines to a certified gap (the inner loop: cpp/core/pegasos/decomposition.h).

    max_alpha  (1/total) sum_i alpha_i (1 - sign_i offset_i) - lam/2 |w(alpha)|^2,   0 <= alpha_i <= cost_i

Joachims: Making large-scale SVM learning practical. 1999. Platt: Fast training of SVMs using sequential minimal
optimization. 1998. The scores of all rows are kept current. Each round takes the rows that would gain most into a
working set, computes their kernel columns in one block, climbs on the working set alone, and adds what changed there
to all scores. Without the equality constraint of the textbook SVM one coordinate moves at a time. Given any dual
point, the result is a dual point of a gap as small as asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from pegasos import _core
from pegasos.certificate import certify_dual
from pegasos.gram import KernelRows, Numbers
from pegasos.problem import Floats, Problem, inner
from pegasos.solvers.driver import ExhaustedError, Review

_padding = 16  # rows a power of two apart would fight for the same lines of the cache
_new_rows = 512  # that a round takes in at most
_square_bytes = 1 << 28  # the kernel matrix of the working set takes at most this
_round_leaves = 0.1  # of the largest gain, when a round ends
_steps_a_row = 40  # that a round takes at most, for each row of the working set
_steps_to_a_jump, _few_rows = 5, 600  # the same, where earlier rounds had to jump, which of so many rows is cheap
_jump_rows, _jump_work = 3000, 3e10  # of Newton's method: the rows at most, and the sum of their cubes
_ridge_growth, _largest_ridge = 100.0, 1e-3  # what is added to the diagonal, where rounding asks for more of it
_nearby = 1e-9  # of a Newton step: the bound that ends it so soon has been reached already
_least_effort = 1e-9
_rounding = 1e-15  # of the objective: no step lowers such a gap
_few = 0.9  # of the members: with fewer that can move, a smaller kernel matrix pays
_finish = 2.5  # how much of the gap to reach may be left on the working set


@dataclass
class DecompositionState:
    """Everything a run needs to go on."""

    alpha: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]  # of all rows, and one entry more that is nobody's
    members: Numbers
    is_member: npt.NDArray[np.bool_]
    square: Floats  # the kernel matrix of the members
    room: Floats  # where that is, unless the table of the rows begins with it
    random: np.random.Generator
    steps: int = 0
    rounds: int = 0
    primal: float = np.inf  # as the scores say
    gap: float = np.inf
    target: float = np.inf  # a review is due when the relative gap falls below this
    has_jumped: bool = False  # whether single steps were not enough
    effort: float = 1.0  # what the gap to reach is multiplied with, to say how far to climb


@dataclass(frozen=True)
class Decomposition:
    """The settings: only the relative gap to reach."""

    tol: float | None = 1e-3

    def start(self, problem: Problem, seed: int) -> DecompositionState:
        """The zero dual point."""
        return self.enter(problem, np.zeros(problem.rows.n_rows), seed)

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> DecompositionState:
        """A dual point of these rows, brought within its bounds."""
        rows = _rows(problem)
        feasible = np.clip(alpha, 0.0, problem.cost).astype(np.float64)
        rows.forget()
        state = DecompositionState(
            feasible,
            np.zeros(rows.n_rows + 1),
            np.empty(0, np.intp),
            np.zeros(rows.n_rows, np.bool_),
            np.empty((0, 0), rows.dtype),
            np.empty((0, 0), rows.dtype),
            np.random.default_rng(seed),
        )
        if feasible.any():
            state.scores = rows.scores(rows.coefficients(problem, feasible))
        self._estimate(problem, state)
        return state

    def steps(self, state: DecompositionState) -> int:
        """Coordinate steps taken so far."""
        return state.steps

    def visits(self, state: DecompositionState) -> int:
        """The steps, and one for the choice of each round."""
        return state.steps + state.rounds

    def advance_to(self, problem: Problem, state: DecompositionState, visits: int) -> None:
        """Whole rounds: the last one may reach beyond."""
        while self.visits(state) < visits:
            self._round(problem, state)

    def next_look(self, problem: Problem, state: DecompositionState) -> int:
        """After every round: the scores are at hand."""
        return self.visits(state) + 1

    def review_due(self, problem: Problem, state: DecompositionState, epoch: int | None, tol: float | None) -> bool:
        """When the scores say that the gap is small enough, and now and then."""
        if epoch is not None and epoch >= 4 and (epoch & (epoch - 1)) == 0:
            return True
        return tol is not None and state.gap <= min(tol, state.target) * state.primal

    def review(self, problem: Problem, state: DecompositionState, tol: float | None) -> Review:
        """The certificate of the dual point, from the kernel anew."""
        certificate, weights = certify_dual(problem, state.alpha)
        if tol is not None and certificate.relative_gap <= tol:
            self._disband(state)  # nobody needs its kernel matrix any more
        elif tol is not None and state.gap <= min(tol, state.target) * state.primal:
            # Rounding has led the scores astray: begin with the right ones, and believe them less next time.
            state.scores = _rows(problem).scores(weights)
            state.target = 0.5 * min(tol, state.target)
            self._estimate(problem, state)
        return Review(certificate, weights, state.alpha)

    def point(self, problem: Problem, state: DecompositionState) -> tuple[npt.NDArray[np.float64], Floats]:
        """The coefficients and the dual point."""
        return _rows(problem).coefficients(problem, state.alpha), state.alpha

    def _round(self, problem: Problem, state: DecompositionState) -> None:
        gains = self._gains(problem, state)
        new = self._choose(problem, state, gains)
        self._take_in(problem, state, new, gains)
        is_last = 8 * len(new) < _new_rows  # as far as anybody can tell
        enough = self._enough(problem, state, float(gains[state.members].max(initial=0.0)), is_last=is_last)
        before = state.steps
        self._climb(problem, state, enough, *self._movable(problem, state, gains, is_last=is_last))
        has_moved = state.steps > before or len(new) > 0
        self._estimate(problem, state)
        state.rounds += 1
        if not has_moved:
            state.effort *= 0.1
        if state.effort < _least_effort or abs(state.gap) <= _rounding * state.primal:
            raise ExhaustedError

    def _gains(self, problem: Problem, state: DecompositionState) -> npt.NDArray[np.float64]:
        """What the dual objective, times the total, would gain if one coordinate moved as far as it goes."""
        r = 1.0 - problem.sign * (state.scores[:-1] + problem.offset)
        curvature = problem.rows.squared_norms / (problem.lam * problem.total)
        with np.errstate(divide="ignore", invalid="ignore"):
            full = np.where(curvature > 0.0, r / curvature, np.inf * np.sign(r))
        move = np.clip(state.alpha + np.nan_to_num(full), 0.0, problem.cost) - state.alpha
        return np.asarray(move * (r - 0.5 * curvature * move))

    def _choose(self, problem: Problem, state: DecompositionState, gains: npt.NDArray[np.float64]) -> Numbers:
        """The rows outside the working set that gain most, of both signs: one alone would swing the scores."""
        outside = np.where(state.is_member, 0.0, gains)
        if state.rounds == 0:
            outside = outside * state.random.random(len(outside))
        chosen = []
        # Few at first, when they are chosen by a model that knows little.
        n_new = min(max(_new_rows // 2, len(state.members) // 4), _new_rows, _side(_rows(problem)))
        at_most = max(1, n_new // 2)
        for sign in (1, -1):
            candidates = np.flatnonzero((problem.sign == sign) & (outside > 0.0))
            if len(candidates) > at_most:
                candidates = candidates[np.argpartition(-outside[candidates], at_most - 1)[:at_most]]
            chosen.append(candidates)
        return np.sort(np.concatenate(chosen))

    def _take_in(
        self, problem: Problem, state: DecompositionState, new: Numbers, gains: npt.NDArray[np.float64]
    ) -> None:
        """Extend the working set; where there is no room, the members with least to gain leave."""
        rows, old = _rows(problem), len(state.members)
        side = _side(rows)
        if old + len(new) > side:
            free = (state.alpha[state.members] > 0.0) & (state.alpha[state.members] < problem.cost[state.members])
            worth = gains[state.members] + 1e-300 * free
            kept = state.members[np.sort(np.argsort(-worth, kind="stable")[: max(0, side // 2 - len(new))])]
            rows.keep_only(kept)
            state.is_member[:] = False
            state.members, new, old = new[:0], np.concatenate([kept, new])[:side], 0
        if len(new) == 0:
            return
        state.members = np.concatenate([state.members, new])
        state.is_member[new] = True
        n = len(state.members)
        rows.load(new)
        if rows.begins_with(state.members):
            state.square = rows.table[:n, :n]
            return
        if len(state.room) < side:
            state.room, old = np.empty((side, side + _padding), rows.dtype)[:, :side], 0
        state.square = state.room[:n, :n]
        rows.extend_square(state.members, old, state.square)

    def _disband(self, state: DecompositionState) -> None:
        state.members, state.square, state.room = (
            state.members[:0],
            state.room[:0, :0].copy(),
            state.room[:0, :0].copy(),
        )
        state.is_member[:] = False

    def _movable(
        self, problem: Problem, state: DecompositionState, gains: npt.NDArray[np.float64], *, is_last: bool
    ) -> tuple[Numbers, Floats]:
        """The members to climb on, and their kernel matrix: a long climb leaves out those that sit at a bound."""
        members, square = state.members, state.square
        alpha = state.alpha[members]
        places = np.flatnonzero((gains[members] > 0.0) | ((alpha > 0.0) & (alpha < problem.cost[members])))
        if not is_last or len(places) > _few * len(members):
            return members, square
        return members[places], square[np.ix_(places, places)]

    def _enough(self, problem: Problem, state: DecompositionState, largest: float, *, is_last: bool) -> float:
        """The gain at which a round ends: with few rows left to take in, what the gap to reach asks for."""
        members = state.members
        # A row within its bounds that gains g has a loss of at most sqrt(2 g curvature).
        curvature = problem.rows.squared_norms[members] / (problem.lam * problem.total)
        weight = float(np.sum(problem.cost[members] * np.sqrt(2.0 * curvature)))
        tol = 0.0 if self.tol is None else state.effort * min(self.tol, state.target)
        final = (_finish * tol * state.primal * problem.total / weight) ** 2 if weight > 0.0 else 0.0
        early = _round_leaves * largest
        return min(early, final) if is_last and final > 0.0 else max(early, min(final, largest / 2.0))

    def _climb(
        self, problem: Problem, state: DecompositionState, enough: float, members: Numbers, square: Floats
    ) -> None:
        rows = _rows(problem)
        n, dtype = len(members), rows.dtype
        if n == 0:
            return
        sign, cost = problem.sign[members].astype(np.float64), problem.cost[members]
        before = sign * state.alpha[members]
        upper, lower = np.maximum(sign, 0.0) * cost, np.minimum(sign, 0.0) * cost
        slope = (sign - problem.offset[members] - state.scores[members]).astype(dtype)
        up, down = (upper - before).astype(dtype), (lower - before).astype(dtype)
        curvature = (rows.squared_norms[members] / (problem.lam * problem.total)).astype(dtype)
        with np.errstate(divide="ignore", over="ignore"):
            step = np.minimum(1.0 / curvature, np.finfo(dtype).max).astype(dtype)
        unit = 1.0 / (problem.lam * problem.total)
        up_before, down_before = up.copy(), down.copy()
        most = n * (_steps_to_a_jump if state.has_jumped and n <= _few_rows else _steps_a_row)
        taken = _core.greedy_advance(square, slope, down, up, step, curvature, rows.one_norm, unit, enough, most)
        state.steps += taken
        is_changed = (up != up_before) | (down != down_before)
        # From the nearer bound: what is left to the farther one has lost the last digits.
        after = np.where(up < -down, upper - up, lower - down)
        # Exactly at a bound, whatever the rounding on the way.
        after = np.where(up <= 0.0, upper, np.where(down >= 0.0, lower, np.clip(after, lower, upper)))
        if taken == most:  # single steps lead nowhere: the kernel matrix is ill-conditioned
            jumped = _jump(square, slope.astype(np.float64), after, (lower, upper), unit)
            state.has_jumped |= not np.array_equal(jumped, after)
            is_changed |= jumped != after
            after = jumped
        changed = np.flatnonzero(is_changed)
        factors = np.zeros(rows.n_rows)
        factors[members[changed]] = (after - before)[changed] * unit
        state.alpha[members[changed]] = np.abs(after[changed])
        rows.add_columns(members[changed], factors, state.scores)

    def _estimate(self, problem: Problem, state: DecompositionState) -> None:
        """P and P - D, as the scores say."""
        r = 1.0 - problem.sign * (state.scores[:-1] + problem.offset)
        square = inner(_rows(problem).coefficients(problem, state.alpha), state.scores[:-1])
        loss = inner(problem.cost, np.maximum(r, 0.0)) / problem.total
        state.primal = loss + 0.5 * problem.lam * square
        dual = inner(state.alpha, 1.0 - problem.sign * problem.offset) / problem.total - 0.5 * problem.lam * square
        state.gap = state.primal - dual


def _jump(
    square: Floats,
    slope: npt.NDArray[np.float64],
    value: npt.NDArray[np.float64],
    bounds: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
    unit: float,
) -> npt.NDArray[np.float64]:
    """Newton steps on the rows within their bounds: as far as the first bound, or beyond it and cut off there."""
    lower, upper = bounds
    ridge = 1e-6 if square.dtype == np.float32 else 1e-13
    value = value.copy()
    work = 0.0
    while work < _jump_work and ridge < _largest_ridge:
        free = np.flatnonzero((value > lower) & (value < upper))
        work += float(len(free)) ** 3
        if not 0 < len(free) <= _jump_rows:
            break
        hessian = unit * square[np.ix_(free, free)].astype(np.float64)
        hessian.flat[:: len(free) + 1] += ridge * hessian.diagonal().max()
        _, direction, failed = scipy.linalg.lapack.dposv(hessian, slope[free])
        if failed:  # rounding has made an eigenvalue negative
            ridge *= _ridge_growth
            continue
        here, bound = value[free], np.where(direction > 0.0, upper[free], lower[free])
        with np.errstate(divide="ignore", invalid="ignore"):
            ways = np.where(direction != 0.0, (bound - here) / direction, np.inf)
        reach = float(ways.min())
        lengths = np.array([1.0, 0.5, 0.25, reach] if reach < 1.0 else [1.0])
        there = np.clip(here + lengths[:, np.newaxis] * direction, lower[free], upper[free])
        if reach < 1.0:
            there[-1] = np.where(ways == reach, bound, there[-1])
        moves = there - here
        gains = moves @ slope[free] - 0.5 * np.sum(moves * (moves @ hessian), axis=1)
        best = int(gains.argmax())
        if not gains[best] > 0.0:
            if reach >= _nearby:  # the direction is one of rounding
                ridge *= _ridge_growth
                continue
            best = len(gains) - 1  # a row that is all but at its bound is in the way: put it there
        slope = slope - unit * (square[:, free] @ moves[best])
        value[free] = there[best]
        if reach >= 1.0:
            break
    return value


def _rows(problem: Problem) -> KernelRows:
    assert isinstance(problem.rows, KernelRows)
    return problem.rows


def _side(rows: KernelRows) -> int:
    """How many rows a working set holds."""
    return min(rows.n_rows, math.isqrt(_square_bytes // rows.dtype.itemsize))
