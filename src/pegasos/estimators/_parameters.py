"""The checks of an estimator's parameters: one sentence each, before any work."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from pegasos.errors import PegasosError

_largest = float(np.finfo(np.float64).max)


def check_positive(name: str, value: Any, *, or_infinite: bool = False) -> None:
    """A positive number, finite unless it may be infinite."""
    if not _is_number(value) or not (0.0 < float(value) <= _largest or (or_infinite and value == math.inf)):
        raise PegasosError(f"{name} must be a positive number, got {_shown(value)}.")


def check_optional(name: str, value: Any) -> None:
    """None, or a number that is not negative."""
    if value is not None and (not _is_number(value) or not 0.0 <= float(value) <= _largest):
        raise PegasosError(f"{name} must be None or a number of at least 0, got {_shown(value)}.")


def check_count(name: str, value: Any) -> None:
    """A whole number of at least 1."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or int(value) < 1:
        raise PegasosError(f"{name} must be a whole number of at least 1, got {_shown(value)}.")
    if int(value) >= 2**63:
        raise PegasosError(f"{name} must be below 2**63, got {_shown(value)}.")


_EPOCHS_TO_A_GAP = 100_000  # work that no sane fit needs
_EPOCHS = 1000  # where nothing but their number ends a fit, or the last digits would take very many


def epochs_of(model: Any) -> int:
    """How many epochs a fit may take: max_iter, or where that is None what suits the solver."""
    if model.max_iter is not None:
        return int(model.max_iter)
    closes_the_gap = model.tol is not None and model.solver in ("auto", "dual")
    return _EPOCHS_TO_A_GAP if closes_the_gap else _EPOCHS


def check_share(name: str, value: Any) -> None:
    """None, or a number above 0 and at most 1."""
    if value is not None and (not _is_number(value) or not 0.0 < float(value) <= 1.0):
        raise PegasosError(f"{name} must be None or a number above 0 and at most 1, got {_shown(value)}.")


def check_word(name: str, value: Any, words: Collection[str | None]) -> None:
    """One of the words."""
    if not (value is None or isinstance(value, str)) or value not in words:
        listed = ", ".join(repr(word) for word in words)
        raise PegasosError(f"{name} must be one of {listed}, got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise PegasosError(f"{name} must be True or False, got {value!r}.")


def threads_of(n_jobs: int | None) -> int:
    """A number is taken at its word wherever the fit runs, since bits may depend on it; joblib decides the rest."""
    return n_jobs if n_jobs is not None and n_jobs > 0 else int(effective_n_jobs(n_jobs))


def check_jobs(value: Any) -> None:
    """None, or a whole number that is not 0."""
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
        if not _is_number(weight) or not 0.0 <= float(weight) <= _largest:
            raise PegasosError(f"class_weight of class {label!r} must be a number of at least 0, got {weight!r}.")


def _is_number(value: Any) -> bool:
    """Whether it is a real number that is one of the machine's, or infinite: 10**400 is not."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def _shown(value: Any) -> str:
    """The value for a message; of a number with thousands of digits, the first ones."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write numbers of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:40]}..."
