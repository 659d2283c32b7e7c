"""What the numbers mean, in words: the verdict, the limits of the model, and how to repeat it."""

from __future__ import annotations

import inspect
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

import pegasos
from pegasos import _core
from pegasos.certificate import in_percent
from pegasos.report.markup import count, number, share
from pegasos.report.outcome import Outcome
from pegasos.report.subject import Subject, shortened
from pegasos.solution import Status

_LONGEST_VALUE = 200  # characters of a parameter


@dataclass(frozen=True)
class Verdict:
    """What is proved, and how it stands to what was requested: "reached", "partly" or "open"."""

    standing: str
    headline: str
    explanation: str


def verdict(subject: Subject) -> Verdict:
    """The certificate in words."""
    proof, tol = subject.certificate, subject.model.tol
    if not proof.relative_gap < 1.0:
        return Verdict(
            "open",
            "Nothing useful is proved yet",
            "The fit ended before its lower bound became useful: the best possible model may be much better than this "
            f"one. {_remedy(subject)}",
        )
    near = in_percent(proof.relative_gap)
    problems = len(proof.parts)
    each = ", in each of the problems," if problems > 1 else ""
    what = f"sum of the objectives of {problems} problems" if problems > 1 else "objective"
    explanation = (
        "Training looks for the weights with the smallest objective: the mean loss on the training data plus a "
        f"penalty on large weights. The {what} of this model is {proof.primal:.7g}. No weights can have less than "
        f"{proof.dual:.7g}: this bound was computed from the data by code that is independent of the training. So "
        f"this model is{each} at most {near} above the optimum for this data and these parameters. Whether the "
        "data and parameters are good is a separate question, which the results below answer."
    )
    if tol is not None and proof.relative_gap > tol:
        asked = f"{number(100.0 * tol)} %"
        return Verdict("partly", f"Proved within {near} of the best possible, not the {asked} requested", explanation)
    return Verdict("reached", f"Proved within {near} of the best possible", explanation)


def _remedy(subject: Subject) -> str:
    status = subject.model.fitted_.status
    return "" if status is None else status.value


def in_a_line(subject: Subject) -> str:
    """What was trained on what, and shown on what."""
    model = subject.model
    n_features = getattr(model, "n_features_in_", None)
    trained = [count(rows_of_fit(model), "row")] + ([count(n_features, "feature")] if n_features else [])
    trained.append(subject.extent)
    named = f"{subject.trained_on}: " if subject.trained_on else ""
    where = f"shown on {count(subject.n_rows, 'row')} ({kind_of_rows(subject.X)})"
    return f"{type(model).__name__}, trained on {named}{', '.join(trained)}; {where}."


def rows_of_fit(model: Any) -> int:
    """How many rows the model learned from."""
    return int(model.fitted_.task.n_rows)


def which_rows(subject: Subject, outcome: Outcome) -> str:
    """Whether these are the rows of the fit."""
    if outcome.is_training:
        return (
            "The data given are the training data: the certificate recomputed from them is the same. "
            "Results on training data are optimistic; pass held-out data for a fair estimate."
        )
    return (
        "The data given are not the training data, or had sample weights in training: they do not reproduce the "
        "certificate of the fit. The results below are for the data given."
    )


def kind_of_rows(X: Any) -> str:
    """How the rows are stored."""
    if sp.issparse(X):
        filled = X.nnz / max(X.shape[0] * X.shape[1], 1)
        return f"sparse, {share(filled)} nonzero, {X.dtype}"
    if hasattr(X, "iloc") or hasattr(X, "schema"):
        return f"a data frame with {X.shape[1]} columns"
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return f"dense, {X.dtype}"
    return f"items such as {type(X[0]).__name__}" if len(X) else "items"


def limits(subject: Subject, outcome: Outcome, own: Iterable[str]) -> Iterator[str]:
    """What a reader should not conclude; ``own`` is about what this kind of model predicts."""
    yield (
        "The certificate is about the training problem. It proves that no other weights have a much smaller objective, "
        "not that predictions are right."
    )
    if outcome.is_training:
        yield "The results are for the training data; expect them to be worse on new data."
    if subject.certificate.relative_gap > (subject.model.tol or np.inf):
        yield f"The fit did not reach the requested gap. {_remedy(subject)}"
    if subject.model.status_.startswith(Status.PASSED.value):
        yield "The model learned from a stream: its certificate covers only the last block."
    yield from own
    if outcome.spreads is not None and len(some := outcome.spreads[outcome.spreads > 0.0]) > 1:
        ratio = float(some.max() / some.min())
        if not sp.issparse(subject.X) and ratio > 1000.0:
            yield f"Columns differ in scale by a factor of {number(ratio)}; the regularization treats them alike."
    if subject.n_rows < 200:
        yield f"{count(subject.n_rows, 'row')} are few: results on other data may differ a lot."


def parameters(estimator: Any) -> list[tuple[str, str]]:
    """All parameters, as Python writes them."""
    return [(name, as_code(value)) for name, value in estimator.get_params(deep=False).items()]


def as_code(value: Any) -> str:
    """A value as Python writes it, on one line."""
    return shortened(repr(value), _LONGEST_VALUE)


def code(subject: Subject) -> str:
    """Python that fits the same model again."""
    chain = getattr(subject.given, "best_estimator_", subject.given)
    steps = [step for _, step in chain.steps] if isinstance(chain, Pipeline) else [chain]
    calls = [_call(step) for step in steps]
    lines = sorted({_import_of(step) for step in steps})
    if len(calls) > 1:
        lines.append("from sklearn.pipeline import make_pipeline")
    made = calls[0] if len(calls) == 1 else "make_pipeline(\n    " + ",\n    ".join(calls) + ",\n)"
    return "\n".join([*lines, "", f"model = {made}", "model.fit(X, y)", "print(model.status_)" * (len(calls) == 1)])


def on_repeating(subject: Subject) -> str:
    """What the code can promise."""
    said = "The same rows, order, seed and number of threads give the same bits on the same kind of processor."
    if subject.model.random_state is None:
        said = "random_state is None: another fit may differ from this one, within what is proved."
    if re.search(r"=<|…", code(subject)):
        said += " What Python cannot write, such as a function or a model, is abbreviated above."
    return said


def _import_of(step: Any) -> str:
    kind = type(step)
    home = "pegasos" if getattr(pegasos, kind.__name__, None) is kind else kind.__module__
    # scikit-learn's modules with a leading underscore are not for users.
    public = ".".join(part for part in home.split(".") if not part.startswith("_"))
    return f"from {public} import {kind.__name__}"


def _call(step: Any) -> str:
    """The constructor with what differs from its defaults."""
    defaults = {name: each.default for name, each in inspect.signature(type(step)).parameters.items()}
    given = step.get_params(deep=False) if hasattr(step, "get_params") else {}
    changed = {name: value for name, value in given.items() if repr(value) != repr(defaults.get(name))}
    return f"{type(step).__name__}({', '.join(f'{name}={as_code(value)}' for name, value in changed.items())})"


def seconds_of(model: Any) -> float:
    """From the beginning of the fit to its last certificate."""
    return max(float(part["seconds"].max(initial=0.0)) for part in (model.trace_, *model.trace_.parts))


def run_details(subject: Subject) -> list[tuple[str, str]]:
    """How the fit went, and on what; nothing that names a person or a machine."""
    model = subject.model
    found = [
        ("status", model.status_),
        ("seconds until the last certificate", number(seconds_of(model))),
        ("epochs (of the longest problem)", count(model.n_iter_)),
        ("steps (of all problems)", count(model.n_steps_)),
        ("random_state", as_code(model.random_state)),
        ("n_jobs", as_code(model.n_jobs)),
        ("instruction set (of this page's machine)", str(_core.instruction_set())),
        ("platform", f"{platform.system()} {platform.machine()}, {platform.python_implementation()}"),
        ("Python", platform.python_version()),
    ]
    packages = (("numpy", "numpy"), ("scipy", "scipy"), ("scikit-learn", "scikit-learn"))
    return [*found, ("pegasos", pegasos.__version__), *((name, version(package)) for name, package in packages)]
