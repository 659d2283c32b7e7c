"""Kernel machines with one problem of all classes at once."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.kernels import Spectrum

X, Y = make_classification(300, 6, n_informative=5, n_redundant=0, n_classes=4, class_sep=1.2, random_state=1)
WORDS, KINDS = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc", "efef", "feef", "ffee"], [0, 0, 0, 1, 1, 1, 2, 2, 2]


def model_of(kernel="rbf", **settings):
    return KernelPegasosClassifier(
        kernel, **{"lam": 0.003, "multi_class": "crammer_singer", "random_state": 0, **settings}
    )


def by_hand(model, gram):
    """P and D from the kernel matrix, with the constant column."""
    n, own = np.arange(len(Y)), Y
    coefficients = np.zeros((4, len(Y)))
    coefficients[:, model.support_] = model.dual_coef_
    claims = 1.0 + (coefficients @ (gram + 1.0)).T
    claims[n, own] -= 1.0
    square = np.sum(coefficients * (coefficients @ (gram + 1.0)))
    primal = np.mean(claims.max(axis=1) - claims[n, own]) + 0.5 * model.lam_ * square
    return primal, model.alpha_.sum() / len(Y) - 0.5 * model.lam_ * square


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_certificate_is_that_of_the_kernel(tol, dtype):
    rows = X.astype(dtype)
    model = model_of(gamma=0.2, tol=tol).fit(rows, Y)
    gram = np.exp(-0.2 * np.square(rows[:, None].astype(np.float64) - rows[None]).sum(axis=2))
    primal, dual = by_hand(model, gram)
    assert model.certificate_.relative_gap <= tol
    assert len(model.certificate_.parts) == 1
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-10)
    assert model.certificate_.dual == pytest.approx(dual, rel=1e-10)
    scores = gram[:, model.support_] @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(rows), scores, atol=1e-4 if dtype is np.float32 else 1e-10)
    again = model.certify(rows, Y)
    assert again.gap == pytest.approx(model.certificate_.gap, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("C", [0.1, 100.0, 1e7])
def test_every_fit_ends_certified(C):
    rows, y = load_iris(return_X_y=True)
    assert model_of(lam=None, C=C, tol=1e-6, max_iter=100_000).fit(rows, y).certificate_.relative_gap <= 1e-6


def test_a_rough_factor_is_refined_until_the_kernel_certifies(monkeypatch):
    monkeypatch.setattr("pegasos.machines.joint_kernel._FIRST_ERROR", 300.0)
    model = model_of(gamma=0.2).fit(X, Y)
    assert model.certificate_.relative_gap <= 1e-3


def test_a_linear_kernel_gives_the_linear_machine():
    linear = PegasosClassifier(lam=0.003, multi_class="crammer_singer", tol=1e-7).fit(X, Y)
    kernel = model_of("linear", tol=1e-7).fit(X, Y)
    matrix = model_of("precomputed", tol=1e-7).fit(X @ X.T, Y)
    for model in (kernel, matrix):
        assert model.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-7)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(matrix.decision_function(X @ X.T), linear.decision_function(X), atol=1e-3)
    assert matrix.certify(X @ X.T, Y).relative_gap <= 1e-7
    apart = np.linalg.norm(linear.coef_ - kernel.dual_coef_ @ kernel.support_vectors_)
    assert apart <= linear.certificate_.weight_radius + kernel.certificate_.weight_radius


@pytest.mark.parametrize("kernel", [Spectrum(2), lambda a, b: float(len(set(a) & set(b)))])
def test_strings_are_items_like_any_other(kernel):
    model = model_of(kernel, lam=0.1).fit(WORDS, KINDS)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certify(WORDS, KINDS).relative_gap <= 1e-3
    assert model.predict(["abab", "cdc", "fef"]).tolist() == [0, 1, 2]


def test_a_weight_of_two_is_the_row_twice():
    weights = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    weighted = model_of(tol=1e-7, gamma=0.2).fit(X, Y, sample_weight=weights)
    again = np.repeat(np.arange(len(Y)), weights.astype(int))
    repeated = model_of(tol=1e-7, gamma=0.2).fit(X[again], Y[again])
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=2e-7)


def test_no_exact_solution_decides_a_certified_row_otherwise():
    exact, rough = (model_of(gamma=0.2, tol=tol, max_iter=100_000).fit(X, Y) for tol in (1e-8, 1e-2))
    certified = rough.certified(X)
    assert 0.0 < certified.mean() < 1.0
    assert (rough.predict(X)[certified] == exact.predict(X)[certified]).all()


def test_two_classes_are_an_ordinary_problem():
    model = model_of(gamma=0.2).fit(X[Y < 2], Y[Y < 2])
    assert model.dual_coef_.shape[0] == 1
    assert model.certify(X[Y < 2], Y[Y < 2]).relative_gap <= 1e-3


def test_a_model_is_saved_with_its_prior_and_loaded(tmp_path):
    first = model_of(gamma=0.2).fit(X[:150], Y[:150])
    second = model_of(gamma=0.2, prior=first).fit(X[150:], Y[150:])
    for model in (first, second):
        model.save(tmp_path / "model.pegasos")
        loaded = pegasos.load(tmp_path / "model.pegasos")
        assert (loaded.decision_function(X) == model.decision_function(X)).all()
        assert loaded.certificate_ == model.certificate_
    assert loaded.certify(X[150:], Y[150:]).gap == pytest.approx(second.certificate_.gap, rel=1e-6)


def test_a_warm_start_continues_and_threads_do_not_matter():
    model = model_of(gamma=0.2, tol=0.05, warm_start=True).fit(X, Y)
    dual = model.certificate_.dual
    model.set_params(tol=1e-3).fit(X, Y)
    assert model.trace_["dual"][0] >= 0.98 * dual
    one, two = (model_of(gamma=0.2, n_jobs=n).fit(X, Y) for n in (1, 2))
    assert (one.dual_coef_ == two.dual_coef_).all()


def test_a_report_is_made_and_the_objective_is_that_of_the_certificate():
    model = model_of(gamma=0.2).fit(X, Y)
    assert "300 rows" in repr(model.report(X, Y))
    assert model.objective(X, Y) == pytest.approx(model.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("settings", [{"solver": "pegasos"}, {"approximation": 10}, {"max_support": 10}])
def test_what_is_not_supported_is_refused(settings):
    with pytest.raises(PegasosError, match="crammer_singer"):
        model_of(**settings).fit(X, Y)
    with pytest.raises(AttributeError):
        _ = model_of().partial_fit


def test_a_short_budget_ends_with_an_honest_certificate():
    with pytest.warns(pegasos.GapWarning, match="time_budget"):
        model = model_of(lam=1e-9, gamma=5.0, tol=1e-12, time_budget=0.02).fit(np.vstack([X] * 3), np.tile(Y, 3))
    assert 0.0 <= model.certificate_.dual <= model.certificate_.primal
