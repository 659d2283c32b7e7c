"""Online learners on rows: a step rule, and the state it moves (the loop: cpp/core/pegasos/online.h).

    w_k <- shrink w_k + push sign_k x        or, second order,  w_k <- w_k + push sign_k S_k x

for each problem k, one against the rest. What a rule does is in cpp/core/pegasos/online_rules.h, a few lines each with
its paper; here are its settings. Given rows with their classes and costs, in an order, the state after them holds the
weights, and how many mistakes were made on the way.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Rows
from pegasos.solvers.voting import Votes

Order = npt.NDArray[np.uint32]
Keep = Literal["last", "averaged", "voted"]

_CHUNK_ROWS = 20_000  # rows per chunk; an interrupt can arrive between two chunks
_GROWTH = 1.05  # ratio of consecutive points of a curve
no_limit = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Labels:
    """The class number and the cost of each row."""

    codes: npt.NDArray[np.intp]
    cost: npt.NDArray[np.float64]


class NativeRule(NamedTuple):
    """A rule in the form that the loop uses."""

    word: str
    size: float = 0.0
    lam: float = 0.0
    nu: float = 0.0


class StepRule(Protocol):
    """The interface of a step rule."""

    def native(self) -> NativeRule:
        """Return the rule in the form that the loop uses."""


@dataclass(frozen=True)
class PerceptronStep:
    """On a mistake w <- w + cost sign x (Rosenblatt 1958)."""

    def native(self) -> NativeRule:
        """Pass no parameters."""
        return NativeRule("perceptron")


@dataclass(frozen=True)
class PassiveAggressiveStep:
    """The least change of w that gives the row a margin of 1 (Crammer et al. 2006).

    ``variant`` is "pa" (whatever it takes), "pa-1" (a step of at most C) or "pa-2" (C for the squared loss).
    """

    variant: Literal["pa", "pa-1", "pa-2"] = "pa-1"
    C: float = 1.0

    def native(self) -> NativeRule:
        """Pass C."""
        return NativeRule(self.variant, self.C)


@dataclass(frozen=True)
class ConfidenceWeightedStep:
    """The least change of N(w, S) that is right with probability ``confidence`` (Crammer, Dredze, Pereira 2008)."""

    confidence: float = 0.9

    def native(self) -> NativeRule:
        """Pass the quantile of the normal distribution."""
        return NativeRule("cw", NormalDist().inv_cdf(self.confidence))


@dataclass(frozen=True)
class ArowStep:
    """Adaptive regularization: squared hinge loss against what is known already (Crammer, Kulesza, Dredze 2013)."""

    r: float = 1.0

    def native(self) -> NativeRule:
        """Pass r."""
        return NativeRule("arow", self.r)


@dataclass(frozen=True)
class PegasosStep:
    """Shrink by 1 - 1/t; below a margin of 1 add cost / (lam t) sign x (Shalev-Shwartz et al. 2011)."""

    lam: float = 1e-4

    def native(self) -> NativeRule:
        """Pass lam."""
        return NativeRule("pegasos", lam=self.lam)


@dataclass
class Curve:
    """Cumulative mistakes and loss at row counts that grow by 5 %: a few hundred points for a stream of any length."""

    points: list[tuple[int, int, float]] = field(default_factory=list)
    due: int = 1  # row after which the next point is recorded

    def note(self, now: _core.OnlineCounters) -> None:
        """Keep a point if one is due."""
        if now.step == self.due:
            self.points.append((now.step, now.mistakes, now.loss))
            self.due = max(now.step + 1, int(now.step * _GROWTH))

    def up_to(self, now: _core.OnlineCounters) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Pairs (rows, mistakes) and (rows, loss), the last one as of now."""
        points = [point for point in self.points if point[0] < now.step] + [(now.step, now.mistakes, now.loss)]
        steps, mistakes, losses = zip(*points, strict=True)
        return np.column_stack([steps, mistakes]).astype(np.int64), np.column_stack([steps, losses]).astype(np.float64)


@dataclass
class OnlineState:
    """Everything a stream needs to continue: plain arrays and counters, picklable."""

    keep: Keep
    counters: _core.OnlineCounters
    weights: npt.NDArray[np.float64]  # (n_problems, n_features + 1), to be multiplied by the scale
    sums: npt.NDArray[np.float64] | None  # when averaging
    variances: npt.NDArray[np.float64] | None  # the diagonals S_k of a rule of second order
    rho: npt.NDArray[np.float64]  # the margins that NORMA requires
    scores: npt.NDArray[np.float64]  # buffer for the scores of one row
    votes: list[Votes]  # one per problem, when voting
    curve: Curve

    def copy(self) -> OnlineState:
        """Return an independent copy."""
        return copy.deepcopy(self)

    @property
    def vectors(self) -> npt.NDArray[np.float64]:
        """The last vectors, one row per problem."""
        return self.counters.scale * self.weights

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite; a score that is not may move nothing, but it has a loss."""
        return bool(np.isfinite(self.weights).all()) and math.isfinite(self.counters.loss)


@dataclass(frozen=True)
class OnlineLearner:
    """A rule, and which of its vectors is the result.

    Attributes
    ----------
    rule : a step rule
    keep : "last", "averaged" (the mean of the vectors after each row) or "voted" (each votes as long as it lived)
    max_votes : largest number of vectors that vote; the oldest are dropped first
    """

    rule: StepRule
    keep: Keep = "last"
    max_votes: int = 5000

    @cached_property
    def _native(self) -> NativeRule:
        return self.rule.native()

    def start(self, n_problems: int, n_features: int) -> OnlineState:
        """Before the first row."""
        shape = (n_problems, n_features + 1)
        second_order = self._native.word in ("cw", "arow")
        return OnlineState(
            self.keep,
            _core.OnlineCounters(),
            np.zeros(shape),
            np.zeros(shape) if self.keep == "averaged" else None,
            np.ones(shape) if second_order else None,
            np.ones(n_problems),
            np.empty(n_problems),
            [Votes.begin(n_features) for _ in range(n_problems)] if self.keep == "voted" else [],
            Curve(),
        )

    def advance(self, state: OnlineState, rows: Rows, labels: Labels, order: Order) -> None:
        """Visit the rows of the order that have a positive cost; chunks end where the curve has a point."""
        place = 0
        while place < len(order):
            until = place + min(_CHUNK_ROWS, state.curve.due - state.counters.step)
            self._visit(state, rows, labels, order[place:until])
            state.curve.note(state.counters)
            place = until

    def _visit(self, state: OnlineState, rows: Rows, labels: Labels, visited: Order) -> None:
        moves = np.zeros((len(state.weights), len(visited))) if state.votes else None
        _core.online_advance(
            rows.native,
            labels.codes,
            labels.cost,
            visited,
            0,
            len(visited),
            no_limit,
            *self._native,
            state.counters,
            state.weights,
            state.rho,
            state.sums,
            state.variances,
            state.scores,
            moves,
        )
        if moves is not None:
            for votes, mine in zip(state.votes, moves, strict=True):
                votes.follow(rows, visited, mine, self.max_votes)

    def weights(self, state: OnlineState) -> npt.NDArray[np.float64]:
        """The resulting vectors, one row per problem: the average, or the last."""
        now = state.counters
        if state.sums is None or now.step == 0:
            return state.vectors
        return (now.scale_sum * state.weights - state.sums) / now.step
