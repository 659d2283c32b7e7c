"""Problems in units in which a usual residual is about 1, as in classification: solvers rely on that.

With w = unit v, r = unit q and lam = lam' / unit, phi(r) = unit phi'(q) where ridge' = ridge / unit, so that
P(w) = unit P'(v) for the same dual point. The unit is a power of two, so no conversion rounds anything except the
offsets, whose rounding the problem accounts for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pegasos.problem import Problem
from pegasos.rounding import Carried
from pegasos.solution import Solution, Trace
from pegasos.solvers.driver import Model, Watcher


def in_units(problem: Problem, unit: float) -> Problem:
    """The problem with residuals, scores and weights in this unit."""
    if unit == 1.0:
        return problem
    offset = problem.offset - problem.sign
    offset /= unit
    offset += problem.sign
    largest = 1.0 + (problem.largest_offset + 1.0) / unit
    carried = Carried(problem.carried.length / unit, problem.carried.constant / unit + largest)
    return replace(problem, offset=offset, carried=carried, lam=problem.lam * unit, ridge=problem.ridge / unit)


def from_units(solution: Solution, unit: float) -> Solution:
    """Convert the solution of such a problem back to the units of the data."""
    if unit == 1.0:
        return solution
    found = solution.certificate
    scaled = {name: getattr(found, name) * unit for name in ("primal", "dual", "gap", "weight_radius", "rounding")}
    least = 1.0 - (1.0 - found.least_margin) * unit
    return replace(
        solution,
        weights=solution.weights * unit,
        intercept=solution.intercept * unit,
        intercept_reach=solution.intercept_reach * unit,
        certificate=replace(found, **scaled, squared_norm=found.squared_norm * unit**2, least_margin=least),
        trace=Trace([_row(row, unit) for row in solution.trace.rows], solution.trace.of_problems),
    )


def heard_in_units(watcher: Watcher, unit: float) -> Watcher:
    """Wrap a watcher so that it receives everything in the units of the data."""
    if unit == 1.0:
        return watcher

    def on_epoch(epoch: int, model: Any) -> bool:
        def scaled() -> Model:
            point = model()
            return Model(point.weights * unit, point.intercept * unit)

        return watcher.on_epoch(epoch, scaled)

    def on_review(row: Any) -> None:
        watcher.on_review(_row(row, unit))

    return Watcher(on_epoch, on_review, watcher.on_chunk, watcher.interrupted)


def _row(row: Any, unit: float) -> Any:
    return row._replace(primal=row.primal * unit, dual=row.dual * unit, gap=row.gap * unit)
