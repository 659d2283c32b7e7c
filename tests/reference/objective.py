"""P, D and w(alpha) in plain numpy.

P(w)     = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_i (<w, x_i> + offset_i))
phi(r)   = max over 0 <= a <= cap of  a r - ridge a^2 / 2
w(alpha) = 1/(lam total) sum_i alpha_i sign_i x_i
D(alpha) = (1/total) sum_i (alpha_i (1 - sign_i offset_i) - ridge alpha_i^2 / (2 cost_i)) - lam/2 |w(alpha)|^2
0 <= alpha_i <= cap cost_i
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class PlainProblem:
    """The problem as numpy arrays of doubles; the constant column is the last one of X."""

    X: np.ndarray
    sign: np.ndarray
    cost: np.ndarray
    offset: np.ndarray
    lam: float
    total: float
    cap: float = 1.0
    ridge: float = 0.0

    @classmethod
    def of(cls, problem):
        """The same problem, read off one of the library."""
        values = problem.rows.values
        dense = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
        X = np.hstack([dense, np.full((len(dense), 1), problem.rows.bias)])
        sign, cost, offset = (np.array(c, dtype=np.float64) for c in (problem.sign, problem.cost, problem.offset))
        loss = getattr(problem, "cap", 1.0), getattr(problem, "ridge", 0.0)
        return cls(X, sign, cost, offset, problem.lam, problem.total, *loss)

    @property
    def n_rows(self):
        return len(self.X)

    def primal(self, w):
        loss = np.array([self.phi(r) for r in 1.0 - self.sign * (self.X @ w + self.offset)])
        return 0.5 * self.lam * (w @ w) + (self.cost @ loss) / self.total

    def slope(self, r):
        """The a of the maximum, phi'(r)."""
        if r <= 0.0:
            return 0.0
        return self.cap if self.ridge == 0.0 else min(r / self.ridge, self.cap)

    def phi(self, r):
        a = self.slope(r)
        return a * r - 0.5 * self.ridge * a**2

    @property
    def bound(self):
        return np.array([self.cap * cost if cost > 0.0 else 0.0 for cost in self.cost])

    @property
    def damping(self):
        return np.array([self.ridge / cost if cost > 0.0 else 0.0 for cost in self.cost])

    def weights_of(self, alpha):
        return (alpha * self.sign) @ self.X / (self.lam * self.total)

    def dual(self, alpha):
        w = self.weights_of(alpha)
        gain = alpha @ (1.0 - self.sign * self.offset) - 0.5 * (self.damping @ alpha**2)
        return gain / self.total - 0.5 * self.lam * (w @ w)

    def dual_of(self, w):
        """The dual variables that the slopes of the losses of w are: near the optimum, where the loss is curved."""
        return self.cost * np.array([self.slope(r) for r in 1.0 - self.sign * (self.X @ w + self.offset)])

    def clip(self, alpha):
        return np.clip(alpha, 0.0, self.bound)

    def radius(self):
        """|w*| is at most this, because P(w*) <= P(0) and the loss is not negative."""
        loss_of_zero = self.cost @ np.array([self.phi(r) for r in 1.0 - self.sign * self.offset])
        return np.sqrt(loss_of_zero / (self.lam * self.total))
