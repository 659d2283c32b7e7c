"""Honest accuracies: whatever is chosen is chosen inside the training part.

A kernel matrix is computed once for each setting of a kernel; folds take rows and columns of it. None of the kernels
here looks at labels or at other items, so nothing leaks from a test fold into a training fold.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from pegasos import KernelPegasosClassifier

costs = (1.0, 10.0, 100.0, 1000.0)  # the values of C that are tried
seed = 0

Part = np.ndarray
Matrices = dict[str, np.ndarray]  # the kernel matrix of each setting, by its name


@dataclass(frozen=True)
class Choice:
    """The setting of the kernel and C that were best inside a training part."""

    setting: str
    C: float
    quality: float

    def __str__(self) -> str:
        return f"{self.setting}, C={self.C:g}" if self.setting else f"C={self.C:g}"


def fit(
    matrix: np.ndarray, y: np.ndarray, part: Part, C: float, *, tol: float = 1e-3, balanced: bool = False
) -> KernelPegasosClassifier:
    """A machine on the items of a part."""
    weight = "balanced" if balanced else None
    return KernelPegasosClassifier(
        "precomputed", C=C, tol=tol, class_weight=weight, max_iter=100_000, random_state=seed
    ).fit(np.ascontiguousarray(matrix[np.ix_(part, part)]), y[part])


def choose(
    matrices: Matrices, y: np.ndarray, part: Part, n_folds: int, *, n_repeats: int = 1, by_area: bool = False
) -> Choice:
    """The best setting and C by cross-validation inside a part; of equals the first.

    The best by accuracy, or by the area under the ROC curve, then of machines whose classes weigh alike.
    """
    measure = _area if by_area else _accuracy
    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    splits = [(part[train], part[test]) for train, test in folds.split(part, y[part])]
    best = Choice("", costs[0], -1.0)
    for setting, matrix in matrices.items():
        for C in costs:
            quality = float(np.mean([measure(matrix, y, train, test, C) for train, test in splits]))
            if quality > best.quality + 1e-12:
                best = Choice(setting, C, quality)
    return best


def cross_validate(matrices: Matrices, y: np.ndarray, n_folds: int, n_inner: int) -> tuple[list[float], list[Choice]]:
    """The accuracy of each test fold, and what was chosen for it without looking at it."""
    accuracies, choices = [], []
    for train, test in outer_folds(y, n_folds):
        choice = choose(matrices, y, train, n_inner)
        matrix = matrices[choice.setting]
        model = fit(matrix, y, train, choice.C)
        accuracies.append(model.score(matrix[np.ix_(test, train)], y[test]))
        choices.append(choice)
    return accuracies, choices


def outer_folds(y: np.ndarray, n_folds: int) -> Iterator[tuple[Part, Part]]:
    """Training and test parts, each class spread evenly."""
    yield from StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)


# To compare settings a gap of one per cent is enough.
_ROUGH = 1e-2


def _accuracy(matrix: np.ndarray, y: np.ndarray, train: Part, test: Part, C: float) -> float:
    return float(fit(matrix, y, train, C, tol=_ROUGH).score(matrix[np.ix_(test, train)], y[test]))


def _area(matrix: np.ndarray, y: np.ndarray, train: Part, test: Part, C: float) -> float:
    scores = fit(matrix, y, train, C, tol=_ROUGH, balanced=True).decision_function(matrix[np.ix_(test, train)])
    return float(roc_auc_score(y[test], scores))
