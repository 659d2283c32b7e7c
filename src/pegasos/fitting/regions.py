"""The regions of a fitted model, from the rows of its fit."""

from __future__ import annotations

from typing import Any

from pegasos.certificate import Certificate
from pegasos.fitting.certify import points_again
from pegasos.fitting.result import Fit
from pegasos.fitting.settled import Regions
from pegasos.machines.base import Data
from pegasos.region.bounds import Ends
from pegasos.region.finding import FreeIntercept, find_region

_SAME = 1e-6  # fraction of the objective: recomputed from the same rows, both objectives differ by less


def find_regions(machine: Any, fitted: Fit, data: Data) -> Regions | None:
    """The region of each problem; None where the objectives show that the rows are not those of the fit."""
    assert fitted.proof is not None
    assert fitted.terms is not None
    found: list[Any] = []
    each = zip(
        points_again(machine, fitted, data),
        fitted.proof.certificate.parts,
        fitted.proof.intercept_reach,
        strict=True,
    )
    for (point, intercept), before, reach in each:
        if point is None:
            found.append(None)
            continue
        problem, weights, alpha = point
        free = FreeIntercept(intercept, float(reach)) if fitted.terms.is_free else None
        region, ends = find_region(problem, weights, alpha, free)
        if not is_same(ends, before):
            return None
        found.append(region)
    return found


def is_same(now: Certificate | Ends, before: Certificate) -> bool:
    """Whether these are the objectives of this certificate."""
    room = _SAME * abs(before.primal) + 2.0 * before.rounding
    return abs(now.primal - before.primal) <= room and abs(now.dual - before.dual) <= room
