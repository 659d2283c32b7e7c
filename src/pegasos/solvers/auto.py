"""Each solver where it is fastest: Pegasos, dual ascent, Newton's method, an interior point, conjugate gradients.

The first epoch of Pegasos leaves a relative gap of about |x|^2 / (lam total) (measured on six data sets); where that is
enough, nothing is faster. Afterwards it brings its gap from epoch e to e + 1 down by the factor e/(e + 1), whatever the
data; dual ascent raises its lower bound by an amount that one epoch shows, and goes on only if that is more. Where
lam is smaller, dual ascent is faster from the first row on, but its epochs grow with |x|^2 / (lam total) (measured on
ten data sets), fewer where one sign is rare, so that few rows come near the margin. Where Newton's method on a smoothed
problem, or an interior point on all rows, is expected to need less work than that, it begins.

What they leave open is finished on the rows that matter. Newton's method hands its rows near the margin to the interior
point, and so does dual ascent when its rate says that it would need more work; the rows left out are fixed at their
bounds, looked at again in the certificate, and taken in where that shows a mistake. Where both matrices of the interior
point would be too large, dual ascent takes turns with conjugate gradients over the rows between their bounds. All
choices follow estimates of work, never the clock, except for one: where a time budget is too short for the first step
of a second-order method, dual ascent begins, which has something to show at any time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.certificate import better_within_bounds, certify, certify_dual, dual_point, stretched
from pegasos.deadline import time_left
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.driver import ExhaustedError, Review
from pegasos.solvers.dual_ascent import Climbing, DualAscent, epochs_per_look, first_gap, is_now_and_then
from pegasos.solvers.interior_point import INTERIOR_ITERATIONS, InteriorPoint, InteriorState
from pegasos.solvers.newton import SMOOTH_RIDGE, Newton, NewtonState
from pegasos.solvers.pegasos import Pegasos, PegasosState

_GAP_OF_ONE_EPOCH = 0.01  # at which Pegasos begins when there is no tol to reach
_LEAST_NEWTON_GAP = 1e-3  # relative gap from which an interior point on the rows near the margin is faster
_NEWTON_MARGIN = 0.8  # of the gap asked for is what it should reach by its own account
_INTERIOR_MARGIN = 0.3  # the same for an interior point
_LOOK = 6e4  # nanoseconds of a look at dual ascent
_CACHED = float(1 << 24)  # values that fit into caches
_PART_OF_SOFTNESS = 0.5  # about how far the residuals of a smoothed solution are from the exact ones
_WARM_WIDTH = 0.03  # how far residuals may be from the exact ones where a dual point is entered
_AT_BOUND = 1e-3  # of the cost: a smoothed dual variable this close to a bound belongs there
_USUAL_GAP = 1e-6  # the gap that the work to come is estimated for, whatever the tol
_FACE_EPOCHS = 8  # epochs to go from which conjugate gradients are tried
_FACE_PRICE = 100  # epochs that an interior point must be worth before they are
_NEARLY_EXACT, _FUTILE = 1e-6, 512  # a relative gap this small that so many epochs do not lower is rounding
_FACE_WORK = 3e7  # multiplications that one call may take
_MOST_PRODUCTS = 300
_FAR = 1.0  # from the margin, on the right side: such a row need not stay with an interior point
_PATIENCE = 0.3  # of the price of all rows: what rounds on some of them may cost
_FIRST_BLOCK = 512  # rows that an interior point begins with, where all would be too many
_STUCK_LOOKS = 8  # without a smaller gap, after which single precision is taken for the reason
_TRIAL = 0.3  # of the price of an interior point that dual ascent may take before its rate decides
_INTERIOR_LOOKS = 8, 2  # iterations of an interior point up to the first look, and from then on, where not ready before
_SECOND_ORDER_STEPS = 10.0  # of a whole solution, at least
_AFFORDABLE = 2e9  # nanoseconds that an interior point on all rows may take without trying fewer first
_CHEAP, _CHEAP_GAP = 2e7, 1e-8  # nanoseconds of an interior point that may go for this gap, whatever the tol
_FAR_BELOW = 1e-4  # of tol: where an interior point stops looking for a dual point on its bounds
_LAST_TARGET = 1e-15  # relative gap below which an interior point is not asked to go


@dataclass
class AutoState:
    """The states at work: Pegasos until dual ascent has won, dual ascent, Newton's, or an interior point."""

    seed: int
    pegasos: PegasosState | None = None
    dual: Climbing | None = None
    newton: NewtonState | None = None
    interior: InteriorState | None = None
    visits_before: int = 0  # by others than the state at work
    steps_before: int = 0
    gap: float = np.inf  # of the last certificate of Pegasos
    dual_before: float = 0.0  # the lower bound with which dual ascent was put on trial
    next_choice: int = 1  # the epoch after which to think again about Pegasos
    gaps: list[float] = field(default_factory=list)  # estimates at the epochs of this stretch of dual ascent
    fixed: Floats | None = None  # the dual point around an interior point's rows
    target: float = 0.0  # relative gap that the interior point goes for
    spent: float = 0.0  # nanoseconds that interior points on some of the rows were expected to take so far
    faces: int = 0  # moves by conjugate gradients
    best: Review | None = None  # some solvers lead through worse points than they began with
    best_visits: int = 0  # when that was found
    is_polishing: bool = False  # dual ascent has the last word: the weights must be those of the dual point
    is_exhausted: bool = False  # an interior point on all rows has ended


@dataclass(frozen=True)
class Auto:
    """The solvers it chooses from, and the relative gap to reach."""

    pegasos: Pegasos
    ascent: DualAscent
    tol: float | None = 1e-3
    interior: InteriorPoint = field(default_factory=InteriorPoint)
    ends_at_once: bool = True  # where the point entered is good enough; a stage of a search has a gap of its own

    def start(self, problem: Problem, seed: int) -> AutoState:
        """Pegasos, where its first epoch is expected to reach the gap; else what is expected to need the least work."""
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

        Fewer rows than features may be next to orthogonal, where dual ascent needs a few epochs at any lam: it is tried
        first.
        """
        if self.tol is None or not gap > 0.0 or problem.rows.n_rows <= problem.rows.n_features:
            return False
        others = min(self._ascent_price(problem, gap), Newton.price(problem), _AFFORDABLE, _time_for_steps())
        return self.interior.price(problem, problem.rows.n_rows) < others

    def _is_for_newton(self, problem: Problem, gap: float) -> bool:
        """Whether Newton's method is expected to be faster than dual ascent."""
        others = min(self._ascent_price(problem, gap), _time_for_steps())
        return self.tol is not None and gap > 0.0 and Newton.price(problem) < others

    def enter(self, problem: Problem, alpha: Floats, seed: int) -> AutoState:
        """A dual point of these rows, which an interior point or dual ascent takes further."""
        certificate, weights = certify_dual(problem, alpha)
        best = Review(certificate, weights, problem.within_bounds(alpha))
        if self._is_settled(best):
            return AutoState(seed, dual=self.ascent.enter(problem, alpha, seed), best=best)
        if not self._is_for_interior(problem, first_gap(problem)):
            return AutoState(seed, dual=self.ascent.enter(problem, alpha, seed))
        state = AutoState(seed, best=best)
        self._enter_interior(
            problem, state, all_rows(problem), weights, problem.within_bounds(alpha), width=_WARM_WIDTH
        )
        return state

    def steps(self, state: AutoState) -> int:
        """Steps taken so far, by all solvers."""
        if state.newton is not None:
            return state.newton.visits  # one step of it is worth as many of the others
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
        """Go on with the solver at work, or return early to have its point looked at."""
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
                    if self.visits(state) < done:  # a trial that failed does not count
                        return
                self._advance_one(problem, state, min(visits, max(done + 1, state.next_choice * n)))
            else:
                end_of_stretch = _end_of_stretch(problem, done)
                self._advance_one(problem, state, min(visits, end_of_stretch))
                if self.visits(state) >= end_of_stretch:
                    self._consider(problem, state)

    def next_look(self, problem: Problem, state: AutoState) -> int:
        """As the solver at work sees it; while dual ascent is on trial, whole epochs."""
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
        return min(_end_of_stretch(problem, visits), state.visits_before + self.ascent.next_look(problem, state.dual))

    def review_due(self, problem: Problem, state: AutoState, epoch: int | None, tol: float | None) -> bool:
        """As the solver at work sees it."""
        if self._is_settled(state.best):
            return True
        if state.newton is not None:
            return state.newton.stride == 1 and state.newton.gap <= self._newton_goal(problem, state.newton)
        if state.interior is not None:
            return is_now_and_then(problem, epoch, 1) or self._interior_is_ready(state, state.interior)
        if state.dual is not None:
            return self.ascent.review_due(problem, state.dual, epoch, tol)
        assert state.pegasos is not None
        return self.pegasos.review_due(problem, state.pegasos, epoch, tol)

    def review(self, problem: Problem, state: AutoState, tol: float | None) -> Review:
        """The certificate of the point reached; where it is not good enough, the next solver is chosen."""
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
        """The better of the point reached and the best one so far; no solver is chosen."""
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
        """The better of this one and the best so far."""
        if state.best is None or not state.best.is_better_than(review):
            state.best, state.best_visits = review, self.visits(state)
        return state.best

    def point(self, problem: Problem, state: AutoState) -> tuple[npt.NDArray[np.float64], Floats]:
        """The weights and the dual point of the solver at work."""
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
        """The gap at which Newton's method asks for a certificate: less after each one that failed."""
        assert self.tol is not None
        return max(self.tol, self._least_newton_gap(problem)) * _NEWTON_MARGIN * 0.5**newton.reviews

    @staticmethod
    def _least_newton_gap(problem: Problem) -> float:
        """The gap that is left to others: none where the loss is smooth by itself."""
        return _LEAST_NEWTON_GAP if problem.ridge < SMOOTH_RIDGE else 0.0

    def _newton_step(self, problem: Problem, state: AutoState, newton: NewtonState) -> None:
        solver = self._newton_of(newton)
        solver.step(problem, newton, self._newton_goal(problem, newton))
        if newton.stalled and newton.is_lost and solver.dtype != np.float64:
            # Single precision was not enough for these residuals; what it led to is not a place to go on from.
            state.newton = Newton(np.float64).start(problem)
            state.newton.visits = newton.visits
        elif newton.stalled:
            self._leave_newton(problem, state, newton)

    def _leave_newton(self, problem: Problem, state: AutoState, newton: NewtonState) -> None:
        """To an interior point on the rows near the margin, or to dual ascent where that would be too much."""
        self._newton_of(newton).look_at_all(problem, newton)
        if newton.stalled:
            self._enter_from_far(problem, state, newton.weights, stretched(problem, newton.alpha))
        else:
            alpha = _at_bounds(problem, newton.alpha)
            near = np.flatnonzero((alpha > 0.0) & (alpha < problem.bound)).astype(np.uint32)
            width = _PART_OF_SOFTNESS * newton.softness
            self._enter_interior(problem, state, near, newton.weights, alpha, width=width)
        state.visits_before = state.steps_before = newton.visits
        state.newton = None

    def _review_newton(self, problem: Problem, state: AutoState, newton: NewtonState, tol: float | None) -> Review:
        """Its weights, with its dual point moved to the bounds, or scaled to the best lower bound that it gives."""
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
        """Begin at these weights; the rows that are not chosen stay at these dual variables."""
        assert self.tol is not None
        fixed = np.array(alpha, np.float64)
        state.interior = self.interior.enter(problem, chosen, weights, fixed, width=width)
        state.fixed = fixed
        if state.dual is not None:
            state.best = self.ascent.review(problem, state.dual, self.tol)
            state.visits_before += self.ascent.visits(state.dual)
            state.steps_before += self.ascent.steps(state.dual)
            state.dual = None
        # The same ladder for every tol, so that a smaller one ends at the same point or later; where iterations cost
        # next to nothing, it begins at its lower end.
        is_cheap = self.interior.price(problem, len(chosen)) < _CHEAP
        aim = min(self.tol, _CHEAP_GAP) if is_cheap else self.tol
        state.target = _INTERIOR_MARGIN * 10.0 ** math.floor(math.log10(max(aim, _LAST_TARGET)))
        state.gaps.clear()

    def _enter_from_far(
        self, problem: Problem, state: AutoState, weights: npt.NDArray[np.float64], alpha: Floats
    ) -> None:
        """An interior point on all rows; where that is too much and few have a part in this point, on those first."""
        everyone = all_rows(problem)
        least = _AT_BOUND * np.minimum(problem.bound, alpha.max(initial=0.0))
        has_part = np.flatnonzero((alpha > least) & (problem.cost > 0.0)).astype(np.uint32)
        price = self.interior.price(problem, len(everyone))
        if price < (np.inf if 4 * len(has_part) > len(everyone) else _AFFORDABLE):
            self._enter_interior(problem, state, everyone, weights, alpha)
        else:
            self._enter_interior(problem, state, has_part, weights, np.zeros(problem.alpha_shape))

    @staticmethod
    def _interior_is_ready(state: AutoState, interior: InteriorState) -> bool:
        return interior.stalled or interior.relative_gap <= state.target

    def _advance_interior(self, problem: Problem, state: AutoState, interior: InteriorState, visits: int) -> bool:
        """Iterations of about so many visits; says whether its point should be looked at."""
        n, before = max(1, len(interior.chosen)), interior.iterations
        self.interior.advance(problem, interior, max(1, visits // n), state.target)
        done = max(1, interior.iterations - before)
        state.visits_before += done * n
        state.steps_before += done
        state.spent += self.interior.price(problem, len(interior.chosen)) * done / INTERIOR_ITERATIONS
        return self._interior_is_ready(state, interior)

    def _whole(self, problem: Problem, state: AutoState, interior: InteriorState) -> npt.NDArray[np.float64]:
        """The dual point of all rows that belongs to the best one of the interior point."""
        return _with_fixed(state, interior, interior.best_alpha)

    def _review_interior(
        self, problem: Problem, state: AutoState, interior: InteriorState, tol: float | None
    ) -> Review:
        """The better of its dual point and the one on the bounds; then more rows, or more iterations."""
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
            return best if best.certificate.relative_gap > tol else review  # which has the support vectors
        if best.certificate.relative_gap > tol:
            self._go_on_inside(problem, state, interior)
            return best
        if interior.stalled or state.target <= _FAR_BELOW * min(tol, _CHEAP_GAP):
            return best
        # A dual point that is good enough but not on its bounds is worth a few more iterations.
        state.target *= 0.1
        return review

    def _on_bounds(self, problem: Problem, state: AutoState, interior: InteriorState) -> npt.NDArray[np.float64]:
        """The dual point with every row on the bound that its multiplier outweighs; the others make up for that.

        In the limit one of a_i and its multiplier u_i is 0. While a_i/cost_i < u_i, row i is taken for one at 0, and
        in the same way for one at its cost.
        """
        cost, bound = problem.cost[interior.chosen], problem.bound[interior.chosen]
        alpha = interior.alpha.copy()
        alpha[interior.lower * cost > interior.alpha] = 0.0
        at_bound = interior.upper * cost > interior.slack
        alpha[at_bound] = bound[at_bound]
        whole = _with_fixed(state, interior, alpha)
        free = np.flatnonzero((whole > 0.0) & (whole < problem.bound)).astype(np.uint32)
        weights, _ = dual_point(problem, whole)
        _core.face_advance(problem.native, free, weights, whole, _products(problem, len(free)))
        return whole

    def _go_on_inside(self, problem: Problem, state: AutoState, interior: InteriorState) -> None:
        """Take in the rows that the fixed dual variables are wrong about; with all there, ask for more, or give up."""
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
        chosen = np.union1d(interior.chosen[~is_far], taken_in).astype(np.uint32)
        is_slow = state.spent > _PATIENCE * self.interior.price(problem, len(everyone))
        if is_slow or len(taken_in) == 0 or 2 * len(chosen) > len(everyone):
            chosen = everyone
        if self.interior.price(problem, len(chosen)) < np.inf:
            self._enter_interior(problem, state, chosen, weights, alpha)
        else:
            self._polish(problem, state, alpha if state.best is None else state.best.alpha)

    def _polish(self, problem: Problem, state: AutoState, alpha: Floats) -> None:
        """Go on with dual ascent alone, for those who need the weights of the dual point itself."""
        steps, visits = self.steps(state), self.visits(state)
        state.pegasos = state.newton = state.interior = None
        state.steps_before, state.visits_before = steps, visits
        state.dual = self._precise.enter(problem, alpha, state.seed)
        state.is_polishing = True

    # Dual ascent and Pegasos

    @property
    def _precise(self) -> DualAscent:
        return replace(self.ascent, dtype=np.float64)

    def _ascent_price(self, problem: Problem, gap: float) -> float:
        """Nanoseconds that dual ascent is expected to take, for any number of threads and any tol.

        Choices that do not depend on tol make a run for a smaller one pass through the points of a run for a larger.
        """
        positive = float(np.mean(problem.sign > 0))
        rarity = min(1.0, 0.3 + 2.0 * min(positive, 1.0 - positive))
        epochs = rarity * (4.0 + 3.0 * gap)
        return epochs * self._epoch_price(problem)

    def _epoch_price(self, problem: Problem) -> float:
        """Nanoseconds of an epoch of dual ascent; rows scattered over more memory than caches hold come later."""
        assert isinstance(problem.rows, Rows)
        n, stored = problem.rows.n_rows, problem.rows.n_stored
        visit = 30.0 + 0.5 * stored / n + 20.0 * max(0.0, math.log2(stored / _CACHED))
        return n * visit + _LOOK / epochs_per_look(problem)

    def _review_dual(self, problem: Problem, state: AutoState, dual: Climbing, tol: float | None) -> Review:
        """Where the estimate was wrong in single precision, dual ascent goes on in double; there, others go on."""
        claimed = self.ascent.estimate(problem, dual)
        review = self.ascent.review(problem, dual, tol)
        if tol is not None and claimed <= tol < review.certificate.relative_gap and state.pegasos is None:
            if dual.alpha.dtype == np.float64:
                self._leave_ascent(problem, state, dual, review)
            else:
                self._go_on_in_double(problem, state, dual)
        return review

    def _leave_ascent(self, problem: Problem, state: AutoState, dual: Climbing, review: Review) -> None:
        """Where the digits of w(alpha) are the limit, an interior point has more; after it, nothing has."""
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

    def _consider(self, problem: Problem, state: AutoState) -> None:
        """At the end of an epoch of dual ascent: change over where that is less work than the epochs to come."""
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
        has_tried = spent * epoch > _TRIAL * min(price, _AFFORDABLE)
        if has_tried and to_go * epoch > 2.0 * min(price, 5.0 * _AFFORDABLE):
            self._enter_from_far(problem, state, *self.ascent.point(problem, state.dual))
        elif price > _FACE_PRICE * epoch and to_go > _FACE_EPOCHS and len(state.gaps) >= (4 if state.faces == 0 else 2):
            self._move_on_face(problem, state, state.dual)

    def _move_on_face(self, problem: Problem, state: AutoState, dual: Climbing) -> None:
        """Conjugate gradients over the rows between their bounds; dual ascent goes on from there in double."""
        alpha = problem.within_bounds(dual.alpha).astype(np.float64)
        free = np.flatnonzero((alpha > 0.0) & (alpha < problem.bound)).astype(np.uint32)
        if len(free) > problem.rows.n_features:  # more rows than the weights can satisfy at once
            return
        weights, _ = dual_point(problem, alpha)
        products, _, _ = _core.face_advance(problem.native, free, weights, alpha, _products(problem, len(free)))
        state.visits_before += self.ascent.visits(dual) + 2 * products * len(free)
        state.steps_before += self.ascent.steps(dual) + products
        state.dual = self._precise.enter(problem, alpha, dual.random)
        state.faces += 1
        state.gaps.clear()


def _best_of_both(problem: Problem, one: Review, other: Review) -> Review:
    """The weights of the lower primal with the dual point of the better lower bound: any two are certified together."""
    lower = min(one, other, key=lambda review: review.certificate.primal)
    higher = max(one, other, key=lambda review: review.certificate.dual)
    if lower is higher:
        return lower
    return Review(certify(problem, lower.weights, higher.alpha), lower.weights, higher.alpha)


def _time_for_steps() -> float:
    """The price of a second-order method whose first step takes all the time that is left."""
    seconds = time_left()
    return math.inf if seconds is None else 1e9 * _SECOND_ORDER_STEPS * seconds


def _end_of_stretch(problem: Problem, visits: int) -> int:
    """Where dual ascent is looked at again, by the number of all visits."""
    stretch = problem.rows.n_rows * epochs_per_look(problem)
    return (visits // stretch + 1) * stretch


def _with_fixed(state: AutoState, interior: InteriorState, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The dual point of all rows, from that of the rows that an interior point works on."""
    assert state.fixed is not None
    whole = state.fixed.copy()
    whole[interior.chosen] = alpha
    return np.asarray(whole, np.float64)


def _at_bounds(problem: Problem, alpha: Floats) -> npt.NDArray[np.float64]:
    """The dual point with what is next to a bound moved there; a loss with a ridge has no such rows."""
    if problem.ridge > 0.0:
        return np.array(alpha, np.float64)
    moved = np.array(alpha, np.float64)
    at_bound = moved >= (1.0 - _AT_BOUND) * problem.bound
    moved[moved <= _AT_BOUND * problem.cost] = 0.0
    moved[at_bound] = problem.bound[at_bound]
    return moved


def all_rows(problem: Problem) -> npt.NDArray[np.uint32]:
    """The rows that cost anything."""
    return np.flatnonzero(problem.cost > 0.0).astype(np.uint32)


def _heaviest(problem: Problem, weight: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.uint32]:
    """The rows of the largest weight, without those that cost nothing."""
    weight = np.where(problem.cost > 0.0, weight, -np.inf)
    chosen = np.argpartition(-weight, most)[:most] if most < len(weight) else np.arange(len(weight))
    return np.sort(chosen[weight[chosen] > 0.0]).astype(np.uint32)


def _products(problem: Problem, n_rows: int) -> int:
    """How many products with so many rows a call of the conjugate gradients may take."""
    assert isinstance(problem.rows, Rows)
    stored = problem.rows.n_stored / problem.rows.n_rows
    return int(np.clip(_FACE_WORK / (2.0 * max(n_rows, 1) * (stored + 10.0)), 10, _MOST_PRODUCTS))


def _looks_to_go(gaps: list[float], tol: float) -> float:
    """How many more looks at the rate of the second half of those behind."""
    half = len(gaps) // 2
    if not gaps[half] > gaps[-1] > 0.0 or not tol > 0.0:
        return math.inf
    return (len(gaps) - 1 - half) * math.log(gaps[-1] / tol) / math.log(gaps[half] / gaps[-1])
