"""Probabilities on partitions: those of the fit in memory, the same bits however the rows are cut or placed."""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import log_loss

import pegasos
from pegasos import PegasosError
from pegasos.dask import PegasosClassifier
from pegasos.distributed import held_out
from pegasos.distributed.held_out import keys_of_rows
from pegasos.solvers import partitioned_newton


@pytest.fixture(autouse=True)
def _in_this_thread(monkeypatch):
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)  # data as small as this would be gathered as a whole
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n=3000, n_classes=2):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5))
    scores = X[:, :n_classes] + 0.7 * random.normal(size=(n, n_classes))
    return X, np.array(["ash", "elm", "fir"])[scores.argmax(axis=1)]


def cut(X, y, n=4):
    return [[dask.delayed(part) for part in np.array_split(column, n)] for column in (X, y)]


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(("n_classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "ovo")])
def test_probabilities_are_those_of_the_fit_in_memory(kind, n_classes, multi_class):
    X, y = data(n_classes=n_classes)
    settings = {"lam": 1e-3, "probability": kind, "multi_class": multi_class, "random_state": 0}
    model = PegasosClassifier(**settings, class_weight="balanced").fit(*cut(X, y))
    local = pegasos.PegasosClassifier(**settings, class_weight="balanced").fit(X, y)
    new, labels = data(6000, n_classes)[0][3000:], data(6000, n_classes)[1][3000:]
    mine, its = model.predict_proba(new), local.predict_proba(new)
    np.testing.assert_allclose(mine.sum(axis=1), 1.0)
    assert np.abs(mine - its).mean() < (0.02 if kind == "isotonic" else 0.01)  # other folds
    assert log_loss(labels, mine) < log_loss(labels, its) * 1.02
    np.testing.assert_array_equal(model.predict_proba(cut(new, labels)[0]).compute(), mine)
    np.testing.assert_array_equal(model.to_local().predict_proba(new), mine)


def test_the_fit_is_the_one_without_probabilities_and_folds_share_its_passes():
    X, y = data()
    with_them = PegasosClassifier(lam=1e-3, probability=True, random_state=0).fit(*cut(X, y))
    without = PegasosClassifier(lam=1e-3, random_state=0).fit(*cut(X, y))
    assert with_them.certificate_ == without.certificate_
    np.testing.assert_array_equal(with_them.coef_, without.coef_)
    assert with_them.n_passes_ <= 2 * without.n_passes_
    assert hasattr(with_them, "predict_proba")
    assert not hasattr(without, "predict_proba")


def test_a_sample_weight_is_equivalent_to_repeating_the_row():
    X, y = data(400)
    weights = 1.0 + np.arange(400) % 3
    twice = np.repeat(np.arange(400), weights.astype(int))
    settings = {"lam": 1e-2, "tol": 1e-8, "probability": True, "random_state": 0}
    blocks, labels = cut(X, y)
    weighted = PegasosClassifier(**settings).fit(blocks, labels, [dask.delayed(w) for w in np.array_split(weights, 4)])
    repeated = PegasosClassifier(**settings).fit(*cut(X[twice], y[twice], 7))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)


def test_a_histogram_stands_for_its_scores():
    random = np.random.default_rng(0)
    scores, weights = random.normal(size=5000), random.uniform(0.5, 2.0, 5000)
    is_positive = scores + random.normal(size=5000) > 0
    whole = held_out._histogram(scores, is_positive, weights)
    cuts = [held_out._histogram(*(column[k::3] for column in (scores, is_positive, weights))) for k in range(3)]
    merged = held_out._added(cuts)
    np.testing.assert_array_equal(whole.keys, merged.keys)
    np.testing.assert_allclose(whole.scores, merged.scores, rtol=1e-12)
    assert whole.weights.sum() == pytest.approx(weights.sum())
    assert len(whole.keys) < len(scores)
    for label in (False, True):
        mine = np.sort(whole.scores[whole.is_positive == label])
        nearest = np.abs(mine[:, None] - scores[is_positive == label]).min(axis=0)
        assert (nearest <= 2.0**-7 * np.abs(scores[is_positive == label])).all()


def test_folds_follow_from_values_alone():
    X = np.round(np.random.default_rng(0).normal(size=(999, 7)), 1)
    X[X < 0.3] = 0.0
    X[5], X[500] = X[7], X[7]
    keys = keys_of_rows(X)
    assert keys[5] == keys[500] == keys[7]
    np.testing.assert_array_equal(keys, np.concatenate([keys_of_rows(X[:100]), keys_of_rows(X[100:])]))
    np.testing.assert_array_equal(keys, keys_of_rows(sp.csr_matrix(X)))
    np.testing.assert_array_equal(keys, keys_of_rows(np.where(X == 0.0, -0.0, X)))
    one_hot = keys_of_rows(np.eye(1000))
    for found in (keys, one_hot):
        assert (np.abs(np.bincount(found % 5, minlength=5) - len(found) / 5) < 60).all()


def test_too_few_rows_for_folds_are_an_error():
    X, y = data(100)
    rare = np.where(np.arange(100) == 3, "oak", y)
    with pytest.raises(PegasosError, match="'oak' has only 1"):
        PegasosClassifier(probability=True).fit(*cut(X, rare))


def test_probabilities_along_a_path():
    X, y = data(800)
    models = PegasosClassifier(probability=True, random_state=0).path(*cut(X, y), lams=[1e-1, 1e-3])
    for lam, model in zip([1e-1, 1e-3], models, strict=True):
        alone = PegasosClassifier(lam=lam, probability=True, random_state=0).fit(
            da.from_array(X, (200, 5)), da.from_array(y, 200)
        )
        np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=0.02)
