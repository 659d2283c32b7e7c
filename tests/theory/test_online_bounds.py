"""What is proved of the online learners (docs/algorithms), on streams of the library's own loop."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from pegasos.online import Perceptron
from pegasos.solvers.kernel_online import NormaStep
from pegasos.solvers.online import PassiveAggressiveStep
from tests.theory.test_the_step import learnt


@st.composite
def separable_streams(draw):
    """Rows, signs and a vector of length 1 that gives every row a margin of at least 0.05."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.integers(2, 6))
    u = random.normal(size=d)
    u /= np.linalg.norm(u)
    X = random.normal(size=(draw(st.integers(20, 100)), d))
    X = X[np.abs(X @ u) > 0.05]
    sign = np.sign(X @ u).astype(int)
    assume(len(np.unique(sign)) == 2)
    return X, sign, u


@given(separable_streams(), st.integers(1, 20))
def test_the_perceptron_makes_no_more_mistakes_than_its_bound(stream, passes):
    X, sign, u = stream
    model = Perceptron("last", fit_intercept=False, max_iter=passes, random_state=0).fit(X, sign)
    longest, margin = np.linalg.norm(X, axis=1).max(), (sign * (X @ u)).min()
    assert model.mistakes_ <= (longest / margin) ** 2


@given(separable_streams())
def test_the_squared_losses_of_passive_aggressive_steps_are_bounded(stream):
    X, sign, u = stream
    after = learnt(PassiveAggressiveStep("pa"), X, sign)
    before = np.vstack([np.zeros(X.shape[1]), after[:-1]])
    total = (np.maximum(0.0, 1.0 - sign * (X * before).sum(axis=1)) ** 2).sum()
    length = 1.0 / (sign * (X @ u)).min()  # of the multiple of u that gives every row a margin of 1
    assert total <= (np.linalg.norm(X, axis=1).max() * length) ** 2 * (1 + 1e-9)


@given(separable_streams(), st.sampled_from((0.01, 0.1, 1.0)), st.sampled_from((0.01, 0.3)), st.floats(0.0, 10.0))
def test_the_regret_of_norma_is_bounded_against_any_vector(stream, eta, lam, length):
    X, sign, direction = stream
    rng = np.random.default_rng(len(X))
    sign = np.where(rng.random(len(X)) < 0.2, -sign, sign)  # what cannot be separated is covered, too
    u = length * direction
    after = learnt(NormaStep(eta=eta, lam=lam), X, sign)
    before = np.vstack([np.zeros(X.shape[1]), after[:-1]])

    def objectives(weights):
        return 0.5 * lam * (weights**2).sum(axis=-1) + np.maximum(0.0, 1.0 - sign * (X * weights).sum(axis=1))

    gradients = (before - after) / eta
    bound = u @ u / (2.0 * eta) + 0.5 * eta * (gradients**2).sum()
    assert (objectives(before) - objectives(np.broadcast_to(u, X.shape))).sum() <= bound + 1e-9
