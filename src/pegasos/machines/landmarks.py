"""The explicit map of some of the rows of a kernel problem, and the start that it gives the exact problem.

Pivoted incomplete Cholesky chooses some of the rows, the landmarks p, with K_pp = T T'. The map
x -> T^-1 k_p(x) has the kernel of the map K' = L L', which equals K wherever a landmark is involved; the rest of K is
positive. Weights v of the map are the coefficients T^-T v of the landmarks in the space of the kernel itself, with the
same scores and the same length: the objective of the model is that of the exact problem. Only its lower bound is that
of K', and `certify` computes the one of K. Fine, Scheinberg: Efficient SVM training using low-rank kernel
representations. JMLR 2, 2001.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from pegasos.deadline import TimeIsUp, check_deadline, within
from pegasos.gram import KernelRows
from pegasos.machines.base import Plan
from pegasos.machines.linear import Linear
from pegasos.problem import Problem, Rows
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.free_intercept import natural_bias
from pegasos.solvers.kernel_interior import PivotedFactor

_START_WORK, _START_RANKS = 4e10, (64, 1024)  # most rows times squared rank, and the range of ranks
_START_GAP = 1e-2  # relative gap of the approximation: a smaller one would not matter in the exact problem
_FAR = 0.3, 0.1  # fractions of the trace that few landmarks, and all of them, may leave for a good start
_MAP_SHARE = 0.2  # fraction of the time budget for the map, and as much again for its solution
_SCORES_SHARE = 0.4  # fraction of the time budget for the exact scores of that solution


@dataclass(frozen=True)
class Landmarks:
    """The rows that were chosen, and the triangle T with K_pp = T T'."""

    rows: npt.NDArray[np.intp]
    triangle: npt.NDArray[np.float64]

    def coefficients(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Coefficients of the landmarks, for weights of the map."""
        return np.asarray(solve_triangular(self.triangle, weights, trans="T", lower=True))


def landmark_features(rows: KernelRows, rank: int, error: float) -> tuple[npt.NDArray[np.float64], Landmarks]:
    """Map all rows with at most ``rank`` landmarks, fewer where trace(K - K') falls below ``error``."""
    everyone = np.arange(rows.n_rows)
    factor = PivotedFactor(lambda places: rows.values.block(places, everyone), rows.squared_norms, rank)
    while factor.error > error and factor.advance():
        check_deadline()
    features, pivots = np.ascontiguousarray(factor.root[:, : factor.rank]), np.array(factor.pivots, np.intp)
    return features, Landmarks(pivots, np.tril(features[pivots]))


def states_from_landmarks(problems: Sequence[Problem], solvers: Sequence[Any], stop: Stop, plan: Plan) -> list[Any]:
    """The states of the solvers at the dual points of the approximation; None where the time budget is too short."""
    rows = problems[0].rows
    assert isinstance(rows, KernelRows)
    nothing: list[Any] = [None] * len(problems)
    budget = stop.time_budget
    share = None if budget is None else _MAP_SHARE * budget
    rank = int(np.clip(math.sqrt(_START_WORK / rows.n_rows), *_START_RANKS))
    try:
        with within(share):
            trace = float(rows.squared_norms.sum())
            for part in (rank // 8, rank):  # a few landmarks show whether more are worth their time
                features = Rows.of(landmark_features(rows, part, 0.0)[0], 0.0, plan.settings.threads)
                if trace - float(features.squared_norms.sum()) > _FAR[part == rank] * trace:
                    return nothing
    except TimeIsUp:
        return nothing
    if plan.settings.is_free:
        features = features.with_bias(natural_bias(features.squared_norms))
    linear = Linear()
    settings = replace(plan.settings, tol=max(_START_GAP, plan.settings.tol or 0.0))
    rule = Stop(settings.tol, stop.max_iter, None if share is None else share / len(problems))
    states = nothing
    for k, (problem, solver) in enumerate(zip(problems, solvers, strict=True)):
        near = replace(problem, rows=features)
        found = run(
            near, linear.solver_for(features, rows.n_rows, settings, plan.task, plan.terms), rule, seed=plan.seed
        )
        try:
            with within(None if budget is None else _SCORES_SHARE * budget / len(problems)):
                states[k] = solver.enter(problem, found.alpha, plan.seed)
        except TimeIsUp:
            continue
    return states
