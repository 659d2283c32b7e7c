"""Working sets of a large kernel problem: a few thousand rows with their own kernel matrix.

Where the table holds few of the columns, a round of decomposition takes the rows with the largest violations, climbs on
the matrix of these alone, and adds the columns of what changed to the slopes of all rows, block by block; none of
these columns is kept. Wen, Shi, Li, He, Chen: ThunderSVM: a fast SVM library on GPUs and CPUs. JMLR 19, 2018. Until the
last block is added, the run keeps the point of the previous round, because the dual may be lower in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.gram import KernelRows, Numbers
from pegasos.problem import Floats

_ROWS = 1024, 20_000  # least and most rows of a set, whatever the room for its matrix
_VALUES = 1 << 24  # kernel values per piece
_LEAVES = 0.02  # fraction of the initial gap of a set at which its climb ends
_CLIMB_WORK, _CLIMBS = 2e8, 128  # slopes updated per piece, and most pieces
_STEPS = 1 << 20  # most steps per piece

Column = npt.NDArray[np.float64]


class Bounds(NamedTuple):
    """Per-row input of a climb: slopes, how far each row can fall and rise, curvatures, dampings."""

    slope: Column
    down: Column
    up: Column
    curvature: Column
    damping: Column | None


@dataclass
class WorkingSet:
    """The rows of a round, the computed part of the kernel matrix of a neighborhood, and the remaining work.

    A set has one neighborhood; the first set of a run has many, which are solved as if each were alone.
    """

    neighborhoods: list[Numbers]
    bounds: list[Bounds]
    gaps: list[float]  # initial gap of each neighborhood
    room: Floats  # for the matrix of a neighborhood, in single or double precision
    n_solved: int = 0  # neighborhoods
    n_loaded: int = 0  # rows of the matrix of the current neighborhood
    n_climbs: int = 0  # on the current neighborhood
    moved: Column = field(default_factory=lambda: np.empty(0))  # change of each b of the current neighborhood
    movers: list[Numbers] = field(default_factory=list)  # rows of the solved neighborhoods whose b has changed
    changes: list[Column] = field(default_factory=list)  # by how much
    n_spread: int = 0  # movers whose change is part of `ahead`
    ahead: tuple[Column, Column] | None = None  # dual point and slopes of all rows, while they are being updated
    steps: int = 0

    @classmethod
    def of(
        cls, neighborhoods: list[Numbers], bounds: list[Bounds], gaps: list[float], *, is_double: bool
    ) -> WorkingSet:
        """Create a set with nothing computed yet."""
        most = max(map(len, neighborhoods))
        return cls(neighborhoods, bounds, gaps, np.empty(most * most, np.float64 if is_double else np.float32))

    @property
    def is_double(self) -> bool:
        """Whether its matrix is in double precision."""
        return self.room.dtype == np.float64

    @property
    def is_climbed(self) -> bool:
        """Whether all neighborhoods are solved."""
        return self.n_solved == len(self.neighborhoods)

    @property
    def matrix(self) -> Floats:
        """The kernel matrix of the current neighborhood."""
        q = len(self.neighborhoods[self.n_solved])
        return self.room[: q * q].reshape(q, q)

    def load(self, rows: KernelRows) -> bool:
        """Compute some more rows of the kernel matrix; return False where it is complete."""
        members = self.neighborhoods[self.n_solved]
        if self.n_loaded == len(members):
            return False
        end = min(len(members), self.n_loaded + max(1, _VALUES // len(members)))
        part, out, exact = members[self.n_loaded : end], self.matrix[self.n_loaded : end], rows.values.exact
        if exact is not None and (self.is_double or exact.suits_single):
            exact.fill(part, members, out)
        else:
            rows.kernel.fill(rows.items.take(part), rows.items.take(members), out, rows.bias**2)
        self.n_loaded = end
        return True

    def climb(self, unit: float, *, keeps_sum: bool) -> None:
        """Ascend on the neighborhood until little of its gap is left, as one piece of work."""
        q, room, enough = len(self.matrix), self.bounds[self.n_solved], _LEAVES * self.gaps[self.n_solved]
        down, up = room.down.copy(), room.up.copy()
        point = room.slope, room.down, room.up, room.curvature, room.damping, unit, keeps_sum, 0.0
        found = _core.climb(self.matrix, np.arange(q), None, q, None, *point, enough, 0.0, _STEPS, _CLIMB_WORK)
        steps, left, is_stuck, *_ = found
        is_bounded = np.isfinite(down)  # a loss without a largest slope leaves one direction unbounded
        moved = np.subtract(np.where(is_bounded, down, up), np.where(is_bounded, room.down, room.up))
        self.moved = moved + (self.moved if len(self.moved) else 0.0)
        self.steps += steps
        self.n_climbs += 1
        if is_stuck or left <= enough or self.n_climbs >= _CLIMBS:
            has_moved = self.moved != 0.0
            self.movers.append(self.neighborhoods[self.n_solved][has_moved])
            self.changes.append(self.moved[has_moved])
            self.moved, self.n_loaded, self.n_climbs = np.empty(0), 0, 0
            self.n_solved += 1
            if self.is_climbed:
                self.movers, self.changes = [np.concatenate(self.movers)], [np.concatenate(self.changes)]

    def next_part(self, n_rows: int) -> tuple[Numbers, Column]:
        """Rows whose columns are added next, one piece of work, and their changes."""
        part = slice(self.n_spread, min(len(self.movers[0]), self.n_spread + max(1, _VALUES // max(n_rows, 1))))
        self.n_spread = part.stop
        return self.movers[0][part], self.changes[0][part]

    @property
    def is_over(self) -> bool:
        """Whether the slopes of all rows include all changes."""
        return self.is_climbed and self.n_spread == len(self.movers[0])


def rows_within(cache_bytes: float, *, is_double: bool) -> int:
    """How many rows a set may have so that its matrix fits."""
    return int(np.clip(math.sqrt(cache_bytes / (8.0 if is_double else 4.0)), *_ROWS))


def chosen_rows(rising: Column, falling: Column, n: int) -> Numbers:
    """Choose the rows of a set: half with the largest violations upward, half downward.

    A row that cannot move has -inf. What one row gains another must lose, so rows that can only compensate are chosen
    as well.
    """
    taken = np.zeros(len(rising), bool)
    for each in (rising, falling):
        most = min(n // 2, len(each))
        chosen = np.argpartition(-each, most - 1)[:most]
        taken[chosen[np.isfinite(each[chosen])]] = True
    return np.flatnonzero(taken)
