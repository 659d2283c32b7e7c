"""One fit and its score: a setting, trained on some rows of a fold, asked about the others.

A fit is loose first. Only where its score could make the setting the best one is it tightened, and not even then if
the certificate shows that it stays ahead of the best on this fold: an exact solution predicts every certified row
alike, so those rows bound how far the score can still move. By how much it is ahead may still change.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from pegasos.errors import PegasosError
from pegasos.estimators.linear import PegasosClassifier
from pegasos.kernels.precomputed import Tabled
from pegasos.solution import Status
from pegasos.tuning.space import Setting, Space

loose, tight = 5e-2, 1e-3  # relative gaps
_FEWEST_ASKED = 1000  # rows that a sample's score is taken on
_MOST_ITEMS = 3000  # whose kernel matrix is kept
_KEPT_BYTES = 1 << 29  # of matrices
_SHARE_OF_FITS = 3.0  # how many times the limit of a fit a matrix may take: all its folds and lam share it

Indices = npt.NDArray[np.intp]
Fold = tuple[Indices, Indices]  # to train on, to be asked about


@dataclass(frozen=True)
class Mark:
    """What one fit was worth."""

    score: float
    seconds: float
    is_cut: bool = False  # whether the time ended before the loose gap was reached
    is_proved: bool = False  # whether an exact solution is certain to exceed the rival, too
    is_interrupted: bool = False


@dataclass
class Trial:
    """A setting and what is known of it; ``asked`` is the trial of Optuna's that it answers."""

    asked: Any
    setting: Setting
    climbed: list[tuple[int, float]] = field(default_factory=list)  # rows, score: on the first fold
    scores: list[float] = field(default_factory=list)  # of the folds, with n_rows to train on
    n_rows: int = 0
    seconds: float = 0.0
    fit_seconds: float = 0.0  # of the last fit
    n_proved: int = 0
    is_cut: bool = False  # whether the last fit on the first fold was
    ended_at: float = 0.0
    verdict: str = ""
    is_finished: bool = False

    @property
    def number(self) -> int:
        """In the order of asking."""
        return int(self.asked.number)

    @property
    def has_failed(self) -> bool:
        """Whether these rows do not allow the setting: then a fit to all of them would fail, too."""
        return self.verdict.startswith("failed")

    @property
    def mean(self) -> float:
        """Over the folds so far; before the first one, the score of the last sample, if any."""
        if self.scores:
            return float(np.mean(self.scores))
        return self.climbed[-1][1] if self.climbed else -np.inf


@dataclass
class Examiner:
    """The data of a search, and how a setting is examined on it.

    Attributes
    ----------
    folds : the rows to train on, of which every beginning is a fair sample, and those to be asked about
    scorer : callable of a fitted model, X and y
    metric : its name
    counts_hits : bool
        Whether the score is the share of right predictions.
    weights : sample weights, or None
    """

    space: Space
    X: Any
    y: npt.NDArray[Any]
    folds: Sequence[Fold]
    scorer: Callable[[Any, Any, Any], float]
    metric: str
    counts_hits: bool
    seed: int
    n_jobs: int | None
    weights: npt.NDArray[np.float64] | None = None
    matrices: OrderedDict[str, npt.NDArray[np.float64]] = field(default_factory=OrderedDict)

    def examine(self, setting: Setting, fold: int, n_rows: int, *, limit: float | None, rival: float) -> Mark:
        """The score of a setting on a fold; where it may exceed the rival's, of a tight fit."""
        begun = perf_counter()
        train, test = self.folds[fold]
        train, test = train[:n_rows], test[: max(_FEWEST_ASKED, n_rows)]
        y = self.y[train]
        weighted = {} if self.weights is None else {"sample_weight": self.weights[train]}
        model, rows, asked = self._prepare(setting, train, test, limit)
        model.set_params(tol=loose, time_budget=limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a fit did not reach is in its status
            model.fit(rows, y, **weighted)
            score = self._score(model, asked, test)
            is_cut, is_interrupted = (_ended(model, why) for why in (Status.TIME, Status.INTERRUPTED))
            is_settled = not (is_cut or is_interrupted) and self._is_settled(model, asked, test, score, rival)
            if score > rival and not (is_cut or is_interrupted or is_settled):
                left = None if limit is None else max(0.0, limit - (perf_counter() - begun))
                model.set_params(tol=tight, warm_start=True, time_budget=left).fit(rows, y, **weighted)
                score = self._score(model, asked, test)
                is_interrupted = _ended(model, Status.INTERRUPTED)
        return Mark(score, perf_counter() - begun, is_cut, is_settled, is_interrupted)

    def _prepare(self, setting: Setting, train: Indices, test: Indices, limit: float | None) -> tuple[Any, Any, Any]:
        """The machine, the scaled rows to train on and those to be asked about."""
        n_rows = len(train) if self.weights is None else float(self.weights[train].sum())
        model = self.space.machine(setting, n_rows, random_state=self.seed, n_jobs=self.n_jobs)
        if self.space.families[setting.family].is_of_items and len(self.y) <= _MOST_ITEMS:
            return model.set_params(kernel=Tabled(self._matrix(setting, limit))), train, test
        rows, asked = (_safe_indexing(self.X, each) for each in (train, test))
        scaler = self.space.scaler(setting)
        return (model, rows, asked) if scaler is None else (model, scaler.fit_transform(rows), scaler.transform(asked))

    def _matrix(self, setting: Setting, limit: float | None) -> npt.NDArray[np.float64]:
        """The kernel of all items with each other: the folds share it, and so do all lam."""
        kernel: Any = self.space.kernel(setting)
        key = repr(kernel)
        if key not in self.matrices:
            if limit is not None and self.matrices:
                self._check_time(setting, _SHARE_OF_FITS * limit)
            self.matrices[key] = kernel.block(self.X, self.X)
            while len(self.matrices) > 1 and len(self.matrices) * self.matrices[key].nbytes > _KEPT_BYTES:
                self.matrices.popitem(last=False)
        self.matrices.move_to_end(key)
        return self.matrices[key]

    def _check_time(self, setting: Setting, limit: float) -> None:
        """Refuse a kernel that would leave no time for others."""
        foreseen = self.space.seconds(setting)
        if foreseen > limit:
            raise PegasosError(f"its kernel matrix would take about {foreseen:.2g} s, too much of the time budget.")

    def _score(self, model: Any, rows: Any, test: Indices) -> float:
        truth = self.y[test]
        weights = None if self.weights is None else self.weights[test]
        if self.counts_hits:  # scikit-learn's scorer would take longer than a fit of a few rows
            return float(np.average(model.predict(rows) == truth, weights=weights))
        try:
            weighted = {} if weights is None else {"sample_weight": weights}
            score = float(self.scorer(model, rows, truth, **weighted))
        except (AttributeError, TypeError, ValueError) as error:
            raise PegasosError(f"scoring={self.metric!r} cannot be computed here: {error}") from error
        if not np.isfinite(score):
            raise PegasosError(f"scoring={self.metric!r} gave {score} on a fold; a search needs finite scores.")
        return score

    def _is_settled(self, model: Any, rows: Any, test: Indices, score: float, rival: float) -> bool:
        """Whether every exact solution has a score above the rival's, as this one has.

        Of linear machines only: for a kernel, the proof asks for kernel values in double, which cost more than the
        training that it could save.
        """
        if not self.counts_hits or score <= rival or not isinstance(model, PegasosClassifier):
            return False
        is_sure = model.certified(rows)
        is_right = model.predict(rows) == self.y[test]
        weights = None if self.weights is None else self.weights[test]
        return bool(is_sure.all() or np.average(is_right & is_sure, weights=weights) > rival)


def _ended(model: Any, why: Status) -> bool:
    return bool(model.fitted_.status is why)
