"""A model that others have trained, as an estimator of this library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.estimators.assembly import with_fit
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.one_class import KernelPegasosOneClass, PegasosOneClass
from pegasos.estimators.parameters import DEFAULT_LAM
from pegasos.estimators.regression import KernelPegasosRegressor, PegasosRegressor
from pegasos.export.formula import Aim, Formula
from pegasos.fitting import Fit, Origin
from pegasos.kernels import Precomputed
from pegasos.machines import KernelModel, LinearModel
from pegasos.tasks import CLASSIFICATIONS, OneClass, Regression


def check_aim(lam: float | None, C: float | None) -> None:
    """One of the two at most, and a positive one."""
    if lam is not None and C is not None:
        raise PegasosError(f"give lam or C, not both: got lam={lam!r} and C={C!r}.")
    if lam is not None:
        check.check_positive("lam", lam)
    if C is not None:
        check.check_positive("C", C)


def estimator_of(formula: Formula, origin: str) -> Any:
    """A fitted estimator with these numbers; `certify` computes its certificate."""
    linear, kernel, parameters, task = _kind_of(formula)
    model: Any
    found: Any
    if formula.terms:
        term = formula.only_term("an estimator")
        model, found = kernel(term.kernel, **parameters), _kernel_model(formula)
    else:
        assert formula.coef is not None
        model, found = linear(**parameters), LinearModel(formula.coef, formula.intercept)
    fitted = Fit(found, task, calibration=formula.calibration, origin=Origin(origin))
    return with_fit(model, fitted, formula.n_features, formula.feature_names)


def _kind_of(formula: Formula) -> tuple[Any, Any, dict[str, Any], Any]:
    """The classes of the linear and of the kernel estimator, their parameters, and the task."""
    if formula.multi_class == OneClass.name:
        return PegasosOneClass, KernelPegasosOneClass, dict(formula.aim.shape), OneClass()
    if formula.multi_class == Regression.name:
        parameters = _common_parameters(formula.aim) | dict(formula.aim.shape)
        given = {"epsilon": 0.1, "quantile": 0.5, **formula.aim.shape}  # those of an estimator
        n_targets = len(formula.intercept)
        task = Regression(
            formula.aim.loss, given["epsilon"], given["quantile"], n_targets=n_targets, is_matrix=n_targets > 1
        )
        return PegasosRegressor, KernelPegasosRegressor, parameters, task
    task_of_classes = CLASSIFICATIONS[formula.multi_class].of(formula.classes)
    return PegasosClassifier, KernelPegasosClassifier, _parameters(formula), task_of_classes


def _parameters(formula: Formula) -> dict[str, Any]:
    """Those of the problem. An unknown lam is None: a fit or a certificate asks for it."""
    aim: Aim = formula.aim
    return _common_parameters(aim) | {
        "multi_class": formula.multi_class,
        "class_weight": dict(aim.class_weight) if isinstance(aim.class_weight, Mapping) else aim.class_weight,
        "probability": formula.calibration is not None,
    }


def _common_parameters(aim: Aim) -> dict[str, Any]:
    return {
        "lam": aim.lam if aim.C is None else DEFAULT_LAM,
        "C": aim.C,
        "fit_intercept": aim.intercept != "none",
        "regularize_intercept": aim.intercept != "free",
        "intercept_scaling": aim.intercept_scaling,
        "loss": aim.loss,
    }


def _kernel_model(formula: Formula) -> KernelModel:
    (term,) = formula.terms
    is_matrix = isinstance(term.kernel, Precomputed)
    if formula.aim.intercept == "regularised":
        # The constant column is a part of every kernel value, so the coefficients say what the intercept is.
        own = formula.aim.intercept_scaling**2 * term.dual_coef.sum(axis=1)
        size = formula.aim.intercept_scaling**2 * np.abs(term.dual_coef).sum(axis=1)
        if not np.allclose(own, formula.intercept, rtol=0.0, atol=1e-6 * float(size.max(initial=1.0))):
            raise PegasosError(
                f"a regularized intercept of a kernel machine is intercept_scaling^2 times the sum of its "
                f"coefficients, {own.tolist()}, got {formula.intercept.tolist()}; call it free."
            )
    return KernelModel(
        kernel=term.kernel,
        support=term.support if is_matrix else np.arange(term.dual_coef.shape[1]),
        support_vectors=np.empty((0, 0)) if is_matrix else term.support,
        dual_coef=term.dual_coef,
        intercept=formula.intercept,
        n_training=formula.n_features if is_matrix else term.dual_coef.shape[1],
        indexed=False,
    )
