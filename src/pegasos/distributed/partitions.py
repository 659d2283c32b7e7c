"""The code that runs on the workers: a partition is read once, and then answers one question per pass.

Everything here is a plain function of picklable arguments, for any engine. What it returns stays on the worker, except
for the answers, which are sums or a few rows (`solvers.passes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from pegasos.distributed.held_out import Keys, keys_of_rows
from pegasos.errors import PegasosError
from pegasos.machines.base import Data
from pegasos.machines.inputs import check_weights, how_to_read
from pegasos.machines.prior import LinearPrior
from pegasos.problem import Matrix, Problem, Rows
from pegasos.solvers.passes import FAN_IN, Vector, bytes_of
from pegasos.solvers.units import in_units
from pegasos.tasks import Terms
from pegasos.tasks.base import NOTHING_KNOWN


@dataclass(frozen=True)
class Reading:
    """How partitions are read: the value of the constant column, whether targets are numbers or labels, and folds."""

    bias: float
    has_numbers: bool = False
    has_folds: bool = False  # whether rows get keys, from which folds follow


@dataclass(frozen=True)
class Partition:
    """A partition as it was read."""

    number: int
    rows: Rows
    targets: npt.NDArray[Any]  # labels, or numbers of one or two dimensions
    weights: Vector | None
    has_numbers: bool = False
    names: tuple[str, ...] | None = None
    keys: Keys | None = None  # of rows; modulo the number of folds they are the fold

    def __sizeof__(self) -> int:
        """Bytes of the rows: dask uses this to decide when to spill."""
        return _bytes_of(self.rows) + self.targets.nbytes

    def without(self, fold: int, n_folds: int) -> Partition:
        """The partition without the rows of a fold."""
        assert self.keys is not None
        kept = np.flatnonzero(self.keys % n_folds != fold)
        weights = None if self.weights is None else self.weights[kept]
        return replace(self, rows=self.rows.view(kept), targets=self.targets[kept], weights=weights)


@dataclass(frozen=True)
class Plan:
    """The plan that turns the rows of a partition into its part of every problem."""

    task: Any
    terms: Terms
    prior: LinearPrior | None
    bias: float  # of the constant column
    totals: tuple[float, ...]  # of each problem
    units: tuple[float, ...]  # of each problem


@dataclass(frozen=True)
class Coded:
    """A partition whose targets are encoded for the problems."""

    number: int
    rows: Rows
    target: npt.NDArray[Any]
    weights: Vector | None
    plans: tuple[Plan, ...]  # of all rows, and then of the rows without each fold, if there are folds
    fold_of: npt.NDArray[np.uint8] | None = None

    def __sizeof__(self) -> int:
        """Bytes of the rows."""
        return _bytes_of(self.rows) + self.target.nbytes

    def problems(self, of_plan: int) -> Sequence[Any]:
        """The problems of all classes, pairs or targets; created on access where that saves memory."""
        plan, rows, target, weights = self.plans[of_plan], self.rows, self.target, self.weights
        if of_plan > 0:
            kept = np.flatnonzero(self.fold_of != of_plan - 1)
            rows, target, weights = rows.view(kept), target[kept], None if weights is None else weights[kept]
        known = NOTHING_KNOWN if plan.prior is None else plan.prior.known(Data(None), rows)
        found: Sequence[Any] = plan.task.problems(rows, target, weights, plan.terms, known)
        return found

    def problem(self, problems: Sequence[Any], of_plan: int, k: int, lam: float) -> Problem:
        """Problem k of this partition's rows, with the lam and the total of all partitions."""
        plan = self.plans[of_plan]
        return in_units(replace(problems[k], lam=lam, total=plan.totals[k]), plan.units[k])


class Asked(NamedTuple):
    """A question about one problem at one lam, or with k = None about the whole partition."""

    k: int | None
    lam: float
    question: Any  # a `Question` about a problem, or a `HeldOut`
    of_plan: int = 0  # index of the plan; those after the first are of the rows without a fold


class Summary(NamedTuple):
    """What the client needs to know about a partition."""

    n_rows: int
    n_features: int
    n_stored: int
    total: float  # sample weight
    largest_square: float
    sum_of_squares: float
    least_weight: float  # smallest positive weight
    names: tuple[str, ...] | None
    number: int
    labels: npt.NDArray[Any]  # empty where targets are numbers
    counts: Vector  # rows of each label
    totals: Vector  # sample weight of each label
    n_targets: int  # number of columns of numeric targets; 0 for labels
    is_matrix: bool
    spreads: Vector  # the sum of their distances from the middle, weighted


class Size(NamedTuple):
    """The size of a partition's part of one problem."""

    n_rows: int
    n_stored: int
    loss_of_zero: float  # the sum of the losses of the zero vector


def read(number: int, X: Any, y: Any, sample_weight: Any, reading: Reading) -> Partition:
    """A partition of the user's collections, checked; an error names it."""
    try:
        names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
        values = _matrix(X)
        targets = _numbers(y) if reading.has_numbers else _labels(y)
        if len(targets) != values.shape[0]:
            raise PegasosError(f"X has {values.shape[0]} rows and y has {len(targets)} labels; cut them alike.")
        rows = Rows.of(values, reading.bias)
        weights = None if sample_weight is None else _column(sample_weight)
        keys = keys_of_rows(rows.values) if reading.has_folds else None
        return Partition(number, rows, targets, _checked(weights, rows.n_rows), reading.has_numbers, names, keys)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"In partition {number}: {error}") from error


def summarize(block: Partition) -> Summary:
    """Count and measure a partition."""
    weights = np.ones(len(block.targets)) if block.weights is None else block.weights
    squares = block.rows.squared_norms
    labels = np.empty(0) if block.has_numbers else block.targets
    found, codes = np.unique(labels, return_inverse=True)
    is_matrix = block.has_numbers and block.targets.ndim == 2
    columns = block.targets if is_matrix else block.targets[:, None]
    return Summary(
        n_rows=len(block.targets),
        n_features=block.rows.n_features,
        n_stored=block.rows.n_stored,
        total=float(np.sum(weights)),
        largest_square=float(np.max(squares, initial=0.0)),
        sum_of_squares=float(np.sum(squares, dtype=np.float64)),
        least_weight=float(np.min(weights, where=weights > 0.0, initial=np.inf)),
        names=block.names,
        number=block.number,
        labels=found,
        counts=np.bincount(codes, minlength=len(found)).astype(np.float64),
        totals=np.bincount(codes, weights[: len(codes)], len(found)).astype(np.float64),
        n_targets=columns.shape[1] if block.has_numbers else 0,
        is_matrix=is_matrix,
        spreads=_spreads(columns, weights) if block.has_numbers else np.empty(0),
    )


def summarize_folds(block: Partition, n_folds: int) -> list[Summary]:
    """Count and measure a partition without each of its folds."""
    return [summarize(block.without(fold, n_folds)) for fold in range(n_folds)]


def code(block: Partition, plans: Sequence[Plan]) -> Coded:
    """A partition ready for passes."""
    plan = plans[0]
    rows = block.rows if block.rows.bias == plan.bias else block.rows.with_bias(plan.bias)
    target = plan.task.target(block.targets, block.weights)
    fold_of = None if block.keys is None else (block.keys % (len(plans) - 1)).astype(np.uint8)
    return Coded(block.number, rows, target, block.weights, tuple(plans), fold_of)


def measure(coded: Coded) -> list[Size]:
    """The size of a partition's part of each problem of each plan."""
    found = []
    for of_plan, plan in enumerate(coded.plans):
        problems = coded.problems(of_plan)
        for k in range(plan.task.n_problems):
            problem = coded.problem(problems, of_plan, k, plan.terms.lam)
            assert isinstance(problem.rows, Rows)
            residual = 1.0 - problem.sign * problem.offset
            counts = problem.cost > 0.0
            loss = float(np.sum(problem.cost[counts] * problem.loss.value(residual[counts])))
            found.append(Size(problem.rows.n_rows, problem.rows.n_stored, loss))
    return found


def answer(coded: Coded, asked: Sequence[Asked]) -> list[Any]:
    """A partition's part of a pass: one answer per question; an error names the partition."""
    try:
        problems = {p: coded.problems(p) for p in sorted({each.of_plan for each in asked if each.k is not None})}
        return [
            each.question(
                coded if each.k is None else coded.problem(problems[each.of_plan], each.of_plan, each.k, each.lam)
            )
            for each in asked
        ]
    except (MemoryError, ArithmeticError, ValueError) as error:
        raise PegasosError(f"In partition {coded.number}: {error or type(error).__name__}") from error


def merge(asked: Sequence[Asked], *answers: list[Any]) -> list[Any]:
    """The answers of several partitions, in their order, as one."""
    return [each.question.merge(parts) for each, parts in zip(asked, zip(*answers, strict=True), strict=True)]


def groups_of(handles: Sequence[Any]) -> list[Sequence[Any]]:
    """Groups of answers to merge: the same groups on any engine."""
    return [handles[k : k + FAN_IN] for k in range(0, len(handles), FAN_IN)]


def merge_all(asked: Sequence[Asked], answers: Sequence[list[Any]]) -> list[Any]:
    """The answers of all partitions as one."""
    while len(answers) > 1:
        answers = [merge(asked, *group) for group in groups_of(answers)]
    return answers[0]


def bytes_of_all(asked: Sequence[Asked]) -> int:
    """Estimate the bytes that the questions of a pass have to send."""
    return sum(bytes_of(each.question) for each in asked)


def predicted(model: Any, method: str, X: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Apply a method of a fitted model to a block; for no rows, return an empty array of this shape and type."""
    rows = _stacked(X)
    return getattr(model, method)(rows) if rows.shape[0] else np.empty(shape, dtype)


def hits(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
    """The weight of the correctly predicted rows of a block, and of all its rows."""
    labels = _labels(y)
    weights = np.ones(len(labels)) if sample_weight is None else _column(sample_weight)
    right = predicted(model, "predict", X, (0,), model.classes_.dtype) == labels
    return float(np.sum(weights * right)), float(np.sum(weights))


def squares(model: Any, X: Any, y: Any, sample_weight: Any) -> Vector:
    """Weight, sum of y, sum of y^2 and sum of squared errors of a block's predictions, over all targets."""
    targets = _numbers(y)
    targets = targets if targets.ndim == 2 else targets[:, None]
    weights = (np.ones(len(targets)) if sample_weight is None else _column(sample_weight))[:, None]
    found = predicted(model, "predict", X, (0,), np.float64).reshape(targets.shape)
    parts = (np.ones_like(targets), targets, targets**2, (targets - found) ** 2)
    return np.array([np.sum(weights * part, axis=0) for part in parts])


def kind_of_labels(labels: npt.NDArray[Any]) -> str:
    """Numbers, text or another type: numpy joins arrays of different kinds into text, which equals no number."""
    first = labels[0]
    if isinstance(first, Number | np.bool_):
        return "numbers"
    return "text" if isinstance(first, str) else type(first).__name__


def _bytes_of(rows: Rows) -> int:
    values = rows.values
    parts = (values,) if not sp.issparse(values) else (values.data, values.indices, values.indptr)
    return sum(part.nbytes for part in (*parts, rows.squared_norms))


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


def _numbers(y: Any) -> Vector:
    """Targets of a regression, of one or two dimensions."""
    parts = [np.asarray(part) for part in (y if isinstance(y, list) else [y])]
    try:
        found = np.concatenate(parts).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"y must be numbers for a regression: {error}") from error
    if not np.isfinite(found).all():
        raise PegasosError("y contains NaN or infinity; drop the rows without a target first.")
    return found


def _spreads(targets: Vector, weights: Vector) -> Vector:
    if len(targets) == 0:
        return np.zeros(targets.shape[1])
    far = np.abs(targets - np.median(targets, axis=0))
    spread = weights @ far
    return np.where(spread > 0.0, spread, weights @ np.abs(targets))


def _checked(weights: Any, n_rows: int) -> Vector | None:
    return weights if weights is None or n_rows == 0 else check_weights(weights, n_rows)
