"""An explicit map of landmarks: its model, and the gap that certify proves on the exact problem; sigma beside gamma."""

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier
from pegasos.errors import PegasosError
from pegasos.kernels import RBF

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 3))
Y = (X[:, 0] * X[:, 1] + 0.3 * RANDOM.normal(size=300) > 0).astype(int) + (X[:, 2] > 1.0)
TWO = (Y > 0).astype(int)


def exact_bounds(model, C):
    """P and D of a model of two classes and its dual point, by the plain formulas."""
    K = np.exp(-model.kernel_.rate * np.square(X[:, None] - X[None]).sum(axis=2))
    bias = 0.0 if not model.regularize_intercept else 1.0
    sign = np.where(TWO == 1, 1.0, -1.0)
    c = np.zeros(300)
    c[model.support_] = model.dual_coef_[0]
    scores = K @ c + model.intercept_[0]
    square = c @ K @ c + (0.0 if bias == 0.0 else model.intercept_[0] ** 2)
    b = sign * model.alpha_ * C
    unit = 1.0 / (300 * C)
    primal = unit * (0.5 * square + C * np.maximum(0.0, 1.0 - sign * scores).sum())
    return primal, unit * (np.abs(b).sum() - 0.5 * (b @ (K + bias) @ b))


@pytest.mark.parametrize("is_free", [True, False])
@pytest.mark.parametrize("rank", [5, 40, "auto"])
def test_certify_proves_the_gap_on_the_exact_problem(rank, is_free):
    settings = {"C": 2.0, "gamma": 0.5, "tol": 1e-5, "regularize_intercept": not is_free, "random_state": 0}
    model = KernelPegasosClassifier(approximation=rank, **settings).fit(X, TWO)
    best = KernelPegasosClassifier(**settings).fit(X, TWO).certificate_
    assert model.certificate_.relative_gap <= 1e-5
    if rank != "auto":
        assert len(model.support_) <= rank
    proved = model.certify(X, TWO)
    primal, dual = exact_bounds(model, 2.0)
    assert proved.primal == pytest.approx(primal, rel=1e-8)
    assert proved.dual == pytest.approx(dual, rel=1e-8, abs=1e-12)
    assert proved.primal == pytest.approx(model.certificate_.primal, rel=1e-8)  # the objective is that of the kernel
    assert proved.dual <= best.primal
    assert proved.primal >= best.dual


def test_more_landmarks_come_closer_and_all_of_them_are_exact():
    gaps = [
        KernelPegasosClassifier(C=1.0, approximation=k, random_state=0).fit(X, TWO).certify(X, TWO)
        for k in (3, 30, 300)
    ]
    assert gaps[0].relative_gap > gaps[1].relative_gap > gaps[2].relative_gap
    assert gaps[2].relative_gap <= 1.01e-3


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_several_classes_are_told_apart(multi_class):
    settings = {"C": 5.0, "gamma": 0.5, "multi_class": multi_class, "random_state": 0}
    near = KernelPegasosClassifier(approximation=200, **settings).fit(X, Y)
    exact = KernelPegasosClassifier(**settings).fit(X, Y)
    assert np.mean(near.predict(X) == exact.predict(X)) > 0.97


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"approximation": 0}, "approximation"),
        ({"approximation": "all"}, "approximation"),
        ({"approximation": 5, "max_support": 3}, "approximation or max_support"),
        ({"approximation": 5, "solver": "pegasos"}, "solver='auto'"),
        ({"sigma": 1.0, "gamma": 2.0}, "gamma or sigma"),
        ({"sigma": 1.0, "kernel": "poly"}, "sigma is the width of kernel='rbf'"),
        ({"sigma": -1.0}, "sigma"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters, words):
    with pytest.raises(PegasosError, match=words):
        KernelPegasosClassifier(**parameters).fit(X, TWO)


def test_sigma_is_the_width_of_the_lectures():
    by_sigma = KernelPegasosClassifier(sigma=0.7, C=3.0, random_state=0).fit(X, TWO)
    by_gamma = KernelPegasosClassifier(gamma=1.0 / (2.0 * 0.7**2), C=3.0, random_state=0).fit(X, TWO)
    assert by_sigma.kernel_ == RBF(sigma=0.7)
    np.testing.assert_allclose(by_sigma.decision_function(X), by_gamma.decision_function(X), atol=1e-9)
