"""The choice of lam on folds: what scikit-learn's own cross-validation says, without a copy of the rows."""

import itertools
import pickle
import time
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_score, train_test_split

from pegasos import GapWarning, LamPathDisplay, PegasosClassifier, PegasosClassifierCV, PegasosError, load
from pegasos.estimators.warnings import GridWarning
from pegasos.fitting.folds import LamSearch
from pegasos.fitting.path import in_threads

X, Y = make_classification(240, 12, n_informative=4, flip_y=0.15, random_state=1)
DIGITS, LABELS = load_digits(n_class=4, return_X_y=True)
DIGITS = (DIGITS / 16.0 + np.random.default_rng(0).normal(size=DIGITS.shape)).astype(np.float32)
LAMS = [1.0, 0.1, 0.01]
TOL = 1e-9


def fitted(rows=X, labels=Y, sample_weight=None, groups=None, **settings):
    settings = {"lams": LAMS, "random_state": 0, **settings}
    return PegasosClassifierCV(**settings).fit(rows, labels, sample_weight, groups)


@pytest.mark.parametrize("scoring", [None, "accuracy", "f1", "roc_auc", "balanced_accuracy", "average_precision"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_scores_are_those_of_scikit_learn_with_the_same_folds(scoring, class_weight):
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    model = fitted(cv=cv, scoring=scoring, class_weight=class_weight, tol=TOL)
    for lam, scores in zip(LAMS, model.scores_.T, strict=True):
        alone = PegasosClassifier(lam=lam, tol=TOL, class_weight=class_weight, random_state=0)
        np.testing.assert_allclose(scores, cross_val_score(alone, X, Y, cv=cv, scoring=scoring), atol=1e-12)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_the_scores_of_many_classes_are_those_of_scikit_learn(layout):
    rows = layout(DIGITS)
    model = fitted(rows, LABELS, cv=3, tol=1e-7)
    for lam, scores in zip(LAMS, model.scores_.T, strict=True):
        alone = PegasosClassifier(lam=lam, tol=1e-7, random_state=0)
        np.testing.assert_allclose(scores, cross_val_score(alone, rows, LABELS, cv=3), atol=3e-3)


def test_the_model_is_the_fit_of_all_rows_with_the_lam_chosen():
    model = fitted(tol=1e-6)
    alone = PegasosClassifier(lam=model.lam_, tol=1e-6, random_state=0).fit(X, Y)
    assert model.lam_ == model.lams_[model.scores_.mean(axis=0).argmax()]
    assert model.certificate_.relative_gap <= 1e-6
    reach = model.certificate_.weight_radius + alone.certificate_.weight_radius
    assert np.linalg.norm(model.coef_ - alone.coef_) <= reach
    assert model.certify(X, Y) == model.certificate_
    assert alone.set_params(lam=model.lam_).certify(X, Y).primal == pytest.approx(model.certificate_.primal, rel=2e-6)


def test_the_fit_of_all_rows_begins_near_its_end():
    rows, labels = make_classification(1500, 40, n_informative=10, flip_y=0.2, random_state=0)
    model = PegasosClassifierCV([1e-2], tol=1e-4, random_state=0).fit(rows, labels)
    alone = PegasosClassifier(1e-2, tol=1e-4, random_state=0).fit(rows, labels)
    assert model.trace_["gap"][0] < 0.5 * alone.trace_["gap"][0]


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_the_result_does_not_depend_on_the_number_of_threads(n_jobs):
    settings = {"rows": DIGITS[:300], "labels": LABELS[:300], "lams": 6}
    one, many = fitted(**settings, n_jobs=1), fitted(**settings, n_jobs=n_jobs)
    for name in ("lams_", "scores_", "coef_", "intercept_", "alpha_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    assert one.lam_ == many.lam_
    for column, values in one.cv_results_.items():
        np.testing.assert_array_equal(values, many.cv_results_[column])


def test_the_rows_are_never_copied():
    rows = np.random.default_rng(0).normal(size=(2000, 500))
    labels = (rows[:, 0] > 0).astype(int)
    model = PegasosClassifierCV(LAMS, cv=4, tol=1e-2, n_jobs=2, random_state=0)
    model.fit(rows[:100], labels[:100])  # what is imported and made once
    tracemalloc.start()
    model.fit(rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * rows.nbytes


def test_groups_are_kept_together():
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(24), 10)
    labels = random.integers(0, 2, 24)[groups]
    rows = random.normal(size=(24, 30))[groups]  # the rows of a group are equal: only groups can give it away
    apart = fitted(rows, labels, cv=KFold(4, shuffle=True, random_state=0), lams=[1e-3])
    together = fitted(rows, labels, groups=groups, cv=GroupKFold(4), lams=[1e-3])
    assert apart.scores_.mean() == 1.0
    assert together.scores_.mean() < 0.8
    with pytest.raises(PegasosError, match=r"cannot split these 240 rows: .*groups"):
        fitted(rows, labels, cv=GroupKFold(4))


def made_up(scores):
    scores = np.array(scores)
    lams = np.geomspace(1.0, 1e-3, scores.shape[1])
    return LamSearch(None, lams, scores, np.zeros(scores.shape[1]), None)


def test_one_standard_error_takes_the_largest_lam_that_is_as_good():
    # Means 0.70, 0.78, 0.80, 0.76; the standard error of the best is 0.05 / sqrt(3) = 0.029.
    found = made_up([[0.65, 0.73, 0.75, 0.71], [0.70, 0.78, 0.80, 0.76], [0.75, 0.83, 0.85, 0.81]])
    assert found.standard_errors == pytest.approx(np.full(4, 0.05 / np.sqrt(3)))
    assert found.best(one_standard_error=False) == 2
    assert found.best(one_standard_error=True) == 1
    sure = made_up([[0.7, 0.78, 0.80], [0.7, 0.78, 0.80]])
    assert sure.best(one_standard_error=True) == 2


def test_of_lams_that_are_as_good_the_largest_is_chosen():
    assert made_up([[0.5, 0.9, 0.9], [0.5, 0.9, 0.9]]).best(one_standard_error=False) == 1
    assert made_up([[0.5, 0.9, 0.8]]).as_table()["rank_test_score"].tolist() == [3, 1, 2]


def test_one_standard_error_never_chooses_a_smaller_lam():
    plain, simple = fitted(lams=8), fitted(lams=8, one_standard_error=True)
    np.testing.assert_array_equal(plain.scores_, simple.scores_)
    assert simple.lam_ >= plain.lam_


def test_a_holdout_is_one_stratified_split():
    model = fitted(holdout=0.3)
    assert model.scores_.shape == (1, 3)
    assert np.allclose(model.scores_ * 72, np.rint(model.scores_ * 72))  # of 72 rows
    assert np.isnan(model.cv_results_["standard_error"]).all()
    again = fitted(cv=ShuffleSplit(1, test_size=0.3, random_state=0))
    assert again.scores_.shape == (1, 3)


def test_a_callable_gets_a_model_and_the_rows_held_out():
    seen = []

    def score(model, rows, labels):
        seen.append((model.coef_.shape, rows.shape, labels.shape))
        return model.score(rows, labels)

    np.testing.assert_allclose(fitted(scoring=score, cv=3).scores_, fitted(cv=3).scores_)
    assert seen[0] == ((1, 12), (80, 12), (80,))
    recall = make_scorer(recall_score)
    np.testing.assert_allclose(fitted(scoring=recall).scores_, fitted(scoring="recall").scores_)
    sparse = fitted(sp.csr_matrix(X), scoring=score, cv=3)
    np.testing.assert_allclose(sparse.scores_, fitted(cv=3).scores_, atol=1e-12)


def test_a_row_of_weight_2_is_that_row_twice_and_one_of_weight_0_no_row():
    weights = np.random.default_rng(0).integers(0, 3, len(Y))
    twice = np.repeat(np.arange(len(Y)), weights)
    part = np.arange(len(Y)) % 3
    splits = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(3)]
    splits_twice = [(np.flatnonzero(part[twice] != k), np.flatnonzero(part[twice] == k)) for k in range(3)]
    weighted = fitted(sample_weight=weights, cv=splits, tol=1e-10, class_weight="balanced", lams=4)
    repeated = fitted(X[twice], Y[twice], cv=splits_twice, tol=1e-10, class_weight="balanced", lams=4)
    np.testing.assert_allclose(weighted.lams_, repeated.lams_, rtol=1e-12)
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-12)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_masks_are_splits_too():
    part = np.arange(len(Y)) % 3
    masks, numbers = ([(make(part != k), make(part == k)) for k in range(3)] for make in (np.array, np.flatnonzero))
    np.testing.assert_array_equal(fitted(cv=masks).scores_, fitted(cv=numbers).scores_)


def test_labels_may_be_words_and_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    model = fitted(frame, np.array(["no", "yes"])[Y], scoring="balanced_accuracy")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert set(model.predict(frame)) <= {"no", "yes"}


def test_a_fitted_model_can_be_cloned_pickled_and_fitted_again():
    model = fitted()
    assert not hasattr(clone(model), "lam_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    again = fitted(lams=5)
    before = {name: getattr(again, name) for name in ("lams_", "scores_", "coef_", "alpha_")}
    again.fit(X, Y)  # the former fit has no say
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(again, name), value)
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "predict_proba")


def test_folds_that_end_too_soon_are_spoken_of():
    with (
        pytest.warns(GapWarning, match="max_iter epochs ended"),  # the fit of all rows
        pytest.warns(GapWarning, match=r"for 2 of 2 lams a fit of a fold ended before the gap reached tol=1e-12"),
    ):
        PegasosClassifierCV([1e-6, 1e-7], tol=1e-12, max_iter=1, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lams": [0.1, -1.0]}, "each of lams must be a positive number, got -1.0"),
        ({"lams": [0.1, 0.01, 0.05]}, "lams must be sorted"),
        ({"lams": [0.1, 0.1]}, "lams must differ from one another, got 0.1 twice"),
        ({"lams": 0}, "lams must be a whole number of at least 1, got 0"),
        ({"lams": None}, "lams must be a whole number of at least 1, got None"),
        ({"lams": "many"}, "lams must be a whole number of at least 1, got 'many'"),
        ({"eps": 2.0}, "eps is the smallest lam over the largest"),
        ({"tol": None}, "tol must be a number"),
        ({"cv": 1}, "cv=1 cannot split these 240 rows: "),
        ({"cv": 200}, "cv=200 cannot split these 240 rows: "),
        ({"cv": "five"}, "cv='five' cannot split these 240 rows: "),
        ({"cv": []}, r"cv=\[\] has no folds"),
        ({"cv": [([0, 500], [1])]}, "cannot split these 240 rows: index 500"),
        ({"cv": [(np.arange(240), [])]}, "fold 0 holds out no row with a positive weight"),
        ({"holdout": 1.0}, "holdout is a share of the rows and must be below 1, got 1.0"),
        ({"holdout": -0.1}, "holdout must be a positive number"),
        ({"holdout": 0.001}, "holdout=0.001 cannot split these 240 rows: "),
        ({"holdout": 0.3, "one_standard_error": True}, "one_standard_error=True needs two folds at least"),
        ({"one_standard_error": "yes"}, "one_standard_error must be True or False"),
        ({"scoring": "acuracy"}, "scoring='acuracy' is not a metric of scikit-learn; did you mean 'accuracy'"),
        ({"scoring": ["f1", "recall"]}, "scoring must be a name, a callable or None"),
        ({"scoring": "neg_log_loss"}, "scoring cannot be computed from the decisions of these rows: .*predict_proba"),
        ({"scoring": lambda model, rows, labels: "good"}, "scoring must give one number, got 'good'"),
        ({"scoring": lambda model, rows, labels: np.nan}, "scoring must give a finite number, got nan"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_with_a_reason(settings, sentence):
    with pytest.raises(PegasosError, match=sentence):
        fitted(**settings)


def test_a_class_of_one_row_is_named():
    with (
        pytest.warns(UserWarning, match="least populated class"),
        pytest.raises(PegasosError, match="no row of class 2 is left to train on in fold"),
    ):
        fitted(labels=np.where(np.arange(240) == 7, 2, Y))


def test_fewer_rows_than_folds_are_refused():
    with pytest.raises(PegasosError, match="cv=5 cannot split these 4 rows"):
        fitted(X[:4], [0, 1, 0, 1])


def test_a_failed_fit_leaves_the_last_model_as_it_was():
    model = fitted()
    before = model.predict(X)
    with pytest.raises(PegasosError):
        model.set_params(scoring="acuracy").fit(X[:, :5], Y)
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_last_fit_that_fails_leaves_the_last_choice_as_it_was(monkeypatch):
    model = fitted()
    before = {name: getattr(model, name) for name in ("lam_", "lams_", "scores_", "cv_results_", "coef_")}

    def failing(*args, **settings):
        raise MemoryError

    monkeypatch.setattr("pegasos.estimators.choosing.fit", failing)
    with pytest.raises(MemoryError):
        model.set_params(lams=[5.0, 0.5]).fit(X, Y)
    for name, value in before.items():
        assert getattr(model, name) is value or getattr(model, name) == value, name


def test_where_a_fold_fails_its_error_is_raised_and_not_the_interrupt_of_the_folds_that_it_stops():
    def interrupted(watcher):
        while not watcher.interrupted():
            time.sleep(0.001)
        raise KeyboardInterrupt

    def failing(watcher):
        raise PegasosError("the fold is bad.")

    with pytest.raises(PegasosError, match="the fold is bad"):
        in_threads([interrupted, failing], n_jobs=2)


def test_the_picture_shows_the_scores_and_the_lam_chosen():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    drawn = LamPathDisplay.from_estimator(fitted(scoring="f1")).plot()
    assert drawn.ax_.get_ylabel() == "f1"
    names = [text.get_text() for text in drawn.ax_.get_legend().get_texts()]
    assert names == ["mean of the folds, and one standard error", "chosen lam"]
    with pytest.raises(NotFittedError):
        LamPathDisplay.from_estimator(PegasosClassifierCV())
    assert LamPathDisplay.from_estimator(fitted(holdout=0.25)).plot().ax_.get_ylabel() == "accuracy"
    plt.close("all")


def test_the_grid_continues_below_its_smallest_lam_while_that_is_the_best():
    rows, y = load_breast_cancer(return_X_y=True)  # unscaled: features from 0.001 to 4,000
    model = PegasosClassifierCV(5, eps=1e-3, random_state=0).fit(rows[::2], y[::2])
    assert len(model.lams_) > 5
    assert model.lam_ > model.lams_[-1]
    np.testing.assert_allclose(model.lams_[1:] / model.lams_[:-1], model.lams_[1] / model.lams_[0])
    assert model.scores_.shape == (5, len(model.lams_))
    plain = PegasosClassifier(random_state=0).fit(rows[::2], y[::2])
    assert model.score(rows[1::2], y[1::2]) > plain.score(rows[1::2], y[1::2]) - 0.03


def test_a_search_that_ends_at_its_smallest_lam_says_so():
    calls = itertools.count()  # lams are scored in their order: each is better than the last
    model = PegasosClassifierCV(4, eps=0.1, scoring=lambda estimator, X, y: float(next(calls)), random_state=0)
    with pytest.warns(GridWarning, match="the best lam is at the end of"):
        model.fit(X, Y)
    given = PegasosClassifierCV([1e-2, 1e-3], random_state=0).fit(X, Y)
    assert given.lams_.tolist() == [1e-2, 1e-3]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_score_that_dips_at_the_end_of_the_grid_does_not_end_the_search(seed):
    rows, y = load_breast_cancer(return_X_y=True)  # not scaled: the best lam is far below the grid
    train, test, y_train, y_test = train_test_split(rows, y, random_state=seed, stratify=y, test_size=0.4)
    model = PegasosClassifierCV(random_state=0).fit(train, y_train)
    assert model.lam_ < 1.0
    assert model.score(test, y_test) > 0.935


def test_the_lam_chosen_has_a_score_a_cost_and_probabilities(tmp_path):
    model = PegasosClassifierCV(probability=True, random_state=0).fit(X, Y)
    assert model.best_score_ == model.scores_.mean(axis=0).max()
    assert pytest.approx(1.0 / (model.C_ * len(X))) == model.lam_
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    model.save(tmp_path / "m.pegasos")
    again = load(tmp_path / "m.pegasos")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.best_score_ == model.best_score_
    assert not hasattr(PegasosClassifierCV(), "predict_proba")
    with pytest.raises(PegasosError, match="probability must be"):
        PegasosClassifierCV(probability="perhaps").fit(X, Y)
