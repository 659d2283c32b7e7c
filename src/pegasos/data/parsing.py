"""Lines of svmlight text to the arrays of a CSR matrix, several pieces of the text at once.

`cpp/core/pegasos/svmlight.h` has the grammar.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeVar

import joblib
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.data.faults import TextError
from pegasos.data.options import checked_count
from pegasos.data.source import csr_of
from pegasos.errors import PegasosError

Text = bytes | mmap.mmap
ZeroBased = Literal["auto"] | bool
_T = TypeVar("_T")
_LEAST_PIECE = 1 << 20
_widest = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Reading:
    """How text is read: the first index, the allowed number of features, and what a value is."""

    zero_based: ZeroBased
    n_features: int | None
    dtype: np.dtype[Any]
    allow_nan: bool = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.zero_based not in ("auto", True, False):
            raise PegasosError(f"zero_based must be True, False or 'auto', got {self.zero_based!r}.")
        for name in ("n_features", "n_jobs"):
            if getattr(self, name) is not None:
                checked_count(name, getattr(self, name))

    @property
    def base(self) -> int:
        """The index of the first feature; 1 while it is unknown."""
        return 1 if self.zero_based == "auto" else int(not self.zero_based)

    def may_be_zero_based(self, fault: TextError) -> bool:
        """Whether this is an index 0 while the first index is undetermined."""
        return fault.what == "below_base" and self.zero_based == "auto"

    def threads(self) -> int:
        """The requested number of threads, or the number of processors available to this process."""
        return self.n_jobs or int(joblib.cpu_count())


class Parsed(NamedTuple):
    """The arrays of a CSR matrix, the labels, and the largest column plus 1."""

    data: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    indptr: npt.NDArray[Any]
    labels: npt.NDArray[np.float64]
    n_features: int

    def matrix(self, n_features: int | None) -> sp.csr_matrix:
        """Convert to a matrix with this many columns; None for as many as occur."""
        matrix = csr_of(self.data, self.indices, self.indptr, n_features or self.n_features)
        matrix.has_canonical_format = True
        return matrix


class _Found(NamedTuple):
    """The result of the core for a piece; `fault` is empty where there is none."""

    n_rows: int
    n_entries: int
    n_features: int
    fault: str
    place: int
    column: int


def known_base(reading: Reading, read: Callable[[Reading], _T]) -> _T:
    """Parse with indices from 1; if an index 0 occurs and the first index is undetermined, parse again."""
    try:
        return read(reading)
    except TextError as fault:
        if not reading.may_be_zero_based(fault):
            raise
    return read(replace(reading, zero_based=True))


def parse(text: Text, reading: Reading) -> Parsed:
    """The rows of a text of whole lines; `TextError` where it cannot be read."""
    pieces = _pieces(text, reading.threads())
    counts = np.array(_each(_core.count_svmlight, pieces, reading), dtype=np.int64).reshape(-1, 2)
    room = np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(counts, axis=0)])
    is_narrow = max(room[-1, 1], reading.n_features or 0) < np.iinfo(np.int32).max
    try:
        return _fill(pieces, room, reading, np.dtype(np.int32 if is_narrow else np.int64))
    except TextError as fault:
        if fault.what != "wide":
            raise
    return _fill(pieces, room, reading, np.dtype(np.int64))


def _fill(
    pieces: list[npt.NDArray[np.uint8]], room: npt.NDArray[np.int64], reading: Reading, index: np.dtype[Any]
) -> Parsed:
    """Parse each piece into its part of common arrays; `room` has where the rows and entries of each start."""
    n_rows, n_entries = room[-1]
    labels, ends = np.empty(n_rows), np.empty(n_rows, dtype=np.int64)
    indices, data = np.empty(n_entries, dtype=index), np.empty(n_entries, dtype=reading.dtype)
    limit = _widest if reading.n_features is None else reading.n_features

    def fill(k: int) -> _Found:
        (row, entry), (last_row, last_entry) = room[k : k + 2]
        arrays = labels[row:last_row], ends[row:last_row], indices[entry:last_entry], data[entry:last_entry]
        return _Found(*_core.read_svmlight(pieces[k], reading.base, limit, reading.allow_nan, *arrays))

    found = _each(fill, range(len(pieces)), reading)
    before = 0
    for piece, one in zip(pieces, found, strict=True):
        if one.fault:
            raise TextError(one.fault, before + one.place, one.column + reading.base)
        before += len(piece)
    rows = np.cumsum([0, *(one.n_rows for one in found)])
    entries = np.cumsum([0, *(one.n_entries for one in found)])
    for k in range(len(found)):
        begin, _ = room[k]
        ends[begin : begin + found[k].n_rows] += entries[k]
    indptr = np.zeros(rows[-1] + 1, dtype=index)
    indptr[1:] = _closed(ends, room[:, 0], rows)
    arrays = (_closed(data, room[:, 1], entries), _closed(indices, room[:, 1], entries), indptr)
    return Parsed(*arrays, _closed(labels, room[:, 0], rows), max((one.n_features for one in found), default=0))


def _closed(array: npt.NDArray[Any], begins: npt.NDArray[Any], goals: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Remove the gaps that comments leave: each part moves down to its target."""
    for begin, goal, end in zip(begins[:-1], goals[:-1], goals[1:], strict=True):
        if begin != goal:
            array[goal:end] = array[begin : begin + end - goal]
    array.resize(goals[-1], refcheck=False)
    return array


def _pieces(text: Text, n_threads: int) -> list[npt.NDArray[np.uint8]]:
    """Split the text into pieces that end at line ends, several per thread."""
    size = max(_LEAST_PIECE, len(text) // (4 * n_threads) + 1)
    cuts = [0]
    while cuts[-1] < len(text):
        newline = text.find(b"\n", cuts[-1] + size)
        cuts.append(newline + 1 if newline >= 0 else len(text))
    characters = np.frombuffer(text, dtype=np.uint8)
    return [characters[begin:end] for begin, end in pairwise(cuts)]


def _each(work: Callable[[Any], Any], tasks: Iterable[Any], reading: Reading) -> list[Any]:
    tasks = list(tasks)
    if min(len(tasks), reading.threads()) < 2:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(reading.threads()) as pool:
        return list(pool.map(work, tasks))
