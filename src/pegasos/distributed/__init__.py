"""Rows in partitions on many machines, whichever engine moves them."""

from pegasos.distributed.held_out import HeldOut
from pegasos.distributed.partitions import (
    Asked,
    Plan,
    Reading,
    answer,
    bytes_of_all,
    code,
    groups_of,
    hits,
    measure,
    merge,
    merge_all,
    predicted,
    read,
    squares,
    summarize,
    summarize_folds,
)
from pegasos.distributed.rounds import Engine, PartitionsElsewhere, Passes
from pegasos.distributed.summary import Whole

__all__ = [
    "Asked",
    "Engine",
    "HeldOut",
    "PartitionsElsewhere",
    "Passes",
    "Plan",
    "Reading",
    "Whole",
    "answer",
    "bytes_of_all",
    "code",
    "groups_of",
    "hits",
    "measure",
    "merge",
    "merge_all",
    "predicted",
    "read",
    "squares",
    "summarize",
    "summarize_folds",
]
