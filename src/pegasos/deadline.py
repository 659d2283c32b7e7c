"""Time limits: long native calls, and loops that check, end with `TimeIsUp` when the time is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter

from pegasos import _core

TimeIsUp = _core.TimeIsUp
check_deadline = _core.check_deadline
time_left = _core.time_left


def within(seconds: float | None) -> AbstractContextManager[None]:
    """Limit the time of this thread in this context; None leaves the current limit unchanged."""
    return nullcontext() if seconds is None else _limited(seconds)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    before, begun = _core.time_left(), perf_counter()
    _core.set_deadline(seconds if before is None else min(seconds, before))
    try:
        yield
    finally:
        _core.set_deadline(None if before is None else before - (perf_counter() - begun))
