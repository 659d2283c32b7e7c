"""Which predictions no exact solution can change: the regions of a fitted model, and what they say of rows.

A region needs the rows of the fit. It is computed when first asked for, from the very arrays that were given to `fit`,
and kept; a model without these rows (after loading, or of a stream) has the ball of its certificate instead, until
`certify` shows them again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators._schemes import winners
from pegasos.estimators.warnings import ChangedRowsWarning
from pegasos.problem import Rows
from pegasos.region import GramRegion, PrimalRegion
from pegasos.region.bounds import Ends
from pegasos.region.finding import FreeIntercept, find_region
from pegasos.region.primal import difference
from pegasos.rounding import unit

Floats = npt.NDArray[np.float64]
Region = PrimalRegion | GramRegion

_SAME = 1e-6  # of the objective: both ends, recomputed from the same rows, differ by less
_WIDER = 1.0 + 1e-9  # for the rounding of scores


@dataclass(frozen=True)
class Evidence:
    """What was given to a fit: references, never copies; left out of every pickle and model file."""

    X: Any
    y: Any
    sample_weight: Any


class Intervals(NamedTuple):
    """The scores of a model, and bounds of those of every exact solution; one column per score."""

    scores: Floats
    lower: Floats
    upper: Floats


class _Asked(NamedTuple):
    """Rows with the scores of the model, and how far the ball of each problem lets them move."""

    rows: Any  # Rows, or items as the kernel has read them
    scores: Floats
    reach: Floats
    rounding: Floats  # how far each score may be off

    def take(self, chosen: npt.NDArray[np.intp]) -> _Asked:
        rows = self.rows.view(chosen) if isinstance(self.rows, Rows) else self.rows.take(chosen)
        return _Asked(rows, self.scores[chosen], self.reach[chosen], self.rounding[chosen])


def _ask(model: Any, X: Any) -> _Asked:
    scores, lengths, rounding, rows = model._scores_with_lengths(X)
    radii = np.array([part.weight_radius for part in model.certificate_.parts])
    reach = lengths[:, None] * (radii * _WIDER + rounding) + _WIDER * model._intercept_reach
    off = lengths[:, None] * np.broadcast_to(rounding, scores.shape[1])
    return _Asked(rows, scores, np.broadcast_to(reach, scores.shape), off)


def forget(model: Any) -> None:
    """What was known of other weights is not known of these."""
    for name in ("_evidence", "_regions", "_certified_share"):
        model.__dict__.pop(name, None)


def remember(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Keep hold of the rows of the fit, for the regions."""
    forget(model)
    model._evidence = Evidence(X, y, sample_weight)


def remember_anew(model: Any, certificate: Certificate, X: Any, y: Any, sample_weight: Any) -> None:
    """Take rows for those of the fit that have its certificate, where the model has none."""
    each = zip(certificate.parts, model.certificate_.parts, strict=True)
    if "_evidence" not in model.__dict__ and all(_is_same(now, before) for now, before in each):
        remember(model, X, y, sample_weight)


def _is_same(now: Certificate | Ends, before: Certificate) -> bool:
    room = _SAME * abs(before.primal) + 2.0 * before.rounding
    return abs(now.primal - before.primal) <= room and abs(now.dual - before.dual) <= room


def regions_of(model: Any) -> Sequence[Region | None]:
    """The region of each problem; None where the ball is all there is."""
    known: Sequence[Region | None] | None = model.__dict__.get("_regions")
    if known is None:
        evidence = model.__dict__.get("_evidence")
        known = [None] * len(model.certificate_.parts) if evidence is None else _found(model, evidence)
        if evidence is not None:
            model._regions = known
    return known


def _found(model: Any, evidence: Evidence) -> list[Region | None]:
    regions: list[Region | None] = []
    parts = model.certificate_.parts
    for k, ((problem, weights, alpha), here) in enumerate(model._points_again(evidence.X, evidence.y, evidence.sample_weight)):
        if not here:
            regions.append(None)
            continue
        free = None
        if model._terms.is_free:
            free = FreeIntercept(float(model._free_intercepts[k]), float(model._intercept_reach[k]))
        found = find_region(problem, weights, alpha, free)
        if not _is_same(found.ends, parts[k]):
            warnings.warn(
                f"the objective of the rows of the fit was {parts[k].primal:.6g} and is {found.ends.primal:.6g} now: X "
                "was changed after fit. Predictions are certified by the ball of certificate_ alone, which settles "
                "fewer; fit again, and leave X as it is.",
                ChangedRowsWarning,
                stacklevel=4,
            )
            return [None] * len(parts)
        regions.append(found.region)
    return regions


def intervals(model: Any, X: Any) -> Intervals:
    """Bounds of the scores of every exact solution."""
    return _intervals(regions_of(model), _ask(model, X))


def _intervals(regions: Sequence[Region | None], asked: _Asked) -> Intervals:
    lower, upper = asked.scores - asked.reach, asked.scores + asked.reach
    if len(regions) < asked.scores.shape[1]:  # all classes at once
        if isinstance(regions[0], PrimalRegion):
            moves, errors = regions[0].moves(asked.rows)
            n = len(regions[0].shift)
            reaches = np.column_stack([regions[0].reaches(asked.rows, each) for each in np.eye(n)])
            _narrow(lower, upper, asked.scores + moves, reaches + errors + asked.rounding)
        return Intervals(asked.scores, lower, upper)
    for k, region in enumerate(regions):
        if region is None:
            continue
        if isinstance(region, PrimalRegion):
            moves, errors = (each[:, 0] for each in region.moves(asked.rows))
            reaches = region.reaches(asked.rows)
        else:
            moves, errors, reaches = region.bounds(asked.rows, len(asked.scores))
        _narrow(lower[:, k], upper[:, k], asked.scores[:, k] + moves, reaches + errors + asked.rounding[:, k])
    return Intervals(asked.scores, lower, upper)


def _narrow(lower: Floats, upper: Floats, centre: Floats, half: Floats) -> None:
    half = half + 4.0 * unit * np.abs(centre)
    np.maximum(lower, centre - half, out=lower)
    np.minimum(upper, centre + half, out=upper)


def certified(model: Any, X: Any, region: str = "ellipsoid") -> npt.NDArray[np.bool_]:
    """Whether no exact solution predicts another class than the model; the ball is looked at first."""
    scheme, n_classes = model._fitted_scheme, len(model.classes_)
    asked = _ask(model, X)
    sure = np.array(scheme.certified(asked.scores, asked.reach, n_classes))
    open_ = np.flatnonzero(~sure)
    if len(open_) == 0 or region == "ball":
        return sure
    regions = regions_of(model)
    if all(each is None for each in regions):
        return sure
    asked = asked.take(open_)
    if len(regions) < asked.scores.shape[1]:
        assert isinstance(regions[0], PrimalRegion)
        sure[open_] = _certified_together(regions[0], asked)
        return sure
    found = _intervals(regions, asked)
    middle, half = 0.5 * (found.lower + found.upper), 0.5 * (found.upper - found.lower)
    half = half * (1.0 + 8.0 * unit) + 4.0 * unit * np.abs(middle)
    same = winners(scheme.decisions(middle, n_classes)) == winners(scheme.decisions(found.scores, n_classes))
    sure[open_] = same & scheme.certified(middle, half, n_classes)
    return sure


def _certified_together(region: PrimalRegion, asked: _Asked) -> npt.NDArray[np.bool_]:
    """Whether the winner's score is ahead of every other at all weights of the region: one difference at a time."""
    moves, errors = region.moves(asked.rows)
    scores, n_classes = asked.scores + moves, asked.scores.shape[1]
    off = errors + asked.rounding + 4.0 * unit * np.abs(scores)
    winner, n = asked.scores.argmax(axis=1), np.arange(len(scores))
    sure = np.ones(len(scores), bool)
    for k in range(n_classes):
        ahead = scores[n, winner] - scores[:, k] - (off[n, winner] + off[:, k])
        for first in range(n_classes):
            # The ball of all classes together lets a difference move by sqrt(2) of its reach.
            needed = asked.scores[n, winner] - asked.scores[:, k] <= np.sqrt(2.0) * _WIDER * asked.reach[:, k]
            mine = np.flatnonzero(sure & (winner == first) & (k != first) & needed)
            if len(mine):
                reaches = region.reaches(asked.rows.view(mine), difference(first, k, n_classes))
                sure[mine] = ahead[mine] > reaches
    return sure


def share(model: Any) -> float:
    """The share of the rows of the fit whose prediction is certified, by sample weight."""
    if "_certified_share" not in model.__dict__:
        evidence = model.__dict__.get("_evidence")
        if evidence is None:
            raise AttributeError(
                "certified_share_ needs the rows of the fit, which this model does not have; call certify(X, y) with "
                "them first, or use certified(X).mean()."
            )
        sure = certified(model, evidence.X)
        model._certified_share = float(np.average(sure, weights=evidence.sample_weight))
    return float(model._certified_share)


def support(model: Any, X: Any, y: Any) -> npt.NDArray[np.int8]:
    """1: at its bound in every exact solution; -1: a support vector of none; 0: open. One column per problem."""
    scheme, n_classes = model._fitted_scheme, len(model.classes_)
    if scheme.n_vectors(n_classes) > 1:
        raise PegasosError(
            "certified_support is about problems of two signs, and multi_class='crammer_singer' has one problem of all "
            "classes; use 'ovr' or 'ovo'."
        )
    found = intervals(model, X)
    codes = model._codes_of(y, len(found.scores))
    signs = np.column_stack(scheme.signs(codes, n_classes))
    nearest = np.where(signs > 0, found.lower, -found.upper)  # the least margin of any exact solution
    farthest = np.where(signs > 0, found.upper, -found.lower)
    factors = model._terms.factors
    counts = np.ones(len(codes), bool) if factors is None else factors[codes] > 0.0
    signs = signs * counts[:, None]
    # A row that has no part in a problem is a support vector of none of its solutions.
    status = np.where(farthest < 1.0, 1, np.where(nearest > 1.0, -1, 0)) * (signs != 0) - (signs == 0)
    return np.asarray(status, np.int8)
