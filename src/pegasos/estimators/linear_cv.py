"""The linear support vector machine that chooses its lam by cross-validation."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit, check_cv

from pegasos.errors import PegasosError
from pegasos.estimators import _attributes
from pegasos.estimators import _parameters as check
from pegasos.estimators._base import default_lam
from pegasos.estimators._folds import Search, Split, search
from pegasos.estimators._inputs import check_room_for_weights, kept_on_failure
from pegasos.estimators._path import Labelled, Lams, check_grid, falling, grid
from pegasos.estimators._targets import Terms
from pegasos.estimators._watching import n_frames, with_callbacks
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.warnings import GapWarning

_most_lams = 100_000


class PegasosClassifierCV(PegasosClassifier):
    """Linear support vector machine that chooses lam by cross-validation, and proves how good its solution is.

    On every fold a path of certified fits, from large to small lam, each begun where the last one ended; the folds in
    threads, on views of the rows, which are never copied. Then one fit on all rows with the lam chosen, begun at the
    mean of the folds' dual points. Several classes are told apart one against the rest.

    Parameters
    ----------
    lams : int or list of float, default=10
        How many lams to try, in equal ratios: from the largest at which anything but the length of the weights changes,
        down to ``eps`` of it. Or the lams themselves, sorted either way. lam weighs against a mean over the rows, so it
        means the same for a fold as for all rows.
    eps : float, default=1e-5
        The smallest lam over the largest.
    cv : int, splitter or list of (train, test), default=5
        The folds: of an int, stratified, in the order of the rows, as everywhere in scikit-learn. A splitter by groups
        gets the ``groups`` of `fit`.
    holdout : float, optional
        Instead of folds: the share of the rows that is held out, once, stratified and at random.
    scoring : str, callable or None, default=None
        What is maximised: the name of a scorer of scikit-learn, by default the accuracy, or
        ``scoring(estimator, X, y)``. A name is computed from the decisions, weighted by ``sample_weight``; a callable
        gets a model and a copy of the rows held out.
    one_standard_error : bool, default=False
        Choose the largest lam whose mean score is within one standard error of the best: a simpler model, as good.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight, regularised like the others, carries the intercept.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-3
        The relative duality gap of every fit.
    max_iter : int, default=100_000
        Epochs of each fit at most.
    n_jobs : int, optional
        Threads for the folds. The result does not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    lam_ : float
        The lam chosen.
    lams_ : array of shape (n_lams,), the largest first
    scores_ : array of shape (n_folds, n_lams)
    cv_results_ : dict
        Columns as those of scikit-learn's searches, one entry a lam: ``param_lam``, ``split0_test_score``, ...,
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

    _saved = _attributes.linear_cv
    # What the choice of lam leaves as it is by default; lam itself is `lam_`.
    lam = default_lam
    C = None
    solver = "auto"
    batch_size = 1
    sampling = "shuffle"
    projection = False
    average = None
    regularize_intercept = True
    multi_class = "ovr"
    prior = None
    time_budget = None
    certified_share = None
    probability = False
    warm_start = False
    verbose = 0

    def __init__(
        self,
        lams: Any = 10,
        *,
        eps: float = 1e-5,
        cv: Any = 5,
        holdout: float | None = None,
        scoring: Any = None,
        one_standard_error: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.lams = lams
        self.eps = eps
        self.cv = cv
        self.holdout = holdout
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def partial_fit(self) -> Any:
        """Not there: folds need all rows."""
        raise AttributeError("PegasosClassifierCV has no partial_fit: folds need all rows at once.")

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> PegasosClassifierCV:
        """Choose lam on folds of the rows, and train on all of them.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 is the same as that row twice, in the fits and in the scores.
        groups : array of shape (n_rows,), optional
            For a splitter that keeps groups together.
        """
        self._check_parameters()
        with kept_on_failure(self):
            data = Labelled.read(self, X, y, sample_weight)
            seed = self._seed()
            splits = self._splits(data, groups, seed)
            check_room_for_weights(data.rows.n_features, (len(splits) + 2) * data.terms.n_classes)
            lams = self._lams_of(data)
            found = search(data, splits, lams, self.scoring, seed=seed, n_jobs=self.n_jobs)
            chosen = found.best(one_standard_error=self.one_standard_error)
            self._warn_of_gaps(found)
            self._begin = float(lams[chosen]), found.shares.of(chosen)
            self._fit(self._collection(X, data.rows), y, sample_weight)
            del self._begin
            self.lam_, self.lams_, self.scores_ = float(lams[chosen]), lams, found.scores
            self.cv_results_ = found.as_table()
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_grid(self.eps, self.tol)
        check.check_flag("one_standard_error", self.one_standard_error)
        if isinstance(self.lams, numbers.Integral | str | None):
            check.check_count("lams", self.lams)
            if isinstance(self.lams, numbers.Integral) and int(self.lams) > _most_lams:
                raise PegasosError(f"lams must be at most {_most_lams}, got {self.lams}; a path of 50 to 100 is usual.")
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

    def _lams_of(self, data: Labelled) -> Lams:
        if isinstance(self.lams, numbers.Integral):
            return grid(data.problems(), int(self.lams), self.eps)
        return falling(self.lams)

    def _splits(self, data: Labelled, groups: Any, seed: int) -> list[Split]:
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

    def _terms_of(self, *of_classes: Any, **extent: Any) -> Terms:
        terms = super()._terms_of(*of_classes, **extent)
        # On folds lam is that of the path, and a former fit has no say: only the fit of all rows has one of its own.
        return replace(terms, lam=self._begin[0]) if hasattr(self, "_begin") else terms

    def _warn_of_gaps(self, found: Search) -> None:
        assert self.tol is not None
        missed = int(np.sum(found.gaps > self.tol))
        if missed:
            warnings.warn(
                f"for {missed} of {len(found.gaps)} lams a fit of a fold ended before the gap reached tol={self.tol:g} "
                f"(the largest is {found.gaps.max():.2g}); raise max_iter, raise tol, or scale the features.",
                GapWarning,
                stacklevel=3 + n_frames,
            )

    def _warm_states(self, solvers: Sequence[Any], problems: Sequence[Any], n_rows: list[int], seed: int) -> list[Any]:
        each = zip(solvers, problems, self._begin[1], strict=True)
        return [solver.enter(problem, share * problem.cost, seed) for solver, problem, share in each]
