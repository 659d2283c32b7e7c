"""The data sets: strings, graphs, time series and images. `experiments.fetch` fetches them, `twins` replaces them."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from experiments import twins


def read(name: str) -> dict[str, np.ndarray]:
    """The arrays of a data set, or with PEGASOS_DATA=twins those of its twin."""
    where = os.environ.get("PEGASOS_DATA")
    if where == "twins":
        return twins.make(name)
    if where is None or not (Path(where) / f"{name}.npz").exists():
        raise SystemExit(
            f"There is no {name}.npz: fetch it by `python -m experiments.fetch {name} --to folder` and set "
            "PEGASOS_DATA to that folder, or run the experiment with --twin, on data that scikit-learn has."
        )
    with np.load(Path(os.environ["PEGASOS_DATA"]) / f"{name}.npz", allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def use_twins() -> None:
    """From here on, read the twins of the data sets."""
    os.environ["PEGASOS_DATA"] = "twins"


def matrix(arrays: dict[str, np.ndarray]) -> sp.csr_matrix | np.ndarray:
    """The rows of a data set, sparse or dense."""
    if "indptr" not in arrays:
        return arrays["X"].astype(np.float32)
    parts = (arrays["data"].astype(np.float32), arrays["indices"], arrays["indptr"])
    return sp.csr_matrix(parts, shape=tuple(arrays["shape"]))


def strings(name: str) -> tuple[list[str], np.ndarray]:
    """Strings, which the file holds as bytes with a zero between them, and their labels."""
    arrays = read(name)
    return bytes(arrays["strings__txt"]).decode("utf8").upper().split("\0"), arrays["y"]


def graphs(name: str) -> tuple[list[tuple[sp.csr_array, list[int]]], np.ndarray]:
    """Graphs as pairs of an adjacency matrix and the labels of the nodes, and the labels of the graphs."""
    arrays = read(name)
    starts, edges = arrays["graph_ptr"], arrays["edges"]
    graph_of = np.searchsorted(starts, edges[0], side="right") - 1
    order = np.argsort(graph_of, kind="stable")
    firsts = np.searchsorted(graph_of[order], np.arange(len(starts)))
    found = []
    for number in range(len(starts) - 1):
        begin, end = starts[number], starts[number + 1]
        one, other = edges[:, order[firsts[number] : firsts[number + 1]]] - begin
        places = np.concatenate([one, other]), np.concatenate([other, one])
        adjacency = sp.csr_array((np.ones(len(places[0])), places), shape=(end - begin, end - begin))
        found.append((adjacency, arrays["node_labels"][begin:end].tolist()))
    return found, arrays["y"]


def series(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time series of one length, their labels, and which belong to the training part."""
    arrays = read(name)
    return arrays["X"].astype(np.float64), arrays["y"], arrays["split"] == 0


def text(name: str) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    """Rows of text as tf-idf of length 1, signs, and which rows are to test on: the official ones or every fourth."""
    from sklearn.feature_extraction.text import TfidfTransformer

    arrays = read(name)
    X = matrix(arrays)
    if name != "rcv1_small":  # which is tf-idf already
        X = sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(X), dtype=np.float32)
    if "split" in arrays:
        return X, signs(arrays["y"]), arrays["split"] == 1
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], signs(arrays["y"])[order], np.arange(X.shape[0]) % 4 == 3


def signs(y: np.ndarray) -> np.ndarray:
    """The larger of two labels as +1."""
    return np.where(y == y.max(), 1, -1).astype(np.int8)


def training_text(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """The training rows and their signs."""
    X, sign, is_test = text(name)
    return X[~is_test], sign[~is_test]


def hinge_objective(X: sp.csr_matrix | np.ndarray, sign: np.ndarray, lam: float, weights: np.ndarray) -> float:
    """lam/2 |w|^2 + mean hinge loss, without an intercept."""
    losses = np.maximum(0.0, 1.0 - sign * np.asarray(X @ weights))
    return float(0.5 * lam * weights @ weights + losses.mean())
