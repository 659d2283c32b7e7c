"""A regressor that chooses its own scaling, kernel, width, lam and epsilon within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor

from pegasos.docstrings import documented_by
from pegasos.errors import PegasosError
from pegasos.estimators.items import check_numbers
from pegasos.layouts import numbers as layout
from pegasos.tuning.auto import AutoPegasos
from pegasos.tuning.automatic import Aim, Automatic

_MOST_STRATA = 10  # parts of the range of y that every fold has a share of


@documented_by(AutoPegasos)
@dataclass(eq=False, repr=False)
class AutoPegasosRegressor(Automatic, RegressorMixin, BaseEstimator):
    """Support vector regression that chooses scaling, kernel, width, lam and epsilon within a time budget.

    The search of `AutoPegasos` for numeric targets, with the epsilon-insensitive loss and a free intercept.

    Parameters
    ----------
    time_budget, n_trials
        As in `AutoPegasos`.
    scoring : str or callable, default="r2"
        The score to maximize: a scikit-learn scorer name or a function.
    cv, items
        As in `AutoPegasos`.
    n_jobs : int, optional
        Threads for passes over the rows.
    random_state, verbose
        As in `AutoPegasos`.

    Attributes
    ----------
    best_estimator_, best_score_, scoring_, best_params_, leaderboard_, account_, certificate_, n_rows_fitted_
        As in `AutoPegasos`.
    n_features_in_, feature_names_in_
        As in `AutoPegasos`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import AutoPegasosRegressor
    >>> X = np.linspace(0.0, 6.0, 150)[:, None]
    >>> auto = AutoPegasosRegressor(time_budget=None, n_trials=8, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> auto.best_score_ > 0.9
    True
    """

    _saved = layout.auto

    def _aim(self, target: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None) -> Aim:
        if len(target) < 2:
            raise PegasosError("one sample cannot be used for both training and scoring; give more.")
        spread = float(np.mean(np.abs(target - np.median(target))))
        if spread == 0.0:
            spread = float(np.ptp(target))
        if spread == 0.0:
            raise PegasosError(f"every target is {target[0]:g}: there is nothing to learn; check how y was read.")
        n_folds = int(self.cv) if isinstance(self.cv, int | np.integer) else 5
        n_strata = max(1, min(_MOST_STRATA, len(target) // (2 * n_folds)))
        ranks = np.argsort(np.argsort(target, kind="stable"), kind="stable")
        strata = (ranks * n_strata // len(target)).astype(np.intp)
        return Aim(strata, 0, "r2", "", (None,), spread, DummyRegressor())

    def _check_target(self, X: Any, y: Any) -> npt.NDArray[Any]:
        numbers = check_numbers(X, y)
        if numbers.ndim != 1:
            raise PegasosError(
                f"AutoPegasosRegressor searches for one target; got y of shape {numbers.shape}: fit one per column."
            )
        return numbers

    def _how_to_read_target(self) -> dict[str, Any]:
        return {"y_numeric": True}
