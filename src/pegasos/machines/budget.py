"""A budget of support vectors: the least important ones are dropped, and the nearest remaining ones take their weight.

Wang, Crammer, Vucetic: Breaking the curse of kernelization: budgeted stochastic gradient descent for large-scale SVM
training. JMLR 13, 2012: removal, with the projection on the nearest of those that stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pegasos.certificate import certify
from pegasos.gram import KernelRows
from pegasos.problem import Problem
from pegasos.solution import Solution, Status

_FINISHED = (Status.CERTIFIED, Status.COMPLETED, Status.COUNTED, Status.ROUNDING)


def keep_within(rows: KernelRows, coefficients: npt.NDArray[np.float64], max_support: int) -> npt.NDArray[np.float64]:
    """Coefficients, one row per problem, with at most ``max_support`` columns that are not 0."""
    support = np.flatnonzero(np.any(coefficients, axis=0))
    if len(support) <= max_support:
        return coefficients
    importance = np.square(coefficients[:, support]).sum(axis=0) * rows.squared_norms[support]
    order = np.argsort(-importance, kind="stable")
    kept, dropped = np.sort(support[order[:max_support]]), support[order[max_support:]]
    within = np.zeros_like(coefficients)
    within[:, kept] = coefficients[:, kept]
    likeness = rows.values.block(dropped, kept) / np.sqrt(np.maximum(rows.squared_norms[kept], 1e-300))
    nearest = np.abs(likeness).argmax(axis=1)
    shares = likeness[np.arange(len(dropped)), nearest] / np.sqrt(np.maximum(rows.squared_norms[kept[nearest]], 1e-300))
    for k in range(len(coefficients)):
        np.add.at(within[k], kept[nearest], shares * coefficients[k, dropped])
    return within


def reduced(problems: Sequence[Problem], solutions: list[Solution], max_support: int | None) -> list[Solution]:
    """Solutions within the budget, certified again where that changed them."""
    rows = problems[0].rows
    if max_support is None or not isinstance(rows, KernelRows):
        return solutions
    before = np.stack([solution.weights for solution in solutions])
    after = keep_within(rows, before, max_support)
    if after is before:
        return solutions
    return [
        replace(
            solution,
            weights=weights,
            certificate=certify(problem, weights, solution.alpha),
            status=Status.REDUCED if solution.status in _FINISHED else solution.status,
        )
        for problem, solution, weights in zip(problems, solutions, after, strict=True)
    ]
