"""The score that a search maximizes."""

from __future__ import annotations

import math
from typing import Any

from sklearn.metrics import get_scorer

from pegasos.errors import PegasosError

# Beginnings of the names of scores that are never above 1.
_AT_MOST_1 = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "d2_",
    "explained_variance",
    "f1",
    "jaccard",
    "matthews_corrcoef",
    "precision",
    "r2",
    "recall",
    "roc_auc",
    "top_k_accuracy",
)


def scorer_of(scoring: Any) -> tuple[Any, str]:
    """The scorer and its name."""
    if callable(scoring):
        return scoring, getattr(scoring, "__name__", "score")
    try:
        return get_scorer(scoring), scoring
    except (ValueError, TypeError) as error:
        raise PegasosError(
            f"scoring must be a name that sklearn.metrics.get_scorer_names() lists, or a function of a model, X and y, "
            f"got {scoring!r}."
        ) from error


def highest(metric: str, scoring: Any) -> float:
    """The highest score there can be; infinite where that is not known, so that no search ends too early."""
    if callable(scoring):
        return math.inf
    if metric.startswith("neg_"):
        return 0.0
    return 1.0 if metric.startswith(_AT_MOST_1) else math.inf
