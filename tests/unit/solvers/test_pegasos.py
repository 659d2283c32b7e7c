"""The native loop of Pegasos against the transcription of the paper, and what holds at every step."""

import pickle
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from pegasos.certificate import dual_point
from pegasos.solvers.pegasos import Pegasos
from tests.problems import LAYOUTS, PRECISIONS, awkward_problem
from tests.reference import pegasos as reference
from tests.reference.objective import PlainProblem

N_ROWS = 41
LOOKS = (*range(1, 21), *range(27, 100, 7), *range(100, 1001, 50))  # after steps of 1, of 7, of 50
SAMPLINGS = ("shuffle", "uniform", "balanced", "sequential")
RULES = [
    {"sampling": sampling, "batch_size": batch_size, "projection": projection}
    for sampling, batch_size, projection in product(SAMPLINGS, (1, 4, N_ROWS), (False, True))
]
SEED = 11


def told(rule):
    return " ".join(f"{name}={value}" for name, value in rule.items())


@cache
def transcribed(cap=1.0, ridge=0.0, lam=0.02, **rule):
    """At each look: the iterate, its dual point, their averages, and the closest call, by the transcription."""
    problem = replace(awkward_problem(lam=lam), cap=cap, ridge=ridge)
    paper = reference.Pegasos(PlainProblem.of(problem), seed=SEED, **rule)
    seen = []
    for look in LOOKS:
        while paper.t < look:
            paper.step()
        seen.append((look, paper.w.copy(), paper.alpha.copy(), *paper.mean(), paper.closest))
    return seen


def looks_that_rounding_cannot_change(rule, tolerance):
    """The looks before the first margin that is 1 as far as this precision can tell."""
    seen = [look for *look, closest in transcribed(**rule) if closest > tolerance / 40]
    assert seen[-1][0] == 1000 if tolerance < 1e-9 else seen[-1][0] >= 400
    return seen


def assert_close(value, expected, tolerance):
    np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("loss", [(np.inf, 0.5), (1.0, 0.3), (0.7, 1.0), (2.5, 0.0)], ids=str)
@pytest.mark.parametrize("rule", RULES, ids=told)
def test_every_loss_equals_the_transcription_for_a_thousand_steps(rule, loss):
    # While steps are longer than the curvature of the loss allows, they magnify rounding: a large lam makes these few.
    problem = replace(awkward_problem("csr int32", lam=2.0), cap=loss[0], ridge=loss[1])
    solver = Pegasos(**rule)
    state = solver.start(problem, SEED)
    for look, w, alpha, *_, closest in transcribed(*loss, lam=2.0, **rule):
        solver.step(problem, state, look - state.counters.step)
        weights, dual = solver.point(problem, state)
        if closest > 1e-9:
            assert_close(weights, w, 1e-9)
            assert_close(dual, alpha, 1e-9)
    assert state.counters.step == 1000


@pytest.mark.parametrize("rule", RULES, ids=told)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_native_equals_the_transcription_for_a_thousand_steps(layout, precision, rule):
    row_type, weight_type, tolerance = PRECISIONS[precision]
    problem = awkward_problem(layout, row_type)
    solver = Pegasos(**rule, dtype=weight_type)
    state = solver.start(problem, SEED)
    for look, w, alpha, _, _ in looks_that_rounding_cannot_change(rule, tolerance):
        solver.step(problem, state, look - state.counters.step)
        weights, dual = solver.point(problem, state)
        assert_close(weights, w, tolerance)
        assert_close(dual, alpha, tolerance)
    assert state.weights.dtype == state.alphas.dtype == weight_type


@pytest.mark.parametrize("rule", RULES, ids=told)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("average", ["uniform", "tail"])
def test_averages_equal_the_means_of_the_transcription(average, precision, rule):
    row_type, weight_type, tolerance = PRECISIONS[precision]
    problem = awkward_problem("csr int32", row_type)
    solver = Pegasos(**rule, average=average, dtype=weight_type)
    state = solver.start(problem, SEED)
    for look, _, _, w, alpha in looks_that_rounding_cannot_change({**rule, "average": average}, tolerance):
        solver.advance_to(problem, state, look * solver.batch_size)
        weights, dual = solver.point(problem, state)
        assert_close(weights, w, tolerance)
        assert_close(dual, alpha, tolerance)


def test_the_rules_differ_from_each_other():
    finals = [transcribed(**rule)[-1][1] for rule in RULES if rule["batch_size"] != N_ROWS]
    for k, final in enumerate(finals):
        assert all(np.abs(final - other).max() > 1e-3 for other in finals[:k])


@pytest.mark.parametrize("rule", RULES, ids=told)
@pytest.mark.parametrize("average", [None, "uniform", "tail"])
def test_the_weights_are_those_of_the_dual_point_at_every_look(average, rule):
    problem = awkward_problem()
    plain = PlainProblem.of(problem)
    solver = Pegasos(**rule, average=average)
    state = solver.start(problem, SEED)
    beyond_cost = False
    for look in LOOKS:
        solver.advance_to(problem, state, look * solver.batch_size)
        weights, alpha = solver.point(problem, state)
        assert_close(weights, plain.weights_of(alpha), 1e-11)
        clipped_weights, dual = dual_point(problem, alpha)
        assert_close(clipped_weights, plain.weights_of(plain.clip(alpha)), 1e-11)
        assert dual == pytest.approx(plain.dual(plain.clip(alpha)), rel=1e-11)
        beyond_cost |= bool((alpha > plain.cost * 1.01).any())
    assert beyond_cost or rule["sampling"] != "uniform" or average  # so that clipping was really at work


@pytest.mark.parametrize("average", [None, "uniform", "tail"])
@pytest.mark.parametrize("rule", RULES, ids=told)
def test_resuming_equals_running_straight_through(rule, average):
    problem = awkward_problem("csr int64", np.float32)
    solver = Pegasos(**rule, average=average, dtype=np.float32)
    straight, resumed = solver.start(problem, SEED), solver.start(problem, SEED)
    solver.advance_to(problem, straight, 400 * solver.batch_size)
    for look in (1, 2, 9, 40, 41, 42, 100, 170, 399, 400):
        solver.advance_to(problem, resumed, look * solver.batch_size)
        resumed = pickle.loads(pickle.dumps(resumed))
    assert pickle.dumps(resumed.counters) == pickle.dumps(straight.counters)
    for name in ("weights", "alphas", "weight_sums", "alpha_sums", "order"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(straight, name), err_msg=name)


@pytest.mark.parametrize("batch_size", [1, 4, N_ROWS])
@pytest.mark.parametrize("projection", [False, True])
def test_whole_shuffled_epochs_leave_a_feasible_dual_point(batch_size, projection):
    problem = awkward_problem(lam=0.5)
    solver = Pegasos(batch_size=batch_size, projection=projection)
    state = solver.start(problem, SEED)
    for epochs in range(4, 41, 4):  # four epochs are a whole number of batches of four
        solver.advance_to(problem, state, epochs * N_ROWS)
        assert solver.visits(state) == epochs * N_ROWS
        _, alpha = solver.point(problem, state)
        assert (alpha >= 0.0).all()
        assert (alpha <= problem.cost * (1 + 1e-12)).all()
        assert (alpha > 0.9 * problem.cost).any()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch_size", [1, 4])
def test_the_norm_kept_along_equals_its_recomputation(batch_size, layout, precision):
    row_type, weight_type, tolerance = PRECISIONS[precision]
    problem = awkward_problem(layout, row_type)
    solver = Pegasos(batch_size=batch_size, projection=True, dtype=weight_type)
    state = solver.start(problem, SEED)
    touched = 0
    for look in LOOKS:
        solver.step(problem, state, look - state.counters.step)
        weights = state.weights.astype(np.float64)
        assert state.counters.squared_norm == pytest.approx(weights @ weights, rel=10 * tolerance)
        norm = np.linalg.norm(solver.point(problem, state)[0])
        assert norm <= problem.radius * (1 + 10 * tolerance)
        touched += norm >= problem.radius * (1 - 10 * tolerance)
    assert touched > 0


@pytest.mark.parametrize("average", [None, "uniform"])
def test_a_scale_near_the_end_of_its_range_changes_nothing(average):
    problem = awkward_problem()
    solver = Pegasos(projection=True, average=average)
    near, far = solver.start(problem, SEED), solver.start(problem, SEED)
    for state in (near, far):
        solver.step(problem, state, 100)
    tiny = 1.5e-9 / far.counters.scale  # the same point, written with a scale that soon is brought back to 1
    far.counters.scale *= tiny
    far.counters.scale_sum *= tiny
    far.counters.squared_norm /= tiny**2
    far.weights /= tiny
    far.alphas /= tiny
    for state in (near, far):
        solver.step(problem, state, 200)
    assert far.counters.scale > 0.1
    for one, other in zip(solver.point(problem, far), solver.point(problem, near), strict=True):
        assert_close(one, other, 1e-10)


def test_entering_with_weights_of_other_rows_continues_from_them():
    problem = awkward_problem()
    solver = Pegasos()
    start = np.linspace(-1.0, 1.0, problem.rows.n_features + 1)
    state = solver.enter(problem, start.copy(), step=500, seed=SEED)
    paper = reference.Pegasos(PlainProblem.of(problem), seed=SEED)
    paper.t, paper.w = 500, start.copy()
    for _ in range(200):
        solver.step(problem, state, 1)
        paper.step()
        assert_close(solver.point(problem, state)[0], paper.w, 1e-11)
