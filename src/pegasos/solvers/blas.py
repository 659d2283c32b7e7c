"""Limit BLAS to one thread while there are many small products: the limit is per process, fits run in threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import scipy.linalg  # noqa: F401 (its BLAS is loaded before the libraries are looked for)
from threadpoolctl import ThreadpoolController

_lock = Lock()
_LIMITS: list[Any] = []  # one limit per running fit; the first one is in force


@cache
def _libraries() -> ThreadpoolController:
    """Find the BLAS of numpy and scipy once: the search takes milliseconds, and both are loaded from the beginning."""
    return ThreadpoolController()


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """The first fit sets the limit and the last one lifts it; in any other order the limit might never be lifted."""
    with _lock:
        _LIMITS.append(_libraries().limit(limits=1, user_api="blas") if not _LIMITS else _LIMITS[0])
    try:
        yield
    finally:
        with _lock:
            limit = _LIMITS.pop()
            if not _LIMITS:
                limit.restore_original_limits()
