"""A kernel machine for the problem of all classes at once: the linear solvers on a factor of the kernel matrix.

With K = L L' the rows of L are features whose inner products are the kernel, so the loops of the linear machine solve
the problem of the kernel, its hard cases included. Pivoted Cholesky computes as many columns of L as the requested gap
seems to need. The dual point is then certified with the kernel itself; where the rest K - L L' leaves that gap too
large, L gets more columns and the solver continues from its point. A kernel with an explicit map needs no factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pegasos.certificate import certify_dual, stretched
from pegasos.deadline import TimeIsUp, check_deadline, within
from pegasos.gram import KernelRows
from pegasos.joint_gram import KernelJointProblem, columns_of
from pegasos.kernels.base import Items
from pegasos.machines.base import Data, Plan, Points
from pegasos.machines.kernel import Kernel
from pegasos.machines.kernel_model import KernelModel
from pegasos.machines.prior import ScoredPrior
from pegasos.machines.settings import Settings
from pegasos.machines.solving import solve_all
from pegasos.problem import Floats, Problem, Rows
from pegasos.solution import Solution, Status
from pegasos.solvers.crammer_singer import JointAscent, JointPegasos
from pegasos.solvers.driver import Solver, Stop
from pegasos.solvers.kernel_interior import PivotedFactor
from pegasos.solvers.mapped import JointMapped
from pegasos.tasks.base import Members, Task
from pegasos.tasks.terms import Terms

_FIRST_ERROR = 0.1  # fraction of the trace of K that the first factor may leave, per unit of tol
_NEXT_ERROR = 0.01  # what each further factor may leave of that
_LEAST_ERROR = 1e-13  # fraction of the trace at which L L' is K up to rounding
_OWN_PART = 0.5  # fraction of the requested gap that the problem on the factor may leave
_EXACT_TOL = 1e-6  # the gap for which the factor of a fit without tol is made
_OPEN = (Status.EPOCHS, Status.TIME, Status.ROUNDING)  # of the factor's problem, whose tol is smaller
_FACTOR_SHARE = 0.5  # fraction of a time budget for the first factor


@dataclass
class _Factor:
    """The columns of L so far, and the fraction of the trace of K that they may leave."""

    exact: KernelRows
    pivoted: PivotedFactor
    error: float

    @classmethod
    def of(cls, exact: KernelRows, tol: float) -> _Factor:
        pivoted = PivotedFactor(lambda places: columns_of(exact, places), exact.squared_norms, exact.n_rows)
        return cls(exact, pivoted, max(_FIRST_ERROR * tol, _LEAST_ERROR))

    def grow(self) -> None:
        """Add columns until the rest is small enough, or no pivot is left."""
        trace = float(self.exact.squared_norms.sum())
        while self.pivoted.error > self.error * trace and self.pivoted.advance():
            check_deadline()

    def refine(self) -> bool:
        """Grow further; return False where more columns would be rounding errors."""
        rank = self.pivoted.rank
        while self.pivoted.rank == rank and self.error > _LEAST_ERROR:
            self.error = max(_NEXT_ERROR * self.error, _LEAST_ERROR)
            self.grow()
        return self.pivoted.rank > rank

    @property
    def features(self) -> Rows:
        return Rows.of(np.ascontiguousarray(self.pivoted.root[:, : self.pivoted.rank]), 0.0)


@dataclass(frozen=True)
class JointKernel(Kernel):
    """A kernel machine that trains on a factor of its kernel matrix."""

    factor: _Factor | None = None  # None for a kernel with an explicit map

    def read(self, data: Data, settings: Settings, task: Task) -> tuple[Any, Any]:
        """Like any kernel machine; the problem of two classes is an ordinary one."""
        if task.n_vectors == 1:
            return Kernel(self.choice, self.cache_size).read(data, settings, task)
        return super().read(data, settings, task)

    def with_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> tuple[Any, Rows]:
        """The machine with its factor, and the features of all rows; the constant column is part of the kernel."""
        assert self.kernel is not None
        if self.kernel.has_features:
            return self, Rows.of(self.kernel.map(items)[0], settings.bias)
        factor = _Factor.of(self._rows(self.kernel, items, settings.bias), settings.tol or _EXACT_TOL)
        share = settings.time_share
        try:
            with within(None if share is None else _FACTOR_SHARE * share):
                factor.grow()
        except TimeIsUp:
            if factor.pivoted.rank == 0:
                raise
        return replace(self, factor=factor), factor.features

    def solver_for(self, rows: Rows, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """The linear solvers, with coefficients of the rows as weights."""
        pegasos = JointPegasos(**vars(settings.pegasos(n, np.float64, task.noun)))
        tol = settings.tol if settings.tol is None or self.factor is None else _OWN_PART * settings.tol
        return JointMapped(pegasos, JointAscent(np.float64), tol)

    def solve(self, problems: Sequence[Any], solvers: Sequence[Any], stop: Stop, plan: Plan) -> list[Solution]:
        """Solve on the factor, certify with the kernel, and repeat with more columns while that leaves a gap."""
        (problem,), (solver,), begun = problems, solvers, Data(None)

        def solved(problem: Any, state: Any) -> Solution:
            left = None if stop.time_budget is None else max(0.0, stop.time_budget - begun.seconds)
            rule = replace(stop, tol=solver.tol, time_budget=left)
            run: dict[str, Any] = {"seed": plan.seed, "states": [state], "watchers": plan.watchers}
            found = solve_all([problem], [solver], rule, n_jobs=1, complete=lambda _, solution: solution, **run)
            return replace(found[0], state=None)

        found = solved(problem, plan.states[0])
        if self.factor is None:
            return [found]
        exact = KernelJointProblem.over(self.factor.exact, problem)
        while True:
            is_short = found.status is not Status.CERTIFIED  # the factor may be far from the kernel
            alpha = stretched(exact, found.alpha) if is_short else found.alpha
            certificate, weights = certify_dual(exact, alpha)
            found = replace(found, alpha=alpha, certificate=certificate, weights=weights)
            if certificate.relative_gap <= (stop.tol or 0.0):
                return [replace(found, status=Status.CERTIFIED) if found.status in _OPEN else found]
            if is_short:
                return [found]
            left = None if stop.time_budget is None else max(0.0, stop.time_budget - begun.seconds)
            try:
                with within(left):
                    if not self.factor.refine():
                        return [replace(found, status=Status.ROUNDING)]
            except TimeIsUp:
                return [replace(found, status=Status.TIME)]
            problem = replace(problem, rows=self.factor.features)
            found = found.followed_by(solved(problem, solver.enter(problem, found.alpha, plan.seed)))

    def finish(self, rows: Any, problems: Sequence[Any], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """Return the solutions unchanged: they are certified with the kernel in double."""
        return solutions

    def model_of(
        self, points: Points, members: list[Members], data: Data, *, prior: ScoredPrior | None, bias: float
    ) -> KernelModel:
        """Build the model from the coefficients of all classes."""
        assert self.kernel is not None
        (point,) = points
        return KernelModel.of(self.kernel, np.asarray(point.weights), data.X, bias=bias, prior=prior)

    def points(
        self,
        model: KernelModel,
        problems: Sequence[Any],
        members: list[Members],
        alphas: list[Floats],
        *,
        data: Data,
        terms: Terms,
    ) -> Any:
        """The problem over the kernel, with the coefficients of its rows and its dual point."""
        if isinstance(problems[0], Problem):
            return super().points(model, problems, members, alphas, data=data, terms=terms)
        weights = np.zeros((len(model.dual_coef), model.n_training))
        weights[:, model.support] = model.dual_coef
        return [(KernelJointProblem.over(problems[0].rows, problems[0]), weights, alphas[0])]
