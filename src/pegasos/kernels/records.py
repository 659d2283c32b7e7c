"""Fields of mixed records: frames, structured arrays, matrices, lists of dicts or of tuples.

Frames are known by what they can do (``columns`` and ``[name]``), so that no library of frames is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.base import objects_of
from pegasos.problem import Matrix


def column_of(items: Any, field: Any) -> list[Any]:
    """The value of one field in each record."""
    return list(_column(items, field))


def rows_of(items: Any, fields: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The values of several fields in each record, as tuples."""
    return list(zip(*_columns(items, fields), strict=True))


def as_vectors(items: Any, fields: Sequence[Any]) -> Matrix:
    """The fields as a matrix of floats with one row a record."""
    if sp.issparse(items):
        return items.tocsr()[:, [_position(field, items.shape[1]) for field in fields]]
    columns = [_numbers(column, field) for column, field in zip(_columns(items, fields), fields, strict=True)]
    return np.ascontiguousarray(np.hstack(columns))


def _columns(items: Any, fields: Sequence[Any]) -> list[Any]:
    if not _is_table(items):
        items = objects_of(items, "records")
    return [_column(items, field) for field in fields]


def _is_table(items: Any) -> bool:
    return hasattr(items, "columns") or isinstance(items, np.ndarray) or sp.issparse(items)


def _column(items: Any, field: Any) -> Any:
    if hasattr(items, "columns"):
        return _named(items, list(items.columns), field)
    if isinstance(items, np.ndarray) and items.dtype.names is not None:
        names = items.dtype.names
        return _named(items, list(names), names[_position(field, len(names))] if isinstance(field, int) else field)
    if sp.issparse(items):
        return items.tocsc()[:, [_position(field, items.shape[1])]].toarray()[:, 0]
    if isinstance(items, np.ndarray) and items.ndim == 2:
        return items[:, _position(field, items.shape[1])]
    return [_value(record, field, number) for number, record in enumerate(objects_of(items, "records"))]


def _named(table: Any, names: list[Any], field: Any) -> Any:
    if names.count(field) != 1:
        how_many = "no" if field not in names else "more than one"
        raise PegasosError(f"there is {how_many} column {field!r}; there are: {', '.join(map(repr, names))}.")
    return table[field]


def _position(field: Any, n_columns: int) -> int:
    if isinstance(field, bool) or not isinstance(field, int | np.integer) or not -n_columns <= field < n_columns:
        raise PegasosError(
            f"field {field!r} is not a column of a matrix of {n_columns} columns without names; give a position from "
            f"0 to {n_columns - 1}."
        )
    return int(field)


def _value(record: Any, field: Any, number: int) -> Any:
    try:
        return record[field]
    except (KeyError, IndexError, TypeError) as error:
        has = f"the fields {', '.join(map(repr, record))}" if isinstance(record, Mapping) else _describe(record)
        raise PegasosError(f"record {number} has no field {field!r}; it has {has}.") from error


def _describe(record: Any) -> str:
    if isinstance(record, tuple | list | np.ndarray):
        return f"{len(record)} values, numbered from 0"
    return f"no fields at all, being of type {type(record).__name__}; records are dicts or tuples"


def _numbers(column: Any, field: Any) -> Any:
    """A column as a matrix of floats: of one column, or of as many as the vectors it holds are long."""
    try:
        values = np.asarray(column)
        if values.dtype.kind == "O":
            values = np.array(list(column), dtype=np.float64)
        elif values.dtype.kind not in "biuf":
            raise TypeError(f"they are of type {values.dtype}")
    except (TypeError, ValueError) as error:
        raise PegasosError(
            f"field {field!r} cannot be read as numbers, which its kernel needs ({error}); encode it, or use a kernel "
            "of strings or other objects on it."
        ) from error
    if values.ndim > 2:
        raise PegasosError(f"field {field!r} holds arrays of shape {values.shape[1:]}; its kernel needs vectors.")
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    return values.reshape(-1, 1) if values.ndim == 1 else values
