"""What the certificate promises and the solvers reach, against exact solvers by others."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from pegasos.certificate import certify
from pegasos.problem import Problem
from pegasos.solution import Status
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos
from pegasos.theory import c_of_lam
from tests.agreement.interior_point import optimum_of
from tests.problems import problem_of, small_problems
from tests.reference.objective import PlainProblem

TIGHT = Stop(tol=1e-9, max_iter=200_000)
SOLVERS = {
    "pegasos": Pegasos(),
    "pegasos uniform projected": Pegasos(sampling="uniform", projection=True),
    "pegasos averaged batches": Pegasos(batch_size=3, average="tail"),
    "dual ascent": DualAscent(),
    "auto": Auto(Pegasos(), DualAscent()),
}


def solved(problem, solver=None):
    solution = run(problem, solver or DualAscent(), TIGHT)
    assert solution.status is Status.CERTIFIED
    return solution


def with_columns(problem, **columns):
    """The same problem with other costs, offsets or total."""
    kept = {name: getattr(problem, name) for name in ("cost", "offset", "total")}
    return Problem(problem.rows, problem.sign, lam=problem.lam, **{**kept, **columns})


def of_rows(problem, which, **changed):
    """The problem of some of the rows, or of some of them several times; the total stays unless given."""
    kept = {"lam": problem.lam, "total": problem.total, "bias": problem.rows.bias}
    columns = {"cost": problem.cost[which], "offset": problem.offset[which]}
    return problem_of(problem.rows.values[which], problem.sign[which], **{**columns, **kept, **changed})


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@given(problem=small_problems(), epochs=st.sampled_from((1, 2, 5, 30)))
def test_the_gap_bounds_the_distance_to_the_optimum_after_any_epoch(solver, problem, epochs):
    best = optimum_of(problem)
    solution = run(problem, solver, Stop(tol=None, max_iter=epochs))
    assert solution.status is Status.COMPLETED
    plain, slack = PlainProblem.of(problem), 1e-12 * (1.0 + best.primal)
    assert plain.primal(solution.weights) - best.primal <= solution.certificate.gap + slack
    for row in solution.trace.rows:
        assert row.dual <= best.primal + slack
        assert row.primal >= best.dual - slack


@given(small_problems())
def test_dual_ascent_reaches_the_optimum_of_the_interior_point_solver(problem):
    best, solution = optimum_of(problem), solved(problem)
    assert solution.certificate.primal == pytest.approx(best.primal, rel=1e-8, abs=2e-9)
    radius = solution.certificate.weight_radius
    assert np.linalg.norm(solution.weights - best.weights) <= radius + 1e-5


# LIBLINEAR stops when all gradients are equal, not only when all are 0: on rows in general position they never are.
@given(small_problems(biases=(1.0, 2.5), offsets=(0.0,), costs=(0.5, 1.0, 3.0)), st.booleans(), st.integers(0, 2**32))
def test_dual_ascent_reaches_the_optimum_of_liblinear(problem, weighted, seed):
    assume(len(set(problem.sign)) == 2)
    X = problem.rows.values + np.random.default_rng(seed).normal(size=problem.rows.values.shape)
    cost = problem.cost if weighted else np.ones(len(X))
    problem = problem_of(X, problem.sign, cost=cost, lam=problem.lam, total=cost.sum(), bias=problem.rows.bias)
    rival = LinearSVC(
        loss="hinge",
        C=c_of_lam(problem.lam, problem.total),
        intercept_scaling=problem.rows.bias,
        tol=1e-10,
        max_iter=1_000_000,
        random_state=0,
    ).fit(X, problem.sign, sample_weight=cost)
    weights = np.append(rival.coef_[0], rival.intercept_ / problem.rows.bias)
    solution = solved(problem)
    theirs = PlainProblem.of(problem).primal(weights)
    assert theirs - solution.certificate.dual >= -1e-12
    assert solution.certificate.primal == pytest.approx(theirs, rel=1e-8, abs=1e-9)
    gap = certify(problem, weights, solution.alpha).gap
    assert theirs - optimum_of(problem).primal <= gap + 1e-12


@given(small_problems(), st.data())
def test_weight_two_equals_the_row_twice(problem, data):
    n = problem.rows.n_rows
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    total = float(weight.sum())
    heavy = with_columns(problem, cost=problem.cost * weight, total=total)
    repeated = of_rows(problem, np.repeat(np.arange(n), weight), total=total)
    assert solved(heavy).certificate.primal == pytest.approx(solved(repeated).certificate.primal, rel=1e-7)
    assert heavy.radius == pytest.approx(repeated.radius, rel=1e-12)


@given(small_problems(), st.data())
def test_cost_zero_equals_the_row_left_out(problem, data):
    n = problem.rows.n_rows
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    assume(kept.any())
    silenced, shorter = solved(with_columns(problem, cost=problem.cost * kept)), solved(of_rows(problem, kept))
    assert silenced.certificate.primal == pytest.approx(shorter.certificate.primal, rel=1e-7)
    apart = np.linalg.norm(silenced.weights - shorter.weights)
    assert apart <= silenced.certificate.weight_radius + shorter.certificate.weight_radius + 1e-12


@given(small_problems(lams=(0.2, 1.0)))  # where the objective is not as small as float32's rounding of the losses
def test_float32_is_near_float64(problem):
    narrow_rows = of_rows(problem, slice(None), dtype=np.float32)
    narrow = run(narrow_rows, DualAscent(np.float32), Stop(tol=1e-3))
    wide = solved(problem)
    assert narrow.state.weights.dtype == np.float32
    assert narrow.status is Status.CERTIFIED
    assert narrow.certificate.primal == pytest.approx(wide.certificate.primal, rel=1e-3)
    apart = np.linalg.norm(narrow.weights - wide.weights)
    assert apart <= narrow.certificate.weight_radius + wide.certificate.weight_radius


@given(small_problems(), st.integers(0, 2**32))
def test_an_offset_is_the_transfer_from_a_prior_model(problem, seed):
    prior = np.random.default_rng(seed).normal(size=problem.rows.n_features + 1)
    plain = PlainProblem.of(problem)
    moved = with_columns(problem, offset=problem.offset + plain.X @ prior)
    solution, best = solved(moved), optimum_of(problem, prior=prior)
    assert solution.certificate.primal == pytest.approx(best.primal, rel=1e-8, abs=2e-9)
    weights = prior + solution.weights
    objective = plain.primal(weights) + 0.5 * plain.lam * (np.sum((weights - prior) ** 2) - weights @ weights)
    assert objective == pytest.approx(solution.certificate.primal, rel=1e-9, abs=1e-12)


@given(small_problems())
def test_the_exact_weights_lie_within_the_radius_of_the_problem(problem):
    assert problem.radius == pytest.approx(PlainProblem.of(problem).radius(), rel=1e-12)
    assert np.linalg.norm(optimum_of(problem).weights) <= problem.radius + 1e-6
