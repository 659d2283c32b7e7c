"""Writing files so that a reader finds the old one or the new one, never a part of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes its name when the block ends well; otherwise nothing has happened.

    What is there and no file, a device or a pipe, is written to and stays what it is; so does a link.
    """
    goal = Path(path)
    if goal.exists() and not goal.is_file() and not goal.is_dir():
        with goal.open("wb") as file:
            yield file
        return
    goal = goal.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{goal.name}.", suffix=".part", dir=goal.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, goal)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What a new file must not allow; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
