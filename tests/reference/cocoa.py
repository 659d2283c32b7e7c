"""CoCoA+ with momentum, in plain numpy, row by row.

A partition has the share alpha_k of the dual point, and v_k = 1/(lam total) sum_i alpha_i sign_i x_i over its rows, so
w = sum_k v_k. A round around y = alpha + beta (alpha - alpha before): partition k maximises, by coordinates,

    (1/total) sum_i a_i (1 - sign_i offset_i) - lam <w(y), v_k(a) - v_k(y)> - lam sigma/2 |v_k(a) - v_k(y)|^2

over 0 <= a <= cost, beginning at a = alpha_k. Its slope in a_i is (1/total) (1 - sign_i (<w_local, x_i> + offset_i))
with w_local = w(y) + sigma (v_k(a) - v_k(y)).
"""

from dataclasses import replace

import numpy as np

from tests.reference.dual_ascent import DualAscent


class Cocoa:
    """The dual points of the partitions after so many rounds, K of them, sigma = K."""

    def __init__(self, problems, *, local_epochs, seed):
        self.problems, self.local_epochs, self.seed = problems, local_epochs, seed
        self.alphas = [np.zeros(problem.n_rows) for problem in problems]
        self.before = self.alphas
        self.theta, self.rounds = 1.0, 0

    def round(self):
        theta = (1.0 + np.sqrt(1.0 + 4.0 * self.theta**2)) / 2.0
        beta = (self.theta - 1.0) / theta
        y = [alpha + beta * (alpha - before) for alpha, before in zip(self.alphas, self.before, strict=True)]
        reached = [self._climb(k, y) for k in range(len(self.problems))]
        self.rounds += 1
        if beta > 0.0 and self.dual(reached) < self.dual(self.alphas):
            self.before, self.theta = self.alphas, 1.0
        else:
            self.alphas, self.before, self.theta = reached, self.alphas, theta

    def weights(self, alphas):
        return sum(problem.weights_of(alpha) for problem, alpha in zip(self.problems, alphas, strict=True))

    def dual(self, alphas):
        w, first = self.weights(alphas), self.problems[0]
        gains = [alpha @ (1.0 - p.sign * p.offset) for p, alpha in zip(self.problems, alphas, strict=True)]
        return sum(gains) / first.total - 0.5 * first.lam * (w @ w)

    def _climb(self, k, y):
        problem, sigma = self.problems[k], len(self.problems)
        moved = problem.weights_of(self.alphas[k]) - problem.weights_of(y[k])
        ascent = DualAscent(replace(problem, lam=problem.lam / sigma), seed=self.seed + self.rounds * sigma + k)
        ascent.alpha = self.alphas[k].copy()
        ascent.w = self.weights(y) + sigma * moved
        for _ in range(self.local_epochs * problem.n_rows):
            ascent.visit()
        return ascent.alpha
