"""Signals and time budgets within the native loops of kernels."""

import contextlib
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.deadline import TimeIsUp, check_deadline, within
from pegasos.estimators.warnings import GapWarning
from pegasos.kernels import DynamicTimeWarping, GlobalAlignment, Mismatch, RandomWalk, Subsequence

RANDOM = np.random.default_rng(0)
_SOON = 0.5  # seconds


def letters(n, length):
    return ["".join(RANDOM.choice(list("acgt"), length)) for _ in range(n)]


def ring(n):
    places = np.arange(n)
    matrix = np.zeros((n, n))
    for step in (1, 7):
        matrix[places, (places + step) % n] = matrix[(places + step) % n, places] = 1
    return matrix, list(RANDOM.integers(0, 2, n).astype(str))


def silent(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kernel(1.0)


LONG = {
    "alignments": (lambda: GlobalAlignment(1.0), lambda: [RANDOM.normal(size=400) for _ in range(300)]),
    "warpings": (lambda: silent(DynamicTimeWarping), lambda: [RANDOM.normal(size=1500) for _ in range(200)]),
    "walks": (lambda: RandomWalk(0.01), lambda: [ring(500) for _ in range(60)]),
    "one pair of long strings": (lambda: Subsequence(2), lambda: letters(2, 100_000)),
    "subsequences": (lambda: Subsequence(3), lambda: letters(80, 2000)),
}


@pytest.mark.parametrize("name", LONG)
def test_a_signal_ends_a_native_block_at_once(name):
    make, items = LONG[name]
    kernel, collection = make(), items()
    fired = []

    def fire():
        time.sleep(0.3)
        fired.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    def interrupted():
        kernel.block(collection, collection)
        time.sleep(1.0)  # the block may have been done before

    thread = threading.Thread(target=fire)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    ended = time.perf_counter()
    thread.join()
    assert ended - fired[0] < _SOON


@pytest.mark.parametrize("name", LONG)
def test_a_deadline_ends_a_native_block_at_once(name):
    make, items = LONG[name]
    kernel = make()
    collection = kernel.read(items())
    begun = time.perf_counter()
    try:
        with within(0.2):
            kernel.evaluate(collection, collection)
    except TimeIsUp:
        assert time.perf_counter() - begun < 0.2 + _SOON
    check_deadline()  # it is over with the block


@pytest.mark.parametrize("name", LONG)
def test_a_time_budget_is_kept_whatever_the_kernel(name):
    make, items = LONG[name]
    kernel, collection = make(), items()
    begun = time.perf_counter()
    with warnings.catch_warnings(), contextlib.suppress(PegasosError):  # where reading took all the time
        warnings.simplefilter("ignore")
        model = KernelPegasosClassifier(kernel, time_budget=0.4, random_state=0)
        model.fit(collection, np.arange(len(collection)) % 2)
    assert time.perf_counter() - begun < 0.4 + 4.0 * _SOON  # graphs are read before, and other tests run beside


def test_reading_ends_with_the_time():
    strings = letters(40, 1500)
    begun = time.perf_counter()
    with pytest.raises(PegasosError, match="time_budget"):
        KernelPegasosClassifier(Mismatch(6, 2, alphabet="acgt"), time_budget=0.3).fit(strings, [0, 1] * 20)
    assert time.perf_counter() - begun < 0.3 + _SOON


def test_deadlines_nest_and_the_nearer_one_counts():
    with within(None):
        check_deadline()
    with within(100.0), within(0.0), pytest.raises(TimeIsUp):
        check_deadline()
    with within(0.0), within(100.0), pytest.raises(TimeIsUp):
        check_deadline()
    check_deadline()


def test_probabilities_make_do_with_the_folds_there_is_time_for():
    X = RANDOM.normal(size=(400, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        model = PegasosClassifier(probability=True, time_budget=0.0, random_state=0).fit(X, X[:, 0] > 0.0)
    assert model.predict_proba(X).shape == (400, 2)
