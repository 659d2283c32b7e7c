"""Make a binary cache of a data file: made once, mapped into memory afterwards.

pegasos convert data.svm
pegasos convert data.svm.gz -o data.pegasos-cache
pegasos convert table.csv --label species
pegasos convert X.npy --labels y.npy
"""

from __future__ import annotations

import argparse

from pegasos.cli._files import add_format_options, format_options, kinds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, the cache, and how the file is to be read."""
    parser.add_argument("path", help=kinds)
    parser.add_argument("-o", "--output", help="the cache; default: PATH.pegasos-cache")
    add_format_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Convert, and say what there is now."""
    from pegasos.data import convert

    cache = convert(arguments.path, arguments.output, **format_options(arguments))
    kind = "sparse" if cache.is_sparse else "dense"
    size = cache.path.stat().st_size / 1e6
    print(f"{cache.path}: {cache.n_rows} rows, {cache.n_features} features, {kind} {cache.dtype}")
    print(f"{cache.n_blocks} blocks, {size:.1f} MB")
