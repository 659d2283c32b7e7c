"""LinearSVC and LinearSVR beside those of scikit-learn."""

import logging

import numpy as np
import pytest
import sklearn.svm._classes as theirs
from sklearn.datasets import load_diabetes, load_wine
from sklearn.preprocessing import scale

import pegasos.svm as ours

X, y = scale(load_wine().data), load_wine().target


@pytest.mark.parametrize(
    "parameters",
    [{}, {"loss": "hinge"}, {"multi_class": "crammer_singer"}, {"C": 0.1, "intercept_scaling": 3.0}],
    ids=str,
)
def test_linear_svc_is_that_of_scikit_learn(parameters):
    mine = ours.LinearSVC(**parameters).fit(X, y)
    other = theirs.LinearSVC(tol=1e-8, max_iter=1_000_000, **parameters).fit(X, y)
    np.testing.assert_allclose(mine.coef_, other.coef_, atol=2e-3)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, atol=2e-3)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_svr_is_that_of_scikit_learn(loss):
    rows, target = (scale(each) for each in load_diabetes(return_X_y=True))
    mine = ours.LinearSVR(loss=loss, epsilon=0.1).fit(rows, target)
    other = theirs.LinearSVR(loss=loss, epsilon=0.1, tol=1e-8, max_iter=1_000_000).fit(rows, target)
    assert mine.coef_.shape == other.coef_.shape
    np.testing.assert_allclose(mine.predict(rows), other.predict(rows), atol=5e-3)


def test_the_l1_penalty_is_handed_to_scikit_learn(caplog):
    with caplog.at_level(logging.INFO, "pegasos.svm"):
        mine = ours.LinearSVC(penalty="l1", C=0.1, random_state=0).fit(X, y)
    assert "is trained by scikit-learn" in caplog.text
    other = theirs.LinearSVC(penalty="l1", C=0.1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(mine.coef_, other.coef_)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))
    assert not hasattr(mine, "certificate_")
    assert "scikit-learn's LinearSVC(penalty='l1')" in mine.status_


def test_sparse_coefficients_predict_the_same():
    model = ours.LinearSVC().fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.sparsify().predict(X), before)
