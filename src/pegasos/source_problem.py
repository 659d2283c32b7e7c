"""The problems of a source of blocks, side by side, over rows that are not in memory.

    P_k(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_ik (<w, x_i> + offset_ik)),    k = 0 .. n_problems - 1

They share the rows, so all of them are solved while a block is in memory. As one `Objective` they are their sum: the
weights and dual points of all problems form two matrices, with one row per problem. An epoch visits every row once per
problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from pegasos.losses import HINGE, Loss
from pegasos.problem import Losses, Problem, Rows, added, inner
from pegasos.problem.sums import dual_terms, long_dual_terms
from pegasos.rounding import (
    DualSums,
    Floats,
    Gain,
    LongTerms,
    is_settled,
    length_of,
    lowered,
)
from pegasos.source_columns import Numbers, SourceColumns
from pegasos.window import Piece, Window


class Size(NamedTuple):
    """The size of the sum of the problems: all rows, once per problem."""

    n_rows: int
    n_features: int


class Sums(NamedTuple):
    """The sums of a pass over all rows for one problem."""

    losses: Losses  # of the weights
    own: DualSums  # w(alpha) and the linear term of the dual, times total


@dataclass(frozen=True, eq=False)
class SourceProblem:
    """The problems, and the window through which their rows are read.

    A row of the source is `n_sides` rows of each problem. Those of a block lie together, side after side: block b,
    whose rows are begin..end, has the rows n_sides begin .. n_sides end of the problem.

    Attributes
    ----------
    window : Window
    columns : SourceColumns, the targets
    lam : float
    total : float, the number of rows of the source
    loss : Loss
    """

    window: Window
    columns: SourceColumns
    lam: float
    total: float
    loss: Loss = HINGE

    @property
    def n_problems(self) -> int:
        """Number of problems side by side."""
        return self.columns.n_problems

    @property
    def n_sides(self) -> int:
        """Rows of a problem per row of the source."""
        return self.columns.n_sides

    @property
    def n_rows(self) -> int:
        """Rows of one problem."""
        return self.n_sides * self.columns.n_rows

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.window.source.n_blocks

    @property
    def rows(self) -> Size:
        """All rows, once per problem."""
        return Size(self.n_problems * self.n_rows, self.window.source.n_features)

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """Cost of a mistake on each row."""
        return self._cost(slice(0, self.n_rows))

    @property
    def bound(self) -> npt.NDArray[np.float64]:
        """Upper bounds of the dual variables of each row."""
        return self.loss.bound_of(self.cost)

    @property
    def radius(self) -> float:
        """Upper bound of the length of the optimal weights."""
        return float(np.sqrt(max(self._loss_of_zero(k) for k in range(self.n_problems)) / self.lam))

    def _loss_of_zero(self, k: int) -> float:
        """The objective of the zero vector."""
        total = 0.0
        for block in range(self.n_blocks):
            sign, cost, offset, _ = self.columns.of(k, *self.places(self.span(block)))
            total += float(np.sum(cost * self.loss.value(1.0 - sign * offset)))
        return total / self.total

    @property
    def weights_shape(self) -> tuple[int, int]:
        """One row per problem."""
        return (self.n_problems, self.window.source.n_features + 1)

    @property
    def alpha_shape(self) -> tuple[int, int]:
        """One row per problem."""
        return (self.n_problems, self.n_rows)

    def span(self, block: int) -> slice:
        """The rows of a problem that belong to a block."""
        begin, end = self.window.source.starts[block : block + 2]
        return slice(self.n_sides * int(begin), self.n_sides * int(end))

    def places(self, mine: slice | Numbers) -> tuple[slice | Numbers, Numbers | None]:
        """Rows of the source for rows of a problem, and the side of each; None where there is only one."""
        if self.n_sides == 1:
            return mine, None
        numbers = np.arange(mine.start, mine.stop) if isinstance(mine, slice) else mine
        starts = self.window.source.starts
        block = np.searchsorted(self.n_sides * starts, numbers, "right") - 1
        side, place = np.divmod(numbers - self.n_sides * starts[block], np.diff(starts)[block])
        return starts[block] + place, side

    @property
    def members(self) -> slice | Numbers:
        """The row of the source for each row of an ordered dual point; slice(None) if they are the same."""
        return slice(None) if self.n_sides == 1 else np.tile(np.arange(self.columns.n_rows), self.n_sides)

    def in_order(self, alpha: Floats) -> Floats:
        """The dual points with the sides of all rows one after the other, in the order of a problem in memory."""
        if self.n_sides == 1:
            return alpha
        rows, side = self.places(slice(0, self.n_rows))
        assert side is not None
        found = np.empty_like(alpha)
        found[:, side * self.columns.n_rows + np.asarray(rows)] = alpha
        return found

    def part(self, rows: Rows, mine: slice | Numbers, k: int) -> Problem:
        """Problem k restricted to some of its rows; lam and total are those of the whole."""
        sign, cost, offset, carried = self.columns.of(k, *self.places(mine))
        return Problem(rows, sign, cost, offset, self.lam, self.total, carried, self.loss.cap, self.loss.ridge)

    def part_of_block(self, piece: Piece, block: int, k: int) -> Problem:
        """Problem k restricted to the part of a block in memory."""
        mine, local = self.span(block), self.within_block(piece, block)
        rows = piece.rows
        if self.n_sides > 1:
            rows = rows.view(np.tile(np.arange(rows.n_rows), self.n_sides), repeats=self.n_sides)
        return self.part(rows, mine if local is None else local + mine.start, k)

    def within_block(self, piece: Piece, block: int) -> Numbers | None:
        """The problem's rows of a block that are in memory, counted from its first; None for all."""
        if piece.numbers is None:
            return None
        begin, end = self.window.source.starts[block : block + 2]
        return np.concatenate([piece.numbers + side * int(end - begin) for side in range(self.n_sides)])

    def gathered(self, numbers: Numbers, k: int) -> Problem:
        """Problem k of the rows with these numbers, which stay in memory until the window recalls all."""
        if self.n_sides == 1:
            return self.part(self.window.gathered(numbers), numbers, k)
        needed, place = np.unique(np.asarray(self.places(numbers)[0]), return_inverse=True)
        return self.part(self.window.gathered(needed).view(place), numbers, k)

    def within_bounds(self, alpha: Floats) -> Floats:
        """Clip the dual point in place, block by block, because there may be no memory for a copy.

        Costs that alpha's type cannot represent need a copy in double: rounded to single, a bound is another number.
        """
        bounds = self.loss.bound_of(self.columns.cost_levels)
        kept = alpha if bool((bounds.astype(alpha.dtype) == bounds).all()) else np.empty(alpha.shape)
        for block in range(self.n_blocks):
            mine = self.span(block)
            bound = self.loss.bound_of(self._cost(mine))
            np.clip(alpha[:, mine], 0.0, bound, out=kept[:, mine], casting="same_kind")
        return kept

    def gain_of(self, alpha: Floats, block: int, k: int) -> float:
        """What the dual variables of a block contribute to the dual of problem k without |w|^2, times total."""
        counts = alpha > 0.0
        if not counts.any():
            return 0.0
        sign, cost, offset, _ = self.columns.of(k, *self.places(self.span(block)))
        a = alpha[counts].astype(np.float64)
        gain = inner(a, 1.0 - sign[counts] * offset[counts])
        return gain if self.loss.ridge == 0.0 else gain - 0.5 * self.loss.ridge * inner(a, a / cost[counts])

    def _cost(self, mine: slice) -> npt.NDArray[np.float64]:
        return self.columns.cost(*self.places(mine))

    def sums(self, weights: npt.NDArray[np.float64], alpha: Floats) -> list[Sums]:
        """Compute in one pass the losses of these weights and what this dual point proves."""
        parts: list[list[Losses]] = [[] for _ in range(self.n_problems)]
        own, gains = np.zeros(self.weights_shape), [Gain()] * self.n_problems
        everything = range(self.n_blocks)
        self.window.plan(None, everything, whole=everything)
        for block in everything:
            piece = self.window.piece(block, whole=True)
            for k in range(self.n_problems):
                part = self.part_of_block(piece, block, k)
                parts[k].append(part.losses(weights[k]))
                share, gain = dual_terms(cast(Rows, part.rows), part, alpha[k, self.span(block)])
                own[k] += share
                gains[k] = (gains[k] + gain).with_sum_of(length_of(own[k]))
        owns = [self._own(mine, gain) for mine, gain in zip(own, gains, strict=True)]
        unsure = [k for k, found in enumerate(owns) if found is None]
        for k, terms in zip(unsure, self._long_terms(unsure, alpha), strict=True):
            mu = np.longdouble(self.lam) * np.longdouble(self.total)
            found = terms.dual_sums(own[k], inner(own[k], own[k]), mu, self.loss.cap_roundings)
            owns[k] = found._replace(ridge=gains[k].ridge)
        each = zip(weights, parts, owns, strict=True)
        return [Sums(added(found, given), cast(DualSums, mine)) for given, found, mine in each]

    def _own(self, weights: npt.NDArray[np.float64], gain: Gain) -> DualSums | None:
        """The sums of a problem as computed in double; None where their rounding matters."""
        mu, length = self.lam * self.total, length_of(weights)
        if not is_settled(gain, length, mu) and np.isfinite(length + gain.off):
            return None
        return DualSums(weights, *lowered(gain, length, mu), gain.off, gain.ridge)

    def _long_terms(self, problems: list[int], alpha: Floats) -> list[LongTerms]:
        """The terms of these problems in extended precision, in another pass over all blocks."""
        found = [LongTerms.none(self.weights_shape[1]) for _ in problems]
        if not problems:
            return found
        everything = range(self.n_blocks)
        self.window.plan(None, everything, whole=everything)
        for block in everything:
            piece = self.window.piece(block, whole=True)
            for place, k in enumerate(problems):
                part = self.part_of_block(piece, block, k)
                found[place] += long_dual_terms(cast(Rows, part.rows), part, alpha[k, self.span(block)])
        return found

    def dual_sums(self, alpha: Floats) -> DualSums:
        """The weights w(alpha) of all problems, and the sum of the linear terms, times total."""
        found = [each.own for each in self.sums(np.zeros(self.weights_shape), alpha)]
        gain, slack = sum(each.gain for each in found), sum(each.slack for each in found)
        off = float(np.linalg.norm([each.off for each in found]))
        ridge = sum(each.ridge for each in found)
        return DualSums(np.stack([each.weights for each in found]), gain, slack, off, ridge)

    def losses(self, weights: npt.NDArray[np.float64]) -> Losses:
        """The losses and |w|^2 of all problems together, and the least margin."""
        found = [each.losses for each in self.sums(weights, np.zeros(self.alpha_shape, self.window.source.dtype))]
        return added(found, weights)

    def square(self, weights: npt.NDArray[np.float64]) -> float:
        """|w|^2 of all problems together."""
        return inner(weights, weights)
