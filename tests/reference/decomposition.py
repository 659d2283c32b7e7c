"""Greedy coordinate ascent on a working set, one coordinate at a time, every gain computed anew.

With b_i = sign_i alpha_i within its bounds, slope h_i = sign_i - offset_i - score_i, curvature c_i = K_ii unit, and
unit = 1/(lam total), a move of b_i by m changes total times the dual objective by m (h_i - c_i m / 2), and every slope
h_j by -unit m K_ij. The coordinate that gains most moves as far as it goes.
"""

import numpy as np


class GreedyAscent:
    """Slopes, and how far each coordinate may still go down and up."""

    def __init__(self, K, slope, down, up, unit):
        self.K, self.unit = K, unit
        self.slope, self.down, self.up = slope.copy(), down.copy(), up.copy()
        self.gained = 0.0
        self.closest = np.inf  # how near the second best came: nearer than rounding, and either choice is right

    def moves(self):
        curvature = np.diag(self.K) * self.unit
        with np.errstate(divide="ignore"):
            step = np.minimum(1.0 / curvature, np.finfo(np.float64).max)
        with np.errstate(over="ignore"):
            return np.clip(step * self.slope, self.down, self.up)

    def gains(self):
        m = self.moves()
        return m * (self.slope - 0.5 * np.diag(self.K) * self.unit * m)

    def advance(self, enough, n_steps):
        """Steps until none gains more than enough; returns their number."""
        for done in range(n_steps):
            gains = self.gains()
            best = int(np.argmax(gains))
            if not gains[best] > enough:
                return done
            self.closest = min(self.closest, 1.0 - np.partition(gains, -2)[-2] / gains[best])
            move = self.moves()[best]
            self.gained += gains[best]
            self.down[best] -= move
            self.up[best] -= move
            self.slope = self.slope - self.unit * move * self.K[best]
        return n_steps
