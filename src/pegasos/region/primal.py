"""The ellipsoid in the coordinates of the features: M = lam I + sum_i scale_i z_i z_i', factored once per round.

M is computed with the error E, |E| <= e in the Frobenius norm: that of the sums, of the factorization (Higham: Accuracy
and Stability of Numerical Algorithms, theorem 10.3) and of the triangular solution of each row (theorem 8.5), which
solves exactly for a factor next to the one at hand. As M >= lam I, the matrix that was in effect used is at most
(1 + e/lam) M, and its squared reaches times that factor are at least the exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.joint_problem import JointProblem
from pegasos.problem import Problem, Rows
from pegasos.region.bounds import Ball, JointPins
from pegasos.region.rounds import NotDefiniteError, Quadratic
from pegasos.rounding import Primal, length_of, unit

Vector = npt.NDArray[np.float64]

_ROUNDED = 0.25  # largest error of a matrix, as a fraction of lam
_ALONE = np.ones(1)
_MOST_STEPS = 3
_FLAT = 1e-10  # what remains of the squared gradient over lam, as a fraction of the gap


@dataclass(frozen=True, eq=False)
class PrimalRegion:
    """The exact weights are weights + shift + v with v' M v <= level, of which `factor` is the factor.

    Attributes
    ----------
    shift : array of shape (n_vectors, n_features + 1)
        From the weights of the model to the centre; the last column is that of the constant column.
    factor : array, lower triangle, n_vectors (n_features + 1) on a side
    level : float
        With room for the rounding of the factor and of what is solved with it.
    bias : float
        The value of the constant column.
    """

    shift: Vector
    factor: Vector
    level: float
    bias: float

    def moves(self, rows: Rows) -> tuple[Vector, Vector]:
        """The difference of the center's scores from the model's, with its error bound; one column per vector."""
        rows = rows.with_bias(self.bias)
        scores = np.empty((rows.n_rows, len(self.shift)))
        _core.scores(rows.native, self.shift, scores)
        lengths = np.array([length_of(each) for each in self.shift])
        return scores, unit * (rows.scores_depth + 4.0) * rows.lengths[:, None] * lengths

    def reaches(self, rows: Rows, blocks: Vector = _ALONE) -> Vector:
        """The largest distance of exact scores from those of the center, for scores that sum blocks_k <w_k, x>."""
        squares = np.empty(rows.n_rows)
        _core.squared_reaches(rows.with_bias(self.bias).native, self.factor, np.ascontiguousarray(blocks), squares)
        return np.sqrt(self.level * squares) * (1.0 + 1e-9)

    def bounds_of_constant(self) -> tuple[float, float]:
        """The shift of a free intercept, and the largest distance of the exact solution's from it."""
        empty = Rows.of(np.zeros((1, self.shift.shape[1] - 1)), self.bias)
        moves, errors = self.moves(empty)
        return float(moves[0, 0]), float(self.reaches(empty)[0] + errors[0, 0])


@dataclass(eq=False)
class PinnedRows:
    """Pinned rows of a binary problem: z_i = sign_i x_i, one vector of weights."""

    problem: Problem  # of the pinned rows alone, with the constant column of the ball
    ball: Ball

    @property
    def rows(self) -> Rows:
        """The pinned rows."""
        rows = self.problem.rows
        assert isinstance(rows, Rows)
        return rows

    @property
    def lengths(self) -> Vector:
        """Upper bound of |x_i|."""
        return self.rows.lengths

    def residuals(self, weights: Vector) -> tuple[Vector, Vector]:
        """r_i, with their error bounds."""
        out = np.empty(self.rows.n_rows)
        _core.residuals(self.problem.native, weights, out)
        return out, errors_of(self.problem.accounted(self.rows.scores_depth, length_of(weights)), self.lengths, out)

    def gram(self, scale: Vector) -> Vector:
        """The lower triangle of sum_i scale_i z_i z_i'."""
        side = self.rows.n_features + 1
        matrix = np.zeros((side, side))
        _core.weighted_gram(self.rows.native, scale, matrix)
        return matrix

    def sum(self, coefficients: Vector) -> Vector:
        """Sum_i coefficient_i z_i."""
        out = np.zeros(self.rows.n_features + 1)
        _core.weighted_sum(self.rows.native, coefficients * self.problem.sign, out)
        return out

    def squared_reaches(self, factor: Vector) -> Vector:
        """|L^-1 z_i|^2."""
        out = np.empty(self.rows.n_rows)
        _core.squared_reaches(self.rows.native, factor, _ALONE, out)
        return out


@dataclass(eq=False)
class PinnedPairs:
    """Pinned differences in the problem of all classes: z has a row in the leader's block minus one in the rival's."""

    problem: JointProblem
    pins: JointPins
    ball: Ball
    rows: Rows = field(init=False)  # rows with a pin
    where: npt.NDArray[np.intp] = field(init=False)  # the row of each pin among them

    def __post_init__(self) -> None:
        chosen, self.where = np.unique(self.pins.row, return_inverse=True)
        self.rows = self.problem.rows.view(chosen)

    @property
    def lengths(self) -> Vector:
        """Upper bound of |z|."""
        return math.sqrt(2.0) * (1.0 + 4.0 * unit) * self.rows.lengths[self.where]

    def residuals(self, weights: Vector) -> tuple[Vector, Vector]:
        """The claim of the rival minus that of the leader, with its error bound."""
        scores = np.empty((self.rows.n_rows, self.problem.n_classes))
        _core.scores(self.rows.native, weights.reshape(self.problem.weights_shape), scores)
        pins = self.pins
        out = pins.target - (scores[self.where, pins.leader] - scores[self.where, pins.rival])
        offset = 2.0 * self.problem.largest_offset
        depth = 4.0 * self.rows.scores_depth
        account = Primal(depth, length_of(weights), 0.0, 0.0, offset, self.problem.carried, self.rows.n_rows, 1.0)
        return out, 2.0 * errors_of(account, self.lengths, out)

    def gram(self, scale: Vector) -> Vector:
        """The lower triangle of sum_i scale_i z_i z_i': blocks for each pair of classes."""
        width, n_classes = self.rows.n_features + 1, self.problem.n_classes
        matrix = np.zeros((n_classes * width, n_classes * width))
        for leader, rival, mine in self._pairs():
            block = np.zeros((width, width))
            _core.weighted_gram(self.rows.view(self.where[mine]).native, scale[mine], block)
            block = np.tril(block)
            block += np.tril(block, -1).T
            first, second = (slice(k * width, (k + 1) * width) for k in (leader, rival))
            matrix[first, first] += block
            matrix[second, second] += block
            matrix[first, second] -= block
            matrix[second, first] -= block
        return matrix

    def sum(self, coefficients: Vector) -> Vector:
        """Sum_i coefficient_i z_i."""
        n, out = self.rows.n_rows, np.zeros(self.problem.weights_shape)
        for k, each in enumerate(out):
            own = coefficients * ((self.pins.leader == k) * 1.0 - (self.pins.rival == k))
            _core.weighted_sum(self.rows.native, np.asarray(np.bincount(self.where, own, n), np.float64), each)
        return out.ravel()

    def squared_reaches(self, factor: Vector) -> Vector:
        """|L^-1 z_i|^2."""
        out = np.empty(len(self.where))
        for leader, rival, mine in self._pairs():
            squares = np.empty(len(mine))
            blocks = difference(leader, rival, self.problem.n_classes)
            _core.squared_reaches(self.rows.view(self.where[mine]).native, factor, blocks, squares)
            out[mine] = squares
        return out

    def _pairs(self) -> Iterator[tuple[int, int, npt.NDArray[np.intp]]]:
        """Each leader and rival, with their pins."""
        codes = self.pins.leader * self.problem.n_classes + self.pins.rival
        order = np.argsort(codes, kind="stable")
        ends = np.flatnonzero(np.diff(codes[order])) + 1
        for mine in np.split(order, ends):
            yield int(self.pins.leader[mine[0]]), int(self.pins.rival[mine[0]]), mine


def difference(first: int, second: int, n: int) -> Vector:
    """The pattern of the score of one class minus that of another."""
    blocks = np.zeros(n)
    blocks[first], blocks[second] = 1.0, -1.0
    return blocks


def errors_of(account: Primal, lengths: Vector, residuals: Vector) -> Vector:
    """Error bound of residuals: their scores, offsets, and the last operations."""
    return account.by_length * lengths + account.by_constant + 4.0 * unit * (1.0 + np.abs(residuals))


@dataclass(eq=False)
class PrimalSpace:
    """The quadratic of pinned rows, minimized with a factor of its matrix."""

    pins: PinnedRows | PinnedPairs
    ball: Ball
    centre: Vector = field(init=False)
    factor: Vector = field(init=False)
    inflation: float = field(init=False)

    @cached_property
    def lengths(self) -> Vector:
        """Upper bound of the length of each pinned row."""
        return self.pins.lengths

    @property
    def _units(self) -> float:
        """The error of the matrix over its trace: sums, factor, solution, the square at its end."""
        return unit * (16.0 * self.ball.middle.size + len(self.lengths) + 64.0)

    @property
    def room(self) -> float:
        """The largest trace, without that of lam I, whose error is at most the part of lam allowed for it."""
        return max(0.0, self.ball.lam * (_ROUNDED / self._units - self.ball.middle.size))

    def start(self) -> tuple[Vector, Vector]:
        """The residuals at the middle."""
        return self._start

    @cached_property
    def _start(self) -> tuple[Vector, Vector]:
        return self.pins.residuals(self.ball.middle.ravel())

    def minimize(self, scale: Vector) -> Quadratic:
        """Newton's step from the middle, exact up to rounding, and further steps where rounding is visible."""
        lam, middle = self.ball.lam, self.ball.middle.ravel()
        self.factor = self.pins.gram(scale)
        self.factor[np.diag_indices_from(self.factor)] += lam
        trace = float(np.trace(self.factor))
        self.inflation = (1.0 + self._units * trace / lam) * (1.0 + 1e-9)
        if not _core.factor(self.factor):
            raise NotDefiniteError
        weights = middle.copy()
        slope = -self.pins.sum(scale * self._start[0])
        for _ in range(_MOST_STEPS):
            _core.solve(self.factor, slope)
            weights -= slope
            residuals, errors = self.pins.residuals(weights)
            slope = lam * (weights - middle) - self.pins.sum(scale * residuals)
            if length_of(slope) ** 2 <= _FLAT * lam * self.ball.gap:
                break
        self.centre = weights
        away = length_of(weights - middle)
        least = lam * away**2 + float(np.sum(scale * np.square(np.maximum(np.abs(residuals) - errors, 0.0))))
        pull = scale * self.lengths
        depth = unit * (len(scale) + 16.0)
        rounding = depth * float(np.sum(pull * np.abs(residuals))) + float(np.sum(pull * errors))
        rounding += 8.0 * unit * lam * away
        return Quadratic(residuals, errors, least * (1.0 - 1e-12), length_of(slope) + rounding * (1.0 + 1e-9))

    def squared_reaches(self) -> Vector:
        """Upper bound of z_i' M^-1 z_i."""
        return np.asarray(self.inflation * self.pins.squared_reaches(self.factor))

    def region(self, level: float) -> PrimalRegion:
        """The ellipsoid around the center."""
        shape = (-1, self.pins.rows.n_features + 1)
        shift = (self.centre - self.ball.weights.ravel()).reshape(shape)
        return PrimalRegion(np.ascontiguousarray(shift), self.factor, level * self.inflation, self.ball.bias)
