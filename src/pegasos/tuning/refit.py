"""The fit of the winner: to how many rows, and what to compare its score with."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.tuning.search import Search, sampled_order
from pegasos.tuning.trials import Examiner, Trial


def affordable_rows(strata: npt.NDArray[np.intp], best: Trial, search: Search) -> npt.NDArray[np.intp]:
    """All rows, or as many of them as a kernel can be fitted to in the time of the search."""
    n_rows, budget = len(strata), search.clock.budget
    foreseen = best.fit_seconds * search.growth_of_time(best, n_rows)
    if budget is None or foreseen <= budget or search.examiner.space.is_linear(best.setting):
        return np.arange(n_rows)
    affordable = int(n_rows * math.sqrt(budget / foreseen))
    order = sampled_order(strata, np.random.default_rng(search.seed))
    return np.sort(order[: max(affordable, best.n_rows)])


def beside_a_guess(examiner: Examiner, guess: Any) -> str:
    """A sentence with the score of a constant prediction; empty where the score does not apply to one."""
    nothing = np.zeros((len(examiner.y), 1))
    weighted = {} if examiner.weights is None else {"sample_weight": examiner.weights}
    guess = guess.fit(nothing, examiner.y, **weighted)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes that a guess never names
            worth = float(examiner.scorer(guess, nothing, examiner.y, **weighted))
    except (AttributeError, TypeError, ValueError):  # a score that a guess has none of
        return ""
    return f" To compare: a constant prediction ({guess.strategy}) scores {worth:.4f}."
