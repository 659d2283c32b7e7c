"""The exact optimum of a regression, by an interior-point solver that is independent of this library.

min  lam/2 |w - prior|^2 + (1/total) sum_i weight_i loss(y_i - <w, x_i> - b),    b free where X has no constant column
"""

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Regression:
    """A regression problem in plain arrays; X has the constant column, if there is one."""

    X: np.ndarray
    y: np.ndarray
    lam: float
    loss: str
    epsilon: float = 0.0
    quantile: float = 0.5
    delta: float = 1.0
    weights: np.ndarray | None = None
    prior: np.ndarray | None = None
    is_free: bool = False

    @property
    def total(self):
        return float(len(self.y) if self.weights is None else self.weights.sum())

    def losses(self, r):
        """The losses of residuals, y minus prediction."""
        if self.loss == "quantile":
            return np.maximum(self.quantile * r, (self.quantile - 1.0) * r)
        if self.loss == "huber":
            small = np.minimum(np.abs(r), self.delta)
            return 0.5 * small**2 + self.delta * (np.abs(r) - small)
        outside = np.maximum(np.abs(r) - self.epsilon, 0.0)
        return outside**2 if self.loss == "squared_epsilon_insensitive" else outside

    def objective(self, w, b=0.0):
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        prior = np.zeros(len(w)) if self.prior is None else self.prior
        residuals = self.y - self.X @ w - b
        return 0.5 * self.lam * np.sum((w - prior) ** 2) + np.sum(weights * self.losses(residuals)) / self.total


def optimum_of(problem):
    """Weights, intercept and objective. Variables: w, b, u >= 0, v >= 0 and q with y - Xw - b = u - v + q.

    u and v are what exceeds the tube above and below, q what is within it: |q| <= epsilon at no cost, and for Huber's
    loss q at the cost of q^2 / 2.
    """
    X, y, (n, d) = problem.X, problem.y, problem.X.shape
    weights = (np.ones(n) if problem.weights is None else problem.weights) / problem.total
    prior = np.zeros(d) if problem.prior is None else problem.prior
    above, below = weights.copy(), weights.copy()
    squares, within = np.zeros(n), np.zeros(n)
    epsilon = problem.epsilon
    if problem.loss == "quantile":
        above, below, epsilon = problem.quantile * weights, (1.0 - problem.quantile) * weights, 0.0
    elif problem.loss == "huber":
        above, below, within, epsilon = problem.delta * weights, problem.delta * weights, weights, None
    elif problem.loss == "squared_epsilon_insensitive":
        above, below, squares = np.zeros(n), np.zeros(n), 2.0 * weights
    quadratic = sp.block_diag(
        [problem.lam * sp.eye(d), sp.csc_matrix((1, 1)), sp.diags(squares), sp.diags(squares), sp.diags(within)], "csc"
    )
    linear = np.concatenate([-problem.lam * prior, [0.0], above, below, np.zeros(n)])
    eye, zero = sp.eye(n), sp.csc_matrix((n, n))
    equal = sp.hstack([sp.csc_matrix(X), sp.csc_matrix(np.ones((n, 1)) * problem.is_free), eye, -eye, eye])
    rows, bounds = [equal], [y]
    blank = sp.csc_matrix((n, d + 1))
    rows += [sp.hstack([blank, -eye, zero, zero]), sp.hstack([blank, zero, -eye, zero])]
    bounds += [np.zeros(n), np.zeros(n)]
    if epsilon is not None:
        rows += [sp.hstack([blank, zero, zero, eye]), sp.hstack([blank, zero, zero, -eye])]
        bounds += [np.full(n, epsilon)] * 2
    if not problem.is_free:
        rows[0] = sp.vstack([rows[0], sp.csc_matrix(np.eye(1, d + 1 + 3 * n, d))])
        bounds[0] = np.append(y, 0.0)
    cones = [clarabel.ZeroConeT(rows[0].shape[0]), clarabel.NonnegativeConeT(n * (len(rows) - 1))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    constraints = sp.vstack(rows, format="csc")
    solution = clarabel.DefaultSolver(quadratic, linear, constraints, np.concatenate(bounds), cones, settings).solve()
    w, b = np.array(solution.x[:d]), float(solution.x[d])
    return w, b, problem.objective(w, b)
