"""Columns of a data frame, read by their type: numbers, categories and texts become numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pegasos.errors import PegasosError

_WORDS_OF_A_TEXT = 3  # at least, in half of the entries
_ROWS_LOOKED_AT = 1000
_MOST_DENSE_LEVELS = 200  # with more categories, rows of indicators are mostly zeros


def columns_of(X: Any) -> ColumnTransformer | None:
    """What turns a frame with columns that are not numbers into rows of numbers; None for anything else."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return None
    names = list(X.columns)
    kinds = {name: _kind(X, name) for name in names}
    if set(kinds.values()) <= {"number"}:
        return None
    numbers = [name for name in names if kinds[name] == "number"]
    categories = [name for name in names if kinds[name] == "category"]
    for name in numbers:
        values = np.asarray(X[name], dtype=np.float64)
        if not np.isfinite(values).all():
            row = int(np.isfinite(values).argmin())
            raise PegasosError(f"column {name!r} has {values[row]} in row {row}; impute it or drop the row.")
    steps: list[tuple[str, Any, Any]] = []
    if numbers:
        steps.append(("numbers", StandardScaler(), numbers))
    check_texts(X, [name for name in names if kinds[name] == "text"])
    n_levels = sum(len(set(np.asarray(X[name]).tolist())) for name in categories)
    texts = [name for name in names if kinds[name] == "text"]
    is_sparse = bool(texts) or n_levels > _MOST_DENSE_LEVELS
    if categories:
        encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=is_sparse)
        steps.append(("categories", encoder, categories))
    # A vectorizer reads one column.
    steps += [(f"text {name}", TfidfVectorizer(sublinear_tf=True), name) for name in texts]
    return ColumnTransformer(steps, sparse_threshold=1.0 if is_sparse else 0.0)


def check_texts(X: Any, names: list[Any]) -> None:
    """Refuse missing values in columns of text, which are counted by word."""
    for name in names:
        missing = [row for row, value in enumerate(np.asarray(X[name])) if not isinstance(value, str)]
        if missing:
            raise PegasosError(f"column {name!r} has no text in row {missing[0]}; fill it in, with '' for example.")


def texts_of(columns: ColumnTransformer) -> list[Any]:
    """The columns that were read as text."""
    return [chosen for _, step, chosen in columns.transformers_ if isinstance(step, TfidfVectorizer)]


def _kind(X: Any, name: Any) -> str:
    """What a column holds."""
    column = X[name]
    if str(column.dtype).lower().startswith(("category", "enum", "bool")):
        return "category"
    values = np.asarray(column)
    if values.dtype.kind in "iuf":
        return "number"
    some = [value for value in values[:_ROWS_LOOKED_AT] if isinstance(value, str)]
    if values.dtype.kind == "O" and not some and all(isinstance(value, int | float) for value in values):
        return "number"
    if values.dtype.kind == "M":
        raise PegasosError(f"column {name!r} holds dates; convert them to numbers first, such as days since a date.")
    if some and np.median([len(value.split()) for value in some]) >= _WORDS_OF_A_TEXT:
        return "text"
    return "category"
