"""The native loops on all classes against their transcriptions, and what holds at every step."""

import pickle
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from pegasos.certificate import certify, certify_dual, dual_point
from pegasos.solution import Status
from pegasos.solvers.crammer_singer import JointAscent, JointAuto, JointPegasos
from pegasos.solvers.driver import Stop, run
from tests.problems import LAYOUTS, PRECISIONS, awkward_joint_problem, joint_problem_of
from tests.reference import crammer_singer as reference
from tests.reference.joint_objective import PlainJointProblem

SEED = 7
LOOKS = (*range(1, 21), *range(27, 100, 7), *range(100, 601, 50))
RULES = [
    {"sampling": "shuffle", "batch_size": 1, "projection": False},
    {"sampling": "shuffle", "batch_size": 4, "projection": True},
    {"sampling": "uniform", "batch_size": 1, "projection": True},
    {"sampling": "uniform", "batch_size": 4, "projection": False},
    {"sampling": "sequential", "batch_size": 41, "projection": False},
]


def told(rule):
    return " ".join(f"{name}={value}" for name, value in rule.items())


def overlapping_problem(n_rows=300, n_classes=4, lam=0.01, **columns):
    """Clouds that overlap: some rows have their cost on one class, others share it among several."""
    random = np.random.default_rng(3)
    codes = np.arange(n_rows) % n_classes
    X = random.normal(size=(n_rows, 6))
    X[np.arange(n_rows), codes] += 1.5
    return joint_problem_of(X, codes, cost=random.uniform(0.1, 3.0, n_rows), lam=lam, bias=1.0, **columns)


def assert_close(value, expected, tolerance):
    np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@cache
def transcribed_pegasos(average, **rule):
    paper = reference.JointPegasos(PlainJointProblem.of(awkward_joint_problem()), average=average, seed=SEED, **rule)
    seen = []
    for look in LOOKS:
        while paper.t < look:
            paper.step()
        seen.append((look, paper.W.copy(), paper.alpha.copy(), *paper.mean(), paper.closest))
    return seen


@pytest.mark.parametrize("rule", RULES, ids=told)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pegasos_equals_its_transcription_step_by_step(layout, precision, rule):
    row_type, weight_type, tolerance = PRECISIONS[precision]
    problem = awkward_joint_problem(layout, row_type)
    solver = JointPegasos(**rule, dtype=weight_type)
    state = solver.start(problem, SEED)
    for look, W, alpha, _, _, closest in transcribed_pegasos("uniform", **rule):
        if closest <= tolerance / 40:  # rounding may decide otherwise
            assert look > 100
            break
        solver.step(problem, state, look - state.counters.step)
        weights, dual = solver.point(problem, state)
        assert_close(weights, W, tolerance)
        assert_close(dual, alpha, tolerance)
    assert state.weights.dtype == state.alphas.dtype == weight_type


@pytest.mark.parametrize("rule", RULES, ids=told)
@pytest.mark.parametrize("average", ["uniform", "tail"])
def test_averages_equal_the_means_of_the_transcription(average, rule):
    problem = awkward_joint_problem("csr int32")
    solver = JointPegasos(**rule, average=average)
    state = solver.start(problem, SEED)
    for look, _, _, W, alpha, _ in transcribed_pegasos(average, **rule):
        solver.advance_to(problem, state, look * solver.batch_size)
        weights, dual = solver.point(problem, state)
        assert_close(weights, W, 1e-10)
        assert_close(dual, alpha, 1e-10)


@pytest.mark.parametrize("rule", RULES, ids=told)
@pytest.mark.parametrize("average", [None, "tail"])
def test_the_weights_of_pegasos_are_those_of_its_dual_point(average, rule):
    problem = awkward_joint_problem()
    plain, solver = PlainJointProblem.of(problem), JointPegasos(**rule, average=average)
    state = solver.start(problem, SEED)
    for look in LOOKS:
        solver.advance_to(problem, state, look * solver.batch_size)
        weights, alpha = solver.point(problem, state)
        assert_close(weights, plain.weights_of(alpha), 1e-11)
        clipped_weights, dual = dual_point(problem, alpha)
        assert_close(problem.within_bounds(alpha), plain.clip(alpha), 1e-12)
        assert_close(clipped_weights, plain.weights_of(plain.clip(alpha)), 1e-11)
        assert dual == pytest.approx(plain.dual(plain.clip(alpha)), rel=1e-11)
        if rule["projection"]:
            assert np.linalg.norm(weights) <= plain.radius() * (1 + 1e-9)
        if solver.visits(state) % 41 == 0 and rule["sampling"] != "uniform" and average is None:
            assert (alpha.sum(axis=1) <= problem.cost * (1 + 1e-12)).all()


# Few features leave rows over that are right by more than 1; many use every branch of the loops over a row.
SIZES = {2: 6, 5: 6, 19: 87}


@cache
def transcribed_ascent(n_classes):
    problem = awkward_joint_problem(n_classes=n_classes, n_features=SIZES[n_classes])
    paper = reference.JointAscent(PlainJointProblem.of(problem), seed=SEED)
    seen = []
    for _ in range(600):
        paper.visit()
        seen.append((paper.W.copy(), paper.alpha.copy(), len(paper.order), paper.sweep_gap))
    return seen


@pytest.mark.parametrize("n_classes", SIZES)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dual_ascent_equals_its_transcription_visit_by_visit(layout, precision, n_classes):
    row_type, weight_type, tolerance = PRECISIONS[precision]
    problem = awkward_joint_problem(layout, row_type, n_classes=n_classes, n_features=SIZES[n_classes])
    solver = JointAscent(weight_type)
    state = solver.start(problem, SEED)
    narrow = weight_type == np.float32
    for visit, (W, alpha, active, gap) in enumerate(transcribed_ascent(n_classes)[: 60 if narrow else None], start=1):
        solver.advance_to(problem, state, visit)
        weights, dual = solver.point(problem, state)
        assert_close(weights, W, tolerance)
        assert_close(dual, alpha, tolerance)
        if not narrow:
            assert state.counters.active == active
            assert state.counters.sweep_gap == pytest.approx(min(gap, 1e300), rel=1e-7)
    assert state.weights.dtype == state.alpha.dtype == weight_type


def test_rows_really_left_the_sweep_and_came_back():
    active = [active for *_, active, _ in transcribed_ascent(5)]
    assert 0 < min(a for a in active if a) < 30
    assert any(later > sooner for sooner, later in pairwise(active))


@pytest.mark.parametrize("solver", [JointPegasos(average="tail", dtype=np.float32), JointAscent(np.float32)])
def test_resuming_equals_running_straight_through(solver):
    problem = awkward_joint_problem("csr int64", np.float32)
    straight, resumed = solver.start(problem, SEED), solver.start(problem, SEED)
    solver.advance_to(problem, straight, 400)
    for visits in (1, 2, 40, 41, 42, 99, 350, 399, 400):
        solver.advance_to(problem, resumed, visits)
        resumed = pickle.loads(pickle.dumps(resumed))
    assert pickle.dumps(resumed.counters) == pickle.dumps(straight.counters)
    for name in ("weights", "order", "alphas" if isinstance(solver, JointPegasos) else "alpha"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(straight, name), err_msg=name)


def test_the_dual_value_never_falls_and_the_point_stays_within_its_bounds():
    problem = overlapping_problem(lam=0.1)
    plain, solver = PlainJointProblem.of(problem), JointAscent()
    state = solver.start(problem, SEED)
    values = [0.0]
    for visits in range(1, 1500):
        solver.advance_to(problem, state, visits)
        values.append(plain.dual(state.alpha))
        assert solver.dual(problem, state) == pytest.approx(values[-1], rel=1e-10)
    assert (state.alpha >= 0.0).all()
    assert (state.alpha.sum(axis=1) <= problem.cost * (1 + 1e-15)).all()
    assert not state.alpha[np.arange(300), problem.codes].any()
    assert np.diff(values).min() >= -1e-15
    assert values[-1] > 0.9 * plain.primal(solver.point(problem, state)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_zeros_give_their_cost_to_the_best_claim_and_the_gap_closes(layout, dtype):
    X = np.vstack([np.zeros((3, 3)), np.eye(3), np.eye(3)])
    offset = np.zeros((9, 3))
    offset[0], offset[1], offset[2] = (0.0, 0.5, 0.2), (2.0, 0.0, 0.5), (0.0, -2.0, 0.0)
    problem = joint_problem_of(
        X, [0, 0, 1, 0, 1, 2, 0, 1, 2], cost=0.7, offset=offset, lam=0.1, layout=layout, dtype=dtype
    )
    solution = run(problem, JointAscent(dtype), Stop(tol=1e-6))
    # The claims of the first are 0, 1.5, 1.2; the second is right by more than 1; the third loses to two alike.
    np.testing.assert_allclose(solution.alpha[:2], [[0.0, 0.7, 0.0], [0.0, 0.0, 0.0]], rtol=1e-6)
    assert solution.alpha[2].sum() == pytest.approx(0.7, rel=1e-6)
    assert solution.status is Status.CERTIFIED


@pytest.mark.parametrize("solver", [JointAscent(), JointAuto(JointPegasos(), JointAscent(), 1e-7)])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("lam", [1e-3, 1.0])
def test_shrinking_loses_nothing(lam, layout, solver):
    problem = overlapping_problem(lam=lam, layout=layout)
    solution = run(problem, solver, Stop(tol=1e-7, max_iter=50_000))
    assert solution.status is Status.CERTIFIED
    plain = PlainJointProblem.of(problem)
    gap = plain.primal(solution.weights) - plain.dual(plain.clip(solution.alpha))
    assert gap <= 1.01e-7 * plain.primal(solution.weights)


def test_auto_begins_with_pegasos_where_that_is_enough():
    problem = overlapping_problem(lam=50.0)
    solver = JointAuto(JointPegasos(), JointAscent(), 0.05)
    state = solver.start(problem, SEED)
    assert state.pegasos is not None
    assert run(problem, solver, Stop(tol=0.05), state=state).status is Status.CERTIFIED


def test_a_hundred_classes_most_of_them_absent_are_certified():
    random = np.random.default_rng(0)
    codes = random.choice([3, 17, 42, 99], 120)
    X = random.normal(size=(120, 8)) + codes[:, None] / 50
    problem = joint_problem_of(X, codes, n_classes=100, lam=0.05, bias=1.0)
    solution = run(problem, JointAscent(), Stop(tol=1e-6, max_iter=20_000))
    assert solution.status is Status.CERTIFIED
    assert solution.weights.shape == (100, 9)
    assert solution.certificate.primal == pytest.approx(PlainJointProblem.of(problem).primal(solution.weights))


def test_the_certificate_is_that_of_numpy_for_any_weights_and_any_dual_point():
    for n_classes in (2, 5, 19):
        problem = awkward_joint_problem("csr int32", np.float32, n_classes=n_classes)
        plain, random = PlainJointProblem.of(problem), np.random.default_rng(n_classes)
        W, alpha = random.normal(size=problem.weights_shape), random.normal(size=problem.alpha_shape)
        proof = certify(problem, W, alpha)
        assert proof.primal == pytest.approx(plain.primal(W), rel=1e-12)
        assert proof.dual == pytest.approx(plain.dual(plain.clip(alpha)), rel=1e-12)
        own, weights = certify_dual(problem, alpha)
        assert_close(weights, plain.weights_of(plain.clip(alpha)), 1e-12)
        assert own.primal == pytest.approx(plain.primal(weights), rel=1e-12)
        assert problem.radius == pytest.approx(plain.radius(), rel=1e-12)


def test_numbers_beyond_the_range_of_the_machine_end_in_the_zero_vector():
    problem = joint_problem_of(1e200 * np.eye(4), [0, 1, 2, 0])
    solution = run(problem, JointPegasos(), Stop(tol=1e-3, max_iter=3))
    assert solution.status is Status.OVERFLOW
    assert not solution.weights.any()
    assert solution.weights.shape == problem.weights_shape
    assert solution.alpha.shape == problem.alpha_shape
