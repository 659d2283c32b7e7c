"""A primal-dual interior point (for the iterations and the problem they solve, see cpp/core/pegasos/interior_point.h).

It works on chosen rows, with the dual variables of the others fixed. About twenty iterations close the gap, whatever
the conditioning; each one builds and factors a matrix of features x features, or of rows x rows where there are fewer
rows. Columns of sparse rows that are empty are left out. `price` estimates the work in advance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Problem, Rows, inner

Vector = npt.NDArray[np.float64]

INTERIOR_ITERATIONS = 20  # usual number of iterations
_NANOSECONDS = 0.06  # nanoseconds per multiplication in a dense matrix product
_DENSE_PRODUCT, _SPARSE_PRODUCT = 0.1, 1.0  # nanoseconds per multiplication in products of rows with rows
_ROW_PASSES = 8  # passes over the rows per iteration
_PACKED = 1 << 18  # entries of rows that are held in double, feature by feature (most_packed in chosen.inl)
_LONGEST_SIDE = 4096  # largest side of a matrix: 128 MB, and a second for its factor
_AROUND = 3e5  # nanoseconds of setup and cleanup, whatever the size
_HALVINGS = 40  # bisection steps for an initial dual variable
_LEAST_WIDTH = 1e-8  # least width of the initial multipliers, where all residuals are nearly 0


@dataclass
class InteriorState:
    """An iterate: the chosen rows, their dual variables a with t = bound - a, and the multipliers of both bounds.

    Weights have an entry per column, or only for the occupied ones.
    """

    chosen: npt.NDArray[np.uint32]
    fixed: Vector  # sum of alpha_i sign_i x_i over the other rows
    constant: float  # contribution of the other rows to both objectives, times total
    weights: Vector
    alpha: Vector
    slack: Vector
    lower: Vector
    upper: Vector
    best: Vector  # weights
    best_alpha: Vector
    counters: _core.InteriorCounters
    entries: npt.NDArray[np.intp] | None = None  # entries of the weights that are not left out; None for all
    n_weights: int = 0  # number of all entries
    outer: Vector | None = None  # Z Z', where there are fewer rows than features; computed on first use

    @property
    def best_weights(self) -> Vector:
        """The best weights so far, one per column; those of empty columns are 0."""
        if self.entries is None:
            return self.best
        weights = np.zeros(self.n_weights)
        weights[self.entries] = self.best
        return weights

    @property
    def stalled(self) -> bool:
        """Whether no further step is useful."""
        return self.counters.stalled

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""
        return self.counters.iterations

    @property
    def relative_gap(self) -> float:
        """Relative gap of the restricted problem."""
        primal, dual = self.counters.primal + self.constant, self.counters.dual + self.constant
        return (primal - dual) / primal if primal > 0.0 else 0.0


class InteriorPoint:
    """An interior point; it has no settings."""

    def price(self, problem: Problem, n_chosen: int) -> float:
        """Nanoseconds that a solution is expected to take on one thread; infinite where the matrix is too large."""
        rows = problem.rows
        assert isinstance(rows, Rows)
        n_columns = rows.n_features if rows.occupied is None else len(rows.occupied)
        return self.price_of(n_chosen, n_columns, rows.n_stored / max(rows.n_rows, 1))

    @staticmethod
    def price_of(n_chosen: int, n_features: int, stored: float) -> float:
        """The same estimate for rows with this many stored values each."""
        side = min(n_chosen, n_features + 1)
        if side > _LONGEST_SIDE:
            return np.inf
        if n_chosen <= n_features:
            each = _DENSE_PRODUCT if stored == n_features else _SPARSE_PRODUCT
            once, products = 0.5 * n_chosen**2 * stored * each, 0.0
        else:
            once, products = 0.0, n_chosen * min(0.5 * side**2, 8.0 * stored**2)
        row = 0.15 * n_features if n_chosen * (n_features + 1) <= _PACKED else 3.0 + 0.5 * stored
        visits = n_chosen * (40.0 + _ROW_PASSES * row)
        factor = side**3 / 6.0
        return _AROUND + once + INTERIOR_ITERATIONS * (_NANOSECONDS * (products + factor) + visits)

    def enter(
        self,
        problem: Problem,
        chosen: npt.NDArray[np.uint32],
        weights: Vector,
        alpha: npt.NDArray[np.floating],
        *,
        width: float | None = None,
        beside: tuple[Vector, float] | None = None,
    ) -> InteriorState:
        """Start at some weights, with all but the chosen rows fixed at their dual variables.

        The weights should be accurate up to changes of the residuals by about `width`; by default nothing is assumed
        about
        them. All products start at their center: with k = width times the mean cost, v - u = r - d a, a = k/u and t =
        k/v
        add up to the bound of a. `beside`, if given, is the contribution of rows that are not present to both
        objectives; it replaces what follows from `alpha`.
        """
        fixed, constant = _fixed(problem, chosen, alpha) if beside is None else beside
        sign, cost = problem.sign[chosen], problem.cost[chosen].astype(np.float64)
        scores = problem.rows.view(chosen).scores_of(weights)
        residual = 1.0 - sign * (scores + problem.offset[chosen])
        if width is None:
            width = float(np.abs(residual).mean()) if len(chosen) > 0 else 1.0
        centre = max(width, _LEAST_WIDTH) * float(cost.mean()) if len(chosen) > 0 else 0.0
        bound, damping = problem.bound[chosen].astype(np.float64), problem.damping[chosen]
        own_alpha, slack, lower, upper = _centred(residual, bound, damping, centre)
        counters = _core.InteriorCounters()
        counters.dual = -0.5 * inner(fixed, fixed) / (problem.lam * problem.total)  # the dual at a = 0
        assert isinstance(problem.rows, Rows)
        columns = problem.rows.occupied
        entries = None if columns is None else np.append(columns, problem.rows.n_features)
        weights, n_weights = weights.astype(np.float64), len(weights)
        if entries is not None:
            weights, fixed = weights[entries], fixed[entries]
        return InteriorState(
            chosen,
            fixed,
            constant,
            weights,
            alpha=own_alpha,
            slack=slack,
            lower=lower,
            upper=upper,
            best=weights.copy(),
            best_alpha=np.zeros(len(chosen)),
            counters=counters,
            entries=entries,
            n_weights=n_weights,
        )

    def advance(self, problem: Problem, state: InteriorState, n_iterations: int, tol: float) -> None:
        """Iterate until the restricted problem reaches this relative gap, or this many times."""
        problem = problem.without_empty_columns
        if state.outer is None and len(state.chosen) <= problem.rows.n_features:
            outer = np.empty((len(state.chosen),) * 2)
            _core.outer(problem.native, state.chosen, outer)
            state.outer = outer
        arrays = state.weights, state.fixed, state.alpha, state.slack, state.lower, state.upper
        best = state.best, state.best_alpha
        _core.interior_advance(
            problem.native, state.chosen, state.counters, *arrays, *best, state.outer, n_iterations, tol, state.constant
        )


def _centred(residual: Vector, bound: Vector, damping: Vector, centre: float) -> tuple[Vector, Vector, Vector, Vector]:
    """Compute a, t, u, v of each row: a u = t v = centre, a + t = bound and v - u = residual - damping a."""
    if not damping.any():
        own = centre / bound
        larger = 0.5 * (2.0 * own + np.abs(residual) + np.hypot(residual, 2.0 * own))
        smaller = own * larger / (larger - own)  # larger - |r| would cancel
        lower, upper = np.where(residual > 0.0, smaller, larger), np.where(residual > 0.0, larger, smaller)
        return centre / lower, centre / upper, lower, upper
    # Without an upper bound, u^2 + r u - damping centre = 0; this is the positive root, computed without cancellation.
    root = np.hypot(residual, 2.0 * np.sqrt(damping * centre))
    lower = np.where(
        residual > 0.0, 2.0 * damping * centre / np.where(residual > 0.0, root + residual, 1.0), 0.5 * (root - residual)
    )
    alpha = centre / lower
    if np.isinf(bound).all():
        return alpha, np.ones_like(alpha), lower, np.zeros_like(alpha)
    low, high = np.zeros_like(bound), bound
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        is_below = residual - damping * middle - centre / (bound - middle) + centre / middle > 0.0
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    alpha = 0.5 * (low + high)
    return alpha, bound - alpha, centre / alpha, centre / (bound - alpha)


def _fixed(problem: Problem, chosen: npt.NDArray[np.uint32], alpha: npt.NDArray[np.floating]) -> tuple[Vector, float]:
    """Sum alpha_i sign_i x_i over the rows that are not chosen, and their part of the dual without |w|^2."""
    if len(chosen) == problem.rows.n_rows:
        return np.zeros(problem.weights_shape), 0.0
    others = np.array(alpha, np.float64)
    others[chosen] = 0.0
    weights, _ = problem.dual_weights(others)
    gain = inner(others, 1.0 - problem.sign * problem.offset) - float(problem.ridge_terms(others))
    return weights * (problem.lam * problem.total), gain
