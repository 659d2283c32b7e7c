"""The result of a solver: weights, dual point, status, trace, certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate
from pegasos.problem import Floats


class Status(Enum):
    """Why a fit ended; the values are messages that a user can act on."""

    # Ordered by how much is missing: for several problems, the last one is reported.
    CERTIFIED = "The duality gap reached tol: the result is proved."
    COMPLETED = "All max_iter epochs were run, as asked by tol=None."
    COUNTED = "All max_steps steps were taken, as asked by tol=None."
    PASSED = "One pass was made over the block; the certificate covers this block alone."
    REDUCED = (
        "Support vectors beyond max_support were dropped, and the certificate says what that left: raise max_support "
        "for a smaller gap."
    )
    ROUNDING = (
        "The gap cannot fall further in the arithmetic of the machine; the result is as good as rounding allows: "
        "raise tol, or scale the features."
    )
    STOPPED = "A callback asked to stop; the model is the last one reached."
    EPOCHS = "max_iter epochs ended before the gap reached tol; raise max_iter, raise tol, or scale the features."
    STEPS = "max_steps steps ended before the gap reached tol; raise max_steps, raise tol, or give tol=None."
    TIME = "time_budget ended before the gap reached tol; give more time, raise tol, or scale the features."
    INSEPARABLE = (
        "No margin is above 1e-5 of the longest row, as the dual proves: the classes cannot be separated by more, as "
        "C=inf asks for. The model is the last one reached; give a finite C, or scale the features."
    )
    INTERRUPTED = "The fit was interrupted; the model is the last one reached."
    OVERFLOW = "The numbers left the range of the machine; the model is the zero vector. Scale the features to about 1."


class TraceRow(NamedTuple):
    """One review of a running fit."""

    step: int
    epoch: float
    seconds: float
    primal: float
    dual: float
    gap: float

    def after(self, other: TraceRow) -> TraceRow:
        """The same review, offset by the progress of an earlier fit."""
        step, epoch, seconds = self.step + other.step, self.epoch + other.epoch, self.seconds + other.seconds
        return self._replace(step=step, epoch=epoch, seconds=seconds)


@dataclass(repr=False)
class Trace:
    """The reviews of a running fit, as columns: step, epoch, seconds, primal, dual, gap.

    Examples
    --------
    >>> from pegasos.solution import Trace, TraceRow
    >>> trace = Trace([TraceRow(100, 1.0, 0.1, 0.5, 0.25, 0.25)])
    >>> dict(trace)["gap"]
    array([0.25])
    >>> trace
    Trace(1 rows, epoch 1, gap 0.25 -> 0.25)
    """

    rows: list[TraceRow] = field(default_factory=list)
    of_problems: tuple[Trace, ...] = field(default=(), repr=False)

    @property
    def parts(self) -> tuple[Trace, ...]:
        """The trace of each binary problem."""
        return self.of_problems or (self,)

    def followed_by(self, other: Trace) -> Trace:
        """Append a trace that continues from the end of this one, and those of its problems."""
        last, problems = self.rows[-1], zip(self.of_problems, other.of_problems, strict=True)
        rows = self.rows + [row.after(last) for row in other.rows]
        return Trace(rows, tuple(one.followed_by(more) for one, more in problems))

    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        return TraceRow._fields

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        kind = np.int64 if column == "step" else np.float64
        return np.array([getattr(row, column) for row in self.rows], dtype=kind)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return "Trace(no rows)"
        first, last = self.rows[0], self.rows[-1]
        return f"Trace({len(self)} rows, epoch {last.epoch:g}, gap {first.gap:.2g} -> {last.gap:.2g})"


@dataclass(frozen=True)
class Solution:
    """The result of a run on one problem.

    Attributes
    ----------
    weights, alpha : array
        The returned weights, with that of the constant column last, and the dual point.
    status : Status
    certificate : Certificate
    trace : Trace
    n_epochs, n_steps : int
    state : object
        The state of the solver, from which a run can be resumed.
    intercept : float, default=0.0
        An unregularized intercept.
    intercept_reach : float, default=0.0
        How far the exact intercept may be from it.
    """

    weights: npt.NDArray[np.float64]
    alpha: Floats
    status: Status
    certificate: Certificate
    trace: Trace
    n_epochs: int
    n_steps: int
    state: Any
    intercept: float = 0.0  # in addition to the one that the weights contain
    intercept_reach: float = 0.0  # distance within which that of an exact solution lies

    def followed_by(self, other: Solution) -> Solution:
        """The solution of a run that continued from the end of this one; this one where that proved less.

        A run that ends before it could certify anything has the zero vector to offer.
        """
        if self.certificate.relative_gap < other.certificate.relative_gap:
            return replace(self, status=other.status)
        return replace(
            other,
            trace=self.trace.followed_by(other.trace),
            n_epochs=self.n_epochs + other.n_epochs,
            n_steps=self.n_steps + other.n_steps,
        )
