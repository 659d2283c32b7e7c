"""The folds on which a search compares settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv

from pegasos.errors import PegasosError
from pegasos.tuning.search import sampled_order
from pegasos.tuning.trials import Fold

_FEW_ROWS, _MOST_FOLDS = 400, 25  # below this many rows, cross-validation is repeated, up to this many folds in all

Codes = npt.NDArray[np.intp]


def given_folds(cv: Any, y: npt.NDArray[Any], counts: Codes) -> Any:
    """The folds of the user's own splitter, of the rows that count."""
    place = np.full(len(y), -1)
    place[counts] = np.arange(len(counts))
    parts = check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y)
    return [tuple(place[part][place[part] >= 0] for part in pair) for pair in parts]


def dealt(cv: Any, y: npt.NDArray[Any], strata: Codes, seed: int, given: Any) -> tuple[list[Fold], int]:
    """The folds, each in an order of which every beginning is a fair sample; and how many of them are one deal."""
    deal, parts = 0, given
    if given is None:
        counts = np.bincount(strata)
        rarest = int(counts.argmin())
        if counts[rarest] < 2:
            single = y[strata == rarest].tolist()[0]
            raise PegasosError(
                f"class {single!r} has a single row, which cannot be used for both training and scoring; leave it "
                "out, or find more of its kind."
            )
        n_splits = min(int(cv), int(counts[rarest]))
        n_repeats = min(-(-_FEW_ROWS // len(y)), max(1, _MOST_FOLDS // n_splits))
        deal = n_splits if n_repeats > 1 else 0
        splitter: Any = RepeatedStratifiedKFold(n_splits=n_splits, n_repeats=n_repeats, random_state=seed)
        parts = splitter.split(np.zeros(len(y)), strata)
    rng = np.random.default_rng(seed)
    return [(*(part[sampled_order(strata[part], rng)] for part in pair),) for pair in parts], deal
