"""What the estimators share that choose their own settings: the search, the fit of the winner, its attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted, validate_data

from pegasos import checks as check
from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators.inputs import keeps_on_failure
from pegasos.estimators.watching import CallbackSupportMixin, with_callbacks
from pegasos.kernels.graph_reading import read_graphs
from pegasos.machines.inputs import check_weights, how_to_read
from pegasos.persistence import Saved
from pegasos.problem import check_structure
from pegasos.tuning.account import account, leaderboard
from pegasos.tuning.columns import check_texts, columns_of, texts_of
from pegasos.tuning.folds import dealt, given_folds
from pegasos.tuning.kinds import kind_of, kinds
from pegasos.tuning.race import Race
from pegasos.tuning.refit import affordable_rows, beside_a_guess
from pegasos.tuning.scoring import highest, scorer_of
from pegasos.tuning.search import Clock, Search, load_optuna
from pegasos.tuning.space import Space
from pegasos.tuning.trials import Examiner
from pegasos.tuning.watching import Onlooker

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Aim:
    """What the targets mean for a search.

    Attributes
    ----------
    strata : integer array, the group of each row that folds and samples keep in proportion
    n_classes : int, 0 for a regression
    metric : str, the name of the score
    why : str, why this score; empty where the user chose it
    class_weights : those in question
    spread : float, of the targets of a regression, or None
    guess : an estimator that looks at no feature, to compare with
    """

    strata: Codes
    n_classes: int
    metric: str
    why: str
    class_weights: tuple[str | None, ...]
    spread: float | None
    guess: Any


@dataclass(eq=False, repr=False, kw_only=True)
class Automatic(Saved, CallbackSupportMixin, ABC):
    """An estimator that searches for its settings; a subclass says what y means."""

    time_budget: float | None = field(default=60, kw_only=False)
    n_trials: int | None = None
    scoring: Any = None
    cv: Any = 5
    items: str | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @with_callbacks
    @keeps_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search, then fit the winner to all rows.

        An interrupt ends the search, not the fit: the best setting so far is the winner.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features), a data frame, or a list of strings, graphs or time series
            Columns of a frame are read by their type: numbers are standardized, categories become one indicator each,
            texts are counted by word (tf-idf).
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            A weight of 2 counts as two rows, in the fits and in the scores.
        """
        self._check_parameters()
        load_optuna()  # before the clock begins: it takes a while, once a process
        clock = Clock(self.time_budget, perf_counter())
        kind = kind_of(X) if self.items is None else self.items
        columns = columns_of(X) if kind == "rows" else None
        rows, target = self._read(X, y, kind, columns)
        weights = check_weights(sample_weight, len(target))
        everyone, counts = target, np.arange(len(target))
        if weights is not None and not weights.all():
            counts = np.flatnonzero(weights > 0.0)
            if len(counts) == 0:
                raise PegasosError("sample_weight is zero for every row: give at least some rows a weight.")
            X, rows = (_safe_indexing(each, counts) for each in (X, rows))
            target, weights = target[counts], weights[counts]
        aim = self._aim(target, weights)
        scorer, metric = scorer_of(aim.metric if self.scoring is None else self.scoring)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        given = None if isinstance(self.cv, int | np.integer) else given_folds(self.cv, everyone, counts)
        folds, deal = dealt(self.cv, target, aim.strata, seed, given)
        rng = np.random.default_rng(seed)
        of_aim: dict[str, Any] = {"class_weights": aim.class_weights, "spread": aim.spread}
        space = Space.of(rows, kind, aim.n_classes, rng=rng, **of_aim)
        counts_hits = not callable(self.scoring) and metric == "accuracy"
        examiner = Examiner(space, rows, target, folds, scorer, metric, counts_hits, seed, self.n_jobs, weights)
        race = Race(len(folds), highest(metric, self.scoring), deal=deal)
        onlooker = Onlooker(self, X, y)
        search = Search(
            examiner, race, clock, self.n_trials, seed, lambda trial: onlooker.see(trial, race, space, clock)
        )
        search.run()
        # Dense rows as they came, with the names of their columns; sparse ones as read: not all layouts have rows.
        collection = X if kind == "rows" and not sp.issparse(X) else rows
        self._write(collection, search, aim, columns)
        onlooker.end()
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The answer for each item."""
        return np.asarray(self._fitted(X).predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the predictions, by ``scoring_``."""
        self._fitted(X)
        scorer, _ = scorer_of(self.scoring_ if self.scoring is None else self.scoring)
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(scorer(self.best_estimator_, X, y, **weighted))

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate of the winner from the rows of the fit, trusting no solver.

        Parameters
        ----------
        X, y, sample_weight
            Those of the fit, in the same order.
        """
        self._fitted(X)
        if sample_weight is not None and not np.all(sample_weight):
            counts = np.flatnonzero(sample_weight)
            X, y, sample_weight = (_safe_indexing(each, counts) for each in (X, y, sample_weight))
        if len(y) != self.n_rows_fitted_:
            raise PegasosError(
                f"the winner was fitted to {self.n_rows_fitted_} rows, and these are {len(y)}: certify the rows of "
                "the fit; where there was time for a part of them only, raise time_budget."
            )
        machine, rows = self._machine_and_rows(X)
        certificate: Certificate = machine.certify(rows, y, sample_weight)
        return certificate

    def _machine_and_rows(self, X: Any) -> tuple[Any, Any]:
        """The machine of the winner, and what the steps before it make of X."""
        pipeline = self._fitted(X)
        return pipeline[-1], pipeline[:-1].transform(X) if len(pipeline) > 1 else X

    @property
    def lam_(self) -> Any:
        """The lam of the winner's fit."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_[-1].lam_

    @property
    def trace_(self) -> Any:
        """The trace of the winner's fit."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_[-1].trace_

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the winner's fit."""
        check_is_fitted(self, "best_estimator_")
        certificate: Certificate = self.best_estimator_[-1].certificate_
        return certificate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _aim(self, target: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None) -> Aim:
        """What these targets mean for the search."""

    @abstractmethod
    def _check_target(self, X: Any, y: Any) -> npt.NDArray[Any]:
        """Y as an array, one entry per item."""

    def _of_refit(self) -> dict[str, Any]:
        """Parameters of the winner's fit that the search does without."""
        return {}

    def _check_parameters(self) -> None:
        if self.time_budget is None and self.n_trials is None:
            raise PegasosError("a search needs a limit: give time_budget, n_trials, or both.")
        if self.time_budget is not None:
            check.check_positive("time_budget", self.time_budget)
        if self.n_trials is not None:
            check.check_count("n_trials", self.n_trials)
        if isinstance(self.cv, int | np.integer) and (isinstance(self.cv, bool) or self.cv < 2):
            raise PegasosError(f"cv must be a number of folds of at least 2, got {self.cv!r}.")
        if self.items is not None:
            check.check_word("items", self.items, kinds)
        check.check_jobs(self.n_jobs)
        if self.scoring is not None:
            scorer_of(self.scoring)

    def _read(self, X: Any, y: Any, kind: str, columns: Any) -> tuple[Any, npt.NDArray[Any]]:
        """X and y as the search reads them."""
        if columns is not None:
            _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            target = self._check_target(X, y)
            return columns.fit_transform(X), target
        if kind == "rows":
            check_structure(X)
            how = how_to_read(X) | {"ensure_all_finite": True}
            rows, labels = validate_data(self, X, y, **how, **self._how_to_read_target())
            return rows, labels
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        items = read_graphs(X, "label") if kind == "graphs" else list(X)  # graphs once, and not for every kernel
        return items, self._check_target(X, y)

    def _how_to_read_target(self) -> dict[str, Any]:
        return {}

    def _write(self, X: Any, search: Search, aim: Aim, columns: Any) -> None:
        """Fit the winner, and every fitted attribute."""
        race, examiner = search.race, search.examiner
        space, y = examiner.space, examiner.y
        best = race.winner
        if best is None:
            raise KeyboardInterrupt("interrupted before any setting had been tried.")
        seconds = search.clock.spent
        chosen = affordable_rows(aim.strata, best, search)
        weights = None if examiner.weights is None else examiner.weights[chosen]
        pipeline = space.pipeline(
            best.setting,
            len(chosen) if weights is None else float(weights.sum()),
            time_budget=self.time_budget,
            n_jobs=self.n_jobs,
            random_state=search.seed,
            **self._of_refit(),
        )
        if columns is not None:
            pipeline.steps.insert(0, ("columns", columns))
        is_whole = len(chosen) == len(y)
        begun = perf_counter()
        weighted = {} if weights is None else {f"{pipeline.steps[-1][0]}__sample_weight": weights}
        pipeline.fit(X if is_whole else _safe_indexing(X, chosen), y if is_whole else y[chosen], **weighted)
        self.best_estimator_, self.n_rows_fitted_ = pipeline, len(chosen)
        self.best_score_, self.scoring_ = best.mean, examiner.metric
        self.best_params_ = {key: value for key, value in space.as_row(best.setting).items() if value is not None}
        self.leaderboard_ = leaderboard(race, space)
        self._note_of_targets(aim)
        whole = "all" if is_whole else f"{len(chosen)} of the"
        self.account_ = (
            account(race, space, metric=examiner.metric, reason=search.reason, seconds=seconds)
            + ("" if self.scoring is not None or not aim.why else f" Scores are {aim.metric}, since {aim.why}.")
            + beside_a_guess(examiner, aim.guess)
            + f" Fitted to {whole} {len(y)} rows in {perf_counter() - begun:.1f} s: {pipeline[-1].certificate_}."
        )

    def _note_of_targets(self, aim: Aim) -> None:
        """The attributes that tell of y."""

    def _fitted(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        if hasattr(self, "n_features_in_"):
            reads_columns = self.best_estimator_.steps[0][0] == "columns"
            validate_data(self, X, reset=False, **({} if reads_columns else how_to_read(X)), skip_check_array=True)
            if reads_columns:
                check_texts(X, texts_of(self.best_estimator_.steps[0][1]))
        return self.best_estimator_
