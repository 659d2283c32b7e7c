"""scikit-learn's LinearSVC: its own copy of LIBLINEAR, dual coordinate descent with shrinking.

lam        C = 1 / (lam n): 1/2 |w|^2 + C sum of losses is P / lam.
intercept  intercept_scaling=1: a constant column of value 1, regularised.
stopping   tol is the largest violation of the optimality conditions of the dual, so a ladder of it; max_iter never ends
           a run.
untimed    the conversion to float64, which its fit would do. Its copy into LIBLINEAR's rows is part of fit, and timed.
"""

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.problems import Problem

_tolerances = (10.0, 5.0, 2.5, 1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 3e-3, 1e-3, 1e-4)


class Svc:
    """One thread; scikit-learn offers no more."""

    name = "LinearSVC"

    def prepare(self, problem: Problem) -> Problem:
        return Problem(problem.name, problem.X.astype(np.float64), problem.y)

    def ladder(self, target: float) -> tuple[float, ...]:
        return _tolerances

    def fit(self, data: Problem, lam: float, setting: float) -> tuple[np.ndarray, float]:
        model = LinearSVC(
            loss="hinge", dual=True, C=1 / (lam * len(data.y)), tol=setting, max_iter=1_000_000, random_state=0
        )
        model.fit(data.X, data.y)
        return model.coef_[0], float(model.intercept_[0])


SOLVERS = (Svc(),)
