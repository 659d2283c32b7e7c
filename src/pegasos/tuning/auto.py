"""A classifier that chooses its own scaling, kernel, width and lam within a budget."""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pegasos import checks as check
from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators import layout
from pegasos.estimators.inputs import how_to_read, keeps_on_failure
from pegasos.estimators.items import check_target
from pegasos.estimators.watching import CallbackSupportMixin, with_callbacks
from pegasos.kernels.graph_reading import read_graphs
from pegasos.persistence import Saved
from pegasos.problem import check_structure
from pegasos.tasks.labels import encode, find_classes
from pegasos.tuning.account import account, leaderboard
from pegasos.tuning.kinds import kind_of, kinds
from pegasos.tuning.race import Race
from pegasos.tuning.search import Clock, Search, load_optuna, sampled_order
from pegasos.tuning.space import Space
from pegasos.tuning.trials import Examiner, Fold, Trial
from pegasos.tuning.watching import Onlooker

_few_rows, _most_folds = 400, 25  # fewer rows than this are dealt into folds more than once, into so many in all
# Beginnings of the names of scores that are never above 1.
_at_most_1 = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "f1",
    "jaccard",
    "matthews_corrcoef",
    "precision",
    "recall",
    "roc_auc",
    "top_k_accuracy",
)
_uneven = 1.5  # classes are: the largest has more than this many times the rows of the smallest


class AutoPegasos(Saved, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Support vector machine that chooses scaling, kernel, width and lam itself, within a budget.

    The advice of every lecture as a program: scale, try the linear machine, then a polynomial of low degree, then an
    RBF kernel with a width near the median distance, each with several lam; then go on where it looks promising
    (Optuna's tree-structured Parzen estimator). Settings are compared by cross-validation on the same folds and given
    up as soon as they have lost. Lists of strings, of graphs and of time series are tried with kernels of their own.

    Parameters
    ----------
    time_budget : float or None, default=60
        Seconds for the search. The fit of the winner to all rows comes on top, and is cut after as many seconds again.
    n_trials : int, optional
        Settings to try at most. With ``time_budget=None`` the result depends on ``random_state`` alone.
    scoring : str or callable, optional
        What to maximise, by a name of scikit-learn's; by default the share of right predictions. With anything else
        and uneven classes, ``class_weight="balanced"`` is one of the choices.
    cv : int, splitter or iterable, default=5
        Folds. Fewer where a class has fewer rows; dealt several times, up to 25 in all, where there are fewer than 400
        rows.
    items : {"rows", "strings", "graphs", "series"}, optional
        What X holds; by default what it looks like.
    n_jobs : int, optional
        Threads for the problems of several classes.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1: a line for each setting that has been tried. scikit-learn's ``ProgressBar`` (with rich) counts them too.

    Attributes
    ----------
    best_estimator_ : Pipeline
        Scaling and machine, fitted to all rows; of very many rows with a kernel, to as many as there was time for.
    best_score_ : float
        Mean over the folds.
    best_params_ : dict
        The row of the leaderboard, without what belongs to the search.
    leaderboard_ : list of dict
        One row a setting, the best first; ``pandas.DataFrame(auto.leaderboard_)`` is a table.
    account_ : str
        Why this one won, in words.
    certificate_ : Certificate
        Of the winner's fit.
    n_rows_fitted_ : int
        Rows that the winner was fitted to.
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

    def __init__(
        self,
        time_budget: float | None = 60,
        *,
        n_trials: int | None = None,
        scoring: Any = None,
        cv: Any = 5,
        items: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.time_budget = time_budget
        self.n_trials = n_trials
        self.scoring = scoring
        self.cv = cv
        self.items = items
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @keeps_on_failure
    def fit(self, X: Any, y: Any) -> AutoPegasos:
        """Search, then fit the winner to all rows.

        An interrupt ends the search, not the fit: the best setting so far is the winner.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features), or a list of strings, graphs or time series
        y : array of shape (n_rows,)
        """
        self._check_parameters()
        load_optuna()  # before the clock begins: it takes a while, once a process
        clock = Clock(self.time_budget, perf_counter())
        scorer, metric = _scorer(self.scoring)
        kind = kind_of(X) if self.items is None else self.items
        rows, labels = self._read(X, y, kind)
        classes = find_classes(labels, None)
        codes = encode(labels, classes)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        folds, deal = self._folds(rows, labels, codes, seed)
        weights = self._class_weights(codes)
        rng = np.random.default_rng(seed)
        space = Space.of(rows, kind, len(classes), class_weights=weights, rng=rng)
        counts_hits = self.scoring in (None, "accuracy")  # a function of that name may count something else
        examiner = Examiner(space, rows, labels, folds, scorer, metric, counts_hits, seed, self.n_jobs, kind == "rows")
        race = Race(len(folds), _perfect(metric, self.scoring), deal=deal)
        onlooker = Onlooker(self, X, y)
        search = Search(
            examiner, race, clock, self.n_trials, seed, lambda trial: onlooker.see(trial, race, space, clock)
        )
        search.run()
        self._write(X, labels, codes, search, kind)
        self.classes_ = classes
        onlooker.end()
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each item."""
        return np.asarray(self._fitted(X).predict(X))

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores, as those of the machine that won."""
        return np.asarray(self._fitted(X).decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """The score of the predictions, by ``scoring``."""
        self._fitted(X)
        scorer, _ = _scorer(self.scoring)
        return float(scorer(self.best_estimator_, X, y))

    @property
    def certificate_(self) -> Certificate:
        """What is proved of the winner's fit."""
        check_is_fitted(self, "best_estimator_")
        certificate: Certificate = self.best_estimator_[-1].certificate_
        return certificate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        if self.time_budget is None and self.n_trials is None:
            raise PegasosError("a search needs an end: give time_budget, n_trials, or both.")
        if self.time_budget is not None:
            check.check_positive("time_budget", self.time_budget)
        if self.n_trials is not None:
            check.check_count("n_trials", self.n_trials)
        if isinstance(self.cv, int | np.integer) and (isinstance(self.cv, bool) or self.cv < 2):
            raise PegasosError(f"cv must be a number of folds of at least 2, got {self.cv!r}.")
        if self.items is not None:
            check.check_word("items", self.items, kinds)
        check.check_jobs(self.n_jobs)

    def _read(self, X: Any, y: Any, kind: str) -> tuple[Any, npt.NDArray[Any]]:
        """X and y as the search reads them."""
        if kind == "rows":
            check_structure(X)
            how = how_to_read(X) | {"ensure_all_finite": True}
            rows, labels = validate_data(self, X, y, **how)
            return rows, labels
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        items = read_graphs(X, "label") if kind == "graphs" else list(X)  # graphs once, and not for every kernel
        return items, check_target(X, y)

    def _folds(self, X: Any, y: Any, codes: npt.NDArray[np.intp], seed: int) -> tuple[list[Fold], int]:
        """The folds, each in an order in which every beginning is a fair sample; and how many of them are one deal."""
        deal = 0
        if isinstance(self.cv, int | np.integer):
            counts = np.bincount(codes)
            rarest = int(counts.argmin())
            if counts[rarest] < 2:
                single = y[codes == rarest].tolist()[0]
                raise PegasosError(
                    f"class {single!r} has a single row, which cannot be both learnt from and asked about; leave it "
                    "out, or find more of its kind."
                )
            n_splits = min(int(self.cv), int(counts[rarest]))
            n_repeats = min(-(-_few_rows // len(y)), max(1, _most_folds // n_splits))
            deal = n_splits if n_repeats > 1 else 0
            splitter: Any = RepeatedStratifiedKFold(n_splits=n_splits, n_repeats=n_repeats, random_state=seed)
        else:
            splitter = check_cv(self.cv, y, classifier=True)
        rng = np.random.default_rng(seed)
        parts = splitter.split(np.zeros(len(y)), y)
        return [(*(part[sampled_order(codes[part], rng)] for part in pair),) for pair in parts], deal

    def _class_weights(self, codes: npt.NDArray[np.intp]) -> tuple[str | None, ...]:
        """Balancing pays where another score than the share of hits meets uneven classes."""
        counts = np.bincount(codes)
        is_asked_for = self.scoring not in (None, "accuracy") and counts.max() > _uneven * counts.min()
        return (None, "balanced") if is_asked_for else (None,)

    def _write(self, X: Any, y: Any, codes: npt.NDArray[np.intp], search: Search, kind: str) -> None:
        """Fit the winner, and every fitted attribute."""
        race, space = search.race, search.examiner.space
        best = race.winner
        if best is None:
            raise KeyboardInterrupt("interrupted before any setting had been tried.")
        seconds = search.clock.spent
        chosen = self._rows_of_refit(codes, best, search)
        # Dense rows as they came, with the names of their columns; sparse ones as read: not all layouts have rows.
        collection = X if kind == "rows" and not sp.issparse(X) else search.examiner.X
        pipeline = space.pipeline(
            best.setting,
            len(chosen),
            time_budget=self.time_budget,
            n_jobs=self.n_jobs,
            random_state=search.seed,
        )
        is_whole = len(chosen) == len(y)
        begun = perf_counter()
        pipeline.fit(collection if is_whole else _safe_indexing(collection, chosen), y[chosen] if not is_whole else y)
        self.best_estimator_, self.n_rows_fitted_ = pipeline, len(chosen)
        self.best_score_ = best.mean
        self.best_params_ = {key: value for key, value in space.as_row(best.setting).items() if value is not None}
        self.leaderboard_ = leaderboard(race, space)
        whole = "all" if is_whole else f"{len(chosen)} of the"
        self.account_ = (
            account(race, space, metric=search.examiner.metric, reason=search.reason, seconds=seconds)
            + f" Fitted to {whole} {len(y)} rows in {perf_counter() - begun:.1f} s: {pipeline[-1].certificate_}."
        )

    def _rows_of_refit(self, codes: npt.NDArray[np.intp], best: Trial, search: Search) -> npt.NDArray[np.intp]:
        """All rows, or as many of them as a kernel can be fitted to in the time of the search."""
        n_rows = len(codes)
        foreseen = best.fit_seconds * search.growth_of_time(best, n_rows)
        if self.time_budget is None or foreseen <= self.time_budget or search.examiner.space.is_linear(best.setting):
            return np.arange(n_rows)
        affordable = int(n_rows * math.sqrt(self.time_budget / foreseen))
        order = sampled_order(codes, np.random.default_rng(search.seed))
        return np.sort(order[: max(affordable, best.n_rows)])

    def _fitted(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        if hasattr(self, "n_features_in_"):
            validate_data(self, X, reset=False, **how_to_read(X), skip_check_array=True)
        return self.best_estimator_


def _scorer(scoring: Any) -> tuple[Any, str]:
    """The scorer and its name."""
    if callable(scoring):
        return scoring, getattr(scoring, "__name__", "score")
    name = "accuracy" if scoring is None else scoring
    try:
        return get_scorer(name), name
    except (ValueError, TypeError) as error:
        raise PegasosError(
            f"scoring must be a name that sklearn.metrics.get_scorer_names() lists, or a function of a model, X and y, "
            f"got {scoring!r}."
        ) from error


def _perfect(metric: str, scoring: Any) -> float:
    """The highest score there can be; infinite where that is not known, so that no search ends too early."""
    if callable(scoring):
        return math.inf
    if metric.startswith("neg_"):
        return 0.0
    return 1.0 if metric.startswith(_at_most_1) else math.inf
