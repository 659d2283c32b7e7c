"""How X and the sample weights of a user are read, by any estimator or worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.problem import check_structure

_LEAST_WEIGHT = 1e-300  # weight below which losses would be subnormal
# Types that float32 holds exactly; everything else that is not a float becomes float64.
_NARROW = frozenset(np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "uint16", "float16"))


def how_to_read(X: Any, *, sparse: bool = True) -> dict[str, Any]:
    """Arguments for scikit-learn to read X; rejects input for which its error message would be unhelpful."""
    _refuse_text(X)
    if getattr(X, "ndim", 2) != 2:
        raise PegasosError(
            f"X must be a matrix of rows, got an array of shape {X.shape}. Reshape your data: "
            "X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single row."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise PegasosError(f"Complex data not supported: X has type {X.dtype}; use its real and imaginary parts.")
    if sp.issparse(X) and X.format != "csr":  # CSR is inspected before its indices are used
        check_structure(X)
    # Values are checked by our own pass over the rows, together with their norms.
    narrow = getattr(X, "dtype", None) in _NARROW
    dtype: Any = np.float32 if narrow else [np.float64, np.float32]
    return {
        "accept_sparse": "csr" if sparse else False,
        "accept_large_sparse": True,
        "dtype": dtype,
        "order": "C",
        "ensure_all_finite": False,
    }


def _refuse_text(X: Any) -> None:
    """Reject text and lazy frames before anything tries to convert them."""
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise PegasosError("X is a lazy frame, which holds no rows yet; give X.collect().")
    if isinstance(X, list | tuple) and X and isinstance(X[0], str):
        text = X[0]
    elif isinstance(X, np.ndarray) and X.dtype.kind in "US" and X.size:
        text = str(X.flat[0])
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):
        _refuse_text_columns(X)
        return
    else:
        return
    raise PegasosError(
        f"X holds text such as {text[:40]!r}, and a machine on vectors takes numbers: put TfidfVectorizer() in front "
        "of it in a pipeline, or use KernelPegasosClassifier with a kernel of strings, such as Spectrum(3)."
    )


def _refuse_text_columns(frame: Any) -> None:
    for name in frame.columns:
        column = frame[name]
        # Numeric columns have a one-letter kind, or a type that identifies them.
        if getattr(column.dtype, "kind", "O") == "O" and not _is_numeric(column.dtype):
            value = next((value for value in column if isinstance(value, str)), None)
            if value is not None:
                raise PegasosError(
                    f"column {name!r} of X holds text such as {value[:40]!r}; encode it, with OneHotEncoder() for "
                    f"categories or TfidfVectorizer() for text: make_column_transformer((OneHotEncoder(), [{name!r}]), "
                    "remainder='passthrough')."
                )


def _is_numeric(dtype: Any) -> bool:
    asked = getattr(dtype, "is_numeric", None)  # polars defines this method
    return bool(asked()) if callable(asked) else False


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Sample weights as float64, or None when all weights are equal."""
    if sample_weight is None:
        return None
    if np.ma.isMaskedArray(sample_weight):
        raise PegasosError("sample_weight is a masked array; fill it, with 0 for rows that are to be left out.")
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind not in "biufO" or (given.dtype == object and any(isinstance(w, str) for w in given.flat)):
            raise TypeError(f"got an array of type {given.dtype}")
        weights = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise PegasosError(f"sample_weight must be numbers: {error}.") from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise PegasosError(f"sample_weight must have shape ({n_rows},), one weight per row, got {weights.shape}.")
    if not np.isfinite(weights).all():
        row = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise PegasosError(f"sample_weight contains NaN or infinity in row {row}; use 0 to leave the row out.")
    if weights.min() < 0.0:
        row = int(weights.argmin())
        raise PegasosError(f"sample_weight must not be negative, got {weights[row]} for row {row}.")
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    least = float(np.min(weights, where=weights > 0.0, initial=np.inf))
    if total == np.inf or least < _LEAST_WEIGHT:
        raise PegasosError(
            f"sample_weight must have a finite sum, and every weight must be 0 or at least {_LEAST_WEIGHT}, got "
            f"weights from {least} to {weights.max()}; scale all of them by one factor, or set the smallest to 0."
        )
    return weights
