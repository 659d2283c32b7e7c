"""From the user's array to rows that native loops read, and the errors for an array that they must not read."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.errors import NotFiniteError, PegasosError
from pegasos.problem.arrays import Matrix


def scores_of(values: Matrix, weights: npt.NDArray[np.float64], threads: int) -> npt.NDArray[np.float64]:
    """Score every row under each weight vector, with a constant column of 1; check the values in the same pass."""
    native = native_rows(values, 1.0, threads)
    scores = np.empty((native.n_rows, len(weights)))
    out_of_bounds, _, not_finite, _ = _core.checked_scores(native, weights, scores)
    refuse(native, values, out_of_bounds, not_finite)
    return scores


def native_rows(values: Matrix, bias: float, threads: int) -> _core.Rows:
    """Return the native view of an array, which this many threads may read."""
    native = _core.dense_rows(values, bias) if not sp.issparse(values) else _csr_rows(values, bias)
    native.threads = threads
    return native


def _csr_rows(values: Matrix, bias: float) -> _core.Rows:
    indices, starts = values.indices, values.indptr
    if len(starts) != values.shape[0] + 1:
        raise PegasosError(
            f"X is not a valid CSR matrix: {values.shape[0]} rows need {values.shape[0] + 1} entries of indptr, "
            f"got {len(starts)}."
        )
    if starts.dtype != indices.dtype:
        # Convert the shorter of the two, unless that type cannot hold the number of values.
        fits = starts.max(initial=0) <= np.iinfo(indices.dtype).max
        indices, starts = (indices, starts.astype(indices.dtype)) if fits else (indices.astype(starts.dtype), starts)
    try:
        return _core.csr_rows(values.data, indices, starts, values.shape[1], bias)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"X is not a valid CSR matrix: {error}") from error


def refuse(native: _core.Rows, values: Matrix, out_of_bounds: int, not_finite: int) -> None:
    """Raise an error if a row has an index out of bounds or a value that is not finite; -1 stands for none."""
    if out_of_bounds >= 0:
        raise PegasosError(
            f"X is not a valid CSR matrix: row {out_of_bounds} names a column outside 0..{native.n_features - 1} "
            "or its indptr does not increase; build it with scipy.sparse.csr_matrix((data, (row, column)))."
        )
    if not_finite >= 0:
        row = values[[not_finite]]
        found = np.flatnonzero(~np.isfinite(row.data if sp.issparse(row) else row[0]))[0]
        raise NotFiniteError(not_finite, int(row.indices[found]) if sp.issparse(row) else int(found))


def check_structure(X: Any) -> None:
    """Reject a sparse matrix whose indices point outside its arrays, before a loop of scipy follows them."""
    if not sp.issparse(X) or X.ndim != 2:
        return
    if X.format == "coo":
        _check_indices(X.row, X.shape[0])
        _check_indices(X.col, X.shape[1])
    elif X.format in ("csr", "csc", "bsr"):
        block = X.blocksize if X.format == "bsr" else (1, 1)
        n_rows, n_columns = X.shape[0] // block[0], X.shape[1] // block[1]
        major, minor = (n_columns, n_rows) if X.format == "csc" else (n_rows, n_columns)
        starts, n_stored = X.indptr, min(len(X.indices), len(X.data))
        is_whole = len(starts) == major + 1 and starts[0] == 0 and starts[-1] <= n_stored
        if not is_whole or (np.diff(starts) < 0).any():
            raise PegasosError(
                f"X is not a valid {X.format.upper()} matrix: its indptr must rise from 0 to at most the {n_stored} "
                f"stored values in {major + 1} entries; build it with scipy.sparse.csr_matrix((data, (row, column)))."
            )
        _check_indices(X.indices[: starts[-1]], minor)


def _check_indices(indices: npt.NDArray[Any], end: int) -> None:
    if len(indices) and not (indices.min() >= 0 and indices.max() < end):
        wrong = int(np.flatnonzero((indices < 0) | (indices >= end))[0])
        raise PegasosError(
            f"X is not a valid sparse matrix: index {indices[wrong]} is outside 0..{end - 1}; build it with "
            "scipy.sparse.csr_matrix((data, (row, column)))."
        )
