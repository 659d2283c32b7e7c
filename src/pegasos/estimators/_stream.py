"""What `partial_fit` carries from block to block: Pegasos states, and how much of each class has been seen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate, certify, stretched
from pegasos.errors import PegasosError
from pegasos.estimators._parameters import threads_of
from pegasos.estimators._targets import Terms
from pegasos.problem import Problem
from pegasos.solution import Solution, Status, Trace, TraceRow
from pegasos.solvers.pegasos import Pegasos, PegasosState

_chunk_steps = 20_000


@dataclass
class Stream:
    """The rows seen so far, in numbers, and one Pegasos state for each binary problem."""

    n_rows: int
    totals: npt.NDArray[np.float64]  # sample weight of each class
    counts: npt.NDArray[np.float64]  # rows of each class
    weights: list[npt.NDArray[np.float64]]  # of each problem; what a state begins with
    steps: list[int]
    states: list[PegasosState | None]  # None: not begun
    seed: int
    traces: list[Trace]  # a row for each block
    certificates: list[Certificate]  # of the last block that told each problem anything

    @classmethod
    def begin(cls, n_problems: int, weights_shape: tuple[int, ...], n_classes: int, seed: int) -> Stream:
        """Before the first block."""
        return cls(
            0,
            np.zeros(n_classes),
            np.zeros(n_classes),
            [np.zeros(weights_shape) for _ in range(n_problems)],
            [0] * n_problems,
            [None] * n_problems,
            seed,
            _no_traces(n_problems),
            [Certificate(0.0, 0.0, 0.0, 0.0, 0.0)] * n_problems,
        )

    @classmethod
    def after(cls, solutions: Sequence[Solution], n_rows: int, terms: Terms, seed: int) -> Stream:
        """After a fit: its weights and step counts go on."""
        return cls(
            n_rows,
            terms.totals,
            terms.counts,
            [solution.weights for solution in solutions],
            [solution.n_steps for solution in solutions],
            [solution.state if isinstance(solution.state, PegasosState) else None for solution in solutions],
            seed,
            _no_traces(len(solutions)),
            [solution.certificate for solution in solutions],
        )

    def learn(
        self, problems: Sequence[Problem], solvers: Sequence[Pegasos], is_present: Sequence[bool], n_jobs: int | None
    ) -> list[Solution]:
        """One pass over the block, for each problem that it tells anything.

        Nothing changes here until all of them have succeeded.
        """
        n_blocks = len(self.traces[0])
        # The tail begins anew after blocks 1, 2, 4, 8, ...
        restart = solvers[0].average == "tail" and n_blocks > 0 and (n_blocks & (n_blocks - 1)) == 0
        begun = perf_counter()

        def pass_over(k: int) -> Solution:
            problem, solver, state = problems[k], solvers[k], self.states[k]
            if not is_present[k]:
                return self._unchanged(k, problem.rows.n_rows, begun)
            if solver.goes_on(state):
                state = solver.move_to(problem, state, restart_average=restart)
            else:
                state = solver.enter(problem, self.weights[k], step=self.steps[k], seed=self.seed)
            return _pass(problem, solver, state, self.traces[k], begun)

        n_threads = min(len(problems), threads_of(n_jobs))
        if n_threads == 1:
            solutions = [pass_over(k) for k in range(len(problems))]
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                solutions = list(pool.map(pass_over, range(len(problems))))
        self.states = [solution.state for solution in solutions]
        self.weights = [solution.weights for solution in solutions]
        self.steps = [solution.n_steps for solution in solutions]
        self.traces = [solution.trace for solution in solutions]
        self.certificates = [solution.certificate for solution in solutions]
        return solutions

    def _unchanged(self, k: int, n_rows: int, begun: float) -> Solution:
        """The problem as it was, with the proof that it had: no row of the block counts for it."""
        proof, trace = self.certificates[k], self.traces[k]
        row = _next_row(trace, self.steps[k], 0.0, begun, proof)
        return Solution(
            weights=self.weights[k],
            alpha=np.zeros(n_rows),
            status=Status.PASSED,
            certificate=proof,
            trace=Trace([*trace.rows, row]),
            n_epochs=len(trace) + 1,
            n_steps=self.steps[k],
            state=self.states[k],
        )


def _next_row(trace: Trace, step: int, epochs: float, begun: float, proof: Certificate) -> TraceRow:
    before = trace.rows[-1] if trace.rows else TraceRow(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    seconds = before.seconds + perf_counter() - begun
    return TraceRow(step, before.epoch + epochs, seconds, proof.primal, proof.dual, proof.gap)


def _no_traces(n_problems: int) -> list[Trace]:
    return [Trace() for _ in range(n_problems)]


def _pass(problem: Problem, solver: Pegasos, state: PegasosState, trace: Trace, begun: float) -> Solution:
    """All steps of one pass, in chunks that an interrupt can come between."""
    last = state.counters.step + -(-problem.rows.n_rows // solver.batch_size)
    while (left := last - state.counters.step) > 0:
        solver.step(problem, state, min(left, max(1, _chunk_steps // solver.batch_size)))
    weights, alpha = solver.point(problem, state)
    alpha = stretched(problem, alpha)
    certificate = certify(problem, weights, alpha)
    if not certificate.is_finite:
        raise PegasosError("the numbers left the range of the machine in this block; scale the features to about 1.")
    row = _next_row(trace, state.counters.step, 1.0, begun, certificate)
    return Solution(
        weights=weights,
        alpha=problem.within_bounds(alpha),
        status=Status.PASSED,
        certificate=certificate,
        trace=Trace([*trace.rows, row]),
        n_epochs=len(trace) + 1,
        n_steps=state.counters.step,
        state=state,
    )
