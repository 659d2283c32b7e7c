"""Options that several formats have."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError

default_block_bytes = 1 << 24


def checked_count(name: str, value: Any) -> int:
    """An integer of at least 1."""
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if not 1 <= count < 1 << 62:
        raise PegasosError(f"{name} must be an integer of at least 1, got {value!r}.")
    return count


def checked_float_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Single or double precision."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = np.dtype(object)
    if found not in (np.float32, np.float64):
        raise PegasosError(f"dtype must be float32 or float64, got {dtype!r}.")
    return found
