"""Ascent of the dual on a working set, one step at a time, every quantity computed anew.

With b_i = sign_i alpha_i within its bounds, slope h_i = sign_i - offset_i - score_i, curvature c_i = K_ii unit, and
unit = 1/(lam total), a move of b by m changes total times the dual objective by m'h - unit/2 m'K m, and the slopes by
-unit K m.
"""

import numpy as np


class Ascent:
    """Slopes, and how far each coordinate may still go down and up."""

    def __init__(self, K, slope, down, up, unit):
        self.K, self.unit = K, unit
        self.slope, self.down, self.up = slope.copy(), down.copy(), up.copy()
        self.closest = np.inf  # how near the second best came: nearer than rounding, and either choice is right

    def move(self, places, moves):
        for place, move in zip(places, moves, strict=True):
            self.down[place] -= move
            self.up[place] -= move
            self.slope = self.slope - self.unit * move * self.K[place]

    def note(self, values):
        """Remember how close the two largest values are."""
        first, second = np.sort(values)[::-1][:2] if len(values) > 1 else (1.0, 0.0)
        self.closest = min(self.closest, 0.0 if np.isinf(first) else 1.0 - second / first if first > 0 else np.inf)


class PairAscent(Ascent):
    """Algorithm WSS 2 of Fan, Chen, Lin: one coordinate rises and another falls by as much."""

    def gap(self):
        can_rise, can_fall = self.up > 0, self.down < 0
        if not can_rise.any() or not can_fall.any():
            return 0.0
        level = 0.5 * (self.slope[can_rise].max() + self.slope[can_fall].min())
        above = self.slope - level
        return float(np.sum(np.maximum(self.up * above, self.down * above)))

    def least_gap(self):
        """The gap at the best of all levels, which is one of the slopes."""
        above = self.slope[None] - self.slope[:, None]
        return float(np.sum(np.maximum(self.up * above, self.down * above), axis=1).min())

    def pair(self):
        rising = np.where(self.up > 0, self.slope, -np.inf)
        i = int(np.argmax(rising))
        falling = (self.down < 0) & (self.slope < self.slope[i])
        if rising[i] == -np.inf or not falling.any():
            return None
        if self.slope[i] - self.slope[falling].min() <= 1e-15 * (abs(self.slope[i]) + 1.0):
            return None
        d = np.diag(self.K) * self.unit
        between = np.maximum(d[i] + d - 2.0 * self.unit * self.K[i], 1e-12 * (d[i] + d) + np.finfo(float).tiny)
        difference = self.slope[i] - self.slope
        with np.errstate(over="ignore"):
            gains = np.where(falling, difference**2 / between, 0.0)
        j = int(np.argmax(gains))
        finite = rising[np.isfinite(rising)]
        self.note(finite - finite.min() + 1e-300)
        self.note(gains)
        m = min(difference[j] / between[j], self.up[i], -self.down[j])
        return i, j, m, m * (difference[j] - 0.5 * between[j] * m)

    def step(self):
        pair = self.pair()
        if pair is None:
            return False
        i, j, m, _ = pair
        self.move([i, j], [m, -m])
        return True


class FreeAscent(PairAscent):
    """The coordinate that gains most on its own, or the pair of `PairAscent`, whichever gains more."""

    def least_gap(self):
        """No level but 0."""
        return self.gap()

    def moves(self):
        curvature = np.diag(self.K) * self.unit
        with np.errstate(divide="ignore"):
            step = np.minimum(1.0 / curvature, np.finfo(np.float64).max)
        with np.errstate(over="ignore"):
            return np.clip(step * self.slope, self.down, self.up)

    def gains(self):
        m = self.moves()
        return m * (self.slope - 0.5 * np.diag(self.K) * self.unit * m)

    def gap(self):
        return float(np.sum(np.maximum(self.up * self.slope, self.down * self.slope)))

    def step(self):
        gains = self.gains()
        best = int(np.argmax(gains))
        pair = self.pair()
        if pair is not None and pair[3] > gains[best]:
            self.note(np.array([pair[3], gains[best]]))
            self.move(pair[:2], [pair[2], -pair[2]])
            return True
        if not gains[best] > 0.0:
            return False
        self.note(gains)
        self.note(np.array([gains[best], 0.0 if pair is None else pair[3]]))
        self.move([best], [self.moves()[best]])
        return True
