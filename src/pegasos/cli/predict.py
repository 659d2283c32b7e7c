"""Predict the class or number of each row of a file, one per line; with more columns, tab-separated, with a header.

pegasos predict model.pegasos new.svm
pegasos predict model.pegasos new.svm --scores -o scores.tsv
pegasos predict model.pegasos new.csv --probabilities
pegasos predict model.pegasos test.csv --label species
pegasos predict model.pegasos X.npy

If the labels in the file are classes of the model, the accuracy is printed on stderr; for a regressor, R².
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from pegasos.cli._files import add_format_options, check_goals, format_options, kinds
from pegasos.cli._models import load_model, models, with_rows
from pegasos.cli._results import label_text, measured, measured_text, print_json
from pegasos.errors import PegasosError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the rows, and the columns of the output."""
    parser.add_argument("model", metavar="MODEL", help=models)
    parser.add_argument("data", metavar="DATA", help=kinds)
    parser.add_argument("-o", "--output", metavar="FILE", help="file for the predictions; default: stdout")
    parser.add_argument("--scores", action="store_true", help="also write the decision values")
    parser.add_argument(
        "--probabilities", action="store_true", help="also write probabilities, if trained with --probability"
    )
    parser.add_argument(
        "--certified", action="store_true", help="also write whether every exact solution predicts the same class"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    add_format_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Predict, and write."""
    check_goals(arguments.output, read=(arguments.model, arguments.data, arguments.labels))
    if arguments.json and arguments.output is not None:
        raise PegasosError("--json prints on stdout: give it or -o, not both.")
    model = load_model(arguments.model)
    how: dict[str, Any] = {"labelled": False, "unknown": arguments.unknown}
    model, table = with_rows(model, arguments.model, arguments.data, format_options(arguments), **how)
    X, y = table.X, table.y
    predictions = model.predict(X)
    columns = _columns(model, X, arguments)
    classes = getattr(model, "classes_", None)
    found = measured(model, X, y)
    if arguments.json:
        named = {} if classes is None else {"classes": classes, "accuracy": None}
        print_json({"predictions": predictions, **columns, **named, **found})
        return
    _write(_lines(predictions, columns, classes), arguments.output)
    if found:
        print(measured_text(found, len(y)), file=sys.stderr)


def _columns(model: Any, X: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    """The columns requested in addition to the predictions, by name."""
    columns = {}
    if arguments.scores:
        columns["scores"] = _asked(model, "decision_function", "scores: it predicts numbers")(X)
    if arguments.probabilities:
        columns["probabilities"] = _asked(model, "predict_proba", "probabilities; train it with --probability")(X)
    if arguments.certified:
        columns["certified"] = _asked(model, "certified", "certificate")(X)
    return columns


def _asked(model: Any, method: str, what: str) -> Any:
    if not hasattr(model, method):
        raise PegasosError(f"the model has no {what}.")
    return getattr(model, method)


def _lines(predictions: Any, columns: dict[str, Any], classes: Any) -> Iterator[str]:
    """The text: labels alone, or a table."""
    if columns:
        yield "\t".join(["prediction", *_names(columns, classes)])
    for i, label in enumerate(predictions):
        cells = [text for column in columns.values() for text in _cells(column[i])]
        yield "\t".join([label_text(label), *cells])


def _names(columns: dict[str, Any], classes: Any) -> list[str]:
    names = []
    for name, column in columns.items():
        single = {"scores": "score"}.get(name, name)
        names += [single] if column.ndim == 1 else [f"{name} {label_text(label)}" for label in classes]
    return names


def _cells(value: Any) -> list[str]:
    if value.dtype.kind == "b":
        return ["yes" if value else "no"]
    return [repr(float(number)) for number in value.reshape(-1)]


def _write(lines: Iterator[str], output: str | None) -> None:
    from pegasos.files import atomically

    if output is None:
        for line in lines:
            print(line)
        return
    with atomically(output) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
