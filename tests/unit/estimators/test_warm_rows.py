"""Warm starts with more rows than the last fit had, or fewer: the same optimum, in no more passes than from zero."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.preprocessing import scale

import pegasos
from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, PegasosClassifier, PegasosRegressor


def shuffled(X, y):
    order = np.random.default_rng(1).permutation(len(y))
    return X[order], y[order]


SETS = {
    "cancer": shuffled(scale(load_breast_cancer().data), load_breast_cancer().target),
    "wine": shuffled(scale(load_wine().data), load_wine().target),
    "made": shuffled(*make_classification(1200, 20, n_informative=8, flip_y=0.1, random_state=0)),
}
MODELS = [
    PegasosClassifier(lam=1e-3),
    PegasosClassifier(C=1.0),
    PegasosClassifier(lam=1e-3, multi_class="ovo"),
    PegasosClassifier(lam=1e-3, multi_class="crammer_singer"),
    PegasosClassifier(lam=1e-3, regularize_intercept=False),
    PegasosClassifier(lam=1e-3, loss="squared_hinge", class_weight="balanced"),
    PegasosClassifier(lam=1e-2, solver="dual"),
    PegasosRegressor(lam=1e-3),
    PegasosRegressor(lam=1e-3, regularize_intercept=False),
    KernelPegasosClassifier(C=1.0),
    KernelPegasosRegressor(C=1.0),
]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_more_and_fewer_rows_reach_the_same_optimum_in_no_more_passes(name, model):
    X, y = SETS[name]
    passes = np.zeros(2)
    for first, second in [(0.9, 1.0), (0.5, 1.0), (1.0, 0.8)]:
        before, now = int(first * len(y)), int(second * len(y))
        cold = clone(model).set_params(random_state=0).fit(X[:now], y[:now])
        warm = clone(model).set_params(random_state=0, warm_start=True).fit(X[:before], y[:before])
        warm.fit(X[:now], y[:now])
        apart = abs(warm.certificate_.primal - cold.certificate_.primal)
        assert apart <= max(warm.certificate_.gap, cold.certificate_.gap) + 1e-12
        assert warm.certificate_.relative_gap <= warm.tol
        passes += cold.n_iter_, warm.n_iter_
    assert passes[1] <= passes[0] + 1


def test_dual_ascent_gains_from_the_rows_that_it_knows():
    X, y = make_classification(3000, 40, n_informative=10, flip_y=0.1, random_state=0)
    model = PegasosClassifier(lam=1e-4, solver="dual", random_state=0)
    cold = clone(model).fit(X, y)
    warm = clone(model).set_params(warm_start=True).fit(X[:2850], y[:2850]).fit(X, y)
    assert warm.n_iter_ <= 0.7 * cold.n_iter_


@pytest.mark.parametrize("solver", ["dual", "auto"])
def test_other_rows_start_from_the_weights_and_are_certified(solver):
    X, y = SETS["made"]
    model = PegasosClassifier(lam=1e-3, solver=solver, random_state=0)
    cold = clone(model).fit(X[::-1], y[::-1])
    warm = clone(model).set_params(warm_start=True).fit(X[:1000], y[:1000]).fit(X[::-1], y[::-1])
    assert abs(warm.certificate_.primal - cold.certificate_.primal) <= cold.certificate_.gap + warm.certificate_.gap
    assert warm.n_iter_ <= cold.n_iter_


def test_a_model_file_without_its_dual_point_starts_from_its_weights(tmp_path):
    X, y = SETS["made"]
    model = PegasosClassifier(lam=1e-3, solver="dual", warm_start=True, random_state=0).fit(X, y)
    cold = model.n_iter_
    pegasos.save(model, tmp_path / "lean.pegasos", dual=False)
    lean = pegasos.load(tmp_path / "lean.pegasos").fit(X, y)
    assert lean.certificate_.relative_gap <= lean.tol
    assert lean.n_iter_ <= cold


def test_other_classes_features_and_kernel_matrices_start_from_zero():
    X, y = SETS["made"]
    model = PegasosClassifier(lam=1e-3, solver="dual", warm_start=True, random_state=0).fit(X[:900], y[:900])
    fresh = PegasosClassifier(lam=1e-3, solver="dual", random_state=0).fit(X[:, :7], y + 5)
    assert np.array_equal(model.fit(X[:, :7], y + 5).coef_, fresh.coef_)
    K = X @ X.T
    matrix = KernelPegasosClassifier("precomputed", C=0.1, warm_start=True, random_state=0).fit(K[:900, :900], y[:900])
    again = KernelPegasosClassifier("precomputed", C=0.1, random_state=0).fit(K, y)
    assert np.array_equal(matrix.fit(K, y).dual_coef_, again.dual_coef_)
