"""What a partition computes in one pass over its rows: a question, its answer, and how answers are merged.

    P(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(r_i),    r_i = 1 - sign_i (<w, x_i> + offset_i)

A question is a value: weights and a few numbers. Its answer depends only on the question and the partition's rows, so a
lost partition can be recomputed elsewhere with bit-identical results. Answers are sums, or a few rows; they are merged
in the order of the partitions, in groups of a fixed size, so that the bits of the result depend neither on the workers
nor on the engine that moves the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.problem import Losses, Problem, Rows, added
from pegasos.problem.sums import dual_terms
from pegasos.rounding import Gain, length_of

Vector = npt.NDArray[np.float64]

FAN_IN = 8  # answers merged at a time
WIDTHS = 2.0 ** np.arange(-24.0, 24.0, 0.25)  # distances from the margin within which rows are counted


class Question(Protocol):
    """A question to every partition, about one of its problems."""

    def __call__(self, problem: Problem) -> Any:
        """Return the answer of a partition, whose problem has only its own rows but the total of all."""

    def merge(self, answers: Sequence[Any]) -> Any:
        """Return the merged answer of several partitions, given in their order."""


def merged(question: Question, answers: Sequence[Any]) -> Any:
    """Merge the answers of all partitions."""
    answers = list(answers)
    while len(answers) > 1:
        answers = [question.merge(answers[k : k + FAN_IN]) for k in range(0, len(answers), FAN_IN)]
    return answers[0]


def bytes_of(question: Question) -> int:
    """Estimate the bytes of a question that have to be sent."""
    found = [getattr(question, each.name) for each in fields(question)]  # type: ignore[arg-type]
    found += [part for value in found if isinstance(value, tuple) for part in value]
    return sum(value.nbytes for value in found if isinstance(value, np.ndarray))


class Level(NamedTuple):
    """The sums of a partition at one softness."""

    sums: Vector  # losses, gap of the smoothing, dual without |w|^2, number of rows that bend the objective
    spent: Vector  # the sum of alpha_i over the rows of sign -1, and of those of sign +1
    total: Vector  # sum_i alpha_i sign_i x_i
    gains: Vector  # dual without |w|^2 of the rows of sign -1 and of those of sign +1, if requested
    positive: Vector  # the total of the rows of sign +1, if requested; else empty


class Surveyed(NamedTuple):
    """The answer to `Survey`."""

    levels: tuple[Level, ...]
    near: Vector  # see `_near`
    curvature: Vector | None  # the lower triangle of the second derivatives, row by row


@dataclass(frozen=True, eq=False)
class Survey:
    """The smoothed objective of some weights and its derivatives, at several softnesses (`solvers.newton`).

    Second derivatives are summed if ``bent`` is a softness, over every ``every``-th of the rows that contribute to
    them. ``by_sign`` asks for the parts of the dual point of each sign, which a free intercept scales separately.
    """

    weights: Vector
    levels: tuple[float, ...]
    bent: float | None = None
    every: int = 1
    by_sign: bool = False

    def __call__(self, problem: Problem) -> Surveyed:
        """One pass."""
        residual = residuals(problem, self.weights)
        levels = tuple(self._level(problem, residual, softness) for softness in self.levels)
        matrix = None
        if self.bent is not None:
            square = np.zeros((len(self.weights),) * 2)
            _core.curvature(problem.native, residual, self.bent, self.every, square)
            matrix = square[np.tril_indices(len(self.weights))]
        return Surveyed(levels, _near(problem, residual), matrix)

    def _level(self, problem: Problem, residual: Vector, softness: float) -> Level:
        alpha, total = np.zeros(len(residual)), np.zeros(problem.weights_shape)
        sums = np.array(_core.smooth(problem.native, residual.copy(), residual, 0.0, softness, alpha, total))
        positive = problem.sign > 0
        spent = np.array([np.sum(alpha[~positive]), np.sum(alpha[positive])])
        if not self.by_sign:
            return Level(sums, spent, total, np.empty(0), np.empty(0))
        gain = alpha * (1.0 - problem.sign * problem.offset) - 0.5 * problem.damping * alpha**2
        of_positive = problem.dual_weights(np.where(positive, alpha, 0.0))[0] * (problem.lam * problem.total)
        gains = np.array([np.sum(gain[~positive]), np.sum(gain[positive])])
        return Level(sums, spent, total, gains, of_positive)

    def merge(self, answers: Sequence[Surveyed]) -> Surveyed:
        """Sums of everything."""
        levels = tuple(
            Level(*(_sum(parts) for parts in zip(*each, strict=True)))
            for each in zip(*(answer.levels for answer in answers), strict=True)
        )
        curvature = None if self.bent is None else _sum([answer.curvature for answer in answers])
        return Surveyed(levels, _sum([answer.near for answer in answers]), curvature)


LENGTHS = np.concatenate([np.arange(20.0, 1.0, -1.0) / 20.0, 0.05 * 2.0 ** np.arange(0.0, -14.0, -1.0)])
_NEAR_AT = (1.0, 0.7, 0.4, 0.2, 0.05)  # the lengths at which rows near the margin are counted


class Passed(NamedTuple):
    """The answer to `Along`."""

    losses: Vector  # at each of LENGTHS
    near: Vector  # see `_near`; one table for each of _NEAR_AT

    def near_at(self, length: float) -> Vector:
        """Estimate how many values are near the margin at this length."""
        return np.asarray(self.near[int(np.argmin(np.abs(np.array(_NEAR_AT) - length)))])


@dataclass(frozen=True, eq=False)
class Along:
    """The sum of the losses on the line from some weights to others."""

    begin: Vector
    end: Vector

    def __call__(self, problem: Problem) -> Passed:
        """One pass."""
        begin, end = residuals(problem, self.begin), residuals(problem, self.end)
        counts = problem.cost > 0.0
        losses = [
            float(np.sum(problem.cost[counts] * problem.loss.value((begin + t * (end - begin))[counts])))
            for t in LENGTHS.tolist()
        ]
        near = [_near(problem, begin + t * (end - begin)) for t in _NEAR_AT]
        return Passed(np.array(losses), np.array(near))

    def merge(self, answers: Sequence[Passed]) -> Passed:
        """Sums of everything."""
        return Passed(*(_sum(parts) for parts in zip(*answers, strict=True)))


@dataclass(frozen=True, eq=False)
class Bend:
    """The second derivatives of the sum of the smoothed losses at some weights, times a vector."""

    weights: Vector
    softness: float
    vector: Vector

    def __call__(self, problem: Problem) -> Vector:
        """One pass."""
        out = np.zeros_like(self.vector)
        _core.bend(problem.native, residuals(problem, self.weights), self.softness, self.vector, out)
        return out

    def merge(self, answers: Sequence[Vector]) -> Vector:
        """The sum."""
        return np.asarray(_sum(answers))


@dataclass(frozen=True, eq=False)
class DualRule:
    """A dual point computed from weights, row by row; at a softness above 0, that of the smoothed problem.

    At a softness of 0, rows with ``-below <= r_i <= above`` are left out and have the dual variable 0; the others are
    at the bound on their side of the margin. ``scales`` multiply the dual variables of sign -1 and of sign +1.
    """

    weights: Vector
    softness: float
    below: float = 0.0
    above: float = 0.0
    scales: tuple[float, float] = (1.0, 1.0)

    def left_out(self, problem: Problem) -> npt.NDArray[np.bool_]:
        """The rows that the rule leaves out."""
        if self.softness > 0.0:
            return np.zeros(problem.rows.n_rows, np.bool_)
        residual = residuals(problem, self.weights)
        return np.asarray((residual >= -self.below) & (residual <= self.above))

    def alpha(self, problem: Problem) -> Vector:
        """The dual variables of a partition's rows, within their bounds."""
        residual = residuals(problem, self.weights)
        if self.softness == 0.0:
            return np.asarray(np.where(residual > self.above, problem.bound, 0.0))
        alpha = np.zeros(len(residual))
        _core.smooth(problem.native, residual.copy(), residual, 0.0, self.softness, alpha, np.zeros_like(self.weights))
        if self.scales != (1.0, 1.0):
            alpha *= np.where(problem.sign > 0, self.scales[1], self.scales[0])
        within: Vector = np.asarray(problem.within_bounds(alpha), np.float64)
        return within


class Terms(NamedTuple):
    """What a dual point of some rows contributes to the dual: terms of w(alpha), and the rest with its rounding."""

    weights: Vector
    gain: Gain
    spent: float  # the sum of alpha_i
    uneven: float  # sum of alpha_i sign_i, exact within each partition
    n_left_out: int  # rows that the rule leaves out

    @classmethod
    def of(cls, problem: Problem, alpha: Vector, n_left_out: int = 0) -> Terms:
        """Compute the terms of local rows."""
        assert isinstance(problem.rows, Rows)
        weights, gain = dual_terms(problem.rows, problem, alpha)
        uneven = float(np.sum(alpha.astype(np.longdouble) * problem.sign))
        return cls(weights, gain, float(np.sum(alpha)), uneven, n_left_out)

    @staticmethod
    def merge(each: Sequence[Terms]) -> Terms:
        """The terms of all; every addition of vectors is accounted for."""
        weights, gain = each[0].weights.copy(), each[0].gain
        for more in each[1:]:
            weights += more.weights
            gain = (gain + more.gain).with_sum_of(length_of(weights))
        spent, uneven = sum(part.spent for part in each), sum(part.uneven for part in each)
        return Terms(weights, gain, spent, uneven, sum(part.n_left_out for part in each))


class Proved(NamedTuple):
    """The answer to `Proof`."""

    losses: Losses
    terms: Terms
    farthest: Vector  # the largest |offset_i|, and at least every |x_i|


@dataclass(frozen=True, eq=False)
class Proof:
    """The losses of some weights and the terms of a dual point, with room for rounding."""

    weights: Vector
    intercept: float
    rule: DualRule | None

    def __call__(self, problem: Problem) -> Proved:
        """One pass; without a rule, the dual point is zero."""
        shifted = problem if self.intercept == 0.0 else problem.shifted(self.intercept)
        losses = shifted.losses(self.weights)
        alpha = np.zeros(problem.rows.n_rows) if self.rule is None else self.rule.alpha(problem)
        n_left_out = 0 if self.rule is None else int(np.count_nonzero(self.rule.left_out(problem)))
        reach = np.array([problem.largest_offset, problem.rows.longest])
        return Proved(losses, Terms.of(problem, alpha, n_left_out), reach)

    def merge(self, answers: Sequence[Proved]) -> Proved:
        """The sums, and the largest."""
        losses = added([answer.losses for answer in answers], self.weights)
        farthest = np.max([answer.farthest for answer in answers], axis=0)
        return Proved(losses, Terms.merge([answer.terms for answer in answers]), farthest)


class SomeRows(NamedTuple):
    """Rows that leave their partition, with their signs, costs and offsets."""

    values: Any  # dense, or CSR
    sign: npt.NDArray[np.int8]
    cost: Vector
    offset: Vector
    carried: Vector  # the two numbers of `rounding.Carried`

    @classmethod
    def of(cls, problem: Problem, chosen: npt.NDArray[np.intp]) -> SomeRows:
        """A copy of the chosen rows."""
        assert isinstance(problem.rows, Rows)
        values = problem.rows.values[chosen if problem.rows.numbers is None else problem.rows.numbers[chosen]]
        carried = np.array([problem.carried.length, problem.carried.constant])
        return cls(values, problem.sign[chosen], problem.cost[chosen], problem.offset[chosen], carried)

    @staticmethod
    def merge(each: Sequence[SomeRows]) -> SomeRows:
        """Stack the rows."""
        values = [part.values for part in each]
        stacked = sp.vstack(values, format="csr") if any(map(sp.issparse, values)) else np.vstack(values)
        sign, cost, offset = (np.concatenate([part[k] for part in each]) for k in (1, 2, 3))
        return SomeRows(stacked, sign, cost, offset, np.max([part.carried for part in each], axis=0))


@dataclass(frozen=True, eq=False)
class Sample:
    """Every ``stride``-th row with a positive cost; at least one per partition that has any."""

    stride: int

    def __call__(self, problem: Problem) -> SomeRows:
        """The rows of a partition."""
        counted = np.flatnonzero(problem.cost > 0.0)
        return SomeRows.of(problem, counted[self.stride // 2 % max(len(counted), 1) :: self.stride])

    def merge(self, answers: Sequence[SomeRows]) -> SomeRows:
        """The rows of all answers together."""
        return SomeRows.merge(answers)


class Gathered(NamedTuple):
    """The answer to `Gather`."""

    rows: SomeRows
    others: Terms  # terms of the dual point of the rows that are not gathered


@dataclass(frozen=True, eq=False)
class Gather:
    """The rows near the margin of some weights, and the sums of the others at the bounds on their side of it."""

    rule: DualRule

    def __call__(self, problem: Problem) -> Gathered:
        """One pass."""
        near = np.flatnonzero(self.rule.left_out(problem))
        return Gathered(SomeRows.of(problem, near), Terms.of(problem, self.rule.alpha(problem), len(near)))

    def merge(self, answers: Sequence[Gathered]) -> Gathered:
        """All rows, and the sums."""
        rows = SomeRows.merge([answer.rows for answer in answers])
        return Gathered(rows, Terms.merge([answer.others for answer in answers]))


def residuals(problem: Problem, weights: Vector) -> Vector:
    """r_i of a partition's rows, in double."""
    found = np.zeros(problem.rows.n_rows)
    _core.residuals(problem.native, weights, found)
    return found


def _near(problem: Problem, residual: Vector) -> Vector:
    """Stored values of the rows within each of WIDTHS of the margin, and of all: of those with r_i <= 0 and the others.

    Rows that cost nothing do not count.
    """
    assert isinstance(problem.rows, Rows)
    counts, found = problem.cost > 0.0, []
    place, stored = np.searchsorted(WIDTHS, np.abs(residual)), problem.rows.stored_of_each
    for chosen in (counts & (residual <= 0.0), counts & (residual > 0.0)):
        each = np.bincount(place[chosen], weights=stored[chosen], minlength=len(WIDTHS) + 1)
        found.append(np.cumsum(each))
    return np.array(found, np.float64)


def _sum(parts: Sequence[Any]) -> Any:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
