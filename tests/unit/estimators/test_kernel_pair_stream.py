"""Kernel streams with one problem per pair of classes."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pegasos import KernelPegasosClassifier

PAIRS = [(0, 1), (0, 2), (1, 2)]


def blocks(seed=0, n=240):
    X, y = make_blobs(n, centers=3, cluster_std=2.5, random_state=seed)
    return np.split(X, 4), np.split(y, 4)


def new(**settings):
    return KernelPegasosClassifier(gamma=0.1, lam=1e-2, random_state=0, **settings)


def test_every_pair_learns_as_if_its_two_classes_were_the_only_ones():
    model, alone = new(multi_class="ovo"), [new() for _ in PAIRS]
    for X, y in zip(*blocks(), strict=True):
        model.partial_fit(X, y, classes=[0, 1, 2])
        for binary, pair in zip(alone, PAIRS, strict=True):
            mine = np.isin(y, pair)
            binary.partial_fit(X[mine], y[mine], classes=pair)
    X = np.concatenate(blocks(seed=5)[0])
    scores = model.fitted_.scores(model._read_new(X))
    for k, binary in enumerate(alone):
        np.testing.assert_allclose(scores[:, k], binary.decision_function(X), rtol=1e-9, atol=1e-9)
        assert model.certificate_.parts[k].primal == pytest.approx(binary.certificate_.primal, rel=1e-9)
        assert model.certificate_.parts[k].dual == pytest.approx(binary.certificate_.dual, rel=1e-9)


def test_the_stream_learns_and_its_certificate_is_that_of_the_last_block():
    model = new(multi_class="ovo", solver="pegasos")
    for X, y in zip(*blocks(), strict=True):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert model.score(X, y) > 0.75
    again = model.certify(X, y)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-9)


def test_a_pair_without_rows_in_a_block_keeps_what_it_has():
    (first, *_), (y, *_) = blocks()
    model = new(multi_class="ovo").partial_fit(first, y, classes=[0, 1, 2])
    before, proved = model.fitted_.scores(model._read_new(first)), model.certificate_.parts
    model.partial_fit(first[y == 2], y[y == 2])
    after = model.fitted_.scores(model._read_new(first))
    np.testing.assert_allclose(after[:, 0], before[:, 0], rtol=1e-12)
    assert np.abs(after[:, 1] - before[:, 1]).max() > 1e-3
    assert model.certificate_.parts[0].gap == proved[0].gap
    copy = pickle.loads(pickle.dumps(model)).partial_fit(first, y)
    np.testing.assert_array_equal(copy.decision_function(first), model.partial_fit(first, y).decision_function(first))


def test_a_block_without_weight_for_a_pair_changes_nothing_of_it():
    (first, *_), (y, *_) = blocks()
    model = new(multi_class="ovo").partial_fit(first, y, classes=[0, 1, 2])
    before = model.fitted_.scores(model._read_new(first))
    model.partial_fit(first, y, sample_weight=(y == 2).astype(float))
    np.testing.assert_allclose(model.fitted_.scores(model._read_new(first))[:, 0], before[:, 0], rtol=1e-12)


def test_averages_of_pairs_are_refused():
    model = new(multi_class="ovo", average="tail")
    assert not hasattr(model, "partial_fit")
    assert "average='tail'" in model._why_not_a_stream()
