"""One class: separate rows from the origin; what lies closer to it than all but nu of them is novel.

    min 1/2 |w|^2 - rho + 1/(nu N) sum_i weight_i max(0, rho - <w, x_i>)      (Schoelkopf et al.: Estimating the support
                                                                              of a high-dimensional distribution. 2001)

With w = rho v and lam = 1 / (the bound on the dual variables) it is the hinge problem of v with all signs +1 and no
constant column, at the lam whose dual point spends nu: `fitting.nu` finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.problem import Problem, RowsLike, constant
from pegasos.tasks.base import NOTHING_KNOWN, Known, Members, Scores, Target, Weights
from pegasos.tasks.terms import Terms

_ROUNDING = 1e-12  # fraction of the largest score that another order of summation may change


@dataclass(frozen=True, eq=False)
class OneClass:
    """A task without targets."""

    total: float = 0.0
    n_rows: int = 0
    lams_found: tuple[float, ...] | None = None

    nu_is_along = "lam"
    nu_may_be_small = True
    name = "one_class"
    noun = "problem"
    words = "one class against the origin"
    n_problems = 1
    n_vectors = 1
    factors_range = (1.0, 1.0)

    @property
    def learnt(self) -> dict[str, Any]:
        """Nothing in addition to the weights."""
        return {}

    def learn(self, y: Any, weights: Weights | None) -> Self:
        """The task of rows with these weights, without targets."""
        return self

    def of_rows(self, n_rows: int, weights: Weights | None) -> Self:
        """The task for this many rows."""
        total = float(n_rows if weights is None else weights.sum())
        if not total > 0.0:
            raise PegasosError("sample_weight is zero for every row: give at least one row a weight.")
        return replace(self, total=total, n_rows=n_rows)

    def why_nu_is_small(self, least: float) -> str:
        """Explain why no solution spends less than this share."""
        return f"no plane separates more than {1.0 - least:.4g} of the rows from the origin"

    def with_found(self, lams: tuple[float, ...]) -> Self:
        """The task with the lam that spends nu."""
        return replace(self, lams_found=lams)

    def target(self, y: Any, weights: Weights | None) -> Target:
        """There are none."""
        return np.empty(0)

    def check_seen(self, target: Target, weights: Weights | None) -> None:
        """Accept everything: there are no labels to check."""

    def rows_per_problem(self, n_rows: int) -> int:
        """The number of rows of a problem: all of them."""
        return n_rows

    def members(self, target: Target) -> list[Members]:
        """All rows."""
        return [slice(None)]

    def is_present(self, target: Target, weights: Weights | None) -> list[bool]:
        """Every row is relevant."""
        return [True]

    def problems(
        self, rows: RowsLike, target: Target, weights: Weights | None, terms: Terms, known: Known = NOTHING_KNOWN
    ) -> Sequence[Any]:
        """The hinge problem of positive rows alone."""
        n = rows.n_rows
        cost = constant(1.0, n) if weights is None else weights
        lam = terms.lam if self.lams_found is None else self.lams_found[0]
        return [Problem(rows, np.ones(n, np.int8), cost, constant(0.0, n), lam, terms.total)]

    def units(self, target: Target, weights: Weights | None) -> list[float]:
        """The unit of each problem: 1, because margins are about 1."""
        return [1.0] * self.n_problems

    def completed(self, problems: Sequence[Problem], solutions: list[Any], nu: float) -> list[Any]:
        """Set the intercept to the best rho for the weights: at most nu of the rows score less."""
        (problem,), (solution,) = problems, solutions
        scores = problem.rows.scores_of(solution.weights)
        order = np.argsort(scores, kind="stable")
        below = np.cumsum(problem.cost[order])  # including the row itself
        # The first row such that the rows before it weigh at most nu, and together with it more.
        first = min(int(np.searchsorted(below, nu * problem.total, side="right")), len(order) - 1)
        rho = float(scores[order[first]])
        return [replace(solution, intercept=-(rho - _ROUNDING * float(np.abs(scores).max())))]

    def decisions(self, scores: Scores) -> Scores:
        """Positive inside."""
        return scores[:, 0]

    def answer(self, decisions: Scores) -> npt.NDArray[Any]:
        """1 inside and on the edge, -1 outside."""
        return np.where(decisions >= 0.0, 1, -1)

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """Whether no score within reach is on the other side."""
        return np.asarray(np.abs(scores[:, 0]) > reach[:, 0])
