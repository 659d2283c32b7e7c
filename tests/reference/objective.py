"""P, D and w(alpha) in plain numpy.

P(w)     = lam/2 |w|^2 + (1/total) sum_i cost_i max(0, 1 - sign_i (<w, x_i> + offset_i))
w(alpha) = 1/(lam total) sum_i alpha_i sign_i x_i
D(alpha) = (1/total) sum_i alpha_i (1 - sign_i offset_i) - lam/2 |w(alpha)|^2,    0 <= alpha_i <= cost_i
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

    @classmethod
    def of(cls, problem):
        """The same problem, read off one of the library."""
        values = problem.rows.values
        dense = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
        X = np.hstack([dense, np.full((len(dense), 1), problem.rows.bias)])
        sign, cost, offset = (np.array(c, dtype=np.float64) for c in (problem.sign, problem.cost, problem.offset))
        return cls(X, sign, cost, offset, problem.lam, problem.total)

    @property
    def n_rows(self):
        return len(self.X)

    def primal(self, w):
        loss = np.maximum(0.0, 1.0 - self.sign * (self.X @ w + self.offset))
        return 0.5 * self.lam * (w @ w) + (self.cost @ loss) / self.total

    def weights_of(self, alpha):
        return (alpha * self.sign) @ self.X / (self.lam * self.total)

    def dual(self, alpha):
        w = self.weights_of(alpha)
        return alpha @ (1.0 - self.sign * self.offset) / self.total - 0.5 * self.lam * (w @ w)

    def clip(self, alpha):
        return np.clip(alpha, 0.0, self.cost)

    def radius(self):
        """|w*| is at most this, because P(w*) <= P(0) and the loss is not negative."""
        loss_of_zero = self.cost @ np.maximum(0.0, 1.0 - self.sign * self.offset)
        return np.sqrt(loss_of_zero / (self.lam * self.total))
