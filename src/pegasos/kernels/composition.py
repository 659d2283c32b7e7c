"""Kernels made of kernels: sums, products, positive multiples, powers, exponentials, normalization, fields of records.

Each is a kernel whenever its parts are: sums and positive multiples by definition, products by Schur's theorem, powers
and exponentials as products and limits of sums of them (Schölkopf and Smola, "Learning with Kernels", 2002, sec. 13.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel, Parts, check_count, check_positive, unit_of
from pegasos.kernels.callables import as_kernel
from pegasos.kernels.records import as_vectors, column_of, rows_of
from pegasos.kernels.vector import in_double
from pegasos.problem import Floats, Matrix


class _Elementwise(Kernel, ABC):
    """A function of the values of other kernels, value by value."""

    @abstractmethod
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels inside."""

    @abstractmethod
    def combine(self, *values: Floats) -> Floats:
        """The value of this kernel, from those of the kernels inside."""

    @property
    def takes_vectors(self) -> bool:
        """Whether all parts do."""
        return all(kernel.takes_vectors for kernel in self.kernels())

    def check(self) -> None:
        """Require that every part is a kernel."""
        for kernel in self.kernels():
            _check_kernel(self, kernel)

    def read(self, items: Any) -> Parts:
        """The collection as each part reads it."""
        if isinstance(items, Iterator):
            items = list(items)  # it can be walked only once
        return Parts(tuple(in_double(kernel.read(items)) for kernel in self.kernels()))

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The blocks of the parts, combined."""
        kernels = enumerate(self.kernels())
        return self._finite([kernel.evaluate(_part(a, i), _part(b, i)) for i, kernel in kernels])

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonals of the parts, combined."""
        diagonals = [kernel.evaluate_diagonal(_part(a, i)) for i, kernel in enumerate(self.kernels())]
        return self._finite(diagonals).astype(np.float64, copy=False)

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The errors of the parts, and the rounding of combining them."""
        inside = sum(kernel.value_error(_part(items, i), np.float64) for i, kernel in enumerate(self.kernels()))
        return self.error_factor(items) * inside + 16.0 * unit_of(dtype)

    def error_factor(self, items: Items) -> float:
        """By how much combining the values multiplies the sum of their errors."""
        return 1.0

    def _finite(self, values: Sequence[Floats]) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            combined = self.combine(*values)
        if not np.isfinite(combined).all():
            raise PegasosError(
                f"{type(self).__name__} of kernel values up to {max(np.abs(part).max() for part in values):.3g} is too "
                "large for a floating-point number; scale the inner kernel down (0.01 * k) or use k.normalized()."
            )
        return combined


@dataclass
class Sum(_Elementwise):
    """The sum of two kernels, ``k1 + k2``: their feature vectors side by side.

    Parameters
    ----------
    left, right : Kernel
        Both read the whole collection; use `on` to give each its own field of mixed records.

    Examples
    --------
    >>> from pegasos.kernels.callables import as_kernel
    >>> product, smaller = as_kernel(lambda x, z: x * z), as_kernel(min)
    >>> (product + smaller).block([2.0], [3.0, 4.0])
    array([[ 8., 10.]])
    """

    left: Kernel
    right: Kernel

    def kernels(self) -> tuple[Kernel, ...]:
        """Both."""
        return self.left, self.right

    def combine(self, *values: Floats) -> Floats:
        """k1 + k2."""
        return values[0] + values[1]

    @property
    def has_features(self) -> bool:
        """Whether both have."""
        return self.left.has_features and self.right.has_features

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """The columns of both, side by side."""
        lefts, rights = (
            kernel.map(*(_part(collection, number) for collection in collections))
            for number, kernel in enumerate(self.kernels())
        )
        return tuple(_side_by_side(left, right) for left, right in zip(lefts, rights, strict=True))


@dataclass
class Product(_Elementwise):
    """The product of two kernels, ``k1 * k2``: items are similar if both kernels say so.

    Its explicit map would have a column for each pair of columns, so it has none.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> from pegasos.kernels.callables import as_kernel
    >>> from pegasos.kernels.composition import on
    >>> same = as_kernel(lambda x, z: float(x == z))
    >>> records = [("red", 1), ("red", 2), ("blue", 1)]
    >>> (on(0, same) * on(1, same)).block(records, records)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    left: Kernel
    right: Kernel

    def kernels(self) -> tuple[Kernel, ...]:
        """Both."""
        return self.left, self.right

    def combine(self, *values: Floats) -> Floats:
        """k1 k2."""
        return values[0] * values[1]


@dataclass
class Scaled(_Elementwise):
    """A positive multiple of a kernel, ``factor * k``.

    Parameters
    ----------
    factor : float
        Positive: the weight of this kernel in a sum.
    kernel : Kernel

    Examples
    --------
    >>> from pegasos.kernels.callables import as_kernel
    >>> (0.5 * as_kernel(lambda x, z: x * z)).block([2.0], [3.0, 4.0])
    array([[3., 4.]])
    """

    factor: float
    kernel: Kernel

    def kernels(self) -> tuple[Kernel, ...]:
        """The only part."""
        return (self.kernel,)

    def check(self) -> None:
        """Require a positive factor."""
        check_positive(self, factor=self.factor)
        super().check()

    def combine(self, *values: Floats) -> Floats:
        """The factor times the block."""
        return float(self.factor) * values[0]

    @property
    def has_features(self) -> bool:
        """Whether the inner kernel has."""
        return self.kernel.has_features

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """The features times sqrt(factor)."""
        matrices = self.kernel.map(*(_part(collection, 0) for collection in collections))
        return tuple(matrix * float(np.sqrt(self.factor)) for matrix in matrices)


@dataclass
class Power(_Elementwise):
    """An integer power of a kernel, ``k ** exponent``.

    Parameters
    ----------
    kernel : Kernel
    exponent : int
        At least 1. Fractional powers of kernels are not kernels in general.

    Examples
    --------
    >>> from pegasos.kernels.callables import as_kernel
    >>> (as_kernel(lambda x, z: x * z) ** 3).block([-1.0], [2.0])
    array([[-8.]])
    """

    kernel: Kernel
    exponent: int

    def kernels(self) -> tuple[Kernel, ...]:
        """The only part."""
        return (self.kernel,)

    def check(self) -> None:
        """Require a whole exponent."""
        check_count(self, exponent=self.exponent)
        super().check()

    def error_factor(self, items: Items) -> float:
        """The factor of the error: the exponent, because no value exceeds the product of the lengths."""
        return float(self.exponent)

    def combine(self, *values: Floats) -> Floats:
        """k^exponent."""
        return values[0] ** int(self.exponent)


@dataclass
class Exp(_Elementwise):
    """The exponential of a kernel, exp(k), in double whatever the kernel's own precision.

    Parameters
    ----------
    kernel : Kernel
        Its values must stay below 709; scale or normalize it otherwise.

    Examples
    --------
    >>> from pegasos.kernels.callables import as_kernel
    >>> from pegasos.kernels.composition import Exp
    >>> Exp(as_kernel(lambda x, z: x * z)).block([0.0], [5.0])
    array([[1.]])
    """

    kernel: Kernel

    def kernels(self) -> tuple[Kernel, ...]:
        """The only part."""
        return (self.kernel,)

    def error_factor(self, items: Items) -> float:
        """The absolute error of the exponent is the relative error of the value."""
        return 2.0 * float(np.max(self.kernel.evaluate_diagonal(_part(items, 0)), initial=1.0))

    def combine(self, *values: Floats) -> Floats:
        """exp(k)."""
        result: Floats = np.exp(values[0], dtype=np.float64)
        return result


@dataclass(frozen=True, eq=False)
class Measured:
    """Items, and the length sqrt(k(x, x)) of each."""

    items: Items
    lengths: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, indices: npt.NDArray[Any]) -> Measured:
        """The items of these numbers."""
        return Measured(self.items.take(indices), self.lengths[indices])


@dataclass
class Normalized(Kernel):
    """The cosine in the space of a kernel: k(x, z) / sqrt(k(x, x) k(z, z)).

    An item with k(x, x) = 0 is the origin of that space and has no direction: its kernel is 0 with everything, itself
    included.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> from pegasos.kernels.callables import as_kernel
    >>> as_kernel(lambda x, z: x * z).normalized().block([2.0, 0.0], [3.0, 0.0])
    array([[1., 0.],
           [0., 0.]])
    """

    kernel: Kernel

    @property
    def takes_vectors(self) -> bool:
        """Whether the inner kernel does."""
        return self.kernel.takes_vectors

    @property
    def has_features(self) -> bool:
        """Whether the inner kernel has."""
        return self.kernel.has_features

    def check(self) -> None:
        """Require a kernel."""
        _check_kernel(self, self.kernel)

    def read(self, items: Any) -> Measured:
        """The items and their lengths."""
        read = in_double(self.kernel.read(items))
        squared = self.kernel.evaluate_diagonal(read)
        if not (squared >= 0.0).all():
            item = int(np.flatnonzero(~(squared >= 0.0))[0])
            raise PegasosError(
                f"item {item} has k(x, x) = {squared[item]:.6g} under {self.kernel}, so it has no length to divide by: "
                "this is not a positive semi-definite kernel."
            )
        return Measured(read, np.sqrt(squared))

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The error of the inner kernel, and of the two lengths."""
        return 3.0 * self.kernel.value_error(_measured(items).items, np.float64) + 8.0 * unit_of(dtype)

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The block, divided by the lengths of its rows and columns."""
        left, right = _measured(a), _measured(b)
        block = self.kernel.evaluate(left.items, right.items)
        rows, columns = (_divisors(items).astype(block.dtype) for items in (left, right))
        return block / rows[:, np.newaxis] / columns

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """1, or 0 for an item of length 0."""
        return (_measured(a).lengths > 0.0).astype(np.float64)

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """The features, divided by their lengths."""
        matrices = self.kernel.map(*(_measured(items).items for items in collections))
        return tuple(
            _over(matrix, _divisors(_measured(items))) for matrix, items in zip(matrices, collections, strict=True)
        )


@dataclass
class On(Kernel):
    """A kernel on one field of mixed records; created by `on`.

    Parameters
    ----------
    field : str or int
        A column of a frame, a key of a dict, or a position in a tuple.
    kernel : Kernel
        The kernel on the values of that field.

    Examples
    --------
    >>> from pegasos.kernels import Linear, On
    >>> On("size", Linear()).block([{"size": 2.0}], [{"size": 3.0}])
    array([[6.]])
    """

    field: Any
    kernel: Kernel

    @property
    def has_features(self) -> bool:
        """Whether the inner kernel has."""
        return self.kernel.has_features

    def check(self) -> None:
        """Require a name or a position of a field."""
        _check_kernel(self, self.kernel)
        if self.field is None or (isinstance(self.field, list) and not self.field):
            raise PegasosError(
                f"field of On must be a name, a position, or a list of those with one at least, got {self.field!r}."
            )

    def read(self, items: Any) -> Items:
        """The field of each record, as the kernel reads it."""
        several = isinstance(self.field, list)
        if self.kernel.takes_vectors:
            return in_double(self.kernel.read(as_vectors(items, self.field if several else [self.field])))
        return self.kernel.read(rows_of(items, self.field) if several else column_of(items, self.field))

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The error of the kernel on the field."""
        return self.kernel.value_error(items, dtype)

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The block of the field."""
        return self.kernel.evaluate(a, b)

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonal of the field."""
        return self.kernel.evaluate_diagonal(a)

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """The features of the field."""
        return self.kernel.map(*collections)


def on(field: Any, kernel: Any) -> On:
    """A kernel on one field of mixed records.

    Records are the rows of a pandas or polars frame, of a structured array or of a matrix, or a list of dicts or of
    tuples.

    Parameters
    ----------
    field : name, position, or list of those
        Names for frames, dicts and structured arrays; positions for tuples and matrices. A kernel on vectors sees a
        matrix with a column for each field (or the field itself, if that holds a vector in each record); any other
        kernel sees the values of the one field, or tuples of the values of several.
    kernel : Kernel or callable
        A function of two values of the field, or of two collections of them: see `as_kernel`.

    Returns
    -------
    On

    Examples
    --------
    >>> from pegasos.kernels.composition import on
    >>> records = [{"name": "ada", "age": 36}, {"name": "alan", "age": 41}]
    >>> letters = lambda s, t: len(set(s) & set(t))
    >>> years = lambda a, b: a * b / 1000
    >>> (on("name", letters) + on("age", years)).block(records, records)
    array([[3.296, 2.476],
           [2.476, 4.681]])
    """
    return On(field, as_kernel(kernel))


def _check_kernel(owner: Kernel, kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise PegasosError(
            f"{type(owner).__name__} is made of kernels, got {kernel!r}; a function becomes one by as_kernel(function)."
        )


def _part(items: Items, number: int) -> Items:
    assert isinstance(items, Parts)
    return items.parts[number]


def _measured(items: Items) -> Measured:
    assert isinstance(items, Measured)
    return items


def _divisors(items: Measured) -> npt.NDArray[np.float64]:
    """The lengths; anything over the length 0 of an item without direction is 0."""
    return np.where(items.lengths > 0.0, items.lengths, np.inf)


def _over(matrix: Matrix, lengths: npt.NDArray[np.float64]) -> Matrix:
    if not sp.issparse(matrix):
        return matrix / lengths[:, np.newaxis].astype(matrix.dtype)
    divided = matrix.copy()
    divided.data = divided.data / np.repeat(lengths, np.diff(divided.indptr)).astype(divided.dtype)
    return divided


def _side_by_side(left: Matrix, right: Matrix) -> Matrix:
    if not sp.issparse(left) and not sp.issparse(right):
        return np.hstack([left, right])
    matrix = sp.csr_array(sp.hstack([left, right], format="csr"))
    matrix.sort_indices()
    return matrix
