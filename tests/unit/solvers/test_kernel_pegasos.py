"""Kernel Pegasos against the transcription of the paper, and against linear Pegasos on the same rows."""

import pickle
from functools import cache
from itertools import product

import numpy as np
import pytest

from pegasos.errors import PegasosError
from pegasos.kernels import RBF, Linear, Polynomial
from pegasos.problem import Problem, Rows
from pegasos.solution import Status
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.kernel_pegasos import KernelPegasos
from pegasos.solvers.pegasos import Pegasos
from tests.problems import awkward_kernel_problem, problem_of
from tests.reference import kernel_pegasos as reference
from tests.reference import pegasos as linear_reference
from tests.reference.kernel_pegasos import PlainKernelProblem
from tests.reference.objective import PlainProblem

N_ROWS = 41
KERNEL = RBF(0.1)
LOOKS = (*range(1, 21), *range(27, 100, 7), *range(100, 1001, 50))  # after steps of 1, of 7, of 50
SAMPLINGS = ("shuffle", "uniform", "balanced", "sequential")
RULES = [
    {"sampling": sampling, "batch_size": batch_size, "projection": projection}
    for sampling, batch_size, projection in product(SAMPLINGS, (1, 4, N_ROWS), (False, True))
]
AVERAGES = (None, "uniform", "tail")
SEED = 11


def told(rule):
    return " ".join(f"{name}={value}" for name, value in rule.items())


def plain(problem, kernel=KERNEL):
    X = problem.rows.items.values.astype(np.float64)
    formulas = {
        RBF: lambda: np.exp(-kernel.rate * np.square(X[:, None] - X[None]).sum(axis=2)),
        Linear: lambda: X @ X.T,
        Polynomial: lambda: (kernel.gamma * X @ X.T + kernel.coef0) ** kernel.degree,
    }
    return PlainKernelProblem.of(problem, formulas[type(kernel)]())


def paper_for(problem, rule, average="uniform", kernel=KERNEL):
    rows = reference.draw_rows(rule["sampling"], problem.rows.n_rows, SEED, problem.sign)
    return reference.KernelPegasos(plain(problem, kernel), rows, average=average, **rule)


@cache
def transcribed(average, **rule):
    """At each look: the dual point, its average and all scores, by the transcription."""
    paper = paper_for(awkward_kernel_problem(KERNEL), rule, average)
    seen = []
    for look in LOOKS:
        while paper.t < look:
            paper.step()
        seen.append((look, paper.alpha, paper.mean(), paper.scores))
    assert paper.closest > 1e-9  # so that rounding decides nothing
    return seen


def assert_close(value, expected, tolerance=1e-10):
    np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


def take_steps(solver, problem, state, until):
    """Blocks of at most about 500 rows, as the solver itself takes them."""
    while state.step < until:
        solver.step(problem, state, min(until - state.step, 500 // solver.pegasos.batch_size))


def assert_same_state(one, other):
    for name in ("alpha", "scores", "alpha_sum", "pool"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("step", "drawn", "square", "averaged", "tail_at"):
        assert getattr(one, name) == getattr(other, name), name
    for mine, theirs in zip(one.decks, other.decks, strict=True):
        np.testing.assert_array_equal(mine.left, theirs.left)
        assert mine.random.bit_generator.state == theirs.random.bit_generator.state


@pytest.mark.parametrize("rule", RULES, ids=told)
@pytest.mark.parametrize("average", [None, "uniform"])
def test_native_equals_the_transcription_for_a_thousand_steps(average, rule):
    problem = awkward_kernel_problem(KERNEL)
    unit = problem.sign / (problem.lam * problem.total)
    solver = KernelPegasos(Pegasos(**rule, average=average))
    state = solver.start(problem, SEED)
    for look, alpha, mean, scores in transcribed(average or "uniform", **rule):
        take_steps(solver, problem, state, look)
        assert solver.steps(state) == look
        assert solver.visits(state) == look * rule["batch_size"]
        assert_close(state.alpha, alpha)
        assert_close(state.scores[:-1], scores)
        coefficients, dual = solver.point(problem, state)
        assert_close(dual, mean if average else alpha)
        assert_close(coefficients, unit * dual)


@pytest.mark.parametrize("rule", RULES, ids=told)
def test_the_average_of_the_tail_begins_after_epochs_that_double(rule):
    problem = awkward_kernel_problem(KERNEL)
    solver = KernelPegasos(Pegasos(**rule, average="tail"))
    state, paper = solver.start(problem, SEED), paper_for(problem, rule, "tail")
    for visits in range(0, 9 * N_ROWS, 13):
        solver.advance_to(problem, state, visits + 1)
        while paper.t < state.step:
            paper.step()
        assert_close(solver.point(problem, state)[1], paper.mean())


def test_the_rules_differ_from_each_other():
    finals = [transcribed("uniform", **rule)[-1][1] for rule in RULES if rule["batch_size"] != N_ROWS]
    for k, final in enumerate(finals):
        assert all(np.abs(final - other).max() > 1e-3 for other in finals[:k])


@pytest.mark.parametrize(("batch_size", "projection"), [(1, False), (7, True)])
@pytest.mark.parametrize("cache_bytes", [1.0, 1e9], ids=["few columns", "all columns"])
def test_columns_that_come_and_go_change_nothing(cache_bytes, batch_size, projection):
    problem = awkward_kernel_problem(KERNEL, n_rows=1100, cache_bytes=cache_bytes, lam=0.001)
    assert problem.rows.columns.holds_all == (cache_bytes > 1e6)
    rule = {"sampling": "shuffle", "batch_size": batch_size, "projection": projection}
    solver = KernelPegasos(Pegasos(**rule, average="tail"))
    state, paper = solver.start(problem, SEED), paper_for(problem, rule, "tail")
    for visits in (100, 1000, 2000):
        solver.advance_to(problem, state, visits)
        while paper.t < state.step:
            paper.step()
        assert_close(state.alpha, paper.alpha)
        assert_close(solver.point(problem, state)[1], paper.mean())
        assert_close(state.scores[:-1], paper.scores)
    assert paper.closest > 1e-9


@pytest.mark.parametrize("rule", RULES, ids=told)
def test_with_the_linear_kernel_the_iterates_are_those_of_linear_pegasos_on_the_same_rows(rule):
    problem = awkward_kernel_problem(Linear())
    linear = problem_of(
        problem.rows.items.values,
        problem.sign,
        cost=problem.cost,
        offset=problem.offset,
        lam=problem.lam,
        total=problem.total,
        bias=problem.rows.bias,
    )
    rival = linear_reference.Pegasos(PlainProblem.of(linear), **rule)
    rival.rows = reference.draw_rows(rule["sampling"], N_ROWS, SEED, problem.sign)
    solver = KernelPegasos(Pegasos(**rule))
    state = solver.start(problem, SEED)
    for look in LOOKS:
        take_steps(solver, problem, state, look)
        while rival.t < look:
            rival.step()
        assert_close(state.alpha, rival.alpha)
        assert_close(state.scores[:-1], rival.problem.X @ rival.w)
    assert rival.closest > 1e-9


def test_in_order_the_native_loops_of_both_take_the_same_steps():
    problem = awkward_kernel_problem(Linear())
    linear = Problem(
        Rows.of(problem.rows.items.values, problem.rows.bias),
        problem.sign,
        problem.cost,
        problem.offset,
        problem.lam,
        problem.total,
    )
    settings = Pegasos(sampling="sequential", batch_size=3, projection=True, average="tail")
    kernel_solver = KernelPegasos(settings)
    ours, theirs = kernel_solver.start(problem, 0), settings.start(linear, 0)
    for visits in (3, 30, 123, 600, 3000):
        kernel_solver.advance_to(problem, ours, visits)
        settings.advance_to(linear, theirs, ours.drawn)
        weights, alpha = settings.point(linear, theirs)
        coefficients, dual = kernel_solver.point(problem, ours)
        assert_close(dual, alpha)
        assert_close(np.append(coefficients @ linear.rows.values, coefficients.sum() * 0.5), weights)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("rule", RULES, ids=told)
def test_resuming_from_a_pickle_equals_running_straight_through(rule, average):
    problem = awkward_kernel_problem(Polynomial(2, 0.1))
    solver = KernelPegasos(Pegasos(**rule, average=average))
    straight, resumed = solver.start(problem, SEED), solver.start(problem, SEED)
    solver.advance_to(problem, straight, 400 * rule["batch_size"])
    for look in (1, 2, 9, 40, 41, 42, 100, 170, 399, 400):
        solver.advance_to(problem, resumed, look * rule["batch_size"])
        resumed = pickle.loads(pickle.dumps(resumed))
    assert_same_state(resumed, straight)


@pytest.mark.parametrize("cache_bytes", [1.0, 1e9])
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(cache_bytes):
    one, same, other = (
        run(
            awkward_kernel_problem(KERNEL, n_rows=1100, cache_bytes=cache_bytes),
            KernelPegasos(Pegasos(average="tail")),
            Stop(tol=None, max_iter=2),
            seed=seed,
        )
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.weights, same.weights)
    np.testing.assert_array_equal(one.alpha, same.alpha)
    assert one.certificate == same.certificate
    assert np.abs(one.alpha - other.alpha).max() > 1e-3


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("rule", RULES, ids=told)
def test_every_certificate_is_that_of_the_plain_formulas(rule, average):
    problem = awkward_kernel_problem(KERNEL)
    solution = run(problem, KernelPegasos(Pegasos(**rule, average=average)), Stop(tol=None, max_iter=7), seed=SEED)
    assert solution.status is Status.COMPLETED
    assert solution.n_epochs == 7
    exact = plain(problem)
    assert solution.certificate.primal == pytest.approx(exact.primal(solution.weights), rel=1e-12)
    assert solution.certificate.dual == pytest.approx(exact.dual(exact.clip(solution.alpha)), rel=1e-12)
    assert solution.certificate.gap >= 0.0


def test_kernel_values_in_single_precision_stay_near():
    narrow, wide = (
        run(
            awkward_kernel_problem(KERNEL, dtype=dtype, double=double, lam=0.1),
            KernelPegasos(Pegasos(batch_size=4)),
            Stop(tol=None, max_iter=50),
            seed=SEED,
        )
        for dtype, double in ((np.float32, False), (np.float64, True))
    )
    assert narrow.certificate.primal == pytest.approx(wide.certificate.primal, rel=1e-2)
    assert narrow.certificate.dual <= wide.certificate.primal


def test_entering_in_the_middle_continues_from_there():
    problem = awkward_kernel_problem(KERNEL)
    rule = {"sampling": "shuffle", "batch_size": 1, "projection": False}
    solver, paper = KernelPegasos(Pegasos()), paper_for(problem, rule)
    start = np.linspace(0.0, 2.0, N_ROWS)  # some of it beyond the bounds
    state = solver.enter(problem, start, np.arange(N_ROWS), step=500, seed=SEED)
    paper.t, paper.counts = 500, start * 500 / N_ROWS
    for _ in range(200):
        solver.step(problem, state, 1)
        paper.step()
        assert_close(state.alpha, paper.alpha)


def test_only_rows_of_the_pool_are_drawn():
    problem = awkward_kernel_problem(KERNEL)
    solver = KernelPegasos(Pegasos())
    state = solver.enter(problem, np.zeros(N_ROWS), np.arange(30, N_ROWS), step=0, seed=SEED)
    solver.advance_to(problem, state, 11)
    assert state.alpha[:30].max() == 0.0
    assert state.alpha[30:].max() > 0.0


def test_a_batch_that_needs_too_large_a_kernel_matrix_is_refused():
    problem = awkward_kernel_problem(KERNEL, n_rows=1500, cache_bytes=1.0)
    with pytest.raises(PegasosError, match="batch_size=1400 needs a kernel matrix of 15 MB; raise cache_size"):
        KernelPegasos(Pegasos(batch_size=1400)).start(problem, 0)
