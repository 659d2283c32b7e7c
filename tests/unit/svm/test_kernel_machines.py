"""SVC, NuSVC, SVR, NuSVR and OneClassSVM beside those of scikit-learn."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm._classes as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import pegasos.svm as ours
from pegasos.tasks.voting import Voting

NAMES = ("SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "OneClassSVM")
CLASSES = {
    "iris": load_iris(return_X_y=True),
    "wine": (scale(load_wine().data), load_wine().target),
    "cancer": (scale(load_breast_cancer().data), load_breast_cancer().target),
}


def exact(name, **parameters):
    return getattr(theirs, name)(tol=1e-9, **parameters)


@pytest.mark.parametrize("name", NAMES)
def test_a_signature_is_that_of_scikit_learn_and_a_time_budget(name):
    mine, other = (
        {key: value.default for key, value in inspect.signature(getattr(home, name)).parameters.items()}
        for home in (ours, theirs)
    )
    assert mine.pop("time_budget") is None
    assert mine == other


@pytest.mark.parametrize("data", CLASSES)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_svc_is_that_of_scikit_learn(data, kernel):
    X, y = CLASSES[data]
    mine, other = ours.SVC(kernel=kernel).fit(X, y), exact("SVC", kernel=kernel).fit(X, y)
    np.testing.assert_array_equal(mine.support_, other.support_)
    np.testing.assert_array_equal(mine.n_support_, other.n_support_)
    np.testing.assert_allclose(mine.dual_coef_, other.dual_coef_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=2e-3)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))
    assert mine.certificate_.relative_gap <= 1e-6
    assert mine.certified(X).mean() > 0.9


def test_gamma_and_balanced_count_rows_without_their_weights():
    X, y = CLASSES["wine"]
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    parameters = {"gamma": "scale", "class_weight": "balanced"}
    mine = ours.SVC(**parameters).fit(X, y, weights)
    other = exact("SVC", **parameters).fit(X, y, weights)
    assert mine._gamma == pytest.approx(other._gamma, rel=1e-12)
    np.testing.assert_allclose(mine.class_weight_, other.class_weight_)
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=2e-3)


def test_probabilities_are_close_to_those_of_scikit_learn():
    X, y = CLASSES["wine"]
    with pytest.warns(FutureWarning, match="probability"):
        mine = ours.SVC(probability=True).fit(X, y)
    with pytest.warns(FutureWarning, match="probability"):
        other = theirs.SVC(probability=True, random_state=0).fit(X, y)
    found = mine.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.abs(found - other.predict_proba(X)).mean() < 0.02


@pytest.mark.parametrize(("name", "parameters"), [("SVR", {"C": 10.0}), ("NuSVR", {"C": 10.0, "nu": 0.3})])
def test_regression_is_that_of_scikit_learn(name, parameters):
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X)[:200], scale(y)[:200]
    mine, other = getattr(ours, name)(**parameters).fit(X, y), exact(name, **parameters).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), atol=5e-3)
    np.testing.assert_allclose(mine.dual_coef_.sum(), other.dual_coef_.sum(), atol=1e-6)


def test_one_class_is_that_of_scikit_learn():
    X, _ = make_blobs(150, centers=1, random_state=0)
    mine, other = ours.OneClassSVM(nu=0.2).fit(X), exact("OneClassSVM", nu=0.2).fit(X)
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=1e-2)
    assert mine.offset_ == pytest.approx(other.offset_, rel=1e-3)


def test_nu_svc_is_that_of_scikit_learn():
    X, y = CLASSES["iris"]
    mine, other = ours.NuSVC(nu=0.3).fit(X, y), exact("NuSVC", nu=0.3).fit(X, y)
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=5e-3)


def test_sparse_rows_give_sparse_attributes_and_the_same_model():
    X, y = CLASSES["iris"]
    dense, sparse = ours.SVC(kernel="linear").fit(X, y), ours.SVC(kernel="linear").fit(sp.csr_array(X), y)
    assert all(sp.issparse(each) for each in (sparse.dual_coef_, sparse.support_vectors_, sparse.coef_))
    np.testing.assert_array_equal(dense.dual_coef_, sparse.dual_coef_.toarray())
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(X))
    with pytest.raises(ValueError, match="cannot use sparse input in 'SVC' trained on dense data"):
        dense.predict(sp.csr_array(X))


def test_a_sigmoid_is_trained_and_nothing_is_proved():
    X, y = CLASSES["cancer"]
    mine, other = ours.SVC(kernel="sigmoid").fit(X, y), theirs.SVC(kernel="sigmoid").fit(X, y)
    assert np.mean(mine.predict(X) == other.predict(X)) > 0.99
    assert mine.status_.startswith("The kernel is not positive semi-definite")
    assert mine.certificate_.relative_gap == np.inf
    assert str(mine.certificate_).startswith("not certified")
    assert not mine.certified(X).any()


def test_a_callable_is_called_once_with_all_rows():
    X, y = CLASSES["iris"]
    calls = []

    def kernel(A, B):
        calls.append((A, B))
        return A @ B.T

    model = ours.SVC(kernel=kernel).fit(X, y)
    assert len(calls) == 1
    assert calls[0][0] is X
    assert calls[0][1] is X
    np.testing.assert_array_equal(model.predict(X), ours.SVC(kernel="linear").fit(X, y).predict(X))


def test_max_iter_ends_the_steps():
    X, y = CLASSES["cancer"]
    with pytest.warns(ConvergenceWarning, match=r"Solver terminated early \(max_iter=20\)"):
        model = ours.SVC(max_iter=20).fit(X, y)
    assert model.n_iter_.tolist() == [20]
    assert model.n_steps_ <= 20
    assert model.fit_status_ == 1


def test_a_tie_of_votes_is_not_certified_and_goes_to_the_first_class():
    task = Voting.of([0, 1, 2])
    cycle = np.array([[-1.0, 2.0, -3.0], [1.0, 2.0, 3.0]])  # each class has one vote; class 2 has two
    assert task.winners(cycle).tolist() == [0, 2]
    assert task.settled(cycle, np.full(cycle.shape, 0.1)).tolist() == [False, True]


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_and_a_second_fit_give_the_same_model(name):
    X, y = CLASSES["wine"]
    model = getattr(ours, name)().fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), getattr(ours, name)().fit(X, y)):
        np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_certify_computes_the_certificate_again():
    X, y = CLASSES["iris"]
    for model in (ours.SVC(), ours.SVC(kernel="linear"), ours.LinearSVC()):
        model.fit(X, y)
        assert model.certify(X, y).primal == pytest.approx(model.certificate_.primal, rel=1e-6)


def _expected_failures(model):
    """What scikit-learn's own classes fail too: weights do not count in gamma, or make nu infeasible."""
    if isinstance(model, ours.LinearSVR):
        return {}
    weights = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    of_nu = ["check_classifiers_one_label_sample_weights", "check_class_weight_classifiers"]
    names = weights + of_nu if isinstance(model, ours.NuSVC) else weights
    return dict.fromkeys(names, "as in scikit-learn")


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([getattr(ours, name)() for name in NAMES], expected_failed_checks=_expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_as_many_free_rows_as_a_linear_kernel_needs_are_the_only_support_vectors():
    # d + 1 free rows with d features have a singular kernel matrix, and still one solution.
    X = np.array([[0.4, -0.7], [-1.5, -1], [-1.4, -0.9], [-1.3, -1.2], [-1.1, -0.2], [-1.2, -0.4], [-0.5, 1.2]])
    X = np.vstack([X, [[-1.5, 2.1], [1, 1], [1.3, 0.8], [1.2, 0.5], [0.2, -2], [0.5, -2.4], [0.2, -2.3], [0, -2.7]]])
    X, y = np.vstack([X, [[1.3, 2.1]]]), np.repeat([0, 1], 8)
    model, reference = ours.SVC(kernel="linear").fit(X, y), exact("SVC", kernel="linear").fit(X, y)
    assert model.support_.tolist() == reference.support_.tolist()
    np.testing.assert_allclose(model.dual_coef_, reference.dual_coef_, atol=1e-6)
