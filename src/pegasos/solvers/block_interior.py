"""An interior point for rows that are not in memory: on those nearest to the margin, the others at their bounds.

    P_k(w) = lam/2 |w|^2 + (1/total) sum_i cost_i max(0, 1 - sign_ik <w, x_i>)

Weights of a sample of the rows say which rows violate the margin and which do not. All but the nearest to it are fixed
at the bounds that follow from that, and an interior point (`InteriorPoint`) solves for the nearest ones, which are
gathered in memory: a few million values, or as many rows as a block has. Its weights tell the next round which rows are
near; when no row is at the wrong bound, they are those of the whole problem. A round reads all rows three times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pegasos.problem import Problem
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.source_problem import SourceProblem
from pegasos.window import Numbers

Vector = npt.NDArray[np.float64]

_VALUES = 1 << 22  # gathered
_ITERATIONS = 100
_ROUNDS = 6
_MARGIN = 0.1  # of tol, for the gathered rows


def gathered_rows(problem: SourceProblem) -> int:
    """How many rows of a problem are gathered at most."""
    source = problem.window.source
    largest = int(np.diff(source.starts).max())
    return min(problem.n_rows, max(largest, _VALUES // (source.n_features + 1)))


class BlockInterior:
    """One problem of a source at a time; the bits do not depend on the memory."""

    def __init__(self, problem: SourceProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.n_rows = problem.n_rows
        self.room = gathered_rows(problem)
        self.solver = InteriorPoint()

    @property
    def price(self) -> float:
        """Nanoseconds that the interior point is expected to take for one problem; reading comes on top of it."""
        side = self.problem.weights_shape[1]
        return self.solver.price_of(self.room, side - 1, side)

    def solve(self, k: int) -> tuple[Vector, Vector]:
        """Weights and a dual point of problem k, near its optimum."""
        weights = self._of_sample(k)
        alpha = np.zeros(self.n_rows)
        for _ in range(_ROUNDS):
            weights, alpha, n_wrong = self._round(k, weights)
            if n_wrong == 0:
                break
        return weights, alpha

    def _of_sample(self, k: int) -> Vector:
        stride = -(-self.n_rows // self.room)
        part = self._gathered(np.arange(stride // 2, self.n_rows, stride, dtype=np.intp), k)
        share = part.rows.n_rows / self.n_rows
        sample = replace(part, total=part.total * share)
        zero = np.zeros(self.problem.weights_shape[1])
        everyone = np.arange(part.rows.n_rows, dtype=np.uint32)
        state = self.solver.enter(sample, everyone, zero, np.zeros(part.rows.n_rows))
        self.solver.advance(sample, state, _ITERATIONS, self.tol)
        return state.best_weights

    def _round(self, k: int, weights: Vector) -> tuple[Vector, Vector, int]:
        """Better weights, a dual point, and how many of the fixed rows were at the wrong bound."""
        distance, alpha = self._residuals(k, weights)
        nearest = np.argpartition(np.abs(distance), self.room - 1)[: self.room]
        chosen = np.sort(nearest).astype(np.intp)
        alpha[chosen] = 0.0
        fixed, gain = self._sum(k, alpha)
        part = self._gathered(chosen, k)
        everyone = np.arange(len(chosen), dtype=np.uint32)
        width = float(np.abs(distance[chosen]).mean())
        zero, beside = np.zeros(len(chosen)), (fixed, gain)
        state = self.solver.enter(part, everyone, weights, zero, width=width, beside=beside)
        self.solver.advance(part, state, _ITERATIONS, _MARGIN * self.tol)
        before = alpha > 0.0
        alpha[chosen] = state.best_alpha
        is_wrong = before != (self._residuals(k, state.best_weights)[0] > 0.0)
        is_wrong[chosen] = False
        return state.best_weights, alpha, int(np.count_nonzero(is_wrong))

    def _gathered(self, numbers: Numbers, k: int) -> Problem:
        """Problem k of these rows alone."""
        self.problem.window.recall()
        part = self.problem.gathered(numbers, k)
        self.problem.window.recall()
        return part

    def _parts(self, k: int) -> Iterator[tuple[slice, Problem]]:
        """Problem k of each block."""
        problem, everything = self.problem, range(self.problem.n_blocks)
        problem.window.plan(None, everything, whole=everything)
        for block in everything:
            yield problem.span(block), problem.part_of_block(problem.window.piece(block, whole=True), block, k)

    def _residuals(self, k: int, weights: Vector) -> tuple[Vector, Vector]:
        """r_i of all rows, and the dual point with every row at the bound that its residual asks for."""
        residuals, alpha = np.empty(self.n_rows), np.empty(self.n_rows)
        for mine, part in self._parts(k):
            residuals[mine] = 1.0 - part.sign * (part.rows.scores_of(weights) + part.offset)
            alpha[mine] = np.where(residuals[mine] > 0.0, part.bound, 0.0)
        return residuals, alpha

    def _sum(self, k: int, alpha: Vector) -> tuple[Vector, float]:
        """The sum of alpha_i sign_i x_i, and what these dual variables add to the dual, times total."""
        total, gain = np.zeros(self.problem.weights_shape[1]), 0.0
        for block, (mine, part) in enumerate(self._parts(k)):
            total += part.dual_weights(alpha[mine])[0] * (part.lam * part.total)
            gain += self.problem.gain_of(alpha[mine], block, k)
        return total, gain
