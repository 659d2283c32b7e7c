"""The promise: a default fit ends with its proof, whatever the data, and with the support vectors of the textbook."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from pegasos import PegasosClassifier, PegasosClassifierCV, lam_path
from pegasos.data import ArraySource
from pegasos.estimators.warnings import GapWarning
from tests.agreement.interior_point import optimum_of
from tests.reference.objective import PlainProblem


def fitted(X, y, **parameters):
    """A fit that must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", GapWarning)
        return PegasosClassifier(random_state=0, **parameters).fit(X, y)


def one_hot(n=4000, columns=30, seed=0):
    """Categories of very different frequency, eight percent positives."""
    random = np.random.default_rng(seed)
    blocks, scores = [], np.zeros(n)
    for _ in range(columns):
        size = int(random.integers(2, 25))
        codes = random.choice(size, n, p=random.dirichlet(np.full(size, 0.5)))
        blocks.append(sp.csr_matrix((np.ones(n), (np.arange(n), codes)), shape=(n, size)))
        scores += random.normal(size=size)[codes]
    scores += 2.0 * random.normal(size=n)
    return sp.csr_matrix(sp.hstack(blocks)), scores > np.quantile(scores, 0.92)


def text(n=1500, d=6000, words=40, seed=0):
    """Frequent and rare words, in two classes that use slightly different ones; nearly separable."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    columns = np.minimum((d ** random.random((n, words))).astype(np.int64) - 1, d - 1)
    columns = np.where(random.random((n, words)) < 0.1, (columns + 1777 * y[:, None]) % d, columns)
    X = sp.csr_matrix((np.ones(n * words), columns.ravel(), np.arange(0, n * words + 1, words)), shape=(n, d))
    X.sum_duplicates()
    return X, y


def noisy(n, d, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    scores = X @ random.normal(size=d)
    return X, scores + 0.5 * scores.std() * random.normal(size=n) > 0.0


@pytest.mark.parametrize("layout", [sp.csr_matrix, lambda X: X.toarray()])
@pytest.mark.parametrize(("lam", "tol"), [(1e-4, 1e-5), (1e-6, 1e-3), (1e-7, 1e-3), (1e-7, 1e-7)])
def test_one_hot_tables_are_certified(layout, lam, tol):
    X, y = one_hot()
    fitted(layout(X).astype(np.float32), y, lam=lam, tol=tol)


@pytest.mark.parametrize(("lam", "tol"), [(1e-5, 1e-5), (1e-7, 1e-3), (1e-7, 1e-7)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_type_of_the_rows_does_not_decide_how_far_a_fit_gets(dtype, lam, tol):
    X, y = noisy(476, 166)
    X = np.clip(X / 3.0, -1.0, 1.0).astype(dtype)
    model = fitted(X, y, lam=lam, tol=tol)
    assert model.n_iter_ < 100


@pytest.mark.parametrize("lam", [1e-4, 1e-7])
def test_a_smaller_tol_is_not_a_cliff(lam):
    X, y = noisy(20_000, 40)
    X = X.astype(np.float32)
    epochs = [fitted(X, y, lam=lam, tol=tol).n_iter_ for tol in (1e-3, 1e-5, 1e-6, 1e-9)]
    assert max(epochs) < 100


@pytest.mark.parametrize("lam", [1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_wide_text_is_certified_at_small_lam(lam, tol):
    X, y = text()
    fitted(X.astype(np.float32), y, lam=lam, tol=tol)


def test_equal_rows_of_both_signs_are_certified():
    X = sp.csr_matrix(np.array([[1.0], [2.0]] * 100, dtype=np.float32))
    X.resize(200, 4)
    assert fitted(X, [1, 0] * 100).n_iter_ < 50


@pytest.mark.parametrize("block_rows", [100, 1000])
@pytest.mark.parametrize("lam", [1e-3, 1e-6])
def test_a_source_reaches_the_optimum_of_a_fit_on_unscaled_rows(block_rows, lam):
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GapWarning)
        model = PegasosClassifier(lam, random_state=0).fit_source(ArraySource(X, y, block_rows=block_rows))
    assert model.certificate_.primal == pytest.approx(fitted(X, y, lam=lam).certificate_.primal, rel=1e-3)


def test_a_source_of_huge_features_is_certified_like_a_fit():
    """In double, the rounding of w(alpha) alone would be more than tol here."""
    X, y = noisy(1500, 12, seed=14)
    X = (1e6 * X * 10.0 ** np.random.default_rng(1).integers(-3, 4, 12)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GapWarning)
        model = PegasosClassifier(1e-6, max_iter=100, random_state=0).fit_source(ArraySource(X, y, block_rows=4000))
    assert model.certificate_.primal == pytest.approx(fitted(X, y, lam=1e-6).certificate_.primal, rel=1e-3)


@pytest.mark.parametrize("lam", [1e-3, 1e-6])
def test_a_free_intercept_beside_huge_features_is_certified(lam):
    """In the sum of the dual variables that the intercept follows from, rounding is more than the intercept."""
    X, y = noisy(1500, 12, seed=14)
    X = (1e6 * X * 10.0 ** np.random.default_rng(1).integers(-3, 4, 12)).astype(np.float32)
    fitted(X, y, lam=lam, regularize_intercept=False)


def test_the_alphas_of_a_hard_margin_are_those_of_the_textbook():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    model = fitted(X, y, C=np.inf, regularize_intercept=False, tol=1e-8)
    alpha = model.alpha_ / (model.solved_lam_ * len(y))
    exact = SVC(kernel="linear", C=1e10, tol=1e-9).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(alpha), np.sort(exact.support_))
    np.testing.assert_allclose(alpha[exact.support_], np.abs(exact.dual_coef_[0]), rtol=1e-3)
    np.testing.assert_allclose(np.where(y == 1, alpha, -alpha) @ X, model.coef_[0], rtol=1e-4, atol=1e-6)


def test_a_hard_margin_that_does_not_exist_has_no_margin():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(GapWarning, match="cannot be separated"):
        model = PegasosClassifier(C=np.inf, random_state=0).fit(X[50:], y[50:])
    assert "geometric margin" not in model.status_


TABLES = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "moons": lambda: make_moons(400, noise=0.3, random_state=0),
    "noisy": lambda: noisy(600, 8),
    "wide": lambda: noisy(80, 200),
    "one-hot": lambda: (one_hot(400, 8)[0].toarray(), one_hot(400, 8)[1]),
    "separable": lambda: (noisy(300, 5)[0], noisy(300, 5)[0][:, 0] > 0.2),
    "rare": lambda: (noisy(500, 6)[0], noisy(500, 6)[0] @ np.arange(6) > 12.0),
}


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore:Solver terminated early")
def test_support_vectors_are_those_of_libsvm(name, tol):
    X, y = TABLES[name]()
    X, y = scale(X), np.where(np.isin(y, np.unique(y)[1:]), 1, 0)
    model = fitted(X, y, C=1.0, tol=tol, regularize_intercept=False)
    exact = SVC(kernel="linear", C=1.0, tol=1e-6, max_iter=1_000_000).fit(X, y)
    margin = np.where(y == 1, 1.0, -1.0) * exact.decision_function(X)
    # Scores differ by at most what the certificate proves.
    reach = 1e-3 + model.certificate_.weight_radius * np.linalg.norm(X, axis=1) + model.fitted_.proof.intercept_reach[0]
    doubtful = np.flatnonzero(np.abs(1.0 - margin) <= reach)
    assert set(model.support_) ^ set(exact.support_) <= set(doubtful)
    is_free = (model.alpha_ > 0.0) & (model.alpha_ < 1.0)
    assert is_free.sum() <= X.shape[1] + 1 + len(doubtful)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("solver", ["auto", "dual", "cutting_plane", "pegasos"])
def test_support_vectors_are_those_that_the_certificate_settles(solver, name, tol):
    X, y = TABLES[name]()
    X, y = scale(X), np.where(np.isin(y, np.unique(y)[1:]), 1, -1)
    n, max_iter = len(y), 30 if solver in ("cutting_plane", "pegasos") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        model = PegasosClassifier(C=1.0, tol=tol, solver=solver, max_iter=max_iter, random_state=0).fit(X, y)
    ones = np.column_stack([X, np.ones(n)])
    exact = optimum_of(PlainProblem(ones, y, np.ones(n), np.zeros(n), 1.0 / n, n))
    residual = 1.0 - y * (ones @ exact.weights)
    # The weights at hand settle a row if theirs and the exact ones, at most a radius apart, are on one side of it.
    reach = 1e-6 + 2.0 * model.certificate_.weight_radius * np.linalg.norm(ones, axis=1)
    assert set(np.flatnonzero(residual > reach)) <= set(model.support_)
    if solver != "pegasos":  # whose dual point counts every row that it ever violated
        assert not set(np.flatnonzero(residual < -reach)) & set(model.support_)
    if solver in ("auto", "dual"):
        settled = np.abs(residual) > reach
        np.testing.assert_array_equal(model.alpha_[settled], np.where(residual[settled] > 0.0, 1.0, 0.0))


@pytest.mark.parametrize("max_iter", [1, 2, 4, 8, 16, 64])
@pytest.mark.parametrize("name", ["noisy", "breast cancer", "one-hot", "wide"])
def test_whoever_asks_for_more_never_gets_less_for_the_same_work(name, max_iter):
    X, y = TABLES[name]()
    y = np.where(np.isin(y, np.unique(y)[1:]), 1, 0)
    for lam in (1e-2, 1e-5):
        gaps = []
        for tol in (1e-2, 1e-3, 1e-5, 1e-7):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GapWarning)
                model = PegasosClassifier(lam, tol=tol, max_iter=max_iter, random_state=0).fit(X, y)
            gaps.append(model.certificate_.relative_gap)
        assert (np.diff(gaps) <= 1e-12).all(), gaps


@st.composite
def hostile_tables(draw):
    """Few rows, or many features, duplicates, collinear and constant columns, one positive row, extreme weights."""
    seed, n, d = draw(st.integers(0, 10_000)), draw(st.integers(2, 40)), draw(st.integers(1, 60))
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-3, 4, d)
    if draw(st.booleans()):
        X = np.c_[X, X[:, :1], X @ random.normal(size=d), np.ones(n)]
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]
    y = np.zeros(n, int)
    y[: 1 if draw(st.booleans()) else max(1, n // 2)] = 1
    weights = 10.0 ** random.uniform(-6, 6, n) if draw(st.booleans()) else None
    return X.astype(draw(st.sampled_from((np.float32, np.float64)))), y, weights


@settings(max_examples=80, deadline=None)
@given(hostile_tables(), st.sampled_from([1e-1, 1e-4, 1e-8]), st.sampled_from([1e-2, 1e-3, 1e-5]))
def test_hostile_tables_are_certified(table, lam, tol):
    X, y, weights = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        model = PegasosClassifier(lam, tol=tol, random_state=0).fit(X, y, sample_weight=weights)
    assert model.certificate_.relative_gap <= tol or "cannot fall further" in model.status_


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("free", [False, True])
def test_several_classes_and_free_intercepts_are_certified_in_any_units(multi_class, free):
    X, y = load_wine(return_X_y=True)
    for lam in (1e-3, 1e-6):
        fitted(X, y, lam=lam, tol=1e-5, multi_class=multi_class, regularize_intercept=not free)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("lam", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_all_classes_at_once_are_certified_in_any_units(load, lam, tol):
    X, y = load(return_X_y=True)
    for rows in (X, scale(X)):
        assert fitted(rows, y, lam=lam, tol=tol, multi_class="crammer_singer").n_iter_ < 2000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_shares_of_a_cost_keep_their_digits(dtype):
    """Rows so long that dual variables are a 1e-8 of their costs, more features than an interior point takes."""
    random = np.random.default_rng(0)
    X = (30.0 * random.normal(size=(60, 1500))).astype(dtype)
    y = np.arange(60) % 4
    model = fitted(X, y, lam=1e-3, multi_class="crammer_singer")
    assert model.n_iter_ < 500
    assert 0.0 < model.alpha_.max() < 1e-6


def test_a_path_is_certified_in_any_units():
    X, y = load_wine(return_X_y=True)
    path = lam_path(X.astype(np.float32), y, lams=[1e-2, 1e-4, 1e-6], random_state=0)
    assert max(certificate.relative_gap for certificate in path.certificates) <= 1e-3


def test_paths_and_folds_of_huge_features_end_with_their_proof():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 6)) * 10.0 ** np.linspace(-2, 12, 6)
    y = np.where(X[:, 0] / 0.01 + X[:, 5] / 1e12 + 0.5 * random.normal(size=300) > 0, 1, 0)
    X = X.astype(np.float32)
    path = lam_path(X, y, lams=[1e-2, 1e-3, 1e-4, 1e-5, 1e-6], random_state=0)
    assert max(certificate.relative_gap for certificate in path.certificates) <= 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error", GapWarning)
        model = PegasosClassifierCV(lams=[1e-2, 1e-3], random_state=0).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
