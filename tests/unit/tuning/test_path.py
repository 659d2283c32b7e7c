"""`lam_path`: what it returns, what it refuses, and its picture."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_classification
from sklearn.svm import LinearSVC

from pegasos import GapWarning, LamPathDisplay, PegasosClassifier, PegasosError, lam_path

X, Y = make_classification(300, 10, n_informative=5, flip_y=0.1, random_state=0)
DIGITS, LABELS = load_digits(n_class=4, return_X_y=True)
DIGITS = DIGITS / 16.0


def test_a_path_has_a_solution_for_every_lam_from_large_to_small():
    path = lam_path(X, Y, n_lams=7, eps=1e-2, random_state=0)
    assert len(path) == len(path.certificates) == 7
    assert path.coefs.shape == (7, 1, 10)
    assert path.intercepts.shape == (7, 1)
    assert path.alphas.shape == (7, 1, 300)
    assert path.n_iter.shape == path.seconds.shape == (7,)
    np.testing.assert_allclose(path.lams[1:] / path.lams[:-1], 1e-2 ** (1 / 6))
    assert re.fullmatch(r"LamPath\(7 lams from \S+ to \S+, relative gaps up to \S+, \S+ s\)", repr(path))


def test_the_first_lam_is_the_last_at_which_every_row_violates():
    path = lam_path(X, Y, n_lams=3, random_state=0)
    sign = np.where(Y == 1, 1.0, -1.0)
    rows = np.c_[X, np.ones(len(X))]
    mean = (sign @ rows) / len(rows)
    assert path.lams[0] == pytest.approx((sign * (rows @ mean)).max(), rel=1e-12)
    np.testing.assert_allclose(path.coefs[0, 0], mean[:-1] / path.lams[0], rtol=1e-6)
    assert (path.alphas[0] == 1.0).mean() > 0.99


@pytest.mark.parametrize("weighted", [False, True])
def test_every_certificate_of_a_path_is_what_numpy_makes_of_its_dual_point(weighted):
    weights = np.random.default_rng(0).integers(0, 4, 300).astype(float) if weighted else np.ones(300)
    how = {"sample_weight": weights} if weighted else {}
    path = lam_path(X, Y, n_lams=6, tol=1e-4, class_weight={0: 2.0}, random_state=0, **how)
    sign, cost, total = np.where(Y == 1, 1.0, -1.0), weights * np.where(Y == 0, 2.0, 1.0), weights.sum()
    rows = np.c_[X, np.ones(300)]
    for lam, coef, b, alpha, proof in zip(
        path.lams, path.coefs[:, 0], path.intercepts, path.alphas[:, 0], path.certificates, strict=True
    ):
        assert alpha.min() >= 0.0
        assert (alpha <= cost).all()
        losses = cost @ np.maximum(0.0, 1.0 - sign * (X @ coef + b)) / total
        primal = 0.5 * lam * (coef @ coef + b @ b) + losses
        dual_weights = (alpha * sign) @ rows / (lam * total)
        dual = alpha.sum() / total - 0.5 * lam * dual_weights @ dual_weights
        assert proof.primal == pytest.approx(primal, rel=1e-10)
        assert proof.dual == pytest.approx(dual, rel=1e-10)
        assert (primal - dual) / primal <= 1e-4


def test_the_classes_of_a_path_are_told_apart_as_by_fits_of_their_own():
    path = lam_path(DIGITS, LABELS, n_lams=5, eps=1e-3, tol=1e-5, random_state=0)
    assert path.coefs.shape == (5, 4, 64)
    for k, lam in enumerate(path.lams):
        alone = PegasosClassifier(lam=lam, tol=1e-5, random_state=0).fit(DIGITS, LABELS)
        assert len(path.certificates[k].parts) == 4
        for mine, theirs in zip(path.certificates[k].parts, alone.certificate_.parts, strict=True):
            assert max(mine.dual, theirs.dual) <= min(mine.primal, theirs.primal) + 1e-14


def test_a_path_agrees_with_liblinear():
    path = lam_path(X, Y, lams=[0.1, 0.01, 0.001], tol=1e-7, random_state=0)
    for lam, coef, b in zip(path.lams, path.coefs[:, 0], path.intercepts[:, 0], strict=True):
        theirs = LinearSVC(C=1 / (lam * 300), loss="hinge", tol=1e-7, max_iter=200_000, random_state=0).fit(X, Y)
        np.testing.assert_allclose(coef, theirs.coef_[0], atol=2e-3)
        assert b == pytest.approx(theirs.intercept_[0], abs=2e-3)


def test_the_result_does_not_depend_on_threads_or_layout():
    settings = {"n_lams": 5, "random_state": 0, "tol": 1e-6}
    one, two = (lam_path(DIGITS, LABELS, n_jobs=n_jobs, **settings) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coefs, two.coefs)
    np.testing.assert_array_equal(one.alphas, two.alphas)
    sparse = lam_path(sp.csr_matrix(DIGITS), LABELS, **settings)
    np.testing.assert_allclose(sparse.lams, one.lams, rtol=1e-12)
    for mine, theirs in zip(sparse.certificates, one.certificates, strict=True):
        assert mine.primal == pytest.approx(theirs.primal, rel=4e-6)


def test_lams_may_be_given_in_either_order():
    rising, falling = (lam_path(X, Y, lams=lams, random_state=0) for lams in ([1e-3, 1e-2], [1e-2, 1e-3]))
    assert rising.lams.tolist() == [1e-2, 1e-3]
    np.testing.assert_array_equal(rising.coefs, falling.coefs)


def test_a_path_that_is_cut_short_says_so():
    with pytest.warns(GapWarning, match=r"of 3 fits of the path ended before"):
        lam_path(X, Y, lams=[1e-5, 1e-6, 1e-7], tol=1e-12, max_iter=1, random_state=0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lams": [0.1, -1.0]}, "each of lams must be a positive number, got -1.0"),
        ({"lams": [0.1, np.nan]}, "each of lams must be a positive number, got nan"),
        ({"lams": [0.1, 0.01, 0.05]}, r"lams must be sorted.*sorted\(lams\)"),
        ({"lams": [0.1, 0.01, 0.01]}, "lams must differ from one another, got 0.01 twice"),
        ({"lams": []}, "a list of at least one number"),
        ({"lams": 0.1}, "a list of at least one number"),
        ({"lams": ["a"]}, "lams must be positive numbers"),
        ({"n_lams": 0}, "n_lams must be a whole number of at least 1"),
        ({"eps": 1.0}, "eps is the smallest lam over the largest and must be below 1"),
        ({"eps": -1e-3}, "eps must be a positive number"),
        ({"tol": None}, "tol must be a number"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_with_a_reason(settings, sentence):
    with pytest.raises(PegasosError, match=sentence):
        lam_path(X, Y, **settings)


def test_rows_that_cancel_out_have_no_path():
    with pytest.raises(PegasosError, match="there is no path to follow"):
        lam_path([[1.0], [1.0]], [0, 1])


def test_numbers_beyond_the_range_of_the_machine_have_no_path():
    with pytest.raises(PegasosError, match="scale the features"):
        lam_path(1e200 * X, Y)


def test_the_picture_names_its_axes_and_the_largest_coefficients(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    path = lam_path(X, Y, n_lams=5, random_state=0)
    drawn = path.plot(n_named=3, title="made up")
    assert drawn.ax_.get_xlabel() == "lam"
    assert drawn.ax_.get_ylabel() == "coefficient"
    assert drawn.ax_.get_title() == "made up"
    assert drawn.ax_.xaxis_inverted()
    assert len(drawn.lines_) == 10
    largest = np.argsort(-np.abs(path.coefs[:, 0]).max(axis=0))[:3]
    assert [text.get_text() for text in drawn.ax_.get_legend().get_texts()] == [f"feature {j}" for j in largest]
    again = LamPathDisplay.from_path(path, feature_names=list("abcdefghij")).plot(drawn.ax_)
    assert again.ax_ is drawn.ax_
    assert again.ax_.xaxis_inverted()
    plt.close("all")
    with pytest.raises(PegasosError, match="path must be a LamPath, as lam_path returns one, got 3"):
        LamPathDisplay.from_path(3)
    with pytest.raises(PegasosError, match=r"problem must be one of 0\.\.0, got 1"):
        LamPathDisplay.from_path(path, problem=1)
    with pytest.raises(PegasosError, match="feature_names must name the 10 features, got 2 names"):
        LamPathDisplay.from_path(path, feature_names=["a", "b"])
    with pytest.raises(PegasosError, match="n_named"):
        path.plot(n_named=99)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "pegasos\[plots\]"'):
        lam_path(X, Y, n_lams=2, random_state=0).plot()
