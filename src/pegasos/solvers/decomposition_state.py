"""Everything that a run of decomposition needs to continue."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pegasos.gram import Numbers
from pegasos.problem import Problem, inner
from pegasos.solvers.dual_slopes import Column, best_part, gap_of, room_of, slopes_of
from pegasos.solvers.kernel_interior import InteriorPoint, PivotedFactor
from pegasos.solvers.working_set import WorkingSet


@dataclass
class DecompositionState:
    """Everything a run needs to continue."""

    alpha: Column
    slope: Column  # sign_i - offset_i - score_i - d_i b_i, for all rows
    seed: int
    waiting: Numbers = field(default_factory=lambda: np.empty(0, np.intp))  # rows whose columns are still to be loaded
    is_chosen: bool = False  # whether this round has chosen the waiting rows
    column_seconds: float = 0.0  # seconds that the last column took
    level: float = 0.0  # the intercept, where it is free
    steps: int = 0
    rounds: int = 0
    primal: float = np.inf  # estimated from the slopes
    gap: float = np.inf
    least_gap: float = np.inf
    target: float = np.inf  # a review is due when the relative gap falls below this
    effort: float = 1.0  # multiplies the gap at which a climb ends; reduced when rounds change nothing
    # steps and gap at two earlier times
    marks: tuple[tuple[int, float], tuple[int, float]] = ((0, np.inf), (0, np.inf))
    inside: Numbers = field(default_factory=lambda: np.empty(0, np.intp))  # rows of an interior point, if any
    factor: PivotedFactor | None = None  # factor of their kernel matrix, while an interior point is being prepared
    interior: InteriorPoint | None = None
    n_interiors: int = 0
    working_set: WorkingSet | None = None  # working set of this round, where the table holds few of the columns
    is_fine: bool = False  # whether the matrix of the working set needs double precision
    is_exhausted: bool = False  # whether the remaining gap is room for rounding

    def start_at(self, problem: Problem, alpha: Column, scores: Column) -> None:
        """Take over a dual point with these scores, multiplied by the factor, at most 1, with the best objective."""
        part = best_part(problem, alpha, scores)
        self.alpha = part * alpha
        self.slope = slopes_of(problem, self.alpha, part * scores)

    def estimate(self, problem: Problem, *, is_free: bool) -> None:
        """Estimate P and P - D from the slopes: D is half the sum of b_i (target_i + h_i)."""
        gap, self.level = gap_of(self.slope, room_of(problem, self.alpha), problem.damping, is_free)
        target = problem.sign - problem.offset
        dual = 0.5 * inner(problem.sign * self.alpha, target + self.slope)
        self.gap, self.primal = gap / problem.total, (gap + dual) / problem.total
