"""Graph kernels count what their papers say: against relabelling by hand, Floyd-Warshall and Kronecker products."""

import itertools
from collections import Counter
from hashlib import blake2b

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.kernels import graphs as kernels
from pegasos.kernels.graph_reading import Graph, read_graphs
from pegasos.kernels.graphs import RandomWalk, ShortestPath, WeisfeilerLehman

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
EDGE = np.array([[0, 1], [1, 0]])


def random_graphs(seed, n_graphs=7, labels="CNO"):
    rng = np.random.default_rng(seed)
    for _ in range(n_graphs):
        n = int(rng.integers(1, 9))
        upper = np.triu(rng.random((n, n)) < 0.35, 1)
        yield (upper | upper.T).astype(int), rng.choice(list(labels), n).tolist()


GRAPHS = list(random_graphs(0))
ALL = [WeisfeilerLehman(2), ShortestPath(), RandomWalk(0.01), RandomWalk(0.5, n_steps=3)]


def refined(graph, h):
    """Every pattern written out in full."""
    adjacency, labels = graph
    labels = [str(label) for label in labels]
    found = Counter(labels)
    for _ in range(h):
        labels = [
            f"{own}({','.join(sorted(labels[j] for j in np.flatnonzero(row)))})"
            for own, row in zip(labels, adjacency, strict=True)
        ]
        found.update(labels)
    return found


def paths(graph):
    adjacency, labels = graph
    distance = np.where(adjacency > 0, 1.0, np.inf)
    n = len(labels)
    for k, i, j in itertools.product(range(n), repeat=3):
        distance[i, j] = min(distance[i, j], distance[i, k] + distance[k, j])
    return Counter(
        (*sorted([labels[i], labels[j]]), distance[i, j])
        for i, j in itertools.combinations(range(n), 2)
        if np.isfinite(distance[i, j])
    )


def walks(one, other, decay, n_steps):
    """On the direct product, formed in full."""
    (A, left), (B, right) = one, other
    alike = np.array([a == b for a in left for b in right], dtype=float)
    product = decay * np.kron(A, B) * np.outer(alike, alike)
    if n_steps is None:
        return alike @ np.linalg.solve(np.eye(len(alike)) - product, alike)
    return sum(alike @ np.linalg.matrix_power(product, length) @ alike for length in range(n_steps + 1))


def inner(one, other):
    return sum(count * other[token] for token, count in one.items())


@pytest.mark.parametrize("h", [0, 1, 3])
def test_weisfeiler_lehman_counts_patterns_written_out_in_full(h):
    found = [refined(graph, h) for graph in GRAPHS]
    expected = [[inner(one, other) for other in found] for one in found]
    np.testing.assert_array_equal(WeisfeilerLehman(h).block(GRAPHS, GRAPHS), expected)


def test_shortest_path_counts_the_distances_of_floyd_and_warshall():
    found = [paths(graph) for graph in GRAPHS]
    expected = [[inner(one, other) for other in found] for one in found]
    np.testing.assert_array_equal(ShortestPath().block(GRAPHS, GRAPHS), expected)
    assert ShortestPath().tokens((PATH, ["C", "O", "C"])) == {("'C'", 1, "'O'"): 2, ("'C'", 2, "'C'"): 1}


@pytest.mark.parametrize(("decay", "n_steps"), [(0.01, None), (0.06, None), (0.5, 1), (2.0, 4)])
def test_random_walk_sums_the_walks_on_the_kronecker_product(decay, n_steps):
    expected = [[walks(one, other, decay, n_steps) for other in GRAPHS] for one in GRAPHS]
    np.testing.assert_allclose(RandomWalk(decay, n_steps).block(GRAPHS, GRAPHS), expected, rtol=1e-11)


def test_random_walk_converges_up_to_the_largest_decay():
    graph = (PATH, None)  # with largest eigenvalue sqrt(2)
    assert RandomWalk(0.4999).block([graph], [graph])[0, 0] == pytest.approx(
        walks((PATH, "CCC"), (PATH, "CCC"), 0.4999, None)
    )
    with pytest.raises(
        PegasosError, match=r"decay 0.5 is too large: .* graph 1 needs one below 0.(499|5); lower it, or set n_steps"
    ):
        RandomWalk(0.5).block([(EDGE, None), graph], [graph])
    assert np.isfinite(RandomWalk(0.5, n_steps=50).block([graph], [graph])).all()


@pytest.mark.parametrize("n_steps", [None, 4])
def test_random_walk_does_not_depend_on_the_threads_nor_on_which_pairs_are_asked_for(monkeypatch, n_steps):
    graphs = list(random_graphs(3, n_graphs=60))
    kernel = RandomWalk(0.01, n_steps)
    monkeypatch.setattr(kernels, "n_threads", lambda: 1)
    expected = kernel.block(graphs, graphs)
    np.testing.assert_array_equal(expected, expected.T)
    monkeypatch.setattr(kernels, "n_threads", lambda: 3)
    np.testing.assert_array_equal(kernel.block(graphs, graphs), expected)
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "_WORK_AT_ONCE", 10_000)  # some seven rows
        np.testing.assert_array_equal(kernel.block(graphs, graphs), expected)
        np.testing.assert_allclose(kernel.block(graphs[:20], graphs), expected[:20], rtol=1e-13)
    np.testing.assert_allclose(kernel.block(list(graphs), graphs), expected, rtol=1e-13)
    np.testing.assert_allclose(kernel.block(graphs[::-1], graphs)[::-1], expected, rtol=1e-13)
    some = kernel.read(graphs).take(np.array([7, 3, 3]))
    np.testing.assert_allclose(kernel.evaluate(some, kernel.read(graphs)), expected[[7, 3, 3]], rtol=1e-13)


def test_graphs_for_the_core_that_are_not_sound_are_refused():
    sound = {"labels": [1, 1, 2], "nodes": [0, 2, 3], "links": [0, 1, 2, 2], "neighbours": [1, 0]}
    broken = [
        ({"nodes": [0, 2]}, "nodes must go from 0"),
        ({"nodes": []}, "nodes must go from 0"),
        ({"nodes": [0, 4, 3]}, "nodes must .* not decrease"),
        ({"links": [0, 1, 2]}, "links must have an entry for each node"),
        ({"links": [0, 1, 2, 3]}, "links must go from 0"),
        ({"links": [0, 2, 1, 2]}, "links must .* not decrease"),
        ({"neighbours": [1, 2]}, "a neighbor is not in the graph"),
        ({"neighbours": [-1, 0]}, "a neighbor is not in the graph"),
    ]
    for change, message in broken:
        with pytest.raises(ValueError, match=message):
            _core.Graphs(**{key: np.array(value, np.int64) for key, value in (sound | change).items()})
    graphs = _core.Graphs(**{key: np.array(value, np.int64) for key, value in sound.items()})
    for shape in ((2, 3), (3,), (2, 2, 1)):
        with pytest.raises(ValueError, match="out must be"):
            _core.walks(graphs, graphs, 0.1, 2, np.empty(shape), 1)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_every_graph_kernel_is_a_kernel(kernel):
    others = list(random_graphs(1, n_graphs=4))
    block = kernel.block(GRAPHS, others)
    pairs = [[kernel.block([one], [other])[0, 0] for other in others] for one in GRAPHS]
    np.testing.assert_allclose(block, pairs, rtol=1e-11)
    np.testing.assert_allclose(kernel.block(others, GRAPHS), block.T, rtol=1e-11)
    square = kernel.block(GRAPHS, GRAPHS)
    np.testing.assert_allclose(kernel.diagonal(GRAPHS), np.diag(square), rtol=1e-11)
    eigenvalues = np.linalg.eigvalsh(square)
    assert eigenvalues[0] >= -1e-11 * eigenvalues[-1]
    assert kernel.block([], GRAPHS).shape == (0, len(GRAPHS))
    if kernel.has_features:
        left, right = kernel.features(GRAPHS, others)
        np.testing.assert_array_equal((left @ right.T).toarray(), block)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_the_order_of_the_nodes_does_not_matter(kernel):
    rng = np.random.default_rng(2)
    shuffled = []
    for adjacency, labels in GRAPHS:
        order = rng.permutation(len(labels))
        shuffled.append((adjacency[np.ix_(order, order)], [labels[i] for i in order]))
    np.testing.assert_allclose(kernel.block(shuffled, GRAPHS), kernel.block(GRAPHS, GRAPHS), rtol=1e-11)


@pytest.mark.parametrize("kernel", ALL, ids=str)
@pytest.mark.parametrize(
    "make", [sp.csr_matrix, sp.coo_array, lambda A: A.tolist(), lambda A: 2.5 * A, lambda A: A > 0]
)
def test_adjacency_in_any_form(kernel, make):
    same = [(make(adjacency), np.array(labels)) for adjacency, labels in GRAPHS]
    np.testing.assert_allclose(kernel.block(same, GRAPHS), kernel.block(GRAPHS, GRAPHS), rtol=1e-12)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_graphs_of_networkx(kernel):
    networkx = pytest.importorskip("networkx")
    same = []
    for adjacency, labels in GRAPHS:
        graph = networkx.from_numpy_array(adjacency, create_using=networkx.MultiGraph)
        networkx.set_node_attributes(graph, dict(enumerate(labels)), "atom")
        graph.add_edges_from(list(graph.edges()))  # an edge that is there twice counts once
        same.append(networkx.relabel_nodes(graph, {i: f"node {i}" for i in graph}))
    kernel = type(kernel)(**kernel.get_params() | {"label": "atom"})
    np.testing.assert_allclose(kernel.block(same, GRAPHS), kernel.block(GRAPHS, GRAPHS), rtol=1e-12)
    nameless = type(kernel)(**kernel.get_params() | {"label": "absent"})
    without = [(adjacency, None) for adjacency, _ in GRAPHS]
    np.testing.assert_allclose(nameless.block(same, without), nameless.block(without, without), rtol=1e-12)


def test_networkx_graphs_that_cannot_be_used_raise_an_error():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(PegasosError, match=r"graph 1 is directed; use graph.to_undirected\(\)"):
        ShortestPath().read([networkx.path_graph(2), networkx.DiGraph([(0, 1)])])
    with pytest.raises(PegasosError, match=r"got a single graph; write \[graph\]"):
        ShortestPath().read(networkx.path_graph(2))
    with pytest.raises(PegasosError, match="graph 0 is empty; leave out graphs without nodes"):
        ShortestPath().read([networkx.Graph()])


def test_a_loop_makes_a_node_its_own_neighbor():
    (graph,) = read_graphs([(np.array([[1, 1], [1, 0]]), "ab")], "label")
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[1.0, 1.0], [1.0, 0.0]])
    assert graph.degree == 2
    assert graph.radius == pytest.approx((1 + np.sqrt(5)) / 2)
    assert isinstance(graph, Graph)
    assert read_graphs([graph], "label") == [graph]


def test_labels_of_mixed_types_are_compared_by_equality():
    labels = ["1", 1, None, (1, "a"), frozenset("xyz"), 0.5]
    same = ["1", np.float64(1.0), None, (np.int32(1), "a"), frozenset("zyx"), np.float32(0.5)]
    n = len(labels)
    adjacency = np.ones((n, n)) - np.eye(n)
    for kernel in [WeisfeilerLehman(), ShortestPath(), RandomWalk(0.01)]:
        one, other = (adjacency, labels), (adjacency, same)
        assert kernel.block([one], [other]) == kernel.block([one], [one])
    assert WeisfeilerLehman(0).block([(adjacency, labels)], [(adjacency, labels)]) == n
    assert WeisfeilerLehman(0).block([(EDGE, ["1", True])], [(EDGE, [1, "True"])]) == 1


def test_tokens_are_the_same_in_every_process_and_whatever_else_is_read():
    graph = (PATH, ["C", "O", "C"])
    alone = WeisfeilerLehman(2).tokens(graph)
    assert WeisfeilerLehman(2).read([*GRAPHS, graph]).values[-1] == alone

    def digest(*parts):
        return blake2b(b"".join(parts), digest_size=16).digest()

    carbon, oxygen = digest(b"'C'"), digest(b"'O'")
    assert WeisfeilerLehman(1).tokens(graph) == {
        (0, carbon): 2,
        (0, oxygen): 1,
        (1, digest(carbon, oxygen)): 2,
        (1, digest(oxygen, carbon, carbon)): 1,
    }
    assert {iteration for iteration, _ in alone} == {0, 1, 2}
    assert all(len(digest) == 16 for _, digest in alone)


def test_composition_of_graph_kernels():
    kernel = WeisfeilerLehman(1).normalized() + 2 * ShortestPath()
    features = kernel.features(GRAPHS)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel.block(GRAPHS, GRAPHS), rtol=1e-12)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (7, r"graph 1 is of type int, not a graph; give graphs of networkx, or pairs \(adjacency, labels\)"),
        (PATH, "graph 1 is of type ndarray, not a graph"),
        ((np.ones((2, 3)), None), r"graph 1 must have a square adjacency matrix, got shape \(2, 3\)"),
        (([1, 2], None), r"graph 1 must have a square adjacency matrix, got shape \(2,\)"),
        (([[1, 2], [1]], None), "graph 1 must have a square adjacency matrix: "),
        ((np.array([["a"]]), None), "graph 1 must have an adjacency matrix of numbers without NaN"),
        ((np.array([[np.nan]]), None), "graph 1 must have an adjacency matrix of numbers without NaN"),
        ((PATH, ["C", "O"]), "graph 1 has 3 nodes and 2 labels; give each node one"),
        ((PATH, {0: "C"}), "graph 1 must have a list of labels, .* or None, got {0: 'C'}"),
        ((PATH, 5), "graph 1 must have a list of labels, .* or None, got 5"),
        ((np.array([[0, 1], [0, 0]]), None), "graph 1 must be undirected, .* an edge from 0 to 1 and none back"),
        ((sp.csr_array([[0, 0], [1, 0]]), None), "graph 1 must be undirected, .* an edge from 1 to 0 and none back"),
        ((np.zeros((0, 0)), None), "graph 1 is empty; leave out graphs without nodes"),
        ((EDGE, ["C", ["O"]]), "graph 1 has a node label of type list, .* use strings, numbers or tuples"),
        ((EDGE, ["C", object()]), "graph 1 has a node label of type object"),
    ],
)
@pytest.mark.parametrize("kernel", ALL[:3], ids=lambda kernel: type(kernel).__name__)
def test_what_is_not_a_graph_raises_an_error(kernel, item, message):
    with pytest.raises(PegasosError, match=message):
        kernel.read([(PATH, None), item])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeisfeilerLehman(-1), "h of WeisfeilerLehman must be a whole number of at least 0, got -1"),
        (lambda: RandomWalk(0.0), "decay of RandomWalk must be a positive number, got 0.0"),
        (lambda: RandomWalk(0.1, n_steps=0), "n_steps of RandomWalk must be a whole number of at least 1, got 0"),
        (lambda: ShortestPath().read(5), "expected a list of graphs, got int"),
        (lambda: RandomWalk(1e9, 50).block(GRAPHS, GRAPHS), "walks of 50 steps with decay 1000000000.0 are too many"),
    ],
)
def test_parameters_that_cannot_be_used_raise_an_error(make, message):
    with pytest.raises(PegasosError, match=message):
        make()
