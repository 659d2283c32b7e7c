"""The one-class machines: scikit-learn's signs, files, weights, and what they refuse."""

import numpy as np
import pytest

import pegasos
from pegasos import KernelPegasosOneClass, PegasosError, PegasosOneClass

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(150, 3)) + 4.0
BOTH = [(PegasosOneClass, {}), (KernelPegasosOneClass, {"gamma": 0.3})]


@pytest.mark.parametrize(("make", "kernel"), BOTH)
def test_signs_are_those_of_scikit_learn(make, kernel):
    model = make(nu=0.2, **kernel)
    answers = model.fit_predict(X)
    decisions = model.decision_function(X)
    assert np.array_equal(answers, np.where(decisions >= 0.0, 1, -1))
    assert decisions == pytest.approx(model.score_samples(X) - model.offset_)
    assert 0.1 < np.mean(answers == -1) <= 0.2
    assert model.alpha_.sum() == pytest.approx(0.2 * 150, rel=1e-3)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certify(X).gap == pytest.approx(model.certificate_.gap, rel=1e-6)


@pytest.mark.parametrize(("make", "kernel"), BOTH)
def test_a_weight_of_two_is_the_row_twice(make, kernel):
    weights = RANDOM.integers(0, 3, 150)
    one = make(nu=0.3, tol=1e-10, **kernel).fit(X, sample_weight=weights)
    other = make(nu=0.3, tol=1e-10, **kernel).fit(np.repeat(X, weights, axis=0))
    assert one.decision_function(X) == pytest.approx(other.decision_function(X), abs=1e-5)


@pytest.mark.parametrize(("make", "kernel"), BOTH)
def test_files_keep_it(make, kernel, tmp_path):
    model = make(nu=0.2, **kernel).fit(X)
    model.save(tmp_path / "model.pegasos")
    again = pegasos.load(tmp_path / "model.pegasos")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.certify(X).gap == pytest.approx(model.certificate_.gap, rel=1e-6)
    assert again.solved_lam_ == model.solved_lam_


@pytest.mark.parametrize("nu", [0.0, 1.5, -1, None, "many"])
@pytest.mark.parametrize(("make", "kernel"), BOTH)
def test_nu_must_be_a_share(make, kernel, nu):
    with pytest.raises(PegasosError, match="nu must be"):
        make(nu=nu, **kernel).fit(X)


def test_rows_without_weight_are_refused():
    with pytest.raises(PegasosError, match="sample_weight is zero for every row"):
        KernelPegasosOneClass().fit(X, sample_weight=np.zeros(150))


def test_strings_have_a_one_class_machine_too():
    from pegasos.kernels import Spectrum

    model = KernelPegasosOneClass(Spectrum(2), nu=0.3).fit(["abab", "baba", "abba", "ababab", "bababa"])
    assert np.array_equal(model.predict(["babab", "zzzz"]), [1, -1])


@pytest.mark.parametrize("n_rows", [400, 1200, 2500])
def test_kernel_problems_of_any_size_are_certified(n_rows):
    """From 1,000 samples on, a table of few features is in single precision."""
    X = np.random.default_rng(0).normal(size=(n_rows, 5))
    model = KernelPegasosOneClass("rbf", gamma=0.2, nu=0.2, random_state=0).fit(X)
    assert model.certificate_.relative_gap <= 1e-3
    assert np.sum(model.predict(X) < 0) <= 0.2 * n_rows + 2  # rounding decides about samples on the boundary
    assert len(model.support_) >= 0.2 * n_rows
