"""What other packages need from an estimator: the plan that its parameters describe, and an estimator from a `Fit`."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from pegasos.fitting.path import LabelledRows
from pegasos.fitting.result import Fit
from pegasos.machines.base import Data
from pegasos.machines.settings import Settings

Estimator = TypeVar("Estimator")


def plan_of(estimator: Any) -> tuple[Any, Any, Settings]:
    """The machine, the task and the settings that the parameters describe; raises an error if they are invalid."""
    estimator._check_parameters()
    return estimator._machine(), estimator._task(), estimator._settings()


def with_fit(estimator: Estimator, fitted: Fit, n_features: int | None = None, names: Any = None) -> Estimator:
    """The estimator, fitted; ``names`` are those of its features, if they have names."""
    estimator.__dict__.pop("feature_names_in_", None)
    if n_features is not None:
        estimator.__dict__["n_features_in_"] = n_features
    if names is not None:
        estimator.__dict__["feature_names_in_"] = np.asarray(names, dtype=object)
    estimator._write(fitted)  # type: ignore[attr-defined]
    return estimator


def data_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Data:
    """The rows, targets and weights of a fit, checked as `fit` checks them."""
    data: Data = estimator._read(X, y, sample_weight, reset=True)
    return data


def labelled_rows(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> LabelledRows:
    """The rows of a linear estimator, for a path over lam."""
    _, task, settings = plan_of(estimator)
    return LabelledRows.read(task, settings, data_of(estimator, X, y, sample_weight))
