"""Blocks of kernel values and the shared loop give what the dual form gives, item by item."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.kernels import RBF, Linear, Polynomial, Spectrum
from pegasos.problem import Rows
from pegasos.solvers import kernel_online
from pegasos.solvers.kernel_online import KernelOnlineLearner, NormaStep
from pegasos.solvers.online import Labels, OnlineLearner, PerceptronStep
from tests.problems import LAYOUTS, in_layout
from tests.reference.online import kernel_run

CASES = {
    "perceptron": (PerceptronStep(), None, {"rule": "perceptron"}),
    "perceptron, budget": (PerceptronStep(), 15, {"rule": "perceptron", "budget": 15}),
    "norma": (NormaStep(0.4, 0.01), None, {"rule": "norma", "eta": 0.4, "lam": 0.01}),
    "norma, truncated": (NormaStep(0.4, 0.05), 25, {"rule": "norma", "eta": 0.4, "lam": 0.05, "budget": 25}),
    "norma, nu": (NormaStep(0.2, 0.01, 0.3), 40, {"rule": "norma", "eta": 0.2, "lam": 0.01, "nu": 0.3, "budget": 40}),
    "norma, strong": (NormaStep(0.9, 0.9), None, {"rule": "norma", "eta": 0.9, "lam": 0.9}),
}


def sample(n_classes, n=120):
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 6)) * (random.random((n, 6)) < 0.8)
    codes = np.argmax(X[:, :n_classes] + 0.4 * random.normal(size=(n, n_classes)), axis=1)
    order = np.concatenate([random.permutation(n) for _ in range(5)]).astype(np.uint32)
    return X, Labels(codes, random.uniform(0.3, 1.7, n)), order


def learnt(learner, kernel, items, labelled, n_problems=1):
    labels, order = labelled
    state = learner.start(n_problems, len(items), 0)
    learner.advance(state, kernel, items, labels, order)
    return state


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CASES)
def test_blocks_equal_the_dual_form_item_by_item(name, n_classes, layout, monkeypatch):
    monkeypatch.setattr(kernel_online, "_BLOCK_ROWS", 32)
    rule, budget, settings = CASES[name]
    X, labels, order = sample(n_classes)
    n_problems = 1 if n_classes == 2 else n_classes
    kernel = RBF(0.3)
    coefficients, support, mistakes, rho = kernel_run(kernel.block(X, X) + 0.25, labels, order, n_problems, **settings)
    learner = KernelOnlineLearner(rule, budget, "oldest", 0.5)
    state = learnt(learner, kernel, kernel.read(in_layout(X, layout)), (labels, order), n_problems)
    assert state.vectors == pytest.approx(coefficients, rel=1e-9, abs=1e-12)
    assert list(state.support) == support
    assert state.counters.mistakes == mistakes
    assert state.rho == pytest.approx(rho)


@given(st.integers(1, 200), st.sampled_from(sorted(CASES)))
def test_the_size_of_a_block_does_not_matter(size, name):
    rule, budget, _ = CASES[name]
    X, labels, order = sample(3)
    kernel = Polynomial(2, 0.5)
    learner = KernelOnlineLearner(rule, budget)
    whole = learnt(learner, kernel, kernel.read(X), (labels, order[:200]), 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_online, "_BLOCK_ROWS", size)
        pieces = learnt(learner, kernel, kernel.read(X), (labels, order[:200]), 3)
    assert pieces.vectors == pytest.approx(whole.vectors, rel=1e-8, abs=1e-12)
    assert np.array(pieces.curve.points) == pytest.approx(np.array(whole.curve.points), rel=1e-9)


def test_with_the_linear_kernel_it_is_the_linear_perceptron():
    X, labels, order = sample(3)
    kernel = Linear()
    state = learnt(KernelOnlineLearner(PerceptronStep(), bias=0.5), kernel, kernel.read(X), (labels, order), 3)
    linear = OnlineLearner(PerceptronStep())
    expected = linear.start(3, X.shape[1])
    linear.advance(expected, Rows.of(X, 0.5), labels, order)
    assert state.vectors @ X == pytest.approx(linear.weights(expected)[:, :-1])
    assert state.counters.mistakes == expected.counters.mistakes


def test_a_random_removal_keeps_to_the_budget_and_to_its_seed():
    X, labels, order = sample(2)
    kernel = RBF(0.3)
    learner = KernelOnlineLearner(PerceptronStep(), 12, "random")
    first, second = (learnt(learner, kernel, kernel.read(X), (labels, order)) for _ in range(2))
    oldest = learnt(KernelOnlineLearner(PerceptronStep(), 12), kernel, kernel.read(X), (labels, order))
    assert (first.vectors == second.vectors).all()
    assert len(first.support) == 12 == np.count_nonzero(first.vectors)
    assert list(first.support) != list(oldest.support)


def test_single_precision_is_near_double():
    X, labels, order = sample(2)
    kernel = RBF(0.3)
    learner = KernelOnlineLearner(NormaStep(0.4, 0.01), 30)
    wide = learnt(learner, kernel, kernel.read(X.astype(np.float32).astype(np.float64)), (labels, order))
    narrow = learnt(learner, kernel, kernel.read(X.astype(np.float32)), (labels, order))
    assert narrow.vectors == pytest.approx(wide.vectors, abs=1e-4)


def test_strings_are_learnt_through_their_kernel():
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("ab" if k % 2 else "bc"), 8)) for k in range(60)]
    codes = np.arange(60) % 2
    labels, order = Labels(codes, np.ones(60)), np.arange(60, dtype=np.uint32)
    kernel = Spectrum(2)
    expected, *_ = kernel_run(kernel.block(words, words) + 1.0, labels, order, 1, rule="perceptron", budget=6)
    state = learnt(KernelOnlineLearner(PerceptronStep(), 6), kernel, kernel.read(words), (labels, order))
    assert state.vectors == pytest.approx(expected)
