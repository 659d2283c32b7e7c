"""A primal-dual interior point for the problem of all classes at once.

    min_W  mu/2 |W|^2 + sum_i c_i (top_i - g_{i y_i}),   top_i >= g_ir = [r != y_i] + <w_r, x_i> + offset_ir
    max_a  sum_{i, r != y_i} a_ir (1 + offset_ir - offset_{i y_i}) - |V(a)|^2 / (2 mu),   a_ir >= 0,  sum_r a_ir = c_i
    v_r(a) = sum_i (c_i [r = y_i] - a_ir) x_i,   mu = lam total

Both are `total` times the objectives of `JointProblem`; the own class of a row holds the rest of its cost. With
s_ir = top_i - g_ir >= 0 the optimum is where mu W = V(a) and a_ir s_ir = 0 (Crammer, Singer: JMLR 2, 2001). Mehrotra's
predictor and corrector (SIAM J. Optimization 2, 1992): with D = a/s, each direction solves

    (mu I + sum_i B_i (x) x_i x_i') dW = right side,     B_i = diag(d_i) - d_i d_i' / sum_r d_ir

a matrix of classes times features. W is a variable of its own, so that its digits do not suffer from the division by
mu. About twenty iterations suffice, whatever lam and the units of the features. From any weights, the results are the W
with the lowest primal and the a with the highest dual objective found.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.deadline import check_deadline
from pegasos.joint_problem import JointProblem
from pegasos.problem import Floats, Rows, inner
from pegasos.solvers.interior_point import INTERIOR_ITERATIONS

Values = npt.NDArray[np.float64]

_LONGEST_SIDE = 3072  # largest side of the matrix: 75 MB
_NANOSECONDS = 0.15  # per multiplication of a dense matrix product
_ROW_PASSES = 14  # passes over the rows per class and iteration
_NEARLY_ALL = 0.995  # fraction of the distance to the nearest bound that a step covers
_LEAST_STEP = 1e-13
_MOST_ITERATIONS = 150
_PATIENCE = 25  # iterations without a smaller gap after which the method ends
_LEAST_WIDTH = 1e-8  # least width of the initial products, where all claims of a row are equal
_CENTRING_STEPS = 60


@dataclass
class JointInteriorState:
    """An iterate, and the best points found. The entry of a row's own class holds the rest of its cost."""

    chosen: npt.NDArray[np.uint32]  # rows with a positive cost
    weights: Values
    shares: Values  # a, rows x classes
    below: Values  # s: how far each claim lies below the top
    best_weights: Values
    best_shares: Values
    primal: float = np.inf  # lowest value found, times total
    dual: float = -np.inf  # highest value found, times total
    iterations: int = 0
    smallest_at: int = 0  # iteration with the smallest gap
    stalled: bool = False
    excess: Values = field(default_factory=lambda: np.empty(0))  # mu W - V(a)
    astray: Values = field(default_factory=lambda: np.empty(0))  # top - g - s: 0 except for rounding

    @property
    def relative_gap(self) -> float:
        """The relative gap of the best points."""
        return (self.primal - self.dual) / self.primal if self.primal > 0.0 else 0.0


@dataclass(frozen=True)
class JointInterior:
    """An interior point for all classes; it has no settings."""

    def price(self, problem: JointProblem, n_chosen: int) -> float:
        """Nanoseconds that a solution is expected to take on one thread; infinite where the matrix is too large."""
        rows, k = problem.rows, problem.n_classes
        side, stored = rows.n_features + 1, rows.n_stored / max(rows.n_rows, 1)
        if side * k > _LONGEST_SIDE:
            return np.inf
        products = 0.5 * k * (k + 1) * n_chosen * min(0.5 * side**2, 8.0 * stored**2)
        visits = n_chosen * k * (60.0 + _ROW_PASSES * (3.0 + 0.5 * stored))
        return INTERIOR_ITERATIONS * (_NANOSECONDS * (products + (side * k) ** 3 / 6.0) + visits)

    def enter(
        self,
        problem: JointProblem,
        chosen: npt.NDArray[np.uint32],
        weights: Values,
        alpha: Floats,
        *,
        width: float | None = None,
    ) -> JointInteriorState:
        """Start at some weights, or at 0 where that is better, with all products a_ir s_ir equal.

        `width` bounds the error of the claims.
        """
        run = _Run(problem, chosen)
        weights = min((weights - weights.mean(axis=0), np.zeros_like(weights)), key=run.primal)
        claims = run.claims(weights)
        apart = float(np.abs(claims - run.own(claims)).max(axis=1, initial=0.0).mean()) if len(chosen) else 1.0
        centre = max(apart if width is None else width, _LEAST_WIDTH) * float(run.cost.mean()) if len(chosen) else 0.0
        below = _centred(claims, run.cost, centre)
        shares = centre / below
        shares *= (run.cost / shares.sum(axis=1))[:, None]
        state = JointInteriorState(chosen, weights.astype(np.float64), shares, below, weights.copy(), shares.copy())
        run.evaluate(state)
        return state

    def advance(self, problem: JointProblem, state: JointInteriorState, n_iterations: int, tol: float) -> None:
        """Iterate until the relative gap is at most this, or this many times."""
        run = _Run(problem, state.chosen)
        for _ in range(n_iterations):
            if state.stalled or state.relative_gap <= tol:
                return
            run.iterate(state)

    def alpha_of(self, problem: JointProblem, state: JointInteriorState, shares: Values) -> Values:
        """Dual point of these shares, in the layout of the problem."""
        alpha = np.zeros(problem.alpha_shape)
        alpha[state.chosen] = shares
        alpha[np.arange(len(alpha)), problem.codes] = 0.0
        return alpha

    def on_bounds(self, problem: JointProblem, state: JointInteriorState) -> Values:
        """Set every share to 0 that its distance from the top outweighs, and let the others compensate."""
        cost = problem.cost[state.chosen][:, None]
        shares = np.where(state.below * cost > state.shares, 0.0, state.shares)
        shares *= cost / shares.sum(axis=1, keepdims=True)
        return self.alpha_of(problem, state, shares)


class _Run:
    """The chosen rows of a problem, and an iteration over them."""

    def __init__(self, problem: JointProblem, chosen: npt.NDArray[np.uint32]):
        is_all = len(chosen) == problem.rows.n_rows
        self.rows: Rows = problem.rows if is_all else problem.rows.view(chosen)
        self.codes = problem.codes[chosen][:, None].astype(np.intp)
        self.cost = problem.cost[chosen].astype(np.float64)
        self.offset = problem.offset[chosen]
        self.mu = problem.lam * problem.total
        self.n_classes = problem.n_classes
        self.side = problem.rows.n_features + 1

    def own(self, values: Values) -> Values:
        """The entry of each row's own class, as a column."""
        return np.take_along_axis(values, self.codes, axis=1)

    def scores(self, weights: Values) -> Values:
        """<w_r, x_i>."""
        found = np.empty((self.rows.n_rows, self.n_classes))
        _core.scores(self.rows.native, np.ascontiguousarray(weights), found)
        return found

    def claims(self, weights: Values) -> Values:
        """g_ir."""
        found = self.scores(weights) + self.offset + 1.0
        np.put_along_axis(found, self.codes, self.own(found) - 1.0, axis=1)
        return found

    def primal(self, weights: Values) -> float:
        """The primal objective, times total."""
        return self._primal(weights, self.claims(weights))

    def _primal(self, weights: Values, claims: Values) -> float:
        loss = inner(self.cost, claims.max(axis=1, initial=-np.inf) - self.own(claims)[:, 0])
        return 0.5 * self.mu * inner(weights, weights) + loss

    def sums(self, coefficients: Values) -> Values:
        """sum_i coefficients_ir x_i, for every class."""
        found = np.zeros((self.n_classes, self.side))
        for r in range(self.n_classes):
            _core.weighted_sum(self.rows.native, np.ascontiguousarray(coefficients[:, r]), found[r])
        return found

    def evaluate(self, state: JointInteriorState) -> None:
        """Compute both objectives, the residual of mu W = V(a), and the rounding residual of s = top - g."""
        claims = self.claims(state.weights)
        primal = self._primal(state.weights, claims)
        moved = -state.shares
        np.put_along_axis(moved, self.codes, 0.0, axis=1)
        gain = inner(-moved, 1.0 + self.offset - self.own(np.asarray(self.offset)))
        np.put_along_axis(moved, self.codes, -moved.sum(axis=1, keepdims=True), axis=1)
        v = self.sums(moved)
        dual = gain - 0.5 * inner(v, v / self.mu)
        before = state.relative_gap
        if primal < state.primal:
            state.primal, state.best_weights = primal, state.weights.copy()
        if dual > state.dual:
            state.dual, state.best_shares = dual, state.shares.copy()
        if not state.relative_gap >= 0.9 * before:
            state.smallest_at = state.iterations
        state.excess = self.mu * state.weights - v
        top = (claims + state.below).mean(axis=1, keepdims=True)
        state.astray = top - claims - state.below

    def iterate(self, state: JointInteriorState) -> None:
        """Predictor, corrector, step; if the time runs out in between, the point does not change."""
        a, s = state.shares, state.below
        system = _System(self, a / s)
        mean = float((a * s).mean())

        def direction(products: Values) -> tuple[Values, Values, Values]:
            pushed = (products - a * state.astray) / s
            move = system.solve(-state.excess - self.sums(system.evened(pushed)))
            scores = system.against_heaviest(self.scores(move))
            rise = (pushed + system.ratio * scores).sum(axis=1, keepdims=True) / system.whole
            lift = rise - scores + state.astray
            return move, system.balanced((products - a * lift) / s), lift

        _, da, ds = direction(-a * s)
        step = _longest(a, da, s, ds)
        left = max(float(((a + step * da) * (s + step * ds)).mean()) / mean, 0.0)
        move, da, ds = direction(left**3 * mean - a * s - da * ds)
        step = _NEARLY_ALL * _longest(a, da, s, ds)
        state.iterations += 1
        if not step > _LEAST_STEP or not np.isfinite(inner(move, move)):
            state.stalled = True
            return
        state.weights = state.weights + step * move
        state.shares, state.below = a + step * da, s + step * ds
        self.evaluate(state)
        state.stalled = state.iterations >= _MOST_ITERATIONS or state.iterations - state.smallest_at > _PATIENCE


class _System:
    """The matrix of a direction, factored; `ratio` is a/s.

    B_i says nothing about a vector that is added to all classes, and neither do right sides: classes add up to 0 in all
    of them. So c_i 1 1' may be added to B_i, without which mu alone would hold such vectors. Near the optimum one class
    of most rows outweighs the others by many orders of magnitude. Its entries follow from those of the others, which
    would be lost in it.
    """

    def __init__(self, run: _Run, ratio: Values):
        self.run, self.ratio = run, ratio
        self.whole = ratio.sum(axis=1, keepdims=True)
        self.heaviest = ratio.argmax(axis=1)[:, None]
        self.factor = self._factor()

    def balanced(self, values: Values) -> Values:
        """Change the heaviest class of each row, so that rows sum to 0."""
        np.put_along_axis(values, self.heaviest, 0.0, axis=1)
        np.put_along_axis(values, self.heaviest, -values.sum(axis=1, keepdims=True), axis=1)
        return values

    def against_heaviest(self, scores: Values) -> Values:
        """Differences from the entry of the heaviest class."""
        return scores - np.take_along_axis(scores, self.heaviest, axis=1)

    def evened(self, pushed: Values) -> Values:
        """What remains of a push on each share when the sum of a row must not change."""
        return self.balanced(pushed - self.ratio * (pushed.sum(axis=1, keepdims=True) / self.whole))

    def solve(self, right: Values) -> Values:
        """The solution for this right side, classes x features, with one step of refinement."""
        found = self._once(right)  # for classes that sum to 0
        bent = self.run.sums(self.evened(self.ratio * self.against_heaviest(self.run.scores(found))))
        return found + self._once(right - self.run.mu * found - bent)

    def _once(self, right: Values) -> Values:
        flat = right.ravel().copy()
        _core.solve(self.factor, flat)
        found = flat.reshape(right.shape)
        return np.asarray(found - found.mean(axis=0))

    def _factor(self) -> Values:
        k, side, ratio = self.run.n_classes, self.run.side, self.ratio
        blocks = np.zeros((k, side, k, side))
        own = np.zeros_like(ratio)
        for r in range(k):
            check_deadline()
            for s in range(r):
                shared = ratio[:, r] * (ratio[:, s] / self.whole[:, 0])
                own[:, r] += shared
                own[:, s] += shared
                block = np.tril(self._gram(shared))
                blocks[r, :, s] = -(block + np.tril(block, -1).T)
        for r in range(k):
            blocks[r, :, r] = np.tril(self._gram(own[:, r])) + self.run.mu * np.eye(side)
        block = np.tril(self._gram(own.sum(axis=1) / k**2))
        blocks += (block + np.tril(block, -1).T)[None, :, None, :]
        matrix: Values = blocks.reshape(k * side, k * side)
        check_deadline()
        _core.factor(matrix)
        check_deadline()
        return matrix

    def _gram(self, scale: Values) -> Values:
        """Lower triangle of the sum of scale_i x_i x_i'; the upper triangle is undefined."""
        block = np.zeros((self.run.side, self.run.side))
        _core.weighted_gram(self.run.rows.native, np.ascontiguousarray(scale), block)
        return block


def _centred(claims: Values, cost: Values, centre: float) -> Values:
    """How far a top must be above each claim for centre/s to add up to the cost: Newton's method, row by row.

    The sum is convex and falls with the top, so that Newton's method rises to it from the lowest possible place, where
    the highest claim alone would take the whole cost.
    """
    highest = claims.max(axis=1, keepdims=True, initial=-np.inf)
    apart = highest - claims
    lift = centre / cost[:, None]
    for _ in range(_CENTRING_STEPS):
        parts = centre / (apart + lift)
        excess = parts.sum(axis=1, keepdims=True) / cost[:, None] - 1.0
        if not (excess > 1e-9).any():
            break
        lift = lift + excess * cost[:, None] / (parts / (apart + lift)).sum(axis=1, keepdims=True)
    return np.asarray(apart + lift)


def _longest(a: Values, da: Values, s: Values, ds: Values) -> float:
    """Largest step, at most 1, for which both stay positive."""
    steepest = max(float(np.max(-da / a, initial=1.0)), float(np.max(-ds / s, initial=1.0)))
    return 1.0 / steepest
