"""`fit_source`: from a source of blocks to a fitted linear model."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from pegasos.data import BlockSource, open_source
from pegasos.data.source import digest
from pegasos.errors import PegasosError
from pegasos.estimators._checkpoint import Begun, Checkpoint, check_path, stored_seed
from pegasos.estimators._inputs import kept_on_failure
from pegasos.estimators._labels import Labels, read_labels
from pegasos.estimators._parameters import epochs_of
from pegasos.estimators._watching import Progress, told
from pegasos.estimators.warnings import GapWarning
from pegasos.solution import Solution, Status, Trace
from pegasos.solvers.block_ascent import BlockAscent
from pegasos.solvers.block_auto import BlockAuto
from pegasos.solvers.block_checkpoint import BlockSolver
from pegasos.solvers.block_pegasos import BlockPegasos
from pegasos.solvers.driver import Stop, Watcher, run
from pegasos.solvers.walk import review_of
from pegasos.source_problem import SourceProblem
from pegasos.window import Window

_units = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_satisfied = (Status.CERTIFIED, Status.COMPLETED, Status.STOPPED)


@dataclass(frozen=True)
class Plan:
    """How a source is trained on: bytes of memory, and where and how often the state is saved."""

    memory: int
    checkpoint: Any
    checkpoint_seconds: float

    @classmethod
    def of(cls, memory: Any, checkpoint: Any, checkpoint_seconds: Any) -> Plan:
        """Check what the user asks for."""
        if checkpoint is not None:
            check_path(checkpoint, checkpoint_seconds)
        return cls(bytes_of_memory(memory), checkpoint, checkpoint_seconds)


def fit_source(model: Any, source: Any, plan: Plan) -> None:
    """Train the model on all blocks and write its attributes."""
    _check_supported(model)
    source = _opened(source)
    with kept_on_failure(model):
        labels = read_labels(source)
        n_rows = float(source.n_rows)
        terms = model._terms_of(labels.classes, labels.counts, labels.counts, total=n_rows)
        positive = (1,) if len(labels.classes) == 2 else tuple(range(len(labels.classes)))
        solver = _solver(model, source, single=terms.suits_single)
        seed = _seed(model, plan)
        room = _room(plan.memory, source, labels, solver, len(positive))
        fits, sizes = labels.n_bytes <= room, labels.block_bytes
        with Window(source, terms.bias, room, fits=fits, block_bytes=sizes) as window:
            problem = SourceProblem(window, labels.codes, positive, terms.factors, terms.lam, terms.total)
            checkpoint = _checkpoint(model, problem, plan, classes=labels.classes, seed=seed)
            solution = _solve(model, problem, solver, seed, checkpoint)
            solutions = _parts(problem, solution)
        model.__dict__.pop("feature_names_in_", None)
        model.n_features_in_ = int(source.n_features)
        model.classes_, model._terms, model._calibration, model._prior = labels.classes, terms, None, None
        model._write(solutions, solution.trace, None, [slice(None)] * len(solutions))
        model._remember(solutions, int(source.n_rows), terms, seed)
    if solution.status not in _satisfied:
        warnings.warn(model.status_, GapWarning, stacklevel=3)


def _solve(
    model: Any, problem: SourceProblem, solver: BlockSolver, seed: int, checkpoint: Checkpoint | None
) -> Solution:
    """Run the driver, from the beginning or from the checkpoint, and save the state now and then."""
    progress = Progress(model.verbose, problem.window)
    begun = (checkpoint and checkpoint.resume(problem, solver)) or Begun(None, [], 0.0)

    def on_review(row: Any) -> None:
        progress.on_review(row)
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
        Stop(model.tol, max(0, epochs_of(model) - n_done), model.time_budget),
        seed=seed,
        state=begun.state,
        watcher=Watcher(on_review=told(0, 1, on_review), on_chunk=on_chunk),
        begun=perf_counter() - begun.seconds,
    )
    progress.end()
    return replace(solution, trace=Trace(begun.rows + solution.trace.rows))


def _checkpoint(model: Any, problem: SourceProblem, plan: Plan, *, classes: Any, seed: int) -> Checkpoint | None:
    """The file, and what the numbers of a run depend on."""
    if plan.checkpoint is None:
        return None
    source = problem.window.source
    identity = {
        "the fingerprint of the source": str(source.fingerprint),
        "its size": [int(source.n_rows), int(source.n_features), int(source.n_blocks)],
        # Where the blocks begin: the same rows in other blocks are visited in another order.
        "the digest of the starts of its blocks": digest(np.asarray(source.starts, np.int64)),
        "classes": [str(label) for label in classes.tolist()],
        "lam": problem.lam,
        "intercept_scaling": problem.window.bias,
        "class_weight": None if problem.factors is None else problem.factors.tolist(),
        "solver": model.solver,
        "average": model.average,
        "random_state": seed,
    }
    return Checkpoint(plan.checkpoint, plan.checkpoint_seconds, identity)


def _parts(problem: SourceProblem, solution: Solution) -> list[Solution]:
    """The solution of each problem: they advance together, and share steps and trace."""
    n = problem.n_problems
    # The zero vector, handed over where the numbers left the range of the machine, has no parts yet.
    parts = solution.certificate.parts or review_of(problem, solution.weights, solution.alpha)[0].certificate.parts
    return [
        replace(
            solution,
            weights=solution.weights[k],
            alpha=solution.alpha[k],
            certificate=parts[k],
            n_steps=solution.n_steps // n + (k < solution.n_steps % n),
            state=None,
        )
        for k in range(n)
    ]


def _solver(model: Any, source: BlockSource, *, single: bool) -> BlockSolver:
    # Single precision carries a gap of 1e-5, as in `fit`.
    narrow = single and source.dtype == np.float32 and (model.tol is None or model.tol >= 1e-5)
    dtype = np.float32 if narrow else np.float64
    if model.solver == "pegasos":
        return BlockPegasos(model.average)
    return BlockAscent(dtype) if model.solver == "dual" else BlockAuto.of_type(dtype, model.tol)


def _room(memory: int, source: BlockSource, labels: Labels, solver: BlockSolver, n_problems: int) -> int:
    """What the dual variables, the weights and the blocks on the way leave of the memory for blocks that stay."""
    n_rows, width = n_problems * source.n_rows, n_problems * (source.n_features + 1)
    if isinstance(solver, BlockPegasos):
        a_row, n_blocks = 8 if solver.average is None else 24, 1 + Window.ahead
    else:
        ascent = solver if isinstance(solver, BlockAscent) else solver.ascent
        a_row, n_blocks = np.dtype(ascent.dtype).itemsize + 4, 2 + Window.ahead
    fixed = a_row * n_rows + labels.codes.nbytes + 32 * width
    needed = fixed + n_blocks * labels.largest_block
    if needed > memory:
        raise PegasosError(
            f"memory={memory} bytes is too little: the dual variables and the weights take {fixed} bytes, and "
            f"{n_blocks} blocks of up to {labels.largest_block} bytes must fit beside them; give at least {needed}, or "
            "smaller blocks."
        )
    return memory - needed


def bytes_of_memory(memory: Any) -> int:
    """A number of bytes, or a string such as "2G" or "500 MB"; a K is 1024."""
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", memory.upper())
        memory = int(float(found[1]) * _units[found[2]]) if found else memory
    if not isinstance(memory, int | np.integer) or isinstance(memory, bool) or memory <= 0:
        raise PegasosError(f"memory must be a number of bytes or a string such as '2G' or '500M', got {memory!r}.")
    return int(memory)


def _seed(model: Any, plan: Plan) -> int:
    """That of the checkpoint, where random_state leaves it open."""
    if model.random_state is None and plan.checkpoint is not None:
        seed = stored_seed(plan.checkpoint)
        if seed is not None:
            return seed
    return int(model._seed())


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


def _check_supported(model: Any) -> None:
    """What blocks from a source do not offer, each in a sentence."""
    model._check_parameters()
    refused = {
        "solver": (model.solver == "cutting_plane", "cuts no planes: give solver='auto', or use fit"),
        "multi_class": (model.multi_class != "ovr", "trains one class against the rest: give multi_class='ovr'"),
        "C": (np.inf == model.C, "knows no hard margin: give a finite C"),
        "regularize_intercept": (model._is_free, "knows no free intercept: give regularize_intercept=True"),
        "prior": (model.prior is not None, "knows no prior: give prior=None, or use fit"),
        "probability": (model.probability, "fits no probabilities: give probability=False, or use fit"),
        "warm_start": (model.warm_start, "goes on from a checkpoint, not from the last fit: give warm_start=False"),
        "batch_size": (model.batch_size != 1, "visits one row at a time: give batch_size=1"),
        "sampling": (
            model.sampling != "shuffle",
            "visits rows in shuffled order: give sampling='shuffle'",
        ),
        "projection": (model.projection, "does not project: give projection=False"),
    }
    for name, (is_asked, sentence) in refused.items():
        if is_asked:
            raise PegasosError(f"fit_source {sentence}, got {name}={getattr(model, name)!r}.")
