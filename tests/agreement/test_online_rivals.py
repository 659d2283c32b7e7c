"""The same rule on the same rows in the same order gives scikit-learn's weights."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from pegasos.online import PassiveAggressive, Perceptron

RIVALS = {
    "perceptron": (
        Perceptron("last"),
        {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0},
    ),
    "averaged perceptron": (
        Perceptron("averaged"),
        {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "average": True},
    ),
    "PA-I": (PassiveAggressive(0.05), {"loss": "hinge", "learning_rate": "pa1", "eta0": 0.05}),
    "PA-II": (PassiveAggressive(0.3, variant="pa-2"), {"loss": "hinge", "learning_rate": "pa2", "eta0": 0.3}),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", RIVALS)
def test_weights_are_those_of_scikit_learn(name, n_classes):
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 10))
    y = np.argmax(X[:, :n_classes] + 0.5 * random.normal(size=(300, n_classes)), axis=1)
    mine, settings = RIVALS[name]
    # scikit-learn's |x|^2 of a passive-aggressive step leaves the constant column out, though the step moves it.
    intercept = "PA" not in name
    settings = settings | {"fit_intercept": intercept}
    rival = SGDClassifier(penalty=None, max_iter=4, tol=None, shuffle=False, **settings).fit(X, y)
    mine = clone(mine).set_params(max_iter=4, shuffle=False, fit_intercept=intercept).fit(X, y)
    assert mine.coef_ == pytest.approx(rival.coef_, rel=1e-9, abs=1e-11)
    assert mine.intercept_ == pytest.approx(rival.intercept_, rel=1e-9, abs=1e-11)


def test_the_weight_of_a_row_is_the_length_of_its_step_in_scikit_learn_too():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 10))
    y, weights = (X[:, 0] + random.normal(size=200) > 0).astype(int), random.uniform(0.2, 3.0, 200)
    rival = SGDClassifier(
        loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, max_iter=3, tol=None, shuffle=False
    )
    mine = Perceptron("last", max_iter=3, shuffle=False).fit(X, y, sample_weight=weights)
    assert mine.coef_ == pytest.approx(rival.fit(X, y, sample_weight=weights).coef_, rel=1e-9)
