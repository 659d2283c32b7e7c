"""Files of every kind as sources of blocks, and as caches."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.data import arrays, arrow, delimited
from pegasos.data.cache import CacheSource, DamagedCacheError, magic, write_cache
from pegasos.data.origin import FileOrigin, stamp_of
from pegasos.data.source import Blocks, digest
from pegasos.data.svmlight import SvmlightSource, read_svmlight
from pegasos.data.tables import TableSource, matched
from pegasos.data.text import as_plain, compression_of
from pegasos.errors import PegasosError

_openers: dict[str, Callable[..., Blocks]] = {
    "svmlight": SvmlightSource,
    "csv": delimited.CsvSource,
    "parquet": arrow.ParquetSource,
    "arrow": arrow.ArrowSource,
    "npy": arrays.open_npy,
    "npz": arrays.open_npz,
}
_formats = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_formats |= {".arrow": "arrow", ".feather": "arrow", ".npy": "npy", ".npz": "npz"}
_of_labels = {"csv": "label", "parquet": "label", "arrow": "label", "npy": "labels", "npz": "labels"}


def open_source(path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> Blocks:
    """Open a file as a source of blocks.

    Parameters
    ----------
    path : path of the file
    format : str, optional
        'svmlight', 'csv', 'parquet', 'arrow', 'npy' or 'npz'. Default: by the name of the file; without a known suffix
        it is read as svmlight text. A cache is recognized by its content.
    **options
        Of the format.

        =========  ========================================================================================
        svmlight   n_features, dtype, zero_based, allow_nan, block_bytes
        csv        label, features, weight, match, header, delimiter, dtype, block_bytes
        parquet    label, features, weight, match; the blocks are the row groups
        arrow      label, features, weight, match; the blocks are the record batches
        npy        labels (the path of the other file), block_bytes
        npz        labels (where it holds no y), block_bytes; it holds X, or what scipy's save_npz writes
        =========  ========================================================================================

        With label=False, or labels=False, there are no labels: y is NaN. `weight` names the column of the sample
        weights, which `read_table` returns; `match` are the columns of a model, which are put into its order, and
        of which none may be missing and none added.

    Returns
    -------
    source : BlockSource

    Notes
    -----
    Text is read once when it is opened, to find its blocks and any errors. Compressed text has no blocks: convert it to
    a cache with `convert`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos.data import open_source
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2" + chr(10) + "-1 2:1")
    >>> source = open_source(path, block_bytes=10)
    >>> source.n_rows, source.n_features, source.n_blocks
    (2, 3, 2)
    >>> source.block(1).X.toarray().tolist()
    [[0.0, 1.0, 0.0]]
    """
    file = Path(path)
    stamp = stamp_of(file)
    if _is_cache(file):
        if options or format is not None:
            raise PegasosError(f"{path} is a cache, which has no options: give them when it is made.")
        return CacheSource(file)
    kind = _format_of(file, format, options)
    compression = compression_of(file)
    if compression is not None:
        raise PegasosError(
            f"{path} is a {compression} file, which has no blocks: make a cache of it, pegasos convert {path}."
        )
    origin = FileOrigin(file.absolute(), str(path), stamp, _fingerprint(file, kind, options))
    return _of_numbers(kind, origin, options)


def _of_numbers(kind: str, origin: FileOrigin, options: dict[str, Any]) -> Blocks:
    """The source, if its blocks hold all of its columns."""
    found = {"texts": True} if _of_labels.get(kind) == "label" else {}
    source = _openers[kind](origin, **{**options, **found})
    if isinstance(source, TableSource) and source.strings:
        raise PegasosError(
            f"{source.origin.name}: column {source.strings[0]!r} holds words, and blocks hold numbers: such columns "
            "are read with all rows in memory only, or left out by features=[...]."
        )
    return source


def read(
    path: str | os.PathLike[str], *, format: str | None = None, labelled: bool = True, **options: Any
) -> tuple[Any, npt.NDArray[Any]]:
    """All rows of a file and their labels, in memory.

    Parameters
    ----------
    path : path of the file
        Of any kind that `open_source` reads; text may be compressed.
    labelled : bool, default=True
        Whether the rows must have labels; if False, a table is read without labels unless `label` or `labels` is given.
    format, **options
        As of `open_source`.

    Returns
    -------
    X : array or CSR matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        NaN where there are no labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos.data import read
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2" + chr(10) + "-1 2:1")
    >>> X, y = read(path)
    >>> X.shape, y.tolist()
    ((2, 3), [1.0, -1.0])
    """
    found = read_table(path, format=format, labelled=labelled, **options)
    if found.words is not None:
        raise PegasosError(f"{path}: column {next(iter(found.words))!r} holds words: read it with read_table.")
    return found.X, found.y


class Table(NamedTuple):
    r"""All rows of a file, as returned by `read_table`.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        NaN if the file has no labels.
    weights : array of shape (n_rows,), or None
        The sample weights, if a weight column was given.
    feature_names : list of str, or None
        The column names, if the file has any.
    words : dict of lists of str, or None
        The columns of words, by name, if there are any; they are not part of X. A missing value is "".
    column_names : list of str, or None
        If there are columns of words: all feature columns, in the order of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos.data import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "animals.csv"
    >>> _ = path.write_text("legs,weight,kind\n4,30,dog\n2,0.1,bird\n")
    >>> table = read_table(path, label="kind")
    >>> table.feature_names, table.y.tolist()
    (['legs', 'weight'], ['dog', 'bird'])
    """

    X: Any
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None = None
    feature_names: list[str] | None = None
    words: dict[str, list[str]] | None = None
    column_names: list[str] | None = None


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    labelled: bool = True,
    match: Sequence[str] | None = None,
    texts: bool = False,
    **options: Any,
) -> Table:
    r"""All rows of a file with their labels, sample weights and the names of their columns, in memory.

    Parameters
    ----------
    path, format, labelled, **options
        As in `read`.
    match : sequence of str, optional
        The feature names of a model. If the file has column names, the columns are put into this order, and a missing
        or additional column raises an error.
    texts : bool, default=False
        Whether tables may have columns of words, which go to `Table.words`. In a CSV file, a column contains words if
        less than a tenth of its first thousand values are numbers; ``categories=[...]`` names others.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos.data import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.tsv")
    >>> _ = path.write_text("kind\tlength\twidth\nbig\t3\t4\nsmall\t1\t1\n")
    >>> table = read_table(path, label="kind")
    >>> table.feature_names, table.y.tolist()
    (['length', 'width'], ['big', 'small'])
    """
    file = Path(path)
    stamp = stamp_of(file)
    if _is_cache(file):
        found = _whole(open_source(path, format=format, **options))
        if match is None or found.feature_names is None:
            return found
        order = matched(str(path), found.feature_names, match)
        return found._replace(X=found.X[:, [found.feature_names.index(name) for name in order]], feature_names=order)
    kind = _format_of(file, format, options)
    if kind == "svmlight":
        return Table(*read_svmlight(path, **{name: value for name, value in options.items() if name != "block_bytes"}))
    if not labelled:
        options = {_of_labels[kind]: False, **options}
    if match is not None and _of_labels[kind] == "label":
        options["match"] = match
    if texts and _of_labels[kind] == "label":
        options["texts"] = True
    with as_plain(file, Path(tempfile.gettempdir())) as plain:
        stamp = stamp if plain == file else stamp_of(plain)
        origin = FileOrigin(plain.absolute(), str(path), stamp, _fingerprint(file, kind, options))
        return _whole(_openers[kind](origin, **options))


def _whole(source: Blocks) -> Table:
    """All blocks as one."""
    words = source.words() if isinstance(source, TableSource) and source.strings else None
    columns = source.columns if isinstance(source, TableSource) and source.strings else None
    blocks = list(source)
    if not blocks:
        shape = 0, source.n_features
        empty = sp.csr_matrix(shape, dtype=source.dtype) if source.is_sparse else np.empty(shape, source.dtype)
        return Table(empty, np.empty(0), None, source.feature_names, words, columns)
    rows = [block.X for block in blocks]
    X = sp.vstack(rows, format="csr") if source.is_sparse else np.concatenate(rows)
    weights = source.sample_weights() if isinstance(source, TableSource) else None
    y = np.concatenate([block.y for block in blocks])
    return Table(X, y, weights, source.feature_names, words, columns)


def convert(
    path: str | os.PathLike[str],
    cache: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    **options: Any,
) -> CacheSource:
    """Create a binary cache of a file, or reuse an existing one.

    Parameters
    ----------
    path : path of the file
        Of any kind that `open_source` reads; it may be compressed.
    cache : path, optional
        Default: the name of the file with `.pegasos-cache` added.
    format, **options
        As of `open_source`.

    Returns
    -------
    source : BlockSource
        The cache. It is rebuilt when the file has changed since (its size, its modification time or its path), or when
        the options differ.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos.data import convert
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2" + chr(10) + "-1 2:1")
    >>> convert(path)
    <CacheSource: 2 rows, 3 features, 1 blocks, sparse float32>
    """
    file = Path(path)
    goal = file.with_name(f"{file.name}.pegasos-cache") if cache is None else Path(cache)
    stamp_of(file)
    if _is_cache(file):
        raise PegasosError(f"{path} is a cache already: open it with open_source.")
    kind = _format_of(file, format, options)
    fingerprint = _fingerprint(file, kind, options)
    kept = _kept(goal, fingerprint)
    if kept is not None:
        return kept
    if not goal.parent.is_dir():
        raise PegasosError(f"{goal.parent} is not a folder, so that {goal} cannot be written.")
    with as_plain(file, goal.parent) as plain:
        origin = FileOrigin(plain, str(path), stamp_of(plain), fingerprint)
        write_cache(goal, _of_numbers(kind, origin, options), fingerprint)
    return CacheSource(goal)


def _kept(goal: Path, fingerprint: str) -> CacheSource | None:
    """The existing cache, if it belongs to the current file. A file that is not a cache is not overwritten."""
    if not goal.exists():
        return None
    if goal.is_dir():
        raise PegasosError(f"{goal} is a folder: name the file of the cache.")
    try:
        cache = CacheSource(goal)
    except DamagedCacheError:
        return None
    return cache if cache.made_from == fingerprint else None


def _is_cache(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(magic)) == magic


def _format_of(file: Path, given: str | None, options: dict[str, Any]) -> str:
    suffixes = [suffix for suffix in file.suffixes if suffix not in (".gz", ".bz2", ".zst")]
    kind = given or _formats.get(suffixes[-1].lower() if suffixes else "", "svmlight")
    if kind not in _openers:
        raise PegasosError(f"format must be one of {', '.join(_openers)}, got {kind!r}.")
    known = [name for name, one in inspect.signature(_openers[kind]).parameters.items() if one.kind == one.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise PegasosError(f"{file} is read as {kind}, whose options are {', '.join(known)}; got {unknown[0]!r}.")
    return kind


def _fingerprint(file: Path, kind: str, options: dict[str, Any]) -> str:
    """What distinguishes the file, the file of its labels, and how they are read."""
    files = [file, *(Path(options[name]) for name in ("labels",) if options.get(name))]
    return digest(kind, *map(stamp_of, files), repr(sorted((name, str(value)) for name, value in options.items())))
