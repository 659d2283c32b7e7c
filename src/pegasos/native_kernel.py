"""A kernel on dense rows as native code computes it, value by value, without a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.deadline import check_deadline
from pegasos.kernels.base import Items, Kernel, n_threads
from pegasos.kernels.vector import ProductKernel, Vectors
from pegasos.rounding import Floats

_SUM_WORK = 2e9  # features times kernel values that are summed between two looks at the clock
_SINGLE_ERROR = 1e-5  # error of an exponent in single precision, for rows of usual length, that is small enough

Numbers = npt.NDArray[np.intp]
Function = tuple[str, float, float, int, float]


@dataclass(frozen=True)
class NativeKernel:
    """A function of products of dense rows.

    Attributes
    ----------
    function : tuple
        Shape, gamma, coef0 and degree as in `ProductKernel.function`, and the constant added to each value.
    x : array of shape (n_rows, n_features), float64
    norms : array of shape (n_rows,)
        Squared lengths of the rows.
    """

    function: Function
    x: Floats
    norms: npt.NDArray[np.float64]

    @classmethod
    def of(cls, kernel: Kernel, items: Items, plus: float) -> NativeKernel | None:
        """The kernel of these items; None where native code cannot compute it."""
        if not isinstance(kernel, ProductKernel) or not isinstance(items, Vectors):
            return None
        if items.is_sparse or items.values.shape[1] == 0:
            return None
        near = kernel.near(items, np.float64)
        x = np.ascontiguousarray(near.values, np.float64)
        return cls((*kernel.function(), plus), x, near.squared_norms)

    @cached_property
    def suits_single(self) -> bool:
        """Whether single precision is accurate enough for the steps of a solver whose slopes are in double."""
        shape, gamma, *_ = self.function
        usual = float(np.mean(self.norms)) if len(self.norms) else 0.0
        return shape == "radial" and gamma * usual * float(np.finfo(np.float32).eps) <= _SINGLE_ERROR

    def columns(self, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        """How `_core.climb` computes single columns in this type."""
        x = np.ascontiguousarray(self.x, dtype)
        return self.function, x, np.ascontiguousarray(x.T), self.norms, self.norms.astype(dtype)

    def fill(self, rows: Numbers, columns: Numbers, out: Floats) -> None:
        """Write the kernel of some rows with others, in the type of ``out``."""
        x, z = self.x[rows].astype(out.dtype, copy=False), self.x[columns].astype(out.dtype, copy=False)
        right = self.norms[columns].astype(out.dtype)
        _core.dense_kernel(*self.function, x, z, self.norms[rows], right, out, n_threads())

    def add_sums(self, rows: Numbers, factors: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> None:
        """Add factors[k] times the kernel of rows[k] to the scores of all rows, in double."""
        at_once = max(1, int(_SUM_WORK / (self.x.size + 16 * len(self.x))))
        for begin in range(0, len(rows), at_once):
            check_deadline()
            part = rows[begin : begin + at_once]
            own, left = factors[begin : begin + at_once], self.norms[part]
            _core.kernel_sums(*self.function, self.x[part], self.x, left, self.norms, own, scores, n_threads())
