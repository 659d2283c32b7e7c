"""Covtype with the exact RBF kernel: what is proved, and how well it predicts, after given seconds.

    python -m benchmarks.kernels.large [--rows 100000] [--budgets 60,180] [--gamma 0.3] [--cost 10]

Class 2 against the rest, columns standardized by the training rows, free intercept, two threads; 20,000 other rows are
predicted. Each budget is a fit in a process of its own, whose peak memory is told. The gap is the certificate of the
fit, computed from the kernel in double; of a fit that takes longer, the gaps proved after 1, 10 and 30 minutes are told
too.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.kernels import tables
from benchmarks.kernels.problems import open_data

_TEST_ROWS = 20_000
_ON_THE_WAY = 60, 600, 1800  # seconds


def main() -> None:
    """Measure each budget, keep the results and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.large", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000, help="training rows; 0: all but the test rows")
    parser.add_argument("--budgets", default="60,180", help="seconds, with commas")
    parser.add_argument("--gamma", type=float, default=0.3)
    parser.add_argument("--cost", type=float, default=10.0, help="C")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        arguments.one.write_text(json.dumps(_measure(arguments, float(arguments.budgets))))
        return
    results = tables.Results("kernel_large", {}, None)
    for budget in arguments.budgets.split(","):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "found.json"
            given = ["--rows", str(arguments.rows), "--gamma", repr(arguments.gamma), "--cost", repr(arguments.cost)]
            command = [sys.executable, "-m", "benchmarks.kernels.large", *given, "--tol", repr(arguments.tol)]
            subprocess.run([*command, "--budgets", budget, "--one", str(path)], check=True)
            results.add(json.loads(path.read_text()))
        print(render(results.rows[-1:]).splitlines()[2], flush=True)
    print(f"\n{render(results.rows)}\n")


def render(rows: list[dict[str, Any]]) -> str:
    """One line per fit."""
    head = ["rows", "gamma", "C", "budget s", "took s", "processor s", "on the way", "gap", "accuracy", "support", "MB"]
    lines = [
        [
            f"{row['n_rows']:,}",
            f"{row['gamma']:g}",
            f"{row['C']:g}",
            f"{row['budget']:g}",
            f"{row['seconds']:.1f}",
            f"{row['processor_seconds']:.0f}",
            ", ".join(f"{gap:.1e} after {seconds} s" for seconds, gap in row.get("on_the_way", {}).items()),
            f"{row['gap']:.1e}",
            f"{row['accuracy']:.4f}",
            f"{row['n_support']:,}",
            f"{row['peak_megabytes']:,.0f}",
        ]
        for row in sorted(rows, key=lambda row: (row["n_rows"], row["gamma"], row["C"], row["budget"]))
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines))


def _measure(arguments: argparse.Namespace, budget: float) -> dict[str, Any]:
    from pegasos import KernelPegasosClassifier

    X, y, X_test, y_test = _rows(arguments.rows)
    settings = {"C": arguments.cost, "gamma": arguments.gamma, "tol": arguments.tol, "time_budget": budget}
    model = KernelPegasosClassifier(regularize_intercept=False, n_jobs=2, random_state=0, **settings)
    begun, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds, processor = time.perf_counter() - begun, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2.0**20
    return {
        "problem": f"covtype, {len(y)} rows, gamma {arguments.gamma:g}, {budget:g} s",
        "n_rows": len(y),
        "n_features": X.shape[1],
        "gamma": arguments.gamma,
        "C": arguments.cost,
        "budget": budget,
        "seconds": seconds,
        "processor_seconds": processor,
        "status": model.status_,
        "on_the_way": _on_the_way(dict(model.trace_), seconds),
        "gap": model.certificate_.relative_gap,
        "accuracy": model.score(X_test, y_test),
        "n_support": len(model.support_),
        "peak_megabytes": peak,
    }


def _on_the_way(trace: dict[str, np.ndarray], seconds: float) -> dict[int, float]:
    """The smallest relative gap that was proved by then, for each of the times before the end."""
    gaps = 1.0 - trace["dual"] / trace["primal"]
    return {t: float(min(gaps[trace["seconds"] <= t], default=1.0)) for t in _ON_THE_WAY if t < seconds}


def _rows(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    with open_data("covtype") as archive:
        X, y = np.asarray(archive["X"], np.float64), (np.asarray(archive["y"]) == 2).astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    test, train = order[-_TEST_ROWS:], order[:-_TEST_ROWS][: n_rows or None]
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    X = (X - mean) / np.where(spread > 0.0, spread, 1.0)
    return X[train], y[train], X[test], y[test]


if __name__ == "__main__":
    main()
