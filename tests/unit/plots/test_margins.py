"""Pictures of margins and losses count every row once."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier, PegasosError
from pegasos.plots import LossDisplay, MarginDisplay

X, Y = make_blobs(90, 2, centers=3, cluster_std=1.5, random_state=0)


def test_margins_are_those_of_the_model_and_the_shares_of_each_class_add_up_to_one():
    model = make_pipeline(StandardScaler(), PegasosClassifier(lam=1e-2, random_state=0)).fit(X, Y)
    for geometric in (False, True):
        drawn = MarginDisplay.from_estimator(model, X, Y, geometric=geometric).plot(bins=12)
        expected = model[-1].margin(model[:-1].transform(X), Y, geometric=geometric)
        np.testing.assert_array_equal(drawn.margins, expected)
        for k, patch in enumerate(drawn.patches_):
            shares, edges, _ = patch.get_data()
            np.testing.assert_allclose(shares, np.histogram(expected[k == Y], edges)[0] / np.sum(k == Y))
            assert shares.sum() == pytest.approx(1.0)
        assert len(drawn.patches_) == 3
    names = [text.get_text() for text in drawn.ax_.get_legend().get_texts()]
    assert names == ["0", "1", "2", f"boundary: {np.mean(expected < 0):.1%} beyond"]


def test_many_classes_are_drawn_one_below_the_other():
    margins, y = np.linspace(-1.0, 3.0, 50), np.arange(50) % 5
    drawn = MarginDisplay.from_margins(margins, y).plot(bins=8)
    bases = [float(np.max(patch.get_data().baseline)) for patch in drawn.patches_]
    assert bases == sorted(bases, reverse=True)
    ticks = dict(zip(drawn.ax_.get_yticks(), (label.get_text() for label in drawn.ax_.get_yticklabels()), strict=True))
    assert [ticks[base] for base in bases] == ["0", "1", "2", "3", "4"]
    shares, _, base = drawn.patches_[2].get_data()
    assert (shares - base).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_without_margins_is_judged_by_its_scores(n_classes):
    rows, y = X[n_classes > Y], Y[n_classes > Y]
    rival, ours = SGDClassifier(random_state=0).fit(rows, y), PegasosClassifier(random_state=0).fit(rows, y)
    ours.coef_, ours.intercept_ = rival.coef_, rival.intercept_
    margins = MarginDisplay.from_estimator(rival, rows, y).margins
    np.testing.assert_allclose(margins, ours.margin(rows, y), rtol=1e-12)
    with pytest.raises(PegasosError, match="SGDClassifier has no distances from its boundary"):
        MarginDisplay.from_estimator(rival, rows, y, geometric=True)


def test_the_losses_go_through_their_corners_and_their_means_are_those_of_the_rows():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y == 0)
    drawn = LossDisplay.from_estimator(model, X, Y == 0).plot()
    margins = model.margin(X, Y == 0)
    hinge, wrong = drawn.lines_
    assert hinge.get_label() == f"hinge, mean {np.maximum(0, 1 - margins).mean():.3g}"
    assert wrong.get_label() == f"0-1, mean {np.mean(margins <= 0):.3g}"
    np.testing.assert_allclose(np.interp([-0.5, 0.5, 2.0], *hinge.get_data()), [1.5, 0.5, 0.0])
    low, high = drawn.ax_.get_xlim()
    depths = -drawn.ax_.patches[0].get_data().values
    inside = np.histogram(margins, np.linspace(low, high, 61))[0]
    np.testing.assert_allclose(depths / depths.max(), inside / inside.max())


def test_the_losses_alone_need_no_rows():
    assert [line.get_label() for line in LossDisplay().plot().lines_] == ["hinge", "0-1"]


def test_what_cannot_be_drawn_raises_an_error():
    with pytest.raises(PegasosError, match="margins must be a vector of finite numbers"):
        LossDisplay.from_margins([np.nan])
    with pytest.raises(PegasosError, match="margins must be a vector of finite numbers"):
        MarginDisplay.from_margins([], [])
    with pytest.raises(PegasosError, match=r"class of each of the 2 rows, got \(3,\)"):
        MarginDisplay.from_margins([1.0, 2.0], [0, 1, 1])
    with pytest.raises(PegasosError, match="bins must be a whole number of at least 1, got 0"):
        MarginDisplay.from_margins([1.0, 2.0], [0, 1]).plot(bins=0)
