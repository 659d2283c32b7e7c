"""One against one: the same optima as one fit a pair, and everything a fitted model promises."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

from pegasos import GapWarning, KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.tasks import pairs_of

X, Y = make_blobs(240, 6, centers=5, cluster_std=6.0, random_state=0)
X = X / 10.0
WEIGHTS = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
BOTH = (PegasosClassifier, KernelPegasosClassifier)


def fitted(kind=PegasosClassifier, rows=X, labels=Y, sample_weight=None, **settings):
    settings = {"multi_class": "ovo", "lam": 1e-2, "random_state": 0, **settings}
    return kind(**settings).fit(rows, labels, sample_weight)


def pair_models(kind, sample_weight=None, **settings):
    """One model a pair, each fitted on a copy of the rows of its two classes."""
    for pair in pairs_of(len(np.unique(Y))):
        mine = np.isin(Y, pair)
        weights = None if sample_weight is None else sample_weight[mine]
        yield mine, kind(random_state=0, **settings).fit(X[mine], Y[mine], weights)


@pytest.mark.parametrize("kind", BOTH)
def test_the_model_is_scikit_learns_one_vs_one_around_the_binary_model(kind):
    # gamma="scale" would look at the rows of each pair alone
    settings = {"lam": 1e-2, "tol": 1e-8} | ({"gamma": 0.5} if kind is KernelPegasosClassifier else {})
    mine, theirs = fitted(kind, **settings), OneVsOneClassifier(kind(random_state=0, **settings)).fit(X, Y)
    objectives = [model.certificate_.primal for model in theirs.estimators_]
    assert [part.primal for part in mine.certificate_.parts] == pytest.approx(objectives, rel=1e-7)
    assert np.array_equal(mine.predict(X), theirs.predict(X))
    assert mine.decision_function(X).shape == (240, 5)
    np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("strength", [{"lam": 3e-3}, {"C": 2.0}])
def test_lam_and_c_mean_what_they_mean_for_the_two_classes_alone(kind, strength):
    settings = {"tol": 1e-9} | strength | ({"gamma": 0.5} if kind is KernelPegasosClassifier else {})
    model = kind(multi_class="ovo", random_state=0, **settings).fit(X, Y, WEIGHTS)
    for k, (mine, alone) in enumerate(pair_models(kind, WEIGHTS, **settings)):
        assert model.certificate_.parts[k].primal == pytest.approx(alone.certificate_.primal, rel=1e-8)
        assert len(model.alpha_[k]) == mine.sum()


def test_c_is_that_of_liblinear():
    model = PegasosClassifier(C=0.7, multi_class="ovo", tol=1e-10, random_state=0).fit(X, Y)
    for k, pair in enumerate(pairs_of(5)):
        mine = np.isin(Y, pair)
        theirs = LinearSVC(C=0.7, loss="hinge", tol=1e-9, max_iter=10**6).fit(X[mine], Y[mine])
        np.testing.assert_allclose(model.coef_[k], theirs.coef_[0], atol=1e-4)
        np.testing.assert_allclose(model.intercept_[k], theirs.intercept_[0], atol=1e-4)


@pytest.mark.parametrize("kind", BOTH)
def test_the_fitted_attributes_are_there_and_fit_together(kind):
    model = fitted(kind, tol=1e-4)
    n_pairs = 10
    assert len(model.certificate_.parts) == len(model.alpha_) == len(model.trace_.parts) == n_pairs
    assert model.intercept_.shape == (n_pairs,)
    assert sum(len(alpha) for alpha in model.alpha_) == 4 * len(Y)
    members = [np.flatnonzero(np.isin(Y, pair)) for pair in pairs_of(5)]
    if kind is PegasosClassifier:
        assert model.coef_.shape == (n_pairs, 6)
        has_say = [mine[alpha > 0] for mine, alpha in zip(members, model.alpha_, strict=True)]
        assert np.array_equal(model.support_, np.unique(np.concatenate(has_say)))
    else:
        assert model.dual_coef_.shape == (n_pairs, len(model.support_))
        assert np.array_equal(model.support_vectors_, X[model.support_])
        for coefficients, pair in zip(model.dual_coef_, pairs_of(5), strict=True):
            assert np.isin(Y[model.support_[coefficients != 0]], pair).all()
    assert model.certificate_.relative_gap <= 1e-4
    assert model.trace_["gap"][-1] == pytest.approx(model.certificate_.gap)
    assert "10 problems" in model.status_
    assert np.array_equal(model.decision_function(X).argmax(axis=1), np.searchsorted(model.classes_, model.predict(X)))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert clone(model).multi_class == "ovo"


@pytest.mark.parametrize("kind", BOTH)
def test_the_certificate_can_be_recomputed(kind):
    model = fitted(kind, tol=1e-3, sample_weight=WEIGHTS, class_weight="balanced")
    again, parts = model.certify(X, Y, WEIGHTS), model.certificate_.parts
    for anew, part in zip(again.parts, parts, strict=True):  # small pairs are added up in another order
        assert (anew.primal, anew.dual) == pytest.approx((part.primal, part.dual), rel=1e-12)
    with pytest.raises(PegasosError, match="the 240 rows of the last fit, got 100 rows"):
        model.certify(X[:100], Y[:100], WEIGHTS[:100])
    if kind is PegasosClassifier:
        model.coef_ = model.coef_ + 1.0
        assert model.certify(X, Y, WEIGHTS).gap > model.certificate_.gap


@pytest.mark.parametrize("kind", BOTH)
def test_certified_predictions_are_those_of_a_much_more_exact_fit(kind):
    by_driver = (
        {"solver": "dual"} if kind is PegasosClassifier else {}
    )  # small problems would end at the exact solution
    rough, exact = fitted(kind, tol=1e-2, **by_driver), fitted(kind, tol=1e-10, max_iter=10_000)
    certified = rough.certified(X)
    assert 0.1 < certified.mean() < 1.0
    assert np.array_equal(rough.predict(X)[certified], exact.predict(X)[certified])
    assert exact.certified(X).mean() > certified.mean()


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_row_of_weight_two_is_the_row_twice(kind, class_weight):
    settings = {"tol": 1e-11, "class_weight": class_weight, "max_iter": 10_000}
    settings |= {"gamma": 0.5} if kind is KernelPegasosClassifier else {}
    weights = np.where(np.arange(len(Y)) % 3 == 0, 2.0, np.where(np.arange(len(Y)) % 7 == 1, 0.0, 1.0))
    repeated = np.repeat(np.arange(len(Y)), weights.astype(int))
    weighted = fitted(kind, sample_weight=weights, **settings)
    doubled = fitted(kind, X[repeated], Y[repeated], **settings)
    objectives = [part.primal for part in doubled.certificate_.parts]
    assert [part.primal for part in weighted.certificate_.parts] == pytest.approx(objectives, rel=1e-9)
    np.testing.assert_allclose(weighted.decision_function(X), doubled.decision_function(X), atol=1e-4)


def test_balanced_weights_are_those_of_the_whole():
    labels = np.where(Y == 4, 3, Y)
    factors = {label: len(Y) / (4 * (labels == label).sum()) for label in range(4)}
    one, other = (fitted(labels=labels, class_weight=weight, tol=1e-9) for weight in ("balanced", factors))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("solver", ["auto", "pegasos"])
@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_one_thread_and_two_give_the_same_bits(kind, solver):
    settings = {"solver": solver, "max_iter": 30 if solver == "pegasos" else 1000}
    one, two = (fitted(kind, X.astype(np.float32), n_jobs=n, **settings) for n in (1, 2))
    assert np.array_equal(one.decision_function(X), two.decision_function(X))
    assert one.certificate_ == two.certificate_


def test_the_layout_of_the_rows_does_not_matter():
    dense, sparse = fitted(tol=1e-8), fitted(rows=sp.csr_array(X), tol=1e-8)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-5)
    single = fitted(rows=X.astype(np.float32), tol=1e-5)
    np.testing.assert_allclose(dense.coef_, single.coef_, atol=1e-2)


@pytest.mark.parametrize("kind", BOTH)
def test_two_classes_are_one_problem_as_against_the_rest(kind):
    rows, labels = X[Y < 2], Y[Y < 2]
    one, rest = (fitted(kind, rows, labels, multi_class=word) for word in ("ovo", "ovr"))
    assert one.decision_function(rows).shape == (len(rows),)
    assert np.array_equal(one.decision_function(rows), rest.decision_function(rows))
    assert np.array_equal(one.alpha_, rest.alpha_)
    again = one.certify(rows, labels)
    for name in ("primal", "dual", "squared_norm", "least_margin"):
        assert getattr(again, name) == pytest.approx(getattr(one.certificate_, name), rel=1e-14)


@pytest.mark.parametrize("kind", BOTH)
def test_a_warm_start_continues_where_the_last_fit_ended(kind):
    model = fitted(kind, tol=1e-6, warm_start=True)
    first = model.n_steps_
    model.fit(X, Y)
    assert model.n_steps_ < first / 3
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_resuming_pegasos_equals_running_straight_through(kind):
    settings = {"solver": "pegasos", "tol": None}
    straight = fitted(kind, max_iter=8, **settings)
    resumed = fitted(kind, max_iter=5, warm_start=True, **settings)
    resumed.set_params(max_iter=3).fit(X, Y)
    np.testing.assert_allclose(resumed.decision_function(X), straight.decision_function(X), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_a_warm_start_on_other_rows_begins_from_the_weights():
    model = fitted(solver="pegasos", warm_start=True, max_iter=5, tol=None)
    steps = model.n_steps_
    model.fit(X[:200], Y[:200])
    assert model.n_steps_ > steps


def test_a_batch_of_all_rows_is_all_rows_of_the_pair():
    settings = {"lam": 1e-2, "solver": "pegasos", "batch_size": "all", "max_iter": 50, "tol": None}
    model = fitted(**settings)
    for k, (_, alone) in enumerate(pair_models(PegasosClassifier, **settings)):
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
    with pytest.raises(PegasosError, match="batch_size=200 exceeds the 96 rows"):
        fitted(solver="pegasos", batch_size=200)


@pytest.mark.parametrize("average", [None, "uniform"])
def test_a_stream_is_one_stream_a_pair_that_skips_blocks_without_rows(average):
    settings = {"lam": 1e-2, "average": average, "random_state": 0}
    blocks = [np.flatnonzero(np.isin(Y, classes)) for classes in ([0, 1, 2], [3, 4], [0, 3], [1], range(5))]
    model = PegasosClassifier(multi_class="ovo", **settings)
    alone = {pair: PegasosClassifier(**settings) for pair in pairs_of(5)}
    for block in blocks:
        model.partial_fit(X[block], Y[block], classes=range(5), sample_weight=WEIGHTS[block])
        for pair, single in alone.items():
            mine = block[np.isin(Y[block], pair)]
            if len(mine):
                single.partial_fit(X[mine], Y[mine], classes=pair, sample_weight=WEIGHTS[mine])
        assert model.certify(X[block], Y[block], WEIGHTS[block]) == model.certificate_
    for k, single in enumerate(alone.values()):
        np.testing.assert_allclose(model.coef_[k], single.coef_[0], rtol=1e-12, atol=1e-13)
        assert model.certificate_.parts[k].gap == pytest.approx(single.certificate_.gap, rel=1e-9)
    assert len(model.trace_) == len(blocks)
    assert model.n_iter_ == len(blocks)


def test_a_pair_never_seen_is_the_zero_vector_and_certifies_nothing():
    block = np.flatnonzero(Y < 2)
    model = PegasosClassifier(multi_class="ovo", random_state=0).partial_fit(X[block], Y[block], classes=range(5))
    assert not model.coef_[pairs_of(5).index((2, 3))].any()
    assert model.coef_[pairs_of(5).index((0, 1))].any()
    assert model.predict(X).shape == (240,)
    assert np.isfinite(model.certificate_.relative_gap)


def test_a_stream_continues_after_a_fit():
    model = fitted()
    before, steps = model.coef_.copy(), model.n_steps_
    block = np.flatnonzero(Y < 2)
    model.partial_fit(X[block], Y[block])
    untouched = pairs_of(5).index((2, 3))
    assert np.array_equal(model.coef_[untouched], before[untouched])
    assert not np.array_equal(model.coef_[0], before[0])
    assert model.n_steps_ > steps


@pytest.mark.parametrize("kind", BOTH)
def test_classes_of_one_row_are_a_problem_like_another(kind):
    rows, labels = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.1, 0.0]]), np.array(["a", "b", "c", "b"])
    model = fitted(kind, rows, labels, lam=1e-3, tol=1e-6)
    assert model.predict(rows).tolist() == labels.tolist()
    assert len(model.alpha_[1]) == 2


@pytest.mark.parametrize("kind", BOTH)
def test_a_pair_whose_rows_cost_nothing_is_the_zero_vector(kind):
    model = fitted(kind, class_weight={0: 0.0, 1: 0.0, 2: 1.0, 3: 1.0, 4: 1.0})
    assert model.certificate_.parts[0].primal == 0.0
    assert not (model.coef_ if kind is PegasosClassifier else model.dual_coef_)[0].any()
    assert model.certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize("kind", BOTH)
def test_an_unknown_word_is_refused(kind):
    with pytest.raises(PegasosError, match=r"multi_class must be one of .*ovo.*got 'one'"):
        fitted(kind, multi_class="one")


def test_a_label_that_no_row_of_weight_has_is_left_out():
    weights = (Y != 4).astype(float)
    model = fitted(sample_weight=weights, tol=1e-9)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(model.coef_, fitted(rows=X[Y != 4], labels=Y[Y != 4], tol=1e-9).coef_, atol=1e-5)
    assert model.certify(X, Y, weights).gap == pytest.approx(model.certificate_.gap)


def test_a_time_budget_is_shared_by_the_pairs():
    with pytest.warns(GapWarning, match="time_budget"):
        model = fitted(tol=1e-15, time_budget=1e-4, lam=1e-6)
    assert len(model.certificate_.parts) == 10


def test_a_line_is_printed_for_each_pair(capsys):
    fitted(verbose=1)
    assert {line.split("  ")[0] for line in capsys.readouterr().out.splitlines()} == {f"pair {k}" for k in range(10)}


@pytest.mark.parametrize("word", ["ovo", "ovr"])
def test_many_classes_are_not_taken_for_a_regression(word):
    labels = np.arange(240) % 30
    assert len(fitted(labels=labels, multi_class=word, tol=0.1).classes_) == 30
