"""The files that commands read: their options, and their rows."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegasos.errors import PegasosError

if TYPE_CHECKING:
    from pegasos.data import Table

kinds = "svmlight text, CSV, TSV, Parquet, Arrow, .npy, .npz or a cache; text also .gz, .bz2, .zst; - is stdin"
_NAMES = ("label", "features", "weight", "categories", "header", "delimiter", "labels")
_NAMES_OF_TEXT = ("n_features", "dtype", "block_bytes", "zero_based")
_words = {"yes": True, "no": False, "auto": "auto"}


def add_format_options(parser: argparse.ArgumentParser) -> None:
    """How a file is to be read."""
    options = parser.add_argument_group("options of formats")
    options.add_argument("--format", help="svmlight, csv, parquet, arrow, npy or npz; default: by the name of the file")
    options.add_argument("--label", type=_name_or_number, help="tables: the label column, by name or number")
    options.add_argument(
        "--features", type=_listed, help="tables: the feature columns, separated by commas; default: all others"
    )
    options.add_argument(
        "--categories",
        type=_listed,
        help="tables: columns to read as words although they look like numbers, separated by commas",
    )
    options.add_argument(
        "--unknown",
        choices=("ignore", "error"),
        default="ignore",
        help="tables: what to do with words in a category column that the model was not trained on; default: ignore",
    )
    options.add_argument(
        "--weight-column",
        dest="weight",
        type=_name_or_number,
        metavar="COLUMN",
        help="tables: the column of sample weights, by name or number",
    )
    options.add_argument("--header", choices=_words, help="CSV: whether the first line is a header")
    options.add_argument("--delimiter", help="CSV: default ',', and a tab for .tsv; tab or '\\t' is the tab")
    options.add_argument("--labels", help=".npy: the file of the labels")
    options.add_argument("--zero-based", choices=_words, help="svmlight: whether the first index is 0")
    options.add_argument("--n-features", type=int, help="svmlight: number of features; default: the largest index")
    options.add_argument("--dtype", choices=("float32", "float64"), help="text: default float32")
    options.add_argument("--block-bytes", type=int, help="approximate bytes per block")


def format_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those that were given, for the functions of `pegasos.data`."""
    given = {name: getattr(arguments, name) for name in _NAMES + _NAMES_OF_TEXT if getattr(arguments, name) is not None}
    for name in given.keys() & {"header", "zero_based"}:
        given[name] = _words[given[name]]
    return {"format": arguments.format, **given}


def read_rows(
    path: str,
    options: dict[str, Any],
    *,
    labelled: bool = True,
    match: Sequence[str] | None = None,
    texts: bool = True,
) -> Table:
    """All rows of a file and their labels; no rows are an error. The path "-" is standard input."""
    from pegasos.data import read_table

    with _stored(path, options) as stored:
        table = read_table(stored, labelled=labelled, match=match, texts=texts, **options)
    if not table.X.shape[0]:
        raise PegasosError(f"{path} holds no rows.")
    return table


@contextmanager
def _stored(path: str, options: dict[str, Any]) -> Iterator[str]:
    """The path itself; for "-" a file with what standard input holds, while the block lasts."""
    if path != "-":
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="stdin", suffix=f".{options.get('format') or 'svmlight'}") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        try:
            yield file.name
        except PegasosError as error:
            raise PegasosError(str(error).replace(file.name, "standard input")) from error


def read_rows_for(
    model: Any,
    path: str,
    options: dict[str, Any],
    *,
    or_more: bool = False,
    labelled: bool = True,
    unknown: str = "ignore",
) -> Table:
    """The rows of a file for a model; sparse rows may end before the last of its features.

    Columns with names are put into the order of the model's; where it reads words, X is a frame. Svmlight text without
    an index 0 may begin with 0 all the same. Where the last feature does not occur either, that cannot be seen, and a
    message says so.
    """
    import scipy.sparse as sp

    from pegasos.cli._columns import check_levels, columns_of_model, columns_of_words, frame_of

    n_features, names = int(model.n_features_in_), getattr(model, "feature_names_in_", None)
    asked: dict[str, Any] = {"labelled": labelled, "match": None if names is None else list(names), "texts": False}
    columns = columns_of_model(model)
    if columns is not None:
        table = read_rows(path, {**options, "categories": columns_of_words(columns)}, **asked)
        frame = frame_of(table)
        check_levels(path, frame, columns, unknown=unknown)
        return table._replace(X=frame)
    is_text = False
    with _stored(path, options) as stored:
        try:
            table = read_rows(stored, {"zero_based": False, **options}, **asked)
            is_text = "zero_based" not in options
        except PegasosError:  # it has an index 0, is not svmlight text, or cannot be read
            table = read_rows(stored, options, **asked)
    X = table.X
    if sp.issparse(X) and X.shape[1] < n_features:
        X.resize(X.shape[0], n_features)
        if is_text:
            print(
                f"{path}: neither index 0 nor {n_features} occurs; the first feature is taken to have index 1. "
                "Pass --zero-based no, or yes.",
                file=sys.stderr,
            )
    if X.shape[1] < n_features or (X.shape[1] > n_features and not or_more):
        raise PegasosError(
            f"{path} has {X.shape[1]} features, but the model has {n_features}: give it rows of the same kind."
        )
    return table


def keep_names(model: Any, names: Sequence[str] | None) -> None:
    """Give a fitted model the column names of the file."""
    if names is not None:
        import numpy as np

        model.feature_names_in_ = np.asarray(names, dtype=object)


def check_goals(*goals: str | Path | None, read: Sequence[str | None]) -> None:
    """Files that are to be written need a folder, and are none that is read: noticed before the work, not after it."""
    for goal in goals:
        if goal is None:
            continue
        if not Path(goal).parent.is_dir():
            raise PegasosError(f"the folder of {goal} does not exist; make it first.")
        if Path(goal).is_dir():
            raise PegasosError(f"{goal} is a folder: name a file in it.")
        if Path(goal).is_file() and any(one and Path(one).exists() and Path(goal).samefile(one) for one in read):
            raise PegasosError(f"{goal} is an input file and would be overwritten: name another file.")


def _name_or_number(text: str) -> str | int:
    return int(text) if text.lstrip("-").isdigit() else text


def _listed(text: str) -> list[str]:
    return text.split(",")
