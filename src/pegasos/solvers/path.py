"""The regularization path: one problem per lam, each started where the previous one ended.

    max_alpha  (1/total) sum_i alpha_i (1 - sign_i offset_i) - lam/2 |w(alpha)|^2,   0 <= alpha_i <= cap cost_i

The bounds on the dual variables do not depend on lam: a dual point for one lam is feasible for every lam, and its
weights are only rescaled. From one lam to the next most rows keep their place: at 0, well outside the margin, or at
their cost, well inside. So one pass of scores shows which rows may move, and the sweeps cover only those, until a
certificate, which examines all rows, shows others. The path of alpha is piecewise linear in lam (Hastie, Rosset,
Tibshirani, Zhu: The entire regularization path for the support vector machine. JMLR 5, 2004), but extrapolating the
line through two solutions gained nothing: for dual points certified only to a gap, the line is mostly noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats, Losses, Problem
from pegasos.solution import Solution, Status
from pegasos.solvers.auto import Auto, AutoState
from pegasos.solvers.driver import Review, Stop, Watcher, run_from
from pegasos.solvers.dual_ascent import DualAscent, DualState

_FIRM = 0.1  # least distance from the margin at which a row at its bound is skipped


@dataclass(frozen=True, eq=False)
class ScoredProblem(Problem):
    """A problem that keeps the scores of the weights it last evaluated: the next lam starts there."""

    kept: list[npt.NDArray[np.float64]] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem, lam: float) -> ScoredProblem:
        """The same problem with another lam."""
        columns = problem.sign, problem.cost, problem.offset
        return cls(problem.rows, *columns, lam, problem.total, problem.carried, problem.cap, problem.ridge)

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        scores = self.rows.scores_of(weights)
        self.kept[:] = [scores]
        margins = self.sign * (scores + self.offset)
        least = float(np.min(margins, where=self.cost > 0.0, initial=np.inf))
        return self.rows.with_room(self, weights, float(np.sum(self.cost * self.loss.value(1.0 - margins))), least)


@dataclass(frozen=True)
class NearbyAscent(DualAscent):
    """Dual ascent from a nearly correct point: it sweeps only over the rows that may move."""

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> DualState:
        """Start at a dual point of these rows, and select the rows that may move from there."""
        state: DualState = super().enter(problem, alpha, seed)
        self._recall(problem, state, problem.rows.scores_of(state.weights.astype(np.float64)))
        return state

    def carry_over(self, state: DualState, before: ScoredProblem, problem: ScoredProblem, seed: int) -> DualState:
        """Take over the dual point of another lam with its rescaled weights, without a pass over the rows."""
        factor = before.lam / problem.lam
        alpha_sum = state.counters.alpha_sum
        carried = replace(
            state,
            counters=_core.DualCounters(),
            rests=_core.Rests(),
            levels=np.zeros_like(state.levels),
            weights=state.weights * factor,
            alpha=state.alpha.copy(),  # the solution of the other lam keeps its own array
            target=np.inf,
        )
        carried.counters.random, carried.counters.alpha_sum = seed, alpha_sum
        self._recall(problem, carried, before.kept[0] * factor)
        return carried

    def review(self, problem: Problem, state: Any, tol: float | None) -> Review:
        """Certify the point; while the gap is open, select the rows that may move again."""
        review = super().review(problem, state, tol)
        if tol is not None and not review.certificate.relative_gap <= tol:
            assert isinstance(problem, ScoredProblem)
            self._recall(problem, state, problem.kept[0])
        return review

    def _recall(self, problem: Problem, state: DualState, scores: npt.NDArray[np.float64]) -> None:
        r = 1.0 - problem.sign * (scores + problem.offset) - problem.damping * state.alpha
        stays = (state.alpha <= 0.0) & (r < -_FIRM)
        stays |= (state.alpha >= problem.bound.astype(state.alpha.dtype)) & (r > _FIRM)
        _core.recall_rows(state.counters, state.order, np.flatnonzero(~stays).astype(np.uint32), state.rests)


def largest_lam(problem: Problem) -> float:
    """The smallest lam from which on every row violates, alpha_i = cost_i, and only the length of the weights changes.

    With v = (1/total) sum_i cost_i sign_i x_i that solution has the weights v / lam, and is one as long as
    sign_i <v, x_i> / lam <= 1 for every row that costs anything. 0 where v is 0: then the weights are 0 for every lam.
    Where the loss is curved, or rows have offsets (the targets of a regression), the slopes of the zero vector stand in
    for those of the solution: a lam at which no score is larger than 1, and from which on little changes.
    """
    residuals = 1.0 - problem.sign * problem.offset
    weights, _ = problem.dual_weights(np.ascontiguousarray(problem.cost * problem.loss.slope(residuals)))
    with np.errstate(over="ignore", invalid="ignore"):
        margins = problem.lam * problem.sign * problem.rows.scores_of(weights)
    return float(np.max(margins, where=problem.cost > 0.0, initial=0.0))


def follow(
    problem: Problem, solver: Any, lams: Sequence[float], stop: Stop, *, seed: int, watcher: Watcher | None = None
) -> Iterator[Solution]:
    """Solve for each lam in the order given, which should be decreasing; each state is passed on to the next lam.

    An interrupt ends the path with an exception, because part of a path is not a result. A solver other than `Auto`, of
    a free intercept, starts from the last dual point.
    """
    if not isinstance(solver, Auto):
        yield from _follow_entering(problem, solver, lams, stop, {"seed": seed, "watcher": watcher})
        return
    here, last = ScoredProblem.of(problem, lams[0]), None
    # For large lam the solution is known: all rows are at their costs.
    is_known = problem.ridge == 0.0 and problem.largest_offset == 0.0 and lams[0] >= largest_lam(problem)
    state = solver.enter(here, problem.bound, seed) if is_known else None
    for lam in lams:
        if last is not None:
            before, here = here, ScoredProblem.of(problem, lam)
            state = _carried(solver, last, before, here, seed)
        doubtful = Status.ROUNDING, Status.EPOCHS
        last = run_from(here, solver, stop, state=state, seed=seed, watcher=watcher, doubtful=doubtful)
        if last.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        yield replace(last, state=None)


def _follow_entering(
    problem: Problem, solver: Any, lams: Sequence[float], stop: Stop, settings: dict[str, Any]
) -> Iterator[Solution]:
    last: Solution | None = None
    for lam in lams:
        here = replace(problem, lam=lam)
        state = None if last is None else solver.enter(here, last.alpha, settings["seed"])
        last = run_from(here, solver, stop, state=state, **settings)
        if last.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        last = replace(last, state=None)
        yield last


def _carried(solver: Auto, last: Solution, before: ScoredProblem, problem: ScoredProblem, seed: int) -> AutoState:
    """Return the state in which the next lam starts: the last dual point if dual ascent was not used."""
    ended: AutoState | None = last.state
    if ended is None or ended.dual is None or ended.pegasos is not None:
        return solver.enter(problem, last.alpha, seed)
    assert isinstance(solver.ascent, NearbyAscent)
    assert isinstance(ended.dual, DualState)
    return AutoState(seed, dual=solver.ascent.carry_over(ended.dual, before, problem, seed))
