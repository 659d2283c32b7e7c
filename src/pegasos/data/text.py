"""Files of lines: plain ones in blocks that end at line ends, compressed ones from beginning to end."""

from __future__ import annotations

import bz2
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pegasos.data.options import checked_count
from pegasos.data.origin import FileOrigin, reason
from pegasos.errors import PegasosError

_CHUNK_BYTES = 1 << 18


def place_of(name: str, read: Callable[[int, int], bytes], position: int) -> str:
    """The file, line and column of a byte, for a message; `read` returns this many bytes from a position on."""
    line, after = 1, 0
    for begin in range(0, position, _CHUNK_BYTES):
        piece = read(begin, min(_CHUNK_BYTES, position - begin))
        line += piece.count(b"\n")
        after = begin + piece.rfind(b"\n") + 1 if b"\n" in piece else after
    return f"{name}, line {line}, column {position - after + 1}"


class LineFile:
    """A plain file of lines that is read at any place, by any thread.

    Parameters
    ----------
    origin : FileOrigin
    block_bytes : int
        About how many bytes a block has; a longer line makes a longer block.
    """

    def __init__(self, origin: FileOrigin, block_bytes: int) -> None:
        self.origin, self.block_bytes = origin, checked_count("block_bytes", block_bytes)
        self.size = origin.path.stat().st_size

    def blocks(self, begin: int = 0) -> Iterator[tuple[int, bytes]]:
        """Where each block starts, and its bytes: whole lines."""
        while begin < self.size:
            text = self.read(begin, self.block_bytes)
            if begin + len(text) < self.size:
                text = text[: text.rfind(b"\n") + 1] or self._long_line(begin)
            yield begin, text
            begin += len(text)

    def read(self, begin: int, size: int) -> bytes:
        """The bytes from `begin` on, `size` of them or as many as there are."""
        self.origin.refuse_changes()
        with self.origin.path.open("rb") as file:
            file.seek(begin)
            return file.read(size)

    def place(self, position: int) -> str:
        """The file, line and column of a byte, for a message."""
        return place_of(self.origin.name, self.read, position)

    def _long_line(self, begin: int) -> bytes:
        """The line that starts here, which is longer than a block."""
        with self.origin.path.open("rb") as file:
            file.seek(begin)
            return file.readline()


def compression_of(path: Path) -> str | None:
    """By its first bytes: 'gzip', 'bzip2', 'zstandard', or None for a plain file."""
    with path.open("rb") as file:
        head = file.read(4)
    return next((name for name, (magic, _) in _compressions.items() if head.startswith(magic)), None)


def decompressed(path: Path) -> Iterator[bytes]:
    """The content of a file, compressed or not, piece by piece."""
    compression = compression_of(path)
    if compression is None:
        with path.open("rb") as file:
            while piece := file.read(_CHUNK_BYTES):
                yield piece
        return
    make = _compressions[compression][1](path)
    failures: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error, *_zstandard_errors())
    try:
        yield from _decompress(path, make)
    except failures as error:
        raise PegasosError(f"{path} is not a whole {compression} file: {reason(error)}.") from error


@contextmanager
def as_plain(path: Path, folder: Path) -> Iterator[Path]:
    """The file itself, or the content of a compressed one in a temporary file of `folder`."""
    if compression_of(path) is None:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix=f".{path.name}.", suffix=".part", dir=folder) as file:
        for piece in decompressed(path):
            file.write(piece)
        file.flush()
        yield Path(file.name)


def _decompress(path: Path, make: Callable[[], Any]) -> Iterator[bytes]:
    """Decompress a file that may hold several streams; the last must be complete."""
    with path.open("rb") as file:
        stream, is_whole = make(), False
        while piece := file.read(_CHUNK_BYTES):
            while piece:
                if is_whole:
                    stream = make()
                yield stream.decompress(piece)
                is_whole = stream.eof
                piece = stream.unused_data
        if not is_whole:
            raise EOFError("it ends too early")


def _zstandard(path: Path) -> Callable[[], Any]:
    try:
        import zstandard
    except ImportError as error:
        raise PegasosError(
            f"{path} is compressed with zstandard, which is not installed: "
            'run pip install "pegasos[data]", or decompress the file.'
        ) from error
    return lambda: zstandard.ZstdDecompressor().decompressobj()


def _zstandard_errors() -> tuple[type[Exception], ...]:
    try:
        from zstandard import ZstdError
    except ImportError:
        return ()
    return (ZstdError,)


# The first bytes of a compressed file, and what makes decompressors: objects with decompress, eof and unused_data.
_compressions: dict[str, tuple[bytes, Callable[[Path], Callable[[], Any]]]] = {
    "gzip": (b"\x1f\x8b", lambda path: lambda: zlib.decompressobj(wbits=31)),
    "bzip2": (b"BZh", lambda path: bz2.BZ2Decompressor),
    "zstandard": (b"\x28\xb5\x2f\xfd", _zstandard),
}
