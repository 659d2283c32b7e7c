"""Curves and counts, against scikit-learn, scipy and sums by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from pegasos.report.curves import (
    calibration_error,
    counted,
    curves_of,
    equal_parts,
    margin_edges,
    reliability,
    thinned,
    wilson,
)
from pegasos.report.outcome import Spread


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=60))
def test_areas_are_those_of_scikit_learn_ties_or_not(rows):
    is_positive, scores = np.array([row[0] for row in rows]), np.array([float(row[1]) for row in rows])
    found = curves_of(is_positive, scores)
    if is_positive.all() or not is_positive.any():
        assert found is None
        return
    assert found.roc.area == pytest.approx(roc_auc_score(is_positive, scores))
    assert found.precision_recall.area == pytest.approx(average_precision_score(is_positive, scores))


def test_the_points_of_short_curves_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    is_positive, scores = random.random(80) < 0.3, random.normal(size=80)
    found = curves_of(is_positive, scores)
    false_rate, recall, _ = roc_curve(is_positive, scores, drop_intermediate=False)
    np.testing.assert_allclose(found.roc.x, false_rate)
    np.testing.assert_allclose(found.roc.y, recall)
    precision, recall, _ = precision_recall_curve(is_positive, scores)
    np.testing.assert_allclose(found.precision_recall.x[1:], recall[:-1][::-1])
    np.testing.assert_allclose(found.precision_recall.y[1:], precision[:-1][::-1])


def test_a_thinned_curve_keeps_its_ends_and_stays_near_the_whole_one():
    x = np.linspace(0.0, 1.0, 50_000)
    y = np.minimum(1.0, 20.0 * x)
    few_x, few_y = thinned(x, y, 200)
    assert len(few_x) <= 202
    assert (few_x[0], few_y[0], few_x[-1], few_y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert np.abs(np.interp(x, few_x, few_y) - y).max() < 0.02


def test_bins_say_what_a_loop_over_them_says():
    random = np.random.default_rng(1)
    said = random.random(500)
    is_true = random.random(500) < said**2
    edges = np.linspace(0.0, 1.0, 11)
    found = reliability(said, is_true, edges)
    distance = 0.0
    for k in range(10):
        mine = (said >= edges[k]) & (said < edges[k + 1])
        assert (found.means[k], found.shares[k]) == pytest.approx((said[mine].mean(), is_true[mine].mean()))
        distance += mine.mean() * abs(said[mine].mean() - is_true[mine].mean())
    assert calibration_error(found) == pytest.approx(distance)


def test_bins_of_equal_scores_are_one_bin():
    assert reliability(np.ones(5), np.ones(5, bool), equal_parts(np.ones(5), 10)).counts.tolist() == [5]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200))
def test_every_margin_is_counted_and_no_bar_holds_both_sides(margins):
    margins = np.array(margins)
    edges = margin_edges(margins)
    assert counted(margins, edges).sum() == len(margins)
    assert 0.0 in edges
    assert edges[0] < 0.0
    assert edges[-1] > 1.0
    assert len(edges) <= 50


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (5, 5), (140, 150), (1, 1), (999_999, 1_000_000)])
def test_the_interval_of_a_share_is_wilsons(hits, n):
    assert wilson(hits, n) == pytest.approx(tuple(binomtest(hits, n).proportion_ci(method="wilson")), abs=1e-7)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_spreads_added_up_by_blocks_are_standard_deviations(layout):
    X = np.random.default_rng(2).normal(5.0, [1e-3, 1.0, 50.0], size=(1000, 3))
    spread = Spread()
    for begin in (0, 300, 999):
        spread.add(layout(X[begin : {0: 300, 300: 999, 999: 1000}[begin]]))
    np.testing.assert_allclose(spread.deviations(), X.std(axis=0), rtol=1e-6)
