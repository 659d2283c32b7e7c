"""The kernel whose values have been computed beforehand: X is the kernel matrix itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel
from pegasos.problem import Floats


@dataclass(frozen=True, eq=False)
class Numbered:
    """Items of which only the numbers of their rows in a kernel matrix are known."""

    matrix: Floats
    numbers: npt.NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, indices: npt.NDArray[Any]) -> Numbered:
        """The items of these numbers."""
        return Numbered(self.matrix, self.numbers[indices])


class _OfMatrix(Kernel):
    """Values that stand in a matrix."""

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The rows and columns of the matrix."""
        assert isinstance(a, Numbered)
        assert isinstance(b, Numbered)
        return a.matrix[np.ix_(a.numbers, b.numbers)]

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonal of the matrix."""
        assert isinstance(a, Numbered)
        return a.matrix[a.numbers, a.numbers].astype(np.float64)

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """Return 0: the values of the matrix are taken as exact."""
        return 0.0


@dataclass
class Tabled(_OfMatrix):
    """A kernel whose values for some items are at hand, and known to be those of a kernel; items are their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.precomputed import Tabled
    >>> Tabled(np.array([[2.0, 1.0], [1.0, 3.0]])).diagonal([1])
    array([3.])
    """

    matrix: Floats

    def read(self, items: Any) -> Numbered:
        """The items of these numbers."""
        return Numbered(self.matrix, np.asarray(items, np.intp))


@dataclass
class Precomputed(_OfMatrix):
    """A kernel matrix instead of items and a function.

    At fit the matrix holds the kernel of each training item with each; at predict, of each new item (rows) with each
    training item (columns). Matrices of float32 and float64 are used in place.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.precomputed import Precomputed
    >>> gram = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> Precomputed().diagonal(gram)
    array([2., 3.])
    """

    def read(self, items: Any) -> Numbered:
        """The items of the square matrix."""
        matrix = _matrix_of(items)
        if matrix.shape[0] != matrix.shape[1]:
            raise PegasosError(f"a precomputed kernel matrix must be square at fit, got shape {matrix.shape}.")
        return Numbered(matrix, np.arange(len(matrix)))

    def read_against(self, matrix: Any, n_training: int, support: npt.NDArray[Any]) -> Floats:
        """The kernel of new items with the support vectors.

        Parameters
        ----------
        matrix : array of shape (n_new, n_training)
        n_training : int
            How many items the model was fitted on.
        support : int array
            The training items to keep, by number.

        Returns
        -------
        array of shape (n_new, len(support))
        """
        values = _matrix_of(matrix)
        if values.shape[1] != n_training:
            raise PegasosError(
                f"a precomputed kernel matrix must have one column for each of the {n_training} training items, got "
                f"shape {values.shape}."
            )
        return values[:, support]


def _matrix_of(values: Any) -> Floats:
    if sp.issparse(values):
        raise PegasosError("a precomputed kernel matrix must be dense, got a sparse one; use its toarray().")
    matrix = np.asarray(values)
    if matrix.ndim != 2:
        raise PegasosError(f"a precomputed kernel matrix must have two dimensions, got shape {matrix.shape}.")
    if matrix.dtype not in (np.float32, np.float64):
        if matrix.dtype.kind not in "biufO":
            raise PegasosError(f"a precomputed kernel matrix must hold real numbers, got type {matrix.dtype}.")
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise PegasosError(f"a precomputed kernel matrix must hold real numbers: {error}.") from error
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise PegasosError(
            f"the precomputed kernel matrix contains NaN or infinity in row {row}, column {column}; compute it again."
        )
    return matrix
