"""The native passes of the region against numpy, for every layout and type."""

import numpy as np
import pytest

from pegasos import _core
from pegasos.problem import Rows
from tests.problems import LAYOUTS, in_layout


def some_rows(layout, dtype, *, n=300, d=37, share=0.4, bias=0.7, threads=1):
    random = np.random.default_rng(5)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < share)
    X = X.astype(np.float32).astype(dtype)
    return Rows.of(in_layout(X, layout), bias, threads), np.column_stack([X, np.full(n, bias)]).astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("share", [0.05, 0.9])  # rows that are added entry by entry, and rows that are packed
def test_the_weighted_gram_matrix_is_that_of_numpy(layout, dtype, share):
    rows, X = some_rows(layout, dtype, share=share)
    scale = np.random.default_rng(1).exponential(size=len(X))
    scale[::7] = 0.0
    matrix = np.zeros((38, 38))
    _core.weighted_gram(rows.native, scale, matrix)
    np.testing.assert_allclose(np.tril(matrix), np.tril((X * scale[:, None]).T @ X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_bit_depends_on_the_number_of_threads(layout):
    found = []
    for threads in (1, 2, 5):
        rows, X = some_rows(layout, np.float64, n=3000, d=61, threads=threads)
        matrix = np.zeros((62, 62))
        _core.weighted_gram(rows.native, np.linspace(0.1, 2.0, len(X)), matrix)
        matrix = np.tril(matrix) + np.eye(62)
        _core.factor(matrix)
        squares = np.empty(len(X))
        _core.squared_reaches(rows.native, matrix, np.ones(1), squares)
        found.append((np.tril(matrix), squares))
    for matrix, squares in found[1:]:
        assert np.array_equal(matrix, found[0][0])
        assert np.array_equal(squares, found[0][1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("blocks", [[1.0], [1.0, 0.0, -1.0]])
def test_squared_reaches_are_those_of_numpy(layout, blocks):
    rows, X = some_rows(layout, np.float32)
    side = X.shape[1] * len(blocks)
    factor = np.tril(np.random.default_rng(2).normal(size=(side, side)) * 0.1) + 2.0 * np.eye(side)
    squares = np.empty(len(X))
    _core.squared_reaches(rows.native, factor, np.array(blocks), squares)
    expected = np.square(np.linalg.solve(factor, np.kron(np.array(blocks), X).T)).sum(axis=0)
    np.testing.assert_allclose(squares, expected, rtol=1e-10)


def test_a_view_has_the_reaches_of_its_rows():
    rows, X = some_rows("csr int32", np.float64)
    chosen = np.array([5, 2, 250, 2])
    factor = np.eye(X.shape[1])
    squares = np.empty(4)
    _core.squared_reaches(rows.view(chosen).native, factor, np.ones(1), squares)
    np.testing.assert_allclose(squares, np.square(X[chosen]).sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_weighted_sum_is_that_of_numpy(layout):
    rows, X = some_rows(layout, np.float32)
    coefficients = np.random.default_rng(3).normal(size=len(X))
    out = np.ones(X.shape[1])
    _core.weighted_sum(rows.native, coefficients, out)
    np.testing.assert_allclose(out, 1.0 + coefficients @ X, rtol=1e-12, atol=1e-12)


def test_arrays_of_the_wrong_size_are_refused():
    rows, _ = some_rows("dense", np.float64)
    with pytest.raises(ValueError, match="one number per row"):
        _core.weighted_gram(rows.native, np.ones(3), np.zeros((38, 38)))
    with pytest.raises(ValueError, match="one block of the size of a row"):
        _core.squared_reaches(rows.native, np.eye(37), np.ones(1), np.empty(300))
    with pytest.raises(ValueError, match="rows must have features"):
        _core.weighted_sum(_core.scored_rows(3), np.ones(3), np.zeros(4))
