"""Linear support vector regression that chooses its lam and epsilon by cross-validation."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from pegasos import checks as check
from pegasos.docstrings import documented_by
from pegasos.errors import PegasosError
from pegasos.estimators.choosing import ChoiceParameters, ChoosesLam
from pegasos.estimators.linear_cv import PegasosClassifierCV
from pegasos.estimators.regression import CertifiedRegressor, PegasosRegressor
from pegasos.fitting.folds import LamSearch
from pegasos.layouts import numbers as layout
from pegasos.machines import Data

_LARGEST_EPSILON = 0.5  # of the mean distance of y from its median
_RATIO = 10.0**-0.5  # of an epsilon to the next larger one
_MOST_EPSILONS = 1000
_WITH_TUBE = ("epsilon_insensitive", "squared_epsilon_insensitive")


@documented_by(PegasosClassifierCV)
@dataclass(eq=False, repr=False)
class PegasosRegressorCV(ChoosesLam, CertifiedRegressor, ChoiceParameters):
    """Linear support vector regression that chooses lam and epsilon, and proves how good its solution is.

    For each epsilon, every fold follows a path of certified fits, from large to small lam, each starting where the last
    one ended; the folds run in threads, on views of the rows, which are never copied. Then one fit on all rows with the
    chosen pair starts at the mean of the folds' dual points.

    Parameters
    ----------
    lams : int or list of float, default=10
        How many values of lam to try for each epsilon, in equal ratios: from the largest at which predictions are about
        as large as y, down to ``eps`` times that, and further down while the smallest is the best. Or the lams
        themselves, sorted either way. The loss is a mean over the rows, so lam means the same for a fold as for all
        rows.
    epsilons : int or list of float, default=4
        How many half widths of the tube to try: 0, and others in ratios of 3.2 up to half the mean distance of y from
        its median. Or the values themselves. The losses "quantile" and "huber" have no tube: one path is followed.
    eps : float, default=1e-5
        The smallest lam over the largest.
    cv : int, splitter or list of (train, test), default=5
        The folds: for an int, in the order of the rows, as everywhere in scikit-learn. A splitter by groups gets the
        ``groups`` of `fit`.
    holdout : float, optional
        Instead of folds: the share of the rows that is held out, once, at random.
    scoring : str, callable or None, default=None
        The score to maximize: a scikit-learn scorer name, by default "r2", or ``scoring(estimator, X, y)``. A quantile
        is best judged by ``make_scorer(mean_pinball_loss, alpha=quantile, greater_is_better=False)``.
    one_standard_error : bool, default=False
        Choose the largest lam, for the best epsilon, whose mean score is within one standard error of the best.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "huber"}, default="epsilon_insensitive"
        See `PegasosRegressor`.
    quantile : float, default=0.5
        Of "quantile".
    delta : float, default=1.35
        Of "huber".
    fit_intercept, regularize_intercept, intercept_scaling, tol, max_iter, n_jobs, random_state
        As in `PegasosClassifierCV`.

    Attributes
    ----------
    lam_, C_, best_score_
        As in `PegasosClassifierCV`.
    epsilon_ : float
        The chosen half width of the tube.
    lams_ : array of shape (n_candidates,)
        The lam of each candidate, one path after the other.
    scores_ : array of shape (n_folds, n_candidates)
    cv_results_ : dict
        Columns as those of scikit-learn's searches, one entry per candidate: ``param_lam``, ``param_epsilon``,
        ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``, ``standard_error``, ``rank_test_score``,
        and ``relative_gap``, the largest certified one of the folds.
    coef_, intercept_, certificate_, status_, alpha_, support_, trace_, n_iter_, n_features_in_
        Of the fit on all rows; see `PegasosRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PegasosRegressorCV(random_state=0).fit(scale(X), y)
    >>> bool(model.best_score_ > 0.45)
    True
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _saved = layout.linear_cv
    _is_classifier = False
    _fitted_type = PegasosRegressor
    _passed_on = ("loss", "quantile", "delta")
    epsilons: Any = field(default=4, kw_only=True)
    loss: str = field(default="epsilon_insensitive", kw_only=True)
    quantile: float = field(default=0.5, kw_only=True)
    delta: float = field(default=1.35, kw_only=True)

    def _tasks(self, data: Data) -> list[Any]:
        return [replace(self._task(), epsilon=epsilon) for epsilon in self._epsilons_for(data.y)]

    def _epsilons_for(self, y: Any) -> list[float]:
        if self.loss not in _WITH_TUBE:
            return [0.0]
        if not isinstance(self.epsilons, numbers.Integral):
            return sorted(float(epsilon) for epsilon in self.epsilons)
        spread = float(np.mean(np.abs(y - np.median(y, axis=0))))
        if spread == 0.0:
            return [0.0]
        falling = _LARGEST_EPSILON * spread * _RATIO ** np.arange(int(self.epsilons) - 1)
        return [0.0, *sorted(falling.tolist())]

    def _table(self, searches: list[LamSearch]) -> dict[str, npt.NDArray[Any]]:
        tables = [each.as_table() for each in searches]
        table = {name: np.concatenate([each[name] for each in tables]) for name in tables[0]}
        epsilons = np.repeat([each.task.epsilon for each in searches], [len(each.lams) for each in searches])
        table["rank_test_score"] = rankdata(-table["mean_test_score"], method="min").astype(np.int32)
        return {"param_lam": table.pop("param_lam"), "param_epsilon": epsilons, **table}

    def _is_chosen(self) -> Any:
        return (self.lams_ == self.lam_) & (self.cv_results_["param_epsilon"] == self.fitted_.task.epsilon)

    def _check_parameters(self) -> None:
        self._estimator()._check_parameters()
        self._check_choice()
        if isinstance(self.epsilons, numbers.Integral):
            check.check_count("epsilons", self.epsilons)
            if int(self.epsilons) > _MOST_EPSILONS:
                raise PegasosError(f"epsilons must be at most {_MOST_EPSILONS}, got {self.epsilons}.")
            return
        given = np.asarray(self.epsilons)
        if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "fiu":
            raise PegasosError(f"epsilons must be a count or a list of numbers, got {self.epsilons!r}.")
        if not (np.isfinite(given) & (given >= 0.0)).all():
            raise PegasosError(f"each of epsilons must be a number of at least 0, got {self.epsilons!r}.")
        if len(np.unique(given)) < len(given):
            raise PegasosError(f"epsilons must differ from one another, got {self.epsilons!r}.")
