"""What a fit takes beside the rows themselves."""

import tracemalloc

import numpy as np
import pytest

from pegasos import PegasosClassifier

N, D = 100_000, 4


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
    return X, X[:, 0] + 0.3 * X[:, 1] ** 2


def bytes_a_row(model, X, y):
    model.fit(X[:200], y[:200])  # what is imported when it is needed is not counted
    tracemalloc.start()
    try:
        model.fit(X, y)
        return tracemalloc.get_traced_memory()[1] / len(y)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_dual_ascent_takes_29_bytes_a_row(rows, n_jobs):
    """Order, step, alpha in single precision, a squared length, a sign, and in the end alpha in double."""
    X, score = rows
    model = PegasosClassifier(1e-3, solver="dual", n_jobs=n_jobs, random_state=0)
    assert bytes_a_row(model, X, score > 0.0) < 30.0


def test_a_class_more_takes_no_more_than_its_alpha_and_its_signs(rows):
    """Alpha twice, while those of all classes are put together; not the state of its solver."""
    X, score = rows
    model = PegasosClassifier(1e-3, solver="dual", random_state=0)
    few, many = (bytes_a_row(model, X, np.digitize(score, np.linspace(-1, 1, n - 1))) for n in (3, 6))
    assert many - few < 3 * 20.0
