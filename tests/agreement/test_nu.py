"""The nu-forms: LIBSVM's solutions, and what nu promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale
from sklearn.svm import NuSVC, OneClassSVM

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosOneClass,
    NuWarning,
    PegasosClassifier,
    PegasosError,
    PegasosOneClass,
)

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)


@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("make", [KernelPegasosClassifier, PegasosClassifier])
def test_nu_classification_agrees_with_libsvm(make, nu):
    kernel = {"gamma": 0.02} if make is KernelPegasosClassifier else {"kernel": "linear"}
    theirs = NuSVC(nu=nu, **kernel, tol=1e-10).fit(X, Y)
    ours = make(nu=nu, regularize_intercept=False, tol=1e-9, **({"gamma": 0.02} if "gamma" in kernel else {})).fit(X, Y)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=2e-5)
    assert ours.alpha_.sum() / len(X) == pytest.approx(nu, rel=1e-6)
    assert ours.certificate_.relative_gap <= 1e-8
    assert ours.certify(X, Y).gap == pytest.approx(ours.certificate_.gap, rel=1e-6, abs=1e-9)


def test_every_pair_of_classes_has_a_lam_of_its_own():
    iris, y = load_iris(return_X_y=True)
    theirs = NuSVC(nu=0.2, gamma=0.2, tol=1e-10).fit(iris, y)
    ours = KernelPegasosClassifier(nu=0.2, gamma=0.2, regularize_intercept=False, multi_class="ovo", tol=1e-9)
    ours.fit(iris, y)
    assert len(set(ours.solved_lam_)) == 3
    assert np.array_equal(ours.predict(iris), theirs.predict(iris))


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.5])
def test_one_class_agrees_with_libsvm(nu):
    theirs = OneClassSVM(nu=nu, gamma=0.02, tol=1e-10).fit(X)
    ours = KernelPegasosOneClass(nu=nu, gamma=0.02, tol=1e-9).fit(X)
    unit = ours.solved_lam_ * len(X)
    assert unit * ours.decision_function(X) == pytest.approx(theirs.decision_function(X), rel=1e-5, abs=1e-5)
    assert unit * ours.score_samples(X) == pytest.approx(theirs.score_samples(X), rel=1e-6, abs=1e-5)
    assert unit * ours.offset_ == pytest.approx(float(theirs.offset_[0]), rel=1e-6)


def test_a_nu_that_is_too_large_is_an_error_that_states_the_largest():
    with pytest.raises(PegasosError, match=r"nu=0\.8 is infeasible: the largest nu for these rows is 0\.745"):
        PegasosClassifier(nu=0.8, regularize_intercept=False).fit(X, Y)


def test_a_nu_that_is_too_small_is_an_error_that_states_the_smallest():
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(200, 2)), random.integers(0, 2, 200)
    with pytest.raises(PegasosError, match=r"nu=0\.05 is infeasible: the smallest nu for these rows is about 0\.9"):
        PegasosClassifier(nu=0.05, regularize_intercept=False).fit(rows, labels)


@given(
    seed=st.integers(0, 2**31 - 1),
    shape=st.tuples(st.integers(1, 60), st.integers(1, 4)),
    nu=st.floats(0.02, 1.0),
    kind=st.sampled_from(["normal", "whole numbers", "one far away", "all the same"]),
    is_weighted=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_at_most_nu_are_outside_and_at_least_nu_support(seed, shape, nu, kind, is_weighted):
    random, n_rows = np.random.default_rng(seed), shape[0]
    rows = random.normal(size=shape)
    if kind == "whole numbers":
        rows = random.integers(0, 3, rows.shape).astype(float)
    elif kind == "one far away":
        rows[0] += 100.0
    elif kind == "all the same":
        rows[:] = rows[0]
    weights = random.integers(1, 4, n_rows).astype(float) if is_weighted else np.ones(n_rows)
    model = KernelPegasosOneClass(gamma=0.5, nu=nu, tol=1e-6).fit(rows, sample_weight=weights if is_weighted else None)
    total = weights.sum()
    assert weights[model.predict(rows) == -1].sum() <= nu * total * (1.0 + 1e-12)
    assert weights[model.alpha_ > 0.0].sum() >= nu * total * (1.0 - 1e-4)


def test_rows_around_the_origin_are_reported():
    random = np.random.default_rng(0)
    rows = random.normal(size=(100, 2))
    rows -= rows.mean(axis=0)
    with pytest.warns(NuWarning, match="no plane separates more than"):
        model = PegasosOneClass(nu=0.1).fit(rows)
    assert np.mean(model.predict(rows) == -1) <= 0.1
