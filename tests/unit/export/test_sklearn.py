"""Models of scikit-learn, both ways."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.export import from_sklearn, to_sklearn
from pegasos.kernels import RBF, Spectrum
from tests.unit.export.models import CODES, MODELS, NAMES, NEW, NUMBERS, PAIR, X, model_of

SCIKIT = [name for name in MODELS if not name.startswith("kernel on")]


@pytest.mark.parametrize("name", SCIKIT)
def test_scikit_learn_decides_as_we_do(name):
    model = model_of(name)
    there = pickle.loads(pickle.dumps(to_sklearn(model)))
    assert isinstance(there, LinearSVC | SVC | OneVsRestClassifier)
    np.testing.assert_allclose(there.decision_function(NEW), model.decision_function(NEW), atol=1e-9)
    assert there.predict(NEW).tolist() == model.predict(NEW).tolist()
    assert there.classes_.tolist() == model.classes_.tolist()


def test_it_stands_in_pipelines_and_can_be_scored():
    there = to_sklearn(model_of("rbf, pairs"))
    assert make_pipeline(MinMaxScaler().fit(X), there).score(X, NUMBERS) > 0.9
    assert there.n_support_.sum() == len(there.support_vectors_)


def test_probabilities_are_returned():
    model = model_of("probability, pairs")
    there = to_sklearn(model)
    agree = there.classes_[there.predict_proba(NEW).argmax(axis=1)] == model.predict(NEW)
    assert agree.mean() > 0.7
    np.testing.assert_allclose(there.predict_proba(NEW)[agree], model.predict_proba(NEW)[agree], atol=0.01)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_sparse_support_vectors_stay_sparse(multi_class):
    rows = sp.csr_array(X * (X > 0.3))
    model = KernelPegasosClassifier(RBF(0.5), C=2.0, multi_class=multi_class, random_state=0).fit(rows, NUMBERS)
    there = to_sklearn(model)
    np.testing.assert_allclose(there.decision_function(sp.csr_matrix(NEW)), model.decision_function(NEW), atol=1e-9)


def test_a_precomputed_kernel_takes_the_matrix():
    matrix, new = RBF(0.5).block(X, X), RBF(0.5).block(NEW, X)
    model = KernelPegasosClassifier("precomputed", C=2.0, multi_class="ovo", random_state=0).fit(matrix, NUMBERS)
    there = to_sklearn(model)
    np.testing.assert_allclose(there.decision_function(new), model.decision_function(new), atol=1e-9)
    again = from_sklearn(there)
    np.testing.assert_allclose(again.decision_function(new), model.decision_function(new), atol=1e-9)
    assert again.certify(matrix, NUMBERS).relative_gap < 0.5


def test_what_scikit_learn_has_no_model_for_is_refused():
    with pytest.raises(PegasosError, match="adds a prior to its own"):
        to_sklearn(model_of("kernel on a prior"))
    with pytest.raises(PegasosError, match=r"export its last step, pipeline\[-1\]"):
        to_sklearn(make_pipeline(MinMaxScaler(), PegasosClassifier(lam=0.1)).fit(X, PAIR))
    strings = KernelPegasosClassifier(Spectrum(2), lam=0.1).fit(["abab", "cdcd"], [0, 1])
    with pytest.raises(PegasosError, match="not a kernel of rows of numbers"):
        to_sklearn(strings)


LINEAR = {
    "hinge": LinearSVC(C=2.0, loss="hinge", tol=1e-6, max_iter=100_000, random_state=0),
    "scaled": LinearSVC(C=2.0, loss="hinge", intercept_scaling=3.0, tol=1e-6, max_iter=100_000, random_state=0),
    "plain": LinearSVC(C=2.0, loss="hinge", fit_intercept=False, tol=1e-6, max_iter=100_000, random_state=0),
    "weighted": LinearSVC(C=2.0, loss="hinge", class_weight="balanced", tol=1e-6, max_iter=100_000, random_state=0),
    "joint": LinearSVC(C=2.0, multi_class="crammer_singer", tol=1e-6, max_iter=100_000, random_state=0),
    "sgd": SGDClassifier(alpha=1e-2, max_iter=20_000, tol=None, average=True, random_state=0),
}


@pytest.mark.parametrize("y", [PAIR, NAMES], ids=["two", "names"])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_models_are_read_and_certified(name, y):
    if name == "sgd":
        LINEAR[name].set_params(max_iter=2000)
    theirs = LINEAR[name].fit(X, y)
    model = from_sklearn(theirs)
    np.testing.assert_allclose(model.decision_function(NEW), theirs.decision_function(NEW), atol=1e-12)
    assert model.predict(NEW).tolist() == theirs.predict(NEW).tolist()
    assert -1e-12 <= model.certify(X, y).relative_gap < (0.05 if name == "sgd" else 5e-3)


KERNELS = {
    "rbf": SVC(C=2.0, gamma=0.5, tol=1e-5),
    "scale": SVC(C=2.0),
    "poly": SVC(C=2.0, kernel="poly", degree=2, coef0=1.0, tol=1e-5),
    "linear": SVC(C=2.0, kernel="linear", class_weight="balanced", tol=1e-5),
}


@pytest.mark.parametrize("y", [PAIR, NAMES], ids=["two", "names"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_models_are_read_and_certified(name, y):
    theirs = KERNELS[name].fit(X, y)
    model = from_sklearn(theirs)
    np.testing.assert_allclose(model.decision_function(NEW), theirs.decision_function(NEW), atol=1e-9)
    assert -1e-9 <= model.certify(X, y).relative_gap < 5e-3


def test_sparse_and_nu_machines_are_read():
    theirs = SVC(C=2.0, gamma=0.5).fit(sp.csr_matrix(X), NUMBERS)
    np.testing.assert_allclose(
        from_sklearn(theirs).decision_function(NEW), theirs.decision_function(sp.csr_matrix(NEW)), atol=1e-9
    )
    nu = from_sklearn(NuSVC(nu=0.2).fit(X, PAIR))
    with pytest.raises(PegasosError, match="read from a NuSVC of scikit-learn, which does not say"):
        nu.certify(X, PAIR)


@pytest.mark.parametrize("theirs", [LinearSVC(loss="hinge"), SVC()], ids=str)
def test_of_what_was_read_there_is_no_report(theirs):
    model = from_sklearn(theirs.fit(X, CODES))
    with pytest.raises(PegasosError, match="a report needs a certificate"):
        model.report(X, CODES)


def test_what_cannot_be_read_is_refused_with_a_reason():
    for model, sentence in (
        (SVC(), "this SVC is not fitted"),
        (SVC, "got SVC"),
        (LogisticRegression().fit(X, PAIR), "got LogisticRegression"),
        (SGDClassifier(loss="log_loss").fit(X, PAIR), "models with loss='log_loss' are not read"),
        (SGDClassifier(penalty="l1").fit(X, PAIR), "models with penalty='l1' are not read"),
        (LinearSVC(penalty="l1").fit(X, PAIR), "models with penalty='l1' are not read"),
        (SVC(kernel="sigmoid").fit(X, PAIR), "got 'sigmoid'"),
        (SVC(kernel="poly", coef0=-1.0).fit(X, PAIR), "coef0 of Polynomial must be"),
    ):
        with pytest.raises(PegasosError, match=sentence):
            from_sklearn(model)
