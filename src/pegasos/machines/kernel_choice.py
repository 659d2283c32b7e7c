"""The kernel that the parameters select for given rows, and collections of the items that a kernel compares."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels import FunctionKernel, Kernel, Precomputed, as_kernel
from pegasos.kernels.base import Items
from pegasos.kernels.mercer import check_items
from pegasos.kernels.precomputed import Numbered
from pegasos.kernels.vector import RBF, ChiSquared, Intersection, Laplacian, Linear, Polynomial

_ROWS_AT_ONCE = 1024  # rows of a precomputed matrix checked per call
WORDS = ("linear", "poly", "rbf", "laplacian", "chi2", "intersection", "precomputed")


@dataclass(frozen=True)
class KernelChoice:
    """The parameters that choose a kernel."""

    kernel: Any
    gamma: Any = "scale"
    degree: Any = 3
    coef0: Any = 1.0
    sigma: Any = None

    @property
    def is_precomputed(self) -> bool:
        """Whether X is the kernel matrix."""
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    @property
    def reader(self) -> Kernel:
        """A kernel that reads X like the chosen one, before its parameters are computed from X."""
        if not isinstance(self.kernel, str):
            return kernel_of(self, None, None)
        return Precomputed() if self.kernel == "precomputed" else Linear()


def is_matrix(kernel: Kernel, X: Any) -> bool:
    """Whether X is to be read as rows of numbers."""
    if isinstance(kernel, FunctionKernel):
        return sp.issparse(X) or (getattr(X, "ndim", 0) == 2 and getattr(X, "dtype", np.dtype(object)).kind in "biuf")
    return kernel.takes_vectors or isinstance(kernel, Precomputed)


def joined(first: Any, second: Any) -> Any:
    """Concatenate two collections of the same kind."""
    if sp.issparse(first) or sp.issparse(second):
        return sp.vstack([sp.csr_array(first), sp.csr_array(second)], format="csr")
    if hasattr(first, "iloc"):
        return sys.modules["pandas"].concat([first, second])
    if hasattr(first, "vstack") and hasattr(first, "schema"):
        return first.vstack(second)
    if isinstance(first, np.ndarray):
        return np.concatenate([first, np.asarray(second)])
    return [*first, *second]


def kernel_of(choice: KernelChoice, X: Any, weights: npt.NDArray[np.float64] | None) -> Kernel:
    """The kernel that the parameters select for these rows."""
    kernel = choice.kernel
    if choice.sigma is not None:
        return _of_width(choice)
    if not isinstance(kernel, str):
        if not (isinstance(kernel, Kernel) or callable(kernel)):
            raise PegasosError(
                f"kernel must be one of {', '.join(map(repr, WORDS))}, a kernel of pegasos.kernels or a function, "
                f"got {kernel!r}."
            )
        return as_kernel(kernel).copy()
    plain: dict[str, type[Kernel]] = {"linear": Linear, "intersection": Intersection, "precomputed": Precomputed}
    if kernel in plain:
        return plain[kernel]()
    gamma = _gamma(choice.gamma, X, weights)
    if kernel == "poly":
        return Polynomial(choice.degree, gamma, choice.coef0)
    of_width: dict[str, type[Kernel]] = {"rbf": RBF, "laplacian": Laplacian, "chi2": ChiSquared}
    return of_width[kernel](gamma)  # type: ignore[call-arg]


def _of_width(choice: KernelChoice) -> Kernel:
    """The Gaussian with a width sigma, a parameter that no other kernel has."""
    if not isinstance(choice.kernel, str) or choice.kernel != "rbf":
        raise PegasosError(f"sigma is the width of kernel='rbf'; got kernel={choice.kernel!r}.")
    if not isinstance(choice.gamma, str) or choice.gamma != "scale":
        raise PegasosError(
            f"give gamma or sigma, which is 1 / sqrt(2 gamma): got gamma={choice.gamma!r} and sigma={choice.sigma!r}."
        )
    return RBF(sigma=choice.sigma)


def _gamma(gamma: Any, X: Any, weights: npt.NDArray[np.float64] | None) -> float:
    """As in scikit-learn: "scale" is 1 / (n_features * variance of X), "auto" is 1 / n_features.

    The variance counts rows by their weights: a weight of 2 is equivalent to repeating the row.
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
    """The variance of all entries of X."""
    if sp.issparse(X):
        X = X.astype(np.float64)  # a sparse matrix would be summed in its own type
    with np.errstate(over="ignore"):
        squares = X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)
    sums, square_sums = (np.asarray(each.sum(axis=1, dtype=np.float64)).ravel() for each in (X, squares))
    counts = np.ones(X.shape[0]) if weights is None else weights
    total = float(counts.sum()) * X.shape[1]
    if total == 0.0:
        return 0.0
    mean = float(counts @ sums) / total
    mean_square = float(counts @ square_sums) / total
    if np.isinf(mean_square) and np.isfinite(sums).all():  # NaN and infinity are rejected elsewhere
        raise PegasosError(
            "gamma='scale' needs the variance of X, which exceeds every number of 64 bits; scale X down."
        )
    variance = mean_square - mean * mean
    return variance if variance > 1e-12 * mean * mean else 0.0


def doubt(kernel: Kernel, items: Items) -> str | None:
    """Reject what is clearly not a kernel; return the warning for one that is not positive semi-definite."""
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
    """Reject a matrix that is not symmetric, or that violates K_ij^2 <= K_ii K_jj."""
    diagonal = np.maximum(matrix.diagonal().astype(np.float64), 0.0)
    rounding = 1e-3 if matrix.dtype == np.float32 else 1e-8
    scale = float(np.abs(matrix).max(initial=0.0))
    for begin in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = matrix[begin : begin + _ROWS_AT_ONCE].astype(np.float64)
        apart = np.abs(rows - matrix[:, begin : begin + _ROWS_AT_ONCE].T)
        bound = np.sqrt(np.outer(diagonal[begin : begin + _ROWS_AT_ONCE], diagonal))
        for kind, excess in (("symmetry", apart), ("size", np.abs(rows) - bound)):
            i, j = np.unravel_index(int(excess.argmax()), excess.shape)
            if excess[i, j] > rounding * scale:
                where = f"K[{begin + i}, {j}] = {rows[i, j]:.6g}"
                if kind == "symmetry":
                    other = f"K[{j}, {begin + i}] = {matrix[j, begin + i]:.6g}"
                    raise PegasosError(f"the precomputed matrix is not symmetric: {where}, but {other}.")
                raise PegasosError(
                    f"the precomputed matrix is not a kernel matrix: {where} exceeds sqrt(K[{begin + i}, {begin + i}] "
                    f"K[{j}, {j}]) = {bound[i, j]:.6g}."
                )


def _name(kernel: Kernel) -> str:
    return "the precomputed matrix" if isinstance(kernel, Precomputed) else f"{kernel}"
