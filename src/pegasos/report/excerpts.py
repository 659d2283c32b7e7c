"""A row in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from pegasos.report.subject import Subject, shortened

rows_shown = 10  # in the table of the hardest
_VALUES_SHOWN = 4
_LONGEST = 160  # characters


def excerpt(subject: Subject, k: int) -> str:
    """A row in a line: a text cut short, or a few values; of a frame those that the user knows."""
    raw, row = _safe_indexing(subject.raw, [k]), _safe_indexing(subject.X, [k])
    values: list[tuple[str, Any]]
    if hasattr(raw, "columns"):
        values = list(zip(map(str, raw.columns), np.asarray(raw)[0], strict=True))
    elif not sp.issparse(raw) and isinstance(raw[0], str):
        return shortened(raw[0], _LONGEST)
    elif sp.issparse(row):
        order = np.argsort(-np.abs(row.data), kind="stable")[: _VALUES_SHOWN + 1]
        values = [(subject.feature_name(int(row.indices[j])), row.data[j]) for j in order]
    elif hasattr(subject.model, "n_features_in_"):
        line = np.asarray(row)[0][: _VALUES_SHOWN + 1]
        values = [(subject.feature_name(j), value) for j, value in enumerate(line)]
    else:
        return shortened(repr(raw[0]), _LONGEST)
    listed = [f"{shortened(name, 40)} = {_value(value)}" for name, value in values[:_VALUES_SHOWN]]
    return ", ".join([*listed, "…"] if len(values) > _VALUES_SHOWN else listed) or "all 0"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else shortened(str(value), 40)
