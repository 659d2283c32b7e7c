"""Scores of all rows: `decision_function` beside numpy's and scipy's product and LinearSVC, best of many.

    python -m benchmarks.prediction

The product is `X @ w` with weights of the type of X: no checks, no intercept, single precision. Ours checks the rows
and sums in double, in one pass, on one thread and on two.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks import problems
from pegasos import PegasosClassifier

_result = Path(__file__).parent / "results" / "prediction.json"
_TURNS, _TRAINING_ROWS = 9, 20_000


def main() -> None:
    """Measure, print, keep."""
    rows = []
    for name in problems.names():
        rows.append(_measured(problems.load(name)))
        print(rows[-1], flush=True)
        _result.write_text(json.dumps(rows, indent=1) + "\n")


def _measured(problem: problems.Problem) -> dict[str, object]:
    X, y = problem.X, problem.y
    some = np.random.default_rng(0).choice(len(y), min(len(y), _TRAINING_ROWS), replace=False)
    one, two = (PegasosClassifier(1e-3, tol=0.1, n_jobs=jobs, random_state=0).fit(X[some], y[some]) for jobs in (1, 2))
    rival = LinearSVC(C=1e-3, max_iter=10_000).fit(X[some], y[some])
    weights = one.coef_[0].astype(X.dtype)
    takes: dict[str, Callable[[], object]] = {
        "pegasos": lambda: one.decision_function(X),
        "pegasos, 2 threads": lambda: two.decision_function(X),
        "X @ w": lambda: X @ weights,
        "LinearSVC": lambda: rival.decision_function(X),
    }
    best = dict.fromkeys(takes, np.inf)
    for _ in range(_TURNS):
        for name, take in takes.items():
            start = time.perf_counter()
            take()
            best[name] = min(best[name], time.perf_counter() - start)
    return {"problem": problem.name, **{name: round(1e3 * seconds, 3) for name, seconds in best.items()}, "unit": "ms"}


if __name__ == "__main__":
    main()
