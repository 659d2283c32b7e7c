"""One thread of BLAS while small products are many: the limit belongs to the process, the fits to threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import scipy.linalg  # noqa: F401 (its BLAS is loaded before the libraries are looked for)
from threadpoolctl import ThreadpoolController

_lock = Lock()
_limits: list[Any] = []  # one for each fit at work, the first of them in force


@cache
def _libraries() -> ThreadpoolController:
    """The BLAS of numpy and scipy. Looking for them takes milliseconds, and both are there from the beginning."""
    return ThreadpoolController()


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """The first to come sets the limit and the last to go lifts it: in any other order it might stay for good."""
    with _lock:
        _limits.append(_libraries().limit(limits=1, user_api="blas") if not _limits else _limits[0])
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()
