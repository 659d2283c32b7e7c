"""The binary cache: blocks of numbers in one file, to be mapped into memory.

    preamble    64 bytes: magic, format, place and checksum of the directory, checksum of the preamble
    blocks      the arrays of each block, one after the other, each at a multiple of 64 bytes
    directory   JSON: a description of the rows, and for each block its position, sizes and checksum

Dense blocks have the arrays X, y; sparse ones data, indices, indptr, y. Text labels are stored as indices into
`classes`, which is in the directory. All numbers are little-endian. The preamble is written last, into a file that has
no name until it is complete. Nothing in a file is trusted before its checksum is verified; that of a block is verified
when the block is first read.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.data.source import Block, Blocks, BlockSource, Outline, bytes_of, csr_of, digest, is_sound
from pegasos.errors import PegasosError
from pegasos.files import atomically

magic = b"\x89PEGASOS"
_FORMAT = 1
_preamble = struct.Struct("<8sIQQI")  # magic, format, begin, size and checksum of the directory
_checksum = struct.Struct("<I")
_STEP = 64


class DamagedCacheError(PegasosError):
    """A damaged cache that must be rebuilt."""


class _Entry(NamedTuple):
    """A block in the directory: its rows, its entries if it is sparse, the type of its columns, its position."""

    n_rows: int
    n_entries: int
    column: str
    begin: int
    checksum: int


class CacheSource(Blocks):
    """The blocks of a cache; views of the file, which is mapped into memory.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        directory, text = _directory(path)
        try:
            self.is_sparse = {"dense": False, "csr": True}[directory["layout"]]
            self.dtype = _number_type(directory["dtype"], ("float32", "float64"))
            self.n_features = _count(directory["n_features"])
            self.feature_names = _names(directory.get("feature_names"), self.n_features)
            self.made_from = str(directory["made_from"])
            self._classes = np.array(directory["classes"], dtype=str)
            self._label = _number_type(directory["label"], ("int32",) if len(self._classes) else None)
            self._entries = [_entry(*found) for found in directory["blocks"]]
            self.starts = np.cumsum([0, *(entry.n_rows for entry in self._entries)], dtype=np.int64)
            ends = [entry.begin + sum(_sizes(self._arrays(entry))) for entry in self._entries]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(path, "its directory makes no sense") from error
        self._file = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
        if max(ends, default=0) > len(self._file):
            raise _damaged(path, "blocks lie outside of the file")
        self._fingerprint = digest(text)
        self._is_checked = np.zeros(self.n_blocks, dtype=bool)

    @property
    def fingerprint(self) -> str:
        """A digest of the directory, which contains the checksums of all blocks."""
        return self._fingerprint

    def __reduce__(self) -> tuple[type[CacheSource], tuple[Path]]:
        return CacheSource, (self.path.absolute(),)

    def _arrays(self, entry: _Entry) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
        """The types and shapes of the arrays of a block, in their order in the file."""
        labels = (self._label, (entry.n_rows,))
        if not self.is_sparse:
            return [(self.dtype, (entry.n_rows, self.n_features)), labels]
        index = _number_type(entry.column, ("int32", "int64"))
        return [(self.dtype, (entry.n_entries,)), (index, (entry.n_entries,)), (index, (entry.n_rows + 1,)), labels]

    def outline(self, k: int) -> Outline:
        """The labels of block k and the bytes of its rows, without reading the rows or verifying their checksum."""
        entry = self._entries[k]
        *rows, (dtype, shape) = self._arrays(entry)
        begin = entry.begin + sum(_sizes(rows))
        y = self._file[begin : begin + dtype.itemsize * math.prod(shape)].view(dtype).reshape(shape)
        n_bytes = sum(kind.itemsize * math.prod(lengths) for kind, lengths in rows)
        return Outline(self._classes.take(y, mode="clip") if len(self._classes) else y, n_bytes)

    def _read(self, k: int) -> Block:
        entry = self._entries[k]
        arrays = self._arrays(entry)
        if not self._is_checked[k]:
            size = sum(_sizes(arrays))
            if zlib.crc32(self._file[entry.begin : entry.begin + size].data) != entry.checksum:
                raise _damaged(self.path, f"the checksum of block {k} is wrong")
        parts, begin = [], entry.begin
        for (dtype, shape), size in zip(arrays, _sizes(arrays), strict=True):
            parts.append(self._file[begin : begin + dtype.itemsize * math.prod(shape)].view(dtype).reshape(shape))
            begin += size
        block = self._block_of(parts)
        if not self._is_checked[k] and not self._is_sound(block, parts[-1]):
            raise _damaged(self.path, f"block {k} points outside of the features or the classes")
        self._is_checked[k] = True
        return block

    def _block_of(self, parts: list[npt.NDArray[Any]]) -> Block:
        X, y = parts[0], parts[-1]
        if self.is_sparse:
            X = csr_of(parts[0], parts[1], parts[2], self.n_features)
        return Block(X, self._classes.take(y, mode="clip") if len(self._classes) else y)

    def _is_sound(self, block: Block, labels: npt.NDArray[Any]) -> bool:
        n_classes = len(self._classes)
        are_labels = not n_classes or not len(labels) or 0 <= labels.min() <= labels.max() < n_classes
        return bool(are_labels) and (not self.is_sparse or is_sound(block.X))


def write_cache(path: Path, source: BlockSource, made_from: str) -> None:
    """Write the blocks of a source, one at a time; afterwards `path` is a complete cache, or unchanged."""
    codes: dict[str, int] = {}
    label, entries = "float64", []
    with atomically(path) as file:
        file.write(bytes(_STEP))
        for block in source:
            labels = _encoded(block.y, codes)
            label = labels.dtype.name
            entries.append(_write_block(file, block.X, labels, is_sparse=source.is_sparse))
        directory = {
            "layout": "csr" if source.is_sparse else "dense",
            "dtype": source.dtype.name,
            "n_features": source.n_features,
            "feature_names": getattr(source, "feature_names", None),
            "label": label,
            "classes": list(codes),
            "made_from": made_from,
            "blocks": entries,
        }
        _write_directory(file, json.dumps(directory).encode())


def _write_block(file: IO[bytes], X: Any, labels: npt.NDArray[Any], *, is_sparse: bool) -> _Entry:
    begin, checksum = file.tell(), 0
    for array in (X.data, X.indices, X.indptr, labels) if is_sparse else (X, labels):
        little = bytes_of(array.astype(array.dtype.newbyteorder("<"), copy=False)).data
        for piece in (little, bytes(-len(little) % _STEP)):
            file.write(piece)
            checksum = zlib.crc32(piece, checksum)
    if is_sparse:
        return _Entry(X.shape[0], X.nnz, X.indices.dtype.name, begin, checksum)
    return _Entry(X.shape[0], 0, "", begin, checksum)


def _write_directory(file: IO[bytes], text: bytes) -> None:
    begin = file.tell()
    file.write(text)
    preamble = _preamble.pack(magic, _FORMAT, begin, len(text), zlib.crc32(text))
    file.seek(0)
    file.write(preamble + _checksum.pack(zlib.crc32(preamble)))


def _directory(path: Path) -> tuple[dict[str, Any], str]:
    """Parse and verify the directory of a cache step by step; also return its text."""
    with path.open("rb") as file:
        head = file.read(_STEP)
        if not head.startswith(magic):
            raise PegasosError(f"{path} is not a cache of pegasos: make one with pegasos convert.")
        if len(head) < _STEP:
            raise _damaged(path, "it is truncated")
        _, number, begin, size, checksum = _preamble.unpack_from(head)
        if number > _FORMAT:
            raise PegasosError(
                f"{path} is a cache in format {number}, of a newer version; this one reads format {_FORMAT}: "
                "update pegasos, or make another cache of the data."
            )
        if zlib.crc32(head[: _preamble.size]) != _checksum.unpack_from(head, _preamble.size)[0]:
            raise _damaged(path, "the checksum of its preamble is wrong")
        length = file.seek(0, 2)
        if begin + size > length:
            raise _damaged(path, f"it is truncated, {length} bytes of {begin + size}")
        file.seek(begin)
        text = file.read(size)
    if zlib.crc32(text) != checksum:
        raise _damaged(path, "the checksum of its directory is wrong")
    try:
        return json.loads(text), text.decode()
    except ValueError as error:
        raise _damaged(path, "its directory is not JSON") from error


def _encoded(labels: npt.NDArray[Any], codes: dict[str, int]) -> npt.NDArray[Any]:
    """Numbers unchanged; texts as indices, extending `codes` where necessary."""
    if labels.ndim != 1:
        raise PegasosError(
            f"the binary cache holds one label per row, got {labels.shape[1]} columns; write one cache per column, or "
            "use .npz."
        )
    if labels.dtype.kind in "fiub":
        return labels
    classes, inverse = np.unique(labels.astype(str), return_inverse=True)
    numbers = np.array([codes.setdefault(str(name), len(codes)) for name in classes], dtype=np.int32)
    return numbers[inverse]


def _entry(n_rows: object, n_entries: object, column: object, begin: object, checksum: object) -> _Entry:
    return _Entry(_count(n_rows), _count(n_entries), str(column), _count(begin), _count(checksum))


def _count(found: object) -> int:
    # isinstance accepts True as an int, which is not a valid length
    if type(found) is not int or not 0 <= found < 1 << 62:
        raise ValueError(found)
    return found


def _names(found: object, n_features: int) -> list[str] | None:
    """The names of the features; ValueError if they are not names for all of them."""
    if found is None:
        return None
    if not isinstance(found, list) or len(found) != n_features or not all(isinstance(name, str) for name in found):
        raise ValueError(found)
    return found


def _number_type(name: str, allowed: tuple[str, ...] | None) -> np.dtype[Any]:
    """The type of this name in the byte order of the file; ValueError if it is not allowed or not numeric."""
    dtype = np.dtype(name)
    if dtype.kind not in "fiub" or (allowed is not None and name not in allowed):
        raise ValueError(name)
    return dtype.newbyteorder("<")


def _sizes(arrays: list[tuple[np.dtype[Any], tuple[int, ...]]]) -> list[int]:
    """Bytes of each array in the file, up to the next multiple of 64."""
    return [-(-dtype.itemsize * math.prod(shape) // _STEP) * _STEP for dtype, shape in arrays]


def _damaged(path: Path, what: str) -> DamagedCacheError:
    return DamagedCacheError(f"{path} is damaged: {what}; rebuild it with pegasos convert.")
