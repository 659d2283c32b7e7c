"""The problems of the kernel benchmark: RBF kernel, rows in float32, a training part and a test part.

| problem       | training rows            | classes | gamma | C     | why these                                       |
| ------------- | ------------------------ | ------- | ----- | ----- | ----------------------------------------------- |
| usps          | 7,291 x 256, official    | 10      | 1/128 | 10    | pixels in [-1, 1], so 2 / n_features            |
| mnist         | the first 10,000 x 784   | 10      | 0.02  | 10    | pixels / 255                                    |
| fashion_mnist | 12,000 x 784, official   | 0 and 6 | 0.02  | 1, 10 | pixels / 255; shirt or T-shirt, hard to tell    |
| a9a           | 32,561 x 123, official   | 2       | 0.05  | 1     | those of Platt's SMO: variance 10, C = 1        |

They are read from the folder that PEGASOS_DATA names, as in `benchmarks.problems`. Without it a generated one takes
their place.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

Matrix = np.ndarray | sp.csr_matrix
Parts = tuple[Matrix, np.ndarray, Matrix, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Rows and labels to learn from, others to test on, the kernel's gamma and the values of C to take."""

    name: str
    X: Matrix
    y: np.ndarray
    X_test: Matrix
    y_test: np.ndarray
    gamma: float
    Cs: tuple[float, ...]

    def first(self, n_rows: int | None) -> "Problem":
        """The same with its first rows only, for a trial."""
        if n_rows is None:
            return self
        parts = {name: getattr(self, name)[:n_rows] for name in ("X", "y", "X_test", "y_test")}
        return replace(self, **parts)


def names() -> list[str]:
    """The problems of a default run, and how to get the real ones where they are missing."""
    if "PEGASOS_DATA" in os.environ:
        return list(_real)
    print("PEGASOS_DATA is not set: set it to the folder of the data sets (usps.npz, ...). Using a generated problem.")
    return ["generated"]


def load(name: str, n_rows: int | None = None) -> Problem:
    """Build one problem, of all its rows or of the first ones."""
    if name == "generated":
        return _generated().first(n_rows)
    if name not in _real:
        raise SystemExit(f"There is no problem {name!r}; choose from {', '.join([*_real, 'generated'])}.")
    build, gamma, costs = _real[name]
    return Problem(name, *build(name), gamma, costs).first(n_rows)


def whole_fashion() -> Parts:
    """All 60,000 training rows of fashion_mnist and its 10,000 test rows, ten classes."""
    return _pixels("fashion_mnist")


def covtype(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Random rows of covtype, columns divided by their largest value, class 2 against the others."""
    with open_data("covtype") as archive:
        rows = np.asarray(archive["X"], dtype=np.float32)
        signs = np.where(archive["y"] == 2, 1, -1).astype(np.int8)
    largest = np.abs(rows).max(axis=0)
    chosen = np.random.default_rng(0).permutation(len(rows))[:n_rows]
    return rows[chosen] / np.where(largest > 0, largest, 1), signs[chosen]


def open_data(name: str):
    """The archive of a data set in the folder that PEGASOS_DATA names."""
    if "PEGASOS_DATA" not in os.environ:
        raise SystemExit(f"{name} is real data: set PEGASOS_DATA to the folder that holds {name}.npz.")
    return np.load(Path(os.environ["PEGASOS_DATA"]) / f"{name}.npz", allow_pickle=False)


def _split(rows: Matrix, labels: np.ndarray, is_test: np.ndarray) -> Parts:
    labels = labels.astype(np.int32)
    return rows[~is_test], labels[~is_test], rows[is_test], labels[is_test]


def _usps(name: str) -> Parts:
    with open_data(name) as archive:
        return _split(archive["X"].astype(np.float32), archive["y"], archive["split"] == 1)


def _a9a(name: str) -> Parts:
    with open_data(name) as archive:
        parts = archive["data"].astype(np.float32), archive["indices"], archive["indptr"]
        rows = sp.csr_matrix(parts, shape=tuple(archive["shape"]))
        return _split(rows, archive["y"], archive["split"] == 1)


def _pixels(name: str, *, classes: tuple[int, ...] | None = None, n_training: int | None = None) -> Parts:
    """Bytes are split first and divided then: the float32 copy is the only large one."""
    with open_data(name) as archive:
        rows, labels, is_test = archive["X"], archive["y"], archive["split"] == 1
    if classes is not None:
        chosen = np.isin(labels, classes)
        rows, labels, is_test = rows[chosen], labels[chosen], is_test[chosen]
    X, y, X_test, y_test = _split(rows, labels, is_test)
    X, y = X[:n_training], y[:n_training]
    return np.divide(X, 255, dtype=np.float32), y, np.divide(X_test, 255, dtype=np.float32), y_test


def _generated() -> Problem:
    """Three overlapping clouds of two centres each."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3, 2, 20))
    labels = rng.integers(3, size=4000).astype(np.int32)
    rows = centres[labels, rng.integers(2, size=4000)] + 0.9 * rng.standard_normal((4000, 20))
    return Problem("generated", *_split(rows.astype(np.float32), labels, np.arange(4000) >= 3000), 0.05, (1.0,))


_real: dict[str, tuple[Callable[[str], Parts], float, tuple[float, ...]]] = {
    "usps": (_usps, 1 / 128, (10.0,)),
    "mnist": (partial(_pixels, n_training=10_000), 0.02, (10.0,)),
    "fashion_mnist": (partial(_pixels, classes=(0, 6)), 0.02, (1.0, 10.0)),
    "a9a": (_a9a, 0.05, (1.0,)),
}
