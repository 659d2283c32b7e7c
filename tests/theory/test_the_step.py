"""Questions 1 to 7 (docs/theory/the-step.md): the margin, the perceptron, the losses, the minimizer, the gradient."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos import PegasosClassifier
from pegasos.problem import Rows
from pegasos.solvers.online import Labels, OnlineLearner, PegasosStep, PerceptronStep
from pegasos.solvers.pegasos import Pegasos
from tests.problems import awkward_problem, small_problems
from tests.reference.objective import PlainProblem
from tests.theory.runs import gradient, margins, textbook_problems, with_vectors

numbers = st.floats(-100.0, 100.0)


def hinge(z):
    return np.maximum(0.0, 1.0 - z)


@given(with_vectors(textbook_problems(), 1))
def test_the_margin_is_positive_exactly_where_the_prediction_is_right(case):
    plain, w = case
    score = plain.X @ w
    decided = score != 0.0
    assert ((margins(plain, w) > 0.0) == (np.sign(score) == plain.sign))[decided].all()
    np.testing.assert_array_equal(np.abs(margins(plain, w)), np.abs(score))


@st.composite
def streams(draw, entries):
    """Rows in the order of a stream, with their signs."""
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(entries, min_size=n * d, max_size=n * d)), dtype=np.float64).reshape(n, d)
    return X, np.array(draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n)))


def learnt(rule, X, sign):
    """The weights that a rule of the library leaves after each row."""
    learner, rows = OnlineLearner(rule), Rows.of(X, 0.0)
    labels = Labels((sign > 0).astype(np.intp), np.ones(len(X)))
    state, weights = learner.start(1, X.shape[1]), []
    for row in range(len(X)):
        learner.advance(state, rows, labels, np.array([row], dtype=np.uint32))
        weights.append(learner.weights(state)[0, :-1].copy())
    return np.array(weights)


@given(streams(st.sampled_from((-1.5, -0.3, 0.0, 0.4, 2.0))), st.sampled_from((0.01, 0.3, 2.0)))
def test_pegasos_moves_as_a_perceptron_whose_threshold_rises(stream, lam):
    X, sign = stream
    v = np.zeros(X.shape[1])
    for t, (x, y, w) in enumerate(zip(X, sign, learnt(PegasosStep(lam), X, sign), strict=True), start=1):
        product, threshold = y * (v @ x), lam * (t - 1) if t > 1 else np.inf
        if abs(product - threshold) < 1e-9 * (1.0 + abs(product)):
            return  # rounding decides
        v = v + y * x if product < threshold else v
        np.testing.assert_allclose(lam * t * w, v, rtol=1e-9, atol=1e-9)


@given(streams(st.integers(-3, 3)))
def test_on_integers_and_a_tiny_lam_pegasos_is_the_perceptron(stream):
    X, sign = stream
    lam = 0.5 / len(X)
    steps = np.arange(1, len(X) + 1)[:, None]
    perceptron = learnt(PerceptronStep(), X, sign)
    np.testing.assert_allclose(lam * steps * learnt(PegasosStep(lam), X, sign), perceptron, atol=1e-9)


@given(numbers, numbers, st.floats(0.0, 1.0))
def test_the_hinge_is_convex_and_nowhere_below_the_step(a, b, share):
    assert hinge(a) >= (a < 0.0)
    between = share * a + (1.0 - share) * b
    assert hinge(between) <= share * hinge(a) + (1.0 - share) * hinge(b) + 1e-12 * (1.0 + abs(a) + abs(b))


@given(arrays(float, 3, elements=numbers), arrays(float, 3, elements=numbers), arrays(float, 3, elements=numbers))
def test_no_point_of_the_boundary_is_nearer_than_the_geometric_margin(w, x, other):
    square = w @ w
    if square < 1e-6:
        return
    distance = abs(w @ x) / np.sqrt(square)
    nearest, on_boundary = (point - (w @ point) / square * w for point in (x, other))
    rounding = 1e-9 * (1.0 + np.linalg.norm(x) + np.linalg.norm(other))
    assert np.linalg.norm(x - nearest) == pytest.approx(distance, abs=rounding)
    assert np.linalg.norm(x - on_boundary) >= distance - rounding


def test_the_geometric_margin_of_a_model_is_that_distance():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    y = X[:, 0] + 0.3 * random.normal(size=60) > 0.2
    model = PegasosClassifier(lam=0.01, random_state=0).fit(X, y)
    w, score = model.coef_[0], model.decision_function(X)
    feet = X - (score / (w @ w))[:, None] * w
    np.testing.assert_allclose(model.decision_function(feet), 0.0, atol=1e-12)
    expected = np.where((score > 0) == y, 1.0, -1.0) * np.linalg.norm(X - feet, axis=1)
    np.testing.assert_allclose(model.margin(X, y, geometric=True), expected)


@given(with_vectors(small_problems()))
def test_halfway_between_two_points_the_objective_lies_below_their_mean_by_so_much(case):
    plain, u, v = case
    mean = 0.5 * (plain.primal(u) + plain.primal(v))
    assert plain.primal(0.5 * (u + v)) <= mean - plain.lam / 8.0 * ((u - v) @ (u - v)) + 1e-12 * (1.0 + mean)


@given(small_problems(offsets=(0.0,)))
def test_the_first_step_takes_every_row_to_its_bound(problem):
    solver = Pegasos(batch_size=problem.rows.n_rows, sampling="sequential")
    state = solver.start(problem, 0)
    solver.step(problem, state, 1)
    weights, alpha = solver.point(problem, state)
    plain = PlainProblem.of(problem)
    np.testing.assert_allclose(alpha, problem.cost)
    expected = (plain.cost * plain.sign) @ plain.X / (plain.lam * plain.total)
    np.testing.assert_allclose(weights, expected, atol=1e-9 / plain.lam)


def test_a_step_with_all_rows_follows_the_gradient():
    problem = awkward_problem()
    plain = PlainProblem.of(problem)
    solver = Pegasos(batch_size=problem.rows.n_rows, sampling="sequential")
    state = solver.start(problem, 0)
    for t in range(1, 60):
        before, _ = solver.point(problem, state)
        solver.step(problem, state, 1)
        after, _ = solver.point(problem, state)
        followed = before - gradient(plain, before) / (plain.lam * t)
        np.testing.assert_allclose(after, followed, atol=1e-11 * (1.0 + np.abs(before).max()))


@given(with_vectors(small_problems()))
def test_the_gradient_is_that_of_finite_differences(case):
    plain, w, direction = case
    h = 1e-6
    steps = np.abs(plain.X @ direction) * h
    if (np.abs(margins(plain, w) - 1.0) <= 2.0 * steps + 1e-9).any():
        return  # at a kink there is none
    slope = (plain.primal(w + h * direction) - plain.primal(w - h * direction)) / (2.0 * h)
    scale = 1.0 + plain.primal(w) / h * 1e-9 + abs(slope)
    assert slope == pytest.approx(gradient(plain, w) @ direction, abs=1e-6 * scale)


@given(with_vectors(small_problems()))
def test_the_gradient_bounds_the_objective_from_below(case):
    plain, w, u = case
    bound = plain.primal(w) + gradient(plain, w) @ (u - w)
    assert plain.primal(u) >= bound - 1e-12 * (1.0 + abs(bound) + plain.primal(w))


def test_the_two_losses_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "hinge_loss.py"))["main"](str(tmp_path / "losses.png"))
    assert (tmp_path / "losses.png").stat().st_size > 10_000
