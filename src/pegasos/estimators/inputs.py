"""The user's X as rows: read in place whenever that is possible."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from pegasos.errors import NotFiniteError, PegasosError
from pegasos.machines.inputs import how_to_read
from pegasos.problem import Matrix, Rows, check_structure

P = ParamSpec("P")
T = TypeVar("T")

_AS_THEY_ARE = (np.dtype(np.float32), np.dtype(np.float64))


def read_values(estimator: Any, X: Any) -> Matrix:
    """X for a fitted estimator, its values unchecked."""
    # For a few rows, the checks of scikit-learn would take longer than the scores.
    return X if is_ready(estimator, X) else validate_data(estimator, X, reset=False, **how_to_read(X))


def read_doubles(estimator: Any, X: Any, *, reset: bool, **how: Any) -> Any:
    """X as scikit-learn reads it, in double with finite values; an array that already fits is not copied."""
    check_structure(X)  # before the loops of scipy follow its indices
    is_short = type(X) is np.ndarray or (sp.issparse(X) and X.format == "csr" and X.indices.dtype == np.int32)
    found = as_plain(X) if is_short and X.dtype == np.float64 and (reset or is_ready(estimator, X)) else None
    if found is None or not _has_finite_sum(found.data if is_csr(found) else found):
        return validate_data(estimator, X, reset=reset, **how)
    if reset:
        note_features(estimator, X)
    return found


def _has_finite_sum(X: Any) -> bool:
    """True only if all values are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(float(np.add.reduce(X, axis=None)))


def is_ready(estimator: Any, X: Any) -> bool:
    """Whether X is a matrix as the loops read it, with nothing to convert or to refuse."""
    has_names = hasattr(estimator, "feature_names_in_")
    return (is_csr(X) or is_plain(X)) and X.shape[1] == estimator.n_features_in_ and not has_names


def is_plain(X: Any) -> bool:
    """Whether X is a dense array as the loops read it; its values are checked when its norms are taken."""
    return is_dense(X) and X.flags.c_contiguous


def as_plain(X: Any) -> Any:
    """X if it is such an array or a CSR matrix, a copy in C order if that is all that is missing, else None."""
    return np.ascontiguousarray(X) if is_dense(X) else X if is_csr(X) else None


def is_csr(X: Any) -> bool:
    """Whether X is a CSR matrix of a type that the loops read, whose indices and values they check."""
    is_matrix = type(X) in (sp.csr_matrix, sp.csr_array) and X.ndim == 2
    return is_matrix and X.dtype in _AS_THEY_ARE and X.shape[0] > 0 and X.shape[1] > 0


def is_dense(X: Any) -> bool:
    """Whether X is a dense array of a type that the loops read, in whatever order."""
    is_matrix = type(X) is np.ndarray and X.ndim == 2
    return is_matrix and X.dtype in _AS_THEY_ARE and X.flags.aligned and X.size > 0


def is_plain_target(y: Any, n_rows: int) -> bool:
    """Whether y has an integer for each of this many rows."""
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub" and len(y) == n_rows


def are_plain_numbers(y: Any, n_rows: int) -> bool:
    """Whether y has a finite number in double for each of this many rows."""
    is_column = type(y) is np.ndarray and y.ndim == 1 and y.dtype == np.float64 and len(y) == n_rows
    return is_column and n_rows > 0 and _has_finite_sum(y)


def note_features(estimator: Any, X: Any) -> None:
    """What scikit-learn's checks write down of an array without names."""
    estimator.__dict__.pop("feature_names_in_", None)
    estimator.n_features_in_ = X.shape[1]


def read_rows(estimator: Any, X: Any, bias: float) -> Rows:
    """Rows of X for a fitted estimator."""
    return Rows.of(read_values(estimator, X), bias)


def read_rows_and_target(
    estimator: Any, X: Any, y: Any, bias: float, *, reset: bool, threads: int = 1, narrow: bool = False
) -> tuple[Rows, Any]:
    """Rows of X, and y as an array of the same length."""
    X, y = validate_data(estimator, X, y, reset=reset, **how_to_read(X))
    return Rows.of(X, bias, threads, narrow=narrow), y


class KeptOnFailure:
    """A fit that fails or is interrupted changes nothing: the last good model still predicts."""

    def __init__(self, estimator: Any):
        self.estimator, self.before = estimator, dict(estimator.__dict__)

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type[BaseException] | None, *about: object) -> None:
        """Restore the attributes if there was an exception."""
        if kind is not None:
            self.estimator.__dict__ = self.before


def keeps_on_failure(method: Callable[P, T]) -> Callable[P, T]:
    """A method of an estimator that changes all that it is to change, or nothing."""

    @wraps(method)
    def kept(*args: P.args, **options: P.kwargs) -> T:
        with KeptOnFailure(args[0]):
            try:
                return method(*args, **options)
            except NotFiniteError as error:
                raise error.named(getattr(args[0], "feature_names_in_", None)) from None

    return kept


def is_indicator(y: Any) -> bool:
    """Whether y is a matrix of labels, dense or sparse, with one column per label."""
    is_nested = isinstance(y, list | tuple) and len(y) > 0 and np.ndim(y[0]) == 1
    if getattr(y, "ndim", 1) != 2 and not is_nested:
        return False
    return bool(type_of_target(y) == "multilabel-indicator")


def check_room_for_weights(n_features: int, n_vectors: int) -> None:
    """Refuse features for which this many weight vectors would not fit into memory."""
    if not hasattr(os, "sysconf"):
        return
    needed = 8.0 * (n_features + 1.0) * n_vectors
    available = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    if needed > available:
        raise PegasosError(
            f"X has {n_features} features: {n_vectors} weight vectors of that length need {needed / 2**30:.0f} GB, and "
            f"this machine has {available / 2**30:.0f}; hash or select the features first."
        )
