"""The rows near the margin of all partitions, gathered and solved in local memory."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.problem import inner
from pegasos.solvers.partitioned import PartitionedDual, PartitionedProblem
from pegasos.solvers.partitioned_finish import beside_others
from pegasos.solvers.partitioned_state import SAMPLE_TOL, PartitionedState
from pegasos.solvers.passes import LENGTHS, WIDTHS, Along, DualRule, Gather, Vector

FEWER = 0.5  # a round of gathering is repeated if it leaves at most this fraction of the gap
_SLOW = 0.9  # a round of gathering that leaves more than this fraction of the gap counts as stuck
_FEW_VIOLATORS = 0.7  # fraction of the capacity
_STUCK = 4  # rounds without a much smaller gap


@dataclass(frozen=True)
class Gathering:
    """The problem, what is known of it, the relative gap to reach, and how many stored values fit.

    ``near`` counts the stored values of rows by their distance from the margin (`WIDTHS`), on either side of it.
    """

    problem: PartitionedProblem
    state: PartitionedState
    tol: float | None
    room: int

    @property
    def least(self) -> float:
        """The smallest softness there is: 0 for a loss with a kink."""
        return self.problem.loss.ridge

    def has_bounds(self, near: Vector) -> bool:
        """Whether rows far from the margin are at a bound determined by their side of it.

        A loss with a ridge has such a bound on one side only, so all violating rows must fit locally.
        """
        if self.tol is None:
            return False
        return self.least == 0.0 or float(near[1, -1]) <= _FEW_VIOLATORS * self.room

    def fits(self, near: Vector, width: float) -> bool:
        """Whether the rows this near to the margin fit in local memory."""
        return float(near[:, int(np.searchsorted(WIDTHS, width))].sum()) <= self.room

    def run(self, weights: Vector, near: Vector) -> Generator[None, None, Vector]:
        """Repeatedly solve for the rows nearest to the margin; the others follow from the last weights.

        The best weights are in the state; the result are the values near the margin at the last ones.
        """
        worse = 0
        while worse < _STUCK:
            before = self.state.gap
            if self.least > 0.0 and near[1, -1] > _FEW_VIOLATORS * self.room:
                break
            rule = DualRule(weights, 0.0, *_widths(near, self.room))
            gathered = self.state.ask(self.problem, Gather(rule))
            yield
            part = self.problem.part(gathered.rows)
            target = 0.1 * (self.tol or SAMPLE_TOL)
            best, alpha, dual = beside_others(self.problem, part, gathered.others, weights, target)
            self.state.offer_dual(PartitionedDual(rule, part, alpha), dual)
            weights, near = self._toward(weights, best, is_whole=math.isinf(rule.above))
            yield
            worse = 0 if self.state.gap < FEWER * before else worse + (self.state.gap > _SLOW * before)
        return near

    def _toward(self, begin: Vector, end: Vector, *, is_whole: bool) -> tuple[Vector, Vector]:
        """Return the weights to continue from, and how many values are near the margin there.

        Around the first point, the problem with fixed rows is the problem itself, so the line leads downhill. Where all
        violating rows were gathered, and those of the end fit, the end is used: all support vectors stay local there,
        so the lower bound rises in every round.
        """
        found = self.state.ask(self.problem, Along(begin, end))
        steps = [begin + t * (end - begin) for t in LENGTHS.tolist()]
        squares = np.array([0.5 * inner(self.problem.penalty * point, point) for point in steps])
        primals = squares + found.losses / self.problem.total
        best = int(np.argmin(primals))
        self.state.offer(steps[best], float(primals[best]))
        if is_whole and found.near_at(1.0)[1, -1] <= _FEW_VIOLATORS * self.room:
            best = 0
        return steps[best], found.near_at(float(LENGTHS[best]))


def _widths(near: Vector, room: int) -> tuple[float, float]:
    """How far below and above 0 the residuals of the rows that fit locally may be.

    Where few rows violate, all of them are gathered: the data are practically separable, and their sides are uncertain.
    """
    widths = np.append(WIDTHS, np.inf)
    violators = float(near[1, -1])
    if violators <= _FEW_VIOLATORS * room:
        return float(widths[_last(near[0] <= room - violators)]), math.inf
    width = float(widths[_last(near.sum(axis=0) <= room)])
    return width, width


def _last(is_true: Any) -> int:
    """Index of the last true entry; the first index if there is none."""
    places = np.flatnonzero(is_true)
    return int(places[-1]) if len(places) else 0
