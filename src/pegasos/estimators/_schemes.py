"""How several classes become binary problems, and the scores of those a decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pegasos.estimators._targets import Terms, Weights, costs_of
from pegasos.problem import Problem, RowsLike, constant

Scores = npt.NDArray[np.float64]


class Scheme(Protocol):
    """What an estimator asks of ``multi_class``."""

    def n_problems(self, n_classes: int) -> int:
        """Return how many problems so many classes make."""

    def problems(
        self,
        rows: RowsLike,
        codes: npt.NDArray[np.intp],
        weights: Weights | None,
        terms: Terms,
        offsets: Sequence[Scores] | None,
    ) -> list[Problem]:
        """Return the problems of rows with these class numbers; an offset for each, where there is a prior."""

    def of_classes(self, scores: Scores) -> Scores:
        """Return the scores of the problems, one column each, from those of the classes: a prior's.

        For two classes there is one column: of the second against the first.
        """

    def decisions(self, scores: Scores, n_classes: int) -> Scores:
        """Return the score of each class, of shape (n_rows, n_classes), from those of the problems.

        For two classes of shape (n_rows,): positive for the second.
        """

    def certified(self, scores: Scores, reach: Scores, n_classes: int) -> npt.NDArray[np.bool_]:
        """Whether no scores within reach of these, problem by problem, decide for another class."""


class OneVsRest:
    """One problem a class, against the rest; two classes make one problem. They share rows and costs."""

    def n_problems(self, n_classes: int) -> int:
        """One a class."""
        return 1 if n_classes == 2 else n_classes

    def problems(
        self,
        rows: RowsLike,
        codes: npt.NDArray[np.intp],
        weights: Weights | None,
        terms: Terms,
        offsets: Sequence[Scores] | None,
    ) -> list[Problem]:
        """All of them over all rows."""
        cost = costs_of(codes, weights, terms.factors)
        n = self.n_problems(terms.n_classes)
        offsets = [constant(0.0, rows.n_rows)] * n if offsets is None else offsets
        return [
            Problem(rows, sign, cost, offset, terms.lam, terms.total)
            for sign, offset in zip(self.signs(codes, terms.n_classes), offsets, strict=True)
        ]

    def signs(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[npt.NDArray[np.int8]]:
        """The labels of each problem."""
        positive = [1] if n_classes == 2 else range(n_classes)
        return [np.where(codes == k, np.int8(1), np.int8(-1)) for k in positive]

    def of_classes(self, scores: Scores) -> Scores:
        """The scores themselves."""
        return scores

    def decisions(self, scores: Scores, n_classes: int) -> Scores:
        """The scores themselves."""
        return scores[:, 0] if n_classes == 2 else scores

    def certified(self, scores: Scores, reach: Scores, n_classes: int) -> npt.NDArray[np.bool_]:
        """Whether the winner's least score is above the largest of every other class."""
        if n_classes == 2:
            return np.asarray(np.abs(scores[:, 0]) > reach[:, 0])
        winner = scores.argmax(axis=1)[:, None]
        least = np.take_along_axis(scores - reach, winner, axis=1)[:, 0]
        rivals = scores + reach
        np.put_along_axis(rivals, winner, -np.inf, axis=1)
        return np.asarray(least > rivals.max(axis=1))


schemes: dict[str, Scheme] = {"ovr": OneVsRest()}
