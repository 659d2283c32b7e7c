"""All classes in one problem: Pegasos and dual ascent, and both with the interior point of `joint_interior`.

For the loops, see cpp/core/pegasos/crammer_singer.h.

    min_W  lam/2 |W|^2 + (1/total) sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i> + offset_ir - offset_iy)

Crammer, Singer: On the algorithmic implementation of multiclass kernel-based vector machines. JMLR 2, 2001. Keerthi,
Sundararajan, Chang, Hsieh, Lin: A sequential dual method for large scale multi-class linear SVMs. KDD 2008. Given a
`JointProblem`, the results are weights and a dual point of it. The states, the times of reviews and the sequence of
solvers are as for `Problem`; only the loops and the layout of their weights differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats
from pegasos.solvers.auto import Auto, AutoState, all_rows
from pegasos.solvers.auto.ascent_stage import AscentStage
from pegasos.solvers.auto.interior_stage import InteriorStage
from pegasos.solvers.auto.prices import Prices
from pegasos.solvers.dual_ascent import Climbing, DualAscent, DualState, end_of_sweep
from pegasos.solvers.joint_interior import JointInterior
from pegasos.solvers.pegasos import Pegasos, PegasosState

_WORTH_BOUNDS = 2e8  # nanoseconds of an interior point up to which a dual point on its bounds is worth more iterations

_LOOKS_FOR_A_RATE = 8  # looks at dual ascent from which its rate is known


@dataclass(frozen=True)
class JointPegasos(Pegasos):
    """The settings, the same as those of `Pegasos`."""

    def enter(self, problem: Any, weights: Floats, *, step: int, seed: int) -> PegasosState:
        """Start at a copy of given weights, after ``step`` steps on other rows."""
        return super().enter(problem, problem.laid_out(weights), step=step, seed=seed)

    def step(self, problem: Any, state: PegasosState, n_steps: int) -> None:
        """Take n_steps more steps."""
        _core.joint_pegasos_advance(
            problem.native,
            state.counters,
            state.weights,
            state.alphas,
            state.weight_sums,
            state.alpha_sums,
            state.order,
            self.batch_size,
            self.sampling,
            self.projection,
            problem.radius,
            n_steps,
        )

    def point(self, problem: Any, state: PegasosState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point that the state represents."""
        weights, alpha = super().point(problem, state)
        return problem.picked_up(weights), alpha


@dataclass(frozen=True)
class JointAscent(DualAscent):
    """Settings: only the type of the weights. A step visits one row, with all its dual variables."""

    def point(self, problem: Any, state: Climbing) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point that the loop has computed."""
        weights, alpha = super().point(problem, state)
        return problem.picked_up(weights), alpha

    def next_look(self, problem: Any, state: Climbing) -> int:
        """The end of a sweep: the loop does not end early."""
        return end_of_sweep(problem, state.visits, state.n_active)

    def _visit(self, problem: Any, state: Any, n_visits: int) -> None:
        arrays = state.weights, state.alpha, problem.rows.squared_norms, state.order
        _core.joint_dual_advance(problem.native, state.counters, *arrays, n_visits)

    def _state(self, problem: Any, alpha: Floats, order: npt.NDArray[np.uint32]) -> DualState:
        return DualState(_core.JointCounters(), np.zeros(problem.laid_out_shape, self.dtype), alpha, order)

    def _settle(self, problem: Any, state: Climbing, weights: npt.NDArray[np.float64], dual: float) -> None:
        super()._settle(problem, state, problem.laid_out(weights), dual)


@dataclass(frozen=True)
class JointPrices(Prices):
    """Always try dual ascent first: only its rate shows how many epochs it needs."""

    def begins_inside(self, problem: Any, gap: float) -> bool:
        """Never."""
        return False

    def begins_with_newton(self, problem: Any, gap: float) -> bool:
        """Never: there is no such method for this problem."""
        return False

    def epoch(self, problem: Any) -> float:
        """An epoch of dual ascent."""
        stored = problem.rows.n_stored / problem.rows.n_rows
        visit = 25.0 * problem.n_classes + stored * (0.75 + 0.05 * problem.n_classes)
        return float(problem.rows.n_rows * visit)

    def reprieve(self, price: float, spent: float, n_looks: int) -> float:
        """Let dual ascent continue if it is halfway there or its rate is unknown: other methods start from scratch."""
        return price + 2.0 * spent if n_looks >= _LOOKS_FOR_A_RATE else np.inf

    def first_rows(self, problem: Any, alpha: Floats) -> tuple[npt.NDArray[np.uint32], Floats]:
        """Choose all rows; where the matrix would be too large, its price keeps dual ascent going."""
        return all_rows(problem), alpha


@dataclass(frozen=True)
class JointInteriorStage(InteriorStage):
    """`JointInterior` on all rows."""

    def review_due(self, problem: Any, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """When it is ready and not before, because a review takes as long as an iteration."""
        return self.is_ready(state)

    def is_worth_bounds(self, problem: Any, interior: Any) -> bool:
        """Whether further iterations are cheap."""
        return self.prices.inside(problem, len(interior.chosen)) < _WORTH_BOUNDS

    def whole(self, problem: Any, state: AutoState) -> npt.NDArray[np.float64]:
        """Return the best dual point."""
        interior: Any = state.interior
        return np.asarray(self.interior.alpha_of(problem, interior, interior.best_shares))

    def on_bounds(self, problem: Any, state: AutoState) -> npt.NDArray[np.float64]:
        """Return the dual point moved to the bounds."""
        return np.asarray(self.interior.on_bounds(problem, state.interior, self.prices.tol or 0.0))


@dataclass(frozen=True)
class JointAuto(Auto):
    """Pegasos and dual ascent, each where it is faster, and an interior point on all rows where both are slow."""

    interior: Any = field(default_factory=JointInterior)
    interior_margin: float = 0.6

    @cached_property
    def prices(self) -> Prices:
        """Estimates of the work of each solver."""
        return JointPrices(self.tol, self.interior)

    @cached_property
    def _climbing(self) -> AscentStage:
        return AscentStage(self.ascent, self.prices, faces=None)

    @cached_property
    def _inside(self) -> InteriorStage:
        return JointInteriorStage(self.interior, self.prices, self.interior_margin)
