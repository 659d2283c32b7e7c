"""The blocks of a source that are in memory: read ahead by a thread, kept while there is room.

The order of the blocks is fixed before they are read. The thread affects only when a block is available, and memory
only whether it must be read: no result depends on either.
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
    """Rows of a block: all, or those with these ascending numbers."""

    rows: Rows
    numbers: Numbers | None = None

    @property
    def n_bytes(self) -> int:
        """Bytes in memory."""
        return bytes_of(self.rows.values) + self.rows.squared_norms.nbytes

    def take(self, numbers: Numbers) -> Piece:
        """A copy of some of its rows, by their numbers in the block."""
        places = numbers if self.numbers is None else np.searchsorted(self.numbers, numbers)
        return Piece(self.rows.take(places), numbers)


class Window:
    """The part of a source that is in memory.

    Parameters
    ----------
    source : BlockSource
    bias : float
        Value of the constant column.
    room : int
        Bytes for blocks that stay. The current block and those being read are not included.
    fits : bool
        Whether all blocks have room together: then each stays whole.
    block_bytes : integer array of shape (n_blocks,), optional
        Bytes of each block in memory. Default: determined by the source when needed, which may read all of it.
    """

    ahead = 1  # blocks that are read in advance

    def __init__(
        self, source: BlockSource, bias: float, room: int, *, fits: bool = False, block_bytes: Sizes | None = None
    ) -> None:
        self._block_bytes = block_bytes
        self.source, self.bias, self.room, self.fits = source, bias, room, fits
        self.n_read = 0  # bytes read
        self.occasion: int | None = None  # number of the walk that the last plan is for; None for a pass over all rows
        self._reader = ThreadPoolExecutor(1, "pegasos-reader")
        self._plan: deque[int] = deque()
        self._coming: dict[int, Future[Piece]] = {}
        self._kept: dict[int, Piece] = {}
        self._used = 0
        self._gathered: Rows | None = None
        self._at_work: tuple[int, Piece] | None = None
        self._seen: dict[int, float] = {}  # sum of the squared norms of each block read so far

    @property
    def block_bytes(self) -> Sizes:
        """Bytes of each block in memory according to the source, whatever part is loaded."""
        if self._block_bytes is None:
            outlines = (outline_of(self.source, k) for k in range(self.source.n_blocks))
            self._block_bytes = np.array([outline.n_bytes + 8 * len(outline.y) for outline in outlines])
        return self._block_bytes

    def plan(self, occasion: int | None, blocks: Iterable[int], *, whole: Iterable[int]) -> None:
        """Announce which blocks will be needed next, in this order, and which of them completely."""
        self.occasion = occasion
        complete = set(whole)
        self._plan = deque(k for k in blocks if self._kept_piece(k, whole=k in complete) is None)
        wanted = set(self._plan)
        for k in [k for k in self._coming if k not in wanted]:
            self._coming.pop(k).cancel()
        self._read_ahead()

    def piece(self, k: int, *, whole: bool) -> Piece:
        """Block k, or the part of it that is kept if that is enough. Waits for the reader and raises its errors."""
        if self._at_work is not None and self._at_work[0] == k and not (whole and self._at_work[1].numbers is not None):
            return self._at_work[1]
        self._at_work = None  # frees its memory for the next one
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
        """End the work on block k; until `recall`, only these rows of it will be needed."""
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
        """Copy the rows with these numbers, from all blocks, and keep them until `recall`."""
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
        """Allow all rows to be requested again."""
        for k in [k for k, piece in self._kept.items() if piece.numbers is not None]:
            self._drop(k)
        self._at_work = self._gathered = None

    def close(self) -> None:
        """Stop the reader, and free what it holds."""
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
        """Read in the reader's thread. Rows are always inspected: a file may change, and the loops trust them."""
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
            raise PegasosError(f"{where} has changed since it was first read; train on data that does not change.")
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
    """A copy of the numbers, if they are mapped from a file."""
    if _mapping_of(X.data if sp.issparse(X) else X) is None:
        return X
    copy = X.copy() if sp.issparse(X) else np.array(X)
    _give_back(X)
    return copy


def _give_back(X: Matrix) -> None:
    """For a memory-mapped file, release the pages of these rows, which would count as memory in use."""
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
