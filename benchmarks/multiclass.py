"""Several classes, one against the rest: time until the sum of the objectives is within a gap of its optimum.

    python -m benchmarks.multiclass [--problems letter,usps] [--patience 20] [--limit 60]

A rival is called once for each class, its conversions not timed. Ladders and limits are those of `benchmarks.run`: the
search for a setting ends when one run takes `patience` times ours, but at least 1 s and at most `limit` seconds, or all
of them half as long again. Results of other problems that were measured before are kept.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import Rule
from benchmarks.problems import Matrix, Problem, pixels, read, rows_of, scaled
from benchmarks.rivals import Solver, installed
from pegasos import PegasosClassifier

RESULT = Path(__file__).parent / "results" / "multiclass.json"
_TARGETS = (1e-2, 1e-3)
_LADDER = 1.5  # times the limit of one run that all runs of a ladder may take
_SHORT = 0.5  # seconds up to which runs are repeated
_LEFT_OUT = ("Vowpal Wabbit", "skglm", "SGD", "SGD averaged")  # far behind on two classes
Labelled = tuple[Matrix, np.ndarray]


def _bundled(load: Callable[..., Labelled]) -> Labelled:
    rows, labels = load(return_X_y=True)
    return StandardScaler().fit_transform(rows).astype(np.float32), labels


def _table(name: str) -> Labelled:
    arrays = read(name)
    return scaled(rows_of(arrays)), arrays["y"]


def _word_counts(name: str) -> Labelled:
    arrays = read(name)
    return _tfidf(rows_of(arrays)), arrays["y"]


def _topics(name: str) -> Labelled:
    """The documents with one topic, among the ten most frequent of these."""
    arrays = read(name)
    starts, topics = arrays["Y_indptr"], arrays["Y_indices"]
    alone = np.flatnonzero(np.diff(starts) == 1)
    labels = topics[starts[alone]]
    frequent = np.argsort(-np.bincount(labels), kind="stable")[:10]
    kept = np.isin(labels, frequent)
    return _tfidf(rows_of(arrays)[alone[kept]]), labels[kept]


def _text_of_classes(n_classes: int, n_rows: int = 20_000, n_columns: int = 30_000, n_words: int = 60) -> Labelled:
    """Rows of words, word k as often as 1/k says; a third of them comes from a list that the class has to itself."""
    rng = np.random.default_rng(3)
    share = np.cumsum(1.0 / np.arange(1, n_columns + 1))
    labels = rng.integers(n_classes, size=n_rows)
    columns = np.searchsorted(share, share[-1] * rng.random((n_rows, n_words)))
    own = rng.integers(n_columns, size=(n_classes, 200))[labels[:, None], rng.integers(200, size=(n_rows, n_words))]
    columns = np.where(rng.random((n_rows, n_words)) < 1 / 3, own, np.minimum(columns, n_columns - 1))
    starts = np.arange(0, columns.size + 1, n_words)
    counts = sp.csr_matrix((np.ones(columns.size, np.float32), columns.ravel(), starts), shape=(n_rows, n_columns))
    counts.sum_duplicates()
    return _tfidf(counts), labels


def _tfidf(counts: Matrix) -> Matrix:
    return sp.csr_matrix(TfidfTransformer().fit_transform(counts), dtype=np.float32)


PROBLEMS: dict[str, tuple[Callable[[], Labelled], tuple[float, ...]]] = {
    "iris": (lambda: _bundled(datasets.load_iris), (1e-2, 1e-3)),
    "wine": (lambda: _bundled(datasets.load_wine), (1e-2, 1e-3)),
    "digits": (lambda: _bundled(datasets.load_digits), (1e-3, 1e-4)),
    "letter": (lambda: _table("letter"), (1e-4, 1e-5)),
    "satimage": (lambda: _table("satimage"), (1e-4, 1e-5)),
    "usps": (lambda: _table("usps"), (1e-4, 1e-5)),
    "trec6": (lambda: _word_counts("trec6"), (1e-4, 1e-5)),
    "reuters21578": (lambda: _topics("reuters21578"), (1e-4, 1e-5)),
    "text, 20 classes": (lambda: _text_of_classes(20), (1e-4, 1e-5)),
    "text, 200 classes": (lambda: _text_of_classes(200), (1e-4,)),
    "mnist": (lambda: pixels("mnist"), (1e-4,)),
    "fashion_mnist": (lambda: pixels("fashion_mnist"), (1e-4,)),
}


def main() -> None:
    """Measure and print; results of other problems are kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.multiclass", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--patience", type=float, default=20.0, help="times ours that a run of a rival may take")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a run of a rival may take at most")
    options = parser.parse_args()
    rule = Rule(1, options.limit, options.patience)
    rows = json.loads(RESULT.read_text())["rows"] if RESULT.exists() else []
    for name in options.problems:
        load, lams = PROBLEMS[name]
        X, y = load()
        rows = [row for row in rows if row["problem"] != name]
        for lam in lams:
            rows += _compared(name, X, y, lam=lam, rule=rule)
            print(*rows[-len(_TARGETS) :], sep="\n", flush=True)
            content = {"patience": rule.patience, "limit": rule.limit, "rows": rows}
            RESULT.write_text(json.dumps(content, indent=1) + "\n")


def _compared(name: str, X: Matrix, y: np.ndarray, *, lam: float, rule: Rule) -> list[dict[str, Any]]:
    """A row for each target."""
    classes = np.unique(y)
    best = PegasosClassifier(lam, tol=1e-5, max_iter=100_000, n_jobs=2, random_state=0).fit(X, y).certificate_.dual
    ours = {target: _ours(X, y, lam, target, best) for target in _TARGETS}
    size = _size(X, classes)
    rows: list[dict[str, Any]] = [
        {"problem": name, "size": size, "lam": lam, "target": target, "pegasos": ours[target], "rivals": {}}
        for target in _TARGETS
    ]
    problems = [Problem(f"{name}-{c}", X, np.where(y == c, 1, -1).astype(np.int32)) for c in classes]
    for solver in installed():
        if solver.name == "pegasos" or solver.name in _LEFT_OUT:
            continue
        ladder = _Ladder(solver, problems, lam)
        for row in rows:
            target = row["target"]
            row["rivals"][solver.name] = ladder.climb(target, best, rule.limit_beside(ours[target]))
    return rows


def _size(X: Matrix, classes: np.ndarray) -> str:
    return f"{X.shape[0]:,} x {X.shape[1]:,}{', sparse' if sp.issparse(X) else ''}, {len(classes)}"


def _ours(X: Matrix, y: np.ndarray, lam: float, target: float, best: float) -> float:
    seconds: list[float] = []
    while not seconds or sum(seconds) < _SHORT or len(seconds) < 2:
        start = time.perf_counter()
        model = PegasosClassifier(lam, tol=target, max_iter=100_000, n_jobs=2, random_state=0).fit(X, y)
        seconds.append(time.perf_counter() - start)
    if model.certificate_.primal > best * (1.0 + target):
        raise ArithmeticError(f"The fit missed {target:g} at lam {lam:g}.")
    return min(seconds)


class _Ladder:
    """A rival with all its runs: setting, seconds of all classes, sum of the objectives."""

    def __init__(self, solver: Solver, problems: list[Problem], lam: float):
        self._solver, self._problems, self._lam = solver, problems, lam
        self._data = [solver.prepare(problem) for problem in problems]
        self._runs: dict[float, tuple[float, float]] = {}

    def climb(self, target: float, best: float, limit: float) -> dict[str, object]:
        """The seconds of the loosest good setting; or of the slowest run, where none is good."""
        spent = 0.0
        for setting in self._solver.ladder(target):
            if setting not in self._runs:
                if spent > _LADDER * limit:
                    break
                self._runs[setting] = self._run(setting, limit)
            seconds, value = self._runs[setting]
            if value <= best * (1.0 + target):
                return {"reached": True, "seconds": self._again(setting, seconds, limit)}
            if seconds > limit:
                break
            spent += seconds
        return {"reached": False, "seconds": max(seconds for seconds, _ in self._runs.values())}

    def _again(self, setting: float, seconds: float, limit: float) -> float:
        """The best of several runs, if they are short."""
        spent = seconds
        while spent < _SHORT:
            again, _ = self._run(setting, limit)
            spent, seconds = spent + again, min(seconds, again)
        return seconds

    def _run(self, setting: float, limit: float) -> tuple[float, float]:
        """Fit all classes, or as many as the limit allows."""
        spent = value = 0.0
        for one, problem in zip(self._data, self._problems, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.perf_counter()
                weights, intercept = self._solver.fit(one, self._lam, setting)
                spent += time.perf_counter() - start
            if spent > limit:
                return spent, np.inf
            losses = np.maximum(0.0, 1.0 - problem.y * (problem.X @ weights.astype(np.float32) + intercept))
            value += float(self._lam / 2 * (weights @ weights + intercept**2) + losses.mean(dtype=np.float64))
        return spent, value


if __name__ == "__main__":
    main()
