"""Signs, costs and offsets of the problems of a source: one number per row, expanded for a few rows at a time.

A row of a source is one row of each problem, or two: with numeric targets, one per side of the target
(`tasks.regression`). `n_sides` is that number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.problem import constant
from pegasos.rounding import Carried, nothing

Numbers = npt.NDArray[np.intp]
Vector = npt.NDArray[np.float64]


class Columns(NamedTuple):
    """The columns of a `Problem` in addition to its rows."""

    sign: npt.NDArray[np.int8]
    cost: Vector
    offset: Vector
    carried: Carried = nothing


class SourceColumns(Protocol):
    """The targets of all rows of a source, in the form that the problems of a task need."""

    @property
    def n_rows(self) -> int:
        """Number of rows of the source."""

    @property
    def n_sides(self) -> int:
        """Rows of a problem per row of the source."""

    @property
    def n_problems(self) -> int:
        """Number of problems side by side."""

    @property
    def n_bytes(self) -> int:
        """Bytes of the targets."""

    @property
    def identity(self) -> dict[str, object]:
        """What a checkpoint must match, in addition to the source itself."""

    @property
    def cost_levels(self) -> Vector:
        """The costs that occur."""

    def cost(self, rows: slice | Numbers, side: Numbers | None) -> Vector:
        """Return the cost of a mistake on each side of these rows."""

    def of(self, k: int, rows: slice | Numbers, side: Numbers | None) -> Columns:
        """Return the columns of problem k; ``side`` is the side of each row, None where there is only one."""


@dataclass(frozen=True, eq=False)
class ClassColumns:
    """Each class against the rest.

    Attributes
    ----------
    codes : integer array of shape (n_rows,), the number of each row's class
    positive : the class that is the positive side of each problem
    factors : what multiplies the cost of each class, or None for costs of 1
    labels : the names of the classes
    """

    codes: npt.NDArray[np.integer]
    positive: tuple[int, ...]
    factors: Vector | None = None
    labels: tuple[str, ...] = ()

    n_sides = 1

    @property
    def n_rows(self) -> int:
        """Rows of the source."""
        return len(self.codes)

    @property
    def n_problems(self) -> int:
        """One problem per class; two classes form one."""
        return len(self.positive)

    @property
    def n_bytes(self) -> int:
        """The memory of the codes."""
        return self.codes.nbytes

    @property
    def identity(self) -> dict[str, object]:
        """The classes and their weights."""
        weights = None if self.factors is None else self.factors.tolist()
        return {"classes": list(self.labels), "class_weight": weights}

    @property
    def cost_levels(self) -> Vector:
        """The weights of the classes."""
        return np.ones(1) if self.factors is None else self.factors

    def cost(self, rows: slice | Numbers, side: Numbers | None) -> Vector:
        """The weight of each row's class."""
        codes = self.codes[rows]
        return constant(1.0, len(codes)) if self.factors is None else self.factors[codes]

    def of(self, k: int, rows: slice | Numbers, side: Numbers | None) -> Columns:
        """Class k against the rest."""
        codes = self.codes[rows]
        sign = np.where(codes == self.positive[k], np.int8(1), np.int8(-1))
        return Columns(sign, self.cost(rows, side), constant(0.0, len(codes)))


@dataclass(frozen=True, eq=False)
class TargetColumns:
    """Numbers, each with two sides.

    Attributes
    ----------
    target : array of shape (n_rows, n_problems), the targets
    width : half the width of the tube without loss
    costs : what a unit of error costs where the target is above the prediction, and where it is below
    unit : in which the targets and the width are given, a power of two
    """

    target: Vector
    width: float
    costs: tuple[float, float] = (1.0, 1.0)
    unit: float = 1.0

    n_sides = 2

    @property
    def n_problems(self) -> int:
        """One problem per column of the targets."""
        return int(self.target.shape[1])

    @property
    def n_rows(self) -> int:
        """Rows of the source."""
        return len(self.target)

    @property
    def n_bytes(self) -> int:
        """The memory of the targets."""
        return self.target.nbytes

    @property
    def identity(self) -> dict[str, object]:
        """The tube, and what its sides cost."""
        several = {"the number of targets": self.n_problems} if self.n_problems > 1 else {}
        return {"epsilon": self.width * self.unit, "costs": list(self.costs), **several}

    @cached_property
    def carried(self) -> Carried:
        """What the rounding of the offsets may add up to."""
        largest = max(float(self.target.max(initial=0.0)), -float(self.target.min(initial=0.0)))
        return Carried(0.0, largest + 1.0 + self.width)

    @property
    def cost_levels(self) -> Vector:
        """Those of the two sides."""
        return np.array(self.costs)

    def cost(self, rows: slice | Numbers, side: Numbers | None) -> Vector:
        """Cost of an error on each side."""
        assert side is not None
        above, below = self.costs
        return constant(above, len(side)) if above == below else np.where(side == 0, above, below)

    def of(self, k: int, rows: slice | Numbers, side: Numbers | None) -> Columns:
        """The targets as a part of the offsets."""
        assert side is not None
        sign = np.where(side == 0, np.int8(1), np.int8(-1))
        return Columns(sign, self.cost(rows, side), sign * (1.0 + self.width) - self.target[rows, k], self.carried)
