"""How many threads solve several problems by default: all processors, and one where others are at work already."""

import joblib
import numpy as np
import pytest

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.machines import solving
from pegasos.problem import Problem, Rows

RNG = np.random.default_rng(0)


def problems_of(n_rows, n_problems):
    rows = Rows.of(RNG.normal(size=(n_rows, 64)), 1.0)
    sign = np.where(RNG.random(n_rows) < 0.5, 1, -1).astype(np.int8)
    return [Problem.plain(rows, sign, 1e-2)] * n_problems


def default(n_rows, n_problems):
    return solving.threads_of_problems(None, problems_of(n_rows, n_problems))


@pytest.fixture(autouse=True)
def eight_processors(monkeypatch):
    monkeypatch.setattr(solving, "n_processors", lambda: 8)


def test_large_problems_share_the_processors_and_small_ones_do_not():
    assert default(5000, 4) == 8
    assert default(50, 4) == 1
    assert default(50_000, 1) == 1  # whose bits depend on it
    assert solving.threads_of_problems(3, problems_of(50, 4)) == 3


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_of_joblib_use_one_thread(backend):
    found = joblib.Parallel(2, backend=backend)(joblib.delayed(default)(5000, 4) for _ in range(2))
    assert found == [1, 1]
    with joblib.parallel_config("threading", n_jobs=3):
        assert default(50, 4) == 3


def test_the_number_of_threads_changes_no_bit():
    X = RNG.normal(size=(4000, 100))
    y = np.argmax(X[:, :5] + 0.5 * RNG.normal(size=(4000, 5)), axis=1)
    assert default(4000, 5) == 8
    one, many = (PegasosClassifier(lam=1e-2, n_jobs=n, random_state=0).fit(X, y) for n in (1, None))
    assert np.array_equal(one.coef_, many.coef_)
    assert np.array_equal(one.alpha_, many.alpha_)


def test_the_number_of_threads_changes_no_bit_of_pairs_with_a_kernel():
    X = RNG.normal(size=(1500, 8))
    y = np.argmax(X[:, :5] + 0.5 * RNG.normal(size=(1500, 5)), axis=1)
    assert solving.threads_of_several(None) == 8
    models = [
        KernelPegasosClassifier(multi_class="ovo", regularize_intercept=False, n_jobs=n, C=1.0).fit(X, y)
        for n in (1, None)
    ]
    one, many = models
    assert np.array_equal(one.decision_function(X), many.decision_function(X))
    assert one.certificate_ == many.certificate_
