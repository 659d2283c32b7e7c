"""Margins: of rows, of a fitted model, and the hard margin that C=inf asks for."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.estimators.warnings import GapWarning
from pegasos.solution import Status
from pegasos.theory import margin_bound

X, Y = load_iris(return_X_y=True)
SETOSA = Y == 0
MODELS = (PegasosClassifier, KernelPegasosClassifier)


def slow_margins(model, rows, y):
    """Functional and geometric margins of a linear model, row by row, from the definition."""
    scores = rows @ model.coef_.T + model.intercept_
    functional, geometric = [], []
    for score, label in zip(scores, y, strict=True):
        if len(model.classes_) == 2:
            value = score[0] if label == model.classes_[1] else -score[0]
            functional.append(value)
            geometric.append(value / np.linalg.norm(model.coef_[0]))
            continue
        k = int(np.flatnonzero(model.classes_ == label)[0])
        others = [r for r in range(len(score)) if r != k]
        functional.append(min(score[k] - score[r] for r in others))
        geometric.append(min((score[k] - score[r]) / np.linalg.norm(model.coef_[k] - model.coef_[r]) for r in others))
    return np.array(functional), np.array(geometric)


@pytest.mark.parametrize("y", [SETOSA, Y], ids=["two classes", "three classes"])
def test_margins_are_as_defined(y):
    model = PegasosClassifier(lam=1e-3, max_iter=2000, random_state=0).fit(X, y)
    functional, geometric = slow_margins(model, X, y)
    np.testing.assert_allclose(model.margin(X, y), functional, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.margin(X, y, geometric=True), geometric, rtol=1e-9, atol=1e-12)
    wrong = model.predict(X) != y
    assert (model.margin(X, y)[wrong] <= 0.0).all()
    assert (model.margin(X, y)[~wrong] >= 0.0).all()


@pytest.mark.parametrize("y", [SETOSA, Y], ids=["two classes", "three classes"])
def test_a_linear_kernel_has_the_margins_of_the_linear_machine(y):
    settings = {"lam": 1e-3, "tol": 1e-8, "max_iter": 20_000}
    linear = PegasosClassifier(**settings).fit(X, y)
    kernel = KernelPegasosClassifier("linear", solver="decomposition", **settings).fit(X, y)
    np.testing.assert_allclose(kernel.margin(X, y, geometric=True), linear.margin(X, y, geometric=True), atol=1e-2)
    np.testing.assert_allclose(kernel.margin_, linear.margin_, atol=1e-2)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("make", MODELS)
def test_the_margin_of_the_model_is_the_least_of_its_rows(make, free):
    weights = np.ones(len(Y))
    weights[:3] = 0.0
    model = make(lam=1e-3, random_state=0, max_iter=3000, regularize_intercept=not free).fit(X, SETOSA, weights)
    assert isinstance(model.margin_, float)
    assert model.margin_ == pytest.approx(model.margin(X[3:], SETOSA[3:], geometric=True).min(), rel=1e-4)


def test_several_problems_have_a_margin_each():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y)
    assert model.margin_.shape == (3,)
    scores = model.decision_function(X)
    for k in range(3):
        least = (np.where(k == Y, 1, -1) * scores[:, k]).min() / np.linalg.norm(model.coef_[k])
        assert model.margin_[k] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("make", MODELS)
def test_a_hard_margin_is_the_largest_there_is(make):
    kernel = {"kernel": "linear"} if make is KernelPegasosClassifier else {}
    model = make(C=np.inf, regularize_intercept=False, tol=1e-6, max_iter=50_000, **kernel).fit(X, SETOSA)
    theirs = SVC(kernel="linear", C=1e10, tol=1e-8).fit(X, SETOSA)
    assert model.margin_ == pytest.approx(1.0 / np.linalg.norm(theirs.coef_), rel=1e-4)
    assert f"{model.margin_:.6g}" in model.status_
    assert model.margin_ <= margin_bound(model.certificate_.dual, model.fitted_.terms.lam) * (1.0 + 1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_classes_that_cannot_be_separated_are_told_so_whatever_the_scale(scale, free):
    for make in MODELS:
        kernel = {"kernel": "linear"} if make is KernelPegasosClassifier else {}
        with pytest.warns(GapWarning, match="cannot be separated"):
            model = make(C=np.inf, regularize_intercept=not free, random_state=0, **kernel).fit(scale * X, Y == 1)
        assert Status.INSEPARABLE.value in model.status_
        assert not model.margin_ > 0.0  # a number that rounding has eaten is none


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_hard_margin_grows_with_the_rows(scale):
    plain = PegasosClassifier(C=np.inf, regularize_intercept=False, tol=1e-6, max_iter=50_000).fit(X, SETOSA)
    scaled = PegasosClassifier(C=np.inf, regularize_intercept=False, tol=1e-6, max_iter=50_000).fit(scale * X, SETOSA)
    assert scaled.margin_ == pytest.approx(scale * plain.margin_, rel=1e-4)


def test_two_equal_rows_of_different_classes_cannot_be_separated_by_any_kernel():
    rows = np.array([[0.0], [1.0], [2.0], [1.0]])
    with pytest.warns(GapWarning, match="cannot be separated"):
        KernelPegasosClassifier(C=np.inf, gamma=1.0).fit(rows, [0, 0, 1, 1])


def test_bad_calls_raise_an_error():
    with pytest.raises(NotFittedError):
        PegasosClassifier().margin(X, Y)
    model = PegasosClassifier(lam=1e-2).fit(X, Y)
    with pytest.raises(PegasosError, match="y must name the class of each of the 150 rows, got shape"):
        model.margin(X, Y[:3])
    with pytest.raises(PegasosError, match="y contains 7, which is not in the classes"):
        model.margin(X, np.full(150, 7))
    with pytest.raises(PegasosError, match="geometric must be True or False"):
        model.margin(X, Y, geometric="yes")
    gram = X @ X.T
    precomputed = KernelPegasosClassifier("precomputed", lam=1e-2).fit(gram, SETOSA)
    assert len(precomputed.margin(gram, SETOSA)) == 150
    with pytest.raises(PegasosError, match="needs the kernel of the support vectors"):
        precomputed.margin(gram, SETOSA, geometric=True)


def test_one_against_one_has_the_least_margin_of_its_pairs():
    model = PegasosClassifier(lam=1e-2, multi_class="ovo", random_state=0).fit(X, Y)
    scores = X @ model.coef_.T + model.intercept_
    signs = {0: (-1, -1, 0), 1: (1, 0, -1), 2: (0, 1, 1)}
    for geometric in (False, True):
        lengths = np.linalg.norm(model.coef_, axis=1) if geometric else np.ones(3)
        expected = [
            min(sign * score / length for sign, score, length in zip(signs[k], row, lengths, strict=True) if sign)
            for k, row in zip(Y, scores, strict=True)
        ]
        np.testing.assert_allclose(model.margin(X, Y, geometric=geometric), expected)
    assert model.margin_.shape == (3,)


@pytest.mark.parametrize("make", MODELS)
def test_pairs_may_have_a_hard_margin_and_a_free_intercept(make):
    kernel = {"kernel": "linear"} if make is KernelPegasosClassifier else {}
    shape = {"multi_class": "ovo", "C": np.inf, "regularize_intercept": False, "max_iter": 5000, "random_state": 0}
    with pytest.warns(GapWarning, match="cannot be separated"):
        model = make(**shape, **kernel).fit(X, Y)
    assert model.margin_[0] > 0.0
    assert model.margin_[1] > 0.0
    assert not model.margin_[2] > 0.0  # versicolor and virginica overlap
    theirs = SVC(kernel="linear", C=1e10).fit(X[Y < 2], Y[Y < 2])
    assert model.margin_[0] == pytest.approx(1.0 / np.linalg.norm(theirs.coef_), rel=1e-2)
    assert model.certified(X).shape == (150,)


@pytest.mark.parametrize("weight", [1e-8, 1e-2, 1e4])
def test_a_hard_margin_does_not_depend_on_the_scale_of_weights(weight):
    random = np.random.default_rng(0)
    rows = np.r_[random.normal(size=(50, 2)), random.normal(size=(50, 2)) + 9.0]
    y = np.arange(100) >= 50
    plain = PegasosClassifier(C=np.inf, tol=1e-6, max_iter=20_000).fit(rows, y)
    weighted = PegasosClassifier(C=np.inf, tol=1e-6, max_iter=20_000).fit(rows, y, np.full(100, weight))
    assert weighted.margin_ == pytest.approx(plain.margin_, rel=1e-4)
    lighter = PegasosClassifier(C=np.inf, tol=1e-6, max_iter=20_000, class_weight={False: weight, True: weight})
    assert lighter.fit(rows, y).margin_ == pytest.approx(plain.margin_, rel=1e-4)
    rows[0], y[0] = rows[1], True  # a contradiction
    with pytest.warns(GapWarning, match="cannot be separated"):
        PegasosClassifier(C=np.inf).fit(rows, y, np.full(100, weight))
