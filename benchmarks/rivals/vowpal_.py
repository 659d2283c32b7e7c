"""Vowpal Wabbit: stochastic sub-gradient steps on its own cache file.

lam        --l2 lam: a weight decay at each example; --sgd with steps 1 / (lam (t + 1 / lam)), as in scikit-learn's SGD.
intercept  --noconstant, and a feature of value 1 that is regularized with the others.
stopping   none that promises anything, so a ladder of passes.
untimed    writing its text file, and its cache of that; problems of more than 15 million values are left out, as text
           they would take gigabytes.
"""

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import vowpalwabbit

from benchmarks.problems import Problem

_PASSES = (1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200)
_MOST_VALUES = 15_000_000


class Prepared(NamedTuple):
    """Its cache, the folder that holds it, and the number of features."""

    folder: tempfile.TemporaryDirectory
    n_features: int


class Vowpal:
    """One thread."""

    name = "Vowpal Wabbit"

    def prepare(self, problem: Problem) -> Prepared | None:
        rows = sp.csr_matrix(problem.X)
        if rows.nnz > _MOST_VALUES:
            return None
        folder = tempfile.TemporaryDirectory()
        text, d = Path(folder.name) / "rows.txt", rows.shape[1]
        with text.open("w") as file:
            for i, sign in enumerate(problem.y):
                entries = slice(rows.indptr[i], rows.indptr[i + 1])
                values = zip(rows.indices[entries], rows.data[entries], strict=True)
                file.write(f"{sign} | {' '.join(f'{j}:{x:.7g}' for j, x in values)} {d}:1\n")
        prepared = Prepared(folder, d)
        self._run(prepared, "-k", 1, 1e-4).finish()
        text.unlink()
        return prepared

    def ladder(self, target: float) -> tuple[int, ...]:
        return _PASSES

    def fit(self, data: Prepared, lam: float, setting: int) -> tuple[np.ndarray, float]:
        workspace = self._run(data, "", setting, lam)
        weights = np.array([workspace.get_weight(j) for j in range(data.n_features + 1)])
        workspace.finish()
        return weights[:-1], float(weights[-1])

    def _run(self, data: Prepared, more: str, passes: int, lam: float) -> vowpalwabbit.Workspace:
        path = Path(data.folder.name) / "rows.txt"
        bits = max(10, int(np.ceil(np.log2(data.n_features + 1))))
        return vowpalwabbit.Workspace(
            f"-d {path} --cache_file {path}.cache {more} --passes {passes} --loss_function hinge --l2 {lam} "
            f"--sgd --power_t 1 --initial_t {1 / lam} -l 1 --noconstant -b {bits} --holdout_off --quiet"
        )


SOLVERS = (Vowpal(),)
