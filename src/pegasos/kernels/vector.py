"""Kernels on rows of numbers, dense or CSR.

Linear, polynomial and Gaussian kernels are functions of inner products: the core computes a block of dense rows tile by
tile, each with the function applied; of sparse rows, all products come first. The kernels of histograms add up one term
per feature.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel, check_count, check_positive, n_threads, unit_of
from pegasos.problem import Floats, Matrix, Rows, check_structure

_exponent_error = {4: 1e-5, 8: 1e-10}  # in the exponent of a Gaussian, by the bytes of a value: no more than this
_LARGEST_NORM = 1e30  # squares of more are not for single precision
_ROWS_AT_ONCE = 2048
_MOST_MONOMIALS = 10_000  # columns of an explicit map


def in_double(items: Items) -> Items:
    """The same vectors in double precision; anything else unchanged."""
    return Vectors(items.rows.of_type(np.float64)) if isinstance(items, Vectors) else items


@dataclass(frozen=True)
class Vectors:
    """Rows of a matrix, with their squared norms."""

    rows: Rows

    def __len__(self) -> int:
        return self.rows.n_rows

    @property
    def values(self) -> Matrix:
        """The matrix, dense or CSR."""
        return self.rows.own_values

    @property
    def squared_norms(self) -> npt.NDArray[np.float64]:
        """|x_i|^2 in double, as distances need them."""
        return np.asarray(self.rows.squared_norms, np.float64)

    @property
    def is_sparse(self) -> bool:
        """Whether it is CSR."""
        values = self.rows.values
        return type(values) is not np.ndarray and bool(sp.issparse(values))  # the first test is much faster

    def take(self, indices: npt.NDArray[Any]) -> Vectors:
        """The rows of these numbers."""
        return Vectors(self.rows.take(indices))

    def part(self, begin: int, end: int) -> Vectors:
        """A view of the rows begin..end of a dense array."""
        return Vectors(self.rows.part(begin, end))

    def dense(self, begin: int, end: int, dtype: npt.DTypeLike) -> Floats:
        """Some of the rows as a dense array of the given type."""
        part = self.values[begin:end]
        return np.ascontiguousarray(part.toarray() if self.is_sparse else part, dtype=dtype)


class VectorKernel(Kernel):
    """A kernel on rows of numbers."""

    @property
    def takes_vectors(self) -> bool:
        """Return True."""
        return True

    def read(self, items: Any) -> Vectors:
        """A matrix, or anything that numpy can convert to one."""
        if isinstance(items, Vectors):
            return items
        check_structure(items)
        if not sp.issparse(items):
            items = _as_array(items, self)
        elif items.format != "csr":
            items = items.tocsr()
        if items.dtype not in (np.float32, np.float64):
            items = items.astype(np.float64)
        return Vectors(Rows.of(items if sp.issparse(items) else np.ascontiguousarray(items), 0.0))

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The block, in single precision if both sides are."""
        out = np.empty((len(a), len(b)), self.result_type(a, b))
        self.fill(a, b, out, 0.0)
        return out

    def result_type(self, a: Items, b: Items) -> np.dtype[Any]:
        """The type of the wider side."""
        x, z = _vectors(a), _vectors(b)
        if x.rows.n_features != z.rows.n_features:
            raise PegasosError(
                f"a kernel needs rows of one length, got {x.rows.n_features} and {z.rows.n_features} features."
            )
        return np.result_type(x.values.dtype, z.values.dtype)


def _as_array(items: Any, kernel: Kernel) -> npt.NDArray[Any]:
    try:
        array = np.asarray(items)
        array = array if array.dtype.kind in "fiub" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"{type(kernel).__name__} is a kernel of rows of numbers: {error}.") from error
    if array.ndim != 2:
        raise PegasosError(f"{type(kernel).__name__} needs a matrix of rows, got an array of shape {array.shape}.")
    return array


def _vectors(items: Items) -> Vectors:
    assert isinstance(items, Vectors)
    return items


def _depth(items: Items) -> float:
    """Roundings of a sum over the features, in whatever order."""
    rows = _vectors(items).rows
    return 4.0 * rows.scores_depth if sp.issparse(rows.values) else rows.n_features + 3.0


class ProductKernel(VectorKernel, ABC):
    """A function of inner products and squared norms."""

    @abstractmethod
    def function(self) -> tuple[Literal["polynomial", "radial"], float, float, int]:
        """Its form, gamma, coef0 and degree."""

    def read(self, items: Any) -> Vectors:
        """A matrix whose rows have finite squared norms."""
        vectors = super().read(items)
        norms = vectors.squared_norms
        if not np.isfinite(norms).all():
            row = int(np.flatnonzero(~np.isfinite(norms))[0])
            raise PegasosError(f"the squared length of row {row} exceeds every number of 64 bits; scale the rows down.")
        return vectors

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The error of a power of a product of rows."""
        degree = self.function()[3]
        return degree * (_depth(items) + 8.0) * unit_of(dtype)

    def near(self, vectors: Vectors, dtype: npt.DTypeLike) -> Vectors:
        """The rows, in a form whose products `function` can take in this type."""
        return vectors

    def fill(self, a: Items, b: Items, out: Floats, plus: float) -> None:
        """Compute products of rows, and the function of them."""
        x, z = _vectors(a), _vectors(b)
        left, right = x.squared_norms, z.squared_norms.astype(out.dtype)
        if not x.is_sparse and not z.is_sparse and z.rows.n_features > 0:
            rows, others = x.dense(0, len(x), out.dtype), z.dense(0, len(z), out.dtype)
            _core.dense_kernel(*self.function(), plus, rows, others, left, right, out, n_threads())
            return
        _fill_products(x, z, out)
        _core.apply_kernel(*self.function(), plus, out, left, right, n_threads())


def products(x: Floats, z: Floats) -> Floats:
    """<x_i, z_j> of the rows of two dense arrays of one type, without threads of BLAS that wait for each other."""
    out = np.empty((len(x), len(z)), x.dtype)
    norms = np.zeros(len(x)), np.zeros(len(z), x.dtype)  # which a product does not need
    _core.dense_kernel("polynomial", 1.0, 0.0, 1, 0.0, x, z, *norms, out, n_threads())
    return out


def _fill_products(x: Vectors, z: Vectors, out: Floats) -> None:
    if z.is_sparse:
        _fill_sparse_products(x, z.rows.of_type(out.dtype), out)
        return
    for begin in range(0, len(x), _ROWS_AT_ONCE):
        end = min(begin + _ROWS_AT_ONCE, len(x))
        np.matmul(x.dense(begin, end, out.dtype), z.values.T, out=out[begin:end])


def _fill_sparse_products(x: Vectors, z: Rows, out: Floats) -> None:
    """As many vectors at a time as the loop holds in registers, each entry of a sparse row meeting all of them."""
    if z.n_features == 0:
        out[...] = 0.0
        return
    width = _core.products_width(out.dtype == np.float32)
    transposed = np.zeros((z.n_features, width), out.dtype)
    for begin in range(0, len(x), width):
        end = min(begin + width, len(x))
        transposed[:, : end - begin] = x.dense(begin, end, out.dtype).T
        _core.csr_products(z.native, transposed, out[begin:end], n_threads())


@dataclass
class Linear(ProductKernel):
    """<x, z>.

    Examples
    --------
    >>> from pegasos.kernels import Linear
    >>> Linear().block([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    def function(self) -> tuple[Literal["polynomial", "radial"], float, float, int]:
        """The product itself."""
        return "polynomial", 1.0, 0.0, 1

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """|x|^2."""
        return _vectors(a).squared_norms

    @property
    def has_features(self) -> bool:
        """The rows themselves."""
        return True

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """The rows themselves."""
        return tuple(_vectors(items).values for items in collections)


@dataclass
class Polynomial(ProductKernel):
    """(gamma <x, z> + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
    gamma : float, default=1.0
    coef0 : float, default=1.0
        At least 0; with a negative value this is not a kernel.

    Examples
    --------
    >>> from pegasos.kernels import Polynomial
    >>> Polynomial(degree=2).block([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])

    The explicit map of degree 2 is (1, sqrt(2) x1, sqrt(2) x2, x1^2, sqrt(2) x1 x2, x2^2):

    >>> Polynomial(degree=2).features([[1.0, 2.0]]).toarray().round(4)
    array([[1.    , 1.4142, 2.8284, 1.    , 2.8284, 4.    ]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def check(self) -> None:
        """Require a whole degree, a positive gamma and a nonnegative coef0."""
        check_count(self, degree=self.degree)
        check_positive(self, gamma=self.gamma)
        known = isinstance(self.coef0, int | float | np.number) and not isinstance(self.coef0, bool)
        if not known or not 0 <= self.coef0 < np.inf:
            raise PegasosError(f"coef0 of Polynomial must be a finite number that is not negative, got {self.coef0!r}.")

    def function(self) -> tuple[Literal["polynomial", "radial"], float, float, int]:
        """Turn inner products into kernel values: a power."""
        return "polynomial", float(self.gamma), float(self.coef0), int(self.degree)

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """The monomials of up to this degree, each times the root of its coefficient in the expanded power.

        Solvers do not use it: there are n_features^degree / degree! of them.
        """
        n_features = _vectors(collections[0]).rows.n_features
        count = math.comb(n_features + self.degree, self.degree)
        if count > _MOST_MONOMIALS:
            raise PegasosError(
                f"the explicit map of {self} has {count} columns for {n_features} features; use block(A, B)."
            )
        # Column 0 stands for the constant.
        monomials = [np.array(each) for each in combinations_with_replacement(range(n_features + 1), self.degree)]
        return tuple(self._monomials(_vectors(each).rows.own_values, monomials) for each in collections)

    def _monomials(self, values: Matrix, monomials: list[npt.NDArray[np.intp]]) -> Matrix:
        dense = values.toarray() if sp.issparse(values) else values
        root = math.sqrt(self.gamma)
        factors = np.column_stack([np.full(len(dense), math.sqrt(self.coef0)), root * dense.astype(np.float64)])
        columns = []
        for monomial in monomials:
            times = np.bincount(monomial)
            ways = math.factorial(self.degree) / math.prod(map(math.factorial, times.tolist()))
            columns.append(math.sqrt(ways) * factors[:, monomial].prod(axis=1))
        return sp.csr_matrix(np.column_stack(columns))

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """(gamma |x|^2 + coef0)^degree."""
        with np.errstate(over="ignore"):
            return np.asarray((self.gamma * _vectors(a).squared_norms + self.coef0) ** self.degree)


@dataclass
class RBF(ProductKernel):
    """The Gaussian: exp(-gamma |x - z|^2), or by its width exp(-|x - z|^2 / (2 sigma^2)).

    Parameters
    ----------
    gamma : float, optional
    sigma : float, optional
        Give one of the two.

    Examples
    --------
    >>> from pegasos.kernels import RBF
    >>> RBF(sigma=1.0).block([[0.0], [1.0]], [[0.0]]).round(4)
    array([[1.    ],
           [0.6065]])
    """

    gamma: float | None = None
    sigma: float | None = None

    def check(self) -> None:
        """Require exactly one width, which must be positive."""
        if (self.gamma is None) == (self.sigma is None):
            raise PegasosError(f"give gamma or sigma of RBF, one of the two: got {self.gamma!r} and {self.sigma!r}.")
        check_positive(self, **({"gamma": self.gamma} if self.sigma is None else {"sigma": self.sigma}))

    @property
    def rate(self) -> float:
        """The factor of the squared distance: gamma, or 1 / (2 sigma^2)."""
        return float(self.gamma) if self.gamma is not None else 0.5 / float(self.sigma) ** 2  # type: ignore[arg-type]

    def function(self) -> tuple[Literal["polynomial", "radial"], float, float, int]:
        """Turn inner products into kernel values: an exponential of the distance."""
        return "radial", self.rate, 0.0, 1

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The error of the exponent: that of the distance, relative to the squared norms; no value exceeds 1."""
        unit, longest, depth = unit_of(dtype), float(_vectors(items).squared_norms.max(initial=0.0)), _depth(items)
        if self._suits(2.0 * longest, np.dtype(dtype)):
            return unit * (4.0 * (depth + 4.0) * self.rate * longest + 16.0)
        # Seen from another row, norms are at most four times as large, and each difference is rounded once more.
        return unit_of(np.float64) * 16.0 * (depth + 6.0) * self.rate * longest + 16.0 * unit

    def _suits(self, largest: float, dtype: np.dtype[Any]) -> bool:
        """Whether |x|^2 + |z|^2 - 2 <x, z>, of norms up to this sum, loses few enough digits of the distance."""
        loss = self.rate * largest * float(np.finfo(dtype).eps)
        return loss <= _exponent_error[dtype.itemsize] and largest < _LARGEST_NORM

    def near(self, vectors: Vectors, dtype: npt.DTypeLike) -> Vectors:
        """The rows; if they are far from 0 for this width, the rows relative to one of them."""
        largest = 2.0 * float(vectors.squared_norms.max(initial=0.0))
        if self._suits(largest, np.dtype(dtype)) or len(vectors) == 0:
            return vectors
        return _moved(vectors, 0, len(vectors), vectors.dense(0, 1, np.float64))

    def fill(self, a: Items, b: Items, out: Floats, plus: float) -> None:
        """One product of matrices; rows far from 0, for this width, are brought near it first, in double."""
        x, z = _vectors(a), _vectors(b)
        largest = float(x.squared_norms.max(initial=0.0) + z.squared_norms.max(initial=0.0))
        if self._suits(largest, out.dtype) or len(z) == 0:
            super().fill(x, z, out, plus)
            return
        centre = z.dense(0, 1, np.float64)
        near = _moved(x, 0, len(x), centre)
        for begin in range(0, len(z), _ROWS_AT_ONCE):
            end = min(begin + _ROWS_AT_ONCE, len(z))
            double = np.empty((len(x), end - begin))
            super().fill(near, _moved(z, begin, end, centre), double, plus)
            out[:, begin:end] = double

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonal: all 1."""
        return np.ones(len(a))


def _moved(vectors: Vectors, begin: int, end: int, centre: Floats) -> Vectors:
    """Some of the rows, seen from another point."""
    return Vectors(Rows.of(vectors.dense(begin, end, np.float64) - centre, 0.0))


class TermKernel(VectorKernel, ABC):
    """A sum over the features of a term of the two entries, and a function of it."""

    @abstractmethod
    def term(self) -> Literal["absolute", "chi_squared", "smaller"]:
        """The term."""

    def of_sums(self, sums: Floats) -> None:
        """Turn the sums into kernel values, in place."""

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The error of a sum of nonnegative terms; the exponential multiplies it by t exp(-t) < 1."""
        return (_depth(items) + 16.0) * unit_of(dtype)

    def fill(self, a: Items, b: Items, out: Floats, plus: float) -> None:
        """Compute the sums, then the function of them, part by part."""
        x, z = _vectors(a), _vectors(b)
        left = x.dense(0, len(x), out.dtype)
        for begin in range(0, len(z), _ROWS_AT_ONCE):
            end = min(begin + _ROWS_AT_ONCE, len(z))
            part = out[:, begin:end]
            _core.pair_sums(self.term(), left, z.dense(begin, end, out.dtype), part, n_threads())
            self.of_sums(part)
            if plus:
                part += out.dtype.type(plus)


def _decay(sums: Floats, gamma: float) -> None:
    sums *= sums.dtype.type(-gamma)
    np.exp(sums, out=sums)


def _refuse_negative(vectors: Vectors, kernel: Kernel) -> Vectors:
    values = vectors.values.data if vectors.is_sparse else vectors.values
    if values.size and values.min() < 0:
        raise PegasosError(
            f"{type(kernel).__name__} is a kernel of histograms, whose entries are not negative; got {values.min()}."
        )
    return vectors


@dataclass
class DecayingKernel(TermKernel):
    """exp(-gamma sum_k d(x_k, z_k)) for a distance d that is 0 between equal entries."""

    gamma: float = 1.0

    def check(self) -> None:
        """Require a positive gamma."""
        check_positive(self, gamma=self.gamma)

    def of_sums(self, sums: Floats) -> None:
        """Turn the sums into kernel values, in place: an exponential."""
        _decay(sums, self.gamma)

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonal: all 1."""
        return np.ones(len(a))


@dataclass
class Laplacian(DecayingKernel):
    """exp(-gamma |x - z|_1).

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width of the kernel.

    Examples
    --------
    >>> from pegasos.kernels import Laplacian
    >>> Laplacian(gamma=0.5).block([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    def term(self) -> Literal["absolute", "chi_squared", "smaller"]:
        """|x_k - z_k|."""
        return "absolute"


@dataclass
class ChiSquared(DecayingKernel):
    """exp(-gamma sum_k (x_k - z_k)^2 / (x_k + z_k)), on histograms; bins that are empty in both count 0.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width of the kernel.

    Examples
    --------
    >>> from pegasos.kernels import ChiSquared
    >>> ChiSquared(gamma=1.0).block([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    def read(self, items: Any) -> Vectors:
        """Histograms."""
        return _refuse_negative(super().read(items), self)

    def term(self) -> Literal["absolute", "chi_squared", "smaller"]:
        """(x_k - z_k)^2 / (x_k + z_k)."""
        return "chi_squared"


@dataclass
class Intersection(TermKernel):
    """sum_k min(x_k, z_k), on histograms.

    Examples
    --------
    >>> from pegasos.kernels import Intersection
    >>> Intersection().block([[1.0, 3.0]], [[2.0, 1.0]])
    array([[2.]])
    """

    def read(self, items: Any) -> Vectors:
        """Histograms."""
        return _refuse_negative(super().read(items), self)

    def term(self) -> Literal["absolute", "chi_squared", "smaller"]:
        """min(x_k, z_k)."""
        return "smaller"

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The sum of the entries."""
        vectors = _vectors(a)
        # In double, whatever the type: a sparse matrix would add up in its own.
        return np.asarray(vectors.values @ np.ones(vectors.rows.n_features))
