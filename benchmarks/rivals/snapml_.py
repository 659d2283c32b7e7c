"""IBM Snap ML's SupportVectorMachine: parallel dual coordinate ascent, on one thread and on two.

lam        regularizer = lam n: its objective is regularizer/2 |w|^2 + sum of losses, which is n P. Its documentation
           does not say so; its strict runs come to the optimum of P with this value, not with lam or 1 / (lam n).
intercept  fit_intercept=True, intercept_scaling=1: an appended feature of value 1, regularised with the others.
stopping   tol is the largest change of the coefficients, so a ladder of it; max_iter ends what never settles.
untimed    nothing: it reads float32 dense and csr_matrix.
"""

import warnings

import numpy as np

from benchmarks.problems import Problem

# Where warnings are errors, its look for AVX2 fails on numpy's and it would run without: unfair to it.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from snapml import SupportVectorMachine

_tolerances = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7, 1e-8)


class SnapMl:
    """Its training with a number of threads."""

    def __init__(self, threads: int):
        self.name = f"Snap ML x{threads}"
        self._threads = threads

    def prepare(self, problem: Problem) -> Problem:
        return problem

    def ladder(self, target: float) -> tuple[float, ...]:
        return _tolerances

    def fit(self, data: Problem, lam: float, setting: float) -> tuple[np.ndarray, float]:
        model = SupportVectorMachine(
            regularizer=lam * len(data.y),
            fit_intercept=True,
            intercept_scaling=1.0,
            tol=setting,
            max_iter=10_000,
            n_jobs=self._threads,
            random_state=0,
        )
        model.fit(data.X, data.y)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


SOLVERS = (SnapMl(1), SnapMl(2))
