"""A primal-dual interior point on chosen rows: for problems so ill-conditioned that coordinate ascent crawls.

    max_a  q'a - |Z'a|^2 / (2 mu),   0 <= a <= cost,      mu = lam total,  z_i = sign_i x_i

over the dual variables of the chosen rows, the others fixed (their weights are inside q). With multipliers u, v >= 0 of
the two bounds, t = cost - a and w = Z'a/mu, Mehrotra's predictor and corrector (SIAM J. Optimization 2, 1992) are two
solutions of

    (Z Z'/mu + Theta) da = b,   Theta = u/a + v/t,

which takes a matrix of features x features, or of rows x rows where there are fewer rows (Ferris, Munson: SIAM J.
Optimization 13, 2002). About twenty iterations, whatever the conditioning. Given any dual point, the result is one with
a gap on the chosen rows as small as asked for. The linear algebra: cpp/core/pegasos/interior_point.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Problem, inner

Vector = npt.NDArray[np.float64]

_inside = 0.05  # of the cost: how far from its bounds an iterate begins
_shorter = 0.995  # of the way to the nearest bound
_most_iterations = 60
_largest = 1500  # side of a matrix


@dataclass
class InteriorState:
    """An iterate: the chosen rows, their dual variables and multipliers, and what the others contribute."""

    chosen: npt.NDArray[np.uint32]
    others: Vector  # the weights of the fixed rows
    fixed: Vector  # q: 1 - sign (score of the fixed rows + offset)
    cost: Vector
    alpha: Vector
    upper: Vector  # v
    lower: Vector  # u
    weights: Vector  # Z'a/mu
    residual: Vector  # q - Z w
    outer: Vector | None  # Z Z'/mu, where there are fewer rows than features
    iterations: int = 0
    stalled: bool = False


class InteriorPoint:
    """The iteration; `price` tells what a solution would cost before one begins."""

    @staticmethod
    def price(n_chosen: int, n_features: int) -> float:
        """Cost of a solution in multiply-adds of coordinate ascent, whose memory-bound ones are far slower."""
        side = min(n_chosen, n_features + 1)
        if side > _largest:
            return np.inf
        overhead = 400_000.0  # of the interpreter
        return 35.0 * (n_chosen * side * (n_features + 1.0) / 12.0 + side**3 / 8.0 + 60.0 * n_chosen + overhead)

    def enter(
        self, problem: Problem, alpha: npt.NDArray[Any], weights: Vector, chosen: npt.NDArray[np.uint32]
    ) -> InteriorState:
        """From a dual point and its weights, with all but the chosen rows fixed."""
        mu = problem.lam * problem.total
        cost = problem.cost[chosen]
        given = alpha[chosen].astype(np.float64)
        others = weights - _sum(problem, chosen, given) / mu
        fixed = 1.0 - problem.sign[chosen] * problem.offset[chosen] - _scores(problem, chosen, others)
        a = np.clip(given, _inside * cost, (1.0 - _inside) * cost)
        own = _sum(problem, chosen, a) / mu
        residual = fixed - _scores(problem, chosen, own)
        small = max(0.1 * float(np.mean(_gap_terms(cost, a, residual))), 1e-12)
        return InteriorState(
            chosen,
            others,
            fixed,
            cost,
            a,
            upper=np.maximum(residual, 0.0) + small / (cost - a),
            lower=np.maximum(-residual, 0.0) + small / a,
            weights=own,
            residual=residual,
            outer=_outer(problem, chosen) / mu if len(chosen) <= problem.rows.n_features else None,
        )

    def gap(self, problem: Problem, state: InteriorState) -> float:
        """The duality gap of the chosen rows' problem, divided by the total like every gap."""
        return float(np.sum(_gap_terms(state.cost, state.alpha, state.residual))) / problem.total

    def step(self, problem: Problem, state: InteriorState) -> None:
        """One predictor and corrector."""
        a, t, u, v = state.alpha, state.cost - state.alpha, state.lower, state.upper
        if min(a.min(), t.min()) <= 0.0:  # rounding has put a row on its bound
            state.stalled = True
            return
        newton = _Newton(problem, state, u / a + v / t)
        if not newton.is_definite:  # rounding has the last word
            state.stalled = True
            return
        solve = newton.solve
        mean = (inner(a, u) + inner(t, v)) / (2 * len(a))

        da, _ = solve(state.residual)
        du, dv = -u - u / a * da, -v + v / t * da
        ahead, beside = _room(a, da, t, -da), _room(u, du, v, dv)
        reached = inner(a + ahead * da, u + beside * du) + inner(t - ahead * da, v + beside * dv)
        centre = mean * (reached / (2 * len(a)) / mean) ** 3

        bu, bv = (centre - da * du) / a, (centre + da * dv) / t
        da, dw = solve(state.residual + bu - bv)
        du, dv = bu - u - u / a * da, bv - v + v / t * da
        ahead, beside = _shorter * _room(a, da, t, -da), _shorter * _room(u, du, v, dv)
        state.iterations += 1
        state.stalled = state.iterations >= _most_iterations or not ahead + beside > 1e-6
        if np.isfinite(da).all() and np.isfinite(dw).all():
            state.alpha = a + ahead * da
            state.lower, state.upper = u + beside * du, v + beside * dv
            state.weights = state.weights + ahead * dw
            state.residual = state.fixed - _scores(problem, state.chosen, state.weights)


def _gap_terms(cost: Vector, alpha: Vector, residual: Vector) -> Vector:
    return np.asarray(cost * np.maximum(residual, 0.0) - alpha * residual)


def _room(x: Vector, dx: Vector, y: Vector, dy: Vector) -> float:
    """How far along two directions both vectors stay positive, at most 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = min(
            float(np.min(-x / dx, where=dx < 0.0, initial=np.inf)),
            float(np.min(-y / dy, where=dy < 0.0, initial=np.inf)),
        )
    return min(1.0, nearest)


class _Newton:
    """The factored system of one iteration."""

    def __init__(self, problem: Problem, state: InteriorState, theta: Vector):
        self.problem, self.chosen, self.theta = problem, state.chosen, theta
        self.mu = problem.lam * problem.total
        self.by_rows = state.outer is not None
        self.matrix = _gram(problem, state.chosen, 1.0 / theta) if state.outer is None else state.outer.copy()
        self.matrix[np.diag_indices_from(self.matrix)] += theta if self.by_rows else self.mu
        self.is_definite = _core.factor(self.matrix)

    def solve(self, b: Vector) -> tuple[Vector, Vector]:
        """The step of alpha, and of the weights with it."""
        if self.by_rows:
            da = b.copy()
            _core.solve(self.matrix, da)
            return da, _sum(self.problem, self.chosen, da) / self.mu
        dw = _sum(self.problem, self.chosen, b / self.theta)
        _core.solve(self.matrix, dw)
        return (b - _scores(self.problem, self.chosen, dw)) / self.theta, dw


def _scores(problem: Problem, chosen: npt.NDArray[np.uint32], weights: Vector) -> Vector:
    """Z w."""
    out = np.empty(len(chosen))
    _core.chosen_scores(problem.native, chosen, weights, out)
    return out


def _sum(problem: Problem, chosen: npt.NDArray[np.uint32], values: Vector) -> Vector:
    """Z' v."""
    out = np.empty(problem.rows.n_features + 1)
    _core.chosen_sum(problem.native, chosen, values, out)
    return out


def _gram(problem: Problem, chosen: npt.NDArray[np.uint32], scale: Vector) -> Vector:
    """Z' diag Z."""
    out = np.empty((problem.rows.n_features + 1,) * 2)
    _core.gram(problem.native, chosen, scale, out)
    return out


def _outer(problem: Problem, chosen: npt.NDArray[np.uint32]) -> Vector:
    """Z Z'."""
    out = np.zeros((len(chosen),) * 2)
    _core.outer(problem.native, chosen, out)
    return out
