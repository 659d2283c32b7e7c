"""Passes over partitions, in this process: how many a certified gap takes, whatever the number of partitions.

    python -m benchmarks.scale.run rounds

Data this small would be gathered as a whole where it fits (a million stored values); here at most a quarter of it may
be, as for data of any size up to sixteen million values.
"""

from dataclasses import replace

import numpy as np

from benchmarks.scale.problems import LAM, all_problems
from pegasos.problem import Problem, Rows
from pegasos.solvers import driver, partitioned_newton
from pegasos.solvers.partitioned import PartitionedProblem, PartitionsHere
from pegasos.solvers.partitioned_newton import PartitionedNewton

title = "Passes over partitions to a certified gap, at lam = 1e-5"


class Counted(PartitionsHere):
    """Partitions that record the requests."""

    def ask(self, question):
        self.kinds.append(type(question).__name__)
        return super().ask(question)


def partitions_of(X, y, n_partitions):
    whole = Problem.plain(Rows.of(X, 1.0), y.astype(np.int8), LAM)
    ends = np.linspace(0, X.shape[0], n_partitions + 1).astype(int)
    cuts = [slice(ends[k], ends[k + 1]) for k in range(n_partitions)]
    return [
        replace(whole, rows=Rows.of(X[c], 1.0), sign=whole.sign[c], cost=whole.cost[c], offset=whole.offset[c])
        for c in cuts
    ]


def run():
    """One row for each problem, number of partitions and tol."""
    partitioned_newton._ALWAYS_HERE, rows = 1, []
    for name, make in all_problems().items():
        X, y = make()
        for n_partitions in (2, 8):
            parts = Counted(partitions_of(X, y, n_partitions))
            for tol in (1e-3, 1e-6):
                object.__setattr__(parts, "kinds", [])
                problem = PartitionedProblem(parts, LAM, float(X.shape[0]), 1.0)
                solution = driver.run(problem, PartitionedNewton(tol), driver.Stop(tol, 1000, None))
                rows.append(
                    {
                        "problem": name,
                        "shape": f"{X.shape[0]} x {X.shape[1]}",
                        "partitions": n_partitions,
                        "tol": tol,
                        "passes": len(parts.kinds),
                        "products": parts.kinds.count("Bend"),
                        "gathered": parts.kinds.count("Gather"),
                        "gap": f"{solution.certificate.relative_gap:.1e}",
                    }
                )
    return rows
