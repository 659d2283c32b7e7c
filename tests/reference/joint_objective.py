"""P, D and W(alpha) of the problem of all classes, in plain numpy.

P(W)       = lam/2 |W|^2 + (1/total) sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i> + offset_ir - offset_iy)
w_r(alpha) = 1/(lam total) sum_i ([y_i = r] sum_s alpha_is - alpha_ir) x_i
D(alpha)   = (1/total) sum_{i, r != y_i} alpha_ir (1 + offset_ir - offset_iy) - lam/2 |W(alpha)|^2
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class PlainJointProblem:
    """The problem as numpy arrays of doubles; the constant column is the last one of X."""

    X: np.ndarray
    codes: np.ndarray
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
        cost, offset = (np.array(c, dtype=np.float64) for c in (problem.cost, problem.offset))
        return cls(X, np.array(problem.codes), cost, offset, problem.lam, problem.total)

    @property
    def n_rows(self):
        return len(self.X)

    @property
    def n_classes(self):
        return self.offset.shape[1]

    @cached_property
    def own(self):
        """1 at (i, y_i), else 0."""
        return np.eye(self.n_classes)[self.codes]

    def claims(self, W, which=slice(None)):
        """g_ir = [r != y_i] + <w_r, x_i> + offset_ir, of some rows."""
        return 1.0 - self.own[which] + self.X[which] @ W.T + self.offset[which]

    def primal(self, W):
        g = self.claims(W)
        loss = g.max(axis=1) - np.sum(self.own * g, axis=1)
        return 0.5 * self.lam * np.sum(W * W) + (self.cost @ loss) / self.total

    def weights_of(self, alpha):
        pushes = self.own * alpha.sum(axis=1, keepdims=True) - alpha
        return pushes.T @ self.X / (self.lam * self.total)

    def dual(self, alpha):
        W = self.weights_of(alpha)
        gains = 1.0 + self.offset - np.sum(self.own * self.offset, axis=1, keepdims=True)
        return np.sum(alpha * (1.0 - self.own) * gains) / self.total - 0.5 * self.lam * np.sum(W * W)

    def clip(self, alpha):
        kept = np.maximum(alpha, 0.0) * (1.0 - self.own)
        spent = kept.sum(axis=1)
        return kept * np.where(spent > self.cost, self.cost / np.where(spent > 0.0, spent, 1.0), 1.0)[:, None]

    def radius(self):
        """|W*| is at most this."""
        return np.sqrt(self.primal(np.zeros((self.n_classes, self.X.shape[1]))) / self.lam)
