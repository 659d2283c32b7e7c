"""Kernel values in single precision: what they prove, and how a fit continues in double where necessary.

While a solver runs, its certificates are about the kernel values in its table. The certificate that a model keeps is
about the kernel in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pegasos.certificate import balanced, certify, certify_around, intercept_reach
from pegasos.gram import KernelRows
from pegasos.kernels import Precomputed
from pegasos.problem import Problem
from pegasos.solution import Solution, Status

_DOUBTFUL = 0.25  # largest fraction of the gap to prove that may depend on single precision
_QUICK_VALUES = 1 << 24  # kernel values in double that can still be computed after a budget has ended
_OUT_OF_TIME = (Status.TIME, Status.INTERRUPTED)


def proved_in_double(
    problem: Problem, solution: Solution, tol: float | None, *, is_free: bool
) -> tuple[Solution, bool]:
    """Certify the solution with the kernel in double; also return whether the solver must continue in double.

    If time has run out and that would take long, the certificate instead includes room for the errors of single
    precision.
    """
    rows = problem.rows
    if not isinstance(rows, KernelRows) or rows.dtype == np.float64 or isinstance(rows.kernel, Precomputed):
        return solution, False
    n_values = rows.n_rows * int(np.count_nonzero(solution.weights))
    if solution.status in _OUT_OF_TIME and n_values > _QUICK_VALUES:
        return _proved_on(replace(problem, rows=rows.counting_single()), solution, is_free=is_free), False
    again = KernelRows.of(rows.kernel, rows.items, rows.bias, cache_bytes=0.0, double=True)
    proved = _proved_on(replace(problem, rows=again), solution, is_free=is_free)
    if tol is None or solution.status in _OUT_OF_TIME:
        return proved, False
    before, now = solution.certificate, proved.certificate
    change = abs(now.primal - before.primal) + abs(now.dual - before.dual)
    is_lost = solution.status is Status.CERTIFIED and now.relative_gap > tol
    return proved, is_lost or change > _DOUBTFUL * tol * now.primal


def _proved_on(problem: Problem, solution: Solution, *, is_free: bool) -> Solution:
    """The same point with the certificate and the reach of the intercept from these kernel values."""
    if not is_free:
        return replace(solution, certificate=certify(problem, solution.weights, solution.alpha))
    even = balanced(problem, solution.alpha)
    certificate = certify_around(problem, solution.weights, even, solution.intercept)
    reach = intercept_reach(problem, solution.alpha, solution.intercept, certificate.weight_radius)
    return replace(solution, certificate=certificate, intercept_reach=reach)


def certified_again(problem: Problem, solution: Solution, tol: float | None) -> Solution:
    """The same point with the certificate from other kernel values."""
    certificate = certify(problem, solution.weights, solution.alpha)
    is_open = solution.status is Status.CERTIFIED and tol is not None and certificate.relative_gap > tol
    return replace(solution, certificate=certificate, status=Status.ROUNDING if is_open else solution.status)


def with_double_rows(problems: Sequence[Problem], cache_bytes: float) -> list[Problem]:
    """The same problems with kernel values in double; their common table is replaced."""
    rows = problems[0].rows
    assert isinstance(rows, KernelRows)
    if rows.dtype == np.float64:
        return list(problems)
    rows.columns.release()
    again = KernelRows.of(rows.kernel, rows.items, rows.bias, cache_bytes=cache_bytes, double=True)
    return [replace(problem, rows=again) for problem in problems]
