"""Write files so that a reader finds the old or the new version, never a part of one."""

from __future__ import annotations

import os
import secrets
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
    part = goal.parent / f".{goal.name}.{secrets.token_hex(8)}.part"
    try:
        # "x": a name that does not exist yet. The system gives it the permissions of a new file, which Python could
        # determine only by changing the umask of all threads.
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, goal)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
