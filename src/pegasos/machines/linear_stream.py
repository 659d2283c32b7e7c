"""The state that `partial_fit` of a linear machine keeps between blocks: one Pegasos state per problem."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate, certify, stretched
from pegasos.errors import PegasosError
from pegasos.problem import Floats, Problem
from pegasos.solution import Solution, Status, Trace, TraceRow
from pegasos.solvers.pegasos import Pegasos, PegasosState, steps_of_start

_CHUNK_STEPS = 20_000  # steps per chunk, between which interrupts are noticed
OUT_OF_RANGE = "the numbers left the range of the machine in this block; scale the features to about 1."


@dataclass(frozen=True)
class LinearStream:
    """The number of rows so far, and the Pegasos state of each problem."""

    n_rows: int
    weights: list[npt.NDArray[np.float64]]  # initial weights of a new state, per problem
    steps: list[int]
    states: list[PegasosState | None]  # None: not started
    seed: int
    traces: list[Trace]  # one row per block; empty after a fit
    certificates: list[Certificate]  # from the last block that had rows for each problem

    @classmethod
    def begin(cls, n_problems: int, weights_shape: tuple[int, ...], seed: int) -> LinearStream:
        """Before the first block."""
        return cls(
            0,
            [np.zeros(weights_shape) for _ in range(n_problems)],
            [0] * n_problems,
            [None] * n_problems,
            seed,
            [Trace() for _ in range(n_problems)],
            [Certificate(0.0, 0.0, 0.0, 0.0, 0.0)] * n_problems,
        )

    @classmethod
    def after(
        cls, solutions: Sequence[Solution], n_rows: int, seed: int, steps: list[int] | None = None
    ) -> LinearStream:
        """After a fit: its weights continue, with the steps they are worth, by default those that were taken."""
        return cls(
            n_rows,
            [solution.weights for solution in solutions],
            [solution.n_steps for solution in solutions] if steps is None else steps,
            [solution.state if isinstance(solution.state, PegasosState) else None for solution in solutions],
            seed,
            [Trace() for _ in solutions],
            [solution.certificate for solution in solutions],
        )

    def learn(
        self,
        problems: Sequence[Problem],
        solvers: Sequence[Pegasos],
        is_present: Sequence[bool],
        *,
        n_rows: int,
        threads: int,
        head_start: bool,
    ) -> tuple[LinearStream, list[Solution]]:
        """Pass once over a block of this many rows, for each problem that has rows in it.

        With ``head_start``, a problem without steps starts at the step count that its initial weights are worth.
        """
        n_blocks = len(self.traces[0])
        # After blocks 1, 2, 4, 8, ... the tail average restarts, and the previous one fades.
        fade = solvers[0].average == "tail" and n_blocks > 0 and (n_blocks & (n_blocks - 1)) == 0
        begun = perf_counter()

        def pass_of(k: int) -> Solution:
            problem, solver, state = problems[k], solvers[k], self.states[k]
            if not is_present[k]:
                return self._unchanged(k, problem.rows.n_rows, begun)
            if solver.goes_on(state):
                state = solver.move_to(problem, state, fade_average=fade)
            else:
                step = self.steps[k]
                if head_start and not step:
                    step = steps_of_start(problem, self.weights[k], solver.batch_size)
                state = solver.enter(problem, self.weights[k], step=step, seed=self.seed)
            return _pass(problem, solver, state, self.traces[k], begun)

        n_threads = min(len(problems), threads)
        if n_threads == 1:
            solutions = [pass_of(k) for k in range(len(problems))]
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                solutions = list(pool.map(pass_of, range(len(problems))))
        after = self.after(solutions, self.n_rows + n_rows, self.seed)
        return replace(after, traces=[solution.trace for solution in solutions]), solutions

    def _unchanged(self, k: int, n_rows: int, begun: float) -> Solution:
        """The problem unchanged, with its last certificate, when no row of the block counts for it."""
        point = self.weights[k], np.zeros(n_rows), self.certificates[k], self.traces[k]
        return replace(passed(*point, step=self.steps[k], begun=begun, epochs=0.0), state=self.states[k])


def passed(
    weights: npt.NDArray[np.float64],
    alpha: Floats,
    certificate: Certificate,
    trace: Trace,
    *,
    step: int,
    begun: float,
    epochs: float = 1.0,
) -> Solution:
    """End a pass: add a row to the trace, for the steps reached and the epochs that this block added."""
    before = trace.rows[-1] if trace.rows else TraceRow(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    seconds = before.seconds + perf_counter() - begun
    row = TraceRow(step, before.epoch + epochs, seconds, certificate.primal, certificate.dual, certificate.gap)
    return Solution(
        weights=weights,
        alpha=alpha,
        status=Status.PASSED,
        certificate=certificate,
        trace=Trace([*trace.rows, row]),
        n_epochs=len(trace) + 1,
        n_steps=step,
        state=None,
    )


def _pass(problem: Problem, solver: Pegasos, state: PegasosState, trace: Trace, begun: float) -> Solution:
    """All steps of one pass, in chunks between which an interrupt is noticed."""
    last = state.counters.step + -(-problem.rows.n_rows // solver.batch_size)
    while (left := last - state.counters.step) > 0:
        solver.step(problem, state, min(left, max(1, _CHUNK_STEPS // solver.batch_size)))
    weights, alpha = solver.point(problem, state)
    alpha = stretched(problem, alpha)
    certificate = certify(problem, weights, alpha)
    if not certificate.is_finite:
        raise PegasosError(OUT_OF_RANGE)
    point = weights, problem.within_bounds(alpha), certificate, trace
    return replace(passed(*point, step=state.counters.step, begun=begun), state=state)
