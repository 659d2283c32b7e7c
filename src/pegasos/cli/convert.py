"""Make a binary cache of a data file: made once, mapped into memory afterwards.

pegasos convert data.svm
pegasos convert data.svm.gz -o data.pegasos-cache
pegasos convert table.csv --label species
pegasos convert X.npy --labels y.npy
"""

from __future__ import annotations

import argparse

from pegasos.cli._files import add_format_options, format_options, kinds
from pegasos.cli._results import print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, the cache, and how the file is to be read."""
    parser.add_argument("path", help=kinds)
    parser.add_argument("-o", "--output", help="the cache; default: PATH.pegasos-cache")
    parser.add_argument("--json", action="store_true", help="print one JSON object, and nothing else, on stdout")
    add_format_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Convert, and say what there is now."""
    from pegasos.data import convert

    cache = convert(arguments.path, arguments.output, **format_options(arguments))
    if arguments.json:
        size = {"n_rows": cache.n_rows, "n_features": cache.n_features, "n_blocks": cache.n_blocks}
        print_json({"cache": cache.path, **size, "is_sparse": cache.is_sparse, "dtype": cache.dtype})
        return
    kind = "sparse" if cache.is_sparse else "dense"
    megabytes = cache.path.stat().st_size / 1e6
    print(f"{cache.path}: {cache.n_rows} rows, {cache.n_features} features, {kind} {cache.dtype}")
    print(f"{cache.n_blocks} blocks, {megabytes:.1f} MB")
