"""Rows and problems: what is read in place, what is derived."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.problem import Problem, Rows, constant, inner
from tests.agreement.interior_point import optimum_of
from tests.problems import LAYOUTS, awkward_problem, small_problems


def test_constants_take_the_memory_of_one_number():
    assert constant(2.0, 10**9).strides == (0,)


def test_rows_are_the_users_own_memory():
    values = np.ones((5, 3), np.float32)
    assert Rows.of(values, 0.0).values is values
    sparse = sp.csr_matrix(values)
    assert Rows.of(sparse, 0.0).values is sparse


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_arrive_elsewhere_with_the_same_scores(layout):
    rows = awkward_problem(layout).rows
    weights = np.linspace(-1.0, 1.0, rows.n_features + 1)
    for some in (rows, rows.view(np.array([5, 2, 2]))):
        arrived = pickle.loads(pickle.dumps(some))
        assert np.array_equal(arrived.scores_of(weights), some.scores_of(weights))
        assert np.array_equal(arrived.squared_norms, some.squared_norms)


@pytest.mark.parametrize("size", [1e-25, 1e-3, 1.0, 1e8, 1e25])
def test_narrow_norms_are_in_single_precision_where_it_can_hold_them(size):
    X = (size * np.random.default_rng(0).normal(size=(50, 7))).astype(np.float32)
    exact = np.linalg.norm(X.astype(np.float64), axis=1)
    narrow, wide = Rows.of(X, 0.0, narrow=True), Rows.of(X, 0.0)
    assert narrow.squared_norms.dtype == (np.float32 if 1e-15 < size < 1e15 else np.float64)
    np.testing.assert_allclose(narrow.squared_norms, exact**2, rtol=1e-6)
    np.testing.assert_allclose(wide.squared_norms, exact**2, rtol=1e-14)
    assert (narrow.lengths >= exact * (1.0 - 1e-15)).all()
    np.testing.assert_allclose(narrow.lengths, exact, rtol=1e-6)


def test_a_row_of_zeros_has_a_narrow_norm():
    assert Rows.of(np.zeros((2, 3), np.float32), 0.0, narrow=True).squared_norms.dtype == np.float32


def test_squares_are_not_narrower_than_their_rows():
    with pytest.raises(ValueError, match="float64"):
        _core.inspect(Rows.of(np.ones((2, 3)), 0.0).native, np.empty(2, np.float32))


def test_squared_norms_include_the_constant_column():
    rows = Rows.of(np.array([[3.0, 4.0], [0.0, 0.0]]), 2.0)
    assert rows.squared_norms.tolist() == [29.0, 4.0]


def test_large_finite_values_are_not_taken_for_infinity():
    assert np.isinf(Rows.of(np.array([[1e200, 1.0]]), 0.0).squared_norms[0])
    with pytest.raises(PegasosError, match="row 1"):
        Rows.of(np.array([[1e200, 1.0], [np.inf, 1.0]]), 0.0)


def test_indices_and_starts_of_different_types_are_brought_together():
    matrix = sp.csr_matrix(np.eye(4))
    matrix.indptr = matrix.indptr.astype(np.int64)
    assert Rows.of(matrix, 0.0).squared_norms.tolist() == [1.0] * 4


def test_the_inner_product_is_in_double():
    third = np.full(10**5, 1 / 3, np.float32)
    assert inner(third, third) == pytest.approx(10**5 * float(np.float32(1 / 3)) ** 2, rel=1e-13)


@given(small_problems())
def test_the_radius_contains_the_optimum(problem):
    assert np.linalg.norm(optimum_of(problem).weights) <= problem.radius * (1 + 1e-6) + 1e-9


def test_the_classic_ball_can_cut_the_optimum_off():
    """x = 1, cost 6, lam 5: the optimum is 1, the ball of radius 1/sqrt(lam) ends at 0.45."""
    rows = Rows.of(np.ones((1, 1)), 0.0)
    problem = Problem(rows, np.ones(1, np.int8), np.array([6.0]), np.zeros(1), lam=5.0, total=1.0)
    assert optimum_of(problem).weights[0] == pytest.approx(1.0, abs=1e-6)
    assert problem.radius == pytest.approx(np.sqrt(6 / 5))
    assert 1 / np.sqrt(problem.lam) < 0.45


def test_empty_columns_are_found_without_a_copy_of_the_indices():
    values = sp.random(20_000, 3000, 0.02, "csr", np.float32, random_state=0)
    values = sp.csr_matrix((values.data, values.indices // 2, values.indptr), shape=values.shape)
    values.sum_duplicates()
    rows = Rows.of(values, 1.0)
    tracemalloc.start()
    found = rows.occupied
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(found, np.unique(values.indices))
    assert peak < values.indices.nbytes / 2
