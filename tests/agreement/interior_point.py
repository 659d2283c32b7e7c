"""The exact optimum of a problem, by an interior-point solver that knows nothing of this library.

    min_{w, slack}  lam/2 |w - prior|^2 + (1/total) sum_i cost_i slack_i
    such that       slack_i >= 0,   sign_i (<w, x_i> + offset_i) + slack_i >= 1

The multipliers of the second constraints, times total, are the alphas.
"""

from dataclasses import dataclass

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
    """Of a problem of the library, or of a plain one; a prior is what the weights are drawn towards instead of 0."""
    plain = problem if isinstance(problem, PlainProblem) else PlainProblem.of(problem)
    plain = _without_free_rows(plain)
    n, d = plain.X.shape
    prior = np.zeros(d) if prior is None else prior
    quadratic = sp.block_diag([plain.lam * sp.eye(d), sp.csc_matrix((n, n))], format="csc")
    linear = np.concatenate([-plain.lam * prior, plain.cost / plain.total])
    margins = sp.hstack([sp.csc_matrix(plain.sign[:, None] * plain.X), sp.eye(n)])
    slacks = sp.hstack([sp.csc_matrix((n, d)), sp.eye(n)])
    constraints = -sp.vstack([margins, slacks], format="csc")
    bounds = -np.concatenate([1.0 - plain.sign * plain.offset, np.zeros(n)])
    solution = clarabel.DefaultSolver(
        quadratic, linear, constraints, bounds, [clarabel.NonnegativeConeT(2 * n)], _exact()
    ).solve()
    weights, alpha = np.array(solution.x)[:d], plain.clip(plain.total * np.array(solution.z)[:n])
    # What is still open after the solver is measured, not believed: the difference of these two.
    moved = PlainProblem(plain.X, plain.sign, plain.cost, plain.offset + plain.X @ prior, plain.lam, plain.total)
    primal, dual = moved.primal(weights - prior), moved.dual(alpha)
    assert primal - dual <= 1e-11 * max(1.0, primal), f"{solution.status}: {primal} - {dual}"
    return Optimum(weights, primal, dual)


def free_optimum_of(problem):
    """Of a problem whose intercept is not regularised: its value, between two numbers, and the intercept."""
    plain = _without_free_rows(problem if isinstance(problem, PlainProblem) else PlainProblem.of(problem))
    n, d = plain.X.shape
    quadratic = sp.block_diag([plain.lam * sp.eye(d), sp.csc_matrix((n + 1, n + 1))], format="csc")
    linear = np.concatenate([np.zeros(d + 1), plain.cost / plain.total])
    margins = sp.hstack([sp.csc_matrix(plain.sign[:, None] * np.column_stack([plain.X, np.ones(n)])), sp.eye(n)])
    slacks = sp.hstack([sp.csc_matrix((n, d + 1)), sp.eye(n)])
    constraints = -sp.vstack([margins, slacks], format="csc")
    bounds = -np.concatenate([1.0 - plain.sign * plain.offset, np.zeros(n)])
    cones = [clarabel.NonnegativeConeT(2 * n)]
    solution = clarabel.DefaultSolver(quadratic, linear, constraints, bounds, cones, _exact()).solve()
    weights, intercept = np.array(solution.x)[:d], float(solution.x[d])
    alpha = plain.clip(plain.total * np.array(solution.z)[:n])
    # The multipliers are even up to the solver's tolerance: what is missing is taken from the heavier side.
    sums = alpha[plain.sign > 0].sum(), alpha[plain.sign < 0].sum()
    alpha = alpha * np.where(plain.sign > 0, min(sums) / max(sums[0], 1e-300), min(sums) / max(sums[1], 1e-300))
    shifted = PlainProblem(plain.X, plain.sign, plain.cost, plain.offset + intercept, plain.lam, plain.total)
    primal, dual = shifted.primal(weights), shifted.dual(alpha)
    assert primal - dual <= 1e-9 * max(1.0, primal), f"{solution.status}: {primal} - {dual}"
    return Optimum(np.append(weights, intercept), primal, dual)


def kernel_optimum_of(plain):
    """Of a plain problem on a kernel matrix: that of rows whose products are the matrix, by its eigenvectors."""
    values, vectors = np.linalg.eigh(0.5 * (plain.K + plain.K.T))
    assert values[0] >= -1e-10 * values[-1], "not positive semi-definite"
    kept = values > 1e-14 * values[-1]
    X = vectors[:, kept] * np.sqrt(values[kept])
    return X, optimum_of(PlainProblem(X, plain.sign, plain.cost, plain.offset, plain.lam, plain.total))


def _without_free_rows(plain):
    """Rows that cost nothing have no say, but their slacks would run away to infinity."""
    paid = plain.cost > 0.0
    return PlainProblem(plain.X[paid], plain.sign[paid], plain.cost[paid], plain.offset[paid], plain.lam, plain.total)


def _exact():
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    return settings
