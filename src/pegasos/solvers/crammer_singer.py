"""The problem of all classes at once: Pegasos and dual ascent (the loops: cpp/core/pegasos/crammer_singer.h).

    min_W  lam/2 |W|^2 + (1/total) sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i> + offset_ir - offset_iy)

Crammer, Singer: On the algorithmic implementation of multiclass kernel-based vector machines. JMLR 2, 2001. Keerthi,
Sundararajan, Chang, Hsieh, Lin: A sequential dual method for large scale multi-class linear SVMs. KDD 2008. Given a
`JointProblem`, the results are weights and a dual point of it. What a state holds, when a review is due and how one
solver follows the other is as for `Problem`; only the loops differ, and the layout of the weights that they keep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats
from pegasos.solvers.auto import Auto, AutoState
from pegasos.solvers.dual_ascent import Climbing, DualAscent
from pegasos.solvers.pegasos import Pegasos, PegasosState


@dataclass(frozen=True)
class JointPegasos(Pegasos):
    """The settings, which are those of `Pegasos`."""

    def enter(self, problem: Any, weights: Floats, *, step: int, seed: int) -> PegasosState:
        """Given weights, which are copied, after ``step`` steps on other rows."""
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
        """The weights and the dual point that the state stands for."""
        weights, alpha = super().point(problem, state)
        return problem.picked_up(weights), alpha


@dataclass(frozen=True)
class JointAscent(DualAscent):
    """The settings: only the type of the weights. A step is a row, with all its dual variables."""

    def point(self, problem: Any, state: Climbing) -> tuple[npt.NDArray[np.float64], Floats]:
        """The weights and the dual point, as the loop has them."""
        weights, alpha = super().point(problem, state)
        return problem.picked_up(weights), alpha

    @property
    def _loop(self) -> Callable[..., None]:
        return _core.joint_dual_advance

    def _counters(self) -> _core.DualCounters:
        return _core.JointCounters()

    def _zero_weights(self, problem: Any) -> Floats:
        return np.zeros(problem.laid_out_shape, self.dtype)

    def _settle(self, problem: Any, state: Climbing, weights: npt.NDArray[np.float64], dual: float) -> None:
        super()._settle(problem, state, problem.laid_out(weights), dual)


@dataclass(frozen=True)
class JointAuto(Auto):
    """Pegasos and dual ascent, each where it is faster; there is no second order for this problem."""

    def _is_for_interior(self, problem: Any, gap: float) -> bool:
        return False

    def _is_for_newton(self, problem: Any, gap: float) -> bool:
        return False

    def _consider(self, problem: Any, state: AutoState) -> None:
        pass
