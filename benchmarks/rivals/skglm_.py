"""skglm's LinearSVC: dual coordinate descent with working sets and Anderson acceleration, compiled by numba.

lam        C = 1 / (lam n): its objective is 1/2 |w|^2 + C sum of losses, which is P / lam.
intercept  it has none: a column of ones is appended.
stopping   tol is the largest violation of the optimality conditions of the dual, so a ladder of it.
untimed    appending the column; compiling, by a fit of a few rows of the same layout. Problems of more than 5 million
           values are left out: one run, which nothing ends, takes minutes.
"""

import numpy as np
import scipy.sparse as sp
from skglm import LinearSVC

from benchmarks.problems import Problem

_MOST_VALUES = 5_000_000
_TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)


class Skglm:
    """One thread."""

    name = "skglm"

    def prepare(self, problem: Problem) -> Problem | None:
        if (problem.X.nnz if sp.issparse(problem.X) else problem.X.size) > _MOST_VALUES:
            return None
        ones = np.ones((len(problem.y), 1), dtype=np.float32)
        is_sparse = sp.issparse(problem.X)
        rows = sp.csr_matrix(sp.hstack([problem.X, ones])) if is_sparse else np.hstack([problem.X, ones])
        whole = Problem(problem.name, rows, problem.y)
        some = np.r_[np.flatnonzero(problem.y > 0)[:20], np.flatnonzero(problem.y < 0)[:20]]
        self.fit(Problem(problem.name, rows[some], problem.y[some]), 1e-2, 0.1)
        return whole

    def ladder(self, target: float) -> tuple[float, ...]:
        return _TOLERANCES

    def fit(self, data: Problem, lam: float, setting: float) -> tuple[np.ndarray, float]:
        model = LinearSVC(C=1.0 / (lam * len(data.y)), tol=setting, max_iter=1000, max_epochs=100_000)
        model.fit(data.X, data.y)
        weights = np.ravel(model.coef_)
        return weights[:-1], float(weights[-1])


SOLVERS = (Skglm(),)
