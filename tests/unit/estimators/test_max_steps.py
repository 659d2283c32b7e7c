"""A fit of max_steps steps is exactly that many steps, and begins where it is told to."""

import numpy as np
import pytest

import pegasos
from pegasos import (
    GapWarning,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosError,
    PegasosRegressor,
    kernels,
)
from pegasos.data import ArraySource

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(40, 3))
SIGN = np.where(X[:, 0] + 0.5 * RANDOM.normal(size=40) > 0, 1, -1)
THREE = np.arange(40) % 3
OPTIONS = [{}, {"projection": True}, {"sampling": "uniform"}, {"sampling": "balanced"}, {"sampling": "sequential"}]
STEPS = [1, 7, 40, 57, 133]  # the first, within the first epoch, at its end, within others


def last(iterator):
    *_, step = iterator
    return step


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("n_steps", STEPS)
def test_a_linear_fit_cut_at_a_step_equals_the_iterator_bit_for_bit(n_steps, batch_size, options):
    model = PegasosClassifier(
        0.1, solver="pegasos", max_steps=n_steps, tol=None, batch_size=batch_size, random_state=5, **options
    ).fit(X, SIGN)
    step = last(pegasos.steps(X, SIGN, lam=0.1, batch_size=batch_size, seed=5, n_steps=n_steps, **options))
    assert model.n_steps_ == n_steps
    np.testing.assert_array_equal(model.coef_[0], step.coef)
    assert model.intercept_[0] == step.intercept
    assert "All max_steps steps were taken" in model.status_
    assert model.n_iter_ == -(-n_steps * batch_size // 40)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("n_steps", STEPS)
def test_a_kernel_fit_cut_at_a_step_counts_as_the_iterator_does(n_steps, batch_size, options):
    kernel = kernels.RBF(0.5)
    model = KernelPegasosClassifier(
        kernel, lam=0.1, solver="pegasos", max_steps=n_steps, tol=None, batch_size=batch_size, random_state=5, **options
    ).fit(X, SIGN)
    step = last(
        pegasos.steps(X, SIGN, lam=0.1, kernel=kernel, batch_size=batch_size, seed=5, n_steps=n_steps, **options)
    )
    coefficients = np.zeros(40)
    coefficients[model.support_] = np.abs(model.dual_coef_[0])
    assert model.n_steps_ == n_steps
    np.testing.assert_allclose(coefficients, step.alpha / (0.1 * 40), rtol=1e-12, atol=1e-14)
    if step.counts is not None:
        np.testing.assert_array_equal(np.rint(coefficients * 0.1 * n_steps), step.counts)


def test_many_kernel_steps_in_blocks_end_where_they_are_told_to():
    rows, labels = RANDOM.normal(size=(700, 2)), np.arange(700) % 2
    model = KernelPegasosClassifier(gamma=1.0, lam=0.1, solver="pegasos", max_steps=1301, tol=None, random_state=0)
    assert model.fit(rows, labels).n_steps_ == 1301


@pytest.mark.parametrize("average", ["uniform", "tail"])
def test_the_average_of_a_cut_fit_is_the_mean_of_its_iterates(average):
    model = PegasosClassifier(
        0.1, solver="pegasos", average=average, max_steps=100, tol=None, random_state=0, fit_intercept=False
    ).fit(X, SIGN)
    # The mean is over w_1 = 0, ..., w_100, the weights before each step, as in the paper.
    after = [step.coef for step in pegasos.steps(X, SIGN, lam=0.1, fit_intercept=False, n_steps=99)]
    iterates = np.array([np.zeros(3), *after])
    first = 0 if average == "uniform" else 80  # after epoch 2, the last power of two
    np.testing.assert_allclose(model.coef_[0], iterates[first:].mean(axis=0), rtol=1e-10)


@pytest.mark.parametrize(("multi_class", "n_problems"), [("ovr", 3), ("ovo", 3), ("crammer_singer", 1)])
def test_every_problem_takes_as_many_steps(multi_class, n_problems):
    model = PegasosClassifier(0.1, solver="pegasos", multi_class=multi_class, max_steps=25, tol=None, random_state=0)
    assert model.fit(X, THREE).n_steps_ == 25 * n_problems


@pytest.mark.parametrize("model", [PegasosRegressor(0.1), KernelPegasosRegressor(lam=0.1)], ids=str)
def test_regressors_count_steps_too(model):
    model.set_params(solver="pegasos", max_steps=55, tol=None, random_state=0)
    assert model.fit(X, X[:, 0]).n_steps_ == 55


def test_a_warm_start_takes_as_many_steps_again():
    parameters = {"solver": "pegasos", "tol": None, "random_state": 3}
    twice = PegasosClassifier(0.1, max_steps=33, warm_start=True, **parameters).fit(X, SIGN).fit(X, SIGN)
    once = PegasosClassifier(0.1, max_steps=66, **parameters).fit(X, SIGN)
    assert twice.n_steps_ == 66
    np.testing.assert_array_equal(twice.coef_, once.coef_)


def test_epochs_and_the_gap_may_end_a_fit_earlier():
    parameters = {"solver": "pegasos", "max_steps": 1000, "random_state": 0}
    assert PegasosClassifier(0.1, tol=None, max_iter=2, **parameters).fit(X, SIGN).n_steps_ == 80
    model = PegasosClassifier(0.1, tol=0.9, **parameters).fit(X, SIGN)
    assert model.n_steps_ < 1000
    assert model.certificate_.relative_gap <= 0.9


def test_steps_that_do_not_reach_the_gap_are_said_to_be_too_few():
    with pytest.warns(GapWarning, match="max_steps steps ended before the gap reached tol; raise max_steps"):
        model = PegasosClassifier(0.1, solver="pegasos", tol=1e-6, max_steps=5, random_state=0).fit(X, SIGN)
    assert model.n_steps_ == 5
    assert model.certificate_.primal >= model.certificate_.dual


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "pegasos", "max_steps": 0}, "max_steps must be a whole number of at least 1, got 0"),
        ({"solver": "pegasos", "max_steps": 2.5}, "max_steps must be a whole number of at least 1, got 2.5"),
        ({"solver": "auto", "max_steps": 5}, "counts steps of Pegasos, got max_steps=5 with solver='auto'"),
        ({"solver": "pegasos", "max_steps": 5, "certified_share": 0.9}, "give one of the two"),
    ],
)
def test_bad_numbers_of_steps_are_refused_with_the_remedy(parameters, message):
    with pytest.raises(PegasosError, match=message):
        PegasosClassifier(**parameters).fit(X, SIGN)


def test_streams_and_sources_do_not_count_steps():
    model = PegasosClassifier(solver="pegasos", max_steps=5)
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(X, SIGN, classes=[-1, 1])
    with pytest.raises(PegasosError, match="fit_source goes over whole blocks: give max_steps=None"):
        model.fit_source(ArraySource(X, SIGN))


@pytest.mark.parametrize("n_steps", [1, 50])
def test_initial_weights_of_a_fit_are_those_of_the_iterator(n_steps):
    coef, intercept = np.array([3.0, -1.0, 2.0]), -0.5
    plain = PegasosClassifier(0.1, solver="pegasos", max_steps=n_steps, tol=None, random_state=1)
    plain.fit(X, SIGN, coef_init=coef, intercept_init=intercept)
    step = last(pegasos.steps(X, SIGN, lam=0.1, seed=1, n_steps=n_steps, initial=(coef, intercept)))
    np.testing.assert_array_equal(plain.coef_[0], step.coef)
    assert plain.intercept_[0] == step.intercept


def test_the_first_row_is_tested_by_the_initial_weights():
    first = X[0] * SIGN[0]
    parameters = {"solver": "pegasos", "sampling": "sequential", "fit_intercept": False, "max_steps": 1, "tol": None}
    model = PegasosClassifier(0.5, **parameters)
    np.testing.assert_array_equal(model.fit(X, SIGN, coef_init=100.0 * first).coef_[0], np.zeros(3))  # no violation
    np.testing.assert_allclose(model.fit(X, SIGN, coef_init=-first).coef_[0], first / 0.5)


@pytest.mark.parametrize(("multi_class", "n_vectors"), [("ovr", 3), ("ovo", 3), ("crammer_singer", 3)])
def test_several_classes_have_initial_weights_each(multi_class, n_vectors):
    parameters = {"solver": "pegasos", "multi_class": multi_class, "max_steps": 60, "tol": None, "random_state": 0}
    plain = PegasosClassifier(0.1, **parameters).fit(X, THREE)
    zero = PegasosClassifier(0.1, **parameters).fit(
        X, THREE, coef_init=np.zeros((n_vectors, 3)), intercept_init=np.zeros(n_vectors)
    )
    np.testing.assert_array_equal(plain.coef_, zero.coef_)
    with pytest.raises(PegasosError, match=r"coef_init must be of shape \(3, 3\), got \(3,\)"):
        PegasosClassifier(0.1, **parameters).fit(X, THREE, coef_init=np.zeros(3))


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        ({}, {"coef_init": np.zeros(3)}, "coef_init is for solver='pegasos', got solver='auto'"),
        ({"solver": "pegasos"}, {"coef_init": [1.0, np.nan, 0.0]}, "must be finite"),
        ({"solver": "pegasos"}, {"coef_init": ["a", "b", "c"]}, "must be numbers"),
        ({"solver": "pegasos"}, {"intercept_init": 1.0}, "needs coef_init"),
        (
            {"solver": "pegasos", "fit_intercept": False},
            {"coef_init": np.zeros(3), "intercept_init": 1.0},
            "give fit_intercept=True",
        ),
        ({"solver": "pegasos", "prior": (np.ones(3), 0.0)}, {"coef_init": np.zeros(3)}, "give one of them"),
    ],
)
def test_bad_initial_weights_are_refused_with_the_remedy(parameters, given, message):
    with pytest.raises(PegasosError, match=message):
        PegasosClassifier(**parameters).fit(X, SIGN, **given)


def test_kernel_machines_refuse_initial_weights():
    with pytest.raises(PegasosError, match="a kernel model starts at 0"):
        KernelPegasosClassifier(solver="pegasos").fit(X, SIGN, coef_init=np.zeros(3))
