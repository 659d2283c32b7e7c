"""Every picture follows matplotlib's style, and says what is missing where matplotlib is."""

import sys
from itertools import islice

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from pegasos import PegasosClassifier, PegasosError, PegasosOneClass, PegasosRegressor, lam_path, plots
from pegasos.online import Perceptron
from pegasos.plots import _style as style

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] + 0.3 * X[:, 1] > 0.2
MODEL = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y)
REGRESSOR = PegasosRegressor(random_state=0).fit(X, X[:, 0])
SLOPE = PegasosRegressor(random_state=0).fit(X[:, :1], X[:, 0])
ONE_CLASS = PegasosOneClass(nu=0.2, random_state=0).fit(X + 5.0)
DISPLAYS = {
    "BoundaryDisplay": lambda: plots.BoundaryDisplay.from_estimator(MODEL, X, Y, resolution=10),
    "CertifiedShareDisplay": lambda: plots.CertifiedShareDisplay.from_estimator(MODEL, X, Y, tols=(0.1, 1e-3)),
    "ConvergenceDisplay": lambda: plots.ConvergenceDisplay.from_estimator(MODEL),
    "KernelMatrixDisplay": lambda: plots.KernelMatrixDisplay.from_kernel("rbf", X, Y),
    "LamPathDisplay": lambda: plots.LamPathDisplay.from_path(lam_path(X, Y, n_lams=3, random_state=0)),
    "LossDisplay": lambda: plots.LossDisplay.from_estimator(MODEL, X, Y),
    "MarginDisplay": lambda: plots.MarginDisplay.from_estimator(MODEL, X, Y),
    "MistakesDisplay": lambda: plots.MistakesDisplay.from_estimator(Perceptron(random_state=0).fit(X, Y)),
    "NoveltyDisplay": lambda: plots.NoveltyDisplay.from_estimator(ONE_CLASS, X + 5.0),
    "PredictionsDisplay": lambda: plots.PredictionsDisplay.from_estimator(REGRESSOR, X, X[:, 0]),
    "SolversDisplay": lambda: plots.SolversDisplay.from_estimators(MODEL),
    "TubeDisplay": lambda: plots.TubeDisplay.from_estimator(SLOPE, X[:, :1], X[:, 0]),
    "WeightsDisplay": lambda: plots.WeightsDisplay.from_estimator(MODEL),
}


def test_every_display_is_tried():
    assert sorted(DISPLAYS) == plots.__all__


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_display_draws_on_the_axes_given_names_them_and_returns_itself(name, plt):
    display = DISPLAYS[name]()
    _, ax = plt.subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_xlabel()
    own = display.plot().figure_
    assert own is not ax.figure
    assert 4.8 <= own.get_figwidth() <= 6.4


@pytest.mark.parametrize("name", DISPLAYS)
def test_on_a_dark_background_nothing_is_drawn_in_black(name, plt):
    with plt.style.context("dark_background"):
        display = DISPLAYS[name]().plot()
        black = to_rgba("black")
        inks = [line.get_color() for line in display.ax_.lines]
        inks += [text.get_color() for text in display.figure_.findobj(plt.Text) if text.get_text()]
    assert black not in [to_rgba(ink) for ink in inks]


@pytest.mark.parametrize("name", DISPLAYS)
def test_without_matplotlib_the_extra_is_named(name, monkeypatch):
    display = DISPLAYS[name]()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "pegasos\[plots\]"') as caught:
        display.plot()
    assert isinstance(caught.value, PegasosError)


def test_no_two_of_two_dozen_curves_look_alike():
    looks = [(look["color"], look["linestyle"]) for look in islice(map(style.curve, range(100)), 24)]
    assert len(set(looks)) == 24
