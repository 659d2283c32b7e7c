"""A step of Newton's method over partitions: by a factored matrix, or by conjugate gradients."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from pegasos import _core
from pegasos.problem import Problem, inner
from pegasos.solvers.partitioned import PartitionedProblem
from pegasos.solvers.partitioned_state import PartitionedState
from pegasos.solvers.passes import Bend, Vector, residuals

_MOST_PRODUCTS = 25
_ENOUGH = 0.03  # fraction of the first residual at which conjugate gradients end
_INNER_PRODUCTS, _INNER_ENOUGH = 60, 1e-3  # the same limits for the preconditioner


def direct_step(problem: PartitionedProblem, curvature: Vector, gradient: Vector) -> Vector:
    """Return the step to the minimum of the quadratic model; ``curvature`` is packed, row by row."""
    side = len(gradient)
    matrix = np.zeros((side, side))
    matrix[np.tril_indices(side)] = curvature / problem.total
    matrix[np.diag_indices(side)] += problem.penalty
    _core.factor(matrix)
    step = -gradient
    _core.solve(matrix, step)
    return step


def conjugate_step(
    problem: PartitionedProblem, state: PartitionedState, weights: Vector, softness: float, gradient: Vector
) -> Generator[None, None, Vector]:
    """Compute the same step at these weights by conjugate gradients; each product is a pass."""
    assert state.sample is not None
    ease = _Preconditioner(state.sample, weights, softness, problem.penalty)
    step, left = np.zeros_like(gradient), -gradient
    along = eased = ease(left)
    square = first = inner(left, eased)
    for _ in range(_MOST_PRODUCTS):
        bent = state.ask(problem, Bend(weights, softness, along)) / problem.total
        bent += problem.penalty * along
        yield
        length = inner(left, along) / inner(along, bent)
        step += length * along
        before = left.copy()
        left -= length * bent
        eased = ease(left)
        # The preconditioner is not quite linear, so the next direction follows from the change (Polak, Ribiere).
        turned, square = max(0.0, inner(eased, left - before) / square), inner(left, eased)
        if not square > _ENOUGH * first:
            break
        along = eased + turned * along
    return step


class _Preconditioner:
    """Approximate inverse of the second derivatives, by conjugate gradients on a local sample."""

    def __init__(self, sample: Problem, weights: Vector, softness: float, penalty: Vector):
        self.sample, self.softness, self.penalty = sample, softness, penalty
        self.residual = residuals(sample, weights)

    def __call__(self, vector: Vector) -> Vector:
        solution, left = np.zeros_like(vector), vector.copy()
        along, square = left.copy(), inner(left, left)
        first = square
        for _ in range(_INNER_PRODUCTS):
            if not square > _INNER_ENOUGH**2 * first:
                break
            bent = np.zeros_like(vector)
            _core.bend(self.sample.native, self.residual, self.softness, along, bent)
            bent = bent / self.sample.total + self.penalty * along
            length = square / inner(along, bent)
            solution += length * along
            left -= length * bent
            before, square = square, inner(left, left)
            along = left + square / before * along
        return solution
