"""From a source of blocks to a `Fit` of a linear machine: all problems of its task, block by block."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from pegasos.data import BlockSource, open_source
from pegasos.data.source import digest
from pegasos.errors import PegasosError
from pegasos.fitting.checkpoint import Begun, Checkpoint, check_path, stored_seed
from pegasos.fitting.result import Fit, Proof
from pegasos.fitting.source_targets import SourceTargets, read_targets
from pegasos.fitting.watching import ReadingProgress, told
from pegasos.losses import Loss
from pegasos.machines.base import Data
from pegasos.machines.linear import Linear
from pegasos.machines.settings import Settings
from pegasos.solution import Solution, Trace
from pegasos.solvers.block_ascent import BlockAscent
from pegasos.solvers.block_auto import BlockAuto
from pegasos.solvers.block_checkpoint import BlockSolver
from pegasos.solvers.block_pegasos import BlockPegasos
from pegasos.solvers.driver import Stop, Watcher, run
from pegasos.solvers.units import from_units, heard_in_units
from pegasos.solvers.walk import review_of
from pegasos.source_problem import SourceProblem
from pegasos.tasks import Terms
from pegasos.window import Window

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class SourcePlan:
    """How to train on a source: bytes of memory, and where and how often the state is saved."""

    memory: int
    checkpoint: Any
    checkpoint_seconds: float

    @classmethod
    def of(cls, memory: Any, checkpoint: Any, checkpoint_seconds: Any) -> SourcePlan:
        """Check the user's parameters."""
        if checkpoint is not None:
            check_path(checkpoint, checkpoint_seconds)
        return cls(bytes_of_memory(memory), checkpoint, checkpoint_seconds)


def fit_source(
    task: Any, settings: Settings, source: Any, plan: SourcePlan, *, verbose: int
) -> tuple[Fit, BlockSource]:
    """Fit all blocks of a source; also return the opened source."""
    source = _opened(source)
    # States of Pegasos continue with another block, in the units of the data.
    targets = read_targets(source, task, has_units=settings.solver != "pegasos")
    task, columns, unit = targets.task, targets.columns, targets.unit
    common: dict[str, Any] = {"bias": settings.bias, "is_free": False, "total": float(source.n_rows)}
    terms = Terms.of(settings.lam, settings.C, **common, least_cost=task.factors_range[0], loss=settings.loss)
    solver = _solver(settings, source, single=terms.suits_single(task.factors_range[1]))
    seed = _seed(settings, plan)
    room = _room(plan.memory, source, targets, solver)
    fits, sizes = targets.n_bytes <= room, targets.block_bytes
    with Window(source, terms.bias, room, fits=fits, block_bytes=sizes) as window:
        loss = Loss(terms.cap, terms.ridge / unit)
        problem = SourceProblem(window, columns, terms.lam * unit, terms.total, loss)
        checkpoint = _checkpoint(settings, problem, plan, terms=terms, seed=seed)
        progress = ReadingProgress(verbose, window)
        solution = _solve(settings, problem, solver, _Run(seed, unit, checkpoint, progress))
        solutions = [from_units(part, unit) for part in _parts(problem, solution)]
        members = [problem.members] * len(solutions)
    machine = Linear()
    model = machine.model_of(solutions, [*members], Data(None), prior=None, bias=settings.bias)
    steps = [part.n_steps for part in solutions]
    state = machine.state_after(solutions, model, int(source.n_rows), seed, steps)
    return Fit(model, task, terms, Proof.of(solutions, solutions[0].trace, [*members]), state), source


class _Run(NamedTuple):
    """What a run has in addition to the problem and its solver."""

    seed: int
    unit: float  # unit of the problem's residuals
    checkpoint: Checkpoint | None
    progress: ReadingProgress


def _solve(settings: Settings, problem: SourceProblem, solver: BlockSolver, of_run: _Run) -> Solution:
    """Run the driver, from the beginning or from the checkpoint, and save the state at intervals."""
    checkpoint, progress = of_run.checkpoint, of_run.progress
    on_told = heard_in_units(Watcher(on_review=told(0, 1, progress.on_review)), of_run.unit).on_review
    begun = (checkpoint and checkpoint.resume(problem, solver)) or Begun(None, [], 0.0)

    def on_review(row: Any) -> None:
        on_told(row)
        if checkpoint is not None:
            checkpoint.rows.append(row)

    def on_chunk(state: Any) -> None:
        progress.on_chunk()
        if checkpoint is not None:
            checkpoint.save_now_and_then(state)

    n_done = 0 if begun.state is None else solver.visits(begun.state) // problem.rows.n_rows
    solution = run(
        problem,
        solver,
        Stop(settings.tol, max(0, settings.max_iter - n_done), settings.time_budget),
        seed=of_run.seed,
        state=begun.state,
        watcher=Watcher(on_review=on_review, on_chunk=on_chunk),
        begun=perf_counter() - begun.seconds,
    )
    progress.end()
    return replace(solution, trace=Trace(begun.rows + solution.trace.rows))


def _checkpoint(
    settings: Settings, problem: SourceProblem, plan: SourcePlan, *, terms: Terms, seed: int
) -> Checkpoint | None:
    """The checkpoint file, and what the result of a run depends on."""
    if plan.checkpoint is None:
        return None
    source = problem.window.source
    identity = {
        "the fingerprint of the source": str(source.fingerprint),
        "its size": [int(source.n_rows), int(source.n_features), int(source.n_blocks)],
        # The block boundaries matter: the same rows in other blocks are visited in another order.
        "the digest of the starts of its blocks": digest(np.asarray(source.starts, np.int64)),
        **problem.columns.identity,
        "lam": terms.lam,
        "intercept_scaling": problem.window.bias,
        "solver": settings.solver,
        "average": settings.average,
        "random_state": seed,
    }
    if not terms.loss.is_hinge:  # files of earlier versions do not contain it
        identity["loss"] = [terms.cap, terms.ridge]
    return Checkpoint(plan.checkpoint, plan.checkpoint_seconds, identity)


def _parts(problem: SourceProblem, solution: Solution) -> list[Solution]:
    """The solution of each problem: they advance together, and share steps and trace."""
    n = problem.n_problems
    # The zero vector, returned after an overflow, has no parts yet.
    alpha = problem.in_order(solution.alpha)
    parts = solution.certificate.parts or review_of(problem, solution.weights, solution.alpha)[0].certificate.parts
    return [
        replace(
            solution,
            weights=solution.weights[k],
            alpha=alpha[k],
            certificate=parts[k],
            n_steps=solution.n_steps // n + (k < solution.n_steps % n),
            state=None,
        )
        for k in range(n)
    ]


def _solver(settings: Settings, source: BlockSource, *, single: bool) -> BlockSolver:
    narrow = single and source.dtype == np.float32 and not settings.is_exact
    dtype = np.float32 if narrow else np.float64
    if settings.solver == "pegasos":
        average: Any = settings.average
        return BlockPegasos(average)
    return BlockAscent(dtype) if settings.solver == "dual" else BlockAuto.of_type(dtype, settings.tol)


def _room(memory: int, source: BlockSource, targets: SourceTargets, solver: BlockSolver) -> int:
    """Memory for blocks that stay, after the dual variables, the weights and the blocks being read."""
    columns = targets.columns
    n_rows, width = columns.n_problems * columns.n_sides * source.n_rows, columns.n_problems * (source.n_features + 1)
    if isinstance(solver, BlockPegasos):
        a_row, n_blocks = 8 if solver.average is None else 24, 1 + Window.ahead
    else:
        ascent = solver if isinstance(solver, BlockAscent) else solver.ascent
        a_row, n_blocks = np.dtype(ascent.dtype).itemsize + 4, 2 + Window.ahead
    fixed = a_row * n_rows + columns.n_bytes + 32 * width
    needed = fixed + n_blocks * targets.largest_block
    if needed > memory:
        raise PegasosError(
            f"memory={memory} bytes is too little: the dual variables and the weights take {fixed} bytes, and "
            f"{n_blocks} blocks of up to {targets.largest_block} bytes must fit beside them; give at least {needed}, "
            "or smaller blocks."
        )
    return memory - needed


def bytes_of_memory(memory: Any) -> int:
    """A number of bytes, or a string such as "2G" or "500 MB"; a K is 1024."""
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", memory.upper())
        memory = int(float(found[1]) * _UNITS[found[2]]) if found else memory
    if not isinstance(memory, int | np.integer) or isinstance(memory, bool) or memory <= 0:
        raise PegasosError(f"memory must be a number of bytes or a string such as '2G' or '500M', got {memory!r}.")
    return int(memory)


def _seed(settings: Settings, plan: SourcePlan) -> int:
    """The seed of the checkpoint, where random_state does not set one."""
    if settings.random_state is None and plan.checkpoint is not None:
        seed = stored_seed(plan.checkpoint)
        if seed is not None:
            return seed
    return settings.draw_seed()


def _opened(source: Any) -> BlockSource:
    if isinstance(source, str | os.PathLike):
        return open_source(source)
    if not all(hasattr(source, name) for name in ("block", "starts", "n_features", "dtype", "fingerprint")):
        raise PegasosError(
            f"fit_source needs a path or a source of blocks, got {type(source).__name__}; for arrays in memory use "
            "fit, or pegasos.data.ArraySource(X, y)."
        )
    opened: BlockSource = source
    return opened
