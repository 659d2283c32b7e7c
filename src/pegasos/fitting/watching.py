"""Reports of a running fit: listeners, and lines on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from pegasos.solution import TraceRow
from pegasos.window import Window

Listener = Callable[[int, int, TraceRow], None]  # problem number, number of problems, review
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report every certificate of fits started in this context to the listener, possibly from other threads."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def told(k: int, n_problems: int, on_review: Callable[[TraceRow], None]) -> Callable[[TraceRow], None]:
    """The callback for the reviews of problem k, which also notifies the listener, if there is one."""
    listener = _LISTENER.get()  # read now, because the threads of the fit have their own context
    if listener is None:
        return on_review

    def both(row: TraceRow) -> None:
        on_review(row)
        listener(k, n_problems, row)

    return both


class ReadingProgress:
    """Output of a fit on a source: 1: a line per certificate; 2: also the progress of reading, on stderr."""

    def __init__(self, verbose: int, window: Window):
        self.verbose, self.window = verbose, window
        self.begun = self.shown = perf_counter()
        self.gap, self.is_open = "", False

    def on_review(self, row: TraceRow) -> None:
        """Print a line, with the amount read so far."""
        self.gap = f"  certified gap {row.gap / row.primal if row.primal > 0.0 else 0.0:.1e}"
        self.end()
        if self.verbose:
            print(f"{line_of(row)}  {self._reading(perf_counter())}", flush=True)

    def on_chunk(self) -> None:
        """Update once per second."""
        now = perf_counter()
        if self.verbose > 1 and now - self.shown >= 1.0:
            self.shown, self.is_open = now, True
            print(f"\r{now - self.begun:7.0f} s  {self._reading(now)}{self.gap}  ", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line on stderr."""
        if self.is_open:
            print(file=sys.stderr, flush=True)
        self.is_open = False

    def _reading(self, now: float) -> str:
        n_read = self.window.n_read
        return f"read {n_read / 1e9:.2f} GB, {n_read / 1e6 / max(now - self.begun, 1e-9):.0f} MB/s"


def line_of(row: TraceRow) -> str:
    """Format a certificate as a line."""
    relative = row.gap / row.primal if row.primal > 0.0 else 0.0
    return (
        f"epoch {row.epoch:8.1f}  primal {row.primal:.6e}  dual {row.dual:.6e}  "
        f"relative gap {relative:.1e}  {row.seconds:.2f} s"
    )
