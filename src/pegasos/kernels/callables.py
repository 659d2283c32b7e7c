"""Plain functions as kernels: of two items, or of two collections as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel, objects_of
from pegasos.problem import Floats


@dataclass(frozen=True, eq=False)
class Arguments:
    """A collection as the function will see it, and whether it wants collections or single items."""

    values: Any  # a list, a dense matrix, or CSR
    whole: bool

    def __len__(self) -> int:
        return _length(self.values)

    def take(self, indices: npt.NDArray[Any]) -> Arguments:
        """The items of these numbers."""
        return Arguments(_take(self.values, indices), self.whole)

    def single(self) -> list[Any]:
        """The items one by one; a row of a sparse matrix is a sparse matrix of one row."""
        if sp.issparse(self.values):
            return [self.values[i : i + 1] for i in range(len(self))]
        return list(self.values)


@dataclass
class FunctionKernel(Kernel):
    """A kernel given as a Python function; see `as_kernel`.

    Parameters
    ----------
    function : callable
        ``k(x, z)`` of two items gives a number, or ``k(A, B)`` of two collections an array of shape (len(A), len(B)).

    Examples
    --------
    >>> from pegasos.kernels.callables import FunctionKernel
    >>> FunctionKernel(lambda x, z: len(set(x) & set(z))).block(["abc"], ["bcd", "xyz"])
    array([[2., 0.]])
    """

    function: Callable[[Any, Any], Any]

    def check(self) -> None:
        """Require that the function can be called."""
        if not callable(self.function):
            raise PegasosError(f"a kernel function must be callable, got {self.function!r}.")

    def read(self, items: Any) -> Arguments:
        """The rows of a matrix or frame, or the objects of a list; one trial tells which the function takes."""
        values = _collection(items)
        if getattr(values, "dtype", None) == np.float32:
            values = values.astype(np.float64)
        return Arguments(values, _length(values) > 0 and self._takes_collections(values))

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """Return 0: the values of the function are taken as exact."""
        return 0.0

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The block: by one call, or by one per pair."""
        assert isinstance(a, Arguments)
        assert isinstance(b, Arguments)
        if not len(a) or not len(b):
            return np.zeros((len(a), len(b)))
        if a.whole:
            return self._block(a.values, b.values)
        columns = b.single()
        return np.array([[self._number(x, z) for z in columns] for x in a.single()])

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The kernel of each item with itself."""
        assert isinstance(a, Arguments)
        if not a.whole:
            return np.array([self._number(x, x) for x in a.single()], dtype=np.float64)
        single = (_take(a.values, np.array([i])) for i in range(len(a)))
        return np.array([self._block(x, x)[0, 0] for x in single], dtype=np.float64)

    def _takes_collections(self, values: Any) -> bool:
        """Whether two collections give a matrix of their lengths.

        The lengths are neither equal to each other nor to the number of columns, so that ``x @ z``, which is meant for
        two rows, does not pass for a product of matrices.
        """
        taken = values.shape[1] if hasattr(values, "shape") else 0
        n_rows, n_columns = [n for n in (2, 3, 4) if n != taken][:2]
        left, right = (_take(values, np.arange(n) % _length(values)) for n in (n_rows, n_columns))
        try:
            with np.errstate(all="ignore"):
                return bool(np.shape(_dense(self.function(left, right))) == (n_rows, n_columns))
        except Exception:  # what a function of two items does with collections is anybody's guess
            return False

    def _block(self, left: Any, right: Any) -> Floats:
        block = np.asarray(self._call(left, right))
        expected = (_length(left), _length(right))
        if block.shape != expected or block.dtype.kind not in "biuf":
            raise PegasosError(
                f"{self._name} gave an array of shape {block.shape} and type {block.dtype} for collections of "
                f"{expected[0]} and {expected[1]} items; expected numbers of shape {expected}."
            )
        if not np.isfinite(block).all():
            raise PegasosError(f"{self._name} gave NaN or infinity; expected finite numbers.")
        return block if block.dtype.kind == "f" else block.astype(np.float64)

    def _number(self, x: Any, z: Any) -> float:
        value = np.asarray(self._call(x, z))
        if value.size != 1 or value.dtype.kind not in "biuf":
            got = f"an array of shape {value.shape}" if value.ndim else repr(value.item())
            raise PegasosError(
                f"{self._name} gave {got} for two items; expected a number (or, of two collections A and B, an array "
                "of shape (len(A), len(B)))."
            )
        number = float(value.item())
        if not np.isfinite(number):
            raise PegasosError(f"{self._name} gave {number} for two items; expected a finite number.")
        return number

    def _call(self, left: Any, right: Any) -> Any:
        try:
            return _dense(self.function(left, right))
        except MemoryError:
            raise
        except Exception as error:
            raise PegasosError(
                f"{self._name} failed on arguments of types {type(left).__name__} and {type(right).__name__} with "
                f"{type(error).__name__}: {error}. It is called with two items, and must give a number, or with two "
                "collections A and B, and must give an array of shape (len(A), len(B))."
            ) from error

    @property
    def _name(self) -> str:
        return f"the kernel function {getattr(self.function, '__name__', type(self.function).__name__)}"


def as_kernel(function: Any) -> Kernel:
    """Turn a Python function into a kernel; a kernel is returned unchanged.

    Parameters
    ----------
    function : callable or Kernel
        ``k(x, z)`` of two items, which gives a number, or ``k(A, B)`` of two collections, which gives an array of shape
        (len(A), len(B)) and is much faster; a trial call detects which. Items are the rows of an array, frame or sparse
        matrix, or whatever the list holds. It must be symmetric and positive semi-definite: see `check_mercer`.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.callables import as_kernel
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> as_kernel(lambda x, z: (1 + x @ z) ** 2).block(X, X)
    array([[ 36., 144.],
           [144., 676.]])
    >>> as_kernel(lambda A, B: (1 + A @ B.T) ** 2).block(X, X)
    array([[ 36., 144.],
           [144., 676.]])
    """
    if isinstance(function, Kernel):
        return function
    if isinstance(function, type) and issubclass(function, Kernel):
        raise PegasosError(f"expected a kernel, got its class; write {function.__name__}().")
    if not callable(function):
        raise PegasosError(f"expected a kernel or a function of two items, got {function!r}.")
    return FunctionKernel(function)


def _collection(items: Any) -> Any:
    if sp.issparse(items):
        return items.tocsr()
    if hasattr(items, "columns"):
        items = np.asarray(items)
    if isinstance(items, np.ndarray) and items.ndim == 2:
        return items
    return objects_of(items, "items")


def _length(values: Any) -> int:
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)


def _take(values: Any, indices: npt.NDArray[Any]) -> Any:
    return values[indices] if hasattr(values, "shape") else [values[i] for i in indices]


def _dense(values: Any) -> Any:
    return values.toarray() if sp.issparse(values) else values
