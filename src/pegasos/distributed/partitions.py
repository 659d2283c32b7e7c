"""What runs on the workers: a partition is read once, and then makes its part of each round.

Everything here is a plain function of picklable arguments, for any engine. What it returns stays on the worker, except
for small sums and one vector of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from pegasos.errors import PegasosError
from pegasos.machines.inputs import check_weights, how_to_read
from pegasos.problem import Losses, Matrix, Problem, Rows, constant
from pegasos.rounding import Gain
from pegasos.solvers.cocoa import Climb, Share, Vector, local_round
from pegasos.tasks import OneVsRest, Terms
from pegasos.tasks.labels import costs_of


@dataclass(frozen=True)
class Partition:
    """A partition as it was read."""

    rows: Rows
    labels: npt.NDArray[Any]
    weights: Vector | None

    def __sizeof__(self) -> int:
        """Bytes of the rows: dask asks, to know when to spill."""
        parts = (self.rows.values,) if not sp.issparse(self.rows.values) else _arrays_of(self.rows.values)
        return sum(part.nbytes for part in (*parts, self.rows.squared_norms, self.labels))


@dataclass(frozen=True)
class Coded:
    """A partition whose labels are numbers of classes, and whose weights are costs."""

    rows: Rows
    codes: npt.NDArray[np.intp]
    cost: Vector
    task: OneVsRest
    terms: Terms

    def problem(self, k: int) -> Problem:
        """The partition's rows in the problem of class k, with the total of all partitions."""
        sign = self.task.signs(self.codes)[k]
        return Problem(self.rows, sign, self.cost, constant(0.0, len(sign)), self.terms.lam, self.terms.total)


class Summary(NamedTuple):
    """What the client must know of a partition."""

    n_rows: int
    n_features: int
    labels: npt.NDArray[Any]
    counts: Vector  # rows of each label
    totals: Vector  # sample weight of each label
    largest_square: float
    least_weight: float  # above 0
    is_narrow: bool  # whether its values have single precision


def read(number: int, X: Any, y: Any, sample_weight: Any, bias: float) -> Partition:
    """A partition of the user's collections, checked; a complaint names it."""
    try:
        values = _matrix(X)
        labels = _labels(y)
        if len(labels) != values.shape[0]:
            raise PegasosError(f"X has {values.shape[0]} rows and y has {len(labels)} labels; cut them alike.")
        rows = Rows.of(values, bias)
        weights = None if sample_weight is None else _column(sample_weight)
        return Partition(rows, labels, _checked(weights, rows.n_rows))
    except (TypeError, ValueError) as error:
        raise PegasosError(f"In partition {number}: {error}") from error


def summarise(block: Partition) -> Summary:
    """Count and measure a partition."""
    labels, codes = np.unique(block.labels, return_inverse=True)
    counts = np.bincount(codes, minlength=len(labels)).astype(np.float64)
    totals = counts if block.weights is None else np.bincount(codes, block.weights, len(labels))
    weights = np.ones(1) if block.weights is None else block.weights
    return Summary(
        n_rows=len(block.labels),
        n_features=block.rows.n_features,
        labels=labels,
        counts=counts,
        totals=totals.astype(np.float64),
        largest_square=float(np.max(block.rows.squared_norms, initial=0.0)),
        least_weight=float(np.min(weights, where=weights > 0.0, initial=np.inf)),
        is_narrow=block.rows.dtype == np.float32,
    )


def code(block: Partition, task: OneVsRest, terms: Terms) -> Coded:
    """A partition ready for rounds."""
    codes = task.target(block.labels, block.weights)
    return Coded(block.rows, codes, costs_of(codes, block.weights, task.factors), task, terms)


def advance(job: tuple[int, Climb], coded: Coded, share: Share | None, weights: Vector, before: Vector) -> Share:
    """A partition's part of a round: of which problem, and how it climbs."""
    k, climb = job
    return local_round(coded.problem(k), share, weights, before, climb)


def terms_of(share: Share) -> tuple[Vector, Gain]:
    """What of a share goes to the client."""
    return share.weights, share.gain


def losses(coded: Coded, k: int, weights: Vector) -> Losses:
    """The sum of a partition's losses in problem k, and its least margin."""
    return coded.problem(k).losses(weights)


def predicted(model: Any, method: str, X: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A method of a fitted model on a block; of no rows, an empty array of this shape and type."""
    rows = _stacked(X)
    return getattr(model, method)(rows) if rows.shape[0] else np.empty(shape, dtype)


def hits(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
    """The weight of the rows of a block that are predicted right, and of all."""
    labels = _labels(y)
    weights = np.ones(len(labels)) if sample_weight is None else _column(sample_weight)
    right = predicted(model, "predict", X, (0,), model.classes_.dtype) == labels
    return float(np.sum(weights * right)), float(np.sum(weights))


def kind_of_labels(labels: npt.NDArray[Any]) -> str:
    """Numbers, text or another type: numpy joins arrays of different kinds into text, which equals no number."""
    first = labels[0]
    if isinstance(first, Number | np.bool_):
        return "numbers"
    return "text" if isinstance(first, str) else type(first).__name__


def _arrays_of(matrix: Any) -> tuple[Any, ...]:
    return matrix.data, matrix.indices, matrix.indptr


def _stacked(X: Any) -> Any:
    """A block; a partition of a bag is a list of them."""
    if not isinstance(X, list):
        return X
    if any(getattr(part, "ndim", 0) != 2 for part in X):
        raise PegasosError(
            "the items of a bag must be matrices of rows; use dask.array or dask.dataframe for single rows."
        )
    return sp.vstack(X, format="csr") if any(map(sp.issparse, X)) else np.vstack(X)


def _matrix(X: Any) -> Matrix:
    X = _stacked(X)
    return check_array(X, ensure_min_samples=0, **how_to_read(X))


def _column(column: Any) -> npt.NDArray[Any]:
    parts = column if isinstance(column, list) else [column]
    return np.concatenate([column_or_1d(part) for part in parts])


def _labels(y: Any) -> npt.NDArray[Any]:
    labels = _column(y)
    if pd.isna(labels).any():
        raise PegasosError("y contains NaN or None; drop the rows without a label first.")
    items = [column_or_1d(part) for part in y] if isinstance(y, list) else []
    is_mixed = len({kind_of_labels(item) for item in items if len(item)}) > 1
    if is_mixed or (labels.dtype == object and len({type(label) for label in labels}) > 1):
        raise PegasosError("y mixes labels of several types; make them all numbers or all strings.")
    return labels


def _checked(weights: Any, n_rows: int) -> Vector | None:
    return weights if weights is None or n_rows == 0 else check_weights(weights, n_rows)
