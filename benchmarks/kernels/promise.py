"""The promise with kernels: how many fits end with their proof within 20 s, and within their budget.

    python -m benchmarks.kernels.promise [--quick] [names ...]

Binary problems of `benchmarks.collection`, at most 2,500 rows, standardized, RBF with gamma 0.1, 1 and 10 over the
number of features, C from 0.1 to 1e7, tol 1e-3 and 1e-6, float32 and float64, free and regularized intercept. Beside
it the gap that LIBSVM reaches with its default tolerance, measured by `objective.py`. Every fit is one line of
`results/kernel_promise.jsonl`; a run leaves out fits that the file has, and ends with the table of all.
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
_HEAD = "| C | fits | certified | longest, s | LIBSVM within 1e-3 | its largest gap |\n"


def main() -> None:
    """Fit, print what is open or late, and the shares at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets; by default all at hand")
    parser.add_argument("--quick", action="store_true", help="three values of C, one tol, float64")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {_key(one) for one in _stored()}
    for name in arguments.names or collection.names():
        problem = next(iter(collection.load(name)))  # its other units are the same once standardized
        if problem.X.shape[1] > _FEATURES:
            continue
        for one in _fits(problem, done, quick=arguments.quick):
            with _RESULT.open("a") as file:
                file.write(json.dumps(one) + "\n")
            if one["gap"] > one["tol"] or one["seconds"] > _SECONDS + _ROOM:
                print(one, flush=True)
    print(summary(), table(), sep="\n\n")


def summary() -> str:
    """How many fits were certified and how many were late."""
    fits = _stored()
    kept = sum(one["gap"] <= one["tol"] for one in fits)
    late = sum(one["seconds"] > _SECONDS + _ROOM for one in fits)
    sets = len({one["problem"] for one in fits})
    ended = f"{kept:,} ended certified within {_SECONDS:g} s, and {late} ended late."
    return f"Of {len(fits):,} fits on {sets} data sets, {ended}"


def table() -> str:
    """One line for each C, and LIBSVM beside it; each of its fits counts once."""
    lines = [_HEAD, "| --- " * 6 + "|\n"]
    for C in sorted({one["C"] for one in _stored()}):
        fits = [one for one in _stored() if one["C"] == C]
        theirs = list({(one["problem"], one["width"]): one["libsvm_gap"] for one in fits}.values())
        kept = sum(one["gap"] <= one["tol"] for one in fits)
        longest, reached = max(one["seconds"] for one in fits), sum(gap <= 1e-3 for gap in theirs)
        lines.append(
            f"| {C:g} | {len(fits)} | {kept} | {longest:.1f} | {reached} of {len(theirs)} | {max(theirs):.1g} |\n"
        )
    return "".join(lines)


def _stored() -> list[dict]:
    return [json.loads(line) for line in _RESULT.read_text().splitlines()] if _RESULT.exists() else []


def _key(one: dict) -> tuple:
    return tuple(one[name] for name in ("problem", "width", "C", "tol", "type", "is_free"))


def _fits(problem: collection.Binary, done: set[tuple], *, quick: bool) -> Iterator[dict]:
    chosen = np.random.default_rng(0).permutation(problem.X.shape[0])[:_ROWS]
    rows = problem.X[chosen]
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    spread = rows.std(axis=0)
    rows, y = (rows - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), problem.y[chosen]
    if len(np.unique(y)) < 2:
        return
    costs, tols, types = ((1.0, 1e3, 1e6), (1e-3,), _TYPES[:1]) if quick else (_COSTS, _TOLS, _TYPES)
    for width, C in product(_WIDTHS, costs):
        gamma = width / rows.shape[1]
        settings = [
            (tol, dtype, is_free)
            for tol, dtype, is_free in product(tols, types, (True, False))
            if (problem.name, width, C, tol, np.dtype(dtype).name, is_free) not in done
        ]
        theirs = _libsvm(rows, y, gamma, C) if settings else 0.0
        for tol, dtype, is_free in settings:
            given = {"C": C, "gamma": gamma, "tol": tol, "time_budget": _SECONDS, "random_state": 0}
            begun = time.perf_counter()
            model = KernelPegasosClassifier(regularize_intercept=not is_free, **given).fit(rows.astype(dtype), y)
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
