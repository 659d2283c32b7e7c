"""What a path over lam and the choice of lam share: the data, read once; problems on views of its rows; threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.estimators import _parameters as check
from pegasos.estimators._reductions import wait_for
from pegasos.estimators._targets import Terms, Weights, class_totals, encode, find_classes
from pegasos.problem import Problem, Rows
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, Watcher
from pegasos.solvers.path import NearbyAscent, largest_lam

if TYPE_CHECKING:
    from pegasos.estimators.linear import PegasosClassifier

Lams = npt.NDArray[np.float64]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Labelled:
    """Rows with their classes and weights, and the model whose settings turn them into problems."""

    model: PegasosClassifier
    rows: Rows
    y: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.intp]
    weights: Weights | None

    @classmethod
    def read(cls, model: PegasosClassifier, X: Any, y: Any, sample_weight: Any) -> Labelled:
        """Check everything once."""
        model._prior = None
        rows, y, weights = model._read_training_rows(X, y, sample_weight)
        classes = find_classes(y, weights)
        return cls(model, rows, y, classes, encode(y, classes), weights)

    def part(self, members: npt.NDArray[np.intp]) -> Labelled:
        """Some of the rows, in place."""
        weights = None if self.weights is None else self.weights[members]
        return replace(
            self, rows=self.rows.view(members), y=self.y[members], codes=self.codes[members], weights=weights
        )

    @property
    def totals(self) -> Weights:
        """The sample weight of each class."""
        return class_totals(self.codes, len(self.classes), self.weights)

    @property
    def terms(self) -> Terms:
        """With the lam of the model."""
        counts = class_totals(self.codes, len(self.classes), None)
        least = 1.0 if self.weights is None else float(self.weights[self.weights > 0.0].min())
        total = float(self.totals.sum())
        return self.model._terms_of(self.classes, self.totals, counts, total=total, least_weight=least)

    def problems(self) -> list[Problem]:
        """One for each class against the rest, for two classes one; lam is the model's."""
        return list(self.model._scheme.problems(self.rows, self.codes, self.weights, self.terms, None))

    def solver(self) -> Auto:
        """The model's own, with an ascent that knows that it begins near its end."""
        own = self.model._solver(self.rows, self.rows.n_rows, single=self.terms.suits_single)
        assert isinstance(own, Auto)
        return replace(own, ascent=NearbyAscent(**vars(own.ascent)))

    @property
    def stop(self) -> Stop:
        """When each fit of a path ends."""
        return Stop(self.model.tol, check.epochs_of(self.model))


def grid(problems: Sequence[Problem], n_lams: int, eps: float) -> Lams:
    """Lams in equal ratios, from the largest at which more than the length of the weights changes, down to eps of it.

    lam multiplies a mean over the rows, so the same lams suit all rows and a fold of them.
    """
    tops = [largest_lam(problem) for problem in problems]
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
    """The smallest lam over the largest, and when to go on to the next."""
    if tol is None:
        raise PegasosError("tol must be a number: a path goes on to the next lam when a fit has reached it.")
    check.check_positive("eps", eps)
    if not eps < 1.0:
        raise PegasosError(f"eps is the smallest lam over the largest and must be below 1, got {eps!r}.")


def falling(lams: Any) -> Lams:
    """The lams of the user, who may have sorted them either way, the largest first."""
    try:
        given = np.asarray(lams, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"lams must be positive numbers, got {lams!r}.") from error
    if given.ndim != 1 or len(given) == 0:
        raise PegasosError(f"lams must be a list of at least one number, got {lams!r}.")
    for lam in given:
        check.check_positive("each of lams", float(lam))
    order = -1 if len(given) > 1 and given[1] > given[0] else 1
    found = given[::order].copy()
    for above, below in pairwise(found):
        if above == below:
            raise PegasosError(f"lams must differ from one another, got {above:g} twice.")
        if above < below:
            raise PegasosError("lams must be sorted, since each fit begins where the last one ends: give sorted(lams).")
    return found


def in_threads(tasks: Sequence[Callable[[Watcher], Result]], n_jobs: int | None) -> list[Result]:
    """The results of the tasks, in order. An interrupt or a failure tells the drivers of all of them to stop."""
    stopped = Event()
    watcher = Watcher(interrupted=stopped.is_set)
    with ThreadPoolExecutor(min(len(tasks), check.threads_of(n_jobs))) as pool:
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
        # A task that was told to stop ends with an interrupt: what made it stop comes first.
        failed.sort(key=lambda future: isinstance(future.exception(), KeyboardInterrupt))
        return [future.result() for future in failed or futures]
