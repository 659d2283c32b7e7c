"""Paths over lam on the training rows of folds, each lam judged by the rows held out. Folds are views, not copies.

A row keeps its place from fold to fold, nearly: the mean of its dual variables, as a share of its cost, is where a fit
on all rows begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.estimators._path import Labelled, Lams, in_threads
from pegasos.estimators._schemes import Scores, decided
from pegasos.estimators.linear import PegasosClassifier
from pegasos.problem import Floats
from pegasos.solvers.driver import Watcher
from pegasos.solvers.path import follow

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]  # the rows to train on, and those held out
Scorer = Callable[..., Any]

_settings = ("fit_intercept", "intercept_scaling", "class_weight", "tol", "max_iter")  # that a scorer may ask for
_levels = 255  # of a share: enough to begin with


class Shares:
    """The mean over the folds of alpha_i / cost_i, for every lam, problem and row; whole numbers, in any order."""

    def __init__(self, shape: tuple[int, int, int], n_folds: int):
        self._sums = np.zeros(shape, np.min_scalar_type(_levels * n_folds))
        self._counts = np.zeros(shape[2], np.min_scalar_type(n_folds))
        self._lock = Lock()

    def count(self, members: npt.NDArray[np.intp]) -> None:
        """These rows take part in a fold."""
        with self._lock:
            self._counts[members] += 1

    def add(self, which: tuple[int, int], members: npt.NDArray[np.intp], alpha: Floats, cost: Floats) -> None:
        """The dual point of a lam and a problem, by number."""
        share = np.divide(alpha, cost, out=np.zeros(len(members)), where=cost > 0.0)
        with self._lock:
            self._sums[which][members] += np.rint(_levels * share).astype(self._sums.dtype)

    def of(self, lam: int) -> list[npt.NDArray[np.float64]]:
        """The means for a lam, one array a problem; 0 for rows that no fold trained on."""
        return [sums / (_levels * np.maximum(self._counts, 1.0)) for sums in self._sums[lam]]


class Judged(NamedTuple):
    """The scores of one fold, and the largest relative gap of its problems, for every lam."""

    scores: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """What the folds say of every lam."""

    lams: Lams
    scores: npt.NDArray[np.float64]  # (n_folds, n_lams)
    gaps: npt.NDArray[np.float64]  # (n_lams,), the largest of the folds
    shares: Shares

    @property
    def standard_errors(self) -> npt.NDArray[np.float64]:
        """Of the mean of the folds; NaN of a single fold."""
        n_folds, n_lams = self.scores.shape
        if n_folds == 1:
            return np.full(n_lams, np.nan)
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(n_folds))

    def best(self, *, one_standard_error: bool) -> int:
        """The number of the lam with the best mean, the largest of several; or of the largest within its error."""
        mean = self.scores.mean(axis=0)
        best = int(mean.argmax())
        if not one_standard_error:
            return best
        if len(self.scores) == 1:
            raise PegasosError("one_standard_error=True needs two folds at least, and there is one; give cv=5, say.")
        return int(np.argmax(mean >= mean[best] - self.standard_errors[best]))

    def as_table(self) -> dict[str, npt.NDArray[Any]]:
        """In the way of scikit-learn's searches."""
        mean = self.scores.mean(axis=0)
        splits = {f"split{k}_test_score": scores for k, scores in enumerate(self.scores)}
        return {
            "param_lam": self.lams,
            **splits,
            "mean_test_score": mean,
            "std_test_score": self.scores.std(axis=0),
            "standard_error": self.standard_errors,
            "rank_test_score": rankdata(-mean, method="min").astype(np.int32),
            "relative_gap": self.gaps,
        }


def search(data: Labelled, splits: Sequence[Split], lams: Lams, scoring: Any, *, seed: int, n_jobs: Any) -> Search:
    """Follow the path on every fold, in threads; the result does not depend on their number."""
    n_problems = data.model._scheme.n_problems(len(data.classes))
    shares = Shares((len(lams), n_problems, data.rows.n_rows), len(splits))
    judge = partial(_score_of_rows, scoring) if callable(scoring) else partial(_score_of_decisions, _named(scoring))
    plan: dict[str, Any] = {"data": data, "lams": lams, "judge": judge, "shares": shares, "seed": seed}
    tasks = [partial(_fold, split=split, number=k, **plan) for k, split in enumerate(splits)]
    judged = in_threads(tasks, n_jobs)
    return Search(lams, np.array([fold.scores for fold in judged]), np.max([fold.gaps for fold in judged], 0), shares)


def _named(scoring: str | None) -> Scorer:
    try:
        scorer: Scorer = get_scorer(scoring or "accuracy")
    except ValueError as error:
        near = get_close_matches(str(scoring), get_scorer_names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else "sklearn.metrics.get_scorer_names() lists them."
        raise PegasosError(f"scoring={scoring!r} is no metric of scikit-learn; {hint}") from error
    return scorer


def _fold(
    watcher: Watcher, *, data: Labelled, split: Split, number: int, lams: Lams, judge: Any, shares: Shares, seed: int
) -> Judged:
    members, held_out = split
    train, test = data.part(members), data.part(_that_count(data, held_out))
    _check_fold(train, test, number)
    shares.count(members)
    problems, solver = train.problems(), train.solver()
    weights = np.empty((len(lams), len(problems), data.rows.n_features + 1))
    gaps = np.zeros(len(lams))
    for k, problem in enumerate(problems):
        path = follow(problem, solver, lams.tolist(), train.stop, seed=seed, watcher=watcher)
        for j, solution in enumerate(path):
            weights[j, k] = solution.weights
            gaps[j] = max(gaps[j], solution.certificate.relative_gap)
            shares.add((j, k), members, solution.alpha, problem.cost)
    return Judged(np.array([judge(test, of_lam) for of_lam in weights]), gaps)


def _that_count(data: Labelled, members: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return members if data.weights is None else members[data.weights[members] > 0.0]


def _check_fold(train: Labelled, test: Labelled, number: int) -> None:
    missing = np.flatnonzero(train.totals == 0.0)
    if len(missing):
        raise PegasosError(
            f"no row of class {train.classes.tolist()[missing[0]]!r} is left to train on in fold {number}: give more "
            "rows of it, fewer folds, or a cv that keeps the classes together."
        )
    if test.rows.n_rows == 0:
        raise PegasosError(f"fold {number} holds out no row that counts; give fewer folds, or another cv.")


class _Decided(ClassifierMixin, BaseEstimator):
    """Stands for a model in front of a scorer: its decisions are known, so that nobody needs the rows."""

    def __init__(self, classes: npt.NDArray[Any], decisions: Scores):
        self.classes_ = classes
        self._decisions = decisions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Scores:
        return self._decisions

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return decided(self._decisions, self.classes_)


def _score_of_decisions(scorer: Scorer, test: Labelled, weights: npt.NDArray[np.float64]) -> float:
    """From the scores of the rows in place."""
    scores = np.empty((test.rows.n_rows, len(weights)))
    _core.scores(test.rows.native, weights, scores)
    decided = _Decided(test.classes, test.model._scheme.decisions(scores, len(test.classes)))
    weighted = {} if test.weights is None else {"sample_weight": test.weights}
    try:
        # In the place of X, something as long.
        found = scorer(decided, test.codes, test.y, **weighted)
    except (AttributeError, TypeError, ValueError) as error:
        raise PegasosError(f"scoring cannot be computed from the decisions of these rows: {error}") from error
    return _number(found)


def _score_of_rows(scorer: Scorer, test: Labelled, weights: npt.NDArray[np.float64]) -> float:
    """A function of the user may look at anything: it gets a model, and a copy of the rows."""
    model = PegasosClassifier(**{name: getattr(test.model, name) for name in _settings})
    model._prior = None
    model.classes_, model.n_features_in_ = test.classes, test.rows.n_features
    model.__dict__.update(model._weights_as_attributes(weights, None))
    return _number(scorer(model, test.rows.own_values, test.y))


def _number(found: Any) -> float:
    try:
        score = float(found)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"scoring must give one number, got {found!r}.") from error
    if not np.isfinite(score):
        raise PegasosError(f"scoring must give a finite number, got {score}; a fold may have only one class held out.")
    return score
