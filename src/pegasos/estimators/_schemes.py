"""How several classes become binary problems, and the scores of those a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.estimators._targets import Terms, Weights, costs_of
from pegasos.joint_problem import JointProblem, no_offset
from pegasos.problem import Problem, RowsLike, constant
from pegasos.rounding import Carried, all_of, nothing

_rows_at_once = 1000
_least_probability = 1e-7

Scores = npt.NDArray[np.float64]
Members = npt.NDArray[np.intp] | slice  # the rows of a problem, by number; slice(None): all of them


def sizes(members: Sequence[Members], n_rows: int) -> list[int]:
    """How many of the rows each problem is about."""
    return [n_rows if isinstance(mine, slice) else len(mine) for mine in members]


def numbers(mine: Members, n: int) -> npt.NDArray[np.intp]:
    """The rows of a problem about n of them."""
    return np.arange(n) if isinstance(mine, slice) else mine


class Scheme(Protocol):
    """What an estimator asks of ``multi_class``."""

    noun: str  # what a problem is called

    def n_problems(self, n_classes: int) -> int:
        """Return how many problems so many classes make."""

    def members(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[Members]:
        """Return which rows each problem is about."""

    def is_present(self, totals: Weights) -> list[bool]:
        """Whether rows of which each class has this sample weight tell each problem anything."""

    def n_vectors(self, n_classes: int) -> int:
        """Return how many weight vectors each of them has."""

    def problems(
        self,
        rows: Any,
        codes: npt.NDArray[np.intp],
        weights: Weights | None,
        terms: Terms,
        offsets: Sequence[Scores] | None,
        *,
        carried: Sequence[Carried] | None = None,
    ) -> Sequence[Any]:
        """Return the problems of rows with these class numbers; where there is a prior, its scores and weights."""

    def signs(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[npt.NDArray[np.int8]]:
        """Return the labels of each problem; 0 for a row that has no part in it."""

    def against_others(self, scores: Scores, n_classes: int) -> Scores:
        """Return scores of which each one by itself says how likely its positive side is."""

    def probabilities(self, of_problems: Scores, n_classes: int) -> Scores:
        """Return the probability of each class, from those of the positive sides of the problems."""

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

    def margins(self, scores: Scores, codes: npt.NDArray[np.intp], products: Scores | None, n_classes: int) -> Scores:
        """Return by how much each row's class wins; divided by the length of the weights whose products are given."""


def winners(decisions: Scores) -> npt.NDArray[np.intp]:
    """The number of the class that the scores of the classes decide for."""
    if decisions.ndim == 1:
        return (decisions > 0.0).astype(np.intp)
    return np.asarray(decisions.argmax(axis=1))


def decided(decisions: Scores, classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The class that the scores of the classes decide for."""
    if decisions.ndim == 1 and classes.dtype.kind in "biuf":  # with no array of their numbers beside
        return np.where(decisions > 0.0, classes[1:], classes[:1])
    return np.asarray(classes[winners(decisions)])


class OneVsRest:
    """One problem a class, against the rest; two classes make one problem. They share rows and costs."""

    noun = "class"

    def n_problems(self, n_classes: int) -> int:
        """One a class."""
        return 1 if n_classes == 2 else n_classes

    def members(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[Members]:
        """All rows, for each."""
        return [slice(None)] * self.n_problems(n_classes)

    def is_present(self, totals: Weights) -> list[bool]:
        """Every row tells every problem something."""
        return [True] * self.n_problems(len(totals))

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
        *,
        carried: Sequence[Carried] | None = None,
    ) -> Sequence[Any]:
        """All of them over all rows."""
        cost = costs_of(codes, weights, terms.factors)
        n = self.n_problems(terms.n_classes)
        offsets = [constant(0.0, rows.n_rows)] * n if offsets is None else offsets
        priors = [nothing] * n if carried is None else carried
        return [
            Problem(rows, sign, cost, offset, terms.lam, terms.total, prior)
            for sign, offset, prior in zip(self.signs(codes, terms.n_classes), offsets, priors, strict=True)
        ]

    def signs(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[npt.NDArray[np.int8]]:
        """The labels of each problem."""
        positive = [1] if n_classes == 2 else range(n_classes)
        return [2 * (codes == k).view(np.int8) - np.int8(1) for k in positive]

    def against_others(self, scores: Scores, n_classes: int) -> Scores:
        """The scores themselves."""
        return scores

    def probabilities(self, of_problems: Scores, n_classes: int) -> Scores:
        """Of two classes, that and the rest; of more, in proportion."""
        if n_classes == 2:
            return np.column_stack([1.0 - of_problems[:, 0], of_problems[:, 0]])
        return np.asarray(of_problems / of_problems.sum(axis=1, keepdims=True))

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

    def margins(self, scores: Scores, codes: npt.NDArray[np.intp], products: Scores | None, n_classes: int) -> Scores:
        """Against the other class, or against the best of the others."""
        if n_classes == 2:
            length = 1.0 if products is None else np.sqrt(products[0, 0])
            return np.where(codes == 1, scores[:, 0], -scores[:, 0]) / length
        ahead = np.take_along_axis(scores, codes[:, None], axis=1) - scores
        if products is not None:
            squares = np.diag(products)
            between = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * products, 0.0))
            with np.errstate(divide="ignore", invalid="ignore"):
                ahead = ahead / between[codes]
        np.put_along_axis(ahead, codes[:, None], np.inf, axis=1)
        return np.asarray(ahead.min(axis=1))


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of classes, in the order of scikit-learn: (0, 1), (0, 2), ..., (1, 2), ..."""
    return list(combinations(range(n_classes), 2))


@dataclass(frozen=True)
class Pairs(Sequence[Problem]):
    """The problems of the pairs. Each is made when asked for: rows known by a kernel bring a table of their own."""

    rows: RowsLike
    codes: npt.NDArray[np.intp]
    weights: Weights | None
    terms: Terms
    offsets: Sequence[Scores] | None
    members: list[npt.NDArray[np.intp]]
    carried: Sequence[Carried] | None = None

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, k: Any) -> Any:
        prior = nothing if self.carried is None else self.carried[k]
        return Problem(self.rows.view(self.members[k]), *self._columns(k), prior)

    def loss_of_zero(self, k: int) -> float:
        """The objective of the zero vector."""
        if self.offsets is None and self.weights is None and self.terms.factors is None:
            return (
                len(self.members[k]) / self.terms.of_classes(pairs_of(self.terms.n_classes)[k], len(self.members[k]))[1]
            )
        sign, cost, offset, _, total = self._columns(k)
        return float(np.sum(cost * np.maximum(0.0, 1.0 - sign * offset))) / total

    def _columns(self, k: int) -> tuple[npt.NDArray[np.int8], Weights, Scores, float, float]:
        """Signs, costs, offsets, lam and total: those that the two classes would have alone, but for class weights."""
        mine, pair = self.members[k], pairs_of(self.terms.n_classes)[k]
        codes = self.codes[mine]
        cost = costs_of(codes, None if self.weights is None else self.weights[mine], self.terms.factors)
        offset = constant(0.0, len(mine)) if self.offsets is None else self.offsets[k][mine]
        sign = np.where(codes == pair[1], np.int8(1), np.int8(-1))
        return sign, cost, offset, *self.terms.of_classes(pair, len(mine))


def losses_of_zero(problems: Sequence[Problem]) -> list[float]:
    """The objective of the zero vector, for each problem."""
    if isinstance(problems, Pairs):
        return [problems.loss_of_zero(k) for k in range(len(problems))]
    return [problem.lam * problem.radius**2 for problem in problems]


class OneVsOne(OneVsRest):
    """One problem for each pair of classes, over the rows of those two; a score is positive for the second of them.

    Every problem has a vote. Two classes are one problem as against the rest.
    """

    noun = "pair"

    def n_problems(self, n_classes: int) -> int:
        """One a pair."""
        return n_classes * (n_classes - 1) // 2

    def members(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[Members]:
        """The rows of the two classes, in their order."""
        if n_classes == 2:
            return super().members(codes, n_classes)
        return [*self._members(codes, n_classes)]

    def is_present(self, totals: Weights) -> list[bool]:
        """Whether either class has a weight."""
        return [bool(totals[i] + totals[j] > 0.0) for i, j in pairs_of(len(totals))]

    def problems(
        self,
        rows: RowsLike,
        codes: npt.NDArray[np.intp],
        weights: Weights | None,
        terms: Terms,
        offsets: Sequence[Scores] | None,
        *,
        carried: Sequence[Carried] | None = None,
    ) -> Sequence[Any]:
        """Each over a view of its rows."""
        if terms.n_classes == 2:
            return super().problems(rows, codes, weights, terms, offsets, carried=carried)
        return Pairs(rows, codes, weights, terms, offsets, self._members(codes, terms.n_classes), carried)

    def signs(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[npt.NDArray[np.int8]]:
        """The labels of each pair, 0 for the rows of other classes."""
        if n_classes == 2:
            return super().signs(codes, n_classes)
        return [(codes == j).astype(np.int8) - (codes == i).astype(np.int8) for i, j in pairs_of(n_classes)]

    def probabilities(self, of_problems: Scores, n_classes: int) -> Scores:
        """Those that agree best with the pairs, by the second method of Wu, Lin and Weng.

        Probability estimates for multi-class classification by pairwise coupling. JMLR 5, 2004: the p of sum 1 with
        the least sum over pairs of (r_ji p_i - r_ij p_j)^2, r_ij the probability of i against j.
        """
        if n_classes == 2:
            return super().probabilities(of_problems, n_classes)
        found = np.empty((len(of_problems), n_classes))
        for begin in range(0, len(found), _rows_at_once):
            found[begin : begin + _rows_at_once] = _coupled(of_problems[begin : begin + _rows_at_once], n_classes)
        return found

    def of_classes(self, scores: Scores) -> Scores:
        """Half the difference of the two: the score itself where the one is the negative of the other."""
        if scores.shape[1] == 1:
            return scores
        return np.column_stack([0.5 * (scores[:, j] - scores[:, i]) for i, j in pairs_of(scores.shape[1])])

    def margins(self, scores: Scores, codes: npt.NDArray[np.intp], products: Scores | None, n_classes: int) -> Scores:
        """The least of the pairs that the class has a part in."""
        if n_classes == 2:
            return super().margins(scores, codes, products, n_classes)
        lengths = np.ones(scores.shape[1]) if products is None else np.sqrt(np.diag(products))
        signs = np.column_stack(self.signs(codes, n_classes))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(signs != 0, signs * scores / lengths, np.inf).min(axis=1))

    def decisions(self, scores: Scores, n_classes: int) -> Scores:
        """The votes; where they tie, the sums of the scores decide, squeezed to less than a third of a vote."""
        if n_classes == 2:
            return super().decisions(scores, n_classes)
        votes = _sums(scores <= 0.0, scores > 0.0, n_classes)
        sums = _sums(-scores, scores, n_classes)
        return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))

    def certified(self, scores: Scores, reach: Scores, n_classes: int) -> npt.NDArray[np.bool_]:
        """Whether the winner's least votes exceed the most of every other class; at a tie its least sum must.

        A pair is sure when its score cannot change sign. A pair of the winner with a rival that is not sure counts
        against the one and for the other, as it may.
        """
        if n_classes == 2:
            return super().certified(scores, reach, n_classes)
        winner = self.decisions(scores, n_classes).argmax(axis=1)[:, None]
        first, second = scores < -reach, scores > reach
        sure, possible = _sums(first, second, n_classes), _sums(~second, ~first, n_classes)
        sums, reaches = _sums(-scores, scores, n_classes), _sums(reach, reach, n_classes)
        lead = np.take_along_axis(sure, winner, axis=1) - possible
        lead_of_sums = np.take_along_axis(sums - reaches, winner, axis=1) - (sums + reaches)
        # Squeezed and added to the votes, sums that differ by less than this might not differ.
        largest = 1.0 + (np.abs(sums) + reaches).max(axis=1, keepdims=True)
        rounding = 16.0 * np.finfo(np.float64).eps * n_classes * largest**2
        ahead = (lead > 0.0) | ((lead == 0.0) & (lead_of_sums > rounding))
        np.put_along_axis(ahead, winner, True, axis=1)
        return np.asarray(ahead.all(axis=1))

    def _members(self, codes: npt.NDArray[np.intp], n_classes: int) -> list[npt.NDArray[np.intp]]:
        of_class = [np.flatnonzero(codes == k) for k in range(n_classes)]
        return [np.sort(np.concatenate([of_class[i], of_class[j]])) for i, j in pairs_of(n_classes)]


def _coupled(of_second: Scores, n_classes: int) -> Scores:
    """The conditions of the least sum of squares, Q p + b = 0 and sum p = 1, for all rows at once."""
    of_second = np.clip(of_second, _least_probability, 1.0 - _least_probability)
    system = np.zeros((len(of_second), n_classes + 1, n_classes + 1))
    system[:, :-1, -1] = system[:, -1, :-1] = 1.0
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        second = of_second[:, k]
        system[:, i, i] += second**2
        system[:, j, j] += (1.0 - second) ** 2
        system[:, i, j] = system[:, j, i] = -second * (1.0 - second)
    right = np.zeros((len(of_second), n_classes + 1, 1))
    right[:, -1] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _sums(of_first: npt.NDArray[Any], of_second: npt.NDArray[Any], n_classes: int) -> Scores:
    """For each class the sum over its pairs: of the one column where it is the first, of the other where the second."""
    sums = np.zeros((len(of_first), n_classes))
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        sums[:, i] += of_first[:, k]
        sums[:, j] += of_second[:, k]
    return sums


class CrammerSinger(OneVsRest):
    """One problem of all classes at once.

    Of two classes it is that of w_1 - w_0, an ordinary problem with half the lam: of all pairs with one difference the
    shortest is w_1 = -w_0.
    """

    noun = "problem"

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
        *,
        carried: Sequence[Carried] | None = None,
    ) -> Sequence[Any]:
        """A `JointProblem`; there is an offset for each class."""
        if terms.n_classes == 2:
            return super().problems(rows, codes, weights, replace(terms, lam=0.5 * terms.lam), offsets, carried=carried)
        # A row that counts nothing may be of no class, numbered -1.
        known = np.maximum(codes, 0).astype(np.int32)
        offset = no_offset(rows.n_rows, terms.n_classes) if offsets is None else np.column_stack(offsets)
        cost = costs_of(codes, weights, terms.factors)
        together = nothing if carried is None else all_of(carried)
        return [JointProblem(rows, known, cost, offset, terms.lam, terms.total, together)]

    def against_others(self, scores: Scores, n_classes: int) -> Scores:
        """By how much each class is ahead of the best other."""
        if n_classes == 2:
            return scores
        first_two = np.partition(scores, n_classes - 2, axis=1)[:, -2:]
        is_best = scores == first_two[:, 1:]
        return np.asarray(scores - np.where(is_best, first_two[:, :1], first_two[:, 1:]))

    def certified(self, scores: Scores, reach: Scores, n_classes: int) -> npt.NDArray[np.bool_]:
        """Whether the winner is ahead by more than the difference of two scores can move.

        Within a distance r of all weights together, w_r - w_s moves by at most sqrt(2) r.
        """
        if n_classes == 2:
            return super().certified(scores, reach, n_classes)
        first_two = np.partition(scores, n_classes - 2, axis=1)[:, -2:]
        return np.asarray(first_two[:, 1] - first_two[:, 0] > np.sqrt(2.0) * reach.max(axis=1))


schemes: dict[str, Scheme] = {"ovr": OneVsRest(), "ovo": OneVsOne(), "crammer_singer": CrammerSinger()}
