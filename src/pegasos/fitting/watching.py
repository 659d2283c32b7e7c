"""What is said of a fit while it runs: listeners, and lines on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from pegasos.solution import TraceRow
from pegasos.window import Window

Listener = Callable[[int, int, TraceRow], None]  # the problem, how many there are, what was seen
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While this lasts, every certificate of a fit begun here is told to the listener, perhaps from other threads."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def told(k: int, n_problems: int, on_review: Callable[[TraceRow], None]) -> Callable[[TraceRow], None]:
    """What is done at the reviews of problem k, and telling the listener, if there is one."""
    listener = _LISTENER.get()  # now: the threads of the fit have a context of their own
    if listener is None:
        return on_review

    def both(row: TraceRow) -> None:
        on_review(row)
        listener(k, n_problems, row)

    return both


class ReadingProgress:
    """What a fit on a source prints: 1: a line for each certificate; 2: how far the reading is as well, on stderr."""

    def __init__(self, verbose: int, window: Window):
        self.verbose, self.window = verbose, window
        self.begun = self.shown = perf_counter()
        self.gap, self.is_open = "", False

    def on_review(self, row: TraceRow) -> None:
        """A line, with what was read so far."""
        self.gap = f"  certified gap {row.gap / row.primal if row.primal > 0.0 else 0.0:.1e}"
        self.end()
        if self.verbose:
            print(f"{line_of(row)}  {self._reading(perf_counter())}", flush=True)

    def on_chunk(self) -> None:
        """Once a second."""
        now = perf_counter()
        if self.verbose > 1 and now - self.shown >= 1.0:
            self.shown, self.is_open = now, True
            print(f"\r{now - self.begun:7.0f} s  {self._reading(now)}{self.gap}  ", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """The line on stderr is over."""
        if self.is_open:
            print(file=sys.stderr, flush=True)
        self.is_open = False

    def _reading(self, now: float) -> str:
        n_read = self.window.n_read
        return f"read {n_read / 1e9:.2f} GB, {n_read / 1e6 / max(now - self.begun, 1e-9):.0f} MB/s"


def line_of(row: TraceRow) -> str:
    """A certificate as a line."""
    relative = row.gap / row.primal if row.primal > 0.0 else 0.0
    return (
        f"epoch {row.epoch:8.1f}  primal {row.primal:.6e}  dual {row.dual:.6e}  "
        f"relative gap {relative:.1e}  {row.seconds:.2f} s"
    )
