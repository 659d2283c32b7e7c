"""LinearSVC and LinearSVR: scikit-learn's estimators over the linear machine."""

from __future__ import annotations

import logging
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import sklearn.svm._classes as theirs
from sklearn.base import RegressorMixin
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils.validation import check_is_fitted

from pegasos.errors import warn_caller
from pegasos.estimators.certified import CertifiedClassifier, CertifiedModel, Evidence
from pegasos.estimators.inputs import keeps_on_failure
from pegasos.estimators.items import check_numbers
from pegasos.estimators.reading import ReadsRows
from pegasos.estimators.warnings import GapWarning
from pegasos.estimators.watching import Onlookers, with_callbacks
from pegasos.fitting import fit
from pegasos.fitting.result import Fit, Origin
from pegasos.losses import HINGE, loss_of
from pegasos.machines.linear import LinearModel
from pegasos.machines.settings import Settings
from pegasos.tasks import CLASSIFICATIONS, OneVsRest, Regression

_log = logging.getLogger("pegasos.svm")
_OF_TOL = 1e-2  # the relative gap that scikit-learn's tol corresponds to
_LEAST_GAP = 1e-14  # below, rounding is in the way


class LinearSVM(ReadsRows, CertifiedModel):
    """What LinearSVC and LinearSVR share; a subclass has the parameters."""

    n_jobs = None
    penalty: str = "l2"
    multi_class: str = "ovr"

    @with_callbacks
    @keeps_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X with targets y.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Multiplies C for each row.
        """
        self._validate_params()
        self._check_combination()
        data = self._read(X, y, sample_weight, reset=True)
        if self.penalty == "l1":
            return self._handed_over(data.X, data.y, sample_weight)  # type: ignore[no-any-return]
        settings = self._settings()
        audience = Onlookers.of(self, X, y, settings.max_iter, verbose=int(self.verbose))
        self._write(fit(self._machine(), self._task(), settings, data, audience=audience))
        self._evidence = Evidence(X, y, sample_weight)
        self._warn_of_gap()
        return self

    def _settings(self) -> Settings:
        return Settings(
            lam=None,
            C=float(self.C),
            solver="auto",
            bias=float(self.intercept_scaling) if self.fit_intercept else 0.0,
            is_free=False,
            prior=None,
            tol=max(_OF_TOL * self.tol, _LEAST_GAP),
            max_iter=max(1, int(self.max_iter)),
            time_budget=self.time_budget,
            random_state=0 if self.random_state is None else self.random_state,
            n_jobs=None,
            loss=HINGE if self.multi_class == "crammer_singer" else loss_of(self.loss),
        )

    def _check_combination(self) -> None:
        """What LIBLINEAR does not have."""
        is_broken = self.loss in ("hinge", "epsilon_insensitive")  # which LIBLINEAR solves in the dual alone
        has_form = self.dual == "auto" or (self.penalty == "l2" if self.dual else not is_broken)
        is_known = has_form and (self.penalty == "l2" or not is_broken)
        if not is_known and self.multi_class == "ovr":
            raise ValueError(
                f"Unsupported set of arguments: penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r}"
            )

    def _warn_of_gap(self) -> None:
        if not self.fitted_.is_satisfied:
            text = "Liblinear failed to converge, increase the number of iterations. "
            warn_caller(text + self.status_, GapWarning)

    @property
    def _current(self) -> Fit:
        coef, model = self.coef_, self.fitted_.model
        coef = coef.toarray() if sp.issparse(coef) else np.atleast_2d(coef)
        intercept = np.broadcast_to(np.asarray(self.intercept_, np.float64), len(coef))
        if np.array_equal(coef, model.coef) and np.array_equal(intercept, model.intercept):  # type: ignore[attr-defined]
            return self.fitted_
        return replace(self.fitted_, model=LinearModel(coef, np.array(intercept)))


@dataclass(eq=False, repr=False)
class LinearSVC(SparseCoefMixin, LinearSVM, CertifiedClassifier):
    """Linear support vector classification as in scikit-learn's LinearSVC, with a certificate.

    Methods and other attributes are those of `sklearn.svm.LinearSVC`. ``tol`` stands for a relative duality gap of
    ``tol / 100``. ``dual`` has no effect, but combinations that LIBLINEAR lacks raise an error. ``penalty="l1"`` is
    trained by scikit-learn, without a certificate.

    Parameters
    ----------
    penalty, loss, dual, tol, C, multi_class, fit_intercept, intercept_scaling, class_weight, verbose, random_state,
    max_iter
        As in scikit-learn.
    time_budget : float, optional
        Time limit in seconds.

    Attributes
    ----------
    certificate_, status_, trace_, alpha_, fitted_
        As in `pegasos.PegasosClassifier`; the others are those of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC().fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-5
    True
    """

    penalty: str = "l2"
    loss: str = "squared_hinge"
    _: KW_ONLY
    dual: bool | str = "auto"
    tol: float = 1e-4
    C: float = 1.0
    multi_class: str = "ovr"
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: Any = None
    verbose: int = 0
    random_state: Any = None
    max_iter: int = 1000
    time_budget: float | None = None

    _parameter_constraints = theirs.LinearSVC._parameter_constraints

    def _task(self, name: str | None = None) -> OneVsRest:
        return CLASSIFICATIONS[name or self.multi_class](self.class_weight)

    def _handed_over(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """The L1 penalty, which scikit-learn's own class has."""
        _log.info("LinearSVC(penalty='l1') is trained by scikit-learn: pegasos has no solver for it, and no proof.")
        parameters = {name: value for name, value in self.get_params().items() if name != "time_budget"}
        other = theirs.LinearSVC(**parameters).fit(X, y, sample_weight)
        intercept = np.broadcast_to(np.asarray(other.intercept_, np.float64), len(other.coef_)).copy()
        origin = Origin("scikit-learn's LinearSVC(penalty='l1')")
        self._write(Fit(LinearModel(other.coef_, intercept), OneVsRest.of(other.classes_), origin=origin))
        self.n_iter_ = int(other.n_iter_)
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVR(RegressorMixin, LinearSVM):
    """Linear support vector regression as in scikit-learn's LinearSVR, with a certificate.

    Methods and other attributes are those of `sklearn.svm.LinearSVR`.

    Parameters
    ----------
    epsilon, tol, C, loss, fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter
        As in scikit-learn.
    time_budget : float, optional
        Time limit in seconds.

    Attributes
    ----------
    certificate_, status_, trace_, alpha_, fitted_
        As in `pegasos.PegasosRegressor`; the others are those of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pegasos.svm import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR().fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-5
    True
    """

    epsilon: float = 0.0
    tol: float = 1e-4
    C: float = 1.0
    loss: str = "epsilon_insensitive"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    dual: bool | str = "auto"
    verbose: int = 0
    random_state: Any = None
    max_iter: int = 1000
    time_budget: float | None = None

    _parameter_constraints = theirs.LinearSVR._parameter_constraints

    def _task(self, name: str | None = None) -> Regression:
        return Regression(self.loss, float(self.epsilon))

    def _write(self, fitted: Fit) -> None:
        super()._write(fitted)
        self.coef_ = fitted.model.coef.ravel()  # type: ignore[attr-defined]

    def _how_to_read_target(self, y: Any) -> dict[str, Any]:
        if y is not None:
            check_numbers(y, y)
        return {"y_numeric": True}

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The prediction for each row."""
        check_is_fitted(self, "fitted_")
        return self._current.scores(self._read_new(X))[:, 0]
