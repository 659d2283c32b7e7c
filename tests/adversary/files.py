"""Model files that somebody has tampered with, every checksum right again."""

from __future__ import annotations

import contextlib
import io
from functools import cache
from typing import Any

import numpy as np

from tests.unit.persistence.mutations import packed_models, tampered, use


@cache
def _packed() -> list[Any]:
    return packed_models()


def hunt(random: np.random.Generator) -> dict[str, int]:
    """One file."""

    def choose(n: int) -> int:
        return int(random.integers(n))

    model, arrays, rows, labels = _packed()[choose(len(_packed()))]
    with contextlib.redirect_stdout(io.StringIO()):  # verbose may be among what was changed
        use(*tampered(model, arrays, choose), rows, labels)
    return {"mutated files": 1}
