"""The checks of an estimator's parameters, before any work; a message states the value and the remedy."""

from __future__ import annotations

import math
from typing import Any

from pegasos.checks import check_count, check_positive, check_share, check_word
from pegasos.errors import PegasosError
from pegasos.losses import CLASSIFICATION_LOSSES

_EPOCHS_TO_A_GAP = 100_000  # more than any reasonable fit needs
_EPOCHS = 1000  # where only their number ends a fit, or the last digits would take very many


def epochs_of(model: Any) -> int:
    """How many epochs a fit may take: max_iter, or where that is None what suits the solver."""
    if model.max_iter is not None:
        return int(model.max_iter)
    if getattr(model, "max_steps", None) is not None:
        return int(model.max_steps)  # an epoch has at least one step, so that these end the fit
    closes_the_gap = model.tol is not None and model.solver in ("auto", "dual")
    return _EPOCHS_TO_A_GAP if closes_the_gap else _EPOCHS


def check_soft_margin(C: Any, lam: Any, prior: Any, default_lam: float) -> None:
    """C, which may be infinite for a hard margin, instead of lam."""
    check_positive("C", C, or_infinite=True)
    if math.inf == C and prior is not None:
        raise PegasosError(
            "C=inf does not support a prior: weights that must separate the classes cannot stay near it."
        )
    if lam not in (None, default_lam):
        raise PegasosError(f"give lam or C, not both: got lam={lam!r} and C={C!r}.")


def check_aim(model: Any, origin: Any) -> None:
    """Whether the parameters say how strongly to regularize; those of a model trained elsewhere may not."""
    if model.lam is None and model.C is None and origin is not None:
        raise PegasosError(
            f"the model was read from {origin}, which does not say how it was regularized: give C or lam, as in "
            "model.set_params(C=1.0)."
        )
    if model.C is None:
        check_positive("lam", model.lam)


def check_nu(model: Any) -> None:
    """A share of the rows, for solvers that end where they are told to."""
    check_share("nu", model.nu)
    if model.nu is not None and model.loss not in ("hinge", "epsilon_insensitive"):
        raise PegasosError(
            f"nu is defined for the hinge loss only, which loss={model.loss!r} is not; give lam or C instead of nu."
        )
    if model.nu is not None and model.solver in ("pegasos", "cutting_plane"):
        raise PegasosError(
            f"nu needs solutions to a small gap, which solver={model.solver!r} does not give; use 'auto'."
        )


def check_intercept(solver: str, *, is_free: bool) -> None:
    """What the published algorithm does not support."""
    if is_free and solver == "pegasos":
        raise PegasosError(
            "solver='pegasos' does not support an unregularized intercept: give regularize_intercept=True, raise "
            "intercept_scaling to regularize it less, or leave the solver to 'auto'."
        )


def check_max_steps(value: Any, solver: str) -> None:
    """None, or a number of steps of the published algorithm; other solvers have steps of other kinds."""
    if value is None:
        return
    check_count("max_steps", value)
    if solver != "pegasos":
        raise PegasosError(
            f"max_steps counts steps of Pegasos, got max_steps={value!r} with solver={solver!r}: give "
            "solver='pegasos', or limit the epochs by max_iter."
        )


def check_initial(model: Any, coef: Any) -> None:
    """Initial weights are for Pegasos on a linear machine: other solvers start from a dual point."""
    if hasattr(model, "kernel"):
        raise PegasosError("coef_init sets the weights of a linear model; a kernel model starts at 0.")
    if model.solver != "pegasos":
        raise PegasosError(
            f"coef_init is for solver='pegasos', got solver={model.solver!r}, which starts from a dual point; give "
            "warm_start=True to continue from the last fit."
        )
    if model.prior is not None:
        raise PegasosError(
            "coef_init and prior are both given, and a prior is where the weights start; give one of them."
        )
    if coef is None:
        raise PegasosError("intercept_init needs coef_init, the weights that it belongs to.")


def check_loss(loss: Any, smoothing: Any, C: Any) -> None:
    """The loss of a classifier, and the parameter that one of them has."""
    check_word("loss", loss, CLASSIFICATION_LOSSES)
    check_positive("smoothing", smoothing)
    if math.inf == C and loss != "hinge":
        raise PegasosError(f"C=inf is a hard margin, which loss={loss!r} does not support; use loss='hinge'.")


def check_joint(solver: str, sampling: str, loss: str, nu: float | None, *, is_free: bool) -> None:
    """What the problem of all classes at once does not support."""
    if loss != "hinge":
        raise PegasosError(
            f"multi_class='crammer_singer' is a hinge over all classes and does not support loss={loss!r}; use 'ovr' "
            "or 'ovo'."
        )
    if solver in ("cutting_plane", "interior_point"):
        raise PegasosError(
            f"solver={solver!r} does not support multi_class='crammer_singer', which has more than two signs; use "
            "'ovr' or 'ovo'."
        )
    if nu is not None:
        raise PegasosError(
            "nu is a share of each problem's rows, and multi_class='crammer_singer' has one of all classes."
        )
    if is_free:
        raise PegasosError("multi_class='crammer_singer' needs a regularized intercept; use 'ovr' or 'ovo'.")
    if sampling == "balanced":
        raise PegasosError(
            "sampling='balanced' draws two signs in turn, which 'crammer_singer' does not have; use 'ovr'."
        )


def check_for_source(model: Any) -> None:
    """What blocks from a source do not support."""
    refused = {
        "solver": (
            model.solver in ("cutting_plane", "interior_point"),
            "needs a solver that goes from row to row: give solver='auto', or use fit",
        ),
        "multi_class": (
            getattr(model, "multi_class", "ovr") not in ("auto", "ovr"),
            "trains one class against the rest: give multi_class='ovr'",
        ),
        "C": (math.inf == model.C, "does not support a hard margin: give a finite C"),
        "regularize_intercept": (model._is_free, "needs a regularized intercept: give regularize_intercept=True"),
        "prior": (model.prior is not None, "does not support a prior: give prior=None, or use fit"),
        "probability": (
            getattr(model, "probability", False),
            "does not fit probabilities: give probability=False, or use fit",
        ),
        "warm_start": (model.warm_start, "resumes from a checkpoint, not from the last fit: give warm_start=False"),
        "max_steps": (model.max_steps is not None, "goes over whole blocks: give max_steps=None, and max_iter"),
        "nu": (model.nu is not None, "does not search for nu: give lam or C"),
        "batch_size": (model.batch_size != 1, "visits one row at a time: give batch_size=1"),
        "sampling": (model.sampling != "shuffle", "visits rows in shuffled order: give sampling='shuffle'"),
        "projection": (model.projection, "does not project: give projection=False"),
    }
    for name, (is_refused, message) in refused.items():
        if is_refused:
            raise PegasosError(f"fit_source {message}, got {name}={getattr(model, name)!r}.")
