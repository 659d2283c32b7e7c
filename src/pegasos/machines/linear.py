"""The linear machine: rows of numbers, and a model with one weight per feature."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from pegasos import _core
from pegasos.certificate import Certificate, intercept_reach
from pegasos.machines.base import BoundedScores, Data, Plan, Points, Settled
from pegasos.machines.linear_stream import LinearStream
from pegasos.machines.prior import LinearPrior
from pegasos.machines.settings import Settings
from pegasos.machines.small_linear import solve_small
from pegasos.machines.solving import solve_all, threads_of_problems
from pegasos.problem import Floats, Problem, Rows, scores_of
from pegasos.solution import Solution
from pegasos.solvers.auto import Auto
from pegasos.solvers.crammer_singer import JointAscent, JointAuto, JointPegasos
from pegasos.solvers.cutting_plane import CuttingPlane
from pegasos.solvers.driver import Model as Point
from pegasos.solvers.driver import Solver, Stop
from pegasos.solvers.finite_newton import FiniteNewton
from pegasos.solvers.free_intercept import FreeIntercept, natural_bias
from pegasos.solvers.pegasos import Pegasos, PegasosState
from pegasos.solvers.split_ascent import SplitAscent
from pegasos.solvers.whole_interior import WholeInterior
from pegasos.tasks.base import Members, Scores, Task, sizes
from pegasos.tasks.terms import Terms

_LONGEST_IN_SINGLE = 1e12  # |x|^2 above which single precision does not suit the weights


@dataclass(frozen=True, eq=False)
class LinearModel:
    """One weight per feature and one intercept for each score."""

    coef: npt.NDArray[np.float64]
    intercept: npt.NDArray[np.float64]
    prior: LinearPrior | None = None  # included in the coefficients
    indexed: bool = True  # prediction never depends on the rows of the fit

    @property
    def vectors(self) -> dict[str, Any]:
        """The coefficients and the intercepts."""
        return {"coef": self.coef, "intercept": self.intercept}

    def edited(self, attributes: dict[str, Any]) -> LinearModel:
        """Return the model with the current vectors of an estimator."""
        coef, intercept = attributes["coef_"], attributes["intercept_"]
        return (
            self if coef is self.coef and intercept is self.intercept else replace(self, coef=coef, intercept=intercept)
        )

    def scores(self, data: Data, settled: Settled, threads: int) -> Scores:
        """Score all problems; values are checked in the same pass."""
        return scores_of(data.X, np.column_stack([self.coef, self.intercept]).astype(np.float64), threads)

    def scores_of(self, rows: Rows) -> Scores:
        """The scores of rows that were read before."""
        weights = np.column_stack([self.coef, self.intercept / (rows.bias or 1.0)]).astype(np.float64)
        scores = np.empty((rows.n_rows, len(weights)))
        _core.scores(rows.native, weights, scores)
        # without a constant column, the intercept is added here; a prior may have one
        return scores if rows.bias else scores + self.intercept

    def measured(self, data: Data, bias: float, settled: Settled) -> BoundedScores:
        """Scores with the lengths of the rows, constant column included."""
        rows = Rows.of(data.X, bias)
        lengths = np.sqrt(np.square(self.coef).sum(axis=1) + np.square(self.intercept))
        rounding = np.finfo(np.float64).eps * (rows.n_features + 2) * lengths
        return BoundedScores(self.scores_of(rows), rows.lengths, rounding, rows)

    def lengths(self, certificate: Certificate, bias: float) -> npt.NDArray[np.float64]:
        """|w| of each problem. A problem with several vectors has one length, in the space of the joint feature map."""
        lengths = np.linalg.norm(self.coef, axis=1)
        is_joint = len(certificate.parts) < len(lengths)
        return np.atleast_1d(np.linalg.norm(lengths)) if is_joint else np.asarray(lengths)

    def products(self) -> npt.NDArray[np.float64]:
        """<w_k, w_l> of all problems."""
        return np.asarray(self.coef @ self.coef.T, np.float64)

    def squares(self, bias: float, X: Any) -> npt.NDArray[np.float64]:
        """|w|^2 of each score, relative to the prior, with the weight of a constant column of this value."""
        return np.asarray(np.square(self.weights(bias)).sum(axis=1))

    def weights(self, bias: float) -> npt.NDArray[np.float64]:
        """The regularized weights, one row per score, for a constant column of this value."""
        coef, intercept = self.coef, self.intercept
        if self.prior is not None:
            coef, intercept = coef - self.prior.coef, intercept - self.prior.intercept
        carried = _quotient(intercept, bias) if bias > 0.0 else np.zeros(len(intercept))
        return np.column_stack([coef, carried]).astype(np.float64)


def _quotient(intercept: npt.NDArray[np.float64], bias: float) -> npt.NDArray[np.float64]:
    """Weights of the constant column whose products with its value are exactly these intercepts."""
    found = intercept / bias
    for near in (np.nextafter(found, -np.inf), np.nextafter(found, np.inf)):
        found = np.where((found * bias != intercept) & (near * bias == intercept), near, found)
    return found


@dataclass(frozen=True)
class Linear:
    """Rows of numbers, dense or CSR, used without a copy."""

    doubt: str | None = None  # a matrix of rows leaves no doubt

    def read(self, data: Data, settings: Settings, task: Task) -> tuple[Linear, Rows]:
        """Return the machine itself and the rows; values are checked and norms computed in one pass."""
        rows = Rows.of(data.X, settings.bias, settings.threads, narrow=not settings.is_fine)
        if settings.is_free:
            rows = rows.with_bias(natural_bias(rows.squared_norms))
        # Threads work on whole problems where there are several.
        return self, rows if task.n_problems == 1 else rows.in_threads(1)

    def part(self, data: Data, members: npt.NDArray[np.intp], against: Any = None) -> Data:
        """Some of the rows; ``against`` are the rows of a fit that scores them."""
        return part_of(data, members, _safe_indexing(data.X, members))

    def read_again(self, data: Data, model: Any, terms: Terms) -> Rows:
        """The rows of a fitted model."""
        return Rows.of(data.X, terms.bias)

    def read_prior(self, settings: Settings, task: Any, data: Data) -> LinearPrior | None:
        """The weights of the prior, in the features of X."""
        if settings.prior is None:
            return None
        return LinearPrior.read(settings.prior, task, data.names, data.X.shape[1])

    def solver_for(self, rows: Rows, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """The solver of the settings, in single precision where that supports the requested gap."""
        suits = terms.suits_single(task.factors_range[1]) and float(rows.squared_norms.max()) < _LONGEST_IN_SINGLE
        narrow = rows.dtype == np.float32 and suits and not settings.is_fine
        dtype, is_joint = np.float32 if narrow else np.float64, task.n_vectors > 1
        if settings.solver == "pegasos":  # it sums more and smaller steps than single precision supports
            return _pegasos_for(settings.pegasos(n, np.float64, task.noun), is_joint=is_joint)
        ascent = JointAscent(dtype) if is_joint else SplitAscent(dtype)
        if settings.solver == "dual":
            solver: Any = ascent
        elif settings.solver == "cutting_plane":
            solver = CuttingPlane()
        elif settings.solver == "interior_point":
            solver = WholeInterior()
        else:
            pegasos = _pegasos_for(settings.pegasos(n, dtype, task.noun), is_joint=is_joint)
            solver = (JointAuto if is_joint else Auto)(pegasos, ascent, settings.tol, ends_at_once=not settings.is_free)
            if np.isinf(terms.cap) and settings.tol is not None and not settings.is_free:
                solver = FiniteNewton(solver, settings.tol)
        return FreeIntercept(solver, settings.tol) if settings.is_free else solver

    def states(
        self,
        stream: LinearStream,
        alphas: list[Any],
        solvers: Sequence[Any],
        problems: Sequence[Any],
        *,
        n_rows: list[int],
        seed: int,
    ) -> list[Any]:
        """Where the last fit ended: Pegasos continues from its weights, others from a dual point of as many rows."""
        states: list[Any] = [None] * len(problems)
        if [w.shape for w in stream.weights] != [problems[0].weights_shape] * len(problems):
            return states
        fits = [len(alpha) for alpha in alphas] == n_rows
        for k, solver in enumerate(solvers):
            if isinstance(solver, Pegasos):
                point = stream.states[k], stream.weights[k]
                states[k] = solver.resume(problems[k], *point, step=stream.steps[k], seed=seed)
            elif fits:
                enter = getattr(solver, "enter_from_afar", solver.enter)
                states[k] = enter(problems[k], alphas[k], seed)
        return states

    def threads_within(self, problems: Sequence[Problem]) -> AbstractContextManager[Any]:
        """Do nothing: linear problems use no BLAS threads."""
        return nullcontext()

    def solve(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """One solution for each problem: small ones at once, the driver solves the others."""
        found: list[Any] = [*solve_small(problems, solvers, stop, plan)]
        left = [k for k, solution in enumerate(found) if solution is None]
        if not left:
            return found
        if len(left) < len(found):
            problems = [problems[k] for k in left]

        def complete(problem: Problem, solution: Solution) -> Solution:
            """Only a state of Pegasos continues with the next block of a stream; others have arrays as long as X."""
            solution = with_reach(problem, solution, plan.terms)
            return solution if isinstance(solution.state, PegasosState) else replace(solution, state=None)

        rest = solve_all(
            problems,
            [solvers[k] for k in left],
            stop,
            seed=plan.seed,
            n_jobs=threads_of_problems(plan.settings.n_jobs, problems),
            states=[plan.states[k] for k in left],
            watchers=[plan.watchers[k] for k in left],
            complete=complete,
        )
        for k, solution in zip(left, rest, strict=True):
            found[k] = solution
        return found

    def spend(self, problems: Sequence[Problem], stop: Stop, plan: Plan, nu: float) -> list[None]:
        """Leave the parameters that spend nu to the search."""
        return [None] * len(problems)

    def finish(self, rows: Rows, problems: Sequence[Problem], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """Return the solutions unchanged, after checking that the rows have not changed."""
        rows.check_unchanged()
        return solutions

    def model_of(
        self, points: Points, members: list[Members], data: Data, *, prior: LinearPrior | None, bias: float
    ) -> LinearModel:
        """Build the model from the weights of the problems and the prior that they are a difference to."""
        weights = np.vstack([point.weights for point in points])
        coef, intercept = weights[:, :-1].copy(), bias * weights[:, -1]
        if prior is not None:
            coef, intercept = coef + prior.coef, intercept + prior.intercept
        return LinearModel(coef, intercept + np.array([point.intercept for point in points]), prior)

    def points(
        self,
        model: LinearModel,
        problems: Sequence[Problem],
        members: list[Members],
        alphas: list[Floats],
        *,
        data: Data,
        terms: Terms,
    ) -> Any:
        """Each problem with its weights and its dual point."""
        stacked = np.split(model.weights(terms.bias), len(problems))
        weights = [part[0] if len(part) == 1 else part for part in stacked]
        return zip(problems, weights, alphas, strict=True)

    def state_after(
        self, solutions: list[Solution], model: LinearModel, n_rows: int, seed: int, steps: list[int]
    ) -> LinearStream:
        """The state that a stream or a warm start continues from after a fit that is worth this many steps."""
        return LinearStream.after(solutions, n_rows, seed, steps)

    def streaming(self, model: LinearModel | None, data: Data) -> LinearStreaming:
        """How this machine learns from a stream."""
        return LinearStreaming(self)


def _pegasos_for(pegasos: Pegasos, *, is_joint: bool) -> Pegasos:
    return JointPegasos(**vars(pegasos)) if is_joint else pegasos


@dataclass(frozen=True)
class LinearStreaming:
    """A linear machine that learns from a stream: Pegasos continues from block to block."""

    machine: Linear

    def begin(self, data: Data, settings: Settings, task: Task) -> LinearStream:
        """A stream before its first block."""
        n_features = data.X.shape[1]
        shape = (n_features + 1,) if task.n_vectors == 1 else (task.n_vectors, n_features + 1)
        return LinearStream.begin(task.n_problems, shape, settings.draw_seed())

    def read(self, stream: LinearStream, data: Data, settings: Settings) -> Rows:
        """The rows of a block."""
        return Rows.of(data.X, settings.bias)

    def learn(
        self, stream: LinearStream, rows: Rows, problems: Sequence[Problem], data: Data, plan: Plan
    ) -> tuple[LinearStream, list[Solution]]:
        """One pass of Pegasos over a block."""
        task, settings = plan.task, plan.settings
        target = task.target(data.y, data.weights)
        solvers = [
            _pegasos_for(settings.pegasos(n, np.float64, at_most_all=True), is_joint=task.n_vectors > 1)
            for n in sizes(task.members(target), rows.n_rows)
        ]
        present = task.is_present(target, data.weights)
        head_start = settings.solver != "pegasos"  # the published algorithm starts with a step of length 1/lam
        return stream.learn(
            problems, solvers, present, n_rows=rows.n_rows, threads=settings.threads, head_start=head_start
        )

    def model_of(self, stream: LinearStream, prior: LinearPrior | None, bias: float) -> LinearModel:
        """What predicts after a block."""
        points = [Point(weights, 0.0) for weights in stream.weights]
        return self.machine.model_of(points, [], Data(None), prior=prior, bias=bias)


def part_of(data: Data, members: npt.NDArray[np.intp], X: Any) -> Data:
    """Some of the rows, which are X."""
    given = None if data.given is None else _safe_indexing(data.given, members)
    weights = None if data.weights is None else data.weights[members]
    return Data(X, data.y[members], weights, given, data.names)


def with_reach(problem: Problem, solution: Solution, terms: Terms) -> Solution:
    """The solution; if the intercept is free, with a bound on its distance from an exact one."""
    if not terms.is_free:
        return solution
    reach = intercept_reach(problem, solution.alpha, solution.intercept, solution.certificate.weight_radius)
    return replace(solution, intercept_reach=reach)
