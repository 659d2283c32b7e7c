"""The objective and the slack of rows, against their formulas in numpy."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel

import pegasos
from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosOneClass,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosOneClass,
    PegasosRegressor,
    PegasosRegressorCV,
)
from pegasos.errors import PegasosError
from pegasos.export import from_sklearn

random = np.random.default_rng(5)
X = random.normal(size=(90, 4))
two = np.where(X[:, 0] + 0.5 * random.normal(size=90) > 0.3, "yes", "no")
three = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + 0.3 * random.normal(size=90), [-0.5, 0.5])]
numbers = X @ [1.0, -2.0, 0.0, 0.5] + 0.3 * random.normal(size=90)
weights = random.uniform(0.2, 3.0, size=90)

CLASSIFIERS = [
    PegasosClassifier(lam=1e-2),
    PegasosClassifier(C=2.0, class_weight="balanced"),
    PegasosClassifier(lam=1e-2, regularize_intercept=False),
    PegasosClassifier(lam=1e-2, loss="squared_hinge", intercept_scaling=3.0),
    PegasosClassifier(lam=1e-2, loss="huber_hinge", fit_intercept=False),
    PegasosClassifier(C=1.0, multi_class="ovo"),
    PegasosClassifier(lam=1e-2, multi_class="crammer_singer"),
    PegasosClassifier(lam=1e-2, prior=PegasosClassifier(lam=1.0).fit(X, two)),
    PegasosClassifierCV(lams=3, cv=3),
    KernelPegasosClassifier(gamma=0.5, C=3.0),
    KernelPegasosClassifier(gamma=0.5, lam=1e-2, regularize_intercept=False, multi_class="ovo"),
    KernelPegasosClassifier("poly", degree=2, lam=1e-2, class_weight="balanced"),
    PegasosClassifier(nu=0.4, regularize_intercept=False),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("y", [two, three], ids=["two", "three"])
@pytest.mark.parametrize("sample_weight", [None, weights], ids=["plain", "weighted"])
def test_on_the_rows_of_the_fit_it_is_the_objective_of_the_certificate(model, y, sample_weight):
    if y is three and (getattr(model, "prior", None) or getattr(model, "nu", None)):
        pytest.skip("a prior of two classes, and a nu for two")
    model.set_params(random_state=0).fit(X, y, sample_weight=sample_weight)
    assert model.objective(X, y, sample_weight) == pytest.approx(model.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        PegasosRegressor(lam=1e-2),
        PegasosRegressor(C=1.0, loss="squared_epsilon_insensitive", regularize_intercept=False),
        PegasosRegressor(lam=1e-2, loss="quantile", quantile=0.8),
        PegasosRegressor(lam=1e-2, loss="huber"),
        PegasosRegressorCV(lams=3, cv=3),
        KernelPegasosRegressor(gamma=0.3, C=2.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("y", [numbers, np.column_stack([numbers, X[:, 1]])], ids=["one", "several"])
def test_of_numbers_it_is_the_objective_of_the_certificate_too(model, y):
    if y.ndim == 2 and isinstance(model, PegasosRegressorCV):
        pytest.skip("chooses for one target")
    model.set_params(random_state=0).fit(X, y, sample_weight=weights)
    assert model.objective(X, y, weights) == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert model.slack(X, y).shape == y.shape


def test_other_rows_and_edited_weights_follow_the_formula():
    model = PegasosClassifier(lam=0.05, class_weight={"yes": 2.0, "no": 0.5}, random_state=0).fit(X[:50], two[:50])
    model.coef_, model.intercept_ = model.coef_ * 1.5, model.intercept_ - 0.2
    rows, y, c = X[50:], two[50:], weights[50:]
    sign = np.where(y == "yes", 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - sign * (rows @ model.coef_[0] + model.intercept_[0]))
    cost = c * np.where(y == "yes", 2.0, 0.5)
    square = np.sum(model.coef_**2) + model.intercept_[0] ** 2
    expected = 0.05 / 2 * square + np.sum(cost * slack) / c.sum()
    assert model.objective(sp.csr_matrix(rows), y, c) == pytest.approx(expected, rel=1e-12)
    assert model.slack(rows, y) == pytest.approx(slack)


def test_the_slack_of_pairs_classes_and_numbers():
    ovo = PegasosClassifier(lam=1e-2, multi_class="ovo", random_state=0).fit(X, three)
    slack = ovo.slack(X, three)
    assert slack.shape == (90, 3)
    assert (slack[three == "c", 0] == 0.0).all()  # a against b
    score = X @ ovo.coef_[2] + ovo.intercept_[2]  # b against c
    assert slack[three == "b", 2] == pytest.approx(np.maximum(0.0, 1.0 + score[three == "b"]))
    joint = PegasosClassifier(lam=1e-2, multi_class="crammer_singer", random_state=0).fit(X, three)
    assert joint.slack(X, three) == pytest.approx(np.maximum(0.0, 1.0 - joint.margin(X, three)))
    regressor = PegasosRegressor(lam=1e-2, epsilon=0.4, random_state=0).fit(X, numbers)
    beyond = np.maximum(0.0, np.abs(numbers - regressor.predict(X)) - 0.4)
    assert regressor.slack(X, numbers) == pytest.approx(beyond, abs=1e-12)


def test_a_kernel_matrix_and_its_kernel_have_the_same_objective():
    kernel = KernelPegasosClassifier(gamma=0.5, C=3.0, random_state=0).fit(X, two)
    K = rbf_kernel(X, gamma=0.5)
    matrix = KernelPegasosClassifier("precomputed", C=3.0, random_state=0).fit(K, two)
    assert matrix.objective(K, two) == pytest.approx(matrix.certificate_.primal, rel=1e-9)
    assert matrix.slack(K[:5], two[:5]) == pytest.approx(kernel.slack(X[:5], two[:5]), abs=0.05)
    with pytest.raises(PegasosError, match="square kernel matrix"):
        matrix.objective(K[:5], two[:5])
    square = np.einsum(
        "i,ij,j", kernel.dual_coef_[0], rbf_kernel(kernel.support_vectors_, gamma=0.5), kernel.dual_coef_[0]
    )
    square += kernel.dual_coef_.sum() ** 2  # the constant column
    other, y = X[:20] + 0.1, two[:20]
    expected = kernel.lam_ / 2 * square + kernel.slack(other, y).mean()
    assert kernel.objective(other, y) == pytest.approx(expected, rel=1e-9)


def test_a_model_from_elsewhere_is_measured_by_its_parameters():
    sgd = SGDClassifier(alpha=1e-2, random_state=0).fit(X, two)
    model = from_sklearn(sgd)
    slack = np.maximum(0.0, 1.0 - np.where(two == "yes", 1.0, -1.0) * sgd.decision_function(X))
    expected = 1e-2 / 2 * np.sum(sgd.coef_**2) + slack.mean()
    assert model.objective(X, two) == pytest.approx(expected, rel=1e-9)


def test_every_estimator_tells_the_lam_that_was_used(tmp_path):
    assert PegasosClassifier(lam=0.5).fit(X, two).lam_ == 0.5
    assert PegasosClassifier(C=2.0).fit(X, two).lam_ == pytest.approx(1 / (2.0 * 90))
    assert PegasosRegressor(C=2.0).fit(X, numbers, sample_weight=weights).lam_ == pytest.approx(
        1 / (2.0 * weights.sum())
    )
    assert KernelPegasosClassifier(C=2.0).fit(X, two).lam_ == pytest.approx(1 / 180)
    assert KernelPegasosRegressor(lam=0.25).fit(X, numbers).lam_ == 0.25
    assert PegasosClassifier(C=2.0, multi_class="ovo").fit(X, three).lam_.shape == (3,)
    assert PegasosOneClass(nu=0.2).fit(X + 5.0).lam_ > 0.0
    assert KernelPegasosOneClass(nu=0.2).fit(X + 5.0).lam_ > 0.0
    assert PegasosClassifierCV(lams=[0.1], cv=3).fit(X, two).lam_ == 0.1
    pegasos.save(PegasosClassifier(C=2.0).fit(X, two), tmp_path / "m.pegasos")
    assert pegasos.load(tmp_path / "m.pegasos").lam_ == pytest.approx(1 / 180)
    assert not hasattr(PegasosClassifierCV(), "lam_")
    with pytest.raises(NotFittedError):
        PegasosClassifier().lam_  # noqa: B018


def test_labels_outside_the_classes_and_models_that_are_not_fitted_are_refused():
    model = PegasosClassifier().fit(X, two)
    with pytest.raises(PegasosError, match="maybe"):
        model.slack(X[:2], ["yes", "maybe"])
    with pytest.raises(PegasosError, match="sample_weight"):
        model.objective(X, two, np.zeros(90))
    with pytest.raises(NotFittedError):
        PegasosClassifier().objective(X, two)
