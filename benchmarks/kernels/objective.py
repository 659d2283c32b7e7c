"""What every kernel machine is judged by: the gap between what its solution costs and what any must cost.

    P = 1/2 |w|^2 + C sum_i max(0, 1 - y_i (<w, phi(x_i)> + b))        w = sum_i y_i a_i phi(x_i)
    D = sum_i a_i - 1/2 |w|^2                                          0 <= a_i <= C

of each binary problem that the machine solves. The intercept b of LIBSVM and of scikit-learn-intelex is free, so D
bounds P only where sum_i y_i a_i = 0: the heavier side is scaled down until it is, which undoes the rounding of float32
and nothing else. The intercept of pegasos is the weight of a constant feature: b^2/2 is added to P and (sum_i y_i
a_i)^2/2 taken from D. Kernel values and sums are in float64 by numpy, in blocks of rows; nothing here calls pegasos.

The gap of many binary problems is sum (P - D) / sum P. One of a pair of classes that are easy to tell apart may then be
larger, which is kinder to the rivals than the largest of all gaps: that one is kept beside it.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.kernels.problems import Matrix

_BLOCK_BYTES = 1 << 26


@dataclass(frozen=True)
class Binaries:
    """The binary problems of a machine, and its solutions: one line of each array for each problem.

    `signs` are 0 for rows that are not part of a problem; `coefficients` are y_i a_i of the rows `support`.
    """

    support: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    signs: np.ndarray
    has_free_intercept: bool


@dataclass(frozen=True)
class Gap:
    """The gap of all binary problems together, and the largest of one."""

    relative: float
    largest: float


def one_against_rest(model: Any, y: np.ndarray) -> Binaries:
    """The problems of a `KernelPegasosClassifier`; two classes are one problem."""
    positive = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    signs = np.where(y == positive[:, None], 1.0, -1.0)
    return Binaries(model.support_, model.dual_coef_, model.intercept_, signs, has_free_intercept=False)


def one_against_one(model: Any, y: np.ndarray) -> Binaries:
    """The problems of an `SVC`: a support vector has one coefficient per other class, in the order of the classes."""
    found = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
    if len(model.classes_) == 2:
        signs = np.where(y == model.classes_[1], 1.0, -1.0)[None]
        return Binaries(model.support_, found, model.intercept_, signs, has_free_intercept=True)
    pairs = list(combinations(range(len(model.classes_)), 2))
    coefficients, signs = np.zeros((len(pairs), len(model.support_))), np.zeros((len(pairs), len(y)))
    for pair, (one, other) in enumerate(pairs):
        for sign, here, line in ((1.0, one, other - 1), (-1.0, other, one)):
            is_here = y == model.classes_[here]
            signs[pair, is_here] = sign
            supports = is_here[model.support_]
            coefficients[pair, supports] = found[line, supports]
    return Binaries(model.support_, coefficients, model.intercept_, signs, has_free_intercept=True)


def gap(X: Matrix, gamma: float, C: float, binaries: Binaries) -> Gap:
    """Recompute P and D of each binary problem."""
    primal, dual = values(X, gamma, C, binaries)
    return Gap(float((primal - dual).sum() / primal.sum()), float(((primal - dual) / primal).max()))


def values(X: Matrix, gamma: float, C: float, binaries: Binaries) -> tuple[np.ndarray, np.ndarray]:
    """P and D, one of each for each binary problem."""
    weights = binaries.coefficients.astype(np.float64)
    sides = _feasible(weights, binaries, C)
    scores = _scores(X, gamma, binaries.support, np.vstack([weights, *sides])).reshape(3, len(weights), -1)
    margins = binaries.signs * (scores[0] + binaries.intercepts[:, None])
    losses = np.where(binaries.signs != 0, np.maximum(0.0, 1.0 - margins), 0.0).sum(axis=1)
    primal = 0.5 * _dots(weights, scores[0, :, binaries.support].T) + C * losses
    if not binaries.has_free_intercept:
        primal += 0.5 * binaries.intercepts**2
    return primal, _dual(*sides, scores[1:, :, binaries.support].transpose(1, 2, 0), binaries.has_free_intercept)


def _feasible(weights: np.ndarray, binaries: Binaries, C: float) -> tuple[np.ndarray, np.ndarray]:
    """The dual variables of the positive and of the negative rows, within their bounds."""
    signs = binaries.signs[:, binaries.support]
    alphas = np.clip(signs * weights, 0.0, C)
    return alphas * (signs > 0), alphas * (signs < 0)


def _dual(up: np.ndarray, down: np.ndarray, scores: np.ndarray, has_free_intercept: bool) -> np.ndarray:
    """D; `scores` are those of the support vectors by `up` and by `down`, problems x support vectors x 2."""
    n_up, n_down = up.sum(axis=1), down.sum(axis=1)
    balanced = np.minimum(n_up, n_down) if has_free_intercept else None
    of_up, of_down = (1.0 if balanced is None else _ratio(balanced, each) for each in (n_up, n_down))
    square = of_up**2 * _dots(up, scores[..., 0]) + of_down**2 * _dots(down, scores[..., 1])
    square -= 2 * of_up * of_down * _dots(up, scores[..., 1])
    if balanced is None:
        square += (n_up - n_down) ** 2
    return of_up * n_up + of_down * n_down - 0.5 * square


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _dots(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", left, right)


def _scores(X: Matrix, gamma: float, support: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """coefficients @ K(support, X), K in float64."""
    pillars = _doubles(X[support])
    lengths = _dots(pillars, pillars)
    scores = np.empty((len(coefficients), X.shape[0]))
    n_at_once = max(1, _BLOCK_BYTES // (8 * max(len(support), X.shape[1])))
    for begin in range(0, X.shape[0], n_at_once):
        rows = _doubles(X[begin : begin + n_at_once])
        squares = lengths[:, None] + _dots(rows, rows) - 2.0 * (pillars @ rows.T)
        kernel = np.exp(np.minimum(squares * -gamma, 0.0, out=squares), out=squares)
        scores[:, begin : begin + n_at_once] = coefficients @ kernel
    return scores


def _doubles(rows: Matrix) -> np.ndarray:
    return (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
