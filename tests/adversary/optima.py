"""Exact optima of tiny problems, found by trying all active sets in rational numbers: the radius and certified rows."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from pegasos import PegasosClassifier
from pegasos.errors import PegasosError
from pegasos.estimators.warnings import GapWarning
from tests.adversary.exact import ExactProblem, exactly
from tests.adversary.linear import some_rows, some_weights

Vector = list[Fraction]


def dot(a: Vector, b: Vector) -> Fraction:
    """The inner product."""
    return sum((x * z for x, z in zip(a, b, strict=True)), Fraction(0))


def solved(matrix: list[Vector], right: Vector) -> Vector | None:
    """The solution of a linear system; None where it has not exactly one."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [value - rows[i][k] * mine for value, mine in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def optimum(problem: ExactProblem) -> Vector | None:
    """The exact weights, that of the constant column last; None where no active set has exactly one solution."""
    rows = [[*row, problem.bias] for row in problem.rows]
    signed = [[s * value for value in row] for row, s in zip(rows, problem.sign, strict=True)]
    mu = problem.lam * problem.total
    for kinds in product((0, 1, 2), repeat=len(rows)):  # at 0, at the cost, between
        free = [i for i, kind in enumerate(kinds) if kind == 2]
        alpha = [c if kind == 1 else Fraction(0) for c, kind in zip(problem.cost, kinds, strict=True)]
        bound = _sum(alpha, signed)
        gram = [[dot(signed[i], signed[j]) for j in free] for i in free]
        found = solved(gram, [mu - dot(signed[i], bound) for i in free])
        if found is None:
            continue
        for i, value in zip(free, found, strict=True):
            alpha[i] = value
        if not all(0 <= a <= c for a, c in zip(alpha, problem.cost, strict=True)):
            continue
        weights = [value / mu for value in _sum(alpha, signed)]
        losses = [1 - dot(row, weights) for row in signed]
        if all((loss <= 0, loss >= 0, True)[kind] for loss, kind in zip(losses, kinds, strict=True)):
            return weights
    return None


def _sum(factors: Vector, vectors: list[Vector]) -> Vector:
    return [dot(factors, [vector[j] for vector in vectors]) for j in range(len(vectors[0]))]


def hunt(random: np.random.Generator) -> dict[str, int]:
    """One tiny problem: the exact weights lie within the radius, the optimum between dual and primal."""
    X, y = some_rows(random)
    X, y = X[:5], y[:5]
    weights = some_weights(random, len(y))
    if weights is not None and not (weights[:2] > 0.0).all():
        return {}
    settings: dict[str, Any] = {
        "lam": 10.0 ** random.uniform(-12, 3),
        "tol": 10.0 ** random.uniform(-14, -0.5),
        "fit_intercept": bool(random.random() < 0.7),
        "max_iter": int(random.integers(1, 300)),
        "random_state": 0,
        "time_budget": 0.5,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        try:
            model = PegasosClassifier(**settings).fit(X, y, sample_weight=weights)
        except PegasosError:
            return {}
    certificate = model.certificate_
    if not certificate.is_finite or not np.isfinite(certificate.weight_radius):
        return {}
    problem = ExactProblem.of(model, X, y, weights)
    exact = optimum(problem)
    if exact is None:
        return {"degenerate problems": 1}
    bias = problem.bias
    mine = [exactly(w) for w in model.coef_[0]] + [exactly(model.intercept_[0]) / bias if bias else Fraction(0)]
    apart = sum(((a - b) ** 2 for a, b in zip(mine, exact, strict=True)), Fraction(0))
    said = Fraction(certificate.weight_radius)
    assert apart <= said * said, f"|w - w*| is {float(apart) ** 0.5!r}, said {certificate!r}"
    best = problem.lam / 2 * dot(exact, exact)
    for row, s, c in zip(problem.rows, problem.sign, problem.cost, strict=True):
        best += c * max(Fraction(0), 1 - s * dot([*row, bias], exact)) / problem.total
    room = Fraction(1, 10**9) * best
    assert Fraction(certificate.dual) <= best + room, f"P* is {float(best)!r}, said {certificate!r}"
    assert Fraction(certificate.primal) >= best - room, f"P* is {float(best)!r}, said {certificate!r}"
    asked = np.vstack([X, random.normal(size=(150, X.shape[1])) * np.abs(X).max(axis=0)])
    sure = model.certified(asked)
    predicted = model.predict(asked)
    bounds = zip(*model.score_interval(asked), strict=True)
    for row, is_sure, label, (low, high) in zip(asked, sure, predicted, bounds, strict=True):
        score = dot([*(exactly(value) for value in row), bias], exact)
        assert low <= score <= high, f"an exact solution has the score {float(score)!r}, said {low!r} to {high!r}"
        if is_sure:
            assert (score > 0) == (label == model.classes_[1]), f"a certified row has the score {float(score)!r}"
    return {"exact optima": 1, "certified rows": int(sure.sum()), "rows asked": len(asked)}
