"""Decomposition: the inner loop against its transcription, and certified gaps on awkward problems."""

import itertools
import pickle
import time
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, _core
from pegasos.certificate import certify_dual, certify_free
from pegasos.deadline import check_deadline
from pegasos.gram import columns
from pegasos.kernels import RBF, Intersection, Laplacian, Linear, Polynomial
from pegasos.solution import Status
from pegasos.solvers import decomposition, decomposition_interior
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Stop, Watcher, run
from tests.problems import awkward_kernel_problem, kernel_problem_of
from tests.reference.decomposition import FreeAscent, PairAscent
from tests.reference.kernel_pegasos import PlainKernelProblem

SIZES = (2, 3, 7, 8, 9, 16, 31, 100)  # around the widths of the vectors


def working_set(n, *, seed, alike, zero_rows=False):
    """A kernel matrix with slopes and bounds; ``alike``: every item has length 1."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    if alike:
        X /= np.linalg.norm(X, axis=1)[:, None]
    if zero_rows:
        X[::5] = 0.0
    K = X @ X.T
    if alike:
        np.fill_diagonal(K, 1.0)
    cost = random.choice([0.0, 0.5, 1.0, 50.0], n)
    sign = random.choice([-1.0, 1.0], n)
    start = sign * cost * random.choice([0.0, 0.3, 1.0], n)
    unit = 1.0 / (0.03 * n)
    slope = sign - 0.2 * random.normal(size=n) - unit * K @ start
    down, up = np.minimum(sign, 0.0) * cost - start, np.maximum(sign, 0.0) * cost - start
    return K, slope, down, up, unit


def native_ascent(K, slope, down, up, unit, *, keeps_sum, dtype=np.float64):
    """The arrays of the loop, and a function that takes steps; the matrix lies in a larger one."""
    n = len(K)
    room = np.full((n, n + 5), np.nan, dtype)
    room[:, :n] = K
    curvature = np.diag(K) * unit
    state = [column.copy() for column in (slope, down, up)]

    def advance(enough, n_steps):
        table = room[:, :n], np.arange(n), None, n, None
        return _core.climb(*table, *state, curvature, None, unit, keeps_sum, 0.0, enough, 0.0, n_steps, np.inf)[:2]

    return state, advance


LOOPS = {"pairs": (PairAscent, True), "freely": (FreeAscent, False)}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_native_equals_the_transcription_step_by_step(seed, n, alike, loop):
    reference, keeps_sum = LOOPS[loop]
    problem = working_set(n, seed=seed, alike=alike, zero_rows=seed == 2 and not alike)
    plain = reference(*problem)
    state, advance = native_ascent(*problem, keeps_sum=keeps_sum)
    for _ in range(150):
        before = [column.copy() for column in state]
        moved = plain.step()
        if plain.closest < 1e-9:  # a tie: from here on either choice is right
            return
        done, gap = advance(0.0, 1)
        if not moved or done == 0:
            # Both have come to an end, except for what rounding makes of a last step.
            assert np.abs(plain.slope - before[0]).max() <= 1e-9
            return
        scale = max(1.0, np.abs(plain.slope).max())
        # With a free intercept the native gap is that of the best of some levels, the middle among them.
        assert plain.least_gap() - 1e-9 * scale <= gap <= plain.gap() * (1 + 1e-9) + 1e-9 * scale
        for value, expected in zip(state, (plain.slope, plain.down, plain.up), strict=True):
            np.testing.assert_allclose(value, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loop", LOOPS)
@given(n=st.sampled_from(SIZES), seed=st.integers(0, 1000), alike=st.booleans())
def test_bounds_and_the_sum_are_kept_and_the_objective_never_falls(dtype, loop, n, seed, alike):
    keeps_sum = LOOPS[loop][1]
    K, slope, down, up, unit = working_set(n, seed=seed, alike=alike, zero_rows=not alike)
    (_, low, high), advance = native_ascent(K, slope, down, up, unit, keeps_sum=keeps_sum, dtype=dtype)
    reached = 0.0
    for _ in range(60):
        done, _ = advance(0.0, 3)
        assert (low <= 0.0).all()
        assert (high >= 0.0).all()
        np.testing.assert_allclose(high - low, up - down, rtol=1e-12)
        b = up - high
        if keeps_sum:
            assert abs(b.sum()) <= 1e-12 * max(1.0, np.abs(b).sum())
        objective = b @ slope - 0.5 * unit * b @ K @ b
        assert objective >= reached - (1e-4 if dtype == np.float32 else 1e-11) * (1.0 + abs(reached))
        reached = objective
        if done < 3:
            return


@pytest.mark.parametrize("loop", LOOPS)
def test_the_loop_ends_where_the_gap_is_small_enough(loop):
    reference, keeps_sum = LOOPS[loop]
    problem = working_set(40, seed=5, alike=True)
    plain = reference(*problem)
    state, advance = native_ascent(*problem, keeps_sum=keeps_sum)
    done, gap = advance(1e-3, 100_000)
    assert 0 < done < 100_000
    assert gap <= 1e-3
    assert advance(1e-3, 100_000)[0] == 0
    plain.slope, plain.down, plain.up = state
    assert plain.least_gap() * (1 - 1e-9) <= gap <= plain.gap() * (1 + 1e-9)


KERNELS = {
    "rbf": RBF(0.1),
    "narrow rbf": RBF(20.0),
    "linear": Linear(),
    "polynomial": Polynomial(2, 0.5, 0.0),
    "laplacian": Laplacian(0.2),
}


def histogram_problem():
    random = np.random.default_rng(2)
    X = random.random((60, 5)) * (random.random((60, 5)) < 0.4)
    return kernel_problem_of(Intersection(), X, np.where(X[:, 0] + 0.3 * random.normal(size=60) > 0.2, 1, -1), lam=0.01)


def zero_rows():
    """Half of the rows have k(x, x) = 0: their alphas lie at a bound, whatever the weights."""
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 3)) * (np.arange(80) % 2)[:, None]
    sign = np.where(random.random(80) < 0.5, 1, -1)
    offset = random.choice([-2.0, 0.0, 0.5, 1.0, 3.0], 80)  # some of them beyond the margin
    return kernel_problem_of(Linear(), X, sign, cost=random.choice([0.0, 1.0, 30.0], 80), offset=offset, lam=0.01)


def tiny_class(dtype=np.float64, **rows):
    random = np.random.default_rng(4)
    X = random.normal(size=(600, 4)).astype(dtype)
    X[:2] += 1.5
    cost = np.where(np.arange(600) < 2, 300.0, 1.0)
    return kernel_problem_of(RBF(0.5), X, np.where(np.arange(600) < 2, 1, -1), cost=cost, lam=1e-4, **rows)


def duplicates():
    random = np.random.default_rng(5)
    X = np.repeat(random.normal(size=(40, 2)), 5, axis=0)
    return kernel_problem_of(RBF(1.0), X, random.choice([-1, 1], 200), lam=1e-3)  # the same row with both signs


def large_costs():
    random = np.random.default_rng(6)
    X = random.normal(size=(120, 3))
    cost = 10.0 ** random.integers(-4, 5, 120)
    cost[::7] = 0.0
    return kernel_problem_of(RBF(0.5), X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1), cost=cost, lam=0.1, total=50.0)


def low_rank(lam, width=1.0):
    """Overlapping classes, a smooth kernel and almost no regularization: eigenvalues down to those of rounding."""
    random = np.random.default_rng(9)
    X = random.normal(size=(250, 2))
    X[:20] = X[20:40]  # some with both signs
    sign = np.where(X[:, 0] + random.normal(size=250) > 0, 1, -1)
    return kernel_problem_of(RBF(width), X, sign, lam=lam, bias=1.0)


AWKWARD = {
    **{name: lambda kernel=kernel: awkward_kernel_problem(kernel, bias=0.0) for name, kernel in KERNELS.items()},
    "offsets, costs and a bias": lambda: awkward_kernel_problem(RBF(0.3), n_rows=300, lam=1e-3),
    "histograms": histogram_problem,
    "rows of length zero": zero_rows,
    "one class tiny": tiny_class,
    "duplicates": duplicates,
    "large costs": large_costs,
    "one row": lambda: kernel_problem_of(RBF(1.0), np.ones((1, 2)), [1], lam=0.5),
    "one sign": lambda: kernel_problem_of(RBF(1.0), np.random.default_rng(0).normal(size=(50, 2)), np.ones(50)),
    "no cost at all": lambda: kernel_problem_of(RBF(1.0), np.eye(4), [1, -1, 1, -1], cost=0.0, total=4),
}


def solved(problem, tol, **stop):
    return run(problem, Decomposition(tol), Stop(tol, **stop), seed=1)


def assert_true(problem, solution):
    """The certificate is what the plain formulas say, and the dual point within its bounds."""
    K = problem.rows.kernel.evaluate(problem.rows.items, problem.rows.items)
    plain = PlainKernelProblem.of(problem, K)
    assert (solution.alpha >= 0.0).all()
    assert (solution.alpha <= problem.cost).all()
    scale = 1.0 + np.abs(solution.weights).sum() * np.abs(plain.K).max()
    room = 1e-13 * scale + 2.0 * solution.certificate.rounding
    assert solution.certificate.primal == pytest.approx(plain.primal(solution.weights), rel=1e-10, abs=room)
    assert solution.certificate.dual == pytest.approx(plain.dual(solution.alpha), rel=1e-10, abs=room)
    np.testing.assert_allclose(solution.weights, plain.coefficients_of(solution.alpha), rtol=1e-14, atol=0)
    assert solution.certificate.gap >= -1e-14 * scale


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("make", AWKWARD.values(), ids=AWKWARD)
def test_any_gap_is_reached_on_awkward_problems(make, tol):
    problem = make()
    solution = solved(problem, tol)
    assert solution.status is Status.CERTIFIED
    assert solution.certificate.relative_gap <= tol
    assert_true(problem, solution)


@pytest.mark.parametrize("width", [0.1, 1.0])
@pytest.mark.parametrize("lam", [1e-6, 1e-8, 1e-10])
def test_an_ill_conditioned_kernel_is_solved_for_every_seed(lam, width):
    problem = low_rank(lam, width)
    for seed in range(3):
        solution = run(problem, Decomposition(1e-3), Stop(1e-3, max_iter=1000), seed=seed)
        assert solution.status is Status.CERTIFIED
        assert_true(problem, solution)


def overlapping(n, *, C, width, bias=0.0, dtype=np.float64, **rows):
    """Classes that overlap, at this strength and width of a Gaussian kernel."""
    random = np.random.default_rng(1)
    X = random.normal(size=(n, 4)).astype(dtype)
    sign = np.where(X[:, 0] * X[:, 1] + 0.5 * random.normal(size=n) > 0, 1, -1)
    return kernel_problem_of(RBF(width), X, sign, lam=1.0 / (C * n), bias=bias, **rows)


@pytest.mark.parametrize("is_free", [True, False])
@pytest.mark.parametrize("width", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("C", [1.0, 1e3, 1e5, 1e7])
def test_every_strength_and_width_ends_certified(C, width, is_free):
    problem = overlapping(250, C=C, width=width, bias=0.0 if is_free else 1.0)
    solution = run(problem, Decomposition(1e-4, is_free), Stop(1e-4, max_iter=1000))
    assert solution.status is Status.CERTIFIED
    assert solution.certificate.relative_gap <= 1e-4
    assert (solution.alpha >= 0.0).all()
    assert (solution.alpha <= problem.cost).all()
    assert solution.n_steps <= 300 * 250


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
def test_a_free_intercept_gives_the_machine_of_libsvm(C):
    problem = overlapping(300, C=C, width=0.3)
    solution = run(problem, Decomposition(1e-8, is_free=True), Stop(1e-8))
    values = problem.rows.items.values
    svc = SVC(C=C, gamma=0.3, tol=1e-8).fit(values, problem.sign)
    theirs = np.zeros(300)
    theirs[svc.support_] = svc.dual_coef_[0]
    K = problem.rows.kernel.evaluate(problem.rows.items, problem.rows.items)
    scores = K @ theirs + svc.intercept_
    objective = 0.5 * theirs @ K @ theirs + C * np.maximum(0.0, 1.0 - problem.sign * scores).sum()
    assert solution.certificate.primal * C * 300 <= objective * (1 + 1e-7)
    np.testing.assert_array_equal(np.flatnonzero(solution.alpha), np.sort(svc.support_))
    np.testing.assert_array_equal(np.sign(solution.weights), np.sign(theirs))
    np.testing.assert_array_equal(solution.alpha == 1.0, np.abs(theirs) == C)


def test_an_interior_point_of_low_rank_serves_more_rows_than_a_dense_one(monkeypatch):
    monkeypatch.setattr(decomposition_interior, "_DENSE_ROWS", 100)
    problem = overlapping(300, C=1e4, width=0.02)
    solution = run(problem, Decomposition(1e-4, is_free=True), Stop(1e-4))
    assert solution.state.n_interiors > 0
    assert solution.status is Status.CERTIFIED


def test_a_factor_that_tells_too_little_changes_nothing(monkeypatch):
    monkeypatch.setattr(decomposition_interior, "_DENSE_ROWS", 100)
    monkeypatch.setattr(decomposition_interior, "_RANK_WORK", 1e5)
    monkeypatch.setattr(decomposition_interior, "_EVIDENCE", 0)
    problem = overlapping(300, C=10.0, width=5.0)
    solution = run(problem, Decomposition(1e-4, is_free=True), Stop(1e-4))
    assert solution.status is Status.CERTIFIED


@pytest.mark.parametrize("is_free", [True, False])
def test_no_result_depends_on_the_pieces_of_the_work(monkeypatch, is_free):
    problem = overlapping(2500, C=1.0, width=0.3, bias=0.0 if is_free else 1.0)
    whole = run(problem, Decomposition(1e-3, is_free), Stop(1e-3))
    monkeypatch.setattr(decomposition, "_PATIENCE", 1e-9)
    pieces = run(overlapping(2500, C=1.0, width=0.3, bias=problem.rows.bias), Decomposition(1e-3, is_free), Stop(1e-3))
    np.testing.assert_array_equal(whole.alpha, pieces.alpha)
    assert whole.certificate == pieces.certificate


@pytest.mark.parametrize(("lam", "cost"), [(1e-2, 1.0), (1e-5, 1.0), (1e-6, 1.0), (1.0, 1e6)])
def test_single_precision_reaches_its_gap_where_alphas_are_tiny_beside_their_bounds(lam, cost):
    random = np.random.default_rng(7)
    X = random.normal(size=(200, 5)).astype(np.float32)
    sign = np.where(np.linalg.norm(X, axis=1) > 2, 1, -1)
    problem = kernel_problem_of(RBF(2.0), X, sign, lam=lam, cost=cost, bias=1.0, double=False)
    assert problem.rows.dtype == np.float32
    solution = solved(problem, 1e-3, max_iter=200)
    assert solution.status is Status.CERTIFIED


def few_columns(lam=1e-3, **rows):
    """More rows than the least number of columns in memory."""
    random = np.random.default_rng(8)
    X = random.normal(size=(1500, 4))
    sign = np.where(np.linalg.norm(X, axis=1) + 0.5 * random.normal(size=1500) > 1.9, 1, -1)
    return kernel_problem_of(RBF(0.5), X, sign, lam=lam, **rows)


def test_columns_that_are_evicted_change_nothing():
    small, large = few_columns(cache_bytes=1.0), few_columns()
    assert not small.rows.columns.holds_all
    one, other = solved(small, 1e-6), solved(large, 1e-6)
    assert one.status is other.status is Status.CERTIFIED
    assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-6)
    assert_true(small, one)
    assert np.count_nonzero(one.alpha) > 512


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3)])
@pytest.mark.parametrize("half", [8, 30])
def test_a_table_smaller_than_the_support_is_enough(monkeypatch, half, kernel):
    monkeypatch.setattr(columns, "_COLUMNS_AT_ONCE", half)
    problem = awkward_kernel_problem(kernel, n_rows=150, lam=1e-2, cache_bytes=1.0)
    assert len(problem.rows.columns.table) == 2 * half
    solution = solved(problem, 1e-5, max_iter=10_000)
    assert np.count_nonzero(solution.alpha) > 60
    assert solution.status is Status.CERTIFIED
    assert_true(problem, solution)


@pytest.mark.parametrize("start", ["zero", "bounds", "beyond", "random", "optimal"])
def test_any_dual_point_is_a_good_start(start):
    problem = awkward_kernel_problem(RBF(0.3), n_rows=200)
    alpha = {
        "zero": np.zeros(200),
        "bounds": problem.cost,
        "beyond": np.linspace(-5.0, 5.0, 200),
        "random": np.random.default_rng(0).random(200) * problem.cost,
        "optimal": solved(problem, 1e-10).alpha,
    }[start]
    before = alpha.copy()
    solver = Decomposition(1e-8)
    solution = run(problem, solver, Stop(1e-8), state=solver.enter(problem, alpha, 0))
    assert solution.status is Status.CERTIFIED
    assert solution.certificate.primal == pytest.approx(solved(problem, 1e-10).certificate.primal, rel=1e-7)
    np.testing.assert_array_equal(alpha, before)
    if start == "optimal":
        assert solution.n_steps <= 50


def test_a_time_budget_that_ends_is_told_and_the_certificate_is_true():
    problem = few_columns(lam=1e-7)
    solution = solved(problem, 1e-12, time_budget=0.0)
    assert solution.status is Status.TIME
    assert 0 < solution.certificate.relative_gap <= 1.0
    assert_true(problem, solution)


def test_without_time_for_a_proof_the_last_proved_point_is_the_result(monkeypatch):
    problem = few_columns(lam=1e-7)
    monkeypatch.setattr(Decomposition, "review_seconds", lambda *_: 1e9)
    solution = solved(problem, 1e-12, time_budget=0.2)
    assert solution.status is Status.TIME
    assert_true(problem, solution)
    assert solution.certificate.relative_gap == 1.0  # of the zero vector: nothing else was proved


def test_a_first_proof_is_attempted_even_if_it_may_not_end_in_time(monkeypatch):
    problem = few_columns(lam=1e-7)
    monkeypatch.setattr(Decomposition, "review_seconds", lambda *_: 8.0)
    solution = solved(problem, 1e-12, time_budget=6.0)
    assert solution.status is Status.TIME
    assert_true(problem, solution)
    assert solution.certificate.relative_gap < 1.0


def test_a_first_proof_that_does_not_end_in_time_leaves_the_zero_vector(monkeypatch):
    problem = few_columns(lam=1e-7)
    monkeypatch.setattr(Decomposition, "review_seconds", lambda *_: 0.6)
    review = Decomposition.review

    def slow(self, problem, state, tol):
        time.sleep(0.6)
        check_deadline()
        return review(self, problem, state, tol)

    monkeypatch.setattr(Decomposition, "review", slow)
    solution = solved(problem, 1e-12, time_budget=0.2)
    assert solution.status is Status.TIME
    assert_true(problem, solution)
    assert solution.certificate.relative_gap == 1.0


@pytest.mark.parametrize("is_free", [True, False])
def test_no_certificate_rests_on_the_slopes_of_the_solver(is_free):
    problem, solver = overlapping(300, C=100.0, width=0.3, bias=0.0 if is_free else 1.0), Decomposition(1e-9, is_free)
    state = solver.start(problem, 0)
    while solver.visits(state) < 500:
        solver.advance_to(problem, state, 500)
    state.slope = np.zeros(300)  # as if nothing were left to gain
    solution = run(problem, solver, Stop(1e-9, time_budget=0.0), state=state)
    again = certify_free(problem, solution.alpha)[0] if is_free else certify_dual(problem, solution.alpha)[0]
    assert solution.certificate.relative_gap == pytest.approx(again.relative_gap, rel=1e-6)
    assert solution.certificate.relative_gap > 1e-4


def test_what_is_left_of_a_gap_after_rounding_ends_a_fit():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
    X[y == 1] *= 1.3
    model = KernelPegasosClassifier(C=np.inf, gamma=1.0, tol=1e-9, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.n_iter_ <= 200
    assert model.certificate_.relative_gap <= 1e-3


def test_epochs_that_end_are_told_and_the_certificate_is_true():
    problem = awkward_kernel_problem(RBF(0.3), n_rows=200, lam=1e-5)
    solution = solved(problem, 1e-12, max_iter=1)
    assert solution.status is Status.EPOCHS
    assert solution.certificate.relative_gap > 1e-12
    assert_true(problem, solution)


def test_without_a_tolerance_all_epochs_are_run():
    problem = awkward_kernel_problem(RBF(0.3))
    solution = run(problem, Decomposition(None), Stop(None, max_iter=5), seed=1)
    assert solution.status is Status.COMPLETED
    assert solution.n_epochs == 5
    assert_true(problem, solution)


def test_the_dual_never_falls_and_every_gap_of_the_trace_is_true():
    problem = few_columns(lam=1e-6)
    best = solved(problem, 1e-10).certificate
    seen = []
    run(problem, Decomposition(None), Stop(None, max_iter=8), seed=1, watcher=Watcher(on_review=seen.append))
    assert len(seen) >= 2
    duals = [row.dual for row in seen]
    assert all(later >= earlier - 1e-12 for earlier, later in itertools.pairwise(duals))
    for row in seen:
        assert row.dual <= best.primal + 1e-12
        assert row.primal >= best.dual - 1e-12


@pytest.mark.parametrize("cache_bytes", [1.0, 1e9])
def test_the_same_seed_gives_the_same_bits(cache_bytes):
    one, same = (solved(few_columns(cache_bytes=cache_bytes), 1e-4) for _ in range(2))
    np.testing.assert_array_equal(one.alpha, same.alpha)
    np.testing.assert_array_equal(one.weights, same.weights)
    assert one.certificate == same.certificate
    assert one.n_steps == same.n_steps


def test_a_state_that_was_pickled_continues_to_the_same_result():
    problem, solver = few_columns(), Decomposition(1e-6)
    state = solver.start(problem, 1)
    solver.advance_to(problem, state, 500)
    copy = pickle.loads(pickle.dumps(state))
    one, other = (run(problem, solver, Stop(1e-6), state=each) for each in (state, copy))
    assert one.status is other.status is Status.CERTIFIED
    np.testing.assert_allclose(one.alpha, other.alpha, rtol=0, atol=1e-12)


def test_cost_two_equals_the_row_twice():
    random = np.random.default_rng(9)
    X, times = random.normal(size=(80, 3)), random.integers(0, 4, 80)
    sign = np.where(X[:, 0] > 0.2 * random.normal(size=80), 1, -1)
    total = float(times.sum())
    heavy = solved(kernel_problem_of(RBF(0.5), X, sign, cost=times, lam=0.01, total=total), 1e-9)
    each = np.repeat(np.arange(80), times)
    repeated = solved(kernel_problem_of(RBF(0.5), X[each], sign[each], lam=0.01), 1e-9)
    assert heavy.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-8)


def test_the_rate_of_progress_counts_the_steps_that_led_to_a_point_taken_over():
    problem, solver = histogram_problem(), Decomposition(1e-6)
    zero = solver.start(problem, 0)
    run_to_half = run(problem, solver, Stop(tol=0.5))
    state = solver.enter(problem, run_to_half.alpha, 0, 100_000)
    assert state.steps == 100_000
    assert state.marks == ((0, zero.gap), (100_000, state.gap))
    assert 0.0 < state.gap < zero.gap
