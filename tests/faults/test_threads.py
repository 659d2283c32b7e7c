"""Fits and predictions in many threads, and in children of a process that had threads."""

import multiprocessing
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.kernels.base import n_threads
from pegasos.solvers.blas import one_thread_of_blas
from tests.faults.models import fingerprint, fitted, kinds, rows

THREADS = 8


def at_once(work, tasks):
    """The results of all tasks, each in a thread of its own that waits for the others to begin."""
    barrier = threading.Barrier(len(tasks))

    def begin(task):
        barrier.wait()
        return work(task)

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(begin, tasks))


def test_fits_of_all_kinds_at_once_equal_fits_one_after_the_other():
    every = list(kinds(n_jobs=2).values())
    assert at_once(fitted, every) == [fitted(kind) for kind in every]


@pytest.mark.parametrize("name", ["auto", "one against the rest", "kernel", "kernel pairs"])
def test_fits_of_one_kind_in_many_threads_are_equal(name):
    kind = kinds(n_jobs=2)[name]
    assert set(at_once(fitted, [kind] * THREADS)) == {fitted(kind)}


def test_many_threads_may_fit_one_linear_estimator_to_the_same_rows():
    make, X, y = kinds()["one against the rest"]
    model = make()
    at_once(lambda _: model.fit(X, y), range(THREADS))
    assert fingerprint(model, X) == fitted((make, X, y))


@pytest.mark.parametrize("name", ["many rows", "one against one", "probabilities", "kernel", "strings"])
def test_many_threads_may_ask_one_model(name):
    make, X, y = kinds(n_jobs=2)[name]
    model = make().fit(X, y)
    assert set(at_once(lambda _: fingerprint(model, X), range(THREADS))) == {fingerprint(model, X)}


def test_no_thread_is_left_behind():
    names = ["many rows", "one against the rest", "kernel pairs", "folds", "source"]
    for kind in (kinds(n_jobs=2)[name] for name in names):
        fitted(kind)  # BLAS may start threads of its own the first time
        before = n_threads_of_process()
        fitted(kind)
        deadline = time.monotonic() + 60.0  # the system may list a thread a little longer than it lives
        while n_threads_of_process() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert n_threads_of_process() <= before


def n_threads_of_process():
    """All of them where the system tells; those of Python elsewhere."""
    return len(os.listdir("/proc/self/task")) if sys.platform == "linux" else threading.active_count()


def test_fits_at_once_leave_blas_its_threads():
    before = [library["num_threads"] for library in threadpool_info()]
    first, second = one_thread_of_blas(), one_thread_of_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}
    second.__exit__(None, None, None)
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("name", ["many rows", "one against the rest", "kernel"])
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_child_fits_after_its_parent_did(method, name):
    expected = fitted(kinds(n_jobs=2)[name])
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(fitted_by_name, [name]).get(timeout=300) == expected


def fitted_by_name(name):
    """The function that a child calls, by name, because functions cannot be sent."""
    return fitted(kinds(n_jobs=2)[name])


@pytest.mark.slow
def test_workers_of_joblib_fit_what_their_parent_fits():
    X, y = rows()
    models = [PegasosClassifier(random_state=seed, n_jobs=-1) for seed in range(4)]
    here = [fingerprint(model.fit(X, y), X) for model in models]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(fit_elsewhere)(model, X, y) for model in models)
    assert there == here


def fit_elsewhere(model, X, y):
    """The fit of a worker."""
    return fingerprint(model.fit(X, y), X)


@pytest.mark.slow
def test_kernels_in_workers_of_joblib_take_no_more_threads_than_those_are_given():
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        assert joblib.Parallel()(joblib.delayed(n_threads)() for _ in range(2)) == [1, 1]


@pytest.mark.parametrize(("limit", "expected"), [("1", 1), ("1,4", 1), ("0", 1), ("", None), ("many", None)])
def test_threads_of_kernels_are_limited_as_those_of_openmp(monkeypatch, limit, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    unlimited = n_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert n_threads() == (expected or unlimited)


def test_as_many_fits_as_threads_predict_while_others_fit():
    X, y = rows()
    y = y % 2
    model = KernelPegasosClassifier(lam=1e-3, random_state=0).fit(X, y)
    expected = model.decision_function(X)

    def work(k):
        if k % 2:
            return PegasosClassifier(random_state=k).fit(X, y).decision_function(X) is not None
        return np.array_equal(model.decision_function(X), expected)

    assert all(at_once(work, range(THREADS)))
