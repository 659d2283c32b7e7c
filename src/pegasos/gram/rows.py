"""`KernelRows`: rows of a problem that are given only by their kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.gram import sums
from pegasos.gram.columns import Columns
from pegasos.gram.values import KernelValues, Numbers, is_computed, with_fast_products
from pegasos.kernels.base import Items, Kernel, n_threads
from pegasos.kernels.vector import Vectors
from pegasos.native_kernel import NativeKernel
from pegasos.problem import Floats, Losses, Problem, inner
from pegasos.rounding import DualSums, unit

_ROOM = 1 << 24  # kernel values that are computed at a time
_POINTS_KNOWN = 3  # points whose scores are remembered: a run may end at a point before the last
_LARGEST_SINGLE = 1e30


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
    values : KernelValues
        Their ``kernel``, ``items``, ``bias`` and ``dtype`` are attributes of the rows, too. As in `Rows`, the constant
        column that carries the intercept adds bias^2 to the kernel.
    squared_norms : array of shape (n_rows,)
        K(x_i, x_i) + bias^2.
    columns : Columns
    cache_bytes : float
        What the columns may take.
    counts_single : bool
        Whether sums leave room for kernel values in single precision. False while a solver runs: its certificates are
        about the values in the table, and the last one is computed in double.
    """

    values: KernelValues
    squared_norms: npt.NDArray[np.float64]
    columns: Columns
    cache_bytes: float
    counts_single: bool = False
    last_scores: tuple[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], ...] = ()  # and their coefficients
    repeated: tuple[KernelRows, Numbers] | None = None  # the rows that these repeat, and which of them each one is
    last_long: tuple[npt.NDArray[np.float64], npt.NDArray[np.longdouble]] | None = None  # in extended precision
    kernel: Kernel = field(init=False)
    items: Items = field(init=False)
    bias: float = field(init=False)
    dtype: np.dtype[Any] = field(init=False)
    native: _core.Rows = field(init=False)

    def __post_init__(self) -> None:
        values = self.values
        self.kernel, self.items, self.bias, self.dtype = values.kernel, values.items, values.bias, values.dtype
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
        values = KernelValues(kernel, items, bias, np.dtype(np.float64) if is_mixed else dtype)
        columns = Columns.of(values, cache_bytes, np.dtype(np.float32) if is_mixed else dtype)
        return cls(values, squared_norms, columns, cache_bytes)

    def view(self, indices: Numbers, *, repeats: int = 1) -> KernelRows:
        """Some of the rows, with their own table: a part of this one where it holds all columns."""
        values = replace(self.values, items=self.items.take(indices))
        columns = Columns.of(values, self.cache_bytes)
        rows = KernelRows(values, self.squared_norms[indices], columns, self.cache_bytes)
        own = self.columns
        rows.repeated = (self, indices) if len(indices) > self.n_rows else None
        if len(indices) > self.n_rows and own.holds_all and columns.holds_all and own.source is None:
            own.load(np.arange(self.n_rows))  # kernel values of repeated rows are computed once
        if own.n_kept == self.n_rows and columns.holds_all and not own.is_mixed:
            columns.take(own, indices)
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
        return sums.dual_sums(self, problem, alpha)

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these coefficients, the least margin, and |w|^2."""
        return sums.losses(self, problem, weights)

    def with_room(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float) -> Losses:
        """These sums of the losses, with room for rounding."""
        return sums.with_room(self, problem, weights, Losses(total, least, self.square(weights)))

    def coefficients(self, problem: Problem, alpha: Floats) -> npt.NDArray[np.float64]:
        """The coefficients of w(alpha) for a dual point that need not be within its bounds."""
        return np.asarray(problem.sign * alpha.astype(np.float64) / (problem.lam * problem.total))

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

            self.columns.for_each(np.flatnonzero(weights), weights, add)
            self.last_long = last = weights.copy(), self.columns.in_order(high.astype(np.longdouble) + low)
        return last[1]

    def reach(self, weights: npt.NDArray[np.float64]) -> float:
        """sum_j |coefficient_j| |x_j|, an upper bound of |w|."""
        return inner(np.abs(weights), self.lengths) * (1.0 + 64.0 * unit)

    def score_error(self, weights: npt.NDArray[np.float64]) -> float:
        """How far the score of a row of length 1 may be off, for coefficients with a reach of 1."""
        return self.value_error + unit * (np.count_nonzero(weights) + 8.0)

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
        if self.repeated is None or self.columns.n_kept > 0:
            return None
        rows, numbers = self.repeated
        together = np.zeros(rows.n_rows)
        np.add.at(together, numbers, coefficients)
        is_exact = np.count_nonzero(together) == np.count_nonzero(coefficients)
        return _Once(rows, together, numbers) if is_exact else None

    def _keep_scores(self, coefficients: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> None:
        self.last_scores = ((coefficients.copy(), scores), *self.last_scores[: _POINTS_KNOWN - 1])

    def add_columns(
        self, rows: Numbers, coefficients: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
    ) -> None:
        """Add coefficients[j] times column j to the scores, for these rows j."""
        self.columns.add_columns(rows, coefficients, scores)

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
            scores += self.values.block(rows, part) @ coefficients[part]
        return scores
