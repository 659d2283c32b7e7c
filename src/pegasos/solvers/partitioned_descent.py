"""Newton's method over partitions from given weights, while the softness falls."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from pegasos.problem import Problem, inner
from pegasos.solvers.partitioned import PartitionedDual, PartitionedProblem
from pegasos.solvers.partitioned_gathering import Gathering
from pegasos.solvers.partitioned_state import draw_sample
from pegasos.solvers.partitioned_step import conjugate_step, direct_step
from pegasos.solvers.passes import DualRule, Level, Survey, Surveyed, Vector

_LEVELS = tuple(0.6 * 0.4**k for k in range(9))  # softnesses evaluated by the first pass
_SMALLER = 0.4  # factor on the softness when its minimum is near enough
_LARGEST_SIDE = 2500  # largest side of a matrix of second derivatives
_EXACT_SIDE = 320  # largest side of a matrix computed from all rows
_ROWS_PER_SIDE = 20  # rows near the margin per side of a larger matrix
_MOST_STEPS = 60
_LEAST_KINKED_GAP = 1e-3  # below this gap rows near the margin are gathered, where second derivatives are cheap
_FURTHER = 4.0  # distance from the margin, in units of softness, within which rows may still change sides
_SHARE_TO_BEGIN = 8  # more than this many times the local capacity is not gathered before Newton's method is close
_LAST_SOFTNESS, _MOST_SOFTNESS = 1e-7, 1e3
_SHORT_STEPS = 2


class Descent:
    """A descent from given weights: the point, its softness, and what is known there."""

    def __init__(self, gathering: Gathering, weights: Vector):
        self.gathering, self.problem, self.state = gathering, gathering.problem, gathering.state
        self.weights = weights
        self.side = len(weights)
        self.is_direct = self.side <= _LARGEST_SIDE
        self.least = self.problem.loss.ridge
        self.softness, self.width, self.every, self.short = 0.0, 1.0, 1, 0
        self.level: Level
        self.near: Vector
        self.curvature: Vector | None = None  # packed, at this point and softness

    def run(self) -> Iterator[None]:
        """Take steps, and gather rows near the margin once they fit."""
        yield from self._begin()
        fits_soon = _SHARE_TO_BEGIN * self.gathering.room >= self.problem.partitions.n_stored
        if not self.is_direct and fits_soon and self.gathering.has_bounds(self.near):
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
        if self.gathering.has_bounds(self.near):
            yield from self._gather()
        self.softness = min(self.softness / _SMALLER**2, _MOST_SOFTNESS)
        yield from self._look_again()

    def _is_over(self) -> bool:
        return self.softness < max(_LAST_SOFTNESS, self.least)

    def _begin(self) -> Iterator[None]:
        """Make the first pass; choose the softness whose smoothing is about as large as the error of the weights."""
        levels = tuple(level for level in _LEVELS if level > self.least) + ((self.least,) if self.least > 0.0 else ())
        if math.isinf(self.problem.loss.cap):
            levels = (self.least,)
        found = self.state.ask(self.problem, Survey(self.weights, levels, by_sign=self.problem.is_free))
        self._offer(self.weights, found, levels)
        error = self._error(found)
        smoothing = [level.sums[1] / self.problem.total for level in found.levels]
        place = next((k for k, each in enumerate(smoothing) if each <= error), len(levels) - 1)
        self._stand_at(self.weights, levels[place], found, place)
        yield

    def _error(self, found: Surveyed) -> float:
        """Estimate how far the first objective is from the best, from how optimistic the sample was."""
        primal = primal_of(self.problem, self.weights, found.levels[0])
        if self.state.sample is None:
            return 0.01 * primal
        sample: Problem = self.state.sample
        losses = sample.losses(self.weights).total / sample.total
        return max(abs(float(found.levels[0].sums[0]) / self.problem.total - losses), 1e-4 * primal)

    def _step(self) -> Iterator[None]:
        gradient = gradient_of(self.problem, self.weights, self.level)
        if self.is_direct:
            step = yield from self._direct(gradient)
        else:
            step = yield from self._conjugate(gradient)
        slope = inner(gradient, step)
        if not slope < 0.0:
            self._smooth_less()
            yield from self._look_again()
            return
        # A minimum closer than the error of the smoothing is near enough, so the next pass covers a smaller softness.
        smoothing = float(self.level.sums[1]) / self.problem.total
        fits = self.least == 0.0 and self.gathering.fits(self.near, _FURTHER * self.softness)
        enough = max(self.state.goal, 0.5 * _LEAST_KINKED_GAP) if fits else self.state.goal
        is_off = (
            smoothing > 0.5 * enough * primal_of(self.problem, self.weights, self.level) and self.softness > self.least
        )
        yield from self._along(step, slope, is_near=is_off and -0.5 * slope <= 2.0 * smoothing)

    def _along(self, step: Vector, slope: float, *, is_near: bool) -> Iterator[None]:
        """Move to about the minimum on the line, located from the gradients there."""
        smaller = max(_SMALLER * self.softness, self.least)
        levels = (self.softness, smaller) if self.softness > self.least else (self.softness,)
        planned = 1 if is_near else 0
        low, high, t = 0.0, math.inf, 1.0
        at_low = slope
        for _ in range(12):
            weights = self.weights + t * step
            found = self.state.ask(self.problem, self._survey(weights, levels, levels[planned]))
            here = inner(gradient_of(self.problem, weights, found.levels[0]), step)
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
        found = self.state.ask(self.problem, self._survey(self.weights, levels, self.softness))
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

    def _offer(self, weights: Vector, found: Surveyed, levels: tuple[float, ...]) -> None:
        for softness, level in zip(levels, found.levels, strict=True):
            rule, dual = dual_of(self.problem, weights, softness, level)
            self.state.offer(weights, primal_of(self.problem, weights, level))
            self.state.offer_dual(PartitionedDual(rule), dual)

    def _may_gather(self) -> bool:
        """Whether the loss has a kink, and the rows that may still change sides fit locally."""
        if not self.gathering.has_bounds(self.near):
            return False
        is_enough = self.gathering.tol is None or self.gathering.tol >= _LEAST_KINKED_GAP
        if self.is_direct and (self.least > 0.0 or self.state.gap > _LEAST_KINKED_GAP or is_enough):
            return False
        return self.gathering.fits(self.near, _FURTHER * self.softness)

    def _direct(self, gradient: Vector) -> Generator[None, None, Vector]:
        """Return the step from the second derivatives, after a pass for them if they are not known here."""
        if self.curvature is None:
            found = self.state.ask(self.problem, self._survey(self.weights, (self.softness,), self.softness))
            self._stand_at(self.weights, self.softness, found, 0)
            yield
        assert self.curvature is not None
        return direct_step(self.problem, self.curvature, gradient)

    def _conjugate(self, gradient: Vector) -> Generator[None, None, Vector]:
        """Return the step by conjugate gradients, after a pass for a sample if there is none."""
        if self.state.sample is None:
            yield from draw_sample(self.problem, self.state, self.gathering.room)
        softness = self.width * self.softness
        return (yield from conjugate_step(self.problem, self.state, self.weights, softness, gradient))

    def _gather(self) -> Iterator[None]:
        """Solve for the rows near the margin, and continue from the best weights."""
        self.near = yield from self.gathering.run(self.weights, self.near)
        assert self.state.weights is not None
        self.weights, self.curvature = self.state.weights, None


def primal_of(problem: PartitionedProblem, weights: Vector, level: Level) -> float:
    """The smoothed objective, from the sums of a pass."""
    return 0.5 * inner(problem.penalty * weights, weights) + float(level.sums[0]) / problem.total


def gradient_of(problem: PartitionedProblem, weights: Vector, level: Level) -> Vector:
    """Its gradient, from the same sums."""
    return problem.penalty * weights - level.total / problem.total


def dual_of(problem: PartitionedProblem, weights: Vector, softness: float, level: Level) -> tuple[DualRule, float]:
    """Return the dual point of a softness, and an estimate of its lower bound."""
    total = level.total
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


def _between(low: float, high: float, at_low: float, here: float, t: float) -> float:
    """Zero of the line through the slopes at both ends, kept away from the ends."""
    if high == t and here > 0.0 > at_low:
        guess = low + (high - low) * at_low / (at_low - here)
        return float(np.clip(guess, low + 0.1 * (high - low), high - 0.1 * (high - low)))
    return 0.5 * (low + high)
