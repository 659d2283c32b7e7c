"""Classification with one problem per class, each class against the rest; two classes make one problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.problem import Problem, RowsLike, constant
from pegasos.rounding import nothing
from pegasos.source_columns import ClassColumns
from pegasos.tasks.base import NOTHING_KNOWN, Known, Members, Scores, Target, Weights
from pegasos.tasks.labels import (
    check_classes,
    class_factors,
    class_totals,
    costs_of,
    encode,
    encode_known,
    find_classes,
    number_classes,
)
from pegasos.tasks.terms import Terms

Codes = npt.NDArray[np.intp]


def _none() -> npt.NDArray[Any]:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Classification:
    """Shared by all classification tasks: the classes, how often each occurred, and the cost of each.

    A row of a problem has the sign +1 or -1; a target is the number of a class, or -1 for a label of weight 0 that is
    not among the classes.
    """

    class_weight: Any = None
    classes: npt.NDArray[Any] = field(default_factory=_none)
    totals: Weights = field(default_factory=_none)  # sample weight of each class, in all rows so far
    counts: Weights = field(default_factory=_none)  # number of rows of each class so far
    factors: Weights | None = None  # factors on the costs of each class
    lams_found: tuple[float, ...] | None = None  # one per problem, where nu determines them

    nu_is_along: ClassVar[str] = "lam"  # parameter that nu determines
    nu_may_be_small: ClassVar[bool] = False  # whether a nu that is too small has a solution
    name: ClassVar[str]
    noun: ClassVar[str]
    words: ClassVar[str]
    metric: ClassVar[str] = "accuracy"  # default metric for comparing models

    @classmethod
    def of(cls, classes: Any) -> Self:
        """The task of these classes, where every row has the same cost."""
        return cls(classes=np.asarray(classes))

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @property
    def learnt(self) -> dict[str, Any]:
        """The classes."""
        return {"classes": self.classes}

    @property
    def total(self) -> float:
        """The sample weight of all rows so far."""
        return float(self.totals.sum())

    @property
    def n_rows(self) -> int:
        """How many rows there were so far."""
        return int(self.counts.sum())

    @property
    def factors_range(self) -> tuple[float, float]:
        """The smallest above 0 and the largest class weight."""
        if self.factors is None:
            return 1.0, 1.0
        return float(np.min(self.factors[self.factors > 0.0], initial=np.inf)), float(self.factors.max())

    def learn(self, y: Any, weights: Weights | None) -> Self:
        """The task of the classes that occur with a positive weight."""
        classes = find_classes(y, weights)
        return self.counted(classes, *_weighed(encode(y, classes), len(classes), weights))

    def recounted(self, target: Target, weights: Weights | None) -> Self:
        """The task of the same classes for these rows only, which may lack a class."""
        return self.counted(self.classes, *_weighed(target, self.n_classes, weights))

    def counted(self, classes: npt.NDArray[Any], totals: Weights, counts: Weights) -> Self:
        """The task of these classes with these weights and row counts."""
        factors = class_factors(self.class_weight, classes, totals)
        return replace(self, classes=classes, totals=totals, counts=counts, factors=factors, lams_found=None)

    def check_fold(self, number: int) -> None:
        """Raise an error if the training rows of a fold lack a class."""
        missing = np.flatnonzero(self.totals == 0.0)
        if len(missing):
            raise PegasosError(
                f"no row of class {self.classes.tolist()[missing[0]]!r} is left to train on in fold {number}: give "
                "more rows of it, fewer folds, or a cv that keeps the classes together."
            )

    def with_found(self, lams: tuple[float, ...]) -> Self:
        """The task with the lam of each problem."""
        return replace(self, lams_found=lams)

    def completed(self, problems: Sequence[Problem], solutions: list[Any], nu: float) -> list[Any]:
        """The solutions themselves."""
        return solutions

    def with_parameters_of(self, other: Self) -> Self:
        """The same classes with the parameters of another task, before the next block of a stream."""
        return replace(self, class_weight=other.class_weight)

    def begin(self, classes: Any) -> Self:
        """The task of a stream, whose first call must list all its classes."""
        known = check_classes(classes, None)
        nothing = np.zeros(len(known))
        return replace(self, classes=known, totals=nothing, counts=nothing)

    def goes_on(self, classes: Any) -> None:
        """Check the classes of a later call, which may only repeat those of the first one."""
        check_classes(classes, self.classes)

    def follow(self, y: Any, weights: Weights | None) -> Self:
        """The task after another block; "balanced" counts all rows so far."""
        block = self.recounted(encode_known(y, self.classes, weights), weights)
        return self.counted(self.classes, self.totals + block.totals, self.counts + block.counts)

    def target(self, y: Any, weights: Weights | None) -> Codes:
        """The number of each row's class."""
        return encode_known(y, self.classes, weights)

    def units(self, target: Target, weights: Weights | None) -> list[float]:
        """The unit of each problem: 1, because margins are about 1."""
        return [1.0] * self.n_problems  # type: ignore[attr-defined]

    def check_seen(self, target: Target, weights: Weights | None) -> None:
        """Raise an error if a class that the fit has not seen has a positive weight."""
        strange = (class_totals(target, self.n_classes, weights) > 0.0) & (self.totals <= 0.0)
        if strange.any():
            label = self.classes.tolist()[strange.argmax()]
            raise PegasosError(f"the model has seen no row of class {label!r}; certify needs the rows of its fit.")

    def check_complete(self, target: Target, weights: Weights | None) -> None:
        """Raise an error unless every class has a positive weight."""
        present = class_totals(target, self.n_classes, weights) > 0.0
        if not present.all():
            raise PegasosError(
                f"y has no row of class {self.classes.tolist()[present.argmin()]!r}, which the model knows; certify "
                "needs the rows that it was trained on."
            )

    def answer(self, decisions: Scores) -> npt.NDArray[Any]:
        """The class that the class scores select."""
        if decisions.ndim == 1 and self.classes.dtype.kind in "biuf":  # avoids an additional array of class numbers
            return np.where(decisions > 0.0, self.classes[1:], self.classes[:1])
        return np.asarray(self.classes[winners(decisions)])


def _weighed(codes: Codes, n_classes: int, weights: Weights | None) -> tuple[Weights, Weights]:
    """The sample weight and the number of rows of each class."""
    counts = class_totals(codes, n_classes, None)
    return counts if weights is None else class_totals(codes, n_classes, weights), counts


def winners(decisions: Scores) -> npt.NDArray[np.intp]:
    """The number of the class that the class scores select."""
    if decisions.ndim == 1:
        return (decisions > 0.0).astype(np.intp)
    return np.asarray(decisions.argmax(axis=1))


class OneVsRest(Classification):
    """One problem per class, against the rest; two classes form one problem. They share rows and costs."""

    name = "ovr"
    noun = "class"
    words = "each class against the rest"

    @property
    def n_problems(self) -> int:
        """The number of problems: one per class, or one for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_vectors(self) -> int:
        """The number of weight vectors per problem: one."""
        return 1

    def of_blocks(
        self, blocks: Iterable[npt.NDArray[Any]], n_rows: int, *, has_units: bool
    ) -> tuple[Self, ClassColumns, float]:
        """The task of labels that come in blocks, the columns of its problems, and the unit, which is 1."""
        classes, codes = number_classes(blocks, n_rows)
        counts = np.bincount(codes, minlength=len(classes)).astype(np.float64)
        learnt = self.counted(classes, counts, counts)
        positive = (1,) if len(classes) == 2 else tuple(range(len(classes)))
        labels = tuple(str(label) for label in classes.tolist())
        return learnt, ClassColumns(codes, positive, learnt.factors, labels), 1.0

    def rows_per_problem(self, n_rows: int) -> int:
        """The number of rows of a problem: all of them."""
        return n_rows

    def problem_names(self, names: Sequence[str]) -> list[str]:
        """What each problem separates, for classes with these names."""
        if self.n_classes == 2:
            return [f"{names[1]} against {names[0]}"]
        return [f"{name} against the rest" for name in names]

    def members(self, target: Target) -> list[Members]:
        """The rows of each problem: all of them."""
        return [slice(None)] * self.n_problems

    def is_present(self, target: Target, weights: Weights | None) -> list[bool]:
        """Whether each problem has rows: always."""
        return [True] * self.n_problems

    def problems(
        self, rows: RowsLike, target: Target, weights: Weights | None, terms: Terms, known: Known = NOTHING_KNOWN
    ) -> Sequence[Any]:
        """The problems, each over all rows."""
        cost = costs_of(target, weights, self.factors)
        n = self.n_problems
        offsets = [constant(0.0, rows.n_rows)] * n if known.offsets is None else known.offsets
        priors = [nothing] * n if known.carried is None else known.carried
        lams = [terms.lam] * n if self.lams_found is None else self.lams_found
        return [
            Problem(rows, sign, cost, offset, lam, terms.total, prior, terms.cap, terms.ridge)
            for sign, offset, lam, prior in zip(self.signs(target), offsets, lams, priors, strict=True)
        ]

    def signs(self, target: Target) -> list[npt.NDArray[np.int8]]:
        """The label of each row in each problem; 0 for a row that is not part of it."""
        positive = [1] if self.n_classes == 2 else range(self.n_classes)
        return [2 * (target == k).view(np.int8) - np.int8(1) for k in positive]

    def against_others(self, scores: Scores) -> Scores:
        """Scores, each of which measures by itself how likely its positive side is: the scores unchanged."""
        return scores

    def probabilities(self, of_problems: Scores) -> Scores:
        """The probability of each class, from those of the positive sides of the problems."""
        if self.n_classes == 2:
            return np.column_stack([1.0 - of_problems[:, 0], of_problems[:, 0]])
        sums = of_problems.sum(axis=1, keepdims=True)
        # Isotonic curves may give 0 to every class.
        return np.where(sums > 0.0, of_problems / np.where(sums > 0.0, sums, 1.0), 1.0 / self.n_classes)

    def mixing(self, labels: list[Any] | None, n_scores: int | None) -> Scores:
        """The contribution of each score of a prior to that of each problem; classes are matched by label.

        ``labels`` are those of the prior in the order of its scores, None where they are ours; ``n_scores`` is how
        many scores it has, None where that follows from the labels.
        """
        ours = self.classes.tolist()
        theirs = ours if labels is None else labels
        needed = 1 if len(theirs) == 2 else len(theirs)
        unknown = [label for label in ours if label not in theirs]
        if unknown:
            raise PegasosError(f"prior has no class {unknown[0]!r}, which occurs in y; its classes are {theirs}.")
        if n_scores not in (None, needed):
            raise PegasosError(
                f"prior has {n_scores} row(s) of coefficients for the {len(theirs)} classes {theirs}; it needs "
                f"{needed}, one for two classes or else one per class."
            )
        if len(theirs) == 2:
            return self.of_classes(np.array([[1.0 if theirs == ours else -1.0]]))
        chosen = np.eye(len(theirs))[:, [theirs.index(label) for label in ours]]
        # Two classes among many: half the difference, which is the score itself if the other one is its negative.
        return self.of_classes(chosen if len(ours) > 2 else 0.5 * (chosen[:, [1]] - chosen[:, [0]]))

    def of_classes(self, scores: Scores) -> Scores:
        """The scores of the problems from those of the classes, a prior's: the scores themselves.

        For two classes there is one column: that of the second against the first.
        """
        return scores

    def decisions(self, scores: Scores) -> Scores:
        """The score of each class, of shape (n_rows, n_classes); for two classes (n_rows,), positive for the second."""
        return scores[:, 0] if self.n_classes == 2 else scores

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """Whether the winner's least score is above the largest of every other class."""
        if self.n_classes == 2:
            return np.asarray(np.abs(scores[:, 0]) > reach[:, 0])
        winner = scores.argmax(axis=1)[:, None]
        least = np.take_along_axis(scores - reach, winner, axis=1)[:, 0]
        rivals = scores + reach
        np.put_along_axis(rivals, winner, -np.inf, axis=1)
        return np.asarray(least > rivals.max(axis=1))

    def margins(self, scores: Scores, target: Target, products: Scores | None) -> Scores:
        """The score of the correct class minus that of the other class, or the best of the others."""
        if self.n_classes == 2:
            length = 1.0 if products is None else np.sqrt(products[0, 0])
            return np.where(target == 1, scores[:, 0], -scores[:, 0]) / length
        ahead = np.take_along_axis(scores, target[:, None], axis=1) - scores
        if products is not None:
            squares = np.diag(products)
            between = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * products, 0.0))
            with np.errstate(divide="ignore", invalid="ignore"):
                ahead = ahead / between[target]
        np.put_along_axis(ahead, target[:, None], np.inf, axis=1)
        return np.asarray(ahead.min(axis=1))
