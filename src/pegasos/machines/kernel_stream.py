"""The state that `partial_fit` of the kernel machine keeps between blocks: support vectors and coefficients."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from pegasos.certificate import Certificate, certify, stretched
from pegasos.errors import PegasosError
from pegasos.gram import KernelRows, Numbers
from pegasos.machines.budget import keep_within
from pegasos.machines.linear_stream import OUT_OF_RANGE, passed
from pegasos.problem import Problem
from pegasos.solution import Solution, Trace, TraceRow
from pegasos.solvers.kernel_pegasos import KernelPegasos, KernelPegasosState
from pegasos.solvers.pegasos import faded, steps_of_start


@dataclass(frozen=True)
class KernelStream:
    """The state that `partial_fit` keeps between blocks."""

    n_rows: int
    seed: int
    steps: list[int]
    support: Any  # rows with a nonzero coefficient
    coefficients: npt.NDArray[np.float64]  # coefficients of the iterates, one row per problem
    sums: npt.NDArray[np.float64] | None  # sums of the coefficients of the iterates, when averaging
    averaged: int
    traces: list[Trace]  # one row per block; empty after a fit
    states: list[KernelPegasosState | None] = field(default_factory=list)  # states of a fit, for a warm start

    @classmethod
    def begin(cls, n_problems: int, seed: int, nothing: Any) -> KernelStream:
        """Before the first block."""
        traces = [Trace() for _ in range(n_problems)]
        return cls(0, seed, [0] * n_problems, nothing, np.zeros((n_problems, 0)), None, 0, traces)

    @property
    def n_support(self) -> int:
        """Number of rows with a nonzero coefficient."""
        return int(self.coefficients.shape[1])

    @property
    def averages(self) -> npt.NDArray[np.float64]:
        """The coefficients of the model: those of the last iterates, or of their mean when averaging."""
        return self.coefficients if self.sums is None or not self.averaged else self.sums / self.averaged

    def learn(
        self,
        problems: list[Problem],
        solvers: list[KernelPegasos],
        pools: list[tuple[Numbers, bool]],
        max_support: int | None,
        together: Any,
        *,
        begun: float,
        head_start: bool,
    ) -> tuple[KernelStream, list[Solution]]:
        """Pass once over a block, for each problem over its pool of rows, if any of them counts: the second entry.

        ``together`` is the support so far, followed by the block. With ``head_start``, a problem without steps starts
        at the step count that its initial weights are worth.
        """
        rows, old, average = problems[0].rows, self.n_support, solvers[0].pegasos.average
        assert isinstance(rows, KernelRows)
        n_new, averages = rows.n_rows - old, average is not None
        n_blocks = len(self.traces[0])
        # After blocks 1, 2, 4, 8, ... the tail average restarts, and the previous one fades.
        fade = average == "tail" and (n_blocks & (n_blocks - 1)) == 0
        kept = faded(self.averaged) if fade else self.averaged
        states = []
        for k, (problem, solver, (pool, counts)) in enumerate(zip(problems, solvers, pools, strict=True)):
            unit = problem.lam * problem.total
            alpha = np.concatenate([self.coefficients[k] * unit, np.zeros(n_new)])
            step = self.steps[k]
            if head_start and not step:
                step = steps_of_start(problem, np.zeros(rows.n_rows), solver.pegasos.batch_size)
            state = solver.enter(problem, alpha, pool, step=step, seed=self.seed + n_blocks)
            state.tail_at = np.inf
            if averages and self.sums is not None and kept:
                share = kept / self.averaged
                state.alpha_sum = np.concatenate([share * unit * self.sums[k], np.zeros(n_new)])
                state.averaged = kept
            if counts:
                solver.advance_to(problem, state, len(pool))
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
            (_solution if counts else _unchanged)(problem, state, weights, trace, begun)
            for problem, state, weights, trace, (_, counts) in zip(
                problems, states, points, self.traces, pools, strict=True
            )
        ]
        everyone = np.any(coefficients, axis=0) | (np.any(sums, axis=0) if sums is not None else False)
        keep = np.flatnonzero(everyone)
        after = replace(
            self,
            n_rows=self.n_rows + n_new,
            steps=[state.step for state in states],
            support=_safe_indexing(together, keep),
            coefficients=coefficients[:, keep],
            sums=None if sums is None else sums[:, keep],
            averaged=states[0].averaged,
            traces=[solution.trace for solution in solutions],
            states=[],
        )
        return after, [of_block(solution, old, pool) for solution, (pool, _) in zip(solutions, pools, strict=True)]


def _solution(
    problem: Problem, state: KernelPegasosState, weights: npt.NDArray[np.float64], trace: Trace, begun: float
) -> Solution:
    alpha = stretched(problem, state.alpha)
    certificate = certify(problem, weights, alpha)
    if not certificate.is_finite:
        raise PegasosError(OUT_OF_RANGE)
    return passed(weights, alpha, certificate, trace, step=state.step, begun=begun)


def _unchanged(
    problem: Problem, state: KernelPegasosState, weights: npt.NDArray[np.float64], trace: Trace, begun: float
) -> Solution:
    """A problem without relevant rows in the block, with the last objectives proved for it."""
    last = trace.rows[-1] if trace.rows else TraceRow(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    relative = last.gap / last.primal if last.primal > 0.0 else 0.0
    radius = float(np.sqrt(2.0 * max(last.gap, 0.0) / problem.lam))
    certificate = Certificate(last.primal, last.dual, last.gap, relative, radius)
    return passed(weights, state.alpha, certificate, trace, step=state.step, begun=begun, epochs=0.0)


def of_block(solution: Solution, old: int, pool: Numbers) -> Solution:
    """The part of a solution that concerns the rows of the block only."""
    return replace(solution, weights=solution.weights[old:], alpha=solution.alpha[pool])
