"""Questions 8 to 13 (docs/theory/convergence.md), and what follows from the same proof."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.problem import Problem, Rows
from pegasos.solvers.pegasos import Pegasos
from pegasos.theory import suboptimality_bound
from tests.agreement.interior_point import optimum_of
from tests.problems import small_problems
from tests.reference.objective import PlainProblem
from tests.theory.runs import Run, gradient, longest, textbook_problems, with_vectors

n_steps = 40


@st.composite
def runs(draw, problems=textbook_problems, *, projects=False):
    """A problem in plain numpy, its exact minimizer, and a run with all rows."""
    plain = PlainProblem.of(draw(problems()))
    radius = plain.radius() if projects or draw(st.booleans()) else np.inf
    return plain, optimum_of(plain), Run.of(plain, n_steps, radius=radius)


def regret_terms(run, distances, lam):
    """The summands of question 9, without the gradients."""
    return (distances[:-1] - distances[1:]) / (2.0 * run.eta) - 0.5 * lam * distances[:-1]


def half_of_gradients(run):
    """1/2 sum_t eta_t |gradient_t|^2, up to each t."""
    return 0.5 * np.cumsum(run.eta * (run.gradients**2).sum(axis=1))


@given(with_vectors(textbook_problems(), 1))
def test_the_distance_changes_by_what_the_identity_says(case):
    plain, anywhere = case
    run = Run.of(plain, n_steps)
    d = run.distances(anywhere)
    products = ((run.iterates[:-1] - anywhere) * run.gradients).sum(axis=1)
    identity = 2.0 * run.eta * products - run.eta**2 * (run.gradients**2).sum(axis=1)
    np.testing.assert_allclose(d[:-1] - d[1:], identity, atol=1e-11 * (1.0 + d.max()))


@given(with_vectors(small_problems()))
def test_the_objective_is_strongly_convex(case):
    plain, w, u = case
    least = plain.primal(w) - plain.primal(u) + 0.5 * plain.lam * ((w - u) @ (w - u))
    assert (w - u) @ gradient(plain, w) >= least - 1e-12 * (1.0 + plain.primal(w) + plain.primal(u))


@given(runs())
def test_the_regrets_add_up_to_no_more_than_the_sums(case):
    plain, best, run = case
    regrets = np.cumsum(run.objectives(plain) - best.dual)
    d = run.distances(best.weights)
    bound = np.cumsum(regret_terms(run, d, plain.lam)) + half_of_gradients(run)
    assert (regrets <= bound + 1e-6 * (1.0 + np.abs(bound))).all()


@given(st.integers(1, 1000), st.lists(st.floats(0.0, 100.0), min_size=3, max_size=3), st.floats(1e-3, 10.0))
def test_two_consecutive_terms_telescope(t, d, lam):
    terms = [lam * (t + j) / 2.0 * (d[j] - d[j + 1]) - lam / 2.0 * d[j] for j in (0, 1)]
    assert sum(terms) == pytest.approx(
        lam * (t - 1) / 2.0 * d[0] - lam * (t + 1) / 2.0 * d[2], abs=1e-9 * lam * t * 100
    )


@given(runs())
def test_the_whole_sum_telescopes_to_its_last_term(case):
    plain, best, run = case
    d = run.distances(best.weights)
    sums = np.cumsum(regret_terms(run, d, plain.lam))
    expected = -0.5 * plain.lam * np.arange(1, n_steps + 1) * d[1:]
    np.testing.assert_allclose(sums, expected, atol=1e-9 * plain.lam * n_steps * (1.0 + d.max()))


@given(runs())
def test_the_regrets_are_bounded_by_the_gradients(case):
    plain, best, run = case
    regrets = np.cumsum(run.objectives(plain) - best.dual)
    last = 0.5 * plain.lam * np.arange(1, n_steps + 1) * run.distances(best.weights)[1:]
    assert (regrets + last <= half_of_gradients(run) + 1e-6 * (1.0 + half_of_gradients(run))).all()


@given(runs(projects=True))
def test_the_gradient_is_never_longer_than_the_bound(case):
    plain, _, run = case
    assert np.linalg.norm(run.gradients, axis=1).max() <= (np.sqrt(plain.lam) + longest(plain)) * (1 + 1e-12)


@given(with_vectors(small_problems(), 1))
def test_bringing_back_to_the_ball_never_leads_away_from_the_optimum(case):
    plain, w = case
    best, length = optimum_of(plain).weights, np.linalg.norm(w)
    back = w * min(1.0, plain.radius() / length) if length > 0.0 else w
    assert np.linalg.norm(back - best) <= np.linalg.norm(w - best) + 1e-6


def test_the_harmonic_sum_is_below_one_plus_the_logarithm():
    t = np.arange(1, 100_001)
    assert (np.cumsum(1.0 / t) <= 1.0 + np.log(t) + 1e-12).all()
    assert (1.0 + np.log(t[2:]) <= 2.0 * np.log(t[2:])).all()
    assert 1.0 + np.log(2.0) > 2.0 * np.log(2.0)


def bounds(plain, gradient_bound=None):
    """c (1 + ln t) / (2 lam t) for t = 1, ..., T."""
    t = np.arange(1, n_steps + 1)
    if gradient_bound is None:
        return suboptimality_bound(t, plain.lam, longest(plain))
    return gradient_bound**2 * (1.0 + np.log(t)) / (2.0 * plain.lam * t)


@given(runs(projects=True))
def test_the_mean_objective_keeps_the_bound_for_every_number_of_steps(case):
    plain, best, run = case
    mean = np.cumsum(run.objectives(plain)) / np.arange(1, n_steps + 1)
    assert (mean - best.primal <= bounds(plain) + 1e-9).all()


@given(runs(projects=True))
def test_the_average_keeps_the_bound(case):
    plain, best, run = case
    reached = np.array([plain.primal(w) for w in run.means()])
    assert (reached >= best.dual - 1e-9).all()
    assert (reached <= np.cumsum(run.objectives(plain)) / np.arange(1, n_steps + 1) + 1e-9).all()
    assert (reached - best.primal <= bounds(plain) + 1e-9).all()


@given(runs(projects=True))
def test_the_average_comes_as_near_to_the_optimum_as_strong_convexity_says(case):
    plain, best, run = case
    distances = ((run.means() - best.weights) ** 2).sum(axis=1)
    regrets = np.array([plain.primal(w) for w in run.means()]) - best.dual
    assert (0.5 * plain.lam * distances <= regrets + 1e-6).all()
    assert (0.5 * plain.lam * distances <= bounds(plain) + 1e-6).all()


def noisy_problem(lam=0.1):
    """Eighty rows that no weights separate."""
    random = np.random.default_rng(0)
    values = random.normal(size=(80, 5))
    sign = np.where(values[:, 0] + random.normal(size=80) > 0, 1, -1).astype(np.int8)
    return Problem.plain(Rows.of(values, 1.0), sign, lam)


def test_the_average_converges():
    """For the library's own iterates: with ten times the steps, the distance falls."""
    problem = noisy_problem()
    best = optimum_of(problem).weights
    solver = Pegasos(batch_size=problem.rows.n_rows, sampling="sequential", projection=True, average="uniform")
    state, distances = solver.start(problem, 0), []
    for steps in (30, 270, 2700, 27_000):
        solver.step(problem, state, steps)
        distances.append(np.linalg.norm(solver.point(problem, state)[0] - best))
    assert (np.diff(distances) < 0).all()
    assert distances[-1] < 0.01 * distances[0]


@given(runs(projects=True))
def test_the_last_iterate_is_as_near_as_the_average_is_proved_to_be(case):
    plain, best, run = case
    assert (0.5 * plain.lam * run.distances(best.weights)[1:] <= bounds(plain) + 1e-6).all()


@given(with_vectors(textbook_problems(), 1), st.integers(1, 3), st.integers(0, 2**32))
def test_the_regret_of_any_sequence_of_rows_is_bounded(case, batch_size, seed):
    """Against any vector of the ball, and for the rows that are worst for it as well."""
    plain, u = case
    u = u * min(1.0, plain.radius() / max(np.linalg.norm(u), 1e-300))
    batches = np.random.default_rng(seed).integers(0, plain.n_rows, (n_steps, batch_size))
    batches[n_steps // 2 :] = np.argmin(plain.sign * (plain.X @ u))
    run = Run.of(plain, n_steps, radius=plain.radius(), batches=batches)

    def objective(w, rows):
        return 0.5 * plain.lam * (w @ w) + np.maximum(0.0, 1.0 - plain.sign[rows] * (plain.X[rows] @ w)).mean()

    regrets = [objective(w, rows) - objective(u, rows) for w, rows in zip(run.iterates, batches, strict=False)]
    assert (np.cumsum(regrets) <= bounds(plain) * np.arange(1, n_steps + 1) + 1e-9).all()


@given(textbook_problems(), st.integers(0, 2**32))
def test_without_the_projection_the_weights_and_gradients_are_bounded_all_the_same(problem, seed):
    plain = PlainProblem.of(problem)
    R, batches = longest(plain), np.random.default_rng(seed).integers(0, plain.n_rows, (n_steps, 1))
    for rows in (None, batches):
        run = Run.of(plain, n_steps, batches=rows)
        assert np.linalg.norm(run.iterates, axis=1).max() <= R / plain.lam * (1 + 1e-12)
        assert np.linalg.norm(run.gradients, axis=1).max() <= 2.0 * R * (1 + 1e-12)


@given(runs(small_problems, projects=True))
def test_the_average_keeps_the_bound_under_costs_and_priors(case):
    plain, best, run = case
    longest_gradient = plain.lam * plain.radius() + longest(plain) * plain.cost.sum() / plain.total
    assert np.linalg.norm(run.gradients, axis=1).max() <= longest_gradient * (1 + 1e-12) + 1e-12
    reached = np.array([plain.primal(w) for w in run.means()])
    assert (reached - best.primal <= bounds(plain, longest_gradient) + 1e-9).all()
