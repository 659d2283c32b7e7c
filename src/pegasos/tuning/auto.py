"""A classifier that chooses its own scaling, kernel, width and lam within a budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.utils.metaestimators import available_if

from pegasos import checks as check
from pegasos.estimators.items import check_target
from pegasos.layouts import classes as layout
from pegasos.tasks.labels import encode, find_classes
from pegasos.tuning.automatic import Aim, Automatic

_UNEVEN = 1.5  # classes are: the largest has more than this many times the rows of the smallest
_RARE = 4.0  # the rarest class is: accuracy would hardly notice it


def _has_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError("probabilities are fitted only with probability=True.")
    return True


@dataclass(eq=False, repr=False)
class AutoPegasos(Automatic, ClassifierMixin, BaseEstimator):
    """Support vector machine that chooses scaling, kernel, width and lam within a time budget.

    The search follows the standard advice: scale the features, try a linear model, then a polynomial kernel of low
    degree, then an RBF kernel with a width near the median distance, each with several values of lam; then continue
    where it looks promising, by Bayesian optimization (Optuna's tree-structured Parzen estimator). Settings are
    compared by cross-validation on the same folds, and dropped early by successive halving and racing. Lists of
    strings, graphs and time series have their own kernels; rows that look like series are tried with series kernels
    too. Columns of a data frame are handled by type.

    Parameters
    ----------
    time_budget : float or None, default=60
        Seconds for the search. The final fit of the winner comes in addition, and is stopped after the same time.
    n_trials : int, optional
        Maximum number of settings to try. With ``time_budget=None`` the result depends only on ``random_state``.
    scoring : str or callable, optional
        The score to maximize: a scikit-learn scorer name or a function. By default "accuracy"; if the largest class has
        more than four times as many samples as the smallest, "balanced_accuracy". ``scoring_`` and ``account_`` state
        which. With uneven classes and any score but accuracy, ``class_weight="balanced"`` is part of the search.
    cv : int, splitter or iterable, default=5
        Folds; fewer if a class has fewer samples. Below 400 samples, cross-validation is repeated with different folds,
        up to 25 in all.
    items : {"rows", "strings", "graphs", "series"}, optional
        What X contains; detected by default.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether the winner has `predict_proba`; see `PegasosClassifier`.
    n_jobs : int, optional
        Threads for the problems of several classes.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1: print a line for each setting. scikit-learn's ``ProgressBar`` (with rich) works too.

    Attributes
    ----------
    best_estimator_ : Pipeline
        Scaling and model, fitted to all samples; a kernel model on very many samples, to as many as the time allowed.
    best_score_ : float
        Mean over the folds.
    scoring_ : str
        The name of the score.
    best_params_ : dict
        The parameters of the winner, from the leaderboard.
    leaderboard_ : list of dict
        One row per setting, the best first; ``pandas.DataFrame(auto.leaderboard_)`` makes a table.
    account_ : str
        An explanation of the choice.
    certificate_ : Certificate
        The certificate of the winner's fit.
    n_rows_fitted_ : int
        Number of samples that the winner was fitted to.
    classes_ : array of shape (n_classes,)
    n_features_in_ : int, when items are rows of numbers
    feature_names_in_ : array of str, when X has names

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pegasos import AutoPegasos
    >>> X, y = make_moons(200, noise=0.15, random_state=0)
    >>> auto = AutoPegasos(time_budget=None, n_trials=8, random_state=0).fit(X, y)
    >>> auto.best_params_["kernel"]
    'rbf'
    >>> auto.best_score_ > 0.95
    True
    """

    _saved = layout.auto

    probability: bool | str = field(default=False, kw_only=True)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores of the winner; see its `decision_function`."""
        return np.asarray(self._fitted(X).decision_function(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, of shape (n_rows, n_classes); needs ``probability=True``."""
        return np.asarray(self._fitted(X).predict_proba(X))

    def certified(self, X: Any, *, region: str = "ellipsoid") -> npt.NDArray[np.bool_]:
        """For each row: whether every exact solution of the winner's training problem predicts the same.

        Parameters
        ----------
        X : rows, as in `predict`
        region : {"ellipsoid", "ball"}, default="ellipsoid"
            As in `PegasosClassifier.certified`.
        """
        machine, rows = self._machine_and_rows(X)
        return np.asarray(machine.certified(rows, region=region))

    def margin(self, X: Any, y: Any, *, geometric: bool = False) -> npt.NDArray[np.float64]:
        """How far each row is on the right side of the winner's boundary; see `PegasosClassifier.margin`.

        Parameters
        ----------
        X : rows, as in `predict`
        y : array of shape (n_rows,)
            Their classes.
        geometric : bool, default=False
            True: the distance from the boundary, in the space of the features.
        """
        machine, rows = self._machine_and_rows(X)
        return np.asarray(machine.margin(rows, y, geometric=geometric))

    def _check_parameters(self) -> None:
        check.check_probability(self.probability)
        super()._check_parameters()

    def _aim(self, target: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None) -> Aim:
        classes = find_classes(target, None)
        codes = encode(target, classes)
        counts = np.bincount(codes, weights)
        metric, why = "accuracy", ""
        if counts.max() > _RARE * counts.min():
            rarest = classes.tolist()[int(counts.argmin())]
            share = counts.min() / counts.sum()
            metric, why = "balanced_accuracy", f"class {rarest!r} has {share:.1%} of the rows"
        is_asked_for = self.scoring != "accuracy" and not (self.scoring is None and metric == "accuracy")
        is_uneven = counts.max() > _UNEVEN * counts.min()
        balances: tuple[str | None, ...] = (None, "balanced") if is_asked_for and is_uneven else (None,)
        guess = DummyClassifier(strategy="most_frequent")
        return Aim(codes, len(classes), metric, why, balances, None, guess)

    def _note_of_targets(self, aim: Aim) -> None:
        self.classes_ = self.best_estimator_[-1].classes_

    def _of_refit(self) -> dict[str, Any]:
        return {"probability": self.probability} if self.probability else {}

    def _check_target(self, X: Any, y: Any) -> npt.NDArray[Any]:
        return check_target(X, y)
