"""All of fashion_mnist, 60,000 rows and ten classes, in a fresh process: time, certificate and peak memory.

The peak is that of the whole process, rows and libraries included, as `getrusage` tells it before the gap is measured
once more from outside.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

gamma = 0.02
_BAR = 2048  # MB


def measure(C: float, n_rows: int | None) -> dict[str, Any]:
    """Fit in a process of its own, whose progress is printed here."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        command = [sys.executable, "-m", "benchmarks.kernels.whole", str(path), repr(C), str(n_rows or 0)]
        subprocess.run(command, check=True)
        return json.loads(path.read_text())


def render(found: dict[str, Any]) -> str:
    """In a few lines."""
    fits = "within" if found["peak_megabytes"] < _BAR else "ABOVE"
    return (
        f"{found['problem']}, {found['n_rows']:,} x {found['n_features']}, {found['n_classes']} classes, gamma "
        f"{found['gamma']:g}, C {found['C']:g}: {found['seconds']:.1f} s. {found['status']}\n"
        f"relative gap {found['certified_gap']:.2e} certified, {found['gap']:.2e} measured (largest "
        f"{found['largest_gap']:.2e}); {found['n_support']:,} support vectors; test accuracy {found['accuracy']:.4f}\n"
        f"peak {found['peak_megabytes']:,.0f} MB ({found['before_megabytes']:,.0f} before the fit), {fits} {_BAR:,} MB"
    )


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2.0**20


def _run(C: float, n_rows: int | None) -> dict[str, Any]:
    from benchmarks.kernels.objective import gap, one_against_rest
    from benchmarks.kernels.problems import whole_fashion
    from pegasos import KernelPegasosClassifier

    X, y, X_test, y_test = whole_fashion()
    X, y, X_test, y_test = X[:n_rows], y[:n_rows], X_test[:n_rows], y_test[:n_rows]
    before = _peak()
    model = KernelPegasosClassifier(C=C, gamma=gamma, tol=1e-3, cache_size=1000, n_jobs=2, random_state=0, verbose=1)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    peak = _peak()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    measured = gap(X, gamma, C, one_against_rest(model, y))
    return {
        "problem": "fashion_mnist",
        "n_rows": len(y),
        "n_features": X.shape[1],
        "n_classes": len(model.classes_),
        "gamma": gamma,
        "C": C,
        "seconds": seconds,
        "status": model.status_,
        "certified_gap": model.certificate_.relative_gap,
        "gap": measured.relative,
        "largest_gap": measured.largest,
        "n_support": len(model.support_),
        "accuracy": accuracy,
        "before_megabytes": before,
        "peak_megabytes": peak,
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(_run(float(sys.argv[2]), int(sys.argv[3]) or None)))
