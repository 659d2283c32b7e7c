"""Shared by a path over lam and the choice of lam: the data, read once; problems on views of its rows; threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Event
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pegasos.checks import check_positive
from pegasos.errors import PegasosError
from pegasos.fitting.fit import terms_of
from pegasos.machines.base import Data
from pegasos.machines.linear import Linear
from pegasos.machines.settings import Settings
from pegasos.machines.solving import threads_of, wait_for
from pegasos.problem import Problem, Rows
from pegasos.solution import Solution
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, Watcher
from pegasos.solvers.finite_newton import FiniteNewton
from pegasos.solvers.free_intercept import FreeIntercept
from pegasos.solvers.path import NearbyAscent, follow, largest_lam
from pegasos.solvers.units import from_units, in_units
from pegasos.tasks import Target, Weights

Lams = npt.NDArray[np.float64]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Lane:
    """A problem in units in which a usual residual is about 1; lam and solutions are in those of the data."""

    problem: Problem
    unit: float

    @property
    def largest_lam(self) -> float:
        """The lam from which on little but the length of the weights changes."""
        return largest_lam(self.problem) / self.unit

    def follow(self, solver: Any, lams: Lams, stop: Stop, *, seed: int, watcher: Watcher | None) -> Iterator[Solution]:
        """The solution for each lam; see `solvers.path.follow`."""
        found = follow(self.problem, solver, (self.unit * lams).tolist(), stop, seed=seed, watcher=watcher)
        return (from_units(solution, self.unit) for solution in found)


@dataclass(frozen=True)
class LabelledRows:
    """Rows with their targets and weights, and the settings that turn them into problems."""

    settings: Settings
    task: Any
    rows: Rows
    y: npt.NDArray[Any]
    target: Target
    weights: Weights | None

    @classmethod
    def read(cls, task: Any, settings: Settings, data: Data) -> LabelledRows:
        """Read everything once."""
        known = task.learn(data.y, data.weights)
        _, rows = Linear().read(data, settings, known)
        return cls(settings, known, rows, data.y, known.target(data.y, data.weights), data.weights)

    def part(self, members: npt.NDArray[np.intp]) -> LabelledRows:
        """Some of the rows, in place."""
        weights, target = None if self.weights is None else self.weights[members], self.target[members]
        task = self.task.recounted(target, weights)
        return LabelledRows(self.settings, task, self.rows.view(members), self.y[members], target, weights)

    def with_task(self, task: Any) -> LabelledRows:
        """The same rows with another task for the same targets."""
        return replace(self, task=task.learn(self.y, self.weights))

    def lanes(self) -> list[Lane]:
        """One lane per problem of the task, with the lam of the settings."""
        problems = self.task.problems(self.rows, self.target, self.weights, self._terms)
        units = self.task.units(self.target, self.weights)
        return [Lane(in_units(problem, unit), unit) for problem, unit in zip(problems, units, strict=True)]

    def solver(self) -> Auto | FreeIntercept:
        """The solver of a fit, with an ascent for starting points close to the solution."""
        n_rows = self.task.rows_per_problem(self.rows.n_rows)
        own = Linear().solver_for(self.rows, n_rows, self.settings, self.task, self._terms)
        if isinstance(own, FreeIntercept):
            return own
        if isinstance(own, FiniteNewton):  # every lam starts from the dual point of the last one
            own = own.auto
        assert isinstance(own, Auto)
        return replace(own, ascent=NearbyAscent(**vars(own.ascent)))

    @property
    def _terms(self) -> Any:
        return terms_of(self.rows, self.task, self.settings, Data(None, weights=self.weights))


def grid(lanes: Sequence[Lane], n_lams: int, eps: float) -> Lams:
    """Lams in equal ratios, from the largest at which more than the length of the weights changes, to eps of it.

    The loss is a mean over the rows, so the same lams suit all rows and a fold of them.
    """
    tops = [lane.largest_lam for lane in lanes]
    if not np.isfinite(tops).all():
        raise PegasosError("the numbers leave the range of the machine; scale the features to about 1.")
    top = max(tops)
    if not top > 0.0:
        raise PegasosError(
            "the weights are 0 for every lam, since the rows of the two sides cancel out: there is no path to follow. "
            "Look at X and y, or give lams."
        )
    return np.geomspace(top, eps * top, n_lams) if n_lams > 1 else np.array([top])


def check_grid(eps: Any, tol: Any) -> None:
    """Check eps, the ratio of the smallest lam to the largest, and tol."""
    if tol is None:
        raise PegasosError("tol must be a number: a path continues to the next lam when a fit has reached it.")
    check_positive("eps", eps)
    if not eps < 1.0:
        raise PegasosError(f"eps is the smallest lam over the largest and must be below 1, got {eps!r}.")


def falling(lams: Any) -> Lams:
    """The user's lams in decreasing order; they may be sorted either way."""
    try:
        given = np.asarray(lams, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"lams must be positive numbers, got {lams!r}.") from error
    if given.ndim != 1 or len(given) == 0:
        raise PegasosError(f"lams must be a list of at least one number, got {lams!r}.")
    for lam in given:
        check_positive("each of lams", float(lam))
    order = -1 if len(given) > 1 and given[1] > given[0] else 1
    found = given[::order].copy()
    for above, below in pairwise(found):
        if above == below:
            raise PegasosError(f"lams must differ from one another, got {above:g} twice.")
        if above < below:
            raise PegasosError("lams must be sorted, since each fit begins where the last one ends: give sorted(lams).")
    return found


def in_threads(tasks: Sequence[Callable[[Watcher], Result]], n_jobs: int | None) -> list[Result]:
    """Run the tasks and return their results in order. An interrupt or a failure stops all of them."""
    stopped = Event()
    watcher = Watcher(interrupted=stopped.is_set)
    with ThreadPoolExecutor(min(len(tasks), threads_of(n_jobs))) as pool:
        futures: list[Future[Result]] = []
        try:
            for task in tasks:
                futures.append(pool.submit(task, watcher))
            wait_for(futures)
        finally:
            stopped.set()
            for future in futures:
                future.cancel()
        failed = [future for future in futures if not future.cancelled() and future.exception() is not None]
        # A task that was told to stop ends with an interrupt, so the original cause is raised first.
        failed.sort(key=lambda future: isinstance(future.exception(), KeyboardInterrupt))
        return [future.result() for future in failed or futures]
