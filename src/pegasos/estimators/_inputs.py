"""The user's X as rows: read in place whenever the machine can read it as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from pegasos.errors import PegasosError
from pegasos.problem import Matrix, Rows, check_structure

P = ParamSpec("P")
T = TypeVar("T")

_as_they_are = (np.dtype(np.float32), np.dtype(np.float64))
_least_weight = 1e-300  # of the largest: below, losses would be subnormal numbers
# Types that float32 holds exactly; everything else that is not a float becomes float64.
_narrow = frozenset(np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "uint16", "float16"))


def read_values(estimator: Any, X: Any) -> Matrix:
    """X for a fitted estimator, its values unseen."""
    # Of a few rows, scikit-learn's look would take longer than their scores.
    return X if _is_ready(estimator, X) else validate_data(estimator, X, reset=False, **how_to_read(X))


def _is_ready(estimator: Any, X: Any) -> bool:
    """Whether X is a matrix as the loops read it, in which nothing is left to convert or to complain of."""
    if type(X) is np.ndarray:
        is_plain = X.ndim == 2 and X.flags.c_contiguous and X.flags.aligned
    else:
        is_plain = type(X) in (sp.csr_matrix, sp.csr_array) and X.ndim == 2
    return (
        is_plain
        and X.dtype in _as_they_are
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def read_rows(estimator: Any, X: Any, bias: float) -> Rows:
    """Rows of X for a fitted estimator."""
    return Rows.of(read_values(estimator, X), bias)


def read_rows_and_target(
    estimator: Any, X: Any, y: Any, bias: float, *, reset: bool, threads: int = 1, narrow: bool = False
) -> tuple[Rows, Any]:
    """Rows of X, and y as an array of the same length."""
    X, y = validate_data(estimator, X, y, reset=reset, **how_to_read(X))
    return Rows.of(X, bias, threads, narrow=narrow), y


@contextmanager
def kept_on_failure(estimator: Any) -> Iterator[None]:
    """A fit that fails, or is interrupted, changes nothing: the last good model goes on predicting."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def keeps_on_failure(method: Callable[P, T]) -> Callable[P, T]:
    """A method of an estimator that changes all that it is to change, or nothing."""

    @wraps(method)
    def kept(*args: P.args, **options: P.kwargs) -> T:
        with kept_on_failure(args[0]):
            return method(*args, **options)

    return kept


def how_to_read(X: Any, *, sparse: bool = True) -> dict[str, Any]:
    """How scikit-learn is to read X; what it would refuse with the whole array in its message is refused here."""
    if getattr(X, "ndim", 2) != 2:
        raise PegasosError(
            f"X must be a matrix of rows, got an array of shape {X.shape}. Reshape your data: "
            "X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single row."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise PegasosError(f"Complex data not supported: X has type {X.dtype}; use its real and imaginary parts.")
    if sp.issparse(X) and X.format != "csr":  # rows are inspected before anything follows their indices; others are not
        check_structure(X)
    # Values are checked by our own pass over the rows, together with their norms.
    narrow = getattr(X, "dtype", None) in _narrow
    dtype: Any = np.float32 if narrow else [np.float64, np.float32]
    return {
        "accept_sparse": "csr" if sparse else False,
        "accept_large_sparse": True,
        "dtype": dtype,
        "order": "C",
        "ensure_all_finite": False,
    }


def check_room_for_weights(n_features: int, n_vectors: int) -> None:
    """Refuse more features than this machine has memory for so many weight vectors."""
    if not hasattr(os, "sysconf"):
        return
    needed = 8.0 * (n_features + 1.0) * n_vectors
    available = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    if needed > available:
        raise PegasosError(
            f"X has {n_features} features: {n_vectors} weight vectors of that length need {needed / 2**30:.0f} GB, and "
            f"this machine has {available / 2**30:.0f}; hash or select the features first."
        )


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Sample weights as float64, or None when all rows count the same."""
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
        raise PegasosError(f"sample_weight must have shape ({n_rows},), one weight a row, got {weights.shape}.")
    if not np.isfinite(weights).all():
        row = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise PegasosError(f"sample_weight contains NaN or infinity in row {row}; use 0 to leave the row out.")
    if weights.min() < 0.0:
        row = int(weights.argmin())
        raise PegasosError(f"sample_weight must not be negative, got {weights[row]} for row {row}.")
    with np.errstate(over="ignore"):
        total, largest = float(weights.sum()), float(weights.max())
    if total == np.inf or 0.0 < largest < _least_weight:
        raise PegasosError(
            f"sample_weight must have a finite sum and a largest weight of at least {_least_weight}, got weights up to "
            f"{largest}; scale all of them by one factor."
        )
    return weights
