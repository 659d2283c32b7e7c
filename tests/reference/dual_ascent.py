"""Dual coordinate ascent with shrinking, as ICML 2008 (Hsieh and others, Algorithm 3) writes it; and with rests.

A visit of row i maximizes D over alpha_i alone, with r_i = 1 - sign_i (<w, x_i> + offset_i):

    alpha_i <- clip(alpha_i + (r_i - d_i alpha_i) / (|x_i|^2 / (lam total) + d_i), 0, cap cost_i)

with d_i = ridge / cost_i, and w follows. A row at a bound that is pushed further out than any row was pulled in the
sweep before leaves the sweep.
"""

from itertools import pairwise

import numpy as np

from tests.reference.random import Random


class DualAscent:
    """alpha and w = w(alpha) after this many visits, and the rows that take part in the sweep."""

    def __init__(self, problem, *, alpha=None, seed=0):
        self.problem = problem
        self.alpha = np.zeros(problem.n_rows) if alpha is None else problem.clip(alpha)
        self.w = problem.weights_of(self.alpha)
        self.random = Random(seed)
        self.sweep_gap = np.inf
        self.recall_all_rows()

    def recall_all_rows(self):
        self.order = []
        self.position = 0

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
        """One coordinate step; says whether the row stays in the sweep."""
        p, old, bound, damping = self.problem, self.alpha[i], self.problem.bound[i], self.problem.damping[i]
        r = 1.0 - p.sign[i] * (p.X[i] @ self.w + p.offset[i])
        self.gap_sum += p.cost[i] * p.phi(r) + 0.5 * damping * old**2 - old * r
        slope = self.slope = r - damping * old
        if (old == 0.0 and slope < self.lower) or (old == bound and slope > self.upper):
            return False
        if old < bound:
            self.highest = max(self.highest, slope)
        if old > 0.0:
            self.lowest = min(self.lowest, slope)
        self.alpha[i] = min(max(self._unbounded_maximum(i, slope), 0.0), bound)
        self.w = self.w + (self.alpha[i] - old) * p.sign[i] * p.X[i] / (p.lam * p.total)
        return True

    def _unbounded_maximum(self, i, slope):
        p = self.problem
        curvature = p.X[i] @ p.X[i] / (p.lam * p.total) + p.damping[i]
        if curvature == 0.0:  # D is linear in alpha_i: the maximum lies at a bound
            return self.alpha[i] if slope == 0.0 else np.copysign(np.inf, slope)
        return self.alpha[i] + slope / curvature

    def _begin_sweep(self):
        if not self.order:
            self.order = list(range(self.problem.n_rows))
            self.upper, self.lower = np.inf, -np.inf
        self.random.shuffle(self.order)
        self.position = 0
        self.highest = self.lowest = self.gap_sum = 0.0

    def _end_sweep(self):
        self.sweep_gap = self.gap_sum
        self.upper = self.highest if self.highest > 0.0 else np.inf
        self.lower = self.lowest if self.lowest < 0.0 else -np.inf


class RestingAscent(DualAscent):
    """The same, where a row at a bound and pushed outward rests; rows are parted only at the end of a sweep.

    At level k a row is visited in the sweeps alone whose number is a multiple of 2^k. `parts` holds the rows of each
    level in their order: those of the sweep first, those that left last.
    """

    TOP = 5

    def visit(self):
        if self.position == len(self.order):
            self._begin_sweep()
        self._maximise_over(self.order[self.position])
        self.position += 1
        if self.position == len(self.order):
            self._end_sweep()

    @property
    def n_left(self):
        return sum(map(len, self.parts[:-1])) if self.order else 0

    def _maximise_over(self, i):
        before, level = self.alpha[i], self.levels[i]
        stays = super()._maximise_over(i)
        if self.alpha[i] != before:
            self.levels[i] = 0
        elif not stays:
            self.levels[i] = self.TOP + 1
        else:
            slope = self.slope
            bound = self.problem.bound[i]
            is_outward = (before == 0.0 and slope < 0.0) or (before == bound and slope > 0.0)
            self.levels[i] = min(level + 1, self.TOP) if is_outward else 0
        return stays

    def _begin_sweep(self):
        is_new = not self.order
        super()._begin_sweep()
        if is_new:
            n = self.problem.n_rows
            self.sweep, self.levels = 0, [0] * n
            self.parts = [self.order, *([] for _ in range(self.TOP + 1))]

    def _end_sweep(self):
        super()._end_sweep()
        flat = [row for part in self.parts for row in part]
        ends = np.cumsum([len(part) for part in self.parts])[:-1].tolist()
        for p in range(len(self.order) - 1, -1, -1):
            row, hole = flat[p], p
            for k in range(self.levels[row]):
                ends[k] -= 1
                flat[hole] = flat[ends[k]]
                hole = ends[k]
            flat[hole] = row
            if self.levels[row] > self.TOP:
                self.levels[row] = 0
        self.sweep += 1
        woken = max(k for k in range(self.TOP + 1) if self.sweep % 2**k == 0)
        if ends[woken] == 0:
            woken = self.TOP
        ends[:woken] = [ends[woken]] * woken
        self.parts = [flat[a:b] for a, b in pairwise([0, *ends, len(flat)])]
        self.order = self.parts[0]
        self.position = len(self.order)
