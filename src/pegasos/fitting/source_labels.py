"""The labels of a source: its classes, the class of every row, and how large its blocks are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.data.source import BlockSource, outline_of
from pegasos.errors import PegasosError
from pegasos.tasks.labels import find_classes


@dataclass(frozen=True)
class SourceLabels:
    """What one pass over all labels finds."""

    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.integer[Any]]  # of all rows, as narrow as the classes allow
    block_bytes: npt.NDArray[np.int64]  # of each block in memory

    @property
    def n_bytes(self) -> int:
        """Bytes of all blocks in memory."""
        return int(self.block_bytes.sum())

    @property
    def largest_block(self) -> int:
        """Bytes of the largest block."""
        return int(self.block_bytes.max())

    @property
    def counts(self) -> npt.NDArray[np.float64]:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes)).astype(np.float64)


def read_labels(source: BlockSource) -> SourceLabels:
    """Read the labels of every block once; classes are numbered as they come, and then in order."""
    if source.n_rows == 0:
        raise PegasosError("the source has no rows; there is nothing to learn from.")
    codes = np.empty(source.n_rows, np.int32)
    number_of: dict[Any, int] = {}
    n_bytes = []
    for k in range(source.n_blocks):
        begin, end = source.starts[k : k + 2]
        try:
            outline = outline_of(source, k)
        except (OSError, ValueError) as error:
            raise PegasosError(f"block {k} of the source could not be read: {error}.") from error
        y = np.asarray(outline.y)
        if y.shape != (end - begin,):
            raise PegasosError(f"block {k} of the source has {end - begin} rows and labels of shape {y.shape}.")
        codes[begin:end] = _numbered(y, number_of, k)
        n_bytes.append(outline.n_bytes + 8 * len(y))  # with the squared norms
    labels = np.array(list(number_of))
    classes = find_classes(labels, None)
    in_order = np.searchsorted(classes, labels).astype(np.min_scalar_type(-len(classes)))
    return SourceLabels(classes, in_order[codes], np.array(n_bytes))


def _numbered(y: npt.NDArray[Any], number_of: dict[Any, int], k: int) -> npt.NDArray[np.int32]:
    try:
        labels, places = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise PegasosError(f"block {k} of the source has labels of several kinds: {error}.") from error
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise PegasosError(f"block {k} of the source has a label that is NaN or infinite; drop its row first.")
    numbers = [number_of.setdefault(label, len(number_of)) for label in labels.tolist()]
    return np.array(numbers, np.int32)[places]
