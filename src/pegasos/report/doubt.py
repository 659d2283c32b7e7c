"""The rows whose prediction is least certain: those that an exact solution could most easily decide otherwise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from pegasos.report.outcome import ClassOutcome, Numbers
from pegasos.report.subject import ClassSubject

_SHOWN = 10
_MOST_ASKED = 1000  # rows with the smallest margins, of those that are open


class Doubt(NamedTuple):
    """A row, the class predicted, and the range of its lead over the others in all exact solutions."""

    row: int
    predicted: int
    least: float
    most: float


def least_certain(subject: ClassSubject, outcome: ClassOutcome) -> list[Doubt]:
    """The open rows whose lead may fall lowest; none where a class is not decided by the scores of its own problem."""
    if outcome.is_sure is None or subject.multi_class not in ("binary", "ovr"):
        return []
    rows = np.flatnonzero(~outcome.is_sure)
    if not len(rows):
        return []
    rows = np.sort(rows[np.argsort(np.abs(outcome.margins[rows]), kind="stable")[:_MOST_ASKED]])
    least, most = _leads(subject.model, _safe_indexing(subject.X, rows), outcome.predicted[rows])
    order = np.argsort(least, kind="stable")[:_SHOWN]
    return [Doubt(int(rows[k]), int(outcome.predicted[rows[k]]), float(least[k]), float(most[k])) for k in order]


def _leads(model: Any, X: Any, predicted: Any) -> tuple[Numbers, Numbers]:
    """The least and the largest lead of the class predicted over every other."""
    lower, upper = model.score_interval(X)
    if lower.ndim == 1:
        is_second = predicted == 1
        return np.where(is_second, lower, -upper), np.where(is_second, upper, -lower)
    n = np.arange(len(lower))
    rivals = upper.copy(), lower.copy()
    for each in rivals:
        each[n, predicted] = -np.inf
    return lower[n, predicted] - rivals[0].max(axis=1), upper[n, predicted] - rivals[1].max(axis=1)
