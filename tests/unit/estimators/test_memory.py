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
def test_dual_ascent_takes_no_more_than_16_bytes_a_row(rows, n_jobs):
    """Order, alpha, squared length, sign: 13 bytes. The labels that the signs come from take no more before."""
    X, score = rows
    model = PegasosClassifier(1e-3, solver="dual", n_jobs=n_jobs, random_state=0)
    assert bytes_a_row(model, X, score > 0.0) < 16.0


def test_a_dual_point_in_single_precision_is_the_one_that_was_certified(rows):
    X, score = rows[0][:2000], rows[1][:2000]
    y = np.where(score + 0.3 * X[:, 2] > 0.0, 1, -1)
    for class_weight, dtype in ((None, np.float32), ({1: 0.1}, np.float64)):  # 0.1 is not representable in float32
        model = PegasosClassifier(1e-3, solver="dual", class_weight=class_weight, random_state=0).fit(X, y)
        assert model.alpha_.dtype == dtype
        assert (model.alpha_ <= np.where((y == 1) & (class_weight is not None), 0.1, 1.0)).all()
        again = model.certify(X, y)
        assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-12)


def test_a_fit_that_fails_leaves_the_dual_point_of_the_last_one(rows):
    X, y = rows[0][:2000], rows[1][:2000] > 0.0

    def fail(*_, **__):
        raise RuntimeError

    model = PegasosClassifier(1e-3, solver="dual", warm_start=True, random_state=0).fit(X, y)
    before = model.alpha_.copy()
    model.set_params(lam=1e-5, verbose=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", fail)
        with pytest.raises(RuntimeError):
            model.fit(X, y)
    np.testing.assert_array_equal(model.alpha_, before)


def test_a_class_more_takes_no_more_than_its_alpha_and_its_signs(rows):
    """Alpha twice, while those of all classes are put together; not the state of its solver."""
    X, score = rows
    model = PegasosClassifier(1e-3, solver="dual", random_state=0)
    few, many = (bytes_a_row(model, X, np.digitize(score, np.linspace(-1, 1, n - 1))) for n in (3, 6))
    assert many - few < 3 * 20.0
