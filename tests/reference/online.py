"""The online learners as their papers write them; every step touches all weights, and nothing is kept lazily."""

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """What a step is told: the number of the step, the row, its sign and its cost."""

    t: int
    x: np.ndarray
    sign: float
    cost: float


def perceptron(w, S, row, rho):
    _, x, sign, cost = row
    return (w + cost * sign * x, S) if sign * (w @ x) <= 0 else (w, S)


def passive_aggressive(variant, C):
    def step(w, S, row, rho):
        _, x, sign, cost = row
        loss, square = max(0.0, 1.0 - sign * (w @ x)), x @ x
        if loss == 0.0 or square == 0.0:
            return w, S
        tau = {
            "pa": loss / square,
            "pa-1": min(C * cost, loss / square),
            "pa-2": loss / (square + 1.0 / (2.0 * C * cost)),
        }[variant]
        return w + tau * sign * x, S

    return step


def arow(r):
    """beta = 1 / (x'Sx + r), alpha = loss beta; the diagonal of the inverse of S grows by x^2 / r."""

    def step(w, S, row, rho):
        _, x, sign, cost = row
        loss = max(0.0, 1.0 - sign * (w @ x))
        if loss == 0.0:
            return w, S
        beta = 1.0 / (x @ (S * x) + r / cost)
        return w + loss * beta * sign * S * x, 1.0 / (1.0 / S + cost * x * x / r)

    return step


def confidence_weighted(confidence):
    """The closed form of the paper's Fig. 1, in its own letters."""
    phi = NormalDist().inv_cdf(confidence)
    psi, zeta = 1.0 + phi**2 / 2.0, 1.0 + phi**2

    def step(w, S, row, rho):
        _, x, sign, _ = row
        v, m = x @ (S * x), sign * (w @ x)
        if v < 1e-100:
            return w, S
        alpha = max(0.0, (-m * psi + sqrt(m**2 * phi**4 / 4.0 + v * phi**2 * zeta)) / (v * zeta))
        b = alpha * v * phi
        # The paper has sqrt(u) = (-b + sqrt(b^2 + 4 v)) / 2, where nothing is left of the difference when v is small.
        root_u = 2.0 * v / (b + sqrt(b**2 + 4.0 * v))
        return w + alpha * sign * S * x, 1.0 / (1.0 / S + alpha * phi / root_u * x * x)

    return step


def pegasos(lam):
    def step(w, S, row, rho):
        t, x, sign, cost = row
        violates = sign * (w @ x) < 1.0
        w = (1.0 - 1.0 / t) * w
        return (w + cost / (lam * t) * sign * x if violates else w), S

    return step


def norma(eta, lam, nu):
    """With explicit features x; rho is a list of one number, which moves where nu is given."""

    def step(w, S, row, rho):
        _, x, sign, cost = row
        misses = sign * (w @ x) < rho[0]
        if nu is not None:
            rho[0] -= eta * cost * ((1.0 if misses else 0.0) - nu)
        w = (1.0 - eta * lam) * w
        return (w + eta * cost * sign * x if misses else w), S

    return step


def run(step, X, labels, order, n_problems):
    """All iterates of each problem, all variances at the end, mistakes and losses after each row, and rho."""
    X, codes, cost = X.astype(np.float64), labels.codes, labels.cost
    w, S = np.zeros((n_problems, X.shape[1])), np.ones((n_problems, X.shape[1]))
    rho = [[1.0] for _ in range(n_problems)]
    iterates, mistakes, losses = [], [], []
    n_mistakes, loss = 0, 0.0
    for t, i in enumerate(order, 1):
        scores = w @ X[i]
        sign = np.array([1.0 if codes[i] == (1 if n_problems == 1 else k) else -1.0 for k in range(n_problems)])
        others = -scores if n_problems == 1 else np.delete(scores, codes[i])
        own = sign[0] * scores[0] if n_problems == 1 else scores[codes[i]]
        n_mistakes += not (own > 0.0 if n_problems == 1 else (own > others).all())
        loss += cost[i] * np.maximum(0.0, 1.0 - sign * scores).sum()
        for k in range(n_problems):
            w[k], S[k] = step(w[k], S[k], Row(t, X[i], sign[k], cost[i]), rho[k])
        iterates.append(w.copy())
        mistakes.append(n_mistakes)
        losses.append(loss)
    return np.array(iterates), S, np.array(mistakes), np.array(losses), np.array(rho)[:, 0]


def kernel_run(K, labels, order, n_problems, *, rule, eta=1.0, lam=0.0, nu=None, budget=None):
    """Dual form: the coefficients of all items after the order, and the mistakes; the oldest support goes first."""
    codes, cost = labels.codes, labels.cost
    a, support, rho = np.zeros((n_problems, len(K))), [], np.ones(n_problems)
    mistakes = 0
    for i in order:
        scores = a @ K[:, i]
        sign = np.array([1.0 if codes[i] == (1 if n_problems == 1 else k) else -1.0 for k in range(n_problems)])
        if n_problems == 1:
            mistakes += not sign[0] * scores[0] > 0.0
        else:
            mistakes += not (scores[codes[i]] > np.delete(scores, codes[i])).all()
        due = sign * scores < rho if rule == "norma" else sign * scores <= 0.0
        if nu is not None:
            rho -= eta * cost[i] * (due - nu)
        a *= 1.0 - eta * lam
        a[:, i] += eta * cost[i] * sign * due
        if due.any() and i not in support:
            support.append(i)
        if budget is not None and len(support) > budget:
            a[:, support.pop(0)] = 0.0
    return a, support, mistakes, rho


def voted_scores(iterates, X):
    """Freund and Schapire's vote: the vector after each row votes once for each row it is there after."""
    return np.sign(X @ iterates.T).sum(axis=1) / len(iterates)
