"""The certificate of a model on given rows, whoever made it.

For every w and every feasible alpha, D(alpha) <= P* <= P(w): weights from anywhere are as good as a dual point of the
same problem can prove. A model of pegasos has one; for others we solve the problem ourselves, take the dual point of
that, and leave the weights unchanged.
"""

from __future__ import annotations

import inspect
import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pegasos.certificate import Certificate
from pegasos.checks import check_optional
from pegasos.cli._models import Weights
from pegasos.cli._progress import shown_progress
from pegasos.cli._results import measured
from pegasos.errors import PegasosError
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.one_class import TrainedOneClass
from pegasos.estimators.parameters import DEFAULT_LAM
from pegasos.estimators.regression import CertifiedRegressor, PegasosRegressor
from pegasos.estimators.warnings import GapWarning

if TYPE_CHECKING:
    from pegasos.data import Table

_DEFAULT_TOL = 1e-3
_FOUND = "a solution for these rows, found now"
_TIGHTER = 0.1  # than tol: what our own solution may add to the gap of the weights


class ModelProof(NamedTuple):
    """A certificate, what it is measured by, and where its bound comes from."""

    certificate: Certificate
    tol: float
    measured: dict[str, float]  # how well the rows are predicted
    source: str  # of the bound
    at_least: float | None = None  # how far above the best possible it is proved to be, relatively

    @property
    def is_proved(self) -> bool:
        """Whether the relative gap is at most tol."""
        return self.certificate.relative_gap <= self.tol

    @property
    def sentence(self) -> str:
        """Where the bound comes from, and whether it is good enough."""
        verdict = f"The bound is that of {self.source}; the relative gap {self.certificate.relative_gap:.1e} is "
        verdict += f"{'within' if self.is_proved else 'above'} tol={self.tol:g}"
        if not self.is_proved and self.at_least and math.isfinite(self.at_least):
            share = 100.0 * self.at_least
            digits = f"{share:.0f}" if share >= 100.0 else f"{share:.2g}"
            verdict += f", and the objective is proved to be at least {digits} % above the best possible"
        return f"{verdict}."


def prove(model: Any, table: Table, given: dict[str, Any], *, quiet: bool) -> ModelProof:
    """The proof for the rows, of the problem of the model's parameters where no others are given."""
    tol = next((tol for tol in (given.get("tol"), getattr(model, "tol", None)) if tol is not None), _DEFAULT_TOL)
    check_optional("tol", tol)
    X, y, weights = table.X, table.y, table.weights
    aim = _aim(given)
    if not isinstance(model, Weights):
        own = _own(model, table, aim)
        if own is not None and (own.relative_gap <= tol or not hasattr(model, "coef_")):
            source = "the model's own dual point" if hasattr(model, "alpha_") else _FOUND
            return ModelProof(own, tol, measured(model, X, y), source)
    judge = _judge(model, given | aim, tol)
    with shown_progress(judge, quiet=quiet), warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)  # a bound it is all the same
        judge.fit(X, y, sample_weight=weights)
    best = judge.certificate_.primal
    _adopt(judge, model)
    certificate = judge.certify(X, y, weights)
    at_least = max(0.0, certificate.primal - best) / best if best > 0.0 else 0.0  # the optimum is below best
    return ModelProof(certificate, tol, measured(judge, X, y), _FOUND, at_least)


def _aim(given: dict[str, Any]) -> dict[str, Any]:
    """The lam or C that was given, and the default of the other: a model may have had that one."""
    aim = {name: given[name] for name in ("lam", "C") if name in given}
    return {"lam": DEFAULT_LAM, "C": None} | aim if aim else {}


def _own(model: Any, table: Table, aim: dict[str, Any]) -> Certificate | None:
    """Certify by the dual point of the model, if it belongs to these rows and to this problem.

    A kernel machine without one finds it itself.
    """
    is_linear = hasattr(model, "coef_")
    if not is_linear and not hasattr(model, "alpha_"):
        model.set_params(**aim)
    elif any(getattr(model, name) != value for name, value in aim.items()) or not hasattr(model, "alpha_"):
        return None
    try:
        certificate: Certificate = model.certify(table.X, table.y, table.weights)
    except PegasosError:
        if is_linear:  # a dual point of other rows: another one can be found
            return None
        raise
    return certificate


def _judge(model: Any, given: dict[str, Any], tol: float) -> Any:
    """A classifier, or a regressor, for the problem that the model should solve."""
    if isinstance(model, TrainedOneClass):
        raise PegasosError("a one-class model is certified on the rows of its fit alone, and these are others.")
    parameters = {"lam": None} if isinstance(model, Weights) else model.get_params(deep=False)
    parameters |= {"warm_start": False, "solver": "auto", "random_state": 0, "max_iter": 100_000}
    parameters |= given | {"tol": _TIGHTER * tol}
    if parameters["lam"] is None:
        raise PegasosError(
            "the file does not say what the model was trained for: give --lam or --C, as in its training."
        )
    if isinstance(model, CertifiedRegressor):
        names = inspect.signature(PegasosRegressor).parameters
        known: dict[str, Any] = {name: value for name, value in parameters.items() if name in names}
        return PegasosRegressor(**known)
    return PegasosClassifier(**{**parameters, "probability": False})


def _adopt(judge: Any, model: Any) -> None:
    """Give a fitted classifier the weights of the model, if they are weights for its classes."""
    coef, intercept, classes = model if isinstance(model, Weights) else _weights_of(model)
    if classes is not None and not np.array_equal(classes, judge.classes_):
        raise PegasosError(f"the rows have the classes {judge.classes_.tolist()}, but the model {classes.tolist()}.")
    if coef.shape != judge.coef_.shape:
        raise PegasosError(f"weights of shape {judge.coef_.shape} are needed for these rows, got {coef.shape}.")
    judge.coef_, judge.intercept_ = coef, intercept


def _weights_of(model: Any) -> tuple[Any, Any, Any]:
    return (
        np.asarray(model.coef_, np.float64),
        np.asarray(model.intercept_, np.float64),
        getattr(model, "classes_", None),
    )
