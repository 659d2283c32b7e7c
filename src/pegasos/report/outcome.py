"""How a model does on rows: one walk over them, in blocks, that keeps a few numbers per row."""

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
from pegasos.report.subject import ClassSubject, NumberSubject, Subject

curves_shown = 12  # classes that get curves of their own: the most frequent ones
_SCORES_AT_ONCE = 4_000_000  # of all problems, in a block
_SAME = 1e-6  # of the objective: certificates that differ by less are the same

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """What came of the rows, whatever was predicted."""

    spreads: Numbers | None  # standard deviation of each feature
    again: Certificate | None  # recomputed from these rows; None where they cannot be those of the fit

    @property
    def is_training(self) -> bool:
        """Whether these are the rows of the fit."""
        return self.again is not None


@dataclass(frozen=True)
class ClassOutcome(Outcome):
    """What a classifier said."""

    predicted: npt.NDArray[np.intp]  # the number of the class
    margins: Numbers
    is_sure: npt.NDArray[np.bool_] | None  # whether no exact solution predicts otherwise; None: cannot be said
    shown: npt.NDArray[np.intp]  # classes with curves of their own; of two classes the second
    scores: Numbers  # of those classes, (n_rows, n_shown)
    probabilities: Numbers | None  # of the second class, or of the class predicted
    confusion: sp.csr_array  # rows of each class (down) by the class predicted (across)


@dataclass(frozen=True)
class NumberOutcome(Outcome):
    """What a regressor said, each of shape (n_rows, n_targets)."""

    predicted: Numbers
    residuals: Numbers  # targets less predictions
    lower: Numbers | None  # bounds of what an exact solution predicts; None: cannot be said
    upper: Numbers | None


@dataclass(frozen=True)
class NoveltyOutcome(Outcome):
    """What a one-class model said."""

    decisions: Numbers  # below 0: novel


def walk(subject: Subject) -> Outcome:
    """Look at all rows."""
    spread = Spread() if subject.is_linear else None
    seen = []
    shown = _shown(subject) if isinstance(subject, ClassSubject) else np.empty(0, np.intp)
    for part in _blocks(subject.n_rows, len(subject.certificate.parts)):
        X = _safe_indexing(subject.X, part)
        if isinstance(subject, ClassSubject):
            seen.append(_look(subject.model, X, subject.codes[part], shown))
        elif isinstance(subject, NumberSubject):
            seen.append(_predict(subject.model, X))
        else:
            seen.append((subject.model.decision_function(X),))
        if spread is not None:
            spread.add(X)
    found = [_joined(each) for each in zip(*seen, strict=True)]
    common = (None if spread is None else spread.deviations(), _certified_again(subject))
    if isinstance(subject, NumberSubject):
        return NumberOutcome(*common, found[0], subject.targets - found[0], *found[1:])
    if not isinstance(subject, ClassSubject):
        return NoveltyOutcome(*common, *found)
    predicted, margins, is_sure, scores, probabilities = found
    ones, shape = np.ones(subject.n_rows, np.int64), (subject.n_classes, subject.n_classes)
    confusion = sp.coo_array((ones, (subject.codes, predicted)), shape=shape).tocsr()
    return ClassOutcome(*common, predicted, margins, is_sure, shown, scores, probabilities, confusion)


def _shown(subject: ClassSubject) -> npt.NDArray[np.intp]:
    counts = np.bincount(subject.codes, minlength=subject.n_classes)
    return np.array([1]) if subject.n_classes == 2 else np.sort(np.argsort(-counts, kind="stable")[:curves_shown])


def _predict(model: Any, X: Any) -> tuple[Any, ...]:
    """Predictions with their bounds, a column per target."""
    predicted = np.asarray(model.predict(X), np.float64)
    try:
        bounds = model.predict_interval(X)
    except PegasosError:  # a given kernel matrix
        bounds = (None, None)
    return tuple(None if each is None else each.reshape(len(each), -1) for each in (predicted, *bounds))


def _look(model: Any, X: Any, codes: npt.NDArray[np.intp], shown: npt.NDArray[np.intp]) -> tuple[Any, ...]:
    """What an outcome keeps of a block: classes predicted, margins, whether settled, scores, probabilities."""
    decisions = model.decision_function(X)
    margins = model.margin(X, model.classes_[codes])
    has_probabilities = hasattr(model, "predict_proba") and model.fitted_.calibration is not None
    found = model.predict_proba(X) if has_probabilities else None
    if decisions.ndim == 1:
        second = None if found is None else found[:, 1]
        return (decisions > 0.0).astype(np.intp), margins, _settled(model, X), decisions[:, None], second
    largest = None if found is None else found.max(axis=1)
    return decisions.argmax(axis=1), margins, _settled(model, X), decisions[:, shown], largest


def _joined(blocks: Any) -> Any:
    return None if blocks[0] is None else np.concatenate(blocks)


def _blocks(n_rows: int, n_problems: int) -> Iterator[slice]:
    size = int(np.clip(_SCORES_AT_ONCE // n_problems, 1000, 200_000))
    return (slice(begin, min(begin + size, n_rows)) for begin in range(0, n_rows, size))


def _settled(model: Any, X: Any) -> Any:
    """Which predictions no exact solution changes; None where that cannot be said: of a given kernel matrix."""
    try:
        return model.certified(X)
    except PegasosError:
        return None


def _certified_again(subject: Subject) -> Certificate | None:
    """The certificate recomputed, where that shows that these are the rows of the fit."""
    try:
        found = subject.model.certify(subject.X, subject.y)
    except PegasosError:  # not so many rows, or no dual point
        return None
    before = subject.certificate
    if not (found.is_finite and before.is_finite):
        return None
    apart = max(abs(found.primal - before.primal), abs(found.dual - before.dual))
    return found if apart <= _SAME * abs(before.primal) else None


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
        """The standard deviations of the features over all rows so far."""
        mean = self.sums / self.n_rows
        return np.asarray(np.sqrt(np.maximum(self.squares / self.n_rows - mean**2, 0.0)))
