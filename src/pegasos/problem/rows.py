"""`Rows`: the user's own array, inspected once, or a view of some of its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.problem import sums
from pegasos.problem.arrays import Floats, Matrix, constant, inner
from pegasos.problem.objective import Losses
from pegasos.problem.reading import native_rows, refuse
from pegasos.rounding import DualSums, hidden_length, sum_depth, unit

if TYPE_CHECKING:
    from pegasos.problem.problem import Problem

_LARGEST_SINGLE = 1e38
_INDICES_AT_ONCE = 1 << 16
_MANY_COLUMNS = 1000  # columns of sparse rows from which empty ones are looked for
_MOSTLY = 0.75  # fraction of occupied columns up to which the others are left out


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
        native = native_rows(values, bias, threads)
        squared_norms = np.empty(native.n_rows, values.dtype if narrow else np.float64)
        out_of_bounds, unsorted, not_finite, out_of_range = _core.inspect(native, squared_norms)
        refuse(native, values, out_of_bounds, not_finite)
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
        once = self.squared_norms[indices[: len(indices) // repeats]]
        squared_norms = once if repeats == 1 else np.concatenate([once] * repeats)
        return Rows(self.values, self.bias, squared_norms, native, numbers)

    @property
    def repeats(self) -> int:
        """How often the same rows follow one another, as far as passes may use it."""
        return self.n_rows // max(self.native.n_distinct, 1) if self.n_rows else 1

    def take(self, indices: npt.NDArray[Any]) -> Rows:
        """Copy some of the rows, which need no second inspection."""
        values = self.values[indices if self.numbers is None else self.numbers[indices]]
        return Rows(values, self.bias, self.squared_norms[indices], native_rows(values, self.bias, self.threads))

    def part(self, begin: int, end: int) -> Rows:
        """A view of the rows begin..end of a dense array."""
        if self.numbers is not None:
            return self.view(np.arange(begin, end))
        values = self.values[begin:end]
        return Rows(values, self.bias, self.squared_norms[begin:end], native_rows(values, self.bias, self.threads))

    def with_bias(self, bias: float) -> Rows:
        """The same rows with another value of the constant column."""
        more = bias * bias - self.bias * self.bias
        is_narrow = self.squared_norms.dtype == np.float32 and self.longest**2 + abs(more) < _LARGEST_SINGLE
        squared_norms = (self.squared_norms if is_narrow else self.squared_norms.astype(np.float64)) + more
        rows = Rows(self.values, bias, squared_norms, native_rows(self.values, bias, self.threads))
        if self.numbers is None:
            return rows
        native = _core.view_rows(rows.native, self.numbers, self.repeats)
        return replace(rows, native=native, numbers=self.numbers)

    def in_threads(self, threads: int) -> Rows:
        """Return the same rows, with this many threads for a pass over them."""
        native = native_rows(self.values, self.bias, threads)
        if self.numbers is not None:
            native = _core.view_rows(native, self.numbers, self.repeats)
        return replace(self, native=native)

    def of_type(self, dtype: npt.DTypeLike) -> Rows:
        """Return the same rows with values of another type; the object itself if it already has it."""
        if self.dtype == dtype:
            return self
        values = self.own_values.astype(dtype)
        return Rows(values, self.bias, self.squared_norms, native_rows(values, self.bias, self.threads))

    def dense(self) -> Rows:
        """The same rows as a dense array."""
        values = np.ascontiguousarray(self.own_values.toarray())
        return Rows(values, self.bias, self.squared_norms, native_rows(values, self.bias, self.threads))

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
        return Rows(values, self.bias, self.squared_norms, native_rows(values, self.bias, self.threads))

    def dual_sums(self, problem: Problem, alpha: Floats) -> DualSums:
        """w(alpha), alpha clipped to its bounds, and the linear term of the dual with room for rounding."""
        return sums.dual_sums(self, problem, alpha)

    def losses(self, problem: Problem, weights: npt.NDArray[np.float64]) -> Losses:
        """The sum of the losses of these weights, the least margin, and |w|^2."""
        return sums.losses(self, problem, weights)

    def with_room(self, problem: Problem, weights: npt.NDArray[np.float64], total: float, least: float) -> Losses:
        """Add room for rounding to these sums of the losses."""
        return sums.with_room(self, problem, weights, total, least)

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
    return Rows(values, bias, squared_norms, native_rows(values, bias, 1))
