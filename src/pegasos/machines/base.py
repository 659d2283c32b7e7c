"""The interface of a machine: what rows are, which solver suits them, and what a model over them is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate
from pegasos.machines.settings import Settings
from pegasos.problem import Floats
from pegasos.solution import Solution
from pegasos.solvers.driver import Model as Point
from pegasos.solvers.driver import Solver, Stop, Watcher
from pegasos.tasks.base import NOTHING_KNOWN, Known, Members, Scores, Task, Weights
from pegasos.tasks.terms import Terms

Points = Sequence[Point | Solution]  # the point of each problem
Settled = Callable[[Scores, Scores], npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Data:
    """The user's rows after scikit-learn's checks, with their targets and weights."""

    X: Any
    y: Any = None
    weights: Weights | None = None
    given: Any = None  # X as the user passed it, for a prior that refers to columns by name
    names: Sequence[str] | None = None  # names of the features
    begun: float = field(default_factory=perf_counter)  # when the fit started

    @property
    def seconds(self) -> float:
        """Seconds since the fit started."""
        return perf_counter() - self.begun


class BoundedScores(NamedTuple):
    """Scores with bounds on their distance from those of an exact solution."""

    scores: Scores
    lengths: npt.NDArray[np.float64]  # |x| of each row, with the constant column
    rounding: Any  # error bound of each problem's scores, for a row of length 1
    rows: Any  # as read: `Rows`, or items of a kernel


class Prior(Protocol):
    """A previously trained model, prepared for a task."""

    source: Any  # the object that the user passed

    def known(self, data: Data, rows: Any) -> Known:
        """Return the scores of these rows."""


class Model(Protocol):
    """A model that predicts. The names of its vectors, with an underscore, are attributes of the estimators."""

    @property
    def prior(self) -> Any:
        """The prior that the scores include, or None."""

    @property
    def intercept(self) -> npt.NDArray[np.float64]:
        """One intercept per score."""

    @property
    def vectors(self) -> dict[str, Any]:
        """The vectors that a user may read and edit, by name."""

    def edited(self, attributes: dict[str, Any]) -> Any:
        """Return the model with the current vectors of an estimator."""

    def scores(self, data: Data, settled: Settled, threads: int) -> Scores:
        """Return the scores of all problems, one column each."""

    def measured(self, data: Data, bias: float, settled: Settled) -> BoundedScores:
        """Return scores with bounds on their distance from those of an exact solution."""

    def lengths(self, certificate: Certificate, bias: float) -> npt.NDArray[np.float64]:
        """Return |w| of each problem, without the part for the intercept; NaN where it is unknown."""

    def products(self) -> npt.NDArray[np.float64]:
        """Return <w_k, w_l> of the weights of all problems, without intercepts."""

    def squares(self, bias: float, X: Any) -> npt.NDArray[np.float64]:
        """Return |w|^2 of each score, relative to the prior, with the weight of a constant column of this value."""


class Machine(Protocol):
    """What rows are, and how problems over them are solved. A machine is independent of classes."""

    doubt: str | None  # why a certificate would prove nothing, for a kernel that is not positive semi-definite

    def read(self, data: Data, settings: Settings, task: Task) -> tuple[Any, Any]:
        """Return the machine for these rows, since a kernel's parameters may depend on them, and the rows."""

    def part(self, data: Data, members: npt.NDArray[np.intp], against: Any = None) -> Data:
        """Return some of the rows; ``against`` are the rows of a fit that will score them."""

    def read_again(self, data: Data, model: Any, terms: Terms) -> Any:
        """Return the rows of a fitted model."""

    def read_prior(self, settings: Settings, task: Any, data: Data) -> Any:
        """Return the prior of the settings, for the features of the data; None where there is none."""

    def solver_for(self, rows: Any, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """Return the solver of a problem on n of the rows."""

    def states(
        self,
        stream: Any,
        alphas: list[Any],
        solvers: Sequence[Any],
        problems: Sequence[Any],
        *,
        n_rows: list[int],
        seed: int,
    ) -> list[Any]:
        """Return where the last fit ended, where that suits these problems; None means a fresh start."""

    def solve(self, problems: Sequence[Any], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Return one solution for each problem."""

    def spend(self, problems: Sequence[Any], stop: Stop, plan: Plan, nu: float) -> Sequence[Any]:
        """Return the parameter that spends nu with its solution, for each problem; None where it must be searched."""

    def threads_within(self, problems: Sequence[Any]) -> AbstractContextManager[Any]:
        """Context in which each problem has the number of threads that suits it."""

    def finish(self, rows: Any, problems: Sequence[Any], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """Return the solutions in the form from which a model is built."""

    def model_of(self, points: Points, members: list[Members], data: Data, *, prior: Any, bias: float) -> Any:
        """Return the model built from the point of each problem."""

    def points(
        self,
        model: Any,
        problems: Sequence[Any],
        members: list[Members],
        alphas: list[Floats],
        *,
        data: Data,
        terms: Terms,
    ) -> Any:
        """Return each problem with its weights and its dual point, for a fitted model."""

    def state_after(self, solutions: list[Solution], model: Any, n_rows: int, seed: int, steps: list[int]) -> Any:
        """Return what a stream or a warm start continues from after a fit that is worth this many steps."""

    def streaming(self, model: Any, data: Data) -> Streaming:
        """Return how this machine learns from a stream: from the current model, or from its first block."""


class Streaming(Protocol):
    """How a machine learns from a stream, one block after the other."""

    def begin(self, data: Data, settings: Settings, task: Task) -> Any:
        """Return the state of a stream before its first block."""

    def read(self, stream: Any, data: Data, settings: Settings) -> Any:
        """Return the rows of a block."""

    def learn(
        self, stream: Any, rows: Any, problems: Sequence[Any], data: Data, plan: Plan
    ) -> tuple[Any, list[Solution]]:
        """Return the state and the solutions after one pass over a block."""

    def model_of(self, stream: Any, prior: Any, bias: float) -> Any:
        """Return the model after a block."""


@dataclass(frozen=True)
class Plan:
    """How the problems of one fit are solved."""

    settings: Settings
    task: Any
    terms: Terms
    seed: int
    states: Sequence[Any]
    watchers: Sequence[Watcher]
    is_seen: bool = False  # whether an observer follows every epoch


def known_of(prior: Prior | None, data: Data, rows: Any) -> Known:
    """The prior's scores of these rows."""
    return NOTHING_KNOWN if prior is None else prior.known(data, rows)
