"""The model to be drawn, wherever it is: in a pipeline, in a search, alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pegasos.errors import PegasosError
from pegasos.tasks import OneVsRest


def opened(estimator: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The fitted model, and what is done to rows before they reach it.

    Of a search it is the one of its best estimator, of a pipeline the last step.
    """
    estimator = getattr(estimator, "best_estimator_", estimator)
    if not isinstance(estimator, Pipeline):
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            raise PegasosError(f"a fitted estimator is needed, got {estimator!r}.")
        check_is_fitted(estimator)
        return estimator, lambda rows: rows
    model, inner = opened(estimator[-1])
    if len(estimator) == 1:
        return model, inner
    before = estimator[:-1]
    return model, lambda rows: inner(before.transform(rows))


def named(models: Any) -> dict[str, Any]:
    """Models by name: as given in a dict, else by their classes, numbered where these are not enough."""
    if isinstance(models, Mapping):
        found = {str(name): model for name, model in models.items()}
    else:
        several = list(models) if isinstance(models, Sequence) and not isinstance(models, Pipeline | str) else [models]
        kinds = [type(opened(model)[0]).__name__ for model in several]
        labels = [
            f"{kind} {kinds[:k].count(kind) + 1}" if kinds.count(kind) > 1 else kind for k, kind in enumerate(kinds)
        ]
        found = dict(zip(labels, several, strict=True))
    if not found:
        raise PegasosError("there is nothing to draw: give at least one model.")
    return found


def trace_of(model: Any, name: str = "the model") -> Any:
    """The trace of a fitted model; raises an error if it has none."""
    trace = getattr(model, "trace_", None)
    if trace is None or len(trace) == 0:
        raise PegasosError(
            f"{name} ({type(model).__name__}) has no trace of a run; fit a PegasosClassifier, a "
            "PegasosClassifierCV or a KernelPegasosClassifier."
        )
    return trace


def problem_names(model: Any, n_problems: int) -> list[str]:
    """What each problem of a model is about, in words."""
    classes = [str(name) for name in model.classes_]
    fitted = getattr(model, "fitted_", None)
    task = OneVsRest.of(classes) if fitted is None else fitted.task  # dask's model, and online learners
    names: list[str] = task.problem_names(classes)
    return names


def codes_of(labels: Any, classes: npt.NDArray[Any], n_rows: int) -> npt.NDArray[np.intp]:
    """The number of each row's class."""
    y = np.asarray(labels)
    if y.shape != (n_rows,):
        raise PegasosError(f"y must name the class of each of the {n_rows} rows, got shape {y.shape}.")
    matches = [np.asarray(y == name) for name in classes]
    known = np.any([np.broadcast_to(match, y.shape) for match in matches], axis=0)
    if not known.all():
        raise PegasosError(
            f"y has the label {y[~known].tolist()[0]!r}, which is not a class of the model: {classes.tolist()}."
        )
    return np.asarray(np.argmax(matches, axis=0))


def margins_of(model: Any, rows: Any, y: Any, *, geometric: bool = False) -> npt.NDArray[np.float64]:
    """By how much the class of each row wins: by the model's own `margin`, or from its scores."""
    if hasattr(model, "margin"):
        return np.asarray(model.margin(rows, y, geometric=geometric))
    if geometric or not hasattr(model, "decision_function"):
        what = "distances from its boundary" if geometric else "scores"
        raise PegasosError(f"{type(model).__name__} has no {what}; use a PegasosClassifier.")
    scores = np.asarray(model.decision_function(rows), np.float64)
    codes = codes_of(y, model.classes_, len(scores))
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    own = np.take_along_axis(scores, codes[:, None], axis=1)[:, 0]
    np.put_along_axis(scores, codes[:, None], -np.inf, axis=1)
    return np.asarray(own - scores.max(axis=1))


def checked_margins(margins: Any) -> npt.NDArray[np.float64]:
    """A vector of finite numbers."""
    found = np.asarray(margins, np.float64)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise PegasosError(f"margins must be a vector of finite numbers, one per row, got shape {found.shape}.")
    return found
