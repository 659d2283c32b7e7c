"""Classification with one problem per pair of classes, over the rows of those two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.problem import Problem, RowsLike, constant
from pegasos.rounding import nothing
from pegasos.tasks.base import NOTHING_KNOWN, Known, Members, Scores, Target, Weights
from pegasos.tasks.labels import class_totals, costs_of
from pegasos.tasks.one_vs_rest import Codes, OneVsRest
from pegasos.tasks.terms import Terms, check_product

_ROWS_AT_ONCE = 1000  # rows whose systems of equations are solved in one call
_LEAST_PROBABILITY = 1e-7


@cache
def pairs_of(n_classes: int) -> tuple[tuple[int, int], ...]:
    """The pairs of classes, in the order of scikit-learn: (0, 1), (0, 2), ..., (1, 2), ..."""
    return tuple(combinations(range(n_classes), 2))


@dataclass(frozen=True)
class Pairs(Sequence[Problem]):
    """The problems of the pairs. Each is created on access, because kernel rows have their own table."""

    rows: RowsLike
    codes: Codes
    weights: Weights | None
    task: OneVsOne
    terms: Terms
    known: Known
    members: list[npt.NDArray[np.intp]]

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, k: Any) -> Any:
        prior = nothing if self.known.carried is None else self.known.carried[k]
        return Problem(self.rows.view(self.members[k]), *self._columns(k), prior, self.terms.cap, self.terms.ridge)

    def over_all_rows(self, k: int) -> Problem:
        """The problem of pair k, including the rows of the other classes at no cost.

        A pair without any weight has a total of 1, so that its coefficients have a unit.
        """
        sign, cost, offset, lam, total = self._columns(k)
        mine, n = self.members[k], self.rows.n_rows
        signs, costs, offsets = np.ones(n, np.int8), np.zeros(n), np.zeros(n)
        signs[mine], costs[mine], offsets[mine] = sign, cost, offset
        prior = nothing if self.known.carried is None else self.known.carried[k]
        return Problem(self.rows, signs, costs, offsets, lam, total or 1.0, prior, self.terms.cap, self.terms.ridge)

    @property
    def offsets(self) -> Sequence[Scores] | None:
        """The scores known in advance, for each pair."""
        return self.known.offsets

    @cached_property
    def lams_and_totals(self) -> list[tuple[float, float]]:
        """The class weights of each pair, as if its two classes were the only ones."""
        each = zip(pairs_of(self.task.n_classes), self.members, strict=True)
        return [self.task.lam_and_total(pair, len(mine), self.terms) for pair, mine in each]

    def mean_squared_norms(self) -> list[float]:
        """Mean of |x|^2 over the rows of each pair, without creating its problem."""
        # Labels outside the classes, encoded as -1, are counted first and dropped.
        sums = np.bincount(self.codes + 1, self.rows.squared_norms, self.task.n_classes + 1)[1:]
        first, second = np.array(pairs_of(self.task.n_classes)).T
        lengths = np.array([max(len(mine), 1) for mine in self.members])
        means: list[float] = ((sums[first] + sums[second]) / lengths).tolist()
        return means

    def loss_of_zero(self, k: int) -> float:
        """The objective of the zero vector."""
        if self.offsets is None and self.weights is None and self.task.factors is None:
            return len(self.members[k]) / self.lams_and_totals[k][1] * self.terms.loss.at_one
        sign, cost, offset, _, total = self._columns(k)
        return float(np.sum(cost * self.terms.loss.value(1.0 - sign * offset))) / total

    def _columns(self, k: int) -> tuple[npt.NDArray[np.int8], Weights, Scores, float, float]:
        """Signs, costs, offsets, lam and total of the two classes only, except for the class weights."""
        mine, pair = self.members[k], pairs_of(self.task.n_classes)[k]
        codes = self.codes[mine]
        cost = costs_of(codes, None if self.weights is None else self.weights[mine], self.task.factors)
        offset = constant(0.0, len(mine)) if self.offsets is None else self.offsets[k][mine]
        sign = np.where(codes == pair[1], np.int8(1), np.int8(-1))
        return sign, cost, offset, *self.lams_and_totals[k]


def losses_of_zero(problems: Sequence[Problem]) -> list[float]:
    """The objective of the zero vector, for each problem."""
    if isinstance(problems, Pairs):
        return [problems.loss_of_zero(k) for k in range(len(problems))]
    return [problem.lam * problem.radius**2 for problem in problems]


def lams_and_norms(problems: Sequence[Problem]) -> list[tuple[float, float]]:
    """The lam of each problem, and the mean of |x|^2 over its rows."""
    if isinstance(problems, Pairs):
        lams = [lam for lam, _ in problems.lams_and_totals]
        return list(zip(lams, problems.mean_squared_norms(), strict=True))
    return [(problem.lam, problem.rows.mean_square) for problem in problems]


class OneVsOne(OneVsRest):
    """One problem per pair of classes, over the rows of those two; a score is positive for the second of them.

    Every problem has one vote. Two classes form one problem, as in one-vs-rest.
    """

    name = "ovo"
    noun = "pair"
    words = "each pair of classes"

    @property
    def n_problems(self) -> int:
        """One per pair."""
        return self.n_classes * (self.n_classes - 1) // 2

    def problem_names(self, names: Sequence[str]) -> list[str]:
        """The second class of each pair against the first."""
        return [f"{names[j]} against {names[i]}" for i, j in pairs_of(self.n_classes)]

    def lam_and_total(self, pair: Sequence[int], n_rows: int, terms: Terms) -> tuple[float, float]:
        """Return lam and total for this many rows of a pair of classes, as if these were the only ones."""
        i, j = pair
        total = float(n_rows * (self.totals[i] + self.totals[j]) / max(self.counts[i] + self.counts[j], 1.0))
        if self.lams_found is not None:
            return self.lams_found[pairs_of(self.n_classes).index((i, j))], total
        lam = terms.lam_for(total)
        check_product(lam, total)
        return lam, total

    def lams(self, terms: Terms) -> npt.NDArray[np.float64]:
        """The lam of each pair in a fit of all rows."""
        pairs = pairs_of(self.n_classes)
        return np.array([self.lam_and_total(pair, int(self.counts[list(pair)].sum()), terms)[0] for pair in pairs])

    def rows_per_problem(self, n_rows: int) -> int:
        """The same for two classes of equal size."""
        return 2 * n_rows // max(2, self.n_classes)

    def members(self, target: Target) -> list[Members]:
        """The rows of the two classes, in their order."""
        if self.n_classes == 2:
            return super().members(target)
        return [*self._members(target)]

    def is_present(self, target: Target, weights: Weights | None) -> list[bool]:
        """Whether either class has a weight."""
        totals = class_totals(target, self.n_classes, weights)
        return [bool(totals[i] + totals[j] > 0.0) for i, j in pairs_of(len(totals))]

    def problems(
        self, rows: RowsLike, target: Target, weights: Weights | None, terms: Terms, known: Known = NOTHING_KNOWN
    ) -> Sequence[Any]:
        """Solve each pair over a view of its rows."""
        if self.n_classes == 2:
            return super().problems(rows, target, weights, terms, known)
        return Pairs(rows, target, weights, self, terms, known, self._members(target))

    def signs(self, target: Target) -> list[npt.NDArray[np.int8]]:
        """The label of each row in each pair, 0 for the rows of other classes."""
        if self.n_classes == 2:
            return super().signs(target)
        return [(target == j).astype(np.int8) - (target == i).astype(np.int8) for i, j in pairs_of(self.n_classes)]

    def probabilities(self, of_problems: Scores) -> Scores:
        """Class probabilities that agree best with the pairs, by the second method of Wu, Lin and Weng.

        Probability estimates for multi-class classification by pairwise coupling. JMLR 5, 2004: the p of sum 1 with
        the least sum over pairs of (r_ji p_i - r_ij p_j)^2, r_ij the probability of i against j.
        """
        if self.n_classes == 2:
            return super().probabilities(of_problems)
        found = np.empty((len(of_problems), self.n_classes))
        for begin in range(0, len(found), _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            found[part] = _coupled(of_problems[part], self.n_classes)
        return found

    def of_classes(self, scores: Scores) -> Scores:
        """Half the difference of the two: the score itself where one is the negative of the other."""
        if scores.shape[1] == 1:
            return scores
        return np.column_stack([0.5 * (scores[:, j] - scores[:, i]) for i, j in pairs_of(scores.shape[1])])

    def margins(self, scores: Scores, target: Target, products: Scores | None) -> Scores:
        """The smallest margin over the pairs that contain the class."""
        if self.n_classes == 2:
            return super().margins(scores, target, products)
        lengths = np.ones(scores.shape[1]) if products is None else np.sqrt(np.diag(products))
        signs = np.column_stack(self.signs(target))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(signs != 0, signs * scores / lengths, np.inf).min(axis=1))

    def decisions(self, scores: Scores) -> Scores:
        """The votes; ties are broken by the sums of the scores, scaled to less than a third of a vote."""
        if self.n_classes == 2:
            return super().decisions(scores)
        votes = _sums(scores <= 0.0, scores > 0.0, self.n_classes)
        sums = _sums(-scores, scores, self.n_classes)
        return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """Whether the winner's least votes exceed the most of every other class; at a tie its least sum must.

        A pair is sure when its score cannot change sign. A pair of the winner with a rival that is not sure counts
        against the one and for the other.
        """
        n = self.n_classes
        if n == 2:
            return super().settled(scores, reach)
        winner = self.decisions(scores).argmax(axis=1)[:, None]
        first, second = scores < -reach, scores > reach
        sure, possible = _sums(first, second, n), _sums(~second, ~first, n)
        sums, reaches = _sums(-scores, scores, n), _sums(reach, reach, n)
        lead = np.take_along_axis(sure, winner, axis=1) - possible
        lead_of_sums = np.take_along_axis(sums - reaches, winner, axis=1) - (sums + reaches)
        # After scaling and adding to the votes, sums that differ by less than this might become equal.
        largest = 1.0 + (np.abs(sums) + reaches).max(axis=1, keepdims=True)
        rounding = 16.0 * np.finfo(np.float64).eps * n * largest**2
        ahead = (lead > 0.0) | ((lead == 0.0) & (lead_of_sums > rounding))
        np.put_along_axis(ahead, winner, True, axis=1)
        return np.asarray(ahead.all(axis=1))

    def _members(self, codes: Codes) -> list[npt.NDArray[np.intp]]:
        of_class = [np.flatnonzero(codes == k) for k in range(self.n_classes)]
        return [np.sort(np.concatenate([of_class[i], of_class[j]])) for i, j in pairs_of(self.n_classes)]


def _coupled(of_second: Scores, n_classes: int) -> Scores:
    """The conditions of the least sum of squares, Q p + b = 0 and sum p = 1, for all rows at once."""
    of_second = np.clip(of_second, _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
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
    """Sum over the pairs of each class: of one column where it is the first, of the other where it is the second."""
    first, second = _places(n_classes)
    # The order of summation is the same for any number of rows, which BLAS does not guarantee.
    found: Scores = np.einsum("np,pk->nk", of_first.astype(np.float64), first)
    found += np.einsum("np,pk->nk", of_second.astype(np.float64), second)
    return found


@cache
def _places(n_classes: int) -> tuple[Scores, Scores]:
    """For each pair and class 1 where it is the first of the pair, and where it is the second."""
    first, second = np.array(pairs_of(n_classes)).T
    classes = np.arange(n_classes)
    return (first[:, None] == classes).astype(np.float64), (second[:, None] == classes).astype(np.float64)
