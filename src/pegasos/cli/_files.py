"""The files that commands read: their options, and their rows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pegasos.errors import PegasosError

kinds = "svmlight text, CSV, Parquet, Arrow, .npy, .npz or a cache; text also .gz, .bz2, .zst"
_names = ("label", "features", "delimiter", "labels", "n_features", "dtype", "block_bytes", "header", "zero_based")
_words = {"yes": True, "no": False, "auto": "auto"}


def add_format_options(parser: argparse.ArgumentParser) -> None:
    """How a file is to be read."""
    options = parser.add_argument_group("options of formats")
    options.add_argument("--format", help="svmlight, csv, parquet, arrow, npy or npz; default: by the name of the file")
    options.add_argument("--label", type=_name_or_number, help="tables: the column of the labels, its name or number")
    options.add_argument("--features", type=_listed, help="tables: the columns of X, with commas; default: all others")
    options.add_argument("--header", choices=_words, help="CSV: whether the first line has names")
    options.add_argument("--delimiter", help="CSV: default ','")
    options.add_argument("--labels", help=".npy: the file of the labels")
    options.add_argument("--zero-based", choices=_words, help="svmlight: whether the first index is 0")
    options.add_argument("--n-features", type=int, help="svmlight: default: as the largest index says")
    options.add_argument("--dtype", choices=("float32", "float64"), help="text: default float32")
    options.add_argument("--block-bytes", type=int, help="about how many bytes of the file make a block")


def format_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those that were given, for the functions of `pegasos.data`."""
    given = {name: getattr(arguments, name) for name in _names if getattr(arguments, name) is not None}
    for name in given.keys() & {"header", "zero_based"}:
        given[name] = _words[given[name]]
    return {"format": arguments.format, **given}


def read_rows(path: str, options: dict[str, Any], *, labelled: bool = True) -> tuple[Any, Any]:
    """All rows of a file and their labels; no rows are an error."""
    from pegasos.data import read

    X, y = read(path, labelled=labelled, **options)
    if not X.shape[0]:
        raise PegasosError(f"{path} holds no rows.")
    return X, y


def read_rows_for(
    n_features: int, path: str, options: dict[str, Any], *, or_more: bool = False, labelled: bool = True
) -> tuple[Any, Any]:
    """The rows of a file for a model with so many features; sparse rows may end before the last of them.

    Svmlight text without an index 0 may begin with 0 all the same. Where the last feature does not occur either, that
    cannot be seen, and is said.
    """
    import scipy.sparse as sp

    is_text = False
    try:
        X, y = read_rows(path, {"zero_based": False, **options}, labelled=labelled)
        is_text = "zero_based" not in options
    except PegasosError:  # it has an index 0, or is no svmlight text, or cannot be read at all
        X, y = read_rows(path, options, labelled=labelled)
    if sp.issparse(X) and X.shape[1] < n_features:
        X.resize(X.shape[0], n_features)
        if is_text:
            print(
                f"{path}: neither index 0 nor {n_features} occurs; the first feature is taken to have index 1. "
                "Say --zero-based no, or yes.",
                file=sys.stderr,
            )
    if X.shape[1] < n_features or (X.shape[1] > n_features and not or_more):
        raise PegasosError(
            f"{path} has {X.shape[1]} features, but the model has {n_features}: give it rows of the same kind."
        )
    return X, y


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
            raise PegasosError(f"{goal} is read here, and would be lost: name another file.")


def _name_or_number(text: str) -> str | int:
    return int(text) if text.lstrip("-").isdigit() else text


def _listed(text: str) -> list[str]:
    return text.split(",")
