"""The interior point method by itself: it reaches any gap, with every feature of a problem, and refuses by name."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError, PegasosRegressor

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"regularize_intercept": False},
        {"loss": "squared_hinge"},
        {"loss": "huber_hinge"},
        {"class_weight": {0: 0.0, 1: 1.0}},
        {"class_weight": "balanced"},
        {"fit_intercept": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("lam", [1.0, 1e-4])
def test_it_reaches_the_optimum_of_the_other_solvers(lam, parameters):
    ours = PegasosClassifier(lam=lam, solver="interior_point", tol=1e-8, **parameters).fit(X, y)
    other = PegasosClassifier(lam=lam, solver="dual", tol=1e-8, **parameters).fit(X, y)
    assert ours.certificate_.relative_gap <= 1e-8
    assert ours.certificate_.primal == pytest.approx(other.certificate_.primal, rel=3e-8)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-3 * np.abs(other.coef_).max())


def test_few_iterations_are_enough_and_support_vectors_are_told_apart():
    model = PegasosClassifier(lam=1e-4, solver="interior_point", tol=1e-8).fit(X, y)
    assert model.n_iter_ <= 30
    assert 0.0 < np.mean(model.alpha_ > 0.0) < 0.2


def test_a_second_fit_begins_at_the_first():
    model = PegasosClassifier(lam=1e-2, solver="interior_point", warm_start=True, tol=1e-6).fit(X, y)
    assert model.fit(X, y).certificate_.relative_gap <= 1e-6


def test_pairs_of_classes_and_regression_have_it_too():
    flowers, kind = load_iris(return_X_y=True)
    pairs = PegasosClassifier(lam=1e-3, solver="interior_point", multi_class="ovo").fit(flowers, kind)
    assert pairs.certificate_.relative_gap <= 1e-3
    line = PegasosRegressor(solver="interior_point").fit(flowers[:, :3], flowers[:, 3])
    assert line.certificate_.relative_gap <= 1e-3


def test_too_large_a_matrix_is_refused_with_its_size():
    random = np.random.default_rng(0)
    wide = random.random((4200, 4200), np.float32)
    with pytest.raises(PegasosError, match="4200 x 4200"):
        PegasosClassifier(solver="interior_point").fit(wide, np.arange(4200) % 2)


def test_all_classes_at_once_and_sources_are_refused():
    flowers, kind = load_iris(return_X_y=True)
    with pytest.raises(PegasosError, match="solver='interior_point' does not support multi_class='crammer_singer'"):
        PegasosClassifier(solver="interior_point", multi_class="crammer_singer").fit(flowers, kind)


def test_smo_is_decomposition():
    smo = KernelPegasosClassifier(solver="smo", random_state=0).fit(X, y)
    decomposition = KernelPegasosClassifier(solver="decomposition", random_state=0).fit(X, y)
    np.testing.assert_array_equal(smo.dual_coef_, decomposition.dual_coef_)
