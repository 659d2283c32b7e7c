"""A prior model, toward which the weights are regularized instead of toward 0.

    lam/2 |w - w0|^2 + (1/N) sum_i cost_i max(0, 1 - sign_i (<w, x_i> + b))

is, for v = w - w0, the usual problem with offset_i = <w0, x_i> + b0. Only the scores of the prior enter it, so a kernel
machine accepts any model that gives scores; a linear machine, whose weights are w itself, needs a linear prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from pegasos import _core
from pegasos.errors import PegasosError, PriorWarning, warn_caller
from pegasos.machines.base import Data
from pegasos.problem import Rows
from pegasos.rounding import Carried, length_of
from pegasos.tasks.base import Known, Scores

Names = Sequence[str] | None


@dataclass(frozen=True)
class LinearPrior:
    """Weights for each problem, in the features of X."""

    source: Any  # the object that the user passed
    coef: Scores
    intercept: Scores

    @classmethod
    def read(cls, prior: Any, task: Any, names: Names, n_features: int) -> LinearPrior:
        """Read a fitted linear classifier, or a pair of coefficients and intercepts."""
        if not _is_pair(prior):
            _check_fitted(prior)
            if not hasattr(prior, "coef_"):
                any_model = (
                    "KernelPegasosClassifier takes any model with decision_function"
                    if hasattr(task, "classes")
                    else "KernelPegasosRegressor takes any model with predict"
                )
                raise PegasosError(
                    f"prior must be a fitted linear model with coef_, or a pair (coef, intercept), got "
                    f"{_name(prior)}; {any_model}."
                )
            if hasattr(prior, "decision_function_shape") or _has_pairs(prior):
                _refuse_pairs(prior, "coefficients")
        coef, intercept = _coefficients(prior)
        mixing = task.mixing(_labels(prior, task), len(coef))
        coef = _in_our_features(coef, getattr(prior, "feature_names_in_", None), names, n_features)
        return cls(prior, mixing.T @ coef, intercept @ mixing)

    def carried(self, bias: float) -> list[Carried]:
        """The prior's part in the model of each problem, for this value of the constant column."""
        constants = np.abs(self.intercept)
        in_column = constants / bias if bias > 0.0 else np.zeros(len(constants))
        lengths = (length_of(vector) for vector in np.column_stack([self.coef, in_column]))
        return [Carried(length, float(constant)) for length, constant in zip(lengths, constants, strict=True)]

    def known(self, data: Data, rows: Rows) -> Known:
        """The scores of these rows, and the prior's part in the models."""
        return Known(list(np.ascontiguousarray(self.scores(rows).T)), self.carried(rows.bias))

    def scores(self, rows: Rows) -> Scores:
        """Score each row for each problem."""
        scores = np.empty((rows.n_rows, len(self.coef)))
        _core.scores(rows.native, np.column_stack([self.coef, np.zeros(len(self.coef))]), scores)
        return scores + self.intercept


@dataclass(frozen=True)
class ScoredPrior:
    """A model that is given only by its scores."""

    source: Any  # the object that the user passed
    model: Any
    mixing: Scores  # maps its scores to those of the problems
    columns: npt.NDArray[np.intp] | None  # columns of X that the model uses; None for X unchanged

    @classmethod
    def read(cls, prior: Any, task: Any, names: Names) -> ScoredPrior:
        """Read anything with decision_function and classes_, or a pair of coefficients and intercepts."""
        if _is_pair(prior):
            model = LinearFormula(*_coefficients(prior))
            return cls(prior, model, task.mixing(None, len(model.coef)), None)
        _check_fitted(prior)
        method = "decision_function" if hasattr(task, "classes") else "predict"
        if not hasattr(prior, method):
            raise PegasosError(
                f"prior must be a fitted model with {method}, or a pair (coef, intercept), got {_name(prior)}."
            )
        if getattr(prior, "decision_function_shape", None) == "ovo" or _has_pairs(prior):
            _refuse_pairs(prior, "scores")
        mixing = task.mixing(_labels(prior, task), None)
        return cls(prior, prior, mixing, _our_columns(getattr(prior, "feature_names_in_", None), names))

    def known(self, data: Data, rows: Any) -> Known:
        """The scores of these items, which are all that is known about the prior."""
        return Known(list(np.ascontiguousarray(self.scores(data.given).T)))

    def scores(self, X: Any) -> Scores:
        """Score each item for each problem."""
        known = X if self.columns is None else _safe_indexing(X, self.columns, axis=1)
        has_decisions = hasattr(self.model, "decision_function")  # a regressor has no decision_function
        scored = self.model.decision_function(known) if has_decisions else self.model.predict(known)
        scores = np.asarray(scored, np.float64)
        scores = scores[:, None] if scores.ndim == 1 else scores
        if scores.ndim != 2 or scores.shape[1] != len(self.mixing):
            raise PegasosError(
                f"the prior must give {len(self.mixing)} score(s) per row, one for two classes, else one per class or "
                f"target, got an array of shape {scores.shape}."
            )
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
            raise PegasosError(f"the prior's score of row {row} is NaN or infinity; leave the row or the prior out.")
        return np.asarray(scores @ self.mixing)


@dataclass(frozen=True)
class LinearFormula:
    """A pair of coefficients and intercepts, as a model."""

    coef: Scores
    intercept: Scores

    def decision_function(self, X: Any) -> Scores:
        """The scores of rows of numbers."""
        X = check_array(X, accept_sparse="csr", ensure_all_finite=False)
        if X.shape[1] != self.coef.shape[1]:
            raise PegasosError(_other_features(self.coef.shape[1], X.shape[1]))
        return np.asarray(safe_sparse_dot(X, self.coef.T) + self.intercept)


def _is_pair(prior: Any) -> bool:
    return isinstance(prior, tuple | list) and len(prior) == 2


def check_prior(prior: Any) -> None:
    """Reject a pair that does not consist of numbers, before any rows are read."""
    if _is_pair(prior):
        _coefficients(prior)


def _name(prior: Any) -> str:
    return repr(prior) if isinstance(prior, str | int | float) else f"a {type(prior).__name__}"


def _check_fitted(prior: Any) -> None:
    if isinstance(prior, type):
        raise PegasosError(f"prior must be a fitted model, got the class {prior.__name__}; give an instance, fitted.")
    try:
        if isinstance(prior, BaseEstimator):
            check_is_fitted(prior)
    except NotFittedError as error:
        raise PegasosError(f"prior is {_name(prior)} that is not fitted; fit it first.") from error


def _labels(prior: Any, task: Any) -> list[Any] | None:
    """The classes of the prior, in the order of its scores; None for a pair of numbers, or a task without classes."""
    if _is_pair(prior) or not hasattr(task, "classes"):
        return None
    if not hasattr(prior, "classes_"):
        raise PegasosError(
            f"prior must have classes_, which {_name(prior)} lacks; give the pair (coef, intercept) of a model "
            "whose scores are positive for the second class."
        )
    labels: list[Any] = np.asarray(prior.classes_).tolist()
    return labels


def _has_pairs(prior: Any) -> bool:
    """Whether it was fitted one-vs-one; the parameter may have changed since the fit."""
    fit = getattr(prior, "fitted_", None)
    return bool((getattr(prior, "multi_class", None) if fit is None else fit.task.name) == "ovo")


def _refuse_pairs(prior: Any, what: str) -> None:
    """Reject one-vs-one priors: three classes have three pairs, so the number of scores would not reveal them."""
    if len(getattr(prior, "classes_", ())) > 2:
        raise PegasosError(f"prior has {what} of pairs of classes; it needs one per class, as one-vs-rest has.")


def _coefficients(prior: Any) -> tuple[Scores, Scores]:
    """One row of coefficients and one intercept for each score of the prior, in double."""
    coef, intercept = prior if _is_pair(prior) else (prior.coef_, getattr(prior, "intercept_", 0.0))
    try:
        coef = np.array(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64, ndmin=2)
        intercept = np.array(intercept, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise PegasosError(f"the coefficients of the prior must be numbers: {error}.") from error
    if coef.ndim != 2 or len(intercept) not in (1, len(coef)):
        raise PegasosError(
            "the coefficients of the prior must have shape (n_features,), (1, n_features) or (n_classes, n_features) "
            f"and one intercept a row, got {coef.shape} and {len(intercept)} intercept(s)."
        )
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise PegasosError("the coefficients of the prior contain NaN or infinity; a prior must be a finite model.")
    return coef, np.broadcast_to(intercept, len(coef))


def _in_our_features(coef: Scores, theirs: Any, ours: Names, n_features: int) -> Scores:
    """Coefficients for the features of X, matched by name where both have names."""
    if theirs is None or ours is None:
        if coef.shape[1] != n_features:
            raise PegasosError(_other_features(coef.shape[1], n_features))
        return coef
    places = {name: place for place, name in enumerate(theirs)}
    _warn_of([name for name in ours if name not in places], "of X are not in the prior, which gives them weight 0:")
    _warn_of(sorted(set(places) - set(ours)), "of the prior are not in X and are ignored:")
    mapped = np.zeros((len(coef), n_features))
    for column, name in enumerate(ours):
        if name in places:
            mapped[:, column] = coef[:, places[name]]
    return mapped


def _our_columns(theirs: Any, ours: Names) -> npt.NDArray[np.intp] | None:
    """The columns of X that a prior known by its scores reads, matched by name where both have names."""
    if theirs is None or ours is None:
        return None
    places = {name: place for place, name in enumerate(ours)}
    missing = [name for name in theirs if name not in places]
    if missing:
        raise PegasosError(
            f"X lacks {len(missing)} feature(s) of the prior, such as {missing[0]!r}, which its scores need; "
            "give the prior's coefficients, or X with those features."
        )
    _warn_of(sorted(set(places) - set(theirs)), "of X are not in the prior and are ignored:")
    return np.array([places[name] for name in theirs], dtype=np.intp)


def _other_features(theirs: int, ours: int) -> str:
    return (
        f"prior has {theirs} features, X has {ours}; without names on both they must agree in number and order: "
        "fit both on frames to match them by name."
    )


def _warn_of(names: Sequence[str], what: str) -> None:
    if names:
        few = ", ".join(repr(str(name)) for name in names[:3]) + (", ..." if len(names) > 3 else "")
        warn_caller(f"{len(names)} feature(s) {what} {few}.", PriorWarning)
