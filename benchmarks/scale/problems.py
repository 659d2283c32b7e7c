"""The data of the cluster benchmarks: covtype, reuters21578, and generated texts."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

LAM = 1e-5


def covtype(n_rows=581_012):
    """Class 2 against the rest, every feature divided by its largest value; generated where PEGASOS_DATA is not set."""
    random = np.random.default_rng(0)
    if "PEGASOS_DATA" in os.environ:
        with np.load(Path(os.environ["PEGASOS_DATA"]) / "covtype.npz", allow_pickle=False) as archive:
            chosen = random.permutation(len(archive["y"]))[:n_rows]
            X, y = archive["X"][chosen].astype(np.float32), archive["y"][chosen]
        largest = np.maximum(np.abs(X).max(axis=0), 1e-9)  # some soils may be missing
        return np.ascontiguousarray(X / largest), np.where(y == 2, 1, -1)
    X = random.normal(size=(n_rows, 54)).astype(np.float32)
    return X, np.where(X[:, :5].sum(axis=1) + random.normal(size=n_rows) > 0, 1, -1)


def text(n_rows=100_000, n_features=100_000, n_words=40):
    """Unit rows of words whose frequency falls as one over their rank; a tenth of the labels is wrong."""
    random = np.random.default_rng(0)
    words = (n_features ** random.random((n_rows, n_words))).astype(np.int32) - 1
    counts = np.ones(words.size, np.float32), words.ravel(), np.arange(0, words.size + 1, n_words, dtype=np.int32)
    X = sp.csr_matrix(counts, shape=(n_rows, n_features))
    X.sum_duplicates()
    X = normalize(X, copy=False)
    score = X @ random.normal(size=n_features)
    return X, np.where((score > np.median(score)) ^ (random.random(n_rows) < 0.1), 1, -1)


def reuters():
    """The most frequent class against the rest."""
    with np.load(Path(os.environ["PEGASOS_DATA"]) / "reuters21578.npz", allow_pickle=False) as archive:
        parts = archive["data"].astype(np.float32), archive["indices"], archive["indptr"]
        X, y = sp.csr_matrix(parts, shape=tuple(archive["shape"])), archive["y"]
    labels, counts = np.unique(y, return_counts=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], np.where(y == labels[counts.argmax()], 1, -1)[order]


def all_problems():
    """Those that are there, by name."""
    found = {"covtype": covtype, "text": text}
    return {**found, "reuters21578": reuters} if "PEGASOS_DATA" in os.environ else found
