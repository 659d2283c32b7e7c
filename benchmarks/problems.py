"""The problems of the benchmark: rows in float32, dense in C order or CSR, and labels -1 and +1.

Real data are read from the folder that PEGASOS_DATA names: one `<name>.npz` each, with `y` and either a dense `X` or
the parts `data`, `indices`, `indptr`, `shape` of a CSR matrix. Without it two generated problems take their place.
Text sets hold counts of words, which become tf-idf.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

Matrix = np.ndarray | sp.csr_matrix
_FEW_ROWS = 1000
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Rows and signs under a name."""

    name: str
    X: Matrix
    y: np.ndarray

    @property
    def lams(self) -> tuple[float, ...]:
        """The values that it is measured at; of few rows C = 1, which people leave it at."""
        n = len(self.y)
        return (1e-4, 1e-5) if n > _FEW_ROWS else (round(1.0 / n, 6),)


def names() -> list[str]:
    """The problems of a default run, and how to get the real ones where they are missing."""
    if "PEGASOS_DATA" in os.environ:
        return [*SMALL, *_real, "dense_2m", "sparse_1m"]
    print("PEGASOS_DATA is not set: set it to the folder of the data sets (a9a.npz, ...). Using generated problems.")
    return ["generated_dense", "generated_sparse"]


def pictured() -> list[str]:
    """The problems that the pictures show."""
    return [name for name in names() if name not in SMALL and name not in _beside]


def load(name: str) -> Problem:
    """Build one problem."""
    if name in _generated:
        return _generated[name](name)
    if name not in _real:
        raise SystemExit(f"There is no problem {name!r}; choose from {', '.join([*_real, *_generated])}.")
    if "PEGASOS_DATA" not in os.environ:
        raise SystemExit(f"{name} is real data: set PEGASOS_DATA to the folder that holds {name}.npz.")
    rows, positive = _real[name](read(name))
    return Problem(name, rows, _signs(positive))


def read(name: str) -> Arrays:
    with np.load(Path(os.environ["PEGASOS_DATA"]) / f"{name}.npz", allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def rows_of(arrays: Arrays) -> Matrix:
    if "indptr" not in arrays:
        return np.ascontiguousarray(arrays["X"], dtype=np.float32)
    parts = (arrays["data"].astype(np.float32), arrays["indices"], arrays["indptr"])
    return sp.csr_matrix(parts, shape=tuple(arrays["shape"]))


def _signs(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, 1, -1).astype(np.int32)


def scaled(rows: Matrix) -> Matrix:
    """Divide each column by its largest absolute value."""
    if not sp.issparse(rows):
        return rows / _divisors(np.abs(rows).max(axis=0))
    largest = abs(rows).max(axis=0).toarray().ravel()
    return sp.csr_matrix((rows.data / _divisors(largest)[rows.indices], rows.indices, rows.indptr), shape=rows.shape)


def _divisors(largest: np.ndarray) -> np.ndarray:
    return np.where(largest > 0, largest, 1).astype(np.float32)


def _signed(arrays: Arrays) -> tuple[Matrix, np.ndarray]:
    return rows_of(arrays), arrays["y"] > 0


def _covtype(arrays: Arrays) -> tuple[Matrix, np.ndarray]:
    return scaled(rows_of(arrays)), arrays["y"] == 2


def _pixels(arrays: Arrays, classes: tuple[int, ...]) -> tuple[Matrix, np.ndarray]:
    return rows_of(arrays) / np.float32(255), np.isin(arrays["y"], classes)


def pixels(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows between 0 and 1 of ten classes, and the classes."""
    arrays = read(name)
    return rows_of(arrays) / np.float32(255), arrays["y"]


def _word_counts(arrays: Arrays) -> tuple[Matrix, np.ndarray]:
    return sp.csr_matrix(TfidfTransformer().fit_transform(rows_of(arrays)), dtype=np.float32), arrays["y"] > 0


def _kddcup99(arrays: Arrays) -> tuple[Matrix, np.ndarray]:
    """The label names are stored as bytes, one NUL between two; normal traffic is the negative class."""
    class_names = bytes(arrays["class_names__txt"]).decode().split("\0")
    return scaled(rows_of(arrays)), arrays["y"] != class_names.index("normal")


def _susy(arrays: Arrays) -> tuple[Matrix, np.ndarray]:
    """Stored as CSR although nearly every value is there."""
    return scaled(rows_of(arrays).toarray()), arrays["y"] > 0


def _large_label(arrays: Arrays) -> tuple[Matrix, np.ndarray]:
    return scaled(rows_of(arrays)), arrays["y"] == arrays["y"].max()


_real: dict[str, Callable[[Arrays], tuple[Matrix, np.ndarray]]] = {
    "a9a": _signed,
    "w8a": _signed,
    "covtype": _covtype,
    "fashion_mnist": partial(_pixels, classes=(0, 2, 4, 6)),
    "reuters21578": _word_counts,
    "mnist": partial(_pixels, classes=(0, 1, 2, 3, 4)),
    "kddcup99": _kddcup99,
    "susy30k": _susy,
    "magic04": _large_label,
    "skin": _large_label,
    "phishing": _large_label,
    "subjectivity": _word_counts,
    "sms_spam": _word_counts,
    "movie_reviews": _word_counts,
}
# measured, but not pictured
_beside = ("magic04", "skin", "phishing", "subjectivity", "sms_spam", "movie_reviews")


def _noisy_signs(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The side of a plane, wrong for the rows near it more often than for those far away."""
    return _signs(scores + 0.5 * scores.std() * rng.standard_normal(len(scores)) > 0)


def _generated_dense(name: str, n_rows: int = 200_000) -> Problem:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n_rows, 50), dtype=np.float32)
    return Problem(name, rows, _noisy_signs(rows @ rng.standard_normal(50, dtype=np.float32), rng))


def _bundled(name: str) -> Problem:
    rows, labels = load_breast_cancer(return_X_y=True)
    return Problem(name, StandardScaler().fit_transform(rows).astype(np.float32), _signs(labels == 1))


def _generated_small(name: str, shape: tuple[int, int]) -> Problem:
    rng = np.random.default_rng(2)
    rows = rng.standard_normal(shape, dtype=np.float32)
    return Problem(name, rows, _noisy_signs(rows @ rng.standard_normal(shape[1], dtype=np.float32), rng))


def _generated_sparse(name: str) -> Problem:
    """Rows of unit length in which, as in text, a few columns occur often and most of them seldom."""
    rng = np.random.default_rng(1)
    n_rows, n_columns, n_words = 50_000, 20_000, 40
    columns = (n_columns * rng.random((n_rows, n_words)) ** 3).astype(np.int32)
    values = rng.random((n_rows, n_words), dtype=np.float32) + np.float32(0.1)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    indptr = np.arange(0, n_rows * n_words + 1, n_words, dtype=np.int32)
    rows = sp.csr_matrix((values.ravel(), columns.ravel(), indptr), shape=(n_rows, n_columns))
    rows.sum_duplicates()
    return Problem(name, rows, _noisy_signs(rows @ rng.standard_normal(n_columns), rng))


def _zipf(name: str) -> Problem:
    """Rows of 60 words, word k coming up as often as 1/k says."""
    rng = np.random.default_rng(1)
    n_rows, n_columns, n_words = 1_000_000, 500_000, 60
    share = np.cumsum(1.0 / np.arange(1, n_columns + 1))
    columns = np.searchsorted(share, share[-1] * rng.random(n_rows * n_words)).astype(np.int32)
    values = np.full(n_rows * n_words, 1.0 / np.sqrt(n_words), dtype=np.float32)
    indptr = np.arange(0, n_rows * n_words + 1, n_words, dtype=np.int32)
    rows = sp.csr_matrix((values, np.minimum(columns, n_columns - 1), indptr), shape=(n_rows, n_columns))
    rows.sum_duplicates()
    return Problem(name, rows, _noisy_signs(rows @ rng.standard_normal(n_columns), rng))


_generated: dict[str, Callable[[str], Problem]] = {
    "generated_dense": _generated_dense,
    "generated_sparse": _generated_sparse,
    "dense_2m": partial(_generated_dense, n_rows=2_000_000),
    "sparse_1m": _zipf,
    "breast_cancer": _bundled,
    "generated_1000x20": partial(_generated_small, shape=(1000, 20)),
    "generated_200x5000": partial(_generated_small, shape=(200, 5000)),
}
SMALL = ("breast_cancer", "generated_1000x20", "generated_200x5000")
