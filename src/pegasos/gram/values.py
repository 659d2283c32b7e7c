"""The values of a kernel on the items of a problem, and what computes them fastest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.kernels.base import Items, Kernel
from pegasos.kernels.vector import ProductKernel, Vectors
from pegasos.native_kernel import NativeKernel
from pegasos.problem import Floats

_DENSE_FROM = 0.02  # fraction of nonzero entries of a sparse matrix above which a dense product is faster
_DENSE_BYTES = 1 << 28
_QUICK_FEATURES = 200
_COMPUTED_FEATURES = 64

Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class KernelValues:
    """A kernel on items, plus the square of ``bias`` for the constant column, in values of a type."""

    kernel: Kernel
    items: Items
    bias: float
    dtype: np.dtype[Any]

    def fill(self, rows: Items, columns: Items, out: Floats) -> None:
        """Compute the values of some items with others."""
        self.kernel.fill(rows, columns, out, self.bias**2)

    def block(self, rows: Numbers, columns: Numbers) -> Floats:
        """Compute a block of the kernel matrix."""
        out = np.empty((len(rows), len(columns)), self.dtype)
        self.fill(self.items.take(rows), self.items.take(columns), out)
        return out

    @cached_property
    def exact(self) -> NativeKernel | None:
        """How native code computes values in double; None where it cannot, or where values are in single precision."""
        if self.dtype != np.float64:
            return None
        return NativeKernel.of(self.kernel, self.items, self.bias**2)

    def source(self, dtype: np.dtype[Any]) -> Any:
        """How native code computes a column in values of this type; None where it cannot."""
        if not is_computed(self.kernel, self.items):
            return None
        if self.exact is not None:
            return self.exact.columns(dtype)
        assert isinstance(self.items, Vectors)
        assert isinstance(self.kernel, ProductKernel)
        if self.kernel.near(self.items, self.dtype) is not self.items:
            return None
        x, norms = np.ascontiguousarray(self.items.values, self.dtype), self.items.squared_norms
        function = (*self.kernel.function(), self.bias**2)
        return function, x, np.ascontiguousarray(x.T), norms, norms.astype(self.dtype)


def with_fast_products(items: Items) -> Items:
    """Convert sparse rows that are not very sparse to dense ones, where that takes little memory."""
    if not isinstance(items, Vectors) or not items.is_sparse:
        return items
    n, d = items.values.shape
    if items.values.nnz < _DENSE_FROM * n * d or n * d * items.values.dtype.itemsize > _DENSE_BYTES:
        return items
    return Vectors(items.rows.dense())


def is_computed(kernel: Kernel, items: Items) -> bool:
    """Whether native code computes single columns as fast as BLAS computes blocks of them."""
    if not isinstance(items, Vectors) or items.is_sparse:
        return False
    return isinstance(kernel, ProductKernel) and 0 < items.values.shape[1] <= _COMPUTED_FEATURES


def is_quick(items: Items) -> bool:
    """Whether computing a kernel value is faster than fetching it from distant memory."""
    return isinstance(items, Vectors) and not items.is_sparse and items.values.shape[1] <= _QUICK_FEATURES
