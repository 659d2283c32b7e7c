"""A prior: who can be one, how classes and features are matched, and that it goes along wherever a model goes."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError, PriorWarning
from pegasos.kernels import Spectrum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = np.where(X @ [2.0, -1.0, 0.5, 0.0] + 0.5 * RNG.normal(size=120) > 0, "spam", "ham")
MANY = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + 0.3 * RNG.normal(size=(120, 3)), axis=1)]
NEW = RNG.normal(size=(30, 4))
STUCK = {"lam": 1e6, "max_iter": 20, "random_state": 0}  # the model is its prior
MAKES = (PegasosClassifier, KernelPegasosClassifier)


def frame(values, names):
    return pd.DataFrame(values, columns=list(names))


PRIORS = {
    "ours": PegasosClassifier(lam=0.1, random_state=0),
    "LinearSVC": LinearSVC(random_state=0),
    "no intercept": LinearSVC(fit_intercept=False, random_state=0),
    "logistic": LogisticRegression(),
    "ridge": RidgeClassifier(),
    "sgd": SGDClassifier(random_state=0),
    "frozen": FrozenEstimator(PegasosClassifier(lam=0.1, random_state=0).fit(X, Y)),
}


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("y", [Y, MANY], ids=["two classes", "three classes"])
@pytest.mark.parametrize("name", PRIORS)
def test_every_fitted_linear_classifier_can_be_a_prior(make, y, name):
    prior = PRIORS[name] if name == "frozen" and y is Y else clone(PRIORS[name]).fit(X, y)
    if name == "frozen" and y is not Y:
        prior = FrozenEstimator(LinearSVC(random_state=0).fit(X, y))
    model = make(prior=prior, **STUCK).fit(X, y)
    np.testing.assert_allclose(model.decision_function(NEW), prior.decision_function(NEW), atol=1e-4)
    if make is PegasosClassifier:
        np.testing.assert_allclose(model.coef_, np.atleast_2d(prior.coef_), atol=1e-4)


class Stranger:
    """A classifier that does not inherit from scikit-learn."""

    def fit(self, rows, y):
        self.classes_ = np.unique(y)
        self.coef_, self.intercept_ = np.array([[1.0, -2.0, 0.0, 3.0]]), 0.5
        return self

    def decision_function(self, rows):
        return rows @ self.coef_[0] + self.intercept_


@pytest.mark.parametrize("make", MAKES)
def test_a_prior_need_not_come_from_scikit_learn(make):
    prior = Stranger().fit(X, Y)
    model = make(prior=prior, **STUCK).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(NEW), prior.decision_function(NEW), atol=1e-4)
    with pytest.raises(PegasosError, match="got a Stranger" if make is PegasosClassifier else "which a Stranger lacks"):
        make(prior=Stranger()).fit(X, Y)


@pytest.mark.parametrize("make", MAKES)
def test_coefficients_may_be_sparse_narrow_or_a_pair(make):
    prior = SGDClassifier(random_state=0).fit(X, Y)
    expected = make(prior=prior, lam=0.1, random_state=0).fit(X, Y).decision_function(NEW)
    pair = prior.coef_, prior.intercept_
    forms = [pair, (prior.coef_[0], float(prior.intercept_[0])), (prior.coef_.tolist(), prior.intercept_.tolist())]
    forms.append((sp.csr_matrix(prior.coef_), prior.intercept_))
    forms.append(SGDClassifier(random_state=0).fit(X, Y).sparsify())
    for form in forms:
        model = make(prior=form, lam=0.1, random_state=0).fit(X, Y)
        np.testing.assert_allclose(model.decision_function(NEW), expected, rtol=1e-6)
    narrow = make(prior=(prior.coef_.astype(np.float32), 0), lam=0.1, random_state=0).fit(X.astype(np.float32), Y)
    assert narrow.certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize("make", MAKES)
def test_a_prior_of_zeros_changes_nothing(make):
    plain = make(lam=0.05, random_state=0).fit(X, MANY)
    model = make(lam=0.05, random_state=0, prior=(np.zeros((3, 4)), np.zeros(3))).fit(X, MANY)
    np.testing.assert_array_equal(model.decision_function(NEW), plain.decision_function(NEW))
    assert model.certificate_ == plain.certificate_ == model.certify(X, MANY)


@pytest.mark.parametrize("make", MAKES)
def test_classes_are_matched_by_label(make):
    swapped = SimpleNamespace(
        classes_=np.array(["spam", "ham"]),
        coef_=np.array([[1.0, 2.0, 3.0, 4.0]]),
        intercept_=np.array([0.5]),
        decision_function=lambda rows: rows @ [1.0, 2.0, 3.0, 4.0] + 0.5,
    )
    model = make(prior=swapped, **STUCK).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(NEW), -swapped.decision_function(NEW), atol=1e-4)
    wide = LinearSVC(random_state=0).fit(X, np.where(X[:, 3] > 0.8, "d", MANY))
    scores = wide.decision_function(NEW)
    model = make(prior=wide, **STUCK).fit(X, MANY)
    np.testing.assert_allclose(model.decision_function(NEW), scores[:, :3], atol=1e-4)
    two = np.isin(MANY, ["a", "c"])
    model = make(prior=wide, **STUCK).fit(X[two], MANY[two])
    np.testing.assert_allclose(model.decision_function(NEW), (scores[:, 2] - scores[:, 0]) / 2, atol=1e-4)


def test_features_are_matched_by_name_and_the_others_named():
    prior = LinearSVC(random_state=0).fit(frame(X, "abcd"), Y)
    target = frame(NEW[:, [3, 0, 2, 1]], "dxcb")
    y = np.resize(["ham", "spam"], len(target))
    with pytest.warns(PriorWarning) as caught:
        model = PegasosClassifier(prior=prior, **STUCK).fit(target, y)
    assert [str(each.message) for each in caught] == [
        "1 feature(s) of X are not in the prior, which gives them weight 0: 'x'.",
        "1 feature(s) of the prior are not in X and are ignored: 'a'.",
    ]
    coef = prior.coef_[0]
    np.testing.assert_allclose(model.coef_[0], [coef[3], 0.0, coef[2], coef[1]], atol=1e-4)
    many = frame(np.c_[NEW, NEW], [*"abcd", "w", "x", "y", "z"])
    with pytest.warns(PriorWarning, match=r"4 feature\(s\) of X are not in the prior, .* 'w', 'x', 'y', \.\.\."):
        PegasosClassifier(prior=prior, **STUCK).fit(many, y)


def test_a_kernel_machine_shows_its_prior_the_features_that_it_knows():
    prior = SVC().fit(frame(X, "abcd"), Y)
    target = frame(np.c_[NEW[:, [3, 1, 0, 2]], NEW[:, 0]], "dbacx")
    y = np.resize(["ham", "spam"], len(target))
    with pytest.warns(PriorWarning, match=r"1 feature\(s\) of X are not in the prior and are ignored: 'x'"):
        model = KernelPegasosClassifier(prior=prior, **STUCK).fit(target, y)
    np.testing.assert_allclose(model.decision_function(target), prior.decision_function(frame(NEW, "abcd")), atol=1e-4)
    with pytest.raises(PegasosError, match=r"X lacks 1 feature\(s\) of the prior, such as 'c'"):
        KernelPegasosClassifier(prior=prior).fit(target[["a", "b", "d"]], y)


def test_the_prior_of_a_kernel_machine_may_be_anything_with_scores():
    for prior in (SVC(gamma=0.5).fit(X, MANY), make_pipeline(StandardScaler(), LinearSVC()).fit(X, MANY)):
        model = KernelPegasosClassifier(prior=prior, lam=0.01, tol=1e-5, random_state=0).fit(X, MANY)
        assert model.certificate_.relative_gap <= 1e-5
        own = model.dual_coef_ @ model.kernel_.block(model.support_vectors_, NEW) + model.intercept_[:, None]
        np.testing.assert_allclose(model.decision_function(NEW), own.T + prior.decision_function(NEW), rtol=1e-9)
        assert model.certify(X, MANY).gap == pytest.approx(model.certificate_.gap, rel=1e-6)
        assert model.certified(NEW).mean() > 0.5


def test_a_prior_on_strings():
    words, y = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"], [0, 0, 0, 1, 1, 1]
    prior = KernelPegasosClassifier(Spectrum(2), lam=0.1).fit(words, y)
    model = KernelPegasosClassifier(Spectrum(3), prior=prior, **STUCK).fit(words[1:5], y[1:5])
    np.testing.assert_allclose(model.decision_function(words), prior.decision_function(words), atol=1e-4)


def test_a_prior_of_a_precomputed_kernel():
    K = X @ X.T
    prior = KernelPegasosClassifier("precomputed", lam=0.1).fit(K, Y)
    model = KernelPegasosClassifier("precomputed", prior=prior, **STUCK).fit(K, Y)
    np.testing.assert_allclose(model.decision_function(NEW @ X.T), prior.decision_function(NEW @ X.T), atol=1e-4)


@pytest.mark.parametrize("make", MAKES)
def test_a_clone_a_search_and_a_pickle_keep_the_prior_fitted(make):
    prior = LinearSVC(random_state=0).fit(X, Y)
    model = make(prior=prior, lam=0.1, random_state=0)
    assert clone(model).prior is prior
    search = GridSearchCV(model, {"lam": [0.1, 1e6]}, cv=2).fit(X, Y)
    assert search.best_estimator_.prior is prior
    fitted = model.fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(NEW), fitted.decision_function(NEW))
    again.partial_fit(X, Y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_intercept_of_the_prior_counts_even_where_none_is_learnt(fit_intercept):
    prior = np.array([1.0, 0.0, 0.0, 0.0]), 3.0
    model = PegasosClassifier(prior=prior, lam=0.01, tol=1e-6, fit_intercept=fit_intercept, random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(NEW), NEW @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    assert (model.intercept_[0] == 3.0) == (not fit_intercept)
    exact = PegasosClassifier(prior=prior, lam=0.01, tol=1e-10, fit_intercept=fit_intercept, random_state=0).fit(X, Y)
    sure = model.certified(NEW)
    assert sure.mean() > 0.5
    assert (exact.predict(NEW) == model.predict(NEW))[sure].all()
    assert model.certify(X, Y).primal == pytest.approx(model.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("y", [Y, MANY], ids=["two classes", "three classes"])
def test_a_stream_continues_from_its_prior(make, y):
    prior = LinearSVC(random_state=0).fit(X, y)
    settings = {"prior": prior, "random_state": 0}
    stuck = make(lam=1e6, **settings)
    for block in (slice(0, 50), slice(50, 120)):
        stuck.partial_fit(X[block], y[block], classes=np.unique(y))
    np.testing.assert_allclose(stuck.decision_function(NEW), prior.decision_function(NEW), atol=1e-4)
    model = make(lam=0.05, **settings)
    for _ in range(3):
        model.partial_fit(X[:60], y[:60], classes=np.unique(y)).partial_fit(X[60:], y[60:])
    again = model.certify(X[60:], y[60:])
    assert again.gap == pytest.approx(model.certificate_.gap, rel=1e-6)
    # The objective of the block, from the scores and the difference to the prior.
    signs = np.where(y[60:, None] == (np.unique(y)[1:] if y is Y else np.unique(y)), 1, -1)
    scores = model.decision_function(X[60:]).reshape(60, -1)
    loss = np.maximum(0.0, 1.0 - signs * scores).mean(axis=0).sum()
    if make is PegasosClassifier:
        away = np.column_stack([model.coef_ - prior.coef_, model.intercept_ - prior.intercept_])
        assert model.certificate_.primal == pytest.approx(0.025 * np.square(away).sum() + loss, rel=1e-9)
    else:
        gram = model.kernel_.block(model.support_vectors_, model.support_vectors_) + 1.0
        square = np.einsum("ki,ij,kj", model.dual_coef_, gram, model.dual_coef_)
        assert model.certificate_.primal == pytest.approx(0.025 * square + loss, rel=1e-6)


@pytest.mark.parametrize("make", MAKES)
def test_a_block_without_weight_leaves_the_prior(make):
    prior = LinearSVC(random_state=0).fit(X, Y)
    model = make(prior=prior).partial_fit(X, Y, classes=["ham", "spam"], sample_weight=np.zeros(120))
    np.testing.assert_allclose(model.decision_function(NEW), prior.decision_function(NEW))


@pytest.mark.parametrize("make", MAKES)
def test_a_stream_keeps_its_prior(make):
    model = make(lam=0.1, prior=(np.ones(4), 0.0)).partial_fit(X, Y, classes=["ham", "spam"])
    with pytest.raises(PegasosError, match="prior must not change in the middle of a stream"):
        model.set_params(prior=(np.ones(4), 0.0)).partial_fit(X, Y)
    model.fit(X, Y).partial_fit(X, Y)


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
def test_a_warm_start_begins_where_the_last_fit_ended(solver):
    settings = {"lam": 0.02, "solver": solver, "prior": (np.ones(4), 1.0), "random_state": 0}
    model = PegasosClassifier(warm_start=True, tol=1e-2, max_iter=5000, **settings).fit(X, Y)
    before = model.n_iter_, model.certificate_.gap
    model.fit(X, Y)
    assert model.certificate_.gap <= before[1] * 1.5 + 1e-15  # the last digit of both objectives
    assert model.n_iter_ <= before[0] + 1
    if solver == "pegasos":
        parts = PegasosClassifier(warm_start=True, tol=None, max_iter=4, **settings).fit(X, Y)
        parts.set_params(max_iter=5).fit(X, Y)
        straight = PegasosClassifier(tol=None, max_iter=9, **settings).fit(X, Y)
        np.testing.assert_array_equal(parts.coef_, straight.coef_)


@pytest.mark.parametrize("make", MAKES)
def test_a_callback_sees_models_with_their_prior(make):
    pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
    seen = []

    class Watcher:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if fitted_estimator is not None:
                seen.append(fitted_estimator.decision_function(NEW))

    prior = np.array([1.0, 2.0, 3.0, 4.0]), 5.0
    make(prior=prior, solver="pegasos", **STUCK).set_callbacks(Watcher()).fit(X, Y)
    for scores in seen:
        np.testing.assert_allclose(scores, NEW @ prior[0] + prior[1], atol=1e-4)
    assert seen


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        (LinearSVC(), "prior is a LinearSVC that is not fitted; fit it first"),
        (LinearSVC, "got the class LinearSVC; give an instance"),
        ("theirs", "got 'theirs'"),
        (
            LinearSVC().fit(X, np.where(Y == "spam", 1, 0)),
            r"has no class 'ham', which occurs in y; its classes are \[0, 1\]",
        ),
        (LinearSVC().fit(X, np.where(Y == "spam", "spam", "eggs")), "has no class 'ham', which occurs in y"),
        (LinearSVC().fit(X[:, :3], Y), "3 features"),
        ((np.ones(3), 0.0), "prior has 3 features, X has 4; without names on both they must agree"),
        ((np.array([1.0, np.nan, 0.0, 0.0]), 0.0), "contain NaN or infinity"),
        ((np.ones(4), np.inf), "contain NaN or infinity"),
        ((np.ones((2, 4)), 0.0), r"2 row\(s\) of coefficients for the 2 classes .* needs 1"),
        ((np.ones((1, 4)), [0.0, 1.0]), r"got \(1, 4\) and 2 intercept"),
        ((np.ones((1, 1, 4)), 0.0), r"got \(1, 1, 4\)"),
        ((["many", "words"], 0.0), "must be numbers"),
        (SimpleNamespace(coef_=np.ones((1, 4)), intercept_=0.0, decision_function=len), "must have classes_"),
        (SVC(kernel="linear", decision_function_shape="ovo").fit(X, MANY), "of pairs of classes"),
    ],
)
def test_a_prior_that_does_not_fit_is_refused(make, prior, sentence):
    kind = ValueError if "3 features" in sentence else PegasosError  # scikit-learn's own models refuse themselves
    with pytest.raises(kind, match=sentence):
        make(prior=prior).fit(X, MANY if "pairs" in sentence else Y)


def test_a_prior_without_what_is_needed_is_refused():
    with pytest.raises(PegasosError, match=r"with coef_, or a pair .* got a SVC; KernelPegasosClassifier takes any"):
        PegasosClassifier(prior=SVC().fit(X, Y)).fit(X, Y)
    with pytest.raises(PegasosError, match=r"with decision_function, .* got a SimpleNamespace"):
        KernelPegasosClassifier(prior=SimpleNamespace(classes_=["ham", "spam"])).fit(X, Y)
    with pytest.raises(PegasosError, match="pairs of classes"):
        PegasosClassifier(prior=SVC(kernel="linear").fit(X, MANY)).fit(X, MANY)
    odd = SimpleNamespace(classes_=["ham", "spam"], decision_function=lambda rows: np.ones((len(rows), 2)))
    with pytest.raises(PegasosError, match=r"must give 1 score\(s\) per row, .* got an array of shape \(120, 2\)"):
        KernelPegasosClassifier(prior=odd).fit(X, Y)
    odd.decision_function = lambda rows: np.where(np.arange(len(rows)) == 7, np.nan, 1.0)
    with pytest.raises(PegasosError, match="the prior's score of row 7 is NaN or infinity"):
        KernelPegasosClassifier(prior=odd).fit(X, Y)


def test_a_prior_that_fails_leaves_the_last_good_model():
    model = PegasosClassifier(lam=0.1, prior=(np.ones(4), 0.0), random_state=0).fit(X, Y)
    before = model.decision_function(NEW)
    with pytest.raises(PegasosError):
        model.set_params(prior=(np.ones(3), 0.0)).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(NEW), before)
    model.certify(X, Y)


def test_losses_smaller_than_the_rounding_of_single_precision_are_proved():
    rows = np.abs(X[:3]).astype(np.float32)
    labels = np.array(["ham", "spam", "spam"])
    prior = LinearSVC(C=100.0, random_state=0).fit(rows, labels)
    model = PegasosClassifier(lam=1e-4, prior=(0.9 * prior.coef_, prior.intercept_), random_state=0).fit(rows, labels)
    assert model.certificate_.primal < 1e-5
    assert model.certificate_.relative_gap <= 1e-3
