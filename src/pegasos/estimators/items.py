"""The user's X as items of a kernel: rows of numbers, or a collection of anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import _num_samples, validate_data

from pegasos.errors import PegasosError
from pegasos.estimators.inputs import how_to_read
from pegasos.kernels import Kernel, Precomputed
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
        return validate_data(estimator, X, reset=reset, **how_to_read(X, sparse=sparse))
    if reset:
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)
    if isinstance(X, str | bytes) or not (hasattr(X, "__len__") or sp.issparse(X)):
        raise PegasosError(f"{kernel} needs a collection of items, such as a list, got {type(X).__name__}.")
    if _num_samples(X) == 0:
        raise PegasosError("X has no items: Found array with 0 sample(s) while a minimum of 1 is required.")
    return X


def check_target(X: Any, y: Any) -> npt.NDArray[Any]:
    """The labels as an array, one for each item."""
    if y is None:
        raise PegasosError("y is missing: a classifier requires y to be passed, but the target y is None.")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    if len(labels) != _num_samples(X):
        raise PegasosError(f"y must have one label per item: got {len(labels)} labels for {_num_samples(X)} items.")
    return np.asarray(labels)
