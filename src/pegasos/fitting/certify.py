"""The certificate of a fitted model, recomputed from its rows and its dual point, independently of any solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pegasos.certificate import Certificate, balanced, certify, certify_around, combine
from pegasos.errors import PegasosError
from pegasos.fitting.fit import fit
from pegasos.fitting.result import Fit
from pegasos.machines.base import Data, known_of
from pegasos.machines.settings import Settings
from pegasos.tasks.base import sizes


def recertify(machine: Any, fitted: Fit, data: Data) -> Certificate:
    """Certify the current weights; the rows must be those of the fit, in the same order.

    A problem without relevant rows, as in the last block of a stream, keeps its certificate.
    """
    assert fitted.terms is not None
    assert fitted.proof is not None
    is_free, before = fitted.terms.is_free, fitted.proof.certificate.parts
    found = combine(
        [
            before[k] if point is None else _certified(point, intercept, is_free=is_free)
            for k, (point, intercept) in enumerate(points_again(machine, fitted, data))
        ]
    )
    return found.without_proof if fitted.doubt else found


def points_again(machine: Any, fitted: Fit, data: Data) -> Iterator[tuple[Any, float]]:
    """Each problem with its weights and its dual point, None where no row concerns it; and its intercept.

    The rows must be those of the fit, in the same order.
    """
    task, terms, proof = fitted.task, fitted.terms, fitted.proof
    assert terms is not None
    assert proof is not None
    rows = machine.read_again(data, fitted.model, terms)
    target = task.target(data.y, data.weights)
    task.check_seen(target, data.weights)
    members, alphas = task.members(target), fitted.alphas
    if not alphas:
        raise PegasosError(
            "the model has no dual point: it stayed on the cluster of its fit, or was left out of the file "
            "(dual=False); see certificate_."
        )
    if [len(alpha) for alpha in alphas] != sizes(members, rows.n_rows):
        raise PegasosError(
            f"alpha_ belongs to the {_n_fitted(alphas, members, rows.n_rows)} rows of the last fit, got {rows.n_rows} "
            "rows; certify needs the same rows in the same order."
        )
    known = known_of(fitted.model.prior, data, rows)
    problems = task.problems(rows, target, data.weights, terms, known)
    points = machine.points(fitted.model, problems, members, alphas, data=data, terms=terms)
    with machine.threads_within(problems):
        for point, is_here, intercept in zip(
            points, task.is_present(target, data.weights), proof.intercepts, strict=True
        ):
            yield point if is_here else None, float(intercept)


def _certified(point: Any, intercept: float, *, is_free: bool) -> Certificate:
    problem, weights, alpha = point
    if not is_free:
        return certify(problem, weights, alpha)
    return certify_around(problem, weights, balanced(problem, alpha), float(intercept))


def _n_fitted(alphas: list[Any], members: list[Any], n_rows: int) -> int:
    """How many rows the fit had: each is in as many problems as it would be among these rows."""
    n_each = sum(sizes(members, n_rows)) / max(n_rows, 1)
    return round(sum(map(len, alphas)) / n_each)


def with_dual_point(machine: Any, task: Any, settings: Settings, fitted: Fit, data: Data) -> Fit:
    """Combine weights that were trained elsewhere with the dual point of a fit of these rows: any weights are valid.

    ``task`` and ``settings`` have the current parameters.
    """
    target = fitted.task.target(data.y, data.weights)
    fitted.task.check_complete(target, data.weights)
    twin = fit(machine, task, replace(settings, probability=False), data)
    assert twin.proof is not None
    assert twin.terms is not None
    model = replace(fitted.model, prior=twin.model.prior)  # type: ignore[type-var]
    if not twin.terms.is_free:
        return replace(twin, model=model)
    return replace(twin, model=model, proof=replace(twin.proof, intercepts=fitted.model.intercept))
