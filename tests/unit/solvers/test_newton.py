"""Newton's method on the smoothed problem: its passes against numpy, its solutions against the certificate."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import PegasosClassifier, _core
from pegasos.certificate import certify
from pegasos.problem import Problem, Rows
from pegasos.solution import Status
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.newton import Newton
from pegasos.solvers.pegasos import Pegasos


def noisy_problem(n=3000, d=7, *, lam=1e-3, dtype=np.float64, sparse=False, threads=1, seed=0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n, d)).astype(dtype)
    if sparse:
        values[random.random(values.shape) < 0.7] = 0
    sign = np.where(values @ random.normal(size=d) + np.sqrt(d) * random.normal(size=n) > 0, 1, -1).astype(np.int8)
    rows = Rows.of(sp.csr_matrix(values) if sparse else values, 0.5, threads)
    cost, offset = random.uniform(0.0, 2.0, n), random.normal(size=n) / 5
    return Problem(rows, sign, cost, offset, lam, float(n))


def matrix(problem):
    values = problem.rows.values
    dense = np.asarray(values.toarray() if sp.issparse(values) else values, np.float64)
    return np.c_[dense, np.full(len(dense), problem.rows.bias)]


def at(problem, weights):
    return 1.0 - problem.sign * (matrix(problem) @ weights + problem.offset)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_passes_are_those_of_numpy(dtype, sparse, threads):
    problem = noisy_problem(13_001, 21, dtype=dtype, sparse=sparse, threads=threads)
    random = np.random.default_rng(1)
    weights, other, softness, t = random.normal(size=22), random.normal(size=22), 0.3, 0.4
    near = {"rtol": 1e-6, "atol": 1e-6} if dtype == np.float64 else {"rtol": 2e-4, "atol": 2e-4}
    r, s = (np.empty(13_001, dtype) for _ in range(2))
    _core.residuals(problem.native, weights.astype(dtype), r)
    _core.residuals(problem.native, other.astype(dtype), s)
    assert np.allclose(r, at(problem, weights), **near)
    there = at(problem, weights) + t * (at(problem, other) - at(problem, weights))
    share = 1.0 / (1.0 + np.exp(-there / softness))
    move = at(problem, other) - at(problem, weights)
    first, second = _core.slope(problem.native, r, s, t, softness)
    assert np.isclose(first, np.sum(problem.cost * share * move), **near)
    assert np.isclose(second, np.sum(problem.cost * share * (1 - share) * move**2) / softness, **near)

    alpha, total = np.zeros(13_001, dtype), np.zeros(22)
    loss, gap, alpha_sum, curved = _core.smooth(problem.native, r, s, t, softness, alpha, total)
    exact = problem.cost * share
    assert np.allclose(r, there, **near)
    assert np.allclose(alpha, exact, **near)
    assert np.allclose(total, matrix(problem).T @ (exact * problem.sign), rtol=1e-3, atol=0.02)
    assert np.isclose(loss, np.sum(problem.cost * np.maximum(there, 0)), **near)
    assert np.isclose(gap, np.sum(problem.cost * np.maximum(there, 0) - exact * there), rtol=1e-3)
    assert np.isclose(alpha_sum, np.sum(exact * (1 - problem.sign * problem.offset)), **near)

    curvature = np.where(share * (1 - share) > 1e-3, problem.cost * share * (1 - share) / softness, 0.0)
    assert abs(curved - np.count_nonzero(curvature)) <= 3
    expected = matrix(problem).T @ (curvature[:, None] * matrix(problem))
    found, vector, bent = np.zeros((22, 22)), random.normal(size=22), np.zeros(22)
    _core.curvature(problem.native, r, softness, 1, found)
    assert np.allclose(np.tril(found), np.tril(expected), rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    _core.bend(problem.native, r, softness, vector.astype(dtype), bent)
    assert np.allclose(bent, expected @ vector, rtol=1e-3, atol=1e-3 * np.abs(expected @ vector).max())


def test_a_second_pass_adds_only_what_has_changed():
    problem = noisy_problem(500)
    r, s = (at(problem, np.full(8, value)) for value in (0.1, 0.3))
    alpha, total = np.zeros(500), np.zeros(8)
    _core.smooth(problem.native, r, s, 0.0, 0.2, alpha, total)
    _core.smooth(problem.native, r, s, 1.0, 0.1, alpha, total)
    assert np.allclose(total, matrix(problem).T @ (alpha * problem.sign))
    assert np.allclose(r, s)


def test_a_sample_of_the_curved_rows_has_the_trace_of_all():
    problem = noisy_problem(400)
    r, sampled, whole = at(problem, np.zeros(8)), np.zeros((8, 8)), np.zeros((8, 8))
    _core.curvature(problem.native, r, 50.0, 4, sampled)
    _core.curvature(problem.native, r, 50.0, 1, whole)
    assert np.isclose(np.trace(sampled), np.trace(whole), rtol=0.05)
    assert np.allclose(sampled, whole, atol=0.3 * np.abs(whole).max())


@pytest.mark.parametrize("row", [0, 7, 122, 299])
def test_a_sample_of_the_curved_rows_contains_a_feature_that_one_row_alone_has(row):
    X = np.random.default_rng(0).normal(size=(300, 6))
    X[:, 5] = np.where(np.arange(300) == row, 30.0, 0.0)
    sign = np.where(np.arange(300) % 2 == 0, 1, -1).astype(np.int8)
    problem = Problem.plain(Rows.of(X, 1.0), sign, 1e-3)
    sampled, whole = np.zeros((7, 7)), np.zeros((7, 7))
    _core.curvature(problem.native, at(problem, np.zeros(7)), 50.0, 10, sampled)
    _core.curvature(problem.native, at(problem, np.zeros(7)), 50.0, 1, whole)
    assert np.isclose(sampled[5, 5], whole[5, 5])


def solve(problem, tol, dtype=np.float64):
    solver = Newton(dtype)
    state = solver.start(problem)
    while not state.stalled and (state.stride > 1 or state.gap > tol):
        solver.step(problem, state, tol)
    return state


@pytest.mark.parametrize("d", [7, 330])
@pytest.mark.parametrize("lam", [1e-2, 1e-4, 1e-5])
def test_the_gap_it_claims_is_the_gap_there_is(lam, d):
    problem = noisy_problem(12_000, d, lam=lam)
    state = solve(problem, 1e-3)
    proof = certify(problem, state.weights, state.alpha)
    assert not state.stalled
    assert proof.relative_gap <= 1e-3 * (1 + 1e-6)
    assert np.isclose(proof.primal, state.primal)
    assert np.isclose(proof.dual, state.dual)


def test_most_steps_look_at_a_sample():
    problem = noisy_problem(40_000, 4)
    state = solve(problem, 1e-3)
    assert state.visits < 8 * 40_000
    assert state.steps >= 8


def test_single_precision_reaches_the_same_gap():
    problem = noisy_problem(12_000, 9, lam=1e-4, dtype=np.float32)
    state = solve(problem, 1e-3, np.float32)
    assert certify(problem, state.weights, state.alpha).relative_gap <= 1.1e-3


def test_a_stored_state_continues_as_the_other_would_have():
    problem = noisy_problem(30_000, 5)
    solver = Newton()
    one = solver.start(problem)
    for _ in range(3):
        solver.step(problem, one, 1e-3)
    assert one.stride > 1
    two = pickle.loads(pickle.dumps(one))
    for state in (one, two):
        for _ in range(4):
            solver.step(problem, state, 1e-3)
    assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(one.alpha, two.alpha)


AUTO = Auto(Pegasos(), DualAscent())


def test_auto_takes_it_where_dual_ascent_would_need_many_epochs():
    easy, hard = noisy_problem(30_000, 5, lam=2.0), noisy_problem(30_000, 5, lam=1e-5)
    assert AUTO.start(easy, 0).newton is None
    assert AUTO.start(hard, 0).newton is not None
    assert AUTO.start(noisy_problem(500, 5, lam=1e-5), 0).newton is None
    solution = run(hard, AUTO, Stop())
    assert solution.status is Status.CERTIFIED
    assert np.array_equal(solution.alpha, hard.within_bounds(solution.alpha))


def test_dual_ascent_takes_over_when_it_leads_nowhere():
    problem = noisy_problem(30_000, 5, lam=1e-5)
    state = AUTO.start(problem, 0)
    state.newton.steps = 79  # the next step is its last
    solution = run(problem, AUTO, Stop(), state=state)
    assert state.newton is None
    assert solution.status is Status.CERTIFIED


def test_a_run_that_ends_amid_a_sample_returns_all_rows():
    problem = noisy_problem(40_000, 4, lam=1e-5)
    solution = run(problem, AUTO, Stop(time_budget=1e-9))
    assert solution.status is Status.TIME
    assert len(solution.alpha) == 40_000
    assert solution.certificate.dual > 0.0


def test_threads_change_the_rounding_and_nothing_else():
    problem = noisy_problem(20_000, 6, lam=1e-4, dtype=np.float32)
    y = problem.sign
    fits = [PegasosClassifier(lam=1e-4, n_jobs=jobs, random_state=0).fit(problem.rows.values, y) for jobs in (1, 2, 2)]
    one, two, again = fits
    assert np.array_equal(two.coef_, again.coef_)
    assert np.array_equal(two.alpha_, again.alpha_)
    assert np.allclose(one.coef_, two.coef_, rtol=1e-3, atol=1e-3)
    assert all(fit.certificate_.relative_gap <= 1e-3 for fit in fits)


def test_a_stream_continues_from_the_model_as_if_each_row_had_been_a_step():
    problem = noisy_problem(20_000, 10, lam=1e-5, dtype=np.float32)
    model = PegasosClassifier(1e-5, random_state=0).fit(problem.rows.values, problem.sign)
    before = np.linalg.norm(model.coef_)
    model.partial_fit(problem.rows.values[:50], problem.sign[:50])
    assert np.linalg.norm(model.coef_) < 10.0 * before


@pytest.mark.parametrize("d", [10, 330])
def test_a_sample_without_costs_is_skipped(d):
    problem = noisy_problem(12_000, d, lam=1e-5)
    stride = Newton().start(problem).stride
    assert stride > 1
    cost = np.where(np.arange(12_000) % stride == stride // 2, 0.0, 1.0)
    state = solve(replace(problem, cost=cost), 1e-3)
    assert not state.stalled
    assert state.gap <= 1e-3


def test_a_pair_of_classes_that_costs_nothing_is_solved():
    problem = noisy_problem(27_000, 4)
    y = np.arange(27_000) % 3
    free = PegasosClassifier(1e-6, multi_class="ovo", class_weight={0: 0.0, 1: 0.0, 2: 1.0}, random_state=0)
    assert free.fit(problem.rows.values, y).certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize("c", [100.0, np.inf])
def test_separable_classes_are_left_to_dual_ascent(c):
    random = np.random.default_rng(0)
    rows = random.normal(size=(20_000, 20)).astype(np.float32)
    y = rows[:, 0] + 0.3 * random.normal(size=20_000) > 0
    rows[:, 0] += np.where(y, 3.0, -3.0)
    model = PegasosClassifier(C=c, max_iter=100, random_state=0).fit(rows, y)
    assert model.certificate_.relative_gap <= 1e-3


def test_no_more_epochs_than_asked_for():
    problem = noisy_problem(3000, 10, lam=1e-6)
    assert AUTO.start(problem, 0).newton is not None
    for most in (1, 2, 3):
        solution = run(problem, AUTO, Stop(tol=1e-5, max_iter=most))
        assert solution.n_epochs <= most


def test_the_unit_of_the_costs_does_not_matter():
    problem = noisy_problem(20_000, 20, lam=1e-4)
    for unit in (1e-3, 1.0, 1e6):
        scaled = replace(problem, cost=unit * problem.cost, total=unit * problem.total)
        assert AUTO.start(scaled, 0).newton is not None


def test_looking_on_changes_nothing():
    problem = noisy_problem(40_000, 4, lam=1e-5)
    seen, unseen = (AUTO.start(problem, 0) for _ in range(2))
    for _ in range(6):
        _, alpha = AUTO.point(problem, seen)
        assert len(alpha) == 40_000
        for state in (seen, unseen):
            AUTO.advance_to(problem, state, AUTO.visits(state) + 1)
    assert np.array_equal(seen.newton.weights, unseen.newton.weights)
    assert seen.newton.visits == unseen.newton.visits


def test_labels_near_the_end_of_their_type_are_told_apart():
    from pegasos.tasks.labels import distinct

    for labels in (np.array([2**64 - 1, 2**64 - 2], np.uint64), np.array([-128, 127, 0], np.int8), np.array([True])):
        assert np.array_equal(distinct(labels), np.unique(labels))
        assert distinct(labels).dtype == labels.dtype


def test_a_smooth_loss_whose_optimum_is_nearly_zero_needs_no_other_solver():
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 8))
    y = X @ random.normal(size=8) + 0.02 * random.normal(size=20_000)
    rows = Rows.of(X, 1.0).view(np.tile(np.arange(20_000), 2))
    sign = np.repeat(np.array([1, -1], np.int8), 20_000)
    offset = sign * 1.5 - np.tile(y, 2)  # a tube of half width 0.5
    problem = Problem(rows, sign, np.ones(40_000), offset, 1e-4, 20_000.0, cap=np.inf, ridge=0.5)
    newton = Newton()
    state = newton.start(problem)
    while state.stride > 1 or state.gap > 1e-4:
        newton.step(problem, state, 1e-4)
        assert not state.stalled
    assert state.primal < 0.01 * problem.lam * problem.radius**2


def twice(problem):
    """The same rows per second time with the other sign: by a view, and by a copy, which no pass can recognize."""
    n = problem.rows.n_rows
    both = {
        "sign": np.r_[problem.sign, -problem.sign],
        "cost": np.r_[problem.cost, problem.cost[::-1]],
        "offset": np.r_[problem.offset, 0.3 - problem.offset],
    }
    view = problem.rows.view(np.tile(np.arange(n), 2), repeats=2)
    values = problem.rows.values
    copied = sp.vstack([values, values]).tocsr() if sp.issparse(values) else np.vstack([values, values])
    copy = Rows.of(copied, problem.rows.bias, problem.rows.threads)
    return replace(problem, rows=view, **both), replace(problem, rows=copy, **both)


@pytest.mark.parametrize(("cap", "ridge"), [(1.0, 0.0), (np.inf, 0.5), (1.0, 0.2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [(1, 3, 1), (70, 9, 1), (9001, 20, 2), (300, 80, 1)])
def test_rows_that_repeat_are_read_once_with_the_same_results(cap, ridge, dtype, sparse, size):
    n, d, threads = size
    problem = replace(noisy_problem(n, d, dtype=dtype, sparse=sparse, threads=threads), cap=cap, ridge=ridge)
    view, copy = twice(problem)
    assert (view.rows.native.n_distinct, copy.rows.native.n_distinct) == (n, 2 * n)
    random = np.random.default_rng(2)
    weights, vector = (random.normal(size=d + 1) / np.sqrt(d) for _ in range(2))

    def passes(one):
        r, s, alpha, moved = (np.zeros(2 * n, dtype) for _ in range(4))
        total, bent, square = np.zeros(d + 1), np.zeros(d + 1), np.zeros((d + 1, d + 1))
        _core.residuals(one.native, np.zeros(d + 1, dtype), r)
        softness = max(0.4, ridge)
        sums = _core.arrive(one.native, weights.astype(dtype), r, s, softness, alpha, moved, total)
        slopes = _core.slope(one.native, r, s, 0.7, softness)
        _core.bend(one.native, s, softness, vector.astype(dtype), bent)
        _core.curvature(one.native, s, softness, 1, square)
        after = np.zeros(d + 1)
        smoothed = _core.smooth(one.native, r, s, 0.7, softness, alpha, after)
        losses = *_core.losses(one.native, weights), _core.losses_of_zero(one.native)
        return *map(np.array, (sums, slopes, smoothed, losses)), r, s, alpha, moved, total, after, bent, np.tril(square)

    near = {"rtol": 2e-4, "atol": 2e-4} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-10}
    for found, expected in zip(passes(view), passes(copy), strict=True):
        assert np.allclose(found, expected, **near)


@pytest.mark.parametrize(("cap", "ridge"), [(1.0, 0.0), (np.inf, 0.5), (1.0, 0.2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arriving_is_residuals_slope_and_smooth_in_one_pass(cap, ridge, dtype):
    n, d, softness = 1003, 11, max(0.3, ridge)
    problem = replace(noisy_problem(n, d, dtype=dtype), cap=cap, ridge=ridge)
    random = np.random.default_rng(3)
    weights = (random.normal(size=d + 1) / 3).astype(dtype)
    r, s, alpha, total = np.zeros(n, dtype), np.zeros(n, dtype), np.zeros(n, dtype), np.zeros(d + 1)
    _core.residuals(problem.native, np.zeros(d + 1, dtype), r)
    other, moved, arrived = np.zeros(n, dtype), np.zeros(n, dtype), np.zeros(d + 1)
    found = _core.arrive(problem.native, weights, r, other, softness, alpha, moved, arrived)
    _core.residuals(problem.native, weights, s)
    slopes = _core.slope(problem.native, r, s, 1.0, softness)
    sums = _core.smooth(problem.native, s, s, 0.0, softness, alpha, total)
    near = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-11}
    assert np.allclose(found, (*sums, *slopes), **near)
    for one, two in ((other, s), (moved, alpha), (arrived, total)):
        assert np.allclose(one, two, **near)


def test_a_sample_has_both_sides_of_its_rows():
    problem, _ = twice(noisy_problem(40_000, 5))
    state = Newton().start(replace(problem, cap=np.inf, ridge=0.5))
    assert state.stride > 1
    assert state.sample.rows.native.n_distinct * 2 == state.sample.rows.n_rows
    assert np.array_equal(*np.split(state.sample.rows.numbers, 2))


def test_more_steps_are_taken_while_they_halve_the_gap_and_an_interior_point_would_be_expensive():
    random = np.random.default_rng(3)
    X = (random.random((8000, 100)) < 10.0 ** -random.uniform(0.5, 3.5, 100)).astype(np.float64)
    score = 2.0 * X @ random.normal(size=100) + random.normal(size=8000)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    sign = np.where(score > np.quantile(score, 0.7), 1, -1).astype(np.int8)
    solver = Auto(Pegasos(), DualAscent(), tol=1e-3)
    found = run(Problem.plain(Rows.of(X, 1.0), sign, 1e-4), solver, Stop(1e-3))
    assert found.status is Status.CERTIFIED
    assert found.state.newton is not None  # nothing else was needed


def test_a_gap_that_stays_huge_ends_newtons_method_early():
    """Monomials of four features, in their own units: its steps lead nowhere near the optimum."""
    random = np.random.default_rng(10)
    X = random.uniform(0.5, 3.0, (3000, 4))
    powers = np.stack(np.meshgrid(*[np.arange(5)] * 4), axis=-1).reshape(-1, 4)
    powers = powers[(powers.sum(axis=1) > 0) & (powers.sum(axis=1) <= 4)]
    sign = np.where(np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.2 * random.standard_normal(3000) > 0.3, 1, -1).astype(np.int8)
    rows = np.prod(X[:, None, :] ** powers, axis=2).astype(np.float32)
    problem = Problem.plain(Rows.of(rows, 1.0), sign, 1e-8)
    newton = Newton(np.float32)
    state = newton.start(problem)
    while not state.stalled:
        newton.step(problem, state, 1e-3)
    assert state.steps < 20
    solution = run(problem, Auto(Pegasos(), DualAscent(), 1e-5), Stop(1e-5, 1000))
    assert solution.status is Status.CERTIFIED
