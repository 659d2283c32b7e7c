"""Graphs as the kernels see them, read from networkx or from adjacency matrices.

A graph is one of networkx (known by ``nodes`` and ``edges``, so that it need not be installed), or a pair
``(adjacency, labels)`` of a dense or sparse matrix and a sequence, or None for nodes without labels. Graphs are
undirected; weights of edges are ignored: what is not 0 is an edge. Two nodes are labeled alike if their labels are
equal; nodes without a label are all alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.base import objects_of


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph as the kernels see it.

    Attributes
    ----------
    labels : tuple of str
        A text for each node, the same for labels that are equal.
    starts, neighbours : int arrays
        The neighbors of node i are ``neighbours[starts[i]:starts[i + 1]]``, in order.
    """

    labels: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def codes(self) -> npt.NDArray[np.int64]:
        """A number for each node, the same in all graphs for labels that are equal: eight bytes of a digest."""
        number = {
            label: int.from_bytes(blake2b(label.encode(), digest_size=8).digest(), "little", signed=True)
            for label in set(self.labels)
        }
        return np.array([number[label] for label in self.labels], np.int64)

    @property
    def adjacency(self) -> Any:
        """The adjacency matrix, of zeros and ones, as CSR."""
        ones = np.ones(len(self.neighbours))
        return sp.csr_array((ones, self.neighbours, self.starts), shape=(len(self), len(self)))

    @property
    def degree(self) -> int:
        """The largest number of neighbors of a node."""
        return int(np.diff(self.starts).max())

    @property
    def radius(self) -> float:
        """The largest eigenvalue of the adjacency matrix, which is at most the degree."""
        return float(np.linalg.eigvalsh(self.adjacency.toarray())[-1])


def read_graphs(items: Any, label: str) -> list[Graph]:
    """The graphs of a collection; ``label`` is the node attribute that holds the labels of graphs of networkx."""
    if hasattr(items, "nodes"):
        raise PegasosError("expected a list of graphs, got a single graph; write [graph].")
    return [read_graph(item, label, f"graph {number}") for number, item in enumerate(objects_of(items, "graphs"))]


def read_graph(item: Any, label: str, name: str) -> Graph:
    """One graph; ``name`` is what messages call it."""
    if isinstance(item, Graph):
        return item
    if hasattr(item, "nodes") and hasattr(item, "edges"):
        return _of_networkx(item, label, name)
    if isinstance(item, tuple | list) and len(item) == 2:
        return _of_adjacency(item[0], item[1], name)
    raise PegasosError(
        f"{name} is of type {type(item).__name__}, not a graph; give graphs of networkx, or pairs (adjacency, labels) "
        "with labels None where there are none."
    )


def _of_networkx(graph: Any, label: str, name: str) -> Graph:
    if graph.is_directed():
        raise PegasosError(f"{name} is directed; use graph.to_undirected().")
    number: dict[Any, int] = {}
    labels = []
    for node, attributes in graph.nodes(data=True):
        number[node] = len(number)
        labels.append(attributes.get(label))
    ends = np.array([number[node] for edge in graph.edges() for node in edge], dtype=np.int64).reshape(-1, 2)
    return _graph(labels, np.concatenate([ends, ends[:, ::-1]]).T, name)


def _of_adjacency(adjacency: Any, labels: Any, name: str) -> Graph:
    matrix = _square(adjacency, name)
    n_nodes = matrix.shape[0]
    if labels is None:
        labels = [None] * n_nodes
    if isinstance(labels, Mapping) or not isinstance(labels, Iterable):
        raise PegasosError(f"{name} must have a list of labels, in the order of the nodes, or None, got {labels!r}.")
    labels = list(labels)
    if len(labels) != n_nodes:
        raise PegasosError(f"{name} has {n_nodes} nodes and {len(labels)} labels; give each node one.")
    sources, targets = (ends.astype(np.int64) for ends in matrix.nonzero())
    one_way = np.setdiff1d(sources * n_nodes + targets, targets * n_nodes + sources)
    if len(one_way):
        i, j = divmod(int(one_way[0]), n_nodes)
        raise PegasosError(
            f"{name} must be undirected, but its adjacency matrix has an edge from {i} to {j} and none back; use "
            "adjacency + adjacency.T."
        )
    return _graph(labels, (sources, targets), name)


def _square(adjacency: Any, name: str) -> Any:
    try:
        matrix = adjacency if sp.issparse(adjacency) else np.asarray(adjacency)
    except ValueError as error:
        raise PegasosError(f"{name} must have a square adjacency matrix: {error}.") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise PegasosError(f"{name} must have a square adjacency matrix, got shape {matrix.shape}.")
    if matrix.dtype.kind not in "biuf" or np.isnan(matrix.sum()):
        raise PegasosError(f"{name} must have an adjacency matrix of numbers without NaN; 0 means no edge.")
    return matrix


def _graph(labels: Sequence[Any], edges: Any, name: str) -> Graph:
    """A graph of labels and of edges in both directions, which may be repeated."""
    n_nodes = len(labels)
    if not n_nodes:
        raise PegasosError(f"{name} is empty; leave out graphs without nodes.")
    sources, targets = np.divmod(np.unique(edges[0] * n_nodes + edges[1]), n_nodes)
    starts = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=n_nodes))])
    return Graph(tuple(_text_of(label, name) for label in labels), starts, targets)


def _text_of(label: Any, name: str) -> str:
    """A text that equal labels share, and only they: one that can be sorted and digested whatever the label is."""
    if isinstance(label, str):
        return repr(str(label))
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, int) or (isinstance(label, float) and label.is_integer()):
        return repr(int(label))
    if isinstance(label, tuple):
        return f"({','.join(_text_of(part, name) for part in label)})"
    if isinstance(label, frozenset):
        return f"{{{','.join(sorted(_text_of(part, name) for part in label))}}}"
    if not isinstance(label, Hashable) or type(label).__repr__ is object.__repr__:
        raise PegasosError(
            f"{name} has a node label of type {type(label).__name__}, which cannot be compared with those of other "
            "graphs; use strings, numbers or tuples of those."
        )
    return repr(label)
