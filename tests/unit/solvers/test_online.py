"""Every rule does what its transcription does, step by step, whatever the rows are made of."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.problem import Rows
from pegasos.solvers.kernel_online import NormaStep
from pegasos.solvers.online import (
    ArowStep,
    ConfidenceWeightedStep,
    Labels,
    OnlineLearner,
    PassiveAggressiveStep,
    PegasosStep,
    PerceptronStep,
)
from tests.problems import LAYOUTS, in_layout
from tests.reference import online as reference

RULES = {
    "perceptron": (PerceptronStep(), reference.perceptron),
    "pa": (PassiveAggressiveStep("pa"), reference.passive_aggressive("pa", 1.0)),
    "pa-1": (PassiveAggressiveStep("pa-1", 0.02), reference.passive_aggressive("pa-1", 0.02)),
    "pa-2": (PassiveAggressiveStep("pa-2", 0.3), reference.passive_aggressive("pa-2", 0.3)),
    "cw": (ConfidenceWeightedStep(0.8), reference.confidence_weighted(0.8)),
    "arow": (ArowStep(0.7), reference.arow(0.7)),
    "pegasos": (PegasosStep(0.01), reference.pegasos(0.01)),
}


def sample(n_classes=2, *, dtype=np.float64, seed=0, noise=0.3, n=90, d=37):
    """Sparse rows, one of zeros, with noisy classes and random costs; the numbers are those of float32."""
    random = np.random.default_rng(seed)
    X = (random.normal(size=(n, d)) * (random.random((n, d)) < 0.3)).astype(np.float32)
    X[3] = 0.0
    codes = np.argmax(X[:, :n_classes] + noise * random.normal(size=(n, n_classes)), axis=1)
    order = np.concatenate([random.permutation(n) for _ in range(12)])[:1000].astype(np.uint32)
    return X.astype(dtype), Labels(codes, random.uniform(0.2, 2.0, n)), order


def noise_for(name):
    """Where labels contradict each other CW soon knows everything for sure, and steps no more."""
    return 0.0 if name == "cw" else 0.3


def with_bias(X, bias):
    return np.column_stack([X.astype(np.float64), np.full(len(X), bias)])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RULES)
def test_a_thousand_steps_equal_the_transcription(name, dtype, layout):
    rule, step = RULES[name]
    X, labels, order = sample(dtype=dtype, noise=noise_for(name))
    iterates, variances, mistakes, losses, _ = reference.run(step, with_bias(X, 0.5), labels, order, 1)
    learner, rows = OnlineLearner(rule), Rows.of(in_layout(X, layout), 0.5)
    state = learner.start(1, X.shape[1])
    for begin in range(0, 1000, 50):  # every 50 steps: the lazy scale must be right in between too
        learner.advance(state, rows, labels, order[begin : begin + 50])
        assert learner.weights(state) == pytest.approx(iterates[begin + 49], rel=1e-9, abs=1e-11)
    curve, loss_curve = state.curve.up_to(state.counters)
    assert (curve[:, 1] == mistakes[curve[:, 0] - 1]).all()
    assert loss_curve[:, 1] == pytest.approx(losses[curve[:, 0] - 1])
    if state.variances is not None:
        used = with_bias(X, 0.5).any(axis=0)
        assert state.variances[:, used] == pytest.approx(variances[:, used], rel=1e-9)


@pytest.mark.parametrize("name", RULES)
def test_several_classes_equal_the_transcription(name):
    rule, step = RULES[name]
    X, labels, order = sample(n_classes=4, noise=noise_for(name))
    iterates, _, mistakes, losses, _ = reference.run(step, with_bias(X, 1.0), labels, order, 4)
    learner = OnlineLearner(rule)
    state = learner.start(4, X.shape[1])
    learner.advance(state, Rows.of(X, 1.0), labels, order)
    assert learner.weights(state) == pytest.approx(iterates[-1], rel=1e-9, abs=1e-11)
    assert state.counters.mistakes == mistakes[-1]
    assert state.counters.loss == pytest.approx(losses[-1])


@pytest.mark.parametrize("name", ["perceptron", "pa-1", "pegasos"])
def test_the_average_is_the_mean_of_the_vectors_after_each_row(name):
    rule, step = RULES[name]
    X, labels, order = sample(n_classes=3)
    iterates = reference.run(step, with_bias(X, 1.0), labels, order, 3)[0]
    learner = OnlineLearner(rule, "averaged")
    state = learner.start(3, X.shape[1])
    learner.advance(state, Rows.of(X, 1.0), labels, order)
    assert learner.weights(state) == pytest.approx(iterates.mean(axis=0), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("layout", LAYOUTS[:2])
def test_the_vote_is_that_of_all_vectors_as_long_as_they_lived(layout):
    X, labels, order = sample(n_classes=3)
    iterates = reference.run(reference.perceptron, with_bias(X, 1.0), labels, order, 3)[0]
    learner = OnlineLearner(PerceptronStep(), "voted")
    state = learner.start(3, X.shape[1])
    values = in_layout(X, layout)
    for part in np.array_split(order, 7):
        learner.advance(state, Rows.of(values, 1.0), labels, part)
    for k, votes in enumerate(state.votes):
        expected = reference.voted_scores(iterates[:, k], with_bias(X, 1.0))
        assert votes.scores(values, 1.0) == pytest.approx(expected, abs=1e-12)
        assert votes.lives.sum() == len(order)


def test_beyond_max_votes_the_oldest_vectors_vote_no_more():
    X, labels, order = sample()
    iterates = reference.run(reference.perceptron, with_bias(X, 1.0), labels, order, 1)[0][:, 0]
    learner = OnlineLearner(PerceptronStep(), "voted", max_votes=20)
    state = learner.start(1, X.shape[1])
    learner.advance(state, Rows.of(X, 1.0), labels, order)
    distinct = np.flatnonzero(np.any(np.diff(iterates, axis=0, prepend=0.0) != 0.0, axis=1))
    last_twenty = iterates[distinct[-20] :]
    expected = reference.voted_scores(last_twenty, with_bias(X, 1.0))
    assert len(distinct) > 100
    assert len(state.votes[0].lives) == 20
    assert state.votes[0].scores(X, 1.0) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=6), st.sampled_from(sorted(RULES)))
def test_a_stream_in_pieces_is_bit_equal_to_one_call(sizes, name):
    X, labels, order = sample(n_classes=3)
    order, keep = order[: sum(sizes)], "averaged" if name in ("perceptron", "pegasos") else "last"
    learner, rows = OnlineLearner(RULES[name][0], keep), Rows.of(X, 1.0)
    whole, pieces = learner.start(3, X.shape[1]), learner.start(3, X.shape[1])
    learner.advance(whole, rows, labels, order)
    for part in np.split(order, np.cumsum(sizes)[:-1]):
        learner.advance(pieces, rows, labels, part)
    assert (learner.weights(whole) == learner.weights(pieces)).all()
    assert whole.curve == pieces.curve


@pytest.mark.parametrize("name", RULES)
def test_a_stored_state_continues_as_if_nothing_had_happened(name):
    X, labels, order = sample()
    learner, rows = OnlineLearner(RULES[name][0]), Rows.of(X, 1.0)
    state = learner.start(1, X.shape[1])
    learner.advance(state, rows, labels, order[:300])
    stored = pickle.loads(pickle.dumps(state))
    for each in (state, stored):
        learner.advance(each, rows, labels, order[300:600])
    assert (learner.weights(state) == learner.weights(stored)).all()
    assert state.counters.step == stored.counters.step == 600


def test_many_shrinking_steps_do_not_overflow_the_scale():
    """A constant factor of 0.55: the lazy scale has to be folded back every 35 steps."""
    X, labels, order = sample()
    learner = OnlineLearner(NormaStep(0.5, 0.9))
    state = learner.start(1, X.shape[1])
    learner.advance(state, Rows.of(X, 1.0), labels, order)
    fixed = reference.run(reference.norma(0.5, 0.9, None), with_bias(X, 1.0), labels, order, 1)[0]
    assert learner.weights(state) == pytest.approx(fixed[-1], rel=1e-9, abs=1e-11)


def test_contradictory_labels_do_not_take_confidence_out_of_range():
    X, labels, order = sample(noise=1.0)
    learner = OnlineLearner(ConfidenceWeightedStep(0.99))
    state = learner.start(1, X.shape[1])
    learner.advance(state, Rows.of(X, 1.0), labels, np.resize(order, 20_000))
    assert np.isfinite(state.weights).all()
    assert (state.variances > 0.0).all()
    assert state.variances.min() < 1e-50


def test_the_perceptron_makes_no_more_mistakes_than_novikoff_allows():
    random = np.random.default_rng(1)
    X = random.normal(size=(400, 6))
    direction = np.ones(6) / np.sqrt(6.0)
    X = X[np.abs(X @ direction) > 0.3]
    codes = (X @ direction > 0.0).astype(np.intp)
    labels = Labels(codes, np.ones(len(X)))
    learner, rows = OnlineLearner(PerceptronStep()), Rows.of(X, 0.0)
    state = learner.start(1, 6)
    for _ in range(50):
        learner.advance(state, rows, labels, np.arange(len(X), dtype=np.uint32))
    bound = (np.square(X).sum(axis=1).max()) / np.abs(X @ direction).min() ** 2
    assert 0 < state.counters.mistakes <= bound


def test_the_curve_stays_short_on_a_long_stream():
    X, labels, _ = sample()
    learner, rows = OnlineLearner(PerceptronStep()), Rows.of(X, 0.0)
    state = learner.start(1, X.shape[1])
    learner.advance(state, rows, labels, np.resize(np.arange(len(X), dtype=np.uint32), 1_000_000))
    curve = state.curve.up_to(state.counters)[0]
    assert len(curve) < 300
    assert (curve[:40, 0] == np.arange(1, 41)).all()
    assert (np.diff(curve[:, 0]) > 0).all()
    assert curve[-1].tolist() == [1_000_000, state.counters.mistakes]
