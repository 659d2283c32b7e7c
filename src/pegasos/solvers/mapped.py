"""A kernel with an explicit feature map, trained by a linear solver on the features.

The problem, its dual and so its certificate are the same, whether scores come from K or from features with
K = F F'; only the price differs. The weights returned are the coefficients of the rows, as for every kernel machine,
and the certificate is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pegasos.certificate import certify_dual
from pegasos.joint_problem import JointProblem
from pegasos.problem import Floats, Problem
from pegasos.solvers.auto import Auto, AutoState
from pegasos.solvers.auto.stage import Ascent
from pegasos.solvers.crammer_singer import JointAuto
from pegasos.solvers.driver import Review
from pegasos.solvers.free_intercept import FreeIntercept, FreeState
from pegasos.solvers.joint_interior import JointInterior


@dataclass(frozen=True)
class Mapped(Auto):
    """The linear solvers, with coefficients as weights."""

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> Review:
        """The certificate of the dual point alone."""
        found = super().review(problem, state, tol)
        alpha = found.alpha
        certificate, _ = certify_dual(problem, alpha)
        if tol is not None and found.certificate.relative_gap <= tol < certificate.relative_gap:
            # Its weights were better than those of its dual point.
            self.hand_over(problem, state, Ascent(alpha, is_last=True))
            state.best = None
        return Review(certificate, _coefficients(problem, alpha), alpha)

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """The better of the dual point reached and the best one so far."""
        alphas = [self.point(problem, state)[1]] + ([] if state.best is None else [state.best.alpha])
        reviews = [Review(certify_dual(problem, a)[0], _coefficients(problem, a), a) for a in alphas]
        return min(reviews, key=lambda review: review.certificate.relative_gap)

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """The coefficients and the dual point."""
        _, alpha = super().point(problem, state)
        return _coefficients(problem, alpha), alpha


@dataclass(frozen=True)
class JointMapped(Mapped, JointAuto):
    """The same for the problem of all classes at once."""

    interior: Any = field(default_factory=JointInterior)
    interior_margin: float = JointAuto.interior_margin


@dataclass(frozen=True)
class FreeMapped(FreeIntercept):
    """The same with a free intercept."""

    _has_weights: ClassVar[bool] = False

    def review(self, problem: Problem, state: FreeState, tol: float | None) -> Review:
        """The certificate of the dual point, with its coefficients."""
        review = super().review(problem, state, tol)
        return review._replace(weights=_coefficients(problem, review.alpha))

    def last_review(self, problem: Problem, state: FreeState) -> Review:
        """The certificate of the best dual point so far, with its coefficients."""
        review = super().last_review(problem, state)
        return review._replace(weights=_coefficients(problem, review.alpha))

    def point(self, problem: Problem, state: FreeState) -> tuple[npt.NDArray[np.float64], Floats]:
        """The coefficients and the dual point."""
        _, alpha = super().point(problem, state)
        return _coefficients(problem, alpha), alpha


def _coefficients(problem: Problem | JointProblem, alpha: Floats) -> npt.NDArray[np.float64]:
    if isinstance(problem, JointProblem):
        return problem.coefficients(problem.within_bounds(alpha.astype(np.float64)))
    feasible = np.minimum(np.maximum(alpha.astype(np.float64), 0.0), problem.bound)
    return np.asarray(problem.sign * feasible / (problem.lam * problem.total))
