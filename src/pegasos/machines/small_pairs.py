"""All pairs of classes of a small kernel machine at once: solved in one native call, certified side by side.

The problems are those of `Pairs`, the loop is that of decomposition (cpp/core/pegasos/decomposition.h), and the
certificates are those of `certify_dual` and `certify_free`, computed for all pairs in the same operations on arrays
that lie one behind the other. What is not certified so is left to the driver, one pair at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import certificate_of
from pegasos.gram import KernelRows
from pegasos.kernels.base import n_threads
from pegasos.problem import Losses
from pegasos.rounding import DualSums, negligible, unit
from pegasos.solution import Solution, Status, Trace, TraceRow
from pegasos.tasks.labels import costs_of
from pegasos.tasks.one_vs_one import Pairs, pairs_of

most_rows = 2048  # of all classes together
_aim = 0.5  # of the gap to reach, that a problem is solved to
_steps_per_row = 50
_rounding = 1e-12  # of the sum of the costs: slopes this small are 0

Column = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SmallPairs:
    """The columns of all pairs, one behind the other."""

    pairs: Pairs
    rows: KernelRows
    is_free: bool

    @cached_property
    def members(self) -> npt.NDArray[np.intp]:
        """The row that each entry belongs to."""
        return np.concatenate(self.pairs.members)

    @cached_property
    def sizes(self) -> npt.NDArray[np.intp]:
        """How many rows each pair has."""
        return np.array([len(mine) for mine in self.pairs.members], np.intp)

    @cached_property
    def starts(self) -> npt.NDArray[np.intp]:
        """Where the entries of each pair begin, and where the last ones end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @cached_property
    def sign(self) -> Column:
        """The labels."""
        second = np.array([pair[1] for pair in pairs_of(self.pairs.task.n_classes)])
        return np.where(self.pairs.codes[self.members] == np.repeat(second, self.sizes), 1.0, -1.0)

    @cached_property
    def cost(self) -> Column:
        """What a mistake costs."""
        weights = None if self.pairs.weights is None else self.pairs.weights[self.members]
        return np.ascontiguousarray(costs_of(self.pairs.codes[self.members], weights, self.pairs.task.factors))

    @cached_property
    def offset(self) -> Column:
        """The scores that are already there."""
        if self.pairs.offsets is None:
            return np.zeros(len(self.members))
        each = zip(self.pairs.offsets, self.pairs.members, strict=True)
        return np.concatenate([offset[mine] for offset, mine in each])

    @cached_property
    def terms(self) -> tuple[Column, Column]:
        """The lam and the total of each pair."""
        lam, total = np.array([self.pairs.lam_and_total(k) for k in range(len(self.pairs))]).T
        return lam, total

    def sums(self, values: Column) -> Column:
        """The sum of each pair."""
        return np.add.reduceat(values, self.starts[:-1])

    def of_entries(self, values: Column) -> Column:
        """A value of each pair, for each of its entries."""
        return np.repeat(values, self.sizes)

    def solve(self, tol: float, threads: int) -> tuple[Column, npt.NDArray[np.intp]]:
        """The dual point of every pair, and its steps."""
        lam, total = self.terms
        up, down = np.where(self.sign > 0.0, self.cost, 0.0), np.where(self.sign > 0.0, 0.0, -self.cost)
        steps = np.zeros(len(lam), np.intp)
        settings = 1.0 / (lam * total), self.is_free, _aim * tol, _steps_per_row, steps, threads
        _core.small_solve(self.rows.table, self.members, self.starts, self.sign - self.offset, down, up, *settings)
        to_zero, to_cost = np.where(self.sign > 0.0, -down, up), np.where(self.sign > 0.0, up, -down)
        return np.clip(np.where(to_zero < to_cost, to_zero, self.cost - to_cost), 0.0, self.cost), steps

    def balanced(self, alpha: Column) -> Column:
        """With sum alpha_i sign_i = 0 in each pair, where the intercept is free: the heavier side is scaled down."""
        if not self.is_free:
            return alpha
        above, below = (
            self.sums(np.where(self.sign > 0.0, alpha, 0.0)),
            self.sums(np.where(self.sign < 0.0, alpha, 0.0)),
        )
        lighter = np.minimum(above, below)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = [np.where(side > 0.0, lighter / side, 0.0) for side in (above, below)]
        return alpha * np.where(self.sign > 0.0, self.of_entries(factors[0]), self.of_entries(factors[1]))

    def scores(self, coefficients: Column) -> Column:
        """The score of every entry: a product of all coefficients with the kernel matrix, by a loop of its own."""
        n = self.rows.n_rows
        whole = np.zeros((len(self.sizes), n))
        of_pair = np.repeat(np.arange(len(self.sizes)), self.sizes)
        whole[of_pair, self.members] = coefficients
        scores, nothing = np.empty_like(whole), np.zeros(n)
        table = self.rows.table
        _core.dense_kernel(
            "polynomial", 1.0, 0.0, 1, 0.0, whole, table, np.zeros(len(whole)), nothing, scores, n_threads()
        )
        return scores[of_pair, self.members]

    def best_intercepts(self, scores: Column) -> tuple[Column, Column]:
        """As `certificate.best_intercepts`, for each pair."""
        counts = self.cost > 0.0
        breaks = np.where(counts, self.sign - scores - self.offset, np.inf)
        of_pair = np.repeat(np.arange(len(self.sizes)), self.sizes)
        order = np.lexsort((breaks, of_pair))
        cost = self.cost[order]
        whole = self.sums(self.cost)
        before = np.concatenate([[0.0], np.cumsum(whole)[:-1]])
        # Behind each break; in front of the first it is the sum of the positive costs, below 0.
        positive = self.sums(np.where(self.sign > 0.0, self.cost, 0.0))
        slopes = np.cumsum(cost) - self.of_entries(before + positive)
        breaks, rounding = breaks[order], _rounding * whole
        first = np.add.reduceat((slopes < -self.of_entries(rounding)).astype(np.intp), self.starts[:-1])
        last = np.add.reduceat((slopes <= self.of_entries(rounding)).astype(np.intp), self.starts[:-1])
        padded = np.append(breaks, np.inf)

        def at(index: npt.NDArray[np.intp]) -> Column:
            return np.where(index < self.sizes, padded[np.minimum(self.starts[:-1] + index, len(breaks))], np.inf)

        return np.where(positive <= rounding, -np.inf, at(first)), at(last)

    def certified(self, alpha: Column) -> tuple[list[Any], Column, Column, Column]:
        """The certificates, the coefficients, the intercepts, and how far those of exact solutions may be."""
        lam, total = self.terms
        coefficients = self.sign * alpha / self.of_entries(lam * total)
        scores = self.scores(coefficients)
        intercepts = np.zeros(len(lam))
        if self.is_free:
            lowest, highest = self.best_intercepts(scores)
            with np.errstate(invalid="ignore"):
                middle = 0.5 * (lowest + highest)
            one = np.where(np.isfinite(lowest), lowest, np.where(np.isfinite(highest), highest, 0.0))
            intercepts = np.where(np.isfinite(middle), middle, one)
        margins = self.sign * (scores + self.offset + self.of_entries(intercepts))
        losses = self.sums(self.cost * np.maximum(0.0, 1.0 - margins))
        least = np.minimum.reduceat(np.where(self.cost > 0.0, margins, np.inf), self.starts[:-1])
        squares = self.sums(coefficients * scores)
        gains = self.sums(alpha * (1.0 - self.sign * self.offset))
        slacks = self._slack(coefficients, squares, gains)
        nothing = np.empty(0)
        sums = (each.tolist() for each in (lam, total, losses, least, squares, gains, slacks))
        certificates = [
            certificate_of(
                _Terms(one_lam, one_total),  # type: ignore[arg-type]
                Losses(loss, margin, square, 0.0, slack),
                DualSums(nothing, gain, slack),
                square,
                0.0,
            )
            if slack <= negligible * (loss + 0.5 * one_lam * one_total * square)
            else None
            for one_lam, one_total, loss, margin, square, gain, slack in zip(*sums, strict=True)
        ]
        return certificates, coefficients, intercepts, self._reach(scores, certificates, intercepts)

    def _slack(self, coefficients: Column, squares: Column, gains: Column) -> Column:
        """What rounding may change the sums of each pair by: no kernel value exceeds the largest k(x, x)."""
        lam, total = self.terms
        depth, largest = unit * (self.sizes + 16.0), float(self.rows.squared_norms.max())
        of_scores = depth * self.sums(np.abs(coefficients)) * largest
        of_losses = (of_scores + depth) * self.sums(self.cost * (1.0 + np.abs(self.offset)))
        of_square = lam * total * (self.sums(np.abs(coefficients)) * of_scores + depth * squares)
        return of_losses + of_square + depth * np.abs(gains)

    def _reach(self, scores: Column, certificates: list[Any], intercepts: Column) -> Column:
        """As `certificate.intercept_reach`, for each pair."""
        if not self.is_free:
            return np.zeros(len(intercepts))
        radii = np.array([0.0 if certificate is None else certificate.weight_radius for certificate in certificates])
        reach = self.of_entries(radii) * self.rows.lengths[self.members]
        lowest, highest = self.best_intercepts(scores + reach)[0], self.best_intercepts(scores - reach)[1]
        return np.maximum(np.maximum(highest - intercepts, intercepts - lowest), 0.0)


@dataclass(frozen=True)
class _Terms:
    lam: float
    total: float


def solve_together(small: SmallPairs, tol: float, threads: int) -> list[Solution | None]:
    """The solutions of the pairs, as far as they are certified."""
    begun = perf_counter()
    alpha, steps = small.solve(tol, threads)
    alpha = small.balanced(alpha)
    certificates, coefficients, intercepts, reaches = small.certified(alpha)
    seconds = perf_counter() - begun
    solutions: list[Solution | None] = []
    for k, certificate in enumerate(certificates):
        part, n_steps = slice(small.starts[k], small.starts[k + 1]), int(steps[k])
        if certificate is None or not (certificate.is_finite and certificate.relative_gap <= tol):
            solutions.append(None)
            continue
        epoch = n_steps / int(small.sizes[k])
        row = TraceRow(n_steps, epoch, seconds, certificate.primal, certificate.dual, certificate.gap)
        numbers = max(1, -(-n_steps // int(small.sizes[k]))), n_steps
        point = coefficients[part], alpha[part], Status.CERTIFIED, certificate, Trace([row])
        solutions.append(Solution(*point, *numbers, None, float(intercepts[k]), float(reaches[k])))
    return solutions
