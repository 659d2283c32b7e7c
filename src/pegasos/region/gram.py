"""The ellipsoid through the products of the pinned rows: for kernels, and for more features than a matrix has room for.

With F the pinned rows, K = F F' and B = diag(lam / scale_i), the identity of Woodbury says

    M = lam I + F' diag(scale) F,    x' M^-1 x = (|x|^2 - k_x' (K + B)^-1 k_x) / lam
    centre = middle + F' (K + B)^-1 s r

with s r the residuals at the middle times their signs. Larger B means smaller scales, which are valid, too: B has room
for the error of K and of its factor, so that what is subtracted is never more than it may be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.kernels.base import Items, Kernel
from pegasos.problem import Rows
from pegasos.region.bounds import Ball
from pegasos.region.rounds import NotDefiniteError, Quadratic
from pegasos.rounding import length_of, unit

Vector = npt.NDArray[np.float64]

_BLOCK = 1 << 22  # products computed at a time
_ALONE = np.ones(1)
_TELLS_NOTHING = 1e-6  # fraction of lam: a row whose scale times squared length is below this is ignored
_INFINITE = 1e200


class Products(Protocol):
    """Rows that provide products with other rows; the pinned rows come first."""

    def value_error(self, asked: Any) -> float:
        """Return the error bound of a product of these with query rows, relative to the lengths of both."""

    def among(self, bias: float) -> Vector:
        """Return the products of the pinned rows with each other, with a constant column of this value."""

    def block(self, asked: Any, begin: int, end: int, bias: float) -> Vector:
        """Return the products of query rows begin..end with all of these."""

    def squared_lengths(self, asked: Any, bias: float) -> Vector:
        """Return upper bounds of |x|^2 of query rows."""

    def shift(self, coefficients: Vector, bias: float) -> Shift:
        """Return the shift from the weights of the model to the center, given the coefficients of the pinned rows."""

    def moves(self, shift: Vector, asked: Any, where: slice, block: Vector, bias: float) -> Vector:
        """Return what a shift adds to the scores of some rows, whose products are in the block."""

    def move_of_constant(self, shift: Vector, bias: float) -> float:
        """Return what a shift adds to the score of a row of zeros."""


class Shift(NamedTuple):
    """A vector, and an upper bound of the sum of the lengths of its terms."""

    values: Vector
    length: float


@dataclass(frozen=True, eq=False)
class FeatureProducts:
    """Pinned rows of many features."""

    rows: Rows  # in double
    to_middle: Vector  # from the weights of the model to the middle

    def value_error(self, asked: Any = None) -> float:
        """Sums have at most as many terms as there are features."""
        return unit * (self.rows.n_features + 16.0)

    def among(self, bias: float) -> Vector:
        """All products."""
        return self.block(self.rows, 0, self.rows.n_rows, bias)

    def block(self, asked: Rows, begin: int, end: int, bias: float) -> Vector:
        """Products of sparse matrices, or of dense ones."""
        found = self._values(asked, slice(begin, end)) @ self.rows.values.T
        return np.asarray(found.toarray() if sp.issparse(found) else found) + bias * bias

    def squared_lengths(self, asked: Rows, bias: float) -> Vector:
        """|x|^2 with the constant column."""
        return np.asarray(np.square(asked.with_bias(bias).lengths) * (1.0 + 4.0 * unit))

    def shift(self, coefficients: Vector, bias: float) -> Shift:
        """A vector of weights."""
        values = self.to_middle.copy()
        rows = self.rows.with_bias(bias)
        _core.weighted_sum(rows.native, coefficients, values)
        terms = float(np.sum(np.abs(coefficients) * rows.lengths))
        return Shift(values, (length_of(self.to_middle) + terms) * (1.0 + 1e-9))

    def moves(self, shift: Vector, asked: Rows, where: slice, block: Vector, bias: float) -> Vector:
        """Scores."""
        return np.asarray(self._values(asked, where) @ shift[:-1] + bias * shift[-1])

    def move_of_constant(self, shift: Vector, bias: float) -> float:
        """The weight of the constant column."""
        return float(bias * shift[-1])

    @staticmethod
    def _values(asked: Rows, where: slice) -> Any:
        chosen = where if asked.numbers is None else asked.numbers[where]
        return asked.values[chosen].astype(np.float64)


@dataclass(frozen=True, eq=False)
class KernelProducts:
    """Pinned items that a kernel compares, followed by others that the shift needs."""

    kernel: Kernel
    items: Items
    n_pinned: int
    to_middle: Vector  # coefficients of all of them, relative to the weights of the model
    constant: float = 0.0  # from the score of the model to that of the middle, in addition to the coefficients

    def value_error(self, asked: Items | None = None) -> float:
        """That of the kernel in double."""
        collections = (self.items,) if asked is None else (self.items, asked)
        return max(float(self.kernel.value_error(each, np.float64)) for each in collections) + 8.0 * unit

    def among(self, bias: float) -> Vector:
        """The kernel matrix."""
        pinned = self.items.take(np.arange(self.n_pinned))
        out = np.empty((self.n_pinned, self.n_pinned))
        self.kernel.fill(pinned, pinned, out, bias * bias)
        return out

    def block(self, asked: Items, begin: int, end: int, bias: float) -> Vector:
        """A block of kernel values in double."""
        out = np.empty((end - begin, len(self.items)))
        self.kernel.fill(asked.take(np.arange(begin, end)), self.items, out, bias * bias)
        return out

    def squared_lengths(self, asked: Items, bias: float) -> Vector:
        """k(x, x) with the constant column, and room for the error of a kernel value."""
        exact = np.asarray(self.kernel.evaluate_diagonal(asked), np.float64) + bias * bias
        return np.asarray(exact * (1.0 + 2.0 * self.value_error(asked)))

    def shift(self, coefficients: Vector, bias: float) -> Shift:
        """Coefficients of the items."""
        values = self.to_middle.copy()
        values[: self.n_pinned] += coefficients
        lengths = np.sqrt(self.squared_lengths(self.items, bias))
        terms = np.abs(self.to_middle)
        terms[: self.n_pinned] += np.abs(coefficients)
        return Shift(values, (float(np.sum(terms * lengths)) + abs(self.constant)) * (1.0 + 1e-9))

    def moves(self, shift: Vector, asked: Items, where: slice, block: Vector, bias: float) -> Vector:
        """Sums over the items."""
        return np.asarray(block @ shift + self.constant)

    def move_of_constant(self, shift: Vector, bias: float) -> float:
        """The constant column of every item."""
        return float(bias * bias * np.sum(shift) + self.constant)


@dataclass(frozen=True, eq=False)
class GramRegion:
    """The exact weights are those of the model, plus the shift, plus v with v' M v <= level.

    Attributes
    ----------
    products : Products
    shift : array
    shift_length : float
    factor : array, lower triangle, as many on a side as there are pinned rows
    level : float
    lam : float
    bias : float
        The value of the constant column.
    leeway : float
        How far |L^-1 k_x| may be off, over |x|, where products are off by the lengths of both.
    """

    products: Products
    shift: Vector
    shift_length: float
    factor: Vector
    level: float
    lam: float
    bias: float
    leeway: float

    def bounds(self, asked: Any, n: int) -> tuple[Vector, Vector, Vector]:
        """From the model's scores of n rows to those of the center, the error bound of that, and the reaches."""
        squared = self.products.squared_lengths(asked, self.bias)
        moves, subtracted = np.empty(n), np.empty(n)
        n_pins = len(self.factor)
        at_once = max(1, _BLOCK // n_pins)
        for begin in range(0, n, at_once):
            end = min(n, begin + at_once)
            block = self.products.block(asked, begin, end, self.bias)
            moves[begin:end] = self.products.moves(self.shift, asked, slice(begin, end), block, self.bias)
            subtracted[begin:end] = _solved(self.factor, np.ascontiguousarray(block[:, :n_pins]))
        value_error = self.products.value_error(asked)
        error = (value_error + unit * (len(self.shift) + 8.0)) * self.shift_length
        return moves, error * np.sqrt(squared) * (1.0 + 1e-9), self._reaches(squared, subtracted, value_error)

    def bounds_of_constant(self) -> tuple[float, float]:
        """The same for the free intercept: what the shift adds to it, and its reach."""
        squared = np.array([self.bias**2])
        subtracted = _solved(self.factor, np.full((1, len(self.factor)), self.bias**2))
        reach = self._reaches(squared, subtracted, 4.0 * unit)
        error = unit * (len(self.shift) + 8.0) * self.shift_length * self.bias
        return self.products.move_of_constant(self.shift, self.bias), float(reach[0]) + error

    def _reaches(self, squared: Vector, subtracted: Vector, value_error: float) -> Vector:
        return np.sqrt(self.level * left_of(squared, subtracted, value_error * self.leeway) / self.lam) * (1.0 + 1e-9)


def left_of(squared: Vector, subtracted: Vector, leeway: float) -> Vector:
    """|x|^2 - k_x' (K + B)^-1 k_x, with room for rounding."""
    certain = np.maximum(np.sqrt(subtracted) * (1.0 - 1e-12) - leeway * np.sqrt(squared), 0.0)
    return np.asarray(np.maximum(squared - np.square(certain), 0.0) + 8.0 * unit * squared)


def _solved(factor: Vector, block: Vector) -> Vector:
    """|L^-1 b|^2 for each row b of the block."""
    out = np.empty(len(block))
    _core.squared_reaches(_core.dense_rows(block, 0.0), factor, _ALONE, out)
    return out


@dataclass(eq=False)
class GramSpace:
    """The quadratic of pinned rows, minimized through their products."""

    products: Products
    sign: npt.NDArray[np.int8]
    ball: Ball
    middle: tuple[Vector, Vector]  # residuals at the middle, and their error bounds
    matrix: Vector = field(init=False)
    coefficients: Vector = field(init=False)
    factor: Vector = field(init=False)
    leeway: float = field(init=False)

    def __post_init__(self) -> None:
        self.matrix = self.products.among(self.ball.bias)
        self.value_error = self.products.value_error(None)

    @property
    def lengths(self) -> Vector:
        """Upper bound of the length of each pinned row."""
        return np.sqrt(np.maximum(np.diag(self.matrix), 0.0)) * (1.0 + self.value_error + 8.0 * unit)

    @property
    def room(self) -> float:
        """Any scale is allowed: B has room for the error."""
        return math.inf

    def start(self) -> tuple[Vector, Vector]:
        """The residuals at the middle."""
        return self.middle

    def minimize(self, scale: Vector) -> Quadratic:
        """Solve once and refine; rows without a scale are left unchanged."""
        lam, n, value_error = self.ball.lam, len(scale), self.value_error
        residuals, errors = self.middle
        squares = np.square(self.lengths)
        units = n * (unit * (8.0 * n + 64.0) + value_error)
        scale = np.where(scale * squares > _TELLS_NOTHING * lam, scale, 0.0)
        with np.errstate(divide="ignore"):
            # An ignored row gets a diagonal entry that is infinite up to rounding.
            exact = np.where(scale > 0.0, lam / scale, _INFINITE * np.maximum(squares, 1.0))
        self.factor = self.matrix.copy()
        self.factor[np.diag_indices_from(self.factor)] += (exact + 2.0 * units * squares) / (1.0 - units)
        if not _core.factor(self.factor):
            raise NotDefiniteError
        self.leeway = math.sqrt(float(np.sum(squares)) / float(np.min(exact + units * squares))) * (1.0 + 1e-9)
        # The center of the quadratic of `scale` itself; any point close to it is valid.
        gamma = self._centre(exact, residuals)
        moved = self.matrix @ gamma
        self.coefficients = gamma
        sizes = np.abs(gamma) * self.lengths
        wander = float(np.sum(sizes)) * (value_error + unit * (n + 8.0))
        at_centre = residuals - self.sign * moved
        all_errors = errors + wander * self.lengths + 4.0 * unit * np.abs(at_centre)
        of_gamma = max(0.0, float(gamma @ moved) - wander * float(np.sum(sizes)))
        kept = np.maximum(np.abs(at_centre) - all_errors, 0.0)
        least = lam * of_gamma + float(np.sum(scale * np.square(kept)))
        left = lam * gamma - scale * self.sign * at_centre  # half the gradient is the sum of these times the rows
        sizes = np.abs(left) * self.lengths
        own = float(left @ (self.matrix @ left)) + float(np.sum(sizes)) ** 2 * (value_error + unit * (n + 8.0))
        of_errors = float(np.sum(scale * all_errors * self.lengths))
        slope = math.sqrt(max(own, 0.0)) * (1.0 + 1e-9) + of_errors + 8.0 * unit * float(np.sum(sizes))
        return Quadratic(at_centre, all_errors, least * (1.0 - 1e-12), slope)

    def _centre(self, diagonal: Vector, residuals: Vector) -> Vector:
        """(K + B)^-1 s r from the current factor, refined."""
        right = self.sign * residuals
        gamma = right.copy()
        _core.solve(self.factor, gamma)
        for _ in range(2):
            left = right - self.matrix @ gamma - diagonal * gamma
            _core.solve(self.factor, left)
            gamma += left
        return gamma

    def squared_reaches(self) -> Vector:
        """Upper bound of z_i' M^-1 z_i."""
        squares = np.square(self.lengths)
        left = left_of(squares, _solved(self.factor, self.matrix), self.value_error * self.leeway)
        return np.asarray(left / self.ball.lam)

    def region(self, level: float) -> GramRegion:
        """The ellipsoid around the center."""
        shift = self.products.shift(self.coefficients, self.ball.bias)
        numbers = level, self.ball.lam, self.ball.bias, self.leeway
        return GramRegion(self.products, shift.values, shift.length, self.factor, *numbers)
