"""What a fitted model says, apart from how it was found: the one form that every export is written from.

    score_k(x) = <coef_k, x> + sum_terms sum_j dual_coef_kj k(z_j, x) + intercept_k

A linear machine has no terms, a kernel machine one; a prior adds its own part. What turns the scores of the problems
into a class is the word of ``multi_class``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model._base import LinearClassifierMixin, LinearModel
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators.certified import CertifiedClassifier
from pegasos.estimators.one_class import TrainedOneClass
from pegasos.estimators.regression import CertifiedRegressor
from pegasos.fitting.probability import Calibration, Isotonic
from pegasos.kernels import Kernel, Linear, Precomputed
from pegasos.machines.prior import LinearFormula, ScoredPrior
from pegasos.online.base import OnlineClassifier

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Aim:
    """What the weights were meant to minimize; without lam and C nobody has said."""

    lam: float | None = None
    C: float | None = None
    intercept: str = "regularised"  # or "free", or "none"
    intercept_scaling: float = 1.0
    class_weight: Mapping[Any, float] | str | None = None
    loss: str = "hinge"  # or "squared_hinge"; other libraries have no others of ours; of a regressor its own
    shape: Mapping[str, float] = field(default_factory=dict)  # epsilon, quantile and delta of a regressor; nu


@dataclass(frozen=True)
class KernelTerm:
    """Support vectors, and their coefficients for each score."""

    kernel: Kernel
    support: Any  # rows, dense or CSR; of a precomputed matrix the numbers of its columns
    dual_coef: Numbers

    def __str__(self) -> str:
        return str(self.kernel)


@dataclass(frozen=True)
class Formula:
    """The model, as numbers."""

    classes: npt.NDArray[Any]
    multi_class: str
    n_features: int
    intercept: Numbers
    coef: Numbers | None = None
    terms: tuple[KernelTerm, ...] = ()
    calibration: Calibration | Isotonic | None = None
    feature_names: npt.NDArray[Any] | None = None
    aim: Aim = field(default_factory=Aim)
    certificate: Certificate | None = None

    @property
    def n_classes(self) -> int:
        """How many."""
        return len(self.classes)

    @property
    def is_pairwise(self) -> bool:
        """Whether each score tells two classes apart."""
        return self.n_classes == 2 or self.multi_class == "ovo"

    @property
    def sigmoids(self) -> Calibration | None:
        """The probabilities, in the one form that the formats have room for."""
        if isinstance(self.calibration, Isotonic):
            raise PegasosError(
                'probabilities of probability="isotonic" cannot be exported; fit with probability="sigmoid", or False.'
            )
        return self.calibration

    def linear_coef(self) -> Numbers | None:
        """The coefficients of all features, where the model is linear: those of linear kernels are added up."""
        if any(not isinstance(term.kernel, Linear) for term in self.terms):
            return None
        zero = np.zeros((len(self.intercept), self.n_features))
        coef = zero if self.coef is None else self.coef.copy()
        for term in self.terms:
            coef += np.asarray((term.support.T @ term.dual_coef.T).T)
        return coef

    def only_term(self, what: str) -> KernelTerm:
        """The one kernel of a format that has room for no more."""
        if self.coef is not None or len(self.terms) != 1:
            raise PegasosError(
                f"{what} has one kernel and no other weights, and this model adds a prior to its own; use to_onnx, or "
                "fit without a prior."
            )
        return self.terms[0]


def formula_of(model: Any) -> Formula:
    """Read a fitted model of this library."""
    if not isinstance(model, CertifiedClassifier | OnlineClassifier):
        raise PegasosError(_not_ours(model))
    _check_fitted(model)
    classes, fitted = np.asarray(model.classes_), getattr(model, "fitted_", None)
    if fitted is not None and fitted.task.name == "many_labels":
        raise PegasosError("the model predicts many labels per row; export one fit per label instead.")
    formula = Formula(
        classes=classes,
        multi_class="ovr" if fitted is None else fitted.task.name,
        n_features=int(getattr(model, "n_features_in_", 0)),
        intercept=np.asarray(model.intercept_, np.float64).ravel(),
        calibration=None if fitted is None else fitted.calibration,
        feature_names=getattr(model, "feature_names_in_", None),
        aim=_aim(model, classes),
        certificate=getattr(model, "certificate_", None),
    )
    return _with_vectors(formula, model)


def predicts_numbers(model: Any) -> bool:
    """Whether the scores of a model are its answers: a regressor, or a machine of one class."""
    return isinstance(model, CertifiedRegressor | TrainedOneClass)


def formula_of_numbers(model: Any) -> Formula:
    """Read a fitted regressor, whose scores are the predictions, or a machine of one class."""
    _check_fitted(model)
    formula = Formula(
        classes=np.empty(0),
        multi_class=model.fitted_.task.name,
        n_features=int(getattr(model, "n_features_in_", 0)),
        intercept=np.asarray(model.intercept_, np.float64).ravel(),
        feature_names=getattr(model, "feature_names_in_", None),
        aim=_aim_of_numbers(model),
        certificate=getattr(model, "certificate_", None),
    )
    return _with_vectors(formula, model)


def _aim_of_numbers(model: Any) -> Aim:
    if isinstance(model, TrainedOneClass):
        return Aim(intercept="free", shape={} if model.nu is None else {"nu": float(model.nu)})
    terms, task = model.fitted_.terms, model.fitted_.task
    shape = {"epsilon": float(task.epsilon), "quantile": float(task.quantile), "delta": float(model.delta)}
    if task.epsilons is not None:  # found by nu
        shape["epsilon"] = float(max(task.epsilons))
    if terms is None:
        is_free = model.fit_intercept and not model.regularize_intercept
        kind = "free" if is_free else "regularised" if model.fit_intercept else "none"
        lam, C, scaling = model.lam if model.C is None else None, model.C, float(model.intercept_scaling)
    else:
        kind = "free" if terms.is_free else "regularised" if terms.bias else "none"
        lam, C, scaling = terms.lam if terms.C is None else None, terms.C, terms.bias or 1.0
    return Aim(lam, C, kind, scaling, loss=task.loss, shape=shape)


def _check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model, ("coef_", "dual_coef_"), all_or_any=any)
    except NotFittedError as error:
        raise PegasosError(f"this {type(model).__name__} is not fitted; fit it before it is exported.") from error


def _with_vectors(formula: Formula, model: Any) -> Formula:
    """The formula with the weights of the model, or with its support vectors and those of a prior."""
    if hasattr(model, "coef_"):
        return replace(formula, coef=np.asarray(model.coef_, np.float64))
    fitted = getattr(model, "fitted_", None)
    is_known = not isinstance(model.kernel_, Precomputed)
    support = model.support_vectors_ if is_known else model.support_
    own = (KernelTerm(model.kernel_, support, np.asarray(model.dual_coef_, np.float64)),)
    formula = replace(formula, terms=own if model.dual_coef_.shape[1] else ())
    prior = None if fitted is None else fitted.model.prior
    return formula if prior is None else _with_prior(formula, prior)


def _not_ours(model: Any) -> str:
    name = model.__name__ if isinstance(model, type) else type(model).__name__
    if isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        last = "pipeline[-1]" if isinstance(model, Pipeline) else "model.best_estimator_[-1]"
        return f"{name} is more than one model: export its last step, {last}, and pass it preprocessed rows."
    return f"only fitted models of pegasos are exported, got {name}."


def _aim(model: Any, classes: npt.NDArray[Any]) -> Aim:
    fitted = getattr(model, "fitted_", None)
    if fitted is None:
        return Aim(intercept="regularised" if model.fit_intercept else "none")  # online, nothing is minimized
    terms, has_factors = fitted.terms, fitted.task.factors is not None
    if terms is None:
        is_free = model.fit_intercept and not model.regularize_intercept
        kind = "free" if is_free else "regularised" if model.fit_intercept else "none"
        lam = model.lam if model.C is None else None
        factors = model.class_weight
        if isinstance(factors, Mapping):
            factors = {label: float(factors.get(label, 1.0)) for label in classes.tolist()}
        return Aim(lam, model.C, kind, float(model.intercept_scaling), factors, _loss(model))
    kind = "free" if terms.is_free else "regularised" if terms.bias else "none"
    factors = dict(zip(classes.tolist(), fitted.task.factors.tolist(), strict=True)) if has_factors else None
    lam = terms.lam if terms.C is None else None
    return Aim(lam, terms.C, kind, terms.bias or 1.0, factors, _loss(model))


def _loss(model: Any) -> str:
    return "squared_hinge" if getattr(model, "loss", None) == "squared_hinge" else "hinge"


def _with_prior(formula: Formula, prior: ScoredPrior) -> Formula:
    """The prior's part of the scores is a sum of the same kind, mixed."""
    given = _prior_formula(prior.model)
    mixing, columns = prior.mixing.T, prior.columns
    coef = None if given.coef is None else mixing @ given.coef
    if columns is not None:
        if given.terms and not np.array_equal(columns, np.arange(formula.n_features)):
            raise PegasosError("the prior has a kernel of other features than the model; fit both on the same columns.")
        if coef is not None:
            placed = np.zeros((len(coef), formula.n_features))
            placed[:, columns] = coef
            coef = placed
    terms = tuple(replace(term, dual_coef=mixing @ term.dual_coef) for term in given.terms)
    return replace(
        formula, coef=coef, terms=formula.terms + terms, intercept=formula.intercept + mixing @ given.intercept
    )


def _prior_formula(prior: Any) -> Formula:
    """What a prior says: ours, a linear model of scikit-learn, or a pair of numbers."""
    coef: Any
    if isinstance(prior, LinearFormula):
        coef, intercept = prior.coef, prior.intercept
    elif isinstance(prior, LinearClassifierMixin | LinearModel) and hasattr(prior, "coef_"):
        coef, intercept = prior.coef_, prior.intercept_
    elif isinstance(prior, BaseEstimator) and type(prior).__module__.startswith("pegasos."):
        return formula_of_numbers(prior) if predicts_numbers(prior) else formula_of(prior)
    else:
        raise PegasosError(
            f"the prior, a {type(prior).__name__}, has only scores, which cannot be exported; use a linear "
            "prior or one of pegasos."
        )
    coef = np.array(coef.toarray() if sp.issparse(coef) else coef, np.float64, ndmin=2)
    intercept = np.broadcast_to(np.asarray(intercept, np.float64).ravel(), len(coef))
    return Formula(np.arange(max(2, len(coef))), "ovr", coef.shape[1], intercept, coef)


def dense_support(term: KernelTerm, n_features: int) -> Numbers:
    """The support vectors as an array of numbers."""
    rows = term.support
    if isinstance(term.kernel, Precomputed):
        raise PegasosError(
            "a model of a precomputed kernel matrix holds no support vectors; fit with the kernel itself."
        )
    check_vectors(term.kernel)
    dense = np.asarray(rows.toarray() if sp.issparse(rows) else rows, np.float64)
    return dense.reshape(len(dense), n_features)


def check_vectors(kernel: Kernel) -> None:
    """Refuse a kernel of anything but rows of numbers."""
    if not kernel.takes_vectors:
        raise PegasosError(
            f"{kernel} is not a kernel of rows of numbers, so there is no form for it outside; keep the model as it is."
        )
