"""A kernel machine on an explicit map of few features: the linear machine on a factor of the kernel matrix.

Pivoted incomplete Cholesky chooses some of the rows, the landmarks p, with K_pp = T T'. The map
x -> T^-1 k_p(x) has the kernel of the map K' = L L', which equals K wherever a landmark is involved; the rest of K is
positive. Weights v of the map are the coefficients T^-T v of the landmarks in the space of the kernel itself, with the
same scores and the same length: the objective of the model is that of the exact problem. Only its lower bound is that
of K', and `certify` computes the one of K. Fine, Scheinberg: Efficient SVM training using low-rank kernel
representations. JMLR 2, 2001.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from sklearn.utils.validation import _num_samples

from pegasos.deadline import check_deadline
from pegasos.gram import KernelRows
from pegasos.kernels.base import Items
from pegasos.machines.base import Data, Plan
from pegasos.machines.kernel import Kernel
from pegasos.machines.kernel_model import KernelModel
from pegasos.machines.linear import with_reach
from pegasos.machines.prior import ScoredPrior
from pegasos.machines.settings import Settings
from pegasos.machines.solving import solve_all
from pegasos.problem import Problem, Rows
from pegasos.solution import Solution
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Model as Point
from pegasos.solvers.driver import Solver, Stop
from pegasos.solvers.free_intercept import FreeIntercept, natural_bias
from pegasos.solvers.kernel_interior import PivotedFactor
from pegasos.solvers.split_ascent import SplitAscent
from pegasos.tasks.base import Members, Task
from pegasos.tasks.terms import Terms

_AUTO_ERROR = 1e-4  # of the trace of the kernel matrix: what "auto" leaves
_AUTO_WORK, _AUTO_RANKS = 1e11, (64, 4096)  # rows times squared rank at most, and ranks in any case


@dataclass(frozen=True)
class Landmarks:
    """The rows that were chosen, and the triangle T with K_pp = T T'."""

    rows: npt.NDArray[np.intp]
    triangle: npt.NDArray[np.float64]

    def coefficients(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Those of the landmarks, for weights of the map."""
        return np.asarray(solve_triangular(self.triangle, weights, trans="T", lower=True))


@dataclass(frozen=True)
class Approximated(Kernel):
    """A kernel machine that trains on the map of its landmarks, by the linear solvers."""

    landmarks: Landmarks | None = None

    def with_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> tuple[Any, Rows]:
        """The machine with its landmarks, and the features of all rows; the constant column is part of the kernel."""
        assert self.kernel is not None
        exact = KernelRows.of(self.kernel, items, settings.bias, cache_bytes=0.0, double=True)
        everyone = np.arange(exact.n_rows)
        rank, error = self._limits(exact)
        factor = PivotedFactor(lambda places: exact.block(places, everyone), exact.squared_norms, rank)
        while factor.error > error and factor.advance():
            check_deadline()
        features, pivots = np.ascontiguousarray(factor.root[:, : factor.rank]), np.array(factor.pivots, np.intp)
        rows = Rows.of(features, 0.0, settings.threads)
        if settings.is_free:
            rows = rows.with_bias(natural_bias(rows.squared_norms))
        machine = replace(self, landmarks=Landmarks(pivots, np.tril(features[pivots])))
        return machine, rows if task.n_problems == 1 else rows.in_threads(1)

    def _limits(self, rows: KernelRows) -> tuple[int, float]:
        """The largest rank, and the trace of K - K' at which fewer landmarks are enough."""
        n, trace = rows.n_rows, float(rows.squared_norms.sum())
        if isinstance(self.approximation, numbers.Integral):
            return min(int(self.approximation), n), 0.0
        least, most = _AUTO_RANKS
        return min(n, int(np.clip(math.sqrt(_AUTO_WORK / max(n, 1)), least, most))), _AUTO_ERROR * trace

    def solver_for(self, rows: Any, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """The linear solvers."""
        pegasos = settings.pegasos(n, np.float64, task.noun)
        solver = Auto(pegasos, SplitAscent(np.float64), settings.tol, ends_at_once=not settings.is_free)
        return FreeIntercept(solver, settings.tol) if settings.is_free else solver

    def states(
        self,
        stream: Any,
        alphas: list[Any],
        solvers: Sequence[Any],
        problems: Sequence[Any],
        *,
        n_rows: list[int],
        seed: int,
    ) -> list[Any]:
        """The dual point of the last fit, if it had the same numbers of rows."""
        if [len(alpha) for alpha in alphas] != n_rows:
            return [None] * len(problems)
        each = zip(solvers, problems, alphas, strict=True)
        return [solver.enter(problem, alpha, seed) for solver, problem, alpha in each]

    def solve(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Every problem by the driver."""

        def complete(problem: Problem, solution: Solution) -> Solution:
            return replace(with_reach(problem, solution, plan.terms), state=None)

        run: dict[str, Any] = {"seed": plan.seed, "states": plan.states, "watchers": plan.watchers}
        return solve_all(problems, solvers, stop, n_jobs=plan.settings.n_jobs, complete=complete, **run)

    def finish(self, rows: Any, problems: Sequence[Problem], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """The solutions as they are."""
        return solutions

    def model_of(
        self,
        points: Sequence[Point | Solution],
        members: list[Members],
        data: Data,
        *,
        prior: ScoredPrior | None,
        bias: float,
    ) -> KernelModel:
        """What predicts: the coefficients of the landmarks."""
        assert self.kernel is not None
        assert self.landmarks is not None
        coefficients = np.zeros((len(points), _num_samples(data.X)))
        for row, point in zip(coefficients, points, strict=True):
            row[self.landmarks.rows] = self.landmarks.coefficients(point.weights[:-1])
        model = KernelModel.of(self.kernel, coefficients, data.X, bias=bias, prior=prior)
        return replace(model, intercept=model.intercept + np.array([point.intercept for point in points]))
