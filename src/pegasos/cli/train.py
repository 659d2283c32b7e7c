"""Train a support vector machine on a data file to a proved gap, and write the model.

pegasos train data.svm --lam 1e-4 -o model.pegasos
pegasos train data.svm --hold-out 0.3 --report report.html
pegasos train table.csv --label species --kernel rbf --gamma 0.1 --C 10
pegasos train houses.csv --label price --task regression --epsilon 0.5 --C 10
pegasos train usual.csv --task one-class --kernel rbf --nu 0.05
pegasos train large.svm --memory 2G --checkpoint run.ckpt --test test.svm

The exit code is 0 if the gap reached tol, 1 if it did not (the model is still written), 2 for an error. Ctrl-C
ends the training and writes the current model; the exit code is 130.
"""

from __future__ import annotations

import argparse
import warnings
from copy import copy
from pathlib import Path
from time import perf_counter
from typing import Any

from pegasos.cli._columns import frame_of
from pegasos.cli._files import (
    add_format_options,
    check_goals,
    format_options,
    keep_names,
    kinds,
    read_rows,
    read_rows_for,
)
from pegasos.cli._models import machine_and_rows
from pegasos.cli._parameters import add_parameter_options, model_of, option_of, task_of
from pegasos.cli._progress import shown_progress
from pegasos.cli._results import certificate_values, label_text, measured, print_json, print_prose
from pegasos.errors import PegasosError
from pegasos.estimators.warnings import GapWarning
from pegasos.fitting import SATISFIED
from pegasos.persistence import save
from pegasos.solution import Status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, what is written, what is measured, and the parameters of the model."""
    parser.add_argument("data", metavar="DATA", help=kinds)
    parser.add_argument("-o", "--output", metavar="MODEL", help="the model; default: the name of DATA with .pegasos")
    parser.add_argument("--report", metavar="HTML", help="also write an HTML report of the model on DATA")
    parser.add_argument("--test", metavar="FILE", help="print the accuracy, or R², on another file")
    parser.add_argument("--hold-out", type=float, metavar="SHARE", help="hold out this share of the data for testing")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--json", action="store_true", help="print one JSON object, and nothing else, on stdout")
    large = parser.add_argument_group("data larger than memory (linear models only)")
    large.add_argument("--out-of-core", action="store_true", help="read block by block, within --memory 2G")
    large.add_argument("--memory", metavar="BYTES", help="read block by block within this limit, such as 500M")
    large.add_argument(
        "--checkpoint", metavar="FILE", help="save the state there periodically; resume from it if it exists"
    )
    add_parameter_options(parser)
    add_format_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Train, write, say what is proved."""
    output = arguments.output or f"{Path(arguments.data).name}.pegasos"
    _check(arguments, output)
    model = model_of(arguments)
    training = _Training(arguments)
    seconds = _timed(model, training, quiet=arguments.quiet)
    save(training.whole(model), output)
    status = model.fitted_.status
    facts: dict[str, Any] = {"model": output, "report": None}
    found: dict[str, float] = {}
    if status is not Status.INTERRUPTED:
        found = training.measured(model)
        facts["report"] = training.write_report(model)
    if arguments.json:
        usual = {"accuracy": None} if hasattr(model, "classes_") else {}
        print_json({"status": status.name.lower(), "seconds": seconds, **_values(model), **usual, **found, **facts})
    else:
        _print(model, training, seconds, found, **facts)
    return 130 if status is Status.INTERRUPTED else 0 if status in SATISFIED else 1


def _timed(model: Any, training: _Training, *, quiet: bool) -> float:
    """Fit, and show how far it is; the seconds."""
    begun = perf_counter()
    with shown_progress(model, quiet=quiet), warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)  # the status says it
        training.fit(model)
    return perf_counter() - begun


class _Training:
    """The rows to train on, and those to test on."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.given, self.options = arguments, format_options(arguments)
        self.task = task_of(arguments)
        self.test: tuple[Any, Any] | None = None
        self.columns: Any = None
        self.name_of_test = arguments.test or "the rows held out"
        if _is_large(arguments):
            from pegasos.data import open_source

            self.source = open_source(arguments.data, **self.options)
            return
        table = read_rows(arguments.data, self.options, labelled=self.task != "one-class")
        self.X, self.y, self.weights, self.names = table[:4]
        if table.words is not None:
            self.X, self.names = frame_of(table), None
        if arguments.hold_out is not None:
            self._hold_out(arguments.hold_out)
        if table.words is not None:
            self._encode()

    def _hold_out(self, share: float) -> None:
        import numpy as np
        from sklearn.model_selection import train_test_split
        from sklearn.utils import _safe_indexing

        seed = getattr(self.given, "random_state", None)
        strata = self.y if self.task == "classification" else None
        train, test = train_test_split(np.arange(self.X.shape[0]), test_size=share, random_state=seed, stratify=strata)
        self.test = _safe_indexing(self.X, test), self.y[test]
        self.X, self.y = _safe_indexing(self.X, train), self.y[train]
        self.weights = None if self.weights is None else self.weights[train]

    def _encode(self) -> None:
        """Columns by their type become numbers, as the rows of training have them."""
        from pegasos.tuning.columns import columns_of

        self.columns = columns_of(self.X)
        self.X = self.columns.fit_transform(self.X)
        if self.test is not None:
            self.test = self.columns.transform(self.test[0]), self.test[1]

    def fit(self, model: Any) -> None:
        """Until the gap is proved, a budget ends, or someone interrupts it."""
        if not _is_large(self.given):
            if self.task == "regression" and self.y.dtype.kind not in "fiub":
                raise PegasosError(
                    f"the labels of {self.given.data} must be numbers for --task regression, got {self.y[0]!r}."
                )
            model.fit(self.X, self.y, sample_weight=self.weights)
            keep_names(model, self.names)
        elif not hasattr(model, "fit_source"):
            kind = "one-class" if self.task == "one-class" else "kernel"
            raise PegasosError(
                f"a {kind} machine needs all rows in memory: leave out --out-of-core, --memory and --checkpoint."
            )
        else:
            model.fit_source(self.source, memory=self.given.memory or "2G", checkpoint=self.given.checkpoint)

    def whole(self, model: Any) -> Any:
        """The model with what turns the columns of its table into numbers, where it is needed."""
        if self.columns is None:
            return model
        from sklearn.pipeline import Pipeline

        return Pipeline([("columns", self.columns), ("machine", model)])

    def measured(self, model: Any) -> dict[str, float]:
        """How well the test rows are predicted, if there are any."""
        if self.given.test is not None:
            labelled = self.task != "one-class"
            asked: dict[str, Any] = {"unknown": self.given.unknown, "labelled": labelled}
            table = read_rows_for(self.whole(model), self.given.test, self.options, **asked)
            self.test = machine_and_rows(self.whole(model), table.X)[1], table.y
        return {} if self.test is None else measured(model, *self.test)

    def write_report(self, model: Any) -> str | None:
        """Write the report on the training rows, if requested; its path."""
        path: str | None = self.given.report
        if path is not None:
            from pegasos.report import write

            named = model if self.columns is None else copy(model)
            if self.columns is not None:
                keep_names(named, self.columns.get_feature_names_out())
            target = None if self.task == "one-class" else self.y
            write(named, self.X, target, path, trained_on=Path(self.given.data).name)
        return path


def _check(arguments: argparse.Namespace, output: str) -> None:
    """What can be known to fail before the work does."""
    read = arguments.data, arguments.labels, arguments.test
    check_goals(output, arguments.report, arguments.checkpoint, read=read)
    if arguments.test is not None and not Path(arguments.test).is_file():
        raise PegasosError(f"{arguments.test} cannot be read: there is no such file.")
    if arguments.hold_out is not None and arguments.test is not None:
        raise PegasosError("give --test or --hold-out, not both.")
    if arguments.hold_out is not None and not 0.0 < arguments.hold_out < 1.0:
        raise PegasosError(f"--hold-out must be a share between 0 and 1, got {arguments.hold_out}.")
    for name in ("hold_out", "report"):
        if _is_large(arguments) and getattr(arguments, name) is not None:
            raise PegasosError(
                f"{option_of(name)} needs all rows in memory: leave out --out-of-core, --memory, --checkpoint."
            )
    if _is_large(arguments) and arguments.weight is not None:
        raise PegasosError("--weight-column needs all rows in memory: leave out --out-of-core, --memory, --checkpoint.")


def _is_large(arguments: argparse.Namespace) -> bool:
    """Whether the rows are to be read block by block."""
    return bool(arguments.out_of_core or arguments.memory or arguments.checkpoint)


def _values(model: Any) -> dict[str, Any]:
    classes = {"classes": model.classes_} if hasattr(model, "classes_") else {}
    return {
        "sentence": model.status_,
        "certificate": certificate_values(model.certificate_),
        **classes,
        "n_features": model.n_features_in_,
        "n_support": len(model.support_),
        "n_iter": model.n_iter_,
        "n_steps": model.n_steps_,
        "parameters": model.get_params(deep=False),
    }


def _print(
    fitted: Any, training: _Training, seconds: float, found: dict[str, float], *, model: str, report: str | None
) -> None:
    print_prose(fitted.status_)
    if hasattr(fitted, "classes_"):
        classes = ", ".join(map(label_text, fitted.classes_[:5])) + (", ..." if len(fitted.classes_) > 5 else "")
        print(f"classes  {classes}")
    print(f"epochs   {fitted.n_iter_} in {seconds:.2f} s")
    for name, value in found.items():
        print(f"{name:8} {value:.4f} on {training.name_of_test}")
    print(f"model    {model}")
    if report is not None:
        print(f"report   {report}")
