"""Regressors that choose lam and epsilon: certified fits on folds, and scores that scikit-learn gives too."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import make_scorer, mean_pinball_loss, r2_score
from sklearn.model_selection import GroupKFold, KFold
from sklearn.preprocessing import scale

from pegasos import PegasosClassifier, PegasosClassifierCV, PegasosRegressor, PegasosRegressorCV, lam_path, load
from pegasos.errors import PegasosError
from pegasos.plots import LamPathDisplay

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(240, 6))
Y = 20.0 * (X @ np.array([1.0, -2.0, 0.0, 0.5, 0.0, 0.0]) + RANDOM.uniform(-1.0, 1.0, size=240))
LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "huber"]


def fitted(X=X, y=Y, **settings):
    return PegasosRegressorCV(**{"lams": 5, "cv": 3, "random_state": 0, **settings}).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_are_those_of_certified_fits_on_the_folds(loss):
    model = fitted(loss=loss, tol=1e-6, epsilons=[0.0, 5.0], delta=10.0, quantile=0.3)
    table = model.cv_results_
    for k in (0, 3, len(model.lams_) - 1):
        settings = {"lam": table["param_lam"][k], "epsilon": table["param_epsilon"][k]}
        for fold, (train, test) in enumerate(KFold(3).split(X)):
            one = PegasosRegressor(loss=loss, tol=1e-8, delta=10.0, quantile=0.3, **settings).fit(X[train], Y[train])
            expected = r2_score(Y[test], one.predict(X[test]))
            assert table[f"split{fold}_test_score"][k] == pytest.approx(expected, abs=0.02 * abs(expected) + 5e-3)
    assert (table["relative_gap"] <= 1e-6).all()
    assert model.certificate_.relative_gap <= 1e-6


def test_the_best_pair_of_lam_and_epsilon_is_chosen():
    model = fitted()
    best = int(model.cv_results_["mean_test_score"].argmax())
    assert model.lam_ == model.cv_results_["param_lam"][best]
    assert model.epsilon_ == model.cv_results_["param_epsilon"][best]
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()
    assert model.cv_results_["rank_test_score"][best] == 1
    assert len(np.unique(model.cv_results_["param_epsilon"])) == 4
    again = PegasosRegressor(lam=model.lam_, epsilon=model.epsilon_, tol=1e-8).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(again.certificate_.primal, rel=1e-3)
    assert pytest.approx(1.0 / (model.lam_ * len(X))) == model.C_


def test_noise_within_bounds_asks_for_a_tube():
    """Uniform noise: the tube that just holds it is better than none."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 12))
    y = rows @ np.ones(12) + random.choice([-1.0, 1.0], size=60)
    model = PegasosRegressorCV(epsilons=[0.0, 0.9], lams=8, cv=5, random_state=0).fit(rows, y)
    assert model.epsilon_ == 0.9


def test_units_of_y_do_not_matter():
    small, large = fitted(tol=1e-9), fitted(tol=1e-9, y=1024.0 * Y)
    np.testing.assert_allclose(small.scores_, large.scores_, rtol=1e-5)
    assert large.epsilon_ == pytest.approx(1024.0 * small.epsilon_)
    assert large.lam_ == pytest.approx(small.lam_ / 1024.0)


def test_the_result_does_not_depend_on_the_number_of_threads():
    np.testing.assert_array_equal(fitted(n_jobs=1).coef_, fitted(n_jobs=2).coef_)


def test_several_targets_are_chosen_for_together():
    model = fitted(y=np.column_stack([Y, -Y, X[:, 0]]))
    assert model.coef_.shape == (3, 6)
    assert model.predict(X).shape == (240, 3)
    assert model.certificate_.relative_gap <= 1e-3


def test_scorers_groups_holdout_and_the_standard_error():
    pinball = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
    model = fitted(loss="quantile", quantile=0.9, scoring=pinball)
    assert np.mean(model.predict(X) >= Y) == pytest.approx(0.9, abs=0.06)
    assert fitted(scoring="neg_mean_absolute_error").best_score_ < 0.0
    assert fitted(holdout=0.3).scores_.shape[0] == 1
    assert fitted(one_standard_error=True).lam_ >= fitted().lam_
    grouped = PegasosRegressorCV(4, cv=GroupKFold(3), random_state=0).fit(X, Y, groups=np.arange(240) % 7)
    assert grouped.scores_.shape[0] == 3


def test_sample_weights_count_in_fits_and_scores():
    weights = np.repeat([1.0, 2.0], 120)
    rows = np.repeat(np.arange(240), weights.astype(int))
    folds, places = np.arange(240) % 3, (np.arange(240) % 3)[rows]
    split = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    repeated = [(np.flatnonzero(places != k), np.flatnonzero(places == k)) for k in range(3)]
    settings = {"lams": [1.0, 0.01], "epsilons": [1.0], "tol": 1e-9, "random_state": 0}
    weighted = PegasosRegressorCV(cv=split, **settings).fit(X, Y, sample_weight=weights)
    twice = PegasosRegressorCV(cv=repeated, **settings).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.scores_, twice.scores_, atol=1e-4)


def test_a_model_file_holds_the_choice(tmp_path):
    model = fitted()
    model.save(tmp_path / "model")
    read = load(tmp_path / "model")
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    assert (read.lam_, read.epsilon_, read.best_score_) == (model.lam_, model.epsilon_, model.best_score_)
    assert read.certify(X, Y).relative_gap <= 1e-3


def test_the_choice_is_drawn():
    pytest.importorskip("matplotlib")
    display = LamPathDisplay.from_estimator(fitted())
    assert len(display.lams) == len(display.curves[0])
    assert display.ylabel == "r2"
    display.plot()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilons": [-1.0]}, "at least 0"),
        ({"epsilons": []}, "a count or a list"),
        ({"epsilons": [1.0, 1.0]}, "differ"),
        ({"epsilons": 0}, "epsilons must be"),
        ({"epsilons": [np.nan]}, "at least 0"),
        ({"loss": "hinge"}, "loss must be"),
        ({"quantile": 1.0}, "between 0 and 1"),
        ({"scoring": "accurracy"}, "did you mean"),
        ({"cv": 1000}, "cannot split"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(PegasosError, match=message):
        fitted(**settings)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_of_regressions_is_certified_at_every_lam(loss):
    rows, y = load_diabetes(return_X_y=True)
    rows = 20.0 * rows
    path = lam_path(rows, y, loss=loss, n_lams=12, tol=1e-5, epsilon=5.0, delta=20.0, quantile=0.7, random_state=0)
    assert max(certificate.relative_gap for certificate in path.certificates) <= 1e-5
    assert path.classes is None
    assert path.alphas.shape == (12, 1, 2 * len(rows))
    for j in (0, 6, 11):
        model = PegasosRegressor(path.lams[j], loss=loss, tol=1e-8, epsilon=5.0, delta=20.0, quantile=0.7)
        model.fit(rows, y)
        assert path.certificates[j].primal == pytest.approx(model.certificate_.primal, rel=2e-5)
        radius = path.certificates[j].weight_radius + model.certificate_.weight_radius
        assert np.linalg.norm(path.coefs[j, 0] - model.coef_[0]) <= radius


def test_a_path_of_regressions_has_no_class_weight():
    with pytest.raises(PegasosError, match="does not support class_weight"):
        lam_path(X, Y, loss="huber", class_weight="balanced")


def test_a_free_intercept_is_free_in_every_fold_and_certified():
    rows, targets = load_diabetes(return_X_y=True)
    rows, folds = scale(rows), KFold(3)
    shared = {"regularize_intercept": False, "random_state": 0}
    model = PegasosRegressorCV([1.0, 0.1, 0.01], epsilons=[10.0], cv=folds, **shared).fit(rows, targets)
    for lam, found in zip(model.lams_, model.scores_.T, strict=True):
        own = PegasosRegressor(lam, epsilon=10.0, tol=1e-6, **shared)
        exact = [own.fit(rows[a], targets[a]).score(rows[b], targets[b]) for a, b in folds.split(rows)]
        assert found == pytest.approx(exact, abs=2e-3)
    alone = PegasosRegressor(model.lam_, epsilon=10.0, tol=1e-8, **shared).fit(rows, targets)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-3)
    assert model.certify(rows, targets).relative_gap <= 1e-3
    by_function = PegasosRegressorCV(
        [1.0, 0.1, 0.01], epsilons=[10.0], cv=folds, scoring=lambda one, X, y: one.score(X, y), **shared
    ).fit(rows, targets)
    assert by_function.scores_ == pytest.approx(model.scores_, abs=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_classifier_with_a_free_intercept_chooses_lam_too(loss):
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = scale(rows) + 3.0
    shared = {"regularize_intercept": False, "loss": loss, "random_state": 0}
    model = PegasosClassifierCV(4, cv=3, **shared).fit(rows, labels)
    alone = PegasosClassifier(model.lam_, tol=1e-6, **shared).fit(rows, labels)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-3)
    assert model.best_score_ > 0.95
