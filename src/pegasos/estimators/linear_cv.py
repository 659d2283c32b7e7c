"""The linear support vector machine that chooses its lam by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pegasos import checks as check
from pegasos.estimators import _checks
from pegasos.estimators.certified import CertifiedClassifier
from pegasos.estimators.choosing import ChoiceParameters, ChoosesLam
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.parameters import DEFAULT_LAM
from pegasos.layouts import classes as layout


@dataclass(eq=False, repr=False)
class PegasosClassifierCV(ChoosesLam, CertifiedClassifier, ChoiceParameters):
    """Linear support vector machine that chooses lam by cross-validation, and proves how good its solution is.

    Every fold follows a path of certified fits, from large to small lam, each starting where the last one ended; the
    folds run in threads, on views of the data, which is never copied. Then one fit on all the data with the chosen lam
    starts at the mean of the folds' dual points. Several classes are handled one-vs-rest.

    Parameters
    ----------
    lams : int or list of float, default=10
        How many values to try, in equal ratios: from the largest at which more than the length of the weights changes,
        down to ``eps`` times that, and further down while the smallest is the best. Or the values themselves, sorted
        either way. The loss is a mean over the samples, so lam means the same for a fold as for all the data.
    eps : float, default=1e-5
        The smallest lam over the largest.
    cv : int, splitter or list of (train, test), default=5
        The folds: for an int, stratified, in the order of the data, as everywhere in scikit-learn. A splitter by groups
        gets the ``groups`` of `fit`.
    holdout : float, optional
        Instead of folds: the share of the data that is held out, once, stratified and at random.
    scoring : str, callable or None, default=None
        The score to maximize: the name of a scikit-learn scorer, by default accuracy, or
        ``scoring(estimator, X, y)``. A name is computed from the decisions, weighted by ``sample_weight``; a callable
        gets a model and a copy of the held-out data.
    one_standard_error : bool, default=False
        Choose the largest lam whose mean score is within one standard error of the best: a simpler model, as good.
    loss : {"hinge", "squared_hinge", "huber_hinge"}, default="hinge"
        See `PegasosClassifier`.
    smoothing : float, default=0.5
        Parameter of "huber_hinge".
    fit_intercept : bool, default=True
    regularize_intercept : bool, default=True
        False: the intercept of the textbook, in every fold and in the final fit; see `PegasosClassifier`.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight, regularized like the others, is the intercept.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-3
        The relative duality gap of every fit.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether the final fit has `predict_proba`; see `PegasosClassifier`.
    max_iter : int, default=100_000
        Maximum number of epochs of each fit.
    n_jobs : int, optional
        Threads for the folds. The result does not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    lam_ : float
        The chosen lam.
    C_ : float
        The same as ``1 / (lam N)``.
    best_score_ : float
        The mean score of the chosen lam.
    lams_ : array of shape (n_lams,), the largest first
    scores_ : array of shape (n_folds, n_lams)
    cv_results_ : dict
        Columns as in scikit-learn's searches, one entry per lam: ``param_lam``, ``split0_test_score``, ...,
        ``mean_test_score``, ``std_test_score``, ``standard_error``, ``rank_test_score``, and ``relative_gap``, the
        largest certified one of the folds.
    coef_, intercept_, classes_, certificate_, status_, alpha_, support_, margin_, trace_, n_iter_, n_features_in_
        Of the final fit; see `PegasosClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PegasosClassifierCV(random_state=0).fit(scale(X), y)
    >>> model.scores_.shape
    (5, 10)
    >>> bool(model.scores_.mean(axis=0).max() > 0.97)
    True
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _saved = layout.linear_cv
    _is_classifier = True
    _fitted_type = PegasosClassifier
    _passed_on = ("class_weight", "loss", "smoothing")
    loss: str = field(default="hinge", kw_only=True)
    smoothing: float = field(default=0.5, kw_only=True)
    class_weight: Any = field(default=None, kw_only=True)
    probability: bool | str = field(default=False, kw_only=True)

    def _settings(self, lam: float | None = None) -> Any:
        lam = getattr(self, "lam_", DEFAULT_LAM) if lam is None else lam
        return self._estimator(lam).set_params(probability=self.probability)._settings()

    def _check_parameters(self) -> None:
        check.check_class_weight(self.class_weight)
        _checks.check_loss(self.loss, self.smoothing, None)
        check.check_probability(self.probability)
        self._check_choice()
