"""Arrays of numbers, and what is read off them without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Matrix = Any  # a dense array, or a CSR matrix or array of scipy


def inner(a: Floats, b: Floats) -> float:
    """<a, b> in double, in a fixed order: a threaded BLAS would synchronize threads and sum in varying order."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.add.reduce(np.multiply(a, b, dtype=np.float64), axis=None))


def largest_of(offset: npt.NDArray[np.float64]) -> float:
    """The largest absolute value of an offset."""
    if offset.size > 0 and not any(offset.strides):
        return abs(float(offset.flat[0]))
    return float(max(np.max(offset, initial=0.0), -np.min(offset, initial=0.0)))


def mean_of(cost: npt.NDArray[np.float64]) -> float:
    """The mean of costs, which may be those of `constant`."""
    return float(cost[0]) if cost.strides == (0,) else float(np.mean(cost))


def constant(value: float, n: int) -> npt.NDArray[np.float64]:
    """Return one value for each of n rows, in the memory of one."""
    return np.ndarray((n,), np.float64, buffer=np.float64(value), strides=(0,))  # faster than `np.broadcast_to`
