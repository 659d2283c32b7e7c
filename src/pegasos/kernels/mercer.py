"""Is it a kernel? A search for a counterexample among given items.

A function is a kernel if for any items x_1, ..., x_n the matrix K of its values is symmetric and t'Kt >= 0 for every
vector t (Mercer, 1909; Aronszajn, 1950). No number of items proves that; one counterexample refutes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel
from pegasos.kernels.callables import as_kernel
from pegasos.kernels.precomputed import Precomputed
from pegasos.problem import Floats


@dataclass(frozen=True)
class Asymmetry:
    """Two items whose kernel depends on their order.

    Attributes
    ----------
    first, second : int
        Their numbers in the collection.
    value, reversed_value : float
        k(x_first, x_second) and k(x_second, x_first).
    """

    first: int
    second: int
    value: float
    reversed_value: float

    def __str__(self) -> str:
        return (
            f"k(x_{self.first}, x_{self.second}) = {self.value:.6g}, but "
            f"k(x_{self.second}, x_{self.first}) = {self.reversed_value:.6g}"
        )


@dataclass(frozen=True, eq=False)
class NegativeDirection:
    """A vector t with t'Kt < 0.

    Attributes
    ----------
    items : int array
        The items of the matrix K, by their numbers in the collection.
    coefficients : float array
        t, of length 1.
    value : float
        t'Kt, which would be the squared length of sum_i t_i f(x_i) if there were features f.
    """

    items: npt.NDArray[np.intp]
    coefficients: npt.NDArray[np.float64]
    value: float

    def __str__(self) -> str:
        return f"t'Kt = {self.value:.3g} < 0 for the matrix K of {len(self.items)} items and a vector t of length 1"


@dataclass(frozen=True, eq=False)
class MercerReport:
    """The result of `check_mercer`.

    Attributes
    ----------
    valid : bool
        Whether no counterexample was found.
    symmetric : bool
        Whether k(x, z) = k(z, x) for all items.
    min_eigenvalue : float
        The smallest eigenvalue of (K + K') / 2.
    counterexample : Asymmetry, NegativeDirection or None
    n_items : int
        The number of items in K.

    Examples
    --------
    >>> from pegasos.kernels import RBF, check_mercer
    >>> report = check_mercer(RBF(gamma=1.0), [[0.0], [1.0], [3.0]])
    >>> report.valid, report.counterexample
    (True, None)
    """

    valid: bool
    symmetric: bool
    min_eigenvalue: float
    counterexample: Asymmetry | NegativeDirection | None
    n_items: int

    def __str__(self) -> str:
        if self.counterexample is not None:
            return f"not a kernel: {self.counterexample}."
        return (
            f"no counterexample among {self.n_items} items: symmetric, smallest eigenvalue {self.min_eigenvalue:.3g}."
        )


def check_mercer(
    kernel: Any, X: Any, *, tol: float | None = None, max_items: int = 1000, random_state: Any = 0
) -> MercerReport:
    """Search for a counterexample that shows that a function is not a kernel.

    Parameters
    ----------
    kernel : Kernel, callable or "precomputed"
        With "precomputed", X is the kernel matrix.
    X : collection of items
    tol : float or None, default=None
        The tolerated rounding error of a kernel value, relative to the largest; with n items it may change the
        eigenvalues by n times as much. None: 1e-12 for a kernel that computes in double, 1e-6 in single.
    max_items : int, default=1000
        Maximum number of items; of more, this many are drawn at random.
    random_state : int or numpy.random.Generator, default=0

    Returns
    -------
    MercerReport

    Examples
    --------
    >>> from pegasos.kernels.mercer import check_mercer
    >>> check_mercer(lambda x, z: x * z, [1.0, 2.0, 3.0]).valid
    True
    >>> print(check_mercer(lambda x, z: -abs(x - z), [1.0, 2.0]))
    not a kernel: t'Kt = -1 < 0 for the matrix K of 2 items and a vector t of length 1.
    """
    if isinstance(kernel, str) and kernel == "precomputed":
        kernel = Precomputed()
    kernel = as_kernel(kernel)
    return check_items(kernel, kernel.read(X), tol=tol, max_items=max_items, random_state=random_state)


def check_items(
    kernel: Kernel, items: Items, *, tol: float | None = None, max_items: int = 1000, random_state: Any = 0
) -> MercerReport:
    """`check_mercer` of items that the kernel has read already."""
    if not len(items):
        raise PegasosError("there are no items to check the kernel on; give at least one.")
    numbers = np.random.default_rng(random_state).permutation(len(items))[:max_items]
    block = _block(kernel, items, numbers)
    values = block.astype(np.float64)
    if not np.isfinite(values).all():
        row, column = numbers[np.argwhere(~np.isfinite(values))[0]]
        raise PegasosError(f"the kernel of items {row} and {column} is not a finite number.")
    rounding = len(numbers) * (_rounding(block.dtype) if tol is None else tol)
    eigenvalues, vectors = np.linalg.eigh((values + values.T) / 2.0)
    asymmetry = _asymmetry(values, numbers, rounding)
    counterexample: Asymmetry | NegativeDirection | None = asymmetry
    if asymmetry is None and eigenvalues[0] < -rounding * np.abs(eigenvalues).max():
        counterexample = NegativeDirection(numbers, vectors[:, 0], float(eigenvalues[0]))
    return MercerReport(counterexample is None, asymmetry is None, float(eigenvalues[0]), counterexample, len(numbers))


def _block(kernel: Kernel, items: Items, numbers: npt.NDArray[np.intp]) -> Floats:
    """All values, in quarters: a kernel may make symmetric what it gives for one collection with itself."""
    half = len(numbers) // 2
    halves = [part for part in (numbers[:half], numbers[half:]) if len(part)]
    return np.block([[kernel.evaluate(items.take(rows), items.take(columns)) for columns in halves] for rows in halves])


def _asymmetry(values: npt.NDArray[np.float64], numbers: npt.NDArray[np.intp], rounding: float) -> Asymmetry | None:
    difference = np.abs(values - values.T)
    row, column = sorted(np.unravel_index(difference.argmax(), values.shape))
    if difference[row, column] <= rounding * np.abs(values).max():
        return None
    return Asymmetry(int(numbers[row]), int(numbers[column]), float(values[row, column]), float(values[column, row]))


def _rounding(dtype: np.dtype[Any]) -> float:
    return 1e-12 if dtype == np.float64 else 1e-6
