"""Checks of numbers that a user passes; a message states the value."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from pegasos.errors import PegasosError

LARGEST = float(np.finfo(np.float64).max)


def check_positive(name: str, value: Any, *, or_infinite: bool = False) -> None:
    """A positive number, finite unless it may be infinite."""
    if not is_number(value) or not (0.0 < float(value) <= LARGEST or (or_infinite and value == math.inf)):
        raise PegasosError(f"{name} must be a positive number, got {shown(value)}.")


def check_optional(name: str, value: Any) -> None:
    """None, or a nonnegative number."""
    if value is not None and (not is_number(value) or not 0.0 <= float(value) <= LARGEST):
        raise PegasosError(f"{name} must be None or a number of at least 0, got {shown(value)}.")


def check_count(name: str, value: Any) -> None:
    """An integer of at least 1."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or int(value) < 1:
        raise PegasosError(f"{name} must be a whole number of at least 1, got {shown(value)}.")
    if int(value) >= 2**63:
        raise PegasosError(f"{name} must be below 2**63, got {shown(value)}.")


def check_share(name: str, value: Any) -> None:
    """None, or a number above 0 and at most 1."""
    if value is not None and (not is_number(value) or not 0.0 < float(value) <= 1.0):
        raise PegasosError(f"{name} must be None or a number above 0 and at most 1, got {shown(value)}.")


def check_word(name: str, value: Any, words: Collection[str | None]) -> None:
    """One of the words."""
    if not (value is None or isinstance(value, str)) or value not in words:
        listed = ", ".join(repr(word) for word in words)
        raise PegasosError(f"{name} must be one of {listed}, got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise PegasosError(f"{name} must be True or False, got {value!r}.")


def check_jobs(value: Any) -> None:
    """None, or a nonzero integer."""
    if value is not None and (not isinstance(value, numbers.Integral) or value == 0 or abs(int(value)) >= 2**31):
        raise PegasosError(
            f"n_jobs must be None or a whole number other than 0 (below 2**31), got {value!r}; -1 means all processors."
        )


def check_class_weight(value: Any) -> None:
    """None, "balanced", or a mapping of classes to weights."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return
    if not isinstance(value, Mapping):
        raise PegasosError(f"class_weight must be None, 'balanced' or a dict of classes to weights, got {value!r}.")
    for label, weight in value.items():
        if not is_number(weight) or not 0.0 <= float(weight) <= LARGEST:
            raise PegasosError(f"class_weight of class {label!r} must be a number of at least 0, got {weight!r}.")


def is_number(value: Any) -> bool:
    """Whether it is a real number that a float can hold, or infinite; 10**400 is not."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def shown(value: Any) -> str:
    """Format the value for a message; only the first digits of a number with thousands of them."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to format integers of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:40]}..."


def check_probability(value: Any) -> None:
    """Whether there are probabilities, or by which curve."""
    if not (isinstance(value, bool | np.bool_) or value in ("sigmoid", "isotonic")):
        raise PegasosError(f"probability must be False, True, 'sigmoid' or 'isotonic', got {value!r}.")
