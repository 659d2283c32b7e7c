"""What the client of a cluster needs to know about all partitions together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.distributed.partitions import Summary, kind_of_labels
from pegasos.errors import PegasosError
from pegasos.solvers.passes import Vector
from pegasos.tasks import Regression
from pegasos.tasks.labels import encode, find_classes


@dataclass(frozen=True)
class Whole:
    """All partitions that have rows, together."""

    parts: Sequence[Summary]

    @classmethod
    def of(cls, found: Sequence[Summary]) -> Whole:
        """The partitions that have rows, which must have the same features."""
        kept = [part for part in found if part.n_rows > 0]
        if not kept:
            raise PegasosError(f"X has no rows in any of its {len(found)} partitions.")
        for part in kept:
            _check_alike(kept[0], part)
        return cls(kept)

    @property
    def n_rows(self) -> int:
        """Rows of all of them."""
        return sum(part.n_rows for part in self.parts)

    @property
    def n_features(self) -> int:
        """Features, which are the same in all."""
        return self.parts[0].n_features

    @property
    def largest_square(self) -> float:
        """The largest |x_i|^2."""
        return max(part.largest_square for part in self.parts)

    @property
    def usual_length(self) -> float:
        """The root of the mean |x_i|^2; 1 where that is not a usable number."""
        length = float(np.sqrt(sum(part.sum_of_squares for part in self.parts) / self.n_rows))
        return length if 0.0 < length < np.inf else 1.0

    @property
    def least_weight(self) -> float:
        """The smallest positive sample weight."""
        return min(part.least_weight for part in self.parts)

    @property
    def total(self) -> float:
        """The sample weight of all rows."""
        return sum(part.total for part in self.parts)

    def learnt(self, task: Any, classes: Any) -> Any:
        """The task that has learned the targets of all partitions."""
        if isinstance(task, Regression):
            return self._of_numbers(task)
        found = self.classes(classes)
        return task.counted(found, *self.of_classes(found))

    def units(self, task: Any) -> tuple[float, ...]:
        """The size of a usual residual of each problem, a power of two; 1 for classes."""
        if not isinstance(task, Regression):
            return (1.0,) * int(task.n_problems)
        spreads = np.sum([part.spreads for part in self.parts], axis=0) / self.total
        powers = (float(np.clip(np.round(np.log2(each)), -500, 500)) if each > 0.0 else 0.0 for each in spreads)
        return tuple(2.0**power for power in powers)

    def _of_numbers(self, task: Regression) -> Regression:
        first = self.parts[0]
        for part in self.parts:
            if part.n_targets != first.n_targets:
                raise PegasosError(
                    f"y has {part.n_targets} columns in partition {part.number} and {first.n_targets} in partition "
                    f"{first.number}; all must have the same."
                )
        if not self.total > 0.0:
            raise PegasosError("sample_weight is zero for every row: give at least one row a weight.")
        sizes: dict[str, Any] = {"total": self.total, "n_rows": self.n_rows}
        return replace(task, n_targets=first.n_targets, is_matrix=first.is_matrix, **sizes)

    def classes(self, given: Any) -> npt.NDArray[Any]:
        """The given classes, which must include all labels with a positive weight; else those labels."""
        self._check_labels()
        labels = np.concatenate([part.labels for part in self.parts])
        totals = np.concatenate([part.totals for part in self.parts])
        if given is None:
            return find_classes(labels, totals)
        classes = np.unique(np.asarray(given))
        if len(classes) < 2:
            raise PegasosError(f"classes must name at least 2 classes, got {classes.tolist()}.")
        strange = (encode(labels, classes) < 0) & (totals > 0.0)
        if strange.any():
            found = labels[strange.argmax()]
            raise PegasosError(f"y contains {found}, which is not in classes={classes.tolist()}; add it.")
        return classes

    def _check_labels(self) -> None:
        first = self.parts[0].labels
        for part in self.parts:
            if kind_of_labels(part.labels) != kind_of_labels(first):
                raise PegasosError(
                    f"the labels of some partitions are {kind_of_labels(first)}, such as {first.tolist()[0]!r}, and of "
                    f"others {kind_of_labels(part.labels)}, such as {part.labels.tolist()[0]!r}; make them all numbers "
                    "or all strings."
                )

    def of_classes(self, classes: npt.NDArray[Any]) -> tuple[Vector, Vector]:
        """The sample weight and the number of rows of each class, in the order of the partitions."""
        totals, counts = np.zeros(len(classes)), np.zeros(len(classes))
        for part in self.parts:
            codes = encode(part.labels, classes)
            known = codes >= 0
            np.add.at(totals, codes[known], part.totals[known])
            np.add.at(counts, codes[known], part.counts[known])
        if not totals.any():
            raise PegasosError("sample_weight is zero for every row: give at least one row of each class a weight.")
        return totals, counts


def _check_alike(first: Summary, part: Summary) -> None:
    """Reject partitions with other features."""
    if part.names != first.names and part.names is not None and first.names is not None:
        missing = [name for name in first.names if name not in part.names]
        strange = [name for name in part.names if name not in first.names]
        what = f"lacks column {missing[0]!r}" if missing else f"has column {strange[0]!r}" if strange else "reorders"
        if not missing and not strange:
            raise PegasosError(
                f"partition {part.number} has the columns of partition {first.number} in another order; select them "
                "by name in one order first."
            )
        raise PegasosError(
            f"partition {part.number} {what}, unlike partition {first.number}; all must have the same columns."
        )
    if part.n_features != first.n_features:
        raise PegasosError(
            f"partition {part.number} has {part.n_features} features and partition {first.number} has "
            f"{first.n_features}; all must have the same."
        )
