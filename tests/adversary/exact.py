"""Objectives in rational numbers, from what a fitted model shows; only the formulas are shared with the library."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

Number = Fraction


def exactly(value: Any) -> Fraction:
    """A floating-point number as the rational number that it is."""
    return Fraction(float(value))


def dense(X: Any) -> np.ndarray:
    """The rows as a dense array."""
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@dataclass(frozen=True)
class ExactProblem:
    """Two classes: rows, signs, costs, the prior and the terms, all rational."""

    rows: list[list[Fraction]]
    sign: list[int]
    cost: list[Fraction]
    prior: tuple[list[Fraction], Fraction]
    lam: Fraction
    total: Fraction
    bias: Fraction
    is_free: bool

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, k: int = 0) -> ExactProblem:
        """Problem k of a linear model, one against the rest."""
        terms = model.fitted_.terms
        rows = [[exactly(value) for value in row] for row in dense(X)]
        positive = model.classes_[1] if len(model.classes_) == 2 else model.classes_[k]
        sign = [1 if label == positive else -1 for label in y]
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        codes = np.searchsorted(model.classes_, y)
        known_factors = model.fitted_.task.factors
        factors = np.ones(len(y)) if known_factors is None else known_factors[codes]
        cost = [exactly(c) for c in weights * factors]
        zero = [Fraction(0)] * len(rows[0]), Fraction(0)
        prior = model.fitted_.model.prior
        known = zero if prior is None else ([exactly(w) for w in prior.coef[k]], exactly(prior.intercept[k]))
        numbers = exactly(terms.lam), exactly(terms.total), exactly(terms.bias)
        return cls(rows, sign, cost, known, *numbers, terms.is_free)

    def offset(self, row: list[Fraction]) -> Fraction:
        """The prior's score of a row."""
        weights, intercept = self.prior
        return sum((a * b for a, b in zip(row, weights, strict=True)), intercept)

    def primal(self, coef: Any, intercept: Any) -> Fraction:
        """P of the weights and the intercept that a model predicts with."""
        weights, constant = [exactly(value) for value in coef], exactly(intercept)
        learnt = [w - w0 for w, w0 in zip(weights, self.prior[0], strict=True)]
        carried = constant - self.prior[1]
        square = sum((w * w for w in learnt), Fraction(0))
        if not self.is_free:
            square += (carried / self.bias) ** 2 if self.bias else Fraction(0)
        losses = Fraction(0)
        for row, sign, cost in zip(self.rows, self.sign, self.cost, strict=True):
            score = sum((a * w for a, w in zip(row, weights, strict=True)), constant)
            losses += cost * max(Fraction(0), 1 - sign * score)
        return self.lam / 2 * square + losses / self.total

    def dual(self, alpha: Any) -> Fraction:
        """D of a dual point within its bounds; with a free intercept, of one that is balanced up to rounding."""
        points = [exactly(a) for a in alpha]
        assert all(0 <= a <= c for a, c in zip(points, self.cost, strict=True))
        if self.is_free:
            points = self._balanced(points)
        signed = [a * s for a, s in zip(points, self.sign, strict=True)]
        own = [sum((a * row[j] for a, row in zip(signed, self.rows, strict=True)), Fraction(0)) for j in self._features]
        if not self.is_free:
            own.append(sum(signed, Fraction(0)) * self.bias)
        square = sum((w * w for w in own), Fraction(0)) / (self.lam * self.total) ** 2
        gain = sum((a - s * self.offset(row) for a, s, row in zip(points, signed, self.rows, strict=True)), Fraction(0))
        return gain / self.total - self.lam / 2 * square

    @property
    def _features(self) -> range:
        return range(len(self.rows[0]))

    def _balanced(self, points: list[Fraction]) -> list[Fraction]:
        of_sign = {
            s: sum((a for a, mine in zip(points, self.sign, strict=True) if mine == s), Fraction(0)) for s in (1, -1)
        }
        lighter = min(of_sign.values())
        factors = {s: lighter / total if total else Fraction(0) for s, total in of_sign.items()}
        return [a * factors[s] for a, s in zip(points, self.sign, strict=True)]
