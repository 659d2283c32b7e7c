"""float32 rows and kernels: fit, certify, certified and predict are about the same kernel, that in double."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons

from pegasos import KernelPegasosClassifier
from pegasos.estimators.warnings import GapWarning
from pegasos.gram import KernelRows
from pegasos.kernels import RBF, Polynomial
from pegasos.kernels.vector import ChiSquared, Intersection, Laplacian, Linear


def moons():
    X, y = make_moons(300, noise=0.3, random_state=0)
    steps = np.linspace(-1.5, 2.5, 60), np.linspace(-1, 1.5, 60)
    grid = np.stack(np.meshgrid(*steps), -1).reshape(-1, 2)
    return X.astype(np.float32), y, grid.astype(np.float32)


@pytest.mark.parametrize("C", [1.0, 1e5, 1e7])
def test_single_precision_rows_are_predicted_and_certified_as_double_ones(C):
    X, y, grid = moons()
    model = KernelPegasosClassifier(C=C, gamma=2.0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(grid), model.predict(grid.astype(float)))
    assert model.certify(X, y).relative_gap == pytest.approx(model.certificate_.relative_gap, rel=1e-6, abs=1e-9)
    assert model.certify(X.astype(float), y).relative_gap <= 1e-3


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_several_classes_of_single_precision_rows_are_predicted_as_double_ones(multi_class):
    X, _, grid = moons()
    y = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.2)
    model = KernelPegasosClassifier(C=30.0, gamma=2.0, multi_class=multi_class, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(grid), model.predict(grid.astype(float)))


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_without_tol_the_optimum_of_the_double_kernel_lies_between_dual_and_primal(seed, free):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(60, 1)).astype(np.float32), random.integers(0, 2, 60)
    settings = {"gamma": 2.0, "lam": 1e-7, "random_state": 0, "regularize_intercept": not free}
    model = KernelPegasosClassifier(tol=None, max_iter=200, **settings).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        best = KernelPegasosClassifier(tol=1e-6, max_iter=100_000, time_budget=5.0, **settings).fit(X.astype(float), y)
    assert model.certificate_.dual <= best.certificate_.primal
    assert model.certificate_.primal >= best.certificate_.dual


def test_a_certificate_that_had_no_time_for_double_has_room_for_single_precision():
    X, y, _ = moons()
    kernel = RBF(gamma=2.0)
    model = KernelPegasosClassifier(C=1e3, gamma=2.0, tol=None, max_iter=20, random_state=0).fit(X, y)
    rows = KernelRows.of(kernel, kernel.read(X), 1.0, cache_bytes=1e8, double=False)
    double = KernelRows.of(kernel, kernel.read(X), 1.0, cache_bytes=1e8, double=True)
    coefficients = np.zeros(300)
    coefficients[model.support_] = model.dual_coef_[0]
    counting = rows.counting_single()
    room = counting.score_error(coefficients) * counting.reach(coefficients)
    apart = np.abs(rows.scores_of(coefficients) - double.scores_of(coefficients))
    assert (apart <= room * rows.lengths).all()
    assert counting.score_error(coefficients) > rows.score_error(coefficients)


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(3),
        Polynomial(2, 0.1, 0.0),
        RBF(0.5),
        RBF(0.01),
        Laplacian(0.3),
        ChiSquared(1.0),
        Intersection(),
    ],
    ids=str,
)
def test_values_in_single_precision_are_off_by_no_more_than_the_kernel_says(kernel, scale):
    random = np.random.default_rng(0)
    X = np.abs(scale * random.normal(size=(80, 7))).astype(np.float32)
    items = kernel.read(X)
    single, double = np.empty((80, 80), np.float32), np.empty((80, 80))
    kernel.fill(items, items, single, 0.0)
    kernel.fill(items, items, double, 0.0)
    lengths = np.sqrt(kernel.evaluate_diagonal(items))
    error = kernel.value_error(items, np.float32) + kernel.value_error(items, np.float64)
    assert (np.abs(single - double) <= error * np.outer(lengths, lengths)).all()
