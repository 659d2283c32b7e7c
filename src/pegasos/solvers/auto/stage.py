"""What the stages of `Auto` share: their state, what may follow them, and the methods that `Auto` calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pegasos.problem import Floats, Problem
from pegasos.solvers.driver import Review
from pegasos.solvers.dual_ascent import Climbing
from pegasos.solvers.interior_point import InteriorState
from pegasos.solvers.newton import NewtonState
from pegasos.solvers.pegasos import PegasosState

AT_BOUND = 1e-3  # fraction of the cost: a dual variable this close to a bound counts as on it
WARM_WIDTH = 0.03  # assumed error of the residuals when an interior point starts from a dual point


@dataclass
class AutoState:
    """States of the solvers in use: Pegasos until dual ascent wins, dual ascent, Newton or an interior point."""

    seed: int
    pegasos: PegasosState | None = None
    dual: Climbing | None = None
    newton: NewtonState | None = None
    interior: InteriorState | None = None
    visits_before: int = 0  # visits by solvers other than the current one
    steps_before: int = 0
    gap: float = np.inf  # relative gap of the last Pegasos certificate
    dual_before: float = 0.0  # lower bound at the start of the trial of dual ascent
    next_choice: int = 1  # epoch after which the choice of Pegasos is reconsidered
    gaps: list[float] = field(default_factory=list)  # estimates at the epochs of this stretch of dual ascent
    fixed: Floats | None = None  # dual point of the rows outside the interior point
    target: float = 0.0  # relative gap that the interior point aims at
    spent: float = 0.0  # estimated nanoseconds used so far by interior points on some of the rows
    refused: float = 0.0  # nanoseconds of an interior point that is put off until dual ascent has had as many
    is_due: bool = False  # whether the sweeps of dual ascent have ended early, because their gap seems small enough
    faces: int = 0  # number of moves by conjugate gradients
    face_visits: int = 0  # visits that they counted as
    face_work: float = 0.0  # estimated nanoseconds that they took
    best: Review | None = None  # kept because some solvers pass through points worse than their first one
    best_visits: int = 0  # number of visits when `best` was found
    is_polishing: bool = False  # dual ascent runs last because the weights must be those of the dual point
    is_exhausted: bool = False  # whether an interior point on all rows has ended


@dataclass(frozen=True)
class Inside:
    """An interior point on the chosen rows follows; the others keep these dual variables."""

    chosen: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float64]
    alpha: Floats
    width: float | None = None  # error of the residuals of these weights; None if nothing is known of it


@dataclass(frozen=True)
class Ascent:
    """Dual ascent in double follows, from this dual point."""

    alpha: Floats
    refused: float = 0.0  # nanoseconds of the interior point that it replaces until it has had as many
    is_last: bool = False  # whether nothing else may follow, because the weights must be those of the dual point


Next = Inside | Ascent


class Stage(Protocol):
    """One of the solvers, with its part of the state; the methods are those of `Solver` where the names are."""

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, by this solver and those before it."""

    def visits(self, state: AutoState) -> int:
        """Rows visited so far, by this solver and those before it."""

    def advance(self, problem: Problem, state: AutoState, visits: int) -> Next | None:
        """Advance to this number of visits or the next decision; return what follows the stage, if it ends."""

    def is_ready(self, state: AutoState) -> bool:
        """Whether the point should be reviewed before the solver continues."""

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """Return the number of visits at which the driver looks next."""

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """Whether a review is worth its cost."""

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> tuple[Review, Next | None]:
        """Certify the point reached; return also what follows the stage, if it ends."""

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """Certify the point reached, when the run does not continue."""

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point."""


def all_rows(problem: Problem) -> npt.NDArray[np.uint32]:
    """Rows with a positive cost."""
    return np.flatnonzero(problem.cost > 0.0).astype(np.uint32)
