"""Plain functions as kernels: which of the two kinds they are is detected, and nonsense raises an error."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.kernels.callables import FunctionKernel, as_kernel
from pegasos.kernels.composition import on

A, B = np.random.default_rng(0).normal(size=(2, 5, 4))


def dot(x, z):
    return x @ z


def gaussian(x, z):
    return np.exp(-np.sum((x - z) ** 2))


def sparse_dot(x, z):
    return x @ z.T


def jaccard(x, z):
    return len(set(x) & set(z)) / len(set(x) | set(z))


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("function", [dot, np.dot, gaussian, lambda x, z: 2 * np.inner(x, z)])
def test_functions_of_two_rows(function, n_features):
    X, Z = np.random.default_rng(1).normal(size=(2, 5, n_features))
    kernel = as_kernel(function)
    np.testing.assert_allclose(kernel.block(X, Z), [[function(x, z) for z in Z] for x in X])
    np.testing.assert_allclose(kernel.diagonal(X), [function(x, x) for x in X])


@pytest.mark.parametrize("n_items", [1, 2, 5])
def test_functions_of_two_matrices_are_called_once_a_block(n_items):
    calls = []

    def linear(X, Z):
        calls.append((len(X), len(Z)))
        return X @ Z.T

    X = A[:n_items]
    kernel = as_kernel(linear)
    items, others = kernel.read(X), kernel.read(B)
    calls.clear()
    np.testing.assert_allclose(kernel.evaluate(items, others), X @ B.T)
    assert calls == [(n_items, 5)]
    np.testing.assert_allclose(kernel.evaluate_diagonal(items), (X**2).sum(axis=1))


def test_kernels_of_scikit_learn():
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    np.testing.assert_allclose(as_kernel(pairwise.rbf_kernel).block(A, B), pairwise.rbf_kernel(A, B))
    np.testing.assert_allclose(as_kernel(pairwise.rbf_kernel).diagonal(A), 1.0)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("function", [sparse_dot, lambda x, z: (x @ z.T).toarray(), lambda x, z: x.multiply(z).sum()])
def test_rows_of_sparse_matrices(make, function):
    kernel = as_kernel(function)
    np.testing.assert_allclose(kernel.block(make(A), make(B)), A @ B.T)
    np.testing.assert_allclose(kernel.diagonal(make(A)), (A**2).sum(axis=1))


def test_lists_of_anything():
    words, others = ["abc", "bcd", "x"], ["ax", "d"]
    kernel = as_kernel(jaccard)
    expected = [[jaccard(x, z) for z in others] for x in words]
    np.testing.assert_allclose(kernel.block(words, others), expected)
    np.testing.assert_allclose(kernel.diagonal(words), 1.0)
    together = as_kernel(lambda X, Z: np.array([[jaccard(x, z) for z in Z] for x in X]))
    assert together.read(words).whole
    np.testing.assert_allclose(together.block(words, others), expected)
    some = kernel.read(words).take(np.array([2, 0]))
    np.testing.assert_allclose(kernel.evaluate(some, kernel.read(others)), np.array(expected)[[2, 0]])
    assert len(some) == 2


def test_rows_of_frames():
    pandas = pytest.importorskip("pandas")
    np.testing.assert_allclose(as_kernel(dot).block(pandas.DataFrame(A), B), A @ B.T)


def test_values_are_in_double_whatever_the_rows_are():
    X = np.ones((2, 3), dtype=np.float32)
    assert as_kernel(lambda X, Z: X @ Z.T).block(X, X).dtype == np.float64
    assert as_kernel(lambda X, Z: (X @ Z.T).astype(int)).block(X, X).dtype == np.float64


def test_empty_collections_give_empty_blocks():
    assert as_kernel(dot).block([], [A[0]]).shape == (0, 1)
    assert as_kernel(dot).block(A, A[:0]).shape == (5, 0)
    assert as_kernel(dot).diagonal([]).shape == (0,)


def test_functions_compose_like_any_kernel():
    kernel = as_kernel(dot).normalized() ** 2 + on(0, as_kernel(lambda a, b: a * b))
    lengths = np.linalg.norm(A, axis=1)
    np.testing.assert_allclose(
        kernel.block(A, A), (A @ A.T / np.outer(lengths, lengths)) ** 2 + np.outer(A[:, 0], A[:, 0])
    )
    assert as_kernel(kernel) is kernel


def raises(x, z):
    raise KeyError("lost")


def changes_its_mind(X, Z):
    return X @ Z.T if len(X) < 5 else np.ones(3)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, z: "near", r"<lambda> gave 'near' for two items; expected a number .* shape \(len\(A\), len\(B\)\)"),
        (lambda x, z: None, "gave None for two items"),
        (lambda x, z: 1j, "gave 1j for two items"),
        (lambda x, z: [1.0, 2.0], r"gave an array of shape \(2,\) for two items"),
        (lambda x, z: np.nan, "gave nan for two items; expected a finite number"),
        (lambda x: 1.0, "the kernel function <lambda> failed .* TypeError"),
        (raises, "the kernel function raises failed on arguments of types ndarray and ndarray with KeyError: 'lost'"),
        (changes_its_mind, r"gave an array of shape \(3,\) .* 5 and 5 items; expected numbers of shape \(5, 5\)"),
        (lambda X, Z: (X @ Z.T).astype(str), r"gave an array of shape \(5, 5\) and type <U\d+"),
        (lambda X, Z: X @ Z.T / 0.0 if len(X) == 5 else X @ Z.T, "gave NaN or infinity; expected finite numbers"),
    ],
)
def test_what_comes_back_must_be_numbers(function, message):
    with pytest.raises(PegasosError, match=message), np.errstate(divide="ignore"):
        as_kernel(function).block(A, A)


def test_the_exception_of_the_function_is_the_cause():
    with pytest.raises(PegasosError) as caught:
        as_kernel(raises).block(A, A)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("rbf", "expected a kernel or a function of two items, got 'rbf'"),
        (FunctionKernel, r"expected a kernel, got its class; write FunctionKernel\(\)"),
    ],
)
def test_what_is_not_a_function_is_refused(value, message):
    with pytest.raises(PegasosError, match=message):
        as_kernel(value)


def test_a_function_kernel_needs_a_function():
    with pytest.raises(PegasosError, match="a kernel function must be callable, got 5"):
        FunctionKernel(5)
    with pytest.raises(PegasosError, match="expected a list of items, got int"):
        as_kernel(dot).read(5)
