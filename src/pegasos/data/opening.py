"""Files of every kind as sources of blocks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pegasos.data.source import Blocks
from pegasos.data.svmlight import SvmlightSource
from pegasos.data.text import compression_of
from pegasos.errors import PegasosError


def open_source(path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> Blocks:
    """Open."""
    file = Path(path)
    if compression_of(file) is not None:
        raise PegasosError(f"{path} is compressed and has no blocks: make a cache of it first, pegasos convert {path}.")
    return SvmlightSource(file, **options)
