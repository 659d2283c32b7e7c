"""Kernel machines: items given by their kernel, and the same through an explicit feature map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from pegasos.deadline import TimeIsUp, within
from pegasos.errors import PegasosError, warn_caller
from pegasos.gram import KernelRows, is_computed, is_quick
from pegasos.kernels import Kernel as KernelFunction
from pegasos.kernels.base import Items
from pegasos.kernels.series import IndefiniteKernelWarning
from pegasos.kernels.vector import VectorKernel, Vectors
from pegasos.machines.base import Data, Plan, Points
from pegasos.machines.kernel_choice import KernelChoice, doubt, kernel_of
from pegasos.machines.kernel_model import KernelModel
from pegasos.machines.kernel_solving import finish_kernel, solve_kernel, spend_kernel
from pegasos.machines.kernel_stream import KernelStream
from pegasos.machines.kernel_streaming import KernelStreaming
from pegasos.machines.linear import part_of, with_reach
from pegasos.machines.prior import ScoredPrior
from pegasos.machines.settings import Settings
from pegasos.machines.small_problems import Spent
from pegasos.machines.solving import solve_all
from pegasos.problem import Floats, Problem, Rows
from pegasos.solution import Solution, Trace
from pegasos.solvers import mapped
from pegasos.solvers.auto import Auto
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Solver, Stop
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import natural_bias
from pegasos.solvers.kernel_pegasos import KernelPegasos, KernelPegasosState
from pegasos.tasks.base import Members, Task, numbers
from pegasos.tasks.one_vs_one import Pairs
from pegasos.tasks.terms import Terms

_MAPPED_FROM = 200  # rows below which the kernel matrix is cheap
_SINGLE_FROM = 2000  # rows above which a table in single precision pays off
# rows and least tol from which a table in single precision takes less time, and the largest coefficient up to which
_MIXED_FROM, _MIXED_TOL, _MIXED_STRENGTH = 1_000, 1e-6, 2_000.0
_VAST = 1.0  # squared rows per byte of cache_size above which working sets are used
_WEAK = 100.0  # largest coefficient for which single precision is accurate enough


@dataclass(frozen=True)
class Kernel:
    """Items given by their kernel. Columns of the kernel matrix are kept while there is room."""

    choice: KernelChoice
    cache_size: float = 1000.0  # megabytes
    max_support: int | None = None
    approximation: int | str | None = None  # landmarks of an explicit map, or "auto"
    kernel: KernelFunction | None = None  # the chosen kernel, once rows have been read
    doubt: str | None = None

    def read(self, data: Data, settings: Settings, task: Task) -> tuple[Any, Any]:
        """The machine with its kernel, and the items as rows: through the map of the kernel where that is faster."""
        try:
            with within(settings.time_share):
                kernel = kernel_of(self.choice, data.X, data.weights)
                items = kernel.read(data.X)
                warning = doubt(kernel, items)
                if warning is not None:
                    warn_caller(warning, IndefiniteKernelWarning)
                machine = replace(self, kernel=kernel, doubt=warning)
                return machine.with_rows(items, data, settings, task)
        except TimeIsUp as error:
            raise PegasosError(
                f"time_budget={settings.time_budget} ended while the kernel was reading the items, before any step; "
                "give more time, fewer items, or a kernel that reads them faster."
            ) from error

    def with_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> tuple[Any, Any]:
        """The machine of these items, and the rows of its problems."""
        assert self.kernel is not None
        through_map = settings.solver == "auto" and self.max_support is None and len(items) >= _MAPPED_FROM
        machine = Mapped(**vars(self)) if through_map and self.kernel.has_features else self
        return machine, machine._training_rows(items, data, settings, task)

    def _training_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> Any:
        """Use single precision where many rows have small coefficients and the gap is not tiny.

        Kernel values are in double where that costs little, because the certificate needs them anyway.
        """
        assert self.kernel is not None
        n, room = len(items), self._cache_bytes
        is_large = settings.tol is not None and n >= _SINGLE_FROM and _strength(data, settings, task) <= _WEAK
        of_problem = task.rows_per_problem(n)
        # Pairs of classes share one table, unless computing a value again is faster than fetching it.
        tabled = of_problem if is_computed(self.kernel, items) else n if of_problem < n else math.inf
        fits = 8.0 * tabled**2 <= room
        is_cheap = isinstance(self.kernel, VectorKernel) and (fits or n < _SINGLE_FROM)
        # With this many rows no columns are kept, and a second proof in double would take as long as the first.
        is_vast = is_quick(items) and of_problem**2 > _VAST * room
        single = is_large and isinstance(self.kernel, VectorKernel) and not is_cheap and not is_vast
        double = settings.is_exact or is_cheap or is_vast
        # Steps in single precision from slopes in double; a point that they reach is certified in double.
        is_alone = of_problem == n >= _MIXED_FROM and settings.solver == "auto"
        mixed = is_alone and settings.tol is not None and settings.tol >= _MIXED_TOL
        mixed = mixed and _largest_coefficient(data, settings) <= _MIXED_STRENGTH
        types = {"double": double, "single": single, "mixed": mixed and not is_vast}
        return KernelRows.of(self.kernel, items, settings.bias, cache_bytes=room, **types)

    @property
    def _cache_bytes(self) -> float:
        return self.cache_size * 2.0**20

    def _rows(self, kernel: KernelFunction, items: Items, bias: float) -> KernelRows:
        """Items with kernel values in double."""
        return KernelRows.of(kernel, items, bias, cache_bytes=self._cache_bytes, double=True)

    def part(self, data: Data, members: npt.NDArray[np.intp], against: Any = None) -> Data:
        """Some of the items; for a kernel matrix, with the columns of ``against``, the rows of the scoring fit."""
        if not self.choice.is_precomputed:
            return part_of(data, members, _safe_indexing(data.X, members))
        return part_of(data, members, data.X[np.ix_(members, members if against is None else against)])

    def read_again(self, data: Data, model: KernelModel, terms: Terms) -> KernelRows:
        """The rows of a fitted model."""
        return self._rows(model.kernel, model.kernel.read(data.X), terms.bias)

    def read_prior(self, settings: Settings, task: Any, data: Data) -> ScoredPrior | None:
        """Read a prior that is given by its scores."""
        return None if settings.prior is None else ScoredPrior.read(settings.prior, task, data.names)

    def solver_for(self, rows: Any, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """Decomposition, or Pegasos where the settings request it."""
        if settings.solver == "pegasos":
            return KernelPegasos(settings.pegasos(n, np.float64, task.noun))
        return Decomposition(settings.tol, settings.is_free, settings.max_steps)

    def states(
        self,
        stream: KernelStream,
        alphas: list[Any],
        solvers: Sequence[Any],
        problems: Sequence[Any],
        *,
        n_rows: list[int],
        seed: int,
    ) -> list[Any]:
        """Where the last fit ended, if it had the same numbers of rows."""
        if [len(alpha) for alpha in alphas] != n_rows:
            return [None] * len(problems)
        states = stream.states or [None] * len(problems)
        return [
            _warm_state(solver, problem, alpha, state, seed)
            for solver, problem, alpha, state in zip(solvers, problems, alphas, states, strict=True)
        ]

    def solve(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Solve small problems together; the driver solves those that are not certified that way, and all others."""
        return solve_kernel(problems, solvers, stop, plan, self._cache_bytes)

    def spend(self, problems: Sequence[Problem], stop: Stop, plan: Plan, nu: float) -> list[Spent | None]:
        """Solve the dual of the nu-machine itself where the problems are small."""
        return spend_kernel(problems, stop, plan, nu, self._cache_bytes)

    def finish(self, rows: Any, problems: Sequence[Problem], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """The solutions with certificates in double, and within the budget of support vectors."""
        return finish_kernel(problems, solutions, plan, cache_bytes=self._cache_bytes, max_support=self.max_support)

    def threads_within(self, problems: Sequence[Problem]) -> AbstractContextManager[Any]:
        """Limit BLAS: the products of a pair are small, and its threads would wait longer than they work.

        Blocks of dense rows do not need BLAS.
        """
        if not isinstance(problems, Pairs) or not isinstance(problems.rows, KernelRows):
            return nullcontext()
        items = problems.rows.items
        return nullcontext() if isinstance(items, Vectors) and not items.is_sparse else one_thread_of_blas()

    def model_of(
        self, points: Points, members: list[Members], data: Data, *, prior: ScoredPrior | None, bias: float
    ) -> KernelModel:
        """Build the model from the nonzero coefficients of all rows."""
        assert self.kernel is not None
        coefficients = np.zeros((len(points), _num_samples(data.X)))
        for row, mine, point in zip(coefficients, members, points, strict=True):
            if len(point.weights) > len(row):  # the problem contains rows twice
                np.add.at(row, numbers(mine, len(row)), point.weights)
            else:
                row[mine] = point.weights
        intercepts = np.array([point.intercept for point in points])
        return KernelModel.of(self.kernel, coefficients, data.X, bias=bias, prior=prior, intercepts=intercepts)

    def points(
        self,
        model: KernelModel,
        problems: Sequence[Problem],
        members: list[Members],
        alphas: list[Floats],
        *,
        data: Data,
        terms: Terms,
    ) -> Any:
        """Each problem with its weights and its dual point."""
        return model.points(problems, members, alphas, data=data, bias=terms.bias, rows_of=self._rows)

    def state_after(
        self, solutions: list[Solution], model: KernelModel, n_rows: int, seed: int, steps: list[int]
    ) -> KernelStream:
        """The state that a stream or a warm start continues from after a fit that is worth this many steps."""
        states = [s.state if isinstance(s.state, KernelPegasosState) else None for s in solutions]
        traces = [Trace() for _ in solutions]
        return KernelStream(n_rows, seed, steps, model.support_vectors, model.dual_coef, None, 0, traces, states)

    def streaming(self, model: KernelModel | None, data: Data) -> KernelStreaming:
        """How this machine learns from a stream: with the current model's kernel, or that of the first block."""
        kernel = kernel_of(self.choice, data.X, data.weights) if model is None else model.kernel
        return KernelStreaming(kernel, self.max_support, self._rows)


@dataclass(frozen=True)
class Mapped(Kernel):
    """A kernel machine that trains on the explicit features of its kernel, by the linear solvers."""

    def _training_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> Rows:
        assert self.kernel is not None
        rows = Rows.of(self.kernel.map(items)[0], settings.bias)
        return rows.with_bias(natural_bias(rows.squared_norms)) if settings.is_free else rows

    def solver_for(self, rows: Rows, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """Linear dual ascent that returns coefficients of the rows."""
        linear = settings.pegasos(n, np.float64, task.noun), DualAscent(np.float64), settings.tol
        return (
            mapped.FreeMapped(Auto(*linear, ends_at_once=False), settings.tol)
            if settings.is_free
            else mapped.Mapped(*linear)
        )

    def solve(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Solve every problem with the driver: features are shared like rows."""
        run: dict[str, Any] = {
            "seed": plan.seed,
            "states": plan.states,
            "watchers": plan.watchers,
        }

        def complete(problem: Problem, solution: Solution) -> Solution:
            return replace(with_reach(problem, solution, plan.terms), state=None)

        return solve_all(problems, solvers, stop, n_jobs=plan.settings.n_jobs, complete=complete, **run)

    def finish(self, rows: Any, problems: Sequence[Problem], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """Return the solutions unchanged: features are in double."""
        return solutions


def _strength(data: Data, settings: Settings, task: Task) -> float:
    """The largest coefficient that a row can have; infinite where unknown, or where the problems are small."""
    n_rows = _num_samples(data.X)
    return _largest_coefficient(data, settings) if task.rows_per_problem(n_rows) >= _SINGLE_FROM else np.inf


def _largest_coefficient(data: Data, settings: Settings) -> float:
    n_rows = _num_samples(data.X)
    total = n_rows if data.weights is None else data.weights.sum()
    largest = 1.0 if data.weights is None else float(data.weights.max(initial=0.0))
    if settings.C is None and not (settings.lam is not None and total > 0.0):
        return np.inf
    if settings.C is not None:
        return float(largest * settings.C)
    assert settings.lam is not None
    return float(largest * (1.0 / (settings.lam * total)))


def _warm_state(solver: Any, problem: Problem, alpha: Any, state: KernelPegasosState | None, seed: int) -> Any:
    if not isinstance(solver, KernelPegasos):
        return solver.enter(problem, alpha, seed)
    return None if state is None else solver.resume(problem, state)
