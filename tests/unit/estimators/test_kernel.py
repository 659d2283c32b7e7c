"""The kernel machine: what holds for every input, kernel and solver."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pegasos import GapWarning, KernelPegasosClassifier, PegasosError
from pegasos.kernels import (
    RBF,
    GlobalAlignment,
    IndefiniteKernelWarning,
    Linear,
    Polynomial,
    ShortestPath,
    Spectrum,
    Subsequence,
    WeisfeilerLehman,
    on,
)

X, Y = make_moons(240, noise=0.2, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("ab" if label else "bc"), RNG.integers(4, 12))) for label in [0, 1] * 40]
LABELS = np.array([0, 1] * 40)


def model_of(kernel="rbf", **settings):
    return KernelPegasosClassifier(kernel, **{"lam": 1e-2, "random_state": 0, **settings})


def graphs():
    """Rings and stars, half of them of networkx."""
    nx = pytest.importorskip("networkx")
    sizes = [5, 6, 7, 8, 9, 10]
    made = [make(n) for n in sizes for make in (nx.cycle_graph, nx.star_graph)] * 2
    mixed = [each if k % 2 else (nx.to_numpy_array(each), None) for k, each in enumerate(made)]
    return mixed, np.array([0, 1] * 12)


def series():
    rng = np.random.default_rng(1)
    made = [np.sin((1 + label) * np.arange(rng.integers(10, 20)) + rng.random()) for label in LABELS[:30]]
    return made, LABELS[:30]


# Same problem, written differently.


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_array, lambda X: X.tolist(), np.asfortranarray])
def test_the_form_of_the_rows_does_not_matter(form, kernel):
    sparse_rows = np.where(np.abs(X) > 0.3, X, 0.0)
    one = model_of(kernel, tol=1e-9).fit(sparse_rows, Y)
    other = model_of(kernel, tol=1e-9).fit(form(sparse_rows), Y)
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(
        other.decision_function(form(sparse_rows)), one.decision_function(sparse_rows), atol=1e-3
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
def test_float32_is_near_float64(kernel):
    narrow, wide = (model_of(kernel, tol=1e-4, gamma=0.7).fit(X.astype(t), Y) for t in (np.float32, np.float64))
    assert narrow.certificate_.primal == pytest.approx(wide.certificate_.primal, rel=3e-4)
    assert (narrow.predict(X.astype(np.float32)) == wide.predict(X)).mean() > 0.98


def test_gamma_scale_survives_float32_rows_with_a_large_offset():
    far = (X + 3000).astype(np.float32)
    for rows in (far, sp.csr_array(far)):
        model = model_of().fit(rows, Y)
        assert model.kernel_.gamma == pytest.approx(1 / (2 * far.astype(np.float64).var()), rel=1e-5)
        assert model.score(rows, Y) > 0.85


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("solver", ["decomposition", "auto"])
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(solver, kernel):
    times = np.random.default_rng(3).integers(0, 3, len(X))
    each = np.repeat(np.arange(len(X)), times)
    weighted = model_of(kernel, solver=solver, tol=1e-9).fit(X, Y, times)
    repeated = model_of(kernel, solver=solver, tol=1e-9).fit(X[each], Y[each])
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-8)
    assert not np.intersect1d(weighted.support_, np.flatnonzero(times == 0)).size
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("settings", [{}, {"solver": "pegasos", "batch_size": 7, "tol": None, "max_iter": 5}])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_many_classes_give_the_same_bits_for_one_and_two_threads(kernel, settings):
    labels = np.digitize(X[:, 0], [-0.5, 0.0, 0.5, 1.0, 1.5])
    one, two = (model_of(kernel, n_jobs=n, **settings).fit(X, labels) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.alpha_, two.alpha_)
    assert one.certificate_ == two.certificate_
    assert one.dual_coef_.shape[0] == len(one.classes_) == 6


def test_the_same_seed_gives_the_same_model():
    for settings in ({}, {"solver": "pegasos", "tol": None, "max_iter": 3}):
        one, two = (model_of(**settings).fit(X, Y) for _ in range(2))
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


def test_the_rows_of_the_user_are_left_as_they_were():
    rows = X.copy()
    rows.flags.writeable = False
    model_of().fit(rows, Y).predict(rows)
    np.testing.assert_array_equal(rows, X)


# What a fitted model says.


@pytest.mark.parametrize("labels", [Y, np.digitize(X[:, 0], [0.0, 1.0])], ids=["two classes", "three"])
@pytest.mark.parametrize("kernel", [RBF(2.0), Linear(), Polynomial(2)], ids=str)
@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"intercept_scaling": 5.0}])
def test_the_attributes_reproduce_the_scores(settings, kernel, labels):
    model = model_of(kernel, **settings).fit(X, labels)
    by_hand = kernel.block(X, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, by_hand[:, 0] if len(model.classes_) == 2 else by_hand, rtol=0, atol=1e-9)
    bias = settings.get("intercept_scaling", 1.0) if settings.get("fit_intercept", True) else 0.0
    np.testing.assert_allclose(model.intercept_, bias**2 * model.dual_coef_.sum(axis=1), atol=1e-12)
    assert model.score(X, labels) == (model.predict(X) == labels).mean()


@pytest.mark.parametrize("labels", [Y, np.digitize(X[:, 0], [0.0, 1.0])], ids=["two classes", "three"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kernel": "linear"},
        {"solver": "pegasos", "tol": None, "max_iter": 4, "average": "tail"},
        {"max_support": 20},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_certify_agrees_with_the_certificate(settings, labels):
    weights = np.random.default_rng(1).random(len(X))
    model = model_of(**settings).fit(X, labels, weights)
    again = model.certify(X, labels, weights)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-12)
    with pytest.raises(PegasosError, match="certify needs the same rows"):
        model.certify(X[:-1], labels[:-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), Polynomial(2)], ids=str)
@pytest.mark.parametrize("labels", [Y, np.digitize(X[:, 0], [0.0, 1.0])], ids=["two classes", "three"])
def test_what_is_certified_no_exact_solution_contradicts(labels, kernel, dtype):
    grid = np.random.default_rng(2).uniform(-2, 3, (500, 2))
    rows = X.astype(dtype)
    exact = model_of(kernel, tol=1e-10).fit(rows, labels).predict(grid)
    share = []
    for tol in (0.3, 1e-2, 1e-4):
        model = model_of(kernel, tol=tol).fit(rows, labels)
        certified = model.certified(grid)
        np.testing.assert_array_equal(model.predict(grid)[certified], exact[certified])
        share.append(certified.mean())
    assert share[-1] > 0.5
    assert share[-1] >= share[0]


@pytest.mark.parametrize("noise", [0.1, 0.15, 0.2])
def test_two_moons_are_told_apart(noise):
    rows, labels = make_moons(1000, noise=noise, random_state=1)
    held_out = make_moons(2000, noise=noise, random_state=2)
    model = KernelPegasosClassifier(gamma=2.0, lam=1e-3, random_state=0).fit(rows, labels)
    assert model.certificate_.relative_gap <= 1e-3
    rival = SVC(gamma=2.0, C=1.0).fit(rows, labels)
    assert model.score(*held_out) >= rival.score(*held_out) - 0.005
    # At 0.2 the moons overlap so much that no choice of gamma and lam by cross-validation reaches this.
    assert model.score(*held_out) >= 0.967 or noise == 0.2


@pytest.mark.parametrize("max_support", [1, 10, 50])
def test_a_budget_on_support_vectors_is_kept_and_its_price_certified(max_support):
    free, model = model_of(gamma=2.0).fit(X, Y), model_of(gamma=2.0, max_support=max_support).fit(X, Y)
    assert len(model.support_) <= max_support < len(free.support_)
    assert model.certificate_.primal >= free.certificate_.dual
    assert model.certificate_.dual == pytest.approx(free.certificate_.dual, rel=1e-3)
    assert "max_support" in model.status_


def test_a_budget_that_is_not_needed_changes_nothing():
    free, model = model_of(gamma=2.0).fit(X, Y), model_of(gamma=2.0, max_support=240).fit(X, Y)
    np.testing.assert_array_equal(free.dual_coef_, model.dual_coef_)
    assert free.status_ == model.status_


# Going on.


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_warm_start_continues_from_the_last_solution(kernel):
    model = model_of(kernel, tol=1e-7, warm_start=True).fit(X, Y)
    steps, primal = model.n_steps_, model.certificate_.primal
    model.fit(X, Y)
    assert model.n_steps_ < 0.2 * steps
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-6)


def test_a_warm_start_of_pegasos_continues_with_its_steps():
    model = model_of(solver="pegasos", tol=None, max_iter=3, warm_start=True).fit(X, Y)
    straight = model_of(solver="pegasos", tol=None, max_iter=6).fit(X, Y)
    assert model.fit(X, Y).n_steps_ == straight.n_steps_ == 6 * len(X)
    np.testing.assert_allclose(model.alpha_, straight.alpha_, atol=1e-10)


@pytest.mark.parametrize("lam", [1e-3, 1e-1])
@pytest.mark.parametrize("average", [None, "tail"])
def test_a_warm_start_of_pegasos_with_another_lam_continues_from_the_same_weights(average, lam):
    settings = {"solver": "pegasos", "gamma": 2.0, "tol": None, "average": average}
    model = model_of(max_iter=20, warm_start=True, **settings).fit(X, Y)
    model.set_params(lam=lam).fit(X, Y)
    straight = model_of(max_iter=40, **settings).set_params(lam=lam).fit(X, Y)
    assert model.certificate_.primal < 2.0 * straight.certificate_.primal


def test_a_warm_start_of_pegasos_notices_another_average():
    model = model_of(solver="pegasos", tol=None, max_iter=4, warm_start=True).fit(X, Y)
    model.set_params(average="uniform").fit(X, Y)
    last = model.alpha_.copy()
    model.set_params(average=None).fit(X, Y)
    assert np.abs(model.alpha_ - last).max() > 1e-3
    assert model.n_steps_ == 12 * len(X)


def test_other_rows_start_over():
    model = model_of(warm_start=True).fit(X, Y)
    model.fit(X[:100], Y[:100])
    fresh = model_of().fit(X[:100], Y[:100])
    np.testing.assert_array_equal(model.dual_coef_, fresh.dual_coef_)


def stream(rows, labels, n_blocks=4, kernel="rbf", **settings):
    model = model_of(kernel, **{"gamma": 2.0, **settings})
    for block in np.array_split(np.arange(len(labels)), n_blocks):
        part = rows[block] if hasattr(rows, "shape") else [rows[i] for i in block]
        model.partial_fit(part, labels[block], classes=np.unique(labels))
    return model


@pytest.mark.parametrize("average", [None, "uniform", "tail"])
@pytest.mark.parametrize("settings", [{}, {"batch_size": 9}, {"batch_size": "all"}, {"projection": True}], ids=str)
def test_a_stream_learns_and_certifies_its_last_block(settings, average):
    model = stream(X, Y, average=average, solver="pegasos", **settings)
    # One step per block is hardly more than a few means; one step per row learns the shape.
    assert model.score(X, Y) > (0.6 if settings.get("batch_size") == "all" else 0.8)
    assert len(model.trace_) == 4
    assert model.n_steps_ == {9: 28, "all": 4}.get(settings.get("batch_size"), len(X))
    assert "this block alone" in model.status_
    certificate, again = model.certificate_, model.certify(X[180:], Y[180:])
    assert again.primal == pytest.approx(certificate.primal, rel=1e-9)
    assert again.dual == pytest.approx(certificate.dual, rel=1e-9)
    assert certificate.gap >= 0.0


def test_a_stream_of_three_classes_certifies_its_last_block():
    order = np.random.default_rng(0).permutation(150)
    model = stream(IRIS[order], SPECIES[order], 3)
    assert model.score(IRIS, SPECIES) > 0.8
    again = model.certify(IRIS[order][100:], SPECIES[order][100:])
    assert again.gap == pytest.approx(model.certificate_.gap, rel=1e-9)


def test_one_block_is_one_epoch_of_pegasos():
    streamed = model_of(gamma=2.0, solver="pegasos").partial_fit(X, Y, classes=[0, 1])
    fitted = model_of(gamma=2.0, solver="pegasos", tol=None, max_iter=1).fit(X, Y)
    np.testing.assert_allclose(streamed.decision_function(X), fitted.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("average", [None, "tail"])
def test_a_stream_keeps_its_budget_and_a_finite_certificate(average):
    model = stream(X, Y, 8, max_support=25, average=average)
    assert len(model.support_) == len(model.support_vectors_) <= 25
    assert np.isfinite(model.certificate_.gap)
    assert model.certify(X[210:], Y[210:]).gap == pytest.approx(model.certificate_.gap, rel=1e-9)
    assert model.score(X, Y) > 0.7


def test_a_fit_continues_as_a_stream():
    model = model_of(gamma=2.0).fit(X, Y)
    accuracy, steps = model.score(X, Y), model.n_steps_
    model.partial_fit(X[:40], Y[:40])
    assert model.n_steps_ > steps + 40  # as many as the fit is worth
    assert model.score(X, Y) > accuracy - 0.02
    model.fit(X, Y)
    assert model.certify(X, Y).gap == pytest.approx(model.certificate_.gap, rel=1e-9)


def test_dense_and_sparse_blocks_may_follow_each_other():
    dense = stream(X, Y, 2)
    for forms in ((np.asarray, sp.csr_array), (sp.csr_matrix, np.asarray)):
        mixed = model_of(gamma=2.0)
        for form, block in zip(forms, np.array_split(np.arange(len(X)), 2), strict=True):
            mixed.partial_fit(form(X[block]), Y[block], classes=[0, 1])
        np.testing.assert_allclose(mixed.decision_function(X), dense.decision_function(X), atol=1e-9)


def test_a_block_without_weight_is_skipped():
    model = stream(X, Y)
    before = model.decision_function(X)
    model.partial_fit(X[:20], Y[:20], sample_weight=np.zeros(20))
    np.testing.assert_array_equal(model.decision_function(X), before)
    empty = model_of().partial_fit(X[:20], Y[:20], classes=[0, 1], sample_weight=np.zeros(20))
    assert set(empty.predict(X)) == {0}
    assert "No row had a weight" in empty.status_
    assert empty.partial_fit(X, Y).score(X, Y) > 0.7


def test_strings_and_graphs_stream_too():
    model = stream(WORDS, LABELS, kernel=Spectrum(2), lam=0.1)
    assert model.score(WORDS, LABELS) > 0.9
    assert model.certify(WORDS[60:], LABELS[60:]).gap == pytest.approx(model.certificate_.gap, rel=1e-9)
    rings, labels = graphs()
    assert stream(rings, labels, 3, kernel=WeisfeilerLehman(2), lam=0.1).score(rings, labels) == 1.0


def test_a_stream_refuses_what_it_cannot_use_and_stays_as_it_was():
    model = stream(X, Y)
    before = model.decision_function(X)
    with pytest.raises(PegasosError, match="NaN or infinity"):
        model.partial_fit(np.full((5, 2), np.nan), [0, 1, 0, 1, 0])
    with pytest.raises(PegasosError, match="7"):
        model.partial_fit(X[:5], [7, 1, 0, 1, 0])
    np.testing.assert_array_equal(model.decision_function(X), before)
    first = KernelPegasosClassifier("chi2", random_state=0)
    with pytest.raises(PegasosError, match="histograms"):
        first.partial_fit(X, Y, classes=[0, 1])
    assert not hasattr(first, "classes_")
    assert first.partial_fit(np.abs(X), Y, classes=[0, 1]).score(np.abs(X), Y) > 0.6
    with pytest.raises(PegasosError, match="C="):
        KernelPegasosClassifier(C=1.0).partial_fit(X, Y, classes=[0, 1])
    assert not hasattr(KernelPegasosClassifier("precomputed"), "partial_fit")


def test_a_failed_fit_keeps_the_last_good_model():
    model = model_of().fit(X, Y)
    before = model.decision_function(X)
    for bad in (np.full_like(X, np.nan), X[:, :0]):
        with pytest.raises(ValueError, match=r"NaN|0 feature"):
            model.fit(bad, Y)
    with pytest.raises(PegasosError, match="only one class"):
        model.fit(X, np.ones(len(X)))
    with pytest.raises(PegasosError, match="gamma"):
        model.set_params(gamma=-1.0).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), before)


# Looking on.


def test_verbose_prints_a_line_for_each_certificate(capsys):
    model = model_of(verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.trace_) > 0
    assert all("relative gap" in line for line in lines)


def test_callbacks_see_a_model_that_predicts():
    callback = pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
    assert callback is not None
    scores = []

    class Recorder:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            if fitted_estimator is not None:
                scores.append(fitted_estimator.score(X, y))
            return len(scores) >= 3

    model = model_of(solver="pegasos", tol=None, max_iter=50).set_callbacks(Recorder()).fit(X, Y)
    assert model.n_iter_ < 10
    assert model.status_.startswith("A callback asked to stop")
    assert scores[-1] > 0.5


def test_a_budget_that_ends_is_told():
    with pytest.warns(GapWarning, match="max_iter epochs ended"):
        model_of(tol=1e-12, max_iter=1, lam=1e-5).fit(X, Y)
    with pytest.warns(GapWarning, match="time_budget ended"):
        model_of(tol=1e-12, time_budget=1e-9, lam=1e-5).fit(X, Y)


# Tools of scikit-learn, frames, and items that are not vectors.


def test_a_model_survives_pickle_and_clone():
    for kernel, rows, labels in (("rbf", X, Y), (Spectrum(2), WORDS, LABELS), (Subsequence(2), WORDS, LABELS)):
        model = model_of(kernel).fit(rows, labels)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.decision_function(rows), model.decision_function(rows))
        fresh = clone(model).fit(rows, labels)
        np.testing.assert_array_equal(fresh.decision_function(rows), model.decision_function(rows))


def test_frames_are_rows_with_names():
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = model_of().fit(frame, pd.Series(Y))
    assert list(model.feature_names_in_) == ["left", "right"]
    plain = model_of().fit(X, Y)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"left": "other"}))
    polar = model_of().fit(pl.DataFrame(X, schema=["left", "right"]), Y)
    np.testing.assert_array_equal(polar.predict(pl.DataFrame(X, schema=["left", "right"])), plain.predict(X))


def test_parameters_of_a_kernel_can_be_searched():
    search = GridSearchCV(model_of(RBF(1.0)), {"kernel__gamma": [1e-4, 2.0]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"kernel__gamma": 2.0}
    search = GridSearchCV(model_of(Spectrum(1)), {"kernel__k": [1, 2]}, cv=3).fit(WORDS, LABELS)
    assert search.best_score_ > 0.8


def test_cross_validation_takes_rows_strings_graphs_series_and_matrices():
    assert cross_val_score(make_pipeline(StandardScaler(), model_of()), X, Y, cv=3).mean() > 0.85
    assert cross_val_score(make_pipeline(model_of(Spectrum(2))), WORDS, LABELS, cv=3).mean() > 0.9
    rings, labels = graphs()
    assert cross_val_score(model_of(ShortestPath()), rings, labels, cv=3).mean() > 0.9
    waves, labels = series()
    assert cross_val_score(model_of(GlobalAlignment(1.0)), waves, labels, cv=3).mean() > 0.8
    gram = RBF(2.0).block(X, X)
    by_matrix = cross_val_score(model_of("precomputed"), gram, Y, cv=3)
    np.testing.assert_allclose(by_matrix, cross_val_score(model_of(RBF(2.0)), X, Y, cv=3), atol=0.02)


def test_mixed_records_have_a_kernel_for_each_field():
    kernel = on("word", Spectrum(2)) + on(["left", "right"], RBF(2.0))
    frame = pd.DataFrame({"word": WORDS, "left": X[:80, 0], "right": X[:80, 1]})
    model = model_of(kernel).fit(frame, LABELS)
    assert model.score(frame, LABELS) > 0.9
    by_hand = Spectrum(2).block(WORDS, WORDS) + RBF(2.0).block(X[:80], X[:80])
    precomputed = model_of("precomputed", tol=1e-8).fit(by_hand, LABELS)
    assert model.set_params(tol=1e-8).fit(frame, LABELS).certificate_.primal == pytest.approx(
        precomputed.certificate_.primal, rel=1e-7
    )
    streamed = model_of(kernel)
    for block in (slice(0, 40), slice(40, 80)):
        streamed.partial_fit(frame[block], LABELS[block], classes=[0, 1])
    assert streamed.score(frame, LABELS) > 0.8


def test_a_function_is_a_kernel():
    of_pairs = model_of(lambda x, z: float(np.exp(-2.0 * np.sum((x - z) ** 2))), tol=1e-6).fit(X[:60], Y[:60])
    of_blocks = model_of(lambda A, B: RBF(2.0).block(A, B), tol=1e-6).fit(X[:60], Y[:60])
    known = model_of(RBF(2.0), tol=1e-6).fit(X[:60], Y[:60])
    for model in (of_pairs, of_blocks):
        assert model.certificate_.primal == pytest.approx(known.certificate_.primal, rel=1e-5)
        np.testing.assert_allclose(model.decision_function(X), known.decision_function(X), atol=0.02)


# Bad input: one sentence with the value and the remedy.


def asymmetric(x, z):
    return x @ z + x[0]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"kernel": lambda x, z: np.ones(3)}, r"gave an array of shape \(3,\) for two items; expected a number"),
        ({"kernel": lambda x, z: np.nan}, "gave nan for two items; expected a finite number"),
        ({"kernel": asymmetric}, r"is not a kernel: .* A kernel must not depend on the order"),
        ({"kernel": "precomputed"}, r"must be square at fit, got shape \(240, 2\)"),
        ({"kernel": "gauss"}, "kernel must be one of 'linear', 'poly', 'rbf', .* got 'gauss'"),
        ({"kernel": 3}, "kernel must be one of .* or a function, got 3"),
        ({"kernel": RBF}, r"expected a kernel, got its class; write RBF\(\)"),
        ({"kernel": Spectrum(2)}, "an array of strings must have one dimension"),
        ({"gamma": 0}, "gamma must be 'scale', 'auto' or a positive number, got 0"),
        ({"gamma": -1.5}, r"gamma must be 'scale', 'auto' or a positive number, got -1\.5"),
        ({"gamma": "foo"}, "gamma must be 'scale', 'auto' or a positive number, got 'foo'"),
        ({"kernel": "poly", "degree": 0}, "degree of Polynomial must be a whole number of at least 1, got 0"),
        ({"kernel": "poly", "coef0": -1}, "coef0 of Polynomial must be a finite number that is not negative, got -1"),
        ({"kernel": "chi2"}, "ChiSquared is a kernel of histograms, whose entries are not negative"),
        ({"cache_size": 0}, "cache_size must be a positive number, got 0"),
        ({"max_support": 0}, "max_support must be a whole number of at least 1, got 0"),
        ({"solver": "dual"}, "solver must be one of 'auto', 'pegasos', 'decomposition', 'smo', got 'dual'"),
        ({"solver": "pegasos", "batch_size": 241}, "batch_size=241 exceeds the 240 rows"),
    ],
)
def test_settings_and_kernels_that_make_no_sense_raise_an_error(settings, sentence):
    with pytest.raises(PegasosError, match=sentence):
        KernelPegasosClassifier(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("kernel", "items", "sentence"),
    [
        ("rbf", ["ab", "cd"], "takes rows of numbers, got strings such as 'ab'; use a kernel of strings"),
        (Spectrum(2), ["ab", ""], "string 1 is empty; leave it out"),
        (Spectrum(2), ["ab", 3], "string 1"),
        (Spectrum(2), "abcd", "collection of items, such as a list, got str"),
        (Spectrum(2), [], "X has no items"),
        (Spectrum(2), ["ab", "bc", "cd"], "2 labels for 3 items"),
        (ShortestPath(), [(np.zeros((0, 0)), None), (np.eye(2), None)], "graph 0 is empty"),
        (ShortestPath(), ["ring", "star"], "graph 0 is of type str, not a graph"),
        (RBF(1.0), [[1.0, 2.0], [np.inf, 0.0]], "NaN or infinity in row 1"),
    ],
)
def test_items_that_a_kernel_cannot_take_raise_an_error(kernel, items, sentence):
    with pytest.raises(PegasosError, match=sentence):
        KernelPegasosClassifier(kernel).fit(items, [0, 1] if items else [])


def test_a_precomputed_matrix_must_fit_the_training_rows():
    model = model_of("precomputed").fit(RBF(2.0).block(X, X), Y)
    assert model.predict(RBF(2.0).block(X[:7], X)).shape == (7,)
    with pytest.raises(ValueError, match="expecting 240 features"):
        model.predict(X)
    with pytest.raises(PegasosError, match="does not hold"):
        model.certified(RBF(2.0).block(X[:7], X))


def test_an_indefinite_matrix_is_used_with_a_warning_that_names_the_line():
    indefinite = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    with pytest.warns(IndefiniteKernelWarning, match="precomputed matrix is not a kernel") as seen:
        KernelPegasosClassifier("precomputed", max_iter=5, tol=None).fit(indefinite, [0, 1, 1])
    assert [warning.filename for warning in seen] == [__file__]


@pytest.mark.parametrize("is_regularized", [True, False])
@pytest.mark.parametrize("budget", [1e-3, 0.05])
def test_explicit_features_return_coefficients_when_the_time_is_up(is_regularized, budget):
    random = np.random.default_rng(0)
    rows = random.normal(size=(800, 20))
    y = rows[:, 0] + 2.0 * random.normal(size=800) > 0.0
    settings = {"C": 100.0, "tol": 1e-12, "time_budget": budget, "regularize_intercept": is_regularized}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        model = KernelPegasosClassifier("linear", random_state=0, **settings).fit(rows, y)
    assert model.dual_coef_.shape[1] == len(model.support_)
    again = model.certify(rows, y)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
