"""The certificate of a kernel machine speaks of the kernel, not of what rounding made of it."""

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier, PegasosError
from pegasos.gram import KernelRows
from pegasos.kernels import RBF, Subsequence, as_kernel
from pegasos.solution import Status


def rows_and_labels(n, *, offset=0.0, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = random.random(n) < 1.0 / (1.0 + np.exp(-3.0 * X[:, 0]))
    return (X + offset).astype(dtype), y


def exact_gap(model, X, y, gamma, lam):
    """The relative gap of coefficients and dual point, with the kernel from differences, in the longest numbers."""
    X = X.astype(np.longdouble)
    sign = np.where(y, 1, -1)
    n = len(y)
    kernel = np.exp(-gamma * np.square(X[:, None, :] - X[None]).sum(axis=-1)) + 1
    weights = np.zeros(n, np.longdouble)
    weights[model.support_] = model.dual_coef_[0]
    of_alpha = sign * model.alpha_ / (lam * n)
    scores = kernel @ weights
    primal = lam / 2 * (weights @ scores) + np.maximum(0, 1 - sign * scores).mean()
    dual = model.alpha_.mean() - lam / 2 * (of_alpha @ kernel @ of_alpha)
    return float((primal - dual) / primal)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_the_gap_is_that_of_the_kernel_however_far_the_rows_are_from_zero(offset, dtype):
    X, y = rows_and_labels(200, offset=offset, dtype=dtype)
    model = KernelPegasosClassifier(gamma=1.0, lam=1e-3, random_state=0).fit(X, y)
    assert exact_gap(model, X, y, 1.0, 1e-3) == pytest.approx(model.certificate_.relative_gap, abs=1e-5)


@pytest.mark.parametrize(("lam", "tol"), [(1e-5, 1e-5), (1e-7, 1e-3)])
def test_weak_regularization_of_single_precision_rows_continues_in_double(lam, tol):
    X, y = rows_and_labels(300, dtype=np.float32)
    model = KernelPegasosClassifier(gamma=1.0, lam=lam, tol=tol, max_iter=10_000, random_state=0).fit(X, y)
    assert exact_gap(model, X, y, 1.0, lam) <= tol


def test_a_composite_kernel_of_single_precision_rows_is_computed_in_double():
    X, y = rows_and_labels(200, dtype=np.float32)
    model = KernelPegasosClassifier(1.0 * RBF(1.0), lam=1e-4, tol=1e-8, max_iter=10_000, random_state=0).fit(X, y)
    assert exact_gap(model, X, y, 1.0, 1e-4) <= 1e-8


def test_rows_whose_squares_overflow_are_refused_or_computed_in_double():
    X, y = rows_and_labels(30)
    with pytest.raises(PegasosError, match="scale the rows down"):
        KernelPegasosClassifier(gamma=1.0).fit(1e200 * X, y)
    block = RBF(gamma=1e-40).block((1e20 * X).astype(np.float32), (1e20 * X).astype(np.float32))
    np.testing.assert_allclose(block, RBF(gamma=1.0).block(X, X), rtol=1e-5)


def test_a_matrix_that_no_kernel_has_is_refused_wherever_that_shows():
    X, y = rows_and_labels(300)
    good = RBF(1.0).block(X, X)
    for row, column, value, sentence in ((3, 7, 0.5, "not symmetric"), (250, 260, 50.0, "exceeds")):
        bad = good.copy()
        bad[row, column] = value
        if sentence == "exceeds":
            bad[column, row] = value
        with pytest.raises(PegasosError, match=sentence):
            KernelPegasosClassifier("precomputed").fit(bad, y)
    with pytest.raises(PegasosError, match="order of its arguments"):
        KernelPegasosClassifier(2 * as_kernel(lambda x, z: x[0])).fit(X, y)


def test_an_interrupt_between_the_parts_of_a_table_leaves_no_wrong_column():
    X, _ = rows_and_labels(1200)
    kernel = RBF(1.0)
    rows = KernelRows.of(kernel, kernel.read(X), 0.0, cache_bytes=1e9, double=True)
    rows.columns.load(np.arange(100, 200))
    rows.columns.is_whole = False  # as an interrupt in the middle leaves it
    rows.columns.order[:50], rows.columns.place_of[:50] = 0, 0
    weights = np.random.default_rng(0).normal(size=1200)
    np.testing.assert_allclose(rows.scores(weights)[:-1], kernel.block(X, X) @ weights, rtol=1e-9)


def test_a_budget_on_support_vectors_does_not_hide_why_a_fit_ended():
    X, y = rows_and_labels(300)
    with pytest.warns(UserWarning, match="max_iter epochs ended"):
        model = KernelPegasosClassifier(gamma=1.0, max_support=5, max_iter=1, tol=1e-9).fit(X, y)
    assert Status.EPOCHS.value in model.status_
    assert len(model.support_) == 5


def test_a_refused_parameter_leaves_the_kernel_as_it_was():
    kernel = RBF(gamma=2.0)
    with pytest.raises(PegasosError):
        kernel.set_params(gamma=-1.0)
    assert kernel == RBF(gamma=2.0)


def test_a_subsequence_longer_than_every_string_has_no_match():
    assert Subsequence(k=2**50, decay=1.0).block(["abcab"], ["abca"]).item() == 0.0


def test_a_warm_start_after_a_stream_starts_over():
    X, y = rows_and_labels(60)
    model = KernelPegasosClassifier(solver="pegasos", warm_start=True, max_iter=2, tol=None, random_state=0)
    model.partial_fit(X, y, classes=[False, True])
    assert model.fit(X, y).n_iter_ == 2


def test_columns_that_make_room_leave_the_others_right():
    X, _ = rows_and_labels(3000)
    kernel = RBF(1.0)
    rows = KernelRows.of(kernel, kernel.read(X), 1.0, cache_bytes=1.0, double=True)  # two blocks at least
    random = np.random.default_rng(0)
    rows.columns.load(random.permutation(3000))
    full = rows.columns.n_kept
    assert full < 3000
    stay = random.permutation(np.flatnonzero(rows.columns.slot_of >= 0))[: full // 3]
    rows.columns.keep_only(np.concatenate([stay, np.flatnonzero(rows.columns.slot_of < 0)[:10]]))
    assert rows.columns.n_kept == len(stay)
    assert set(np.flatnonzero(rows.columns.slot_of >= 0)) == set(stay)
    rows.columns.keep_only(stay[:5])  # there is room: nobody has to go
    assert rows.columns.n_kept == len(stay)
    weights = random.normal(size=3000)
    np.testing.assert_allclose(rows.scores(weights)[:-1], (kernel.block(X, X) + 1.0) @ weights, rtol=1e-9)
