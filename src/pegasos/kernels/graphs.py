"""Kernels on graphs with labeled nodes: subtree patterns, shortest paths, random walks.

A graph is one of networkx, or a pair ``(adjacency, labels)`` of a dense or sparse matrix and a sequence, or None for
nodes without labels. Graphs are undirected; weights of edges are ignored: what is not 0 is an edge. Two nodes are
labeled alike if their labels are equal; nodes without a label are all alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import shortest_path

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel, Objects, TokenKernel, check_count, check_positive, in_time, n_threads
from pegasos.kernels.graph_reading import Graph, read_graph, read_graphs
from pegasos.kernels.sequences import starts_of
from pegasos.problem import Floats


class _Palette:
    """Colors of nodes as small numbers, while one collection is read.

    A color has a digest of its own subtree pattern, which no other graph changes; the number saves computing it again.
    """

    def __init__(self) -> None:
        self.tokens: list[tuple[int, bytes]] = []
        self._number: dict[Hashable, int] = {}

    def of_label(self, label: str) -> int:
        """The color before the first round."""
        number = self._number.get(label)
        return self._new(label, 0, [label.encode()]) if number is None else number

    def of_neighbours(self, own: int, neighbours: list[int]) -> int:
        """The next color of a node from its own and those of its neighbors."""
        neighbours.sort()
        pattern = (own, *neighbours)
        number = self._number.get(pattern)
        if number is not None:
            return number
        iteration, digest = self.tokens[own]
        return self._new(pattern, iteration + 1, [digest, *sorted(self.tokens[i][1] for i in neighbours)])

    def _new(self, key: Hashable, iteration: int, parts: list[bytes]) -> int:
        self._number[key] = len(self.tokens)
        self.tokens.append((iteration, blake2b(b"".join(parts), digest_size=16).digest()))
        return len(self.tokens) - 1


@dataclass
class WeisfeilerLehman(TokenKernel):
    """The Weisfeiler-Lehman subtree kernel: common neighborhoods of depth 0 to h.

    The label of each node becomes, h times, the pattern of its own label and the labels of its neighbors; the kernel
    counts the pairs of nodes with the same pattern, at each depth [1]_. It has an explicit map: the counts of the
    patterns, each named by ``(depth, digest)`` with a digest of 128 bits that depends only on the pattern.

    Parameters
    ----------
    h : int, default=3
        How often labels are refined; 0 compares the labels alone.
    label : str, default="label"
        The node attribute of networkx graphs that holds the label.

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt, "Weisfeiler-Lehman graph
       kernels", JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.graphs import WeisfeilerLehman
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> ethanol, ether = (path, ["C", "C", "O"]), (path, ["C", "O", "C"])
    >>> WeisfeilerLehman(h=1).block([ethanol, ether], [ethanol, ether])
    array([[ 8.,  5.],
           [ 5., 10.]])
    """

    h: int = 3
    label: str = "label"

    def check(self) -> None:
        """Require a number of rounds h."""
        check_count(self, least=0, h=self.h)

    def read(self, items: Any) -> Objects:
        """The patterns of each graph."""
        palette = _Palette()
        return Objects([self._count(graph, palette) for graph in in_time(read_graphs(items, self.label))])

    def tokens(self, item: Any) -> Mapping[Hashable, float]:
        """The patterns of one graph."""
        return self._count(read_graph(item, self.label, "the graph"), _Palette())

    def _count(self, graph: Graph, palette: _Palette) -> Mapping[Hashable, float]:
        neighbours = graph.neighbours.tolist()
        neighbourhoods = [neighbours[start:stop] for start, stop in pairwise(graph.starts.tolist())]
        colours = [palette.of_label(label) for label in graph.labels]
        counts = Counter(colours)
        for _ in range(self.h):
            colours = [
                palette.of_neighbours(own, [colours[i] for i in neighbourhood])
                for own, neighbourhood in zip(colours, neighbourhoods, strict=True)
            ]
            counts.update(colours)
        return {palette.tokens[colour]: count for colour, count in counts.items()}


@dataclass
class ShortestPath(TokenKernel):
    """The shortest-path kernel: common pairs of labels at common distances.

    It counts the pairs of pairs of nodes with the same two labels and the same number of edges between them [1]_; pairs
    that no path joins do not count. A graph without any edge therefore has kernel 0 with everything. It has an explicit
    map: the counts of ``(label, distance, label)``.

    Parameters
    ----------
    label : str, default="label"
        The node attribute of networkx graphs that holds the label.

    References
    ----------
    .. [1] K. M. Borgwardt and H.-P. Kriegel, "Shortest-path kernels on graphs", ICDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.graphs import ShortestPath
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> ethanol, ether = (path, ["C", "C", "O"]), (path, ["C", "O", "C"])
    >>> ShortestPath().block([ethanol, ether], [ethanol, ether])
    array([[3., 2.],
           [2., 5.]])
    """

    label: str = "label"

    def read(self, items: Any) -> Objects:
        """The paths of each graph."""
        return Objects([self.tokens(graph) for graph in in_time(read_graphs(items, self.label))])

    def tokens(self, item: Any) -> Mapping[Hashable, float]:
        """The paths of one graph."""
        graph = read_graph(item, self.label, "the graph")
        distances = shortest_path(graph.adjacency, method="D", unweighted=True)
        names, codes = np.unique(np.array(graph.labels), return_inverse=True)
        first, second = np.nonzero(np.triu(np.isfinite(distances), 1))
        one, other, distance = codes[first], codes[second], distances[first, second].astype(np.int64)
        shape = (len(names), len(graph), len(names))  # a distance is below the number of nodes
        keys = np.ravel_multi_index((np.minimum(one, other), distance, np.maximum(one, other)), shape)
        kinds, counts = np.unique(keys, return_counts=True)
        labels = names.tolist()
        return {
            (labels[smaller], steps, labels[larger]): count
            for smaller, steps, larger, count in np.column_stack([*np.unravel_index(kinds, shape), counts]).tolist()
        }


@dataclass
class RandomWalk(Kernel):
    """The geometric random-walk kernel: common walks, of all lengths.

    k(G, H) sums decay^length over the pairs of a walk in G and a walk in H that meet the same labels in the same order,
    which are the walks on the direct product of the graphs [1]_: 1' (I - decay A)^-1 1 with its adjacency matrix A,
    found by conjugate gradients without forming A [2]_ (the loop: cpp/core/pegasos/walks.h).

    Parameters
    ----------
    decay : float, default=0.05
        How much less a walk counts for each edge. The sum over all lengths is finite only if decay < 1 / r^2 with r the
        largest eigenvalue of the adjacency matrix of any of the graphs, which is never above its largest degree:
        the default serves graphs of degree up to 4, such as molecules.
    n_steps : int or None, default=None
        Sum over walks of at most this many edges instead, which is finite for every decay.
    label : str, default="label"
        The node attribute of networkx graphs that holds the label.

    References
    ----------
    .. [1] T. Gärtner, P. Flach and S. Wrobel, "On graph kernels: hardness results and efficient alternatives", COLT
       2003.
    .. [2] S. V. N. Vishwanathan, N. N. Schraudolph, R. Kondor and K. M. Borgwardt, "Graph kernels", JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.graphs import RandomWalk
    >>> edge = np.array([[0, 1], [1, 0]])
    >>> RandomWalk(decay=0.5).block([(edge, ["C", "O"])], [(edge, ["C", "O"]), (edge, ["C", "N"])])
    array([[4., 1.]])
    """

    decay: float = 0.05
    n_steps: int | None = None
    label: str = "label"

    def check(self) -> None:
        """Require a positive decay, and a number of steps that is None or a count."""
        check_positive(self, decay=self.decay)
        if self.n_steps is not None:
            check_count(self, n_steps=self.n_steps)

    def read(self, items: Any) -> Objects:
        """The graphs; those on which the sum does not converge are refused."""
        graphs = read_graphs(items, self.label)
        if self.n_steps is None:
            self._check_convergence(graphs)
        return Objects(graphs)

    def _check_convergence(self, graphs: list[Graph]) -> None:
        # The largest eigenvalue of a product is at most that of the one times that of the other.
        radii = [graph.radius if self.decay * graph.degree**2 >= 1.0 else 0.0 for graph in graphs]
        largest = max(radii, default=0.0)
        if self.decay * largest**2 >= 1.0 - 1e-9:
            raise PegasosError(
                f"decay {self.decay} is too large: the sum over the walks of graph {radii.index(largest)} needs one "
                f"below {_round_down(1.0 / largest**2)}; lower it, or set n_steps to bound the length of the walks."
            )

    def evaluate(self, a: Items, b: Items) -> Floats:
        """Evaluate each pair, a few rows of the block at a time, so that an interrupt takes effect between them."""
        assert isinstance(a, Objects)
        assert isinstance(b, Objects)
        block = np.empty((len(a), len(b)))
        at_once = max(1, _WORK_AT_ONCE * len(a) // max(1, sum(map(len, a.values)) * sum(map(len, b.values))))
        if len(a) <= at_once:
            return self._fill(a, b, block)
        for start in range(0, len(a), at_once):
            first = start if a is b else 0
            rows, others = Objects(a.values[start : start + at_once]), Objects(b.values[first:])
            block[start : start + at_once, first:] = self._fill(rows, others, np.empty((len(rows), len(others))))
        return np.triu(block) + np.triu(block, 1).T if a is b else block

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The kernel of each graph with itself."""
        assert isinstance(a, Objects)
        return self._fill(a, a, np.empty(len(a)))

    def _fill(self, a: Objects, b: Objects, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        mine = _side_by_side(a.values)
        theirs = mine if b is a else _side_by_side(b.values)  # of the same graphs, one triangle will do
        _core.walks(mine, theirs, float(self.decay), self.n_steps or 0, values, n_threads())
        if not np.isfinite(values).all():
            raise PegasosError(
                f"the walks of {self.n_steps} steps with decay {self.decay} are too many for a floating-point number; "
                "lower one of them."
            )
        return values


_WORK_AT_ONCE = 50_000_000  # pairs of nodes in a call of the core: about a second, with few steps and few neighbors


def _side_by_side(graphs: list[Graph]) -> _core.Graphs:
    """As the core reads them."""
    none = np.empty(0, np.int64)
    return _core.Graphs(
        np.concatenate([none, *(graph.codes for graph in graphs)]),
        starts_of([len(graph) for graph in graphs]),
        starts_of(np.concatenate([none, *(np.diff(graph.starts) for graph in graphs)])),
        np.concatenate([none, *(graph.neighbours for graph in graphs)]),
    )


def _round_down(value: float) -> float:
    """To three digits, never up."""
    scale = 10.0 ** (2 - int(np.floor(np.log10(value))))
    return float(np.floor(value * scale) / scale)
