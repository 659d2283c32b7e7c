"""Arrays that numpy has written, .npy and .npz, mapped into memory."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.data.options import checked_count, default_block_bytes
from pegasos.data.origin import FileOrigin, reason
from pegasos.data.source import Block, FileBlocks, Matrix, csr_of, even_starts, is_sound, rows_between
from pegasos.errors import PegasosError

Labels = str | os.PathLike[str] | bool | None  # the only bool allowed is False
_CSR_PARTS = ("data", "indices", "indptr", "shape")
# For broken files, numpy and zipfile may raise any type, including errors of Python's tokenizer and of zlib.
_unreadable = Exception


class MappedSource(FileBlocks):
    """Blocks of a matrix in a file; views where its type and order suit the loops."""

    def __init__(self, origin: FileOrigin, X: Matrix, y: npt.NDArray[Any], block_bytes: int) -> None:
        if X.ndim != 2:
            raise PegasosError(f"{origin.name}: X must have two dimensions, got shape {X.shape}.")
        if y.shape[:1] != (X.shape[0],) or y.ndim > 2 or 0 in y.shape[1:]:
            raise PegasosError(
                f"{origin.name}: y must have one label per row, shape ({X.shape[0]},), or a column per target, got "
                f"{y.shape}."
            )
        if y.dtype.kind not in "fiubU":
            raise PegasosError(f"{origin.name}: y must hold numbers or texts, got {y.dtype}.")
        self.origin, self._X, self._y = origin, X, y
        self.is_sparse, self.n_features = sp.issparse(X), int(X.shape[1])
        self.dtype = float_type(X.dtype, f"{origin.name}: X")
        n_bytes = X.size * (self.dtype.itemsize + (X.indices.itemsize if self.is_sparse else 0))
        n_blocks = max(1, n_bytes // checked_count("block_bytes", block_bytes))
        self.starts = even_starts(X.shape[0], max(1, X.shape[0] // n_blocks))

    def _read(self, k: int) -> Block:
        begin, end = self.starts[k : k + 2]
        X = rows_between(self._X, begin, end)
        if not self.is_sparse:
            return Block(_readable(X, self.dtype), self._y[begin:end])
        columns, ends = (_readable(part, part.dtype) for part in (X.indices, X.indptr))
        X = csr_of(_readable(X.data, self.dtype), columns, ends, self.n_features)
        if not is_sound(X):
            raise PegasosError(
                f"{self.origin.name}: data, indices and indptr are not a CSR matrix of {self.n_features} columns "
                f"(rows {begin}..{end - 1})."
            )
        return Block(X, self._y[begin:end])


def open_npy(origin: FileOrigin, *, labels: Labels = None, block_bytes: int = default_block_bytes) -> MappedSource:
    """X from one file, its labels from another; False for no labels."""
    if labels is None:
        raise PegasosError(f"{origin.name} holds X alone: give the file of the labels, labels='y.npy'.")
    X = _load(origin.path, origin.name)
    return MappedSource(origin, X, _labels_of(X, labels), block_bytes)


def open_npz(origin: FileOrigin, *, labels: Labels = None, block_bytes: int = default_block_bytes) -> MappedSource:
    """X and y from one file, or y from another; False: only its own. X may be written by scipy's save_npz."""
    members = _Members(origin)
    if "y" not in members.names and labels is None:
        raise PegasosError(f"{origin.name} holds no y: add it, or give the file of the labels, labels='y.npy'.")
    X = members["X"] if "X" in members.names else _csr_matrix(origin, members)
    y = members["y"] if "y" in members.names and not labels else _labels_of(X, labels)
    return MappedSource(origin, X, y, block_bytes)


def _labels_of(X: Matrix, labels: Any) -> npt.NDArray[Any]:
    """The labels of a file; NaN where there are none."""
    return np.full(X.shape[:1], np.nan) if labels is False else _load(Path(labels), str(labels))


def _csr_matrix(origin: FileOrigin, members: _Members) -> sp.csr_matrix:
    if not set(_CSR_PARTS) <= members.names:
        raise PegasosError(
            f"{origin.name} must hold X, or data, indices, indptr and shape; it holds {sorted(members.names)}."
        )
    if "format" in members.names and members["format"] not in (b"csr", "csr"):
        raise PegasosError(f"{origin.name} holds a sparse matrix that is not CSR: save X.tocsr().")
    data, indices, indptr, shape = parts = [members[part] for part in _CSR_PARTS]
    are_one_kind = all(part.ndim == 1 for part in parts) and all(part.dtype.kind == "i" for part in parts[1:])
    if not are_one_kind or len(shape) != 2 or len(indptr) != shape[0] + 1 or shape[1] < 0:
        raise PegasosError(f"{origin.name}: data, indices, indptr and shape are not those of a CSR matrix.")
    if len(indices) != len(data) or indptr.min(initial=0) < 0 or indptr.max(initial=0) > len(data):
        raise PegasosError(f"{origin.name}: indptr points outside of data.")
    index = np.dtype(np.int32 if indices.itemsize <= 4 and indptr.itemsize <= 4 else np.int64)
    return csr_of(data, indices.astype(index, copy=False), indptr.astype(index, copy=False), int(shape[1]))


def float_type(dtype: np.dtype[Any], what: str) -> np.dtype[Any]:
    """The floating-point type that represents all numbers of this type."""
    found = np.result_type(dtype, np.float32) if dtype.kind in "fiub" else None
    if found not in (np.float32, np.float64):
        raise PegasosError(f"{what} must hold numbers that a float64 can hold, got {dtype}.")
    return np.dtype(found)


class _Members:
    """The arrays of a .npz file: memory-mapped if stored uncompressed, else read."""

    def __init__(self, origin: FileOrigin) -> None:
        self._origin = origin
        try:
            with zipfile.ZipFile(origin.path) as archive:
                self._found = {one.filename.removesuffix(".npy"): one for one in archive.infolist()}
        except MemoryError:  # not a defect of the file
            raise
        except _unreadable as error:
            raise PegasosError(f"{origin.name} is not a complete .npz file: {reason(error)}.") from error
        self.names = set(self._found)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        member = self._found[name]
        try:
            if member.compress_type == zipfile.ZIP_STORED:
                return self._map(member)
            with zipfile.ZipFile(self._origin.path) as archive, archive.open(member) as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        except _unreadable as error:
            raise PegasosError(f"{self._origin.name}: {name} cannot be read: {reason(error)}.") from error

    def _map(self, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
        with self._origin.path.open("rb") as file:
            # The local header: 30 bytes, the name, and an extra field.
            file.seek(member.header_offset + 26)
            lengths = np.frombuffer(file.read(4), dtype="<u2")
            file.seek(member.header_offset + 30 + int(lengths.sum()))
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, is_fortran, dtype = read(file)
            if dtype.hasobject:
                raise ValueError("it holds Python objects")
            if 0 in shape:
                return np.empty(shape, dtype=dtype)
            flat = np.asarray(
                np.memmap(self._origin.path, dtype, mode="r", offset=file.tell(), shape=(math.prod(shape),))
            )
            return flat.reshape(shape, order="F" if is_fortran else "C")


def _load(path: Path, name: str) -> npt.NDArray[Any]:
    try:
        with np.errstate(over="ignore"):  # lengths in a header may overflow; the error message is enough
            found = np.load(path, mmap_mode="r", allow_pickle=False)
    except MemoryError as error:  # Python's parser also raises this for a header that is nested too deeply
        raise PegasosError(f"{name} has a header for which there is not enough memory.") from error
    except _unreadable as error:
        raise PegasosError(f"{name} is not a complete .npy file: {reason(error)}.") from error
    if not isinstance(found, np.ndarray):
        raise PegasosError(f"{name} is not a .npy file.")
    return np.asarray(found)


def _readable(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The array itself if the loops can read it, else a copy."""
    return np.require(array, dtype=dtype.newbyteorder("="), requirements=["C", "A"])
