"""The support vectors and coefficients of a `Fit` in the order and with the signs that LIBSVM gives them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.fitting.result import Fit
from pegasos.tasks.one_vs_one import pairs_of

Floats = npt.NDArray[np.float64]


class Laid(NamedTuple):
    """Support vectors class by class, and coefficients of shape (n_classes - 1, n_support)."""

    support: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]  # support vectors of each class
    dual_coef: Floats
    intercept: Floats
    of_pairs: Floats  # the coefficients of each problem, of shape (n_problems, n_support)


def of_classes(fitted: Fit, codes: npt.NDArray[np.intp]) -> Laid:
    """Those of a classification; ``codes`` are the classes of the support vectors.

    A score of LIBSVM is positive for the first class of a pair, except that scikit-learn turns it where there are two
    classes only. The coefficients of a row of class i for the pair of i and j stand in row j - 1, or j if j < i.
    """
    model: Any = fitted.model
    n = fitted.task.n_classes
    order = np.argsort(codes, kind="stable")  # the support is sorted
    support = model.support[order]
    sign = 1.0 if n == 2 else -1.0
    of_pairs = sign * model.dual_coef[:, order]
    counts = np.bincount(codes, minlength=n).astype(np.int32)
    ends = np.cumsum(counts).tolist()
    of_class = [slice(first, end) for first, end in zip([0, *ends], ends, strict=False)]
    dual_coef = np.zeros((n - 1, len(support)))
    for k, (i, j) in enumerate(pairs_of(n)):
        dual_coef[j - 1, of_class[i]] = of_pairs[k, of_class[i]]
        dual_coef[i, of_class[j]] = of_pairs[k, of_class[j]]
    return Laid(support.astype(np.int32), counts, dual_coef, sign * model.intercept + 0.0, of_pairs)


def of_numbers(fitted: Fit, factor: float = 1.0) -> Laid:
    """Those of a regression or of one class, times a factor."""
    model: Any = fitted.model
    support = model.support.astype(np.int32)
    counts, dual_coef = np.array([len(support)], np.int32), factor * model.dual_coef
    return Laid(support, counts, dual_coef, factor * model.intercept, dual_coef)


def like(X: Any, values: Floats) -> Any:
    """A matrix in the form of X: sparse where that is sparse."""
    if not sp.issparse(X):
        return values
    return (sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix)(values)
