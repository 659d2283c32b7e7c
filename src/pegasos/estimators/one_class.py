"""The one-class machine with its certificate: linear and with kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from pegasos import checks as check
from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators import _checks
from pegasos.estimators.certified import CertifiedModel
from pegasos.estimators.inputs import keeps_on_failure
from pegasos.estimators.parameters import DEFAULT_LAM
from pegasos.estimators.reading import ReadsItems, ReadsRows
from pegasos.estimators.watching import Onlookers, with_callbacks
from pegasos.fitting import WarmStart, fit
from pegasos.layouts import numbers as layout
from pegasos.machines.settings import Settings
from pegasos.machines.solving import threads_of
from pegasos.tasks import OneClass


@dataclass(eq=False, repr=False, kw_only=True)
class OneClassParameters:
    """What the one-class machines have."""

    nu: float = field(default=0.5, kw_only=False)
    solver: str = "auto"
    tol: float = 1e-3
    max_iter: int | None = None
    time_budget: float | None = None
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    _is_free = False  # the offset is the only intercept
    prior = None

    def _task(self, name: str | None = None) -> OneClass:
        return OneClass()

    def _settings(self) -> Settings:
        return Settings(
            lam=DEFAULT_LAM,
            C=None,
            solver=self.solver,
            bias=0.0,
            is_free=False,
            prior=None,
            tol=self.tol,
            max_iter=_checks.epochs_of(self),
            time_budget=self.time_budget,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            nu=float(self.nu),
        )

    def _check_one_class(self, solvers: tuple[str, ...]) -> None:
        if self.nu is None:
            raise PegasosError("nu must be a number above 0 and at most 1, got None; 0.5 is the default.")
        check.check_share("nu", self.nu)
        check.check_word("solver", self.solver, solvers)
        check.check_positive("tol", self.tol)
        if self.max_iter is not None:
            check.check_count("max_iter", self.max_iter)
        check.check_optional("time_budget", self.time_budget)
        check.check_flag("warm_start", self.warm_start)
        check.check_jobs(self.n_jobs)


class TrainedOneClass(OutlierMixin, CertifiedModel):
    """A certified estimator that tells what belongs to its rows from what does not."""

    @property
    def lam_(self) -> Any:
        """The lam whose dual point adds up to the share nu."""
        return self.solved_lam_

    @with_callbacks
    @keeps_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the lam whose dual point adds up to the share nu, and train until the gap is proved.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features); with a kernel, any collection that the kernel takes
        y : ignored
        sample_weight : array of shape (n_rows,), optional
            A weight of 2 is equivalent to repeating the row, a weight of 0 to leaving it out.
        """
        self._check_parameters()
        settings, data = self._settings(), self._read(X, y, sample_weight, reset=True)
        start = WarmStart(self.fitted_) if self.warm_start and hasattr(self, "fitted_") else None
        audience = Onlookers.of(self, X, y, settings.max_iter, verbose=self.verbose)
        task = self._task().of_rows(_num_samples(data.X), data.weights)
        self._write(fit(self._machine(), task, settings, data, start=start, audience=audience))
        self._warn_of_gap()
        return self

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training rows and the stored dual point, trusting no solver.

        Parameters
        ----------
        X, sample_weight
            The rows of the fit, in the same order.
        y : ignored
        """
        check_is_fitted(self, "fitted_")
        if self.fitted_.origin is not None:
            raise PegasosError(
                f"the model was read from {self.fitted_.origin}, which lacks its nu and its unit: fit one here with "
                f"{type(self).__name__}(nu=...), which has a certificate."
            )
        return super().certify(X, y, sample_weight)

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """Score each sample: larger means more typical; outliers are below `offset_`."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """``score_samples(X) - offset_``: negative for outliers."""
        check_is_fitted(self, "fitted_")
        fitted = self._current
        decisions: npt.NDArray[np.float64] = fitted.task.decisions(
            fitted.scores(self._read_new(X), threads_of(self.n_jobs))
        )
        return decisions

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return 1 for inliers, -1 for outliers."""
        decisions = self.decision_function(X)
        answer: npt.NDArray[Any] = self.fitted_.task.answer(decisions)
        return answer

    @property
    def offset_(self) -> float:
        """The score below which a sample is an outlier: ``-intercept_[0]``."""
        check_is_fitted(self, "fitted_")
        return -float(self._current.model.intercept[0])

    def _how_to_read_target(self, y: Any) -> dict[str, Any]:
        return {"is_absent": True}

    def _check_target(self, items: Any, y: Any) -> Any:
        return None


@dataclass(eq=False, repr=False)
class PegasosOneClass(ReadsRows, TrainedOneClass, OneClassParameters):
    """Linear one-class support vector machine that proves how good its solution is.

    Separates the data from the origin by a plane with the largest margin, leaving at most a share ``nu`` on the side of
    the origin. This suits data that points in one direction; for a region around the data, use
    `KernelPegasosOneClass`, or this class behind a kernel approximation such as
    `sklearn.kernel_approximation.Nystroem`, for any number of samples.

    Parameters
    ----------
    nu : float, default=0.5
        An upper bound on the share of outliers in the training data and a lower bound on that of support vectors.
    solver : {"auto", "dual"}, default="auto"
    tol : float, default=1e-3
        The relative duality gap. The search for nu uses at most 1e-6.
    max_iter : int, optional
        Maximum number of epochs of each solve of the search.
    time_budget : float, optional
        Time limit in seconds for each solve of the search.
    warm_start, n_jobs, random_state, verbose
        As in `PegasosClassifier`.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    offset_ : float
        ``decision_function(X) = score_samples(X) - offset_``.
    certificate_ : Certificate
        That of the problem at the lam found (``lam_``).
    alpha_ : array of shape (n_rows,)
        The dual point: its sum is nu times the sum of the sample weights.
    support_ : array of int
        Indices of samples with alpha above 0: outliers and those on the edge.
    status_, trace_, n_iter_, n_steps_, lam_, fitted_, n_features_in_, feature_names_in_
        As in `PegasosClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import PegasosOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 5.0
    >>> model = PegasosOneClass(nu=0.1, random_state=0).fit(X)
    >>> bool((model.predict(X) == -1).mean() <= 0.1)
    True
    >>> model.predict([[0.1, 0.1], [6.0, 6.0]])
    array([-1,  1])
    """

    _saved = layout.linear

    def _check_parameters(self) -> None:
        self._check_one_class(("auto", "dual"))


@dataclass(eq=False, repr=False)
class KernelPegasosOneClass(ReadsItems, TrainedOneClass, OneClassParameters):
    """Kernel one-class support vector machine that proves how good its solution is.

    Finds the region that contains all but a share ``nu`` of the data, by the method of Schoelkopf et al. (2001), as in
    scikit-learn's `OneClassSVM`. Scores are scaled so that the margin is 1; multiplied by ``lam_ * N`` they equal those
    of LIBSVM.

    Parameters
    ----------
    kernel, gamma, sigma, degree, coef0, cache_size
        As in `KernelPegasosClassifier`.
    nu : float, default=0.5
        An upper bound on the share of outliers in the training data and a lower bound on that of support vectors.
    solver : {"auto", "decomposition"}, default="auto"
    max_support : None, default=None
        Not supported: dropping support vectors would change nu.
    tol, max_iter, time_budget, warm_start, n_jobs, random_state, verbose
        As in `PegasosOneClass`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, kernel_
        As in `KernelPegasosClassifier`.
    intercept_, offset_, certificate_, alpha_, status_, trace_, n_iter_, n_steps_, lam_, fitted_
        As in `PegasosOneClass`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelPegasosOneClass(gamma=0.5, nu=0.1, random_state=0).fit(X)
    >>> bool((model.predict(X) == -1).mean() <= 0.1)
    True
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    _saved = layout.kernel
    nu: float = field(default=0.5, kw_only=True)

    def _check_parameters(self) -> None:
        self._check_one_class(("auto", "decomposition"))
        if self.max_support is not None:
            raise PegasosError(f"max_support={self.max_support!r} is not supported: dropping rows would change nu.")
        self._check_kernel()
