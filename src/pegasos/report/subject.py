"""What a page is about: a fitted model, the rows it is shown on, and the names of things."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators.certified import CertifiedClassifier
from pegasos.report.markup import count
from pegasos.tasks.labels import encode_known

_longest_name = 80  # characters of a feature or a class


@dataclass(frozen=True)
class Subject:
    """A fitted model with rows to show it on."""

    given: Any  # the estimator as the user knows it
    model: CertifiedClassifier  # the classifier at its end
    raw: Any  # the user's X
    X: Any  # what the model takes
    codes: npt.NDArray[np.intp]  # the number of each row's class
    title: str
    trained_on: str | None
    names: npt.NDArray[Any] | None  # of the features

    @classmethod
    def of(cls, given: Any, X: Any, y: Any, *, title: Any, trained_on: Any, feature_names: Any) -> Subject:
        """Check what the user gives."""
        for name, text in (("title", title), ("trained_on", trained_on)):
            if text is not None and not isinstance(text, str):
                raise PegasosError(f"{name} must be a text, got {text!r}.")
        if isinstance(X, str | bytes | os.PathLike) or not (hasattr(X, "__len__") or hasattr(X, "shape")):
            raise PegasosError(f"X must be rows in memory, got {X!r}; read a file with pegasos.data first.")
        # AutoPegasos holds a pipeline, a pipeline its steps.
        chain = getattr(given, "best_estimator_", given)
        model = chain[-1] if isinstance(chain, Pipeline) else chain
        if not isinstance(model, CertifiedClassifier):
            raise PegasosError(
                "a report is about a PegasosClassifier, a KernelPegasosClassifier, an AutoPegasos or a Pipeline that "
                f"ends in one, got {type(model).__name__}."
            )
        check_is_fitted(model, "classes_")
        if not hasattr(model, "certificate_"):
            raise PegasosError("a report is about a certificate, and this model has none; fit one, or ask certify.")
        inner, names = _transformed(chain, X)
        if feature_names is not None:
            names = _checked_names(feature_names, model)
        codes = _codes(model, inner, y)
        title = title or f"{type(model).__name__} on {count(len(codes), 'row')}"
        return cls(given, model, X, inner, codes, title, trained_on, names)

    @property
    def n_rows(self) -> int:
        """How many rows the model is shown on."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """How many classes the model knows."""
        return len(self.model.classes_)

    @property
    def certificate(self) -> Certificate:
        """That of the fit."""
        return self.model.certificate_

    @property
    def is_linear(self) -> bool:
        """Whether there is a weight for each feature."""
        return hasattr(self.model, "coef_")

    @property
    def multi_class(self) -> str:
        """The word for how the classes are told apart; "binary" for two."""
        # That of the fit, whatever the parameter says now.
        return "binary" if self.n_classes == 2 else self.model.fitted_.task.name

    def class_name(self, code: int) -> str:
        """A class as it is written."""
        return shortened(str(self.model.classes_[code]), _longest_name)

    def problem_name(self, k: int) -> str:
        """What the k-th binary problem tells apart."""
        names: list[str] = self.model.fitted_.task.problem_names([self.class_name(c) for c in range(self.n_classes)])
        return names[k]

    def feature_name(self, column: int) -> str:
        """A feature as it is written."""
        return f"feature {column}" if self.names is None else shortened(str(self.names[column]), _longest_name)


def shortened(text: str, length: int) -> str:
    """The text on one line, cut where it is too long."""
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else line[: length - 1] + "…"


def _transformed(chain: Any, X: Any) -> tuple[Any, npt.NDArray[Any] | None]:
    """X as the last step gets it, and the names of its columns."""
    model = chain
    names = None
    if isinstance(chain, Pipeline):
        model = chain[-1]
        if len(chain) > 1:
            X, names = chain[:-1].transform(X), _names_after(chain[:-1])
    if sp.issparse(X):
        X = X.tocsr()  # not every layout has rows
    known = getattr(model, "feature_names_in_", None)
    return X, names if known is None else np.asarray(known)


def _names_after(steps: Pipeline) -> npt.NDArray[Any] | None:
    try:
        return np.asarray(steps.get_feature_names_out())
    except (AttributeError, ValueError):  # a step that does not say
        return None


def _checked_names(given: Any, model: Any) -> npt.NDArray[Any]:
    if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
        raise PegasosError(f"feature_names must be a list of names, got {given!r}.")
    n_features = getattr(model, "n_features_in_", None)
    if n_features is None:
        raise PegasosError("feature_names are of columns, and the items of this model's kernel have none.")
    if len(given) != n_features:
        raise PegasosError(f"feature_names must name the {n_features} features, got {len(given)} names.")
    return np.asarray(given, dtype=object)


def _codes(model: Any, X: Any, y: Any) -> npt.NDArray[np.intp]:
    if y is None:
        raise PegasosError("y is missing: a report compares predictions with the true classes.")
    labels = np.asarray(y)
    n_rows = _num_samples(X)
    if labels.shape != (n_rows,):
        raise PegasosError(f"y must name the class of each of the {n_rows} rows, got shape {labels.shape}.")
    if not n_rows:
        raise PegasosError("X has no rows; a report needs some to show the model on.")
    try:
        return encode_known(labels, model.classes_, None)
    except TypeError as error:
        raise PegasosError(f"y must hold classes such as {model.classes_[0]!r}: {error}.") from error
