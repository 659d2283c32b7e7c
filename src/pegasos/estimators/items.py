"""The user's X as items of a kernel: rows of numbers, or a collection of anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.validation import _num_samples, validate_data

from pegasos.errors import PegasosError
from pegasos.estimators.inputs import (
    are_plain_numbers,
    as_plain,
    is_csr,
    is_dense,
    is_plain_target,
    is_ready,
    note_features,
)
from pegasos.kernels import Kernel, Precomputed
from pegasos.machines.inputs import how_to_read
from pegasos.machines.kernel_choice import is_matrix
from pegasos.problem import check_structure


def as_collection(estimator: Any, kernel: Kernel, X: Any, *, reset: bool) -> Any:
    """X in a form that can be indexed by rows; the indices of a sparse matrix are checked before they are used."""
    check_structure(X)
    if is_matrix(kernel, X):
        if isinstance(X, list | tuple) and len(X) and isinstance(X[0], str):
            raise PegasosError(
                f"this kernel takes rows of numbers, got strings such as {X[0]!r}; use a kernel of strings, such as "
                "Spectrum(3) of pegasos.kernels."
            )
        sparse = not isinstance(kernel, Precomputed)
        if sparse and (is_dense(X) or is_csr(X)) and (reset or is_ready(estimator, X)):
            if reset:
                note_features(estimator, X)
            return as_plain(X)  # where there is nothing to convert, the checks would take longer than a small fit
        return validate_data(estimator, X, reset=reset, **how_to_read(X, sparse=sparse))
    if reset:
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)
    if isinstance(X, str | bytes) or not (hasattr(X, "__len__") or sp.issparse(X)):
        raise PegasosError(f"{kernel} needs a collection of items, such as a list, got {type(X).__name__}.")
    if _num_samples(X) == 0:
        raise PegasosError("X has no items: Found array with 0 sample(s) while a minimum of 1 is required.")
    return X


def check_labels(y: Any) -> None:
    """Refuse labels that scikit-learn refuses, too, with the value and what to do."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
        return
    try:
        labels = np.asarray(y)
    except (TypeError, ValueError):  # ragged: scikit-learn says what it is
        return
    if labels.ndim == 2 and labels.shape[1] > 1:
        raise PegasosError(
            f"y should be a 1d array, one label per row, got an array of shape {labels.shape} instead; pass one "
            "column, or for several labels per row a matrix of 0 and 1."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.isfinite(labels).reshape(len(labels), -1).all(axis=1).argmin())
        word = "NaN" if np.isnan(labels[row]).any() else "infinity"
        raise PegasosError(f"Input y contains {word} in row {row}; give the row a label, or drop it.")


def check_target(X: Any, y: Any) -> npt.NDArray[Any]:
    """The labels as an array, one for each item."""
    if y is None:
        raise PegasosError("y is missing: a classifier requires y to be passed, but the target y is None.")
    if is_plain_target(y, _num_samples(X)):
        return np.asarray(y)
    check_labels(y)
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    if len(labels) != _num_samples(X):
        raise PegasosError(f"y must have one label per item: got {len(labels)} labels for {_num_samples(X)} items.")
    return np.asarray(labels)


def check_numbers(X: Any, y: Any) -> npt.NDArray[np.float64]:
    """The targets of a regression as numbers, one row or one entry for each item."""
    if y is None:
        raise PegasosError("y is missing: a regressor requires y to be passed, but the target y is None.")
    if are_plain_numbers(y, _num_samples(X)):
        return np.asarray(y)
    try:
        given = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y")
        if given.dtype.kind == "c":
            raise TypeError("they are complex")
        numbers = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"y must hold numbers, of shape (n_rows,) or (n_rows, n_targets): {error}.") from error
    if numbers.ndim not in (1, 2) or len(numbers) != _num_samples(X):
        raise PegasosError(
            f"y must have shape (n_rows,) or (n_rows, n_targets), one entry for each of the {_num_samples(X)} rows "
            f"of X; got shape {numbers.shape}."
        )
    is_finite = np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if not is_finite.all():
        row = int(is_finite.argmin())
        raise PegasosError(f"y contains NaN or infinity in row {row}, got {numbers[row]}; impute it or drop the row.")
    return np.asarray(numbers)


def check_indicator(X: Any, y: Any) -> Any:
    """An indicator matrix with one row for each item."""
    found = check_array(y, accept_sparse="csr", input_name="y")
    if found.shape[0] != _num_samples(X):
        raise PegasosError(f"y must have one row per item: got {found.shape[0]} rows for {_num_samples(X)} items.")
    return found
