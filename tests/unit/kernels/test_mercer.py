"""A function that is not a kernel is refuted by a counterexample that can be checked."""

from dataclasses import dataclass

import numpy as np
import pytest

from pegasos.errors import PegasosError
from pegasos.kernels.base import Kernel, Objects
from pegasos.kernels.callables import as_kernel
from pegasos.kernels.graphs import WeisfeilerLehman
from pegasos.kernels.mercer import Asymmetry, NegativeDirection, check_items, check_mercer
from pegasos.kernels.precomputed import Precomputed

X = np.random.default_rng(0).normal(size=(40, 3))


def gaussian(X, Z):
    return np.exp(-((X[:, np.newaxis] - Z) ** 2).sum(axis=2))


def sigmoid(X, Z):
    return np.tanh(X @ Z.T - 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_items", [1, 2, 40])
def test_kernels_pass(n_items, dtype):
    items = X[:n_items].astype(dtype)
    for function in [gaussian, lambda X, Z: X @ Z.T, lambda X, Z: np.zeros((len(X), len(Z)))]:
        report = check_mercer(function, items)
        assert report.valid
        assert report.symmetric
        assert report.counterexample is None
        assert report.n_items == n_items
    assert str(report) == f"no counterexample among {n_items} items: symmetric, smallest eigenvalue 0."


def test_items_that_occur_twice_are_not_a_counterexample_in_single_precision():
    items = np.repeat(X, 5, axis=0).astype(np.float32)
    assert check_mercer(gaussian, items).valid


def test_a_negative_direction_can_be_checked():
    report = check_mercer(sigmoid, X)
    assert not report.valid
    assert report.symmetric
    found = report.counterexample
    assert isinstance(found, NegativeDirection)
    t, K = found.coefficients, sigmoid(X[found.items], X[found.items])
    assert t @ t == pytest.approx(1.0)
    assert t @ K @ t == pytest.approx(found.value)
    assert found.value < 0.0
    assert report.min_eigenvalue == pytest.approx(np.linalg.eigvalsh(sigmoid(X, X))[0])
    assert str(report).startswith("not a kernel: t'Kt = -")


def test_an_asymmetry_can_be_checked():
    def product(x, z):
        return x * z + (1.0 if (x, z) == (3.0, 1.0) else 0.0)

    report = check_mercer(product, [1.0, 2.0, 3.0])
    assert not report.valid
    assert not report.symmetric
    found = report.counterexample
    assert isinstance(found, Asymmetry)
    items = [1.0, 2.0, 3.0]
    assert product(items[found.first], items[found.second]) == found.value
    assert product(items[found.second], items[found.first]) == found.reversed_value
    assert {found.first, found.second} == {0, 2}
    assert "k(x_0, x_2) = 3, but k(x_2, x_0) = 4" in str(report) or "k(x_2, x_0) = 4, but" in str(report)


def test_a_kernel_that_makes_its_square_blocks_symmetric_is_found_out():
    @dataclass
    class Half(Kernel):
        """Computes the upper triangle of a collection with itself, and mirrors it."""

        def read(self, items):
            return Objects(items)

        def evaluate(self, a, b):
            block = np.array([[float(x <= z) for z in b.values] for x in a.values])
            return np.triu(block) + np.triu(block, 1).T if a.values == b.values else block

    assert (Half().block([1, 2, 3], [1, 2, 3]) == 1.0).all()
    assert not check_mercer(Half(), list(range(30))).symmetric


def test_a_precomputed_matrix():
    K = X @ X.T
    assert check_mercer("precomputed", K).valid
    K[3, 7] += 1.0
    found = check_mercer("precomputed", K).counterexample
    assert {found.first, found.second} == {3, 7}
    assert K[found.first, found.second] == found.value
    with pytest.raises(PegasosError, match="must be square"):
        check_mercer("precomputed", X)


def test_of_many_items_some_are_drawn():
    report = check_mercer(sigmoid, X, max_items=10, random_state=1)
    assert report.n_items == 10
    items = report.counterexample.items
    assert len(set(items.tolist())) == 10
    again = check_items(as_kernel(sigmoid), as_kernel(sigmoid).read(X), max_items=10, random_state=1)
    np.testing.assert_array_equal(again.counterexample.items, items)
    assert check_mercer(sigmoid, X, max_items=10, random_state=np.random.default_rng(1)).min_eigenvalue == (
        report.min_eigenvalue
    )


def test_the_tolerance_decides_what_is_rounding():
    K = np.eye(4)
    K[0, 1] += 1e-6
    assert not check_mercer(Precomputed(), K).symmetric
    assert check_mercer(Precomputed(), K, tol=1e-6).symmetric
    K = np.diag([1.0, -1e-6])
    assert not check_mercer(Precomputed(), K).valid
    assert check_mercer(Precomputed(), K, tol=1e-6).valid
    assert check_mercer(Precomputed(), K.astype(np.float32)).valid


def test_any_kernel_can_be_checked():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert check_mercer(WeisfeilerLehman(), [(path, list(labels)) for labels in ["CCO", "COC", "CNC"]]).valid


def test_what_cannot_be_checked_raises_an_error():
    with pytest.raises(PegasosError, match="no items to check the kernel on"):
        check_mercer(gaussian, [])
    with pytest.raises(PegasosError, match="expected a kernel or a function of two items, got 'rbf'"):
        check_mercer("rbf", X)

    @dataclass
    class Lost(Kernel):
        def read(self, items):
            return Objects(items)

        def evaluate(self, a, b):
            return np.array([[np.nan if (x, z) == (2, 0) else 1.0 for z in b.values] for x in a.values])

    with pytest.raises(PegasosError, match="the kernel of items 2 and 0 is not a finite number"):
        check_mercer(Lost(), [0, 1, 2])
