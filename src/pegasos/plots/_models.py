"""The model to be drawn, wherever it is: in a pipeline, in a search, alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pegasos.errors import PegasosError


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
    """The trace of a fitted model, or a sentence."""
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
    if n_problems == len(classes):
        return [f"{name} against the rest" for name in classes]
    if n_problems == len(classes) * (len(classes) - 1) // 2 and n_problems > 1:
        return [f"{b} against {a}" for k, a in enumerate(classes) for b in classes[k + 1 :]]
    return [f"{classes[1]} against {classes[0]}"] if len(classes) == 2 else ["all classes at once"]


def margins_of(estimator: Any, X: Any, y: Any, *, geometric: bool = False) -> npt.NDArray[np.float64]:
    """The margin of each row, by the model's own `margin`."""
    model, before = opened(estimator)
    if not hasattr(model, "margin"):
        raise PegasosError(
            f"{type(model).__name__} does not know the margins of rows; use a PegasosClassifier, a "
            "KernelPegasosClassifier, or give the numbers themselves by from_margins."
        )
    return np.asarray(model.margin(before(X), y, geometric=geometric))


def checked_margins(margins: Any) -> npt.NDArray[np.float64]:
    """A vector of finite numbers."""
    found = np.asarray(margins, np.float64)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise PegasosError(f"margins must be a vector of finite numbers, one a row, got shape {found.shape}.")
    return found
