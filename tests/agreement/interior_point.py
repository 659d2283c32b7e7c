"""The exact optimum of a problem, by an interior-point solver that is independent of this library.

    min_{w, s, z}  lam/2 |w - prior|^2 + (1/total) sum_i cost_i (cap s_i + z_i^2 / 2)
    such that      s_i, z_i >= 0,   sign_i (<w, x_i> + offset_i) + s_i + sqrt(ridge) z_i >= 1

There is no s where cap is infinite, and no z where ridge is 0. The multipliers of the second constraints, times total,
are the alphas.
"""

from dataclasses import dataclass, replace

import clarabel
import numpy as np
import scipy.sparse as sp

from tests.reference.objective import PlainProblem


@dataclass(frozen=True)
class Optimum:
    """Weights of the optimum (the last one is the intercept's), and numbers between which its value lies."""

    weights: np.ndarray
    primal: float
    dual: float


def optimum_of(problem, prior=None):
    """The optimum of a problem of the library, or of a plain one; with a prior, weights are regularized toward it."""
    plain = problem if isinstance(problem, PlainProblem) else PlainProblem.of(problem)
    plain = _without_free_rows(plain)
    n, d = plain.X.shape
    prior = np.zeros(d) if prior is None else prior
    solution = _solved(plain, plain.X, np.full(d, plain.lam), -plain.lam * prior)
    weights, alpha = np.array(solution.x)[:d], plain.clip(plain.total * np.array(solution.z)[:n])
    # What is still open after the solver is measured, not believed: the difference of these two.
    moved = replace(plain, offset=plain.offset + plain.X @ prior)
    primal, dual = moved.primal(weights - prior), max(moved.dual(alpha), moved.dual(moved.dual_of(weights - prior)))
    assert primal - dual <= 1e-11 * max(1.0, primal), f"{solution.status}: {primal} - {dual}"
    return Optimum(weights, primal, dual)


def free_optimum_of(problem):
    """The optimum of a problem with a free intercept: its value, between two numbers, and the intercept."""
    plain = _without_free_rows(problem if isinstance(problem, PlainProblem) else PlainProblem.of(problem))
    n, d = plain.X.shape
    extended = np.column_stack([plain.X, np.ones(n)])
    solution = _solved(plain, extended, np.append(np.full(d, plain.lam), 0.0), np.zeros(d + 1))
    weights, intercept = np.array(solution.x)[:d], float(solution.x[d])
    alpha = plain.clip(plain.total * np.array(solution.z)[:n])
    # The multipliers are even up to the solver's tolerance: what is missing is taken from the heavier side.
    sums = alpha[plain.sign > 0].sum(), alpha[plain.sign < 0].sum()
    alpha = alpha * np.where(plain.sign > 0, min(sums) / max(sums[0], 1e-300), min(sums) / max(sums[1], 1e-300))
    shifted = replace(plain, offset=plain.offset + intercept)
    primal, dual = shifted.primal(weights), shifted.dual(alpha)
    assert primal - dual <= 1e-9 * max(1.0, primal), f"{solution.status}: {primal} - {dual}"
    return Optimum(np.append(weights, intercept), primal, dual)


def kernel_optimum_of(plain):
    """The optimum of a plain problem on a kernel matrix: that of rows whose products are the matrix."""
    values, vectors = np.linalg.eigh(0.5 * (plain.K + plain.K.T))
    assert values[0] >= -1e-10 * values[-1], "not positive semi-definite"
    kept = values > 1e-14 * values[-1]
    X = vectors[:, kept] * np.sqrt(values[kept])
    loss = getattr(plain, "cap", 1.0), getattr(plain, "ridge", 0.0)
    return X, optimum_of(PlainProblem(X, plain.sign, plain.cost, plain.offset, plain.lam, plain.total, *loss))


def _solved(plain, X, squares, linear):
    """The solution in w and the parts of the slacks; ``squares`` and ``linear`` are the terms of w."""
    n, width = X.shape
    parts = []  # second and first derivatives of each part, and how it enters the slack
    if np.isfinite(plain.cap):
        parts.append((np.zeros(n), plain.cap * plain.cost / plain.total, sp.eye(n)))
    if plain.ridge > 0.0:
        parts.append((plain.cost / plain.total, np.zeros(n), np.sqrt(plain.ridge) * sp.eye(n)))
    quadratic = sp.diags(np.concatenate([squares, *(square for square, _, _ in parts)]), format="csc")
    linear = np.concatenate([linear, *(slope for _, slope, _ in parts)])
    margins = sp.hstack([sp.csc_matrix(plain.sign[:, None] * X), *(share for *_, share in parts)])
    positive = sp.hstack([sp.csc_matrix((n * len(parts), width)), sp.eye(n * len(parts))])
    constraints = -sp.vstack([margins, positive], format="csc")
    bounds = -np.concatenate([1.0 - plain.sign * plain.offset, np.zeros(n * len(parts))])
    cones = [clarabel.NonnegativeConeT(n * (1 + len(parts)))]
    return clarabel.DefaultSolver(quadratic, linear, constraints, bounds, cones, _exact()).solve()


def _without_free_rows(plain):
    """Rows that cost nothing have no say, but their slacks would run away to infinity."""
    paid = plain.cost > 0.0
    columns = {name: getattr(plain, name)[paid] for name in ("X", "sign", "cost", "offset")}
    return replace(plain, **columns)


def _exact():
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    return settings
