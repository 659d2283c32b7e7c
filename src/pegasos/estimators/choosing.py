"""What estimators share that choose lam by cross-validation."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv

from pegasos import checks as check
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators.certified import Evidence
from pegasos.estimators.inputs import check_room_for_weights, keeps_on_failure
from pegasos.estimators.measuring import MeasuresRows
from pegasos.estimators.parameters import DEFAULT_LAM, CommonParameters
from pegasos.estimators.reading import ReadsRows
from pegasos.estimators.warnings import GapWarning, GridWarning
from pegasos.estimators.watching import Onlookers, with_callbacks
from pegasos.fitting import Fit, SharesStart, fit
from pegasos.fitting.folds import LamSearch, Split, search
from pegasos.fitting.path import LabelledRows, Lams, check_grid, falling, grid
from pegasos.machines import Data

_MOST_LAMS = 100_000
_LAMS_PER_EXTENSION = 4  # tried at a time beyond the smallest of the grid
_MOST_EXTENSIONS = 6
_LAMS_AT_END = 2  # scores are noisy: the best need not be the very last while they still rise
_NOISE = 0.1  # of tol: relative differences of scores below this say nothing


def _gain_at_end(found: LamSearch) -> float:
    """By which share the best mean score of the smallest lams exceeds that of all others."""
    mean = found.scores.mean(axis=0)
    n_last = min(_LAMS_AT_END, len(mean) - 1)
    best = mean[-n_last:].max()
    return float((best - mean[:-n_last].max()) / max(abs(best), np.finfo(float).tiny))


@dataclass(eq=False, repr=False, kw_only=True)
class ChoiceParameters(CommonParameters):
    """How lam is chosen."""

    lams: Any = field(default=10, kw_only=False)
    regularize_intercept: bool = True
    eps: float = 1e-5
    cv: Any = 5
    holdout: float | None = None
    scoring: Any = None
    one_standard_error: bool = False
    tol: float = 1e-3
    max_iter: int | None = 100_000

    @property
    def _is_free(self) -> bool:
        """Whether there is an intercept that is not regularized."""
        return bool(self.fit_intercept and not self.regularize_intercept)

    def _check_choice(self) -> None:
        self._check_common()
        check.check_flag("regularize_intercept", self.regularize_intercept)
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


class ChoosesLam(ReadsRows, MeasuresRows, ChoiceParameters):
    """A linear estimator whose lam is chosen on folds; a subclass says which estimator, and which tasks compete."""

    lam_: float
    lams_: Lams
    scores_: Any
    cv_results_: dict[str, Any]
    _is_classifier: bool
    _fitted_type: type
    _passed_on: tuple[str, ...]  # its parameters beside the common ones

    @with_callbacks
    @keeps_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
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
        data = self._read(X, y, sample_weight, reset=True)
        searches, found, chosen = self._search(data, groups)
        lam = float(found.lams[chosen])
        settings = self._settings(lam)
        start, audience = SharesStart(found.shares.of(chosen)), Onlookers.of(self, X, y, settings.max_iter)
        self._write(fit(self._machine(), found.task, settings, data, start=start, audience=audience))
        self._evidence = Evidence(X, y, sample_weight)
        self.lam_, self.lams_ = lam, np.concatenate([each.lams for each in searches])
        self.scores_ = np.concatenate([each.scores for each in searches], axis=1)
        self.cv_results_ = self._table(searches)
        self._warn_of_gap()
        return self

    @property
    def C_(self) -> float:  # noqa: N802
        """The chosen lam as C = 1 / (lam N)."""
        return float(1.0 / (self.lam_ * self.fitted_.task.total))

    @property
    def best_score_(self) -> float:
        """The mean score of the chosen setting over the folds."""
        return float(self.scores_.mean(axis=0)[np.flatnonzero(self._is_chosen())[0]])

    def _is_chosen(self) -> Any:
        """For each candidate: whether it is the one that was chosen."""
        return self.lams_ == self.lam_

    def _estimator(self, lam: float = DEFAULT_LAM) -> Any:
        """The estimator with the parameters of this one, which is fitted for every lam."""
        names = *(field.name for field in fields(CommonParameters)), "regularize_intercept", *self._passed_on
        return self._fitted_type(lam, **{name: getattr(self, name) for name in names})

    def _tasks(self, data: Data) -> list[Any]:
        """The tasks that compete."""
        return [self._task()]

    def _task(self, name: str | None = None) -> Any:
        return self._estimator()._task(name)

    def _settings(self, lam: float | None = None) -> Any:
        return self._estimator(getattr(self, "lam_", DEFAULT_LAM) if lam is None else lam)._settings()

    def _table(self, searches: list[LamSearch]) -> dict[str, Any]:
        return searches[0].as_table()

    def _search(self, data: Data, groups: Any) -> tuple[list[LamSearch], LamSearch, int]:
        """The scores of all lams on all folds for each task, the best of these, and the number of its lam."""
        settings, tasks = self._estimator()._settings(), self._tasks(data)
        labelled = LabelledRows.read(tasks[0], settings, data)
        seed = settings.draw_seed()
        splits = self._splits(labelled, groups, seed)
        check_room_for_weights(labelled.rows.n_features, (len(splits) + 2) * labelled.task.n_problems)
        searches = []
        for task in tasks:
            rows = labelled.with_task(task)
            scored = partial(search, rows, splits, scoring=self.scoring, estimator_of=self._scored, seed=seed)
            found = scored(self._lams_of(rows))
            if isinstance(self.lams, numbers.Integral) and len(found.lams) > 1:
                found = self._extended(found, scored)
            searches.append(found)
        best = max(searches, key=lambda each: each.scores.mean(axis=0).max())
        chosen = best.best(one_standard_error=self.one_standard_error)
        self._warn_of_gaps(np.concatenate([each.gaps for each in searches]))
        return searches, best, chosen

    def _extended(self, found: LamSearch, scored: Callable[[Lams], LamSearch]) -> LamSearch:
        """The search, continued with smaller lams while the best is at the end."""
        ratio, least = found.lams[1] / found.lams[0], _NOISE * self.tol
        n_extensions = 0
        while _gain_at_end(found) > least:
            if n_extensions == _MOST_EXTENSIONS:
                warn_caller(
                    f"the best lam is at the end of {len(found.lams)}, near {found.lams[-1]:.2g}: smaller ones may be "
                    "better still. Scale the features, or give lams.",
                    GridWarning,
                )
                break
            more = scored(found.lams[-1] * ratio ** np.arange(1, _LAMS_PER_EXTENSION + 1))
            if not (more.gaps <= self.tol).all():  # so small a lam leaves nothing to prove: the grid is long enough
                break
            found = found.joined(more)
            n_extensions += 1
        return found

    def _scored(self, fitted: Fit) -> Any:
        """The model of a fold, for a scorer that looks at more than its decisions."""
        estimator = self._estimator()
        estimator._write(fitted)
        estimator.n_features_in_ = fitted.model.vectors["coef"].shape[1]
        return estimator

    def _lams_of(self, labelled: LabelledRows) -> Lams:
        if isinstance(self.lams, numbers.Integral):
            return grid(labelled.lanes(), int(self.lams), self.eps)
        return falling(self.lams)

    def _splits(self, data: LabelledRows, groups: Any, seed: int) -> list[Split]:
        numbers_of_rows = np.arange(data.rows.n_rows)
        once = StratifiedShuffleSplit if self._is_classifier else ShuffleSplit
        try:
            if self.holdout is not None:
                cv: Any = once(1, test_size=self.holdout, random_state=seed)
            else:
                cv = check_cv(self.cv, data.y, classifier=self._is_classifier)
            splits = list(cv.split(data.rows.values, data.y, groups))
            # Numbers of rows or masks.
            found = [(numbers_of_rows[train], numbers_of_rows[test]) for train, test in splits]
        except (IndexError, TypeError, ValueError) as error:
            how = f"holdout={self.holdout!r}" if self.holdout is not None else f"cv={self.cv!r}"
            raise PegasosError(f"{how} cannot split these {data.rows.n_rows} rows: {error}") from error
        if not found:
            raise PegasosError(f"cv={self.cv!r} has no folds.")
        return found

    def _warn_of_gaps(self, gaps: Any) -> None:
        tol = self.tol
        missed = int(np.sum(gaps > tol))
        if missed:
            warn_caller(
                f"for {missed} of {len(gaps)} lams a fit of a fold ended before the gap reached tol={tol:g} "
                f"(the largest is {gaps.max():.2g}); raise max_iter, raise tol, or scale the features.",
                GapWarning,
            )
