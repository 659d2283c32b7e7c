"""The promise with kernels: how many fits end with their proof within 20 s, and within their budget.

    python -m benchmarks.kernels.promise [--quick] [names ...]

Binary problems of `benchmarks.collection`, at most 2,500 rows, standardized, RBF with gamma 0.1, 1 and 10 over the
number of features, C from 0.1 to 1e7, tol 1e-3 and 1e-6, float32 and float64, free and regularized intercept. Beside
it the gap that LIBSVM reaches with its default tolerance, measured by `objective.py`. Every fit is one line of
`results/kernel_promise.jsonl`, so that a run can be taken up again.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from benchmarks import collection
from benchmarks.kernels.objective import gap, one_against_one
from pegasos import KernelPegasosClassifier

_RESULT = Path(__file__).parent.parent / "results" / "kernel_promise.jsonl"
_ROWS, _FEATURES, _SECONDS, _ROOM = 2_500, 2_000, 20.0, 0.3
_WIDTHS, _COSTS, _TOLS = (0.1, 1.0, 10.0), tuple(10.0**k for k in range(-1, 8)), (1e-3, 1e-6)
_TYPES = (np.float64, np.float32)


def main() -> None:
    """Fit, print what is open or late, and the shares at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets; by default all at hand")
    parser.add_argument("--quick", action="store_true", help="three values of C, one tol, float64")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    for name in arguments.names or collection.names():
        problem = next(iter(collection.load(name)))  # its other units are the same once standardized
        if problem.X.shape[1] > _FEATURES:
            continue
        for one in _fits(problem, quick=arguments.quick):
            results.append(one)
            with _RESULT.open("a") as file:
                file.write(json.dumps(one) + "\n")
            if one["gap"] > one["tol"] or one["seconds"] > _SECONDS + _ROOM:
                print(one, flush=True)
    kept = [one["gap"] <= one["tol"] for one in results]
    late = [one["seconds"] > _SECONDS + _ROOM for one in results]
    print(f"{len(results)} fits: {sum(kept)} certified, {sum(late)} later than their budget by more than {_ROOM} s")


def _fits(problem: collection.Binary, *, quick: bool) -> Iterator[dict]:
    chosen = np.random.default_rng(0).permutation(problem.X.shape[0])[:_ROWS]
    rows = problem.X[chosen]
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    spread = rows.std(axis=0)
    rows, y = (rows - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), problem.y[chosen]
    if len(np.unique(y)) < 2:
        return
    costs, tols, types = ((1.0, 1e3, 1e6), (1e-3,), _TYPES[:1]) if quick else (_COSTS, _TOLS, _TYPES)
    for width, C in product(_WIDTHS, costs):
        gamma, theirs = width / rows.shape[1], _libsvm(rows, y, width / rows.shape[1], C)
        for tol, dtype, is_free in product(tols, types, (True, False)):
            settings = {"C": C, "gamma": gamma, "tol": tol, "time_budget": _SECONDS, "random_state": 0}
            begun = time.perf_counter()
            model = KernelPegasosClassifier(regularize_intercept=not is_free, **settings).fit(rows.astype(dtype), y)
            yield {
                "problem": problem.name,
                "n_rows": len(rows),
                "n_features": rows.shape[1],
                "width": width,
                "C": C,
                "tol": tol,
                "type": np.dtype(dtype).name,
                "is_free": is_free,
                "seconds": time.perf_counter() - begun,
                "gap": model.certificate_.relative_gap,
                "libsvm_gap": theirs,
            }


def _libsvm(rows: np.ndarray, y: np.ndarray, gamma: float, C: float) -> float:
    model = SVC(C=C, gamma=gamma, max_iter=1_000_000).fit(rows, y)
    return gap(rows, gamma, C, one_against_one(model, y)).relative


if __name__ == "__main__":
    main()
