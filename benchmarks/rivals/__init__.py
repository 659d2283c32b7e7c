"""The solvers that are compared, one file for each library.

Each file says first how lam, C, the intercept and the stopping rule were matched, and offers `SOLVERS`: objects with

    name                                              the heading of its column
    prepare(problem) -> data                          conversions the solver needs; not timed; None: it is left out
    ladder(target) -> settings                        from loose to strict; the loosest good one counts
    fit(data, lam, setting) -> (weights, intercept)   timed

A ladder is kinder to a rival than life: nobody can know beforehand which tolerance reaches a target.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from benchmarks.problems import Problem


class Solver(Protocol):
    """What `benchmarks.measure` asks of a solver."""

    name: str

    def prepare(self, problem: Problem) -> Any: ...

    def ladder(self, target: float) -> Sequence[float]: ...

    def fit(self, data: Any, lam: float, setting: float) -> tuple[np.ndarray, float]: ...


_modules = {
    "pegasos_": "pegasos",
    "linear_svc": "scikit-learn",
    "sgd": "scikit-learn",
    "liblinear_": "liblinear-official",
    "snapml_": "snapml",
    "vowpal_": "vowpalwabbit",
    "skglm_": "skglm",
}


def installed() -> list[Solver]:
    """All solvers whose library can be imported, pegasos first; a line is printed for each that cannot."""
    solvers: list[Solver] = []
    for module, library in _modules.items():
        try:
            solvers += import_module(f"{__name__}.{module}").SOLVERS
        except ImportError as error:
            print(f"{library} cannot be imported and is left out ({error}).")
    return solvers
