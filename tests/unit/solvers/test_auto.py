"""Auto: Pegasos where its epochs get somewhere, dual ascent as soon as that is faster."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.certificate import certify
from pegasos.deadline import within
from pegasos.problem import Problem, Rows
from pegasos.solution import Status
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, Watcher, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos
from tests.problems import problem_of

AUTO = Auto(Pegasos(), DualAscent(), tol=0.03)
N_ROWS = 200


def clouds(lam):
    random = np.random.default_rng(0)
    sign = np.resize([1, -1], N_ROWS)
    return problem_of(random.normal(size=(N_ROWS, 3)) + 0.7 * sign[:, None], sign, lam=lam, bias=1.0)


@dataclass(frozen=True)
class AscentThatNeverWins(DualAscent):
    """Claims no progress at any trial, and notes the dual points that it was given."""

    entered_with: list = field(default_factory=list)

    def enter(self, problem, alpha, seed):
        self.entered_with.append(alpha)
        return super().enter(problem, alpha, seed)

    def dual(self, problem, state):
        return 0.0


def solvers_at_work(problem, max_iter):
    """For each epoch the solvers that hold a state."""
    seen = []

    def look(epoch, weights):
        seen.append((state.pegasos is not None, state.dual is not None))
        return False

    state = AUTO.start(problem, 0)
    run(problem, AUTO, Stop(tol=1e-12, max_iter=max_iter), state=state, watcher=Watcher(on_epoch=look))
    return seen


def test_small_lam_begins_with_an_interior_point_on_a_small_table():
    assert solvers_at_work(clouds(1e-3), 3) == [(False, False)] * 3
    assert AUTO.start(clouds(1e-3), 0).interior is not None


def test_entering_at_zero_is_starting():
    """Weights 0 are far from the solution, so an interior point must not take them for nearly right."""
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 40)) * 10.0 ** random.integers(-3, 4, 40)
    problem = problem_of(X, np.where(random.normal(size=300) > 0.0, 1, -1), lam=1e-6, bias=100.0)
    started, entered = AUTO.start(problem, 0).interior, AUTO.enter(problem, np.zeros(300), 0).interior
    for name in ("weights", "alpha", "slack", "lower", "upper"):
        np.testing.assert_array_equal(getattr(entered, name), getattr(started, name))


def test_a_budget_too_short_for_one_step_of_second_order_begins_with_dual_ascent():
    random = np.random.default_rng(0)
    many = problem_of(random.normal(size=(3000, 60)), np.resize([1, -1], 3000), lam=1e-6, bias=1.0)
    assert AUTO.start(many, 0).dual is None
    with within(1e-7):
        assert AUTO.start(many, 0).dual is not None
    with within(60.0):
        assert AUTO.start(many, 0).dual is None


def test_large_lam_begins_with_pegasos_and_puts_dual_ascent_on_trial():
    assert solvers_at_work(clouds(1.0), 3) == [(True, False), (True, True), (False, True)]


def test_the_first_epoch_is_the_one_of_pegasos():
    problem = clouds(1.0)
    auto, pegasos = (run(problem, solver, Stop(tol=None, max_iter=1), seed=4) for solver in (AUTO, Pegasos()))
    np.testing.assert_array_equal(auto.weights, pegasos.weights)
    np.testing.assert_array_equal(auto.alpha, pegasos.alpha)


def test_dual_ascent_continues_from_the_dual_point_of_pegasos():
    problem = clouds(1.0)
    solution = run(problem, AUTO, Stop(tol=1e-9))
    assert solution.status is Status.CERTIFIED
    assert (np.diff(solution.trace["dual"]) >= 0.0).all()
    assert solution.n_steps == AUTO.steps(solution.state) > N_ROWS


@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0, 100.0])
def test_auto_is_certified_whatever_lam(lam):
    problem = clouds(lam)
    solution = run(problem, Auto(Pegasos(), DualAscent(), tol=1e-8), Stop(tol=1e-8))
    assert solution.status is Status.CERTIFIED
    assert certify(problem, solution.weights, solution.alpha).relative_gap <= 1e-8


def test_a_trial_that_fails_gives_the_point_back_to_pegasos():
    problem = clouds(1.0)
    auto = Auto(Pegasos(), AscentThatNeverWins(), tol=0.03)
    solution = run(problem, auto, Stop(tol=1e-12, max_iter=4), seed=2)
    pegasos = run(problem, Pegasos(), Stop(tol=1e-12, max_iter=4), seed=2)
    assert len(auto.ascent.entered_with) > 0
    np.testing.assert_array_equal(solution.weights, pegasos.weights)


def test_trials_begin_with_the_dual_points_of_whole_epochs():
    problem = clouds(1.0)
    auto = Auto(Pegasos(), AscentThatNeverWins(), tol=0.03)
    run(problem, auto, Stop(tol=1e-12, max_iter=10), seed=2)
    pegasos = Pegasos()
    state = pegasos.start(problem, 2)
    of_whole_epochs = []
    for epoch in range(1, 11):
        pegasos.advance_to(problem, state, epoch * N_ROWS)
        of_whole_epochs.append(pegasos.point(problem, state)[1])
    for alpha in auto.ascent.entered_with:
        assert any(np.array_equal(alpha, whole) for whole in of_whole_epochs)


def test_an_interior_point_helps_where_dual_ascent_crawls():
    """Equal rows of opposite signs: each coordinate step undoes the last."""
    problem = problem_of(np.tile([0.0, 3.0], (30, 1)), np.where(np.arange(30) < 16, 1, -1), lam=1e-4, bias=1.0)
    alone = run(problem, DualAscent(), Stop())
    helped = run(problem, Auto(Pegasos(), DualAscent()), Stop())
    assert alone.status is Status.EPOCHS
    assert helped.status is Status.CERTIFIED
    assert helped.n_epochs < 200


def text(lam, n=3000, d=9000, words=15):
    """Word k occurs with a frequency of about 1/k; the classes use slightly different words."""
    random = np.random.default_rng(3)
    sign = np.where(random.integers(0, 2, n), 1, -1)
    columns = np.minimum((d ** random.random((n, words))).astype(np.int64) - 1, d - 1)
    columns = np.where(random.random((n, words)) < 0.1, (columns + 7919 * (sign[:, None] > 0)) % d, columns)
    rows = sp.csr_matrix((np.full(n * words, words**-0.5), columns.ravel(), np.arange(0, n * words + 1, words)), (n, d))
    rows.sum_duplicates()
    return Problem(Rows.of(rows, 1.0), sign.astype(np.int8), np.ones(n), np.zeros(n), lam, float(n))


@pytest.mark.parametrize("lam", [1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
def test_conjugate_gradients_never_cost_much_more_than_they_may_save(lam, tol):
    problem, stop = text(lam), Stop(tol=tol, max_iter=20_000)
    alone = run(problem, DualAscent(), stop)
    helped = run(problem, Auto(Pegasos(), DualAscent(), tol=tol), stop)
    assert helped.status is Status.CERTIFIED
    assert helped.n_epochs <= 3 * alone.n_epochs


def test_when_no_row_is_left_in_the_sweep_all_are_chosen():
    problem = clouds(1e-3)
    ascent = DualAscent()
    state = ascent.start(problem, 0)
    ascent.advance_to(problem, state, N_ROWS)
    state.counters.recall_all_rows()
    assert len(ascent.rows(problem, state, all_rows=False)) == N_ROWS


def test_a_run_that_ends_inside_the_interior_point_keeps_the_better_point():
    random = np.random.default_rng(1)
    rows = random.normal(size=(60, 5)) * [1, 10, 100, 1000, 1]
    problem = problem_of(rows, np.where(rows[:, 0] > 0, 1, -1), lam=1e-5, bias=1.0)
    gaps = []
    for max_iter in range(1, 25):
        solution = run(problem, Auto(Pegasos(), DualAscent(), tol=1e-9), Stop(tol=1e-9, max_iter=max_iter))
        gaps.append(solution.certificate.relative_gap)
    assert gaps[0] <= 1.0
    assert gaps[-1] <= 1e-9
    assert (np.diff(gaps) <= 0.0).all()


def test_what_is_returned_when_time_is_up_is_the_best_of_all_points_and_nothing_continues():
    problem, auto = clouds(1e-6), Auto(Pegasos(), DualAscent(), 1e-9)
    state = auto.start(problem, 0)
    assert state.interior is not None
    visits = auto.visits(state) + problem.rows.n_rows
    auto.advance_to(problem, state, visits)
    early = auto.last_review(problem, state)
    iterations, state.best = state.interior.iterations, early
    worse = np.full_like(state.interior.best_weights, 10.0)
    state.interior.best_weights[:] = worse
    again = auto.last_review(problem, state)
    np.testing.assert_array_equal(again.weights, early.weights)
    assert again.certificate.primal == early.certificate.primal
    assert state.interior.iterations == iterations
