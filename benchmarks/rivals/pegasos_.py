"""pegasos.PegasosClassifier.

lam        unchanged.
intercept  the default: a constant column of value 1, regularized.
stopping   tol is a proved bound of the relative distance to the optimum, so there is one rung: tol = target.
threads    n_jobs=2.
"""

import numpy as np

from benchmarks.problems import Problem
from pegasos import PegasosClassifier


def solve(problem: Problem, lam: float, solver: str, tol: float) -> PegasosClassifier:
    """Fit until the gap is proved, however many epochs that takes."""
    model = PegasosClassifier(lam=lam, solver=solver, tol=tol, max_iter=100_000, n_jobs=2, random_state=0)
    return model.fit(problem.X, problem.y)


class Pegasos:
    """The solver that the others are compared with."""

    name = "pegasos"

    def prepare(self, problem: Problem) -> Problem:
        return problem

    def ladder(self, target: float) -> tuple[float, ...]:
        return (target,)

    def fit(self, data: Problem, lam: float, setting: float) -> tuple[np.ndarray, float]:
        model = solve(data, lam, "auto", setting)
        return model.coef_[0], float(model.intercept_[0])


SOLVERS = (Pegasos(),)
