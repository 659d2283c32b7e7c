"""How far a fit is: a bar where stderr is a terminal and rich is installed, else a line now and then."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock
from time import perf_counter
from typing import Any

_BETWEEN_LINES = 5.0  # seconds


class Progress:
    """What the certificates so far say of the way to the end; `tell` is a listener of fits.

    A gap falls by about the same factor in the same time, so the way to `tol` is measured in logarithms.
    """

    def __init__(self, model: Any, show: Any) -> None:
        from pegasos.estimators.assembly import plan_of  # not before there is something to train

        _, _, settings = plan_of(model)
        self.tol: float = settings.tol or 0.0
        self.max_iter = settings.max_iter
        self.time_budget = settings.time_budget
        self.begun, self._show, self._lock = perf_counter(), show, Lock()
        self._first: dict[int, float] = {}
        self._gaps: dict[int, float] = {}
        self._epochs: dict[int, float] = {}

    def tell(self, k: int, n_problems: int, row: Any) -> None:
        """Record a new certificate of problem k; called from any thread."""
        with self._lock:
            gap = row.gap / row.primal if row.primal > 0.0 else 0.0
            self._first.setdefault(k, max(gap, 1e-300))
            self._gaps[k], self._epochs[k] = gap, row.epoch
            share = sum(map(self._share, self._gaps)) / n_problems
            seconds = perf_counter() - self.begun
            if self.time_budget:
                share = max(share, min(1.0, seconds / self.time_budget))
            left = seconds * (1.0 - share) / share if share > 0.05 else math.nan
            self._show(share, max(self._epochs.values()), max(self._gaps.values()), seconds, left)

    def _share(self, k: int) -> float:
        """The share of the work of problem k that is done: by its gap, or by its epochs if those will end it first."""
        by_epochs = self._epochs[k] / self.max_iter
        if not self.tol:
            return min(1.0, by_epochs)
        if self._gaps[k] <= self.tol:
            return 1.0
        way = math.log(self._first[k] / self.tol) if self._first[k] > self.tol else math.inf
        return min(1.0, max(by_epochs, math.log(self._first[k] / self._gaps[k]) / way, 0.0))


@contextmanager
def shown_progress(model: Any, *, quiet: bool) -> Iterator[None]:
    """While this lasts, fits of the model show how far they are."""
    from pegasos.fitting.watching import listening

    if quiet:
        yield
        return
    with _display() as show, listening(Progress(model, show).tell):
        yield


@contextmanager
def _display() -> Iterator[Any]:
    """A function that shows the share of the way, the epoch, the gap, the seconds so far and those left."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("training"),
        BarColumn(bar_width=None),
        TextColumn("epoch {task.fields[epoch]}  gap {task.fields[gap]}"),
        TimeElapsedColumn(),
        TextColumn("left {task.fields[left]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        task = bar.add_task("training", total=1.0, epoch="0", gap="?", left="?")

        def show(share: float, epoch: float, gap: float, seconds: float, left: float) -> None:
            bar.update(task, completed=share, epoch=f"{epoch:.1f}", gap=f"{gap:.1e}", left=_clock(left))

        yield show


class _Lines:
    """A line every few seconds: a log of a long fit, nothing for a short one."""

    def __init__(self) -> None:
        self._next = _BETWEEN_LINES

    def __call__(self, share: float, epoch: float, gap: float, seconds: float, left: float) -> None:
        if seconds < self._next:
            return
        self._next = seconds + _BETWEEN_LINES
        line = f"{seconds:6.0f} s  epoch {epoch:.1f}  relative gap {gap:.1e}  left {_clock(left)}"
        print(line, file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    if not math.isfinite(seconds) or seconds > 359_999:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
