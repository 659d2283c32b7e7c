"""Who looks on while a fit runs: scikit-learn's callbacks where it has them, the lines of ``verbose``, listeners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegasos.estimators._attributes import attributes_of
from pegasos.fitting.result import Fit
from pegasos.fitting.watching import line_of, told
from pegasos.solvers.driver import Model, Watcher

__all__ = ["CallbackSupportMixin", "Onlookers", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9: nothing to support, nothing to manage
    CallbackSupportMixin = type("CallbackSupportMixin", (), {})

    def with_callbacks(method: Any) -> Any:
        """Leave the method unchanged."""
        return method


class Onlookers:
    """The callbacks of one fit: a task for each problem, within it a task for each epoch."""

    def __init__(self, estimator: Any, X: Any, y: Any, max_iter: int, *, verbose: int = 0):
        self.estimator, self.X, self.y, self.max_iter, self.verbose = estimator, X, y, max_iter, verbose
        self.root: Any = None
        self.tasks: list[Any] = []
        self.is_seen = bool(getattr(estimator, "_skl_callbacks", None))

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, max_iter: int, *, verbose: int = 0) -> Onlookers | None:
        """Those of an estimator; None where it has no callbacks and prints nothing."""
        found = cls(estimator, X, y, max_iter, verbose=verbose)
        return found if found.is_seen or verbose else None

    def begin(self, task: Any, model_at: Callable[[Model], Any]) -> list[Watcher]:
        """What the driver of each problem calls."""
        n, noun = task.n_problems, task.noun
        self.tasks = [None] * n
        if self.is_seen:
            epochs, many = self.max_iter, n > 1
            self.root = self.estimator._init_callback_context(
                max_subtasks=n if many else epochs, sequential_subtasks=not many
            )
            self.root.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
            self.tasks = [
                self.root.subcontext(task_name=f"{noun} {k}", task_id=k, max_subtasks=epochs) if many else self.root
                for k in range(n)
            ]
        return [self._watcher(k, f"{noun} {k}  " if n > 1 else "", model_at) for k in range(n)]

    def end(self, fitted: Fit) -> None:
        """The fit is over."""
        for task in self.tasks:
            if task is not None and task is not self.root:
                task.call_on_fit_task_end(estimator=self.estimator)
        if self.root is not None:
            attributes = attributes_of(fitted)
            self.root.call_on_fit_task_end(
                estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes=attributes
            )

    def _watcher(self, k: int, label: str, model_at: Callable[[Model], Any]) -> Watcher:
        watcher = Watcher()
        if self.tasks[k] is not None:
            watcher.on_epoch = self._epoch_hook(self.tasks[k], model_at if len(self.tasks) == 1 else None)
        if self.verbose:
            watcher.on_review = lambda row: print(label + line_of(row), flush=True)
        watcher.on_review = told(k, len(self.tasks), watcher.on_review)
        return watcher

    def _epoch_hook(self, task: Any, model_at: Any) -> Callable[[int, Callable[[], Model]], bool]:
        def hook(epoch: int, model: Callable[[], Model]) -> bool:
            context = task.subcontext(task_name="epoch")
            context.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
            attributes = None if model_at is None else lambda: attributes_of(model_at(model()))
            return bool(
                context.call_on_fit_task_end(
                    estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes=attributes
                )
            )

        return hook
