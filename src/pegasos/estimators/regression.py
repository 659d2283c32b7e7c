"""Support vector regression with its certificate: linear and with kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pegasos import checks as check
from pegasos.docstrings import documented_by
from pegasos.errors import PegasosError
from pegasos.estimators._training import TrainedModel, can_stream
from pegasos.estimators.certified import CertifiedModel
from pegasos.estimators.inputs import keeps_on_failure
from pegasos.estimators.items import check_numbers
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.parameters import DEFAULT_LAM, SolverParameters
from pegasos.estimators.reading import ReadsItems, ReadsRows
from pegasos.estimators.sources import TrainsOnSources
from pegasos.layouts import numbers as layout
from pegasos.losses import REGRESSION_LOSSES, loss_of
from pegasos.machines.settings import Settings
from pegasos.machines.solving import threads_of
from pegasos.tasks import Regression


@dataclass(eq=False, repr=False, kw_only=True)
class RegressionParameters(SolverParameters):
    """What the regressors have."""

    loss: str = "epsilon_insensitive"
    epsilon: float = 0.1
    quantile: float = 0.5
    delta: float = 1.35

    def _settings(self) -> Settings:
        """What the parameters ask of a fit."""
        return replace(super()._settings(), loss=loss_of(self.loss, float(self.delta)))

    def _task(self, name: str | None = None) -> Regression:
        epsilon = 0.0 if self.nu is not None else float(self.epsilon)
        return Regression(self.loss, epsilon, float(self.quantile))

    def _check_regression(self, solvers: tuple[str, ...]) -> None:
        check.check_word("loss", self.loss, REGRESSION_LOSSES)
        if not check.is_number(self.epsilon) or not 0.0 <= float(self.epsilon) < math.inf:
            raise PegasosError(f"epsilon must be a number of at least 0, got {check.shown(self.epsilon)}.")
        if not check.is_number(self.quantile) or not 0.0 < float(self.quantile) < 1.0:
            raise PegasosError(
                f"quantile must lie between 0 and 1, both excluded, got {check.shown(self.quantile)}; 0.5 is "
                "the median."
            )
        check.check_positive("delta", self.delta)
        if self.nu is not None and self.loss != "epsilon_insensitive":
            raise PegasosError(f"nu sets epsilon of loss='epsilon_insensitive', got loss={self.loss!r}; give nu=None.")
        if self.C is not None and math.inf == self.C:
            raise PegasosError("C=inf is a hard margin, which regression does not have; give a finite C.")
        check.check_word("sampling", self.sampling, ("shuffle", "uniform"))
        self._check_solver(solvers)


class CertifiedRegressor(RegressorMixin, CertifiedModel):
    """A certified estimator that predicts numbers."""

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The prediction for each row: of shape (n_rows,), or (n_rows, n_targets) where y had two dimensions."""
        check_is_fitted(self, "fitted_")
        fitted = self._current
        scores = fitted.scores(self._read_new(X), threads_of(self.n_jobs))
        predicted: npt.NDArray[np.float64] = fitted.task.decisions(scores)
        return predicted

    def predict_interval(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Bounds of what the exact solution of the training problem predicts, for each row.

        They follow from the certificate of the fit and shrink with ``tol``. They are not a statistical interval: they
        say nothing about how far the true target may be; for that fit two quantiles.

        Parameters
        ----------
        X : rows, as in `predict`

        Returns
        -------
        lower, upper : arrays of the shape of ``predict(X)``
        """
        found, task = self._intervals(X), self.fitted_.task
        return task.decisions(found.lower), task.decisions(found.upper)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _how_to_read_target(self, y: Any) -> dict[str, Any]:
        if y is not None:
            check_numbers(y, y)
        return {"multi_output": True, "y_numeric": True}

    def _check_target(self, items: Any, y: Any) -> Any:
        return check_numbers(items, y)


class TrainedRegressor(TrainedModel, CertifiedRegressor):
    """A regressor that also learns from a stream."""

    @available_if(can_stream)
    @keeps_on_failure
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make one pass of Pegasos over a block of samples; the step count continues.

        The certificate covers only the last block.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        """
        return self._pass_over(X, y, sample_weight, y)


@documented_by(PegasosClassifier)
@dataclass(eq=False, repr=False)
class PegasosRegressor(ReadsRows, TrainsOnSources, TrainedRegressor, RegressionParameters):
    """Linear support vector regression that proves how good its solution is.

    Minimizes ``lam/2 |w|^2 + (1/N) sum_i loss(y_i - <w, x_i> - b)`` and stops when the result is *provably* within a
    relative duality gap of ``tol``, or at ``max_iter`` or ``time_budget``; it always returns the certificate it
    reached.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the regularization.
    C : float, optional
        The other convention: sets ``lam = 1 / (C N)``, N being the sum of the sample weights, so that the objective is
        that of scikit-learn's `LinearSVR` and `SVR`, ``1/2 |w|^2 + C sum_i loss_i``. Give one of the two.
    nu : float, optional
        Instead of ``epsilon``, for ``loss="epsilon_insensitive"``: the tube leaves at most this share of
        the samples outside, as in scikit-learn's `NuSVR`; ``epsilon_`` is its half width.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "huber"}, default="epsilon_insensitive"
        Loss of the residual r = y - prediction. "epsilon_insensitive": ``max(0, |r| - epsilon)``.
        "squared_epsilon_insensitive": the square of that. "quantile": ``quantile * r`` if the target is above the
        prediction, ``(quantile - 1) * r`` if it is below. "huber": ``r^2 / 2`` up to ``|r| = delta``, a line beyond.
    epsilon : float, default=0.1
        Half the width of the tube in which errors have no loss, in units of y.
    delta : float, default=1.35
        The residual at which "huber" becomes linear, in units of y.
    quantile : float, default=0.5
        The share of targets that should lie below the prediction, for ``loss="quantile"``; 0.5 is the median.
    solver : {"auto", "pegasos", "dual", "cutting_plane", "interior_point"}, default="auto"
        As in `PegasosClassifier`.
    batch_size, projection, average, fit_intercept, regularize_intercept, intercept_scaling
        As in `PegasosClassifier`.
    sampling : {"shuffle", "uniform"}, default="shuffle"
        The order of Pegasos: shuffled epochs, or uniformly at random as in the paper.
    prior : fitted linear regressor, (coef, intercept) or None, default=None
        A model learned from other data: the weights are regularized toward it, ``lam/2 |w - w0|^2``, instead of toward
        0.
    tol, max_iter, max_steps, time_budget, warm_start, n_jobs, random_state, verbose
        As in `PegasosClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
    epsilon_ : float, or array of shape (n_targets,)
        Half the width of the tube that was used.
    certificate_ : Certificate
        primal, dual, gap, relative_gap, weight_radius, and one part for each target.
    alpha_ : array of shape (2 n_rows,); for several targets a list of those
        The dual point: first the entries of the rows whose target is above the tube, then of those below.
    support_ : array of int
        Rows with alpha above 0, for any target: those outside the tube or on its edge.
    status_, trace_, n_iter_, n_steps_, lam_, fitted_, n_features_in_, feature_names_in_
        As in `PegasosClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PegasosRegressor(C=1.0, epsilon=5.0, random_state=0).fit(scale(X), y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> round(model.score(scale(X), y), 2)
    0.41
    """

    _saved = layout.linear
    lam: float = field(default=DEFAULT_LAM, kw_only=False)

    def _check_parameters(self) -> None:
        self._check_regression(("auto", "pegasos", "dual", "cutting_plane", "interior_point"))


@documented_by(PegasosRegressor)
@dataclass(eq=False, repr=False)
class KernelPegasosRegressor(ReadsItems, TrainedRegressor, RegressionParameters):
    """Kernel support vector regression that proves how good its solution is.

    Minimizes ``lam/2 |w|^2 + (1/N) sum_i loss(y_i - <w, phi(x_i)> - b)`` over the weights w of the feature space of the
    kernel, and stops when the result is *provably* within a relative duality gap of ``tol``, or at ``max_iter`` or
    ``time_budget``; it always returns the certificate it reached.

    Parameters
    ----------
    kernel, gamma, sigma, degree, coef0, solver, max_iter, max_steps, time_budget, cache_size, max_support
        As in `KernelPegasosClassifier`.
    lam, C, nu, loss, epsilon, quantile, delta
        As in `PegasosRegressor`.
    batch_size, projection, average, fit_intercept, regularize_intercept, intercept_scaling, sampling
        As in `PegasosRegressor`.
    prior : fitted regressor, (coef, intercept) or None, default=None
        A model learned from other data: any fitted model with ``predict``. Its predictions are added to the learned
        ones, and only the difference is regularized.
    tol, warm_start, n_jobs, random_state, verbose
        As in `PegasosRegressor`.

    Attributes
    ----------
    support_ : array of int
        Training rows that contribute to a prediction, for any target.
    support_vectors_ : those rows, in the form they came in
    dual_coef_ : array of shape (n_targets, n_support)
        ``predict(x) = dual_coef_ @ K(support_vectors_, x) + intercept_``, plus the prior's, if there is one.
    intercept_ : array of shape (n_targets,)
    kernel_ : Kernel
        The kernel used, with the parameters that X gave it.
    epsilon_, certificate_, alpha_, status_, trace_, n_iter_, n_steps_, lam_, fitted_, n_features_in_, feature_names_in_
        As in `PegasosRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosRegressor
    >>> X = np.linspace(0.0, 6.0, 100)[:, None]
    >>> model = KernelPegasosRegressor(C=10.0, gamma=1.0, epsilon=0.1, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.15)
    True
    """

    _saved = layout.kernel

    def _check_parameters(self) -> None:
        self._check_regression(("auto", "pegasos", "decomposition", "smo"))
        self._check_kernel()
