"""Classifiers whose y is an indicator matrix: one problem per label."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError

X, Y = make_multilabel_classification(150, 6, n_classes=4, random_state=0)
X = X / 10.0
BOTH = [PegasosClassifier(lam=1e-3, random_state=0), KernelPegasosClassifier(gamma=0.3, lam=1e-3, random_state=0)]


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("n_labels", [2, 4])
def test_each_label_is_the_problem_of_two_classes(model, n_labels):
    together = clone(model).set_params(n_jobs=2).fit(X, Y[:, :n_labels])
    assert together.predict(X).shape == (150, n_labels)
    assert together.predict(X).dtype.kind == "i"
    alone = clone(model).fit(X, Y[:, 0])
    assert together.decision_function(X)[:, 0] == pytest.approx(alone.decision_function(X), abs=1e-10)
    assert len(together.certificate_.parts) == n_labels
    assert together.certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize("model", BOTH)
def test_sparse_indicators_are_dense_ones(model):
    dense = clone(model).fit(X, Y)
    sparse = clone(model).fit(X, sp.csr_matrix(Y))
    assert np.array_equal(dense.decision_function(X), sparse.decision_function(X))


@pytest.mark.parametrize("model", BOTH)
def test_files_and_certificates_know_labels(model, tmp_path):
    fitted = clone(model).set_params(class_weight="balanced").fit(X, Y)
    assert fitted.certify(X, Y).gap == pytest.approx(fitted.certificate_.gap, rel=1e-6)
    fitted.save(tmp_path / "model.pegasos")
    again = pegasos.load(tmp_path / "model.pegasos")
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert again.certify(X, Y).gap == pytest.approx(fitted.certificate_.gap, rel=1e-6)


def test_certified_labels_are_those_of_the_exact_solution():
    rough, exact = (PegasosClassifier(lam=1e-2, tol=tol).fit(X, Y) for tol in (1e-2, 1e-11))
    sure = rough.certified(X)
    assert sure.any()
    assert np.array_equal(rough.predict(X)[sure], exact.predict(X)[sure])


@pytest.mark.parametrize("is_regularized", [True, False])
@pytest.mark.parametrize("model", BOTH)
def test_a_label_that_no_row_or_every_row_has_is_predicted_so(model, is_regularized):
    labels = np.column_stack([np.zeros(150, int), np.ones(150, int), Y[:, 0]])
    fitted = clone(model).set_params(regularize_intercept=is_regularized).fit(X, labels)
    assert fitted.certificate_.relative_gap <= 1e-3
    assert not fitted.predict(X)[:, 0].any()
    assert fitted.predict(X)[:, 1].all()
    assert fitted.certified(X).shape == (150,)


def test_what_labels_do_not_support_is_refused():
    with pytest.raises(PegasosError, match="partial_fit does not support an indicator matrix"):
        PegasosClassifier().partial_fit(X, Y)
    with pytest.raises(PegasosError, match="probability=True does not support an indicator matrix"):
        PegasosClassifier(probability=True).fit(X, Y)
    with pytest.raises(PegasosError, match="class_weight must be None or 'balanced'"):
        PegasosClassifier(class_weight={0: 2.0}).fit(X, Y)
