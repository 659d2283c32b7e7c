"""Where a fit starts that continues from another one: its dual point, also where there are more rows now, or fewer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.fitting.objective import Residuals, residuals
from pegasos.fitting.result import Fit
from pegasos.fitting.starts import Ready
from pegasos.machines.base import Data
from pegasos.solvers.pegasos import Pegasos
from pegasos.tasks.terms import Terms

_NEAR = 0.05  # beyond the margin: rows up to there may have a positive dual variable
_MOSTLY = 0.9  # share of rows within the margin above which their dual variables are much the same anyway

Floats = npt.NDArray[np.float64]


class WarmStart:
    """Where the last fit ended, if it was of the same task.

    With as many rows as then, at its dual point. Otherwise the first rows keep their dual variables, where these agree
    with the weights, and the others get those that the weights mean: cost times the slope of the loss. Any dual point
    is a valid start, so the certificate does not depend on whether the rows are the same. Kernel machines start from
    zero then: decomposition from a moved dual point took 0.7 to 3 times as long as from zero, on average longer.
    """

    def __init__(self, last: Fit):
        self.last = last

    def states(self, ready: Ready) -> list[Any]:
        """The states of the last fit, where they fit these problems."""
        last, nothing = self.last, [None] * len(ready.problems)
        if last.state is None or last.terms is None or last.task.name != ready.task.name:
            return nothing
        alphas = last.alphas
        if [len(alpha) for alpha in alphas] != ready.n_rows and not isinstance(ready.solvers[0], Pegasos):
            if not self._can_score(ready.task, ready.data):
                return nothing
            alphas = self._moved(ready.task, ready.data, ready.terms)
        of_run: dict[str, Any] = {"n_rows": ready.n_rows, "seed": ready.seed}
        states: list[Any] = ready.machine.states(last.state, alphas, ready.solvers, ready.problems, **of_run)
        return states

    def _can_score(self, task: Any, data: Data) -> bool:
        """Whether the last model scores such rows, and its scores mean the same."""
        before, model = self.last.task, self.last.model
        if data.y is None or before.n_problems != task.n_problems:
            return False
        if task.n_vectors > 1:  # a problem of all classes gains nothing from it
            return False
        if not np.array_equal(getattr(before, "classes", 0), getattr(task, "classes", 0)):
            return False
        coef = getattr(model, "coef", None)
        return coef is not None and bool(coef.shape[1] == data.X.shape[1])

    def _moved(self, task: Any, data: Data, terms: Terms) -> list[Floats]:
        """A dual point of these rows, from that of the last fit and its weights."""
        found = residuals(self.last, data, task, terms)
        alphas = [one.cost * terms.loss.slope(one.reached) for one in found]
        before = self.last.task.n_rows
        kept = [
            _first_rows(alpha, one, before, task.n_rows) for alpha, one in zip(self.last.alphas, found, strict=False)
        ]
        if len(kept) == len(found) and all(one is not None for one in kept):
            is_first = [one.rows < before for one in found]
            if _agree(kept, [one.reached[mine] for one, mine in zip(found, is_first, strict=True)]):
                for alpha, mine, known in zip(alphas, is_first, kept, strict=True):
                    alpha[mine] = known
        return alphas


def _first_rows(alpha: Any, now: Residuals, before: int, n_rows: int) -> Floats | None:
    """The dual variables of the rows that there were before; None where they cannot be those of these rows."""
    n_sides = 2 if len(now.rows) == 2 * n_rows else 1  # numbers have two sides, one after the other
    each = np.asarray(alpha, np.float64).reshape(n_sides, -1)
    n_first = int(np.count_nonzero(now.rows < before)) // n_sides
    if n_first > each.shape[1] or (n_rows >= before and n_first < each.shape[1]):
        return None
    return each[:, :n_first].reshape(-1)


def _agree(kept: list[Any], reached: list[Floats]) -> bool:
    """Whether rows with a positive dual variable are within the margin, more than chance would have it."""
    alpha, within = np.concatenate(kept), np.concatenate(reached) > -_NEAR
    if not alpha.any() or within.mean() > _MOSTLY:
        return True
    return bool(within[alpha > 0.0].mean() >= 0.5 * (1.0 + within.mean()))
