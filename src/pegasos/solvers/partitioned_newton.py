"""Newton's method over partitions: few passes, whatever lam, the conditioning and the number of partitions.

    P_s(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi_s(r_i),    r_i = 1 - sign_i (<w, x_i> + offset_i)

with the smoothed losses phi_s of `newton`, while the softness s falls. A pass over all partitions returns sums: the
objective, its gradient, and either its second derivatives (features x features) or, for many features, their product
with a vector. In the second case conjugate gradients find the step, preconditioned by the second derivatives of a
local sample of the rows (Zhang, Xiao: DiSCO, ICML 2015). The sample also provides the starting point. Partitions can
compute a dual point from the weights of Newton's method; both are certified together.

Where the loss has a kink, few rows are near the margin in the end. Once they fit in local memory, they are gathered,
and their problem is solved with the others fixed at their bounds (`partitioned_finish`), which reaches any gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos import _core
from pegasos.problem import Problem, inner
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.partitioned import ZERO, PartitionedDual, PartitionedProblem
from pegasos.solvers.partitioned_finish import beside_others, solve_here
from pegasos.solvers.passes import (
    LENGTHS,
    WIDTHS,
    Along,
    Bend,
    DualRule,
    Gather,
    Level,
    Sample,
    Survey,
    Surveyed,
    Vector,
    residuals,
)

_ALWAYS_HERE = 1 << 20  # stored values that may always be gathered, whatever the size of the data
_MOST_HERE = 1 << 22  # most stored values to gather, where that is at most a quarter of the data
_LEVELS = tuple(0.6 * 0.4**k for k in range(9))  # softnesses evaluated by the first pass
_SMALLER = 0.4  # factor on the softness when its minimum is near enough
_LARGEST_SIDE = 2500  # largest side of a matrix of second derivatives
_EXACT_SIDE = 320  # largest side of a matrix computed from all rows
_ROWS_PER_SIDE = 20  # rows near the margin per side of a larger matrix
_MOST_STEPS = 60
_MOST_PRODUCTS = 25
_ENOUGH = 0.03  # fraction of the first residual at which conjugate gradients end
_INNER_PRODUCTS, _INNER_ENOUGH = 60, 1e-3  # the same limits for the preconditioner
_LEAST_KINKED_GAP = 1e-3  # below this gap rows near the margin are gathered, where second derivatives are cheap
_MARGIN = 0.8  # a point should have this fraction of the requested gap by its own estimate
_FURTHER = 4.0  # distance from the margin, in units of softness, within which rows may still change sides
_SAMPLE_TOL = 1e-3  # relative gap of the sample's solution
_FEWER = 0.5  # a round of gathering is repeated if it leaves at most this fraction of the gap
_SLOW = 0.9  # a round of gathering that leaves more than this fraction of the gap counts as stuck
_SHARE_TO_BEGIN = 8  # more than this many times the local capacity is not gathered before Newton's method is close
_FEW_VIOLATORS = 0.7  # fraction of the capacity
_STUCK = 4  # rounds without a much smaller gap
_LAST_SOFTNESS, _MOST_SOFTNESS = 1e-7, 1e3
_SHORT_STEPS = 2


@dataclass
class PartitionedState:
    """The state of a run. The run itself is a generator that makes one pass at a time."""

    seed: int
    passes: int = 0
    n_rows: int = 0
    weights: Vector | None = None  # weights with the lowest objective so far
    primal: float = math.inf
    dual_point: PartitionedDual = ZERO  # dual point with the best lower bound so far
    dual: float = 0.0  # that of alpha = 0
    goal: float = 0.0  # relative gap at which a certificate is requested
    is_ready: bool = False  # whether something new is worth a certificate
    run: Iterator[None] | None = field(default=None, repr=False)
    sample: Problem | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """Relative gap, estimated from the sums so far."""
        return (self.primal - self.dual) / self.primal if 0.0 < self.primal < math.inf else math.inf

    def offer(self, weights: Vector, primal: float) -> None:
        """Keep the weights, if they are the best so far."""
        if primal < self.primal:
            self.weights, self.primal = weights, primal
        self.is_ready = self.gap <= self.goal

    def offer_dual(self, point: PartitionedDual, dual: float) -> None:
        """Keep the dual point, if it is the best so far."""
        if dual > self.dual:
            self.dual_point, self.dual = point, dual
        self.is_ready = self.gap <= self.goal


@dataclass(frozen=True)
class PartitionedNewton:
    """Settings: the relative gap to reach, and initial weights.

    An epoch of the driver is a pass over all rows.
    """

    tol: float | None = 1e-3
    first: Vector | None = None

    def start(self, problem: PartitionedProblem, seed: int) -> PartitionedState:
        """Start without any information."""
        state = PartitionedState(seed, n_rows=problem.partitions.n_rows)
        state.goal = _MARGIN * (self.tol or 0.0)
        state.run = self._run(problem, state)
        return state

    def steps(self, state: PartitionedState) -> int:
        """Number of passes so far."""
        return state.passes

    def visits(self, state: PartitionedState) -> int:
        """Every row once per pass."""
        return state.passes * state.n_rows

    def next_look(self, problem: PartitionedProblem, state: PartitionedState) -> int:
        """The end of a pass."""
        return self.visits(state) + state.n_rows

    def advance_to(self, problem: PartitionedProblem, state: PartitionedState, visits: int) -> None:
        """Advance by whole passes until that many, or until a point is worth a certificate."""
        assert state.run is not None
        while self.visits(state) < visits and not state.is_ready:
            if next(state.run, "ended") == "ended":
                raise ExhaustedError

    def review_due(self, problem: PartitionedProblem, state: PartitionedState, epoch: int | None, tol: Any) -> bool:
        """Review when the sums show a small enough gap."""
        return state.is_ready

    def review(self, problem: PartitionedProblem, state: PartitionedState, tol: float | None) -> Review:
        """Certify the best weights and the best dual point in one pass."""
        weights, point = self.point(problem, state)
        certificate = problem.certify(weights, point)
        state.passes += 1
        state.is_ready = False
        state.goal *= 0.5  # the sums were too optimistic
        alpha: Any = point
        return Review(certificate, *_handed_over(problem, weights, alpha))

    def point(self, problem: PartitionedProblem, state: PartitionedState) -> tuple[Vector, Any]:
        """The best weights and the best dual point."""
        weights = np.zeros(problem.weights_shape) if state.weights is None else state.weights
        return weights, state.dual_point

    def intercept(self, problem: PartitionedProblem, state: PartitionedState) -> float:
        """Return the free intercept, which is not part of the weights."""
        return _handed_over(problem, *self.point(problem, state))[2]

    # The run, pass by pass

    def _run(self, problem: PartitionedProblem, state: PartitionedState) -> Iterator[None]:
        stored = problem.partitions.n_stored
        room = room_for(stored)
        if stored <= room:
            yield from self._all_here(problem, state)
        weights = self.first
        if weights is None:
            yield from self._draw_sample(problem, state, room)
            assert state.sample is not None
            weights = solve_here(state.sample, _SAMPLE_TOL, state.seed, is_free=problem.is_free)[0]
        before = math.inf
        while state.gap < _FEWER * before or before == math.inf:
            before = state.gap
            yield from _Descent(self, problem, state, room, weights).run()
            weights = weights if state.weights is None else state.weights

    def _all_here(self, problem: PartitionedProblem, state: PartitionedState) -> Iterator[None]:
        """Solve the problem locally, where there are few enough rows."""
        gathered = problem.partitions.ask(Gather(DualRule(np.zeros(problem.weights_shape), 0.0, math.inf, math.inf)))
        state.passes += 1
        yield
        part = problem.part(gathered.rows)
        tol = 0.5 * (self.tol or _SAMPLE_TOL)
        weights, alpha = solve_here(part, tol, state.seed, is_free=problem.is_free)
        rule = DualRule(np.zeros(problem.weights_shape), 0.0, math.inf, math.inf)
        state.weights, state.dual_point = weights, PartitionedDual(rule, part, alpha)
        state.is_ready = True
        yield

    def _draw_sample(self, problem: PartitionedProblem, state: PartitionedState, room: int) -> Iterator[None]:
        n = problem.partitions.n_rows
        most = min(room * n // max(problem.partitions.n_stored, 1), n // 4)
        stride = -(-n // max(most, 1))
        rows = problem.partitions.ask(Sample(stride))
        state.sample = problem.of_sample(rows, n)
        state.passes += 1
        yield


class _Descent:
    """A descent from given weights: the point, its softness, and what is known there."""

    def __init__(self, solver: PartitionedNewton, problem: PartitionedProblem, state: Any, room: int, weights: Vector):
        self.solver, self.problem, self.state, self.room = solver, problem, state, room
        self.weights = weights
        self.penalty = problem.penalty
        self.side = len(weights)
        self.is_direct = self.side <= _LARGEST_SIDE
        self.least = problem.loss.ridge
        self.softness, self.width, self.every, self.short = 0.0, 1.0, 1, 0
        self.level: Level
        self.near: Vector
        self.curvature: Vector | None = None  # packed, at this point and softness

    def run(self) -> Iterator[None]:
        """Take steps, and gather rows near the margin once they fit."""
        yield from self._begin()
        fits_soon = _SHARE_TO_BEGIN * self.room >= self.problem.partitions.n_stored
        if not self.is_direct and fits_soon and self._has_bounds():
            yield from self._gather()
            yield from self._look_again()
        for _ in range(_MOST_STEPS):
            if self._may_gather():
                yield from self._gather()
            yield from self._step()
            if self._is_over():
                return
            if self.short >= _SHORT_STEPS:
                yield from self._from_farther()

    def _from_farther(self) -> Iterator[None]:
        """After short steps, restart from the nearest rows where that helps, and with more softness."""
        self.short, self.width = 0, 1.0
        if self._has_bounds():
            yield from self._gather()
        self.softness = min(self.softness / _SMALLER**2, _MOST_SOFTNESS)
        yield from self._look_again()

    def _is_over(self) -> bool:
        return self.softness < max(_LAST_SOFTNESS, self.least)

    def _ask(self, question: Any) -> Any:
        self.state.passes += 1
        return self.problem.partitions.ask(question)

    # The first softness

    def _begin(self) -> Iterator[None]:
        """Make the first pass; choose the softness whose smoothing is about as large as the error of the weights."""
        levels = tuple(level for level in _LEVELS if level > self.least) + ((self.least,) if self.least > 0.0 else ())
        if math.isinf(self.problem.loss.cap):
            levels = (self.least,)
        found = self._ask(Survey(self.weights, levels, by_sign=self.problem.is_free))
        self._offer(self.weights, found, levels)
        error = self._error(found)
        smoothing = [level.sums[1] / self.problem.total for level in found.levels]
        place = next((k for k, each in enumerate(smoothing) if each <= error), len(levels) - 1)
        self._stand_at(self.weights, levels[place], found, place)
        yield

    def _error(self, found: Surveyed) -> float:
        """Estimate how far the first objective is from the best, from how optimistic the sample was."""
        primal = self._primal(self.weights, found.levels[0])
        if self.state.sample is None:
            return 0.01 * primal
        sample: Problem = self.state.sample
        losses = sample.losses(self.weights).total / sample.total
        return max(abs(float(found.levels[0].sums[0]) / self.problem.total - losses), 1e-4 * primal)

    # A step

    def _step(self) -> Iterator[None]:
        gradient = self._gradient(self.weights, self.level)
        if self.is_direct:
            move = yield from self._direct_move(gradient)
        else:
            move = yield from self._conjugate_move(gradient)
        slope = inner(gradient, move)
        if not slope < 0.0:
            self._smooth_less()
            yield from self._look_again()
            return
        # A minimum closer than the error of the smoothing is near enough, so the next pass covers a smaller softness.
        smoothing = float(self.level.sums[1]) / self.problem.total
        fits = self.least == 0.0 and self._values_within(_FURTHER * self.softness) <= self.room
        enough = max(self.state.goal, 0.5 * _LEAST_KINKED_GAP) if fits else self.state.goal
        is_off = smoothing > 0.5 * enough * self._primal(self.weights, self.level) and self.softness > self.least
        yield from self._along(move, slope, is_near=is_off and -0.5 * slope <= 2.0 * smoothing)

    def _along(self, move: Vector, slope: float, *, is_near: bool) -> Iterator[None]:
        """Move to about the minimum on the line, located from the gradients there."""
        smaller = max(_SMALLER * self.softness, self.least)
        levels = (self.softness, smaller) if self.softness > self.least else (self.softness,)
        planned = 1 if is_near else 0
        low, high, t = 0.0, math.inf, 1.0
        at_low = slope
        for _ in range(12):
            weights = self.weights + t * move
            found = self._ask(self._survey(weights, levels, levels[planned]))
            here = inner(self._gradient(weights, found.levels[0]), move)
            if here <= -0.3 * slope and (t == 1.0 or here >= 0.5 * slope):
                break
            yield
            low, high, at_low = (t, high, here) if here < 0.0 else (low, t, at_low)
            if not high < math.inf:
                break
            t = _between(low, high, at_low, here, t)
        if t < 0.2:
            self.short += 1
            self.width *= 2.0 if self.least == 0.0 else 1.0
        elif t > 0.4:
            self.short, self.width = 0, max(1.0, 0.5 * self.width)
        self._offer(weights, found, levels)
        self._stand_at(weights, levels[planned], found, planned)
        yield

    def _survey(self, weights: Vector, levels: tuple[float, ...], softness: float) -> Survey:
        bent = self.width * softness if self.is_direct else None
        return Survey(weights, levels, bent, self.every, self.problem.is_free)

    def _look_again(self) -> Iterator[None]:
        """Make a pass at the same weights with another softness."""
        levels = (self.softness,)
        found = self._ask(self._survey(self.weights, levels, self.softness))
        self._offer(self.weights, found, levels)
        self._stand_at(self.weights, self.softness, found, 0)
        yield

    def _smooth_less(self) -> None:
        self.softness = self.softness * _SMALLER if self.softness > self.least else 0.0

    def _stand_at(self, weights: Vector, softness: float, found: Surveyed, place: int) -> None:
        self.weights, self.softness, self.level, self.near = weights, softness, found.levels[place], found.near
        self.curvature = found.curvature
        curved = float(self.level.sums[3])
        self.every = 1 if self.side <= _EXACT_SIDE else max(1, int(curved / (_ROWS_PER_SIDE * self.side)))

    def _direct_move(self, gradient: Vector) -> Any:
        """Return the step to the minimum of the quadratic model of the smoothed objective."""
        if self.curvature is None:
            found = self._ask(self._survey(self.weights, (self.softness,), self.softness))
            self._stand_at(self.weights, self.softness, found, 0)
            yield
        assert self.curvature is not None
        matrix = np.zeros((self.side, self.side))
        matrix[np.tril_indices(self.side)] = self.curvature / self.problem.total
        matrix[np.diag_indices(self.side)] += self.penalty
        _core.factor(matrix)
        move = -gradient
        _core.solve(matrix, move)
        return move

    def _conjugate_move(self, gradient: Vector) -> Any:
        """Compute the same step by conjugate gradients; each product is a pass."""
        if self.state.sample is None:
            yield from self.solver._draw_sample(self.problem, self.state, self.room)
        ease = _Preconditioner(self.state.sample, self.weights, self.width * self.softness, self.penalty)
        move, left = np.zeros_like(gradient), -gradient
        along = eased = ease(left)
        square = first = inner(left, eased)
        for _ in range(_MOST_PRODUCTS):
            bent = self._ask(Bend(self.weights, self.width * self.softness, along)) / self.problem.total
            bent += self.penalty * along
            yield
            length = inner(left, along) / inner(along, bent)
            move += length * along
            before = left.copy()
            left -= length * bent
            eased = ease(left)
            # The preconditioner is not quite linear, so the next direction follows from the change (Polak, Ribiere).
            turned, square = max(0.0, inner(eased, left - before) / square), inner(left, eased)
            if not square > _ENOUGH * first:
                break
            along = eased + turned * along
        return move

    def _gradient(self, weights: Vector, level: Level) -> Vector:
        return self.penalty * weights - level.total / self.problem.total

    # What the sums say

    def _primal(self, weights: Vector, level: Level) -> float:
        return 0.5 * inner(self.penalty * weights, weights) + float(level.sums[0]) / self.problem.total

    def _offer(self, weights: Vector, found: Surveyed, levels: tuple[float, ...]) -> None:
        for softness, level in zip(levels, found.levels, strict=True):
            rule, dual = self._dual(weights, softness, level)
            self.state.offer(weights, self._primal(weights, level))
            self.state.offer_dual(PartitionedDual(rule), dual)

    def _dual(self, weights: Vector, softness: float, level: Level) -> tuple[DualRule, float]:
        """Return the dual point of a softness, and an estimate of its lower bound."""
        problem, total = self.problem, level.total
        gain, scales = float(level.sums[2]), (1.0, 1.0)
        if problem.is_free:  # reduce the heavier side
            negative, positive = level.spent.tolist()
            lighter, heavier = min(negative, positive), max(negative, positive)
            share = lighter / heavier if heavier > 0.0 else 1.0
            scales = (1.0, share) if positive > negative else (share, 1.0)
            gain = inner(level.gains, np.array(scales))
            total = scales[0] * (total - level.positive) + scales[1] * level.positive
            total[-1] = 0.0
        square = inner(total, total) / (problem.lam * problem.total)
        return DualRule(weights, softness, scales=scales), (gain - 0.5 * square) / problem.total

    # Rows near the margin, gathered

    def _may_gather(self) -> bool:
        """Whether the loss has a kink, and the rows that may still change sides fit locally."""
        if not self._has_bounds():
            return False
        is_enough = self.solver.tol is None or self.solver.tol >= _LEAST_KINKED_GAP
        if self.is_direct and (self.least > 0.0 or self.state.gap > _LEAST_KINKED_GAP or is_enough):
            return False
        return self._values_within(_FURTHER * self.softness) <= self.room

    def _has_bounds(self) -> bool:
        """Whether rows far from the margin are at a bound determined by their side of it.

        A loss with a ridge has such a bound on one side only, so all violating rows must fit locally.
        """
        if self.solver.tol is None:
            return False
        return self.least == 0.0 or float(self.near[1, -1]) <= _FEW_VIOLATORS * self.room

    def _values_within(self, width: float) -> float:
        return float(self.near[:, int(np.searchsorted(WIDTHS, width))].sum())

    def _gather(self) -> Iterator[None]:
        """Repeatedly solve for the rows nearest to the margin; the others follow from the last weights."""
        weights, near, worse = self.weights, self.near, 0
        while worse < _STUCK:
            before = self.state.gap
            if self.least > 0.0 and near[1, -1] > _FEW_VIOLATORS * self.room:
                break
            rule = DualRule(weights, 0.0, *_widths(near, self.room))
            gathered = self._ask(Gather(rule))
            yield
            part = self.problem.part(gathered.rows)
            target = 0.1 * (self.solver.tol or _SAMPLE_TOL)
            best, alpha, dual = beside_others(self.problem, part, gathered.others, weights, target)
            self.state.offer_dual(PartitionedDual(rule, part, alpha), dual)
            weights, near = self._toward(weights, best, is_whole=math.isinf(rule.above))
            yield
            worse = 0 if self.state.gap < _FEWER * before else worse + (self.state.gap > _SLOW * before)
        self.weights, self.near, self.curvature = self.state.weights, near, None

    def _toward(self, begin: Vector, end: Vector, *, is_whole: bool) -> tuple[Vector, Vector]:
        """Return the weights to continue from, and how many values are near the margin there.

        Around the first point, the problem with fixed rows is the problem itself, so the line leads downhill. Where all
        violating rows were gathered, and those of the end fit, the end is used: all support vectors stay local there,
        so the lower bound rises in every round.
        """
        found = self._ask(Along(begin, end))
        steps = [begin + t * (end - begin) for t in LENGTHS.tolist()]
        squares = np.array([0.5 * inner(self.penalty * point, point) for point in steps])
        primals = squares + found.losses / self.problem.total
        best = int(np.argmin(primals))
        self.state.offer(steps[best], float(primals[best]))
        if is_whole and found.near_at(1.0)[1, -1] <= _FEW_VIOLATORS * self.room:
            best = 0
        return steps[best], found.near_at(float(LENGTHS[best]))


class _Preconditioner:
    """Approximate inverse of the second derivatives, by conjugate gradients on a local sample."""

    def __init__(self, sample: Problem, weights: Vector, softness: float, penalty: Vector):
        self.sample, self.softness, self.penalty = sample, softness, penalty
        self.residual = residuals(sample, weights)

    def __call__(self, vector: Vector) -> Vector:
        solution, left = np.zeros_like(vector), vector.copy()
        along, square = left.copy(), inner(left, left)
        first = square
        for _ in range(_INNER_PRODUCTS):
            if not square > _INNER_ENOUGH**2 * first:
                break
            bent = np.zeros_like(vector)
            _core.bend(self.sample.native, self.residual, self.softness, along, bent)
            bent = bent / self.sample.total + self.penalty * along
            length = square / inner(along, bent)
            solution += length * along
            left -= length * bent
            before, square = square, inner(left, left)
            along = left + square / before * along
        return solution


def room_for(n_stored: int) -> int:
    """How many of this many stored values may be gathered."""
    return max(_ALWAYS_HERE, min(_MOST_HERE, n_stored // 4))


def _widths(near: Vector, room: int) -> tuple[float, float]:
    """How far below and above 0 the residuals of the rows that fit locally may be.

    Where few rows violate, all of them are gathered: the data are practically separable, and their sides are uncertain.
    """
    widths = np.append(WIDTHS, np.inf)
    violators = float(near[1, -1])
    if violators <= _FEW_VIOLATORS * room:
        return float(widths[_last(near[0] <= room - violators)]), math.inf
    width = float(widths[_last(near.sum(axis=0) <= room)])
    return width, width


def _last(is_true: Any) -> int:
    """Index of the last true entry; the first index if there is none."""
    places = np.flatnonzero(is_true)
    return int(places[-1]) if len(places) else 0


def _between(low: float, high: float, at_low: float, here: float, t: float) -> float:
    """Zero of the line through the slopes at both ends, kept away from the ends."""
    if high == t and here > 0.0 > at_low:
        guess = low + (high - low) * at_low / (at_low - here)
        return float(np.clip(guess, low + 0.1 * (high - low), high - 0.1 * (high - low)))
    return 0.5 * (low + high)


def _handed_over(problem: PartitionedProblem, weights: Vector, alpha: Any) -> tuple[Vector, Any, float]:
    """Weights, dual point and intercept of the model; a free intercept is separate from the weights."""
    if not problem.is_free:
        return weights, alpha, 0.0
    plain = weights.copy()
    plain[-1] = 0.0
    return plain, alpha, float(problem.bias * weights[-1])
