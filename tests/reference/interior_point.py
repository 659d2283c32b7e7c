"""The interior point, transcribed: Mehrotra's predictor and corrector, and Gondzio's correctors, on the slack form.

mu w = fixed + Z'a,   q - Zw = v - u,   a u = 0,   (c - a) v = 0
"""

import numpy as np


class InteriorPoint:
    """One iteration at a time; Z has a row sign_i (x_i, bias) for each chosen row."""

    def __init__(self, Z, q, c, mu, *, fixed, w, width):
        self.Z, self.q, self.c, self.mu, self.fixed, self.w = Z, q, c, mu, fixed, w.copy()
        r, centre = q - Z @ w, width * c.mean()
        width = centre / c
        self.u = 0.5 * (2 * width - r + np.hypot(r, 2 * width))
        self.v = self.u + r
        self.a, self.t = centre / self.u, centre / self.v

    def direction(self, push, pull):
        a, t, u, v = self.a, self.t, self.u, self.v
        theta = u / a + v / t
        b = self.q - self.Z @ self.w + push - pull
        rho = self.mu * self.w - self.fixed - self.Z.T @ a
        H = self.mu * np.eye(len(self.w)) + self.Z.T @ (self.Z / theta[:, None])
        dw = np.linalg.solve(H, self.Z.T @ (b / theta) - rho)
        da = (b - self.Z @ dw) / theta
        return da, dw, push - u - u / a * da, pull - v + v / t * da

    def longest(self, move):
        da, _, du, dv = move
        ratios = np.concatenate([-da / self.a, da / self.t, -du / self.u, -dv / self.v])
        return 1.0 / max(1.0, ratios.max())

    def products(self, move, step):
        da, _, du, dv = move
        return (self.a + step * da) * (self.u + step * du), (self.t - step * da) * (self.v + step * dv)

    def iterate(self):
        n = len(self.a)
        mean = (self.a @ self.u + self.t @ self.v) / (2 * n)
        nothing = np.zeros(n)
        move = self.direction(nothing, nothing)
        low, high = self.products(move, self.longest(move))
        left = max((low.sum() + high.sum()) / (2 * n) / mean, 0.0)
        centre = mean * left**3
        da, _, du, dv = move
        push, pull = (centre - da * du) / self.a, (centre + da * dv) / self.t
        move = self.direction(push, pull)
        step = self.longest(move)
        for _ in range(2):
            if not step < 0.9:
                break
            low, high = self.products(move, min(1.0, step + 0.3))
            push = push + np.clip(np.clip(low, centre / 10, centre * 10) - low, -centre * 10, centre * 10) / self.a
            pull = pull + np.clip(np.clip(high, centre / 10, centre * 10) - high, -centre * 10, centre * 10) / self.t
            other = self.direction(push, pull)
            if self.longest(other) < step + 0.01:
                break
            move, step = other, self.longest(other)
        da, dw, du, dv = move
        step = 0.995 * step
        self.a, self.t = self.a + step * da, self.t - step * da
        self.u, self.v, self.w = self.u + step * du, self.v + step * dv, self.w + step * dw


def face_move(Z, r, mu, alpha, *, cost, n_products):
    """The projected move of conjugate gradients over rows between their bounds: the new alpha of these rows."""
    scale = mu / np.square(Z).sum(axis=1)
    x, left = np.zeros(len(r)), r.copy()
    along = scale * left
    size, gained = left @ along, 0.0
    for _ in range(n_products):
        image = Z.T @ along
        length = size / (image @ image / mu)
        x, left = x + length * along, left - length * (Z @ image) / mu
        gained += 0.5 * length * size
        following = left @ (scale * left)
        gain, inside = 0.5 * length * size, ((alpha + x >= 0.0) & (alpha + x <= cost)).all()
        if gain < 1e-12 * gained or (gain < 1e-3 * gained and not inside) or following <= 0.0:
            break
        along, size = scale * left + following / size * along, following
    for halvings in range(12):
        moved = np.clip(alpha + 0.5**halvings * x, 0.0, cost)
        image = Z.T @ (moved - alpha)
        if r @ (moved - alpha) - image @ image / (2 * mu) > 0.0:
            return moved
    return alpha
