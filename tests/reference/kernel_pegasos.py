"""Kernelized Pegasos as the paper writes it, by counts, with the scores computed anew at every step.

With n rows, K their kernel matrix and w = n/(total lam t) sum_j count_j sign_j phi(x_j), step t + 1 draws a batch of k
rows, finds those that violate under w (sign_i (<w, phi(x_i)> + offset_i) < 1), and adds to their counts

    count_i <- count_i + weight_i cost_i / k          for each violator i, as often as it was drawn
    counts  <- scaled down to |w| <= radius           when projecting

The dual point is alpha_i = n count_i / t. The published algorithm has costs of 1, k = 1 and total = n.
The weights are 1, except for rows drawn by alternating signs: tests.reference.pegasos.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from tests.reference.pegasos import draw_in_turn, sides_of, weights_of


@dataclass(frozen=True)
class PlainKernelProblem:
    """The problem as numpy arrays of doubles; the kernel matrix includes the square of the constant column."""

    K: np.ndarray
    sign: np.ndarray
    cost: np.ndarray
    offset: np.ndarray
    lam: float
    total: float

    @classmethod
    def of(cls, problem, K):
        """The same problem, read off one of the library, with a kernel matrix computed by others."""
        sign, cost, offset = (np.array(c, dtype=np.float64) for c in (problem.sign, problem.cost, problem.offset))
        return cls(K + problem.rows.bias**2, sign, cost, offset, problem.lam, problem.total)

    @property
    def n_rows(self):
        return len(self.K)

    def coefficients_of(self, alpha):
        return alpha * self.sign / (self.lam * self.total)

    def primal(self, coefficients):
        scores = self.K @ coefficients
        loss = np.maximum(0.0, 1.0 - self.sign * (scores + self.offset))
        return 0.5 * self.lam * (coefficients @ scores) + (self.cost @ loss) / self.total

    def dual(self, alpha):
        coefficients = self.coefficients_of(alpha)
        gain = alpha @ (1.0 - self.sign * self.offset) / self.total
        return gain - 0.5 * self.lam * (coefficients @ self.K @ coefficients)

    def clip(self, alpha):
        return np.clip(alpha, 0.0, self.cost)

    def radius(self):
        """|w*| is at most this, because P(w*) <= P(0) and the loss is not negative."""
        loss_of_zero = self.cost @ np.maximum(0.0, 1.0 - self.sign * self.offset)
        return np.sqrt(loss_of_zero / (self.lam * self.total))


def draw_rows(sampling, n_rows, seed, sign=None):
    """The rows in the order in which they are visited, without end."""
    if sampling == "balanced":
        sides = sides_of(sign)
        generators = [np.random.default_rng([seed, k]) for k in range(len(sides))]
        yield from draw_in_turn(sides, [_permuter(list(s), g) for s, g in zip(sides, generators, strict=True)])
    random = np.random.default_rng(seed)
    while True:
        if sampling == "uniform":
            yield int(random.integers(n_rows))
        else:
            yield from random.permutation(n_rows) if sampling == "shuffle" else range(n_rows)


def _permuter(rows, random):
    """Every permutation is one of the rows in their first order."""

    def permute(side):
        side[:] = random.permutation(rows).tolist()

    return permute


class KernelPegasos:
    """The counts after t steps, and the sum of the dual points before it."""

    def __init__(self, problem, rows, *, batch_size=1, projection=False, average="uniform", sampling="shuffle"):
        self.problem = problem
        self.push = problem.cost * weights_of(sampling, problem.sign)
        self.rows = iter(rows)
        self.batch_size = batch_size
        self.projection = projection
        self.average = average
        self.t = 0
        self.counts = np.zeros(problem.n_rows)
        self.closest = np.inf  # how near to 1 a margin has come: nearer than rounding, and either answer is right
        # Steps after 1, 2, 4, ... whole epochs: there the tail begins.
        self.tails = {-(-(2**power) * problem.n_rows // batch_size) for power in range(40)}
        self._restart_average()

    @property
    def alpha(self):
        return self.problem.n_rows * self.counts / self.t if self.t else self.counts.copy()

    @property
    def scores(self):
        return self.problem.K @ self.problem.coefficients_of(self.alpha)

    def step(self):
        p = self.problem
        if self.average == "tail" and self.t in self.tails:
            self._restart_average()
        self.alpha_sum += self.alpha
        self.averaged += 1

        batch = np.array(list(islice(self.rows, self.batch_size)))
        margin = p.sign[batch] * (p.K[batch] @ p.coefficients_of(self.alpha) + p.offset[batch])
        violators = batch[margin < 1.0]
        self.closest = min(self.closest, np.abs(margin - 1.0).min())

        self.t += 1
        np.add.at(self.counts, violators, self.push[violators] / self.batch_size)  # a row may be drawn twice
        if self.projection:
            coefficients = p.coefficients_of(self.alpha)
            norm = np.sqrt(coefficients @ p.K @ coefficients)
            if norm > p.radius():
                self.counts *= p.radius() / norm

    def mean(self):
        """The average of the dual points that a step has been taken from."""
        return self.alpha_sum / self.averaged

    def _restart_average(self):
        self.alpha_sum = np.zeros(self.problem.n_rows)
        self.averaged = 0
