"""The collections of dask as lists of delayed blocks, one for each partition."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
from dask.delayed import Delayed
from distributed import Future

from pegasos.errors import PegasosError


def is_collection(X: Any) -> bool:
    """Whether it is a dask collection, or a list of delayed blocks or of futures."""
    if isinstance(X, da.Array | dd.DataFrame | dd.Series | db.Bag):
        return True
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(block, Delayed | Future) for block in X)


def blocks_of(name: str, X: Any) -> list[Any]:
    """One delayed block per partition, with all of its columns."""
    if not is_collection(X):
        kind = f"{type(X).__module__.partition('.')[0]}'s {type(X).__name__}"
        raise PegasosError(
            f"{name} must be a dask array, dataframe or bag, or a list of delayed blocks, got {kind}, which is in "
            "memory: use pegasos.PegasosClassifier, or cut it into partitions with dask.array.from_array."
        )
    if isinstance(X, da.Array):
        _check_dimensions(name, X)
        whole = X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X
        return list(whole.to_delayed().ravel())
    if isinstance(X, dd.DataFrame | dd.Series):
        # Optimized separately, the features and the labels of one set of files may be partitioned differently.
        return list(X.to_delayed(optimize_graph=False))
    if isinstance(X, db.Bag):
        return list(X.to_delayed())
    return list(X)


def lengths_of(X: Any) -> list[float]:
    """Rows of each partition; NaN where that is unknown without computing it."""
    return list(X.chunks[0]) if isinstance(X, da.Array) else [math.nan] * len(blocks_of("X", X))


def matching_blocks(name: str, column: Any, X: Any, n_partitions: int) -> list[Any]:
    """The blocks of labels or weights; those of an array are partitioned like those of X."""
    if isinstance(column, da.Array) and isinstance(X, da.Array) and column.ndim == 1:
        known = not any(math.isnan(length) for length in (*column.chunks[0], *X.chunks[0]))
        if known and column.shape[0] != X.shape[0]:
            raise PegasosError(f"{name} must have one entry for each of the {X.shape[0]} rows, got {column.shape[0]}.")
        if known and column.chunks[0] != X.chunks[0]:
            column = column.rechunk((X.chunks[0],))
    blocks = blocks_of(name, column)
    if len(blocks) != n_partitions:
        raise PegasosError(
            f"{name} has {len(blocks)} partitions and X has {n_partitions}; they must be cut alike: repartition one of "
            "them, or take both from one dataframe."
        )
    return blocks


def feature_names(X: Any) -> Any:
    """The names of the columns, where they have names."""
    return list(X.columns) if isinstance(X, dd.DataFrame) else None


def _check_dimensions(name: str, X: Any) -> None:
    if X.ndim not in (1, 2) or (name == "X" and X.ndim != 2):
        raise PegasosError(f"{name} must be a matrix of rows, got a dask array of shape {X.shape}.")
