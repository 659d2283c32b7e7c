"""What a run of `PartitionedNewton` has found so far."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pegasos.problem import Problem
from pegasos.solvers.partitioned import ZERO, PartitionedDual, PartitionedProblem
from pegasos.solvers.passes import Sample, Vector

SAMPLE_TOL = 1e-3  # relative gap of the solution of a sample, and of gathered rows without a requested one


@dataclass
class PartitionedState:
    """The state of a run. The run itself is a generator that makes one pass at a time."""

    seed: int
    passes: int = 0
    n_rows: int = 0
    weights: Vector | None = None  # weights with the lowest objective so far
    primal: float = math.inf
    dual_point: PartitionedDual = ZERO  # dual point with the best lower bound so far
    dual: float = 0.0  # that of alpha = 0
    goal: float = 0.0  # relative gap at which a certificate is requested
    is_ready: bool = False  # whether something new is worth a certificate
    run: Iterator[None] | None = field(default=None, repr=False)
    sample: Problem | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """Relative gap, estimated from the sums so far."""
        return (self.primal - self.dual) / self.primal if 0.0 < self.primal < math.inf else math.inf

    def offer(self, weights: Vector, primal: float) -> None:
        """Keep the weights, if they are the best so far."""
        if primal < self.primal:
            self.weights, self.primal = weights, primal
        self.is_ready = self.gap <= self.goal

    def offer_dual(self, point: PartitionedDual, dual: float) -> None:
        """Keep the dual point, if it is the best so far."""
        if dual > self.dual:
            self.dual_point, self.dual = point, dual
        self.is_ready = self.gap <= self.goal

    def ask(self, problem: PartitionedProblem, question: Any) -> Any:
        """Make a pass over all partitions."""
        self.passes += 1
        return problem.partitions.ask(question)


def draw_sample(problem: PartitionedProblem, state: PartitionedState, room: int) -> Iterator[None]:
    """Take every k-th row of all partitions, as many as fit."""
    n = problem.partitions.n_rows
    most = min(room * n // max(problem.partitions.n_stored, 1), n // 4)
    stride = -(-n // max(most, 1))
    state.sample = problem.of_sample(state.ask(problem, Sample(stride)), n)
    yield
