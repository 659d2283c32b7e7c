"""Kernel machines: items known by their kernel, and the same through an explicit feature map."""

from __future__ import annotations

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
from pegasos.gram import KernelRows, is_quick
from pegasos.kernels import Kernel as KernelFunction
from pegasos.kernels import Precomputed
from pegasos.kernels.base import Items
from pegasos.kernels.series import IndefiniteKernelWarning
from pegasos.kernels.vector import VectorKernel, Vectors, is_light
from pegasos.machines.base import Data, Plan
from pegasos.machines.budget import reduced
from pegasos.machines.kernel_choice import KernelChoice, doubt, joined, kernel_of
from pegasos.machines.kernel_model import KernelModel, behind_support
from pegasos.machines.kernel_stream import KernelStream
from pegasos.machines.linear import part_of, with_reach
from pegasos.machines.precision import certified_again, proved_in_double, with_double_rows
from pegasos.machines.prior import ScoredPrior
from pegasos.machines.settings import Settings
from pegasos.machines.small_pairs import SmallPairs, most_rows, solve_together
from pegasos.machines.solving import solve_all
from pegasos.problem import Floats, Problem, Rows
from pegasos.solution import Solution, Trace
from pegasos.solvers import mapped
from pegasos.solvers.auto import Auto
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Model as Point
from pegasos.solvers.driver import Solver, Stop, Watcher
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import natural_bias
from pegasos.solvers.kernel_pegasos import KernelPegasos, KernelPegasosState
from pegasos.tasks.base import Members, Task, numbers
from pegasos.tasks.one_vs_one import Pairs
from pegasos.tasks.terms import Terms

_MAPPED_FROM = 200  # rows: below, the kernel matrix costs nothing
_ROWS_PER_THREAD = 1000  # pairs of fewer rows are solved one after the other: starting threads would take longer
_LEAST_EPOCHS = 100  # that pairs which are solved together must be allowed
_SINGLE_FROM = 2000  # rows from which a table of single precision pays
_WEAK = 100.0  # the largest coefficient with which it is accurate enough


@dataclass(frozen=True)
class Kernel:
    """Items known by their kernel. Columns of the kernel matrix are kept while there is room."""

    choice: KernelChoice
    cache_size: float = 1000.0  # megabytes
    max_support: int | None = None
    kernel: KernelFunction | None = None  # the one that the choice means, once rows have been read
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
                through_map = settings.solver == "auto" and self.max_support is None and len(items) >= _MAPPED_FROM
                if through_map and kernel.has_features:
                    machine = Mapped(**vars(machine))
                return machine, machine._training_rows(items, data, settings, task)
        except TimeIsUp as error:
            raise PegasosError(
                f"time_budget={settings.time_budget} ended while the kernel was reading the items, before any step; "
                "give more time, fewer items, or a kernel that reads them faster."
            ) from error

    def _training_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> Any:
        """Kernel values are in single precision where many rows have small coefficients, and the gap is not tiny."""
        assert self.kernel is not None
        is_large = settings.tol is not None and len(items) >= _SINGLE_FROM and _strength(data, settings, task) <= _WEAK
        single, room = is_large and isinstance(self.kernel, VectorKernel), self._cache_bytes
        return KernelRows.of(
            self.kernel, items, settings.bias, cache_bytes=room, double=settings.is_exact, single=single
        )

    @property
    def _cache_bytes(self) -> float:
        return self.cache_size * 2.0**20

    def _rows(self, kernel: KernelFunction, items: Items, bias: float) -> KernelRows:
        """Items with kernel values in double."""
        return KernelRows.of(kernel, items, bias, cache_bytes=self._cache_bytes, double=True)

    def part(self, data: Data, members: npt.NDArray[np.intp], against: Any = None) -> Data:
        """Some of the items; of a kernel matrix, with the columns of those ``against`` which they are scored."""
        if not self.choice.is_precomputed:
            return part_of(data, members, _safe_indexing(data.X, members))
        return part_of(data, members, data.X[np.ix_(members, members if against is None else against)])

    def read_again(self, data: Data, model: KernelModel, terms: Terms) -> KernelRows:
        """The rows of a fitted model."""
        return self._rows(model.kernel, model.kernel.read(data.X), terms.bias)

    def read_prior(self, settings: Settings, task: Any, data: Data) -> ScoredPrior | None:
        """A prior that is known by its scores."""
        return None if settings.prior is None else ScoredPrior.read(settings.prior, task, data.names)

    def solver_for(self, rows: Any, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """Decomposition, or Pegasos where the settings ask for it."""
        if settings.solver == "pegasos":
            return KernelPegasos(settings.pegasos(n, np.float64, task.noun))
        return Decomposition(settings.tol, settings.is_free)

    def states(
        self, stream: KernelStream, alphas: list[Any], solvers: Sequence[Any], problems: Sequence[Any], plan: Any
    ) -> list[Any]:
        """Where the last fit ended, if it had the same numbers of rows."""
        n_rows, seed = plan
        if [len(alpha) for alpha in alphas] != n_rows:
            return [None] * len(problems)
        states = stream.states or [None] * len(problems)
        return [
            _warm_state(solver, problem, alpha, state, seed)
            for solver, problem, alpha, state in zip(solvers, problems, alphas, states, strict=True)
        ]

    def solve(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Small pairs are solved together; those that are not certified so, and all others, by the driver."""

        def complete(problem: Problem, solution: Solution) -> Solution:
            solution = with_reach(problem, solution, plan.terms)
            return self._complete_pair(problem, solution, plan) if isinstance(problems, Pairs) else solution

        run: dict[str, Any] = {"seed": plan.seed, "complete": complete}
        if not isinstance(problems, Pairs) or not self._are_small(problems, solvers, stop, plan):
            jobs = self._jobs(problems, plan.settings)
            return solve_all(problems, solvers, stop, n_jobs=jobs, states=plan.states, watchers=plan.watchers, **run)
        rows = problems.rows
        assert isinstance(rows, KernelRows)
        assert stop.tol is not None
        rows.load(np.arange(rows.n_rows))
        found = solve_together(SmallPairs(problems, rows, plan.terms.is_free), stop.tol, plan.settings.threads)
        solutions = []
        for k, (solution, watcher) in enumerate(zip(found, plan.watchers, strict=True)):
            if solution is not None:
                watcher.on_review(solution.trace.rows[0])
                solutions.append(solution)
            else:
                one: dict[str, Any] = {"n_jobs": 1, "states": [None], "watchers": [watcher]}
                solutions += solve_all([problems[k]], [solvers[k]], stop, **one, **run)
        return solutions

    def _are_small(self, pairs: Pairs, solvers: Sequence[Solver], stop: Stop, plan: Plan) -> bool:
        """Whether these are pairs of few rows in double, to be solved to a gap, unobserved and from the beginning."""
        rows = pairs.rows
        assert isinstance(rows, KernelRows)
        is_plain = stop.tol is not None and stop.time_budget is None and not stop.is_hard
        is_small = rows.holds_all and rows.n_rows <= most_rows and rows.dtype == np.float64
        is_new = not plan.is_seen and all(state is None for state in plan.states)
        return is_plain and is_small and is_new and plan.settings.solver != "pegasos" and stop.max_iter >= _LEAST_EPOCHS

    def _jobs(self, problems: Sequence[Problem], settings: Settings) -> int | None:
        """Threads for the problems: several may share a table only while nobody writes to it."""
        if isinstance(problems, Pairs):
            return self._jobs_of_pairs(problems, settings)
        rows = problems[0].rows
        assert isinstance(rows, KernelRows)
        if len(problems) == 1:
            return settings.n_jobs
        if not rows.holds_all or not isinstance(rows.kernel, VectorKernel) or settings.time_budget is not None:
            return 1
        rows.load(np.arange(rows.n_rows))
        return settings.n_jobs

    def _jobs_of_pairs(self, pairs: Pairs, settings: Settings) -> int:
        """As many as have room for their tables; one where starting threads takes longer than solving the pairs."""
        rows = pairs.rows
        assert isinstance(rows, KernelRows)
        # Where a kernel value is computed faster than it is fetched, each pair computes its own.
        if rows.holds_all and not is_quick(rows.items) and settings.time_budget is None:
            rows.load(np.arange(rows.n_rows))
        if not isinstance(rows.kernel, VectorKernel | Precomputed):
            return 1
        largest = max(len(mine) for mine in pairs.members)
        if rows.holds_all and largest < _ROWS_PER_THREAD:
            return 1
        return max(1, min(settings.threads, int(rows.cache_bytes // (largest**2 * rows.dtype.itemsize))))

    def threads_within(self, problems: Sequence[Problem]) -> AbstractContextManager[Any]:
        """The products of a pair are small: threads of BLAS would wait for each other longer than they work."""
        if not isinstance(problems, Pairs) or not isinstance(problems.rows, KernelRows):
            return nullcontext()
        items = problems.rows.items
        return nullcontext() if isinstance(items, Vectors) and is_light(items) else one_thread_of_blas()

    def _complete_pair(self, problem: Problem, solution: Solution, plan: Plan) -> Solution:
        """A pair is completed, in double where it must be, before its rows and their table are freed."""
        if not isinstance(solution.state, KernelPegasosState):  # which may hold on to the table
            solution = replace(solution, state=None)
        solution, is_open = proved_in_double(problem, solution, plan.settings.tol, is_free=plan.terms.is_free)
        if is_open:
            solution = replace(self._in_double([problem], [solution], [0], plan)[1][0], state=None)
        return solution

    def finish(self, rows: Any, problems: Sequence[Problem], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """The solutions with certificates in double, and within the budget of support vectors."""
        if isinstance(problems, Pairs):
            return solutions
        settings = plan.settings
        found = [
            proved_in_double(problem, solution, settings.tol, is_free=plan.terms.is_free)
            for problem, solution in zip(problems, solutions, strict=True)
        ]
        solutions = [solution for solution, _ in found]
        doubtful = [k for k, (_, is_open) in enumerate(found) if is_open]
        if doubtful:
            problems, solutions = self._in_double(problems, solutions, doubtful, plan)
        elif self.max_support is not None:
            problems = with_double_rows(problems, self._cache_bytes)
        return reduced(problems, solutions, self.max_support)

    def _in_double(
        self, problems: Sequence[Problem], solutions: list[Solution], doubtful: list[int], plan: Plan
    ) -> tuple[list[Problem], list[Solution]]:
        """Go on with kernel values in double: single precision cannot prove the gap of these problems."""
        problems, settings = with_double_rows(problems, self._cache_bytes), plan.settings
        rows, solutions = problems[0].rows, solutions.copy()
        if settings.solver == "pegasos":  # the published algorithm and nothing else: only the certificate is renewed
            for k in doubtful:
                solutions[k] = certified_again(problems[k], solutions[k], settings.tol)
            return problems, solutions
        mine = [problems[k] for k in doubtful]
        solver: Any = self.solver_for(rows, rows.n_rows, settings, plan.task, plan.terms)
        spent = max((row.seconds for solution in solutions for row in solution.trace.rows), default=0.0)
        found = solve_all(
            mine,
            [solver] * len(mine),
            settings.stop(seconds=spent, is_hard=plan.terms.is_hard),
            seed=0,
            n_jobs=self._jobs(mine, settings),
            states=[solver.enter(problems[k], solutions[k].alpha, 0) for k in doubtful],
            watchers=[Watcher() for _ in mine],
            complete=lambda problem, solution: with_reach(problem, solution, plan.terms),
        )
        for k, solution in zip(doubtful, found, strict=True):
            solutions[k] = solutions[k].followed_by(solution)
        return problems, solutions

    def model_of(
        self,
        points: Sequence[Point | Solution],
        members: list[Members],
        data: Data,
        *,
        prior: ScoredPrior | None,
        bias: float,
    ) -> KernelModel:
        """What predicts: the coefficients of all rows, as far as they are not 0."""
        assert self.kernel is not None
        coefficients = np.zeros((len(points), _num_samples(data.X)))
        for row, mine, point in zip(coefficients, members, points, strict=True):
            np.add.at(row, numbers(mine, len(row)), point.weights)  # a problem may hold a row twice
        model = KernelModel.of(self.kernel, coefficients, data.X, bias=bias, prior=prior)
        return replace(model, intercept=model.intercept + np.array([point.intercept for point in points]))

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

    def state_after(self, solutions: list[Solution], model: KernelModel, n_rows: int, seed: int) -> KernelStream:
        """What a stream or a warm start goes on from after a fit."""
        states = [s.state if isinstance(s.state, KernelPegasosState) else None for s in solutions]
        steps, traces = [solution.n_steps for solution in solutions], [Trace() for _ in solutions]
        return KernelStream(n_rows, seed, steps, model.support_vectors, model.dual_coef, None, 0, traces, states)

    def begin(self, data: Data, settings: Settings, task: Task) -> KernelStream:
        """A stream before its first block."""
        return KernelStream.begin(task.n_problems, settings.draw_seed(), _safe_indexing(data.X, np.arange(0)))

    def for_stream(self, model: KernelModel | None, data: Data) -> Kernel:
        """The machine with the kernel of the stream, which its first block decides."""
        kernel = kernel_of(self.choice, data.X, data.weights) if model is None else model.kernel
        return replace(self, kernel=kernel)

    def read_block(self, stream: KernelStream, data: Data, settings: Settings) -> _Extended:
        """The rows of a block, behind the support vectors so far."""
        assert self.kernel is not None
        together = joined(stream.support, data.X) if stream.n_support else data.X
        rows = self._rows(self.kernel, self.kernel.read(together), settings.bias)
        return _Extended(rows, together, stream.n_support)

    def learn(
        self, stream: KernelStream, rows: _Extended, problems: Sequence[Problem], data: Data, plan: Plan
    ) -> tuple[KernelStream, list[Solution]]:
        """One pass of kernel Pegasos over a block."""
        behind = [behind_support(problem, rows.rows, rows.n_support) for problem in problems]
        solver = KernelPegasos(plan.settings.pegasos(rows.n_rows, np.float64, at_most_all=True))
        return stream.learn(behind, solver, self.max_support, rows.together, data.begun)

    def model_of_stream(self, stream: KernelStream, prior: ScoredPrior | None, bias: float) -> KernelModel:
        """What predicts after a block."""
        assert self.kernel is not None
        coefficients, support = stream.averages, np.arange(stream.n_support)
        intercept = bias**2 * coefficients.sum(axis=1)
        vectors = support, stream.support, coefficients, intercept
        return KernelModel(self.kernel, *vectors, n_training=0, prior=prior, indexed=False)


@dataclass(frozen=True)
class _Extended:
    """A block of a stream: kernel rows that begin with the support vectors, and the extent of the block itself."""

    rows: KernelRows
    together: Any
    n_support: int

    @property
    def n_rows(self) -> int:
        """Rows of the block."""
        return self.rows.n_rows - self.n_support

    @property
    def n_features(self) -> int:
        """One coefficient per row."""
        return self.n_rows


@dataclass(frozen=True)
class Mapped(Kernel):
    """A kernel machine that trains on the explicit features of its kernel, by the linear solvers."""

    def _training_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> Rows:
        assert self.kernel is not None
        rows = Rows.of(self.kernel.map(items)[0], settings.bias)
        return rows.with_bias(natural_bias(rows.squared_norms)) if settings.is_free else rows

    def solver_for(self, rows: Rows, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """Linear dual ascent that hands over coefficients of the rows."""
        linear = settings.pegasos(n, np.float64, task.noun), DualAscent(np.float64), settings.tol
        return mapped.FreeMapped(Auto(*linear), settings.tol) if settings.is_free else mapped.Mapped(*linear)

    def solve(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Every problem by the driver: features are shared as rows are."""
        run: dict[str, Any] = {
            "seed": plan.seed,
            "states": plan.states,
            "watchers": plan.watchers,
        }

        def complete(problem: Problem, solution: Solution) -> Solution:
            return replace(with_reach(problem, solution, plan.terms), state=None)

        return solve_all(problems, solvers, stop, n_jobs=plan.settings.n_jobs, complete=complete, **run)

    def finish(self, rows: Any, problems: Sequence[Problem], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """The solutions as they are: features are in double."""
        return solutions


def _strength(data: Data, settings: Settings, task: Task) -> float:
    """The largest coefficient that a row can have; infinite where that is not known, or the problems are small."""
    n_rows = _num_samples(data.X)
    total = n_rows if data.weights is None else data.weights.sum()
    largest = 1.0 if data.weights is None else float(data.weights.max(initial=0.0))
    if settings.C is None and not (settings.lam is not None and total > 0.0):
        return np.inf
    if task.rows_per_problem(n_rows) < _SINGLE_FROM:
        return np.inf
    if settings.C is not None:
        return float(largest * settings.C)
    assert settings.lam is not None
    return float(largest * (1.0 / (settings.lam * total)))


def _warm_state(solver: Any, problem: Problem, alpha: Any, state: KernelPegasosState | None, seed: int) -> Any:
    if not isinstance(solver, KernelPegasos):
        return solver.enter(problem, alpha, seed)
    return None if state is None else solver.resume(problem, state)
