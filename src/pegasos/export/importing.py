"""A model that others have trained, as an estimator of this library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pegasos.errors import PegasosError
from pegasos.estimators import _parameters as check
from pegasos.estimators._base import default_lam
from pegasos.estimators._origin import Origin
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.export.formula import Aim, Formula
from pegasos.kernels import Precomputed


def check_aim(lam: float | None, C: float | None) -> None:
    """One of the two at most, and a positive one."""
    if lam is not None and C is not None:
        raise PegasosError(f"give lam or C, not both: got lam={lam!r} and C={C!r}.")
    if lam is not None:
        check.check_positive("lam", lam)
    if C is not None:
        check.check_positive("C", C)


def estimator_of(formula: Formula, origin: str) -> PegasosClassifier | KernelPegasosClassifier:
    """A fitted estimator with these numbers; its certificate is made when it is asked for."""
    parameters = _parameters(formula)
    model: Any
    if formula.terms:
        term = formula.only_term("an estimator")
        model = KernelPegasosClassifier(term.kernel, **parameters)
        model.__dict__.update(_kernel_attributes(formula))
    else:
        model = PegasosClassifier(**parameters)
        model.coef_ = formula.coef
    model.classes_, model.intercept_ = formula.classes, formula.intercept
    model.n_features_in_ = formula.n_features
    if formula.feature_names is not None:
        model.feature_names_in_ = formula.feature_names
    model._calibration, model._free_intercepts = formula.calibration, formula.intercept
    model._origin = Origin(origin, formula.multi_class)
    model.status_ = f"The model was read from {origin}; certify(X, y) says how good it is for rows X and labels y."
    return model  # type: ignore[no-any-return]


def _parameters(formula: Formula) -> dict[str, Any]:
    """Those of the problem. A lam that nobody knows is None: a fit or a certificate asks for it."""
    aim: Aim = formula.aim
    return {
        "lam": aim.lam if aim.C is None else default_lam,
        "C": aim.C,
        "fit_intercept": aim.intercept != "none",
        "regularize_intercept": aim.intercept != "free",
        "intercept_scaling": aim.intercept_scaling,
        "multi_class": formula.multi_class,
        "class_weight": dict(aim.class_weight) if isinstance(aim.class_weight, Mapping) else aim.class_weight,
        "probability": formula.calibration is not None,
    }


def _kernel_attributes(formula: Formula) -> dict[str, Any]:
    (term,) = formula.terms
    is_matrix = isinstance(term.kernel, Precomputed)
    if formula.aim.intercept == "regularised":
        # The constant column is a part of every kernel value, so the coefficients say what the intercept is.
        own = formula.aim.intercept_scaling**2 * term.dual_coef.sum(axis=1)
        size = formula.aim.intercept_scaling**2 * np.abs(term.dual_coef).sum(axis=1)
        if not np.allclose(own, formula.intercept, rtol=0.0, atol=1e-6 * float(size.max(initial=1.0))):
            raise PegasosError(
                f"a regularised intercept of a kernel machine is intercept_scaling^2 times the sum of its "
                f"coefficients, {own.tolist()}, got {formula.intercept.tolist()}; call it free."
            )
    return {
        "kernel_": term.kernel,
        "support_": term.support if is_matrix else np.arange(term.dual_coef.shape[1]),
        "support_vectors_": np.empty((0, 0)) if is_matrix else term.support,
        "dual_coef_": term.dual_coef,
        "_n_training": formula.n_features if is_matrix else term.dual_coef.shape[1],
    }
