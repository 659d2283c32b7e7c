"""A fit that continues until enough predictions are certified: stages of smaller gaps, each from the last point."""

from __future__ import annotations

import warnings
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from pegasos.estimators.warnings import GapWarning

_SMALLER = 0.3  # the gap of the next stage
_LEAST_GAP = 1e-11  # relative: beyond it the arithmetic of the machine decides
_SAMPLE = 4000  # rows that say whether it is worth looking at all of them


def until_certified(model: Any, begun: float, validation: Any = None) -> bool:
    """Go on with a fitted model until the share of rows that it asks for is certified; says whether it is.

    The rows are those of the fit, or ``validation``. The relative gap falls below ``tol`` as far as that takes;
    ``max_iter`` and ``time_budget`` count all stages.
    """
    wanted = float(model.certified_share)
    sample = _sample(model._evidence.X, model._evidence.sample_weight) if validation is None else None

    def share() -> float:
        return float(model.certified_share_ if validation is None else np.mean(model.certified(validation)))

    tol = float(model.tol)
    while (sample is not None and _is_out_of_reach(model, wanted, sample)) or share() < wanted:
        if model.certificate_.relative_gap > tol or tol <= _LEAST_GAP:
            break  # a budget or rounding has ended the last stage
        tol = max(_LEAST_GAP, _SMALLER * min(tol, model.certificate_.relative_gap or tol))
        if not _advance(model, tol, begun):
            break
    reached, which = share(), "training" if validation is None else "validation"
    asked = "as requested" if reached >= wanted else f"not the {wanted:.4g} requested: give more time or epochs"
    model.status_ += f" {100.0 * reached:.4g} % of the {which} rows have a certified prediction, {asked}."
    return bool(reached >= wanted)


def _sample(X: Any, sample_weight: Any) -> tuple[Any, Any] | None:
    """Every k-th row with its weight; None where there are few."""
    n = _num_samples(X)
    if n <= 2 * _SAMPLE:
        return None
    chosen = np.arange(0, n, n // _SAMPLE)
    weights = None if np.ndim(sample_weight) == 0 else np.asarray(sample_weight)[chosen]
    return _safe_indexing(X, chosen), weights if np.any(weights) else None


def _is_out_of_reach(model: Any, wanted: float, sample: tuple[Any, Any]) -> bool:
    """Whether the rows of the sample say that it is not worth looking at all of them."""
    sure = model.certified(sample[0])
    room = 3.0 * np.sqrt(wanted * (1.0 - wanted) / len(sure))
    return bool(float(np.average(sure, weights=sample[1])) < wanted - room)


def _advance(model: Any, tol: float, begun: float) -> bool:
    """One stage: the same fit with a smaller gap, from the dual point at hand; says whether there was room for it."""
    settings: dict[str, Any] = {"tol": tol, "certified_share": None, "probability": False, "warm_start": True}
    if model.time_budget is not None:
        settings["time_budget"] = model.time_budget - (perf_counter() - begun)
        if settings["time_budget"] <= 0.0:
            return False
    if model.max_iter is not None:
        settings["max_iter"] = model.max_iter - model.n_iter_
        if settings["max_iter"] <= 0:
            return False
    stage, evidence = clone(model).set_params(**settings), model._evidence
    stage.fitted_ = before = model.fitted_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)  # the status says it
        stage.fit(*evidence)
    after = stage.fitted_
    proof = replace(
        after.proof,
        trace=before.proof.trace.followed_by(after.proof.trace),
        n_epochs=before.proof.n_epochs + after.proof.n_epochs,
        n_steps=before.proof.n_steps + after.proof.n_steps,
    )
    model._write(replace(after, proof=proof, calibration=before.calibration))
    model._evidence = evidence
    return True
