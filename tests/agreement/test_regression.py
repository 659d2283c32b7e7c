"""Regression: the optima of an exact solver, of LIBLINEAR, of LIBSVM and of scikit-learn's own regressors."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import HuberRegressor, QuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.svm import SVR, LinearSVR, NuSVR

from pegasos import KernelPegasosRegressor, PegasosRegressor, lam_path
from pegasos.data import ArraySource
from pegasos.losses import REGRESSION_LOSSES
from tests.agreement.regression_optimum import Regression, optimum_of

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(60, 5))
Y = X @ np.array([1.0, -2.0, 0.5, 0.0, 3.0]) + 1.5 + RANDOM.standard_t(2, size=60)
WEIGHTS = RANDOM.integers(0, 4, size=60).astype(float)
PRIOR = np.array([[0.5, -1.0, 0.0, 0.2, 2.0]])
SHAPES = {"epsilon": 0.4, "quantile": 0.3, "delta": 0.8}


@pytest.mark.parametrize("extra", ["nothing", "weights", "prior", "free intercept", "weights, prior, free intercept"])
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_linear_optima_are_those_of_an_exact_solver(loss, extra):
    weights = WEIGHTS if "weights" in extra else None
    is_free = "free" in extra
    prior = (PRIOR, [0.7]) if "prior" in extra else None
    # A prior's intercept is an offset of y; that of a regularized intercept is drawn to it.
    w0 = None if prior is None else PRIOR[0] if is_free else np.append(PRIOR[0], 0.7)
    matrix = X if is_free else np.column_stack([X, np.ones(60)])
    w, b, best = optimum_of(Regression(matrix, Y, 0.02, loss, **SHAPES, weights=weights, prior=w0, is_free=is_free))
    model = PegasosRegressor(0.02, loss=loss, **SHAPES, prior=prior, regularize_intercept=not is_free, tol=1e-9)
    model.fit(X, Y, weights)
    assert model.certificate_.relative_gap <= 1e-9
    assert model.certificate_.primal == pytest.approx(best, rel=1e-8)
    assert model.predict(X) == pytest.approx(matrix @ w + b, abs=2e-3)
    assert model.certify(X, Y, weights).gap == pytest.approx(model.certificate_.gap, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("extra", ["nothing", "weights", "prior", "free intercept", "weights, prior, free intercept"])
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_kernel_optima_are_those_of_an_exact_solver(loss, extra):
    weights = WEIGHTS if "weights" in extra else None
    is_free = "free" in extra
    K = np.exp(-0.2 * np.sum((X[:, None] - X) ** 2, axis=2)) + (0.0 if is_free else 1.0)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    prior = (PRIOR, [0.7]) if "prior" in extra else None
    known = (
        np.zeros(60) if prior is None else X @ PRIOR[0] + 0.7
    )  # predictions to which those that are learnt are added
    w, b, best = optimum_of(Regression(features, Y - known, 0.02, loss, **SHAPES, weights=weights, is_free=is_free))
    settings = {**SHAPES, "prior": prior, "regularize_intercept": not is_free}
    model = KernelPegasosRegressor(gamma=0.2, lam=0.02, loss=loss, **settings, tol=1e-9)
    model.fit(X, Y, weights)
    assert model.certificate_.primal == pytest.approx(best, rel=1e-7)
    assert model.predict(X) == pytest.approx(features @ w + b + known, abs=2e-3)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_optima_of_blocks_and_of_paths_are_those_of_an_exact_solver(loss):
    matrix = np.column_stack([X, np.ones(60)])
    w, _, best = optimum_of(Regression(matrix, Y, 0.02, loss, **SHAPES))
    blocks = PegasosRegressor(0.02, loss=loss, **SHAPES, tol=1e-7).fit_source(ArraySource(X, Y, 13))
    path = lam_path(X, Y, lams=[0.1, 0.02], loss=loss, **SHAPES, tol=1e-7, random_state=0)
    assert blocks.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert path.certificates[1].primal == pytest.approx(best, rel=1e-6)
    assert blocks.predict(X) == pytest.approx(matrix @ w, abs=1e-2)
    assert X @ path.coefs[1, 0] + path.intercepts[1, 0] == pytest.approx(matrix @ w, abs=1e-2)


@pytest.mark.parametrize(
    ("loss", "dual"),
    [("squared_epsilon_insensitive", False), ("squared_epsilon_insensitive", True), ("epsilon_insensitive", True)],
    ids=["-s 11", "-s 12", "-s 13"],
)
def test_c_means_what_it_means_in_liblinear(loss, dual):
    settings = {"C": 0.5, "epsilon": 0.3, "loss": loss}
    theirs = LinearSVR(tol=1e-10, max_iter=1_000_000, dual=dual, random_state=0, **settings).fit(X, Y)
    ours = PegasosRegressor(tol=1e-11, **settings).fit(X, Y)
    assert ours.coef_[0] == pytest.approx(theirs.coef_, abs=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    out = np.maximum(0.0, np.abs(Y - theirs.predict(X)) - 0.3)
    square = float(theirs.coef_ @ theirs.coef_ + np.ravel(theirs.intercept_)[0] ** 2)
    reached = 0.5 * square + 0.5 * float(np.sum(out**2 if loss.startswith("squared") else out))
    assert ours.certificate_.primal * 0.5 * len(Y) == pytest.approx(reached, rel=1e-6)


def test_kernel_regression_agrees_with_libsvm():
    diabetes, y = load_diabetes(return_X_y=True)
    diabetes = diabetes / diabetes.std(axis=0)
    theirs = SVR(C=10.0, epsilon=5.0, gamma=0.05, tol=1e-9).fit(diabetes, y)
    ours = KernelPegasosRegressor(C=10.0, epsilon=5.0, gamma=0.05, regularize_intercept=False, tol=1e-10)
    ours.fit(diabetes, y)
    assert ours.predict(diabetes) == pytest.approx(theirs.predict(diabetes), rel=1e-6)
    assert set(ours.support_) == set(theirs.support_)


@pytest.mark.parametrize("nu", [0.2, 0.6])
def test_nu_agrees_with_libsvm(nu):
    diabetes, y = load_diabetes(return_X_y=True)
    diabetes = diabetes / diabetes.std(axis=0)
    theirs = NuSVR(nu=nu, C=10.0, gamma=0.05, tol=1e-9).fit(diabetes, y)
    ours = KernelPegasosRegressor(C=10.0, nu=nu, gamma=0.05, regularize_intercept=False, tol=1e-9).fit(diabetes, y)
    assert ours.predict(diabetes) == pytest.approx(theirs.predict(diabetes), rel=1e-6)
    residuals = np.abs(y - ours.predict(diabetes))
    assert np.mean(residuals > ours.epsilon_ * (1.0 + 1e-6)) <= nu
    assert np.mean(residuals >= ours.epsilon_ * (1.0 - 1e-4)) >= nu


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantiles_agree_with_the_linear_program_of_scikit_learn(quantile):
    theirs = QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, Y)
    ours = PegasosRegressor(1e-10, loss="quantile", quantile=quantile, regularize_intercept=False, tol=1e-9).fit(X, Y)
    losses = [mean_pinball_loss(Y, model.predict(X), alpha=quantile) for model in (ours, theirs)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-7)


def test_huber_agrees_with_scikit_learn_where_its_scale_is_given():
    # HuberRegressor minimizes n sigma + sigma sum H(r / sigma) + alpha |w|^2, H(z) = z^2 or 2 epsilon |z| - epsilon^2:
    # at its sigma, 2 / sigma times the loss here, with delta = epsilon sigma.
    theirs = HuberRegressor(epsilon=1.35, alpha=0.1, tol=1e-9, max_iter=10_000).fit(X, Y)
    sigma = theirs.scale_
    lam = 0.1 * sigma / len(Y)
    ours = PegasosRegressor(lam, loss="huber", delta=1.35 * sigma, regularize_intercept=False, tol=1e-12).fit(X, Y)
    assert ours.coef_[0] == pytest.approx(theirs.coef_, abs=1e-4)
    assert ours.intercept_[0] == pytest.approx(theirs.intercept_, abs=1e-4)
