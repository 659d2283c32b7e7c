"""The picture of a regression."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier, PegasosError, PegasosRegressor
from pegasos.plots import PredictionsDisplay

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X @ [1.0, 2.0, 0.0] + 1.0


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("kind", ["predictions", "residuals"])
def test_every_row_is_a_point_with_an_interval(kind):
    model = make_pipeline(StandardScaler(), PegasosRegressor(1e-2, epsilon=0.2)).fit(X, Y)
    drawn = PredictionsDisplay.from_estimator(model, X, Y).plot(kind=kind)
    points = drawn.points_.get_offsets()
    expected = Y - model.predict(X) if kind == "residuals" else model.predict(X)
    assert np.asarray(points[:, 1]) == pytest.approx(expected)
    assert (drawn.lower < drawn.upper).all()
    assert len(drawn.ax_.lines) == 3  # the middle and both edges of the tube


def test_other_regressors_have_no_interval():
    drawn = PredictionsDisplay.from_estimator(Ridge().fit(X, Y), X, Y).plot()
    assert np.array_equal(drawn.lower, drawn.upper)
    assert len(drawn.ax_.lines) == 1


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(PegasosError, match="predicts no numbers"):
        PredictionsDisplay.from_estimator(PegasosClassifier().fit(X, Y > 0), X, Y)
    with pytest.raises(PegasosError, match="one number per row"):
        PredictionsDisplay(Y, Y[:-1])
    with pytest.raises(PegasosError, match="kind must be"):
        PredictionsDisplay(Y, Y).plot(kind="tube")
