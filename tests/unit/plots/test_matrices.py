"""Pictures of kernel matrices and of weights show all values, in an order that can be followed."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.kernels import RBF, Linear, Spectrum
from pegasos.plots import KernelMatrixDisplay, WeightsDisplay

X, Y = make_blobs(40, 4, centers=3, random_state=0)


def test_the_matrix_is_ordered_by_class_and_holds_every_kernel_value():
    drawn = KernelMatrixDisplay.from_kernel(RBF(0.1), X, Y).plot()
    assert np.array_equal(np.sort(drawn.order), np.arange(40))
    assert (np.diff(Y[drawn.order]) >= 0).all()
    np.testing.assert_allclose(drawn.image_.get_array(), RBF(0.1).block(X[drawn.order], X[drawn.order]))
    assert [tick.get_text() for tick in drawn.ax_.get_xticklabels()] == ["0", "1", "2"]


def test_within_a_class_similar_items_are_neighbors():
    line = np.random.default_rng(0).permutation(20.0 ** np.arange(2).repeat(15))[:, None]  # two clumps, mixed
    order = KernelMatrixDisplay.from_kernel(RBF(1.0), line).order
    assert np.count_nonzero(np.diff(line[order, 0])) == 1


def test_kernels_are_given_as_words_matrices_machines_or_for_strings():
    word = KernelMatrixDisplay.from_kernel("rbf", sp.csr_array(X), Y, gamma=0.1)
    np.testing.assert_allclose(word.matrix, RBF(0.1).block(X, X))
    given = KernelMatrixDisplay.from_kernel("precomputed", word.matrix, Y)
    np.testing.assert_array_equal(given.order, word.order)
    machine = KernelPegasosClassifier(gamma=0.1, lam=1e-2, random_state=0).fit(X, Y)
    np.testing.assert_allclose(KernelMatrixDisplay.from_estimator(machine, X, Y).matrix, word.matrix)
    words = KernelMatrixDisplay.from_kernel(Spectrum(2), ["abab", "cdcd", "baba"], [0, 1, 0]).plot()
    assert words.order.tolist() == [0, 2, 1]


def test_values_of_both_signs_are_colored_around_zero():
    drawn = KernelMatrixDisplay.from_kernel(Linear(), X - X.mean(axis=0)).plot()
    low, high = drawn.image_.get_clim()
    assert low == -high < 0.0


def test_the_strongest_terms_of_a_text_are_named():
    texts = ["good film", "good fun", "bad film", "bad plot"]
    model = make_pipeline(CountVectorizer(), PegasosClassifier(lam=0.1, random_state=0)).fit(texts, list("++--"))
    drawn = WeightsDisplay.from_estimator(model).plot(top=2)
    assert [tick.get_text() for tick in drawn.ax_.get_yticklabels()] == ["good", "bad"]
    coef = dict(zip(model[0].get_feature_names_out(), model[-1].coef_[0], strict=True))
    assert [bar.get_width() for bar in drawn.ax_.patches] == [coef["good"], coef["bad"]]


def test_images_have_one_panel_a_class_on_one_scale(plt):
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y)
    _, ax = plt.subplots()
    for place in (None, ax):
        drawn = WeightsDisplay.from_estimator(model, shape=(2, 2)).plot(place)
        assert [panel.get_title() for panel in drawn.axes_] == ["0", "1", "2"]
        images = [panel.images[0] for panel in drawn.axes_]
        np.testing.assert_array_equal(images[1].get_array(), model.coef_[1].reshape(2, 2))
        assert {image.get_clim() for image in images} == {(-np.abs(model.coef_).max(), np.abs(model.coef_).max())}
    assert drawn.figure_ is ax.figure


def test_pairs_and_single_parts_say_what_they_are_about():
    pairs = PegasosClassifier(lam=1e-2, multi_class="ovo", random_state=0).fit(X, Y)
    assert WeightsDisplay.from_estimator(pairs).names == ["1 against 0", "2 against 0", "2 against 1"]
    one = WeightsDisplay.from_estimator(pairs, part=1).plot(title="a pair")
    assert one.names == ["2 against 0"]
    assert one.ax_.get_title() == "a pair"
    unnamed = make_pipeline(FunctionTransformer(), pairs).fit(X, Y)
    assert WeightsDisplay.from_estimator(unnamed).feature_names[0] == "feature 0"


def test_what_cannot_be_drawn_raises_an_error():
    linear = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y)
    with pytest.raises(PegasosError, match="PegasosClassifier has no kernel; use from_kernel"):
        KernelMatrixDisplay.from_estimator(linear, X, Y)
    with pytest.raises(PegasosError, match="4000 items is too large to draw; pass a sample of at most 3000"):
        KernelMatrixDisplay.from_kernel("rbf", np.zeros((4000, 1)))
    with pytest.raises(PegasosError, match="kernel must be"):
        KernelMatrixDisplay.from_kernel("gaussian", X)
    with pytest.raises(PegasosError, match="X must be a matrix"):
        KernelMatrixDisplay.from_kernel("rbf", ["abc"])
    with pytest.raises(PegasosError, match=r"square and finite, got shape \(40, 4\)"):
        KernelMatrixDisplay.from_kernel("precomputed", X)
    with pytest.raises(PegasosError, match=r"class of each of the 40 items, got shape \(3,\)"):
        KernelMatrixDisplay.from_kernel("rbf", X, Y[:3])
    with pytest.raises(PegasosError, match="KernelPegasosClassifier has no coef_: only a linear model"):
        WeightsDisplay.from_estimator(KernelPegasosClassifier(lam=1e-2, random_state=0).fit(X, Y))
    with pytest.raises(PegasosError, match=r"shape must be \(height, width\) of 4 pixels, got \(28, 28\)"):
        WeightsDisplay.from_estimator(linear, shape=(28, 28))
    with pytest.raises(PegasosError, match="shape must be"):
        WeightsDisplay.from_estimator(linear, shape=4)
    with pytest.raises(PegasosError, match="feature_names must name the 4 features, got 1 names"):
        WeightsDisplay.from_estimator(linear, feature_names=["a"])
    with pytest.raises(PegasosError, match=r"part must be one of 0\.\.2, got -1"):
        WeightsDisplay.from_estimator(linear, part=-1)
    with pytest.raises(PegasosError, match="top must be a whole number of at least 1, got 0"):
        WeightsDisplay.from_estimator(linear).plot(top=0)
