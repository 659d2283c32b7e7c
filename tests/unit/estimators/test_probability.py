"""Probabilities: Platt's sigmoids, isotonic curves, and several classes coupled."""

import os
import signal
import sys
from threading import Timer

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.svm import LinearSVC

from pegasos import GapWarning, KernelPegasosClassifier, PegasosClassifier, PegasosError, load
from pegasos.export import to_json
from pegasos.fitting.probability import _fit_sigmoid, cross_fitted
from pegasos.kernels import Spectrum
from pegasos.tasks import OneVsOne, pairs_of

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("probability", [True, "isotonic"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_probabilities_increase_with_the_score_and_follow_the_frequencies_of_the_data(probability, class_weight):
    rows, y = make_classification(6000, 10, weights=[0.95], flip_y=0.02, class_sep=0.7, random_state=0)
    model = PegasosClassifier(C=1.0, class_weight=class_weight, probability=probability, random_state=0)
    model.fit(rows[:3000], y[:3000])
    scores, found = model.decision_function(rows[3000:]), model.predict_proba(rows[3000:])[:, 1]
    assert (np.diff(found[np.argsort(scores)]) >= 0.0).all()
    assert abs(found.mean() - y[3000:].mean()) < 0.03
    if probability is True:
        assert roc_auc_score(y[3000:], found) == roc_auc_score(y[3000:], scores)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_log_losses_next_to_class_weights_are_those_of_scikit_learns_calibration(method, class_weight):
    rows, y = make_classification(6000, 10, weights=[0.95], flip_y=0.02, class_sep=0.7, random_state=0)
    ours = PegasosClassifier(C=1.0, class_weight=class_weight, probability=method, random_state=0)
    ours.fit(rows[:3000], y[:3000])
    plain = PegasosClassifier(C=1.0, class_weight=class_weight, random_state=0)
    theirs = CalibratedClassifierCV(plain, method=method, ensemble=False).fit(rows[:3000], y[:3000])
    mine, other = (log_loss(y[3000:], model.predict_proba(rows[3000:])) for model in (ours, theirs))
    assert mine < other + (0.005 if method == "sigmoid" else 0.03)  # isotonic zeros depend on the folds


@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(0.0, 0.4), st.sampled_from([True, "isotonic"]))
def test_probabilities_sum_to_one(seed, n_classes, noise, probability):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(60, 3))
    y = np.where(random.random(60) < noise, random.integers(0, n_classes, 60), np.arange(60) % n_classes)
    rows[:, 0] += y
    model = PegasosClassifier(lam=1e-2, probability=probability, random_state=seed).fit(rows, y)
    new = random.normal(scale=3.0, size=(200, 3))
    found = model.predict_proba(new)
    assert (found >= 0.0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(new)), found)


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_isotonic_probabilities_are_saved_and_refused_by_formats_without_room(make, tmp_path):
    model = make(lam=1e-2, probability="isotonic", random_state=0).fit(X, Y)
    model.save(tmp_path / "m.pegasos")
    np.testing.assert_array_equal(load(tmp_path / "m.pegasos").predict_proba(X), model.predict_proba(X))
    with pytest.raises(PegasosError, match="isotonic"):
        to_json(model)


def test_the_sigmoid_has_the_least_log_loss():
    random = np.random.default_rng(0)
    scores = random.normal(size=400)
    positive = random.random(400) < 1.0 / (1.0 + np.exp(-(2.0 * scores - 0.5)))
    weights = random.uniform(0.0, 2.0, 400)
    slope, shift = _fit_sigmoid(scores, positive, weights)
    n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

    def loss(a, b):
        p = 1.0 / (1.0 + np.exp(-(a * scores + b)))
        return -weights @ (targets * np.log(p) + (1 - targets) * np.log(1 - p))

    best = loss(slope, shift)
    for step in (1e-3, -1e-3):
        assert loss(slope + step, shift) > best
        assert loss(slope, shift + step) > best
    assert slope == pytest.approx(2.0, abs=0.5)


def test_a_weight_of_two_in_the_sigmoid_is_a_row_twice():
    random = np.random.default_rng(1)
    scores = random.normal(size=50)
    positive = scores + random.normal(size=50) > 0
    weights = random.integers(1, 4, 50)
    once = _fit_sigmoid(scores, positive, weights.astype(float))
    twice = _fit_sigmoid(np.repeat(scores, weights), np.repeat(positive, weights), None)
    np.testing.assert_allclose(once, twice, rtol=1e-6)


def test_perfectly_separated_scores_have_a_finite_sigmoid():
    slope, shift = _fit_sigmoid(np.r_[np.full(10, -1.0), np.full(10, 1.0)], np.arange(20) >= 10, None)
    assert np.isfinite([slope, shift]).all()
    assert slope > 0.0


def test_the_brier_score_is_that_of_scikit_learns_calibration():
    rows, y = make_classification(2000, 20, n_informative=5, weights=[0.75], flip_y=0.1, random_state=0)
    train, test = np.arange(1000), np.arange(1000, 2000)
    ours = PegasosClassifier(C=0.1, probability=True, random_state=0).fit(rows[train], y[train])
    theirs = CalibratedClassifierCV(LinearSVC(C=0.1, loss="hinge", max_iter=1_000_000), ensemble=False)
    theirs.fit(rows[train], y[train])
    mine = brier_score_loss(y[test], ours.predict_proba(rows[test])[:, 1])
    assert mine <= brier_score_loss(y[test], theirs.predict_proba(rows[test])[:, 1]) + 0.003


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_three_classes_are_told_apart(make):
    model = make(lam=1e-3, probability=True, random_state=0, max_iter=5000).fit(X, Y)
    found = model.predict_proba(X)
    assert found.shape == (150, 3)
    assert np.log(found[np.arange(150), Y]).mean() > -0.5 if make is KernelPegasosClassifier else True
    again = make(lam=1e-3, probability=True, random_state=0, max_iter=5000).fit(X, Y)
    np.testing.assert_array_equal(again.predict_proba(X), found)


def test_strings_sparse_rows_and_kernel_matrices_have_probabilities():
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abc"), 8)) for _ in range(80)]
    y = np.array(["many" if word.count("a") > 2 else "few" for word in words])
    on_words = KernelPegasosClassifier(Spectrum(1), lam=1e-2, probability=True, random_state=0).fit(words, y)
    assert (on_words.classes_[on_words.predict_proba(words).argmax(axis=1)] == y).mean() > 0.9
    gram = Spectrum(1).block(words, words)
    on_gram = KernelPegasosClassifier("precomputed", lam=1e-2, probability=True, random_state=0).fit(gram, y)
    np.testing.assert_allclose(on_gram.predict_proba(gram), on_words.predict_proba(words), atol=0.05)
    sparse = PegasosClassifier(lam=1e-2, probability=True, random_state=0).fit(sp.csr_array(X), Y == 1)
    dense = PegasosClassifier(lam=1e-2, probability=True, random_state=0).fit(X, Y == 1)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-2)


def test_rows_without_weight_have_no_say_in_probabilities():
    random = np.random.default_rng(0)
    weights = np.r_[random.uniform(0.5, 2.0, 150), np.zeros(30)]
    rows, y = np.r_[X, random.normal(size=(30, 4))], np.r_[Y == 1, random.random(30) < 0.5]
    model = PegasosClassifier(lam=1e-2, probability=True, random_state=0).fit(rows, y, weights)
    assert np.isfinite(model.predict_proba(X)).all()


def test_bad_calls_raise_an_error():
    with pytest.raises(PegasosError, match="needs rows for at least two folds, but class True has only 1"):
        PegasosClassifier(probability=True).fit(X[:20], np.arange(20) < 1)
    model = PegasosClassifier(lam=1e-2).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(PegasosError, match="fitted without probabilities"):
        model.set_params(probability=True).predict_proba(X)
    with pytest.raises(PegasosError, match="probability must be False, True, 'sigmoid' or 'isotonic', got 'yes'"):
        PegasosClassifier(probability="yes").fit(X, Y)
    assert not hasattr(PegasosClassifier(probability=True), "partial_fit")


def test_a_failed_calibration_leaves_the_last_good_model():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(PegasosError, match="folds"):
        model.set_params(probability=True).fit(X[:60], np.r_[np.zeros(59), 1.0])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.predict(X).shape == (150,)


def test_pairs_are_coupled_to_the_probabilities_that_agree_best():
    task = OneVsOne.of(np.arange(4))
    random = np.random.default_rng(0)
    truth = random.dirichlet(np.ones(4), 50)
    of_second = np.column_stack([truth[:, j] / (truth[:, i] + truth[:, j]) for i, j in pairs_of(4)])
    np.testing.assert_allclose(task.probabilities(of_second), truth, atol=1e-6)
    noisy = np.clip(of_second + random.normal(scale=0.05, size=of_second.shape), 0.01, 0.99)
    found = task.probabilities(noisy)

    def misfit(p):
        pairs = enumerate(pairs_of(4))
        return sum((noisy[:, k] * p[:, i] - (1.0 - noisy[:, k]) * p[:, j]) ** 2 for k, (i, j) in pairs)

    for other in (random.dirichlet(np.ones(4), 50), 0.99 * found + 0.01 * random.dirichlet(np.ones(4), 50)):
        assert (misfit(found) <= misfit(other) + 1e-12).all()


@pytest.mark.parametrize(
    ("make", "multi_class"),
    [(PegasosClassifier, "ovo"), (KernelPegasosClassifier, "ovo"), (PegasosClassifier, "crammer_singer")],
)
def test_other_ways_to_many_classes_have_probabilities(make, multi_class):
    model = make(lam=1e-2, probability=True, multi_class=multi_class, random_state=0).fit(X, Y)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert (model.classes_[found.argmax(axis=1)] == Y).mean() > 0.9


def test_after_an_interrupt_one_short_fold_must_do(monkeypatch):
    fits = []

    def counted(fit, *arguments, **more):
        def one(*given):
            fits.append(given)
            return fit(*given)

        return cross_fitted(one, *arguments, **more)

    monkeypatch.setattr(sys.modules["pegasos.fitting.fit"], "cross_fitted", counted)
    timer = Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(GapWarning, match="interrupted"):
        model = PegasosClassifier(solver="dual", tol=None, max_iter=10**8, probability=True, random_state=0).fit(X, Y)
    timer.join()
    assert len(fits) == 1
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
