"""Train on data that comes with scikit-learn, print what is proved, draw the gap falling.

pegasos demo
pegasos demo pictures
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the pictures go."""
    parser.add_argument("folder", nargs="?", default="demo", help="where the pictures go; default: demo")


def run(arguments: argparse.Namespace) -> None:
    """Train and draw."""
    from pegasos.demo import main

    main(arguments.folder)
