"""Paths over lam on the training rows of folds, each lam scored on the rows held out. Folds are views, not copies.

The dual variable of a row is similar in every fold; the fit on all rows starts from its mean, as a fraction of the
row's cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.fitting.path import LabelledRows, Lams, in_threads
from pegasos.fitting.result import Fit
from pegasos.machines.base import Data
from pegasos.machines.linear import Linear
from pegasos.problem import Floats
from pegasos.solvers.driver import Model as Point
from pegasos.solvers.driver import Watcher
from pegasos.tasks import Scores

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]  # training rows, held-out rows
Scorer = Callable[..., Any]

_LEVELS = 255  # resolution of a stored fraction: enough for a starting point
_LARGEST_SHARE = 8.0  # largest stored fraction for a loss without a cap: larger ones would not be a better start


class Shares:
    """Mean over the folds of alpha_i / cost_i, per lam, problem and row; stored as integers, so order is irrelevant."""

    def __init__(self, shape: tuple[int, int, int], n_folds: int, cap: float = 1.0):
        self._most = min(cap, _LARGEST_SHARE)
        self._sums = np.zeros(shape, np.min_scalar_type(math.ceil(_LEVELS * n_folds * self._most)))
        self._counts = np.zeros(shape[2], np.min_scalar_type(n_folds))
        self._lock = Lock()

    def count(self, members: npt.NDArray[np.intp]) -> None:
        """Count these rows of a problem as training rows of a fold."""
        with self._lock:
            self._counts[members] += 1

    def add(self, which: tuple[int, int], members: npt.NDArray[np.intp], alpha: Floats, cost: Floats) -> None:
        """Add the dual point of a lam and a problem, given by their indices."""
        share = np.divide(alpha, cost, out=np.zeros(len(members)), where=cost > 0.0)
        with self._lock:
            self._sums[which][members] += np.rint(_LEVELS * np.minimum(share, self._most)).astype(self._sums.dtype)

    def joined(self, other: Shares) -> Shares:
        """Combine the lams of both, for the same folds."""
        both = Shares((0, 0, len(self._counts)), 1)
        both._sums, both._counts = np.concatenate([self._sums, other._sums]), self._counts
        return both

    def of(self, lam: int) -> list[npt.NDArray[np.float64]]:
        """The means for a lam, one array per problem; 0 for rows that no fold trained on."""
        return [sums / (_LEVELS * np.maximum(self._counts, 1.0)) for sums in self._sums[lam]]


class Judged(NamedTuple):
    """The scores of one fold, and the largest relative gap of its problems, for every lam."""

    scores: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]


@dataclass(frozen=True)
class LamSearch:
    """The scores of every lam on all folds."""

    task: Any  # the task before it has seen targets
    lams: Lams
    scores: npt.NDArray[np.float64]  # (n_folds, n_lams)
    gaps: npt.NDArray[np.float64]  # (n_lams,), the largest over the folds
    shares: Shares

    def joined(self, other: LamSearch) -> LamSearch:
        """Append the search of smaller lams on the same folds."""
        return LamSearch(
            self.task,
            np.concatenate([self.lams, other.lams]),
            np.concatenate([self.scores, other.scores], axis=1),
            np.concatenate([self.gaps, other.gaps]),
            self.shares.joined(other.shares),
        )

    @property
    def standard_errors(self) -> npt.NDArray[np.float64]:
        """The standard error of the mean over the folds; NaN for a single fold."""
        n_folds, n_lams = self.scores.shape
        if n_folds == 1:
            return np.full(n_lams, np.nan)
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(n_folds))

    def best(self, *, one_standard_error: bool) -> int:
        """Index of the lam with the best mean, the largest on ties; or of the largest lam within one standard error."""
        mean = self.scores.mean(axis=0)
        best = int(mean.argmax())
        if not one_standard_error:
            return best
        if len(self.scores) == 1:
            raise PegasosError("one_standard_error=True needs two folds at least, and there is one; give cv=5, say.")
        return int(np.argmax(mean >= mean[best] - self.standard_errors[best]))

    def as_table(self) -> dict[str, npt.NDArray[Any]]:
        """The table in the format of scikit-learn's searches."""
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


def search(
    data: LabelledRows,
    splits: Sequence[Split],
    lams: Lams,
    scoring: Any,
    *,
    estimator_of: Callable[[Fit], Any],
    seed: int,
) -> LamSearch:
    """Follow the path on every fold, in threads; the result does not depend on their number.

    ``estimator_of`` makes the estimator that a callable ``scoring`` gets.
    """
    n_jobs = data.settings.n_jobs
    n_rows = data.task.rows_per_problem(data.rows.n_rows)
    shares = Shares((len(lams), data.task.n_problems, n_rows), len(splits), data.settings.loss.cap)
    of_rows = partial(_score_of_rows, scoring, estimator_of)
    judge = of_rows if callable(scoring) else partial(_score_of_decisions, _named(scoring or data.task.metric))
    plan: dict[str, Any] = {"data": data, "lams": lams, "judge": judge, "shares": shares, "seed": seed}
    tasks = [partial(_fold, split=split, number=k, **plan) for k, split in enumerate(splits)]
    judged = in_threads(tasks, n_jobs)
    scores, gaps = np.array([fold.scores for fold in judged]), np.max([fold.gaps for fold in judged], 0)
    return LamSearch(data.task, lams, scores, gaps, shares)


def _named(scoring: str) -> Scorer:
    try:
        scorer: Scorer = get_scorer(scoring)
    except ValueError as error:
        near = get_close_matches(str(scoring), get_scorer_names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else "sklearn.metrics.get_scorer_names() lists them."
        raise PegasosError(f"scoring={scoring!r} is not a metric of scikit-learn; {hint}") from error
    return scorer


def _fold(
    watcher: Watcher,
    *,
    data: LabelledRows,
    split: Split,
    number: int,
    lams: Lams,
    judge: Any,
    shares: Shares,
    seed: int,
) -> Judged:
    members, held_out = split
    train, test = data.part(members), data.part(_that_count(data, held_out))
    train.task.check_fold(number)
    if test.rows.n_rows == 0:
        raise PegasosError(f"fold {number} holds out no row with a positive weight; give fewer folds, or another cv.")
    n_sides = data.task.rows_per_problem(1)
    of_problem = np.concatenate([members + side * data.rows.n_rows for side in range(n_sides)])
    shares.count(of_problem)
    lanes, solver, stop = train.lanes(), train.solver(), train.settings.stop()
    weights = np.empty((len(lams), len(lanes), data.rows.n_features + 1))
    gaps, intercepts = np.zeros(len(lams)), np.zeros((len(lams), len(lanes)))
    for k, lane in enumerate(lanes):
        for j, solution in enumerate(lane.follow(solver, lams, stop, seed=seed, watcher=watcher)):
            weights[j, k], intercepts[j, k] = solution.weights, solution.intercept
            gaps[j] = max(gaps[j], solution.certificate.relative_gap)
            shares.add((j, k), of_problem, solution.alpha, lane.problem.cost)
    found = [judge(test, of_lam, free) for of_lam, free in zip(weights, intercepts, strict=True)]
    return Judged(np.array(found), gaps)


def _that_count(data: LabelledRows, members: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return members if data.weights is None else members[data.weights[members] > 0.0]


class _Decided(BaseEstimator):
    """Stands in for a model in a scorer: its decisions are known, so no rows are needed."""

    def __init__(self, task: Any, decisions: Scores):
        self._task, self._decisions = task, decisions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = self._task.answer(self._decisions)
        return found


class _DecidedNumbers(RegressorMixin, _Decided):
    pass


class _DecidedClasses(ClassifierMixin, _Decided):
    def __init__(self, task: Any, decisions: Scores):
        super().__init__(task, decisions)
        self.classes_ = task.classes

    def decision_function(self, X: Any) -> Scores:
        return self._decisions


def _score_of_decisions(
    scorer: Scorer, test: LabelledRows, weights: npt.NDArray[np.float64], intercepts: npt.NDArray[np.float64]
) -> float:
    """Compute the score from the decisions on rows in place."""
    scores = np.empty((test.rows.n_rows, len(weights)))
    _core.scores(test.rows.native, weights, scores)
    scores += intercepts
    decided = (_DecidedClasses if hasattr(test.task, "classes") else _DecidedNumbers)(
        test.task, test.task.decisions(scores)
    )
    weighted = {} if test.weights is None else {"sample_weight": test.weights}
    try:
        # A placeholder of the same length instead of X.
        found = scorer(decided, test.target, test.y, **weighted)
    except (AttributeError, TypeError, ValueError) as error:
        raise PegasosError(f"scoring cannot be computed from the decisions of these rows: {error}") from error
    return _number(found)


def _score_of_rows(
    scorer: Scorer,
    estimator_of: Callable[[Fit], Any],
    test: LabelledRows,
    weights: npt.NDArray[np.float64],
    intercepts: npt.NDArray[np.float64],
) -> float:
    """Call a user function, which may use anything: it gets a model and a copy of the rows."""
    points = [Point(each, float(free)) for each, free in zip(weights, intercepts, strict=True)]
    model = Linear().model_of(points, [], Data(None), prior=None, bias=test.settings.bias)
    return _number(scorer(estimator_of(Fit(model, test.task)), test.rows.own_values, test.y))


def _number(found: Any) -> float:
    try:
        score = float(found)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"scoring must give one number, got {found!r}.") from error
    if not np.isfinite(score):
        raise PegasosError(f"scoring must give a finite number, got {score}; a fold may have only one class held out.")
    return score
