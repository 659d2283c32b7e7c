"""What a task is: how targets become problems, and how the scores of those become answers."""

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
Target = npt.NDArray[Any]  # one number per row: y as a problem can use it
Members = npt.NDArray[np.intp] | slice  # the rows of a problem, by number; slice(None): all of them


@dataclass(frozen=True)
class Known:
    """Scores that rows have before anything is learned: those of a prior."""

    offsets: Sequence[Scores] | None = None  # one array per problem
    carried: Sequence[Carried] | None = None  # what rounding must account for, where it is known


NOTHING_KNOWN = Known()


class Task(Protocol):
    """What y means.

    A task is immutable. As an estimator makes it, it holds parameters only; `learn` returns the task of given targets,
    which knows how many problems there are. Rows, models and solvers are none of its business.
    """

    name: ClassVar[str]  # as the parameter of the estimators spells it
    noun: ClassVar[str]  # what one of its problems is called
    words: ClassVar[str]  # what its problems are about

    @property
    def n_problems(self) -> int:
        """Problems to solve."""

    @property
    def n_vectors(self) -> int:
        """Weight vectors per problem: scores have ``n_problems * n_vectors`` columns."""

    @property
    def learnt(self) -> dict[str, Any]:
        """What it learned of the targets; the names, with an underscore, are attributes of the estimators."""

    @property
    def total(self) -> float:
        """The sample weight of all rows so far."""

    @property
    def n_rows(self) -> int:
        """How many rows there were so far."""

    @property
    def factors_range(self) -> tuple[float, float]:
        """The smallest above 0 and the largest number that multiplies a sample weight."""

    def learn(self, y: Any, weights: Weights | None) -> Self:
        """Return the task of these targets."""

    def with_parameters_of(self, other: Any) -> Self:
        """Return the task of a stream so far with the parameters of another one."""

    def begin(self, classes: Any) -> Self:
        """Return the task of a stream before its first row."""

    def goes_on(self, classes: Any) -> None:
        """Check what a later call of a stream says of its targets."""

    def follow(self, y: Any, weights: Weights | None) -> Self:
        """Return the task of a stream after another block."""

    def target(self, y: Any, weights: Weights | None) -> Target:
        """Return y as numbers; what the task does not know raises an error."""

    def check_seen(self, target: Target, weights: Weights | None) -> None:
        """Raise an error where these rows cannot be those of the fit."""

    def check_complete(self, target: Target, weights: Weights | None) -> None:
        """Raise an error where these rows cannot be those that a model trained elsewhere was trained on."""

    def rows_per_problem(self, n_rows: int) -> int:
        """Return about how many of so many rows one problem is about."""

    def members(self, target: Target) -> list[Members]:
        """Return which rows each problem is about."""

    def is_present(self, target: Target, weights: Weights | None) -> list[bool]:
        """Whether these rows tell each problem anything."""

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
        """Whether no scores within reach of these, problem by problem, have another answer."""

    def margins(self, scores: Scores, target: Target, products: Scores | None) -> Scores:
        """Return by how much each row is right; divided by the length of the weights whose products are given."""


def sizes(members: Sequence[Members], n_rows: int) -> list[int]:
    """How many of the rows each problem is about."""
    return [n_rows if isinstance(mine, slice) else len(mine) for mine in members]


def numbers(mine: Members, n: int) -> npt.NDArray[np.intp]:
    """The rows of a problem about n of them."""
    return np.arange(n) if isinstance(mine, slice) else mine
