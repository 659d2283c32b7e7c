"""Small twins of the data sets, made of the digits that scikit-learn brings along.

A twin has the arrays of the data set that it stands for, so that every experiment runs without a download:

    python -m experiments.bound --twin

It shows that an experiment works, and how; what it finds is about the twin. Images are the digits of 8 x 8 pixels. Text
is a digit too: its words are its pixels, repeated by their darkness. So are strings (four shades as letters), graphs
(dark pixels beside each other) and series (a digit pixel by pixel).
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits

Arrays = dict[str, np.ndarray]
_FEW = 240  # strings, graphs and series, whose kernels take long


def _digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels from 0 to 16, digits, and which third is to test on."""
    X, y = load_digits(return_X_y=True)
    return X, y, (np.arange(len(y)) % 3 == 2).astype(np.int8)


def _images(y_of: Callable[[np.ndarray], np.ndarray] = lambda y: y, scale: float = 1.0, shift: float = 0.0) -> Arrays:
    X, y, split = _digits()
    return {"X": (scale * X + shift).astype(np.float32), "y": y_of(y), "split": split}


def _sparse(X: np.ndarray) -> Arrays:
    rows = sp.csr_matrix(X.astype(np.float32))
    return {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}


def _counts(y_of: Callable[[np.ndarray], np.ndarray]) -> Arrays:
    X, y, split = _digits()
    return _sparse(X) | {"y": y_of(y), "split": split}


def _mirrored() -> tuple[np.ndarray, np.ndarray]:
    """The digits and their mirror images, for experiments that need more of them."""
    X, y, _ = _digits()
    return np.vstack([X, X.reshape(-1, 8, 8)[:, :, ::-1].reshape(-1, 64)]), np.r_[y, y]


def _mails(*, as_counts: bool) -> Arrays:
    X, y = _mirrored()
    if as_counts:
        return _sparse(X) | {"y": np.where(y == 8, 1, -1)}
    return {"X": X.astype(np.float32), "y": (y >= 6).astype(np.int8)}


def _undivided(y_of: Callable[[np.ndarray], np.ndarray]) -> Arrays:
    """Counts of words without an official test part."""
    return {name: array for name, array in _counts(y_of).items() if name != "split"}


def _unit_rows() -> Arrays:
    X, y, split = _digits()
    return _sparse(X / np.linalg.norm(X, axis=1, keepdims=True)) | {"y": _sides(y), "split": split}


def _topics() -> Arrays:
    arrays = _counts(lambda y: np.where(y == 0, 1, -1))
    _, y, _ = _digits()
    return arrays | {"Y_indices": y, "Y_indptr": np.arange(len(y) + 1)}


def _marked(rare: Callable[[np.ndarray], np.ndarray]) -> Arrays:
    """Ones and zeros, as of attributes; nine in ten rows are of one class."""
    X, y, _ = _digits()
    return _sparse(X > 8.0) | {"y": np.where(rare(y), 1, -1)}


def _connections() -> Arrays:
    X, y, split = _digits()
    names = np.frombuffer("\0".join(["normal", "portsweep"]).encode(), np.uint8)
    return _sparse(X) | {"y": (y == 8).astype(np.int8), "split": split, "class_names__txt": names}


def _shades(part: slice) -> tuple[np.ndarray, np.ndarray]:
    """Pixels in four shades, and whether the digit is 5 or more."""
    X, y, _ = _digits()
    return np.minimum(X[part] // 4, 3).astype(np.uint8), _sides(y[part])


def _codes(part: slice) -> Arrays:
    codes, y = _shades(part)
    return {"codes": codes, "y": y}


def _strings() -> Arrays:
    codes, y = _shades(slice(_FEW))
    text = "\0".join("".join("acgt"[code] for code in row) for row in codes)
    return {"strings__txt": np.frombuffer(text.encode(), np.uint8), "y": y}


def _graphs() -> Arrays:
    """Pixels that are not white, joined where they touch, with their shades as labels."""
    X, y, _ = _digits()
    labels, starts, edges = [], [0], []
    for image in X[:_FEW].reshape(-1, 8, 8):
        is_node = image > 4.0
        number = np.where(is_node, np.cumsum(is_node).reshape(8, 8) - 1 + starts[-1], -1)
        beside = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
        found = np.hstack([np.stack([one.ravel(), other.ravel()]) for one, other in beside])
        edges.append(found[:, (found >= 0).all(axis=0)])
        labels.append(np.minimum(image[is_node] // 4, 3))
        starts.append(starts[-1] + int(is_node.sum()))
    whole = {"node_labels": np.concatenate(labels).astype(np.int16), "graph_ptr": np.array(starts)}
    return whole | {"edges": np.hstack(edges), "y": _sides(y[:_FEW])}


def _series() -> Arrays:
    X, y, split = _digits()
    keep = np.flatnonzero(y < 2)[:_FEW]
    return {"X": X[keep].astype(np.float32), "y": y[keep], "split": split[keep]}


def _sides(y: np.ndarray) -> np.ndarray:
    return np.where(y >= 5, 1, -1)


_made: dict[str, Callable[[], Arrays]] = {
    **dict.fromkeys(("movie_reviews", "subjectivity", "sentence_polarity"), lambda: _undivided(_sides)),
    **dict.fromkeys(("mnist", "fashion_mnist"), lambda: _images(scale=255.0 / 16.0)),
    **dict.fromkeys(("letter", "satimage", "shuttle", "isolet", "dna", "ocr_letters"), _images),
    **dict.fromkeys(("graph_mutag", "graph_ptc", "graph_enzymes", "graph_proteins", "graph_nci1"), _graphs),
    **dict.fromkeys(("ucr_gunpoint", "ucr_arrowhead", "ucr_italypowerdemand"), _series),
    "usps": lambda: _images(scale=1.0 / 8.0, shift=-1.0),
    "covtype": lambda: _images(lambda y: y % 7 + 1),
    "a9a": lambda: _marked(lambda y: y >= 7),
    "w8a": lambda: _marked(lambda y: y == 8),
    "kddcup99": _connections,
    "spambase": lambda: _mails(as_counts=False),
    "sms_spam": lambda: _mails(as_counts=True),
    "reuters21578": _topics,
    "rcv1_small": _unit_rows,
    "trec6": lambda: _counts(lambda y: y % 6),
    "splice_celegans_tr": lambda: _codes(slice(0, 900)),
    "splice_celegans_te": lambda: _codes(slice(900, None)),
    "promotergene": _strings,
}


def names() -> tuple[str, ...]:
    """The data sets that have a twin."""
    return tuple(_made)


def make(name: str) -> Arrays:
    """The arrays of the twin of a data set."""
    return _made[name]()
