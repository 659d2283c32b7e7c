"""Find the loosest setting with which each solver reaches a target, and the seconds it takes.

A ladder is climbed with single runs; only the rung that counts is run again, all solvers taking turns, so that what
else the machine does meanwhile falls on all of them. A stricter target uses the runs of a looser one again.
"""

import time
import warnings
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.objective import optimum, primal
from benchmarks.problems import Problem
from benchmarks.rivals import Solver

# Rounding may bring a value below the bound by this much, relatively; more means that the bound is wrong.
_ROUNDING = 1e-7
# Runs of a few milliseconds are repeated for this many seconds: three of them would measure the load of other programs.
_SETTLED = 0.5
# A ladder ends when all its runs together have taken this many times the limit of one run.
_LADDER = 1.5


@dataclass(frozen=True)
class Rule:
    """How often, at least, the rung that counts is run, and how long a rival may take, in seconds and beside ours."""

    repeat: int
    limit: float
    patience: float | None = None  # the same limit for every solver

    def limit_beside(self, ours: float) -> float:
        """Seconds that one run of a rival may take, if ours takes this many."""
        return self.limit if self.patience is None else min(self.limit, max(1.0, self.patience * ours))


@dataclass(frozen=True)
class Run:
    """One fit."""

    seconds: float
    suboptimality: float


@dataclass(frozen=True)
class Outcome:
    """The best run with the loosest good setting; or, where no setting is good, the slowest that was tried."""

    reached: bool
    seconds: float
    suboptimality: float
    setting: float


class Trial:
    """One solver on one problem, with all its runs."""

    def __init__(self, solver: Solver, problem: Problem, lam: float):
        self.solver = solver
        self._problem = problem
        self._lam = lam
        self._data = solver.prepare(problem)
        self._lowest = optimum(problem, lam)
        self._runs: dict[float, list[Run]] = defaultdict(list)

    @property
    def takes_part(self) -> bool:
        """Whether the solver can read the problem at all."""
        return self._data is not None

    @property
    def runs(self) -> list[tuple[float, float, float]]:
        """Setting, seconds and suboptimality of every run."""
        return [(setting, one.seconds, one.suboptimality) for setting, runs in self._runs.items() for one in runs]

    def climb(self, target: float, limit: float) -> float | None:
        """The first setting that is good; None when the ladder ends, or gets too slow, before there is one."""
        spent, before = 0.0, None
        for setting in self.solver.ladder(target):
            if setting not in self._runs:
                if before is not None and (spent > _LADDER * limit or self._foreseen(before, setting) > limit):
                    return None
                self.run(setting)
            first = self._runs[setting][0]
            if first.seconds > limit:
                return None
            if first.suboptimality <= target:
                return setting
            spent, before = spent + first.seconds, setting
        return None

    def _foreseen(self, before: float, setting: float) -> float:
        """Seconds that a setting will take at least; numbers of epochs rise along a ladder, tolerances fall."""
        return self._runs[before][0].seconds * max(1.0, setting / before)

    def run(self, setting: float) -> None:
        """Fit, and judge the result."""
        seconds, weights, intercept = self._timed(setting)
        # Threads of BLAS go on spinning for a while, and would slow down the solver that is timed next.
        with threadpool_limits(1, "blas"):
            value = primal(self._problem, self._lam, weights, intercept)
        if value < self._lowest * (1 - _ROUNDING):
            raise ArithmeticError(f"{self.solver.name} found {value!r}, below the bound {self._lowest!r}.")
        self._runs[setting].append(Run(seconds, (value - self._lowest) / self._lowest))

    def _timed(self, setting: float) -> tuple[float, np.ndarray, float]:
        """Seconds and solution; warnings that a loose setting has not converged are ignored."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            weights, intercept = self.solver.fit(self._data, self._lam, setting)
            return time.perf_counter() - start, weights, intercept

    def needs_more(self, setting: float, rule: Rule) -> bool:
        """Too few runs, or too short ones, to trust the best of them."""
        spent = sum(one.seconds for one in self._runs[setting])
        return spent < _SETTLED or (len(self._runs[setting]) < rule.repeat and spent < rule.limit)

    def outcome(self, target: float, setting: float | None) -> Outcome:
        """The fastest good run of a setting: chance and threads may spoil some of them."""
        if setting is None:
            slowest, at = max(((runs[0], at) for at, runs in self._runs.items()), key=lambda one: one[0].seconds)
            return Outcome(False, slowest.seconds, slowest.suboptimality, at)
        good = [one for one in self._runs[setting] if one.suboptimality <= target]
        best = min(good, key=lambda one: one.seconds)
        return Outcome(True, best.seconds, best.suboptimality, setting)


Runs = dict[str, list[tuple[float, float, float]]]


def compare(
    solvers: list[Solver], problem: Problem, lam: float, targets: list[float], rule: Rule
) -> tuple[dict[float, dict[str, Outcome]], Runs]:
    """For each target the outcome of each solver, by name; and all their runs. The first solver is ours."""
    trials = [trial for trial in (Trial(solver, problem, lam) for solver in solvers) if trial.takes_part]
    ours, chosen = trials[0], {}
    for target in targets:
        chosen[ours, target] = ours.climb(target, rule.limit)
        limit = rule.limit_beside(ours.outcome(target, chosen[ours, target]).seconds)
        chosen |= {(trial, target): trial.climb(target, limit) for trial in trials[1:]}
    _take_turns([(trial, setting) for (trial, _), setting in chosen.items() if setting is not None], rule)
    outcomes = {
        target: {trial.solver.name: trial.outcome(target, chosen[trial, target]) for trial in trials}
        for target in targets
    }
    return outcomes, {trial.solver.name: trial.runs for trial in trials}


def _take_turns(rungs: list[tuple[Trial, float]], rule: Rule) -> None:
    while rungs := [(trial, setting) for trial, setting in rungs if trial.needs_more(setting, rule)]:
        for trial, setting in rungs:
            trial.run(setting)
