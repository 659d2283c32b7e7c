"""How soon a fit ends: after Ctrl-C, and with a time budget.

    python -m benchmarks.endings [names ...]

Every case is fitted with a SIGINT after one second, for the seconds from the signal to the end of ``fit``, and with
``time_budget=1``, for the seconds past it; a fit of less than three seconds is ended after a third of its time. A fit
that has no model yet raises KeyboardInterrupt, or an error that says so: that counts as its end. results/endings.json
has the worst of three runs each, and docs/reliability.md its table.
"""

import argparse
import contextlib
import json
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError, kernels
from pegasos.data import ArraySource

RESULT = Path(__file__).parent / "results" / "endings.json"
PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
_HEAD = "| fit | seconds from the signal | seconds past the budget |\n| --- | --- | --- |\n"
_DELAY = 1.0  # seconds until the signal, and the budget, at most
_RUNS = 3
Fit = Callable[[Any], Any]
Case = tuple[Any, Fit]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of cases; by default all")
    chosen = parser.parse_args().names
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    cases = {**_items(), **_tables()}
    for name, make in cases.items():
        if chosen and not any(part in name for part in chosen):
            continue
        model, fit = make()
        whole = 3.0 * _DELAY + _past_budget(model, fit, 3.0 * _DELAY)[0]
        delay = min(_DELAY, whole / 3.0)
        signals = max(_after_signal(model, fit, delay) for _ in range(_RUNS))
        over, kind = max(_past_budget(model, fit, delay) for _ in range(_RUNS))
        found[name] = {"signal": signals, "over": over, "end": kind, "after": delay}
        print(f"{name}: {signals:.2f} s after the signal, {over:+.2f} s past {delay:.2f} s, {kind}", flush=True)
        RESULT.write_text(json.dumps({name: found[name] for name in cases if name in found}, indent=1) + "\n")
    before, _, after = PAGE.read_text(encoding="utf8").partition(_HEAD)
    PAGE.write_text(before + table() + "\n" + after.partition("\n\n")[2], encoding="utf8")


def table() -> str:
    """The results as they stand in the page."""
    found = json.loads(RESULT.read_text())
    ends = {"a model": "", "an error": ", an error"}
    lines = [
        f"| {name} | {one['signal']:.2f} | {max(0.0, one['over']):.2f}{ends[one['end']]} |\n"
        for name, one in found.items()
    ]
    return _HEAD + "".join(lines)


def _after_signal(model: Any, fit: Fit, delay: float) -> float:
    fired: list[float] = []

    def fire() -> None:
        time.sleep(delay)
        fired.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=fire)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(model)
    except KeyboardInterrupt:
        pass
    ended = time.perf_counter()
    with contextlib.suppress(KeyboardInterrupt):  # of a fit that was over before
        thread.join()
    return max(0.0, ended - fired[0])


def _past_budget(model: Any, fit: Fit, budget: float) -> tuple[float, str]:
    before = model.get_params()["time_budget"]
    model = model.set_params(time_budget=budget)
    begun, kind = time.perf_counter(), "a model"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(model)
    except PegasosError:
        kind = "an error"
    finally:
        model.set_params(time_budget=before)
    return time.perf_counter() - begun - budget, kind


def _items() -> dict[str, Callable[[], Case]]:
    random = np.random.default_rng(0)

    def strings(n: int, length: int) -> list[str]:
        return ["".join(random.choice(list("ACGT"), length)) for _ in range(n)]

    def graph(n: int) -> tuple[np.ndarray, list[str]]:
        places, matrix = np.arange(n), np.zeros((n, n))
        for step in (1, 7):
            matrix[places, (places + step) % n] = matrix[(places + step) % n, places] = 1
        return matrix, list(random.integers(0, 2, n).astype(str))

    def case(kernel: Any, items: list) -> Case:
        labels = np.arange(len(items)) % 2
        model = KernelPegasosClassifier(kernel, lam=1e-6, tol=1e-9, random_state=0)
        return model, lambda m: m.fit(items, labels)

    return {
        "`GlobalAlignment(1.0)`, 400 series of 300 points": lambda: case(
            kernels.GlobalAlignment(1.0), [random.normal(size=300) for _ in range(400)]
        ),
        "`Subsequence(3)`, 60 strings of 3,000 letters": lambda: case(kernels.Subsequence(3), strings(60, 3000)),
        "`Subsequence(2)`, 4 strings of 100,000 letters": lambda: case(kernels.Subsequence(2), strings(4, 100_000)),
        "`Mismatch(6, 2)`, 60 strings of 3,000 letters": lambda: case(kernels.Mismatch(6, 2), strings(60, 3000)),
        "`RandomWalk(0.01)`, 30 graphs of 1,500 nodes": lambda: case(
            kernels.RandomWalk(0.01), [graph(1500) for _ in range(30)]
        ),
        "`ShortestPath()`, 100 graphs of 1,500 nodes": lambda: case(
            kernels.ShortestPath(), [graph(1500) for _ in range(100)]
        ),
    }


def _tables() -> dict[str, Callable[[], Case]]:
    def rows(n: int, d: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(1)
        X = random.normal(size=(n, d)).astype(np.float32)
        return X, random.integers(0, classes, n)

    def case(model: Any, X: Any, y: Any = None) -> Case:
        return model, (lambda m: m.fit(X)) if y is None else (lambda m: m.fit(X, y))

    linear = {"lam": 1e-6, "tol": 1e-12, "random_state": 0}
    kernel = {"C": 1e5, "tol": 1e-9, "random_state": 0}

    def slow(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(-1))

    def of_text(model: Any) -> Case:
        random, n, words = np.random.default_rng(2), 60_000, 50
        places = random.integers(0, 50_000, n * words)
        X = sp.csr_matrix((np.ones(n * words, np.float32), places, np.arange(n + 1) * words), (n, 50_000))
        X.sum_duplicates()
        return case(model, X, random.integers(0, 2, n))

    def targets(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
        X, _ = rows(n, d)
        return X, np.random.default_rng(3).normal(size=n)

    def streamed(model: Any) -> Case:
        X, y = rows(60_000, 600)
        return model, lambda m: m.fit_source(ArraySource(X, y, block_rows=4096))

    return {
        "linear, 60,000 x 600": lambda: case(PegasosClassifier(**linear), *rows(60_000, 600)),
        "linear, free intercept, 60,000 x 600": lambda: case(
            PegasosClassifier(regularize_intercept=False, **linear), *rows(60_000, 600)
        ),
        "linear, sparse 60,000 x 50,000": lambda: of_text(PegasosClassifier(**linear)),
        "one-vs-rest, five classes, 30,000 x 600": lambda: case(PegasosClassifier(**linear), *rows(30_000, 600, 5)),
        "one-vs-one, five classes, 30,000 x 600": lambda: case(
            PegasosClassifier(multi_class="ovo", **linear), *rows(30_000, 600, 5)
        ),
        "Crammer-Singer, five classes, 30,000 x 600": lambda: case(
            PegasosClassifier(multi_class="crammer_singer", **linear), *rows(30_000, 600, 5)
        ),
        "`probability=True`, 30,000 x 600": lambda: case(
            PegasosClassifier(probability=True, **linear), *rows(30_000, 600)
        ),
        "`fit_source`, 60,000 x 600": lambda: streamed(PegasosClassifier(**linear)),
        "regression, 60,000 x 600": lambda: case(pegasos.PegasosRegressor(**linear), *targets(60_000, 600)),
        "one class, 60,000 x 600": lambda: case(
            pegasos.PegasosOneClass(nu=0.1, tol=1e-12, random_state=0), rows(60_000, 600)[0]
        ),
        "RBF, 5,000 x 20": lambda: case(KernelPegasosClassifier(**kernel), *rows(5000, 20)),
        "RBF, 30,000 x 20": lambda: case(KernelPegasosClassifier(**kernel), *rows(30_000, 20)),
        "RBF, 100,000 x 20": lambda: case(KernelPegasosClassifier(**kernel), *rows(100_000, 20)),
        "RBF, one-vs-one, ten classes, 10,000 x 20": lambda: case(
            KernelPegasosClassifier(multi_class="ovo", **kernel), *rows(10_000, 20, 10)
        ),
        "RBF, free intercept, 10,000 x 20": lambda: case(
            KernelPegasosClassifier(regularize_intercept=False, **kernel), *rows(10_000, 20)
        ),
        "RBF regression, 10,000 x 20": lambda: case(pegasos.KernelPegasosRegressor(**kernel), *targets(10_000, 20)),
        "RBF one class, 20,000 x 20": lambda: case(
            pegasos.KernelPegasosOneClass(nu=0.5, tol=1e-9, random_state=0), rows(20_000, 20)[0]
        ),
        "a kernel in Python, 4,000 x 20": lambda: case(KernelPegasosClassifier(slow, **kernel), *rows(4000, 20)),
        "`AutoPegasos`, 5,000 x 20, 100 classes": lambda: case(
            pegasos.AutoPegasos(60.0, random_state=0), *rows(5000, 20, 100)
        ),
    }


if __name__ == "__main__":
    main()
