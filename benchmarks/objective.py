"""What every solver is judged by: the value of its solution, and the lowest value there is.

    P(w, b) = lam/2 (|w|^2 + b^2) + (1/n) sum_i max(0, 1 - y_i (<w, x_i> + b))

The intercept is the weight of a constant column of value 1 and is regularized with the others, for every rival. All
sums are in float64 by numpy and scipy, and nothing here calls the objective or the certificate of pegasos. The optimum
is replaced by a lower bound: the dual value, computed here, of a feasible point from a strict run. Any
feasible point bounds the optimum from below, so a bad point would make all solvers look worse, and none better.
"""

import json
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.problems import Problem
from benchmarks.rivals import pegasos_

_BLOCK = 65536  # rows; a float64 copy of all of them would not fit beside the copies of the rivals
_STRICT = 1e-5
_folder = Path(__file__).parent / ".cache"


def primal(problem: Problem, lam: float, weights: np.ndarray, intercept: float) -> float:
    """P(w, b)."""
    weights = np.asarray(weights, dtype=np.float64)
    loss = sum(np.maximum(0.0, 1.0 - signs * (rows @ weights + intercept)).sum() for rows, signs, _ in _blocks(problem))
    return float(lam / 2 * (weights @ weights + intercept**2) + loss / len(problem.y))


def dual(problem: Problem, lam: float, alpha: np.ndarray) -> float:
    """The bound D = mean(alpha) - lam/2 |w(alpha)|^2 that a point with 0 <= alpha <= 1 gives."""
    n = len(problem.y)
    alpha = np.clip(np.asarray(alpha, dtype=np.float64), 0.0, 1.0)
    pull = sum(rows.T @ (alpha[where] * signs) for rows, signs, where in _blocks(problem)) / (lam * n)
    pull_of_constant = (alpha @ problem.y) / (lam * n)
    return float(alpha.mean() - lam / 2 * (pull @ pull + pull_of_constant**2))


def optimum(problem: Problem, lam: float) -> float:
    """A lower bound of P within about 1e-5 of it, relatively; solved once and kept in `.cache`."""
    path = _folder / f"{problem.name}-{lam:g}-{_fingerprint(problem):08x}.json"
    if not path.exists():
        print(f"Solving {problem.name} at lam {lam:g} to a relative gap of {_STRICT:g}, once ...", flush=True)
        _folder.mkdir(exist_ok=True)
        path.write_text(json.dumps(_solve(problem, lam), indent=1))
    found = json.loads(path.read_text())
    gap = (found["primal"] - found["dual"]) / found["primal"]
    if gap > 10 * _STRICT:
        print(f"The optimum of {problem.name} at lam {lam:g} is known to {gap:.1e} only.")
    return found["dual"]


def _solve(problem: Problem, lam: float) -> dict[str, float]:
    model = pegasos_.solve(problem, lam, solver="auto", tol=_STRICT)
    value = primal(problem, lam, model.coef_[0], float(model.intercept_[0]))
    return {"primal": value, "dual": dual(problem, lam, np.ravel(model.alpha_))}


def _blocks(problem: Problem):
    """Rows in float64, their signs, and where they stand."""
    for start in range(0, len(problem.y), _BLOCK):
        where = slice(start, start + _BLOCK)
        yield problem.X[where].astype(np.float64), problem.y[where], where


def _fingerprint(problem: Problem) -> int:
    """Another number for other data under the same name."""
    parts = [problem.X.data, problem.X.indices, problem.X.indptr] if sp.issparse(problem.X) else [problem.X]
    checksum = zlib.crc32(np.ascontiguousarray(problem.y))
    for part in parts:
        checksum = zlib.crc32(np.ascontiguousarray(part), checksum)
    return checksum
