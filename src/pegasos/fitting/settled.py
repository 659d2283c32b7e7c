"""Which answers no exact solution can change: what the regions of a fit imply for rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.problem import Rows
from pegasos.region import GramRegion, PrimalRegion
from pegasos.region.primal import difference
from pegasos.rounding import unit

Floats = npt.NDArray[np.float64]
Regions = Sequence[PrimalRegion | GramRegion | None]  # one per problem; None where only the ball is known

_WIDER = 1.0 + 1e-9


class Asked(NamedTuple):
    """Rows with the scores of a model, and how far they may move within the ball of each problem."""

    rows: Any  # Rows, or items read by the kernel
    scores: Floats
    reach: Floats
    rounding: Floats  # error bound of each score

    def take(self, chosen: npt.NDArray[np.intp]) -> Asked:
        """Some of the rows."""
        rows = self.rows.view(chosen) if isinstance(self.rows, Rows) else self.rows.take(chosen)
        return Asked(rows, self.scores[chosen], self.reach[chosen], self.rounding[chosen])


class Intervals(NamedTuple):
    """The scores of a model, and bounds of those of every exact solution; one column per score."""

    scores: Floats
    lower: Floats
    upper: Floats


def intervals(asked: Asked, regions: Regions | None) -> Intervals:
    """Bounds of the scores of every exact solution."""
    lower, upper = asked.scores - asked.reach, asked.scores + asked.reach
    if regions is None:
        return Intervals(asked.scores, lower, upper)
    if len(regions) < asked.scores.shape[1]:  # all classes at once
        if isinstance(regions[0], PrimalRegion):
            moves, errors = regions[0].moves(asked.rows)
            patterns = np.eye(len(regions[0].shift))
            reaches = np.column_stack([regions[0].reaches(asked.rows, each) for each in patterns])
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


def settled(task: Any, asked: Asked, regions: Regions | None) -> npt.NDArray[np.bool_]:
    """Whether every exact solution gives the model's answer; the ball is tried first."""
    sure = np.array(task.settled(asked.scores, asked.reach))
    open_ = np.flatnonzero(~sure)
    if len(open_) == 0 or regions is None or all(region is None for region in regions):
        return sure
    asked = asked.take(open_)
    if len(regions) < asked.scores.shape[1]:
        assert isinstance(regions[0], PrimalRegion)
        sure[open_] = _settled_together(regions[0], asked)
        return sure
    found = intervals(asked, regions)
    with np.errstate(invalid="ignore"):  # a free intercept of one sign alone is unbounded, and settles nothing
        middle, half = 0.5 * (found.lower + found.upper), 0.5 * (found.upper - found.lower)
    half = half * (1.0 + 8.0 * unit) + 4.0 * unit * np.abs(middle)
    same = np.equal(task.answer(task.decisions(middle)), task.answer(task.decisions(found.scores)))
    same = same if same.ndim == 1 else same.all(axis=1)
    sure[open_] = same & task.settled(middle, half)
    return sure


def _settled_together(region: PrimalRegion, asked: Asked) -> npt.NDArray[np.bool_]:
    """Whether the winner's score exceeds every other at all weights of the region: one difference at a time."""
    moves, errors = region.moves(asked.rows)
    scores, n_classes = asked.scores + moves, asked.scores.shape[1]
    off = errors + asked.rounding + 4.0 * unit * np.abs(scores)
    winner, n = asked.scores.argmax(axis=1), np.arange(len(scores))
    sure = np.ones(len(scores), bool)
    for k in range(n_classes):
        ahead = scores[n, winner] - scores[:, k] - (off[n, winner] + off[:, k])
        # Within the ball of all classes together, a difference may move by sqrt(2) of its reach.
        is_open = asked.scores[n, winner] - asked.scores[:, k] <= np.sqrt(2.0) * _WIDER * asked.reach[:, k]
        for first in range(n_classes):
            mine = np.flatnonzero(sure & is_open & (winner == first) & (k != first))
            if len(mine):
                reaches = region.reaches(asked.rows.view(mine), difference(first, k, n_classes))
                sure[mine] = ahead[mine] > reaches
    return sure
