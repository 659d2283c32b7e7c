"""AutoPegasos as its user meets it."""

import contextlib
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import pegasos
from pegasos import AutoPegasos, PegasosError
from pegasos.tuning import automatic
from pegasos.tuning.race import Race
from pegasos.tuning.trials import Examiner

MOONS, SIDES = make_moons(150, noise=0.2, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)


def quick(**parameters):
    folds = KFold(3, shuffle=True, random_state=0)
    return AutoPegasos(**{"time_budget": None, "n_trials": 4, "cv": folds, "random_state": 0} | parameters)


def test_it_is_as_good_as_a_grid_search_with_many_more_settings():
    X, y = load_breast_cancer(return_X_y=True)
    train_X, test_X, train_y, test_y = train_test_split(X, y, stratify=y, test_size=0.5, random_state=0)
    ranges = {"svc__C": np.geomspace(0.01, 1000, 6), "svc__gamma": np.geomspace(1e-4, 1, 5)}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = GridSearchCV(make_pipeline(StandardScaler(), SVC()), ranges, cv=folds).fit(train_X, train_y)
    auto = AutoPegasos(None, n_trials=12, cv=folds, random_state=0).fit(train_X, train_y)
    assert auto.best_score_ >= grid.best_score_ - 0.005
    assert auto.score(test_X, test_y) >= grid.score(test_X, test_y) - 0.02


def test_the_same_seed_gives_the_same_search():
    first, second = (quick(n_trials=11, random_state=3).fit(MOONS, SIDES) for _ in range(2))
    for mine, other in zip(first.leaderboard_, second.leaderboard_, strict=True):
        for key in mine.keys() - {"seconds", "ended_at"}:
            assert mine[key] == other[key], key
    np.testing.assert_array_equal(first.decision_function(MOONS), second.decision_function(MOONS))


def test_the_winner_is_a_pipeline_fitted_to_all_rows_with_its_proof():
    auto = quick().fit(MOONS, SIDES)
    assert auto.n_rows_fitted_ == 150
    assert auto.certificate_ is auto.best_estimator_[-1].certificate_
    assert auto.certificate_.relative_gap <= 1e-3
    np.testing.assert_array_equal(auto.predict(MOONS), auto.best_estimator_.predict(MOONS))
    assert (
        auto.leaderboard_[0]["score"]
        == auto.best_score_
        == max(row["score"] for row in auto.leaderboard_ if row["finished"])
    )


def test_the_account_names_the_winner_its_score_and_its_rivals():
    auto = quick().fit(MOONS, SIDES)
    assert auto.account_.startswith("4 settings were tried in")
    assert f"accuracy {auto.best_score_:.4f}, the mean of 3 folds" in auto.account_
    assert "Other machines reached at most:" in auto.account_
    assert "Fitted to all 150 rows" in auto.account_


def test_names_of_columns_stay_with_the_winner():
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    auto = quick().fit(frame, SPECIES)
    assert list(auto.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(auto.best_estimator_.predict(frame), auto.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        auto.predict(frame[["b", "a", "c", "d"]])


def test_sparse_rows_are_never_made_dense():
    rows = sp.csr_array(np.where(IRIS > 2.0, IRIS, 0.0))
    auto = quick(n_trials=9).fit(rows, SPECIES)
    assert {row["scaling"] for row in auto.leaderboard_} == {"none", "unit rows", "max-abs"}
    assert auto.score(rows, SPECIES) > 0.9


@pytest.mark.parametrize(
    ("items", "labels"),
    [
        (["abab", "baba", "abbaab", "cdcd", "dcdcd", "cddc"] * 5, [0, 0, 0, 1, 1, 1] * 5),
        ([(np.ones((n, n)) - np.eye(n), ["CN"[n % 2]] * n) for n in range(3, 15)], [0, 1] * 6),
        ([np.sin(np.arange(20 + n) * (0.3 + 0.5 * (n % 2))) for n in range(16)], [0, 1] * 8),
    ],
    ids=["strings", "graphs", "series"],
)
def test_strings_graphs_and_series_have_kernels_of_their_own(items, labels):
    auto = quick().fit(items, labels)
    assert auto.score(items, labels) == 1.0
    assert not hasattr(auto, "n_features_in_")


def test_rows_can_be_declared_series():
    waves = [np.sin(np.arange(30) * (0.3 + 0.5 * (n % 2))) for n in range(16)]
    assert quick().fit(waves, [0, 1] * 8).best_params_["kernel"] == "linear"
    assert quick(items="series").fit(waves, [0, 1] * 8).best_params_["kernel"] in ("frequencies", "alignment")


def test_balancing_is_tried_where_the_score_asks_for_it():
    rare = np.concatenate([np.flatnonzero(SIDES == 0), np.flatnonzero(SIDES == 1)[:20]])
    searches = [quick(n_trials=8, scoring=scoring) for scoring in (None, "balanced_accuracy")]
    tables = [search.fit(MOONS[rare], SIDES[rare]).leaderboard_ for search in searches]
    assert [{row.get("class_weight") for row in table} for table in tables] == [{None}, {None, "balanced"}]


def test_a_function_can_be_maximised():
    auto = quick(scoring=lambda model, X, y: -float(np.mean(model.predict(X) != y))).fit(MOONS, SIDES)
    assert -0.5 < auto.best_score_ <= 0.0


def test_a_function_called_accuracy_is_not_taken_for_the_share_of_hits(monkeypatch):
    made = []
    monkeypatch.setattr("pegasos.tuning.automatic.Examiner", lambda *args: made.append(Examiner(*args)) or made[-1])

    def accuracy(model, X, y):
        return 0.5 * float(np.mean(model.predict(X) == y))

    for scoring in (accuracy, "accuracy", None):
        quick(n_trials=1, scoring=scoring).fit(MOONS, SIDES)
    assert [examiner.counts_hits for examiner in made] == [False, True, True]


@pytest.mark.parametrize(
    ("scoring", "perfect"),
    [("f1_macro", 1.0), ("roc_auc", 1.0), ("neg_brier_score", 0.0), ("positive_likelihood_ratio", np.inf)],
)
def test_a_score_ends_the_search_only_where_none_can_be_higher(scoring, perfect, monkeypatch):
    races = []
    monkeypatch.setattr(
        "pegasos.tuning.automatic.Race", lambda *args, **more: races.append(args) or Race(*args, **more)
    )
    with contextlib.suppress(PegasosError):  # of probabilities, which there are none of
        quick(n_trials=1, scoring=scoring).fit(MOONS, SIDES)
    assert races[0][1] == perfect


def test_few_rows_are_dealt_into_folds_more_than_once():
    auto = quick(cv=5, n_trials=1).fit(MOONS[:60], SIDES[:60])
    assert auto.leaderboard_[0]["folds"] == 25


def test_a_class_with_fewer_rows_than_folds_lessens_the_folds():
    few = np.concatenate([np.flatnonzero(SIDES == 0), np.flatnonzero(SIDES == 1)[:2]])
    auto = quick(cv=5, n_trials=1).fit(MOONS[few], SIDES[few])
    assert auto.leaderboard_[0]["folds"] == 2 * 6


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    calls, examine = [], Examiner.examine

    def interrupted(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return examine(self, *args, **kwargs)

    monkeypatch.setattr(Examiner, "examine", interrupted)
    auto = quick(n_trials=50).fit(MOONS, SIDES)
    assert "until it was interrupted" in auto.account_
    assert auto.score(MOONS, SIDES) > 0.8


def test_an_interrupt_before_anything_was_tried_is_an_interrupt(monkeypatch):
    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Examiner, "examine", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quick().fit(MOONS, SIDES)


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_the_shortest_budget_gives_a_model():
    auto = AutoPegasos(1e-9, random_state=0).fit(MOONS, SIDES)
    assert auto.predict(MOONS).shape == (150,)
    assert "the time budget ended" in auto.account_


def test_a_kernel_is_fitted_to_as_many_rows_as_the_time_allows(monkeypatch):
    auto = AutoPegasos(100.0, n_trials=3, cv=3, random_state=0)
    monkeypatch.setattr("pegasos.tuning.search.Search.growth_of_time", lambda self, trial, n_rows: 1e9)
    auto.fit(MOONS, SIDES)
    assert auto.best_params_["kernel"] == "rbf"
    assert auto.n_rows_fitted_ == 100
    assert "Fitted to 100 of the 150 rows" in auto.account_


def test_of_a_sparse_layout_without_rows_to_pick_some_rows_can_be_fitted_as_well(monkeypatch):
    monkeypatch.setattr(automatic, "affordable_rows", lambda codes, best, search: np.arange(0, len(codes), 2))
    auto = quick(n_trials=2).fit(sp.coo_matrix(MOONS), SIDES)
    assert auto.n_rows_fitted_ == 75
    assert auto.predict(sp.coo_matrix(MOONS)).shape == (150,)


def test_without_verbose_nothing_is_printed_not_even_by_optuna(capfd):
    words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"] * 5
    AutoPegasos(None, n_trials=14, random_state=0).fit(words, [0, 0, 0, 1, 1, 1] * 5)
    assert capfd.readouterr() == ("", "")


def test_verbose_prints_a_line_for_each_setting(capsys):
    quick(verbose=1).fit(MOONS, SIDES)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(" best 0." in line and "lam" in line for line in lines)


def test_a_fitted_search_can_be_stored():
    auto = quick().fit(MOONS, SIDES)
    again = pickle.loads(pickle.dumps(auto))
    np.testing.assert_array_equal(again.predict(MOONS), auto.predict(MOONS))
    assert again.leaderboard_ == auto.leaderboard_


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"time_budget": 0}, "time_budget must be a positive number, got 0"),
        ({"time_budget": None, "n_trials": None}, "a search needs a limit"),
        ({"n_trials": 0}, "n_trials must be a whole number of at least 1, got 0"),
        ({"cv": 1}, "cv must be a number of folds of at least 2, got 1"),
        ({"scoring": "beauty"}, "scoring must be a name .* got 'beauty'"),
        ({"items": "songs"}, "items must be one of 'rows', 'strings', 'graphs', 'series', got 'songs'"),
        ({"scoring": "neg_log_loss"}, "scoring='neg_log_loss' cannot be computed here"),
    ],
)
def test_parameters_that_make_no_search_raise_an_error(parameters, sentence):
    with pytest.raises(PegasosError, match=sentence):
        quick(**parameters).fit(MOONS, SIDES)


def test_a_class_of_a_single_row_raises_an_error():
    with pytest.raises(PegasosError, match=r"class .* has a single row"):
        quick(cv=5).fit(MOONS[:10], [0] * 9 + [1])


def test_columns_that_never_change_raise_an_error():
    with pytest.raises(PegasosError, match="every one of the 2 columns of X is constant"):
        quick().fit(np.ones((20, 2)), [0, 1] * 10)


@pytest.mark.parametrize(("scores", "sentence"), [(lambda *_: float("nan"), "gave nan"), (lambda *_: "a", "cannot be")])
def test_a_score_that_is_not_a_number_raises_an_error(scores, sentence):
    with pytest.raises(PegasosError, match=sentence):
        quick(scoring=scores).fit(MOONS, SIDES)


def test_entries_whose_squares_overflow_raise_an_error():
    with pytest.raises(PegasosError, match="whose squares overflow; scale it down"):
        quick().fit(1e200 * MOONS, SIDES)


def test_a_generator_raises_an_error():
    with pytest.raises(PegasosError, match="X must be a matrix of rows or a list of items, got generator"):
        quick().fit((row for row in MOONS), SIDES)


def test_without_optuna_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(PegasosError, match=r'pip install "pegasos\[tune\]"'):
        quick().fit(MOONS, SIDES)


def test_a_name_that_the_package_has_not_is_refused_as_usual():
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        _ = pegasos.Nonsense


def test_callbacks_see_every_trial_and_may_end_the_search():
    pytest.importorskip("sklearn.callback")
    seen = []

    class Counter:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            seen.append(context.task_name)
            return len(seen) == 2

    auto = quick(n_trials=9)
    auto.set_callbacks(Counter()).fit(MOONS, SIDES)
    assert "until a callback asked to stop" in auto.account_
    assert seen.count("trial") <= 9
