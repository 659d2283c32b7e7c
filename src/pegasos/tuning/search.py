"""The search: Optuna proposes settings, each climbs from samples to all rows and from fold to fold until it has lost.

Proposals are those of the tree-structured Parzen estimator (Bergstra et al. 2011, "Algorithms for hyper-parameter
optimization"), after the most promising ones of every family; whenever there is a new best one, the settings beside it
come first, which a model of few observations would find late. The clock ends the search and says how many rows a
kernel can afford; with a number of trials and no clock, the seed alone decides.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from pegasos.errors import PegasosError
from pegasos.tuning.race import Race
from pegasos.tuning.space import Setting
from pegasos.tuning.trials import Examiner, Mark, Trial

_first_sample = {True: 20_000, False: 2_000}  # rows, of linear machines and of others
_GROWTH = 4
_SHARE_OF_FIT = 0.1  # of the budget: a fit that takes longer is cut
_SHARE_OF_TRIAL = 0.25  # of the time left: a trial that would take longer stays on a sample
_FEW_ROWS = 4_000  # threads of BLAS would wait for each other longer than they work


@dataclass
class Clock:
    """The seconds since the search began, and those that are left."""

    budget: float | None
    begun: float

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return perf_counter() - self.begun

    @property
    def left(self) -> float:
        """Seconds to come."""
        return math.inf if self.budget is None else self.budget - self.spent

    @property
    def fit_limit(self) -> float | None:
        """The most that one fit may take now."""
        return None if self.budget is None else max(0.0, min(self.left, _SHARE_OF_FIT * self.budget))


def sampled_order(codes: npt.NDArray[np.intp], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """An order of rows in which every beginning holds the classes in proportion, and at first one row of each."""
    codes = np.asarray(codes)
    shuffled = rng.permutation(len(codes))
    keys = np.empty(len(codes))
    for code in np.unique(codes):
        mine = shuffled[codes[shuffled] == code]
        keys[mine] = np.arange(len(mine)) / len(mine)
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


@dataclass
class Search:
    """One search: `run` it, then ask the race for its trials.

    Attributes
    ----------
    on_trial : callable
        Told of each trial that has ended; says whether to stop.
    """

    examiner: Examiner
    race: Race
    clock: Clock
    n_trials: int | None
    seed: int
    on_trial: Callable[[Trial], bool]
    reason: str = ""  # why it ended
    enqueued: list[dict[str, Any]] = field(default_factory=list)
    threads: ThreadpoolController = field(default_factory=ThreadpoolController)  # to look for them takes a while

    def run(self) -> None:
        """Try settings until the time, the trials or the room for improvement end, or someone interrupts."""
        try:
            self._run()
        except KeyboardInterrupt:  # between the steps of trials: within Optuna, or a callback
            self.reason = "it was interrupted"
            for trial in self.race.trials:
                trial.verdict = trial.verdict or self.reason
                trial.ended_at = trial.ended_at or self.clock.spent

    def _run(self) -> None:
        """One setting after the other.

        All first settings take their first step before any takes its second, and the best of them continues
        first: the others are then soon dropped. If cross-validation is repeated, all finish one
        repetition before. Those whose kernel alone would take as long as a fit may wait.
        """
        study, first = _study(self.seed), self.examiner.space.first()[: self.n_trials]
        quick = [start for start in first if self._is_quick(start)] or first[:1]
        self._enqueue(study, [*quick, *first])
        opened = [self._ask(study) for _ in quick]
        for trial in opened:
            self._guarded(self._begin, trial)
        if self.race.deal:
            for trial in sorted(opened, key=lambda trial: -trial.mean):
                self._guarded(self._deal, trial)
        for trial in sorted(opened, key=lambda trial: -trial.mean):
            self._guarded(self._go_on, trial)
            self._tell(study, trial)
        while not self._ends():
            trial = self._ask(study)
            self._guarded(self._begin, trial)
            self._guarded(self._go_on, trial)
            self._tell(study, trial)

    def _is_quick(self, start: dict[str, Any]) -> bool:
        """Whether the kernel matrix of a setting is at hand soon; without a clock all are."""
        space, budget = self.examiner.space, self.clock.budget
        setting = space.suggest(load_optuna().trial.FixedTrial(start))
        return budget is None or space.seconds(setting) <= _SHARE_OF_FIT * budget

    def _enqueue(self, study: Any, starts: Sequence[dict[str, Any]]) -> None:
        """Settings to be asked for next, each once: Optuna's own check for that writes to the user's log."""
        for start in starts:
            if start not in self.enqueued:
                self.enqueued.append(start)
                study.enqueue_trial(start)

    def _ask(self, study: Any) -> Trial:
        """The next setting."""
        asked = study.ask()
        self.race.trials.append(Trial(asked, self.examiner.space.suggest(asked)))
        return self.race.trials[-1]

    def _guarded(self, step: Callable[[Trial], None], trial: Trial) -> None:
        """A step of a trial, unless the search or the trial has ended.

        An interrupt ends the search; a setting that these rows do not allow, such as a kernel too large for a number,
        only its trial.
        """
        # Whatever the time, one setting is tried, so that there is a winner.
        if self._ends() and self.race.best is not None:
            trial.verdict = trial.verdict or self.reason
        if trial.verdict:
            return
        try:
            step(trial)
        except KeyboardInterrupt:
            trial.verdict = self.reason = "it was interrupted"
        except PegasosError as error:
            trial.verdict = f"failed: {error}"
            if self.race.best is None:  # it is not this setting's fault
                raise

    def _ends(self) -> bool:
        """Whether there is a reason to end, which is noted."""
        if not self.reason:
            best, n_ended = self.race.best, sum(bool(trial.verdict) for trial in self.race.trials)
            if self.clock.left <= 0.0:
                self.reason = "the time budget ended"
            elif self.n_trials is not None and n_ended >= self.n_trials:
                self.reason = f"all {self.n_trials} trials were made"
            elif best is not None and best.is_finished and best.mean >= self.race.perfect:
                self.reason = "no score could be higher"
        return bool(self.reason)

    def _begin(self, trial: Trial) -> None:
        """The smallest sample of the first fold."""
        trial.n_rows = self._sizes(trial.setting)[0]
        self._climb(trial)

    def _deal(self, trial: Trial) -> None:
        """Through the folds of one deal; before anybody has finished, nobody is given up."""
        self._pass(trial, self.race.deal)

    def _go_on(self, trial: Trial) -> None:
        """Through all folds."""
        self._pass(trial, self.race.n_folds)
        trial.is_finished = not trial.verdict and not self.reason
        trial.verdict = trial.verdict or self.reason or "examined on all folds"

    def _pass(self, trial: Trial, n_folds: int) -> None:
        """Train on as many rows as the time allows, then on so many folds, unless other settings are ahead."""
        self._grow(trial)
        while not trial.verdict and len(trial.scores) < n_folds:
            trial.verdict = self.race.lost(trial) or (self.reason if self._ends() else "")
            if not trial.verdict:
                trial.scores.append(self._mark(trial, len(trial.scores)).score)

    def _grow(self, trial: Trial) -> None:
        """To as many rows as there are, or as the time allows."""
        if trial.scores:
            return
        for n_rows in self._sizes(trial.setting)[1:]:
            if not self.race.may_climb(trial):
                trial.verdict = f"given up on {trial.n_rows} rows: others of its kind did better"
                return
            if not self._can_afford(trial, n_rows):
                break
            trial.n_rows = n_rows
            self._climb(trial)
        trial.scores.append(trial.climbed[-1][1])

    def _climb(self, trial: Trial) -> None:
        mark = self._mark(trial, 0)
        trial.is_cut = mark.is_cut
        trial.climbed.append((trial.n_rows, mark.score))

    def _mark(self, trial: Trial, fold: int) -> Mark:
        limit = self.clock.fit_limit
        rival = self.race.rival(fold)
        with self.threads.limit(limits=1, user_api="blas") if trial.n_rows <= _FEW_ROWS else nullcontext():
            mark = self.examiner.examine(trial.setting, fold, trial.n_rows, limit=limit, rival=rival)
        trial.seconds += mark.seconds
        trial.fit_seconds = mark.seconds
        trial.n_proved += mark.is_proved
        if mark.is_interrupted:
            self.reason = "it was interrupted"
        return mark

    def _sizes(self, setting: Setting) -> list[int]:
        """Samples of the rows to train on, and at last all of them."""
        n_rows = min(len(train) for train, _ in self.examiner.folds)
        size, sizes = _first_sample[self.examiner.space.is_linear(setting)], []
        while size <= n_rows // 2:
            sizes.append(size)
            size *= _GROWTH
        return [*sizes, n_rows]

    def _can_afford(self, trial: Trial, n_rows: int) -> bool:
        """Whether all folds with this many rows fit into a share of the remaining time."""
        foreseen = trial.fit_seconds * self.growth_of_time(trial, n_rows) * self.race.n_folds
        return not trial.is_cut and foreseen <= _SHARE_OF_TRIAL * self.clock.left

    def growth_of_time(self, trial: Trial, n_rows: int) -> float:
        """How many times longer a fit takes with this many rows: with kernels, the time grows quadratically."""
        return (n_rows / trial.n_rows) ** (1 if self.examiner.space.is_linear(trial.setting) else 2)

    def _tell(self, study: Any, trial: Trial) -> None:
        """Let Optuna learn from a trial, also from one that was given up: its place beside the best is known."""
        trial.ended_at = self.clock.spent
        if trial.climbed:
            study.tell(trial.number, self.race.estimate(trial))
            if trial is self.race.best:
                self._enqueue(study, self.examiner.space.near(trial.setting))
            if self.on_trial(trial):
                self.reason = "a callback asked to stop"


def load_optuna() -> Any:
    """The module optuna; raises an error that says how to install it."""
    try:
        import optuna
    except ImportError as error:
        raise PegasosError('AutoPegasos searches with Optuna; install it with: pip install "pegasos[tune]".') from error
    return optuna


def _study(seed: int) -> Any:
    optuna = load_optuna()
    logger = logging.getLogger("optuna")
    level = logger.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, n_startup_trials=8)
    logger.setLevel(logging.WARNING)  # a study announces itself
    try:
        return optuna.create_study(direction="maximize", sampler=sampler)
    finally:
        logger.setLevel(level)
