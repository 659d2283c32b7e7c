"""The one problem that everything here solves.

    P(w) = lam/2 |w|^2 + (1/total) sum_i cost_i max(0, 1 - sign_i (<w, x_i> + offset_i))

Sample weights, class weights, transfer and the intercept are values of its fields, never branches of a solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.errors import PegasosError

Floats = npt.NDArray[np.floating[Any]]
_long_rows = 1024  # that are looked at together where rounding counts
_starts = 1 << 16  # of rows, that are looked at together
negligible = 1e-10  # of the objective: rounding below this is not counted
Matrix = Any  # a dense array, or a CSR matrix or array of scipy


class Losses(NamedTuple):
    """What weights cost: the sum of cost_i loss_i, the least sign_i score_i of a row that costs anything, |w|^2.

    The exact sum exceeds `total` by at most `rounding`, which is 0 where that is nothing worth counting.
    """

    total: float
    least_margin: float
    square: float
    rounding: float = 0.0


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a problem: the user's own array, looked at once.

    Attributes
    ----------
    values : dense C-contiguous array or CSR, float32 or float64
    bias : float
        The value of the constant last column that carries the intercept; 0 for none.
    squared_norms : array of shape (n_rows,)
        |x_i|^2 with the constant column, in double; in float32 where that was asked for and suffices.
    native : _core.Rows
    numbers : uint32 array of shape (n_rows,), or None for all rows of `values`
        Of a view: which rows of `values` these are.
    """

    values: Matrix
    bias: float
    squared_norms: Floats
    native: _core.Rows
    numbers: npt.NDArray[np.uint32] | None = None

    @classmethod
    def of(cls, values: Matrix, bias: float, threads: int = 1, *, narrow: bool = False) -> Rows:
        """Inspect the array: bounds, order, finiteness and norms in one pass; `narrow` norms have its precision."""
        native = _native_rows(values, bias, threads)
        squared_norms = np.empty(native.n_rows, values.dtype if narrow else np.float64)
        out_of_bounds, unsorted, not_finite, out_of_range = _core.inspect(native, squared_norms)
        _refuse(native, out_of_bounds, not_finite)
        if unsorted >= 0:
            # Repeated columns of a row mean their sum, which the norms above do not know.
            values = values.copy()
            values.sum_duplicates()
            return cls.of(values, bias, threads, narrow=narrow)
        if out_of_range >= 0 and squared_norms.dtype == np.float32:
            return cls.of(values, bias, threads)
        return cls(values, bias, squared_norms, native)

    def __reduce__(self) -> Any:
        """Pickled without the native view, which is made anew where the rows arrive; they need no second look."""
        return _inspected, (self.own_values, self.bias, self.squared_norms)

    def view(self, indices: npt.NDArray[Any]) -> Rows:
        """Some of the rows, or of a view's, in place: every loop does with them what it does with a copy."""
        # A problem counts its rows in 32 bits.
        everyone = np.arange(self.n_rows, dtype=np.uint32) if self.numbers is None else self.numbers
        numbers = everyone[indices]
        native = _core.view_rows(self.native, numbers)
        return Rows(self.values, self.bias, self.squared_norms[indices], native, numbers)

    def take(self, indices: npt.NDArray[Any]) -> Rows:
        """A copy of some of the rows, which need no second look."""
        values = self.values[indices if self.numbers is None else self.numbers[indices]]
        return Rows(values, self.bias, self.squared_norms[indices], _native_rows(values, self.bias, self.threads))

    def part(self, begin: int, end: int) -> Rows:
        """A view of the rows begin..end of a dense array."""
        if self.numbers is not None:
            return self.view(np.arange(begin, end))
        values = self.values[begin:end]
        return Rows(values, self.bias, self.squared_norms[begin:end], _native_rows(values, self.bias, self.threads))

    def with_bias(self, bias: float) -> Rows:
        """The same rows with another value of the constant column."""
        squared_norms = self.squared_norms + (bias * bias - self.bias * self.bias)
        rows = Rows(self.values, bias, squared_norms, _native_rows(self.values, bias, self.threads))
        if self.numbers is None:
            return rows
        return replace(rows, native=_core.view_rows(rows.native, self.numbers), numbers=self.numbers)

    def in_threads(self, threads: int) -> Rows:
        """The same rows, for so many threads to share a pass over them."""
        native = _native_rows(self.values, self.bias, threads)
        if self.numbers is not None:
            native = _core.view_rows(native, self.numbers)
        return replace(self, native=native)

    def of_type(self, dtype: npt.DTypeLike) -> Rows:
        """The same rows with values of another type; themselves if they have it."""
        if self.dtype == dtype:
            return self
        values = self.own_values.astype(dtype)
        return Rows(values, self.bias, self.squared_norms, _native_rows(values, self.bias, self.threads))

    def dense(self) -> Rows:
        """The same rows as a dense array."""
        values = np.ascontiguousarray(self.own_values.toarray())
        return Rows(values, self.bias, self.squared_norms, _native_rows(values, self.bias, self.threads))

    def dual_weights(self, problem: Problem, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
        """w(alpha), alpha clipped to its bounds, and sum_i alpha_i (1 - sign_i offset_i)."""
        weights = np.empty(self.n_features + 1)
        gain = _core.dual_weights(problem.native, alpha, weights)
        return weights, gain - self._dual_rounding(problem, alpha, weights, gain)

    def _dual_rounding(self, problem: Problem, alpha: Floats, weights: npt.NDArray[np.float64], gain: float) -> float:
        """By how much the exact dual, times total, may lie below the one of rounded weights.

        Summing n rows up, roundings partly cancel: they grow with sqrt(n) (Higham, Mary: A new approach to
        probabilistic rounding error analysis. SIAM J. Scientific Computing 41, 2019).
        """
        if not alpha.any():
            return 0.0
        off = float(np.finfo(np.float64).eps) * (4.0 + float(np.sqrt(self.n_rows)))
        length, mu = float(np.sqrt(self.square(weights))), problem.lam * problem.total
        if off * problem.reach * (length + 0.5 * off * problem.reach / mu) <= negligible * gain:
            return 0.0
        parts = (inner(np.clip(alpha[mine], 0.0, problem.cost[mine]), self._lengths(mine)) for mine in self._blocks())
        reach = off * math.fsum(parts)
        return reach * (length + 0.5 * reach / mu)

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        total, least = _core.losses(problem.native, weights)
        square = self.square(weights)
        return Losses(total, least, square, self._rounding(problem, weights, total, square))

    def _rounding(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, square: float) -> float:
        """By how much the exact losses may exceed their sum `total`, because scores are rounded.

        The score of row i is off by at most scores_off |w| |x_i|. Over all rows that is next to nothing, unless
        features are badly scaled or the classes as good as separated; only there the rows are asked one by one.
        """
        if square == 0.0:
            return 0.0
        off = self.scores_off * float(np.sqrt(square))
        if off * problem.reach <= negligible * (total + 0.5 * problem.lam * problem.total * square):
            return 0.0
        off *= float(np.finfo(np.longdouble).eps / np.finfo(np.float64).eps)
        long = weights.astype(np.longdouble)
        farthest = (self._farthest_losses(problem, long, mine, off) for mine in self._blocks())
        return max(0.0, math.fsum(farthest) - total)

    def _farthest_losses(self, problem: Problem, weights: npt.NDArray[np.longdouble], mine: slice, off: float) -> float:
        """The losses of some rows, each as large as rounding leaves possible."""
        margins = problem.sign[mine] * (self._long_scores(weights, mine) + problem.offset[mine])
        farthest = np.maximum(0.0, 1.0 - margins + off * self._lengths(mine))
        counts = problem.cost[mine] > 0.0
        return float(np.sum(problem.cost[mine][counts] * farthest[counts]))

    def _long_scores(self, weights: npt.NDArray[np.longdouble], mine: slice) -> npt.NDArray[np.longdouble]:
        """The scores of some rows, with all the digits that the machine has; slowly."""
        block = self.values[mine if self.numbers is None else self.numbers[mine]]
        if sp.issparse(block):
            products = np.append(block.data * weights[block.indices], np.longdouble(0.0))
            sums = np.add.reduceat(products, block.indptr[:-1])
            scores = np.where(np.diff(block.indptr) > 0, sums, 0.0)
        else:
            scores = (block * weights[:-1]).sum(axis=1)
        return np.asarray(scores + self.bias * weights[-1], np.longdouble)

    def _blocks(self) -> Iterator[slice]:
        """All rows, so many at a time that what is computed of them takes no memory worth counting."""
        return (slice(begin, begin + _long_rows) for begin in range(0, self.n_rows, _long_rows))

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """At least |x_i|, with the constant column."""
        return self._lengths(slice(None))

    def _lengths(self, mine: slice) -> npt.NDArray[np.float64]:
        exact = np.sqrt(self.squared_norms[mine], dtype=np.float64)
        return exact * (1.0 + float(np.finfo(np.float32).eps)) if self.squared_norms.dtype == np.float32 else exact

    @cached_property
    def scores_off(self) -> float:
        """The rounding of a margin where weights and row have length 1; of long rows, four sums run side by side."""
        values = self.values
        longest = self.n_features
        if sp.issparse(values):
            ends = (values.indptr[begin : begin + _starts + 1] for begin in range(0, values.shape[0], _starts))
            longest = max((int(np.diff(some).max()) for some in ends), default=0)
        return 0.5 * float(np.finfo(np.float64).eps) * min(longest + 3.0, longest / 4.0 + 8.0)

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2."""
        return inner(weights, weights)

    def scores_of(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The score of every row."""
        scores = np.empty((self.n_rows, 1))
        _core.scores(self.native, weights[None], scores)
        return scores[:, 0]

    def constant_score(self, weights: npt.NDArray[np.float64]) -> float:
        """What the constant column adds to every score."""
        return self.bias * float(weights[-1])

    @property
    def own_values(self) -> Matrix:
        """The values of these rows alone: of a view a copy."""
        return self.values if self.numbers is None else self.values[self.numbers]

    @property
    def n_stored(self) -> int:
        """How many values these rows have in memory."""
        if not sp.issparse(self.values):
            return self.n_rows * self.n_features
        if self.numbers is None:
            return int(self.values.nnz)
        return int(np.diff(self.values.indptr)[self.numbers].sum())

    @property
    def threads(self) -> int:
        """How many threads may share a pass over the rows."""
        return self.native.threads

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.native.n_rows

    @property
    def n_features(self) -> int:
        """Number of features, without the constant column."""
        return self.native.n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype


def _inspected(values: Matrix, bias: float, squared_norms: Floats) -> Rows:
    return Rows(values, bias, squared_norms, _native_rows(values, bias, 1))


def scores_of(values: Matrix, weights: npt.NDArray[np.float64], threads: int) -> npt.NDArray[np.float64]:
    """The score of every row under each weight vector, with a constant column of 1; looked at in the same pass."""
    native = _native_rows(values, 1.0, threads)
    scores = np.empty((native.n_rows, len(weights)))
    out_of_bounds, _, not_finite, _ = _core.checked_scores(native, weights, scores)
    _refuse(native, out_of_bounds, not_finite)
    return scores


def _refuse(native: _core.Rows, out_of_bounds: int, not_finite: int) -> None:
    if out_of_bounds >= 0:
        raise PegasosError(
            f"X is not a valid CSR matrix: row {out_of_bounds} names a column outside 0..{native.n_features - 1} "
            "or its indptr does not increase; build it with scipy.sparse.csr_matrix((data, (row, column)))."
        )
    if not_finite >= 0:
        raise PegasosError(f"X contains NaN or infinity (inf) in row {not_finite}; impute or drop it first.")


def _native_rows(values: Matrix, bias: float, threads: int) -> _core.Rows:
    native = _core.dense_rows(values, bias) if not sp.issparse(values) else _csr_rows(values, bias)
    native.threads = threads
    return native


def _csr_rows(values: Matrix, bias: float) -> _core.Rows:
    indices, starts = values.indices, values.indptr
    if len(starts) != values.shape[0] + 1:
        raise PegasosError(
            f"X is not a valid CSR matrix: {values.shape[0]} rows need {values.shape[0] + 1} entries of indptr, "
            f"got {len(starts)}."
        )
    if starts.dtype != indices.dtype:
        # The short one of the two is converted, unless that cannot hold the number of values.
        fits = starts.max(initial=0) <= np.iinfo(indices.dtype).max
        indices, starts = (indices, starts.astype(indices.dtype)) if fits else (indices.astype(starts.dtype), starts)
    try:
        return _core.csr_rows(values.data, indices, starts, values.shape[1], bias)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"X is not a valid CSR matrix: {error}") from error


class Extent(Protocol):
    """How large a problem is."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of weights, without that of the constant column."""


class RowsLike(Extent, Protocol):
    """What a problem and its certificate ask of rows. What the weights are is the rows' own business."""

    @property
    def bias(self) -> float:
        """Value of the constant column."""

    @property
    def squared_norms(self) -> Floats:
        """|x_i|^2 with the constant column."""

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """At least |x_i|, with the constant column."""

    @property
    def native(self) -> _core.Rows:
        """What the loops see."""

    def view(self, indices: npt.NDArray[Any]) -> RowsLike:
        """Return some of the rows."""

    def dual_weights(self, problem: Problem, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
        """Return w(alpha), alpha clipped to its bounds, and sum_i alpha_i (1 - sign_i offset_i)."""

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """Return the sum of the losses of these weights, the least margin, and |w|^2."""

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """Return |w|^2."""

    def scores_of(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the score of every row."""

    def constant_score(self, weights: npt.NDArray[np.float64]) -> float:
        """Return what the constant column adds to every score."""


class Objective(Protocol):
    """What the driver and the certificate ask of a problem, of whichever kind it is."""

    @property
    def rows(self) -> Extent:
        """The rows; an epoch is as many visits as there are."""

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """What a mistake on each row costs."""

    @property
    def lam(self) -> float:
        """The regularisation."""

    @property
    def total(self) -> float:
        """Sum of the sample weights."""

    @property
    def radius(self) -> float:
        """|w*| is at most this."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of the weights."""

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """Shape of a dual point."""

    def within_bounds(self, alpha: Floats) -> Floats:
        """Return the dual point, brought within its bounds."""

    def dual_weights(self, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
        """Return w(alpha), alpha within its bounds, and the linear term of the dual, times total."""

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """Return the sum of the losses of these weights, the least margin, and |w|^2."""

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """Return |w|^2."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their signs, costs and offsets, and how strongly the weights are regularised.

    Attributes
    ----------
    rows : Rows, or rows that are known by a kernel
    sign : int8 array of shape (n_rows,), the labels, -1 or +1
    cost : float64 array of shape (n_rows,), what a mistake on a row costs: sample weight times class weight
    offset : float64 array of shape (n_rows,), a score that is already there
    lam : float
    total : float, the sum of the sample weights
    """

    rows: RowsLike
    sign: npt.NDArray[np.int8]
    cost: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    lam: float
    total: float

    @classmethod
    def plain(cls, rows: RowsLike, sign: npt.NDArray[np.int8], lam: float) -> Problem:
        """All costs 1, no offsets."""
        return cls(rows, sign, constant(1.0, rows.n_rows), constant(0.0, rows.n_rows), lam, float(rows.n_rows))

    @cached_property
    def native(self) -> _core.Problem:
        """What the loops see."""
        return _core.make_problem(self.rows.native, self.sign, self.cost, self.offset, self.lam, self.total)

    @cached_property
    def radius(self) -> float:
        """|w*| is at most this: the ball that a projection may use."""
        if self.offset.strides == (0,) and self.offset[0] == 0.0:
            loss = float(np.sum(self.cost))
        else:
            loss = float(np.sum(self.cost * np.maximum(0.0, 1.0 - self.sign * self.offset)))
        return float(np.sqrt(loss / (self.lam * self.total)))

    @cached_property
    def reach(self) -> float:
        """At least sum_i cost_i |x_i|."""
        return reach_of(self.cost, self.rows.squared_norms)

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """One weight a feature, and one for the constant column."""
        return (self.rows.n_features + 1,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """One dual variable a row."""
        return (self.rows.n_rows,)

    def within_bounds(self, alpha: Floats) -> Floats:
        """The dual point, clipped to 0 <= alpha_i <= cost_i; uncopied where it is within them."""
        is_within = alpha.min(initial=0.0) >= 0.0 and not (alpha > self.cost).any()
        return alpha if is_within else np.clip(alpha, 0.0, self.cost)

    def dual_weights(self, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
        """w(alpha), alpha clipped to its bounds, and sum_i alpha_i (1 - sign_i offset_i)."""
        return self.rows.dual_weights(self, alpha)

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        return self.rows.losses(self, weights)

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2."""
        return self.rows.square(weights)


def inner(a: Floats, b: Floats) -> float:
    """<a, b> in double, in one fixed order: a threaded BLAS would wait for its threads and sum as they come."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sum(np.multiply(a, b, dtype=np.float64)))


def reach_of(cost: npt.NDArray[np.float64], squared_norms: Floats) -> float:
    """At least sum_i cost_i |x_i|, without an array of that size."""
    squares = float(np.einsum("i,i", cost, squared_norms))
    return float(np.sqrt(np.sum(cost) * squares))


def constant(value: float, n: int) -> npt.NDArray[np.float64]:
    """One value for each of n rows, in the memory of one."""
    return np.broadcast_to(np.float64(value), (n,))
