"""The algebra of kernels is that of their matrices; fields of records are found wherever they are kept."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos.errors import PegasosError
from pegasos.kernels.base import Kernel, Objects, TokenKernel
from pegasos.kernels.composition import Exp, Normalized, On, Scaled, Sum, on


@dataclass(frozen=True)
class Rows:
    values: np.ndarray

    def __len__(self):
        return len(self.values)

    def take(self, indices):
        return Rows(self.values[indices])


@dataclass
class Dot(Kernel):
    """<x, z> + shift, of dense rows."""

    shift: float = 0.0
    takes_vectors = True
    has_features = True

    def read(self, items):
        assert np.ndim(items) == 2
        return Rows(np.asarray(items))

    def evaluate(self, a, b):
        return a.values @ b.values.T + a.values.dtype.type(self.shift)

    def evaluate_diagonal(self, a):
        return (a.values**2).sum(axis=1).astype(np.float64) + self.shift

    def map(self, *collections):
        return tuple(np.hstack([items.values, np.full((len(items), 1), np.sqrt(self.shift))]) for items in collections)


@dataclass
class Letters(TokenKernel):
    """Counts of letters."""

    def tokens(self, item):
        return {letter: item.count(letter) for letter in item}


@dataclass
class Echo(Kernel):
    """A kernel on anything, to see what it is given."""

    def read(self, items):
        return Objects(items)


matrices = arrays(np.float64, (4, 3), elements=st.floats(-3.0, 3.0, width=32))
composites = [
    (Dot() + Dot(1.0), lambda K: 2 * K + 1),
    (Dot() * Dot(1.0), lambda K: K * (K + 1)),
    (2.5 * Dot(), lambda K: 2.5 * K),
    (Dot() * 3, lambda K: 3 * K),
    (Dot(1.0) ** 3, lambda K: (K + 1) ** 3),
    (Exp(0.1 * Dot()), lambda K: np.exp(0.1 * K)),
    (Dot(1.0).normalized(), lambda K: (K + 1) / np.sqrt(np.outer(np.diag(K) + 1, np.diag(K) + 1))),
    (2 * (Dot() + Dot(1.0)).normalized() + Dot() ** 2, None),
]


@pytest.mark.parametrize(("kernel", "oracle"), composites, ids=lambda value: type(value).__name__)
@given(X=matrices)
def test_composition_agrees_with_numpy_and_stays_a_kernel(kernel, oracle, X):
    block = kernel.block(X, X)
    if oracle is not None:
        np.testing.assert_allclose(block, oracle(X @ X.T), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(block, block.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(block), rtol=1e-12, atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(block)
    assert eigenvalues[0] >= -1e-12 * max(eigenvalues[-1], 1.0)


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in composites], ids=lambda kernel: type(kernel).__name__)
def test_a_block_is_made_of_its_pairs_and_can_be_taken_apart(kernel):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    block = kernel.block(A, B)
    pairs = [[kernel.block(x[np.newaxis], z[np.newaxis])[0, 0] for z in B] for x in A]
    np.testing.assert_allclose(block, pairs, rtol=1e-12)
    some = kernel.read(A).take(np.array([3, 0]))
    assert len(some) == 2
    np.testing.assert_allclose(kernel.evaluate(some, kernel.read(B)), block[[3, 0]], rtol=1e-12)
    np.testing.assert_allclose(kernel.evaluate_diagonal(some), kernel.diagonal(A)[[3, 0]], rtol=1e-12)


@pytest.mark.parametrize("kernel", [Dot() + Dot(1.0), 4 * Dot(), Dot(1.0).normalized()])
def test_explicit_maps_of_dense_features(kernel):
    A, B = np.random.default_rng(1).normal(size=(2, 5, 3))
    assert kernel.has_features
    left, right = kernel.features(A, B)
    np.testing.assert_allclose(left @ right.T, kernel.block(A, B), rtol=1e-12)


@pytest.mark.parametrize("kernel", [Letters() + Letters(), 4 * Letters(), (Letters() + 2 * Letters()).normalized()])
def test_explicit_maps_of_sparse_features(kernel):
    A, B = ["abba", "", "cab"], ["bad", "aaa"]
    left, right = kernel.features(A, B)
    assert sp.issparse(left)
    np.testing.assert_allclose((left @ right.T).toarray(), kernel.block(A, B), rtol=1e-12)
    alone = kernel.features(A)
    np.testing.assert_allclose((alone @ alone.T).toarray(), kernel.block(A, A), rtol=1e-12)


def test_a_dense_map_beside_a_sparse_one():
    kernel = on(0, Letters()) + on([1, 2], Dot())
    records = [("ab", 1.0, 2.0), ("bc", 3.0, 0.0)]
    features = kernel.features(records)
    assert features.format == "csr"
    np.testing.assert_allclose((features @ features.T).toarray(), kernel.block(records, records))


@pytest.mark.parametrize("kernel", [Dot() * Dot(), Dot() ** 2, Exp(Dot()), Dot() + Dot() ** 2])
def test_what_has_no_explicit_map_says_so(kernel):
    assert not kernel.has_features
    with pytest.raises(PegasosError, match="has no explicit feature map"):
        kernel.features(np.ones((2, 2)))


def test_an_item_of_length_0_has_kernel_0_with_everything():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(Normalized(Dot()).block(X, X), [[0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(Normalized(Dot()).diagonal(X), [0.0, 1.0])
    np.testing.assert_array_equal(Normalized(Letters()).features(["", "a"]).toarray(), [[0.0], [1.0]])


def test_a_composite_takes_vectors_exactly_if_all_its_parts_do():
    assert (Dot() + 2 * Dot() ** 2).takes_vectors
    assert Exp(Dot().normalized()).takes_vectors
    assert not (Dot() + Letters()).takes_vectors
    assert not (Letters().normalized() ** 2).takes_vectors
    assert not on(0, Dot()).takes_vectors


def test_single_precision_stays_single_except_under_exp():
    X = np.ones((2, 3), dtype=np.float32)
    for kernel in [Dot() + Dot(), Dot() * Dot(), np.float64(2.0) * Dot(), Dot() ** 2, Dot().normalized()]:
        assert kernel.block(X, X).dtype == np.float32
        assert kernel.diagonal(X).dtype == np.float64
    assert Exp(100 * Dot()).block(X, X)[0, 0] == pytest.approx(np.exp(300.0))


def test_parameters_are_known_by_name_all_the_way_down():
    kernel = 2.0 * (Dot(1.0) + Letters())
    assert kernel.get_params()["kernel__left__shift"] == 1.0
    assert kernel.set_params(kernel__left__shift=3.0, factor=5.0) == Scaled(5.0, Sum(Dot(3.0), Letters()))


def test_a_collection_that_can_be_walked_once_is_walked_once():
    words = ["ab", "b"]
    np.testing.assert_array_equal((Letters() + Letters()).block(iter(words), words), 2 * Letters().block(words, words))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scaled(0.0, Dot()), "factor of Scaled must be a positive number, got 0.0"),
        (lambda: -1 * Dot(), "factor of Scaled must be a positive number, got -1"),
        (lambda: True * Dot(), "factor of Scaled must be a positive number, got True"),
        (lambda: Dot() ** 0, "exponent of Power must be a whole number of at least 1, got 0"),
        (lambda: Dot() ** 0.5, "exponent of Power must be a whole number of at least 1, got 0.5"),
        (lambda: Sum(Dot(), "rbf"), r"Sum is made of kernels, got 'rbf'; .* as_kernel\(function\)"),
        (lambda: Normalized(None), "Normalized is made of kernels, got None"),
        (lambda: On("a", max), "On is made of kernels"),
        (lambda: on([], Dot()), r"field of On must be a name, a position, .* got \[\]"),
        (lambda: on(None, Dot()), "field of On must be .* got None"),
        (lambda: (2 * Dot()).set_params(factor=-2.0), "must be a positive number"),
    ],
)
def test_what_makes_no_kernel_is_refused(make, message):
    with pytest.raises(PegasosError, match=message):
        make()


@pytest.mark.parametrize(
    ("kernel", "name"), [(Exp(Dot()), "Exp"), (Dot() ** 200, "Power"), (Dot() ** 60 * Dot() ** 60, "Product")]
)
def test_overflow_says_to_scale_or_normalize(kernel, name):
    X = np.full((2, 1), 100.0)
    message = (
        rf"{name} of kernel values .* too large .* scale the inner kernel down \(0.01 \* k\) or use k.normalized\(\)"
    )
    with pytest.raises(PegasosError, match=message):
        kernel.block(X, X)
    with pytest.raises(PegasosError, match=message):
        kernel.diagonal(X)
    assert np.isfinite(Exp(Dot().normalized()).block(X, X)).all()


def test_what_has_a_negative_square_cannot_be_normalized():
    with pytest.raises(PegasosError, match=r"item 1 has k\(x, x\) = -1 under Dot\(shift=-2.0\)"):
        Dot(-2.0).normalized().block(np.array([[2.0], [1.0]]), np.ones((1, 1)))


AGES, NAMES, SIZES = [36.0, 41.0, 28.0], ["ada", "alan", "emmy"], [1, 2, 3]


RECORDS = list(zip(AGES, NAMES, SIZES, strict=True))
NAMED = ["age", "name", "size"]
STRUCTURED = np.array(RECORDS, dtype=[("age", "f8"), ("name", "U9"), ("size", "i4")])


@pytest.mark.parametrize(
    ("items", "fields"),
    [
        ([dict(zip(NAMED, record, strict=True)) for record in RECORDS], NAMED),
        (RECORDS, [0, 1, 2]),
        (np.array(RECORDS, dtype=object), [0, 1, -1]),
        (STRUCTURED, NAMED),
        (STRUCTURED, [0, 1, 2]),
    ],
    ids=["dicts", "tuples", "objects", "structured", "structured by position"],
)
def test_a_field_is_found_in_lists_and_arrays(items, fields):
    check_fields(items, fields)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_field_is_found_in_frames(library):
    frame = pytest.importorskip(library).DataFrame({"age": AGES, "name": NAMES, "size": SIZES})
    check_fields(frame, ["age", "name", "size"])
    with pytest.raises(PegasosError, match="there is no column 'weight'; there are: 'age', 'name', 'size'"):
        on("weight", Dot()).read(frame)


def check_fields(items, fields):
    age, name, size = fields
    np.testing.assert_array_equal(on(age, Dot()).read(items).values, np.array(AGES).reshape(-1, 1))
    both = on([size, age], Dot()).read(items).values
    np.testing.assert_array_equal(both, np.column_stack([SIZES, AGES]))
    assert both.dtype == np.float64
    assert both.flags.c_contiguous
    assert on(name, Echo()).read(items).values == NAMES
    assert on([name, size], Echo()).read(items).values == list(zip(NAMES, SIZES, strict=True))
    kernel = on(age, Dot()) * on(name, Letters()).normalized()
    np.testing.assert_allclose(
        kernel.block(items, items), np.outer(AGES, AGES) * Letters().normalized().block(NAMES, NAMES)
    )


def test_records_that_can_be_walked_once_give_several_fields():
    items = (record for record in [(1.0, 2.0), (3.0, 4.0)])
    np.testing.assert_array_equal(on([0, 1], Dot()).read(items).values, [[1.0, 2.0], [3.0, 4.0]])


def test_columns_of_matrices_dense_and_sparse():
    X = np.arange(6, dtype=np.float32).reshape(2, 3)
    dense = on([2, 0], Dot()).read(X).values
    assert dense.dtype == np.float32
    np.testing.assert_array_equal(dense, X[:, [2, 0]])
    np.testing.assert_array_equal(on(1, Echo()).read(sp.csr_array(X)).values, X[:, 1])

    @dataclass
    class Sparse(Echo):
        takes_vectors = True

    chosen = on([2, 0], Sparse()).read(sp.csc_array(X)).values
    assert chosen.format == "csr"
    np.testing.assert_array_equal(chosen.toarray(), X[:, [2, 0]])


def test_a_field_may_hold_a_vector_in_each_record():
    records = [{"x": np.array([1.0, 2.0])}, {"x": [3.0, 4.0]}]
    np.testing.assert_array_equal(on("x", Dot()).read(records).values, [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("field", "items", "message"),
    [
        ("b", [{"a": 1}], "record 0 has no field 'b'; it has the fields 'a'"),
        (2, [(1, 2, 3), (1, 2)], "record 1 has no field 2; it has 2 values, numbered from 0"),
        ("a", [(1, 2)], "record 0 has no field 'a'; it has 2 values"),
        (0, [5], "record 0 has no field 0; it has no fields at all, being of type int"),
        ("a", np.ones((2, 2)), "field 'a' is not a column of a matrix of 2 columns .* give a position from 0 to 1"),
        (2, np.ones((2, 2)), "field 2 is not a column of a matrix of 2 columns"),
        (2, sp.csr_array(np.ones((2, 2))), "field 2 is not a column of a matrix of 2 columns"),
        ("b", np.ones(2, dtype=[("a", "f8")]), "there is no column 'b'; there are: 'a'"),
        ("a", [{"a": "x"}], r"field 'a' cannot be read as numbers, .* \(they are of type <U1\)"),
        ("a", [{"a": [1, 2]}, {"a": [1]}], "field 'a' cannot be read as numbers"),
        ("a", [{"a": np.eye(2)}], r"field 'a' holds arrays of shape \(2, 2\); its kernel needs vectors"),
        (0, "text", "expected a list of records, got str"),
    ],
)
def test_a_field_that_cannot_be_used_raises_an_error(field, items, message):
    with pytest.raises(PegasosError, match=message):
        on(field, Dot()).read(items)


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(PegasosError, match="there is more than one column 'a'"):
        on("a", Echo()).read(frame)


@pytest.mark.parametrize("call", ["block", "diagonal"])
def test_a_kernel_of_ones_own_that_lacks_a_part_is_told_which(call):
    @dataclass
    class Half(Kernel):
        def read(self, items):
            return Objects(list(items))

    collections = [[1, 2]] * {"block": 2, "diagonal": 1}[call]
    with pytest.raises(PegasosError, match="Half has no evaluate"):
        getattr(Half(), call)(*collections)
