"""What the client of a cluster must know of all partitions together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.distributed.partitions import Summary, kind_of_labels
from pegasos.errors import PegasosError
from pegasos.solvers.cocoa import Vector
from pegasos.tasks.labels import encode, find_classes


@dataclass(frozen=True)
class Whole:
    """All partitions that have rows, together."""

    parts: Sequence[Summary]

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
    def least_weight(self) -> float:
        """The least sample weight above 0."""
        return min(part.least_weight for part in self.parts)

    def classes(self, given: Any) -> npt.NDArray[Any]:
        """Those that are given, which must hold all labels that count; else the labels that count."""
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
