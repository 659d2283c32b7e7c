"""Multilabel classification: y is an indicator matrix, and each column is its own problem over the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.problem import Problem, RowsLike, constant
from pegasos.rounding import nothing
from pegasos.tasks.base import NOTHING_KNOWN, Known, Scores, Target, Weights
from pegasos.tasks.one_vs_rest import OneVsRest
from pegasos.tasks.terms import Terms


class ManyLabels(OneVsRest):
    """One problem per label: whether a row has it.

    The classes are the column numbers. ``totals`` are the sample weights of the rows that have each label, ``counts``
    those of all rows, once per label.
    """

    name = "many_labels"
    noun = "label"
    words = "each label separately"

    @property
    def n_problems(self) -> int:
        """One per label."""
        return self.n_classes

    @property
    def total(self) -> float:
        """The sample weight of all rows."""
        return float(self.counts[0])

    @property
    def n_rows(self) -> int:
        """Approximate number of rows so far: their weight."""
        return round(self.total)

    @property
    def factors_range(self) -> tuple[float, float]:
        """The smallest and the largest factor of "balanced" on a sample weight."""
        factors = [factor for k in range(self.n_classes) for factor in self.sides(k) if factor > 0.0]
        return min(factors), max(factors)

    def sides(self, k: int) -> tuple[float, float]:
        """Factors on the costs of the rows with and without label k."""
        if self.class_weight is None:
            return 1.0, 1.0
        total, own = self.total, float(self.totals[k])
        return tuple(0.5 * total / side if side > 0.0 else 0.0 for side in (own, total - own))  # type: ignore[return-value]

    def learn(self, y: Any, weights: Weights | None) -> Self:
        """The task for this many columns."""
        if not (self.class_weight is None or isinstance(self.class_weight, str)):
            raise PegasosError(
                "class_weight must be None or 'balanced' where y is an indicator matrix: a dict names classes, and "
                "each label has the two classes 0 and 1."
            )
        total = float(y.shape[0] if weights is None else weights.sum())
        if not total > 0.0:
            raise PegasosError("sample_weight is zero for every row: give at least one row a weight.")
        totals = np.asarray(_is_set(y).sum(axis=0) if weights is None else _is_set(y).T @ weights, np.float64).ravel()
        return self.counted(np.arange(y.shape[1]), totals, np.full(y.shape[1], total))

    def counted(self, classes: npt.NDArray[Any], totals: Weights, counts: Weights) -> Self:
        """The task of these labels; their factors follow from the totals."""
        return type(self)(self.class_weight, classes, totals, counts)

    def target(self, y: Any, weights: Weights | None) -> Target:
        """The indicator matrix: which row has which label."""
        if getattr(y, "ndim", 0) != 2 or y.shape[1] != self.n_classes:
            raise PegasosError(f"y must be an indicator matrix with {self.n_classes} columns, as in the fit.")
        found: Target = _is_set(y)
        return found

    def check_seen(self, target: Target, weights: Weights | None) -> None:
        """Accept everything: any row may have any label."""

    def check_complete(self, target: Target, weights: Weights | None) -> None:
        """Accept everything: any row may have any label."""

    def problem_names(self, names: Sequence[str]) -> list[str]:
        """Each label."""
        return [f"label {name}" for name in names]

    def problems(
        self, rows: RowsLike, target: Target, weights: Weights | None, terms: Terms, known: Known = NOTHING_KNOWN
    ) -> Sequence[Any]:
        """One per label, over the same rows."""
        n = rows.n_rows
        offset, prior = constant(0.0, n), nothing
        found = []
        for k, sign in enumerate(self.signs(target)):
            if known.offsets is not None:
                offset, prior = known.offsets[k], nothing if known.carried is None else known.carried[k]
            lam = terms.lam if self.lams_found is None else self.lams_found[k]
            cost = self._costs(k, sign, weights)
            found.append(Problem(rows, sign, cost, offset, lam, terms.total, prior, terms.cap, terms.ridge))
        return found

    def _costs(self, k: int, sign: npt.NDArray[np.int8], weights: Weights | None) -> Weights:
        if self.class_weight is None:
            return constant(1.0, len(sign)) if weights is None else weights
        costs = np.where(sign > 0, *self.sides(k))
        return costs if weights is None else costs * weights

    def signs(self, target: Target) -> list[npt.NDArray[np.int8]]:
        """+1 for the rows that have each label."""
        given: Any = target
        columns = given.tocsc() if sp.issparse(given) else given
        return [
            2 * np.asarray(columns[:, [k]].toarray() if sp.issparse(columns) else columns[:, k]).ravel().astype(np.int8)
            - 1
            for k in range(self.n_classes)
        ]

    def mixing(self, labels: list[Any] | None, n_scores: int | None) -> Scores:
        """A prior has one score per label."""
        if n_scores not in (None, self.n_classes):
            raise PegasosError(f"prior has {n_scores} score(s) per row, and y has {self.n_classes} labels.")
        return np.eye(self.n_classes)

    def decisions(self, scores: Scores) -> Scores:
        """The score of each label, positive where a row has it."""
        return scores

    def answer(self, decisions: Scores) -> npt.NDArray[Any]:
        """The indicator matrix."""
        return (decisions > 0.0).astype(np.int64)

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """Whether no label can change."""
        return np.asarray((np.abs(scores) > reach).all(axis=1))

    def margins(self, scores: Scores, target: Target, products: Scores | None) -> Scores:
        """The least margin of any label."""
        lengths = 1.0 if products is None else np.sqrt(np.diag(products))
        return np.asarray((np.column_stack(self.signs(target)) * scores / lengths).min(axis=1))


def _is_set(y: Any) -> Any:
    """The nonzero entries of the indicator matrix."""
    return sp.csr_matrix(y != 0) if sp.issparse(y) else np.asarray(y) != 0
