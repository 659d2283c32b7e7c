"""Steps in the open are those that a fit takes."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.online import ConfidenceWeighted, KernelPerceptron, Norma, PassiveAggressive, Perceptron

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3))
Y = np.where(X[:, 0] + 0.5 * RANDOM.normal(size=40) > 0, "yes", "no")
SIGN = np.where(Y == "yes", 1, -1)


def last(iterator, n):
    return list(islice(iterator, n))[-1]


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("sampling", ["shuffle", "uniform", "balanced", "sequential"])
@pytest.mark.parametrize("options", [{}, {"projection": True}, {"fit_intercept": False}], ids=str)
def test_three_epochs_are_those_of_a_fit_bit_for_bit(sampling, batch_size, options):
    step = last(
        pegasos.steps(X, Y, lam=0.1, sampling=sampling, batch_size=batch_size, seed=5, **options), -(-120 // batch_size)
    )
    model = PegasosClassifier(
        0.1, solver="pegasos", sampling=sampling, batch_size=batch_size, tol=None, max_iter=3, random_state=5, **options
    ).fit(X, Y)
    assert np.array_equal(step.coef, model.coef_[0])
    assert step.intercept == model.intercept_[0]


@pytest.mark.parametrize("given", [X.astype(np.float32), sp.csr_matrix(X)], ids=["float32", "sparse"])
def test_other_rows_step_as_their_fits_do(given):
    step = last(pegasos.steps(given, Y, lam=0.01), 80)
    model = PegasosClassifier(0.01, solver="pegasos", tol=None, max_iter=2, random_state=0).fit(given, Y)
    np.testing.assert_array_equal(step.coef, model.coef_[0])


@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("sampling", ["shuffle", "uniform", "balanced", "sequential"])
def test_every_step_is_the_formula_of_the_paper(sampling, batch_size):
    lam, w = 0.2, np.zeros(3)
    for t, step in enumerate(
        pegasos.steps(X, Y, lam=lam, sampling=sampling, batch_size=batch_size, fit_intercept=False, n_steps=60), 1
    ):
        margins = SIGN[step.rows] * (X[step.rows] @ w)
        np.testing.assert_allclose(step.margins, margins, atol=1e-12)
        np.testing.assert_array_equal(step.violated, margins < 1.0)
        assert (step.number, step.eta) == (t, 1.0 / (lam * t))
        if sampling in ("shuffle", "sequential"):  # no row twice in a step, all of equal weight
            pull = (SIGN[step.rows] * step.violated) @ X[step.rows]
            w = (1.0 - 1.0 / t) * w + step.eta / batch_size * pull
            np.testing.assert_allclose(step.coef, w, atol=1e-12)
        np.testing.assert_allclose(step.coef, (step.alpha * SIGN) @ X / (lam * 40), atol=1e-12)
        w = step.coef


def test_rows_in_order_come_in_order():
    assert [int(step.rows[0]) for step in pegasos.steps(X, Y, sampling="sequential", n_steps=45)] == [
        *range(40),
        *range(5),
    ]


def test_kernel_steps_count_violations_as_the_lecture_does():
    lam, counts = 0.1, np.zeros(40, int)
    gram = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    steps = pegasos.steps(X, Y, lam=lam, kernel=pegasos.kernels.RBF(gamma=0.5), fit_intercept=False, n_steps=90)
    for t, step in enumerate(steps, 1):
        score = gram[step.rows] @ (counts * SIGN) / (lam * (t - 1)) if t > 1 else np.zeros(1)
        np.testing.assert_allclose(step.margins, SIGN[step.rows] * score, atol=1e-10)
        counts[step.rows[step.violated]] += 1
        np.testing.assert_array_equal(step.counts, counts)
    model = KernelPegasosClassifier(
        pegasos.kernels.RBF(gamma=0.5),
        lam=lam,
        fit_intercept=False,
        solver="pegasos",
        tol=None,
        max_iter=2,
        random_state=0,
    ).fit(X, Y)
    step = last(pegasos.steps(X, Y, lam=lam, kernel=pegasos.kernels.RBF(gamma=0.5), fit_intercept=False), 80)
    np.testing.assert_allclose(np.minimum(step.alpha, 1.0), model.alpha_, atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(max_iter=2, random_state=3),
        PassiveAggressive(max_iter=2, random_state=3),
        ConfidenceWeighted(max_iter=2, random_state=3),
        KernelPerceptron("rbf", gamma=0.5, max_iter=2, random_state=3),
        Norma("rbf", gamma=0.5, max_iter=2, random_state=3),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_online_learners_step_as_their_fits_do(learner):
    step = last(pegasos.steps(X, Y, learner, seed=3), 80)
    model = learner.fit(X, Y)
    if step.coef is not None:
        np.testing.assert_allclose(step.coef, model.coef_[0], rtol=1e-12)
    assert step.intercept == pytest.approx(model.intercept_[0], rel=1e-9)
    assert step.number == 80


def test_a_perceptron_moves_at_mistakes_alone():
    steps = list(pegasos.steps(X, Y, Perceptron(), n_steps=60))
    assert [bool(step.violated[0]) for step in steps] == [bool(step.margins[0] <= 0.0) for step in steps]


def test_objectives_enclose_the_optimum():
    optimum = PegasosClassifier(0.1, tol=1e-9, random_state=0).fit(X, Y).certificate_
    for step in pegasos.steps(X, Y, lam=0.1, objectives=True, n_steps=100):
        assert step.dual <= optimum.primal * (1.0 + 1e-9)
        assert step.primal >= optimum.dual * (1.0 - 1e-9)


def test_the_first_step_tests_the_initial_weights_and_forgets_them():
    far = np.array([100.0, 0.0, 0.0])
    step = next(pegasos.steps(X, Y, lam=0.1, initial=far, sampling="sequential", fit_intercept=False))
    assert step.margins[0] == pytest.approx(SIGN[0] * 100.0 * X[0, 0])
    assert np.abs(step.coef).max() < 50.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": -1.0}, "lam must be"),
        ({"n_steps": -1}, "n_steps must not be negative; got -1"),
        ({"initial": [1.0]}, r"coef_init must be of shape \(1, 3\), got \(1,\)"),
        ({"initial": [1.0, 0.0, 0.0], "kernel": "rbf"}, "for the linear algorithm"),
        ({"sampling": "backwards"}, "sampling must be"),
    ],
)
def test_bad_parameters_are_refused_with_the_remedy(options, message):
    with pytest.raises(PegasosError, match=message):
        next(pegasos.steps(X, Y, **options))


def test_three_classes_are_refused():
    with pytest.raises(PegasosError, match="of two classes; y has 3"):
        next(pegasos.steps(X, np.arange(40) % 3))
    with pytest.raises(PegasosError, match="of two classes; y has 3"):
        next(pegasos.steps(X, np.arange(40) % 3, Perceptron()))
