"""Kernel values that native code computes as they are needed; steps in single precision beside sums in double."""

import numpy as np
import pytest
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, _core
from pegasos.gram import KernelRows
from pegasos.kernels import RBF, Laplacian, Polynomial
from pegasos.machines import kernel as machine
from pegasos.machines import small_problems
from pegasos.native_kernel import NativeKernel


def rows(n=300, d=7, scale=1.0):
    return scale * np.random.default_rng(n + d).normal(size=(n, d))


def blobs(n, d, n_classes, noise=1.0):
    random = np.random.default_rng(n + d)
    y = random.integers(n_classes, size=n)
    X = random.normal(size=(n_classes, d))[y] + noise * random.normal(size=(n, d))
    return X, y


@pytest.mark.parametrize("kernel", [RBF(0.1), Polynomial(3, 0.2, 1.0)], ids=str)
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (37, 5, 3), (300, 300, 70), (129, 64, 9)])
def test_sums_of_columns_that_are_not_stored_equal_numpy(kernel, n, m, d):
    x, random = rows(n, d), np.random.default_rng(0)
    chosen, factors = random.permutation(n)[:m], random.normal(size=min(m, n))
    exact = NativeKernel.of(kernel, kernel.read(x), 0.25)
    scores = random.normal(size=n)
    expected = scores + factors @ (kernel.block(x[chosen], x) + 0.25)
    exact.add_sums(chosen, factors, scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_have_the_same_bits_for_any_number_of_threads(dtype):
    x = rows(2000, 20).astype(dtype)
    norms = np.square(x, dtype=np.float64).sum(axis=1)
    sums = []
    for threads in (1, 2, 3):
        scores = np.zeros(len(x))
        points = x[:900], x, norms[:900], norms.astype(dtype)
        _core.kernel_sums("radial", 0.02, 0.0, 1, 0.0, *points, np.linspace(-1, 1, 900), scores, threads)
        sums.append(scores)
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], sums[2])


def test_items_that_native_code_cannot_compute_have_no_native_kernel():
    assert NativeKernel.of(Laplacian(1.0), Laplacian(1.0).read(rows()), 0.0) is None
    assert NativeKernel.of(RBF(1.0), RBF(1.0).read(np.empty((3, 0))), 0.0) is None


def test_rows_far_from_zero_for_their_width_do_not_suit_single_precision():
    assert NativeKernel.of(RBF(0.1), RBF(0.1).read(rows()), 0.0).suits_single
    far = rows(scale=1e3)
    assert not NativeKernel.of(RBF(0.1), RBF(0.1).read(far), 0.0).suits_single


def test_columns_that_are_computed_together_have_the_bits_of_single_ones():
    """900 rows of 60 features exceed the nearest cache; 60 rows of the same do not."""
    X, y = blobs(900, 60, 2)
    kernel = RBF(1 / 60)
    many = KernelRows.of(kernel, kernel.read(X), 0.0, cache_bytes=1e9, double=True, mixed=True)
    assert many.columns.is_mixed
    sign = np.where(y == 1, 1.0, -1.0)
    point = sign.copy(), np.minimum(sign, 0.0), np.maximum(sign, 0.0), np.ones(900), None, 1.0, True, 0.0
    many.columns.climb(point, 0.0, 1e-2, 2000, 1e9)
    assert many.columns.n_kept > 60
    kept = np.flatnonzero(many.columns.slot_of >= 0)[:60]
    few = X[kept]
    single = KernelRows.of(kernel, kernel.read(few), 0.0, cache_bytes=1e9, double=True, mixed=True)
    point = sign[kept], np.minimum(sign[kept], 0.0), np.maximum(sign[kept], 0.0), np.ones(60), None, 1.0, True, 0.0
    single.columns.climb(point, 0.0, 1e-2, 2000, 1e9)
    here = np.flatnonzero(single.columns.slot_of >= 0)
    assert len(here) > 10
    for k in here:
        np.testing.assert_array_equal(
            single.columns.table[single.columns.slot_of[k]], many.columns.table[many.columns.slot_of[kept[k]]][kept]
        )


def measured_gap(model, X, y, C, gamma):
    """P and D of a binary machine with a free intercept, from numpy's kernel matrix."""
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    b = np.zeros(len(X))
    b[model.support_] = np.ravel(model.dual_coef_)
    squares = np.square(X).sum(axis=1)
    K = np.exp(-gamma * np.maximum(0.0, squares[:, None] + squares - 2 * X @ X.T))
    scores = K @ b
    primal = 0.5 * b @ scores + C * np.maximum(0.0, 1.0 - sign * (scores + model.intercept_[0])).sum()
    assert abs(b.sum()) < 1e-9 * np.abs(b).sum()
    assert np.abs(b).max() <= C * (1 + 1e-12)
    return (primal - (np.abs(b).sum() - 0.5 * b @ scores)) / primal


@pytest.mark.parametrize("d", [6, 60])
@pytest.mark.parametrize(("C", "tol"), [(1.0, 1e-3), (1.0, 1e-6), (100.0, 1e-5), (1e4, 1e-3)])
def test_steps_in_single_precision_reach_a_gap_that_is_true_in_double(d, C, tol, monkeypatch):
    monkeypatch.setattr(machine, "_MIXED_FROM", 512)
    monkeypatch.setattr(machine, "_MIXED_STRENGTH", np.inf)
    X, y = blobs(700, d, 2)
    gamma = 1.0 / d
    model = KernelPegasosClassifier(C=C, gamma=gamma, tol=tol, regularize_intercept=False).fit(X, y)
    certificate = model.certificate_
    assert certificate.relative_gap <= tol
    assert measured_gap(model, X, y, C, gamma) == pytest.approx(certificate.relative_gap, abs=1e-2 * tol)


@pytest.mark.parametrize(("d", "tol"), [(5, 1e-3), (100, 1e-3), (5, 1e-6), (100, 1e-6)])
def test_pairs_in_single_precision_find_the_machines_of_libsvm(d, tol, monkeypatch):
    monkeypatch.setattr(small_problems, "_FEW_BYTES", 0)
    X, y = blobs(600, d, 4)
    settings = {"C": 10.0, "gamma": 1.0 / d}
    model = KernelPegasosClassifier(tol=tol, multi_class="ovo", regularize_intercept=False, **settings).fit(X, y)
    assert all(each.relative_gap <= tol for each in model.certificate_.parts)
    other = SVC(tol=1e-8, **settings).fit(X, y)
    assert np.mean(model.predict(X) == other.predict(X)) > 1 - 2 * tol - 1e-2
    apart = np.abs(model.decision_function(X) - other.decision_function(X)).max() if tol < 1e-4 else 0.0
    assert apart < 1e-2


def test_pairs_in_single_precision_give_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(small_problems, "_FEW_BYTES", 0)
    X, y = blobs(1500, 70, 3)
    fits = [
        KernelPegasosClassifier(C=10.0, gamma=1 / 70, multi_class="ovo", regularize_intercept=False, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    one, two = (fit.fit(X, y).dual_coef_ for fit in fits)
    np.testing.assert_array_equal(one, two)


def test_a_regression_with_repeated_rows_is_certified():
    X = rows(700, 5)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    model = KernelPegasosRegressor(C=10.0, gamma=0.2, tol=1e-4, regularize_intercept=False).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-4
