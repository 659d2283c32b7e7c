"""Small kernel problems at once, such as all pairs of classes: solved in one native call, certified side by side.

The loop is that of decomposition (cpp/core/pegasos/decomposition.h), and the certificates are those of `certify_dual`
and `certify_free`, computed for all problems in the same operations on concatenated arrays. What is not certified this
way is left to the driver, one problem at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import certificate_of
from pegasos.gram import KernelRows
from pegasos.problem import Losses, Problem
from pegasos.rounding import DualSums
from pegasos.solution import Solution, Status, Trace, TraceRow
from pegasos.tasks.labels import costs_of
from pegasos.tasks.one_vs_one import Pairs, pairs_of

most_rows = 4096  # most rows of one problem
most_table_rows = 2048  # most rows of all problems together, where the kernel matrix is computed at once
_MIXED_TOL = 1e-6  # least tol for steps in single precision
_FEW_BYTES = 1 << 28  # a kernel matrix of all rows in double that takes less memory is the quickest
_AIM = 0.9  # fraction of the requested gap that a problem is solved to
_STEPS_PER_ROW, _WORK = 200, 1e9  # limits per problem: steps per row, and slopes updated
_THREAD_WORK = 5e5  # squared rows of problems that are worth starting a thread for
_BATCH_WORK = 2e8  # squared rows of problems that are solved in one call
_LEAST_SHARE = 1e-9  # fraction of nu times the largest k(x, x): a smaller lam is none
_LOOK_SECONDS, _VALUE_SECONDS = 1e-3, 1e-8  # of the driver, for one problem and for one kernel value of it
_ROUNDING = 1e-12  # fraction of the sum of the costs below which slopes count as 0

Column = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]


def largest_share(of_sign: Sequence[Any], *, is_free: bool) -> Any:
    """The most that a dual point can spend: all costs of both signs; with a free intercept, equally much of each."""
    return 2.0 * np.minimum(*of_sign) if is_free else np.add(*of_sign)


@dataclass(frozen=True)
class SmallProblems:
    """The columns of all problems, concatenated."""

    rows: KernelRows
    members: Numbers  # row number of each entry
    sizes: Numbers  # number of rows of each problem
    sign: Column
    cost: Column
    offset: Column
    lam: Column  # one per problem
    total: Column
    is_free: bool
    is_apart: bool = False  # whether these are pairs of classes, each with rows of its own

    @classmethod
    def of(cls, problems: Sequence[Problem], is_free: bool) -> SmallProblems:
        """Problems that share their rows, or pairs of classes."""
        if isinstance(problems, Pairs):
            return cls._of_pairs(problems, is_free)
        rows, n = problems[0].rows, problems[0].rows.n_rows
        assert isinstance(rows, KernelRows)
        each = [(problem.sign, problem.cost, problem.offset) for problem in problems]
        sign, cost, offset = (np.concatenate(one, dtype=np.float64) for one in zip(*each, strict=True))
        lam, total = np.array([(problem.lam, problem.total) for problem in problems]).T
        members = np.concatenate([np.arange(n)] * len(problems))
        return cls(rows, members, np.full(len(problems), n), sign, cost, offset, lam, total, is_free)

    @classmethod
    def _of_pairs(cls, pairs: Pairs, is_free: bool) -> SmallProblems:
        rows = pairs.rows
        assert isinstance(rows, KernelRows)
        members = np.concatenate(pairs.members)
        sizes = np.array([len(mine) for mine in pairs.members], np.intp)
        codes = pairs.codes[members]
        second = np.array([pair[1] for pair in pairs_of(pairs.task.n_classes)])
        sign = np.where(codes == np.repeat(second, sizes), 1.0, -1.0)
        weights = None if pairs.weights is None else pairs.weights[members]
        cost = np.ascontiguousarray(costs_of(codes, weights, pairs.task.factors))
        offset = np.zeros(len(members))
        if pairs.offsets is not None:
            each = zip(pairs.offsets, pairs.members, strict=True)
            offset = np.concatenate([offset[mine] for offset, mine in each])
        lam, total = np.array(pairs.lams_and_totals).T
        return cls(rows, members, sizes, sign, cost, offset, lam, total, is_free, is_apart=len(sizes) > 1)

    def part(self, first: int, end: int) -> SmallProblems:
        """Some of the problems, or all of them."""
        if end - first == len(self.sizes):
            return self
        entries = slice(self.starts[first], self.starts[end])
        sign, cost, offset = (each[entries] for each in (self.sign, self.cost, self.offset))
        terms = self.lam[first:end], self.total[first:end]
        members, sizes = self.members[entries], self.sizes[first:end]
        return SmallProblems(self.rows, members, sizes, sign, cost, offset, *terms, self.is_free, self.is_apart)

    @cached_property
    def mu(self) -> Column:
        """The product of lam and total, for each problem."""
        return self.lam * self.total

    @cached_property
    def bounds(self) -> tuple[Column, Column]:
        """The bounds of sign_i alpha_i."""
        return np.minimum(self.sign, 0.0) * self.cost, np.maximum(self.sign, 0.0) * self.cost

    @property
    def largest(self) -> float:
        """The largest k(x, x), which no kernel value exceeds."""
        return float(self.rows.squared_norms.max())

    @property
    def batches(self) -> list[tuple[int, int]]:
        """Ranges of problems solved per call, between which budgets and interrupts are checked."""
        if self.n_values <= _BATCH_WORK:
            return [(0, len(self.sizes))]
        work = np.cumsum(self.sizes.astype(np.float64) ** 2)
        cuts = np.flatnonzero(np.diff(work // _BATCH_WORK)) + 1
        ends = [*cuts.tolist(), len(work)]
        return list(zip([0, *ends[:-1]], ends, strict=True))

    @property
    def driver_seconds(self) -> float:
        """What the driver takes at least for a look at every problem: a table of each, and its certificate."""
        return _LOOK_SECONDS * len(self.sizes) + _VALUE_SECONDS * self.n_values

    @cached_property
    def n_values(self) -> float:
        """Number of kernel values of all problems."""
        return float(sum(n * n for n in self.sizes.tolist()))

    @property
    def most_threads(self) -> int:
        """Number of threads that have enough to do."""
        return 1 + int(self.n_values / _THREAD_WORK)

    @cached_property
    def starts(self) -> Numbers:
        """Start of the entries of each problem, and the end of the last."""
        return np.array([0, *accumulate(self.sizes.tolist())], np.intp)

    def sums(self, values: Column) -> Column:
        """Sum over each problem."""
        return np.add.reduceat(values, self.starts[:-1])

    def of_entries(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Repeat a value per problem for each of its entries."""
        return np.repeat(values, self.sizes)

    def is_mixed(self, tol: float) -> bool:
        """Whether pairs take steps in single precision, on columns that each computes for itself."""
        exact, n_bytes = self.rows.values.exact, 8.0 * self.rows.n_rows**2
        return self.is_apart and n_bytes > _FEW_BYTES and tol >= _MIXED_TOL and exact is not None and exact.suits_single

    def _kernel(self, tol: float) -> tuple[Any, Any, Any]:
        """The table of all rows, how columns are computed instead, and the rows in double beside single precision."""
        columns, exact, single = self.rows.columns, self.rows.values.exact, np.dtype(np.float32)
        if self.is_mixed(tol) and exact is not None:
            return np.empty((1, 1), single), exact.columns(single), exact.x
        return *columns.to_fill(), exact.x if columns.is_mixed and exact is not None else None

    def solve(self, tol: float, fine: float, threads: int) -> Point:
        """The dual point of every problem, and the scores of its rows."""
        return self._climbed(tol, fine, threads, self.sign - self.offset, 1.0 / self.mu)

    def spend(self, nu: float, tol: float, threads: int, *, is_along_lam: bool) -> tuple[Point, Column]:
        """Like `solve`, with the parameter that spends nu, which is lam or epsilon; the scores are those at it.

        At an unknown lam, the dual of a nu-machine has no linear term: with b = sign alpha it is the least b' K b that
        spends nu, and rows of both signs that are between their bounds have scores 2 lam total apart. A parameter that
        is not positive has no solution.
        """
        spent, widths = nu * self.total * (0.5 if self.is_free else 1.0), np.zeros(len(self.total))
        if not is_along_lam:
            return self._climbed(tol, 0.0, threads, self.sign - self.offset, 1.0 / self.mu, spent, widths), widths
        with np.errstate(divide="ignore", invalid="ignore"):
            units = 1.0 / (self.total * self.largest)
            point = self._climbed(tol, 0.0, threads, np.zeros(len(self.members)), units, spent, widths)
            return point._replace(scores=point.scores / self.of_entries(-widths)), -widths * self.largest

    def _climbed(self, tol: float, fine: float, threads: int, target: Column, units: Column, *sums: Column) -> Point:
        """The points that the native ascent reaches; after an interrupt, where it has made a step, those it had."""
        n, rows = len(self.members), self.rows
        lower, upper = self.bounds
        b, scores, steps = np.zeros(n), np.zeros(n), np.zeros(len(self.lam), np.intp)
        entries = rows.squared_norms, self.members, self.starts, target, lower, upper, b, scores
        limits = _AIM * tol, fine, _STEPS_PER_ROW, _WORK, steps, threads
        keeps_sum = self.is_free or len(sums) > 0
        kernel = (*rows.columns.to_fill(), None) if sums else self._kernel(tol)  # a sum is spent in one precision
        given: tuple[Any, ...] = *kernel, *entries, units, keeps_sum, *limits, *sums
        try:
            ended = Status.TIME if _core.small_solve(*given) else None
        except KeyboardInterrupt:
            if not steps.any():
                raise
            ended = Status.INTERRUPTED
        return Point(np.abs(b), scores, steps, ended)

    def at_parameters(self, values: Column, *, is_along_lam: bool) -> SmallProblems:
        """The problems with these lams, or with tubes of these widths."""
        if is_along_lam:
            return replace(self, lam=values)
        return replace(self, offset=self.offset + self.sign * self.of_entries(values))

    @property
    def largest_shares(self) -> Column:
        """The largest share of total that a dual point can spend, for each problem."""
        lower, upper = self.bounds
        of_sign = self.sums(upper), -self.sums(lower)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(largest_share(of_sign, is_free=self.is_free) / self.total)

    def certified(self, alpha: Column, scores: Column) -> tuple[list[Any], Column, Column, Column]:
        """The certificates, the coefficients, the intercepts, and the distances of those of exact solutions."""
        coefficients, table = np.empty(len(alpha)), np.empty((len(self.lam), len(_Terms._fields)))
        entries = self.starts, self.sign, self.cost, self.offset
        _core.small_sums(*entries, alpha, scores, self.mu, self.largest, self.is_free, coefficients, table)
        nothing, each = np.empty(0), zip(self.lam.tolist(), self.total.tolist(), table.tolist(), strict=True)
        certificates = [
            certificate_of(
                _Scales(lam, total),  # type: ignore[arg-type]
                Losses(terms.losses, terms.least_margin, terms.square, terms.rounding, terms.slack),
                DualSums(nothing, terms.gain, terms.slack),
                terms.square,
                0.0,
            )
            for lam, total, terms in ((lam, total, _Terms(*row)) for lam, total, row in each)
        ]
        intercepts = np.ascontiguousarray(table[:, 0])
        return certificates, coefficients, intercepts, self._reach(scores, certificates, intercepts)

    def _reach(self, scores: Column, certificates: list[Any], intercepts: Column) -> Column:
        """Like `certificate.intercept_reach`, for each problem."""
        reaches = np.zeros(len(intercepts))
        if self.is_free:
            radii = np.array([certificate.weight_radius for certificate in certificates])
            columns = self.starts, self.sign, self.cost, self.offset
            _core.small_reaches(*columns, scores, self.rows.lengths[self.members], radii, intercepts, reaches)
        return reaches


class _Terms(NamedTuple):
    """What the certificate of a problem is made of, times total (cpp/core/pegasos/small_sums.h)."""

    intercept: float
    losses: float
    least_margin: float
    square: float
    gain: float
    rounding: float
    slack: float


class _Scales(NamedTuple):
    """The numbers of a problem that its certificate needs."""

    lam: float
    total: float


class Point(NamedTuple):
    """Where the native ascent ended: the dual point of every problem, and the scores of its rows."""

    alpha: Column
    scores: Column
    steps: Numbers  # one per problem
    ended: Status | None  # what ended it early


class Reached(NamedTuple):
    """A dual point without a certificate."""

    alpha: Column
    n_steps: int


class Spent(NamedTuple):
    """The parameter whose solution spends nu, and that solution."""

    value: float
    solution: Solution | Reached


class Together(NamedTuple):
    """What is known of problems that were solved together."""

    found: list[Any]
    ended: Status | None  # what ended the call early


def solve_together(small: SmallProblems, tol: float, fine: float, threads: int, *, certifies: bool) -> Together:
    """The solutions that are certified, or with their own gap after an interrupt; the dual points of other problems."""
    begun = perf_counter()
    point = small.solve(tol, fine, threads)
    return Together(_certified(small, point, tol, begun) if certifies else _reached(small, point), point.ended)


def spend_together(
    small: SmallProblems, nu: float, tol: float, threads: int, *, is_along_lam: bool, certifies: bool
) -> Together:
    """The problems at the parameters that spend nu, with their solutions; None where this has not been found."""
    begun = perf_counter()
    point, values = small.spend(nu, tol, threads, is_along_lam=is_along_lam)
    least = _LEAST_SHARE * nu if is_along_lam else _ROUNDING * (1.0 + float(np.abs(small.offset).max(initial=0.0)))
    is_found = (values > least) & np.isfinite(values)
    is_found &= nu <= small.largest_shares * (1.0 + _ROUNDING)
    if certifies:
        if not is_found.all():
            point = point._replace(scores=np.where(small.of_entries(is_found), point.scores, 0.0))
        at = small.at_parameters(np.where(is_found, values, 1.0), is_along_lam=is_along_lam)
        # Where time has ended, the search may still find a solution that is certified; after an interrupt it must not.
        ended = point.ended if point.ended is Status.INTERRUPTED else None
        solutions = _certified(at, point._replace(ended=ended), tol, begun)
        if len(small.sizes) == 1 and len(small.members) == small.rows.n_rows and isinstance(solutions[0], Solution):
            small.rows.remember(solutions[0].weights, point.scores)
    else:
        solutions = _reached(small, point)
    each = zip(values.tolist(), solutions, is_found.tolist(), strict=True)
    return Together([Spent(value, one) if is_good else None for value, one, is_good in each], point.ended)


def _parts(small: SmallProblems) -> list[slice]:
    return [slice(first, end) for first, end in pairwise(small.starts.tolist())]


def _reached(small: SmallProblems, point: Point) -> list[Any]:
    return [Reached(point.alpha[part], n) for part, n in zip(_parts(small), point.steps.tolist(), strict=True)]


def _certified(small: SmallProblems, point: Point, tol: float, begun: float) -> list[Any]:
    """The solutions that are certified, or that have ended early; the dual points of the other problems."""
    certificates, coefficients, intercepts, reaches = small.certified(point.alpha, point.scores)
    seconds = perf_counter() - begun
    solutions: list[Solution | Reached] = []
    numbers = point.steps.tolist(), small.sizes.tolist(), intercepts.tolist(), reaches.tolist()
    for certificate, part, n_steps, n, *free in zip(certificates, _parts(small), *numbers, strict=True):
        alpha = point.alpha[part]
        status = Status.CERTIFIED if certificate.relative_gap <= tol else point.ended
        if status is None or not certificate.is_finite:
            solutions.append(Reached(alpha, n_steps))
            continue
        row = TraceRow(n_steps, n_steps / n, seconds, certificate.primal, certificate.dual, certificate.gap)
        counts = max(1, -(-n_steps // n)), n_steps
        solutions.append(Solution(coefficients[part], alpha, status, certificate, Trace([row]), *counts, None, *free))
    return solutions
