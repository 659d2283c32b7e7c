"""A problem whose rows are in partitions, wherever those are, with the interface of the driver and the certificate.

    P(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_i (<w, x_i> + offset_i))

Everything is computed by questions to all partitions (`passes`); one question is one pass over all rows. The dual
variables are not stored: a dual point is a rule by which partitions compute theirs from weights, together with the dual
variables of a few gathered rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from pegasos.certificate import Certificate, certificate_of
from pegasos.errors import PegasosError
from pegasos.losses import HINGE, Loss
from pegasos.problem import Losses, Problem, Rows, inner
from pegasos.rounding import Carried, DualSums, length_of, lowered, unit
from pegasos.solvers.passes import DualRule, Proof, Question, SomeRows, Terms, Vector, merged


class Partitions(Protocol):
    """The partitions of a problem, and the way to query them."""

    @property
    def n_partitions(self) -> int:
        """How many there are."""

    @property
    def n_rows(self) -> int:
        """Rows of all partitions."""

    @property
    def n_features(self) -> int:
        """Features, without the constant column."""

    @property
    def n_stored(self) -> int:
        """Number of stored values of all rows."""

    def ask(self, question: Question) -> Any:
        """Return the merged answer of all partitions."""


@dataclass(frozen=True)
class PartitionsHere:
    """Partitions in this process, processed one after the other."""

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

    @property
    def n_stored(self) -> int:
        """Number of stored values of all rows."""
        return sum(problem.rows.n_stored for problem in self.problems if isinstance(problem.rows, Rows))

    def ask(self, question: Question) -> Any:
        """Query one partition after the other."""
        return merged(question, [question(problem) for problem in self.problems])


@dataclass(frozen=True, eq=False)
class PartitionedDual:
    """A dual point: a rule for the rows in the partitions, and the dual variables of gathered rows."""

    rule: DualRule | None = None  # None: zero
    part: Problem | None = None
    alpha: Vector | None = None


ZERO = PartitionedDual()


@dataclass(frozen=True)
class PartitionedProblem:
    """The problem of the rows of all partitions.

    Attributes
    ----------
    partitions : Partitions
    lam, total : float
    loss_of_zero : float
        The objective of the zero vector.
    bias : float
        Value of the constant column.
    loss : Loss
    is_free : bool
        Whether the intercept, which the constant column carries, is not regularized.
    """

    partitions: Partitions
    lam: float
    total: float
    loss_of_zero: float
    bias: float = 1.0
    loss: Loss = HINGE
    is_free: bool = False

    @property
    def rows(self) -> Partitions:
        """The partitions, which have the number of rows and features."""
        return self.partitions

    @property
    def radius(self) -> float:
        """|w*| is at most this."""
        return float(np.sqrt(self.loss_of_zero / self.lam))

    @property
    def cost(self) -> Vector:
        """Costs of local rows: there are none."""
        return np.empty(0)

    @property
    def bound(self) -> Vector:
        """Bounds of local rows: there are none."""
        return np.empty(0)

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """One weight per feature, and one for the constant column."""
        return (self.partitions.n_features + 1,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """No dual variable is stored locally."""
        return (0,)

    @property
    def penalty(self) -> Vector:
        """Penalty: lam for every regularized weight, 0 for a free intercept."""
        penalty = np.full(self.weights_shape, self.lam)
        if self.is_free:
            penalty[-1] = 0.0
        return penalty

    def within_bounds(self, alpha: Any) -> Any:
        """Return the point itself: a rule stays within the bounds."""
        return alpha

    def part(self, rows: SomeRows) -> Problem:
        """The problem of gathered rows alone; lam and total are those of the whole."""
        values = rows.values if rows.values.dtype == np.float64 else rows.values.astype(np.float64)
        return Problem(
            Rows.of(values, self.bias),
            rows.sign,
            rows.cost,
            rows.offset,
            self.lam,
            self.total,
            Carried(*rows.carried.tolist()),
            self.loss.cap,
            self.loss.ridge,
        )

    def proof(self, weights: Vector, dual: Any) -> tuple[Losses, DualSums]:
        """Compute in one pass the losses of these weights and the sums of this dual point."""
        point = dual if isinstance(dual, PartitionedDual) else ZERO
        plain, intercept = weights, 0.0
        if self.is_free:
            plain, intercept = weights.copy(), float(self.bias * weights[-1])
            plain[-1] = 0.0
        found = self.partitions.ask(Proof(plain, intercept, point.rule))
        terms, n_here = found.terms, 0
        if point.part is not None and point.alpha is not None:
            n_here = point.part.rows.n_rows
            terms = Terms.merge([terms, Terms.of(point.part, point.alpha)])
        if terms.n_left_out != n_here:
            raise PegasosError(
                f"{terms.n_left_out} rows are near the margin now, and {n_here} were when they were gathered: the "
                "partitions have changed since; read them from files that do not change."
            )
        room = lowered(terms.gain, length_of(terms.weights), self.lam * self.total)
        own = DualSums(terms.weights, *room, terms.gain.off, terms.gain.ridge)
        if self.is_free:
            own = self._for_any_intercept(own, terms, *found.farthest.tolist())
        return found.losses, own

    def _for_any_intercept(self, own: DualSums, terms: Terms, largest_offset: float, longest: float) -> DualSums:
        """The sums as a bound for every intercept that may be optimal (`certificate.sums_for_any_intercept`)."""
        reach = 1.0 + largest_offset + 1.5 * self.radius * longest
        excess = abs(terms.uneven) + 2.0**-50 * terms.spent
        return own._replace(gain=own.gain - excess * reach, slack=own.slack + 4.0 * unit * abs(own.gain))

    def certify(self, weights: Vector, dual: Any) -> Certificate:
        """The certificate of any weights with any dual point, in one pass."""
        with np.errstate(over="ignore", invalid="ignore"):
            losses, own = self.proof(weights, dual)
            plain = weights
            if self.is_free:
                plain, own = _without_last(weights), own._replace(weights=_without_last(own.weights))
            apart = inner(plain - own.weights, plain - own.weights)
            return certificate_of(self, losses, own, inner(own.weights, own.weights), apart)

    def dual_sums(self, alpha: Any) -> DualSums:
        """w(alpha), and the linear term of the dual."""
        return self.proof(np.zeros(self.weights_shape), alpha)[1]

    def losses(self, weights: Vector) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        return self.proof(weights, ZERO)[0]

    def square(self, weights: Vector) -> float:
        """|w|^2."""
        return inner(weights, weights)

    def of_sample(self, rows: SomeRows, n_rows: int) -> Problem:
        """The problem of a sample of this many rows on its own, with its part of the total."""
        part = self.part(rows)
        return replace(part, total=part.total * part.rows.n_rows / max(n_rows, 1))


def _without_last(weights: Vector) -> Vector:
    plain = weights.copy()
    plain[-1] = 0.0
    return plain
