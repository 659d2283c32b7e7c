"""What `partial_fit` of the kernel machine carries from block to block: support vectors and their coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from pegasos.certificate import certify, stretched
from pegasos.errors import PegasosError
from pegasos.estimators._budget import keep_within
from pegasos.gram import KernelRows
from pegasos.problem import Problem
from pegasos.solution import Solution, Status, Trace, TraceRow
from pegasos.solvers.kernel_pegasos import KernelPegasos, KernelPegasosState


@dataclass
class KernelStream:
    """What `partial_fit` carries from block to block."""

    n_rows: int
    totals: npt.NDArray[np.float64]  # sample weight of each class
    seed: int
    steps: list[int]
    support: Any  # the rows that have a say
    coefficients: npt.NDArray[np.float64]  # of the iterates, one row a problem
    sums: npt.NDArray[np.float64] | None  # of the coefficients of the iterates, when averaging
    averaged: int
    traces: list[Trace]

    @classmethod
    def begin(cls, n_problems: int, n_classes: int, seed: int, nothing: Any) -> KernelStream:
        """Before the first block."""
        traces = [Trace() for _ in range(n_problems)]
        zero = np.zeros((n_problems, 0))
        return cls(0, np.zeros(n_classes), seed, [0] * n_problems, nothing, zero, None, 0, traces)

    @property
    def n_support(self) -> int:
        """How many rows have a say."""
        return int(self.coefficients.shape[1])

    def as_attributes(self, bias: float) -> dict[str, Any]:
        """The model."""
        coefficients = self.coefficients if self.sums is None or not self.averaged else self.sums / self.averaged
        return {
            "support_": np.arange(self.n_support),
            "support_vectors_": self.support,
            "dual_coef_": coefficients,
            "intercept_": bias**2 * coefficients.sum(axis=1),
        }

    def learn(
        self, problems: list[Problem], solver: KernelPegasos, max_support: int | None, together: Any, begun: float
    ) -> list[Solution]:
        """One pass over the block, for each problem; nothing changes here until all of them have succeeded."""
        rows, old = problems[0].rows, self.n_support
        assert isinstance(rows, KernelRows)
        block = np.arange(old, rows.n_rows)
        averages = solver.pegasos.average is not None
        n_blocks = len(self.traces[0])
        # The tail begins anew after blocks 1, 2, 4, 8, ...
        restart = solver.pegasos.average == "tail" and (n_blocks & (n_blocks - 1)) == 0
        states = []
        for k, problem in enumerate(problems):
            unit = problem.lam * problem.total
            alpha = np.concatenate([self.coefficients[k] * unit, np.zeros(len(block))])
            state = solver.enter(problem, alpha, block, step=self.steps[k], seed=self.seed + n_blocks)
            state.tail_at = np.inf
            if averages and self.sums is not None and not restart:
                state.alpha_sum = np.concatenate([self.sums[k] * unit, np.zeros(len(block))])
                state.averaged = self.averaged
            solver.advance_to(problem, state, len(block))
            states.append(state)
        coefficients = np.stack([rows.coefficients(p, s.alpha) for p, s in zip(problems, states, strict=True)])
        sums = None
        if averages:
            totals = [state.alpha_sum for state in states if state.alpha_sum is not None]
            sums = np.stack([rows.coefficients(p, total) for p, total in zip(problems, totals, strict=True)])
        if max_support is not None:
            coefficients = keep_within(rows, coefficients, max_support)
            sums = (
                None
                if sums is None
                else keep_within(rows, np.where(np.any(coefficients, axis=0), sums, 0.0), max_support)
            )
        points = coefficients if sums is None else sums / states[0].averaged
        solutions = [
            _solution(problem, state, weights, trace, begun)
            for problem, state, weights, trace in zip(problems, states, points, self.traces, strict=True)
        ]
        everyone = np.any(coefficients, axis=0) | (np.any(sums, axis=0) if sums is not None else False)
        keep = np.flatnonzero(everyone)
        self.support = _safe_indexing(together, keep)
        self.coefficients = coefficients[:, keep]
        self.sums = None if sums is None else sums[:, keep]
        self.averaged = states[0].averaged
        self.steps = [state.step for state in states]
        self.traces = [solution.trace for solution in solutions]
        return solutions


def _solution(
    problem: Problem, state: KernelPegasosState, weights: npt.NDArray[np.float64], trace: Trace, begun: float
) -> Solution:
    alpha = stretched(problem, state.alpha)
    certificate = certify(problem, weights, alpha)
    if not certificate.is_finite:
        raise PegasosError("the numbers left the range of the machine in this block; scale the features to about 1.")
    before = trace.rows[-1] if trace.rows else TraceRow(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    seconds = before.seconds + perf_counter() - begun
    row = TraceRow(state.step, before.epoch + 1.0, seconds, certificate.primal, certificate.dual, certificate.gap)
    return Solution(
        weights=weights,
        alpha=alpha,
        status=Status.PASSED,
        certificate=certificate,
        trace=Trace([*trace.rows, row]),
        n_epochs=len(trace) + 1,
        n_steps=state.step,
        state=None,
    )


def of_block(solution: Solution, old: int) -> Solution:
    """What concerns the rows of the block alone."""
    return replace(solution, weights=solution.weights[old:], alpha=solution.alpha[old:])
