"""Problems and runs that the theorems are about, in plain numpy.

The problem of the thirteen questions has costs of 1, no offsets, and the number of rows for its total. A run has all
iterates w_1, ..., w_(T+1) of the step with all rows, with the gradient at each, and with or without the projection.
"""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from tests.problems import small_problems
from tests.reference.objective import PlainProblem


def textbook_problems():
    """Costs of 1, no offsets."""
    drawn = small_problems(costs=(1.0,), offsets=(0.0,))
    return drawn.map(lambda problem: replace(problem, total=float(problem.rows.n_rows)))


@st.composite
def with_vectors(draw, problems, n_vectors=2):
    """A problem in plain numpy, with vectors of weights of any length."""
    plain = PlainProblem.of(draw(problems))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = [draw(st.sampled_from((0.0, 0.1, 1.0, 30.0))) for _ in range(n_vectors)]
    return plain, *(length * random.normal(size=plain.X.shape[1]) for length in lengths)


def margins(plain, w):
    """sign_i (<w, x_i> + offset_i)."""
    return plain.sign * (plain.X @ w + plain.offset)


def gradient(plain, w, rows=slice(None)):
    """The gradient of the objective of some rows: lam w minus the mean of cost_i sign_i x_i over those that violate."""
    X, sign, cost = plain.X[rows], plain.sign[rows], plain.cost[rows]
    violates = sign * (X @ w + plain.offset[rows]) < 1.0
    weight = plain.n_rows / (len(X) * plain.total)
    return plain.lam * w - weight * (violates * cost * sign) @ X


def longest(plain):
    """R, the largest norm of a row."""
    return float(np.sqrt((plain.X**2).sum(axis=1).max()))


@dataclass(frozen=True)
class Run:
    """The iterates w_1, ..., w_(T+1), the gradients at the first T, and the steps eta_t."""

    iterates: np.ndarray
    gradients: np.ndarray
    eta: np.ndarray

    @classmethod
    def of(cls, plain, n_steps, *, radius=np.inf, batches=None):
        """T steps with all rows, or with the batches given, brought back to the ball after each."""
        w, iterates, gradients = np.zeros(plain.X.shape[1]), [], []
        eta = 1.0 / (plain.lam * np.arange(1, n_steps + 1))
        for t in range(n_steps):
            iterates.append(w)
            gradients.append(gradient(plain, w, slice(None) if batches is None else batches[t]))
            w = w - eta[t] * gradients[-1]
            length = np.linalg.norm(w)
            w = w * (radius / length) if length > radius else w
        return cls(np.array([*iterates, w]), np.array(gradients), eta)

    @property
    def n_steps(self):
        """T."""
        return len(self.eta)

    def distances(self, point):
        """d_t = |w_t - point|^2, of all T + 1 iterates."""
        return ((self.iterates - point) ** 2).sum(axis=1)

    def means(self):
        """The averages of the first t iterates, t = 1, ..., T."""
        return np.cumsum(self.iterates[:-1], axis=0) / np.arange(1, self.n_steps + 1)[:, None]

    def objectives(self, plain):
        """P(w_t), t = 1, ..., T."""
        return np.array([plain.primal(w) for w in self.iterates[:-1]])
