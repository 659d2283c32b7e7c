"""Newton's method over partitions: few passes, whatever lam, the conditioning and the number of partitions.

    P_s(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi_s(r_i),    r_i = 1 - sign_i (<w, x_i> + offset_i)

with the smoothed losses phi_s of `newton`, while the softness s falls. A pass over all partitions returns sums: the
objective, its gradient, and either its second derivatives (features x features) or, for many features, their product
with a vector. In the second case conjugate gradients find the step, preconditioned by the second derivatives of a
local sample of the rows (Zhang, Xiao: DiSCO, ICML 2015). The sample also provides the starting point. Partitions can
compute a dual point from the weights of Newton's method; both are certified together.

Where the loss has a kink, few rows are near the margin in the end. Once they fit in local memory, they are gathered,
and their problem is solved with the others fixed at their bounds (`partitioned_finish`), which reaches any gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.partitioned import PartitionedDual, PartitionedProblem
from pegasos.solvers.partitioned_descent import Descent
from pegasos.solvers.partitioned_finish import solve_here
from pegasos.solvers.partitioned_gathering import FEWER, Gathering
from pegasos.solvers.partitioned_state import SAMPLE_TOL, PartitionedState, draw_sample
from pegasos.solvers.passes import DualRule, Gather, Vector

_ALWAYS_HERE = 1 << 20  # stored values that may always be gathered, whatever the size of the data
_MOST_HERE = 1 << 22  # most stored values to gather, where that is at most a quarter of the data
_MARGIN = 0.8  # a point should have this fraction of the requested gap by its own estimate


@dataclass(frozen=True)
class PartitionedNewton:
    """Settings: the relative gap to reach, and initial weights.

    An epoch of the driver is a pass over all rows.
    """

    tol: float | None = 1e-3
    first: Vector | None = None

    def start(self, problem: PartitionedProblem, seed: int) -> PartitionedState:
        """Start without any information."""
        state = PartitionedState(seed, n_rows=problem.partitions.n_rows)
        state.goal = _MARGIN * (self.tol or 0.0)
        state.run = self._run(problem, state)
        return state

    def steps(self, state: PartitionedState) -> int:
        """Number of passes so far."""
        return state.passes

    def visits(self, state: PartitionedState) -> int:
        """Every row once per pass."""
        return state.passes * state.n_rows

    def next_look(self, problem: PartitionedProblem, state: PartitionedState) -> int:
        """The end of a pass."""
        return self.visits(state) + state.n_rows

    def advance_to(self, problem: PartitionedProblem, state: PartitionedState, visits: int) -> None:
        """Advance by whole passes until that many, or until a point is worth a certificate."""
        assert state.run is not None
        while self.visits(state) < visits and not state.is_ready:
            if next(state.run, "ended") == "ended":
                raise ExhaustedError

    def review_due(self, problem: PartitionedProblem, state: PartitionedState, epoch: int | None, tol: Any) -> bool:
        """Review when the sums show a small enough gap."""
        return state.is_ready

    def review(self, problem: PartitionedProblem, state: PartitionedState, tol: float | None) -> Review:
        """Certify the best weights and the best dual point in one pass."""
        weights, point = self.point(problem, state)
        certificate = problem.certify(weights, point)
        state.passes += 1
        state.is_ready = False
        state.goal *= 0.5  # the sums were too optimistic
        alpha: Any = point
        return Review(certificate, *_handed_over(problem, weights, alpha))

    def point(self, problem: PartitionedProblem, state: PartitionedState) -> tuple[Vector, Any]:
        """The best weights and the best dual point."""
        weights = np.zeros(problem.weights_shape) if state.weights is None else state.weights
        return weights, state.dual_point

    def intercept(self, problem: PartitionedProblem, state: PartitionedState) -> float:
        """Return the free intercept, which is not part of the weights."""
        return _handed_over(problem, *self.point(problem, state))[2]

    # The run, pass by pass

    def _run(self, problem: PartitionedProblem, state: PartitionedState) -> Iterator[None]:
        stored = problem.partitions.n_stored
        room = room_for(stored)
        if stored <= room:
            yield from self._all_here(problem, state)
        weights = self.first
        if weights is None:
            yield from draw_sample(problem, state, room)
            assert state.sample is not None
            weights = solve_here(state.sample, SAMPLE_TOL, state.seed, is_free=problem.is_free)[0]
        before = math.inf
        while state.gap < FEWER * before or before == math.inf:
            before = state.gap
            yield from Descent(Gathering(problem, state, self.tol, room), weights).run()
            weights = weights if state.weights is None else state.weights

    def _all_here(self, problem: PartitionedProblem, state: PartitionedState) -> Iterator[None]:
        """Solve the problem locally, where there are few enough rows."""
        rule = DualRule(np.zeros(problem.weights_shape), 0.0, math.inf, math.inf)
        gathered = state.ask(problem, Gather(rule))
        yield
        part = problem.part(gathered.rows)
        tol = 0.5 * (self.tol or SAMPLE_TOL)
        weights, alpha = solve_here(part, tol, state.seed, is_free=problem.is_free)
        state.weights, state.dual_point = weights, PartitionedDual(rule, part, alpha)
        state.is_ready = True
        yield


def room_for(n_stored: int) -> int:
    """How many of this many stored values may be gathered."""
    return max(_ALWAYS_HERE, min(_MOST_HERE, n_stored // 4))


def _handed_over(problem: PartitionedProblem, weights: Vector, alpha: Any) -> tuple[Vector, Any, float]:
    """Weights, dual point and intercept of the model; a free intercept is separate from the weights."""
    if not problem.is_free:
        return weights, alpha, 0.0
    plain = weights.copy()
    plain[-1] = 0.0
    return plain, alpha, float(problem.bias * weights[-1])
