"""Working sets of a large kernel problem: some thousand rows with a kernel matrix of their own.

Where the table holds few of the columns, a round of decomposition takes the rows with the largest violations, climbs on
the matrix of these alone, and adds the columns of what changed to the slopes of all rows, block by block; none of
these columns is kept. Wen, Shi, Li, He, Chen: ThunderSVM: a fast SVM library on GPUs and CPUs. JMLR 19, 2018. Until the
last block is added, the point of the round before remains that of the run: halfway, the dual may be lower.
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

_ROWS = 1024, 20_000  # of a set, whatever the room for its matrix
_VALUES = 1 << 24  # kernel values per piece
_LEAVES = 0.02  # of the gap that a set begins with: where it has less left, its climb ends
_CLIMB_WORK, _CLIMBS = 2e8, 128  # slopes updated per piece, and pieces at most
_STEPS = 1 << 20  # of one piece

Column = npt.NDArray[np.float64]


class Bounds(NamedTuple):
    """What a climb needs of the rows of a set: slopes, how far each may fall and rise, curvatures, dampings."""

    slope: Column
    down: Column
    up: Column
    curvature: Column
    damping: Column | None


@dataclass
class WorkingSet:
    """The rows of a round, their kernel matrix as far as it is computed, and what is still to do."""

    members: Numbers
    bounds: Bounds
    gap: float  # of these rows, at the beginning
    matrix: Floats  # in single precision or double; the slopes of all rows are brought up to date in that of the rows
    n_loaded: int = 0
    n_climbs: int = 0
    is_climbed: bool = False
    moved: Column = field(default_factory=lambda: np.empty(0))  # what each b changes by
    n_spread: int = 0  # members whose change is part of `ahead`
    ahead: tuple[Column, Column] | None = None  # the dual point and the slopes of all rows, on the way to the end
    steps: int = 0

    @classmethod
    def of(cls, members: Numbers, bounds: Bounds, gap: float, *, is_double: bool) -> WorkingSet:
        """Nothing is computed yet."""
        dtype = np.float64 if is_double else np.float32
        return cls(members, bounds, gap, np.empty((len(members), len(members)), dtype))

    @property
    def is_double(self) -> bool:
        """Whether its matrix is in double precision."""
        return self.matrix.dtype == np.float64

    def load(self, rows: KernelRows) -> bool:
        """Some rows more of the kernel matrix; False where it is complete."""
        if self.n_loaded == len(self.members):
            return False
        end = min(len(self.members), self.n_loaded + max(1, _VALUES // len(self.members)))
        part = rows.items.take(self.members[self.n_loaded : end])
        rows.kernel.fill(part, rows.items.take(self.members), self.matrix[self.n_loaded : end], rows.bias**2)
        self.n_loaded = end
        return True

    def climb(self, unit: float, *, keeps_sum: bool) -> None:
        """Ascent on the set, until little of its gap is left; one piece of work."""
        q, room, enough = len(self.members), self.bounds, _LEAVES * self.gap
        down, up = room.down.copy(), room.up.copy()
        point = room.slope, room.down, room.up, room.curvature, room.damping, unit, keeps_sum, 0.0
        found = _core.climb(self.matrix, np.arange(q), None, q, None, *point, enough, 0.0, _STEPS, _CLIMB_WORK)
        steps, left, is_stuck, *_ = found
        is_bounded = np.isfinite(down)  # a loss without a largest slope leaves one of the two without end
        moved = np.subtract(np.where(is_bounded, down, up), np.where(is_bounded, room.down, room.up))
        self.moved = moved + (self.moved if len(self.moved) else 0.0)
        self.steps += steps
        self.n_climbs += 1
        self.is_climbed = is_stuck or left <= enough or self.n_climbs >= _CLIMBS

    def next_part(self, n_rows: int) -> slice:
        """The members whose columns are added next, as many as are a piece of work."""
        part = slice(self.n_spread, min(len(self.members), self.n_spread + max(1, _VALUES // max(n_rows, 1))))
        self.n_spread = part.stop
        return part

    @property
    def is_over(self) -> bool:
        """Whether the slopes of all rows know of all that changed."""
        return self.is_climbed and self.n_spread == len(self.members)


def rows_within(cache_bytes: float, *, is_double: bool) -> int:
    """How many rows a set may have for its matrix to fit."""
    return int(np.clip(math.sqrt(cache_bytes / (8.0 if is_double else 4.0)), *_ROWS))


def chosen_rows(rising: Column, falling: Column, n: int) -> Numbers:
    """The rows of a set: half those that ask most to rise, half those that ask most to fall.

    A row that cannot has -inf. What one gains, another must lose: rows that only offer to are chosen as well.
    """
    taken = np.zeros(len(rising), bool)
    for each in (rising, falling):
        most = min(n // 2, len(each))
        chosen = np.argpartition(-each, most - 1)[:most]
        taken[chosen[np.isfinite(each[chosen])]] = True
    return np.flatnonzero(taken)
