"""The problem that every solver in this library solves.

    P(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_i (<w, x_i> + offset_i))
    phi(r) = max over 0 <= a <= cap of  a r - ridge a^2 / 2

Sample weights, class weights, transfer, the intercept and the loss are values of its fields, never branches of a
solver. The hinge has cap 1 and ridge 0; see `losses` for the others. A target other than 1, with the loss
phi(target_i - sign_i score_i), is part of the offset: offset_i = sign_i (1 - target_i).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.errors import NotFiniteError, PegasosError
from pegasos.losses import Loss
from pegasos.rounding import (
    Carried,
    DualSums,
    Gain,
    LongTerms,
    Primal,
    Room,
    hidden_length,
    is_negligible,
    is_settled,
    last_roundings,
    length_of,
    long_unit,
    lowered,
    nothing,
    reach_of,
    smallest,
    square_reach_of,
    sum_depth,
    sum_of,
    unit,
)

Floats = npt.NDArray[np.floating[Any]]
_LARGEST_SINGLE = 1e38
long_rows = 1024  # rows examined at a time where rounding counts
_INDICES_AT_ONCE = 1 << 16
_MANY_COLUMNS = 1000  # columns of sparse rows from which empty ones are looked for
_MOSTLY = 0.75  # fraction of occupied columns up to which the others are left out
Matrix = Any  # a dense array, or a CSR matrix or array of scipy


class Losses(NamedTuple):
    """The cost of weights: the sum of cost_i loss_i, the least sign_i score_i of a row with a positive cost, |w|^2.

    The exact losses and lam total |w|^2 / 2 exceed the computed ones by at most `rounding` + `slack`. `rounding` is
    part of the certificate; it is 0 where it would be negligible. The weights of the model lie within `moved` of the
    certified ones.
    """

    total: float
    least_margin: float
    square: float
    rounding: float = 0.0
    slack: float = 0.0
    moved: float = 0.0


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a problem: the user's own array, inspected once.

    Attributes
    ----------
    values : dense C-contiguous array or CSR, float32 or float64
    bias : float
        The value of the constant last column that carries the intercept; 0 for none.
    squared_norms : array of shape (n_rows,)
        |x_i|^2 with the constant column, in double; in float32 where that was requested and suffices.
    native : _core.Rows
    numbers : uint32 array of shape (n_rows,), or None for all rows of `values`
        For a view, which rows of `values` these are.
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
        _refuse(native, values, out_of_bounds, not_finite)
        if unsorted >= 0:
            # Repeated columns of a row stand for their sum, which the norms above do not account for.
            values = values.copy()
            values.sum_duplicates()
            return cls.of(values, bias, threads, narrow=narrow)
        if out_of_range >= 0 and squared_norms.dtype == np.float32:
            return cls.of(values, bias, threads)
        return cls(values, bias, squared_norms, native)

    def __reduce__(self) -> Any:
        """Pickle without the native view, which is rebuilt on arrival; the rows are not inspected again."""
        return _inspected, (self.own_values, self.bias, self.squared_norms)

    def view(self, indices: npt.NDArray[Any], *, repeats: int = 1) -> Rows:
        """Return a view of some of the rows, or of a view's rows; every loop treats it like a copy.

        The indices of a view of all rows are kept, not copied, if their type allows it. Where the same indices follow
        one another, ``repeats`` times, passes may read each row once; they then round differently than for a copy.
        """
        # A problem numbers its rows in 32 bits.
        if self.numbers is None and indices.dtype == np.uint32:
            numbers = np.ascontiguousarray(indices)
        else:
            everyone = np.arange(self.n_rows, dtype=np.uint32) if self.numbers is None else self.numbers
            numbers = everyone[indices]
        native = _core.view_rows(self.native, numbers, repeats)
        return Rows(self.values, self.bias, self.squared_norms[indices], native, numbers)

    @property
    def repeats(self) -> int:
        """How often the same rows follow one another, as far as passes may use it."""
        return self.n_rows // max(self.native.n_distinct, 1) if self.n_rows else 1

    def take(self, indices: npt.NDArray[Any]) -> Rows:
        """Copy some of the rows, which need no second inspection."""
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
        more = bias * bias - self.bias * self.bias
        is_narrow = self.squared_norms.dtype == np.float32 and self.longest**2 + abs(more) < _LARGEST_SINGLE
        squared_norms = (self.squared_norms if is_narrow else self.squared_norms.astype(np.float64)) + more
        rows = Rows(self.values, bias, squared_norms, _native_rows(self.values, bias, self.threads))
        if self.numbers is None:
            return rows
        native = _core.view_rows(rows.native, self.numbers, self.repeats)
        return replace(rows, native=native, numbers=self.numbers)

    def in_threads(self, threads: int) -> Rows:
        """Return the same rows, with this many threads for a pass over them."""
        native = _native_rows(self.values, self.bias, threads)
        if self.numbers is not None:
            native = _core.view_rows(native, self.numbers, self.repeats)
        return replace(self, native=native)

    def of_type(self, dtype: npt.DTypeLike) -> Rows:
        """Return the same rows with values of another type; the object itself if it already has it."""
        if self.dtype == dtype:
            return self
        values = self.own_values.astype(dtype)
        return Rows(values, self.bias, self.squared_norms, _native_rows(values, self.bias, self.threads))

    def dense(self) -> Rows:
        """The same rows as a dense array."""
        values = np.ascontiguousarray(self.own_values.toarray())
        return Rows(values, self.bias, self.squared_norms, _native_rows(values, self.bias, self.threads))

    @cached_property
    def occupied(self) -> npt.NDArray[np.intp] | None:
        """The columns of sparse rows in which something is stored; None where that is not worth knowing.

        Rows of hashed or rare categories, or of some classes only, may leave most of the columns empty. The weights of
        these are 0 in every solution.
        """
        if not sp.issparse(self.values) or self.n_features < _MANY_COLUMNS:
            return None
        indices, is_occupied = self.own_values.indices, np.zeros(self.n_features, bool)
        for begin in range(0, len(indices), _INDICES_AT_ONCE):  # numpy widens indices before it uses them
            is_occupied[indices[begin : begin + _INDICES_AT_ONCE]] = True
        found = np.flatnonzero(is_occupied)
        return found if len(found) <= _MOSTLY * self.n_features else None

    def of_columns(self, columns: npt.NDArray[np.intp]) -> Rows:
        """The same rows, whose stored values all lie in these columns, without the others."""
        place = np.zeros(self.n_features, self.values.indices.dtype)
        place[columns] = np.arange(len(columns))
        own = self.own_values
        values = sp.csr_matrix((own.data, place[own.indices], own.indptr), shape=(self.n_rows, len(columns)))
        return Rows(values, self.bias, self.squared_norms, _native_rows(values, self.bias, self.threads))

    def dual_sums(self, problem: Problem, alpha: Floats) -> DualSums:
        """w(alpha), alpha clipped to its bounds, and the linear term of the dual with room for rounding."""
        weights, gain = self.terms(problem, alpha)
        if not gain.off > 0.0 and gain.value == 0.0:
            return DualSums(weights, 0.0)
        mu, length = problem.lam * problem.total, length_of(weights)
        if is_settled(gain, length, mu):
            return DualSums(weights, *lowered(gain, length, mu), gain.off, gain.ridge)
        if not np.isfinite(self.longest + length):
            return DualSums(weights, -np.inf, np.inf, np.inf)
        long_mu = np.longdouble(problem.lam) * np.longdouble(problem.total)
        terms = self.long_terms(problem, alpha)
        found = terms.dual_sums(weights, self.square(weights), long_mu, problem.cap_roundings)
        return found._replace(ridge=gain.ridge)

    def terms(self, problem: Problem, alpha: Floats) -> tuple[npt.NDArray[np.float64], Gain]:
        """The rows' terms of w(alpha) and of the dual's linear term, with the bounds of their errors."""
        weights = np.empty(self.n_features + 1)
        return weights, self.gain_of(problem, _core.dual_sums(problem.native, alpha, weights))

    def gain_of(self, problem: Problem, sums: tuple[float, float, float, float, float]) -> Gain:
        """The dual's linear term with the bounds of both errors, from the sums of `_core.dual_sums`."""
        value, spent, wander, climbed, ridge = sums
        if not spent > 0.0:
            return Gain()
        carried, longest = problem.carried, self.longest
        step = longest / (problem.lam * problem.total)
        roundings = 8.0 + self.threads + problem.cap_roundings
        off = unit * (wander + step * (climbed + roundings * spent))
        of_offset = unit * (self.scores_depth * carried.length * longest + 8.0 * carried.constant)
        of_sum = unit * (sum_depth(self.n_rows) + self.threads)
        error = spent * (of_offset + of_sum * (1.0 + problem.largest_offset)) + self.n_rows * smallest
        return Gain(value, error + problem.ridge_error(of_sum, spent, ridge), off, ridge)

    def long_terms(self, problem: Problem, alpha: Floats) -> LongTerms:
        """The same terms in extended precision, which is slow, for when the rounding of double matters."""
        found, reach = LongTerms.none(self.n_features + 1), np.longdouble(0.0)
        for mine in self.blocks():
            a = np.clip(alpha[mine].astype(np.longdouble), 0.0, problem.bound[mine])
            self.add_long(mine, a * problem.sign[mine], found.own, found.spread)
            found.gain += np.sum(a * (1.0 - problem.sign[mine] * problem.offset[mine].astype(np.longdouble)))
            found.magnitude += np.sum(a * (1.0 + np.abs(problem.offset[mine])))
            found.ridge += problem.ridge_terms(a, mine)
            reach += np.sum(a * self.lengths_of(mine))
        carried = problem.carried
        found.of_offset = unit * (self.scores_depth * carried.length * reach + 8.0 * carried.constant * found.magnitude)
        found.depth = long_rows + self.n_rows / long_rows + 8.0
        return found

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        total, least = _core.losses(problem.native, weights)
        return self.with_room(problem, weights, total, least)

    def with_room(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float) -> Losses:
        """Add room for rounding to these sums of the losses.

        Over all rows rounding is negligible, unless features are badly scaled or the classes are nearly separated; only
        then are the rows examined one by one.
        """
        square, length = self.square(weights), length_of(weights)
        primal = problem.accounted(self.scores_depth, length)
        bound = primal.bound(total)
        room = Room(0.0, bound)
        if not is_negligible(bound, primal.objective(total)) and np.isfinite(total + square):
            room = self._long_room(problem, weights, total, primal)
        return Losses(total, least, square, *room, primal.moved)

    def _long_room(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, primal: Primal) -> Room:
        """How much the losses may exceed `total`, with each row's loss as large as rounding allows."""
        long = weights.astype(np.longdouble)
        farthest = float(sum(self._farthest_losses(problem, long, mine, primal) for mine in self.blocks()))
        counted = max(0.0, farthest - total) + primal.of_square
        return Room(counted, last_roundings(farthest, primal.mu, primal.length))

    def _farthest_losses(
        self, problem: Problem, weights: npt.NDArray[np.longdouble], mine: slice, primal: Primal
    ) -> np.longdouble:
        offset = problem.offset[mine]
        scores, sizes = self.long_scores(weights, mine)
        margins = problem.sign[mine] * (scores + offset)
        # Feature by feature: of features of very different size, |w| |x_i| would be far more than any score.
        of_score = long_unit * (primal.depth + 4.0) * sizes
        by_length = primal.carried_by_length
        if problem.carried.length > 0.0:  # the model adds the prior in double
            by_length += primal.moved
        of_offset = unit if problem.carried.length > 0.0 else long_unit if primal.length > 0.0 else 0.0
        by_constant = 8.0 * (unit * problem.carried.constant + of_offset * np.abs(offset))
        of_hidden = long_unit * (primal.depth + 4.0) * primal.length * hidden_length(self.n_features)
        errors = of_score + of_hidden + by_length * self.lengths_of(mine) + by_constant
        farthest = problem.loss.value(1.0 - margins + errors)
        counts = problem.cost[mine] > 0.0
        return np.longdouble(np.sum(problem.cost[mine][counts] * farthest[counts]))

    def long_scores(
        self, weights: npt.NDArray[np.longdouble], mine: slice
    ) -> tuple[npt.NDArray[np.longdouble], npt.NDArray[np.longdouble]]:
        """The scores of some rows with all the digits that the machine has, and the sums of their absolute terms."""
        begin, end, _ = mine.indices(self.n_rows)
        scores, sizes = (np.empty(end - begin, np.longdouble) for _ in range(2))
        _core.long_scores(self.native, begin, end, *map(_as_bytes, (weights, scores, sizes)))
        # What the constant column adds is the intercept of the model, which is a number in double.
        constant = self.bias * np.float64(weights[-1])
        return scores + constant, sizes + abs(constant)

    def add_long(
        self,
        mine: slice,
        coefficients: npt.NDArray[np.longdouble],
        sums: npt.NDArray[np.longdouble],
        sizes: npt.NDArray[np.longdouble],
    ) -> None:
        """Add some rows, each times its coefficient, with all the digits that the machine has.

        The absolute terms are added to `sizes`.
        """
        begin, end, _ = mine.indices(self.n_rows)
        room = np.zeros(2 * len(sums), np.longdouble)
        _core.add_long(self.native, begin, end, *map(_as_bytes, (coefficients, sums, sizes, room)))
        sums[-1] += self.bias * np.sum(coefficients)
        sizes[-1] += abs(self.bias) * np.sum(np.abs(coefficients))

    def blocks(self) -> Iterator[slice]:
        """Iterate over all rows in blocks small enough that results take little memory."""
        return (slice(begin, begin + long_rows) for begin in range(0, self.n_rows, long_rows))

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """Upper bounds of |x_i|, with the constant column."""
        return self.lengths_of(slice(None))

    def lengths_of(self, mine: slice) -> npt.NDArray[np.float64]:
        """Upper bounds of |x_i| for some rows."""
        exact = np.sqrt(self.squared_norms[mine], dtype=np.float64)
        return exact * self._widened + hidden_length(self.n_features)

    @property
    def _widened(self) -> float:
        """Factor that covers the rounding of a length."""
        return 1.0 + float(np.finfo(self.squared_norms.dtype).eps) + sum_depth(self.n_features) * unit

    @cached_property
    def mean_square(self) -> float:
        """Mean of |x_i|^2."""
        return float(np.mean(self.squared_norms, dtype=np.float64))

    @cached_property
    def longest(self) -> float:
        """Upper bound of all |x_i|."""
        square = float(np.max(self.squared_norms, initial=0.0))
        return float(np.sqrt(square)) * self._widened + hidden_length(self.n_features)

    @cached_property
    def scores_depth(self) -> float:
        """Number of roundings in a score; long rows are summed in four interleaved parts."""
        values = self.values
        longest = self.n_features
        if sp.issparse(values):
            longest = int(self._stored_counts.max(initial=0))
        return min(longest + 3.0, longest / 4.0 + 8.0)

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

    def without_constant(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the same weights, with 0 for the constant column."""
        return np.append(weights[:-1], 0.0)

    def check_unchanged(self) -> None:
        """Raise an error if another thread has changed sparse rows since their inspection: indices could be invalid."""
        if not _core.are_intact(self.native):
            raise PegasosError(
                "X was changed by another thread during the fit: its indices are out of bounds now. Memory may be "
                "damaged; restart the process, and give fit a copy of its own."
            )

    @property
    def own_values(self) -> Matrix:
        """The values of these rows only; a copy for a view."""
        return self.values if self.numbers is None else self.values[self.numbers]

    @cached_property
    def n_stored(self) -> int:
        """Number of stored values."""
        if not sp.issparse(self.values):
            return self.n_rows * self.n_features
        if self.numbers is None:
            return int(self.values.nnz)
        return int(self._stored_counts.sum())

    @property
    def stored_of_each(self) -> npt.NDArray[Any]:
        """Number of stored values of each row."""
        return self._stored_counts if sp.issparse(self.values) else constant(self.n_features, self.n_rows)

    @property
    def _stored_counts(self) -> npt.NDArray[Any]:
        """Number of stored values of each row, for sparse rows."""
        starts = self.values.indptr
        return np.diff(starts) if self.numbers is None else starts[1:][self.numbers] - starts[:-1][self.numbers]

    @property
    def threads(self) -> int:
        """Number of threads that may share a pass over the rows."""
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
    """Score every row under each weight vector, with a constant column of 1; check the values in the same pass."""
    native = _native_rows(values, 1.0, threads)
    scores = np.empty((native.n_rows, len(weights)))
    out_of_bounds, _, not_finite, _ = _core.checked_scores(native, weights, scores)
    _refuse(native, values, out_of_bounds, not_finite)
    return scores


def _refuse(native: _core.Rows, values: Matrix, out_of_bounds: int, not_finite: int) -> None:
    if out_of_bounds >= 0:
        raise PegasosError(
            f"X is not a valid CSR matrix: row {out_of_bounds} names a column outside 0..{native.n_features - 1} "
            "or its indptr does not increase; build it with scipy.sparse.csr_matrix((data, (row, column)))."
        )
    if not_finite >= 0:
        row = values[[not_finite]]
        found = np.flatnonzero(~np.isfinite(row.data if sp.issparse(row) else row[0]))[0]
        raise NotFiniteError(not_finite, int(row.indices[found]) if sp.issparse(row) else int(found))


def check_structure(X: Any) -> None:
    """Reject a sparse matrix whose indices point outside its arrays, before a loop of scipy follows them."""
    if not sp.issparse(X) or X.ndim != 2:
        return
    if X.format == "coo":
        _check_indices(X.row, X.shape[0])
        _check_indices(X.col, X.shape[1])
    elif X.format in ("csr", "csc", "bsr"):
        block = X.blocksize if X.format == "bsr" else (1, 1)
        n_rows, n_columns = X.shape[0] // block[0], X.shape[1] // block[1]
        major, minor = (n_columns, n_rows) if X.format == "csc" else (n_rows, n_columns)
        starts, n_stored = X.indptr, min(len(X.indices), len(X.data))
        is_whole = len(starts) == major + 1 and starts[0] == 0 and starts[-1] <= n_stored
        if not is_whole or (np.diff(starts) < 0).any():
            raise PegasosError(
                f"X is not a valid {X.format.upper()} matrix: its indptr must rise from 0 to at most the {n_stored} "
                f"stored values in {major + 1} entries; build it with scipy.sparse.csr_matrix((data, (row, column)))."
            )
        _check_indices(X.indices[: starts[-1]], minor)


def _check_indices(indices: npt.NDArray[Any], end: int) -> None:
    if len(indices) and not (indices.min() >= 0 and indices.max() < end):
        wrong = int(np.flatnonzero((indices < 0) | (indices >= end))[0])
        raise PegasosError(
            f"X is not a valid sparse matrix: index {indices[wrong]} is outside 0..{end - 1}; build it with "
            "scipy.sparse.csr_matrix((data, (row, column)))."
        )


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
        # Convert the shorter of the two, unless that type cannot hold the number of values.
        fits = starts.max(initial=0) <= np.iinfo(indices.dtype).max
        indices, starts = (indices, starts.astype(indices.dtype)) if fits else (indices.astype(starts.dtype), starts)
    try:
        return _core.csr_rows(values.data, indices, starts, values.shape[1], bias)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"X is not a valid CSR matrix: {error}") from error


class Extent(Protocol):
    """The size of a problem."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of weights, without that of the constant column."""


class RowsLike(Extent, Protocol):
    """The rows of a problem, as the problem and its certificate see them. The rows define what weights are."""

    @property
    def bias(self) -> float:
        """Value of the constant column."""

    @property
    def squared_norms(self) -> Floats:
        """|x_i|^2 with the constant column."""

    @property
    def mean_square(self) -> float:
        """Mean of |x_i|^2, with the constant column."""

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """Upper bounds of |x_i|, with the constant column."""

    @property
    def longest(self) -> float:
        """Upper bound of all |x_i|, with the constant column."""

    @property
    def native(self) -> _core.Rows:
        """The view that native loops use."""

    def view(self, indices: npt.NDArray[Any], *, repeats: int = 1) -> RowsLike:
        """Return some of the rows, which follow one another ``repeats`` times."""

    def dual_sums(self, problem: Problem, alpha: Floats) -> DualSums:
        """Return w(alpha), alpha clipped to its bounds, and the linear term of the dual with room for rounding."""

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """Return the sum of the losses of these weights, the least margin, and |w|^2."""

    def with_room(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float) -> Losses:
        """Return these sums of the losses, with room for rounding."""

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """Return |w|^2."""

    def scores_of(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the score of every row."""

    def constant_score(self, weights: npt.NDArray[np.float64]) -> float:
        """Return what the constant column adds to every score."""

    def without_constant(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return weights whose constant column is 0, except for rounding."""


class Objective(Protocol):
    """The interface that the driver and the certificate require of any kind of problem."""

    @property
    def rows(self) -> Extent:
        """The rows; an epoch is that many visits."""

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """What a mistake on each row costs."""

    @property
    def bound(self) -> npt.NDArray[np.float64]:
        """Upper bound of each row's dual variables, or of their sum where there are several."""

    @property
    def lam(self) -> float:
        """The regularization."""

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

    def dual_sums(self, alpha: Floats) -> DualSums:
        """Return w(alpha), alpha within its bounds, and the linear term of the dual, times total."""

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """Return the sum of the losses of these weights, the least margin, and |w|^2."""

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """Return |w|^2."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their signs, costs and offsets, and how strongly the weights are regularized.

    Attributes
    ----------
    rows : Rows, or rows that are given by a kernel
    sign : int8 array of shape (n_rows,), the labels, -1 or +1
    cost : float64 array of shape (n_rows,), what a mistake on a row costs: sample weight times class weight
    offset : float64 array of shape (n_rows,), a score known in advance
    lam : float
    total : float, the sum of the sample weights
    carried : Carried
        The prior whose scores are the offsets; empty where offsets are exact.
    cap, ridge : float
        The two numbers of the loss: its largest slope, and 1 / curvature where it is curved. See `losses`.
    """

    rows: RowsLike
    sign: npt.NDArray[np.int8]
    cost: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    lam: float
    total: float
    carried: Carried = nothing
    cap: float = 1.0
    ridge: float = 0.0

    @classmethod
    def plain(cls, rows: RowsLike, sign: npt.NDArray[np.int8], lam: float) -> Problem:
        """All costs 1, no offsets."""
        return cls(rows, sign, constant(1.0, rows.n_rows), constant(0.0, rows.n_rows), lam, float(rows.n_rows))

    @cached_property
    def native(self) -> _core.Problem:
        """The view that native loops use."""
        columns = self.sign, self.cost, self.offset
        return _core.make_problem(self.rows.native, *columns, self.lam, self.total, self.cap, self.ridge)

    @cached_property
    def loss(self) -> Loss:
        """The loss of a row with a cost of 1."""
        return Loss(self.cap, self.ridge)

    @property
    def without_empty_columns(self) -> Problem:
        """The problem of the occupied columns; itself where none is left out."""
        assert isinstance(self.rows, Rows)
        return self if self.rows.occupied is None else self._of_occupied_columns

    @cached_property
    def _of_occupied_columns(self) -> Problem:
        assert isinstance(self.rows, Rows)
        assert self.rows.occupied is not None
        return replace(self, rows=self.rows.of_columns(self.rows.occupied))

    @cached_property
    def bound(self) -> npt.NDArray[np.float64]:
        """Upper bounds of the dual variables: cap cost_i, 0 where the cost is 0."""
        return self.loss.bound_of(self.cost)

    @cached_property
    def damping(self) -> npt.NDArray[np.float64]:
        """Curvature that the loss adds to the dual: ridge / cost_i, 0 where the cost is 0."""
        if self.ridge == 0.0:
            return constant(0.0, self.rows.n_rows)
        if len(self.cost) > 0 and self.cost.strides == (0,):
            return constant(self.ridge / float(self.cost[0]) if self.cost[0] > 0.0 else 0.0, self.rows.n_rows)
        return np.divide(self.ridge, self.cost, where=self.cost > 0.0, out=np.zeros(self.rows.n_rows))

    def ridge_terms(self, alpha: npt.NDArray[Any], mine: slice = slice(None)) -> Any:
        """Sum ridge alpha_i^2 / (2 cost_i) over some rows, for alpha within its bounds, in the type of alpha."""
        if self.ridge == 0.0:
            return alpha.dtype.type(0.0)
        counts = alpha > 0.0
        a = alpha[counts]
        return np.sum(a * (a / self.cost[mine][counts])) * a.dtype.type(0.5 * self.ridge)

    @property
    def cap_roundings(self) -> float:
        """Units in the last place by which a dual variable at its bound may exceed cap cost_i."""
        return self.loss.cap_roundings

    def ridge_error(self, of_sum: float, spent: float, ridge: float) -> float:
        """Error that a loss other than the hinge adds to the dual; ``of_sum`` is the error of a sum, per term."""
        of_bounds = unit * self.cap_roundings * (spent * (1.0 + self.largest_offset) + 2.0 * ridge)
        return (of_sum + 8.0 * unit) * ridge + of_bounds

    @cached_property
    def radius(self) -> float:
        """|w*| is at most this: the radius of the ball that a projection may use."""
        if self.offset.strides == (0,) and self.offset[0] == 0.0:
            loss = float(np.sum(self.cost)) * self.loss.at_one
        else:
            loss = _core.losses_of_zero(self.native)
        return float(np.sqrt(loss / (self.lam * self.total)))

    @cached_property
    def reach(self) -> float:
        """Upper bound of sum_i cost_i |x_i|."""
        return reach_of(self.cost, self.rows.squared_norms, self.rows.n_features)

    @cached_property
    def square_reach(self) -> float:
        """Upper bound of the root of sum_i cost_i |x_i|^2."""
        return square_reach_of(self.cost, self.rows.squared_norms, self.rows.n_features)

    @cached_property
    def share_of_positives(self) -> float:
        """Fraction of the rows with a positive sign."""
        return float(np.count_nonzero(self.sign > 0)) / max(self.rows.n_rows, 1)

    @cached_property
    def cost_sum(self) -> float:
        """Upper bound of sum_i cost_i."""
        return sum_of(self.cost)

    @cached_property
    def largest_offset(self) -> float:
        """The largest |offset_i|."""
        return largest_of(self.offset)

    def accounted(self, depth: float, length: float) -> Primal:
        """The quantities that bound the error of the losses, for scores of this depth and weights of this length."""
        mu, part = self.lam * self.total, self.cost_sum / self.total
        sizes = self.reach, self.cost_sum, self.largest_offset
        primal = Primal(depth, length, *sizes, self.carried, self.rows.n_rows, mu, part)
        return primal if self.loss.is_hinge else primal.of_loss(self.cap, self.ridge, self.square_reach)

    def shifted(self, intercept: float) -> Problem:
        """The same problem with an intercept added to every offset; its rounding is accounted for."""
        if self.largest_offset == 0.0:
            return replace(self, offset=constant(intercept, self.rows.n_rows))
        rounded = self.carried.constant + abs(intercept) + self.largest_offset
        return replace(self, offset=self.offset + intercept, carried=replace(self.carried, constant=rounded))

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """One weight per feature, and one for the constant column."""
        return (self.rows.n_features + 1,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """One dual variable per row."""
        return (self.rows.n_rows,)

    def within_bounds(self, alpha: Floats) -> Floats:
        """Clip the dual point to 0 <= alpha_i <= cap cost_i, without a copy if it is within these bounds."""
        is_within = alpha.min(initial=0.0) >= 0.0 and not (alpha > self.bound).any()
        return alpha if is_within else np.clip(alpha, 0.0, self.bound)

    def dual_sums(self, alpha: Floats) -> DualSums:
        """w(alpha), alpha clipped to its bounds, and the linear term of the dual with room for rounding."""
        return self.rows.dual_sums(self, alpha)

    def dual_weights(self, alpha: Floats) -> tuple[npt.NDArray[np.float64], float]:
        """w(alpha), alpha clipped to its bounds, and the dual without |w|^2, times total."""
        sums = self.dual_sums(alpha)
        return sums.weights, sums.gain

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        return self.rows.losses(self, weights)

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2."""
        return self.rows.square(weights)


def _as_bytes(longs: npt.NDArray[np.longdouble]) -> npt.NDArray[np.uint8]:
    """The memory of an array that native loops could not take otherwise."""
    return longs.view(np.uint8)


def inner(a: Floats, b: Floats) -> float:
    """<a, b> in double, in a fixed order: a threaded BLAS would synchronize threads and sum in varying order."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.add.reduce(np.multiply(a, b, dtype=np.float64), axis=None))


def added(parts: Sequence[Losses], weights: npt.NDArray[np.float64]) -> Losses:
    """Combine the losses of parts of the rows, in their order, and add |w|^2."""
    total, least, rounding, slack = 0.0, np.inf, 0.0, 0.0
    for part in parts:
        total += part.total
        least = min(least, part.least_margin)
        rounding += part.rounding
        slack += part.slack + unit * total
    moved = max(part.moved for part in parts)
    return Losses(total, float(least), inner(weights, weights), rounding, slack, moved)


def largest_of(offset: npt.NDArray[np.float64]) -> float:
    """The largest absolute value of an offset."""
    if offset.size > 0 and not any(offset.strides):
        return abs(float(offset.flat[0]))
    return float(max(np.max(offset, initial=0.0), -np.min(offset, initial=0.0)))


def mean_of(cost: npt.NDArray[np.float64]) -> float:
    """The mean of costs, which may be those of `constant`."""
    return float(cost[0]) if cost.strides == (0,) else float(np.mean(cost))


def constant(value: float, n: int) -> npt.NDArray[np.float64]:
    """Return one value for each of n rows, in the memory of one."""
    return np.ndarray((n,), np.float64, buffer=np.float64(value), strides=(0,))  # faster than `np.broadcast_to`
