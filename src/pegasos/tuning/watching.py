"""Who looks on while a search runs: scikit-learn's callbacks where it has them, and the lines of ``verbose``."""

from __future__ import annotations

from typing import Any

from pegasos.tuning.race import Race
from pegasos.tuning.search import Clock
from pegasos.tuning.space import Space
from pegasos.tuning.trials import Trial


class Onlooker:
    """One search: a task for each trial, so that scikit-learn's ProgressBar (with rich) counts them."""

    def __init__(self, estimator: Any, X: Any, y: Any):
        self.estimator = estimator
        self.data = {"X": X, "y": y}
        self.root: Any = None
        if getattr(estimator, "_skl_callbacks", None):
            self.root = estimator._init_callback_context(max_subtasks=estimator.n_trials)
            self.root.call_on_fit_task_begin(estimator=estimator, **self.data)

    def see(self, trial: Trial, race: Race, space: Space, clock: Clock) -> bool:
        """Tell of a trial that has ended; whether a callback asks to stop."""
        if self.estimator.verbose:
            print(_line(trial, race, space, clock), flush=True)
        if self.root is None:
            return False
        task = self.root.subcontext(task_name="trial")
        task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **self.data, reconstruction_attributes=None))

    def end(self) -> None:
        """The search is over, and the winner fitted."""
        if self.root is not None:
            self.root.call_on_fit_task_end(estimator=self.estimator, **self.data, reconstruction_attributes={})


def _line(trial: Trial, race: Race, space: Space, clock: Clock) -> str:
    best = race.best
    assert best is not None
    mark = "*" if best is trial else " "
    return (
        f"{clock.spent:7.1f} s  trial {trial.number:3d} {mark} {trial.mean:.4f}  best {best.mean:.4f}  "
        f"{space.in_words(trial.setting)}: {trial.verdict}"
    )
