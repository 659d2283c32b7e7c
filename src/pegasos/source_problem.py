"""The problems of a source of blocks: one for each class against the rest, side by side, over rows that are not here.

    P_k(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_ik <w, x_i>),    k = 0 .. n_problems - 1

They share the rows, so all of them are worked on while a block is in memory. As one `Objective` they are their sum:
weights and dual points of all problems in two matrices, a row for each. An epoch of it visits every row once for each
problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.losses import HINGE, Loss
from pegasos.problem import Losses, Problem, Rows, added, constant, inner
from pegasos.rounding import DualSums, Floats, Gain, length_of, lowered, nothing
from pegasos.window import Numbers, Window


class Size(NamedTuple):
    """How large the sum of the problems is: all rows, once for each problem."""

    n_rows: int
    n_features: int


class Sums(NamedTuple):
    """What a pass over all rows adds up for one problem."""

    losses: Losses  # of the weights
    own: DualSums  # w(alpha) and the linear term of the dual, times total


@dataclass(frozen=True, eq=False)
class SourceProblem:
    """The problems, and the window through which their rows are seen.

    Attributes
    ----------
    window : Window
    codes : integer array of shape (n_rows,), the number of each row's class
    positive : the class that is the positive side of each problem
    factors : what multiplies the cost of each class, or None for costs of 1
    lam : float
    total : float, the number of rows
    loss : Loss
    """

    window: Window
    codes: npt.NDArray[np.integer]
    positive: tuple[int, ...]
    factors: npt.NDArray[np.float64] | None
    lam: float
    total: float
    loss: Loss = HINGE

    @property
    def n_problems(self) -> int:
        """Number of problems side by side."""
        return len(self.positive)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.window.source.n_blocks

    @property
    def rows(self) -> Size:
        """All rows, once for each problem."""
        return Size(self.n_problems * len(self.codes), self.window.source.n_features)

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """What a mistake on each row costs."""
        return constant(1.0, len(self.codes)) if self.factors is None else self.factors[self.codes]

    @property
    def bound(self) -> npt.NDArray[np.float64]:
        """The most that the dual variables of each row may be."""
        return self.loss.bound_of(self.cost)

    @property
    def radius(self) -> float:
        """No weights of an optimum are longer than this."""
        return float(np.sqrt(self.loss_of_zero / self.lam))

    @property
    def loss_of_zero(self) -> float:
        """The objective of the zero vector, of one problem."""
        n = float(len(self.codes))
        if self.factors is not None:
            n = float(np.bincount(self.codes, minlength=len(self.factors)) @ self.factors)
        return n / self.total * self.loss.at_one

    @property
    def weights_shape(self) -> tuple[int, int]:
        """One row a problem."""
        return (self.n_problems, self.window.source.n_features + 1)

    @property
    def alpha_shape(self) -> tuple[int, int]:
        """One row a problem."""
        return (self.n_problems, len(self.codes))

    def span(self, block: int) -> slice:
        """The rows of a block."""
        begin, end = self.window.source.starts[block : block + 2]
        return slice(int(begin), int(end))

    def part(self, rows: Rows, mine: slice | Numbers, k: int) -> Problem:
        """Problem k of some of the rows alone; lam and total are those of the whole."""
        codes = self.codes[mine]
        sign = np.where(codes == self.positive[k], np.int8(1), np.int8(-1))
        cost = constant(1.0, len(codes)) if self.factors is None else self.factors[codes]
        loss = nothing, self.loss.cap, self.loss.ridge
        return Problem(rows, sign, cost, constant(0.0, len(codes)), self.lam, self.total, *loss)

    def within_bounds(self, alpha: Floats) -> Floats:
        """The dual point, clipped in place, block by block: there may be no room for another.

        Costs that are not numbers of alpha's type need one in double: rounded to single, a bound may exceed itself.
        """
        factors = np.ones(1) if self.factors is None else self.factors
        is_exact = bool((self.loss.bound_of(factors).astype(alpha.dtype) <= self.loss.bound_of(factors)).all())
        kept = alpha if is_exact else np.empty(alpha.shape)
        for block in range(self.n_blocks):
            mine = self.span(block)
            cost = np.ones(1) if self.factors is None else self.factors[self.codes[mine]]
            np.clip(alpha[:, mine], 0.0, self.loss.bound_of(cost), out=kept[:, mine], casting="same_kind")
        return kept

    def gain_of(self, alpha: Floats, block: int) -> float:
        """What the dual variables of a block add to the dual of their problem without |w|^2, times total."""
        gain = float(alpha.sum(dtype=np.float64))
        if self.loss.ridge == 0.0:
            return gain
        cost = self.cost[self.span(block)]
        counts = alpha > 0.0
        a = alpha[counts].astype(np.float64)
        return gain - 0.5 * self.loss.ridge * inner(a, a / cost[counts])

    def sums(self, weights: npt.NDArray[np.float64], alpha: Floats) -> list[Sums]:
        """One pass over all rows: what these weights cost, and what this dual point proves."""
        parts: list[list[Losses]] = [[] for _ in self.positive]
        own, gains = np.zeros(self.weights_shape), [Gain()] * self.n_problems
        everything = range(self.n_blocks)
        self.window.plan(None, everything, whole=everything)
        for block in everything:
            piece = self.window.piece(block, whole=True)
            for k in range(self.n_problems):
                part = self.part(piece.rows, self.span(block), k)
                parts[k].append(part.losses(weights[k]))
                share, gain = piece.rows.terms(part, alpha[k, self.span(block)])
                own[k] += share
                gains[k] = (gains[k] + gain).with_sum_of(length_of(own[k]))
        mu = self.lam * self.total
        each = zip(weights, parts, own, gains, strict=True)
        return [
            Sums(added(found, given), DualSums(mine, *lowered(gain, length_of(mine), mu), gain.off, gain.ridge))
            for given, found, mine, gain in each
        ]

    def dual_sums(self, alpha: Floats) -> DualSums:
        """The weights w(alpha) of all problems, and the sum of the linear terms, times total."""
        found = [each.own for each in self.sums(np.zeros(self.weights_shape), alpha)]
        gain, slack = sum(each.gain for each in found), sum(each.slack for each in found)
        off = float(np.linalg.norm([each.off for each in found]))
        ridge = sum(each.ridge for each in found)
        return DualSums(np.stack([each.weights for each in found]), gain, slack, off, ridge)

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The losses and |w|^2 of all problems together, and the least margin."""
        found = [each.losses for each in self.sums(weights, np.zeros(self.alpha_shape, self.window.source.dtype))]
        return added(found, weights)

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2 of all problems together."""
        return inner(weights, weights)
