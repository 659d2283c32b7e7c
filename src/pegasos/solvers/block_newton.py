"""Newton's method for rows that are not in memory: the blocks of a source are partitions that are read one by one.

    P_k(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_ik (<w, x_i> + offset_ik))

It starts on a sample of the rows and ends on those near the margin, which are gathered in memory: a few million values
(`partitioned_newton`). A pass reads every block once; the result does not depend on the available memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.deadline import check_deadline
from pegasos.problem import Problem, Rows
from pegasos.solvers.driver import ExhaustedError
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.partitioned import PartitionedDual, PartitionedProblem
from pegasos.solvers.partitioned_newton import PartitionedNewton, room_for
from pegasos.solvers.passes import Question, merged
from pegasos.source_problem import SourceProblem

Vector = npt.NDArray[np.float64]

_MOST_PASSES = 100


@dataclass
class _Blocks:
    """Problem k of a source, with its blocks as partitions."""

    problem: SourceProblem
    k: int
    n_stored: int

    @property
    def n_partitions(self) -> int:
        """Number of blocks."""
        return self.problem.n_blocks

    @property
    def n_rows(self) -> int:
        """Number of rows of all blocks."""
        return self.problem.alpha_shape[1]

    @property
    def n_features(self) -> int:
        """Number of features, without the constant column."""
        return self.problem.rows.n_features

    def ask(self, question: Question) -> Any:
        """Answer a question in one pass over all blocks."""
        return merged(question, [question(part) for _, part in self.parts()])

    def parts(self) -> Iterator[tuple[slice, Problem]]:
        """Iterate over the blocks: the rows of each, and the problem restricted to them."""
        problem, everything = self.problem, range(self.problem.n_blocks)
        problem.window.plan(None, everything, whole=everything)
        for block in everything:
            check_deadline()
            yield problem.span(block), problem.part_of_block(problem.window.piece(block, whole=True), block, self.k)


class BlockNewton:
    """Newton's method on one problem of a source at a time."""

    def __init__(self, problem: SourceProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.n_stored = sum(_stored(part) for _, part in _Blocks(problem, 0, 0).parts())

    @property
    def price(self) -> float:
        """Nanoseconds that the gathered rows of one problem are expected to take, not counting reading."""
        n_rows, side = self.problem.alpha_shape[1], self.problem.weights_shape[1]
        stored = self.n_stored / max(n_rows, 1)
        gathered = min(n_rows, int(room_for(self.n_stored) / max(stored, 1.0)))
        price = InteriorPoint.price_of(gathered, side - 1, stored)
        return price if price < np.inf else 1e3 * gathered * stored  # epochs of dual ascent instead

    def solve(self, k: int) -> tuple[Vector, Vector]:
        """Return weights and a dual point of problem k, near its optimum where that was found."""
        problem = self.problem
        blocks = _Blocks(problem, k, self.n_stored)
        zero = problem.lam * problem.radius**2
        whole = PartitionedProblem(blocks, problem.lam, problem.total, zero, problem.window.bias, problem.loss)
        solver = PartitionedNewton(self.tol)
        state = solver.start(whole, seed=0)
        found: Any = None
        try:
            while state.passes < _MOST_PASSES:
                solver.advance_to(whole, state, solver.next_look(whole, state))
                if state.is_ready:
                    found = solver.review(whole, state, self.tol)
                    if found.certificate.relative_gap <= self.tol:
                        break
        except ExhaustedError:
            pass
        weights, point = solver.point(whole, state)
        return weights, self._alpha(blocks, point)

    def _alpha(self, blocks: _Blocks, point: PartitionedDual) -> Vector:
        """Dual variables of all rows, from the rule of a dual point and those of the gathered rows."""
        alpha, n_taken = np.zeros(blocks.n_rows), 0
        if point.rule is None:
            return alpha
        for mine, part in blocks.parts():
            own = point.rule.alpha(part)
            if point.alpha is not None:
                left_out = np.flatnonzero(point.rule.left_out(part))
                own[left_out] = point.alpha[n_taken : n_taken + len(left_out)]
                n_taken += len(left_out)
            alpha[mine] = own
        return alpha


def _stored(part: Problem) -> int:
    assert isinstance(part.rows, Rows)
    return part.rows.n_stored
