"""Estimators with a prior against the exact optimum of lam/2 |w - w0|^2 plus the losses, by an interior point."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pegasos import KernelPegasosClassifier, PegasosClassifier
from tests.agreement.interior_point import optimum_of
from tests.reference.objective import PlainProblem

TIGHT = {"tol": 1e-8, "max_iter": 100_000, "random_state": 0}


def source(seed, n=60, d=4):
    """Rows, labels, weights, and a prior that has something to do with them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = rng.normal(size=d)
    y = np.where(X @ truth + 0.7 * rng.normal(size=n) > 0.3, 1, -1)
    y[:2] = -1, 1
    prior = truth + 0.5 * rng.normal(size=d), float(rng.normal())
    return X, y, rng.uniform(0.3, 2.0, n), prior


def exact(X, y, prior, lam, *, cost=1.0, total=None, bias=1.0):
    """The optimum, and the prior as one vector, with the constant column."""
    columns = np.column_stack([X, np.full(len(X), bias)])
    cost = np.broadcast_to(np.asarray(cost, dtype=np.float64), len(X))
    plain = PlainProblem(columns, y.astype(float), cost, np.zeros(len(X)), lam, float(total or len(X)))
    return plain, optimum_of(plain, prior=np.append(prior[0], prior[1] / bias))


@given(st.integers(0, 10**6), st.sampled_from((0.003, 0.1, 3.0)), st.sampled_from((0.5, 1.0, 4.0)))
def test_the_weights_are_those_of_the_exact_optimum(seed, lam, bias):
    X, y, weights, prior = source(seed)
    factors = {-1: 0.5, 1: 3.0}
    model = PegasosClassifier(lam=lam, intercept_scaling=bias, class_weight=factors, prior=prior, **TIGHT)
    model.fit(X, y, weights)
    cost = weights * np.where(y > 0, 3.0, 0.5)
    _, best = exact(X, y, prior, lam, cost=cost, total=weights.sum(), bias=bias)
    assert model.certificate_.primal == pytest.approx(best.primal, rel=1e-7, abs=1e-10)
    found = np.append(model.coef_[0], model.intercept_ / bias)
    assert np.linalg.norm(found - best.weights) <= model.certificate_.weight_radius + 1e-5


@given(st.integers(0, 10**6), st.sampled_from((0.01, 0.3)), st.sampled_from((1, 3, 10)))
def test_the_certificate_bounds_the_true_error_after_any_epoch(seed, lam, epochs):
    X, y, _, prior = source(seed)
    model = PegasosClassifier(lam=lam, prior=prior, solver="pegasos", tol=None, max_iter=epochs, random_state=0)
    model.fit(X, y)
    plain, best = exact(X, y, prior, lam)
    away = np.append(model.coef_[0] - prior[0], model.intercept_ - prior[1])
    loss = np.maximum(0.0, 1.0 - y * model.decision_function(X)).mean()
    primal = 0.5 * lam * away @ away + loss
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert primal - best.primal <= model.certificate_.gap + 1e-12
    assert model.certificate_.dual <= best.primal + 1e-12
    sure = model.certified(X)
    assert (np.sign(plain.X @ best.weights)[sure] == model.predict(X)[sure]).all()


@pytest.mark.parametrize("solver", ["auto", "decomposition"])
@pytest.mark.parametrize("n", [60, 260])  # explicit features are used from 200 rows on
def test_with_the_linear_kernel_the_machine_is_the_linear_one(solver, n):
    X, y, weights, prior = source(3, n)
    linear = PegasosClassifier(lam=0.05, prior=prior, **TIGHT).fit(X, y, weights)
    kernel = KernelPegasosClassifier("linear", lam=0.05, prior=prior, solver=solver, **TIGHT).fit(X, y, weights)
    rows = np.random.default_rng(0).normal(size=(20, 4))
    np.testing.assert_allclose(kernel.decision_function(rows), linear.decision_function(rows), atol=1e-3)
    assert kernel.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-6)
    again = kernel.certify(X, y, weights)
    assert again.primal == pytest.approx(kernel.certificate_.primal, rel=1e-9)
    assert again.dual == pytest.approx(kernel.certificate_.dual, rel=1e-9)


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
def test_a_large_lam_leaves_the_prior_and_a_small_one_forgets_it(solver):
    X, y, _, prior = source(5, 200)
    settings = {"solver": solver, "tol": 1e-3, "max_iter": 300, "random_state": 0}
    stuck = PegasosClassifier(lam=1e6, prior=prior, **settings).fit(X, y)
    np.testing.assert_allclose(stuck.coef_[0], prior[0], atol=1e-5)
    np.testing.assert_allclose(stuck.intercept_, prior[1], atol=1e-5)
    free = PegasosClassifier(lam=1e-5, prior=prior, tol=1e-7, max_iter=100_000, random_state=0).fit(X, y)
    plain = PegasosClassifier(lam=1e-5, tol=1e-7, max_iter=100_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(free.coef_, plain.coef_, rtol=0.02)
    assert np.abs(plain.coef_[0] - prior[0]).max() > 0.5


@pytest.mark.parametrize("solver", ["auto", "decomposition", "pegasos"])
def test_a_kernel_machine_with_a_large_lam_is_its_prior_and_with_a_small_one_forgets_it(solver):
    X, y, _, prior = source(5, 80)
    rows = np.random.default_rng(0).normal(size=(30, 4))
    stuck = KernelPegasosClassifier(lam=1e6, prior=prior, solver=solver, max_iter=50, random_state=0).fit(X, y)
    np.testing.assert_allclose(stuck.decision_function(rows), rows @ prior[0] + prior[1], atol=1e-5)
    settings = {"lam": 1e-5, "tol": 1e-7, "max_iter": 100_000, "random_state": 0}
    free = KernelPegasosClassifier("linear", prior=prior, **settings).fit(X, y)
    plain = KernelPegasosClassifier("linear", **settings).fit(X, y)
    apart = np.abs(free.decision_function(rows) - plain.decision_function(rows)).max()
    assert apart < 0.05 * np.abs(rows @ prior[0] + prior[1] - plain.decision_function(rows)).max()


def test_rows_of_any_layout_and_type_give_the_same_model():
    X, y, weights, prior = source(7)
    X = np.where(np.abs(X) < 0.7, 0.0, X).astype(np.float32)
    models = [
        PegasosClassifier(lam=0.05, prior=prior, **TIGHT).fit(form(X).astype(dtype), y, weights)
        for form in (np.asarray, sp.csr_matrix)
        for dtype in (np.float64, np.float32)
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, atol=1e-3)
        assert model.certificate_.primal == pytest.approx(models[0].certificate_.primal, rel=1e-7)


def test_weight_two_is_the_row_twice():
    X, y, _, prior = source(8)
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    counts[:2] = 1
    for make in (PegasosClassifier, KernelPegasosClassifier):
        settings = {"gamma": 0.2} if make is KernelPegasosClassifier else {}
        heavy = make(lam=0.05, prior=prior, **settings, **TIGHT).fit(X, y, counts)
        twice = make(lam=0.05, prior=prior, **settings, **TIGHT).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        assert heavy.certificate_.primal == pytest.approx(twice.certificate_.primal, rel=1e-7)
        np.testing.assert_allclose(heavy.decision_function(X), twice.decision_function(X), atol=2e-3)
