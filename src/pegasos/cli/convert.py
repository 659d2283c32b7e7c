"""Make a binary cache of a data file: made once, mapped into memory afterwards.

pegasos convert data.svm
pegasos convert data.svm.gz -o data.pegasos-cache
pegasos convert table.csv --label species
pegasos convert X.npy --labels y.npy
"""

from __future__ import annotations

import argparse
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, the cache, and how the file is to be read."""
    parser.add_argument("path", help="svmlight text, CSV, Parquet, Arrow, .npy or .npz; text also .gz, .bz2, .zst")
    parser.add_argument("-o", "--output", help="the cache; default: PATH.pegasos-cache")
    parser.add_argument("--format", help="svmlight, csv, parquet, arrow, npy or npz; default: by the name of the file")
    options = parser.add_argument_group("options of formats")
    options.add_argument("--label", type=_name_or_number, help="tables: the column of the labels, its name or number")
    options.add_argument("--features", type=_names, help="tables: the columns of X, with commas; default: all others")
    options.add_argument("--header", choices=("auto", "yes", "no"), help="CSV: whether the first line has names")
    options.add_argument("--delimiter", help="CSV: default ','")
    options.add_argument("--labels", help=".npy: the file of the labels")
    options.add_argument("--zero-based", choices=("auto", "yes", "no"), help="svmlight: whether the first index is 0")
    options.add_argument("--n-features", type=int, help="svmlight: default: as the largest index says")
    options.add_argument("--dtype", choices=("float32", "float64"), help="text: default float32")
    options.add_argument("--block-bytes", type=int, help="about how many bytes of the file make a block")


def run(arguments: argparse.Namespace) -> None:
    """Convert, and say what there is now."""
    from pegasos.data import convert

    cache = convert(arguments.path, arguments.output, format=arguments.format, **_options(arguments))
    kind = "sparse" if cache.is_sparse else "dense"
    size = cache.path.stat().st_size / 1e6
    print(f"{cache.path}: {cache.n_rows} rows, {cache.n_features} features, {kind} {cache.dtype}")
    print(f"{cache.n_blocks} blocks, {size:.1f} MB")


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those that were given."""
    names = ("label", "features", "delimiter", "labels", "n_features", "dtype", "block_bytes", "header", "zero_based")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    for name in given.keys() & {"header", "zero_based"}:
        given[name] = {"yes": True, "no": False, "auto": "auto"}[given[name]]
    return given


def _name_or_number(text: str) -> str | int:
    return int(text) if text.lstrip("-").isdigit() else text


def _names(text: str) -> list[str]:
    return text.split(",")
