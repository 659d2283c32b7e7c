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
from pegasos.estimators.certified import CertifiedModel
from pegasos.estimators.one_class import TrainedOneClass
from pegasos.estimators.regression import CertifiedRegressor
from pegasos.report.markup import count
from pegasos.tasks import ManyLabels
from pegasos.tasks.labels import encode_known

_LONGEST_NAME = 80  # characters of a feature or a class
_MOST_LISTED = 12  # classes


@dataclass(frozen=True)
class Subject:
    """A fitted model with rows to show it on."""

    given: Any  # the estimator as the user knows it
    model: Any  # the certified model at its end
    raw: Any  # the user's X
    X: Any  # what the model takes
    title: str
    trained_on: str | None
    names: npt.NDArray[Any] | None  # of the features

    @property
    def n_rows(self) -> int:
        """How many rows the model is shown on."""
        return int(_num_samples(self.X))

    @property
    def certificate(self) -> Certificate:
        """That of the fit."""
        found: Certificate = self.model.certificate_
        return found

    @property
    def is_linear(self) -> bool:
        """Whether there is a weight for each feature."""
        return hasattr(self.model, "coef_")

    @property
    def y(self) -> Any:
        """What `certify` takes as y."""
        return None

    @property
    def kind(self) -> str:
        """What the model predicts, in a few words."""
        return str(self.model.fitted_.task.words)

    @property
    def extent(self) -> str:
        """How many things there are to predict."""
        return self.kind

    @property
    def listed(self) -> str:
        """What is predicted, by name where there are names."""
        return self.extent

    @property
    def favoured(self) -> str:
        """What a bar to the right speaks for."""
        return "a larger score"

    def problem_name(self, k: int) -> str:
        """What the k-th problem is about."""
        names: list[str] = self.model.fitted_.task.problem_names()
        return names[k]

    def vector_name(self, k: int) -> str:
        """What the k-th weight vector is for."""
        return self.problem_name(k)

    def feature_name(self, column: int) -> str:
        """The text of a feature value."""
        return f"feature {column}" if self.names is None else shortened(str(self.names[column]), _LONGEST_NAME)


@dataclass(frozen=True)
class ClassSubject(Subject):
    """A classifier, and rows of known classes."""

    codes: npt.NDArray[np.intp]  # the number of each row's class

    @property
    def n_classes(self) -> int:
        """How many classes the model knows."""
        return len(self.model.classes_)

    @property
    def multi_class(self) -> str:
        """The word for how the classes are told apart; "binary" for two."""
        # That of the fit, whatever the parameter says now.
        return "binary" if self.n_classes == 2 else self.model.fitted_.task.name

    @property
    def y(self) -> Any:
        """The classes themselves."""
        return self.model.classes_[self.codes]

    @property
    def kind(self) -> str:
        """How the classes are told apart."""
        return "two classes" if self.multi_class == "binary" else super().kind

    @property
    def extent(self) -> str:
        """How many classes."""
        return f"{self.n_classes} classes"

    @property
    def listed(self) -> str:
        """The first classes."""
        names = ", ".join(self.class_name(k) for k in range(min(self.n_classes, _MOST_LISTED)))
        return names + (f", … ({self.n_classes} in all)" if self.n_classes > _MOST_LISTED else "")

    @property
    def favoured(self) -> str:
        """A class."""
        if self.multi_class == "binary":
            return f"“{self.class_name(1)}”"
        return "the first class named" if self.multi_class == "ovo" else "the class"

    def class_name(self, code: int) -> str:
        """The text of a class."""
        return shortened(str(self.model.classes_[code]), _LONGEST_NAME)

    def problem_name(self, k: int) -> str:
        """What the k-th binary problem tells apart."""
        names: list[str] = self.model.fitted_.task.problem_names([self.class_name(c) for c in range(self.n_classes)])
        return names[k]

    def vector_name(self, k: int) -> str:
        """The class, or what the problem tells apart."""
        return self.class_name(k) if self.multi_class == "crammer_singer" else self.problem_name(k)


@dataclass(frozen=True)
class NumberSubject(Subject):
    """A regressor, and rows of known targets."""

    targets: npt.NDArray[np.float64]  # of shape (n_rows, n_targets)

    @property
    def n_targets(self) -> int:
        """Columns of y."""
        return int(self.targets.shape[1])

    @property
    def y(self) -> Any:
        """In the shape that the model was fitted with."""
        return self.model.fitted_.task.decisions(self.targets)

    @property
    def extent(self) -> str:
        """How many targets."""
        return count(self.n_targets, "target")

    @property
    def favoured(self) -> str:
        """A prediction."""
        return "a larger prediction"


@dataclass(frozen=True)
class NoveltySubject(Subject):
    """A one-class model, and rows of which it may be known whether they belong."""

    is_typical: npt.NDArray[np.bool_] | None

    @property
    def favoured(self) -> str:
        """The inside."""
        return "a typical row"

    def problem_name(self, k: int) -> str:
        """The only one."""
        return "all rows"


def subject_of(given: Any, X: Any, y: Any, *, title: Any, trained_on: Any, feature_names: Any) -> Subject:
    """Check what the user gives."""
    for name, text in (("title", title), ("trained_on", trained_on)):
        if text is not None and not isinstance(text, str):
            raise PegasosError(f"{name} must be a text, got {text!r}.")
    if isinstance(X, str | bytes | os.PathLike) or not (hasattr(X, "__len__") or hasattr(X, "shape")):
        raise PegasosError(f"X must be rows in memory, got {X!r}; read a file with pegasos.data first.")
    # AutoPegasos holds a pipeline, a pipeline its steps.
    chain = getattr(given, "best_estimator_", given)
    model = chain[-1] if isinstance(chain, Pipeline) else chain
    if not isinstance(model, CertifiedModel):
        raise PegasosError(
            "a report needs a certified classifier, regressor or one-class model of pegasos, such as a "
            f"PegasosClassifier, or a Pipeline that ends in one; got {type(model).__name__}."
        )
    check_is_fitted(model, "fitted_")
    if not hasattr(model, "certificate_"):
        raise PegasosError("a report needs a certificate, and this model has none; fit one, or call certify.")
    inner, names = _transformed(chain, X)
    if feature_names is not None:
        names = _checked_names(feature_names, model)
    n_rows = _num_samples(inner)
    if not n_rows:
        raise PegasosError("X has no rows; a report needs some to show the model on.")
    common = (given, model, X, inner, title or f"{type(model).__name__} on {count(n_rows, 'row')}", trained_on, names)
    if isinstance(model, TrainedOneClass):
        return NoveltySubject(*common, _typical(n_rows, y))
    if y is None:
        raise PegasosError("y is missing: a report compares predictions with the true values.")
    if isinstance(model, CertifiedRegressor):
        return NumberSubject(*common, _targets(model, n_rows, y))
    if model.fitted_.task.name == ManyLabels.name:
        raise PegasosError("a report shows one label at a time: fit a model to a column of y, and report on that.")
    return ClassSubject(*common, _codes(model, n_rows, y))


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
        raise PegasosError("feature_names name columns, and the items of this model's kernel have none.")
    if len(given) != n_features:
        raise PegasosError(f"feature_names must name the {n_features} features, got {len(given)} names.")
    return np.asarray(given, dtype=object)


def _codes(model: Any, n_rows: int, y: Any) -> npt.NDArray[np.intp]:
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise PegasosError(f"y must name the class of each of the {n_rows} rows, got shape {labels.shape}.")
    try:
        return encode_known(labels, model.classes_, None)
    except TypeError as error:
        raise PegasosError(f"y must hold classes such as {model.classes_[0]!r}: {error}.") from error


def _targets(model: Any, n_rows: int, y: Any) -> npt.NDArray[np.float64]:
    try:
        found = np.asarray(y, np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"y must be numbers, the targets of the rows: {error}.") from error
    n_targets = model.fitted_.task.n_targets
    columns = found[:, None] if found.ndim == 1 else found
    if columns.shape != (n_rows, n_targets):
        raise PegasosError(
            f"y must have {n_targets} target(s) for each of the {n_rows} rows, got shape {found.shape}; pass the "
            "columns that the model was fitted to."
        )
    if not np.isfinite(columns).all():
        row = int(np.isfinite(columns).all(axis=1).argmin())
        raise PegasosError(f"y has the target {columns[row].tolist()} in row {row}; impute it or drop the row.")
    return columns


def _typical(n_rows: int, y: Any) -> npt.NDArray[np.bool_] | None:
    if y is None:
        return None
    found = np.asarray(y)
    if found.shape != (n_rows,) or not np.isin(found, (1, -1)).all():
        raise PegasosError(
            f"y must be 1 for rows that belong and -1 for the others, one for each of the {n_rows} rows, got shape "
            f"{found.shape} with values such as {found.ravel()[:3].tolist()}; leave y out if it is not known."
        )
    return np.asarray(found == 1)
