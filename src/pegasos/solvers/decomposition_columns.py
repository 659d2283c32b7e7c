"""Which columns of the kernel matrix a round of decomposition loads."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.gram import KernelRows, Numbers, is_quick
from pegasos.kernels.vector import Vectors
from pegasos.problem import Problem
from pegasos.solvers.decomposition_state import DecompositionState
from pegasos.solvers.dual_slopes import Column, room_of, rows_of, violations

_WHOLE_ROWS, _WHOLE_ITEMS = 2048, 256  # up to this many vectors, or other items, all columns are loaded at the start
_NEW_ROWS = 512  # most rows whose columns a round loads
_BLOCK_VALUES = 1 << 25  # most kernel values loaded per round
_COLUMN_WORK, _SLOW_VALUES = 1e9, 1 << 15  # work per piece: operations on vectors, and values of other kernels


def takes_sets(rows: KernelRows) -> bool:
    """Whether the table holds few of the columns, and kernel values are too cheap to be worth keeping."""
    return is_quick(rows.items) and rows.columns.is_narrow


def columns_to_load(problem: Problem, state: DecompositionState, *, is_free: bool) -> Numbers:
    """Choose rows without a column, with the largest violations of each sign: one sign would swing the slopes.

    Where the table has no room for them, the columns of the rows with the smallest violations are removed. Columns
    that native code computes are not loaded.
    """
    items, columns, n = rows_of(problem).items, rows_of(problem).columns, problem.rows.n_rows
    whole = _WHOLE_ROWS if isinstance(items, Vectors) else _WHOLE_ITEMS
    is_computed = columns.source is not None
    if state.rounds == 0 and n <= whole and columns.holds_all and not is_computed:
        return np.arange(n)
    if columns.n_kept == n or (is_computed and columns.n_kept < len(columns.table)):
        return np.empty(0, np.intp)
    violation = violations(problem, state.slope, room_of(problem, state.alpha), is_free=is_free)
    new = _most_violating(problem, state, violation)
    if columns.n_kept + len(new) > len(columns.table):
        kept = np.flatnonzero(columns.slot_of >= 0)
        free = (state.alpha[kept] > 0.0) & (state.alpha[kept] < problem.bound[kept])
        worth = violation[kept] + 1e-300 * free
        columns.keep_only(kept[np.sort(np.argsort(-worth, kind="stable")[: len(columns.table) // 2])])
    return new[:0] if is_computed else new


def _most_violating(problem: Problem, state: DecompositionState, violation: Column) -> Numbers:
    """Return as many rows without a column as a round loads, half of each sign."""
    columns, n = rows_of(problem).columns, problem.rows.n_rows
    outside = np.where(columns.slot_of >= 0, 0.0, violation)
    if state.rounds == 0:
        outside = outside * np.random.default_rng(state.seed).random(n)
    # Load few at first, while the rows are chosen by a model far from the solution.
    n_new = min(max(_NEW_ROWS // 2, columns.n_kept // 4), _NEW_ROWS, len(columns.table) - len(columns.table) // 2)
    return _largest_of_both(problem.sign, outside, min(n_new, _BLOCK_VALUES // n))


def _largest_of_both(sign: npt.NDArray[Any], violation: Column, n: int) -> Numbers:
    """Return the n rows with the largest violations, at most half of each sign."""
    at_most, chosen = max(1, n // 2), []
    for side in (1, -1):
        candidates = np.flatnonzero((sign == side) & (violation > 0.0))
        if len(candidates) > at_most:
            candidates = candidates[np.argpartition(-violation[candidates], at_most - 1)[:at_most]]
        chosen.append(candidates)
    return np.sort(np.concatenate(chosen))


def load_some(problem: Problem, state: DecompositionState) -> bool:
    """Compute some of the waiting columns; return False if none is missing."""
    rows = rows_of(problem)
    missing = rows.columns.missing(state.waiting)[: _columns_at_once(rows)]
    if len(missing) == 0:
        return False
    begun = perf_counter()
    rows.columns.load(missing)
    state.column_seconds = (perf_counter() - begun) / len(missing)
    return True


def _columns_at_once(rows: KernelRows) -> int:
    """Columns per piece of work, set by counts because a product of another shape would round differently."""
    n = max(rows.n_rows, 1)
    if not isinstance(rows.items, Vectors):
        return max(1, _SLOW_VALUES // n)
    return int(np.clip(_COLUMN_WORK / (n * (rows.items.rows.n_features + 8)), 1, _NEW_ROWS))
