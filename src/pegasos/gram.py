"""Rows of a problem that are given only by their kernel.

They replace `Rows` in a problem whose weights are w = sum_j coefficient_j phi(x_j): scores are
sum_j coefficient_j (K(x_j, x_i) + bias^2). Columns of the kernel matrix are computed in blocks on first use and kept
while there is room; the whole matrix is never formed unless it fits.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.deadline import check_deadline
from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel, n_threads
from pegasos.kernels.vector import ProductKernel, Vectors
from pegasos.native_kernel import NativeKernel
from pegasos.problem import Losses, Problem, Rows, inner
from pegasos.rounding import (
    DualSums,
    Floats,
    Gain,
    is_negligible,
    last_roundings,
    long_unit,
    lowered,
    negligible,
    smallest,
    sum_depth,
    unit,
)

_COLUMNS_AT_ONCE = 512
_LEAST_BYTES = 1 << 29  # bytes that a table may always take, whatever cache_size says, for two blocks of columns
_ARRANGED_AT_ONCE = 256  # columns per block: with fewer, symmetry provides more of the kernel matrix
_ROOM = 1 << 24  # values of columns that are not kept
_POINTS_KNOWN = 3  # points whose scores are remembered: a run may end at a point before the last
_FEW_BYTES = 1 << 24  # bytes of a table that numpy can reuse from the last one
_DENSE_FROM = 0.02  # fraction of nonzero entries of a sparse matrix above which a dense product is faster
_DENSE_BYTES = 1 << 28
_LARGEST_SINGLE = 1e30
_WORTH_DIGITS = 1e-6  # fraction of the objective: if rounding may be more, sums are repeated with more digits
_QUICK_VALUES = 1 << 22  # kernel values that are summed in extended precision wherever rounding is counted at all
_QUICK_FEATURES = 200
_COMPUTED_FEATURES = 64
_COLUMNS_PER_SLOT = 4  # a table with room for less than one in this many columns is narrow

Numbers = npt.NDArray[np.intp]


class _Once(NamedTuple):
    """A sum of columns over rows that other rows repeat."""

    rows: KernelRows
    coefficients: npt.NDArray[np.float64]
    numbers: Numbers  # which of them each of the others is


@dataclass(eq=False)
class KernelRows:
    """Items with their kernel, and the columns of the kernel matrix that are in memory.

    Attributes
    ----------
    kernel : Kernel
    items : Items
    bias : float
        As in `Rows`: the constant column that carries the intercept adds bias^2 to the kernel.
    squared_norms : array of shape (n_rows,)
        K(x_i, x_i) + bias^2.
    dtype : type of the columns
    cache_bytes : float
        What the table may take.
    table : array of shape (n_slots, n_rows)
        A column of the kernel matrix in each slot up to `n_kept`, its entries in the order of `order`. The first
        columns are kept: where not all fit, a loop over them would always miss in a cache of the last used. It may be
        in single precision beside a `dtype` of double (`is_mixed`): then it serves the steps of a solver only, and
        every sum is computed again in double.
    counts_single : bool
        Whether sums leave room for kernel values in single precision. False while a solver runs: its certificates are
        about the values in the table, and the last one is computed in double.
    order : array of int
        The row at each position. Where dense rows are arranged, those whose columns are in the table come first, so
        that the kernel of two of them is computed once.
    """

    kernel: Kernel
    items: Items
    bias: float
    squared_norms: npt.NDArray[np.float64]
    dtype: np.dtype[Any]
    cache_bytes: float
    table: Floats
    slot_of: Numbers
    order: Numbers
    place_of: Numbers
    arranged: Vectors | None  # the items in that order
    counts_single: bool = False
    n_kept: int = 0
    is_whole: bool = True  # whether the table matches the positions: an interrupt may arrive in between
    last_scores: tuple[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], ...] = ()  # and their coefficients
    repeated: tuple[KernelRows, Numbers] | None = None  # the rows that these repeat, and which of them each one is
    last_long: tuple[npt.NDArray[np.float64], npt.NDArray[np.longdouble]] | None = None  # in extended precision
    native: _core.Rows = field(init=False)

    def __post_init__(self) -> None:
        self.native = _core.scored_rows(self.n_rows)

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        items: Items,
        bias: float,
        *,
        cache_bytes: float,
        double: bool,
        single: bool = False,
        mixed: bool = False,
    ) -> KernelRows:
        """Allocate as many columns as fit, and at least two blocks of them unless these are huge.

        The values have the kernel's own type: double if ``double`` is set, single precision if ``single`` is set and
        the items are vectors. ``mixed`` asks for a table in single precision beside sums in double, where that suits
        the items.
        """
        squared_norms = kernel.evaluate_diagonal(items) + bias * bias
        if not np.isfinite(squared_norms).all():
            row = int(np.flatnonzero(~np.isfinite(squared_norms))[0])
            raise PegasosError(
                f"{kernel} of row {row} with itself is {squared_norms[row]}, not a finite number; scale the rows down."
            )
        if squared_norms.min(initial=0.0) < 0.0:
            row = int(squared_norms.argmin())
            raise PegasosError(f"{kernel} is not a kernel: its value of row {row} with itself is {squared_norms[row]}.")
        items = with_fast_products(items)
        # No value exceeds the largest diagonal entry.
        wide = double or float(squared_norms.max(initial=0.0)) > _LARGEST_SINGLE
        dtype = np.dtype(np.float64) if wide else kernel.result_type(items, items)
        if single and not wide and isinstance(items, Vectors):
            dtype = np.dtype(np.float32)
        exact = NativeKernel.of(kernel, items, bias * bias) if mixed and is_computed(kernel, items) else None
        is_mixed = exact is not None and exact.suits_single
        of_table = np.dtype(np.float32) if is_mixed else dtype
        rows = cls._empty(kernel, items, bias, squared_norms, dtype=of_table, cache_bytes=cache_bytes)
        rows.dtype = np.dtype(np.float64) if is_mixed else dtype
        return rows

    @classmethod
    def _empty(
        cls,
        kernel: Kernel,
        items: Items,
        bias: float,
        squared_norms: npt.NDArray[np.float64],
        *,
        dtype: np.dtype[Any],
        cache_bytes: float,
    ) -> KernelRows:
        """Create rows without any column."""
        n = len(items)
        fit = cache_bytes // (max(n, 1) * dtype.itemsize)
        n_slots = int(min(n, max(fit, min(2 * _COLUMNS_AT_ONCE, _LEAST_BYTES // (max(n, 1) * dtype.itemsize)), 2)))
        none = np.full(n, -1, np.intp)
        table = _untouched(n_slots, n, dtype)
        return cls(kernel, items, bias, squared_norms, dtype, cache_bytes, table, none, *_arrangement(items, n_slots))

    def view(self, indices: Numbers, *, repeats: int = 1) -> KernelRows:
        """Some of the rows, with their own table: a part of this one where it holds all columns."""
        items, squared_norms = self.items.take(indices), self.squared_norms[indices]
        rows = self._empty(self.kernel, items, self.bias, squared_norms, dtype=self.dtype, cache_bytes=self.cache_bytes)
        rows.repeated = (self, indices) if len(indices) > self.n_rows else None
        if len(indices) > self.n_rows and self.holds_all and rows.holds_all and self.source is None:
            self.load(np.arange(self.n_rows))  # kernel values of repeated rows are computed once
        if self.n_kept == self.n_rows and rows.holds_all and not self.is_mixed:
            slots, places = self.slot_of[indices], self.place_of[indices]
            rows.table[...] = self.table[slots][:, places]
            rows.slot_of, rows.n_kept, rows.arranged = np.arange(rows.n_rows), rows.n_rows, None
        return rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.items)

    @property
    def n_features(self) -> int:
        """Number of coefficients, one per row, which replace the weights."""
        return len(self.items)

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """|x_i|, with the constant column."""
        return np.sqrt(self.squared_norms)

    @cached_property
    def one_norm(self) -> bool:
        """Whether all rows have the same length."""
        return bool(np.ptp(self.squared_norms) <= 1e-12 * self.squared_norms.max(initial=0.0))

    @cached_property
    def mean_square(self) -> float:
        """Mean of |x_i|^2, with the constant column."""
        return float(np.mean(self.squared_norms))

    @cached_property
    def longest(self) -> float:
        """Upper bound of all |x_i|, with the constant column."""
        return float(self.lengths.max(initial=0.0)) * (1.0 + 4.0 * unit)

    @cached_property
    def value_error(self) -> float:
        """How far a kernel value may be off, relative to sqrt(k(x, x) k(z, z)).

        The problem is defined by the kernel as computed in double; only single precision counts as an error.
        """
        is_single = self.counts_single and self.dtype == np.float32
        return self.kernel.value_error(self.items, np.float32) if is_single else 0.0

    def counting_single(self) -> KernelRows:
        """The same rows and table, with room for single-precision values in every sum."""
        return replace(self, counts_single=True)

    def dual_sums(self, problem: Problem, alpha: Floats) -> DualSums:
        """The coefficients of w(alpha), alpha clipped to its bounds, and the linear term of the dual with its room."""
        clipped = np.minimum(np.maximum(alpha.astype(np.float64), 0.0), problem.bound)
        ridge = float(problem.ridge_terms(clipped))
        value = inner(clipped, 1.0 - problem.sign * problem.offset) - ridge
        spent = float(np.sum(clipped))
        weights = self.coefficients(problem, clipped)
        if spent == 0.0:
            return DualSums(weights, 0.0)
        mu, reach = problem.lam * problem.total, self.reach(weights)
        depth = unit * (64.0 + sum_depth(self.n_rows))
        of_sum = depth * spent * (1.0 + problem.largest_offset) + problem.ridge_error(depth, spent, ridge)
        of_prior = 8.0 * unit * spent * problem.carried.constant
        error = of_sum + of_prior + 0.5 * mu * self.square_error(weights, reach) + self.n_rows * smallest
        gain = Gain(value, error, (4.0 + problem.cap_roundings) * unit * reach)
        if error > self._worth_digits(weights) * value:
            return self._long_dual_sums(problem, weights, value, of_sum + of_prior)._replace(ridge=ridge)
        # |w|^2 is a sum over kernel values, whose error is counted above, so the coefficients add no further error.
        return DualSums(weights, *lowered(gain, 0.0, mu), gain.off, ridge)

    def _long_dual_sums(
        self, problem: Problem, weights: npt.NDArray[np.float64], value: float, of_gain: float
    ) -> DualSums:
        """The same with |w|^2 summed in extended precision."""
        mu, reach = problem.lam * problem.total, self.reach(weights)
        long = float(np.sum(weights * self.long_scores(weights)) - np.longdouble(self.square(weights)))
        room = of_gain + 0.5 * mu * (max(0.0, long) + self._long_error(weights) * reach * reach)
        return DualSums(weights, value - room, last_roundings(value, mu, reach), 4.0 * unit * reach)

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these coefficients, the least margin, and |w|^2."""
        scores = self.scores(weights)
        return self._with_room(problem, weights, *_core.losses(problem.native, scores), inner(weights, scores[:-1]))

    def with_room(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float) -> Losses:
        """These sums of the losses, with room for rounding."""
        return self._with_room(problem, weights, total, least, self.square(weights))

    def _with_room(
        self, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float, square: float
    ) -> Losses:
        reach = self.reach(weights)
        primal = problem.accounted(self.score_error(weights) / unit, reach)
        bound = primal.bound(total, 0.5 * primal.mu * self.square_error(weights, reach))
        objective = total + 0.5 * primal.mu * square
        if bound > self._worth_digits(weights) * objective and np.isfinite(objective):
            return self._long_losses(problem, weights, Losses(total, least, square, moved=primal.moved))
        is_nothing = is_negligible(bound, objective)
        return Losses(total, least, square, 0.0 if is_nothing else bound, bound if is_nothing else 0.0, primal.moved)

    def _long_losses(self, problem: Problem, weights: npt.NDArray[np.float64], found: Losses) -> Losses:
        """Losses with room for rounding, from scores in extended precision."""
        scores, reach, mu = self.long_scores(weights), self.reach(weights), problem.lam * problem.total
        error = self._long_error(weights) * reach
        margins = problem.sign * (scores + problem.offset)
        # A score of 0 leaves an offset unchanged.
        of_offset = np.abs(problem.offset) * (problem.largest_offset > 0.0 and reach > 0.0)
        by_constant = 8.0 * unit * (problem.carried.constant + of_offset)
        farthest = problem.loss.value(1.0 - margins + error * self.lengths + by_constant)
        counts = problem.cost > 0.0
        total = float(np.sum(problem.cost[counts] * farthest[counts]))
        square = float(np.sum(weights * scores) - np.longdouble(found.square))
        counted = max(0.0, total - found.total) + 0.5 * mu * (max(0.0, square) + error * reach)
        return found._replace(rounding=counted, slack=last_roundings(total, mu, reach))

    def long_scores(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.longdouble]:
        """Scores of all rows in extended precision. The last ones are remembered."""
        last = self.last_long  # read once, because another thread may replace it
        if last is None or not np.array_equal(last[0], weights):
            once = self._without_repeats(weights)
            if once is not None:
                return once.rows.long_scores(once.coefficients)[once.numbers]
            high, low = np.zeros(self.n_rows), np.zeros(self.n_rows)

            def add(table: Floats, slots: Numbers, factors: npt.NDArray[np.float64]) -> None:
                _core.add_columns_exactly(table, slots, factors, high, low, n_threads())

            self._for_columns(np.flatnonzero(weights), weights, add)
            sums = high.astype(np.longdouble) + low
            self.last_long = last = weights.copy(), sums if self.arranged is None else sums[self.place_of]
        return last[1]

    def _worth_digits(self, weights: npt.NDArray[np.float64]) -> float:
        """Fraction of the objective that rounding may be before sums are repeated in extended precision."""
        if self.value_error > 0.0:
            return np.inf  # single-precision values are off by more than sums
        is_quick = not self.is_mixed and self.n_rows * np.count_nonzero(weights) <= _QUICK_VALUES
        return negligible if is_quick else _WORTH_DIGITS

    def _long_error(self, weights: npt.NDArray[np.float64]) -> float:
        """`score_error` for sums in extended precision."""
        return self.value_error + long_unit * (np.count_nonzero(weights) + 8.0)

    def reach(self, weights: npt.NDArray[np.float64]) -> float:
        """sum_j |coefficient_j| |x_j|, an upper bound of |w|."""
        return inner(np.abs(weights), self.lengths) * (1.0 + 64.0 * unit)

    def score_error(self, weights: npt.NDArray[np.float64]) -> float:
        """How far the score of a row of length 1 may be off, for coefficients with a reach of 1."""
        return self.value_error + unit * (np.count_nonzero(weights) + 8.0)

    def square_error(self, weights: npt.NDArray[np.float64], reach: float) -> float:
        """How far |w|^2 may be off."""
        return (self.score_error(weights) + 8.0 * unit) * reach * reach

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2."""
        return inner(weights, self.scores(weights)[:-1])

    def scores_of(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The score of every row."""
        return self.scores(weights)[:-1]

    def constant_score(self, weights: npt.NDArray[np.float64]) -> float:
        """What the constant column adds to every score."""
        return self.bias**2 * float(np.sum(weights))

    def without_constant(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The coefficients themselves: what rounding leaves in the constant column is part of the intercept."""
        return weights

    def scores(self, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The score of every row, and one unused entry. Those of the last points are remembered."""
        for known, scores in self.last_scores:  # read once, because another thread may replace it
            if np.array_equal(known, coefficients):
                return scores.copy()
        scores = np.zeros(self.n_rows + 1)
        once = self._without_repeats(coefficients)
        if once is not None:
            scores[:-1] = once.rows.scores_of(once.coefficients)[once.numbers]
        else:
            self.add_columns(np.flatnonzero(coefficients), coefficients, scores[:-1])
        self._keep_scores(coefficients, scores)
        return scores.copy()

    def _without_repeats(self, coefficients: npt.NDArray[np.float64]) -> _Once | None:
        """The same sum over the rows that these repeat, so that no kernel value is computed twice.

        None where the table has columns, or where a row counts more than once, so that the sum would be rounded.
        """
        if self.repeated is None or self.n_kept > 0:
            return None
        rows, numbers = self.repeated
        sums = np.zeros(rows.n_rows)
        np.add.at(sums, numbers, coefficients)
        is_exact = np.count_nonzero(sums) == np.count_nonzero(coefficients)
        return _Once(rows, sums, numbers) if is_exact else None

    def _keep_scores(self, coefficients: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> None:
        self.last_scores = ((coefficients.copy(), scores), *self.last_scores[: _POINTS_KNOWN - 1])

    def add_columns(
        self, rows: Numbers, coefficients: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
    ) -> None:
        """Add coefficients[j] times column j to the scores, for these rows j."""
        if self.exact is not None and (self.source is not None or self.is_narrow):
            kept = np.empty(0, bool) if self.is_mixed else self.slot_of[rows] >= 0
            if kept.any():
                _core.add_columns(self.table, self.slot_of[rows[kept]], coefficients[rows[kept]], scores, n_threads())
            others = rows if self.is_mixed else rows[~kept]
            self.exact.add_sums(others, coefficients[others], scores)
            return

        def add(table: Floats, slots: Numbers, factors: npt.NDArray[np.float64]) -> None:
            self._add(table, slots, factors, scores)

        self._for_columns(rows, coefficients, add)

    def _for_columns(
        self,
        rows: Numbers,
        coefficients: npt.NDArray[np.float64],
        add: Callable[[Floats, Numbers, npt.NDArray[np.float64]], None],
    ) -> None:
        """Call ``add`` with the columns of these rows, block by block: a table, slots in it, and their coefficients."""
        if not self.is_mixed:
            self.load(rows)
        slots = np.full(len(rows), -1, np.intp) if self.is_mixed else self.slot_of[rows]
        here = slots >= 0
        if here.any():
            add(self.table, slots[here], coefficients[rows[here]])
        missing = rows[~here]
        if len(missing) == 0:
            return
        room = np.empty((min(len(missing), self._at_once), self.n_rows), self.dtype)
        for begin in range(0, len(missing), self._at_once):
            part = missing[begin : begin + self._at_once]
            check_deadline()
            self._compute(part, room[: len(part)])
            add(room, np.arange(len(part)), coefficients[part])

    def remember(self, coefficients: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> None:
        """Remember the scores of these coefficients."""
        self._keep_scores(coefficients, np.append(scores, 0.0))

    def partial_scores(
        self, rows: Numbers, support: Numbers, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Recompute the scores of some of the rows."""
        scores = np.zeros(len(rows))
        at_once = max(1, _ROOM // max(len(rows), 1))
        for begin in range(0, len(support), at_once):
            part = support[begin : begin + at_once]
            scores += self.block(rows, part) @ coefficients[part]
        return scores

    def missing(self, rows: Numbers) -> Numbers:
        """The rows among these whose columns are not in the table, as many as there is room for."""
        if not self.is_whole:
            self._begin_anew()
        return rows[self.slot_of[rows] < 0][: len(self.table) - self.n_kept]

    def load(self, rows: Numbers) -> None:
        """Compute the columns of these rows that are not in the table, and keep them while there is room."""
        missing = self.missing(rows)
        arranged = self.arranged or self._all_in_order(missing)
        at_once = _COLUMNS_AT_ONCE if arranged is None else _ARRANGED_AT_ONCE
        for begin in range(0, len(missing), at_once):
            check_deadline()
            part = missing[begin : begin + at_once]
            first, end = self.n_kept, self.n_kept + len(part)
            if arranged is not None:
                self._compute_arranged(part, first, arranged)
                arranged = self.arranged or arranged
            else:
                self._compute(part, self.table[first:end])
            self.n_kept = end
            self.slot_of[part] = np.arange(first, end)

    def _all_in_order(self, rows: Numbers) -> Vectors | None:
        """The items, if these are all rows, dense and in their order: then half of the values are copies of others."""
        items = self.items
        if not isinstance(items, Vectors) or items.is_sparse or not len(rows) == self.n_rows == len(self.table):
            return None
        return items if bool((rows == np.arange(self.n_rows)).all()) else None

    def keep_only(self, rows: Numbers) -> None:
        """Make room if there is none by dropping the columns of all other rows."""
        if self.n_kept < len(self.table) or self.holds_all or self.arranged is not None:
            return
        kept = rows[self.slot_of[rows] >= 0]
        slots = np.sort(self.slot_of[kept])
        row_in = np.empty(len(self.table), np.intp)
        row_in[self.slot_of[kept]] = kept
        self.is_whole = False
        for new, old in enumerate(slots):
            if new != old:
                self.table[new] = self.table[old]
        self.slot_of[:] = -1
        self.slot_of[row_in[slots]] = np.arange(len(slots))
        self.n_kept = len(slots)
        self.is_whole = True

    def forget(self) -> None:
        """Make room for the columns of another problem, unless there is room for all."""
        if not self.holds_all:
            self._begin_anew()

    def _begin_anew(self) -> None:
        self.slot_of[:] = -1
        self.n_kept = 0
        self.order, self.place_of, self.arranged = _arrangement(self.items, len(self.table))
        self.is_whole = True

    def square_of(self, rows: Numbers) -> Floats:
        """The kernel matrix of these rows: from the table if it holds all columns, else recomputed."""
        if not self.holds_all or self.is_mixed:
            return self.block(rows, rows)
        self.load(np.unique(rows))
        return np.ascontiguousarray(self.table[np.ix_(self.slot_of[rows], self.place_of[rows])])

    def block(self, rows: Numbers, columns: Numbers) -> Floats:
        """Recompute a block of the kernel matrix."""
        out = np.empty((len(rows), len(columns)), self.dtype)
        self.kernel.fill(self.items.take(rows), self.items.take(columns), out, self.bias**2)
        return out

    def release(self) -> None:
        """Free the memory of the columns."""
        self.table = self.table[:0].copy()
        self._begin_anew()

    def coefficients(self, problem: Problem, alpha: Floats) -> npt.NDArray[np.float64]:
        """The coefficients of w(alpha) for a dual point that need not be within its bounds."""
        return np.asarray(problem.sign * alpha.astype(np.float64) / (problem.lam * problem.total))

    @property
    def holds_all(self) -> bool:
        """Whether there is room for the whole kernel matrix."""
        return len(self.table) == self.n_rows

    @property
    def is_mixed(self) -> bool:
        """Whether the table is in single precision and all sums are in double."""
        return self.table.dtype != self.dtype

    @property
    def is_narrow(self) -> bool:
        """Whether the table has room for few of the columns."""
        return _COLUMNS_PER_SLOT * len(self.table) < self.n_rows

    @cached_property
    def exact(self) -> NativeKernel | None:
        """How native code computes values in double; None where it cannot, or where values are in single precision."""
        if self.dtype != np.float64:
            return None
        return NativeKernel.of(self.kernel, self.items, self.bias**2)

    @cached_property
    def source(self) -> Any:
        """How native code computes a column for the table; None where it cannot."""
        if not is_computed(self.kernel, self.items) or self.arranged is not None:
            return None
        if self.exact is not None:
            return self.exact.columns(self.table.dtype)
        assert isinstance(self.items, Vectors)
        assert isinstance(self.kernel, ProductKernel)
        if self.kernel.near(self.items, self.dtype) is not self.items:
            return None
        x, norms = np.ascontiguousarray(self.items.values, self.dtype), self.items.squared_norms
        function = (*self.kernel.function(), self.bias**2)
        return function, x, np.ascontiguousarray(x.T), norms, norms.astype(self.dtype)

    def climb(self, point: tuple[Any, ...], *goal: Any) -> tuple[int, float, bool, float]:
        """Ascent of the dual (`_core.climb`)."""
        if not self.is_whole:
            self._begin_anew()
        place_of = None if self.arranged is None else self.place_of
        found = _core.climb(self.table, self.slot_of, place_of, self.n_kept, self.source, *point, *goal)
        n_steps, gap, is_stuck, dual, self.n_kept = found
        return n_steps, gap, is_stuck, dual

    @property
    def _at_once(self) -> int:
        """How many columns are computed at a time when they are not kept."""
        return max(_COLUMNS_AT_ONCE // 8, min(_COLUMNS_AT_ONCE, _ROOM // max(self.n_rows, 1)))

    def _compute_arranged(self, rows: Numbers, first: int, arranged: Vectors) -> None:
        """Append new columns; their rows move to the same positions, and known values are copied."""
        end = first + len(rows)
        places = np.arange(first, end)
        partners = np.empty(len(rows), np.intp)
        order, place_of = self.order.copy(), self.place_of.copy()
        for k, row in enumerate(rows):
            partners[k] = there = place_of[row]
            other = order[first + k]
            order[first + k], order[there] = row, other
            place_of[row], place_of[other] = first + k, there
        self.is_whole = False  # until all of it has moved
        self.order, self.place_of = order, place_of
        moves = places != partners
        if moves.any():
            if arranged is self.items:
                self.arranged = arranged = _copied(arranged)
            _core.swap_columns(self.table[:first], places, partners, n_threads())
            moved = np.concatenate([places[moves], partners[moves]])
            arranged.values[moved] = self.items.values[self.order[moved]]  # type: ignore[attr-defined]
            arranged.rows.squared_norms[moved] = self.items.rows.squared_norms[self.order[moved]]  # type: ignore[attr-defined]
        out = self.table[first:end, first:]
        self.kernel.fill(arranged.part(first, end), arranged.part(first, self.n_rows), out, self.bias**2)
        _core.mirror(self.table[:end], first, n_threads())
        self.is_whole = True

    def _compute(self, rows: Numbers, out: Floats) -> None:
        in_order = self.items if self.arranged is None else self.arranged
        self.kernel.fill(self.items.take(rows), in_order, out, self.bias**2)

    def _add(
        self, table: Floats, slots: Numbers, factors: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
    ) -> None:
        if self.arranged is None:
            _core.add_columns(table, slots, factors, scores, n_threads())
            return
        sums = np.zeros(self.n_rows)
        _core.add_columns(table, slots, factors, sums, n_threads())
        scores += sums[self.place_of]


def _untouched(n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> Floats:
    """An array that takes memory only where it is written to, page by page.

    Numpy asks for huge pages, for which the system may have to clear up first: on a machine that had been running for a
    while that took up to 0.7 s for 250 MB, pages of the usual size 0.1 s.
    """
    n_bytes = n_rows * n_columns * dtype.itemsize
    if n_bytes < _FEW_BYTES or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty((n_rows, n_columns), dtype)
    try:
        memory = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"No room for {n_bytes} bytes of kernel columns; set a smaller cache_size.") from error
    return np.frombuffer(memory, dtype).reshape(n_rows, n_columns)


def with_fast_products(items: Items) -> Items:
    """Convert sparse rows that are not very sparse to dense ones, where that takes little memory."""
    if not isinstance(items, Vectors) or not items.is_sparse:
        return items
    n, d = items.values.shape
    if items.values.nnz < _DENSE_FROM * n * d or n * d * items.values.dtype.itemsize > _DENSE_BYTES:
        return items
    return Vectors(items.rows.dense())


def is_computed(kernel: Kernel, items: Items) -> bool:
    """Whether native code computes single columns as fast as BLAS computes blocks of them."""
    if not isinstance(items, Vectors) or items.is_sparse:
        return False
    return isinstance(kernel, ProductKernel) and 0 < items.values.shape[1] <= _COMPUTED_FEATURES


def is_quick(items: Items) -> bool:
    """Whether computing a kernel value is faster than fetching it from distant memory."""
    return isinstance(items, Vectors) and not items.is_sparse and items.values.shape[1] <= _QUICK_FEATURES


def _arrangement(items: Items, n_slots: int) -> tuple[Numbers, Numbers, Vectors | None]:
    """The order of the rows in the table and, where all columns are kept, the dense rows in that order."""
    order = np.arange(len(items))
    if not isinstance(items, Vectors) or items.is_sparse or is_quick(items) or n_slots < len(items):
        return order, order, None
    return order, order.copy(), items


def _copied(items: Vectors) -> Vectors:
    """The same dense rows in memory of their own."""
    rows = items.rows
    return Vectors(Rows(rows.values.copy(), rows.bias, rows.squared_norms.copy(), rows.native))
