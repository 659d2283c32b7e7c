"""AutoPegasos in daily use: rare classes, weights, frames, series in rows, probabilities, certificates, regression."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, r2_score

from pegasos import AutoPegasos, AutoPegasosRegressor, PegasosError, load
from pegasos.tuning.columns import columns_of
from pegasos.tuning.kinds import are_like_series

pd = pytest.importorskip("pandas")
pytest.importorskip("optuna")
RANDOM = np.random.default_rng(0)
RARE, IS_RARE = make_classification(400, 8, weights=[0.92], flip_y=0.02, class_sep=0.8, random_state=0)
X = RANDOM.normal(size=(120, 4))
Y = 50.0 + 10.0 * (np.sin(X[:, 0]) + X[:, 1])


def search(kind=AutoPegasos, **settings):
    return kind(**{"time_budget": None, "n_trials": 6, "cv": 3, "random_state": 0, **settings})


def test_rare_classes_are_scored_by_their_own_share_of_hits():
    auto = search().fit(RARE, IS_RARE)
    assert auto.scoring_ == "balanced_accuracy"
    share = f"{np.mean(IS_RARE):.1%}"
    assert f"Scores are balanced_accuracy, since class 1 has {share} of the rows." in auto.account_
    assert "a constant prediction (most_frequent) scores 0.5000" in auto.account_
    assert set(auto.predict(RARE)) == {0, 1}
    assert auto.best_score_ > 0.65
    assert auto.score(RARE, IS_RARE) == pytest.approx(balanced_accuracy_score(IS_RARE, auto.predict(RARE)))


def test_the_user_may_ask_for_the_accuracy():
    auto = search(scoring="accuracy").fit(RARE, IS_RARE)
    assert auto.scoring_ == "accuracy"
    assert "since class" not in auto.account_
    assert f"scores {np.mean(IS_RARE == 0):.4f}" in auto.account_


def test_even_classes_are_scored_by_the_accuracy():
    assert search(n_trials=2).fit(X, X[:, 0] > 0).scoring_ == "accuracy"


def test_probabilities_are_those_of_the_winner():
    auto = search(n_trials=2, probability=True).fit(X, X[:, 0] > 0)
    found = auto.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found, auto.best_estimator_.predict_proba(X))
    assert not hasattr(search(), "predict_proba")
    with pytest.raises(PegasosError, match="probability must be"):
        search(probability="platt").fit(X, X[:, 0] > 0)


def test_a_weight_of_zero_leaves_a_row_out():
    y = (X[:, 0] > 0).astype(int)
    weights = np.ones(len(X))
    weights[:30] = 0.0
    wrong = np.where(weights > 0.0, y, 1 - y)
    weighted = search(n_trials=3).fit(X, wrong, sample_weight=weights)
    plain = search(n_trials=3).fit(X[30:], y[30:], sample_weight=np.ones(90))
    assert weighted.best_score_ == plain.best_score_
    np.testing.assert_array_equal(weighted.decision_function(X), plain.decision_function(X))


def test_weights_count_in_the_scores():
    """All the weight is on rows whose label is certain: what the others say does not matter."""
    y = (X[:, 0] > 0).astype(int)
    noise = np.where(np.arange(120) % 2 == 0, y, RANDOM.integers(2, size=120))
    weights = np.where(np.arange(120) % 2 == 0, 1.0, 1e-6)
    assert search().fit(X, noise, sample_weight=weights).best_score_ > 0.93


@pytest.mark.parametrize("kind", [AutoPegasos, AutoPegasosRegressor])
def test_the_certificate_is_recomputed_from_the_rows(kind):
    y = Y if kind is AutoPegasosRegressor else Y > 50.0
    auto = search(kind).fit(X, y)
    again = auto.certify(X, y)
    assert again.primal == pytest.approx(auto.certificate_.primal, rel=1e-8)  # up to their room for rounding
    assert again.relative_gap <= 1e-3
    with pytest.raises(PegasosError, match="fitted to 120 rows"):
        auto.certify(X[:50], y[:50])


def frame(n=200):
    rng = np.random.default_rng(3)
    city = rng.choice(["Ulm", "Bonn", "Kiel"], size=n)
    words = np.where(rng.random(n) < 0.5, "a quiet room with a view", "a noisy flat near the road")
    table = pd.DataFrame(
        {
            "size": rng.normal(70.0, 20.0, size=n),
            "city": pd.Categorical(city),
            "text": [f"{word} {k}" for k, word in enumerate(words)],
            "garden": rng.random(n) < 0.5,
        }
    )
    score = (city == "Kiel") * 1.0 + (words == "a quiet room with a view") * 1.0 + table["garden"].to_numpy()
    return table, score


@pytest.mark.parametrize("kind", [AutoPegasos, AutoPegasosRegressor])
def test_columns_of_a_frame_are_read_by_type(kind):
    table, score = frame()
    y = score if kind is AutoPegasosRegressor else np.where(score > 1.0, "dear", "cheap")
    auto = search(kind).fit(table, y)
    assert auto.best_score_ > 0.9
    assert auto.feature_names_in_.tolist() == ["size", "city", "text", "garden"]
    new, score = frame(60)
    assert auto.predict(new).shape == (60,)
    assert auto.score(table, y) > 0.9
    assert auto.certify(table, y).relative_gap <= 1e-3


def test_a_frame_of_numbers_needs_no_reader():
    assert columns_of(pd.DataFrame(X)) is None
    assert columns_of(X) is None


def test_columns_that_cannot_be_read_are_named():
    table, _ = frame()
    table.loc[7, "size"] = np.nan
    with pytest.raises(PegasosError, match="column 'size' has nan in row 7"):
        columns_of(table)
    table["day"] = pd.Timestamp("2020-01-01")
    with pytest.raises(PegasosError, match="column 'day' holds dates"):
        columns_of(table)


def waves(n, rng):
    """Two shapes at any place of a series, which no vector of its values tells apart."""
    y = rng.integers(2, size=n)
    times, places = np.arange(60), rng.integers(10, 45, size=n)[:, None]
    widths = np.where(y == 0, 3.0, 6.0)[:, None]
    return np.exp(-0.5 * ((times - places) / widths) ** 2) + 0.02 * rng.normal(size=(n, 60)), y


def test_rows_that_look_like_series_are_tried_with_kernels_of_series():
    rows, y = waves(60, np.random.default_rng(1))
    assert are_like_series(rows)
    assert not are_like_series(np.random.default_rng(0).permuted(rows, axis=1))
    assert not are_like_series(X)
    auto = search(n_trials=12).fit(rows, y)
    tried = {row["kernel"] for row in auto.leaderboard_}
    assert {"alignment", "frequencies", "rbf"} <= tried
    new, truth = waves(100, np.random.default_rng(2))
    assert np.mean(auto.predict(new) == truth) > 0.9
    assert auto.certify(rows, y).relative_gap <= 1e-3


def test_a_regression_is_searched_for_in_units_of_its_targets():
    auto = search(AutoPegasosRegressor, n_trials=8).fit(X, Y)
    large = search(AutoPegasosRegressor, n_trials=8).fit(X, 1024.0 * Y)
    assert auto.scoring_ == "r2"
    assert auto.best_score_ > 0.9
    assert auto.score(X, Y) == pytest.approx(r2_score(Y, auto.predict(X)))
    assert large.best_score_ == pytest.approx(auto.best_score_, abs=1e-3)
    assert large.best_params_["epsilon"] == pytest.approx(1024.0 * auto.best_params_["epsilon"])
    assert "a constant prediction (mean) scores 0.0000" in auto.account_
    assert "epsilon" in auto.leaderboard_[0]


def test_a_file_holds_the_winner_of_a_regression(tmp_path):
    auto = search(AutoPegasosRegressor, n_trials=3).fit(X, Y)
    auto.save(tmp_path / "model")
    read = load(tmp_path / "model")
    np.testing.assert_array_equal(read.predict(X), auto.predict(X))
    assert read.account_ == auto.account_
    assert read.scoring_ == "r2"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(120, 3.0), "every target is 3"),
        (np.where(np.arange(120) == 5, np.nan, Y), "NaN"),
        (np.column_stack([Y, Y]), r"1d array|one target|\(120, 2\)"),
    ],
)
def test_targets_that_cannot_be_learnt_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        search(AutoPegasosRegressor).fit(X, y)
