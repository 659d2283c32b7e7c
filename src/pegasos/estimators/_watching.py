"""Who looks on while a fit runs: scikit-learn's callbacks where it has them, the lines of ``verbose``, a listener."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from pegasos.estimators._parameters import epochs_of
from pegasos.solution import TraceRow
from pegasos.solvers.driver import Model, Watcher
from pegasos.window import Window

__all__ = ["CallbackSupportMixin", "Onlookers", "Progress", "listening", "n_frames", "told", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    n_frames = 1  # that the wrapper adds to the stack of a call
except ImportError:  # scikit-learn before 1.9: nothing to support, nothing to manage
    CallbackSupportMixin = type("CallbackSupportMixin", (), {})
    n_frames = 0

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


Listener = Callable[[int, int, TraceRow], None]  # the problem, how many there are, what was seen
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While this lasts, every certificate of a fit begun here is told to the listener, perhaps from other threads."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def told(k: int, n_problems: int, on_review: Callable[[TraceRow], None]) -> Callable[[TraceRow], None]:
    """What is done at the reviews of problem k, and telling the listener, if there is one."""
    listener = _listener.get()  # now: the threads of the fit have a context of their own
    if listener is None:
        return on_review

    def both(row: TraceRow) -> None:
        on_review(row)
        listener(k, n_problems, row)

    return both


class Onlookers:
    """The callbacks of one fit: a task for each binary problem, within it a task for each epoch."""

    def __init__(self, estimator: Any, X: Any, y: Any, classes: Any, n_problems: int):
        self.estimator, self.X, self.y, self.classes = estimator, X, y, classes
        self.root: Any = None
        self.tasks: list[Any] = [None] * n_problems
        if getattr(estimator, "_skl_callbacks", None):
            epochs = epochs_of(estimator)
            many = n_problems > 1
            noun = estimator._scheme.noun
            self.root = estimator._init_callback_context(
                max_subtasks=n_problems if many else epochs, sequential_subtasks=not many
            )
            self.root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            self.tasks = [
                self.root.subcontext(task_name=f"{noun} {k}", task_id=k, max_subtasks=epochs) if many else self.root
                for k in range(n_problems)
            ]

    def watcher(self, k: int) -> Watcher:
        """What the driver of problem k calls."""
        watcher = Watcher()
        if self.tasks[k] is not None:
            watcher.on_epoch = self._epoch_hook(self.tasks[k], single=len(self.tasks) == 1)
        if self.estimator.verbose:
            label = f"{self.estimator._scheme.noun} {k}  " if len(self.tasks) > 1 else ""
            watcher.on_review = lambda row: print(label + _line(row), flush=True)
        watcher.on_review = told(k, len(self.tasks), watcher.on_review)
        return watcher

    def end(self) -> None:
        """The fit is over."""
        for task in self.tasks:
            if task is not None and task is not self.root:
                task.call_on_fit_task_end(estimator=self.estimator)
        if self.root is not None:
            self.root.call_on_fit_task_end(estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes={})

    def _attributes(self, model: Model) -> dict[str, Any]:
        """What a model needs to predict in the middle of a fit."""
        return {"classes_": self.classes, **self.estimator._as_attributes([model], [slice(None)], self.X)}

    def _epoch_hook(self, task: Any, single: bool) -> Callable[[int, Callable[[], Model]], bool]:
        def hook(epoch: int, model: Callable[[], Model]) -> bool:
            context = task.subcontext(task_name="epoch")
            context.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
            attributes = (lambda: self._attributes(model())) if single else None
            return bool(
                context.call_on_fit_task_end(
                    estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes=attributes
                )
            )

        return hook


class Progress:
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
            print(f"{_line(row)}  {self._reading(perf_counter())}", flush=True)

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


def _line(row: TraceRow) -> str:
    relative = row.gap / row.primal if row.primal > 0.0 else 0.0
    return (
        f"epoch {row.epoch:8.1f}  primal {row.primal:.6e}  dual {row.dual:.6e}  "
        f"relative gap {relative:.1e}  {row.seconds:.2f} s"
    )
