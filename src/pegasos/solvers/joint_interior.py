"""A primal-dual interior point for the problem of all classes at once.

    min_W  mu/2 |W|^2 + sum_i c_i (top_i - g_{i y_i}),   top_i >= g_ir = [r != y_i] + <w_r, x_i> + offset_ir
    max_a  sum_{i, r != y_i} a_ir (1 + offset_ir - offset_{i y_i}) - |V(a)|^2 / (2 mu),   a_ir >= 0,  sum_r a_ir = c_i
    v_r(a) = sum_i (c_i [r = y_i] - a_ir) x_i,   mu = lam total

Both are `total` times the objectives of `JointProblem`; the own class of a row holds the rest of its cost. With
s_ir = top_i - g_ir >= 0 the optimum is where mu W = V(a) and a_ir s_ir = 0 (Crammer, Singer: JMLR 2, 2001). Mehrotra's
predictor and corrector (SIAM J. Optimization 2, 1992): with D = a/s, each direction solves

    (mu I + sum_i B_i (x) x_i x_i') dW = right side,     B_i = diag(d_i) - d_i d_i' / sum_r d_ir

a matrix of classes times features. Further correctors lengthen the step while that pays (Gondzio: Computational
Optimization and Applications 6, 1996): they need another solution, but no other factor. W is a variable of its own, so
that its digits do not suffer from the division by mu. Rows that are fewer than the features are rotated first: W lies
in their span, whose coordinates are as many as the rows. About twenty iterations suffice, whatever lam and the units of
the features. From any weights, the results are the W with the lowest primal and the a with the highest dual objective
found.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.deadline import check_deadline
from pegasos.joint_problem import JointProblem
from pegasos.problem import Floats, Rows, inner
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.interior_point import INTERIOR_ITERATIONS

Values = npt.NDArray[np.float64]

_LONGEST_SIDE = 4096  # largest side of the matrix: 134 MB
_LARGEST_BASIS = 1 << 25  # largest number of values in a basis of the rows: 268 MB
_NANOSECONDS = 0.07  # per multiplication of a dense matrix product
_AROUND = 1e6  # nanoseconds per iteration, whatever the size
_ROW_PASSES = 14  # passes over the rows per class and iteration
_NEARLY_ALL = 0.995  # fraction of the distance to the nearest bound that a step covers
_LEAST_STEP = 1e-13
_MOST_ITERATIONS = 150
_PATIENCE = 25  # iterations without a smaller gap after which the method ends
_LEAST_WIDTH = 1e-8  # least width of the initial products, where all claims of a row are equal
_CENTRING_STEPS = 60
_MOST_CORRECTORS = 3
_LONG_STEP = 0.95  # a step this long needs no further corrector
_AHEAD = 0.3  # by how much a corrector tries to lengthen the step
_WORTHWHILE = 0.1  # fraction of the length tried that a corrector must gain
_CENTRAL = 10.0  # ratio of a product to the center, or of the center to it, that correctors accept
# A share is moved to 0 where its distance from the top, times the cost, is this many times as large.
_CLARITY = 1.0, 1e2, 1e4
_COMPENSATIONS = 3  # corrections of the weights after shares were moved to 0


@dataclass(frozen=True)
class _Basis:
    """Orthonormal columns that span the rows, and the rows in their coordinates."""

    columns: Values
    rows: Rows

    @classmethod
    def of(cls, rows: Rows) -> _Basis:
        """The basis of these rows, with their constant column."""
        values = rows.own_values
        dense = values.toarray() if sp.issparse(values) else values
        constant = np.full((rows.n_rows, 1), rows.bias)
        with one_thread_of_blas():  # whose bits may depend on the number of threads
            columns, upper = np.linalg.qr(np.hstack([dense.astype(np.float64), constant]).T)
        return cls(columns, Rows.of(np.ascontiguousarray(upper.T), 0.0))

    def coordinates(self, weights: Values) -> Values:
        """Project weights on the span; the last coordinate, of a constant column of 0, is 0."""
        return np.hstack([weights @ self.columns, np.zeros((len(weights), 1))])

    def per_feature(self, weights: Values) -> Values:
        """The inverse of `coordinates`."""
        return np.asarray(weights[:, :-1] @ self.columns.T)


@dataclass
class JointInteriorState:
    """An iterate, and the best points found. The entry of a row's own class holds the rest of its cost."""

    chosen: npt.NDArray[np.uint32]  # rows with a positive cost
    weights: Values  # in the coordinates of the basis, if there is one
    shares: Values  # a, rows x classes
    below: Values  # s: how far each claim lies below the top
    best: Values  # weights, as above
    best_shares: Values
    basis: _Basis | None = None
    primal: float = np.inf  # lowest value found, times total
    dual: float = -np.inf  # highest value found, times total
    iterations: int = 0
    smallest_at: int = 0  # iteration with the smallest gap
    stalled: bool = False
    excess: Values = field(default_factory=lambda: np.empty(0))  # mu W - V(a)
    astray: Values = field(default_factory=lambda: np.empty(0))  # top - g - s: 0 except for rounding

    @property
    def best_weights(self) -> Values:
        """The weights with the lowest primal objective so far, per feature."""
        return self.best if self.basis is None else self.basis.per_feature(self.best)

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
        once = 0.0
        if _is_rotated(problem, n_chosen):
            once = 8.0 * n_chosen**2 * side
            side = stored = n_chosen + 1
        if side * (k - 1) > _LONGEST_SIDE:
            return np.inf
        products = 0.5 * k * (k - 1) * n_chosen * min(0.5 * side**2, 8.0 * stored**2)
        visits = n_chosen * k * (60.0 + _ROW_PASSES * (3.0 + 0.5 * stored))
        factor = (side * (k - 1)) ** 3 / 6.0
        return _NANOSECONDS * once + INTERIOR_ITERATIONS * (_AROUND + _NANOSECONDS * (products + factor) + visits)

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
        basis = _Basis.of(problem.rows.view(chosen)) if _is_rotated(problem, len(chosen)) else None
        run = _Run(problem, chosen, basis)
        weights = weights if basis is None else basis.coordinates(weights)
        weights = min((weights - weights.mean(axis=0), np.zeros_like(weights)), key=run.primal)
        claims = run.claims(weights)
        apart = float(np.abs(claims - run.own(claims)).max(axis=1, initial=0.0).mean()) if len(chosen) else 1.0
        centre = max(apart if width is None else width, _LEAST_WIDTH) * float(run.cost.mean()) if len(chosen) else 0.0
        below = _centred(claims, run.cost, centre)
        shares = centre / below
        shares *= (run.cost / shares.sum(axis=1))[:, None]
        weights = weights.astype(np.float64)
        state = JointInteriorState(chosen, weights, shares, below, weights.copy(), shares.copy(), basis)
        run.evaluate(state)
        return state

    def advance(self, problem: JointProblem, state: JointInteriorState, n_iterations: int, tol: float) -> None:
        """Iterate until the relative gap is at most this, or this many times."""
        run = _Run(problem, state.chosen, state.basis)
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

    def on_bounds(self, problem: JointProblem, state: JointInteriorState, tol: float) -> Values:
        """Set every share to 0 that its distance from the top outweighs, and let the others compensate.

        The weights of a dual point amplify what it lost. A step toward mu W = V(a) over the remaining shares makes up
        for it, which may push some of them below 0: then fewer shares are moved, until the relative gap is at most tol.
        """
        run = _Run(problem, state.chosen, state.basis)
        system = _System(run, state.shares / state.below)
        best = state.best_shares
        highest = -np.inf
        for clarity in _CLARITY:
            shares = run.without(state, system, state.below * run.cost[:, None] > clarity * state.shares)
            dual, _ = run.dual(shares)
            if dual > highest:
                highest, best = dual, shares
            if state.primal - dual <= tol * state.primal:
                break
        return self.alpha_of(problem, state, best)


def _is_rotated(problem: JointProblem, n_chosen: int) -> bool:
    """Whether rows that are fewer than the features are given by their coordinates in a basis."""
    n_features = problem.rows.n_features
    return n_chosen < n_features and n_chosen * (n_features + 1) <= _LARGEST_BASIS


class _Run:
    """The chosen rows of a problem, and an iteration over them."""

    def __init__(self, problem: JointProblem, chosen: npt.NDArray[np.uint32], basis: _Basis | None):
        is_all = len(chosen) == problem.rows.n_rows
        of_features = problem.rows if is_all else problem.rows.view(chosen)
        self.rows: Rows = of_features if basis is None else basis.rows
        self.codes = problem.codes[chosen][:, None].astype(np.intp)
        self.cost = problem.cost[chosen].astype(np.float64)
        self.offset = problem.offset[chosen]
        self.mu = problem.lam * problem.total
        self.n_classes = problem.n_classes
        self.side = self.rows.n_features + 1

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

    def dual(self, shares: Values) -> tuple[float, Values]:
        """The dual objective, times total, and V(a)."""
        moved = -shares
        np.put_along_axis(moved, self.codes, 0.0, axis=1)
        gain = inner(-moved, 1.0 + self.offset - self.own(np.asarray(self.offset)))
        np.put_along_axis(moved, self.codes, -moved.sum(axis=1, keepdims=True), axis=1)
        v = self.sums(moved)
        return gain - 0.5 * inner(v, v / self.mu), v

    def without(self, state: JointInteriorState, system: _System, is_zero: npt.NDArray[np.bool_]) -> Values:
        """The shares with some of them 0, while the others keep mu W = V(a) where that leaves them positive."""
        shares, cost = np.where(is_zero, 0.0, state.shares), self.cost[:, None]
        shares *= cost / shares.sum(axis=1, keepdims=True)
        ratio = np.where(is_zero, 0.0, system.ratio)
        whole = ratio.sum(axis=1, keepdims=True)
        for _ in range(_COMPENSATIONS):
            _, v = self.dual(shares)
            scores = system.against_heaviest(self.scores(system.solve(v - self.mu * state.weights)))
            moved = ratio * (scores - (ratio * scores).sum(axis=1, keepdims=True) / whole)
            shares = np.maximum(shares + np.where(is_zero, 0.0, system.balanced(moved)), 0.0)
            shares *= cost / shares.sum(axis=1, keepdims=True)
        return np.asarray(shares)

    def evaluate(self, state: JointInteriorState) -> None:
        """Compute both objectives, the residual of mu W = V(a), and the rounding residual of s = top - g."""
        claims = self.claims(state.weights)
        primal = self._primal(state.weights, claims)
        dual, v = self.dual(state.shares)
        before = state.relative_gap
        if primal < state.primal:
            state.primal, state.best = primal, state.weights.copy()
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
        products = left**3 * mean - a * s - da * ds
        move, da, ds = direction(products)
        step = _longest(a, da, s, ds)
        for _ in range(_MOST_CORRECTORS):
            if step > _LONG_STEP:
                break
            ahead = min(1.0, step + _AHEAD)
            products = products + _correction((a + ahead * da) * (s + ahead * ds), left**3 * mean)
            found = direction(products)
            longer = _longest(a, found[1], s, found[2])
            if not longer > step + _WORTHWHILE * ahead:
                break
            (move, da, ds), step = found, longer
        step *= _NEARLY_ALL
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
    of them. So the matrix is that of the differences from the last class, and the blocks of the diagonal are the sums
    of the others, which all are sums of positive terms. Near the optimum one class of most rows outweighs the others by
    many orders of magnitude. Its entries follow from those of the others, which would be lost in it.
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
        flat = right[:-1].ravel().copy()
        _core.solve(self.factor, flat)
        found = np.zeros_like(right)
        found[:-1] = flat.reshape(len(right) - 1, -1)
        return np.asarray(found - found.mean(axis=0))

    def _factor(self) -> Values:
        k, side, ratio = self.run.n_classes, self.run.side, self.ratio
        blocks = np.zeros((k - 1, side, k - 1, side))
        for r in range(k):
            check_deadline()
            for s in range(r):
                block = self._gram(ratio[:, r] * (ratio[:, s] / self.whole[:, 0]))
                blocks[s, :, s] += block
                if r < k - 1:
                    blocks[r, :, r] += block
                    block = np.tril(block)
                    np.negative(block + np.tril(block, -1).T, out=blocks[r, :, s])
        matrix: Values = blocks.reshape((k - 1) * side, -1)
        for r in range(k - 1):  # U - mean over all classes, of which the last is 0
            for s in range(r + 1):
                diagonal = np.einsum("jj->j", blocks[r, :, s])
                diagonal += self.run.mu * ((r == s) - 1.0 / k)
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


def _correction(products: Values, centre: float) -> Values:
    """What moves the products at the end of a longer step back toward their center."""
    aim = np.clip(products, centre / _CENTRAL, _CENTRAL * centre)
    return np.maximum(aim - products, -_CENTRAL * centre)


def _longest(a: Values, da: Values, s: Values, ds: Values) -> float:
    """Largest step, at most 1, for which both stay positive."""
    steepest = max(float(np.max(-da / a, initial=1.0)), float(np.max(-ds / s, initial=1.0)))
    return 1.0 / steepest
