"""Find the loosest setting with which each machine reaches the target, and the seconds it takes.

The rung of a ladder is found by bisection, with single runs: the gap falls with the tolerance. Only the rung that
counts is run again, all machines taking turns, so that what else the computer does meanwhile falls on all of them.
Runs of more than ten seconds are not repeated.
"""

import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.kernels import memory
from benchmarks.kernels.objective import gap
from benchmarks.kernels.problems import Problem
from benchmarks.kernels.rivals import Solver, target
from benchmarks.measure import Rule

_LONG = 10.0  # seconds
_WARM_ROWS = 200


@dataclass(frozen=True)
class Run:
    """One fit: its seconds, its gap and the largest of its binary problems."""

    seconds: float
    gap: float
    largest_gap: float


@dataclass(frozen=True)
class Outcome:
    """The best run with the loosest good setting; or, where none is good, the slowest that was tried.

    `ladder` is the first run of each setting that was tried.
    """

    reached: bool
    seconds: float
    gap: float
    largest_gap: float
    setting: float
    n_runs: int
    n_support: int
    accuracy: float
    certified_gap: float | None
    extra_megabytes: float | None
    ladder: dict[float, Run]


class Trial:
    """One machine on one problem, with all its runs."""

    def __init__(self, solver: Solver, problem: Problem, C: float):
        self.solver = solver
        self._problem = problem
        self._C = C
        self._rows = solver.prepare(problem.X)
        self._runs: dict[float, list[Run]] = defaultdict(list)
        self._models: dict[float, Any] = {}
        # The first fit of all starts threads and loads libraries.
        fit(solver, self._rows[:_WARM_ROWS], problem.y[:_WARM_ROWS], C, problem.gamma, solver.usual)

    def climb(self, limit: float) -> float | None:
        """The loosest setting that is good; None when there is none before one run takes longer than the limit."""
        ladder = self.solver.ladder
        low, high = 0, len(ladder)  # rungs before low are bad, high and all after it are good
        while low < high:
            middle = (low + high) // 2
            self.run(ladder[middle])
            first = self._runs[ladder[middle]][0]
            if first.gap <= target:
                high = middle
            elif first.seconds > limit:
                return None
            else:
                low = middle + 1
        return ladder[high] if high < len(ladder) else None

    def run(self, setting: float) -> None:
        """Fit, and judge the result."""
        problem = self._problem
        seconds, model = fit(self.solver, self._rows, problem.y, self._C, problem.gamma, setting)
        # Threads of BLAS go on spinning for a while, and would slow down the machine that is timed next.
        with threadpool_limits(1, "blas"):
            found = gap(problem.X, problem.gamma, self._C, self.solver.binaries(model, problem.y))
        self._runs[setting].append(Run(seconds, found.relative, found.largest))
        self._models[setting] = model
        print(
            f"  {problem.name}, C {self._C:g}, {self.solver.name} at {setting:g}: {seconds:.3f} s, gap "
            f"{found.relative:.1e} (largest {found.largest:.1e}), {len(model.support_):,} support vectors",
            flush=True,
        )

    def needs_more(self, setting: float, rule: Rule) -> bool:
        """Too few runs to trust the best of them, and they are short."""
        runs = self._runs[setting]
        return len(runs) < rule.repeat and runs[0].seconds <= _LONG

    def outcome(self, setting: float | None, weighs_memory: bool) -> Outcome:
        """The fastest good run, with all that is told about its model."""
        reached = setting is not None
        if setting is None:
            setting = max(self._runs, key=lambda at: self._runs[at][0].seconds)
        runs = self._runs[setting]
        best = min((one for one in runs if one.gap <= target or not reached), key=lambda one: one.seconds)
        return Outcome(
            reached,
            best.seconds,
            best.gap,
            best.largest_gap,
            setting,
            len(runs),
            len(self._models[setting].support_),
            self._accuracy(setting),
            self._certified_gap(setting),
            self._extra_megabytes(setting) if weighs_memory else None,
            {at: runs[0] for at, runs in self._runs.items()},
        )

    def _accuracy(self, setting: float) -> float:
        predicted = self._models[setting].predict(self.solver.prepare(self._problem.X_test))
        return float(np.mean(predicted == self._problem.y_test))

    def _certified_gap(self, setting: float) -> float | None:
        """What pegasos proves of itself, recomputed; the rivals prove nothing."""
        model = self._models[setting]
        return model.certify(self._rows, self._problem.y).relative_gap if hasattr(model, "certify") else None

    def _extra_megabytes(self, setting: float) -> float:
        arguments = self._rows, self._problem.y, self._C, self._problem.gamma, setting
        return memory.of_fit(self.solver.name, arguments)


def fit(solver: Solver, X: Any, y: np.ndarray, *settings: float) -> tuple[float, Any]:
    """Seconds and model of C, gamma and a tolerance; warnings that a loose one has not converged are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = solver.fit(X, y, *settings)
        return time.perf_counter() - start, model


def compare(
    solvers: list[Solver], problem: Problem, C: float, rule: Rule, *, weighs_memory: bool
) -> dict[str, Outcome]:
    """The outcome of each machine, by name."""
    trials = [Trial(solver, problem, C) for solver in solvers]
    chosen = [(trial, trial.climb(rule.limit)) for trial in trials]
    _take_turns([(trial, setting) for trial, setting in chosen if setting is not None], rule)
    return {trial.solver.name: trial.outcome(setting, weighs_memory) for trial, setting in chosen}


def _take_turns(rungs: list[tuple[Trial, float]], rule: Rule) -> None:
    while rungs := [(trial, setting) for trial, setting in rungs if trial.needs_more(setting, rule)]:
        for trial, setting in rungs:
            trial.run(setting)
