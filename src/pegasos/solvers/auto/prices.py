"""Estimated work of the solvers of `Auto`, in nanoseconds on one thread, and the choices that follow from it alone.

No choice depends on the number of threads. Those that follow from the work of dual ascent do not depend on tol either,
so that a run with a smaller tol passes through the points of a run with a larger one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegasos.deadline import time_left
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.auto.stage import AT_BOUND, all_rows
from pegasos.solvers.dual_ascent import epochs_per_look
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.newton import SMOOTH_RIDGE, Newton

AFFORDABLE = 2e9  # nanoseconds that an interior point on all rows may take without trying fewer rows first
_SMOOTH_EPOCHS = 2.0  # factor on the epochs of dual ascent where the loss is smooth (measured on ten data sets)
# Dual ascent beside Newton's method, measured on 15 data sets at four lam: rows that rest save a third of the epochs
# where there are many, and Newton's steps take longer than their price.
_RESTED_GROWTH, _NEWTON_EXCESS = 2.0, 1.5
_LOOK = 6e4  # nanoseconds per look at dual ascent (see `Solver.next_look`)
_CACHED = float(1 << 24)  # number of values that fit into the caches
_SECOND_ORDER_STEPS = 10.0  # least number of steps in a complete second-order solution


@dataclass(frozen=True)
class Prices:
    """The relative gap to reach, and the interior point, which estimates its own work."""

    tol: float | None
    interior: InteriorPoint

    def begins_inside(self, problem: Problem, gap: float) -> bool:
        """Whether an interior point on all rows is expected to be the fastest.

        When there are fewer rows than features, the rows may be nearly orthogonal, and dual ascent then needs few
        epochs at any lam, so dual ascent is tried first.
        """
        if self.tol is None or not gap > 0.0 or problem.rows.n_rows <= problem.rows.n_features:
            return False
        others = min(self.ascent(problem, gap), Newton.price(problem), AFFORDABLE, _time_for_steps())
        return self.inside(problem, problem.rows.n_rows) < others

    def begins_with_newton(self, problem: Problem, gap: float) -> bool:
        """Whether Newton's method is expected to be faster than dual ascent."""
        others = min(self.ascent(problem, gap, growth=_RESTED_GROWTH), _time_for_steps())
        return self.tol is not None and gap > 0.0 and _NEWTON_EXCESS * Newton.price(problem) < others

    def inside(self, problem: Problem, n_chosen: int) -> float:
        """An interior point on this many rows; infinite where its matrix would be too large."""
        return self.interior.price(problem, n_chosen)

    def ascent(self, problem: Problem, gap: float, *, growth: float = 3.0) -> float:
        """Dual ascent, from the first row on."""
        positive = problem.share_of_positives
        rarity = min(1.0, 0.3 + 2.0 * min(positive, 1.0 - positive))
        epochs = rarity * (4.0 + growth * gap)
        if problem.ridge >= SMOOTH_RIDGE:
            epochs *= _SMOOTH_EPOCHS
        return epochs * self.epoch(problem)

    def epoch(self, problem: Problem) -> float:
        """An epoch of dual ascent; rows spread over more memory than the caches hold take longer."""
        assert isinstance(problem.rows, Rows)
        n, stored = problem.rows.n_rows, problem.rows.n_stored
        visit = 30.0 + 0.5 * stored / n + 20.0 * max(0.0, math.log2(stored / _CACHED))
        return n * visit + _LOOK / epochs_per_look(problem)

    def reprieve(self, price: float, spent: float, n_looks: int) -> float:
        """What dual ascent may still need, after what it has spent, beside an interior point of this price."""
        return 2.0 * min(price, 5.0 * AFFORDABLE)

    def first_rows(self, problem: Problem, alpha: Floats) -> tuple[npt.NDArray[np.uint32], Floats]:
        """Choose the rows of an interior point: all, or the few that matter where all would be too expensive.

        The second result are the dual variables of the others.
        """
        everyone = all_rows(problem)
        least = AT_BOUND * np.minimum(problem.bound, alpha.max(initial=0.0))
        has_part = np.flatnonzero((alpha > least) & (problem.cost > 0.0)).astype(np.uint32)
        if self.inside(problem, len(everyone)) < (np.inf if 4 * len(has_part) > len(everyone) else AFFORDABLE):
            return everyone, alpha
        return has_part, np.zeros(problem.alpha_shape)


def _time_for_steps() -> float:
    """Price of a second-order method whose first step uses all the remaining time."""
    seconds = time_left()
    return math.inf if seconds is None else 1e9 * _SECOND_ORDER_STEPS * seconds
