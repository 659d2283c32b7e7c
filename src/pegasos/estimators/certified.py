"""What a certified estimator does with its `Fit`: predict, certify, report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pegasos import checks as check
from pegasos.certificate import Certificate
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators import _checks
from pegasos.estimators._attributes import attributes_of, names_of
from pegasos.estimators.inputs import is_indicator
from pegasos.estimators.items import check_indicator, check_labels, check_target
from pegasos.estimators.warnings import ChangedRowsWarning, GapWarning
from pegasos.estimators.watching import CallbackSupportMixin
from pegasos.fitting.certify import recertify, with_dual_point
from pegasos.fitting.regions import find_regions, is_same
from pegasos.fitting.result import Fit
from pegasos.fitting.settled import Intervals, Regions
from pegasos.machines.base import Data
from pegasos.machines.solving import threads_of
from pegasos.persistence import Saved

_PLAIN = (int, float, str, bool, NoneType)


@lru_cache(typed=True)
def _validated(estimator: type[CertifiedModel], *values: Any) -> None:
    """Raise an error unless these values of the parameters are valid."""
    parameters = dict(zip(estimator._get_param_names(), values, strict=True))
    validate_parameter_constraints(estimator._parameter_constraints, parameters, caller_name=estimator.__name__)


class Evidence(NamedTuple):
    """What was given to a fit: references, never copies; left out of every pickle and model file."""

    X: Any
    y: Any
    sample_weight: Any


class CertifiedModel(Saved, CallbackSupportMixin, BaseEstimator, ABC):
    """Base of the certified estimators, whatever their targets are: a fitted one has its `Fit` in ``fitted_``."""

    fitted_: Fit
    certificate_: Certificate
    status_: str
    _evidence: Evidence
    _regions: Regions | None
    _certified_share: float

    @classmethod
    @lru_cache
    def _get_param_names(cls) -> list[str]:
        names: list[str] = super()._get_param_names()  # which reads the signature at every call
        return names

    def _validate_params(self) -> None:
        """As scikit-learn; numbers and words that were valid once are not checked again."""
        values = [getattr(self, name) for name in self._get_param_names()]
        if all(type(value) in _PLAIN for value in values):
            _validated(type(self), *values)
        else:
            super()._validate_params()

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data and the stored dual point, trusting no solver.

        In the last block of a stream, a pair of classes without rows keeps the certificate it had. A model that was
        trained elsewhere (`pegasos.export`) has no dual point: that of a fit of these rows is used beside its weights.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, in the same order.
        """
        check_is_fitted(self, "fitted_")
        fitted = self._current
        if fitted.origin is None:
            check_is_fitted(self, "certificate_")
        data = self._read(X, y, sample_weight, reset=False)
        if fitted.origin is not None:
            _checks.check_aim(self, fitted.origin)
            task = self._task(fitted.task.name)
            fitted = with_dual_point(self._machine(), task, self._settings(), fitted, data)
        certificate = recertify(self._machine(), fitted, data)
        if self.fitted_.origin is None and not fitted.doubt and not hasattr(self, "_evidence"):
            parts = zip(certificate.parts, self.certificate_.parts, strict=True)
            if all(is_same(now, before) for now, before in parts):
                self._evidence = Evidence(X, y, sample_weight)
        return certificate

    def report(self, X: Any, y: Any = None, path: Any = None) -> Any:
        """One HTML page about the model: its certificate, its results on these rows, and its most important features.

        The page is a single file that needs no network; see `pegasos.report`.

        Parameters
        ----------
        X : rows, as in `predict`
            Those of the fit, or others: the page says which.
        y : array of shape (n_rows,), or (n_rows, n_targets)
            Their classes or targets. For a one-class model optional: 1 for rows that belong, -1 for the others.
        path : path, optional
            A file to write the page to, such as "report.html".

        Returns
        -------
        Report
            Has the page in ``html``, writes it with ``write``, and shows it in a notebook.
        """
        from pegasos import report  # which imports the estimators

        if path is not None:
            report.check_path(path)  # before the work
        page = report.make(self, X, y)
        if path is not None:
            page.write(path)
        return page

    def _check_certified(self) -> None:
        check_is_fitted(self, "fitted_")
        if self.fitted_.origin is None:
            check_is_fitted(self, "certificate_")

    def _intervals(self, X: Any) -> Intervals:
        """The scores of rows, and bounds of those of every exact solution."""
        self._check_certified()
        return self._current.intervals(self._read_new(X), self._regions_now())

    def _regions_now(self) -> Regions | None:
        """The regions of the fit; None where there is only the ball: without its rows, or with edited weights."""
        if self._current.model is not self.fitted_.model:
            return None
        if not hasattr(self, "_regions") and hasattr(self, "_evidence"):
            evidence = self._evidence
            data = self._read(evidence.X, evidence.y, evidence.sample_weight, reset=False)
            self._regions = find_regions(self._machine(), self.fitted_, data)
            if self._regions is None:
                warn_caller(
                    "X was changed after fit: the objectives of its rows are not those of certificate_. Predictions "
                    "are certified by the ball of certificate_ alone, which settles fewer; fit again, and leave X as "
                    "it is.",
                    ChangedRowsWarning,
                )
        return getattr(self, "_regions", None)

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows of the fit."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_evidence"}

    @property
    def solved_lam_(self) -> Any:
        """The lam of the problem that was solved; for ``multi_class="ovo"`` one for each pair.

        With C it is 1 / (C N), and for ``C=inf`` so small that no dual variable reaches its bound. The dual variables
        of the textbook, with w = sum_i a_i y_i x_i, are ``alpha_ / (solved_lam_ * N)``, N being the sum of the weights.
        """
        check_is_fitted(self, "certificate_")
        return self.fitted_.lam

    def __sklearn_clone__(self) -> Any:
        """A clone keeps its prior, fitted."""
        clone = super().__sklearn_clone__()
        if "prior" in vars(self):
            clone.prior = self.prior
        return clone

    @property
    def _current(self) -> Fit:
        """The fit with the vectors that the estimator has now: a user may have edited ``coef_``."""
        fitted, attributes = self.fitted_, self.__dict__
        model = fitted.model.edited(attributes)
        if model is not fitted.model:
            fitted = replace(fitted, model=model)
        proof = fitted.proof
        if proof is not None and attributes.get("alpha_") is not proof.alpha:
            fitted = replace(fitted, proof=replace(proof, alpha=attributes.get("alpha_")))
        return fitted

    def _write(self, fitted: Fit) -> None:
        """Every fitted attribute, in one place; those of an earlier fit go."""
        if hasattr(self, "fitted_"):
            for name in (*names_of(self.fitted_), "_evidence", "_regions", "_certified_share"):
                self.__dict__.pop(name, None)
        self.__dict__.update(attributes_of(fitted))

    def _warn_of_gap(self) -> None:
        if not self.fitted_.is_satisfied:
            warn_caller(self.status_, GapWarning)

    def _how_to_read_target(self, y: Any) -> dict[str, Any]:
        """How scikit-learn is to read y."""
        return {}

    def _check_target(self, items: Any, y: Any) -> Any:
        """Y as an array, one entry per item."""
        return check_target(items, y)

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Data:
        """X, y and the weights, checked as scikit-learn does."""

    @abstractmethod
    def _read_new(self, X: Any) -> Data:
        """X for a fitted estimator."""


class CertifiedAnswers(CertifiedModel):
    """A certified estimator whose predictions are one of several answers, which no exact solution may change."""

    def certified(self, X: Any, *, region: str = "ellipsoid") -> npt.NDArray[np.bool_]:
        """For each row: whether every exact solution of the training problem predicts the same.

        A statement about the training problem, not about the truth of the answer. An exact solution's weights lie in an
        ellipsoid that follows from the primal and the dual point of the fit; it is computed at the first call, from the
        arrays given to ``fit``, to which the model keeps a reference. A model without them (loaded, or trained on a
        stream) uses the ball of radius ``certificate_.weight_radius``, which certifies fewer rows, until ``certify`` is
        called with the rows of the fit.

        Parameters
        ----------
        X : rows, as in `predict`
        region : {"ellipsoid", "ball"}, default="ellipsoid"
            "ball" uses ``weight_radius`` alone: at the price of a prediction, without the rows of the fit.
        """
        self._check_certified()
        check.check_word("region", region, ("ellipsoid", "ball"))
        return self._current.settled(self._read_new(X), self._regions_now() if region == "ellipsoid" else None)

    def score_interval(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Lower and upper bounds of the scores that any exact solution of the training problem gives to rows.

        They follow from the same ellipsoid as `certified`.

        Parameters
        ----------
        X : rows, as in `predict`

        Returns
        -------
        lower, upper : arrays of shape (n_rows,) for two classes, else (n_rows, n_classes)
            With ``multi_class="ovo"`` of shape (n_rows, n_pairs): the scores of the pairs, not the votes.
        """
        found = self._intervals(X)
        is_single = found.scores.shape[1] == 1
        return (found.lower[:, 0], found.upper[:, 0]) if is_single else (found.lower, found.upper)

    @property
    def certified_share_(self) -> float:
        """The certified share of the rows of the fit, by sample weight (see `certified`); computed on first access."""
        self._check_certified()
        if not hasattr(self, "_certified_share"):
            if not hasattr(self, "_evidence"):
                raise AttributeError(
                    "certified_share_ needs the rows of the fit, which this model does not have; call certify(X, y) "
                    "with them first, or use certified(X).mean()."
                )
            sure, weights = self.certified(self._evidence.X), self._evidence.sample_weight
            self._certified_share = float(np.average(sure, weights=None if np.ndim(weights) == 0 else weights))
        return self._certified_share


def _has_probabilities(model: Any) -> bool:
    if not getattr(model, "probability", False):
        raise AttributeError("probabilities are fitted only with probability=True.")
    return True


class CertifiedClassifier(ClassifierMixin, CertifiedAnswers):
    """A certified estimator that predicts classes."""

    classes_: npt.NDArray[Any]
    _takes_indicators = False  # whether y may be a matrix with one column per label

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_rows,) for two classes, positive for ``classes_[1]``; else (n_rows, n_classes)."""
        check_is_fitted(self, "classes_")
        fitted = self._current
        decisions: npt.NDArray[np.float64] = fitted.task.decisions(self._scores(X, fitted))
        return decisions

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        decisions = self.decision_function(X)
        answer: npt.NDArray[Any] = self.fitted_.task.answer(decisions)
        return answer

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, of shape (n_rows, n_classes).

        Calibrated on scores of rows that their model had not seen, for the class frequencies of the training data: it
        increases with the score of a problem. `predict` follows the scores; next to class weights the likeliest class
        may be another one. Needs ``probability=True``, "sigmoid" or "isotonic" at the fit.
        """
        check_is_fitted(self, "classes_")
        fitted = self._current
        if fitted.calibration is None:
            raise PegasosError("the model was fitted without probabilities; fit it with probability=True.")
        scores, task = self._scores(X, fitted), fitted.task
        found: npt.NDArray[np.float64] = task.probabilities(fitted.calibration.of_problems(task.against_others(scores)))
        return found

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def margin(self, X: Any, y: Any, *, geometric: bool = False) -> npt.NDArray[np.float64]:
        """How far each row is on the right side; negative where the prediction is wrong.

        Parameters
        ----------
        X : rows, as in `predict`
        y : array of shape (n_rows,)
            Their classes.
        geometric : bool, default=False
            False: the functional margin, y (<w, x> + b), for several classes the score of the right one above the
            best other one. True: the distance from the boundary, in the space of the features: that over |w|.
        """
        check_is_fitted(self, "classes_")
        fitted = self._current
        scores = self._scores(X, fitted)
        target = self._target(y, len(scores))
        check.check_flag("geometric", geometric)
        margins: npt.NDArray[np.float64] = fitted.task.margins(
            scores, target, fitted.model.products() if geometric else None
        )
        return margins

    def certified_support(self, X: Any, y: Any) -> npt.NDArray[np.int8]:
        """For rows of the fit: whether they are support vectors of every exact solution, or of none.

        Parameters
        ----------
        X : rows of the fit, any of them
        y : array of shape (n_rows,)
            Their classes.

        Returns
        -------
        array of int8, of shape (n_rows,) for two classes, else (n_rows, n_problems)
            1: a support vector of every exact solution, its dual variable at the upper bound. -1: a support vector of
            none. 0: not proved either way.
        """
        self._check_certified()
        task = self.fitted_.task
        if task.n_vectors > 1:
            raise PegasosError(
                "certified_support is about problems of two signs, and multi_class='crammer_singer' has one problem of "
                "all classes; use 'ovr' or 'ovo'."
            )
        found = self._current.intervals(self._read_new(X), self._regions_now())
        target = self._target(y, len(found.scores))
        signs = np.column_stack(task.signs(target))
        if task.factors is not None:
            signs = signs * (task.factors[target] > 0.0)[:, None]  # what costs nothing supports nothing
        nearest = np.where(signs > 0, found.lower, -found.upper)  # the least margin of any exact solution
        farthest = np.where(signs > 0, found.upper, -found.lower)
        # A row that has no part in a problem is a support vector of none of its solutions.
        status = np.where(farthest < 1.0, 1, np.where(nearest > 1.0, -1, 0)) * (signs != 0) - (signs == 0)
        return np.asarray(status[:, 0] if status.shape[1] == 1 else status, np.int8)

    def _target(self, y: Any, n_rows: int) -> Any:
        """The class numbers of this many rows."""
        y = np.asarray(y)
        if y.shape != (n_rows,):
            raise PegasosError(f"y must name the class of each of the {n_rows} rows, got shape {y.shape}.")
        try:
            return self.fitted_.task.target(y, None)
        except TypeError as error:
            raise PegasosError(f"y must hold classes such as {self.classes_[0]!r}: {error}.") from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._takes_indicators and not getattr(self, "probability", False)
        return tags

    def _how_to_read_target(self, y: Any) -> dict[str, Any]:
        if self._takes_indicators and is_indicator(y):
            return {"multi_output": True}
        check_labels(y)
        return {}

    def _check_target(self, items: Any, y: Any) -> Any:
        return check_indicator(items, y) if self._takes_indicators and is_indicator(y) else check_target(items, y)

    def _scores(self, X: Any, fitted: Fit) -> npt.NDArray[np.float64]:
        return fitted.scores(self._read_new(X), threads_of(self.n_jobs))
