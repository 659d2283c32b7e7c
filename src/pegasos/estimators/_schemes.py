"""How several classes become binary problems, and the scores of those a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.estimators._targets import Terms, Weights, costs_of
from pegasos.joint_problem import JointProblem, no_offset
from pegasos.problem import Problem, RowsLike, constant

Scores = npt.NDArray[np.float64]


class Scheme(Protocol):
    """What an estimator asks of ``multi_class``."""

    def n_problems(self, n_classes: int) -> int:
        """Return how many problems so many classes make."""

    def n_vectors(self, n_classes: int) -> int:
        """Return how many weight vectors each of them has."""

    def problems(
        self,
        rows: Any,
        codes: npt.NDArray[np.intp],
        weights: Weights | None,
        terms: Terms,
        offsets: Sequence[Scores] | None,
    ) -> list[Any]:
        """Return the problems of rows with these class numbers; an offset for each, where there is a prior."""

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

    def n_vectors(self, n_classes: int) -> int:
        """One."""
        return 1

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


class CrammerSinger:
    """One problem of all classes at once.

    Of two classes it is that of w_1 - w_0, an ordinary problem with half the lam: of all pairs with one difference the
    shortest is w_1 = -w_0.
    """

    def n_problems(self, n_classes: int) -> int:
        """One."""
        return 1

    def n_vectors(self, n_classes: int) -> int:
        """One a class; of two classes their difference."""
        return 1 if n_classes == 2 else n_classes

    def problems(
        self,
        rows: Any,
        codes: npt.NDArray[np.intp],
        weights: Weights | None,
        terms: Terms,
        offsets: Sequence[Scores] | None,
    ) -> list[Any]:
        """A `JointProblem`; its offset is of shape (n_rows, n_classes)."""
        if terms.n_classes == 2:
            return OneVsRest().problems(rows, codes, weights, replace(terms, lam=0.5 * terms.lam), offsets)
        # A row that counts nothing may be of no class, numbered -1.
        known = np.maximum(codes, 0).astype(np.int32)
        offset = no_offset(rows.n_rows, terms.n_classes) if offsets is None else offsets[0]
        cost = costs_of(codes, weights, terms.factors)
        return [JointProblem(rows, known, cost, offset, terms.lam, terms.total)]

    def decisions(self, scores: Scores, n_classes: int) -> Scores:
        """The scores themselves."""
        return scores[:, 0] if n_classes == 2 else scores

    def certified(self, scores: Scores, reach: Scores, n_classes: int) -> npt.NDArray[np.bool_]:
        """Whether the winner is ahead by more than the difference of two scores can move.

        Within a distance r of all weights together, w_r - w_s moves by at most sqrt(2) r.
        """
        if n_classes == 2:
            return np.asarray(np.abs(scores[:, 0]) > reach[:, 0])
        first_two = np.partition(scores, n_classes - 2, axis=1)[:, -2:]
        return np.asarray(first_two[:, 1] - first_two[:, 0] > np.sqrt(2.0) * reach.max(axis=1))


schemes: dict[str, Scheme] = {"ovr": OneVsRest(), "crammer_singer": CrammerSinger()}
