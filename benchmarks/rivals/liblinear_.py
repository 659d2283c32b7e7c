"""LIBLINEAR itself (liblinear-official), -s 3: dual coordinate descent with shrinking.

lam        C = 1 / (lam n): 1/2 |w|^2 + C sum of losses is P / lam.
intercept  -B 1: a constant column of value 1, regularised.
stopping   -e is the largest violation of the optimality conditions of the dual, so a ladder of it. LIBLINEAR ends every
           run after its own number of iterations; strict rungs may then be all alike, and miss the target.
untimed    building its `problem`, zeros left out also of dense rows, which helps it on data that are half empty.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, problem, train

from benchmarks.problems import Problem

_tolerances = (10.0, 5.0, 2.5, 1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 3e-3, 1e-3, 1e-4)


class Prepared(NamedTuple):
    """LIBLINEAR's rows, and how many there are."""

    rows: problem
    n_rows: int


class Liblinear:
    """One thread."""

    name = "LIBLINEAR"

    def prepare(self, problem_: Problem) -> Prepared:
        rows = problem(problem_.y.astype(np.float64), sp.csr_matrix(problem_.X), bias=1)
        return Prepared(rows, len(problem_.y))

    def ladder(self, target: float) -> tuple[float, ...]:
        return _tolerances

    def fit(self, data: Prepared, lam: float, setting: float) -> tuple[np.ndarray, float]:
        cost = 1 / (lam * data.n_rows)
        model = train(data.rows, parameter(f"-s 3 -B 1 -c {cost!r} -e {setting!r} -q"))
        # The weights belong to the label it met first.
        weights = np.ctypeslib.as_array(model.w, (model.nr_feature + 1,)) * model.get_labels()[0]
        return weights[:-1], float(weights[-1])


SOLVERS = (Liblinear(),)
