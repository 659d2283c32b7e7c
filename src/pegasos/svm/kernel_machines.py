"""SVC, NuSVC, SVR, NuSVR and OneClassSVM: scikit-learn's estimators over the kernel machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import sklearn.svm._classes as theirs
from sklearn.base import OutlierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import assert_all_finite, column_or_1d, compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators.certified import CertifiedClassifier, CertifiedModel, Evidence
from pegasos.estimators.inputs import are_plain_numbers, is_plain_target, keeps_on_failure, read_doubles
from pegasos.estimators.warnings import GapWarning
from pegasos.estimators.watching import Onlookers, with_callbacks
from pegasos.fitting import fit
from pegasos.fitting.probability import calibrated_on
from pegasos.fitting.result import Fit
from pegasos.kernels import FunctionKernel, Precomputed
from pegasos.kernels.mercer import check_items
from pegasos.kernels.precomputed import Tabled
from pegasos.machines.base import Data
from pegasos.machines.kernel import Kernel
from pegasos.machines.kernel_choice import KernelChoice
from pegasos.machines.settings import Settings
from pegasos.svm.layout import Laid, like, of_classes, of_numbers
from pegasos.tasks import OneClass, Regression
from pegasos.tasks.labels import distinct, encode
from pegasos.tasks.one_vs_one import OneVsOne, pairs_of
from pegasos.tasks.voting import Voting

_OF_TOL = 1e-3  # the relative gap that a violation of tol corresponds to
_MANY, _OF_MANY = 4096, 1e-2  # the same above this many rows, which single precision proves
_FEW, _OF_FEW = 300, 1e-6  # up to this many rows go on to this share of that gap, where it takes few steps
_LEAST_GAP = 1e-13  # below, rounding is in the way
_EPOCHS, _DOUBTFUL_EPOCHS = 100_000, 1000  # for max_iter=-1; the second for what may not be a kernel
_TABLE = 4096  # rows whose kernel values are computed at once, where the kernel is a function
_TO_DECOMPOSE = 5000  # rows with kernel="linear" that are trained on by their kernel values
_DENSE = 1 << 22  # entries of a sparse matrix that is trained on as a dense one
_NOT_FINITE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values and need to be "
    "preprocessed."
)
_HOW: dict[str, Any] = {"dtype": np.float64, "order": "C", "accept_sparse": "csr", "accept_large_sparse": False}
_NO_PROBABILITY = theirs.SVC().probability  # "deprecated" from version 1.9 on, False before


@dataclass(frozen=True)
class PairwiseKernel:
    """A kernel function of scikit-learn with its parameters, for those that are none of `pegasos.kernels`."""

    name: str
    parameters: tuple[tuple[str, Any], ...]

    def __call__(self, A: Any, B: Any) -> npt.NDArray[np.float64]:
        """The values for each row of A with each of B."""
        return np.asarray(pairwise_kernels(A, B, metric=self.name, **dict(self.parameters)))


@dataclass(eq=False, repr=False, kw_only=True)
class KernelSVM(CertifiedModel):
    """What the estimators over a kernel share."""

    kernel: str | Callable[[Any, Any], Any] = "rbf"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    shrinking: bool = True
    tol: float = 1e-3
    cache_size: float = 200
    verbose: bool = False
    max_iter: int = -1
    time_budget: float | None = None

    n_jobs = None
    _is_free = True
    _largest_c = np.inf
    _factor = 1.0  # from scores to those of LIBSVM
    _sparse = False  # whether rows came sparse
    _X_fit = None  # what a callable kernel compares with

    @with_callbacks
    @keeps_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X with targets y.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The kernel matrix for kernel="precomputed"; anything that the function takes for a callable kernel.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Multiplies C for each row. Rows with a weight of 0 or less are left out.
        """
        self._validate_params()
        data = self._read(X, y, sample_weight, reset=True)
        self._gamma = self._gamma_for(data.X)
        kernel, rows = self._kernel_for(data)
        task: Any = self._task_for(data)
        settings = self._settings(data)
        audience = Onlookers.of(self, X, y, settings.max_iter, verbose=int(self.verbose))
        machine = Kernel(kernel, float(self.cache_size))
        fitted = self._completed(fit(machine, task, settings, rows, audience=audience), rows)
        if isinstance(kernel.kernel, Tabled):
            model: Any = fitted.model
            of_new, vectors = self._function, np.empty((0, 0)) if self._is_matrix else data.X[model.support]
            model = replace(model, kernel=of_new, support_vectors=vectors)
            fitted = replace(fitted, model=model)
            if not check_items(kernel.kernel, kernel.kernel.read(rows.X), max_items=64).valid:
                fitted = fitted.in_doubt
        self._write(fitted)
        self._lay_out(data)
        self.shape_fit_ = getattr(X, "shape", (_num_samples(X),))
        if not self.fitted_.doubt and not callable(self.kernel):
            self._evidence = Evidence(X, y, sample_weight)
        self._warn_of_gap()
        return self

    def _lay_out(self, data: Data) -> None:
        """The attributes of LIBSVM."""
        self._laid = laid = self._laid_out(data)
        self.support_, self._n_support, self.intercept_ = laid.support, laid.counts, laid.intercept
        if not (np.isfinite(laid.dual_coef).all() and np.isfinite(laid.intercept).all()):
            raise ValueError(_NOT_FINITE)
        shown = data.given if self._sparse else data.X
        self.dual_coef_ = like(shown, laid.dual_coef)
        self.support_vectors_ = np.empty((0, 0)) if self._is_matrix else shown[laid.support]
        each = zip(self.trace_.parts, self.fitted_.alphas, strict=True)
        visits = [round(part.rows[-1].epoch * len(alpha)) if part.rows else 0 for part, alpha in each]
        most = np.inf if self.max_iter < 0 else self.max_iter
        steps = np.minimum(visits, most).astype(np.int32)
        self.n_iter_ = steps if hasattr(self, "classes_") else int(steps.sum())
        self.fit_status_ = int(not self.fitted_.is_satisfied or max(visits) >= most)

    def _laid_out(self, data: Data) -> Laid:
        return of_numbers(self.fitted_, self._factor)

    def _completed(self, fitted: Fit, rows: Data) -> Fit:
        return fitted

    def _settings(self, data: Data) -> Settings:
        n_rows = _num_samples(data.X)
        tol = max((_OF_TOL if n_rows <= _MANY else _OF_MANY) * self.tol, _LEAST_GAP)
        epochs = _EPOCHS if self.kernel in ("linear", "rbf", "poly") else _DOUBTFUL_EPOCHS
        return Settings(
            lam=1e-4,
            C=min(float(self.C), self._largest_c) if hasattr(self, "C") else None,
            solver="decomposition" if n_rows <= _TO_DECOMPOSE else "auto",
            bias=0.0,
            is_free=self._is_free,
            prior=None,
            tol=tol,
            fine=max(_OF_FEW * tol, _LEAST_GAP) if n_rows <= _FEW else 0.0,
            max_iter=epochs if self.max_iter < 0 else max(1, -(-self.max_iter // n_rows)),
            max_steps=None if self.max_iter < 0 else self.max_iter,
            time_budget=self.time_budget,
            random_state=getattr(self, "random_state", None) or 0,
            n_jobs=None,
            nu=getattr(self, "nu", None),
        )

    def _warn_of_gap(self) -> None:
        early = (
            f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with "
            "StandardScaler or MinMaxScaler. "
        )
        if self.fit_status_ != 0:
            warn_caller(("" if self.max_iter < 0 else early) + self.status_, GapWarning)

    @property
    def _is_matrix(self) -> bool:
        """Whether the machine is given kernel values, not rows."""
        return callable(self.kernel) or self.kernel == "precomputed"

    @property
    def _current(self) -> Fit:
        return self.fitted_

    def _machine(self) -> Kernel:
        return Kernel(KernelChoice(self.fitted_.model.kernel), float(self.cache_size))  # type: ignore[attr-defined]

    def _gamma_for(self, X: Any) -> float:
        """As scikit-learn counts it: every row once, whatever its weight."""
        if self._is_matrix:
            return 0.0
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "auto":
            return 1.0 / float(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            variance = float((X.multiply(X)).mean() - X.mean() ** 2 if sp.issparse(X) else _variance(X))
        if not np.isfinite(variance):
            raise ValueError(_NOT_FINITE)
        return 1.0 / (X.shape[1] * variance) if variance != 0.0 else 1.0

    def _kernel_for(self, data: Data) -> tuple[KernelChoice, Data]:
        """The choice of the kernel, and the data with items for it."""
        if self._is_matrix:
            report = check_items(Precomputed(), Precomputed().read(data.X), max_items=64)
            if not report.symmetric:
                raise PegasosError(f"the kernel matrix is {report}")
            return KernelChoice(Tabled(data.X)), replace(data, X=np.arange(len(data.X)))
        is_poly = self.kernel == "poly" and self.coef0 >= 0.0 and self.degree > 0
        if self.kernel == "linear" or (self._gamma > 0.0 and (self.kernel == "rbf" or is_poly)):
            return KernelChoice(self.kernel, self._gamma, self.degree, self.coef0), data
        if _num_samples(data.X) > _TABLE:
            return KernelChoice(self._function), data
        table = Tabled(self._function.block(data.X, data.X))
        return KernelChoice(table), replace(data, X=np.arange(_num_samples(data.X)))

    @property
    def _function(self) -> Any:
        """The kernel of new rows, where it is none of `pegasos.kernels`."""
        if self._is_matrix:
            return Precomputed()
        parameters = ("gamma", self._gamma), ("coef0", self.coef0), ("degree", self.degree)
        n_used = {"rbf": 1, "sigmoid": 2, "poly": 3}[str(self.kernel)]
        return FunctionKernel(PairwiseKernel(str(self.kernel), parameters[:n_used]))

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Data:
        is_sparse, given = sp.issparse(X), X
        if is_sparse and not callable(self.kernel) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        if callable(self.kernel):
            check_consistent_length(X, y)
            self._X_fit = X if reset else self._X_fit
            X = self._values_of(X)
            if X.shape != (_num_samples(given),) * 2:
                raise ValueError(f"the kernel of X with itself must be a square matrix of its rows, got {X.shape}.")
        else:
            given = X = read_doubles(self, X, reset=reset, **_HOW)
        if self._is_matrix and X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} one.")
        target = self._check_target(X, y)
        if target is not None and len(target) != X.shape[0]:
            raise ValueError(f"X and y have incompatible shapes: X has {X.shape[0]} samples, but y has {len(target)}.")
        weights = self._weights_of(sample_weight, X.shape, target)
        if reset:
            self._sparse = is_sparse and not callable(self.kernel)
            self._is_dense = not self._sparse or X.shape[0] * X.shape[1] <= _DENSE
        return Data(self._in_form(X), target, weights, given, getattr(self, "feature_names_in_", None))

    def _column(self, y: Any) -> npt.NDArray[Any]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        return y if is_plain_target(y, getattr(y, "size", 0)) else np.asarray(column_or_1d(y, warn=True))

    def _in_form(self, X: Any) -> Any:
        """X in the form that was trained on."""
        if self._is_dense:
            return X.toarray() if sp.issparse(X) else X
        return sp.csr_array(X)

    def _weights_of(self, sample_weight: Any, shape: tuple[int, ...], target: Any) -> Any:
        if sample_weight is None:
            return None
        weights = np.maximum(np.asarray(sample_weight, np.float64), 0.0)
        if weights.shape != shape[:1]:
            raise ValueError(f"sample_weight and X have incompatible shapes: {weights.shape} vs {shape}.")
        if not weights.any():
            text = "Invalid input - all samples have zero or negative weights."
            raise ValueError(text + (" So nu is infeasible." if hasattr(self, "nu") else ""))
        return weights

    def _values_of(self, X: Any) -> npt.NDArray[np.float64]:
        """The callable kernel of rows with those of the fit."""
        values = self.kernel(X, self._X_fit)  # type: ignore[operator]
        return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64, order="C")

    def _read_new(self, X: Any) -> Data:
        if callable(self.kernel):
            X = self._values_of(X)
            if X.ndim != 2 or X.shape[1] != self.shape_fit_[0]:
                raise ValueError(f"X.shape[1] = {X.shape[-1]} should be {self.shape_fit_[0]}, as many as rows at fit")
            return Data(X)
        X = read_doubles(self, X, reset=False, **_HOW)
        if sp.issparse(X) and not self._sparse:
            raise ValueError(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
        if not self._is_matrix and self._n_support.sum() != self.support_vectors_.shape[0]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        return Data(self._in_form(X))

    def _scores(self, X: Any, fitted: Fit | None = None) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        return self._current.scores(self._read_new(X))

    @property
    def coef_(self) -> Any:
        """The weights of the features, for kernel="linear"; read-only."""
        if callable(self.kernel) or self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        found = like(self.support_vectors_, self._laid.of_pairs) @ self.support_vectors_
        (found.data if sp.issparse(found) else found).flags.writeable = False
        return found

    @property
    def n_support_(self) -> npt.NDArray[np.int32]:
        """The number of support vectors of each class."""
        return self._n_support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = not callable(self.kernel) and self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


def _variance(X: npt.NDArray[np.float64]) -> Any:
    """The same bits as ``X.var()``, which takes several times as long for a small matrix."""
    off = X - np.add.reduce(X, axis=None) / X.size
    return np.add.reduce(np.multiply(off, off, out=off), axis=None) / X.size


def _has_folds(data: Data) -> bool:
    """Whether every class has two rows, so that probabilities can be fitted on rows that were not trained on."""
    labels = data.y if data.weights is None else data.y[data.weights > 0.0]
    return bool(np.unique(labels, return_counts=True)[1].min() > 1)


def _has_probabilities(model: Any) -> bool:
    if not model._wants_probabilities:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class ClassifierSVM(KernelSVM, CertifiedClassifier):
    """What SVC and NuSVC share."""

    probability: bool | str = _NO_PROBABILITY
    class_weight: Any = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    random_state: Any = None

    @property
    def _wants_probabilities(self) -> bool:
        return self.probability not in (False, "deprecated")

    def _check_target(self, items: Any, y: Any) -> Any:
        labels = self._column(y)
        are_numbers = labels.dtype.kind in "iub" and len(labels) > 0
        spread = int(labels.max()) - int(labels.min()) if are_numbers else len(labels)
        if 2 * (spread + 1) > len(labels):  # otherwise there are too few labels to refuse, or to warn of
            check_classification_targets(labels)
            spread = len(np.unique(labels)) - 1
        if spread < 1:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        return labels

    def _weights_of(self, sample_weight: Any, shape: tuple[int, ...], target: Any) -> Any:
        weights = super()._weights_of(sample_weight, shape, target)
        if weights is not None and len(np.unique(target[weights > 0.0])) < 2:
            raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
        return weights

    def _task_for(self, data: Data) -> Any:
        if self.probability != _NO_PROBABILITY == "deprecated":
            warnings.warn(
                "The `probability` parameter was deprecated in 1.9 and will be removed in version 1.11. Use "
                f"`CalibratedClassifierCV({type(self).__name__}(), ensemble=False)` instead of "
                f"`{type(self).__name__}(probability=True)`",
                FutureWarning,
                stacklevel=5,
            )
        task = OneVsOne if self.break_ties else Voting
        if self.class_weight is None:
            return task(None)
        classes = distinct(data.y)
        self.class_weight_ = compute_class_weight(self.class_weight, classes=classes, y=data.y)
        return task(dict(zip(classes.tolist(), self.class_weight_.tolist(), strict=True)))

    def _settings(self, data: Data) -> Settings:
        found = super()._settings(data)
        return replace(found, probability="sigmoid") if self._wants_probabilities and _has_folds(data) else found

    def _completed(self, fitted: Fit, rows: Data) -> Fit:
        if not self._wants_probabilities or fitted.calibration is not None:
            return fitted
        return replace(fitted, calibration=calibrated_on(fitted.task, rows, fitted.scores(rows)))

    def _laid_out(self, data: Data) -> Laid:
        if self.class_weight is None:
            self.class_weight_ = np.ones(len(self.classes_))
        model: Any = self.fitted_.model
        return of_classes(self.fitted_, encode(data.y[model.support], self.classes_))

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_samples,) for two classes, else one column per class or per pair of classes."""
        scores = self._scores(X)
        if len(self.classes_) > 2 and self.decision_function_shape == "ovo":
            return -scores
        return np.asarray(self.fitted_.task.decisions(scores))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        scores = self._scores(X)
        if self.break_ties and len(self.classes_) > 2:
            return np.asarray(self.classes_[self.fitted_.task.decisions(scores).argmax(axis=1)])
        return np.asarray(self.classes_[Voting.winners(self.fitted_.task, scores)])

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class."""
        check_is_fitted(self)
        if self.fitted_.calibration is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return np.asarray(super().predict_proba(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def probA_(self) -> npt.NDArray[np.float64]:  # noqa: N802
        """The factor of the score in Platt's sigmoid."""
        return self._platt("probA_", "slopes", -1.0)

    @property
    def probB_(self) -> npt.NDArray[np.float64]:  # noqa: N802
        """The constant in Platt's sigmoid."""
        return self._platt("probB_", "shifts", 1.0)

    def _platt(self, name: str, which: str, sign: float) -> npt.NDArray[np.float64]:
        if _NO_PROBABILITY == "deprecated":
            warnings.warn(f"Attribute `{name}` was deprecated in version 1.9.", FutureWarning, stacklevel=3)
        calibration = self.fitted_.calibration
        return np.empty(0) if calibration is None else sign * getattr(calibration, which)


@dataclass(eq=False, repr=False, kw_only=True)
class SVC(ClassifierSVM):
    """Support vector classification as in scikit-learn's SVC, with a certificate.

    Methods and other attributes are those of `sklearn.svm.SVC`. ``tol`` stands for a relative duality gap of ``tol /
    1000``; with few samples the fit continues toward the exact solution.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter,
    decision_function_shape, break_ties, random_state
        As in scikit-learn. ``shrinking`` is always on.
    time_budget : float, optional
        Time limit in seconds.

    Attributes
    ----------
    certificate_, status_, trace_, alpha_, fitted_
        As in `pegasos.KernelPegasosClassifier`; the others are those of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC().fit(X, y)
    >>> model.n_support_
    array([ 7, 29, 24], dtype=int32)
    >>> model.certificate_.relative_gap <= 1e-6
    True
    """

    C: float = 1.0
    _parameter_constraints = theirs.SVC._parameter_constraints


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVC(ClassifierSVM):
    """Nu-support vector classification as in scikit-learn's NuSVC, with a certificate.

    Methods and other attributes are those of `sklearn.svm.NuSVC`.

    Parameters
    ----------
    nu, kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter,
    decision_function_shape, break_ties, random_state
        As in scikit-learn. ``shrinking`` is always on.
    time_budget : float, optional
        Time limit in seconds.

    Attributes
    ----------
    certificate_, status_, trace_, alpha_, fitted_
        As in `pegasos.KernelPegasosClassifier`; the others are those of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos.svm import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-5
    True
    """

    nu: float = 0.5
    _parameter_constraints = theirs.NuSVC._parameter_constraints

    def _weights_of(self, sample_weight: Any, shape: tuple[int, ...], target: Any) -> Any:
        weights = KernelSVM._weights_of(self, sample_weight, shape, target)
        totals = np.bincount(np.unique(target, return_inverse=True)[1], weights).tolist()
        for i, j in pairs_of(len(totals)):
            if self.nu * (totals[i] + totals[j]) / 2.0 > min(totals[i], totals[j]):
                raise ValueError("specified nu is infeasible")
        return weights


@dataclass(eq=False, repr=False, kw_only=True)
class RegressorSVM(RegressorMixin, KernelSVM):
    """What SVR and NuSVR share."""

    C: float = 1.0

    _largest_c = 1e10  # what C=inf is in a regression, which has no hard margin

    def _check_target(self, items: Any, y: Any) -> Any:
        if are_plain_numbers(y, _num_samples(items)):
            return y
        target = self._column(y).astype(np.float64, copy=False)
        assert_all_finite(target, input_name="y")
        return target

    def _task_for(self, data: Data) -> Any:
        return Regression("epsilon_insensitive", float(getattr(self, "epsilon", 0.0)))

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The prediction for each row."""
        return self._scores(X)[:, 0]


@dataclass(eq=False, repr=False, kw_only=True)
class SVR(RegressorSVM):
    """Support vector regression as in scikit-learn's SVR, with a certificate.

    Methods and other attributes are those of `sklearn.svm.SVR`. ``C=inf`` is trained as 1e10.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C, epsilon, shrinking, cache_size, verbose, max_iter
        As in scikit-learn. ``shrinking`` is always on.
    time_budget : float, optional
        Time limit in seconds.

    Attributes
    ----------
    certificate_, status_, trace_, alpha_, fitted_
        As in `pegasos.KernelPegasosRegressor`; the others are those of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pegasos.svm import SVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVR().fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-5
    True
    """

    epsilon: float = 0.1
    _parameter_constraints = theirs.SVR._parameter_constraints


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVR(RegressorSVM):
    """Nu-support vector regression as in scikit-learn's NuSVR, with a certificate.

    Methods and other attributes are those of `sklearn.svm.NuSVR`.

    Parameters
    ----------
    nu, C, kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter
        As in scikit-learn. ``shrinking`` is always on.
    time_budget : float, optional
        Time limit in seconds.

    Attributes
    ----------
    certificate_, status_, trace_, alpha_, fitted_
        As in `pegasos.KernelPegasosRegressor`; the others are those of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pegasos.svm import NuSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NuSVR().fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-5
    True
    """

    nu: float = 0.5
    _parameter_constraints = theirs.NuSVR._parameter_constraints


@dataclass(eq=False, repr=False, kw_only=True)
class OneClassSVM(OutlierMixin, KernelSVM):
    """One-class support vector machine as in scikit-learn's OneClassSVM, with a certificate.

    Methods and other attributes are those of `sklearn.svm.OneClassSVM`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, nu, shrinking, cache_size, verbose, max_iter
        As in scikit-learn. ``shrinking`` is always on.
    time_budget : float, optional
        Time limit in seconds.

    Attributes
    ----------
    certificate_, status_, trace_, alpha_, fitted_
        As in `pegasos.KernelPegasosOneClass`; the others are those of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos.svm import OneClassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.certificate_.relative_gap <= 1e-5
    True
    """

    nu: float = 0.5
    _is_free = False
    _parameter_constraints = theirs.OneClassSVM._parameter_constraints

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the region that holds all but a share nu of the rows.

        Parameters
        ----------
        X : as in `SVC`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        super().fit(X, None, sample_weight)
        return self

    def _check_target(self, items: Any, y: Any) -> Any:
        return None

    def _task_for(self, data: Data) -> Any:
        return OneClass().of_rows(_num_samples(data.X), data.weights)

    @property
    def _factor(self) -> float:  # type: ignore[override]
        """From scores with a margin of 1 to those of LIBSVM, whose dual variables are at most the weights."""
        assert self.fitted_.terms is not None
        return float(self.fitted_.lam * self.fitted_.terms.total)

    @property
    def offset_(self) -> float:
        """The score at which the region ends."""
        return -float(self.intercept_[0])

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores, positive inside the region."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """The score without the offset."""
        return np.asarray(self._scores(X)[:, 0] * self._factor + self.offset_)

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """1 inside the region, -1 outside."""
        return np.where(self.decision_function(X) > 0.0, 1, -1).astype(np.intp)
