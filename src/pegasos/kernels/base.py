"""What a kernel is: a symmetric, positive semi-definite function of two items, evaluated in blocks.

A collection (a matrix, a list of strings, of graphs, of arrays) is read once into `Items`; blocks are evaluated on
those. A new kernel is one class with `read`, `evaluate` and `evaluate_diagonal`; a kernel that counts tokens is one
class with `tokens`, and has an explicit map into a space of sparse vectors for nothing.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.deadline import check_deadline
from pegasos.errors import PegasosError
from pegasos.problem import Floats, Matrix

if TYPE_CHECKING:
    from pegasos.kernels.composition import Normalized, Power, Product, Scaled, Sum


_LARGEST_COUNT = 2**53
_ROUNDINGS = 2.0**13  # of a value, where a kernel does not say how many


class Items(Protocol):
    """A collection as a kernel has read it."""

    def __len__(self) -> int: ...

    def take(self, indices: npt.NDArray[Any]) -> Items:
        """Return the items of these numbers, in this order."""


@dataclass(frozen=True)
class Objects:
    """A list of anything."""

    values: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    def take(self, indices: npt.NDArray[Any]) -> Objects:
        """The items of these numbers."""
        return Objects([self.values[i] for i in indices])


@dataclass(frozen=True)
class Parts:
    """One collection as several kernels have read it."""

    parts: tuple[Items, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, indices: npt.NDArray[Any]) -> Parts:
        """The items of these numbers."""
        return Parts(tuple(part.take(indices) for part in self.parts))


class Kernel:
    """Base class of all kernels: the public methods, and the algebra.

    ``k1 + k2``, ``k1 * k2``, ``3 * k``, ``k ** 2`` and ``k.normalized()`` are kernels again. A kernel is a dataclass
    whose fields are its parameters; ``get_params`` and ``set_params`` give access to them, so that scikit-learn can
    search over ``kernel__gamma``.

    Examples
    --------
    >>> from pegasos.kernels import RBF, Kernel, Linear
    >>> kernel = RBF(gamma=1.0) + 2 * Linear()
    >>> isinstance(kernel, Kernel)
    True
    >>> kernel.block([[0.0], [1.0]], [[1.0]]).round(2)
    array([[0.37],
           [3.  ]])
    """

    # An array times a kernel is a mistake, not an array of kernels.
    __array_ufunc__ = None

    @property
    def takes_vectors(self) -> bool:
        """Whether items are rows of a matrix; otherwise they are a collection of objects."""
        return False

    @property
    def has_features(self) -> bool:
        """Whether there is an explicit map into a space of sparse vectors."""
        return False

    def block(self, A: Any, B: Any) -> Floats:
        """The kernel of each item of A with each of B, of shape (len(A), len(B))."""
        a = self.read(A)
        return self.evaluate(a, a if B is A else self.read(B))

    def diagonal(self, A: Any) -> npt.NDArray[np.float64]:
        """The kernel of each item with itself."""
        return self.evaluate_diagonal(self.read(A))

    def features(self, *collections: Any) -> Any:
        """The explicit map: one sparse matrix per collection, with common columns.

        ``features(A)`` is one matrix, and ``F @ F.T`` is the block of A with itself; ``features(A, B)`` is a pair.
        """
        matrices = self.map(*(self.read(collection) for collection in collections))
        return matrices[0] if len(collections) == 1 else matrices

    def read(self, items: Any) -> Items:
        """Read a collection into the form that `evaluate` takes; raises an error if it cannot be used."""
        raise _missing(self, "read")

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The block of two collections that have been read."""
        raise _missing(self, "evaluate")

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonal of a collection that has been read."""
        raise _missing(self, "evaluate_diagonal")

    def fill(self, a: Items, b: Items, out: Floats, plus: float) -> None:
        """Write the block plus a constant into memory that the solver keeps."""
        out[...] = self.evaluate(a, b)
        if plus:
            out += out.dtype.type(plus)

    def result_type(self, a: Items, b: Items) -> np.dtype[Any]:
        """The type of the values of a block."""
        return np.dtype(np.float64)

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The largest error of k(x, z) in this type, relative to sqrt(k(x, x) k(z, z))."""
        return _ROUNDINGS * unit_of(dtype)

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """The explicit map of collections that have been read."""
        raise PegasosError(f"{self} has no explicit feature map; use block(A, B).")

    def check(self) -> None:
        """Refuse parameters that do not give a kernel; called whenever they are set."""

    def __post_init__(self) -> None:
        self.check()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` those of inner kernels too, as ``name__inner``."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        inner = {
            f"{name}__{key}": value
            for name, kernel in own.items()
            if deep and isinstance(kernel, Kernel)
            for key, value in kernel.get_params().items()
        }
        return own | inner

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name."""
        before = self.get_params(deep=False)
        for name, value in parameters.items():
            own, _, rest = name.partition("__")
            if own not in self.get_params(deep=False):
                known = ", ".join(self.get_params(deep=False)) or "none"
                raise PegasosError(f"{type(self).__name__} has no parameter {own!r}; it has: {known}.")
            if rest:
                getattr(self, own).set_params(**{rest: value})
            else:
                setattr(self, own, value)
        try:
            self.check()
        except PegasosError:
            self.__dict__.update(before)
            raise
        return self

    def copy(self) -> Self:
        """An independent kernel with the same parameters."""
        parameters = self.get_params(deep=False)
        inner = {name: value.copy() for name, value in parameters.items() if isinstance(value, Kernel)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever made the first one has been warned
            return type(self)(**parameters | inner)

    def normalized(self) -> Normalized:
        """k(x, z) / sqrt(k(x, x) k(z, z)): every item has length 1."""
        from pegasos.kernels.composition import Normalized

        return Normalized(self)

    def __add__(self, other: Kernel) -> Sum:
        from pegasos.kernels.composition import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        return self if other == 0 else NotImplemented  # sum() begins with 0

    def __mul__(self, other: Kernel | float) -> Product | Scaled:
        from pegasos.kernels.composition import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(other, self) if isinstance(other, int | float | np.number) else NotImplemented

    def __rmul__(self, other: float) -> Product | Scaled:
        return self * other

    def __pow__(self, exponent: int) -> Power:
        from pegasos.kernels.composition import Power

        return Power(self, exponent)


class TokenKernel(Kernel):
    """Base class of kernels that count tokens: the inner product of sparse vectors indexed by anything hashable.

    A subclass defines ``tokens(item)``, a mapping from tokens to counts, and gets blocks and explicit features from it.

    Examples
    --------
    >>> from collections import Counter
    >>> from dataclasses import dataclass
    >>> from pegasos.kernels import TokenKernel
    >>> @dataclass
    ... class Letters(TokenKernel):
    ...     def tokens(self, text):
    ...         return Counter(text)
    >>> Letters().block(["noon"], ["on"])
    array([[4.]])
    """

    @property
    def has_features(self) -> bool:
        """Return True."""
        return True

    def tokens(self, item: Any) -> Mapping[Hashable, float]:
        """The coordinates of an item that are not 0. They must not depend on other items."""
        raise _missing(self, "tokens")

    def read(self, items: Any) -> Objects:
        """The tokens of each item."""
        return Objects([self.tokens(item) for item in in_time(items)])

    def map(self, *collections: Items) -> tuple[Matrix, ...]:
        """One column for each token that occurs in any of the collections."""
        column: dict[Hashable, int] = {}
        parts = [_rows_of(items, column) for items in collections]
        return tuple(_csr(*part, len(column)) for part in parts)

    def evaluate(self, a: Items, b: Items) -> Floats:
        """<f(a), f(b)>, in double."""
        left, right = self.map(a, b)
        block: Floats = (left @ right.T).toarray()
        return block

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """|f(a)|^2."""
        assert isinstance(a, Objects)
        return np.array([sum(value * value for value in tokens.values()) for tokens in a.values], dtype=np.float64)


def _rows_of(items: Items, column: dict[Hashable, int]) -> tuple[list[float], list[int], list[int]]:
    assert isinstance(items, Objects)
    values: list[float] = []
    indices: list[int] = []
    starts = [0]
    for tokens in items.values:
        values.extend(tokens.values())
        indices.extend(column.setdefault(token, len(column)) for token in tokens)
        starts.append(len(values))
    return values, indices, starts


def _csr(values: list[float], indices: list[int], starts: list[int], n_columns: int) -> Matrix:
    matrix = sp.csr_array(
        (np.array(values, dtype=np.float64), np.array(indices, dtype=np.int32), np.array(starts, dtype=np.int32)),
        shape=(len(starts) - 1, n_columns),
    )
    matrix.sort_indices()
    return matrix


def _missing(kernel: Kernel, name: str) -> PegasosError:
    """The error for a method that a user's kernel lacks; it needs only the methods that are used."""
    return PegasosError(f"{type(kernel).__name__} has no {name}, which is needed here; give the class one.")


def in_time(items: Iterable[Any]) -> Iterator[Any]:
    """The items one by one, as long as there is time."""
    for item in items:
        check_deadline()
        yield item


def unit_of(dtype: npt.DTypeLike) -> float:
    """The unit roundoff of a type."""
    return 0.5 * float(np.finfo(np.dtype(dtype)).eps)


def n_threads() -> int:
    """The processors that this process may use; OMP_NUM_THREADS, by which joblib limits its workers, may say fewer."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, min(allowed, int(limit))) if limit.isdecimal() else allowed


def check_positive(owner: Kernel, **values: Any) -> None:
    """Refuse what is not a positive finite number."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise PegasosError(f"{name} of {type(owner).__name__} must be a positive number, got {value!r}.")


def check_count(owner: Kernel, least: int = 1, **values: Any) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    for name, value in values.items():
        is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_whole or value < least:
            raise PegasosError(
                f"{name} of {type(owner).__name__} must be a whole number of at least {least}, got {value!r}."
            )
        if value > _LARGEST_COUNT:
            raise PegasosError(f"{name} of {type(owner).__name__} must be at most {_LARGEST_COUNT}, got {value!r}.")


def objects_of(items: Any, what: str) -> list[Any]:
    """The items of a list, tuple, array of objects, or series; ``what`` is what they should be."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable) or sp.issparse(items):
        raise PegasosError(f"expected a list of {what}, got {type(items).__name__}.")
    return list(items)
