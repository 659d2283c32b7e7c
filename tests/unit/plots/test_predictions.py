"""The pictures of regressors and one-class models."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosOneClass, KernelPegasosRegressor, PegasosClassifier, PegasosError, PegasosRegressor
from pegasos.plots import NoveltyDisplay, PredictionsDisplay, TubeDisplay

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
    with pytest.raises(PegasosError, match="does not predict numbers"):
        PredictionsDisplay.from_estimator(PegasosClassifier().fit(X, Y > 0), X, Y)
    with pytest.raises(PegasosError, match="one number per row"):
        PredictionsDisplay(Y, Y[:-1])
    with pytest.raises(PegasosError, match="kind must be"):
        PredictionsDisplay(Y, Y).plot(kind="tube")


def test_the_squares_of_a_tube_are_its_support_vectors():
    x = np.linspace(0.0, 6.0, 80)[:, None]
    y = np.sin(x[:, 0]) + np.random.default_rng(0).normal(scale=0.1, size=80)
    model = KernelPegasosRegressor(C=10.0, gamma=1.0, epsilon=0.15, tol=1e-9, random_state=0)
    model = make_pipeline(StandardScaler(), model).fit(x, y)
    drawn = TubeDisplay.from_estimator(model, x, y).plot(title="a sine")
    assert drawn.support_.tolist() == model[-1].support_.tolist()
    assert len(drawn.points_.get_offsets()) == len(drawn.support_)
    assert drawn.curve == pytest.approx(model.predict(drawn.grid[:, None]))
    assert (drawn.lower <= drawn.upper).all()
    assert drawn.ax_.get_title() == "a sine"


def test_a_tube_of_another_regressor_has_no_bounds():
    drawn = TubeDisplay.from_estimator(Ridge().fit(X[:, :1], Y), X[:, :1], Y).plot()
    assert np.array_equal(drawn.lower, drawn.upper)
    assert len(drawn.support_) == len(Y)  # there is no tube: every row counts


def test_tubes_that_cannot_be_drawn_are_refused():
    model = PegasosRegressor().fit(X, Y)
    with pytest.raises(PegasosError, match=r"over one feature, got X of shape \(60, 3\); .*PredictionsDisplay"):
        TubeDisplay.from_estimator(model, X, Y)
    with pytest.raises(PegasosError, match="does not predict numbers"):
        TubeDisplay.from_estimator(PegasosClassifier().fit(X[:, :1], Y > 0), X[:, :1], Y)
    with pytest.raises(PegasosError, match="one number per row"):
        TubeDisplay(Y, Y[:-1], grid=Y, curve=Y, predicted=Y, epsilon=0.1)
    with pytest.raises(PegasosError, match="epsilon must be a number of at least 0, got -1"):
        TubeDisplay(Y, Y, grid=Y, curve=Y, predicted=Y, epsilon=-1.0)


def test_scores_below_the_offset_are_the_rows_that_a_model_calls_novel():
    model = KernelPegasosOneClass(gamma=0.3, nu=0.1, random_state=0).fit(X)
    rows, kinds = np.concatenate([X, X + 6.0]), np.repeat([1, -1], 60)
    drawn = NoveltyDisplay.from_estimator(model, rows, kinds).plot(bins=20)
    assert len(drawn.patches_) == 2
    assert np.array_equal(drawn.scores < drawn.offset, model.predict(rows) == -1)
    labels = drawn.ax_.get_legend_handles_labels()[1]
    assert f"novel: {np.mean(model.predict(X + 6.0) == -1):.1%} below" in labels
    assert len(NoveltyDisplay.from_estimator(model, X).plot().patches_) == 1


def test_scores_that_cannot_be_drawn_are_refused():
    with pytest.raises(PegasosError, match="has no scores of novelty"):
        NoveltyDisplay.from_estimator(Ridge().fit(X, Y), X)
    with pytest.raises(PegasosError, match="y must be 1 or -1"):
        NoveltyDisplay(Y, 0.0, np.arange(60))
    with pytest.raises(PegasosError, match="finite"):
        NoveltyDisplay([np.nan], 0.0)
    with pytest.raises(PegasosError, match="bins"):
        NoveltyDisplay(Y, 0.0).plot(bins=0)
