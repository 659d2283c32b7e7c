"""Estimators of many kinds with data, and what two fits must have in common to the last bit."""

import hashlib

import numpy as np
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV
from pegasos.data import ArraySource
from pegasos.estimators.inputs import keeps_on_failure
from pegasos.kernels import Spectrum
from pegasos.online import ConfidenceWeighted, Perceptron


def whole_numbers(n_rows, n_columns, seed=1):
    """Small whole numbers by integer arithmetic alone: the same on every machine and for every numpy."""
    state = np.arange(seed, seed + n_rows * n_columns, dtype=np.uint64)
    for shift in (np.uint64(30), np.uint64(27), np.uint64(31)):
        state = (state ^ (state >> shift)) * np.uint64(0xBF58476D1CE4E5B9)
    return (state >> np.uint64(60)).astype(np.int64).reshape(n_rows, n_columns) - 8


def rows(n_rows=600, n_features=12):
    """Rows in eighths, which every float holds exactly, and four classes that they say something about."""
    numbers = whole_numbers(n_rows, n_features)
    noise = whole_numbers(n_rows, 2, seed=10_007)
    codes = 2 * (numbers[:, 0] + numbers[:, 1] + noise[:, 0] > 0) + (numbers[:, 2] - numbers[:, 3] + noise[:, 1] > 0)
    return numbers / 8.0, codes


def words(n_items=60):
    """Strings over three letters, of two classes."""
    letters = whole_numbers(n_items, 20)
    texts = ["".join("abc"[code % 3] for code in row) for row in letters]
    return texts, np.array([text.count("ab") > 2 for text in texts])


class FromSource(PegasosClassifier):
    """Fits as from a file."""

    def fit(self, X, y):
        return self.fit_source(ArraySource(X, y, block_rows=150), memory="1G")


class InBlocks(PegasosClassifier):
    """Learns as from a stream; all of it or nothing."""

    @keeps_on_failure
    def fit(self, X, y):
        for begin in range(0, len(y), 200):
            self.partial_fit(X[begin : begin + 200], y[begin : begin + 200], classes=np.unique(y))
        return self


def kinds(n_jobs=None):
    """Name to a function that makes an estimator, X and y."""
    X, many = rows()
    two, settings = many % 2, {"random_state": 0, "n_jobs": n_jobs}
    long_X, long_y = rows(20_000, 6)
    texts, said = words()
    return {
        "auto": (lambda: PegasosClassifier(lam=1e-3, **settings), X, two),
        "many rows": (lambda: PegasosClassifier(lam=1e-6, **settings), long_X, long_y % 2),
        "pegasos": (lambda: PegasosClassifier(solver="pegasos", tol=None, max_iter=5, **settings), X, two),
        "dual": (lambda: PegasosClassifier(solver="dual", tol=None, max_iter=5, **settings), X, two),
        "sparse": (lambda: PegasosClassifier(lam=1e-3, **settings), sp.csr_array(X), two),
        "one against the rest": (lambda: PegasosClassifier(lam=1e-3, **settings), X, many),
        "one against one": (lambda: PegasosClassifier(lam=1e-3, multi_class="ovo", **settings), X, many),
        "all at once": (lambda: PegasosClassifier(lam=1e-2, multi_class="crammer_singer", **settings), X, many),
        "probabilities": (lambda: PegasosClassifier(lam=1e-3, probability=True, **settings), X, many),
        "folds": (lambda: PegasosClassifierCV(lams=5, cv=3, **settings), X, many),
        "source": (lambda: FromSource(lam=1e-3, **settings), X, many),
        "stream": (lambda: InBlocks(lam=1e-3, **settings), X, many),
        "kernel": (lambda: KernelPegasosClassifier(lam=1e-3, **settings), X, two),
        "kernel pairs": (lambda: KernelPegasosClassifier(lam=1e-3, multi_class="ovo", **settings), X, many),
        "strings": (lambda: KernelPegasosClassifier(Spectrum(3), lam=1e-3, **settings), texts, said),
        "perceptron": (lambda: Perceptron(random_state=0), X, many),
        "confidence": (lambda: ConfidenceWeighted(random_state=0), X, many),
    }


def fingerprint(model, X):
    """A digest of all bits of a fitted model and of what it says of X."""
    digest = hashlib.blake2b(digest_size=12)
    scores = [model.decision_function(X)]
    for name in ("coef_", "dual_coef_", "intercept_", "alpha_", "support_", "scores_"):
        value = getattr(model, name, ())
        scores.extend(value if isinstance(value, list) else [value])
    if getattr(model, "probability", False):
        scores.append(model.predict_proba(X))
    for value in scores:
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def fitted(kind):
    """A new estimator, fitted, and its fingerprint."""
    make, X, y = kind
    return fingerprint(make().fit(X, y), X)
