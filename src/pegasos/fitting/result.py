"""The result of a fit: one frozen record, from which every attribute of an estimator is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate, combine
from pegasos.errors import PegasosError
from pegasos.fitting.settled import Asked, Intervals, Regions, intervals, settled
from pegasos.machines.base import Data, Model
from pegasos.machines.solving import worst_status
from pegasos.solution import Solution, Status, Trace
from pegasos.tasks.base import Members, Scores, numbers
from pegasos.tasks.terms import Terms

# Statuses that need no warning.
SATISFIED = (
    Status.CERTIFIED,
    Status.COMPLETED,
    Status.COUNTED,
    Status.REDUCED,
    Status.STOPPED,
    Status.PASSED,
)
_NO_ROWS = "No row had a weight above 0 so far; the model is the prior, or the zero vector."
_SLACK = 1.0 + 1e-9  # a little more than a bound, for the rounding of the bound itself


@dataclass(frozen=True)
class Origin:
    """Where weights that were trained elsewhere were read from: a file, or an estimator of another library."""

    words: str  # such as "a LIBLINEAR file (MCSVM_CS)"

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, eq=False)
class Proof:
    """What is proved about the weights, and the dual point that proves it."""

    status: Status
    certificate: Certificate
    trace: Trace
    alpha: Any  # in the form of the estimators: an array, one row per score, or a list of arrays; None if not stored
    n_epochs: int
    n_steps: int
    intercepts: npt.NDArray[np.float64]  # in addition to those in the weights, one per problem
    intercept_reach: npt.NDArray[np.float64]  # distance within which those of an exact solution lie
    support: npt.NDArray[np.intp] | None = None  # rows with alpha above 0

    @classmethod
    def of(cls, solutions: Sequence[Solution], trace: Trace, members: list[Members]) -> Proof:
        """From the solutions of all problems."""
        alphas: list[Any] = [solution.alpha.T for solution in solutions]
        is_shared = isinstance(members[0], slice)
        return cls(
            status=worst_status(solutions),
            certificate=combine([solution.certificate for solution in solutions]),
            trace=trace,
            alpha=alphas[0] if len(alphas) == 1 else np.stack(alphas) if is_shared else alphas,
            n_epochs=max(solution.n_epochs for solution in solutions),
            n_steps=sum(solution.n_steps for solution in solutions),
            intercepts=np.array([solution.intercept for solution in solutions]),
            intercept_reach=np.array([solution.intercept_reach for solution in solutions]),
            support=_support(solutions, members, is_shared=is_shared),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Store the status by name, so that formats without enums, such as skops, can keep a fit."""
        return {**vars(self), "status": self.status.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The status as an enum again."""
        self.__dict__.update(state, status=Status[state["status"]])

    @property
    def without_alpha(self) -> Proof:
        """The same without the dual point, which stayed with the rows."""
        return replace(self, alpha=None, support=None)


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model: what predicts, what its answers mean, what is proved, and where to continue.

    Attributes
    ----------
    model : Model
        Linear: ``coef`` and ``intercept``. Kernel: ``kernel``, ``support_vectors``, ``dual_coef`` and ``intercept``.
    task : Task
        What y means; for classification, ``classes``.
    terms : Terms or None
        lam, the total weight and the intercept of the problem; None where nothing was minimized yet.
    proof : Proof or None
        The certificate, why the fit ended, and the dual point; None for a model that was trained elsewhere.
    state : what a stream or a warm start continues from
    calibration : Calibration, Isotonic or None
        What turns scores into probabilities, where they were fitted.
    doubt : str or None
        Why the certificate proves nothing, for a kernel that is not positive semi-definite.
    origin : Origin or None
        Where the model was read from, if it was trained elsewhere.
    """

    model: Model
    task: Any
    terms: Terms | None = None
    proof: Proof | None = None
    state: Any = None
    calibration: Any = None
    doubt: bool = False
    origin: Origin | None = None

    @property
    def in_doubt(self) -> Fit:
        """The same for an indefinite kernel: a stationary point, about which nothing is proved."""
        proof = self.proof
        if proof is not None:
            proof = replace(proof, certificate=proof.certificate.without_proof)
        return replace(self, proof=proof, doubt=True)

    @property
    def status(self) -> Status | None:
        """Why the fit ended."""
        return None if self.proof is None else self.proof.status

    @property
    def certificate(self) -> Certificate | None:
        """What is proved."""
        return None if self.proof is None else self.proof.certificate

    @property
    def trace(self) -> Trace | None:
        """The reviews of the fit while it ran."""
        return None if self.proof is None else self.proof.trace

    @property
    def is_satisfied(self) -> bool:
        """Whether the fit achieved what was requested."""
        return self.status in SATISFIED

    @property
    def alphas(self) -> list[Any]:
        """The dual points, one per problem; an empty list where they stayed with the rows."""
        found = None if self.proof is None else self.proof.alpha
        if found is None:
            return []
        if isinstance(found, list):
            return found
        return [found.T] if self.task.n_vectors > 1 else list(np.atleast_2d(found))

    @property
    def margins(self) -> npt.NDArray[np.float64]:
        """The geometric margin of the rows of the fit, for each problem."""
        assert self.proof is not None
        assert self.terms is not None
        least = np.array([part.least_margin for part in self.proof.certificate.parts])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(least / self.model.lengths(self.proof.certificate, self.terms.bias))

    @property
    def message(self) -> str:
        """Why the fit ended and what is proved, in words."""
        if self.origin is not None:
            return f"The model was read from {self.origin}; certify(X, y) says how good it is for rows X and labels y."
        if self.proof is None or self.terms is None:
            return _NO_ROWS
        status = self.proof.status
        if self.doubt:
            reason = "" if self.is_satisfied else f" {status.value}"
            return f"The kernel is not positive semi-definite: the certificate proves nothing.{reason}"
        told = f"{status.value} {str(self.proof.certificate).capitalize()}."
        if self.terms.is_hard and status is not Status.INSEPARABLE:
            told += f" The geometric margin is {np.min(self.margins):.6g}."
        return told

    @property
    def lam(self) -> Any:
        """The lam of the problem that was solved; for pairs of classes, one per pair."""
        assert self.terms is not None
        found = getattr(self.task, "lams_found", None)
        if found is not None:
            return found[0] if len(found) == 1 else np.array(found)
        has_own = hasattr(self.task, "lams") and self.task.n_problems > 1
        return self.task.lams(self.terms) if has_own else self.terms.lam

    def scores(self, data: Data, threads: int = 1) -> Scores:
        """The scores of all problems, one column each."""
        return self.model.scores(data, self.task.settled, threads)

    def settled(self, data: Data, regions: Regions | None = None) -> npt.NDArray[np.bool_]:
        """For each row: whether no exact solution of the training problem has another answer.

        Without regions, the ball of the certificate decides.
        """
        return settled(self.task, self.asked(data), regions)

    def intervals(self, data: Data, regions: Regions | None = None) -> Intervals:
        """Bounds of the scores of every exact solution."""
        return intervals(self.asked(data), regions)

    def asked(self, data: Data) -> Asked:
        """Rows with their scores, and how far these may move within the ball of the certificate."""
        if self.origin is not None:
            raise PegasosError(f"the model was read from {self.origin} and has no certificate of its own; fit one.")
        assert self.proof is not None
        assert self.terms is not None
        if self.doubt:  # there is no exact solution: any score may belong to a better point
            scores = self.scores(data)
            return Asked(None, scores, np.full(scores.shape, np.inf), np.zeros(scores.shape))
        scores, lengths, rounding, rows = self.model.measured(data, self.terms.bias, self.task.settled)
        radii = np.array([part.weight_radius for part in self.proof.certificate.parts])
        reach = lengths[:, None] * (radii * _SLACK + rounding) + _SLACK * self.proof.intercept_reach
        off = lengths[:, None] * np.broadcast_to(rounding, scores.shape[1])
        return Asked(rows, scores, np.broadcast_to(reach, scores.shape), off)


def _support(solutions: Sequence[Solution], members: list[Members], *, is_shared: bool) -> npt.NDArray[np.intp]:
    """Rows with alpha above 0 in any problem."""
    if is_shared:  # avoids sorting row numbers: there may be many, and little memory
        is_support = _any_vector(solutions[0].alpha > 0.0)
        for solution in solutions[1:]:
            is_support = is_support | _any_vector(solution.alpha > 0.0)
        return is_support.nonzero()[0]
    each = [(numbers(mine, len(one.alpha)), one.alpha) for mine, one in zip(members, solutions, strict=True)]
    is_support = np.zeros(1 + max(int(rows.max(initial=-1)) for rows, _ in each), bool)
    for rows, alpha in each:
        is_support[rows[_any_vector(alpha > 0.0)]] = True
    return np.flatnonzero(is_support)


def _any_vector(is_above: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    return is_above if is_above.ndim == 1 else np.asarray(is_above.any(axis=1))
