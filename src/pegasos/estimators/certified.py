"""What a certified estimator does with its `Fit`: predict, certify, report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pegasos import checks as check
from pegasos.certificate import Certificate
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators import _checks
from pegasos.estimators._attributes import attributes_of
from pegasos.estimators.warnings import GapWarning
from pegasos.estimators.watching import CallbackSupportMixin
from pegasos.fitting.certify import recertify, with_dual_point
from pegasos.fitting.probability import agreeing
from pegasos.fitting.result import Fit
from pegasos.machines.base import Data
from pegasos.machines.solving import threads_of
from pegasos.persistence import Saved
from pegasos.tasks import winners


class CertifiedModel(Saved, CallbackSupportMixin, BaseEstimator):
    """Base of the certified estimators, whatever their targets are: a fitted one has its `Fit` in ``fitted_``."""

    fitted_: Fit
    certificate_: Certificate
    status_: str

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
        return recertify(self._machine(), fitted, data)

    def certified(self, X: Any) -> npt.NDArray[np.bool_]:
        """For each row: whether every exact solution of the training problem predicts the same.

        An exact solution's weights lie within ``weight_radius`` of ours, so its score of a row x lies within
        ``|x| weight_radius``.
        """
        check_is_fitted(self, "fitted_")
        if self.fitted_.origin is None:
            check_is_fitted(self, "certificate_")
        return self._current.settled(self._read_new(X))

    @property
    def solved_lam_(self) -> Any:
        """The lam of the problem that was solved; for ``multi_class="ovo"`` one for each pair.

        With C it is 1 / (C N), and for ``C=inf`` so small that no dual variable reaches its bound. The dual variables
        of the textbook, with w = sum_i a_i y_i x_i, are ``alpha_ / (solved_lam_ * N)``, N being the sum of the weights.
        """
        check_is_fitted(self, "certificate_")
        return self.fitted_.lam

    def report(self, X: Any, y: Any, path: Any = None) -> Any:
        """One HTML page about the model: what is proved, how it performs on these rows, what it looks at.

        The page is a single file that needs no network; see `pegasos.report`.

        Parameters
        ----------
        X : rows, as in `predict`
            Those of the fit, or others: the page says which.
        y : array of shape (n_rows,)
            Their targets.
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

    def __sklearn_clone__(self) -> Any:
        """A clone keeps its prior as it is, fitted."""
        clone = super().__sklearn_clone__()
        if hasattr(self, "prior"):
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
            for name in attributes_of(self.fitted_):
                self.__dict__.pop(name, None)
        self.__dict__.update(attributes_of(fitted))

    def _warn_of_gap(self) -> None:
        if not self.fitted_.is_satisfied:
            warn_caller(self.status_, GapWarning)

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Data:
        """X, y and the weights, checked as scikit-learn does."""
        raise NotImplementedError

    def _read_new(self, X: Any) -> Data:
        """X for a fitted estimator."""
        raise NotImplementedError


def _has_probabilities(model: Any) -> bool:
    if not getattr(model, "probability", False):
        raise AttributeError("probabilities are fitted only with probability=True.")
    return True


class CertifiedClassifier(ClassifierMixin, CertifiedModel):
    """A certified estimator that predicts classes."""

    classes_: npt.NDArray[Any]

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
        """The probability of each class, of shape (n_rows, n_classes); the class predicted has the largest.

        By Platt's method, on scores of rows that their model had not seen. Needs ``probability=True`` at the fit.
        """
        check_is_fitted(self, "classes_")
        fitted = self._current
        if fitted.calibration is None:
            raise PegasosError("the model was fitted without probabilities; fit it with probability=True.")
        scores, task = self._scores(X, fitted), fitted.task
        found = task.probabilities(fitted.calibration.of_problems(task.against_others(scores)))
        return agreeing(found, winners(task.decisions(scores)))

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
        y = np.asarray(y)
        if y.shape != (len(scores),):
            raise PegasosError(f"y must name the class of each of the {len(scores)} rows, got shape {y.shape}.")
        try:
            target = fitted.task.target(y, None)
        except TypeError as error:
            raise PegasosError(f"y must hold classes such as {self.classes_[0]!r}: {error}.") from error
        check.check_flag("geometric", geometric)
        margins: npt.NDArray[np.float64] = fitted.task.margins(
            scores, target, fitted.model.products() if geometric else None
        )
        return margins

    def _scores(self, X: Any, fitted: Fit) -> npt.NDArray[np.float64]:
        return fitted.scores(self._read_new(X), threads_of(self.n_jobs))
