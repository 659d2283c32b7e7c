"""What kind of things X holds: rows of numbers, strings, graphs or time series, as the kernels read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.series import series_of
from pegasos.kernels.strings import strings_of

kinds = ("rows", "strings", "graphs", "series")
_SHORTEST_SERIES = 20  # values
_ROWS_LOOKED_AT = 500
_LEAST_CORRELATION = 0.6  # of a value with the next one, within its row


def kind_of(X: Any) -> str:
    """The kind of a collection, found by the readers of the kernels; what none of them takes raises an error."""
    if _are_rows(X):
        return "rows"
    first = _first(X)
    if isinstance(first, str | bytes):
        strings_of(X)
        return "strings"
    if hasattr(first, "nodes") or _is_pair(first):
        return "graphs"  # whether all of them are, their reader says
    try:
        series_of(X)
    except PegasosError as error:
        raise PegasosError(
            "X must hold rows of numbers, strings, graphs (of networkx, or pairs of adjacency and labels) or time "
            f"series: {error}"
        ) from error
    return "series"


def are_like_series(X: Any) -> bool:
    """Whether rows of numbers look like time series: long, and each number near the one before it."""
    if sp.issparse(X) or X.shape[1] < _SHORTEST_SERIES:
        return False
    rows = np.asarray(X[:_ROWS_LOOKED_AT], np.float64)
    apart = rows - rows.mean(axis=1, keepdims=True)
    squares = np.square(apart).sum()
    return bool(squares > 0.0 and np.sum(apart[:, 1:] * apart[:, :-1]) > _LEAST_CORRELATION * squares)


def _are_rows(X: Any) -> bool:
    """Whether X is a matrix, or what numpy makes one of."""
    if sp.issparse(X) or len(getattr(X, "shape", ())) == 2:
        return True
    if hasattr(X, "shape"):
        # One dimension of numbers, or three; for one, the reader of rows raises an error.
        return len(X.shape) < 2 and getattr(X.dtype, "kind", "O") in "biufc"
    if not isinstance(X, list | tuple):
        if not hasattr(X, "__len__") and not hasattr(X, "__array__"):
            raise PegasosError(f"X must be a matrix of rows or a list of items, got {type(X).__name__}.")
        return not hasattr(X, "__len__")
    if not len(X) or _is_pair(X[0]):
        return not len(X)
    try:
        return np.asarray(X, dtype=np.float64).ndim <= 2
    except (TypeError, ValueError):
        return False


def _first(X: Any) -> Any:
    return next(iter(X), None)


def _is_pair(item: Any) -> bool:
    """Whether an item is a pair (adjacency, labels): its first half is a matrix, which no row of numbers has."""
    if not isinstance(item, tuple | list) or len(item) != 2:
        return False
    adjacency = item[0]
    return sp.issparse(adjacency) or getattr(adjacency, "ndim", 0) == 2
