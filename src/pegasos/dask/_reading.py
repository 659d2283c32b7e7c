"""The user's collections as partitions on the workers, ready for passes."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

import dask

from pegasos.dask._collections import blocks_of, matching_blocks
from pegasos.dask._rounds import OnWorkers
from pegasos.dask._workers import PREFIX, Workers, patiently
from pegasos.distributed import Reading, Whole, code, measure, read, summarize
from pegasos.fitting.cluster import Elsewhere, plans_of_partitions
from pegasos.machines.settings import Settings


def columns_of(X: Any, y: Any, sample_weight: Any, n_partitions: int) -> list[list[Any]]:
    """The blocks of y, and those of the weights or as many None."""
    columns = [matching_blocks("y", y, X, n_partitions)]
    weights = None if sample_weight is None else matching_blocks("sample_weight", sample_weight, X, n_partitions)
    return [*columns, [None] * n_partitions if weights is None else weights]


def read_partitions(workers: Workers, columns: tuple[Any, Any, Any], reading: Reading) -> tuple[list[Any], Whole]:
    """Handles of the partitions that have rows, and their summary."""
    X, y, sample_weight = columns
    of_X = blocks_of("X", X)
    numbered = enumerate(zip(of_X, *columns_of(X, y, sample_weight, len(of_X)), strict=True))
    blocks = workers.compute([_named(read, number)(number, *parts, reading) for number, parts in numbered])
    places = range(len(blocks))
    found = patiently(workers, blocks, lambda: workers.fetch(workers.map(summarize, places, blocks)))
    return [blocks[k] for k in places if found[k].n_rows > 0], Whole.of(found)


def _named(function: Any, number: int) -> Any:
    """A delayed function whose task has a name of its own on the dashboard."""
    return partial(dask.delayed(function), dask_key_name=f"{PREFIX}{function.__name__}-{uuid4().hex}-{number}")


def make_ready(
    workers: Workers, columns: tuple[Any, Any, Any], task: Any, settings: Settings, *, classes: Any, names: Any
) -> Elsewhere:
    """The partitions, encoded and measured, where they are."""
    reading = Reading(settings.bias, has_numbers=task.name == "regression", has_folds=bool(settings.probability))
    blocks, whole = read_partitions(workers, columns, reading)

    def each(function: Any, of: list[Any]) -> list[Any]:
        found: list[Any] = patiently(workers, of, lambda: workers.fetch(workers.map(function, range(len(of)), of)))
        return found

    plans = plans_of_partitions(task, settings, whole, partial(each, of=blocks), classes=classes, names=names)
    coded = workers.compute([_named(code, number)(block, plans) for number, block in enumerate(blocks)])
    del blocks  # a worker keeps one form of its partitions
    return Elsewhere(OnWorkers(workers, coded), plans, whole, each(measure, coded))
