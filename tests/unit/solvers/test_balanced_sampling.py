"""The two signs drawn in turn: which rows, how much they count, and that the problem stays the same."""

from itertools import islice

import numpy as np
import pytest

from pegasos.certificate import better_within_bounds, certify, dual_point, stretched
from pegasos.kernels import Linear
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.kernel_pegasos import KernelPegasos
from pegasos.solvers.pegasos import Pegasos
from tests.problems import awkward_kernel_problem, kernel_problem_of, problem_of
from tests.reference import kernel_pegasos as kernel_reference
from tests.reference import pegasos as reference

FAR = -1e9  # an offset by which every row of either sign violates, whenever it is visited


def signs(n_negative, n_positive):
    """In an order that groups nothing."""
    return np.random.default_rng(0).permutation(np.repeat([-1, 1], [n_negative, n_positive]))


def violating(sign):
    """Each row has a feature of its own."""
    return problem_of(np.eye(len(sign)), sign, offset=FAR * sign)


def visits_of(sign, seed, n_visits):
    """The rows that native steps visit, and what each visit added to its alpha, in units of 1/t."""
    problem, solver = violating(sign), Pegasos(sampling="balanced")
    state = solver.start(problem, seed)
    rows, gains = [], []
    for step in range(1, n_visits + 1):
        before = solver.point(problem, state)[1] * (step - 1) / step
        solver.step(problem, state, 1)
        gain = (solver.point(problem, state)[1] - before) * step
        rows.extend(np.flatnonzero(gain > 1e-6))
        gains.append(gain.max())
    return rows, gains


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
@pytest.mark.parametrize(("n_negative", "n_positive"), [(1, 1), (1, 6), (9, 2), (20, 20), (0, 5), (5, 0)])
def test_native_visits_the_rows_of_the_transcription(n_negative, n_positive, seed):
    sign = signs(n_negative, n_positive)
    n_visits = 5 * len(sign) + 1
    expected = list(islice(reference.draw_rows("balanced", len(sign), seed, sign), n_visits))
    assert visits_of(sign, seed, n_visits)[0] == expected


def test_the_signs_come_in_turn_and_each_row_as_often_as_the_others_of_its_sign():
    sign = signs(12, 3)
    rows, _ = visits_of(sign, 4, 2 * 12 * 3)
    np.testing.assert_array_equal(sign[rows], np.tile([-1, 1], 36))
    np.testing.assert_array_equal(np.bincount(rows), np.where(sign < 0, 3, 12))


@pytest.mark.parametrize(("n_negative", "n_positive"), [(12, 3), (5, 0)])
def test_a_row_counts_the_more_the_more_seldom_it_is_drawn(n_negative, n_positive):
    sign = signs(n_negative, n_positive)
    rows, gains = visits_of(sign, 4, 30)
    n = len(sign)
    sizes = np.where(sign < 0, n_negative, n_positive)
    shares = 2.0 * sizes / n if n_positive else np.ones(n)
    np.testing.assert_allclose(gains, n * shares[rows], rtol=1e-9)


@pytest.mark.parametrize("batch_size", [1, 4, 6])
def test_whole_rounds_of_both_signs_leave_a_feasible_dual_point(batch_size):
    rng = np.random.default_rng(0)
    sign = signs(12, 3)
    problem = problem_of(rng.normal(size=(15, 4)), sign, cost=rng.uniform(0.5, 2.0, 15), lam=1.0)
    solver = Pegasos(batch_size=batch_size, sampling="balanced")
    state = solver.start(problem, 0)
    for rounds in range(1, 9):
        solver.advance_to(problem, state, 24 * rounds)  # the negative rows once, the positive ones four times
        alpha = solver.point(problem, state)[1]
        assert solver.visits(state) == 24 * rounds
        assert (alpha <= problem.cost * (1 + 1e-12)).all()
        assert (alpha > 0.9 * problem.cost).any()


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_the_bound_is_of_use_in_the_middle_of_a_round_too(kind):
    """After one epoch the rows of the larger side are ahead: clipped, they would leave weights of the other side."""
    rng = np.random.default_rng(2)
    sign = signs(190, 10)
    X = rng.normal(size=(200, 3)) + 0.5 * sign[:, None]
    columns = {"cost": np.where(sign > 0, 10.0, 0.53), "lam": 0.01, "bias": 1.0}
    problem = problem_of(X, sign, **columns) if kind == "linear" else kernel_problem_of(Linear(), X, sign, **columns)
    settings = Pegasos(sampling="balanced")
    solver = settings if kind == "linear" else KernelPegasos(settings)
    state = solver.start(problem, 0)
    solver.advance_to(problem, state, 200)
    _, alpha = solver.point(problem, state)
    assert (alpha > 1.5 * problem.cost).any()
    clipped, review = dual_point(problem, alpha)[1], solver.review(problem, state, None)
    assert review.certificate.dual > max(0.0, clipped)
    assert review.certificate.dual == pytest.approx(dual_point(problem, review.alpha)[1], rel=1e-12)
    assert (review.alpha <= problem.cost * (1 + 1e-9)).all()
    assert dual_point(problem, stretched(problem, alpha))[1] >= review.certificate.dual * (1 - 1e-9)
    feasible = 0.5 * problem.cost
    assert better_within_bounds(problem, feasible) is feasible


@pytest.mark.parametrize("kind", ["linear", "kernel"])
@pytest.mark.parametrize("batch_size", [1, 7])
def test_the_optimum_is_that_of_every_other_sampling(kind, batch_size):
    rng = np.random.default_rng(1)
    sign = signs(90, 10)
    X = rng.normal(size=(100, 3)) + 0.7 * sign[:, None]
    columns = {"cost": rng.uniform(0.5, 2.0, 100), "offset": 0.2 * rng.normal(size=100), "lam": 0.1, "bias": 1.0}
    exact = run(problem_of(X, sign, **columns), DualAscent(), Stop(tol=1e-9)).certificate
    settings = Pegasos(batch_size=batch_size, sampling="balanced", average="tail")
    problem = problem_of(X, sign, **columns) if kind == "linear" else kernel_problem_of(Linear(), X, sign, **columns)
    found = run(problem, settings if kind == "linear" else KernelPegasos(settings), Stop(tol=None, max_iter=600))
    assert found.certificate.primal == pytest.approx(exact.primal, rel=3e-3)
    assert found.certificate.dual == pytest.approx(exact.dual, rel=1e-2)
    assert found.certificate.dual <= exact.primal


@pytest.mark.parametrize("pool", [np.arange(41), np.arange(20, 41), np.array([7])])
def test_kernel_pegasos_draws_from_the_signs_of_its_pool_alone(pool):
    problem = awkward_kernel_problem(Linear())
    solver = KernelPegasos(Pegasos(sampling="balanced"))
    state = solver.enter(problem, np.zeros(41), pool, step=0, seed=3)
    drawn, weights = solver.draw(state, 5)
    sign = problem.sign[pool]
    expected = list(islice(kernel_reference.draw_rows("balanced", len(pool), 3, sign), 5))
    np.testing.assert_array_equal(drawn, pool[expected])
    np.testing.assert_allclose(weights, reference.weights_of("balanced", sign)[expected])


@pytest.mark.parametrize(
    ("before", "after"), [("shuffle", "balanced"), ("balanced", "sequential"), ("uniform", "shuffle")]
)
def test_a_run_continues_when_the_sampling_changes(before, after):
    problem = problem_of(np.random.default_rng(0).normal(size=(30, 3)), signs(25, 5), bias=1.0)
    first = Pegasos(sampling=before)
    state = first.start(problem, 0)
    first.step(problem, state, 77)
    second = Pegasos(sampling=after)
    resumed = second.resume(problem, state, state.weights, step=77, seed=0)
    np.testing.assert_array_equal(second.point(problem, resumed)[0], first.point(problem, state)[0])
    second.advance_to(problem, resumed, 60_000)
    weights, _ = second.point(problem, resumed)
    best = run(problem, DualAscent(), Stop(tol=1e-9))
    assert certify(problem, weights, best.alpha).relative_gap < 1e-3


def test_other_signs_of_as_many_rows_are_regrouped():
    X = np.random.default_rng(0).normal(size=(30, 3))
    solver = Pegasos(sampling="balanced")
    state = solver.start(problem_of(X, signs(25, 5)), 0)
    other = problem_of(X, -signs(25, 5))
    solver.step(problem_of(X, signs(25, 5)), state, 100)
    resumed = solver.resume(other, state, state.weights, step=100, seed=0)
    assert (np.diff(other.sign[resumed.order]) >= 0).all()
    assert resumed.counters.position == 0


def test_a_position_beyond_the_rows_is_refused():
    problem = violating(signs(2, 2))
    solver = Pegasos()
    state = solver.start(problem, 0)
    state.counters.position = 5
    with pytest.raises(ValueError, match="position must be that of a row"):
        solver.step(problem, state, 1)
    with pytest.raises(ValueError, match="'balanced' or 'sequential'"):
        Pegasos(sampling="cyclic").step(problem, solver.start(problem, 0), 1)
