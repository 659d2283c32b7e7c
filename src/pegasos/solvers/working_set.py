"""Working sets of a large kernel problem: some thousand rows with a kernel matrix of their own.

Where the table holds few of the columns, a round of decomposition takes the rows with the largest violations, climbs on
the matrix of these alone, and adds the columns of what changed to the slopes of all rows, block by block; none of
these columns is kept. Wen, Shi, Li, He, Chen: ThunderSVM: a fast SVM library on GPUs and CPUs. JMLR 19, 2018. Each
piece leaves a dual point with its slopes, so that a run may end between any two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.gram import KernelRows, Numbers

_MOST_ROWS = 4096
_VALUES = 1 << 24  # kernel values per piece
_LEAVES = 0.05  # of the gap of all rows: where the set has less left, its climb ends
_CLIMBS = 64  # at most, each a piece of work
_STEPS = 1 << 20  # of one climb

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
    matrix: Column
    n_loaded: int = 0
    n_climbs: int = 0
    is_climbed: bool = False
    moved: Column = field(default_factory=lambda: np.empty(0))  # what each b changes by
    n_spread: int = 0  # members whose change the slopes of all rows have
    steps: int = 0

    @classmethod
    def of(cls, members: Numbers, bounds: Bounds) -> WorkingSet:
        """Nothing is computed yet."""
        return cls(members, bounds, np.empty((len(members), len(members))))

    def load(self, rows: KernelRows) -> bool:
        """Some rows more of the kernel matrix; False where it is complete."""
        if self.n_loaded == len(self.members):
            return False
        end = min(len(self.members), self.n_loaded + max(1, _VALUES // len(self.members)))
        self.matrix[self.n_loaded : end] = rows.block(self.members[self.n_loaded : end], self.members)
        self.n_loaded = end
        return True

    def climb(self, unit: float, gap: float, work: float, *, keeps_sum: bool) -> None:
        """Ascent on the set, until its gap is a small part of that of all rows, times total; one piece of work."""
        q, room = len(self.members), self.bounds
        before = room.down.copy()
        point = room.slope, room.down, room.up, room.curvature, room.damping, unit, keeps_sum, 0.0
        found = _core.climb(self.matrix, np.arange(q), None, q, None, *point, _LEAVES * gap, 0.0, _STEPS, work)
        steps, left, is_stuck, *_ = found
        self.moved = (self.moved if len(self.moved) else np.zeros(q)) + (before - room.down)
        self.steps += steps
        self.n_climbs += 1
        self.is_climbed = is_stuck or left <= _LEAVES * gap or self.n_climbs >= _CLIMBS

    def next_part(self, n_rows: int) -> slice:
        """The members whose columns are added next, as many as are a piece of work."""
        part = slice(self.n_spread, min(len(self.members), self.n_spread + max(1, _VALUES // max(n_rows, 1))))
        self.n_spread = part.stop
        return part

    @property
    def is_over(self) -> bool:
        """Whether the slopes of all rows know of all that changed."""
        return self.is_climbed and self.n_spread == len(self.members)


def most_rows(n_rows: int) -> int:
    """How many rows a set has at most."""
    return min(n_rows, _MOST_ROWS)
