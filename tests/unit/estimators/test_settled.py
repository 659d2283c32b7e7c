"""Predictions that no exact solution can change, for every kind of machine and of problem."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs, make_moons

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.errors import PegasosError
from pegasos.estimators.warnings import ChangedRowsWarning, GapWarning
from pegasos.kernels import Spectrum

DIGITS, CLASSES = load_digits(return_X_y=True)
DIGITS = DIGITS[:600] / 16.0
CLASSES = CLASSES[:600]
WEIGHTS = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 600)

LINEAR = {
    "ovr": {},
    "ovo": {"multi_class": "ovo"},
    "crammer_singer": {"multi_class": "crammer_singer"},
    "free intercept": {"regularize_intercept": False},
    "free intercept, ovo": {"regularize_intercept": False, "multi_class": "ovo"},
    "no intercept": {"fit_intercept": False},
    "balanced": {"class_weight": "balanced"},
    "C": {"lam": None, "C": 0.05},
}


def fitted(tol, machine=PegasosClassifier, X=DIGITS, y=CLASSES, sample_weight=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        return machine(**{"lam": 3e-3, "random_state": 0, "tol": tol, **settings}).fit(X, y, sample_weight)


def without_regions(model):
    """The same model with nothing but the ball of its certificate."""
    bare = pickle.loads(pickle.dumps(model))
    bare.__dict__.pop("_regions", None)
    return bare


def width(model):
    lower, upper = model.score_interval(DIGITS)
    return upper - lower


def check(rough, exact, X):
    """No certified prediction and no score contradicts a fit that is next to exact; returns the share."""
    sure = rough.certified(X)
    assert np.array_equal(rough.predict(X)[sure], exact.predict(X)[sure])
    lower, upper = rough.score_interval(X)
    scores = exact._scores(X, exact.fitted_).reshape(lower.shape)
    room = 1e-4 * np.abs(scores).max()  # that of the exact fit itself, which has a gap of its own
    assert (lower <= scores + room).all()
    assert (scores - room <= upper).all()
    return float(sure.mean())


@pytest.mark.parametrize("settings", LINEAR.values(), ids=LINEAR)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_exact_solution_contradicts_what_is_certified(settings, weighted):
    weights = WEIGHTS if weighted else None
    rough, exact = (fitted(tol, sample_weight=weights, **settings) for tol in (0.02, 1e-8))
    share, bare = check(rough, exact, DIGITS), without_regions(rough)
    assert share >= bare.certified(DIGITS).mean()
    assert np.mean(width(rough)) < 0.8 * np.mean(width(bare))
    assert rough.certified_share_ == pytest.approx(np.average(rough.certified(DIGITS), weights=weights))


@pytest.mark.parametrize("free", [False, True])
def test_kernel_machines_certify_more_than_their_ball(free):
    X, y = make_moons(400, noise=0.25, random_state=0)
    settings = {"machine": KernelPegasosClassifier, "X": X, "y": y, "gamma": 2.0, "regularize_intercept": not free}
    rough, exact = (fitted(tol, **settings) for tol in (0.02, 1e-9))
    new = np.random.default_rng(1).normal(size=(500, 2))
    share = check(rough, exact, new)
    assert share > without_regions(rough).certified(new).mean() + 0.02


def test_strings_are_certified_through_their_kernel():
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("ab" if k % 2 else "abc"), 12)) for k in range(80)]
    y = np.arange(80) % 2
    settings = {"machine": KernelPegasosClassifier, "X": words, "y": y, "kernel": Spectrum(2), "lam": 0.05}
    rough, exact = (fitted(tol, **settings) for tol in (0.05, 1e-9))
    assert check(rough, exact, words) >= without_regions(rough).certified(words).mean()


def test_a_prior_is_part_of_every_score():
    prior = fitted(1e-2, X=DIGITS[:200], y=CLASSES[:200])
    rough, exact = (fitted(tol, prior=prior) for tol in (0.05, 1e-8))
    assert check(rough, exact, DIGITS) > 0.1


def test_many_features_use_the_products_of_pinned_rows():
    random = np.random.default_rng(0)
    X = sp.random(300, 3000, 0.01, "csr", random_state=0, dtype=np.float32)
    y = (X @ random.normal(size=3000) + 0.1 * random.normal(size=300) > 0).astype(int)
    rough, exact = (fitted(tol, X=X, y=y, lam=1e-2) for tol in (0.05, 1e-8))
    assert check(rough, exact, X) > without_regions(rough).certified(X).mean()


def test_rows_and_their_order_do_not_matter():
    model = fitted(0.02)
    sure = model.certified(DIGITS)
    assert np.array_equal(model.certified(DIGITS[::-1]), sure[::-1])
    assert np.array_equal(model.certified(DIGITS[:7]), sure[:7])
    assert np.array_equal(model.certified(sp.csr_array(DIGITS)), sure)


def test_the_number_of_threads_changes_nothing():
    one, two = (fitted(0.02, n_jobs=n) for n in (1, 2))
    for a, b in zip(one.score_interval(DIGITS), two.score_interval(DIGITS), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_support_vectors_of_every_exact_solution_and_of_none():
    y = CLASSES % 2
    rough, exact = (fitted(tol, y=y) for tol in (1e-3, 1e-9))
    status = rough.certified_support(DIGITS, y)
    assert status.shape == (600,)
    assert (np.abs(exact.alpha_[status == 1] - 1.0) < 1e-6).all()
    assert (exact.alpha_[status == -1] < 1e-6).all()
    assert np.mean(status != 0) > 0.5
    several = fitted(0.02).certified_support(DIGITS, CLASSES)
    assert several.shape == (600, 10)
    assert fitted(0.02, multi_class="ovo").certified_support(DIGITS, CLASSES).shape == (600, 45)
    with pytest.raises(PegasosError, match="two signs"):
        fitted(0.02, multi_class="crammer_singer").certified_support(DIGITS, CLASSES)
    with pytest.raises(PegasosError, match="class of each of the 600 rows"):
        rough.certified_support(DIGITS, y[:3])


def test_a_pickle_has_the_regions_but_not_the_rows():
    model = fitted(0.02)
    fresh = pickle.loads(pickle.dumps(model))
    sure = model.certified(DIGITS)
    assert fresh.certified(DIGITS).sum() < sure.sum()
    with pytest.raises(AttributeError, match=r"certify\(X, y\)"):
        _ = fresh.certified_share_
    assert not hasattr(fresh, "_evidence")
    warm = copy.deepcopy(model)
    assert np.array_equal(warm.certified(DIGITS), sure)
    assert not hasattr(warm, "_evidence")


def test_certify_gives_a_loaded_model_its_rows_back(tmp_path):
    model = fitted(0.02)
    model.save(tmp_path / "model.pegasos")
    loaded = pegasos.load(tmp_path / "model.pegasos")
    loaded.certify(DIGITS[::-1], CLASSES[::-1])  # others than those of the fit
    assert not hasattr(loaded, "_evidence")
    loaded.certify(DIGITS, CLASSES)
    assert np.array_equal(loaded.certified(DIGITS), model.certified(DIGITS))
    assert loaded.certified_share_ == model.certified_share_


def test_rows_changed_after_the_fit_are_noticed():
    X = DIGITS.copy()
    model = fitted(0.02, X=X)
    ball = without_regions(model).certified(DIGITS)
    X *= 0.9
    with pytest.warns(ChangedRowsWarning, match="changed after fit"):
        sure = model.certified(DIGITS)
    assert np.array_equal(sure, ball)


def test_another_fit_has_another_region():
    model = fitted(0.02)
    before = model.certified_share_
    model.set_params(tol=1e-5).fit(DIGITS, CLASSES)
    assert model.certified_share_ > before


def test_a_stream_has_the_ball_of_its_last_block():
    X, y = make_blobs(300, random_state=0)
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, y)
    assert hasattr(model, "_evidence")
    model.partial_fit(X, y)
    assert not hasattr(model, "_evidence")
    assert model.certified(X).shape == (300,)


@pytest.mark.parametrize("settings", [{}, {"multi_class": "crammer_singer"}, {"regularize_intercept": False}])
def test_a_fit_continues_until_enough_predictions_are_certified(settings):
    plain = fitted(0.05, **settings)
    model = fitted(0.05, certified_share=0.995, **settings)
    assert plain.certified_share_ < 0.995 <= model.certified_share_
    assert model.certified_share_ == np.mean(model.certified(DIGITS))
    assert "of the training rows have a certified prediction, as requested." in model.status_
    assert model.certificate_.relative_gap < 0.05
    assert model.n_iter_ >= plain.n_iter_
    trace = model.trace_
    assert (np.diff(trace["seconds"]) >= 0.0).all()
    assert len(trace) > len(plain.trace_)
    assert len(trace.parts) == len(model.certificate_.parts)


def test_a_kernel_fit_continues_too():
    X, y = make_moons(400, noise=0.25, random_state=0)
    model = fitted(0.1, KernelPegasosClassifier, X, y, gamma=2.0, certified_share=0.99)
    assert model.certified_share_ >= 0.99


def test_what_a_budget_leaves_open_is_said():
    with pytest.warns(GapWarning, match="not the 1 requested"):
        model = PegasosClassifier(1e-4, tol=0.3, max_iter=2, certified_share=1.0, random_state=0).fit(DIGITS, CLASSES)
    assert model.n_iter_ <= 2
    assert "give more time or epochs" in model.status_


def test_a_fit_that_certifies_enough_at_once_is_the_fit_without_the_rule():
    plain, asked = fitted(1e-3), fitted(1e-3, certified_share=0.5)
    assert np.array_equal(plain.coef_, asked.coef_)
    assert len(plain.trace_) == len(asked.trace_)


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5, "all", True, np.nan])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(PegasosError, match="certified_share must be None or a number above 0 and at most 1"):
        PegasosClassifier(certified_share=share).fit(DIGITS, CLASSES)


def test_a_share_needs_a_gap_to_begin_with():
    with pytest.raises(PegasosError, match="needs a tol"):
        PegasosClassifier(tol=None, certified_share=0.9).fit(DIGITS, CLASSES)


def test_the_share_of_validation_rows_is_counted_where_they_are_given():
    train, held_out = DIGITS[:400], DIGITS[400:]
    y = CLASSES[:400]
    model = PegasosClassifier(1e-4, solver="dual", tol=0.3, certified_share=0.97, max_iter=100_000, random_state=0)
    assert model.fit(train, y, X_val=held_out).certified(held_out).mean() >= 0.97
    assert "% of the validation rows have a certified prediction, as requested" in model.status_
    rough = PegasosClassifier(1e-4, solver="dual", tol=0.3, random_state=0).fit(train, y)
    assert rough.certified(held_out).mean() < 0.97


def test_validation_rows_without_a_share_are_refused():
    with pytest.raises(PegasosError, match="X_val is used by certified_share only"):
        PegasosClassifier().fit(DIGITS, CLASSES, X_val=DIGITS)
