"""Rows of a problem that are known by their kernel only.

The place of `Rows` in a problem whose weights are w = sum_j coefficient_j phi(x_j): scores are
sum_j coefficient_j (K(x_j, x_i) + bias^2). Columns of the kernel matrix are computed in blocks when first asked for and
kept while there is room; the whole matrix is never formed unless it fits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel
from pegasos.kernels.vector import Vectors, n_threads
from pegasos.problem import Floats, Problem, inner

_columns_at_once = 512
_dense_from = 0.02  # the share of entries of a sparse matrix from which a dense product is faster
_dense_bytes = 1 << 28

Numbers = npt.NDArray[np.intp]


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
    table : array of shape (n_slots, n_rows)
        A column of the kernel matrix in each slot.
    """

    kernel: Kernel
    items: Items
    bias: float
    squared_norms: npt.NDArray[np.float64]
    dtype: np.dtype[Any]
    table: Floats
    slot_of: Numbers
    row_in: Numbers
    last_use: npt.NDArray[np.int64]
    clock: int = 0
    native: _core.Rows = field(init=False)

    def __post_init__(self) -> None:
        self.native = _core.scored_rows(self.n_rows)

    @classmethod
    def of(cls, kernel: Kernel, items: Items, bias: float, *, cache_bytes: float, double: bool) -> KernelRows:
        """Room for as many columns as fit, two blocks at least."""
        n = len(items)
        squared_norms = kernel.evaluate_diagonal(items) + bias * bias
        if not np.isfinite(squared_norms).all():
            row = int(np.flatnonzero(~np.isfinite(squared_norms))[0])
            raise PegasosError(
                f"{kernel} of row {row} with itself is {squared_norms[row]}, not a finite number; scale the rows down."
            )
        if squared_norms.min(initial=0.0) < 0.0:
            row = int(squared_norms.argmin())
            raise PegasosError(f"{kernel} is no kernel: its value of row {row} with itself is {squared_norms[row]}.")
        items = _with_fast_products(items)
        dtype = np.dtype(np.float64) if double else kernel.result_type(items, items)
        n_slots = int(min(n, max(cache_bytes // (max(n, 1) * dtype.itemsize), 2 * _columns_at_once)))
        none = np.full(n, -1, np.intp)
        # Memory that is never written to is never taken.
        table = np.empty((n_slots, n), dtype)
        empty = np.full(n_slots, -1, np.intp)
        return cls(kernel, items, bias, squared_norms, dtype, table, none, empty, np.zeros(n_slots, np.int64))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.items)

    @property
    def n_features(self) -> int:
        """One coefficient a row stands in the place of weights."""
        return len(self.items)

    @cached_property
    def one_norm(self) -> bool:
        """Whether all rows have the same length."""
        return bool(np.ptp(self.squared_norms) <= 1e-12 * self.squared_norms.max(initial=0.0))

    def dual_weights(self, problem: Problem, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
        """The coefficients of w(alpha), alpha clipped to its bounds, and sum_i alpha_i (1 - sign_i offset_i)."""
        clipped = np.minimum(np.maximum(alpha.astype(np.float64), 0.0), problem.cost)
        gain = inner(clipped, 1.0 - problem.sign * problem.offset)
        return self.coefficients(problem, clipped), gain

    def loss_and_square(self, problem: Problem, weights: npt.NDArray[np.float64]) -> tuple[float, float]:
        """The sum of the losses of these coefficients, and |w|^2."""
        scores = self.scores(weights)
        return _core.loss_sum(problem.native, scores), inner(weights, scores[:-1])

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2."""
        return inner(weights, self.scores(weights)[:-1])

    def scores(self, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The score of every row, and one entry more that is nobody's."""
        scores = np.zeros(self.n_rows + 1)
        self.add_columns(np.flatnonzero(coefficients), coefficients, scores, keep=False)
        return scores

    def add_columns(
        self,
        rows: Numbers,
        coefficients: npt.NDArray[np.float64],
        scores: npt.NDArray[np.float64],
        *,
        keep: bool = True,
    ) -> None:
        """Add coefficients[j] times column j to the scores, for these rows j; ``keep``: new columns stay."""
        slots = self.slot_of[rows]
        here = slots >= 0
        self._add(self.table, slots[here], coefficients[rows[here]], scores)
        missing = rows[~here]
        room = None if keep else np.empty((min(len(missing), _columns_at_once), self.n_rows), self.dtype)
        for begin in range(0, len(missing), _columns_at_once):
            part = missing[begin : begin + _columns_at_once]
            if room is None:
                self._add(self.table, self.load(part), coefficients[part], scores)
            else:
                self._compute(part, room[: len(part)])
                self._add(room, np.arange(len(part)), coefficients[part], scores)

    def load(self, rows: Numbers) -> Numbers:
        """The slots of these columns, computed where they are not there; others give way, the longest unused first."""
        self.clock += 1
        slots = self.slot_of[rows]
        self.last_use[slots[slots >= 0]] = self.clock
        missing = np.unique(rows[slots < 0])  # a row may be asked for twice
        for begin in range(0, len(missing), _columns_at_once):
            self._load_block(missing[begin : begin + _columns_at_once])
        return self.slot_of[rows]

    def square_of(self, rows: Numbers) -> Floats:
        """The kernel matrix of these rows: from the table where that holds all columns, else computed anew."""
        if self.holds_all:
            return np.ascontiguousarray(self.table[np.ix_(self.load(rows), rows)])
        return self.block(rows, rows)

    def block(self, rows: Numbers, columns: Numbers) -> Floats:
        """A block of the kernel matrix, computed anew."""
        out = np.empty((len(rows), len(columns)), self.dtype)
        self.kernel.fill(self.items.take(rows), self.items.take(columns), out, self.bias**2)
        return self._checked(out)

    def coefficients(self, problem: Problem, alpha: Floats) -> npt.NDArray[np.float64]:
        """The coefficients of w(alpha) for a dual point that need not be within its bounds."""
        return np.asarray(problem.sign * alpha.astype(np.float64) / (problem.lam * problem.total))

    @property
    def holds_all(self) -> bool:
        """Whether there is room for the whole kernel matrix."""
        return len(self.table) == self.n_rows

    def _load_block(self, rows: Numbers) -> None:
        slots = self._make_room(len(rows))
        first = int(slots[0])
        if slots[-1] == first + len(slots) - 1:
            self._compute(rows, self.table[first : first + len(slots)])
        else:
            block = np.empty((len(rows), self.n_rows), self.dtype)
            self._compute(rows, block)
            self.table[slots] = block
        self.slot_of[rows] = slots
        self.row_in[slots] = rows
        self.last_use[slots] = self.clock

    def _make_room(self, n: int) -> Numbers:
        """Slots in increasing order: empty ones in a row while there are any."""
        n_used = int(np.count_nonzero(self.row_in >= 0))
        if n_used + n <= len(self.row_in):
            return np.arange(n_used, n_used + n)
        oldest = np.sort(np.argsort(self.last_use, kind="stable")[:n])
        evicted = self.row_in[oldest]
        self.slot_of[evicted[evicted >= 0]] = -1
        self.row_in[oldest] = -1
        return oldest

    def _compute(self, rows: Numbers, out: Floats) -> None:
        self.kernel.fill(self.items.take(rows), self.items, out, self.bias**2)
        self._checked(out)

    def _checked(self, block: Floats) -> Floats:
        # A sum is finite only if all its parts are; a sum that is not may have overflown.
        if not np.isfinite(block.sum(dtype=np.float64)) and not np.isfinite(block).all():
            raise PegasosError(f"{self.kernel} gives NaN or infinity on these rows; scale them down.")
        return block

    def _add(
        self, table: Floats, slots: Numbers, factors: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
    ) -> None:
        if len(slots):
            _core.add_columns(table, slots, factors, scores[:-1], n_threads())


def _with_fast_products(items: Items) -> Items:
    """Sparse rows that are not very sparse, as dense ones, where that takes little memory."""
    if not isinstance(items, Vectors) or not items.is_sparse:
        return items
    n, d = items.values.shape
    if items.values.nnz < _dense_from * n * d or n * d * items.values.dtype.itemsize > _dense_bytes:
        return items
    return Vectors(items.rows.dense())
