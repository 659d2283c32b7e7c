"""What the settings do together: prior, free intercept, pairs, probabilities, names."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from pegasos import GapWarning, KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.problem import Problem, Rows
from tests.agreement.interior_point import free_optimum_of

X, Y = load_iris(return_X_y=True)
X = X - X.mean(axis=0)
PRIOR = LogisticRegression(C=0.1).fit(X[::3], Y[::3])
BOTH = [PegasosClassifier, KernelPegasosClassifier]
SHAPE = {"lam": 1e-2, "tol": 1e-8, "max_iter": 50_000, "random_state": 0}


def quiet(make, **settings):
    kernel = {"kernel": "linear", "solver": "decomposition"} if make is KernelPegasosClassifier else {}
    return make(**{**SHAPE, **kernel, **settings})


@pytest.mark.parametrize(
    ("make", "multi_class", "free"),
    [*product(BOTH, ["ovr", "ovo"], [False, True]), (PegasosClassifier, "crammer_singer", False)],
)
def test_a_prior_of_several_classes_is_certified_however_they_become_problems(make, multi_class, free):
    model = quiet(make, prior=PRIOR, multi_class=multi_class, regularize_intercept=not free).fit(X, Y)
    assert model.certificate_.relative_gap <= 1e-8
    assert model.certify(X, Y).primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert model.certify(X, Y).relative_gap <= 1.2e-8
    far = quiet(make, prior=PRIOR, multi_class=multi_class, regularize_intercept=not free, lam=1e6).fit(X, Y)
    if multi_class == "ovr" and not free:
        assert (far.predict(X) == PRIOR.predict(X)).all()
    rough = quiet(make, prior=PRIOR, multi_class=multi_class, regularize_intercept=not free, tol=1e-4).fit(X, Y)
    sure = rough.certified(X)
    assert (rough.predict(X)[sure] == model.predict(X)[sure]).all()


@pytest.mark.parametrize("make", BOTH)
def test_a_free_intercept_next_to_a_prior_has_the_exact_optimum(make):
    y = Y == 1
    w0, b0 = np.array([0.5, -1.0, 0.2, 0.1]), 0.7
    model = quiet(make, prior=(w0, b0), regularize_intercept=False).fit(X, y)
    problem = Problem(
        Rows.of(X, 0.0), np.where(y, 1, -1).astype(np.int8), np.ones(len(y)), X @ w0 + b0, 1e-2, float(len(y))
    )
    assert model.certificate_.primal == pytest.approx(free_optimum_of(problem).primal, rel=1e-6)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_probabilities_next_to_a_prior_with_names(make, multi_class):
    frame = pd.DataFrame(X, columns=list("abcd"))
    prior = LogisticRegression(C=0.1).fit(frame[["b", "a", "d", "c"]].iloc[::3], Y[::3])
    model = quiet(make, prior=prior, probability=True, multi_class=multi_class, tol=1e-3).fit(frame, Y)
    found = model.predict_proba(frame)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert float(np.mean(model.classes_[found.argmax(axis=1)] == Y)) > 0.8
    assert float(np.mean(model.predict(frame) == Y)) > 0.8


@pytest.mark.parametrize("setting", [{"regularize_intercept": False}, {"sampling": "balanced"}])
def test_what_the_problem_of_all_classes_does_not_offer_raises_an_error(setting):
    with pytest.raises(PegasosError, match="crammer_singer"):
        PegasosClassifier(multi_class="crammer_singer", **setting).fit(X, Y)


def test_the_margin_of_all_classes_at_once_is_that_of_the_joint_feature_map():
    model = PegasosClassifier(multi_class="crammer_singer", lam=1e-2, random_state=0).fit(X, Y)
    least = model.margin(X, Y).min()
    assert model.margin_ == pytest.approx(least / np.linalg.norm(model.coef_), rel=1e-6)
    assert model.margin(X, Y, geometric=True).shape == (150,)


def test_margins_next_to_a_prior_are_those_of_the_whole_weights():
    y = Y == 0
    model = PegasosClassifier(lam=1e-2, prior=(np.ones(4), 0.5), random_state=0).fit(X, y)
    assert model.margin_ == pytest.approx(model.margin(X, y, geometric=True).min(), rel=1e-6)
    kernel = KernelPegasosClassifier(lam=1e-2, prior=(np.ones(4), 0.5), random_state=0).fit(X, y)
    assert np.isnan(kernel.margin_)
    assert kernel.margin(X, y).shape == (150,)
    with pytest.raises(PegasosError, match="that of the prior is not known"):
        kernel.margin(X, y, geometric=True)


@pytest.mark.parametrize("make", BOTH)
def test_a_hard_margin_knows_no_prior(make):
    with pytest.raises(PegasosError, match="C=inf does not support a prior"):
        make(C=np.inf, prior=(np.ones(4), 0.0)).fit(X, Y == 0)


@pytest.mark.parametrize("make", BOTH)
def test_balanced_draws_of_pairs_reach_the_same_optimum(make):
    settings = {"multi_class": "ovo", "solver": "pegasos", "sampling": "balanced", "tol": 0.02, "max_iter": 3000}
    rows = 0.3 * X
    with warnings.catch_warnings():
        warnings.simplefilter("error", GapWarning)
        drawn = make(**settings, lam=0.05, random_state=0).fit(rows, Y)
    exact = make(multi_class="ovo", lam=0.05, random_state=0, tol=1e-6).fit(rows, Y)
    assert drawn.certificate_.primal <= exact.certificate_.primal * 1.03


def test_a_fitted_model_stays_what_it_is_when_its_parameters_change():
    model = PegasosClassifier(lam=1e-2, multi_class="ovo", random_state=0).fit(X, Y)
    before = model.predict(X), model.certified(X), model.margin(X, Y), model.decision_function(X)
    model.set_params(multi_class="ovr")
    after = model.predict(X), model.certified(X), model.margin(X, Y), model.decision_function(X)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    assert model.certify(X, Y) == model.certificate_
    with pytest.raises(PegasosError, match="cannot continue from a model with 'ovo'"):
        model.partial_fit(X, Y)
    assert model.set_params(warm_start=True).fit(X, Y).coef_.shape == (3, 4)


@pytest.mark.parametrize("make", BOTH)
def test_a_stream_does_not_continue_from_a_free_intercept(make):
    model = quiet(make, regularize_intercept=False, tol=1e-3).fit(X + 10.0, Y == 1)
    with pytest.raises(PegasosError, match="cannot continue from a fit whose intercept was not regularized"):
        model.set_params(regularize_intercept=True).partial_fit(X + 10.0, Y == 1)


@pytest.mark.parametrize("make", BOTH)
def test_a_stream_has_no_probabilities_of_an_earlier_fit(make):
    model = make(lam=1e-2, probability=True, random_state=0).fit(X, Y)
    model.set_params(probability=False).partial_fit(X, Y)
    with pytest.raises(PegasosError, match="fitted without probabilities"):
        model.set_params(probability=True).predict_proba(X)


@pytest.mark.parametrize("kernel", [{"kernel": "rbf", "gamma": 1e-3}, {"kernel": "poly", "degree": 2, "gamma": 1.0}])
def test_the_published_algorithm_on_rounded_kernel_values_keeps_its_point_and_tells_its_gap(kernel):
    rows = (X + 50.0).astype(np.float32)
    model = KernelPegasosClassifier(**kernel, lam=1e-2, solver="pegasos", tol=1e-5, max_iter=5, random_state=0)
    with pytest.warns(GapWarning):
        model.fit(rows, Y == 1)
    in_double = KernelPegasosClassifier(**kernel, lam=1e-2, solver="pegasos", tol=1e-6, max_iter=5, random_state=0)
    with pytest.warns(GapWarning):
        in_double.fit(rows.astype(np.float64), Y == 1)
    assert model.n_steps_ == in_double.n_steps_


def test_a_prior_of_votes_is_refused():
    votes = PegasosClassifier(lam=1e-2, multi_class="ovo", random_state=0).fit(X, Y)
    with pytest.raises(PegasosError, match="pairs of classes"):
        KernelPegasosClassifier(prior=votes).fit(X, Y)
