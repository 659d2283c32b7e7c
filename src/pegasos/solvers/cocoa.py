"""CoCoA+ with momentum: dual ascent on partitions of the rows that may be anywhere, in rounds.

    max_alpha  D(alpha) = (1/total) sum_i alpha_i (1 - sign_i offset_i) - lam/2 |w(alpha)|^2,   0 <= alpha_i <= cost_i
    w(alpha) = 1/(lam total) sum_i alpha_i sign_i x_i

Ma, Smith, Jaggi, Jordan, Richtarik, Takac: Adding vs. averaging in distributed primal-dual optimization. ICML 2015,
Algorithm 1 with gamma = 1. Given K partitions of the rows and a dual point of each, the result is a dual point of a gap
as small as asked for. In a round every partition is given w = w(alpha) and climbs on its own rows, as if each of its
moves d_alpha_i were made sigma times:

    w_local = w + sigma/(lam total) sum_i d_alpha_i sign_i x_i

That is dual ascent with lam/sigma instead of lam, begun at w. Then the moves of all partitions are made at once.
With sigma = K the dual cannot fall, whatever the rows are: |sum_k v_k|^2 <= K sum_k |v_k|^2.

So a round is a proximal step of the dual, and Nesterov's momentum quickens it (Beck, Teboulle: A fast iterative
shrinkage-thresholding algorithm for linear inverse problems. SIAM J. Imaging Sciences 2, 2009): the step is made around
y = alpha + beta (alpha - the alpha before), which need not be within the bounds. A partition begins at its alpha all
the same, with w_local = w(y) + sigma (v(alpha) - v(y)), where v is its own term of w. A round that lets the dual fall
is taken back, and the momentum with it (O'Donoghue, Candes: Adaptive restart for accelerated gradient schemes, 2015).

A round moves one vector of features each way. How many partitions there are, and which rows they have, decides every
bit of the result; where they are does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.certificate import certify_dual, dual_point
from pegasos.problem import Losses, Problem, Rows, added, inner
from pegasos.rounding import DualSums, Floats, Gain, length_of, lowered
from pegasos.solvers.driver import Review
from pegasos.solvers.dual_ascent import DualAscent

Vector = npt.NDArray[np.float64]


class Share(NamedTuple):
    """What one partition brings: its dual variables, and its terms of w(alpha) and of the dual's gain."""

    alpha: Floats
    weights: Vector
    gain: Gain
    before: Vector  # its term of w(alpha) a round ago


class DualPoint(NamedTuple):
    """A dual point of all partitions: what each of them holds, wherever it is, and w(alpha) and the gain of all."""

    held: Sequence[Any]
    weights: Vector
    gain: Gain


@dataclass(frozen=True)
class Climb:
    """How a partition climbs in a round: visits for each of its rows, weights of which type, sigma and beta."""

    local_epochs: int
    dtype: npt.DTypeLike
    sigma: float
    beta: float
    seed: int

    def of_partition(self, k: int) -> Climb:
        """The same with a seed of its own."""
        return replace(self, seed=self.seed + k)


class LostError(Exception):
    """Dual variables of some partitions are gone; ``point`` is one without them."""

    def __init__(self, point: DualPoint):
        super().__init__("dual variables of a partition are lost")
        self.point = point


def local_round(problem: Problem, share: Share | None, weights: Vector, before: Vector, climb: Climb) -> Share:
    """One partition's part of a round: from its share (None: zero), w(alpha) of all partitions, and that a round ago.

    The problem has the partition's rows alone, but the total of all.
    """
    assert isinstance(problem.rows, Rows)
    # Weights are never narrower than rows.
    ascent = DualAscent(np.result_type(np.dtype(climb.dtype), problem.rows.dtype))
    damped = replace(problem, lam=problem.lam / climb.sigma)
    state = ascent.start(damped, climb.seed)
    with np.errstate(over="ignore", invalid="ignore"):
        around = weights + climb.beta * (weights - before)
        if share is None:
            state.weights[:] = around
        else:
            state.alpha[:] = share.alpha
            state.weights[:] = around - climb.sigma * climb.beta * (share.weights - share.before)
        ascent.advance_to(damped, state, climb.local_epochs * problem.rows.n_rows)
        # Summed up anew, in double: what rounding did to the weights of the climb is gone.
        own_weights, gain = problem.rows.terms(problem, state.alpha)
    return Share(state.alpha, own_weights, gain, np.zeros_like(own_weights) if share is None else share.weights)


def combine(terms: Iterable[tuple[Vector, Gain]]) -> tuple[Vector, Gain]:
    """w(alpha) and the gain of all partitions, from those of each; added in the order of the partitions."""
    each = iter(terms)
    first, gain = next(each)
    weights = first.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for more, its_gain in each:
            weights += more
            gain = (gain + its_gain).with_sum_of(length_of(weights))
    return weights, gain


class Partitions(Protocol):
    """Where the rows are, and who works on them."""

    @property
    def n_partitions(self) -> int:
        """How many there are."""

    @property
    def n_rows(self) -> int:
        """Rows of all partitions."""

    @property
    def n_features(self) -> int:
        """Features, without the constant column."""

    def round(self, point: DualPoint, before: Vector, climb: Climb) -> DualPoint:
        """Have every partition make its part of a round, with a seed of its own; ``before`` is w(alpha) a round ago."""

    def losses(self, weights: Vector) -> Losses:
        """Return the sum of the losses of these weights, the least margin, and |w|^2."""


@dataclass(frozen=True)
class PartitionsHere:
    """Partitions in this process, one after the other."""

    problems: Sequence[Problem]

    @property
    def n_partitions(self) -> int:
        """How many there are."""
        return len(self.problems)

    @property
    def n_rows(self) -> int:
        """Rows of all partitions."""
        return sum(problem.rows.n_rows for problem in self.problems)

    @property
    def n_features(self) -> int:
        """Features, without the constant column."""
        return self.problems[0].rows.n_features

    def round(self, point: DualPoint, before: Vector, climb: Climb) -> DualPoint:
        """A round of all of them."""
        shares = [
            local_round(problem, share, point.weights, before, climb.of_partition(k))
            for k, (problem, share) in enumerate(zip(self.problems, point.held, strict=True))
        ]
        return DualPoint(shares, *combine((share.weights, share.gain) for share in shares))

    def losses(self, weights: Vector) -> Losses:
        """The losses of all of them."""
        return added([problem.losses(weights) for problem in self.problems], weights)


@dataclass(frozen=True)
class PartitionedProblem:
    """The problem whose rows are those of all partitions: what the driver and the certificate ask of it.

    A dual point of it is a `DualPoint`: the dual variables stay where the rows are, and within their bounds.
    """

    partitions: Partitions
    lam: float
    total: float
    loss_of_zero: float  # the objective of the zero vector

    @property
    def rows(self) -> Any:
        """Who knows the number of rows and features."""
        return self.partitions

    @property
    def radius(self) -> float:
        """|w*| is at most this."""
        return float(np.sqrt(self.loss_of_zero / self.lam))

    @property
    def cost(self) -> Vector:
        """Of the rows here, of which there is none."""
        return np.empty(0)

    @property
    def bound(self) -> Vector:
        """The same as the costs."""
        return self.cost

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """One weight per feature, and one for the constant column."""
        return (self.partitions.n_features + 1,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """No dual variable is here."""
        return (0,)

    @property
    def zero(self) -> DualPoint:
        """The dual point of zeros."""
        return DualPoint([None] * self.partitions.n_partitions, np.zeros(self.weights_shape), Gain())

    def within_bounds(self, alpha: Any) -> Any:
        """The point itself."""
        return alpha

    def dual_sums(self, alpha: Any) -> DualSums:
        """What the partitions have summed up from their dual variables, in double; no dual variables are zeros."""
        point = alpha if isinstance(alpha, DualPoint) else self.zero
        room = lowered(point.gain, length_of(point.weights), self.lam * self.total)
        return DualSums(point.weights, *room, point.gain.off)

    def losses(self, weights: Vector) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        return self.partitions.losses(weights)

    def square(self, weights: Vector) -> float:
        """|w|^2."""
        return inner(weights, weights)


@dataclass
class CocoaState:
    """Everything a run needs to go on."""

    point: DualPoint
    before: Vector  # w(alpha) a round ago
    seed: int
    theta: float = 1.0  # of the momentum
    rounds: int = 0
    visits: int = 0

    def stand_at(self, point: DualPoint) -> None:
        """Go on from there without momentum."""
        self.point, self.before, self.theta = point, point.weights, 1.0


@dataclass(frozen=True)
class Cocoa:
    """The settings: visits for each row in a round, and the type of the weights.

    What the driver calls an epoch is a round, which counts as one visit of each row.
    """

    local_epochs: int = 4
    dtype: npt.DTypeLike = np.float64

    def start(self, problem: PartitionedProblem, seed: int) -> CocoaState:
        """The zero dual point."""
        return CocoaState(problem.zero, problem.zero.weights, seed)

    def steps(self, state: CocoaState) -> int:
        """Coordinate steps taken so far, of all partitions."""
        return self.local_epochs * state.visits

    def visits(self, state: CocoaState) -> int:
        """Every row once a round."""
        return state.visits

    def advance_to(self, problem: PartitionedProblem, state: CocoaState, visits: int) -> None:
        """Whole rounds, until that many."""
        while state.visits < visits:
            self._round(problem, state)

    def next_look(self, problem: PartitionedProblem, state: CocoaState) -> int:
        """The end of a round."""
        return state.visits + problem.partitions.n_rows

    def review_due(self, problem: PartitionedProblem, state: CocoaState, epoch: int | None, tol: float | None) -> bool:
        """After every round: a look is one pass over the rows, a round several."""
        return True

    def review(self, problem: PartitionedProblem, state: CocoaState, tol: float | None) -> Review:
        """The certificate of the dual point."""
        point: Any = state.point
        certificate, weights = certify_dual(problem, point)
        return Review(certificate, weights, point)

    def point(self, problem: PartitionedProblem, state: CocoaState) -> tuple[Vector, Any]:
        """The weights and the dual point."""
        return state.point.weights, state.point

    def _round(self, problem: PartitionedProblem, state: CocoaState) -> None:
        n = problem.partitions.n_partitions
        theta = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state.theta**2))
        beta = float((state.theta - 1.0) / theta)
        climb = Climb(self.local_epochs, self.dtype, sigma=float(n), beta=beta, seed=state.seed + state.rounds * n)
        last: Any = state.point
        try:
            reached: Any = problem.partitions.round(state.point, state.before, climb)
        except LostError as lost:
            state.stand_at(lost.point)
            return
        if beta > 0.0 and dual_point(problem, reached)[1] < dual_point(problem, last)[1]:
            state.stand_at(last)
        else:
            state.point, state.before, state.theta = reached, last.weights, theta
        state.rounds += 1
        state.visits += problem.partitions.n_rows
