"""`multi_class="auto"`: pairs for a linear machine of some classes, otherwise one class against the rest."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError

X, Y = load_iris(return_X_y=True)


def test_a_linear_machine_takes_pairs_and_a_kernel_machine_the_rest():
    linear = PegasosClassifier(lam=1e-2, multi_class="auto", random_state=0).fit(X, Y)
    pairs = PegasosClassifier(lam=1e-2, multi_class="ovo", random_state=0).fit(X, Y)
    assert linear.fitted_.task.name == "ovo"
    assert np.array_equal(linear.coef_, pairs.coef_)
    kernel = KernelPegasosClassifier(lam=1e-2, multi_class="auto").fit(X, Y)
    assert kernel.fitted_.task.name == "ovr"
    two = PegasosClassifier(lam=1e-2, multi_class="auto").fit(X[:100], Y[:100])
    assert two.coef_.shape == (1, 4)


def test_many_classes_are_told_from_the_rest():
    labels = np.arange(150) % 31
    model = PegasosClassifier(lam=1.0, multi_class="auto").fit(X, labels)
    assert model.coef_.shape == (31, 4)


def test_streams_continue_as_they_began(tmp_path):
    stream = PegasosClassifier(lam=1e-2, multi_class="auto", random_state=0).partial_fit(X, Y, classes=[0, 1, 2])
    assert stream.coef_.shape == (3, 4)
    fitted = PegasosClassifier(lam=1e-2, multi_class="auto", random_state=0).fit(X, Y)
    fitted.save(tmp_path / "model")
    again = pegasos.load(tmp_path / "model")
    assert again.partial_fit(X, Y).fitted_.task.name == "ovo"
    assert again.fit(X, Y % 2).coef_.shape == (1, 4)
    assert fitted.certify(X, Y) == fitted.certificate_


def test_other_words_are_refused():
    with pytest.raises(PegasosError, match="multi_class must be"):
        PegasosClassifier(multi_class="pairs").fit(X, Y)


def test_sparse_rows_are_told_apart_class_by_class():
    model = PegasosClassifier(lam=1e-2, multi_class="auto", random_state=0).fit(sp.csr_matrix(X), Y)
    assert model.fitted_.task.name == "ovr"
    assert model.coef_.shape == (3, X.shape[1])


def test_the_default_has_one_row_of_weights_per_class():
    assert PegasosClassifier().multi_class == "ovr"
    assert PegasosClassifier(lam=1e-2).fit(X, Y).coef_.shape == (3, X.shape[1])
