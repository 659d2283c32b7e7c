"""Newton's method on a smoothed problem, while the smoothing goes to zero.

    P_s(w) = lam/2 |w|^2 + (1/total) sum_i cost_i s log(1 + exp(r_i/s))
    r_i = 1 - sign_i (<w, x_i> + offset_i)

where s is the softness. At its minimum w = w(alpha) with alpha_i = cost_i/(1 + exp(-r_i/s)), a dual point of the
original problem, and the duality gap of the pair is (1/total) sum_i (cost_i max(0, r_i) - alpha_i r_i). It falls with
the square of s, because only rows within a few s of the margin contribute to it. Only these rows bend the objective, so
its second derivatives are cheap; the number of steps hardly depends on lam or on the conditioning; and all but the
last steps can use a sample of the rows. (Lee, Mangasarian: SSVM, Computational Optimization and Applications 20,
2001; Chapelle: Training a support vector machine in the primal, Neural Computation 19, 2007.) From any weights, the
method reaches a point with a small gap, not a tiny one: the last digits are left to other solvers. The passes over the
rows, which threads share, are in cpp/core/pegasos/newton.h.

A loss with a ridge is already smooth. There the softness is a larger ridge, which falls to the ridge of the loss and no
further, and the gap of the smoothing falls to 0 with it (Keerthi, DeCoste: A modified finite Newton method for fast
solution of large scale linear SVMs. JMLR 6, 2005, for the squared hinge).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats, Problem, Rows
from pegasos.solvers.interior_point import InteriorPoint

Vector = npt.NDArray[np.float64]
Sums = tuple[float, float, float, int]  # losses, gap, sum of alpha, number of rows that bend the objective

_FIRST_SOFTNESS = 0.6
_SOFTNESS_FACTOR = 0.4  # factor on the softness when its minimum is near enough
_SAMPLE_RATIO = 4  # ratio of the sizes of consecutive samples
_ROWS_PER_FEATURE = 8  # least number of rows per feature in a sample
_FEWEST_ROWS = 2000  # least number of rows in a sample
_FEWEST_SMOOTH_ROWS = 500  # least number of rows in a sample where the loss is already smooth
_DIRECT_SIDE = 320  # largest side of a matrix that is recomputed at each step
_CHEAP_SIDE = 32  # side up to which a new matrix costs less than the pass over the rows that an old one may add
_KEPT_REDUCTION = (
    0.01  # a step that reduces the gap of a smooth loss to this fraction leaves its matrix to the next one
)
_LARGEST_SIDE = 1500  # largest side of any matrix
_MOST_STEPS = 80
_MOST_STEPS_HERE = 12  # steps at one softness and on the same rows: more would hardly find the minimum either
_HOPELESS_GAP = 1e3  # relative gap that the method never recovers from if it has not been below after _MOST_STEPS_HERE
# nanoseconds of an interior point on all rows above which further steps are taken while they halve the gap
_EXPENSIVE_SUCCESSOR = 1e8
# nanoseconds of an interior point above which a gap counts as hopeless only after twice as many steps
_VERY_EXPENSIVE_SUCCESSOR = 2e9
_MOST_PRODUCTS = 30
_PATIENCE = 8  # products after which a new matrix is worth its cost
_THREAD_SPEEDUP = 1.6  # assumed on every machine: the choice of a solver must not depend on the machine
SMOOTH_RIDGE = 0.05  # ridge of a loss above which no smaller smoothing is needed on the way to the last digits
_SMOOTH_WORK = 0.25  # nanoseconds per product of two values of a row, over all steps
_SEPARABLE = 1e-3  # fraction of the objective of the zero vector below which the classes are practically separated


@dataclass
class NewtonState:
    """A point and what is known about it, as plain picklable arrays."""

    weights: Vector
    softness: float
    stride: int  # every stride-th row is examined; 1 means all rows
    residual: Floats  # residuals of the examined rows
    other: Floats  # residuals at the point that a step aims at
    alpha: Floats
    moved: Floats  # dual variables at the point that a step aims at
    sum: Vector  # sum_i alpha_i sign_i x_i
    primal: float = np.inf  # objective on the examined rows
    dual: float = 0.0
    smoothing: float = np.inf  # part of the gap that is due to the softness
    curved: int = 0  # number of rows that bend the objective
    width: float = 1.0  # half-width, in units of softness, of the region that the second derivatives cover
    factor: Vector | None = None  # factor of a matrix close to the second derivatives
    keeps_factor: bool = False  # whether the next step may use the factor of the last one
    visits: int = 0
    steps: int = 0
    steps_here: int = 0  # steps since the softness or the examined rows changed
    halved_at: int = 0  # value of `steps_here` when the gap had last fallen by half
    halved_gap: float = np.inf  # the gap at that time
    least_gap: float = np.inf  # smallest gap after any step
    reviews: int = 0  # number of certificates requested
    stalled: bool = False
    is_lost: bool = False  # whether it stalled because no descent direction or no minimum was found
    sample: Problem | None = field(default=None, repr=False)  # problem of the examined rows

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "sample": None}

    def take_stock(self, rows: Problem, loss: float, gap: float, alpha_sum: float, curved: int) -> None:
        """Record the sums of a pass over the examined rows."""
        self.primal = 0.5 * rows.lam * inner(self.weights, self.weights) + loss / rows.total
        square = inner(self.sum, self.sum) / (rows.lam * rows.total) / rows.total
        self.dual = alpha_sum / rows.total - 0.5 * square
        self.smoothing = gap / rows.total
        self.curved = curved

    @property
    def gap(self) -> float:
        """Relative gap on the examined rows."""
        return (self.primal - self.dual) / self.primal if 0.0 < self.primal < np.inf else np.inf


@dataclass(frozen=True)
class Newton:
    """Settings: the type of the per-row arrays."""

    dtype: npt.DTypeLike = np.float64

    @staticmethod
    def price(problem: Problem) -> float:
        """Estimate the nanoseconds that a solution takes; infinite where the matrices would be too large."""
        rows = problem.rows
        assert isinstance(rows, Rows)
        n, side = rows.n_rows, rows.n_features + 1
        is_smooth = problem.ridge >= SMOOTH_RIDGE
        fewest = max(_FEWEST_SMOOTH_ROWS, side) if is_smooth else max(_FEWEST_ROWS, _ROWS_PER_FEATURE * side)
        if side > _LARGEST_SIDE or n < fewest:
            return np.inf
        stored = rows.n_stored / n
        passes = 4.0 + 6.0 * min(1.0, 64.0 * side / n)
        row = 20.0 + 0.7 * stored
        if side <= _DIRECT_SIDE:
            curvature, factors = min(stored**2, side**2 / 32.0), 15.0 * side**3 / 24.0
        else:
            curvature, factors = 15.0 * row, 0.6 * side**3
        if is_smooth:  # most violating rows bend the objective at every step
            curvature = max(curvature, _SMOOTH_WORK * min(stored**2, 0.5 * side**2))
        return n * (passes * row + curvature) / _THREAD_SPEEDUP + factors

    def start(self, problem: Problem) -> NewtonState:
        """Start at the zero vector with the smallest sample."""
        n, side = problem.rows.n_rows, problem.rows.n_features + 1
        stride = 1
        fewest = _FEWEST_SMOOTH_ROWS if problem.ridge >= SMOOTH_RIDGE else _FEWEST_ROWS
        while n // (stride * _SAMPLE_RATIO) >= max(_ROWS_PER_FEATURE * side, fewest):
            stride *= _SAMPLE_RATIO
        none = np.empty(0, self.dtype)
        softness = problem.ridge if np.isinf(problem.cap) else max(_FIRST_SOFTNESS, problem.ridge)
        state = NewtonState(np.zeros(side), softness, stride, none, none, none, none, np.zeros(side))
        self._look(problem, state, stride)
        state.visits = 0  # the run starts here
        return state

    def step(self, problem: Problem, state: NewtonState, tol: float) -> None:
        """Take one step, after which the softness may shrink or the sample grow."""
        rows = self._rows(problem, state)
        gradient = rows.lam * state.weights - state.sum / rows.total
        move = self._direction(rows, state, gradient)
        slope = inner(gradient, move)
        state.steps += 1
        state.steps_here += 1
        state.visits += rows.rows.n_rows
        state.stalled = state.is_lost = state.steps >= _MOST_STEPS or not slope < 0.0
        if state.stalled:
            return
        before, smoothing, primal = state.gap, state.smoothing, state.primal
        t = self._move(rows, state, move, slope)
        # A short step met rows that bend the objective outside the covered region, so widen it.
        if t < 0.2 and rows.ridge == 0.0:
            state.width *= 2.0
        elif t > 0.4:
            state.width = max(1.0, 0.5 * state.width)
        # A sample does not determine the weights better than this.
        enough = tol if state.stride == 1 else max(tol, 12.0 * len(move) / rows.rows.n_rows)
        is_smooth = smoothing > 0.5 * enough * primal and state.softness > rows.ridge
        allowed = 2.0 * smoothing if state.softness > rows.ridge else 0.25 * enough * primal
        is_near = t == 1.0 and -0.5 * slope <= allowed
        if is_near and is_smooth:
            state.softness = max(_SOFTNESS_FACTOR * state.softness, rows.ridge)
            state.steps_here = 0
            self._smooth(rows, state, 0.0)
        is_stuck = self._is_stuck(problem, state)
        # Few rows have changed sides where a whole step led so near: the same matrix is good enough for the next.
        is_expensive = rows.ridge >= SMOOTH_RIDGE and len(move) > _CHEAP_SIDE
        state.keeps_factor = is_expensive and t == 1.0 and state.gap <= _KEPT_REDUCTION * before
        # Where the optimum is nearly 0, ever smaller reductions of the softness would be needed; other solvers do
        # better. A smooth loss needs none.
        least = 0.0 if rows.ridge >= SMOOTH_RIDGE else _SEPARABLE * problem.lam * problem.radius**2
        is_separable = not least < state.primal < np.inf
        state.stalled = (is_separable or is_stuck) and state.stride == 1
        if state.stride > 1 and (is_separable or is_stuck or (is_near and not is_smooth)):
            self._look(problem, state, state.stride // _SAMPLE_RATIO)

    @staticmethod
    def _is_stuck(problem: Problem, state: NewtonState) -> bool:
        """Whether there were too many steps at this softness, or too many in all without coming near the optimum."""
        if state.steps_here <= 1 or state.gap <= 0.5 * state.halved_gap:
            state.halved_at, state.halved_gap = state.steps_here, state.gap
        state.least_gap = min(state.least_gap, state.gap)
        if state.steps < _MOST_STEPS_HERE:
            return False
        rows = problem.rows
        assert isinstance(rows, Rows)
        successor = InteriorPoint.price_of(rows.n_rows, rows.n_features, rows.n_stored / rows.n_rows)
        enough = _MOST_STEPS_HERE if successor < _VERY_EXPENSIVE_SUCCESSOR else 2 * _MOST_STEPS_HERE
        if state.least_gap > _HOPELESS_GAP and state.steps >= enough:
            return True
        if state.steps_here < _MOST_STEPS_HERE:
            return False
        return successor < _EXPENSIVE_SUCCESSOR or state.steps_here - state.halved_at >= _MOST_STEPS_HERE

    def look_at_all(self, problem: Problem, state: NewtonState) -> None:
        """Continue with all rows."""
        if state.stride > 1:
            self._look(problem, state, 1)

    def alpha_of_all(self, problem: Problem, state: NewtonState) -> Floats:
        """Compute the dual variables of all rows without continuing with them."""
        if state.stride == 1:
            return state.alpha
        return self._known(problem, state.weights, state.softness)[1]

    def _rows(self, problem: Problem, state: NewtonState) -> Problem:
        """Return the problem of the examined rows."""
        if state.sample is None:
            state.sample = _sample(problem, state.stride)
        return state.sample

    def _look(self, problem: Problem, state: NewtonState, stride: int) -> None:
        """Switch to other rows at the same point; the state changes only once everything about them is computed."""
        rows = _sample(problem, stride)
        if not rows.cost.any():
            stride, rows = 1, problem
        residual, alpha, total, found = self._known(rows, state.weights, state.softness)
        state.stride, state.sample, state.factor, state.steps_here = stride, rows, None, 0
        state.keeps_factor = False
        state.residual, state.other, state.alpha, state.sum = residual, np.empty_like(residual), alpha, total
        state.moved = np.empty_like(alpha)
        state.visits += rows.rows.n_rows
        state.take_stock(rows, *found)

    def _known(self, rows: Problem, weights: Vector, softness: float) -> tuple[Floats, Floats, Vector, Sums]:
        """Compute residuals, alpha, the sum of alpha_i sign_i x_i and the other sums at some weights."""
        residual, alpha = (np.zeros(rows.rows.n_rows, self.dtype) for _ in range(2))
        total = np.zeros(len(weights))
        arrays = residual, residual, softness, alpha, alpha, total
        found = _core.arrive(rows.native, weights.astype(self.dtype), *arrays)
        return residual, alpha, total, found[:4]

    def _move(self, rows: Problem, state: NewtonState, move: Vector, slope: float) -> float:
        """Go as far along the move as about minimizes the objective, at most to its end; return how far."""
        end, moved_sum = state.weights + move, state.sum.copy()
        arrays = state.residual, state.other, state.softness, state.alpha, state.moved, moved_sum
        found = _core.arrive(rows.native, end.astype(self.dtype), *arrays)
        t = self._length(rows, state, move, slope, found[4:])
        if t == 1.0:
            state.weights, state.sum = end, moved_sum
            state.residual, state.other = state.other, state.residual
            state.alpha, state.moved = state.moved, state.alpha
            state.take_stock(rows, *found[:4])
        else:
            state.weights = state.weights + t * move
            self._smooth(rows, state, t)
        return t

    def _smooth(self, rows: Problem, state: NewtonState, t: float) -> None:
        """Move to t on the line between the two residual vectors, and record the sums there."""
        found = _core.smooth(rows.native, state.residual, state.other, t, state.softness, state.alpha, state.sum)
        state.take_stock(rows, *found)

    def _direction(self, rows: Problem, state: NewtonState, gradient: Vector) -> Vector:
        """Return the minimum of the quadratic model of the smoothed objective."""
        factor = state.factor
        if factor is None or (len(gradient) <= _DIRECT_SIDE and not state.keeps_factor):
            state.factor = factor = self._factor(rows, state)
            is_exact = len(gradient) <= _DIRECT_SIDE
        else:
            is_exact = False
        move = _solve(factor, -gradient)
        return move if is_exact else self._improved(rows, state, factor, gradient, move)

    def _improved(self, rows: Problem, state: NewtonState, factor: Vector, gradient: Vector, eased: Vector) -> Vector:
        """Improve the direction by conjugate gradients: the factor is that of another point, or of a sample of rows."""
        move, left, along = np.zeros_like(gradient), -gradient, eased
        square = first = inner(left, eased)
        if not first > 0.0:
            return move
        n_products = 0
        while n_products < _MOST_PRODUCTS:
            n_products += 1
            bent = self._bent(rows, state, along)
            length = square / inner(along, bent)
            move += length * along
            left -= length * bent
            eased = _solve(factor, left)
            before, square = square, inner(left, eased)
            if not square > 0.01 * first:
                break
            along = eased + square / before * along
        if n_products > _PATIENCE:
            state.factor = None
        return move

    def _bent(self, rows: Problem, state: NewtonState, vector: Vector) -> Vector:
        """Multiply the second derivatives by a vector."""
        out = np.zeros_like(vector)
        _core.bend(rows.native, state.residual, state.width * state.softness, vector.astype(self.dtype), out)
        return out / rows.total + rows.lam * vector

    def _factor(self, rows: Problem, state: NewtonState) -> Vector:
        """Factor the second derivatives, computed from all rows or estimated from a sample."""
        side = len(state.weights)
        every = 1 if side <= _DIRECT_SIDE else max(1, state.curved // (10 * side))
        matrix = np.empty((side, side))
        _core.bent_factor(rows.native, state.residual, state.width * state.softness, every, matrix)
        return matrix

    def _length(
        self, rows: Problem, state: NewtonState, move: Vector, slope: float, at_end: tuple[float, float]
    ) -> float:
        """Step length that about minimizes the objective, from the derivatives of the losses at the end of the line."""
        first, second = at_end
        along, square = rows.lam * inner(state.weights, move), rows.lam * inner(move, move)
        low, high, t = 0.0, 1.0, 1.0
        for _ in range(20):
            first, second = first / rows.total + along + t * square, second / rows.total + square
            if (first if t == 1.0 else 3.0 * abs(first)) <= -0.3 * slope:
                break
            low, high = (low, t) if first > 0.0 else (t, high)
            t = t - first / second
            if not low < t < high:
                t = 0.5 * (low + high)
            first, second = _core.slope(rows.native, state.residual, state.other, t, state.softness)
        return t


def _sample(problem: Problem, stride: int) -> Problem:
    """Return the problem of every stride-th row with all its copies; total is scaled with the costs."""
    if stride == 1:
        return problem
    n, distinct = problem.rows.n_rows, problem.rows.native.n_distinct
    chosen = np.arange(stride // 2, distinct, stride)
    if distinct < n:
        chosen = np.concatenate([chosen + first for first in range(0, n, distinct)])
    if problem.cost.strides == (0,):
        cost, share = problem.cost[: len(chosen)], len(chosen) / n
    else:
        cost = problem.cost[chosen]
        share = float(np.sum(cost)) / float(np.sum(problem.cost)) if cost.any() else 1.0
    return replace(
        problem,
        rows=problem.rows.view(chosen, repeats=n // distinct),
        sign=problem.sign[chosen],
        cost=cost,
        offset=problem.offset[chosen],
        total=problem.total * share,
    )


def inner(a: Vector, b: Vector) -> float:
    """<a, b>; vectors of at most _LARGEST_SIDE entries are too short for BLAS to use threads."""
    return float(np.dot(a, b))


def _solve(factor: Vector, vector: Vector) -> Vector:
    solution = vector.copy()
    _core.solve(factor, solution)
    return solution
