"""The grid of the kernel benchmark: sizes x features x classes x C, LIBSVM's objective and its defaults.

Every machine solves the same problems: RBF kernel, one against one, free intercept, rows in float64. A rival runs with
its own default tolerance (1e-3), and the gap that it reached is measured (`objective.py`); pegasos is then asked for
that gap, relative to the objective of each pair. The best of several runs counts, except for those of more than `_LONG`
seconds, which are not repeated. Times are processor times, summed over all threads: what else the computer does changes
them little. LIBSVM has one thread, pegasos and scikit-learn-intelex have two. A cell is run and kept on its own:

    python -m benchmarks.kernels.run --grid [--cells few2,tens10] [--sizes 200,1000] [--costs 1,10]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.kernels.objective import gap, one_against_one
from benchmarks.kernels.problems import open_data
from pegasos import KernelPegasosClassifier

SIZES = (200, 1_000, 3_000, 10_000, 30_000)
COSTS = (1.0, 10.0, 100.0, 1_000.0)
_LONG = 2.0  # seconds
_CACHE = 1000  # MB


@dataclass(frozen=True)
class Cell:
    """A kind of table: where its rows come from, and how they are scaled."""

    data: str
    labels: Callable[[np.ndarray], np.ndarray]
    is_table: bool  # columns are standardized; pixels are divided by 255

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Random rows; None where there are not that many."""
        with open_data(self.data) as archive:
            labels = self.labels(np.asarray(archive["y"]))
            known = np.flatnonzero(labels >= 0)
            if len(known) < n:
                return None
            chosen = known[np.random.default_rng(0).permutation(len(known))[:n]]
            rows = np.asarray(archive["X"], np.float32)[chosen].astype(np.float64)
        if not self.is_table:
            return rows / max(1.0, float(rows.max())), labels[chosen]
        spread = rows.std(axis=0)
        return (rows - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), labels[chosen]


def _first_ten(y: np.ndarray) -> np.ndarray:
    values, codes = np.unique(y, return_inverse=True)
    return np.where(codes < min(10, len(values)), codes, -1)


CELLS = {
    "few2": Cell("magic04", lambda y: (y == y.max()).astype(int), is_table=True),
    "tens2": Cell("covtype", lambda y: (y == 2).astype(int), is_table=True),
    "hundreds2": Cell("mnist", lambda y: y.astype(int) % 2, is_table=False),
    "few10": Cell("letter", _first_ten, is_table=True),
    "tens10": Cell("ocr_letters", _first_ten, is_table=False),
    "hundreds10": Cell("mnist", _first_ten, is_table=False),
}


def measure(name: str, n: int, C: float, repeat: int, limit: float) -> dict[str, Any] | None:
    """One row of the table; None where the data set has fewer rows."""
    found = CELLS[name].rows(n)
    if found is None:
        return None
    X, y = found
    gamma = 1.0 / (X.shape[1] * (1.0 if CELLS[name].is_table else float(X.var())))
    row: dict[str, Any] = {
        "problem": name,
        "data": CELLS[name].data,
        "n_rows": n,
        "n_features": X.shape[1],
        "n_classes": len(np.unique(y)),
        "C": C,
        "rivals": {},
    }
    for rival, make in _rivals():
        theirs, model = _best(lambda make=make: make(C, gamma).fit(X, y), repeat)
        reached = gap(X, gamma, C, one_against_one(model, y))
        tol = float(np.clip(reached.relative, 1e-9, 0.5))
        ours, own = _best(lambda tol=tol: _pegasos(C, gamma, tol, limit).fit(X, y), repeat)
        certificate = own.certificate_
        row["rivals"][rival] = {
            "seconds": theirs,
            "gap": reached.relative,
            "pegasos_seconds": ours,
            "pegasos_gap": certificate.gap / certificate.primal,
            "is_certified": bool(certificate.relative_gap <= tol),
        }
    return row


def _rivals() -> Iterable[tuple[str, Callable[[float, float], Any]]]:
    yield "LIBSVM", lambda C, gamma: SVC(C=C, gamma=gamma, cache_size=_CACHE)
    try:
        import sklearnex.svm
    except ImportError:
        return
    yield "scikit-learn-intelex", lambda C, gamma: sklearnex.svm.SVC(C=C, gamma=gamma, cache_size=_CACHE)


def _pegasos(C: float, gamma: float, tol: float, limit: float) -> KernelPegasosClassifier:
    parameters = {"C": C, "gamma": gamma, "tol": tol, "cache_size": _CACHE, "time_budget": limit, "random_state": 0}
    return KernelPegasosClassifier(multi_class="ovo", regularize_intercept=False, n_jobs=2, **parameters)


def _best(fit: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    best, model = np.inf, None
    for _ in range(repeat):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.process_time()
            model = fit()
            best = min(best, time.process_time() - begun)
        if best > _LONG:
            break
    return best, model


def render(rows: list[dict[str, Any]]) -> str:
    """The table, and the geometric means of the ratios."""
    names = list(dict.fromkeys(name for row in rows for name in row["rivals"]))
    head = ["rows x features, classes", "C"]
    for name in names:
        head += [f"{name} ms", "its gap", "pegasos ms", "ratio"]
    lines, ratios = [], {name: [] for name in names}
    for row in sorted(rows, key=lambda row: (row["n_rows"], row["n_features"], row["n_classes"], row["C"])):
        line = [f"{row['n_rows']:,} x {row['n_features']}, {row['n_classes']}", f"{row['C']:g}"]
        for name in names:
            one = row["rivals"].get(name)
            if one is None:
                line += ["-"] * 4
                continue
            ratio = one["seconds"] / one["pegasos_seconds"]
            ratios[name].append(ratio)
            mark = "" if one["is_certified"] else " (not reached)"
            line += [f"{1e3 * one['seconds']:.3g}", f"{one['gap']:.0e}", f"{1e3 * one['pegasos_seconds']:.3g}{mark}"]
            line.append(f"{ratio:.2f}")
        lines.append(line)
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines))
    means = "; ".join(
        f"{name}: geometric mean {np.exp(np.mean(np.log(each))):.2f}, least {min(each):.2f}"
        for name, each in ratios.items()
        if each
    )
    return f"{table}\n\nProcessor time of the rival over that of pegasos. {means}."
