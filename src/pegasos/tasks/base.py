"""The interface of a task: how targets become problems, and how their scores become answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from pegasos.rounding import Carried
from pegasos.tasks.terms import Terms

Scores = npt.NDArray[np.float64]  # (n_rows, n_problems * n_vectors)
Weights = npt.NDArray[np.float64]
Target = npt.NDArray[Any]  # one number per row: y in the form that a problem uses
Members = npt.NDArray[np.intp] | slice  # row numbers of a problem; slice(None) for all rows


@dataclass(frozen=True)
class Known:
    """Scores that rows have before anything is learned: those of a prior."""

    offsets: Sequence[Scores] | None = None  # one array per problem
    carried: Sequence[Carried] | None = None  # what rounding must account for, where it is known


NOTHING_KNOWN = Known()


class Task(Protocol):
    """What y means.

    A task is immutable. An estimator creates it with parameters only; `learn` returns the task of given targets, which
    has the number of problems. A task is independent of rows, models and solvers.
    """

    name: ClassVar[str]  # value of the estimators' parameter
    noun: ClassVar[str]  # word for one of its problems
    words: ClassVar[str]  # what its problems are about

    @property
    def n_problems(self) -> int:
        """Number of problems to solve."""

    @property
    def n_vectors(self) -> int:
        """Weight vectors per problem: scores have ``n_problems * n_vectors`` columns."""

    @property
    def learnt(self) -> dict[str, Any]:
        """What was learned from the targets; the names, with an underscore, are attributes of the estimators."""

    @property
    def total(self) -> float:
        """Total sample weight of all rows so far."""

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""

    @property
    def factors_range(self) -> tuple[float, float]:
        """The smallest positive and the largest factor on a sample weight."""

    def learn(self, y: Any, weights: Weights | None) -> Self:
        """Return the task of these targets."""

    def with_parameters_of(self, other: Any) -> Self:
        """Return the task of the stream so far with the parameters of another one."""

    def begin(self, classes: Any) -> Self:
        """Return the task of a stream before its first row."""

    def goes_on(self, classes: Any) -> None:
        """Check what a later call of a stream states about its targets."""

    def follow(self, y: Any, weights: Weights | None) -> Self:
        """Return the task of a stream after another block."""

    def target(self, y: Any, weights: Weights | None) -> Target:
        """Return y as numbers; raise an error for targets that the task does not include."""

    def check_seen(self, target: Target, weights: Weights | None) -> None:
        """Raise an error if these rows cannot be those of the fit."""

    def check_complete(self, target: Target, weights: Weights | None) -> None:
        """Raise an error if these rows cannot be those that a model trained elsewhere was trained on."""

    def rows_per_problem(self, n_rows: int) -> int:
        """Estimate how many of this many rows one problem contains."""

    def members(self, target: Target) -> list[Members]:
        """Return the rows of each problem."""

    def is_present(self, target: Target, weights: Weights | None) -> list[bool]:
        """Whether each problem has relevant rows among these."""

    def problems(
        self, rows: Any, target: Target, weights: Weights | None, terms: Terms, known: Known = NOTHING_KNOWN
    ) -> Sequence[Any]:
        """Return the problems of rows with these targets."""

    def units(self, target: Target, weights: Weights | None) -> list[float]:
        """Return the size of a usual residual of each problem, a power of two; 1 for classes."""

    def decisions(self, scores: Scores) -> Scores:
        """Return what `decision_function` returns."""

    def answer(self, decisions: Scores) -> npt.NDArray[Any]:
        """Return what `predict` returns."""

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """Whether all scores within reach of these, problem by problem, give the same answer."""

    def margins(self, scores: Scores, target: Target, products: Scores | None) -> Scores:
        """Return the margin of each row, divided by the length of the weights whose products are given."""


def sizes(members: Sequence[Members], n_rows: int) -> list[int]:
    """Number of rows in each problem."""
    return [n_rows if isinstance(mine, slice) else len(mine) for mine in members]


def numbers(mine: Members, n: int) -> npt.NDArray[np.intp]:
    """The rows of a problem about n of them."""
    return np.arange(n) if isinstance(mine, slice) else mine
