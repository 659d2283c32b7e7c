"""Kernels on rows of numbers against plain numpy in double, whatever the layout and the type."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.gram import KernelRows
from pegasos.kernels import RBF, ChiSquared, Intersection, Laplacian, Linear, Polynomial
from pegasos.kernels.vector import products
from pegasos.problem import Rows
from tests.problems import LAYOUTS, in_layout


def squared_distances(a, b):
    return np.square(a[:, None, :] - b[None, :, :]).sum(axis=2)


def chi_squared_distances(a, b):
    difference, total = a[:, None, :] - b[None, :, :], a[:, None, :] + b[None, :, :]
    return np.where(total > 0, difference**2 / np.where(total > 0, total, 1.0), 0.0).sum(axis=2)


# Each kernel with its formula in numpy.
KERNELS = {
    "linear": (Linear(), lambda a, b: a @ b.T),
    "polynomial": (Polynomial(3, 0.3, 0.5), lambda a, b: (0.3 * (a @ b.T) + 0.5) ** 3),
    "polynomial of degree 1": (Polynomial(1, 2.0, 0.0), lambda a, b: 2.0 * (a @ b.T)),
    "polynomial of degree 6": (Polynomial(6, 0.05, 1.0), lambda a, b: (0.05 * (a @ b.T) + 1.0) ** 6),
    "rbf by gamma": (RBF(0.2), lambda a, b: np.exp(-0.2 * squared_distances(a, b))),
    "rbf by sigma": (RBF(sigma=1.5), lambda a, b: np.exp(-squared_distances(a, b) / 4.5)),
    "laplacian": (Laplacian(0.1), lambda a, b: np.exp(-0.1 * np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2))),
    "chi squared": (ChiSquared(0.3), lambda a, b: np.exp(-0.3 * chi_squared_distances(a, b))),
    "intersection": (Intersection(), lambda a, b: np.minimum(a[:, None, :], b[None, :, :]).sum(axis=2)),
}
TOLERANCE = {np.dtype(np.float32): 3e-5, np.dtype(np.float64): 1e-12}

every_kernel = pytest.mark.parametrize(("kernel", "formula"), KERNELS.values(), ids=KERNELS)


def histograms(n, d, seed, dtype=np.float64):
    """Rows that every kernel takes: not negative, half of them 0, with a row of zeros and a row that is there twice."""
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) * (random.random((n, d)) < 0.5)).astype(dtype)
    if n > 3:
        X[1], X[3] = 0.0, X[2]
    return X


def assert_near(block, expected, dtype=np.float64):
    assert block.dtype == dtype
    assert block.shape == expected.shape
    atol = TOLERANCE[np.dtype(dtype)] * max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(block, expected, rtol=0, atol=atol)


# Around the widths of the vectors of every instruction set, and of the blocks of sparse products.
sizes = st.sampled_from((1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65))
features = st.sampled_from((0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100))
layouts = st.sampled_from(LAYOUTS)
types = st.sampled_from((np.float32, np.float64))


@every_kernel
@given(data=st.data())
def test_a_block_equals_numpy_for_any_shape_layout_and_type(kernel, formula, data):
    n, m, d = data.draw(sizes), data.draw(sizes), data.draw(features)
    left_type, right_type = data.draw(types), data.draw(types)
    A, B = histograms(n, d, 0, left_type), histograms(m, d, 1, right_type)
    expected = formula(A.astype(np.float64), B.astype(np.float64))
    block = kernel.block(in_layout(A, data.draw(layouts)), in_layout(B, data.draw(layouts)))
    assert_near(block, expected, np.result_type(left_type, right_type))


@every_kernel
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_diagonal_is_that_of_the_block(kernel, formula, layout, dtype):
    X = histograms(40, 30, 2, dtype)
    diagonal = kernel.diagonal(in_layout(X, layout))
    assert diagonal.dtype == np.float64
    wide = X.astype(np.float64)
    np.testing.assert_allclose(diagonal, np.diag(formula(wide, wide)), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(diagonal, np.diag(kernel.block(X, X)), rtol=3e-5, atol=1e-6)


@every_kernel
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_block_with_itself_is_symmetric_and_positive_semi_definite(kernel, formula, layout):
    X = in_layout(histograms(50, 21, 3), layout)
    block = kernel.block(X, X)
    np.testing.assert_allclose(block, block.T, rtol=1e-14, atol=1e-14)
    assert np.linalg.eigvalsh(block)[0] >= -1e-10 * np.linalg.eigvalsh(block)[-1]


@every_kernel
@pytest.mark.parametrize("layouts", [("dense", "dense"), ("dense", "csr int32"), ("csr int64", "dense")])
def test_fill_writes_the_block_plus_a_constant_into_a_part_of_a_larger_array(kernel, formula, layouts):
    A, B = histograms(9, 17, 4), histograms(19, 17, 5)
    room = np.full((12, 30), -7.0)
    left, right = (in_layout(matrix, layout) for matrix, layout in zip((A, B), layouts, strict=True))
    kernel.fill(kernel.read(left), kernel.read(right), room[2:11, 3:22], 2.25)
    assert_near(room[2:11, 3:22], formula(A, B) + 2.25)
    room[2:11, 3:22] = -7.0
    assert (room == -7.0).all()


@every_kernel
def test_more_rows_than_are_computed_at_once_make_no_difference(kernel, formula):
    X = histograms(2500, 3, 6)
    assert_near(kernel.block(X[:5], X), formula(X[:5], X))
    assert_near(kernel.block(sp.csr_array(X), X[:5]), formula(X, X[:5]))


@every_kernel
def test_rows_of_different_lengths_are_refused(kernel, formula):
    with pytest.raises(PegasosError, match="rows of one length, got 3 and 4 features"):
        kernel.block(np.ones((2, 3)), np.ones((2, 4)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [0.0, 100.0, 3000.0])
def test_a_gaussian_of_float32_rows_survives_a_large_common_offset(layout, offset):
    random = np.random.default_rng(0)
    X = (offset + random.normal(size=(60, 20))).astype(np.float32)
    wide = X.astype(np.float64)
    block = RBF(0.05).block(in_layout(X, layout), in_layout(X[:23], layout))
    assert block.dtype == np.float32
    np.testing.assert_allclose(block, np.exp(-0.05 * squared_distances(wide, wide[:23])), rtol=0, atol=3e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gaussian_of_a_row_with_itself_never_exceeds_one(dtype):
    X = (50.0 * np.random.default_rng(1).normal(size=(40, 33))).astype(dtype)
    block = RBF(0.3).block(X, X.copy())
    assert (block <= 1.0).all()
    assert (np.diag(block) > 1.0 - 1e-4).all()


@pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(1.0)], ids=str)
def test_far_rows_have_a_kernel_of_exactly_zero(kernel):
    X = np.array([[0.0], [1e4], [-1e4]])
    np.testing.assert_array_equal(kernel.block(X, X), np.eye(3))


def test_numbers_of_other_types_are_read_as_double():
    ints = np.arange(6).reshape(3, 2)
    for given_rows in (ints, ints.astype(np.uint8), ints.tolist(), ints.astype(object), sp.coo_array(ints)):
        block = RBF(0.1).block(given_rows, given_rows)
        assert_near(block, np.exp(-0.1 * squared_distances(ints, ints)))
    assert_near(Linear().block(np.eye(3, dtype=bool), np.eye(3)), np.eye(3))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (RBF, "give gamma or sigma of RBF, one of the two: got None and None"),
        (lambda: RBF(1.0, 2.0), r"one of the two: got 1\.0 and 2\.0"),
        (lambda: RBF(0.0), r"gamma of RBF must be a positive number, got 0\.0"),
        (lambda: RBF(gamma=-1), "gamma of RBF must be a positive number, got -1"),
        (lambda: RBF(sigma=np.nan), "sigma of RBF must be a positive number, got nan"),
        (lambda: RBF(gamma="wide"), "got 'wide'"),
        (lambda: RBF(gamma=True), "got True"),
        (lambda: Laplacian(0.0), "gamma of Laplacian must be a positive number"),
        (lambda: ChiSquared(np.inf), "gamma of ChiSquared must be a positive number, got inf"),
        (lambda: Polynomial(0), "degree of Polynomial must be a whole number of at least 1, got 0"),
        (lambda: Polynomial(2.5), r"degree of Polynomial must be a whole number of at least 1, got 2\.5"),
        (lambda: Polynomial(2, 0.0), "gamma of Polynomial must be a positive number"),
        (
            lambda: Polynomial(2, 1.0, -0.5),
            r"coef0 of Polynomial must be a finite number .* got -0\.5",
        ),
        (
            lambda: Polynomial(2, 1.0, np.nan),
            "a finite number that is not negative, got nan",
        ),
        (
            lambda: Polynomial(2, 1.0, np.inf),
            "a finite number that is not negative, got inf",
        ),
        (lambda: Polynomial(2).set_params(degree=-1), "degree of Polynomial must be a whole number"),
        (lambda: RBF(1.0).set_params(width=2.0), "RBF has no parameter 'width'; it has: gamma, sigma"),
        (lambda: Linear().set_params(gamma=2.0), "Linear has no parameter 'gamma'; it has: none"),
    ],
)
def test_parameters_that_make_no_kernel_are_refused(make, sentence):
    with pytest.raises(PegasosError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("kernel", "rows", "sentence"),
    [
        (RBF(1.0), ["ab", "cd"], "RBF is a kernel of rows of numbers"),
        (RBF(1.0), [1.0, 2.0], r"RBF needs a matrix of rows, got an array of shape \(2,\)"),
        (Linear(), [[1.0, np.nan]], "NaN or infinity in row 0"),
        (Linear(), [[1.0], [1.0, 2.0]], "Linear is a kernel of rows of numbers"),
        (ChiSquared(1.0), [[1.0, -2.0]], r"ChiSquared is a kernel of histograms, .* got -2\.0"),
        (Intersection(), sp.csr_array([[0.0, -3.0]]), r"Intersection is a kernel of histograms, .* got -3\.0"),
    ],
)
def test_rows_that_a_kernel_cannot_take_are_refused(kernel, rows, sentence):
    with pytest.raises(PegasosError, match=sentence):
        kernel.block(rows, rows)


@every_kernel
def test_parameters_can_be_read_set_and_cloned(kernel, formula):
    copy = clone(kernel)
    assert copy == kernel
    assert copy is not kernel
    assert type(kernel)(**kernel.get_params()) == kernel
    assert copy.set_params(**kernel.get_params()) == kernel


def test_a_changed_parameter_changes_the_kernel():
    kernel = Polynomial().set_params(degree=2, coef0=0.0)
    assert kernel.block([[2.0]], [[3.0]]) == [[36.0]]


class TestNativePieces:
    """The loops below the kernels: accurate, and the same for any number of threads."""

    @pytest.mark.parametrize(("dtype", "units"), [(np.float64, 4), (np.float32, 4)])
    def test_the_exponential_is_accurate_to_a_few_units_in_the_last_place(self, dtype, units):
        x = np.linspace(0.0, 86.0, 10_007).astype(dtype)
        values = np.zeros((1, len(x)), dtype)
        # exp(-1 * (0 + x - 2 * 0)): the norms on the right are the exponents.
        _core.apply_kernel("radial", 1.0, 0.0, 1, 0.0, values, np.zeros(1), x, 1)
        expected = np.exp(-x.astype(np.longdouble))
        error = np.abs(values[0] - expected) / np.spacing(expected.astype(dtype))
        assert error.max() <= units
        assert values[0, 0] == 1.0

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_the_exponential_ends_at_zero(self, dtype):
        x = np.array([86.9, 87.5, 100.0, 340.0, 347.0, 1e4, 1e30, np.inf], dtype)
        values = np.zeros((1, len(x)), dtype)
        _core.apply_kernel("radial", 1.0, 0.0, 1, 0.0, values, np.zeros(1), x, 1)
        assert (np.diff(values[0]) <= 0.0).all()
        assert (values[0] >= 0.0).all()
        assert (values[0, 4:] == 0.0).all()
        np.testing.assert_allclose(values[0], np.exp(-x.astype(np.float64)), rtol=1e-4, atol=1e-37)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("shape", ["polynomial", "radial"])
    def test_apply_kernel_does_not_depend_on_threads(self, shape, dtype):
        random = np.random.default_rng(0)
        products = random.normal(size=(37, 61)).astype(dtype)
        left, right = random.uniform(4, 9, 37), random.uniform(4, 9, 61).astype(dtype)
        blocks = [products.copy() for _ in range(2)]
        for n_threads, block in enumerate(blocks, start=1):
            _core.apply_kernel(shape, 0.3, 0.5, 3, 0.25, block, left, right, n_threads)
        np.testing.assert_array_equal(*blocks)
        p = products.astype(np.float64)
        expected = {
            "polynomial": (0.3 * p + 0.5) ** 3 + 0.25,
            "radial": np.exp(-0.3 * np.maximum(0.0, left[:, None] + right - 2 * p)) + 0.25,
        }
        assert_near(blocks[0], expected[shape], dtype)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("layout", LAYOUTS[1:])
    def test_sparse_products_do_not_depend_on_threads(self, layout, dtype):
        X = histograms(301, 47, 7, dtype)
        rows, width = Rows.of(in_layout(X, layout), 0.0), _core.products_width(dtype == np.float32)
        for n in (1, width - 1, width):
            Z = histograms(n, 47, 8, dtype)
            transposed = np.zeros((47, width), dtype)
            transposed[:, :n] = Z.T
            out = [np.full((n, 301), np.nan, dtype) for _ in range(2)]
            for n_threads, block in enumerate(out, start=1):
                _core.csr_products(rows.native, transposed, block, n_threads)
            np.testing.assert_array_equal(*out)
            assert_near(out[0], Z.astype(np.float64) @ X.T.astype(np.float64), dtype)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("term", ["absolute", "chi_squared", "smaller"])
    def test_pair_sums_do_not_depend_on_threads(self, term, dtype):
        A, B = histograms(33, 41, 9, dtype), histograms(29, 41, 10, dtype)
        out = [np.full((33, 29), np.nan, dtype) for _ in range(2)]
        for n_threads, block in enumerate(out, start=1):
            _core.pair_sums(term, A, B, block, n_threads)
        np.testing.assert_array_equal(*out)
        a, b = A.astype(np.float64), B.astype(np.float64)
        expected = {
            "absolute": np.abs(a[:, None] - b[None]).sum(axis=2),
            "chi_squared": chi_squared_distances(a, b),
            "smaller": np.minimum(a[:, None], b[None]).sum(axis=2),
        }
        assert_near(out[0], expected[term], dtype)

    @pytest.mark.parametrize("far", [0.0, 1e6])
    @pytest.mark.parametrize("n_features", [1, 5, 64])
    @pytest.mark.parametrize("kernel", [RBF(0.1), Polynomial(3, 0.5, 1.0), Linear()])
    def test_an_ascent_computes_the_columns_that_a_load_does(self, kernel, n_features, far):
        random = np.random.default_rng(3)
        X = random.normal(size=(203, n_features)) + (far if isinstance(kernel, RBF) else 0.0)
        rows = KernelRows.of(kernel, kernel.read(X), 0.5, cache_bytes=1e8, double=True)
        sign = np.where(random.random(203) < 0.5, 1.0, -1.0)
        down, up = np.minimum(sign, 0.0), np.maximum(sign, 0.0)
        point = sign.copy(), down, up, rows.squared_norms, None, 1.0, True, 0.0
        assert rows.columns.climb(point, 0.0, 1e-6, 100_000, 1e9)[0] > 0
        known = np.flatnonzero(rows.columns.slot_of >= 0)
        assert 0 < rows.columns.n_kept == len(known)
        expected = rows.values.block(known, np.arange(203))
        scale = np.sqrt(np.outer(rows.squared_norms[known], rows.squared_norms))
        assert (np.abs(rows.columns.table[rows.columns.slot_of[known]] - expected) <= 1e-8 * scale).all()

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("n_columns", [1, 7, 1023, 1024, 1025, 5003])
    def test_sums_of_columns_are_in_double_and_do_not_depend_on_threads(self, n_columns, dtype):
        random = np.random.default_rng(4)
        table = random.normal(size=(9, n_columns)).astype(dtype)
        slots, factors = np.array([8, 0, 3, 3, 5]), random.normal(size=5)
        start = random.normal(size=n_columns)
        scores = [start.copy() for _ in range(2)]
        for n_threads, each in enumerate(scores, start=1):
            _core.add_columns(table, slots, factors, each, n_threads)
        np.testing.assert_array_equal(*scores)
        expected = start + factors @ table[slots].astype(np.float64)
        np.testing.assert_allclose(scores[0], expected, rtol=0, atol=1e-13)


# Around the tiles of every instruction set, and around the least rows and features that are packed.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "m", "d"), [(1, 5, 3), (7, 33, 40), (8, 33, 40), (13, 65, 33), (29, 70, 100), (3, 9, 300)]
)
def test_a_block_of_dense_rows_is_that_of_numpy_and_the_same_in_any_number_of_threads(n, m, d, dtype):
    random = np.random.default_rng(n * m + d)
    a, b = (random.normal(size=(rows, d)).astype(dtype) for rows in (n, m))
    blocks = [np.full((n, m + 2), 7.0, dtype) for _ in range(2)]
    norms = np.square(a, dtype=np.float64).sum(axis=1), np.square(b, dtype=np.float64).sum(axis=1).astype(dtype)
    for threads, block in zip((1, 3), blocks, strict=True):
        _core.dense_kernel("radial", 0.5 / d, 0.0, 1, 0.25, a, b, *norms, block[:, 1:-1], threads)
    np.testing.assert_array_equal(*blocks)
    assert (blocks[0][:, [0, -1]] == 7.0).all()  # nothing is written beside the block
    expected = np.exp(-0.5 / d * squared_distances(a.astype(np.float64), b.astype(np.float64))) + 0.25
    assert_near(blocks[0][:, 1:-1], expected, dtype)


def test_a_row_of_a_packed_block_does_not_depend_on_its_neighbors():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(31, 20)), random.normal(size=(45, 20))
    whole = RBF(0.1).block(a, b)
    for begin, end in ((0, 1), (3, 9), (12, 31)):
        np.testing.assert_array_equal(RBF(0.1).block(a[begin:end], b[begin:]), whole[begin:end, begin:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 7, 40])
def test_sums_of_columns_with_twice_the_digits(dtype, n_columns):
    random = np.random.default_rng(n_columns)
    table = (random.normal(size=(30, n_columns)) * 10.0 ** random.integers(-8, 8, size=(30, 1))).astype(dtype)
    slots, factors = random.permutation(30)[:20], random.normal(size=20) * 10.0 ** random.integers(-8, 8, size=20)
    high, low = np.zeros(n_columns), np.zeros(n_columns)
    _core.add_columns_exactly(table, slots, factors, high, low, 2)
    for j in range(n_columns):
        terms = [Fraction(float(f)) * Fraction(float(table[s, j])) for f, s in zip(factors, slots, strict=True)]
        error = abs(Fraction(float(high[j])) + Fraction(float(low[j])) - sum(terms))
        assert error <= Fraction(2) ** -75 * sum(map(abs, terms))


def test_products_are_those_of_numpy():
    random = np.random.default_rng(0)
    for shape in ((1, 700, 45), (9, 700, 45), (20, 3, 2)):
        a, b = random.normal(size=(shape[0], shape[1])), random.normal(size=(shape[2], shape[1]))
        np.testing.assert_allclose(products(a, b), a @ b.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("coef0", [0.0, 1.5])
def test_the_explicit_map_of_a_polynomial_has_its_inner_products(degree, coef0):
    random = np.random.default_rng(degree)
    A, B = random.normal(size=(5, 3)), random.normal(size=(4, 3))
    kernel = Polynomial(degree, gamma=0.7, coef0=coef0)
    a, b = kernel.features(A, sp.csr_matrix(B))
    assert a.shape == (5, math.comb(3 + degree, degree))
    np.testing.assert_allclose((a @ b.T).toarray(), kernel.block(A, B), rtol=1e-12, atol=1e-11)


def test_an_explicit_map_with_too_many_columns_is_refused():
    with pytest.raises(PegasosError, match="has 176851 columns for 100 features"):
        Polynomial(3).features(np.ones((2, 100)))
