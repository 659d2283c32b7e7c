"""Probabilities from cross-fitted scores: Platt's sigmoid, or isotonic regression.

They are increasing in the score and follow the class frequencies of the data, whatever the class weights. Where class
weights move the boundary away from a probability of one half, the likeliest class need not be the predicted one.

Platt: Probabilistic outputs for support vector machines. 1999; with the Newton steps of Lin, Lin, Weng: A note on
Platt's probabilistic outputs for support vector machines. Machine Learning 68, 2007. Zadrozny, Elkan: Transforming
classifier scores into accurate multiclass probability estimates. KDD 2002 (isotonic).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.gram import KernelRows
from pegasos.kernels.vector import Vectors
from pegasos.machines.base import Data
from pegasos.machines.settings import FOLDS, Settings
from pegasos.problem import RowsLike
from pegasos.solution import Solution, Status

_NEWTON_STEPS = 100
_ENOUGH = 1e-8  # slope of the mean log loss at which Newton's method ends

Numbers = npt.NDArray[np.float64]
Sample = tuple[Numbers, npt.NDArray[np.bool_], Numbers | None]  # scores, whether each is positive, weights


class Fitter(Protocol):
    """`fitting.fit`, which calls this module."""

    def __call__(self, machine: Any, task: Any, settings: Settings, data: Data) -> Any:
        """Return a fit."""


@dataclass(frozen=True)
class Calibration:
    """One sigmoid for each problem: 1 / (1 + exp(-(slope score + shift)))."""

    slopes: Numbers
    shifts: Numbers

    def of_problems(self, scores: Numbers) -> Numbers:
        """The probability of the positive side of each problem."""
        return _sigmoid(self.slopes * scores + self.shifts)


@dataclass(frozen=True)
class IsotonicCurve:
    """An increasing function of the score: linear between its knots, constant beyond them."""

    scores: Numbers
    probabilities: Numbers


@dataclass(frozen=True)
class Isotonic:
    """One increasing curve for each problem."""

    curves: tuple[IsotonicCurve, ...]

    def of_problems(self, scores: Numbers) -> Numbers:
        """The probability of the positive side of each problem."""
        each = zip(scores.T, self.curves, strict=True)
        return np.column_stack([np.interp(score, curve.scores, curve.probabilities) for score, curve in each])


def cross_fitted(
    fit: Fitter,
    machine: Any,
    task: Any,
    settings: Settings,
    data: Data,
    *,
    rows: RowsLike,
    seed: int,
    so_far: Sequence[Solution],
) -> Calibration | Isotonic:
    """Fit curves to scores of rows that their model has not seen; the time budget counts from ``data.begun``.

    If the fit of all rows, which ended with the solutions ``so_far``, or that of a fold was interrupted, no other fold
    is fitted.
    """
    is_over = any(solution.status is Status.INTERRUPTED for solution in so_far)
    codes, weights = task.target(data.y, data.weights), data.weights
    if weights is not None:
        codes = np.where(weights > 0.0, codes, -1)
    counts = np.bincount(codes[codes >= 0], minlength=task.n_classes)
    n_folds = int(min(FOLDS, counts.min()))
    if n_folds < 2:
        raise PegasosError(
            f"probability=True needs rows for at least two folds, but class {task.classes.tolist()[counts.argmin()]!r} "
            f"has only {counts.min():g}: give more rows, or probability=False."
        )
    scores = np.empty((len(codes), task.n_problems * task.n_vectors))
    fold_of = _folds(rows, codes, n_folds, seed)
    n_scored = n_folds
    for fold in range(n_folds):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        left = None if settings.time_budget is None else max(0.0, settings.time_budget - data.seconds)
        left = 0.0 if is_over else left
        if left == 0.0 and fold > 0:  # the folds so far are a fair sample of the rows
            n_scored = fold
            break
        share = None if left is None else left / (n_folds - fold)
        found = fit(machine, task, settings.of_fold(seed, share), machine.part(data, train))
        scores[test] = found.scores(machine.part(data, test, train), settings.threads)
        is_over = is_over or (found.proof is not None and found.proof.status is Status.INTERRUPTED)
    samples = []
    for score, sign in zip(task.against_others(scores).T, task.signs(codes), strict=True):
        chosen = (codes >= 0) & (sign != 0) & (fold_of < n_scored)
        samples.append((score[chosen], sign[chosen] > 0, None if weights is None else weights[chosen]))
    return curves_of(samples, settings.probability)


def curves_of(samples: Sequence[Sample], kind: bool | str) -> Calibration | Isotonic:
    """Fit one curve per problem to held-out scores."""
    if kind == "isotonic":
        return Isotonic(tuple(_fit_isotonic(*sample) for sample in samples))
    return Calibration(*np.transpose([_fit_sigmoid(*sample) for sample in samples]))


def calibrated_on(task: Any, data: Data, scores: Numbers) -> Calibration:
    """Fit sigmoids to the model's scores of its own training rows, where a class has too few rows for folds."""
    codes, weights = task.target(data.y, data.weights), data.weights
    samples = []
    for score, sign in zip(task.against_others(scores).T, task.signs(codes), strict=True):
        chosen = (codes >= 0) & (sign != 0)
        samples.append((score[chosen], sign[chosen] > 0, None if weights is None else weights[chosen]))
    return Calibration(*np.transpose([_fit_sigmoid(*sample) for sample in samples]))


def _folds(rows: RowsLike, codes: npt.NDArray[np.intp], n_folds: int, seed: int) -> npt.NDArray[np.intp]:
    """Assign rows to folds: those of a class in random order, equal rows to the same fold.

    So a sample weight of 2 is equivalent to repeating the row here too, and no model has seen the rows it is scored on.
    """
    random = np.random.default_rng(seed)
    keys = _keys(rows, random)
    fold_of = np.empty(len(codes), np.intp)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        _, which = np.unique(keys[members], return_inverse=True)
        if which.max() + 1 < n_folds:  # too few distinct rows: assign each row separately
            which = np.arange(len(members))
        fold_of[members] = random.permutation(which.max() + 1)[which] % n_folds
    return fold_of


def _keys(rows: RowsLike, random: np.random.Generator) -> Numbers:
    """One number per row, equal for equal rows; where rows are not vectors, each has its own."""
    if isinstance(rows, KernelRows):
        if not isinstance(rows.items, Vectors):
            return np.arange(rows.n_rows, dtype=np.float64)
        rows = rows.items.rows
    return rows.scores_of(random.normal(size=rows.n_features + 1))


def _fit_isotonic(scores: Numbers, positive: npt.NDArray[np.bool_], weights: Numbers | None) -> IsotonicCurve:
    """The increasing curve of least squares."""
    from sklearn.isotonic import IsotonicRegression  # few models have one

    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, positive, sample_weight=weights)
    return IsotonicCurve(*(np.asarray(knots, np.float64) for knots in (curve.X_thresholds_, curve.y_thresholds_)))


def _fit_sigmoid(scores: Numbers, positive: npt.NDArray[np.bool_], weights: Numbers | None) -> tuple[float, float]:
    """Slope and shift with the least log loss, for Platt's targets, which are moved slightly away from 0 and 1."""
    weights = np.ones(len(scores)) if weights is None else weights
    n_positive, n_negative = float(weights[positive].sum()), float(weights[~positive].sum())
    targets = np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
    scale = float(np.abs(scores).max(initial=0.0)) or 1.0
    features = np.column_stack([scores / scale, np.ones(len(scores))])
    weights = weights / weights.sum()
    point = np.array([0.0, np.log((n_positive + 1.0) / (n_negative + 1.0))])
    loss = _log_loss(features @ point, targets, weights)
    for _ in range(_NEWTON_STEPS):
        p = _sigmoid(features @ point)
        slope = features.T @ (weights * (p - targets))
        if np.abs(slope).max() < _ENOUGH:
            break
        curvature = (features.T * (weights * p * (1.0 - p))) @ features + 1e-12 * np.eye(2)
        step = np.linalg.solve(curvature, -slope)
        length = 1.0
        while (found := _log_loss(features @ (point + length * step), targets, weights)) > loss and length > 1e-10:
            length *= 0.5
        point, loss = point + length * step, found
    return float(point[0] / scale), float(point[1])


def _log_loss(scores: Numbers, targets: Numbers, weights: Numbers) -> float:
    return float(weights @ (np.logaddexp(0.0, scores) - targets * scores))


def _sigmoid(scores: Numbers) -> Numbers:
    return np.asarray(np.exp(-np.logaddexp(0.0, -scores)))
