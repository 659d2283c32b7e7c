"""The user's X as items of a kernel: rows of numbers, or a collection of anything."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import _num_samples, validate_data

from pegasos.errors import PegasosError
from pegasos.estimators._inputs import how_to_read
from pegasos.kernels import FunctionKernel, Kernel, Precomputed, as_kernel
from pegasos.kernels.base import Items
from pegasos.kernels.mercer import check_items
from pegasos.kernels.precomputed import Numbered
from pegasos.kernels.series import IndefiniteKernelWarning
from pegasos.kernels.vector import RBF, ChiSquared, Intersection, Laplacian, Linear, Polynomial
from pegasos.problem import check_structure

_rows_at_once = 1024
words = ("linear", "poly", "rbf", "laplacian", "chi2", "intersection", "precomputed")


def is_matrix(kernel: Kernel, X: Any) -> bool:
    """Whether X is to be read as rows of numbers."""
    if isinstance(kernel, FunctionKernel):
        return sp.issparse(X) or (getattr(X, "ndim", 0) == 2 and getattr(X, "dtype", np.dtype(object)).kind in "biuf")
    return kernel.takes_vectors or isinstance(kernel, Precomputed)


def read_items(estimator: Any, kernel: Kernel, X: Any, *, reset: bool) -> Items:
    """X as the kernel reads it."""
    return kernel.read(as_collection(estimator, kernel, X, reset=reset))


def as_collection(estimator: Any, kernel: Kernel, X: Any, *, reset: bool) -> Any:
    """X in a form that can be indexed by rows; what is sparse leads nowhere else."""
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
        raise PegasosError(f"y must have one label an item: got {len(labels)} labels for {_num_samples(X)} items.")
    return np.asarray(labels)


def joined(first: Any, second: Any) -> Any:
    """Two collections of one kind, one after the other."""
    if sp.issparse(first) or sp.issparse(second):
        return sp.vstack([sp.csr_array(first), sp.csr_array(second)], format="csr")
    if hasattr(first, "iloc"):
        return sys.modules["pandas"].concat([first, second])
    if hasattr(first, "vstack") and hasattr(first, "schema"):
        return first.vstack(second)
    if isinstance(first, np.ndarray):
        return np.concatenate([first, np.asarray(second)])
    return [*first, *second]


def any_kernel(word: str) -> Kernel:
    """A kernel that reads X as the one of this name will, its parameters not yet settled."""
    return Precomputed() if word == "precomputed" else Linear()


def kernel_of(estimator: Any, X: Any, weights: npt.NDArray[np.float64] | None) -> Kernel:
    """The kernel that the parameters mean for these rows."""
    kernel = estimator.kernel
    if not isinstance(kernel, str):
        if not (isinstance(kernel, Kernel) or callable(kernel)):
            raise PegasosError(
                f"kernel must be one of {', '.join(map(repr, words))}, a kernel of pegasos.kernels or a function, "
                f"got {kernel!r}."
            )
        return as_kernel(kernel).copy()
    plain: dict[str, type[Kernel]] = {"linear": Linear, "intersection": Intersection, "precomputed": Precomputed}
    if kernel in plain:
        return plain[kernel]()
    gamma = _gamma(estimator.gamma, X, weights)
    if kernel == "poly":
        return Polynomial(estimator.degree, gamma, estimator.coef0)
    of_width: dict[str, type[Kernel]] = {"rbf": RBF, "laplacian": Laplacian, "chi2": ChiSquared}
    return of_width[kernel](gamma)  # type: ignore[call-arg]


def _gamma(gamma: Any, X: Any, weights: npt.NDArray[np.float64] | None) -> float:
    """As in scikit-learn: "scale" is 1 / (n_features * variance of X), "auto" is 1 / n_features.

    The variance counts rows by their weights: a row of weight 2 is that row twice.
    """
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise PegasosError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}.")
        d = max(int(X.shape[1]), 1)
        return 1.0 / d if gamma == "auto" else 1.0 / (d * _variance(X, weights) or 1.0)
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number) or not 0.0 < gamma < np.inf:
        raise PegasosError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}.")
    return float(gamma)


def _variance(X: Any, weights: npt.NDArray[np.float64] | None) -> float:
    """Of all entries of X."""
    if sp.issparse(X):
        X = X.astype(np.float64)  # a sparse matrix would add up in its own type
    with np.errstate(over="ignore"):
        squares = X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)
    sums, square_sums = (np.asarray(each.sum(axis=1, dtype=np.float64)).ravel() for each in (X, squares))
    counts = np.ones(X.shape[0]) if weights is None else weights
    total = float(counts.sum()) * X.shape[1]
    if total == 0.0:
        return 0.0
    mean = float(counts @ sums) / total
    mean_square = float(counts @ square_sums) / total
    if np.isinf(mean_square) and np.isfinite(sums).all():  # NaN and infinity are refused by others
        raise PegasosError(
            "gamma='scale' needs the variance of X, which exceeds every number of 64 bits; scale X down."
        )
    variance = mean_square - mean * mean
    return variance if variance > 1e-12 * mean * mean else 0.0


def doubt(kernel: Kernel, items: Items) -> str | None:
    """Refuse what is plainly no kernel; the sentence to warn with when it is not positive semi-definite."""
    if isinstance(kernel, Precomputed):
        assert isinstance(items, Numbered)
        _check_matrix(items.matrix)
    elif not _has_function(kernel):
        return None
    report = check_items(kernel, items, max_items=64)
    if not report.symmetric:
        raise PegasosError(f"{_name(kernel)} is {report} A kernel must not depend on the order of its arguments.")
    if report.valid:
        return None
    return (
        f"{_name(kernel)} is {report} The certificate proves nothing then; use a kernel of pegasos.kernels, or shift "
        "the diagonal up."
    )


def _has_function(kernel: Kernel) -> bool:
    inner = [value for value in kernel.get_params(deep=False).values() if isinstance(value, Kernel)]
    return isinstance(kernel, FunctionKernel) or any(map(_has_function, inner))


def _check_matrix(matrix: npt.NDArray[Any]) -> None:
    """Refuse what every kernel matrix keeps: symmetry, and K_ij^2 <= K_ii K_jj."""
    diagonal = np.maximum(matrix.diagonal().astype(np.float64), 0.0)
    rounding = 1e-3 if matrix.dtype == np.float32 else 1e-8
    scale = float(np.abs(matrix).max(initial=0.0))
    for begin in range(0, len(matrix), _rows_at_once):
        rows = matrix[begin : begin + _rows_at_once].astype(np.float64)
        apart = np.abs(rows - matrix[:, begin : begin + _rows_at_once].T)
        bound = np.sqrt(np.outer(diagonal[begin : begin + _rows_at_once], diagonal))
        for kind, excess in (("symmetry", apart), ("size", np.abs(rows) - bound)):
            i, j = np.unravel_index(int(excess.argmax()), excess.shape)
            if excess[i, j] > rounding * scale:
                where = f"K[{begin + i}, {j}] = {rows[i, j]:.6g}"
                if kind == "symmetry":
                    other = f"K[{j}, {begin + i}] = {matrix[j, begin + i]:.6g}"
                    raise PegasosError(f"the precomputed matrix is not symmetric: {where}, but {other}.")
                raise PegasosError(
                    f"the precomputed matrix is no kernel matrix: {where} exceeds sqrt(K[{begin + i}, {begin + i}] "
                    f"K[{j}, {j}]) = {bound[i, j]:.6g}."
                )


def _name(kernel: Kernel) -> str:
    return "the precomputed matrix" if isinstance(kernel, Precomputed) else f"{kernel}"


__all__ = [
    "IndefiniteKernelWarning",
    "any_kernel",
    "as_collection",
    "check_target",
    "doubt",
    "is_matrix",
    "joined",
    "kernel_of",
    "read_items",
    "words",
]
