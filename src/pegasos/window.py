"""The blocks of a source that are in memory: read ahead by a thread, kept while there is room.

Which block is asked for next is settled before it is read. The thread decides only when it is there, and the memory
only whether it must be read: nothing that is computed from the rows depends on either.
"""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.data.source import BlockSource, outline_of
from pegasos.errors import PegasosError
from pegasos.problem import Matrix, Rows

Numbers = npt.NDArray[np.intp]
Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of a block: all, or those with these numbers, which ascend."""

    rows: Rows
    numbers: Numbers | None = None

    @property
    def n_bytes(self) -> int:
        """Its memory."""
        return bytes_of(self.rows.values) + self.rows.squared_norms.nbytes

    def take(self, numbers: Numbers) -> Piece:
        """A copy of some of its rows, by their numbers in the block."""
        places = numbers if self.numbers is None else np.searchsorted(self.numbers, numbers)
        return Piece(self.rows.take(places), numbers)


class Window:
    """What is in memory of a source.

    Parameters
    ----------
    source : BlockSource
    bias : float
        Value of the constant column.
    room : int
        Bytes for blocks that stay. The block at work and those that are being read come on top of it.
    fits : bool
        Whether all blocks have room together: then each stays whole.
    block_bytes : integer array of shape (n_blocks,), optional
        What each block takes in memory. Default: the source is asked, which may read all of it, when that matters.
    """

    ahead = 1  # blocks that are read while one is at work

    def __init__(
        self, source: BlockSource, bias: float, room: int, *, fits: bool = False, block_bytes: Sizes | None = None
    ) -> None:
        self._block_bytes = block_bytes
        self.source, self.bias, self.room, self.fits = source, bias, room, fits
        self.n_read = 0  # bytes
        self.occasion: int | None = None  # the number of the walk that the last plan is for; None: a pass over all rows
        self._reader = ThreadPoolExecutor(1, "pegasos-reader")
        self._plan: deque[int] = deque()
        self._coming: dict[int, Future[Piece]] = {}
        self._kept: dict[int, Piece] = {}
        self._used = 0
        self._gathered: Rows | None = None
        self._at_work: tuple[int, Piece] | None = None
        self._seen: dict[int, float] = {}  # the sum of the squared norms of each block that was read

    @property
    def block_bytes(self) -> Sizes:
        """What each block takes in memory, as the source says, whatever of it is here."""
        if self._block_bytes is None:
            outlines = (outline_of(self.source, k) for k in range(self.source.n_blocks))
            self._block_bytes = np.array([outline.n_bytes + 8 * len(outline.y) for outline in outlines])
        return self._block_bytes

    def plan(self, occasion: int | None, blocks: Iterable[int], *, whole: Iterable[int]) -> None:
        """What will be asked for next, in this order, and of which blocks all rows will be."""
        self.occasion = occasion
        complete = set(whole)
        self._plan = deque(k for k in blocks if self._kept_piece(k, whole=k in complete) is None)
        wanted = set(self._plan)
        for k in [k for k in self._coming if k not in wanted]:
            self._coming.pop(k).cancel()
        self._read_ahead()

    def piece(self, k: int, *, whole: bool) -> Piece:
        """Block k, or what is kept of it if that is enough. Waits for the reader, and raises what it met."""
        if self._at_work is not None and self._at_work[0] == k and not (whole and self._at_work[1].numbers is not None):
            return self._at_work[1]
        self._at_work = None  # its memory is that of the next one
        piece = self._kept_piece(k, whole=whole)
        if piece is None:
            future = self._coming.pop(k, None) or self._reader.submit(self._read, k)
            if k in self._plan:
                self._plan.remove(k)
            self._read_ahead()
            piece = future.result()
            self.n_read += piece.n_bytes
        self._at_work = k, piece
        return piece

    def leave(self, k: int, left: Numbers) -> None:
        """The work on block k is done; until `recall` no other rows of it will be asked for than these."""
        assert self._at_work is not None
        piece, before = self._at_work[1], self._kept.get(k)
        free = self.room - self._used + (0 if before is None else before.n_bytes)
        self._drop(k)
        share = len(left) / piece.rows.n_rows
        if share * piece.n_bytes <= free and (piece.n_bytes > free or (share < 0.5 and not self.fits)):
            piece = piece.take(left)
        if piece.n_bytes <= free:
            self._kept[k] = piece
            self._used += piece.n_bytes
        self._at_work = None

    def gathered(self, numbers: Numbers) -> Rows:
        """The rows with these numbers, of all blocks, in memory of their own until `recall`."""
        if self._gathered is None:
            blocks, starts = np.searchsorted(self.source.starts, numbers, "right") - 1, self.source.starts
            needed = np.unique(blocks).tolist()
            self.plan(None, needed, whole=())
            pieces = [self.piece(k, whole=False).take(numbers[blocks == k] - starts[k]) for k in needed]
            self.recall()
            values = [piece.rows.values for piece in pieces]
            together = sp.vstack(values, "csr") if self.source.is_sparse else np.concatenate(values)
            self._gathered = Rows.of(together, self.bias)
        return self._gathered

    def recall(self) -> None:
        """All rows may be asked for again."""
        for k in [k for k, piece in self._kept.items() if piece.numbers is not None]:
            self._drop(k)
        self._at_work = self._gathered = None

    def close(self) -> None:
        """The end of the reader, and of what it holds."""
        for future in self._coming.values():
            future.cancel()
        self._reader.shutdown(wait=True, cancel_futures=True)
        self._coming.clear()
        self._kept.clear()
        self._at_work = self._gathered = None

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _kept_piece(self, k: int, *, whole: bool) -> Piece | None:
        piece = self._kept.get(k)
        return None if piece is None or (whole and piece.numbers is not None) else piece

    def _drop(self, k: int) -> None:
        piece = self._kept.pop(k, None)
        if piece is not None:
            self._used -= piece.n_bytes

    def _read_ahead(self) -> None:
        while self._plan and len(self._coming) < self.ahead:
            k = self._plan.popleft()
            if k not in self._coming:
                self._coming[k] = self._reader.submit(self._read, k)

    def _read(self, k: int) -> Piece:
        """Read in the reader's thread. Rows are inspected each time: a file may change, and the loops trust them."""
        begin, end = self.source.starts[k : k + 2]
        where = f"block {k} of the source (rows {begin} to {end - 1})"
        try:
            X = _in_memory(self.source.block(k).X)
            _check(X, (int(end - begin), self.source.n_features), self.source)
            rows = Rows.of(X, self.bias)
        except PegasosError as error:
            raise PegasosError(f"{where}: {error}") from error
        except (OSError, ValueError, IndexError) as error:
            raise PegasosError(f"{where} could not be read: {error}.") from error
        total = float(rows.squared_norms.sum(dtype=np.float64))
        if self._seen.setdefault(k, total) != total:
            raise PegasosError(f"{where} has changed since it was read first; train on data that stay as they are.")
        return Piece(rows)


def bytes_of(values: Matrix) -> int:
    """The memory of an array or of a CSR matrix."""
    if sp.issparse(values):
        return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)
    return int(values.nbytes)


def _check(X: Matrix, shape: tuple[int, int], source: BlockSource) -> None:
    if X.shape != shape or X.dtype != source.dtype or sp.issparse(X) != source.is_sparse:
        kind = f"{'sparse' if source.is_sparse else 'dense'} {source.dtype}"
        raise PegasosError(f"it must be {kind} of shape {shape}, got {X.dtype} of shape {X.shape}.")


def _in_memory(X: Matrix) -> Matrix:
    """The same numbers in memory of their own, if they are those of a file."""
    if _mapping_of(X.data if sp.issparse(X) else X) is None:
        return X
    copy = X.copy() if sp.issparse(X) else np.array(X)
    _give_back(X)
    return copy


def _give_back(X: Matrix) -> None:
    """Of a file that is mapped into memory, let the pages of these rows go: they would count as memory in use."""
    for array in (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,):
        mapping = _mapping_of(array)
        if mapping is not None and array.size > 0 and hasattr(mmap, "MADV_DONTNEED"):
            first = array.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data
            begin = first - first % mmap.PAGESIZE
            mapping.madvise(mmap.MADV_DONTNEED, begin, first + array.nbytes - begin)


def _mapping_of(array: Any) -> mmap.mmap | None:
    """The mapped file whose memory an array is a view of."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "obj", None) if isinstance(array, memoryview) else getattr(array, "base", None)
    return array
