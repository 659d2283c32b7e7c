"""An interior point on the dual of a kernel machine, for problems where moving a few coordinates at a time is too slow.

    max_b  sum_j b_j target_j - 1/2 b' Q b,   lower_j <= b_j <= upper_j,   sum_j b_j fixed where the intercept is free

Mehrotra: On the implementation of a primal-dual interior point method. SIAM J. Optimization 2, 1992. Fine, Scheinberg:
Efficient SVM training using low-rank kernel representations. JMLR 2, 2001. Given Q = K / (lam total) as a matrix, or as
L L' of low rank, every iteration solves (Q + diagonal) x = r twice, for a predictor and a corrector. Twenty to thirty
iterations suffice, whatever the conditioning. In the end the rows split into those at a bound and free ones; solving
for the free ones alone puts the others exactly at their bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack

Column = npt.NDArray[np.float64]

_BOUNDARY = 0.995  # fraction of the distance to the nearest bound that a step covers
_MOST_ITERATIONS = 100
_STALLED = 5  # iterations without a better gap after which the method ends: rounding allows no less
_RIDGE, _RIDGE_GROWTH, _MOST_RIDGES = 1e-15, 100.0, 6  # relative to the largest entry of the diagonal
_LEAST_PIVOT = 1e-12  # relative to the largest entry of the diagonal
_REFINEMENTS = 1  # refinement steps per low-rank solve
_MOST_REFINEMENTS = 2  # refinement steps of a point whose face was not found
_FACE_WORK = 1e10  # operations allowed for the search for the split into free rows and rows at bounds
_WORTH_A_FACE = 25.0  # most that the gap of an exact face may exceed the requested gap, as a factor
_CLEAR = 0.01  # one of two numbers is clearly smaller below this ratio
_NEAR = 0.01  # fraction of a step: rows that reach a bound within it are put there together


class System(Protocol):
    """The matrix Q, and solves with Q plus a diagonal."""

    def times(self, b: Column) -> Column:
        """Return Q b."""

    def factor(self, diagonal: Column) -> bool:
        """Prepare solves with Q + diagonal; return False where rounding has made that indefinite."""

    def solve(self, right: Column) -> Column:
        """Return (Q + diagonal)^-1 right."""

    def part(self, places: npt.NDArray[np.intp]) -> Column:
        """Return the rows and columns of Q at these places."""


@dataclass
class DenseSystem:
    """Q as a symmetric matrix."""

    matrix: Column
    factored: Any = None

    def times(self, b: Column) -> Column:
        """Q b."""
        return np.asarray(blas.dsymv(1.0, self.matrix.T, b, lower=1))

    def factor(self, diagonal: Column) -> bool:
        """Cholesky factorization."""
        self.factored, failed = _cholesky(self.matrix, diagonal)
        return not failed

    def solve(self, right: Column) -> Column:
        """Solve with the two triangular factors."""
        return np.asarray(lapack.dpotrs(self.factored, right, lower=1)[0])

    def part(self, places: npt.NDArray[np.intp]) -> Column:
        """Return a copy of these rows and columns."""
        return self.matrix[np.ix_(places, places)]


@dataclass
class LowRankSystem:
    """Q = L L', where L has many rows and few columns; solves use Woodbury's formula with refinement."""

    root: Column
    diagonal: Column = field(default_factory=lambda: np.empty(0))
    factored: Any = None

    def times(self, b: Column) -> Column:
        """L (L' b)."""
        return np.asarray(self.root @ (self.root.T @ b))

    def factor(self, diagonal: Column) -> bool:
        """Cholesky of I + L' diagonal^-1 L."""
        self.diagonal = diagonal
        scaled = self.root / np.sqrt(diagonal)[:, np.newaxis]
        inner = np.asarray(blas.dsyrk(1.0, scaled.T, lower=1))
        self.factored, failed = _cholesky(inner.T, np.ones(len(inner)))
        return not failed

    def solve(self, right: Column) -> Column:
        """Woodbury's formula, followed by refinement steps."""
        found = self._once(right)
        for _ in range(_REFINEMENTS):
            found = found + self._once(right - self.diagonal * found - self.times(found))
        return found

    def _once(self, right: Column) -> Column:
        scaled = right / self.diagonal
        inner = lapack.dpotrs(self.factored, self.root.T @ scaled, lower=1)[0]
        return np.asarray(scaled - (self.root @ inner) / self.diagonal)

    def part(self, places: npt.NDArray[np.intp]) -> Column:
        """The product of the rows of L."""
        rows = self.root[places]
        return np.asarray(rows @ rows.T)


@dataclass
class InteriorPoint:
    """A run of the method: the problem, and the point reached."""

    system: System
    target: Column
    lower: Column
    upper: Column
    total: float | None  # required sum of b_j
    share: float  # requested gap, as a fraction of the objective
    rest: float = 0.0  # contribution of the rows outside to the objective
    enough: float = 0.0  # the gap to reach
    b: Column = field(init=False)
    level: float = 0.0  # multiplier of the sum constraint
    n_iterations: int = 0
    best: tuple[float, Column] = field(init=False)  # smallest gap, and its point
    since_best: int = 0
    n_refinements: int = 0
    is_over: bool = False

    def __post_init__(self) -> None:
        self.b = self._start()
        slope = self._slope()
        self.level = 0.0 if self.total is None else float(np.median(slope))
        above = slope - self.level
        least = max(float(np.abs(above).mean()), 1e-3)
        self.at_lower, self.at_upper = np.maximum(-above, 0.0) + least, np.maximum(above, 0.0) + least
        self.best = np.inf, self.b

    def _start(self) -> Column:
        """Start halfway between the bounds; where the sum is fixed, the heavier side is closer to 0."""
        if self.total is None:
            return 0.5 * (self.lower + self.upper)
        above, below = float(self.upper.sum()), -float(self.lower.sum())
        half = 0.5 * min(above, below)
        shares = [
            np.clip((half + part) / side, 0.05, 0.95) if side > 0.0 else 0.5
            for side, part in ((above, max(self.total, 0.0)), (below, max(-self.total, 0.0)))
        ]
        return np.asarray(shares[0] * self.upper + shares[1] * self.lower)

    def _slope(self) -> Column:
        return self.target - self.system.times(self.b)

    def objective(self, b: Column, slope: Column) -> float:
        """The dual objective, times total."""
        return 0.5 * float(b @ (self.target + slope))

    def gap(self, b: Column, slope: Column, level: float) -> float:
        """The duality gap at this point, times total."""
        above = slope - level
        return float(np.sum(above * np.where(above > 0.0, self.upper - b, self.lower - b)))

    def advance(self) -> None:
        """One iteration: predictor, corrector, step."""
        slope = self._slope()
        self._note(slope)
        if self.is_over:
            return
        p, q = self.b - self.lower, self.upper - self.b
        mean = (p @ self.at_lower + q @ self.at_upper) / (2 * len(p))
        if not (np.isfinite(mean) and self.system.factor(self.at_lower / p + self.at_upper / q)):
            self.is_over = True
            return
        of_ones = None if self.total is None else self.system.solve(np.ones(len(p)))
        missing = 0.0 if self.total is None else self.total - float(self.b.sum())

        def direction(of_lower: Any, of_upper: Any) -> tuple[Column, float, Column, Column]:
            move = self.system.solve(slope - self.level + of_lower / p - of_upper / q)
            rise = 0.0
            if of_ones is not None:
                rise = float((move.sum() - missing) / of_ones.sum())
                move = move - rise * of_ones
            to_lower = of_lower / p - self.at_lower - self.at_lower / p * move
            return move, rise, to_lower, of_upper / q - self.at_upper + self.at_upper / q * move

        def reach(move: Column, to_lower: Column, to_upper: Column) -> float:
            pairs = (p, move), (q, -move), (self.at_lower, to_lower), (self.at_upper, to_upper)
            return min(1.0, _BOUNDARY * min(_reach(value, change) for value, change in pairs))

        move, _, to_lower, to_upper = direction(0.0, 0.0)
        length = reach(move, to_lower, to_upper)
        left = (p + length * move) @ (self.at_lower + length * to_lower)
        left += (q - length * move) @ (self.at_upper + length * to_upper)
        centre = (left / (2 * len(p)) / mean) ** 3 * mean
        move, rise, to_lower, to_upper = direction(centre - move * to_lower, centre + move * to_upper)
        length = reach(move, to_lower, to_upper)
        if not np.isfinite(move).all():
            self.is_over = True
            return
        self.b = self.b + length * move
        self.level += length * rise
        self.at_lower, self.at_upper = self.at_lower + length * to_lower, self.at_upper + length * to_upper
        self.n_iterations += 1

    def _note(self, slope: Column) -> None:
        """Keep the best point, and check whether the method has ended."""
        gap = self.gap(self.b, slope, self.level)
        self.enough = self.share * max(0.0, self.rest + self.objective(self.b, slope))
        is_balanced = self.total is None or abs(self.total - self.b.sum()) <= 1e-9 * np.abs(self.b).sum()
        self.since_best += 1
        if gap < self.best[0] and is_balanced:
            self.since_best = 0 if gap < 0.9 * self.best[0] else self.since_best
            self.best = gap, self.b
        has_both = bool(((self.b > self.lower) & (self.b < self.upper)).all())
        has_stalled = self.since_best >= _STALLED and self.best[0] < np.inf
        at_limit = self.n_iterations >= _MOST_ITERATIONS or has_stalled
        self.is_over = gap <= self.enough or at_limit or not has_both

    def refine(self) -> bool:
        """Continue to a smaller gap, where rows at bounds are easier to tell; return False if rounding prevents it."""
        if self.best[0] > self.enough or self.n_refinements == _MOST_REFINEMENTS:
            return False
        self.share *= _CLEAR
        self.n_refinements += 1
        self.is_over = False
        return True

    def on_face(self) -> Column:
        """Put rows at their bounds exactly there, and optimize the others; or return the point unchanged.

        A row belongs to a bound where the multiplier of that bound, whose scale is the margin, is much larger than the
        distance, whose scale is that of all rows. An active-set method follows: it solves for the free rows, fixes
        those that would leave their bounds, and frees those that gain by leaving a bound.
        """
        gap, best = self.best
        scale = _CLEAR * float(np.minimum(best - self.lower, self.upper - best).mean())
        at_lower, at_upper = best - self.lower < scale * self.at_lower, self.upper - best < scale * self.at_upper
        b = np.where(at_lower, self.lower, np.where(at_upper, self.upper, best))
        is_free = ~at_lower & ~at_upper
        limit, work = max(gap, _WORTH_A_FACE * self.enough), 0.0
        while work < _FACE_WORK:
            free = np.flatnonzero(is_free)
            work += 2.0 * len(b) ** 2 + len(free) ** 3
            found = self._best_of_free(free, self.target - self.system.times(b), b)
            if found is None:
                break
            move, level = found
            room = np.where(move > 0.0, self.upper[free], self.lower[free]) - b[free]
            with np.errstate(divide="ignore", invalid="ignore"):
                ways = np.where(move != 0.0, room / move, np.inf)
            reach = min(1.0, float(ways.min()))
            blocked = ways <= max(reach, _NEAR) if reach < 1.0 else np.zeros(len(free), np.bool_)
            b[free] = np.where(blocked, b[free] + room, b[free] + reach * move)
            is_free[free[blocked]] = False
            if blocked.any():
                continue
            above = self.target - self.system.times(b) - level
            reached = float(np.sum(above * np.where(above > 0.0, self.upper - b, self.lower - b)))
            limit, best = (reached, b.copy()) if reached <= limit else (limit, best)
            wrong = np.where(is_free, 0.0, np.where(b == self.lower, above, -above))
            if reached <= _CLEAR * self.enough or not wrong.max() > 0.0:
                break
            is_free |= wrong > 0.1 * wrong.max()
        return best

    def _best_of_free(self, free: npt.NDArray[np.intp], slope: Column, b: Column) -> tuple[Column, float] | None:
        """Step of the free rows to where every slope equals the level; None where that cannot be computed.

        Where the sum is fixed, a multiple of the matrix of ones only shifts the level. Adding it makes a matrix regular
        that is singular in a direction with a nonzero sum, such as that of d + 1 rows with d features.
        """
        if len(free) == 0:
            return None
        matrix, sum_of_move = self.system.part(free), 0.0 if self.total is None else self.total - float(b.sum())
        shift = 0.0 if self.total is None else float(matrix.diagonal().max())
        factored, failed = _cholesky(matrix + shift, np.zeros(len(free)))
        if failed:
            return None
        move = np.asarray(lapack.dpotrs(factored, slope[free], lower=1)[0])
        if self.total is None:
            return move, 0.0
        ones = np.asarray(lapack.dpotrs(factored, np.ones(len(free)), lower=1)[0])
        part = float((move.sum() - sum_of_move) / ones.sum())
        return move - part * ones, part + shift * sum_of_move


def _reach(value: Column, change: Column) -> float:
    """How far a positive vector can move until an entry is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.min(np.where(change < 0.0, -value / change, np.inf), initial=np.inf))


def _cholesky(matrix: Column, diagonal: Column) -> tuple[Any, bool]:
    """Factor a symmetric matrix plus a diagonal, with a small ridge added where rounding requires it."""
    ridge = 0.0
    for _ in range(_MOST_RIDGES):
        work = np.array(matrix, order="C")
        work.flat[:: len(work) + 1] += diagonal + ridge
        factored, failed = lapack.dpotrf(work.T, lower=1, overwrite_a=1)
        if not failed:
            return factored, False
        largest = float(matrix.diagonal().max())
        ridge = max(ridge * _RIDGE_GROWTH, _RIDGE * largest)
    return None, True


@dataclass
class PivotedFactor:
    """L with L L' close to K: pivoted incomplete Cholesky, a block of pivots at a time.

    The rows with the largest remaining diagonal become pivots. trace(K - L L') is the sum of what remains.
    """

    columns: Callable[[npt.NDArray[np.intp]], Any]  # the rows of K at these places
    left: Column  # the diagonal of K - L L'
    most: int  # most columns of L
    at_once: int = 64
    rank: int = 0
    pivots: list[int] = field(default_factory=list)
    root: Column = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.left.astype(np.float64)
        self.largest = float(self.left.max())
        self.most = min(self.most, len(self.left))
        self.root = np.empty((len(self.left), self.most))

    @property
    def error(self) -> float:
        """trace(K - L L')."""
        return float(self.left.sum())

    def advance(self) -> bool:
        """Add one block of pivots; return False where no useful pivot is left."""
        count = min(self.at_once, self.most - self.rank)
        least = _LEAST_PIVOT * self.largest
        if count == 0 or not self.left.max() > least:
            return False
        pivots = np.argpartition(-self.left, count - 1)[:count]
        known = self.root[:, : self.rank]
        rest = np.asarray(self.columns(pivots), np.float64).T - known @ known[pivots].T
        factor, order, found, _ = lapack.dpstrf(rest[pivots], lower=1, tol=least)
        if found == 0:
            return False
        new = lapack.dtrtrs(np.tril(factor[:found, :found]), rest[:, order[:found] - 1].T, lower=1)[0].T
        self.root[:, self.rank : self.rank + found] = new
        self.pivots += pivots[order[:found] - 1].tolist()
        self.rank += int(found)
        self.left = np.maximum(self.left - np.sum(new * new, axis=1), 0.0)
        return True
