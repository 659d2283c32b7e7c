"""Measure how close a model is to the optimum on a data file, including models trained elsewhere.

pegasos certify model.pegasos data.svm
pegasos certify data.svm.model data.svm --C 1
pegasos certify weights.npz data.csv --label species --lam 1e-4

A pegasos model contains its dual point. For a model of another tool, or on data other than its training data, the dual
problem is solved first, for the parameters below: pass those that the model was trained with.
The weights are not changed. The exit code is 0 if the relative gap is at most tol, otherwise 1.
"""

from __future__ import annotations

import argparse

from pegasos.cli._files import add_format_options, format_options, kinds
from pegasos.cli._models import load_any, models, with_rows
from pegasos.cli._parameters import add_linear_options, given_parameters
from pegasos.cli._proofs import prove
from pegasos.cli._results import certificate_values, measured_text, print_json, print_prose

_OF_PROBLEM = ("lam", "C", "fit_intercept", "regularize_intercept", "intercept_scaling", "multi_class", "class_weight")
_OF_SEARCH = ("tol", "max_iter", "time_budget", "n_jobs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, the rows, and the problem that it should solve."""
    parser.add_argument("model", metavar="MODEL", help=f"{models}; or .npz, .npy or JSON with coef and intercept")
    parser.add_argument("data", metavar="DATA", help=kinds)
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--json", action="store_true", help="print one JSON object, and nothing else, on stdout")
    add_linear_options(parser, "the training problem, and how accurately to solve it", (*_OF_PROBLEM, *_OF_SEARCH))
    add_format_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Say what is proved."""
    model = load_any(arguments.model)
    options, unknown = format_options(arguments), arguments.unknown
    model, table = with_rows(model, arguments.model, arguments.data, options, unknown=unknown)
    proof = prove(model, table, given_parameters(arguments), quiet=arguments.quiet)
    if arguments.json:
        values = {"certified": proof.is_proved, "certificate": certificate_values(proof.certificate)}
        print_json({**values, "at_least_above": proof.at_least, "tol": proof.tol, **proof.measured})
    else:
        print_prose(f"{arguments.model} on {arguments.data}: {proof.certificate}.")
        print_prose(proof.sentence)
        if proof.measured:
            print(measured_text(proof.measured, len(table.y)))
    return 0 if proof.is_proved else 1
