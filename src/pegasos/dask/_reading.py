"""The user's collections as partitions on the workers, and what the client must know of them."""

from __future__ import annotations

from typing import Any

import dask

from pegasos.dask._collections import blocks_of, matching_blocks
from pegasos.dask._workers import Workers, patiently
from pegasos.distributed import Summary, Whole, read, summarise
from pegasos.errors import PegasosError


def columns_of(X: Any, y: Any, sample_weight: Any, n_partitions: int) -> list[list[Any]]:
    """The blocks of y, and those of the weights or as many None."""
    columns = [matching_blocks("y", y, X, n_partitions)]
    weights = None if sample_weight is None else matching_blocks("sample_weight", sample_weight, X, n_partitions)
    return [*columns, [None] * n_partitions if weights is None else weights]


def read_partitions(workers: Workers, X: Any, y: Any, sample_weight: Any, bias: float) -> tuple[list[Any], Whole]:
    """Handles of the partitions that have rows, and their summary."""
    of_X = blocks_of("X", X)
    columns = columns_of(X, y, sample_weight, len(of_X))
    numbered = enumerate(zip(of_X, *columns, strict=True))
    blocks = workers.compute([dask.delayed(read)(number, *parts, bias) for number, parts in numbered])
    places = range(len(blocks))
    found: list[Summary] = patiently(workers, blocks, lambda: workers.fetch(workers.map(summarise, places, blocks)))
    kept = [k for k in places if found[k].n_rows > 0]
    if not kept:
        raise PegasosError(f"X has no rows in any of its {len(blocks)} partitions.")
    for k in kept:
        if found[k].n_features != found[kept[0]].n_features:
            raise PegasosError(
                f"partition {k} has {found[k].n_features} features and partition {kept[0]} has "
                f"{found[kept[0]].n_features}; all must have the same."
            )
    return [blocks[k] for k in kept], Whole([found[k] for k in kept])
