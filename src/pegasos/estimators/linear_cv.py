"""The linear support vector machine that chooses its lam by cross-validation."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit, check_cv

from pegasos import checks as check
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators import _checks, layout
from pegasos.estimators.certified import CertifiedClassifier, Evidence
from pegasos.estimators.inputs import check_room_for_weights, keeps_on_failure, read_values
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.parameters import DEFAULT_LAM, CommonParameters
from pegasos.estimators.reading import read_rows
from pegasos.estimators.warnings import GapWarning, GridWarning
from pegasos.estimators.watching import Onlookers, with_callbacks
from pegasos.fitting import Fit, SharesStart, fit
from pegasos.fitting.folds import LamSearch, Split, search
from pegasos.fitting.path import LabelledRows, Lams, check_grid, falling, grid
from pegasos.machines import Data, Linear

_MOST_LAMS = 100_000
_LAMS_PER_EXTENSION = 4  # tried at a time beyond the smallest of the grid
_MOST_EXTENSIONS = 6


@dataclass(eq=False, repr=False)
class PegasosClassifierCV(CertifiedClassifier, CommonParameters):
    """Linear support vector machine that chooses lam by cross-validation, and proves how good its solution is.

    Every fold follows a path of certified fits, from large to small lam, each starting where the last one ended; the
    folds run in threads, on views of the rows, which are never copied. Then one fit on all rows with the chosen lam
    starts at the mean of the folds' dual points. Several classes are told apart one against the rest.

    Parameters
    ----------
    lams : int or list of float, default=10
        How many lams to try, in equal ratios: from the largest at which anything but the length of the weights changes,
        down to ``eps`` of it, and further down while the smallest is the best. Or the lams themselves, sorted either
        way. The loss is a mean over the rows, so lam means the same for a fold as for all rows.
    eps : float, default=1e-5
        The smallest lam over the largest.
    cv : int, splitter or list of (train, test), default=5
        The folds: for an int, stratified, in the order of the rows, as everywhere in scikit-learn. A splitter by groups
        gets the ``groups`` of `fit`.
    holdout : float, optional
        Instead of folds: the share of the rows that is held out, once, stratified and at random.
    scoring : str, callable or None, default=None
        What is maximised: the name of a scorer of scikit-learn, by default the accuracy, or
        ``scoring(estimator, X, y)``. A name is computed from the decisions, weighted by ``sample_weight``; a callable
        gets a model and a copy of the rows held out.
    one_standard_error : bool, default=False
        Choose the largest lam whose mean score is within one standard error of the best: a simpler model, as good.
    loss : {"hinge", "squared_hinge", "huber_hinge"}, default="hinge"
        See `PegasosClassifier`.
    smoothing : float, default=0.5
        Of "huber_hinge".
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight, regularized like the others, carries the intercept.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-3
        The relative duality gap of every fit.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether the fit on all rows has `predict_proba`; see `PegasosClassifier`.
    max_iter : int, default=100_000
        Epochs of each fit at most.
    n_jobs : int, optional
        Threads for the folds. The result does not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    lam_ : float
        The lam chosen.
    C_ : float
        The same as ``1 / (lam N)``.
    best_score_ : float
        The mean score of the lam chosen.
    lams_ : array of shape (n_lams,), the largest first
    scores_ : array of shape (n_folds, n_lams)
    cv_results_ : dict
        Columns as those of scikit-learn's searches, one entry per lam: ``param_lam``, ``split0_test_score``, ...,
        ``mean_test_score``, ``std_test_score``, ``standard_error``, ``rank_test_score``, and ``relative_gap``, the
        largest certified one of the folds.
    coef_, intercept_, classes_, certificate_, status_, alpha_, support_, margin_, trace_, n_iter_, n_features_in_
        Of the fit on all rows; see `PegasosClassifier`.

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
    lams: Any = field(default=10, kw_only=False)
    eps: float = field(default=1e-5, kw_only=True)
    cv: Any = field(default=5, kw_only=True)
    holdout: float | None = field(default=None, kw_only=True)
    scoring: Any = field(default=None, kw_only=True)
    one_standard_error: bool = field(default=False, kw_only=True)
    loss: str = field(default="hinge", kw_only=True)
    smoothing: float = field(default=0.5, kw_only=True)
    class_weight: Any = field(default=None, kw_only=True)
    probability: bool | str = field(default=False, kw_only=True)
    max_iter: int | None = field(default=100_000, kw_only=True)

    @with_callbacks
    @keeps_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> PegasosClassifierCV:
        """Choose lam on folds of the rows, and train on all of them.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            A weight of 2 is equivalent to repeating the row, in the fits and in the scores.
        groups : array of shape (n_rows,), optional
            For a splitter that keeps groups together.
        """
        self._check_parameters()
        data = read_rows(self, X, y, sample_weight, reset=True)
        found, chosen = self._search(data, groups)
        lam = float(found.lams[chosen])
        settings = self._settings(lam)
        start, audience = SharesStart(found.shares.of(chosen)), Onlookers.of(self, X, y, settings.max_iter)
        self._write(fit(self._machine(), self._task(), settings, data, start=start, audience=audience))
        self._evidence = Evidence(X, y, sample_weight)
        self.lam_, self.lams_, self.scores_, self.cv_results_ = lam, found.lams, found.scores, found.as_table()
        self._warn_of_gap()
        return self

    @property
    def C_(self) -> float:  # noqa: N802
        """The lam chosen, in the other convention."""
        return float(1.0 / (self.lam_ * self.fitted_.task.total))

    @property
    def best_score_(self) -> float:
        """The mean score of the lam chosen."""
        return float(self.scores_.mean(axis=0)[np.flatnonzero(self.lams_ == self.lam_)[0]])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _estimator(self, lam: float = DEFAULT_LAM) -> PegasosClassifier:
        """The classifier with the parameters of this one, which is fitted for every lam."""
        shared = "fit_intercept", "intercept_scaling", "class_weight", "tol", "max_iter", "n_jobs", "random_state"
        return PegasosClassifier(lam, **{name: getattr(self, name) for name in (*shared, "loss", "smoothing")})

    def _task(self, multi_class: str | None = None) -> Any:
        return self._estimator()._task(multi_class)

    def _settings(self, lam: float | None = None) -> Any:
        lam = getattr(self, "lam_", DEFAULT_LAM) if lam is None else lam
        return self._estimator(lam).set_params(probability=self.probability)._settings()

    def _machine(self) -> Linear:
        return Linear()

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Data:
        return read_rows(self, X, y, sample_weight, reset=reset)

    def _read_new(self, X: Any) -> Data:
        return Data(read_values(self, X))

    def _check_parameters(self) -> None:
        self._check_common()
        check.check_class_weight(self.class_weight)
        _checks.check_loss(self.loss, self.smoothing, None)
        _checks.check_probability(self.probability)
        check_grid(self.eps, self.tol)
        check.check_flag("one_standard_error", self.one_standard_error)
        if isinstance(self.lams, numbers.Integral | str | None):
            check.check_count("lams", self.lams)
            if isinstance(self.lams, numbers.Integral) and int(self.lams) > _MOST_LAMS:
                raise PegasosError(f"lams must be at most {_MOST_LAMS}, got {self.lams}; a path of 50 to 100 is usual.")
        else:
            falling(self.lams)
        if self.holdout is not None:
            check.check_positive("holdout", self.holdout)
            if not self.holdout < 1.0:
                raise PegasosError(f"holdout is a share of the rows and must be below 1, got {self.holdout!r}.")
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise PegasosError(
                f"scoring must be a name, a callable or None, got {self.scoring!r}; one number decides over lam."
            )

    def _search(self, data: Data, groups: Any) -> tuple[LamSearch, int]:
        """The scores of all lams on all folds, and the number of the best."""
        settings = self._estimator()._settings()
        labelled = LabelledRows.read(self._task(), settings, data)
        seed = settings.draw_seed()
        splits = self._splits(labelled, groups, seed)
        check_room_for_weights(labelled.rows.n_features, (len(splits) + 2) * labelled.task.n_classes)
        scored = partial(search, labelled, splits, scoring=self.scoring, estimator_of=self._scored, seed=seed)
        found = scored(self._lams_of(labelled))
        if isinstance(self.lams, numbers.Integral) and len(found.lams) > 1:
            found = self._extended(found, scored)
        chosen = found.best(one_standard_error=self.one_standard_error)
        self._warn_of_gaps(found)
        return found, chosen

    def _extended(self, found: LamSearch, scored: Callable[[Lams], LamSearch]) -> LamSearch:
        """The search, continued with smaller lams while the smallest is the best."""
        ratio = found.lams[1] / found.lams[0]
        n_extensions = 0
        while found.best(one_standard_error=False) == len(found.lams) - 1:
            if n_extensions == _MOST_EXTENSIONS:
                warn_caller(
                    f"the best lam is the smallest of {len(found.lams)}, {found.lams[-1]:.2g}: smaller ones may be "
                    "better still. Scale the features, or give lams.",
                    GridWarning,
                )
                break
            found = found.joined(scored(found.lams[-1] * ratio ** np.arange(1, _LAMS_PER_EXTENSION + 1)))
            n_extensions += 1
        return found

    def _scored(self, fitted: Fit) -> PegasosClassifier:
        """The model of a fold, for a scorer that looks at more than its decisions."""
        estimator = self._estimator()
        estimator._write(fitted)
        estimator.n_features_in_ = fitted.model.vectors["coef"].shape[1]
        return estimator

    def _lams_of(self, labelled: LabelledRows) -> Lams:
        if isinstance(self.lams, numbers.Integral):
            return grid(labelled.problems(), int(self.lams), self.eps)
        return falling(self.lams)

    def _splits(self, data: LabelledRows, groups: Any, seed: int) -> list[Split]:
        numbers_of_rows = np.arange(data.rows.n_rows)
        try:
            if self.holdout is not None:
                cv: Any = StratifiedShuffleSplit(1, test_size=self.holdout, random_state=seed)
            else:
                cv = check_cv(self.cv, data.y, classifier=True)
            splits = list(cv.split(data.rows.values, data.y, groups))
            # Numbers of rows or masks.
            found = [(numbers_of_rows[train], numbers_of_rows[test]) for train, test in splits]
        except (IndexError, TypeError, ValueError) as error:
            how = f"holdout={self.holdout!r}" if self.holdout is not None else f"cv={self.cv!r}"
            raise PegasosError(f"{how} does not split these {data.rows.n_rows} rows: {error}") from error
        if not found:
            raise PegasosError(f"cv={self.cv!r} has no folds.")
        return found

    def _warn_of_gaps(self, found: LamSearch) -> None:
        assert self.tol is not None
        missed = int(np.sum(found.gaps > self.tol))
        if missed:
            warn_caller(
                f"for {missed} of {len(found.gaps)} lams a fit of a fold ended before the gap reached tol={self.tol:g} "
                f"(the largest is {found.gaps.max():.2g}); raise max_iter, raise tol, or scale the features.",
                GapWarning,
            )
