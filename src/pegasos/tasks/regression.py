"""Regression: targets are numbers, and each row is two rows of a problem, one per side of its target.

    loss(y, s) = phi(y - s - epsilon) + phi(s - y - epsilon)

Row i comes with sign +1, target y_i - epsilon, and with sign -1, target -y_i - epsilon. A target t of a row is a part
of its offset: t - sign (score + o) = 1 - sign (score + offset) with offset = o + sign (1 - t). The rows themselves are
a view, never a copy. Several columns of y are several problems over the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.problem import Problem, RowsLike, constant, largest_of
from pegasos.rounding import Carried, nothing
from pegasos.source_columns import TargetColumns
from pegasos.tasks.base import NOTHING_KNOWN, Known, Members, Scores, Target, Weights
from pegasos.tasks.terms import Terms

_SAMPLED = 4096  # about as many targets determine the unit in which they are measured


@dataclass(frozen=True, eq=False)
class Regression:
    """Numeric targets.

    ``loss`` is a word of `losses.REGRESSION_LOSSES`, whose two numbers come with the terms; ``epsilon`` is the half
    width of the tube of losses that have one; ``quantile`` the share of targets that should lie below the prediction.
    """

    loss: str = "epsilon_insensitive"
    epsilon: float = 0.0
    quantile: float = 0.5
    n_targets: int = 1
    is_matrix: bool = False  # whether y has two dimensions, and therefore the answers
    total: float = 0.0
    n_rows: int = 0
    epsilons: tuple[float, ...] | None = None  # one per target, where nu determines them

    nu_is_along = "epsilon"  # parameter that nu determines
    name = "regression"
    takes_columns = True  # y of a source may have several
    noun = "target"
    words = "numbers"
    metric = "r2"  # default metric for comparing models
    n_vectors = 1

    @property
    def n_problems(self) -> int:
        """One per column of y."""
        return self.n_targets

    @property
    def learnt(self) -> dict[str, Any]:
        """The half width of the tube."""
        widths = [self.width(k) for k in range(self.n_targets)]
        return {"epsilon": widths[0] if len(set(widths)) == 1 else np.array(widths)}

    @property
    def sides(self) -> tuple[float, float]:
        """Cost per unit of error where the target is above the prediction, and where it is below."""
        return (self.quantile, 1.0 - self.quantile) if self.loss == "quantile" else (1.0, 1.0)

    def width(self, k: int) -> float:
        """The half width of the tube without loss around target k."""
        if self.loss not in ("epsilon_insensitive", "squared_epsilon_insensitive"):
            return 0.0
        return self.epsilon if self.epsilons is None else self.epsilons[k]

    def with_found(self, epsilons: tuple[float, ...]) -> Self:
        """The task with the epsilon of each target."""
        return replace(self, epsilons=epsilons)

    def completed(self, problems: Sequence[Problem], solutions: list[Any], nu: float) -> list[Any]:
        """The solutions themselves."""
        return solutions

    @property
    def factors_range(self) -> tuple[float, float]:
        """Factors on a sample weight."""
        return min(self.sides), max(self.sides)

    def learn(self, y: Any, weights: Weights | None) -> Self:
        """The task for this many columns."""
        y = np.asarray(y)
        total = float(len(y) if weights is None else weights.sum())
        if not total > 0.0:
            raise PegasosError("sample_weight is zero for every row: give at least one row a weight.")
        shape = {"n_targets": 1 if y.ndim == 1 else y.shape[1], "is_matrix": y.ndim == 2}
        return replace(self, **shape, total=total, n_rows=len(y))

    def recounted(self, target: Target, weights: Weights | None) -> Self:
        """The task of the same targets for these rows only."""
        return replace(self, total=float(len(target) if weights is None else weights.sum()), n_rows=len(target))

    def check_fold(self, number: int) -> None:
        """Accept any number."""

    def with_parameters_of(self, other: Self) -> Self:
        """The targets of a stream so far with the current parameters."""
        return replace(self, loss=other.loss, epsilon=other.epsilon, quantile=other.quantile)

    def begin(self, y: Any) -> Self:
        """The task of a stream whose first block has these targets."""
        y = np.asarray(y)
        return replace(self, n_targets=1 if y.ndim == 1 else y.shape[1], is_matrix=y.ndim == 2)

    def goes_on(self, y: Any) -> None:
        """Check that a later block has as many columns as the first one."""
        self.target(y, None)

    def follow(self, y: Any, weights: Weights | None) -> Self:
        """The task after another block."""
        total = float(len(y) if weights is None else weights.sum())
        return replace(self, total=self.total + total, n_rows=self.n_rows + len(y))

    def of_blocks(
        self, blocks: Iterable[npt.NDArray[Any]], n_rows: int, *, has_units: bool
    ) -> tuple[Self, TargetColumns, float]:
        """The task of targets that come in blocks, the columns of its problems, and the unit that they share."""
        target, begin, is_matrix = np.empty((n_rows, 1)), 0, False
        for k, y in enumerate(blocks):
            if k == 0 and y.ndim == 2:  # a column lies in one piece
                target, is_matrix = np.empty((n_rows, y.shape[1]), order="F"), True
            if (y.ndim == 2) != is_matrix or (is_matrix and y.shape[1] != target.shape[1]):
                raise PegasosError(
                    f"block {k} of the source has targets of shape {y.shape}, and the first block {target.shape[1]} "
                    "column(s); give every block the same columns."
                )
            target[begin : begin + len(y)] = _numbers(y, k, begin).reshape(len(y), -1)
            begin += len(y)
        learnt = self.learn(target if is_matrix else target[:, 0], None)
        unit = _middle(learnt.units(target, None)) if has_units else 1.0
        target /= unit
        return learnt, TargetColumns(target, learnt.width(0) / unit, self.sides, unit), unit

    def target(self, y: Any, weights: Weights | None) -> Target:
        """One column per problem."""
        columns = np.asarray(y, np.float64)
        columns = columns[:, None] if columns.ndim == 1 else columns
        if columns.shape[1] != self.n_targets:
            raise PegasosError(f"y has {columns.shape[1]} column(s), and the model was fitted to {self.n_targets}.")
        return columns

    def check_seen(self, target: Target, weights: Weights | None) -> None:
        """Accept any number."""

    def check_complete(self, target: Target, weights: Weights | None) -> None:
        """Accept any number."""

    def rows_per_problem(self, n_rows: int) -> int:
        """Each row has two sides."""
        return 2 * n_rows

    def members(self, target: Target) -> list[Members]:
        """All rows, twice."""
        return [twice(len(target))] * self.n_targets

    def is_present(self, target: Target, weights: Weights | None) -> list[bool]:
        """Whether each problem has rows: always."""
        return [True] * self.n_targets

    def problems(
        self, rows: RowsLike, target: Target, weights: Weights | None, terms: Terms, known: Known = NOTHING_KNOWN
    ) -> Sequence[Any]:
        """One per column of y, over one view of the rows."""
        n = rows.n_rows
        view = rows.view(twice(n, np.uint32), repeats=2)
        sign = np.ones(2 * n, np.int8)
        sign[n:] = -1
        cost = self.costs(n, weights)
        return [
            Problem(view, sign, cost, offset, terms.lam, terms.total, carried, terms.cap, terms.ridge)
            for offset, carried in (self.offset(k, target, sign, *_known(known, k)) for k in range(self.n_targets))
        ]

    def units(self, target: Target, weights: Weights | None) -> list[float]:
        """Typical distance of the targets of each problem from their median, in a sample of them."""
        counted = target if weights is None else target[weights > 0.0]
        some = np.sort(counted[:: max(1, len(counted) // _SAMPLED)], axis=0)
        n = len(some)
        middle = 0.5 * some[(n - 1) // 2] + 0.5 * some[n // 2]
        spreads = np.add.reduce(np.abs(some - middle), axis=0) / n
        if not spreads.all():
            spreads = np.where(spreads > 0.0, spreads, np.abs(counted).max(axis=0))
        return [_power_of_two(spread) for spread in spreads.tolist()]

    def costs(self, n: int, weights: Weights | None) -> Weights:
        """Cost of an error on each side."""
        above, below = self.sides
        if weights is None and above == below:
            return constant(above, 2 * n)
        weights = np.ones(n) if weights is None else weights
        return np.concatenate([above * weights, below * weights])

    def offset(
        self, k: int, target: Target, sign: npt.NDArray[np.int8], scores: Scores | None, prior: Carried
    ) -> tuple[npt.NDArray[np.float64], Carried]:
        """The targets as part of the offsets, and what their rounding must account for."""
        y, width = target[:, k], self.width(k)
        shift = y if scores is None else y - scores
        offset = np.empty(len(sign))
        np.subtract(1.0 + width, shift, out=offset[: len(y)])
        np.subtract(-1.0 - width, shift, out=offset[len(y) :])
        largest = largest_of(y) + (0.0 if scores is None else largest_of(scores))
        return offset, replace(prior, constant=prior.constant + largest + 1.0 + width)

    def mixing(self, labels: list[Any] | None, n_scores: int | None) -> Scores:
        """A prior has one score per column of y."""
        if n_scores not in (None, self.n_targets):
            raise PegasosError(f"prior predicts {n_scores} number(s) per row, and y has {self.n_targets} column(s).")
        return np.eye(self.n_targets)

    def decisions(self, scores: Scores) -> Scores:
        """The predictions, in the shape of y."""
        return scores if self.is_matrix else scores[:, 0]

    def answer(self, decisions: Scores) -> npt.NDArray[Any]:
        """The predictions themselves."""
        return decisions

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """False: no number is determined to its last digit."""
        return np.zeros(len(scores), bool)

    def problem_names(self, names: Sequence[str] = ()) -> list[str]:
        """Each target."""
        return ["target"] if self.n_targets == 1 else [f"target {k}" for k in range(self.n_targets)]


def _power_of_two(spread: float) -> float:
    """The nearest one, in a range that leaves room for products."""
    return float(2.0 ** min(max(round(math.log2(spread)), -500), 500)) if 0.0 < spread < math.inf else 1.0


def twice(n: int, dtype: npt.DTypeLike = np.intp) -> npt.NDArray[Any]:
    """The numbers of n rows, twice."""
    once = np.arange(n, dtype=dtype)
    return np.concatenate((once, once))  # much faster than `np.tile`


def _numbers(y: npt.NDArray[Any], k: int, begin: int) -> npt.NDArray[np.float64]:
    try:
        found = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"block {k} of the source has targets that are not numbers: {error}.") from error
    if not np.isfinite(found).all():
        row = int(np.isfinite(found.reshape(len(found), -1)).all(axis=1).argmin())
        raise PegasosError(
            f"block {k} of the source has the target {found[row]} in row {begin + row}; impute it or drop the row."
        )
    return found


def _middle(units: list[float]) -> float:
    """The power of two in the geometric middle."""
    return float(2.0 ** np.round(np.mean(np.log2(units))))


def _known(known: Known, k: int) -> tuple[Scores | None, Carried]:
    scores = None if known.offsets is None else known.offsets[k]
    return scores, nothing if known.carried is None else known.carried[k]
