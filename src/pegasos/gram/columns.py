"""The columns of a kernel matrix that are in memory.

They are computed in blocks on first use and kept while there is room; the whole matrix is never formed unless it fits.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.deadline import check_deadline
from pegasos.gram.values import KernelValues, Numbers, is_quick
from pegasos.kernels.base import Items, n_threads
from pegasos.kernels.vector import Vectors
from pegasos.problem import Floats, Rows

_COLUMNS_AT_ONCE = 512
_LEAST_BYTES = 1 << 29  # bytes that a table may always take, whatever cache_size says, for two blocks of columns
_ARRANGED_AT_ONCE = 256  # columns per block: with fewer, symmetry provides more of the kernel matrix
_ROOM = 1 << 24  # values of columns that are not kept
_FEW_BYTES = 1 << 24  # bytes of a table that numpy can reuse from the last one
_COLUMNS_PER_SLOT = 4  # a table with room for less than one in this many columns is narrow


@dataclass(eq=False)
class Columns:
    """The table of columns, and what fills it.

    Attributes
    ----------
    values : KernelValues
    table : array of shape (n_slots, n_rows)
        A column of the kernel matrix in each slot up to `n_kept`, its entries in the order of `order`. The first
        columns are kept: where not all fit, a loop over them would always miss in a cache of the last used. It may be
        in single precision beside values in double (`is_mixed`): then it serves the steps of a solver only, and
        every sum is computed again in double.
    slot_of : array of int
        The slot of each row's column; -1 for a column that is not in the table.
    order, place_of : array of int
        The row at each position, and the position of each row. Where dense rows are arranged, those whose columns are
        in the table come first, so that the kernel of two of them is computed once.
    arranged : the items in that order, where dense rows are arranged
    is_whole : bool
        Whether the table matches the positions: an interrupt may arrive in between.
    """

    values: KernelValues
    table: Floats
    slot_of: Numbers
    order: Numbers
    place_of: Numbers
    arranged: Vectors | None
    n_kept: int = 0
    is_whole: bool = True

    @classmethod
    def of(cls, values: KernelValues, cache_bytes: float, dtype: np.dtype[Any] | None = None) -> Columns:
        """Allocate as many columns as fit, and at least two blocks of them unless these are huge."""
        dtype, n = dtype or values.dtype, len(values.items)
        fit = cache_bytes // (max(n, 1) * dtype.itemsize)
        n_slots = int(min(n, max(fit, min(2 * _COLUMNS_AT_ONCE, _LEAST_BYTES // (max(n, 1) * dtype.itemsize)), 2)))
        none = np.full(n, -1, np.intp)
        return cls(values, _untouched(n_slots, n, dtype), none, *_arrangement(values.items, n_slots))

    @property
    def n_rows(self) -> int:
        """Number of rows, and of entries of a column."""
        return len(self.values.items)

    @property
    def holds_all(self) -> bool:
        """Whether there is room for the whole kernel matrix."""
        return len(self.table) == self.n_rows

    @property
    def is_mixed(self) -> bool:
        """Whether the table is in single precision and all sums are in double."""
        return self.table.dtype != self.values.dtype

    @property
    def is_narrow(self) -> bool:
        """Whether the table has room for few of the columns."""
        return _COLUMNS_PER_SLOT * len(self.table) < self.n_rows

    @cached_property
    def source(self) -> Any:
        """How native code computes a column for the table; None where it cannot."""
        return None if self.arranged is not None else self.values.source(self.table.dtype)

    def take(self, other: Columns, rows: Numbers) -> None:
        """Take over the columns of these rows of a table that holds all; these rows are all of this table."""
        slots, places = other.slot_of[rows], other.place_of[rows]
        self.table[...] = other.table[slots][:, places]
        self.slot_of, self.n_kept, self.arranged = np.arange(self.n_rows), self.n_rows, None

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
        items = self.values.items
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

    def to_fill(self) -> tuple[Floats, Any]:
        """The table and the source of its columns, for native code that may use the table for a problem of its own."""
        if self.source is not None:
            self._begin_anew()
        return self.table, self.source

    def _begin_anew(self) -> None:
        self.slot_of[:] = -1
        self.n_kept = 0
        self.order, self.place_of, self.arranged = _arrangement(self.values.items, len(self.table))
        self.is_whole = True

    def square_of(self, rows: Numbers) -> Floats:
        """The kernel matrix of these rows: from the table if it holds all columns, else recomputed."""
        if not self.holds_all or self.is_mixed:
            return self.values.block(rows, rows)
        self.load(np.unique(rows))
        return np.ascontiguousarray(self.table[np.ix_(self.slot_of[rows], self.place_of[rows])])

    def release(self) -> None:
        """Free the memory of the columns."""
        self.table = self.table[:0].copy()
        self._begin_anew()

    def climb(self, point: tuple[Any, ...], *goal: Any) -> tuple[int, float, bool, float]:
        """Ascent of the dual (`_core.climb`)."""
        if not self.is_whole:
            self._begin_anew()
        place_of = None if self.arranged is None else self.place_of
        found = _core.climb(self.table, self.slot_of, place_of, self.n_kept, self.source, *point, *goal)
        n_steps, gap, is_stuck, dual, self.n_kept = found
        return n_steps, gap, is_stuck, dual

    def add_columns(
        self, rows: Numbers, coefficients: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
    ) -> None:
        """Add coefficients[j] times column j to the scores, for these rows j."""
        exact = self.values.exact
        if exact is not None and (self.source is not None or self.is_narrow):
            kept = np.empty(0, bool) if self.is_mixed else self.slot_of[rows] >= 0
            if kept.any():
                _core.add_columns(self.table, self.slot_of[rows[kept]], coefficients[rows[kept]], scores, n_threads())
            others = rows if self.is_mixed else rows[~kept]
            exact.add_sums(others, coefficients[others], scores)
            return

        def add(table: Floats, slots: Numbers, factors: npt.NDArray[np.float64]) -> None:
            self.add(table, slots, factors, scores)

        self.for_each(rows, coefficients, add)

    def for_each(
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
        room = np.empty((min(len(missing), self._at_once), self.n_rows), self.values.dtype)
        for begin in range(0, len(missing), self._at_once):
            part = missing[begin : begin + self._at_once]
            check_deadline()
            self._compute(part, room[: len(part)])
            add(room, np.arange(len(part)), coefficients[part])

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
            if arranged is self.values.items:
                self.arranged = arranged = _copied(arranged)
            _core.swap_columns(self.table[:first], places, partners, n_threads())
            moved = np.concatenate([places[moves], partners[moves]])
            arranged.values[moved] = self.values.items.values[self.order[moved]]  # type: ignore[attr-defined]
            arranged.rows.squared_norms[moved] = self.values.items.rows.squared_norms[self.order[moved]]  # type: ignore[attr-defined]
        out = self.table[first:end, first:]
        self.values.fill(arranged.part(first, end), arranged.part(first, self.n_rows), out)
        _core.mirror(self.table[:end], first, n_threads())
        self.is_whole = True

    def _compute(self, rows: Numbers, out: Floats) -> None:
        in_order = self.values.items if self.arranged is None else self.arranged
        self.values.fill(self.values.items.take(rows), in_order, out)

    def add(
        self, table: Floats, slots: Numbers, factors: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
    ) -> None:
        """Add the columns in these slots of a table, times the factors, to the scores."""
        if self.arranged is None:
            _core.add_columns(table, slots, factors, scores, n_threads())
            return
        sums = np.zeros(self.n_rows)
        _core.add_columns(table, slots, factors, sums, n_threads())
        scores += sums[self.place_of]

    def in_order(self, sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Sums of columns, row by row."""
        return sums if self.arranged is None else sums[self.place_of]

    @property
    def _at_once(self) -> int:
        """How many columns are computed at a time when they are not kept."""
        return max(_COLUMNS_AT_ONCE // 8, min(_COLUMNS_AT_ONCE, _ROOM // max(self.n_rows, 1)))


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
