"""The targets of a source, read in one pass before the first row, and how large its blocks are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.data.source import BlockSource, outline_of
from pegasos.errors import PegasosError
from pegasos.source_columns import SourceColumns


@dataclass(frozen=True)
class SourceTargets:
    """The result of one pass over all targets."""

    task: Any  # has learned its targets
    columns: SourceColumns
    unit: float  # unit of the columns
    block_bytes: npt.NDArray[np.int64]  # bytes of each block in memory

    @property
    def n_bytes(self) -> int:
        """Bytes of all blocks in memory."""
        return int(self.block_bytes.sum())

    @property
    def largest_block(self) -> int:
        """Bytes of the largest block."""
        return int(self.block_bytes.max())


def read_targets(source: BlockSource, task: Any, *, has_units: bool) -> SourceTargets:
    """Read the targets of every block once; ``has_units``: in units in which a usual residual is about 1."""
    if source.n_rows == 0:
        raise PegasosError("the source has no rows; there is nothing to learn from.")
    n_bytes: list[int] = []

    def targets() -> Iterator[npt.NDArray[Any]]:
        for k in range(source.n_blocks):
            begin, end = source.starts[k : k + 2]
            try:
                outline = outline_of(source, k)
            except (OSError, ValueError) as error:
                raise PegasosError(f"block {k} of the source could not be read: {error}.") from error
            y = np.asarray(outline.y)
            if y.shape[:1] != (end - begin,) or y.ndim > 2:
                raise PegasosError(f"block {k} of the source has {end - begin} rows and labels of shape {y.shape}.")
            if y.ndim == 2 and not getattr(task, "takes_columns", False):
                raise PegasosError(
                    f"block {k} of the source has labels of shape {y.shape}, and a classifier of a source takes one "
                    "label per row; fit a model to each column."
                )
            n_bytes.append(outline.n_bytes + 8 * len(y))  # including the squared norms
            yield y

    learnt, columns, unit = task.of_blocks(targets(), int(source.n_rows), has_units=has_units)
    return SourceTargets(learnt, columns, unit, np.array(n_bytes))
