"""Every binary problem that can be made of the data sets at hand, in two units.

scikit-learn's bundled data sets and a few generated families are always there; with PEGASOS_DATA set to a folder of
`<name>.npz` files, all of those that hold a matrix join them. Several classes become two: the first half of the classes
against the others.

"scaled" units: dense columns standardized, sparse rows divided by their length. "raw" units: the data as they come;
where the columns of a table all have about the same size, they are multiplied by powers of ten from 1e-3 to 1e3.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.preprocessing import normalize, scale

MOST_ROWS = 20_000
UNITS = ("scaled", "raw")
_WIDE = 2000  # columns from which a sparse matrix is text: counts of words, whose unit is given
_RAW_SPREAD = 100.0  # ratio of the largest to the smallest column from which raw data need no help


@dataclass(frozen=True)
class Binary:
    """A matrix in double precision, dense or CSR, and labels -1 and +1."""

    name: str
    units: str
    X: np.ndarray | sp.csr_matrix
    y: np.ndarray


def names() -> list[str]:
    """Names of the data sets at hand."""
    folder = os.environ.get("PEGASOS_DATA")
    real = sorted(path.stem for path in Path(folder).glob("*.npz") if _has_matrix(path)) if folder else []
    return [*_BUNDLED, *_GENERATED, *real]


def load(name: str) -> Iterator[Binary]:
    """The binary problem of a data set, in each of the units."""
    source = {**_BUNDLED, **_GENERATED}.get(name)
    X, y = source() if source else read(Path(os.environ["PEGASOS_DATA"]) / f"{name}.npz")
    keep = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y = X[keep].astype(np.float64), y[keep]
    classes = np.unique(y)
    labels = np.where(np.isin(y, classes[: len(classes) // 2]), -1, 1)
    yield Binary(name, "scaled", _scaled(X), labels)
    yield Binary(name, "raw", _raw(X), labels)


def _scaled(X):
    return sp.csr_matrix(normalize(X)) if sp.issparse(X) else np.ascontiguousarray(scale(X))


def _raw(X):
    if sp.issparse(X) and X.shape[1] > _WIDE:
        return X
    squares = X.multiply(X) if sp.issparse(X) else np.square(X)
    sizes = np.sqrt(np.asarray(squares.mean(axis=0)).ravel())
    sizes = sizes[sizes > 0.0]
    if sizes.max() >= _RAW_SPREAD * sizes.min():
        return X
    factors = 10.0 ** np.random.default_rng(1).integers(-3, 4, X.shape[1])
    return sp.csr_matrix(X @ sp.diags(factors)) if sp.issparse(X) else np.ascontiguousarray(X * factors)


def _has_matrix(path: Path) -> bool:
    with np.load(path, allow_pickle=False) as archive:
        return "indptr" in archive.files or ("X" in archive.files and archive["X"].ndim == 2)


def read(path: Path):
    with np.load(path, allow_pickle=False) as archive:
        y = archive["y"]
        if "indptr" not in archive.files:
            return archive["X"].astype(np.float32), y
        parts = (archive["data"].astype(np.float32), archive["indices"], archive["indptr"])
        X = sp.csr_matrix(parts, shape=tuple(archive["shape"]))
    is_dense = X.nnz > 0.3 * np.prod(X.shape) and X.shape[1] < 1000
    return (X.toarray() if is_dense else X), y


def _bundled(load: Callable) -> Callable:
    return lambda: load(return_X_y=True)


def _noisy(n: int, d: int, seed: int):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal(d)
    return X, scores + 0.5 * scores.std() * rng.standard_normal(n) > 0.0


def _one_hot(n: int = 9000, columns: int = 40, seed: int = 2):
    """Categories of very different frequency, eight percent positives."""
    rng = np.random.default_rng(seed)
    blocks, scores = [], np.zeros(n)
    for _ in range(columns):
        size = int(rng.integers(2, 25))
        codes = rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.5)))
        blocks.append(sp.csr_matrix((np.ones(n), (np.arange(n), codes)), shape=(n, size)))
        scores += rng.normal(size=size)[codes]
    scores += 2.0 * rng.normal(size=n)
    return sp.csr_matrix(sp.hstack(blocks)), scores > np.quantile(scores, 0.92)


def _text(n: int = 8000, d: int = 30_000, words: int = 60, seed: int = 3):
    """Word k occurs with a frequency of about 1/k; the classes use slightly different words."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    columns = np.minimum((d ** rng.random((n, words))).astype(np.int64) - 1, d - 1)
    columns = np.where(rng.random((n, words)) < 0.1, (columns + 7919 * y[:, None]) % d, columns)
    parts = (np.ones(n * words), columns.ravel(), np.arange(0, n * words + 1, words))
    X = sp.csr_matrix(parts, shape=(n, d))
    X.sum_duplicates()
    return X, y


def _collinear(n: int = 3000, seed: int = 4):
    X, y = _noisy(n, 20, seed)
    return np.hstack([X, X[:, :5], X @ np.random.default_rng(seed).normal(size=(20, 10)), np.ones((n, 2))]), y


def _few(n: int, d: int, seed: int = 6):
    """Hardly any rows: two of them, or fewer than features."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X, np.arange(n) % 2


def _lonely(n: int = 2000, d: int = 30, seed: int = 7):
    """One positive row."""
    return np.random.default_rng(seed).standard_normal((n, d)), np.arange(n) == n // 2


def _twins(n: int = 4000, d: int = 25, seed: int = 8):
    """Every row four times, every column twice, a tenth of the labels turned round."""
    X, y = _noisy(n // 4, d, seed)
    y = np.tile(y, 4)
    return np.tile(X, (4, 2)), y ^ (np.random.default_rng(seed).random(len(y)) < 0.1)


def _heavy_tails(n: int = 5000, d: int = 30, seed: int = 9):
    """Cauchy features: a few rows are a million times as long as the others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy((n, d))
    return X, np.sign(X) @ rng.standard_normal(d) + rng.standard_normal(n) > 0.0


def _polynomial(n: int = 3000, seed: int = 10):
    """All monomials up to the fourth degree of four features that are not centered."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3.0, (n, 4))
    powers = np.stack(np.meshgrid(*[np.arange(5)] * 4), axis=-1).reshape(-1, 4)
    powers = powers[(powers.sum(axis=1) > 0) & (powers.sum(axis=1) <= 4)]
    y = np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.2 * rng.standard_normal(n) > 0.3
    return np.prod(X[:, None, :] ** powers, axis=2), y


def _counts(n: int = 6000, d: int = 60, seed: int = 11):
    """Integer counts of very different rates."""
    rng = np.random.default_rng(seed)
    rates = 10.0 ** rng.uniform(-2, 3, d)
    y = rng.integers(0, 2, n)
    return rng.poisson(rates * (1.0 + 0.1 * y[:, None] * (rng.random(d) < 0.3))).astype(np.float64), y


def _images(n: int = 5000, side: int = 16, seed: int = 12):
    """Smooth pictures: neighboring pixels agree, most of the border is 0."""
    rng = np.random.default_rng(seed)
    grid = np.linspace(-1.0, 1.0, side)
    y = rng.integers(0, 2, n)
    centre = rng.normal(0.0, 0.3, (n, 2)) + 0.2 * (2 * y[:, None] - 1)
    width = rng.uniform(0.1, 0.4, (n, 1, 1))
    squares = (grid[None, :, None] - centre[:, 0, None, None]) ** 2 + (grid[None, None] - centre[:, 1, None, None]) ** 2
    return np.round(255.0 * np.exp(-squares / (2.0 * width**2))).reshape(n, -1), y


def _rare_levels(n: int = 6000, seed: int = 13):
    """One-hot identifiers of which most occur once or twice, beside ordinary columns."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.zipf(1.3, (n, 3)), 3000) - 1 + 3000 * np.arange(3)
    parts = (np.ones(3 * n), codes.ravel(), np.arange(0, 3 * n + 1, 3))
    numbers = rng.standard_normal((n, 5))
    y = numbers[:, 0] + rng.standard_normal(9000)[codes].sum(axis=1) > 0.0
    return sp.csr_matrix(sp.hstack([sp.csr_matrix(parts, shape=(n, 9000)), sp.csr_matrix(numbers)])), y


def _extreme(factor: float, seed: int = 14):
    """All features in one very large or very small unit."""
    X, y = _noisy(1500, 12, seed)
    return factor * X, y


_BUNDLED = {
    "iris": _bundled(datasets.load_iris),
    "wine": _bundled(datasets.load_wine),
    "breast_cancer": _bundled(datasets.load_breast_cancer),
    "digits": _bundled(datasets.load_digits),
}
_GENERATED = {
    "noisy_500x5": lambda: _noisy(500, 5, 0),
    "noisy_20000x50": lambda: _noisy(20_000, 50, 1),
    "wide_300x2000": lambda: _noisy(300, 2000, 5),
    "one_hot": _one_hot,
    "text": _text,
    "collinear": _collinear,
    "two_rows": lambda: _few(2, 3),
    "wide_20x30000": lambda: _few(20, 30_000),
    "one_positive": _lonely,
    "twins": _twins,
    "heavy_tails": _heavy_tails,
    "polynomial": _polynomial,
    "counts": _counts,
    "images": _images,
    "rare_levels": _rare_levels,
    "huge": lambda: _extreme(1e6),
    "tiny": lambda: _extreme(1e-6),
}
