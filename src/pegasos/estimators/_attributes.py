"""From a `Fit` to the attributes of an estimator, in one place."""

from __future__ import annotations

from typing import Any

from pegasos.fitting.result import Fit

_OF_EVERY_FIT = ("fitted_", "status_", "certificate_", "trace_", "n_iter_", "n_steps_", "margin_", "support_", "alpha_")


def names_of(fitted: Fit) -> list[str]:
    """The names of `attributes_of`, and of others that a fit may leave."""
    return [*_OF_EVERY_FIT, *(f"{name}_" for name in (*fitted.task.learnt, *fitted.model.vectors))]


def attributes_of(fitted: Fit) -> dict[str, Any]:
    """Every attribute that a fit leaves, by name."""
    found = {f"{name}_": value for name, value in {**fitted.task.learnt, **fitted.model.vectors}.items()}
    found |= {"fitted_": fitted, "status_": fitted.message}
    proof = fitted.proof
    if proof is None:
        return found
    found |= {
        "certificate_": proof.certificate,
        "trace_": proof.trace,
        "n_iter_": proof.n_epochs,
        "n_steps_": proof.n_steps,
    }
    if hasattr(fitted.task, "margins"):  # numbers have no side to be on
        margins = fitted.margins
        found["margin_"] = float(margins[0]) if len(margins) == 1 else margins
    if proof.alpha is not None:
        found = {"support_": proof.support, **found, "alpha_": proof.alpha}  # a kernel's model has its own support
    return found
