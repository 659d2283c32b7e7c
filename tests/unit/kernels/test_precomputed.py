"""A kernel matrix in place of items."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.precomputed import Precomputed

GRAM = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])


def test_items_are_rows_and_columns_of_the_matrix():
    kernel = Precomputed()
    items = kernel.read(GRAM)
    assert len(items) == 3
    np.testing.assert_array_equal(kernel.evaluate(items, items), GRAM)
    np.testing.assert_array_equal(kernel.block(GRAM, GRAM), GRAM)
    some = items.take(np.array([2, 0]))
    np.testing.assert_array_equal(kernel.evaluate(some, items), GRAM[[2, 0]])
    again = some.take(np.array([1]))
    np.testing.assert_array_equal(kernel.evaluate(again, some), [[2.0, 4.0]])
    np.testing.assert_array_equal(kernel.evaluate_diagonal(some), [6.0, 4.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_read_in_place(dtype):
    gram = GRAM.astype(dtype)
    items = Precomputed().read(gram)
    assert items.matrix is gram
    assert Precomputed().evaluate(items, items).dtype == dtype
    assert Precomputed().evaluate_diagonal(items).dtype == np.float64


@pytest.mark.parametrize("values", [GRAM.astype(int), GRAM.astype(object), GRAM.tolist(), GRAM.astype(np.float16)])
def test_other_numbers_become_double(values):
    items = Precomputed().read(values)
    assert items.matrix.dtype == np.float64
    np.testing.assert_array_equal(items.matrix, GRAM)


def test_composition_reads_the_matrix_too():
    np.testing.assert_allclose((2 * Precomputed() ** 2).block(GRAM, GRAM), 2 * GRAM**2)
    np.testing.assert_allclose(np.diag(Precomputed().normalized().block(GRAM, GRAM)), 1.0)


def test_new_items_against_the_support():
    new = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(Precomputed().read_against(new, 3, np.array([2, 0])), [[2.0, 0.0], [5.0, 3.0]])
    with pytest.raises(PegasosError, match=r"one column for each of the 4 training items, got shape \(2, 3\)"):
        Precomputed().read_against(new, 4, np.array([0]))
    with pytest.raises(PegasosError, match="NaN or infinity in row 0, column 0"):
        Precomputed().read_against(np.full((2, 3), np.inf), 3, np.array([2]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones((3, 4)), r"a precomputed kernel matrix must be square at fit, got shape \(3, 4\)"),
        (np.ones(4), r"a precomputed kernel matrix must have two dimensions, got shape \(4,\)"),
        (sp.csr_array(GRAM), r"must be dense, got a sparse one; use its toarray\(\)"),
        (GRAM + 0j, "must hold real numbers, got type complex128"),
        ([["a"]], "must hold real numbers, got type <U1"),
        (np.array([["a"]], dtype=object), "must hold real numbers: could not convert"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), "contains NaN or infinity in row 1, column 0"),
    ],
)
def test_what_is_not_a_kernel_matrix_raises_an_error(values, message):
    with pytest.raises(PegasosError, match=message):
        Precomputed().read(values)
