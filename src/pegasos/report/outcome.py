"""How a model does on rows: one walk over them, in blocks, that keeps a few numbers a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.report.subject import Subject

curves_shown = 12  # classes that get curves of their own: the most frequent ones
_scores_at_once = 4_000_000  # of all problems, in a block
_same = 1e-6  # of the objective: certificates that differ by less are the same

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """What came of the rows."""

    predicted: npt.NDArray[np.intp]  # the number of the class
    margins: Numbers
    is_sure: npt.NDArray[np.bool_] | None  # whether no exact solution predicts otherwise; None: cannot be said
    shown: npt.NDArray[np.intp]  # classes with curves of their own; of two classes the second
    scores: Numbers  # of those classes, (n_rows, n_shown)
    probabilities: Numbers | None  # of the second class, or of the class predicted
    spreads: Numbers | None  # standard deviation of each feature
    confusion: sp.csr_array  # rows of each class (down) by the class predicted (across)
    again: Certificate | None  # recomputed from these rows; None where they cannot be those of the fit

    @property
    def is_training(self) -> bool:
        """Whether these are the rows of the fit."""
        return self.again is not None


def walk(subject: Subject) -> Outcome:
    """Look at all rows."""
    model, n_rows = subject.model, subject.n_rows
    counts = np.bincount(subject.codes, minlength=subject.n_classes)
    shown = np.array([1]) if subject.n_classes == 2 else np.sort(np.argsort(-counts, kind="stable")[:curves_shown])
    predicted, margins = np.empty(n_rows, np.intp), np.empty(n_rows)
    is_sure, scores = np.zeros(n_rows, np.bool_), np.empty((n_rows, len(shown)))
    can_be_sure = True
    has_probabilities = hasattr(model, "predict_proba") and getattr(model, "_calibration", None) is not None
    probabilities = np.empty(n_rows) if has_probabilities else None
    spread = Spread() if subject.is_linear else None
    for part in _blocks(n_rows, len(subject.certificate.parts)):
        X = _safe_indexing(subject.X, part)
        decisions = model.decision_function(X)
        two = decisions.ndim == 1
        predicted[part] = decisions > 0.0 if two else decisions.argmax(axis=1)
        scores[part] = decisions[:, None] if two else decisions[:, shown]
        margins[part] = model.margin(X, model.classes_[subject.codes[part]])
        if can_be_sure:
            can_be_sure = _fill_sure(model, X, is_sure[part])
        if probabilities is not None:
            found = model.predict_proba(X)
            probabilities[part] = found[:, 1] if two else found.max(axis=1)
        if spread is not None:
            spread.add(X)
    ones = np.ones(n_rows, np.int64)
    shape = (subject.n_classes, subject.n_classes)
    confusion = sp.coo_array((ones, (subject.codes, predicted)), shape=shape).tocsr()
    return Outcome(
        predicted,
        margins,
        is_sure if can_be_sure else None,
        shown,
        scores,
        probabilities,
        None if spread is None else spread.deviations(),
        confusion,
        _certified_again(subject),
    )


def _blocks(n_rows: int, n_problems: int) -> Iterator[slice]:
    size = int(np.clip(_scores_at_once // n_problems, 1000, 200_000))
    return (slice(begin, min(begin + size, n_rows)) for begin in range(0, n_rows, size))


def _fill_sure(model: Any, X: Any, is_sure: npt.NDArray[np.bool_]) -> bool:
    """Which predictions are settled; whether that can be said: of a precomputed kernel matrix it cannot."""
    try:
        is_sure[:] = model.certified(X)
    except PegasosError:
        return False
    return True


def _certified_again(subject: Subject) -> Certificate | None:
    """The certificate recomputed, where that shows that these are the rows of the fit."""
    try:
        found = subject.model.certify(subject.X, subject.model.classes_[subject.codes])
    except PegasosError:  # not so many rows, or no dual point
        return None
    before = subject.certificate
    if not (found.is_finite and before.is_finite):
        return None
    apart = max(abs(found.primal - before.primal), abs(found.dual - before.dual))
    return found if apart <= _same * abs(before.primal) else None


class Spread:
    """The standard deviation of each column, added up block by block around the means of the first block."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.centre = self.sums = self.squares = np.zeros(0)

    def add(self, X: Any) -> None:
        """Count a block."""
        X = X if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        means = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        if not self.n_rows:
            self.centre, self.sums, self.squares = means, np.zeros(len(means)), np.zeros(len(means))
        self.n_rows += X.shape[0]
        if sp.issparse(X):
            # sum (x - c)^2 = sum x^2 - 2 c sum x + n c^2: few columns of sparse rows are far from 0
            raw = np.asarray(X.multiply(X).sum(axis=0, dtype=np.float64)).ravel()
            self.squares = self.squares + raw + X.shape[0] * (self.centre**2 - 2.0 * self.centre * means)
        else:
            self.squares = self.squares + np.square(X - self.centre).sum(axis=0)
        self.sums = self.sums + X.shape[0] * (means - self.centre)

    def deviations(self) -> Numbers:
        """Of all rows so far."""
        mean = self.sums / self.n_rows
        return np.asarray(np.sqrt(np.maximum(self.squares / self.n_rows - mean**2, 0.0)))
