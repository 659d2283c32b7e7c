"""What a source of blocks is, and the one whose rows are in memory already.

A block is the number of rows to hold in memory at a time. Training on blocks uses only this protocol; the source
decides where the rows come from: text, columns, a cache or arrays.
"""

from __future__ import annotations

import hashlib
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.data.options import checked_count
from pegasos.data.origin import FileOrigin
from pegasos.errors import PegasosError

Matrix = Any  # a dense C-contiguous array, or a CSR matrix of scipy; float32 or float64
Starts = npt.NDArray[np.int64]


class Block(NamedTuple):
    """Some rows of a source, and their labels.

    Attributes
    ----------
    X : C-contiguous array or CSR matrix, float32 or float64
        A view of the source's own memory where possible; do not modify it.
    y : array of shape (n_rows,)
        The labels of these rows, as stored.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.data import ArraySource
    >>> block = next(iter(ArraySource(np.eye(4), [0, 1, 0, 1], block_rows=3)))
    >>> block.X.shape, block.y.tolist()
    ((3, 4), [0, 1, 0])
    """

    X: Matrix
    y: npt.NDArray[Any]


class BlockSource(Protocol):
    """The protocol of a source: rows in blocks that can be read any number of times, in any order.

    Any object with these attributes and the two methods can be passed to `fit_source`.

    Attributes
    ----------
    n_rows, n_features, n_blocks : int
    is_sparse : bool
        Whether the X of a block is a CSR matrix.
    dtype : float32 or float64
    starts : int64 array of shape (n_blocks + 1,)
        The first row of each block, and `n_rows` at the end.
    fingerprint : str
        A string that changes if the content changes.

    A source may have `feature_names`, a list of its column names, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.data import ArraySource, BlockSource
    >>> source: BlockSource = ArraySource(np.eye(4), [0, 1, 0, 1], block_rows=3)
    >>> source.n_blocks, source.starts.tolist()
    (2, [0, 3, 4])
    >>> source.block(1).y.tolist()
    [1]
    """

    @property
    def n_rows(self) -> int: ...  # noqa: D102
    @property
    def n_features(self) -> int: ...  # noqa: D102
    @property
    def n_blocks(self) -> int: ...  # noqa: D102
    @property
    def is_sparse(self) -> bool: ...  # noqa: D102
    @property
    def dtype(self) -> np.dtype[Any]: ...  # noqa: D102
    @property
    def starts(self) -> Starts: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102

    def block(self, k: int) -> Block:
        """Return block k, in any order and from any thread; raises an IndexError if there is none."""
        ...

    def __iter__(self) -> Iterator[Block]:
        """Iterate from the first block; every iteration starts over."""
        ...


class Outline(NamedTuple):
    """What is known about a block before its rows are read: the labels, and the bytes that the rows will take."""

    y: npt.NDArray[Any]
    n_bytes: int


@runtime_checkable
class Outlined(Protocol):
    """A source that provides more about its blocks than required."""

    def outline(self, k: int) -> Outline:
        """Return the outline of block k without reading its rows; its checksum is verified when those are read."""


def outline_of(source: BlockSource, k: int) -> Outline:
    """The outline of block k; read the block if the source does not provide one."""
    if isinstance(source, Outlined):
        return source.outline(k)
    X, y = source.block(k)
    arrays = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return Outline(y, sum(array.nbytes for array in arrays))


class Blocks(ABC):
    """Shared by the sources: block count, iteration, and an IndexError for a missing block."""

    n_features: int
    is_sparse: bool
    dtype: np.dtype[Any]
    starts: Starts
    feature_names: list[str] | None = None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Changes when the content changes."""

    @property
    def n_rows(self) -> int:
        """The rows of all blocks together."""
        return int(self.starts[-1])

    @property
    def n_blocks(self) -> int:
        """How many blocks there are; 0 when there is no row."""
        return len(self.starts) - 1

    def block(self, k: int) -> Block:
        """Return block k; raises an IndexError if there is none."""
        number = operator.index(k)
        if not 0 <= number < self.n_blocks:
            raise IndexError(f"there is no block {number}: the blocks are 0..{self.n_blocks - 1}.")
        return self._read(number)

    def __iter__(self) -> Iterator[Block]:
        """Iterate from the first block; every iteration starts over."""
        return (self.block(k) for k in range(self.n_blocks))

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        size = f"{self.n_rows} rows, {self.n_features} features, {self.n_blocks} blocks"
        return f"<{type(self).__name__}: {size}, {kind} {self.dtype}>"

    @abstractmethod
    def _read(self, k: int) -> Block: ...


class FileBlocks(Blocks):
    """Blocks of a file."""

    origin: FileOrigin

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the file and of how it is read."""
        return self.origin.fingerprint

    def block(self, k: int) -> Block:
        """Return block k; raises an IndexError if there is none."""
        self.origin.refuse_changes()
        return super().block(k)


class ArraySource(Blocks):
    """Slices of arrays in memory, or of memory maps, as blocks; nothing is copied.

    Parameters
    ----------
    X : C-contiguous array or CSR matrix of shape (n_rows, n_features), float32 or float64
    y : array-like of shape (n_rows,), or (n_rows, n_targets) for a regressor
    block_rows : int, default=65536
        Rows per block; the last one may have fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.data import ArraySource
    >>> source = ArraySource(np.eye(5), [1, 1, 0, 0, 1], block_rows=2)
    >>> [block.y.tolist() for block in source]
    [[1, 1], [0, 0], [1]]
    >>> source
    <ArraySource: 5 rows, 5 features, 3 blocks, dense float64>
    """

    def __init__(self, X: Matrix, y: npt.ArrayLike, block_rows: int = 65536) -> None:
        self._X, self._y = _checked_rows(X), np.asarray(y)
        if self._y.shape[:1] != (X.shape[0],) or self._y.ndim > 2 or 0 in self._y.shape[1:]:
            raise PegasosError(
                f"y must have one label per row, shape ({X.shape[0]},), or a column per target, got {self._y.shape}."
            )
        self.is_sparse = sp.issparse(X)
        self.dtype = X.dtype
        self.n_features = int(X.shape[1])
        self.starts = even_starts(X.shape[0], block_rows)
        self._fingerprint: str | None = None

    @property
    def fingerprint(self) -> str:
        """A digest of all numbers and labels, computed on first use."""
        if self._fingerprint is None:
            parts = (self._X.data, self._X.indices, self._X.indptr) if self.is_sparse else (self._X,)
            self._fingerprint = digest(str(self._X.shape), *parts, self._y)
        return self._fingerprint

    def _read(self, k: int) -> Block:
        begin, end = self.starts[k : k + 2]
        return Block(rows_between(self._X, begin, end), self._y[begin:end])


def even_starts(n_rows: int, block_rows: int) -> Starts:
    """The first row of each block, and `n_rows`, when all blocks but the last are of one size."""
    step = checked_count("block_rows", block_rows)
    return np.append(np.arange(0, n_rows, step, dtype=np.int64), np.int64(n_rows))


def rows_between(X: Matrix, begin: int, end: int) -> Matrix:
    """Consecutive rows of an array or a CSR matrix: a view of its numbers and of its columns."""
    if not sp.issparse(X):
        return np.asarray(X[begin:end])
    first, last = X.indptr[begin], X.indptr[end]
    return csr_of(X.data[first:last], X.indices[first:last], X.indptr[begin : end + 1] - first, X.shape[1])


def csr_of(
    data: npt.NDArray[Any], indices: npt.NDArray[Any], indptr: npt.NDArray[Any], n_features: int
) -> sp.csr_matrix:
    """A CSR matrix of exactly these arrays; scipy's own constructor would convert and copy int64 indices."""
    matrix = sp.csr_matrix((len(indptr) - 1, n_features), dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def is_sound(X: sp.csr_matrix) -> bool:
    """Check that these arrays form a valid CSR matrix, so that loops can follow its columns safely."""
    ends = X.indptr
    if len(ends) != X.shape[0] + 1 or len(X.indices) != len(X.data) or ends[0] != 0 or ends[-1] != len(X.data):
        return False
    columns = X.indices
    are_inside = not len(columns) or 0 <= columns.min() <= columns.max() < X.shape[1]
    return bool(are_inside and (ends[1:] >= ends[:-1]).all())


def _checked_rows(X: Matrix) -> Matrix:
    if sp.issparse(X) and X.format != "csr":
        raise PegasosError(f"X must be an array or a CSR matrix, got one in format {X.format!r}: use X.tocsr().")
    if not sp.issparse(X) and not (isinstance(X, np.ndarray) and X.ndim == 2 and X.flags.c_contiguous):
        raise PegasosError("X must be a C-contiguous array of two dimensions: use np.ascontiguousarray.")
    if X.dtype not in (np.float32, np.float64):
        raise PegasosError(f"X must be float32 or float64, got {X.dtype}: use X.astype(np.float32).")
    return X


def bytes_of(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The memory of an array, row by row; a copy only where it is not contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def digest(*parts: Any) -> str:
    """A short text that differs when any of these arrays or texts does."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        array = np.asarray(part)
        found.update(f"{array.shape} {array.dtype} ".encode())
        found.update(repr(array.tolist()).encode() if array.dtype.hasobject else bytes_of(array).data)
    return found.hexdigest()
