"""Input that no model can learn from: an error message each, never a crash, and no message of numpy's."""

import os
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos
from pegasos import (
    AutoPegasos,
    KernelPegasosClassifier,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosError,
    PegasosOneClass,
    svm,
)
from pegasos.kernels import RBF, as_kernel
from pegasos.problem import Rows, check_structure

Y = [0, 1] * 20


def broken(kind, form=sp.csr_matrix):
    X = form(np.ones((40, 6)))
    if kind == "negative":
        X.indices[:] = -1
    elif kind == "beyond":
        X.indices[3] = max(X.shape)
    elif kind == "falling":
        X.indptr[5] = 0
    else:
        X.indptr[-1] = 10**6
    return X


BROKEN = ("negative", "beyond", "falling", "too long")


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize(
    "model",
    [
        KernelPegasosClassifier(),
        KernelPegasosClassifier("laplacian"),
        KernelPegasosClassifier("chi2"),
        KernelPegasosClassifier(as_kernel(lambda x, z: float((x @ z.T).sum()))),
        PegasosClassifier(),
        PegasosClassifierCV(),
        AutoPegasos(1.0),
    ],
    ids=lambda model: str(model)[:45],
)
def test_a_broken_sparse_matrix_is_refused_before_anything_follows_its_indices(model, kind):
    with pytest.raises(PegasosError, match="not a valid"):
        model.fit(broken(kind), Y)


@pytest.mark.parametrize("form", [sp.csc_matrix, sp.bsr_matrix])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_matrix_of_another_form_is_refused_before_it_is_converted(form, kind):
    with pytest.raises(PegasosError, match="not a valid"):
        PegasosClassifier().fit(broken(kind, form), Y)
    with pytest.raises(PegasosError, match="not a valid"):
        RBF(1.0).block(broken(kind, form), broken(kind, form))


def test_a_broken_matrix_of_triples_is_refused():
    X = sp.coo_matrix(np.ones((40, 6)))
    X.col[:] = 10**6
    with pytest.raises(PegasosError, match="not a valid"):
        check_structure(X)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_block_of_a_kernel_stream_is_refused(kind):
    with pytest.raises(PegasosError, match="not a valid"):
        KernelPegasosClassifier().partial_fit(broken(kind), Y, classes=[0, 1])


@pytest.mark.parametrize("kind", ["fifo", "device"])
@pytest.mark.parametrize("load", [pegasos.load], ids=["load"])
def test_what_is_not_a_file_is_not_waited_for(load, kind, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(PegasosError, match="not a file"):
        load(path if kind == "fifo" else "/dev/zero")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(40, 5e-324), "at least 1e-300"),
        (np.r_[np.ones(30), np.full(10, 5e-324)], "at least 1e-300"),
        (np.full(40, 1e308), "finite sum"),
        (["1"] * 40, "must be numbers"),
        (np.ones(40, complex), "must be numbers"),
        (np.ma.masked_array(np.ones(40), [True] + [False] * 39), "masked"),
        ([10**400] * 40, "must be numbers"),
    ],
    ids=["subnormal", "partly subnormal", "overflowing", "strings", "complex", "masked", "huge"],
)
def test_invalid_weights_are_refused(weights, message):
    X = np.random.default_rng(0).normal(size=(40, 3))
    for model in (PegasosClassifier(), KernelPegasosClassifier(gamma=1.0)):
        with pytest.raises(PegasosError, match=message):
            model.fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("labels", "message"), [([None, "a"] * 20, "None"), (["a", 1] * 20, "mixes"), ([(1, 2), "a"] * 20, "y")], ids=str
)
def test_labels_that_cannot_be_put_in_order_are_refused(labels, message):
    y = np.empty(40, object)
    y[:] = labels
    X = np.random.default_rng(0).normal(size=(40, 3))
    for model in (PegasosClassifier(), KernelPegasosClassifier(gamma=1.0)):
        with pytest.raises((PegasosError, ValueError), match=message):
            model.fit(X, y)


@pytest.mark.parametrize("name", ["lam", "C", "tol", "max_iter", "time_budget", "intercept_scaling"])
@pytest.mark.parametrize("value", [10**400, 10**5000], ids=["400 digits", "5000 digits"])
def test_parameters_beyond_every_number_of_the_machine_are_refused(name, value):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(PegasosError, match=name):
        PegasosClassifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("lams", [2**63, 2**40])
def test_a_path_of_more_lams_than_anybody_needs_is_refused(lams):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(PegasosError, match="lams"):
        PegasosClassifierCV(lams=lams).fit(X, Y)


def test_more_features_than_there_is_memory_for_are_refused():
    X = sp.csr_matrix((np.ones(40), np.arange(40), np.arange(41)), shape=(40, 2**31 - 1))
    with pytest.raises(PegasosError, match="hash or select"):
        PegasosClassifierCV().fit(X, Y)


@pytest.mark.parametrize("change", [{"intercept_scaling": 2.0}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize(
    "make", [PegasosClassifier, lambda: KernelPegasosClassifier(gamma=1.0)], ids=["linear", "kernel"]
)
def test_a_stream_whose_intercept_would_mean_something_else_is_refused(make, change):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = make().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(PegasosError, match="intercept"):
        model.set_params(**change).partial_fit(X, Y)
    assert model.set_params(intercept_scaling=1.0, fit_intercept=True).partial_fit(X, Y) is model


def test_a_hard_margin_below_what_is_looked_for_is_said_to_be_that():
    model = PegasosClassifier(C=np.inf, regularize_intercept=False)
    with pytest.warns(UserWarning, match="No margin is above 1e-5 of the longest row"):
        model.fit([[0.0], [0.001], [1000.0]], [0, 1, 1])


@pytest.mark.parametrize("scale", [1e-15, 1e-8, 1.0])
def test_planes_are_cut_whatever_the_scale(scale):
    random = np.random.default_rng(0)
    for seed in range(10):
        X = scale * np.random.default_rng(seed).normal(size=(10, 2))
        model = PegasosClassifier(solver="cutting_plane", lam=10.0 ** random.uniform(-9, 2), tol=None, max_iter=30)
        assert model.fit(X, [0, 1] * 5).certificate_.is_finite


def test_planes_of_few_rows_take_little_time():
    X = np.random.default_rng(0).normal(size=(10, 2))
    begun = time.perf_counter()
    PegasosClassifier(solver="cutting_plane", lam=1e-6, tol=None, max_iter=300).fit(X, [0, 1] * 5)
    assert time.perf_counter() - begun < 10.0


def test_indices_that_another_thread_changes_are_noticed():
    X = sp.random(2000, 50, density=0.2, format="csr", random_state=0)
    rows = Rows.of(X, 1.0)
    rows.check_unchanged()
    changer = threading.Thread(target=X.indices.__setitem__, args=(7, 50))
    changer.start()
    changer.join()
    with pytest.raises(PegasosError, match="another thread"):
        rows.check_unchanged()


def test_a_model_of_an_indefinite_kernel_is_not_called_proved():
    random = np.random.default_rng(0)
    matrix = random.normal(size=(40, 40))
    matrix = 0.5 * (matrix + matrix.T) + 3.0 * np.eye(40)
    assert np.linalg.eigvalsh(matrix)[0] < 0.0
    model = KernelPegasosClassifier("precomputed", lam=1.0, max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(matrix, Y)
    assert model.status_.startswith("The kernel is not positive semi-definite")
    assert "proved" not in model.status_


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("lam", [1e-308, 1e-100, 1e-12, 1e300])
@pytest.mark.parametrize("weight", [1e-300, 1e-150, 1e290])
@pytest.mark.parametrize("estimator", [PegasosClassifier, KernelPegasosClassifier])
@pytest.mark.filterwarnings("ignore")
def test_products_out_of_range_are_refused_or_end_without_a_crash(estimator, weight, lam, multi_class):
    X, y = np.random.default_rng(0).normal(size=(9, 2)), np.repeat([0, 1, 2], 3)
    model = estimator(lam=lam, multi_class=multi_class, max_iter=100)
    weights = np.repeat([1.0, weight, weight], 3)
    totals = [6 * weight, 3 + 3 * weight] if multi_class == "ovo" else [3 + 6 * weight]
    if all(1e-305 <= lam * total < np.inf for total in totals):
        assert not np.isnan(model.fit(X, y, sample_weight=weights).certificate_.relative_gap)
    else:
        with pytest.raises(PegasosError, match="times the total sample weight"):
            model.fit(X, y, sample_weight=weights)


@pytest.mark.filterwarnings("ignore")
def test_a_search_for_nu_ends_where_products_overflow():
    X = np.random.default_rng(0).normal(size=(30, 4)) * 1e200
    assert "Scale the features" in PegasosOneClass(nu=0.3).fit(X).status_


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("make", [svm.SVC, svm.LinearSVC, svm.SVR, svm.OneClassSVM])
def test_broken_matrices_are_refused_by_the_names_of_scikit_learn(make, form):
    X = sp.random(40, 6, density=0.5, format=form, random_state=0)
    (X.row if form == "coo" else X.indices)[:] = -1
    with pytest.raises(ValueError, match="not a valid"):
        make().fit(X, Y)


@pytest.mark.filterwarnings("ignore")
def test_rows_whose_kernel_values_overflow_are_refused_as_by_scikit_learn():
    X = np.random.default_rng(0).normal(size=(20, 2)) * 1e160
    with pytest.raises(ValueError, match="large values"):
        svm.SVC(kernel="linear", max_iter=100).fit(X, Y[:20])
