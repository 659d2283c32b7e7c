"""The objective of a model on given rows, and the slack of each: from its scores, independently of any solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.fitting.result import Fit
from pegasos.machines.base import Data
from pegasos.tasks.base import Members, Scores, numbers
from pegasos.tasks.terms import Terms


@dataclass(frozen=True)
class _Places:
    """Rows of which only the number matters: only signs, costs and offsets of the problems are used."""

    n_rows: int

    def view(self, mine: Members, *, repeats: int = 1) -> _Places:
        """Some of them."""
        return _Places(len(numbers(mine, self.n_rows)))


@dataclass(frozen=True, eq=False)
class Measured:
    """Rows under a model.

    Attributes
    ----------
    slack : array of shape (n_rows, n_problems), how far each row is from where its loss is 0; 0 outside a problem
    losses : the mean loss of each problem
    lams : the lam of each problem
    """

    slack: Scores
    losses: npt.NDArray[np.float64]
    lams: npt.NDArray[np.float64]


class Residuals(NamedTuple):
    """Rows in one problem.

    Attributes
    ----------
    rows : their numbers; with numeric targets each occurs twice, once per side
    reached : 1 - margin: the loss is that of this number
    cost : what multiplies the loss
    lam : that of the problem
    """

    rows: npt.NDArray[np.intp]
    reached: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]
    lam: float


def residuals(fitted: Fit, data: Data, task: Any, terms: Terms, threads: int = 1) -> list[Residuals]:
    """The rows in each problem of ``task`` and ``terms``, under the weights of a fit."""
    target = task.target(data.y, data.weights)
    scores = fitted.scores(data, threads)
    n = len(scores)
    problems = task.problems(_Places(n), target, data.weights, terms)
    found = []
    for k, mine in enumerate(task.members(target)):
        problem, rows = problems[k], numbers(mine, n)
        if task.n_vectors > 1:
            reached = 1.0 - task.margins(scores, target, None)
        else:
            reached = 1.0 - problem.sign * (scores[rows, k] + problem.offset)
        found.append(Residuals(rows, reached, problem.cost, problem.lam))
    return found


def measure(fitted: Fit, data: Data, task: Any, terms: Terms, threads: int = 1) -> Measured:
    """Slack and losses of rows under the weights of a fit."""
    n = len(data.y) if not sp.issparse(data.y) else data.y.shape[0]
    total = float(n) if data.weights is None else float(data.weights.sum())
    if not total > 0.0:
        raise PegasosError("sample_weight is zero for every row: give at least one row a weight.")
    terms = replace(terms, total=total)
    found = residuals(fitted, data, task, terms, threads)
    slack, losses = np.zeros((n, len(found))), np.zeros(len(found))
    for k, one in enumerate(found):
        np.add.at(slack[:, k], one.rows, np.maximum(one.reached, 0.0))
        own = total if len(one.rows) >= n else _total_of(data, one.rows)
        if own > 0.0:
            losses[k] = float(np.sum(one.cost * terms.loss.value(one.reached))) / own
    return Measured(slack, losses, np.array([one.lam for one in found]))


def _total_of(data: Data, rows: npt.NDArray[np.intp]) -> float:
    return float(len(rows)) if data.weights is None else float(data.weights[rows].sum())


def objective_of(fitted: Fit, data: Data, task: Any, terms: Terms, threads: int = 1) -> float:
    """The sum over the problems of lam / 2 |w|^2 and the mean loss."""
    measured = measure(fitted, data, task, terms, threads)
    model: Any = fitted.model
    squares = model.squares(terms.bias, data.X)
    lams = np.repeat(measured.lams, task.n_vectors) if task.n_vectors > 1 else _own_lams(fitted, measured.lams)
    return float(np.sum(0.5 * lams * squares) + measured.losses.sum())


def _own_lams(fitted: Fit, of_rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Those of the fit for pairs of classes, which with C depend on the rows; otherwise those of the problems."""
    own = np.asarray(fitted.lam if fitted.terms is not None and fitted.origin is None else of_rows, np.float64)
    return own if own.shape == of_rows.shape else of_rows
