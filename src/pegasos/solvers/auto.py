"""Each solver where it is fastest: Pegasos, dual ascent, Newton's method, an interior point.

The first epoch of Pegasos leaves a relative gap of about |x|^2 / (lam total) (measured on six data sets); where that is
enough, nothing is faster. Afterwards it brings its gap from epoch e to e + 1 down by the factor e/(e + 1), whatever the
data; dual ascent raises its lower bound by an amount that one epoch shows, and goes on only if that is more. Where
lam is smaller, dual ascent is the faster one from the first row on, but its epochs grow with |x|^2 / (lam total)
(measured on ten data sets), fewer where one sign is rare, so that few rows come near the margin: where Newton's method
needs less work than that, it is taken. And where dual ascent would need more work than an interior point, that takes
the rows to their place, and dual ascent looks at all of them again. All choices follow counts of work, never the clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pegasos.certificate import better_within_bounds, certify, stretched
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.driver import Review
from pegasos.solvers.dual_ascent import Climbing, DualAscent, first_gap
from pegasos.solvers.interior_point import InteriorPoint, InteriorState
from pegasos.solvers.newton import Newton, NewtonState
from pegasos.solvers.pegasos import Pegasos, PegasosState

_first_gap_worth_having = 0.01  # when there is none to reach
_patience = 100  # epochs of dual ascent after which a cheap interior point is always worth it
_cheap = 1e9  # multiply-adds
_least_newton = 1e-5  # relative gap that Newton's method is good for
_near = float(1 << 24)  # values that are quickly at hand
_newton_margin = 0.8  # of the gap asked for is what it should reach by its own account


@dataclass
class AutoState:
    """The states at work: Pegasos until dual ascent has won, dual ascent, an interior point within it, or Newton's."""

    seed: int
    pegasos: PegasosState | None = None
    dual: Climbing | None = None
    interior: InteriorState | None = None
    newton: NewtonState | None = None
    visits_before: int = 0  # by others than the dual state
    steps_before: int = 0
    gap: float = np.inf  # of the last certificate of Pegasos
    dual_before: float = 0.0  # the lower bound with which dual ascent was put on trial
    next_choice: int = 1  # the epoch after which to think again about Pegasos
    fresh_weights: npt.NDArray[np.float64] | None = None  # of an interior point that has just ended
    gaps: list[float] = field(default_factory=list)  # estimates at the epochs of this stretch of dual ascent


@dataclass(frozen=True)
class Auto:
    """The solvers it chooses from, and the relative gap to reach."""

    pegasos: Pegasos
    ascent: DualAscent
    tol: float | None = 1e-3
    interior: InteriorPoint = field(default_factory=InteriorPoint)

    def start(self, problem: Problem, seed: int) -> AutoState:
        """Pegasos, where its first epoch is expected to reach the gap: it leaves about |x|^2 / (lam total)."""
        gap = first_gap(problem)
        if gap <= (_first_gap_worth_having if self.tol is None else self.tol):
            return AutoState(seed, pegasos=self.pegasos.start(problem, seed))
        if self._is_for_newton(problem, gap):
            return AutoState(seed, newton=self._newton.start(problem))
        return AutoState(seed, dual=self.ascent.start(problem, seed))

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> AutoState:
        """A dual point of these rows: dual ascent takes it further."""
        return AutoState(seed, dual=self.ascent.enter(problem, alpha, seed))

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, of all solvers."""
        if state.newton is not None:
            return state.newton.visits  # a step of its own is worth as many of the others
        if state.dual is not None:
            return state.steps_before + self.ascent.steps(state.dual)
        assert state.pegasos is not None
        return self.pegasos.steps(state.pegasos)

    def visits(self, state: AutoState) -> int:
        """Rows visited so far, by all solvers."""
        if state.newton is not None:
            return state.newton.visits
        if state.dual is not None:
            return state.visits_before + self.ascent.visits(state.dual)
        assert state.pegasos is not None
        return self.pegasos.visits(state.pegasos)

    def advance_to(self, problem: Problem, state: AutoState, visits: int) -> None:
        """Go on with the solver of the hour; choices are made at the ends of epochs."""
        n = problem.rows.n_rows
        while (done := self.visits(state)) < visits:
            if state.newton is not None:
                self._newton_step(problem, state, state.newton)
            elif state.interior is not None:
                self._step_inside(problem, state, state.interior)
            elif state.pegasos is not None:
                if done >= state.next_choice * n:
                    self._choose(problem, state, state.pegasos)
                    if self.visits(state) < done:  # a trial in vain does not count: the caller cuts its chunk anew
                        return
                self._advance_one(problem, state, min(visits, max(done + 1, state.next_choice * n)))
            else:
                end_of_epoch = n * (done // n + 1)
                self._advance_one(problem, state, min(visits, end_of_epoch))
                if self.visits(state) >= end_of_epoch:
                    self._consider_interior(problem, state)

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """As the solver at work sees it; while dual ascent is on trial or an interior point at work, whole epochs."""
        n = problem.rows.n_rows
        if state.newton is not None:
            return state.newton.visits + 1
        end_of_epoch = (self.visits(state) // n + 1) * n
        if state.dual is None or state.pegasos is not None or state.interior is not None:
            return end_of_epoch
        return min(end_of_epoch, state.visits_before + self.ascent.next_look(problem, state.dual))

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """As the solver at work sees it."""
        if state.newton is not None:
            assert self.tol is not None
            return state.newton.stride == 1 and state.newton.gap <= self._newton_goal(state.newton)
        if state.interior is not None:
            return False
        if state.dual is not None:
            return state.fresh_weights is not None or self.ascent.review_due(problem, state.dual, epoch, tol)
        assert state.pegasos is not None
        return self.pegasos.review_due(problem, state.pegasos, epoch, tol)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> Review:
        """The certificate of the point reached."""
        if state.newton is not None:
            return self._review_newton(problem, state.newton, tol)
        if state.interior is not None:
            self._leave_interior(problem, state, state.interior)
        if state.dual is not None:
            return self._better_weights(problem, state, self.ascent.review(problem, state.dual, tol))
        assert state.pegasos is not None
        review = self.pegasos.review(problem, state.pegasos, tol)
        state.gap = review.certificate.gap
        return review

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """The weights and the dual point of the solver at work."""
        if state.newton is not None:
            return state.newton.weights, self._newton.alpha_of_all(problem, state.newton)
        if state.dual is not None:
            return self.ascent.point(problem, state.dual)
        assert state.pegasos is not None
        return self.pegasos.point(problem, state.pegasos)

    @property
    def _newton(self) -> Newton:
        return Newton(self.ascent.dtype)

    def _is_for_newton(self, problem: Problem, gap: float) -> bool:
        """Whether Newton's method is going to need less work than dual ascent; the same for any number of threads."""
        if self.tol is None or self.tol < _least_newton or not gap > 0.0:
            return False
        positive = float(np.mean(problem.sign > 0))
        rarity = min(1.0, 0.3 + 2.0 * min(positive, 1.0 - positive))
        epochs = rarity * (4.0 + 3.0 * gap) * max(1.0, -math.log10(self.tol)) / 3.0
        assert isinstance(problem.rows, Rows)
        stored = problem.rows.n_stored
        # Rows here and there in more memory than caches hold take longer to come.
        visit = 30.0 + 0.5 * stored / problem.rows.n_rows + 20.0 * max(0.0, math.log2(stored / _near))
        return Newton.price(problem) < epochs * problem.rows.n_rows * visit

    def _newton_goal(self, newton: NewtonState) -> float:
        """The gap at which Newton's method asks for a certificate: less after each in vain."""
        assert self.tol is not None
        return self.tol * _newton_margin * 0.5**newton.reviews

    def _newton_step(self, problem: Problem, state: AutoState, newton: NewtonState) -> None:
        """A step; where it leads nowhere, dual ascent goes on from its dual point."""
        self._newton.step(problem, newton, self._newton_goal(newton))
        if newton.stalled:
            self._newton.look_at_all(problem, newton)
            alpha = stretched(problem, newton.alpha)
            state.dual = self.ascent.enter(problem, alpha, state.seed)
            state.visits_before, state.steps_before, state.newton = newton.visits, newton.visits, None

    def _review_newton(self, problem: Problem, newton: NewtonState, tol: float | None) -> Review:
        """Its weights, and its dual point scaled to the best bound that it gives, where that is not reached yet."""
        self._newton.look_at_all(problem, newton)
        newton.reviews += 1
        certificate = certify(problem, newton.weights, newton.alpha)
        if tol is not None and certificate.relative_gap <= tol:
            return Review(certificate, newton.weights, newton.alpha)
        alpha = stretched(problem, newton.alpha)
        return Review(certify(problem, newton.weights, alpha), newton.weights, alpha)

    def _better_weights(self, problem: Problem, state: AutoState, review: Review) -> Review:
        """The interior point's own weights, where summing the dual point up would lose too many digits."""
        weights, state.fresh_weights = state.fresh_weights, None
        if weights is None:
            return review
        certificate = certify(problem, weights, review.alpha)
        return Review(certificate, weights, review.alpha) if certificate.gap < review.certificate.gap else review

    def _advance_one(self, problem: Problem, state: AutoState, visits: int) -> None:
        if state.dual is not None:
            self.ascent.advance_to(problem, state.dual, visits - state.visits_before)
        elif state.pegasos is not None:
            self.pegasos.advance_to(problem, state.pegasos, visits)

    def _choose(self, problem: Problem, state: AutoState, pegasos: PegasosState) -> None:
        """Put dual ascent on trial for an epoch, or judge it."""
        epochs = self.pegasos.visits(pegasos) / problem.rows.n_rows
        if state.dual is None:
            _, alpha = self.pegasos.point(problem, pegasos)
            trial = self.ascent.enter(problem, better_within_bounds(problem, alpha), state.seed)
            state.dual_before = self.ascent.dual(problem, trial)
            state.visits_before = self.pegasos.visits(pegasos)
            state.steps_before = self.pegasos.steps(pegasos)
            state.next_choice += 1
            state.dual = trial
        elif self.ascent.dual(problem, state.dual) - state.dual_before >= state.gap / (epochs + 1.0):
            state.pegasos = None
        else:
            state.next_choice = 2 * round(epochs)
            state.dual = None

    def _consider_interior(self, problem: Problem, state: AutoState) -> None:
        """Change over when that is less work than what dual ascent is going to need."""
        assert state.dual is not None
        estimate = self.ascent.estimate(problem, state.dual)
        if self.tol is None or not estimate > self.tol:
            return
        state.gaps.append(estimate)
        all_rows, price = self._price(problem, state.dual)
        if len(state.gaps) >= _patience and price < _cheap:
            worth = True
        else:
            done = len(state.gaps) * _work_of_an_epoch(problem)
            to_go = _epochs_to_go(state.gaps, self.tol) * _work_of_an_epoch(problem)
            worth = done > 0.5 * price and to_go > 2.0 * price  # shrinking makes the rest shorter than it looks
        if worth:
            chosen = self.ascent.rows(problem, state.dual, all_rows=all_rows)
            weights, alpha = self.ascent.point(problem, state.dual)
            state.interior = self.interior.enter(problem, alpha, weights, chosen)
            state.gaps.clear()

    def _price(self, problem: Problem, dual: Climbing) -> tuple[bool, float]:
        """Whether to take all rows, where that is cheap: shrinking may err; and the price of an interior point."""
        price_of_all = self.interior.price(problem.rows.n_rows, problem.rows.n_features)
        price = self.interior.price(dual.n_left or problem.rows.n_rows, problem.rows.n_features)
        all_rows = price_of_all < max(_cheap, 2.0 * price)
        return all_rows, price_of_all if all_rows else price

    def _step_inside(self, problem: Problem, state: AutoState, interior: InteriorState) -> None:
        assert state.dual is not None
        assert self.tol is not None
        self.interior.step(problem, interior)
        state.visits_before += len(interior.alpha)
        state.steps_before += 1
        gap = self.interior.gap(problem, interior)
        lower = self.ascent.dual(problem, state.dual)
        if interior.stalled or gap <= max(0.2 * self.tol, 1e-10) * (lower + gap):
            self._leave_interior(problem, state, interior)
            # Its iterations count as whole epochs, so that its point is looked at before dual ascent moves on.
            state.visits_before += -self.visits(state) % problem.rows.n_rows

    def _leave_interior(self, problem: Problem, state: AutoState, interior: InteriorState) -> None:
        """Dual ascent goes on from the interior point's place, if that is better than its own."""
        assert state.dual is not None
        alpha = state.dual.alpha.copy()
        alpha[interior.chosen] = interior.alpha
        moved = self.ascent.enter(problem, alpha, state.dual.random)
        if self.ascent.dual(problem, moved) > self.ascent.dual(problem, state.dual):
            state.visits_before += self.ascent.visits(state.dual)
            state.steps_before += self.ascent.steps(state.dual)
            state.dual = moved
        state.interior = None
        state.fresh_weights = interior.others + interior.weights


def _work_of_an_epoch(problem: Problem) -> float:
    """In multiply-adds, of dual ascent; a visit has a price of its own."""
    assert isinstance(problem.rows, Rows)
    return 2.0 * problem.rows.n_stored + 50.0 * problem.rows.n_rows


def _epochs_to_go(gaps: list[float], tol: float) -> float:
    """How many more epochs at the rate of the second half of those behind."""
    half = len(gaps) // 2
    if not gaps[half] > gaps[-1] > 0.0 or not tol > 0.0:
        return math.inf
    return (len(gaps) - 1 - half) * math.log(gaps[-1] / tol) / math.log(gaps[half] / gaps[-1])
