"""What a fit of pegasos takes of the machine: passes over the rows, share of the memory's bandwidth, memory of its own.

The bandwidth is that of two threads that read an array too large for any cache. The share says how near a fit is to
what the memory allows, were every pass to read all rows from there; data that fit into a cache may exceed it.
"""

import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.sparse as sp

from benchmarks.problems import Problem
from benchmarks.rivals import pegasos_


@dataclass(frozen=True)
class Usage:
    """Passes over the rows, share of the bandwidth, and the peak of memory beyond the data, in bytes per row."""

    passes: float
    bandwidth_share: float
    bytes_a_row: float


def usage_of(problem: Problem, lam: float, target: float, seconds: float) -> Usage:
    """The usage of one more fit, which is not timed."""
    tracemalloc.start()
    model = pegasos_.solve(problem, lam, "auto", target)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    passes = float(model.trace_["epoch"][-1]) + 3.0  # one to check the rows, two for the certificate
    read = passes * _size(problem) / seconds
    return Usage(passes, read / _bandwidth(), peak / len(problem.y))


def _size(problem: Problem) -> int:
    """Bytes of the rows."""
    rows = problem.X
    return rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes if sp.issparse(rows) else rows.nbytes


@cache
def _bandwidth() -> float:
    """Bytes a second."""
    halves = np.array_split(np.ones(50_000_000), 2)
    with ThreadPoolExecutor(2) as pool:

        def read() -> float:
            start = time.perf_counter()
            list(pool.map(np.max, halves))
            return time.perf_counter() - start

        return sum(half.nbytes for half in halves) / min(read() for _ in range(5))
