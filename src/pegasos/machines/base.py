"""What a machine is: what rows are, which solver suits them, and what a model over them is."""

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

Settled = Callable[[Scores, Scores], npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Data:
    """The user's rows as scikit-learn's checks leave them, with their targets and weights."""

    X: Any
    y: Any = None
    weights: Weights | None = None
    given: Any = None  # X as the user gave it, where a prior needs that: it may know its columns by name
    names: Sequence[str] | None = None  # of the features
    begun: float = field(default_factory=perf_counter)  # when the fit began

    @property
    def seconds(self) -> float:
        """How long ago the fit began."""
        return perf_counter() - self.begun


class BoundedScores(NamedTuple):
    """Scores with what bounds their distance from those of an exact solution."""

    scores: Scores
    lengths: npt.NDArray[np.float64]  # |x| of each row, with the constant column
    rounding: Any  # of each problem's scores, for a row of length 1
    rows: Any  # as they were read: `Rows`, or items of a kernel


class Prior(Protocol):
    """What was learned before, read for a task."""

    source: Any  # what the user gave

    def known(self, data: Data, rows: Any) -> Known:
        """Return the scores of these rows."""


class Model(Protocol):
    """What predicts. The names of its vectors, with an underscore, are the attributes of the estimators."""

    @property
    def prior(self) -> Any:
        """What the scores include of a prior; None where there is none."""

    @property
    def intercept(self) -> npt.NDArray[np.float64]:
        """One per score."""

    @property
    def vectors(self) -> dict[str, Any]:
        """What a user may look at, and edit, by name."""

    def edited(self, attributes: dict[str, Any]) -> Any:
        """Return the model with the vectors that an estimator has now."""

    def scores(self, data: Data, settled: Settled, threads: int) -> Scores:
        """Return the scores of all problems, one column each."""

    def measured(self, data: Data, bias: float, settled: Settled) -> BoundedScores:
        """Return scores, and what bounds their distance from those of an exact solution."""

    def lengths(self, certificate: Certificate, bias: float) -> npt.NDArray[np.float64]:
        """Return |w| of each problem, without what carries the intercept; NaN where it is not known."""

    def products(self) -> npt.NDArray[np.float64]:
        """Return <w_k, w_l> of the weights of all problems, without intercepts."""


class Machine(Protocol):
    """What rows are, and how problems over them are solved. It knows nothing of classes."""

    doubt: str | None  # why a certificate would prove nothing, for a kernel that is not positive semi-definite

    def read(self, data: Data, settings: Settings, task: Task) -> tuple[Any, Any]:
        """Return the machine for these rows, since a kernel's parameters may depend on them, and the rows."""

    def part(self, data: Data, members: npt.NDArray[np.intp], against: Any = None) -> Data:
        """Return some of the rows; ``against`` are those of a fit that they are to be scored by."""

    def read_again(self, data: Data, model: Any, terms: Terms) -> Any:
        """Return the rows of a fitted model."""

    def read_prior(self, settings: Settings, task: Any, data: Data) -> Any:
        """Return the prior of the settings, for the features of the data; None where there is none."""

    def solver_for(self, rows: Any, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """Return the solver of a problem about n of the rows."""

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
        """Return where the last fit ended, as far as it suits these problems; None: start anew."""

    def solve(self, problems: Sequence[Any], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Return one solution for each problem."""

    def threads_within(self, problems: Sequence[Any]) -> AbstractContextManager[Any]:
        """While this lasts, each problem has the threads that suit it."""

    def finish(self, rows: Any, problems: Sequence[Any], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """Return the solutions as they become a model."""

    def model_of(
        self, points: Sequence[Point | Solution], members: list[Members], data: Data, *, prior: Any, bias: float
    ) -> Any:
        """Return what predicts, from the point of each problem."""

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
        """Return what a stream or a warm start goes on from after a fit that is worth so many steps."""

    def streaming(self, model: Any, data: Data) -> Streaming:
        """Return how this machine learns from a stream: from the model so far, or from its first block."""


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
        """Return what predicts after a block."""


@dataclass(frozen=True)
class Plan:
    """How the problems of one fit are solved."""

    settings: Settings
    task: Any
    terms: Terms
    seed: int
    states: Sequence[Any]
    watchers: Sequence[Watcher]
    is_seen: bool = False  # whether somebody looks on at every epoch


def known_of(prior: Prior | None, data: Data, rows: Any) -> Known:
    """What a prior says of these rows."""
    return NOTHING_KNOWN if prior is None else prior.known(data, rows)
