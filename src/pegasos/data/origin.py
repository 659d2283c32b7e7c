"""The file behind a source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pegasos.errors import PegasosError


@dataclass(frozen=True)
class FileOrigin:
    """A file as it was when it was opened.

    Attributes
    ----------
    path : Path
        Where its bytes are.
    name : str
        What messages call it.
    stamp : str
        What `stamp_of` said of it.
    fingerprint : str
        Another one for another file, for the same one changed, and for another way to read it.
    """

    path: Path
    name: str
    stamp: str
    fingerprint: str

    def refuse_changes(self) -> None:
        """Positions in a file are meaningless in another."""
        if stamp_of(self.path) != self.stamp:
            raise PegasosError(f"{self.name} has changed since it was opened: open it again.")


def stamp_of(path: Path) -> str:
    """Identifies the version of a file: its path, its size and its modification time."""
    try:
        state = path.stat()
    except OSError as error:
        raise PegasosError(f"{path} cannot be read: {error.strerror or reason(error)}.") from error
    if not path.is_file():
        raise PegasosError(f"{path} is a folder or a device: name a file.")
    return f"{path.resolve()} {state.st_size} {state.st_mtime_ns}"


def reason(error: Exception) -> str:
    """The message of another library, without its final stop."""
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(". ")
