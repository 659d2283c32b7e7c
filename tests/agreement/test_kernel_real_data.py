"""Kernel machines on real data: accuracies that others reach too. Needs the folder named by PEGASOS_DATA."""

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.kernels import GlobalAlignment, Spectrum, WeisfeilerLehman

FOLDER = os.environ.get("PEGASOS_DATA")
pytestmark = pytest.mark.skipif(not FOLDER, reason="PEGASOS_DATA does not name a folder with the data sets")


def read(name):
    with np.load(Path(FOLDER) / f"{name}.npz", allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


@pytest.fixture(scope="module")
def fashion():
    arrays = read("fashion_mnist")

    def pair(one, other, n_a_class):
        train = np.concatenate(
            [np.flatnonzero((arrays["y"] == label) & (arrays["split"] == 0))[:n_a_class] for label in (one, other)]
        )
        test = np.flatnonzero(np.isin(arrays["y"], [one, other]) & (arrays["split"] == 1))
        return [part for rows in (train, test) for part in (arrays["X"][rows] / np.float32(255), arrays["y"][rows])]

    return pair


def graphs_of(name):
    arrays = read(name)
    starts, edges = arrays["graph_ptr"], arrays["edges"]
    graph_of = np.searchsorted(starts, edges[0], side="right") - 1
    graphs = []
    for number, (begin, end) in enumerate(pairwise(starts)):
        one, other = edges[:, graph_of == number] - begin
        places = np.concatenate([one, other]), np.concatenate([other, one])
        adjacency = sp.csr_array((np.ones(len(places[0])), places), shape=(end - begin, end - begin))
        graphs.append((adjacency, arrays["node_labels"][begin:end].tolist()))
    return graphs, arrays["y"]


def accuracy_in_ten_folds(kernel, items, y, C):
    matrix = kernel.block(items, items)
    accuracies = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(matrix, y):
        model = KernelPegasosClassifier("precomputed", C=C, random_state=0).fit(matrix[np.ix_(train, train)], y[train])
        assert model.certificate_.relative_gap <= 1e-3
        accuracies.append(model.score(matrix[np.ix_(test, train)], y[test]))
    return np.mean(accuracies)


@pytest.mark.parametrize(("one", "other", "least"), [(0, 1, 0.975), (1, 8, 0.985), (5, 8, 0.985), (2, 7, 0.995)])
def test_easy_pairs_of_fashion_mnist_are_nearly_linear(fashion, one, other, least):
    X, y, test_X, test_y = fashion(one, other, 1000)
    model = PegasosClassifier(C=0.01, random_state=0).fit(X, y)
    assert model.score(test_X, test_y) >= least


@pytest.mark.parametrize(("one", "other"), [(0, 6), (5, 7)])
def test_rbf_predicts_as_well_as_libsvm_and_better_than_linear(fashion, one, other):
    X, y, test_X, test_y = fashion(one, other, 1000)
    model = KernelPegasosClassifier("rbf", C=10, gamma=0.02, random_state=0).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
    accuracy = model.score(test_X, test_y)
    # Out of 2,000 test rows: the intercept is regularized here and free there.
    assert accuracy >= SVC(C=10, gamma=0.02).fit(X, y).score(test_X, test_y) - 0.0025
    assert accuracy > PegasosClassifier(C=0.01, random_state=0).fit(X, y).score(test_X, test_y)


def test_a_width_far_below_the_distances_predicts_one_class(fashion):
    X, y, test_X, test_y = fashion(5, 7, 200)
    kernel = KernelPegasosClassifier("rbf", C=0.005, gamma=2.0, random_state=0)
    assert kernel.fit(X * 255, y).score(test_X * 255, test_y) == 0.5


def test_promoters_are_told_by_their_words():
    arrays = read("promotergene")
    strings = bytes(arrays["strings__txt"]).decode("utf8").split("\0")
    assert accuracy_in_ten_folds(Spectrum(4).normalized(), strings, arrays["y"], C=10) >= 0.85


def test_subtree_patterns_tell_mutagens():
    graphs, y = graphs_of("graph_mutag")
    assert accuracy_in_ten_folds(WeisfeilerLehman(1).normalized(), graphs, y, C=100) >= 0.80


@pytest.mark.slow
def test_subtree_patterns_on_thousands_of_molecules():
    graphs, y = graphs_of("graph_nci1")
    assert accuracy_in_ten_folds(WeisfeilerLehman(5).normalized(), graphs, y, C=10) >= 0.82


def test_alignments_beat_the_nearest_neighbor():
    arrays = read("ucr_gunpoint")
    X, y, train = arrays["X"].astype(np.float64), arrays["y"], arrays["split"] == 0
    differences = np.abs(X[train].ravel()[::7, np.newaxis] - X[train].ravel()[::11])
    kernel = GlobalAlignment(sigma=0.5 * float(np.median(differences)) * X.shape[1] ** 0.5)
    model = KernelPegasosClassifier(kernel, C=10, random_state=0).fit(list(X[train]), y[train])
    neighbor = KNeighborsClassifier(1).fit(X[train], y[train])
    assert model.score(list(X[~train]), y[~train]) > neighbor.score(X[~train], y[~train])
