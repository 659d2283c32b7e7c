"""Rows a second of the machines at predict, with models trained to their usual tolerance.

Those have about as many support vectors as each other, which is what prediction costs. The machines take turns; the
best of five turns counts, or of fewer once a machine has taken half a minute.
"""

import time
from collections.abc import Callable
from typing import Any

from benchmarks.kernels.measure import fit
from benchmarks.kernels.problems import Problem
from benchmarks.kernels.rivals import Solver

_TURNS = 5
_ENOUGH = 30.0  # seconds
_CALLS = ("predict", "decision_function")


def speeds(solvers: list[Solver], problem: Problem, C: float) -> dict[str, dict[str, float]]:
    """For each machine, its support vectors and its rows per second in both calls."""
    models: dict[str, Any] = {}
    for solver in solvers:
        seconds, model = fit(solver, solver.prepare(problem.X), problem.y, C, problem.gamma, solver.usual)
        models[solver.name] = model
        print(f"  {problem.name}, C {C:g}, {solver.name} trained in {seconds:.3f} s", flush=True)
    rows = {solver.name: solver.prepare(problem.X_test) for solver in solvers}
    found = {name: {"n_support": len(model.support_)} for name, model in models.items()}
    for call in _CALLS:
        best = _best({name: _caller(model, call, rows[name]) for name, model in models.items()})
        for name, seconds in best.items():
            found[name][call] = len(problem.y_test) / seconds
    return found


def _caller(model: Any, call: str, rows: Any) -> Callable[[], Any]:
    return lambda: getattr(model, call)(rows)


def _best(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The shortest seconds of each."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_TURNS):
        for name, call in calls.items():
            if sum(taken[name]) < _ENOUGH:
                start = time.perf_counter()
                call()
                taken[name].append(time.perf_counter() - start)
    return {name: min(seconds) for name, seconds in taken.items()}
