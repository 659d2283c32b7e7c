"""Write an HTML page about a model and a data file: certificate, errors, important features.

pegasos report model.pegasos data.svm
pegasos report model.pegasos test.svm -o test.html --title "Spam, March"
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pegasos.cli._files import add_format_options, check_goals, format_options, kinds
from pegasos.cli._models import load_model, models, with_rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, the rows, the page."""
    parser.add_argument("model", metavar="MODEL", help=models)
    parser.add_argument("data", metavar="DATA", help=kinds)
    parser.add_argument("-o", "--output", metavar="HTML", help="the page; default: the name of MODEL with .html")
    parser.add_argument("--title", help="the heading of the page")
    add_format_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the page, and say where it is."""
    from pegasos.report import write

    output = arguments.output or Path(arguments.model).with_suffix(".html").name
    check_goals(output, read=(arguments.model, arguments.data, arguments.labels))
    model = load_model(arguments.model)
    options, unknown = format_options(arguments), arguments.unknown
    model, table = with_rows(model, arguments.model, arguments.data, options, unknown=unknown)
    # The labels of a file are about whether rows belong only where they are 1 and -1.
    is_one_class = not hasattr(model, "classes_") and hasattr(model, "offset_")
    has_target = not is_one_class or set(table.y.tolist()) <= {1, -1}
    write(model, table.X, table.y if has_target else None, output, title=arguments.title)
    print(f"report   {output}")
