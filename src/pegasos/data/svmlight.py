"""Svmlight (libsvm) text: a whole file as a matrix, or blocks of it."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.data.faults import TextError
from pegasos.data.options import checked_float_type, default_block_bytes
from pegasos.data.origin import FileOrigin, stamp_of
from pegasos.data.parsing import Parsed, Reading, Text, ZeroBased, known_base, parse
from pegasos.data.source import Block, FileBlocks
from pegasos.data.text import LineFile, compression_of, decompressed, place_of
from pegasos.errors import PegasosError


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    dtype: npt.DTypeLike = np.float32,
    zero_based: ZeroBased = "auto",
    allow_nan: bool = False,
    n_jobs: int | None = None,
) -> tuple[sp.csr_matrix, npt.NDArray[np.float64]]:
    r"""Read a file of svmlight (libsvm) text, plain or compressed (gzip, bzip2, zstandard).

    Parameters
    ----------
    path : path of the file
    n_features : int, optional
        Columns of X; a larger index raises an error. By default the largest index in the file.
    dtype : float32 or float64, default=float32
        The type of X. A number is rounded to the nearest double and from there to this type.
    zero_based : bool or 'auto', default='auto'
        Whether the first feature has index 0. 'auto': 0 if an index 0 occurs in the file, otherwise 1. Set it if the
        files of one data set could differ.
    allow_nan : bool, default=False
        Whether to accept `nan` and `inf` as values; otherwise they raise an error.
    n_jobs : int, optional
        Threads; default: one per processor.

    Returns
    -------
    X : CSR matrix of shape (n_rows, n_features), sorted columns
        With int64 indices only where int32 is not sufficient.
    y : float64 array of shape (n_rows,)

    Notes ----- Blank lines, comments (`# ...`), `qid:...`, CRLF and a missing last newline are accepted; indices out of
    order are sorted. Repeated indices, lines without a label or with several, and numbers too large for the type raise
    an error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos.data import read_svmlight
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2\n-1 2:1e-3 # a comment\n")
    >>> X, y = read_svmlight(path)
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 0.0010000000474974513, 0.0]], [1.0, -1.0])
    """
    file, reading = Path(path), Reading(zero_based, n_features, checked_float_type(dtype), allow_nan, n_jobs)
    stamp_of(file)
    text = _mapped(file) if compression_of(file) is None else b"".join(decompressed(file))
    try:
        found = known_base(reading, lambda reading: parse(text, reading))
    except TextError as fault:
        place = place_of(str(path), lambda begin, size: text[begin : begin + size], fault.position(text))
        raise PegasosError(f"{place}: {fault.sentence(text, reading.dtype)}") from None
    return found.matrix(n_features), found.labels


class SvmlightSource(FileBlocks):
    """Blocks of a plain file of svmlight text, which is read once, from end to end, when it is opened.

    Parameters
    ----------
    origin : FileOrigin
    n_features, dtype, zero_based, allow_nan
        As of `read_svmlight`.
    block_bytes : int
        About how many bytes of the file make a block.
    """

    is_sparse = True

    def __init__(
        self,
        origin: FileOrigin,
        *,
        n_features: int | None = None,
        dtype: npt.DTypeLike = np.float32,
        zero_based: ZeroBased = "auto",
        allow_nan: bool = False,
        block_bytes: int = default_block_bytes,
    ) -> None:
        self.origin, self._file = origin, LineFile(origin, block_bytes)
        reading = Reading(zero_based, n_features, checked_float_type(dtype), allow_nan)
        self.dtype = reading.dtype
        survey = known_base(reading, self._survey)
        self._reading, self._places, self.starts = survey.reading, survey.places, survey.starts
        self.n_features = n_features or survey.n_features

    def _survey(self, reading: Reading) -> _Survey:
        """Read all of it: where blocks with rows begin, how many rows they have, and the largest column."""
        places, starts, widest = [], [0], 0
        for begin, text in self._file.blocks():
            found = self._parse(begin, text, reading)
            if len(found.labels):
                places.append((begin, len(text)))
                starts.append(starts[-1] + len(found.labels))
                widest = max(widest, found.n_features)
        return _Survey(reading, places, np.array(starts, dtype=np.int64), widest)

    def _read(self, k: int) -> Block:
        begin, size = self._places[k]
        found = self._parse(begin, self._file.read(begin, size), self._reading)
        return Block(found.matrix(self.n_features), found.labels)

    def _parse(self, begin: int, text: bytes, reading: Reading) -> Parsed:
        try:
            return parse(text, reading)
        except TextError as fault:
            if reading.may_be_zero_based(fault):
                raise
            place = self._file.place(begin + fault.position(text))
            raise PegasosError(f"{place}: {fault.sentence(text, reading.dtype)}") from None


class _Survey(NamedTuple):
    reading: Reading
    places: list[tuple[int, int]]
    starts: npt.NDArray[np.int64]
    n_features: int


def _mapped(path: Path) -> Text:
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
