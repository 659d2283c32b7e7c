"""Newton's method on a smoothed problem, while the smoothing goes to nothing.

    P_s(w) = lam/2 |w|^2 + (1/total) sum_i cost_i s log(1 + exp(r_i/s))
    r_i = 1 - sign_i (<w, x_i> + offset_i)

with s for the softness. At its minimum w = w(alpha) with alpha_i = cost_i/(1 + exp(-r_i/s)), a dual point of the
problem itself, and the duality gap of the two is (1/total) sum_i (cost_i max(0, r_i) - alpha_i r_i): it falls with the
square of s, as only rows within a few s of the margin have a part in it. Only these rows bend the objective, so that
its second derivatives cost little; the number of steps hardly depends on lam or on the conditioning; and all but the
last steps can do with a sample of the rows. (Lee, Mangasarian: SSVM, Computational Optimization and Applications 20,
2001; Chapelle: Training a support vector machine in the primal, Neural Computation 19, 2007.) Given any weights, the
result is a point with a gap that is small, not tiny: that is left to others. The passes over the rows, which threads
share: cpp/core/pegasos/newton.h.

A loss with a ridge is smooth by itself: there the softness is a larger ridge, which falls to that of the loss and no
further, and with it the gap of the smoothing to 0 (Keerthi, DeCoste: A modified finite Newton method for fast solution
of large scale linear SVMs. JMLR 6, 2005, for the squared hinge).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.problem import Floats, Problem, Rows, inner

Vector = npt.NDArray[np.float64]
Sums = tuple[float, float, float, int]  # the losses, the gap, the sum of alpha, and how many rows bend the objective

_first_softness = 0.6
_smaller = 0.4  # softness, when its minimum is near enough
_coarser = 4  # each sample has one row where the next one has so many
_rows_a_feature = 8  # of a sample, at least
_fewest = 2000  # rows of a sample
_fewest_smooth = 500  # rows, where the loss is smooth by itself
_direct = 320  # side of a matrix that is computed anew at each step
_largest = 1500  # side of a matrix
_most_steps = 80
_most_steps_here = 12  # at one softness and on the same rows: more do not find its minimum either
_most_products = 30
_patience = 8  # products, after which a new matrix is worth its price
_threads = 1.6  # that are taken to help, on whatever machine: the choice of a solver must not depend on it
SMOOTH_RIDGE = 0.05  # of a loss, from which no smaller smoothing is needed on the way to the last digits
_smooth_work = 0.5  # nanoseconds per product of two values of a row, in all steps
_separable = 0.01  # of the objective of the zero vector: with less than that the classes are as good as separated


@dataclass
class NewtonState:
    """A point and what is known there: plain arrays, picklable."""

    weights: Vector
    softness: float
    stride: int  # every k-th row is looked at; 1: all
    residual: Floats  # of the rows looked at
    other: Floats  # those of the point that a step aims at
    alpha: Floats
    sum: Vector  # sum_i alpha_i sign_i x_i
    primal: float = np.inf  # of the rows looked at
    dual: float = 0.0
    smoothing: float = np.inf  # the part of the gap that is due to softness
    curved: int = 0  # rows that bend the objective
    width: float = 1.0  # times softness: how far the second derivatives look
    factor: Vector | None = None  # of a matrix near that of the second derivatives
    visits: int = 0
    steps: int = 0
    steps_here: int = 0  # since the softness or the rows have changed
    reviews: int = 0  # certificates asked for
    stalled: bool = False
    is_lost: bool = False  # stalled for want of a direction downhill, or of an end
    sample: Problem | None = field(default=None, repr=False)  # of the rows looked at

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "sample": None}

    def take_stock(self, rows: Problem, loss: float, gap: float, alpha_sum: float, curved: int) -> None:
        """What the sums of a pass over the rows looked at say."""
        self.primal = 0.5 * rows.lam * inner(self.weights, self.weights) + loss / rows.total
        square = inner(self.sum, self.sum) / (rows.lam * rows.total) / rows.total
        self.dual = alpha_sum / rows.total - 0.5 * square
        self.smoothing = gap / rows.total
        self.curved = curved

    @property
    def gap(self) -> float:
        """The relative gap, as the rows looked at show it."""
        return (self.primal - self.dual) / self.primal if 0.0 < self.primal < np.inf else np.inf


@dataclass(frozen=True)
class Newton:
    """The settings: the type of what there is one of for each row."""

    dtype: npt.DTypeLike = np.float64

    @staticmethod
    def price(problem: Problem) -> float:
        """About how many nanoseconds a solution takes; infinite where the matrices would be too large."""
        rows = problem.rows
        assert isinstance(rows, Rows)
        n, side = rows.n_rows, rows.n_features + 1
        is_smooth = problem.ridge >= SMOOTH_RIDGE
        fewest = max(_fewest_smooth, side) if is_smooth else max(_fewest, _rows_a_feature * side)
        if side > _largest or n < fewest:
            return np.inf
        stored = rows.n_stored / n
        passes = 4.0 + 6.0 * min(1.0, 64.0 * side / n)
        row = 20.0 + 0.7 * stored
        if side <= _direct:
            curvature, factors = min(stored**2, side**2 / 32.0), 15.0 * side**3 / 24.0
        else:
            curvature, factors = 15.0 * row, 0.6 * side**3
        if is_smooth:  # where most violators bend the objective, at every step
            curvature = max(curvature, _smooth_work * min(stored**2, 0.5 * side**2))
        return n * (passes * row + curvature) / _threads + factors

    def start(self, problem: Problem) -> NewtonState:
        """The zero vector, and the smallest sample."""
        n, side = problem.rows.n_rows, problem.rows.n_features + 1
        stride = 1
        fewest = _fewest_smooth if problem.ridge >= SMOOTH_RIDGE else _fewest
        while n // (stride * _coarser) >= max(_rows_a_feature * side, fewest):
            stride *= _coarser
        none = np.empty(0, self.dtype)
        softness = problem.ridge if np.isinf(problem.cap) else max(_first_softness, problem.ridge)
        state = NewtonState(np.zeros(side), softness, stride, none, none, none, np.zeros(side))
        self._look(problem, state, stride)
        state.visits = 0  # a run begins here
        return state

    def step(self, problem: Problem, state: NewtonState, tol: float) -> None:
        """One step, after which softness may be smaller or the rows more."""
        rows = self._rows(problem, state)
        gradient = rows.lam * state.weights - state.sum / rows.total
        move = self._direction(rows, state, gradient)
        slope = inner(gradient, move)
        state.steps += 1
        state.steps_here += 1
        state.visits += rows.rows.n_rows
        state.stalled = state.is_lost = state.steps >= _most_steps or not slope < 0.0
        if state.stalled:
            return
        _core.residuals(rows.native, (state.weights + move).astype(self.dtype), state.other)
        t = self._length(rows, state, move, slope)
        state.weights = state.weights + t * move
        # A short step met rows that it had not seen bend: look further.
        if t < 0.2 and rows.ridge == 0.0:
            state.width *= 2.0
        elif t > 0.4:
            state.width = max(1.0, 0.5 * state.width)
        # A sample tells the weights no better than this.
        enough = tol if state.stride == 1 else max(tol, 12.0 * len(move) / rows.rows.n_rows)
        is_smooth = state.smoothing > 0.5 * enough * state.primal and state.softness > rows.ridge
        allowed = 2.0 * state.smoothing if state.softness > rows.ridge else 0.25 * enough * state.primal
        is_near = t == 1.0 and -0.5 * slope <= allowed
        if is_near and is_smooth:
            state.softness = max(_smaller * state.softness, rows.ridge)
            state.steps_here = 0
        is_stuck = state.steps_here >= _most_steps_here
        self._smooth(rows, state, t)
        # Where the optimum is next to nothing, ever smaller steps of the softness would be needed: others do better.
        is_separable = not _separable * problem.lam * problem.radius**2 < state.primal < np.inf
        state.stalled = (is_separable or is_stuck) and state.stride == 1
        if state.stride > 1 and (is_separable or is_stuck or (is_near and not is_smooth)):
            self._look(problem, state, state.stride // _coarser)

    def look_at_all(self, problem: Problem, state: NewtonState) -> None:
        """Go on with all rows."""
        if state.stride > 1:
            self._look(problem, state, 1)

    def alpha_of_all(self, problem: Problem, state: NewtonState) -> Floats:
        """The dual variables of all rows, without going on with them."""
        if state.stride == 1:
            return state.alpha
        return self._known(problem, state.weights, state.softness)[1]

    def _rows(self, problem: Problem, state: NewtonState) -> Problem:
        """The problem of the rows looked at."""
        if state.sample is None:
            state.sample = _sample(problem, state.stride)
        return state.sample

    def _look(self, problem: Problem, state: NewtonState, stride: int) -> None:
        """Go on with other rows at the same point; until all is known of them, nothing changes."""
        rows = _sample(problem, stride)
        if not rows.cost.any():
            stride, rows = 1, problem
        residual, alpha, total, found = self._known(rows, state.weights, state.softness)
        state.stride, state.sample, state.factor, state.steps_here = stride, rows, None, 0
        state.residual, state.other, state.alpha, state.sum = residual, residual.copy(), alpha, total
        state.visits += rows.rows.n_rows
        state.take_stock(rows, *found)

    def _known(self, rows: Problem, weights: Vector, softness: float) -> tuple[Floats, Floats, Vector, Sums]:
        """The residuals of some weights, alpha, the sum of alpha_i sign_i x_i, and what else was added up."""
        residual, alpha = (np.zeros(rows.rows.n_rows, self.dtype) for _ in range(2))
        total = np.zeros(len(weights))
        _core.residuals(rows.native, weights.astype(self.dtype), residual)
        found = _core.smooth(rows.native, residual, residual, 0.0, softness, alpha, total)
        return residual, alpha, total, found

    def _smooth(self, rows: Problem, state: NewtonState, t: float) -> None:
        """Go to t on the line from the residuals to the others, and take stock there."""
        found = _core.smooth(rows.native, state.residual, state.other, t, state.softness, state.alpha, state.sum)
        state.take_stock(rows, *found)

    def _direction(self, rows: Problem, state: NewtonState, gradient: Vector) -> Vector:
        """Where the quadratic that touches the smoothed objective has its minimum."""
        factor = state.factor
        if len(gradient) <= _direct or factor is None:
            state.factor = factor = self._factor(rows, state)
        move = _solve(factor, -gradient)
        return move if len(gradient) <= _direct else self._improved(rows, state, factor, gradient, move)

    def _improved(self, rows: Problem, state: NewtonState, factor: Vector, gradient: Vector, eased: Vector) -> Vector:
        """Conjugate gradients: the factor is of another point, or of some of the rows."""
        move, left, along = np.zeros_like(gradient), -gradient, eased
        square = first = inner(left, eased)
        if not first > 0.0:
            return move
        n_products = 0
        while n_products < _most_products:
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
        if n_products > _patience:
            state.factor = None
        return move

    def _bent(self, rows: Problem, state: NewtonState, vector: Vector) -> Vector:
        """The second derivatives times a vector."""
        out = np.zeros_like(vector)
        _core.bend(rows.native, state.residual, state.width * state.softness, vector.astype(self.dtype), out)
        return out / rows.total + rows.lam * vector

    def _factor(self, rows: Problem, state: NewtonState) -> Vector:
        """A factor of the second derivatives, of all rows or estimated from some of them."""
        side = len(state.weights)
        matrix = np.zeros((side, side))
        every = 1 if side <= _direct else max(1, state.curved // (10 * side))
        _core.curvature(rows.native, state.residual, state.width * state.softness, every, matrix)
        matrix /= rows.total
        matrix[np.diag_indices_from(matrix)] += rows.lam
        _core.factor(matrix)
        return matrix

    def _length(self, rows: Problem, state: NewtonState, move: Vector, slope: float) -> float:
        """How far to go to about the minimum along the line, at most 1."""
        along, square = rows.lam * inner(state.weights, move), rows.lam * inner(move, move)

        def derivatives(t: float) -> tuple[float, float]:
            first, second = _core.slope(rows.native, state.residual, state.other, t, state.softness)
            return first / rows.total + along + t * square, second / rows.total + square

        low, high, t = 0.0, 1.0, 1.0
        first, second = derivatives(t)
        if first <= -0.3 * slope:
            return t
        for _ in range(20):
            t = t - first / second
            if not low < t < high:
                t = 0.5 * (low + high)
            first, second = derivatives(t)
            if abs(first) <= -0.1 * slope:
                break
            low, high = (low, t) if first > 0.0 else (t, high)
        return t


def _sample(problem: Problem, stride: int) -> Problem:
    """The problem of every k-th row; the total goes with the costs."""
    if stride == 1:
        return problem
    chosen = np.arange(stride // 2, problem.rows.n_rows, stride)
    cost = problem.cost[chosen]
    share = float(np.sum(cost)) / float(np.sum(problem.cost)) if cost.any() else 1.0
    return replace(
        problem,
        rows=problem.rows.view(chosen),
        sign=problem.sign[chosen],
        cost=cost,
        offset=problem.offset[chosen],
        total=problem.total * share,
    )


def _solve(factor: Vector, vector: Vector) -> Vector:
    solution = vector.copy()
    _core.solve(factor, solution)
    return solution
