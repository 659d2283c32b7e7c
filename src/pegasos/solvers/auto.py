"""Choose a solver by estimated work: Pegasos, dual ascent, Newton's method, an interior point or conjugate gradients.

The first epoch of Pegasos leaves a relative gap of about |x|^2 / (lam total) (measured on six data sets); where that
is enough, nothing is faster. Afterwards, epoch e + 1 multiplies its gap by e/(e + 1), whatever the data. Dual ascent
raises its lower bound by an amount that one trial epoch shows, and it takes over only if that is more. For smaller lam,
dual ascent is faster from the first row on, but the number of its epochs grows with |x|^2 / (lam total) (measured on
ten data sets); it needs fewer where one sign is rare, because few rows then come near the margin. Newton's method on a
smoothed problem, or an interior point on all rows, starts instead where it is expected to need less work.

The last digits are computed on the rows that matter. Newton's method hands its rows near the margin to the interior
point, and so does dual ascent when its rate of progress shows that it would need more work. The rows left out are
fixed at their bounds; the certificate checks them again and adds them where they turn out to be wrong. Where both
matrices of the interior point would be too large, dual ascent alternates with conjugate gradients over the rows between
their bounds. All choices follow estimates of work, never the clock, with one exception: where a time budget is too
short for the first step of a second-order method, dual ascent starts, because it has a usable point at any time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import Certificate, better_within_bounds, certify, certify_dual, dual_point, stretched
from pegasos.deadline import time_left
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.dual_ascent import Climbing, DualAscent, end_of_epochs, epochs_per_look, first_gap, is_now_and_then
from pegasos.solvers.interior_point import INTERIOR_ITERATIONS, InteriorPoint, InteriorState
from pegasos.solvers.newton import SMOOTH_RIDGE, Newton, NewtonState
from pegasos.solvers.pegasos import Pegasos, PegasosState

_GAP_OF_ONE_EPOCH = 0.01  # relative gap at which Pegasos starts when no tol is given
_LEAST_NEWTON_GAP = 1e-3  # relative gap below which an interior point on the rows near the margin is faster
_NEWTON_MARGIN = 0.8  # Newton's method aims at this fraction of the requested gap by its own estimate
_SMOOTH_EPOCHS = 2.0  # factor on the epochs of dual ascent where the loss is smooth (measured on ten data sets)
# Dual ascent beside Newton's method, measured on 15 data sets at four lam: rows that rest save a third of the epochs
# where there are many, and Newton's steps take longer than their price.
_RESTED_GROWTH, _NEWTON_EXCESS = 2.0, 1.5
_LOOK = 6e4  # nanoseconds per look at dual ascent (see `Solver.next_look`)
_CACHED = float(1 << 24)  # number of values that fit into the caches
# approximate distance of a smoothed solution's residuals from the exact ones, per unit of softness
_PART_OF_SOFTNESS = 0.5
_WARM_GAP = 3e-3  # relative gap above which a second-order method gains nothing from a starting point
_WARM_WIDTH = 0.03  # assumed error of the residuals when an interior point starts from a dual point
_AT_BOUND = 1e-3  # fraction of the cost: a smoothed dual variable this close to a bound is moved to it
_USUAL_GAP = 1e-6  # relative gap that remaining work is estimated for, whatever the tol
_FACE_EPOCHS = 8  # conjugate gradients are tried when at least this many epochs remain
_FACE_PRICE = 100  # price of an interior point, in epochs, above which conjugate gradients are tried
# a relative gap this small that does not fall for this many epochs is due to rounding
_NEARLY_EXACT, _FUTILE = 1e-6, 512
_FACE_SHARE = 0.5  # conjugate gradients may take this fraction of the work of dual ascent
_FIRST_PRODUCTS = 30  # products with all rows that the first move is expected to take
_FACE_PASSES = 3  # passes over the rows before and after a move
_FACE_WORK = 3e7  # multiplications allowed per call of conjugate gradients
_MOST_PRODUCTS = 300
_FAR = 1.0  # a row this far beyond the margin, on the right side, may leave the interior point
_PATIENCE = 0.3  # fraction of the price of all rows that rounds on some of them may cost
_FAST_GROWTH = 1.5  # ratio of the sizes of two consecutive sets of rows
_FIRST_BLOCK = 512  # rows that an interior point starts with when all rows would be too many
_STUCK_LOOKS = 8  # reviews without a smaller gap before single precision is considered the cause
_TRIAL = 0.3  # fraction of the price of an interior point that dual ascent may use before its rate decides
# iterations of an interior point before the first review and between later ones, unless it is ready earlier
_INTERIOR_LOOKS = 8, 2
_HOPELESS = 10.0  # an interior point whose own gap is this many times tol is not reviewed (1 review in 65 succeeded)
_SECOND_ORDER_STEPS = 10.0  # least number of steps in a complete second-order solution
_AFFORDABLE_PART = 4e9  # nanoseconds that an interior point on some rows may take before dual ascent has had as many
_AFFORDABLE = 2e9  # nanoseconds that an interior point on all rows may take without trying fewer rows first
# an interior point that takes fewer nanoseconds than this aims at this gap, whatever the tol
_CHEAP, _CHEAP_GAP = 2e7, 1e-8
_FAR_BELOW = 1e-4  # fraction of tol at which an interior point stops looking for a dual point on its bounds
_LAST_TARGET = 1e-15  # smallest relative gap that an interior point aims at


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
    faces: int = 0  # number of moves by conjugate gradients
    face_visits: int = 0  # visits that they counted as
    face_work: float = 0.0  # estimated nanoseconds that they took
    best: Review | None = None  # kept because some solvers pass through points worse than their first one
    best_visits: int = 0  # number of visits when `best` was found
    is_polishing: bool = False  # dual ascent runs last because the weights must be those of the dual point
    is_exhausted: bool = False  # whether an interior point on all rows has ended


@dataclass(frozen=True)
class Auto:
    """The solvers to choose from, and the relative gap to reach."""

    pegasos: Pegasos
    ascent: DualAscent
    tol: float | None = 1e-3
    interior: InteriorPoint = field(default_factory=InteriorPoint)
    interior_margin: float = 0.3  # fraction of the requested gap that an interior point aims at
    ends_at_once: bool = True  # whether a good enough starting point ends the run; a search stage sets its own gap

    def start(self, problem: Problem, seed: int) -> AutoState:
        """Start Pegasos if one epoch is expected to reach the gap, else the solver with the least expected work."""
        gap = first_gap(problem)
        if gap <= (_GAP_OF_ONE_EPOCH if self.tol is None else self.tol) and problem.cap < np.inf:
            return AutoState(seed, pegasos=self.pegasos.start(problem, seed))
        return self._by_price(problem, seed, gap)

    def _by_price(self, problem: Problem, seed: int, gap: float) -> AutoState:
        if self._is_for_interior(problem, gap):
            state = AutoState(seed)
            zero = np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape)
            self._enter_interior(problem, state, all_rows(problem), *zero)
            return state
        if self._is_for_newton(problem, gap):
            return AutoState(seed, newton=Newton(self.ascent.dtype).start(problem))
        return AutoState(seed, dual=self.ascent.start(problem, seed))

    def _is_for_interior(self, problem: Problem, gap: float) -> bool:
        """Whether an interior point on all rows is expected to be the fastest.

        When there are fewer rows than features, the rows may be nearly orthogonal, and dual ascent then needs few
        epochs at any lam, so dual ascent is tried first.
        """
        if self.tol is None or not gap > 0.0 or problem.rows.n_rows <= problem.rows.n_features:
            return False
        others = min(self._ascent_price(problem, gap), Newton.price(problem), _AFFORDABLE, _time_for_steps())
        return self.interior.price(problem, problem.rows.n_rows) < others

    def begins_inside(self, problem: Problem) -> bool:
        """Whether an interior point on all rows is the first choice."""
        return self._is_for_interior(problem, first_gap(problem))

    def _is_for_newton(self, problem: Problem, gap: float) -> bool:
        """Whether Newton's method is expected to be faster than dual ascent."""
        others = min(self._ascent_price(problem, gap, growth=_RESTED_GROWTH), _time_for_steps())
        return self.tol is not None and gap > 0.0 and _NEWTON_EXCESS * Newton.price(problem) < others

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> AutoState:
        """Start at a dual point of these rows, with an interior point or dual ascent."""
        return self._entered(problem, alpha, seed, *certify_dual(problem, alpha))

    def _entered(
        self,
        problem: Problem,
        alpha: Floats,
        seed: int,
        certificate: Certificate,
        weights: npt.NDArray[np.float64],
    ) -> AutoState:
        best = Review(certificate, weights, problem.within_bounds(alpha))
        if self._is_settled(best):
            return AutoState(seed, dual=self.ascent.enter(problem, alpha, seed), best=best)
        if not self._is_for_interior(problem, first_gap(problem)):
            return AutoState(seed, dual=self.ascent.enter(problem, alpha, seed))
        state = AutoState(seed, best=best)
        if certificate.relative_gap <= _WARM_GAP:
            self._enter_interior(problem, state, all_rows(problem), weights, best.alpha, width=_WARM_WIDTH)
        else:  # the weights 0 are better centered
            zero = np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape)
            self._enter_interior(problem, state, all_rows(problem), *zero)
        return state

    def enter_from_afar(self, problem: Problem, alpha: Floats, seed: int) -> AutoState:
        """Start at the dual point of other rows, or at zero.

        Far from the optimum only dual ascent gains from it: an interior point starts better in the middle, and
        Newton's method, like a single epoch of Pegasos, at zero.
        """
        certificate, weights = certify_dual(problem, alpha)
        if certificate.relative_gap <= _WARM_GAP:
            return self._entered(problem, alpha, seed, certificate, weights)
        state = self.start(problem, seed)
        return state if state.dual is None else AutoState(seed, dual=self.ascent.enter(problem, alpha, seed))

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, by all solvers."""
        if state.newton is not None:
            return state.newton.visits  # one Newton step takes about as long as this many steps of the others
        if state.dual is not None:
            return state.steps_before + self.ascent.steps(state.dual)
        if state.pegasos is not None:
            return self.pegasos.steps(state.pegasos)
        return state.steps_before

    def visits(self, state: AutoState) -> int:
        """Rows visited so far, by all solvers."""
        if state.newton is not None:
            return state.newton.visits
        if state.dual is not None:
            return state.visits_before + self.ascent.visits(state.dual)
        if state.pegasos is not None:
            return self.pegasos.visits(state.pegasos)
        return state.visits_before

    def advance_to(self, problem: Problem, state: AutoState, visits: int) -> None:
        """Continue with the current solver; return early when its point should be reviewed."""
        n = problem.rows.n_rows
        while (done := self.visits(state)) < visits:
            if state.is_exhausted:
                raise ExhaustedError
            if state.newton is not None:
                self._newton_step(problem, state, state.newton)
            elif state.interior is not None:
                if self._advance_interior(problem, state, state.interior, visits - done):
                    return
            elif state.pegasos is not None:
                if done >= state.next_choice * n:
                    self._choose(problem, state, state.pegasos)
                    if self.visits(state) < done:  # a failed trial does not count
                        return
                self._advance_one(problem, state, min(visits, max(done + 1, state.next_choice * n)))
            else:
                end_of_stretch = end_of_epochs(problem, done)
                goal = min(visits, end_of_stretch)
                self._advance_one(problem, state, goal)
                if (done := self.visits(state)) < goal:
                    return
                if done >= end_of_stretch:
                    self._consider(problem, state)

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """Return the next look of the current solver; while dual ascent is on trial, the end of an epoch."""
        n = problem.rows.n_rows
        if state.newton is not None:
            return state.newton.visits + 1
        visits = self.visits(state)
        if self._is_settled(state.best):
            return visits + 1
        if state.interior is not None:
            if self._interior_is_ready(state, state.interior):
                return visits + 1
            every = _INTERIOR_LOOKS[state.best is not None]
            return visits + (every - state.interior.iterations % every) * len(state.interior.chosen)
        if state.dual is None or state.pegasos is not None:
            return (visits // n + 1) * n
        return min(end_of_epochs(problem, visits), state.visits_before + self.ascent.next_look(problem, state.dual))

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """Whether the current solver wants a review."""
        if self._is_settled(state.best):
            return True
        if state.newton is not None:
            return state.newton.stride == 1 and state.newton.gap <= self._newton_goal(problem, state.newton)
        if state.interior is not None:
            if self._interior_is_ready(state, state.interior):
                return True
            is_hopeless = tol is not None and state.interior.relative_gap > _HOPELESS * tol
            return is_now_and_then(problem, epoch, 1) and not is_hopeless
        if state.dual is not None:
            return self.ascent.review_due(problem, state.dual, epoch, tol)
        assert state.pegasos is not None
        return self.pegasos.review_due(problem, state.pegasos, epoch, tol)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> Review:
        """Certify the point reached; if it is not good enough, choose the next solver."""
        if state.newton is not None:
            return self._review_newton(problem, state, state.newton, tol)
        if state.interior is not None:
            return self._best(state, self._review_interior(problem, state, state.interior, tol))
        if state.dual is not None and state.pegasos is None:
            best = self._best(state, self._review_dual(problem, state, state.dual, tol))
            epochs = (self.visits(state) - state.best_visits) / problem.rows.n_rows
            if tol is not None and tol < best.certificate.relative_gap < _NEARLY_EXACT and epochs > _FUTILE:
                state.is_exhausted = True
            return best
        if state.dual is not None:
            return self._review_dual(problem, state, state.dual, tol)
        assert state.pegasos is not None
        review = self.pegasos.review(problem, state.pegasos, tol)
        state.gap = review.certificate.gap
        return review

    def _is_settled(self, best: Review | None) -> bool:
        """Whether the best point so far ends the run."""
        if self.tol is None or best is None or not self.ends_at_once:
            return False
        return best.certificate.relative_gap <= self.tol

    def last_review(self, problem: Problem, state: AutoState) -> Review:
        """Return the better of the point reached and the best one so far, without choosing another solver."""
        weights, alpha = self.point(problem, state)
        if state.interior is not None:
            review = Review(certify(problem, weights, alpha), weights, alpha)
        elif state.newton is not None:
            alpha = stretched(problem, alpha)
            review = Review(certify(problem, weights, alpha), weights, alpha)
        elif state.dual is not None:
            certificate, weights = certify_dual(problem, alpha)
            review = Review(certificate, weights, alpha)
        else:
            assert state.pegasos is not None
            review = self.pegasos.review(problem, state.pegasos, self.tol)
        return review if state.best is None else _best_of_both(problem, review, state.best)

    def _best(self, state: AutoState, review: Review) -> Review:
        """Return the better of this review and the best so far."""
        if state.best is None or not state.best.is_better_than(review):
            state.best, state.best_visits = review, self.visits(state)
        return state.best

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point of the current solver."""
        if state.newton is not None:
            return state.newton.weights, self._newton_of(state.newton).alpha_of_all(problem, state.newton)
        if state.interior is not None:
            return state.interior.best_weights.copy(), self._whole(problem, state, state.interior)
        if state.dual is not None:
            return self.ascent.point(problem, state.dual)
        assert state.pegasos is not None
        return self.pegasos.point(problem, state.pegasos)

    # Newton's method

    @staticmethod
    def _newton_of(newton: NewtonState) -> Newton:
        return Newton(newton.residual.dtype)

    def _newton_goal(self, problem: Problem, newton: NewtonState) -> float:
        """Gap at which Newton's method requests a certificate; it shrinks after each failed one."""
        assert self.tol is not None
        return max(self.tol, self._least_newton_gap(problem)) * _NEWTON_MARGIN * 0.5**newton.reviews

    @staticmethod
    def _least_newton_gap(problem: Problem) -> float:
        """Gap below which other solvers take over; 0 where the loss is already smooth."""
        return _LEAST_NEWTON_GAP if problem.ridge < SMOOTH_RIDGE else 0.0

    def _newton_step(self, problem: Problem, state: AutoState, newton: NewtonState) -> None:
        solver = self._newton_of(newton)
        solver.step(problem, newton, self._newton_goal(problem, newton))
        if newton.stalled and newton.is_lost and solver.dtype != np.float64:
            # Single precision was not enough for these residuals, and the point it led to is not worth continuing from.
            state.newton = Newton(np.float64).start(problem)
            state.newton.visits = newton.visits
        elif newton.stalled:
            self._leave_newton(problem, state, newton)

    def _leave_newton(self, problem: Problem, state: AutoState, newton: NewtonState) -> None:
        """Switch to an interior point on the rows near the margin, or to dual ascent where that costs too much."""
        self._newton_of(newton).look_at_all(problem, newton)
        if newton.stalled:
            chosen, fixed = self._rows_from_far(problem, stretched(problem, newton.alpha))
            self._enter_interior(problem, state, chosen, newton.weights, fixed)
        else:
            alpha = _at_bounds(problem, newton.alpha)
            near = np.flatnonzero((alpha > 0.0) & (alpha < problem.bound)).astype(np.uint32)
            width = _PART_OF_SOFTNESS * newton.softness
            self._enter_interior(problem, state, near, newton.weights, alpha, width=width)
        state.visits_before = state.steps_before = newton.visits
        state.newton = None

    def _review_newton(self, problem: Problem, state: AutoState, newton: NewtonState, tol: float | None) -> Review:
        """Certify its weights with its dual point, either moved to the bounds or scaled to its best lower bound."""
        self._newton_of(newton).look_at_all(problem, newton)
        newton.reviews += 1
        weights = newton.weights
        alpha = _at_bounds(problem, newton.alpha)
        certificate = certify(problem, weights, alpha)
        if tol is not None and certificate.relative_gap <= tol:
            return Review(certificate, weights, alpha)
        alpha = stretched(problem, newton.alpha)
        review = Review(certify(problem, weights, alpha), weights, alpha)
        if tol is not None and review.certificate.relative_gap > tol and tol < self._least_newton_gap(problem):
            self._leave_newton(problem, state, newton)
            state.best = review
        return review

    # The interior point

    def _enter_interior(
        self,
        problem: Problem,
        state: AutoState,
        chosen: npt.NDArray[np.uint32],
        weights: npt.NDArray[np.float64],
        alpha: Floats,
        *,
        width: float | None = None,
    ) -> None:
        """Start at these weights; the rows that are not chosen keep these dual variables."""
        assert self.tol is not None
        fixed = np.array(alpha, np.float64)
        state.interior = self.interior.enter(problem, chosen, weights, fixed, width=width)
        state.fixed = fixed
        if state.dual is not None:
            state.best = self.ascent.review(problem, state.dual, self.tol)
            state.visits_before += self.ascent.visits(state.dual)
            state.steps_before += self.ascent.steps(state.dual)
            state.dual = None
        # The sequence of targets is the same for every tol, so that a smaller tol ends at the same point or a later
        # one. It starts at its lower end where iterations cost almost nothing.
        is_cheap = self.interior.price(problem, len(chosen)) < _CHEAP
        aim = min(self.tol, _CHEAP_GAP) if is_cheap else self.tol
        state.target = self.interior_margin * 10.0 ** math.floor(math.log10(max(aim, _LAST_TARGET)))
        state.gaps.clear()

    def _rows_from_far(self, problem: Problem, alpha: Floats) -> tuple[npt.NDArray[np.uint32], Floats]:
        """Choose all rows, or first the few that matter where all would be too expensive; fix the others."""
        everyone = all_rows(problem)
        least = _AT_BOUND * np.minimum(problem.bound, alpha.max(initial=0.0))
        has_part = np.flatnonzero((alpha > least) & (problem.cost > 0.0)).astype(np.uint32)
        price = self.interior.price(problem, len(everyone))
        if price < (np.inf if 4 * len(has_part) > len(everyone) else _AFFORDABLE):
            return everyone, alpha
        return has_part, np.zeros(problem.alpha_shape)

    @staticmethod
    def _interior_is_ready(state: AutoState, interior: InteriorState) -> bool:
        return interior.stalled or interior.relative_gap <= state.target

    def _advance_interior(self, problem: Problem, state: AutoState, interior: InteriorState, visits: int) -> bool:
        """Iterate for about this many visits; return whether the point should be reviewed."""
        n, before = max(1, len(interior.chosen)), interior.iterations
        self.interior.advance(problem, interior, max(1, visits // n), state.target)
        done = max(1, interior.iterations - before)
        state.visits_before += done * n
        state.steps_before += done
        state.spent += self.interior.price(problem, len(interior.chosen)) * done / INTERIOR_ITERATIONS
        return self._interior_is_ready(state, interior)

    def _whole(self, problem: Problem, state: AutoState, interior: InteriorState) -> npt.NDArray[np.float64]:
        """Return the dual point of all rows that extends the best one of the interior point."""
        return _with_fixed(state, interior, interior.best_alpha)

    def _review_interior(
        self, problem: Problem, state: AutoState, interior: InteriorState, tol: float | None
    ) -> Review:
        """Review the better of its dual point and the one on the bounds; then add rows or iterations."""
        weights = interior.best_weights.copy()

        def certified(alpha: npt.NDArray[np.float64]) -> Review:
            return Review(certify(problem, weights, alpha), weights, alpha)

        review = certified(self._on_bounds(problem, state, interior))
        if tol is not None and review.certificate.relative_gap <= tol:
            return review
        inside = certified(self._whole(problem, state, interior))
        best = inside if inside.is_better_than(review) else review
        if tol is None:
            return best
        if not self._interior_is_ready(state, interior):
            return best if best.certificate.relative_gap > tol else review  # this one has the exact support vectors
        if best.certificate.relative_gap > tol:
            self._go_on_inside(problem, state, interior)
            return best
        is_far_below = state.target <= _FAR_BELOW * min(tol, _CHEAP_GAP)
        if interior.stalled or is_far_below or not self._is_worth_bounds(problem, interior):
            return best
        # A dual point that is good enough but not on its bounds is worth a few more iterations.
        state.target *= 0.1
        return review

    def _is_worth_bounds(self, problem: Problem, interior: InteriorState) -> bool:
        """Whether a dual point on its bounds is worth further iterations."""
        return True

    def _on_bounds(self, problem: Problem, state: AutoState, interior: InteriorState) -> npt.NDArray[np.float64]:
        """Move every row to the bound that its multiplier indicates, and let the other rows compensate.

        In the limit, either a_i or its multiplier u_i is 0. While a_i/cost_i < u_i, row i is treated as a row at 0;
        rows at their cost are recognized in the same way.
        """
        cost, bound = problem.cost[interior.chosen], problem.bound[interior.chosen]
        alpha = interior.alpha.copy()
        alpha[interior.lower * cost > interior.alpha] = 0.0
        at_bound = interior.upper * cost > interior.slack
        alpha[at_bound] = bound[at_bound]
        whole = _with_fixed(state, interior, alpha)
        free = np.flatnonzero((whole > 0.0) & (whole < problem.bound)).astype(np.uint32)
        weights = np.empty(problem.weights_shape)
        _core.dual_sums(problem.native, whole, weights)
        _core.face_advance(problem.native, free, weights, whole, _products(problem, len(free)))
        return whole

    def _go_on_inside(self, problem: Problem, state: AutoState, interior: InteriorState) -> None:
        """Add the rows whose fixed dual variables are wrong; if all rows are in, lower the target or give up."""
        assert state.fixed is not None
        everyone = all_rows(problem)
        if len(interior.chosen) == len(everyone):
            state.is_exhausted = interior.stalled or state.target <= _LAST_TARGET
            state.target *= 0.1
            return
        alpha, weights = self._whole(problem, state, interior), interior.best_weights
        r = 1.0 - problem.sign * (problem.rows.scores_of(weights) + problem.offset)
        wrong = problem.cost * problem.loss.value(r) + problem.damping * alpha**2 / 2.0 - alpha * r
        wrong[interior.chosen] = 0.0
        taken_in = _heaviest(problem, wrong, max(len(interior.chosen), _FIRST_BLOCK))
        is_far = (interior.lower > _FAR) & (interior.alpha < _AT_BOUND * problem.cost[interior.chosen])
        alpha[interior.chosen[is_far]] = 0.0
        n_before, chosen = len(interior.chosen), np.union1d(interior.chosen[~is_far], taken_in).astype(np.uint32)
        # A set that still grows fast is not the last one, so its price counts before it is paid.
        expected = self.interior.price(problem, len(chosen)) if len(chosen) > _FAST_GROWTH * n_before else 0.0
        is_slow = state.spent + expected > _PATIENCE * self.interior.price(problem, len(everyone))
        if is_slow or len(taken_in) == 0 or 2 * len(chosen) > len(everyone):
            chosen = everyone
        price, best = self.interior.price(problem, len(chosen)), alpha if state.best is None else state.best.alpha
        ascended = self.visits(state) / problem.rows.n_rows * self._epoch_price(problem)
        is_too_large = self.interior.price(problem, len(everyone)) == np.inf
        is_put_off = is_too_large and price > max(_AFFORDABLE_PART, ascended)
        if price == np.inf:
            self._polish(problem, state, best)
        elif is_put_off:  # growing sets may never end, where all rows are too many
            self._resume_ascent(problem, state, best)
            state.refused = price
        else:
            self._enter_interior(problem, state, chosen, weights, alpha)

    def _resume_ascent(self, problem: Problem, state: AutoState, alpha: Floats) -> None:
        """Continue with dual ascent in double from this point."""
        steps, visits = self.steps(state), self.visits(state)
        state.pegasos = state.newton = state.interior = None
        state.steps_before, state.visits_before = steps, visits
        state.dual = self._precise.enter(problem, alpha, state.seed)
        state.gaps.clear()

    def _polish(self, problem: Problem, state: AutoState, alpha: Floats) -> None:
        """Continue with dual ascent alone, for callers that need the weights of the dual point itself."""
        self._resume_ascent(problem, state, alpha)
        state.is_polishing = True

    # Dual ascent and Pegasos

    @property
    def _precise(self) -> DualAscent:
        return replace(self.ascent, dtype=np.float64)

    def _ascent_price(self, problem: Problem, gap: float, *, growth: float = 3.0) -> float:
        """Nanoseconds that dual ascent is expected to take, independent of the number of threads and of tol.

        Because the choices do not depend on tol, a run with a smaller tol passes through the points of a run with a
        larger one.
        """
        positive = problem.share_of_positives
        rarity = min(1.0, 0.3 + 2.0 * min(positive, 1.0 - positive))
        epochs = rarity * (4.0 + growth * gap)
        if problem.ridge >= SMOOTH_RIDGE:
            epochs *= _SMOOTH_EPOCHS
        return epochs * self._epoch_price(problem)

    def _epoch_price(self, problem: Problem) -> float:
        """Nanoseconds per epoch of dual ascent; rows spread over more memory than the caches hold take longer."""
        assert isinstance(problem.rows, Rows)
        n, stored = problem.rows.n_rows, problem.rows.n_stored
        visit = 30.0 + 0.5 * stored / n + 20.0 * max(0.0, math.log2(stored / _CACHED))
        return n * visit + _LOOK / epochs_per_look(problem)

    def _review_dual(self, problem: Problem, state: AutoState, dual: Climbing, tol: float | None) -> Review:
        """Switch dual ascent to double where the single-precision estimate was wrong; in double, change solvers."""
        claimed = self.ascent.estimate(problem, dual)
        review = self.ascent.review(problem, dual, tol)
        if tol is not None and claimed <= tol < review.certificate.relative_gap and state.pegasos is None:
            if dual.alpha.dtype == np.float64:
                self._leave_ascent(problem, state, dual, review)
            else:
                self._go_on_in_double(problem, state, dual)
        return review

    def _leave_ascent(self, problem: Problem, state: AutoState, dual: Climbing, review: Review) -> None:
        """Where the precision of w(alpha) is the limit, switch to an interior point; after that, nothing is better."""
        if not review.certificate.rounding > 0.5 * review.certificate.gap:
            return
        everyone = all_rows(problem)
        if state.is_polishing or not self.interior.price(problem, len(everyone)) < np.inf:
            state.is_exhausted = True
        else:
            self._enter_interior(problem, state, everyone, *self.ascent.point(problem, dual), width=_WARM_WIDTH)

    def _go_on_in_double(self, problem: Problem, state: AutoState, dual: Climbing) -> None:
        state.visits_before += self.ascent.visits(dual)
        state.steps_before += self.ascent.steps(dual)
        state.dual = self._precise.enter(problem, dual.alpha, dual.random)

    def _advance_one(self, problem: Problem, state: AutoState, visits: int) -> None:
        if state.dual is not None:
            self.ascent.advance_to(problem, state.dual, visits - state.visits_before)
        elif state.pegasos is not None:
            self.pegasos.advance_to(problem, state.pegasos, visits)

    def _choose(self, problem: Problem, state: AutoState, pegasos: PegasosState) -> None:
        """Start a trial epoch of dual ascent, or judge the one that has ended."""
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

    def _consider(self, problem: Problem, state: AutoState) -> None:
        """At the end of an epoch of dual ascent, change solvers if that needs less work than the remaining epochs."""
        assert state.dual is not None
        estimate = self.ascent.estimate(problem, state.dual)
        if self.tol is None or state.is_polishing or not estimate > self.tol:
            return
        state.gaps.append(estimate)
        to_go = epochs_per_look(problem) * _looks_to_go(state.gaps, _USUAL_GAP)
        epoch, spent = self._epoch_price(problem), self.visits(state) / problem.rows.n_rows
        price = self.interior.price(problem, problem.rows.n_rows)
        if to_go == math.inf and len(state.gaps) >= _STUCK_LOOKS and state.dual.alpha.dtype != np.float64:
            self._go_on_in_double(problem, state, state.dual)
            state.gaps.clear()
            return
        has_tried = spent * epoch > max(_TRIAL * min(price, _AFFORDABLE), state.refused)
        if has_tried and to_go * epoch > self._reprieve(price, spent * epoch, len(state.gaps)):
            weights, alpha = self.ascent.point(problem, state.dual)
            chosen, fixed = self._rows_from_far(problem, alpha)
            if to_go * epoch > self.interior.price(problem, len(chosen)):
                self._enter_interior(problem, state, chosen, weights, fixed)
                return
        is_worth_trying = price > _FACE_PRICE * epoch and to_go > _FACE_EPOCHS and len(state.gaps) >= 2
        if is_worth_trying and self._is_turn_of_faces(problem, state):
            self._move_on_face(problem, state, state.dual)

    def _reprieve(self, price: float, spent: float, n_looks: int) -> float:
        """Nanoseconds that dual ascent may still need, after those it has spent, beside an interior point's price."""
        return 2.0 * min(price, 5.0 * _AFFORDABLE)

    def _is_turn_of_faces(self, problem: Problem, state: AutoState) -> bool:
        """Whether conjugate gradients, after another move, have had at most their share of the work."""
        expected = state.face_work / state.faces if state.faces > 0 else _face_price(problem, 2 * _FIRST_PRODUCTS)
        visits = (self.visits(state) - state.face_visits) / problem.rows.n_rows
        return state.face_work + expected <= _FACE_SHARE * visits * self._epoch_price(problem)

    def _move_on_face(self, problem: Problem, state: AutoState, dual: Climbing) -> None:
        """Run conjugate gradients over the rows between their bounds; dual ascent continues from there in double."""
        alpha = problem.within_bounds(dual.alpha).astype(np.float64)
        free = np.flatnonzero((alpha > 0.0) & (alpha < problem.bound)).astype(np.uint32)
        if len(free) > problem.rows.n_features:  # more rows than the weights can satisfy at once
            return
        weights, _ = dual_point(problem, alpha)
        products, _, _ = _core.face_advance(problem.native, free, weights, alpha, _products(problem, len(free)))
        visits = 2 * products * len(free)
        state.visits_before += self.ascent.visits(dual) + visits
        state.steps_before += self.ascent.steps(dual) + products
        state.dual = self._precise.enter(problem, alpha, dual.random)
        state.faces += 1
        state.face_visits += visits
        state.face_work += _face_price(problem, visits / problem.rows.n_rows)
        state.gaps.clear()


def _best_of_both(problem: Problem, one: Review, other: Review) -> Review:
    """Combine the weights of the lower primal with the dual point of the higher bound: any pair can be certified."""
    lower = min(one, other, key=lambda review: review.certificate.primal)
    higher = max(one, other, key=lambda review: review.certificate.dual)
    if lower is higher:
        return lower
    return Review(certify(problem, lower.weights, higher.alpha), lower.weights, higher.alpha)


def _time_for_steps() -> float:
    """Price of a second-order method whose first step uses all the remaining time."""
    seconds = time_left()
    return math.inf if seconds is None else 1e9 * _SECOND_ORDER_STEPS * seconds


def _with_fixed(state: AutoState, interior: InteriorState, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Extend the dual point of the rows of an interior point to all rows."""
    assert state.fixed is not None
    whole = state.fixed.copy()
    whole[interior.chosen] = alpha
    return np.asarray(whole, np.float64)


def _at_bounds(problem: Problem, alpha: Floats) -> npt.NDArray[np.float64]:
    """Move dual variables that are close to a bound onto it; a loss with a ridge has no such rows."""
    if problem.ridge > 0.0:
        return np.array(alpha, np.float64)
    moved = np.array(alpha, np.float64)
    at_bound = moved >= (1.0 - _AT_BOUND) * problem.bound
    moved[moved <= _AT_BOUND * problem.cost] = 0.0
    moved[at_bound] = problem.bound[at_bound]
    return moved


def all_rows(problem: Problem) -> npt.NDArray[np.uint32]:
    """Rows with a positive cost."""
    return np.flatnonzero(problem.cost > 0.0).astype(np.uint32)


def _heaviest(problem: Problem, weight: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.uint32]:
    """Rows with the largest weights, among those with a positive cost."""
    weight = np.where(problem.cost > 0.0, weight, -np.inf)
    chosen = np.argpartition(-weight, most)[:most] if most < len(weight) else np.arange(len(weight))
    return np.sort(chosen[weight[chosen] > 0.0]).astype(np.uint32)


def _face_price(problem: Problem, passes: float) -> float:
    """Nanoseconds of a move by conjugate gradients that reads the rows this often, the change of methods included."""
    assert isinstance(problem.rows, Rows)
    n, stored = problem.rows.n_rows, problem.rows.n_stored
    return (passes + _FACE_PASSES) * (3.0 * n + 0.7 * stored)


def _products(problem: Problem, n_rows: int) -> int:
    """How many products with this many rows one call of conjugate gradients may take."""
    assert isinstance(problem.rows, Rows)
    stored = problem.rows.n_stored / problem.rows.n_rows
    return int(np.clip(_FACE_WORK / (2.0 * max(n_rows, 1) * (stored + 10.0)), 10, _MOST_PRODUCTS))


def _looks_to_go(gaps: list[float], tol: float) -> float:
    """How many more reviews are needed at the rate of the second half of the previous ones."""
    half = len(gaps) // 2
    if not gaps[half] > gaps[-1] > 0.0 or not tol > 0.0:
        return math.inf
    return (len(gaps) - 1 - half) * math.log(gaps[-1] / tol) / math.log(gaps[half] / gaps[-1])
