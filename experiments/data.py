"""The data sets: strings, graphs, time series and images."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def read(name: str) -> dict[str, np.ndarray]:
    """The arrays of a data set."""
    if "PEGASOS_DATA" not in os.environ:
        raise SystemExit(f"Set PEGASOS_DATA to the folder that holds {name}.npz.")
    with np.load(Path(os.environ["PEGASOS_DATA"]) / f"{name}.npz", allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


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
