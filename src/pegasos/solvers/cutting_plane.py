"""Cutting planes: the losses as the maximum of planes that touch them (the pass: cpp/core/pegasos/cutting_plane.h).

    P(w) = lam/2 |w|^2 + R(w)/total,   R(w) = sum_i cost_i max(0, 1 - sign_i (<w, x_i> + offset_i))

Each plane lies below R, R(w) >= b_j - <a_j, w>, and so does 0. lam/2 |w|^2 plus the highest plane has its minimum at

    w = 1/(lam total) sum_j beta_j a_j,   beta the maximum of  sum_j beta_j b_j / total - lam/2 |w|^2
                                          over beta_j >= 0, sum_j beta_j <= 1:

where the next plane is cut, in one pass over the rows. A plane has a_j = sum_i share_ij sign_i x_i and b_j = sum_i
share_ij (1 - sign_i offset_i) with share_ij = cost_i where row i was violated and 0 elsewhere, so alpha_i = sum_j
beta_j share_ij is a dual point with w = w(alpha), and the maximum above is D(alpha). (Joachims: Training linear SVMs in
linear time, KDD 2006, Algorithm 1, which is SVM-Perf; Teo, Vishwanathan, Smola, Le: Bundle methods for regularized risk
minimization, JMLR 11, 2010.) The number of planes depends on lam and on the requested gap, not on the number of rows.
A starting dual point, which is a plane like the others, is improved to one with a gap as small as requested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import certify_dual
from pegasos.problem import Floats, Problem, inner
from pegasos.solvers.driver import ExhaustedError, Review

Vector = npt.NDArray[np.float64]

_IDLE_ROUNDS = 50  # rounds after which a plane that does not contribute is removed
_ROUNDING = 1e-15  # a plane above the others by less than this, relative to its own numbers, adds nothing
_PROXIMAL = 1e-12  # diagonal of a proximal step, as a fraction of the largest product


@dataclass
class PlaneState:
    """The planes, of which the first is 0, and the lowest point above them, as plain picklable arrays."""

    weights: Vector
    normals: list[Vector]  # a_j
    constants: Vector  # b_j
    shares: list[Any]  # share_ij: a bit per violated row, or a dual point
    products: Vector  # <a_j, a_k>
    beta: Vector
    idle: npt.NDArray[np.int64]  # rounds since a plane last contributed
    visits: int = 0
    n_planes: int = 0  # number of planes cut
    primal: float = np.inf  # P at the weights
    dual: float = 0.0


@dataclass(frozen=True)
class CuttingPlane:
    """Cutting planes; the method has no settings."""

    def refuses(self, problem: Problem) -> str | None:
        """Reject losses other than the hinge, because planes are cut by which rows are violated."""
        if problem.loss.is_hinge:
            return None
        return (
            f"solver='cutting_plane' supports loss='hinge' alone, got {problem.loss.words}; use solver='auto', or "
            "loss='hinge'."
        )

    def start(self, problem: Problem, seed: int) -> PlaneState:
        """Start with the plane 0 alone."""
        nothing = np.zeros(problem.weights_shape)
        return PlaneState(
            nothing, [nothing], np.zeros(1), [_packed(np.zeros(problem.alpha_shape, np.uint8))], np.zeros((1, 1)),
            np.ones(1), np.zeros(1, np.int64),
        )  # fmt: skip

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> PlaneState:
        """Start at a dual point of these rows, brought within its bounds: it is a plane, too."""
        state = self.start(problem, seed)
        share = problem.within_bounds(alpha).astype(np.float64)
        if share.any():
            weights, constant = problem.dual_weights(share)
            self._add(problem, state, weights * (problem.lam * problem.total), constant, share)
            self._descend(problem, state)
        return state

    def steps(self, state: PlaneState) -> int:
        """Number of planes cut so far."""
        return state.n_planes

    def visits(self, state: PlaneState) -> int:
        """Number of rows visited so far: all rows per plane."""
        return state.visits

    def next_look(self, problem: Problem, state: PlaneState) -> int:
        """Look after each plane."""
        return state.visits + problem.rows.n_rows

    def advance_to(self, problem: Problem, state: PlaneState, visits: int) -> None:
        """Cut whole planes until that many rows have been visited."""
        while state.visits < visits:
            if np.isfinite(state.primal) and not self._descend(problem, state):
                raise ExhaustedError
            self._cut(problem, state)

    def review_due(self, problem: Problem, state: PlaneState, epoch: int | None, tol: float | None) -> bool:
        """Review when the gap, which a plane yields at no cost, is small enough, and at regular intervals."""
        if epoch is not None and epoch >= 16 and (epoch & (epoch - 1)) == 0:
            return True
        return tol is not None and not state.primal - state.dual > tol * state.primal

    def review(self, problem: Problem, state: PlaneState, tol: float | None) -> Review:
        """Certify the dual point."""
        alpha = self._alpha(problem, state)
        certificate, weights = certify_dual(problem, alpha)
        return Review(certificate, weights, alpha)

    def point(self, problem: Problem, state: PlaneState) -> tuple[Vector, Floats]:
        """Return the weights and their dual point."""
        return state.weights, self._alpha(problem, state)

    def _cut(self, problem: Problem, state: PlaneState) -> None:
        """Cut the plane at the weights, and compute their objective."""
        violated, normal = np.empty(problem.rows.n_rows, np.uint8), np.empty_like(state.weights)
        constant, loss = _core.cut(problem.native, state.weights, violated, normal)
        square = problem.lam * inner(state.weights, state.weights)
        state.primal = loss / problem.total + 0.5 * square
        state.dual = inner(state.beta, state.constants) / problem.total - 0.5 * square
        self._add(problem, state, normal, constant, _packed(violated))
        state.n_planes += 1
        state.visits += problem.rows.n_rows

    def _add(self, problem: Problem, state: PlaneState, normal: Vector, constant: float, share: Any) -> None:
        """Add a plane, and remove those that have not contributed for a long time."""
        stays = np.flatnonzero(state.idle < _IDLE_ROUNDS)
        state.normals = [*(state.normals[j] for j in stays), normal]
        state.shares = [*(state.shares[j] for j in stays), share]
        state.constants = np.append(state.constants[stays], constant)
        state.beta = np.append(state.beta[stays], 0.0)
        state.idle = np.append(state.idle[stays], 0)
        column = np.array([inner(normal, other) for other in state.normals])
        state.products = np.block([[state.products[np.ix_(stays, stays)], column[:-1, None]], [column]])

    def _descend(self, problem: Problem, state: PlaneState) -> bool:
        """Move to the lowest point above the planes; return False where rounding hides it."""
        unit = 1.0 / (problem.lam * problem.total)
        with np.errstate(over="ignore", invalid="ignore"):
            beta = highest(state.products * (unit / problem.total), state.constants / problem.total, state.beta)
        if beta is None:
            return False
        state.beta = beta
        state.idle = np.where(state.beta > 0.0, 0, state.idle + 1)
        state.idle[0] = 0  # the plane 0 always stays
        state.weights = np.zeros_like(state.weights)
        for j in np.flatnonzero(state.beta):
            state.weights += (state.beta[j] * unit) * state.normals[j]
        return True

    def _alpha(self, problem: Problem, state: PlaneState) -> Vector:
        alpha = np.zeros(problem.alpha_shape)
        for j in np.flatnonzero(state.beta):
            share = state.shares[j]
            if share.dtype == np.uint8:
                share = problem.cost * np.unpackbits(share, count=problem.rows.n_rows)
            alpha += state.beta[j] * share
        return alpha


def highest(square: Vector, linear: Vector, beta: Vector) -> Vector | None:
    """Maximize <linear, beta> - <beta, square beta>/2 over beta_j >= 0, sum_j beta_j = 1, from such a point.

    An active-set method (Wolfe: Finding the nearest point in a polytope, Mathematical Programming 11, 1976): move
    toward the maximum over the active planes until the coefficient of one is 0, which leaves; where none leaves, the
    plane with the largest gain enters. Return None where rounding hides any gain.
    """
    beta, before = beta.copy(), _value(square, linear, beta)
    part, has_left = beta > 0.0, False
    for _ in range(10 + 4 * len(beta)):
        bent = square @ beta
        slopes = linear - bent
        if not has_left:
            best = int(np.argmax(slopes))
            if not slopes[best] - inner(beta, slopes) > _ROUNDING * float(np.abs(linear).max() + np.abs(bent).max()):
                break
            part[best] = True
        chosen = np.flatnonzero(part)
        step = _step(square[np.ix_(chosen, chosen)], slopes[chosen])
        if step is None:
            break
        room = np.full(len(chosen), np.inf)
        np.divide(beta[chosen], -step, out=room, where=step < 0.0)
        first = int(np.argmin(room))
        has_left = bool(room[first] <= 1.0) and len(chosen) > 1  # the last plane keeps the whole sum
        beta[chosen] = np.maximum(beta[chosen] + min(float(room[first]), 1.0) * step, 0.0)
        if has_left:
            beta[chosen[first]], part[chosen[first]] = 0.0, False
    beta /= beta.sum()
    return beta if _value(square, linear, beta) > before else None


def _value(square: Vector, linear: Vector, beta: Vector) -> float:
    return inner(linear, beta) - 0.5 * inner(beta, square @ beta)


def _step(square: Vector, slopes: Vector) -> Vector | None:
    """Step to the maximum over sum_j beta_j = 1, whatever the signs; a long step where there is none."""
    # The sum is 1, so that a constant added to all products changes nothing: 0 becomes a plane like the others. The
    # small diagonal is that of a proximal step, which gives a direction where planes are linearly dependent.
    scale = float(square.diagonal().max() or 1.0)
    matrix = square + scale
    matrix[np.diag_indices_from(matrix)] += _PROXIMAL * scale
    if not np.isfinite(matrix).all() or not _core.factor(matrix):
        return None
    ones, step = np.ones(len(slopes)), slopes.copy()
    _core.solve(matrix, ones)
    _core.solve(matrix, step)
    return np.asarray(step - step.sum() / ones.sum() * ones)


def _packed(violated: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.packbits(violated)
