"""Pegasos and dual ascent on the problem of all classes, as the papers write them; every step touches all of W.

Pegasos (Mathematical Programming 127, 2011): of each row of the batch the class s != y_i of the largest claim g_is is
the rival, and the row violates when g_is > g_{i y_i}. Dual ascent (Crammer and Singer 2001; Keerthi and
others, KDD 2008, with its sort): a visit of row i maximizes D over all of alpha_i.
"""

from itertools import islice

import numpy as np

from tests.reference.pegasos import draw_rows
from tests.reference.random import Random


class JointPegasos:
    """The iterate W after t steps, its dual point alpha, and the sums of the iterates before it."""

    def __init__(self, problem, *, batch_size=1, sampling="shuffle", projection=False, average="uniform", seed=0):
        self.problem, self.batch_size, self.projection, self.average = problem, batch_size, projection, average
        self.rows = draw_rows(sampling, problem.n_rows, seed)
        self.t = 0
        self.W = np.zeros((problem.n_classes, problem.X.shape[1]))
        self.alpha = np.zeros((problem.n_rows, problem.n_classes))
        self.closest = np.inf  # how near two claims have come that decided something: nearer, and either is right
        self.tails = {-(-(2**power) * problem.n_rows // batch_size) for power in range(40)}
        self._restart_average()

    def step(self):
        p, n, k = self.problem, self.problem.n_rows, self.batch_size
        if self.average == "tail" and self.t in self.tails:
            self._restart_average()
        self.W_sum += self.W
        self.alpha_sum += self.alpha
        self.averaged += 1
        self.t += 1
        batch = list(islice(self.rows, k))
        violators = [(i, self._rival(i)) for i in batch]
        self.W *= 1.0 - 1.0 / self.t
        self.alpha *= 1.0 - 1.0 / self.t
        for i, rival in violators:
            if rival is not None:
                push = p.cost[i] * p.X[i] * n / p.total / (p.lam * self.t * k)
                self.W[p.codes[i]] += push
                self.W[rival] -= push
                self.alpha[i, rival] += n / (self.t * k) * p.cost[i]
        norm = np.linalg.norm(self.W)
        if self.projection and norm > p.radius():
            self.W *= p.radius() / norm
            self.alpha *= p.radius() / norm

    def _rival(self, i):
        p = self.problem
        g = p.claims(self.W, i)
        others = np.where(p.own[i] > 0, -np.inf, g)
        rival = int(others.argmax())
        first, second = np.sort(g)[:-3:-1]
        self.closest = min(self.closest, first - second)
        return rival if g[rival] > g[p.codes[i]] else None

    def mean(self):
        return self.W_sum / self.averaged, self.alpha_sum / self.averaged

    def _restart_average(self):
        self.W_sum, self.alpha_sum, self.averaged = np.zeros_like(self.W), np.zeros_like(self.alpha), 0


def projected_on_simplex(point, total):
    """The nearest point with entries that are not negative and add up to total, by sorting."""
    falling = np.sort(point)[::-1]
    bounds = (np.cumsum(falling) - total) / np.arange(1, len(point) + 1)
    return np.maximum(point - bounds[np.flatnonzero(falling > bounds)[-1]], 0.0) if total > 0 else 0.0 * point


class JointAscent:
    """alpha and W = W(alpha) after this many visits, and the rows that take part in the sweep."""

    def __init__(self, problem, *, seed=0):
        self.problem = problem
        self.alpha = np.zeros((problem.n_rows, problem.n_classes))
        self.W = problem.weights_of(self.alpha)
        self.random = Random(seed)
        self.sweep_gap = np.inf
        self.recall_all_rows()

    def recall_all_rows(self):
        self.order, self.position = [], 0

    def visit(self):
        if self.position == len(self.order):
            self._begin_sweep()
        row = self.order[self.position]
        if self._maximise_over(row):
            self.position += 1
        else:  # the last row of the sweep takes the place of the one that leaves
            last = self.order.pop()
            if row != last:
                self.order[self.position] = last
        if self.position == len(self.order):
            self._end_sweep()

    def _maximise_over(self, i):
        """One row; says whether it stays in the sweep."""
        p, y, cost = self.problem, self.problem.codes[i], self.problem.cost[i]
        g = p.claims(self.W, i)
        shares = self.alpha[i].copy()
        slack = cost - shares.sum()
        shares[y] = slack if slack > 8.0 * np.finfo(np.float64).eps * cost else 0.0  # less is rounding
        self.gap_sum += shares @ (g.max() - g)
        whole = np.flatnonzero(shares > 0.0)
        if cost == 0.0 or (len(whole) == 1 and g[whole[0]] > np.delete(g, whole[0]).max()):
            return False
        shares = self._best_shares(i, shares, g)
        shares[y] = 0.0
        self.alpha[i] = shares
        self.W = p.weights_of(self.alpha)
        return True

    def _best_shares(self, i, shares, g):
        p = self.problem
        squared_norm = p.X[i] @ p.X[i]
        if squared_norm == 0.0:  # D is linear in alpha_i: all goes to the best claims
            best = g == g.max()
            return projected_on_simplex(np.where(best, shares, -1e300), p.cost[i])
        return projected_on_simplex(shares + p.lam * p.total * g / squared_norm, p.cost[i])

    def _begin_sweep(self):
        if not self.order:
            self.order = list(range(self.problem.n_rows))
        self.random.shuffle(self.order)
        self.position, self.gap_sum = 0, 0.0
        self.begun = len(self.order)

    def _end_sweep(self):
        if self.begun == self.problem.n_rows:
            self.sweep_gap = self.gap_sum
        elif self.gap_sum <= 0.5 * self.sweep_gap:
            self.recall_all_rows()
