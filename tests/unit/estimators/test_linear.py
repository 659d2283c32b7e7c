"""The classifier: what it writes down, what it proves, and that the form of the data does not matter."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification

from pegasos import GapWarning, PegasosClassifier, PegasosError

X, Y = make_classification(400, 12, n_informative=6, random_state=0)
X32 = X.astype(np.float32)
DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = (DIGITS / 16.0).astype(np.float32)


def fitted(rows=X, labels=Y, sample_weight=None, **settings):
    return PegasosClassifier(random_state=0, **settings).fit(rows, labels, sample_weight)


def test_the_fitted_attributes_are_there_and_fit_together():
    model = fitted(tol=1e-4)
    proof = model.certificate_
    assert model.coef_.shape == (1, 12)
    assert model.intercept_.shape == (1,)
    assert model.alpha_.shape == (400,)
    assert model.alpha_.min() >= 0.0
    assert model.alpha_.max() <= 1.0
    assert np.array_equal(model.support_, np.flatnonzero(model.alpha_ > 0))
    assert proof.gap == proof.primal - proof.dual
    assert proof.relative_gap <= 1e-4
    assert len(proof.parts) == 1
    assert 1.0 <= proof.weight_radius / np.sqrt(proof.gap / 1e-4) <= np.sqrt(2.0) * (1 + 1e-9)
    assert "proved" in model.status_
    columns = dict(model.trace_)
    assert set(columns) == {"step", "epoch", "seconds", "primal", "dual", "gap"}
    assert columns["gap"][-1] == proof.gap
    assert model.n_steps_ == columns["step"][-1]
    assert model.n_iter_ == np.ceil(columns["epoch"][-1])


def test_the_certificate_can_be_recomputed_by_anybody():
    model = fitted(tol=1e-5)
    assert model.certify(X, Y) == model.certificate_
    signs = np.where(Y == 1, 1.0, -1.0)
    margins = signs * (X @ model.coef_[0] + model.intercept_)
    primal = 0.5e-4 * (model.coef_ @ model.coef_.T + model.intercept_**2).item() + np.maximum(0, 1 - margins).mean()
    extended = np.c_[X, np.ones(400)]
    dual_weights = (model.alpha_ * signs) @ extended / (1e-4 * 400)
    dual = model.alpha_.mean() - 0.5e-4 * dual_weights @ dual_weights
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-12)
    assert model.certificate_.dual == pytest.approx(dual, rel=1e-12)


def test_a_tampered_model_is_found_out():
    model = fitted(tol=1e-4)
    model.coef_ = model.coef_ + 1.0
    assert model.certify(X, Y).relative_gap > 0.05


@pytest.mark.parametrize("rows", [X, X32, sp.csr_matrix(X), sp.csr_array(X32), np.asfortranarray(X), sp.csc_matrix(X)])
def test_the_form_of_the_rows_does_not_matter(rows):
    assert np.allclose(fitted(rows, tol=1e-6).decision_function(X), fitted(tol=1e-6).decision_function(X), atol=1e-3)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int64, np.float16])
def test_other_types_are_converted_without_loss(dtype):
    small = np.abs(np.round(X * 3)).astype(dtype)
    exact = fitted(small.astype(np.float64), tol=1e-6)
    assert fitted(small, tol=1e-6).certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-5)


def test_the_users_arrays_are_read_in_place(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X32)
    mapped = np.load(path, mmap_mode="r")
    wide = sp.csr_matrix(X32)
    wide.indices = wide.indices.astype(np.int64)
    wide.indptr = wide.indptr.astype(np.int64)
    for rows in (mapped, wide):
        model = fitted(rows)
        assert model.certificate_.relative_gap <= 1e-3
    assert wide.indices.dtype == np.int64


def test_weight_two_is_the_row_twice_and_weight_zero_no_row():
    weights = np.arange(400) % 3
    repeated = np.repeat(np.arange(400), weights)
    weighted = fitted(sample_weight=weights, tol=1e-10, max_iter=20000)
    spelled = fitted(X[repeated], Y[repeated], tol=1e-10, max_iter=20000)
    assert np.allclose(weighted.coef_, spelled.coef_, rtol=1e-5, atol=1e-6)
    assert weighted.certificate_.primal == pytest.approx(spelled.certificate_.primal, rel=1e-9)


def test_balanced_class_weights_are_the_costs_of_the_mathematics():
    labels = (X[:, 0] > 1.0).astype(int)
    share = labels.mean()
    by_word = fitted(labels=labels, class_weight="balanced", tol=1e-8, max_iter=10000)
    by_dict = fitted(labels=labels, class_weight={0: 0.5 / (1 - share), 1: 0.5 / share}, tol=1e-8, max_iter=10000)
    by_weight = fitted(
        labels=labels, class_weight="balanced", sample_weight=np.full(400, 3.0), tol=1e-8, max_iter=10000
    )
    assert by_word.certificate_.primal == pytest.approx(by_dict.certificate_.primal, rel=1e-7)
    assert by_word.certificate_.primal == pytest.approx(by_weight.certificate_.primal, rel=1e-7)
    assert by_word.alpha_[labels == 1].max() == pytest.approx(0.5 / share)


def test_c_is_the_other_convention():
    assert fitted(C=0.25).certificate_ == fitted(lam=1 / (0.25 * 400)).certificate_


def test_no_intercept_means_none():
    model = fitted(fit_intercept=False)
    assert model.intercept_ == 0.0
    assert model.certify(X, Y) == model.certificate_


def test_a_larger_intercept_scaling_regularises_the_intercept_less():
    moved = X + 5.0
    weak, strong = (abs(fitted(moved, lam=0.1, intercept_scaling=s).intercept_[0]) for s in (0.1, 10.0))
    assert strong > weak
    model = fitted(moved, intercept_scaling=10.0, tol=1e-5, max_iter=20000)
    assert model.certify(moved, Y).gap == pytest.approx(model.certificate_.gap, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
def test_several_classes_are_bit_equal_for_any_number_of_threads(solver):
    one, two = (fitted(DIGITS, LABELS, solver=solver, n_jobs=n, tol=0.05, max_iter=60, lam=1e-2) for n in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.alpha_, two.alpha_)
    assert one.certificate_ == two.certificate_


def test_several_classes_have_a_part_each():
    model = fitted(DIGITS, LABELS)
    parts = model.certificate_.parts
    assert len(parts) == 10
    assert model.alpha_.shape == (10, len(LABELS))
    assert model.certificate_.gap == pytest.approx(sum(part.gap for part in parts))
    assert model.certificate_.relative_gap == max(part.relative_gap for part in parts)
    assert model.certify(DIGITS, LABELS).relative_gap <= 1e-3
    assert model.score(DIGITS, LABELS) > 0.98
    gaps = model.trace_["gap"]
    assert gaps[-1] == pytest.approx(model.certificate_.gap)


def test_the_same_seed_gives_the_same_bits():
    assert np.array_equal(fitted(X32).coef_, fitted(X32).coef_)


@pytest.mark.parametrize(("rows", "labels"), [(X, Y), (DIGITS, LABELS)])
def test_certified_predictions_are_those_of_every_exact_solution(rows, labels):
    exact = fitted(rows.astype(np.float64), labels, lam=1e-3, tol=1e-9, max_iter=100000)
    for tol in (0.3, 0.03, 0.001):
        rough = fitted(rows, labels, lam=1e-3, tol=tol)
        sure = rough.certified(rows)
        assert np.array_equal(rough.predict(rows)[sure], exact.predict(rows)[sure])
    assert exact.certified(rows).mean() > 0.95


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_certified_says_no_where_the_gap_is_open():
    rough = fitted(solver="pegasos", max_iter=1)
    assert not rough.certified(X).any()


def test_a_fit_that_ends_early_says_what_it_reached():
    with pytest.warns(GapWarning, match="max_iter epochs ended before the gap reached tol.*"):
        model = fitted(solver="pegasos", max_iter=3)
    assert model.n_iter_ == 3
    with pytest.warns(GapWarning, match="time_budget ended"):
        model = fitted(time_budget=0.0, tol=0.0)
    assert model.n_steps_ > 0
    assert fitted(solver="pegasos", tol=None, max_iter=3).status_.startswith("All max_iter epochs were run")


@pytest.mark.parametrize("average", [None, "uniform", "tail"])
@pytest.mark.parametrize("batch_size", [1, 16, "all"])
@pytest.mark.parametrize("projection", [False, True])
def test_every_pegasos_learns(average, batch_size, projection):
    model = fitted(
        solver="pegasos",
        lam=0.01,
        tol=None,
        max_iter=3000 if batch_size == "all" else 80,
        batch_size=batch_size,
        average=average,
        projection=projection,
    )
    best = fitted(lam=0.01, tol=1e-6, max_iter=10000).certificate_.primal
    assert model.certificate_.primal < 1.5 * best
    assert model.certify(X, Y).gap == pytest.approx(model.certificate_.gap)


def test_uniform_sampling_keeps_a_feasible_dual_point():
    model = fitted(solver="pegasos", sampling="uniform", lam=0.1, tol=None, max_iter=20)
    assert model.alpha_.max() <= 1.0
    assert model.certificate_.relative_gap < 0.3


def test_warm_start_resumes_pegasos_and_speeds_the_others_up():
    straight = fitted(solver="pegasos", tol=None, max_iter=6)
    halves = PegasosClassifier(solver="pegasos", tol=None, max_iter=3, warm_start=True, random_state=0).fit(X, Y)
    halves.fit(X, Y)
    assert np.array_equal(halves.coef_, straight.coef_)
    assert halves.n_steps_ == straight.n_steps_
    model = fitted(solver="dual", tol=1e-4, warm_start=True, max_iter=10000)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ < max(2, cold / 4)
    model = fitted(tol=1e-4, warm_start=True)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ <= cold / 2


def test_warm_start_on_other_rows_begins_from_the_weights_or_starts_over():
    for solver in ("pegasos", "dual"):
        model = PegasosClassifier(solver=solver, tol=None, max_iter=2, warm_start=True, random_state=0).fit(X, Y)
        assert model.fit(X[:300], Y[:300]).alpha_.shape == (300,)
        model.fit(DIGITS, LABELS)
        assert model.coef_.shape == (10, 64)


def test_models_can_be_pickled_and_cloned():
    model = fitted(DIGITS, LABELS, solver="pegasos", tol=None, max_iter=2)
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copied.decision_function(DIGITS), model.decision_function(DIGITS))
    assert not hasattr(clone(model), "coef_")


def test_a_wrong_class_in_certify_is_not_silently_counted():
    model = fitted()
    with pytest.raises(PegasosError, match=r"y contains 7"):
        model.certify(X, np.where(Y == 1, 7, 0))


def test_frames_give_their_column_names():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = [f"f{k}" for k in range(12)]
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = fitted(frame)
        assert list(model.feature_names_in_) == names
        assert np.array_equal(model.coef_, fitted().coef_)


def test_polars_and_pandas_labels_are_read():
    pandas = pytest.importorskip("pandas")
    words = np.where(Y == 1, "spam", "ham")
    model = fitted(labels=pandas.Series(words))
    assert list(model.classes_) == ["ham", "spam"]
    assert set(model.predict(X)) == {"ham", "spam"}


def test_few_rows_with_many_columns_end():
    wide = sp.random(10, 200_000, density=1e-4, format="csr", random_state=0)
    for solver in ("auto", "dual"):
        assert fitted(wide, np.resize([0, 1], 10), solver=solver).certificate_.relative_gap <= 1e-3


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
@pytest.mark.parametrize("max_iter", [101, 115, 130, 140])
def test_the_status_speaks_of_the_certificate_returned(max_iter):
    rows, labels = load_breast_cancer(return_X_y=True)
    weights = np.ones(len(labels))
    weights[:37] = 0
    model = fitted(rows, labels, weights, tol=1e-9, max_iter=max_iter)
    assert model.status_.startswith("The duality gap reached tol") == (model.certificate_.relative_gap <= 1e-9)
    assert model.n_iter_ <= max_iter


def test_proofs_use_the_parameters_of_the_fit():
    model = fitted(X + 3, lam=1e-2, intercept_scaling=10.0, tol=1e-2)
    sure, proof = model.certified(X + 3), model.certify(X + 3, Y)
    model.set_params(intercept_scaling=0.01, lam=1.0, class_weight="balanced")
    assert np.array_equal(model.certified(X + 3), sure)
    assert model.certify(X + 3, Y) == proof
    assert (proof.primal, proof.dual) == (model.certificate_.primal, model.certificate_.dual)


def test_the_worst_problem_gives_the_status():
    labels = np.digitize(X[:, 0], [-1.0, 1.0])
    with pytest.warns(GapWarning, match="max_iter epochs ended"):
        fitted(labels=labels, solver="dual", tol=1e-15, max_iter=16)


def test_projection_switched_on_later_knows_the_norm():
    model = fitted(solver="pegasos", tol=None, max_iter=2, warm_start=True)
    model.set_params(projection=True).fit(X, Y)
    state = model.fitted_.state.states[0]
    assert state.counters.squared_norm == pytest.approx(state.weights @ state.weights)


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_an_overflow_does_not_poison_the_next_warm_fit():
    model = PegasosClassifier(solver="pegasos", lam=0.01, warm_start=True, max_iter=5, random_state=0).fit(X * 1e200, Y)
    assert "left the range" in model.status_
    assert model.fit(X, Y).score(X, Y) > 0.7


def test_read_only_models_can_be_certified(tmp_path):
    model = fitted()
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert mapped.certify(X, Y) == model.certificate_


def test_a_weight_for_an_absent_class_does_no_harm():
    more, enough = {0: 1.0, 1: 2.0, 2: 3.0}, {0: 1.0, 1: 2.0}
    assert fitted(class_weight=more).certificate_ == fitted(class_weight=enough).certificate_
