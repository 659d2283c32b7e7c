"""Who looks on while a fit runs: scikit-learn's callbacks where it has them, and the lines of ``verbose``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.solution import TraceRow
from pegasos.solvers.driver import Watcher

__all__ = ["CallbackSupportMixin", "Onlookers", "n_frames", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    n_frames = 1  # that the wrapper adds to the stack of a call
except ImportError:  # scikit-learn before 1.9: nothing to support, nothing to manage
    CallbackSupportMixin = type("CallbackSupportMixin", (), {})
    n_frames = 0

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


class Onlookers:
    """The callbacks of one fit: a task for each binary problem, within it a task for each epoch."""

    def __init__(self, estimator: Any, X: Any, y: Any, classes: Any, n_problems: int):
        self.estimator, self.X, self.y, self.classes = estimator, X, y, classes
        self.root: Any = None
        self.tasks: list[Any] = [None] * n_problems
        if getattr(estimator, "_skl_callbacks", None):
            epochs = estimator.max_iter
            many = n_problems > 1
            self.root = estimator._init_callback_context(
                max_subtasks=n_problems if many else epochs, sequential_subtasks=not many
            )
            self.root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            self.tasks = [
                self.root.subcontext(task_name=f"class {k}", task_id=k, max_subtasks=epochs) if many else self.root
                for k in range(n_problems)
            ]

    def watcher(self, k: int) -> Watcher:
        """What the driver of problem k calls."""
        watcher = Watcher()
        if self.tasks[k] is not None:
            watcher.on_epoch = self._epoch_hook(self.tasks[k], single=len(self.tasks) == 1)
        if self.estimator.verbose:
            label = f"class {k}  " if len(self.tasks) > 1 else ""
            watcher.on_review = lambda row: print(label + _line(row), flush=True)
        return watcher

    def end(self) -> None:
        """The fit is over."""
        for task in self.tasks:
            if task is not None and task is not self.root:
                task.call_on_fit_task_end(estimator=self.estimator)
        if self.root is not None:
            self.root.call_on_fit_task_end(estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes={})

    def _attributes(self, weights: npt.NDArray[np.float64]) -> dict[str, Any]:
        """What a model needs to predict in the middle of a fit."""
        return {"classes_": self.classes, **self.estimator._weights_as_attributes(np.atleast_2d(weights), self.X)}

    def _epoch_hook(self, task: Any, single: bool) -> Callable[[int, Callable[[], npt.NDArray[np.float64]]], bool]:
        def hook(epoch: int, weights: Callable[[], npt.NDArray[np.float64]]) -> bool:
            context = task.subcontext(task_name="epoch")
            context.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
            attributes = (lambda: self._attributes(weights())) if single else None
            return bool(
                context.call_on_fit_task_end(
                    estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes=attributes
                )
            )

        return hook


def _line(row: TraceRow) -> str:
    relative = row.gap / row.primal if row.primal > 0.0 else 0.0
    return (
        f"epoch {row.epoch:8.1f}  primal {row.primal:.6e}  dual {row.dual:.6e}  "
        f"relative gap {relative:.1e}  {row.seconds:.2f} s"
    )
