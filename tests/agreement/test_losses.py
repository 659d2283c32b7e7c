"""Every loss of the family against exact solvers by others: optima, certificates, regions."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.certificate import certify, certify_free, stretched
from pegasos.kernels import RBF
from pegasos.problem import Problem, Rows
from pegasos.region import find_region
from pegasos.solvers.auto import Auto
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import FreeIntercept
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.newton import Newton
from pegasos.solvers.pegasos import Pegasos
from tests.agreement.interior_point import free_optimum_of, optimum_of
from tests.problems import awkward_kernel_problem, problem_of, small_problems
from tests.reference.objective import PlainProblem

LOSSES = {
    "hinge": (1.0, 0.0),
    "squared hinge": (np.inf, 0.5),
    "huber": (1.0, 0.3),
    "nearly a hinge": (1.0, 1e-3),
    "steep": (2.5, 0.0),
    "steep and curved": (0.7, 1.0),
}
of_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
AUTO = Auto(Pegasos(), DualAscent(), 1e-9)
TIGHT = Stop(tol=1e-9, max_iter=100_000)


def with_loss(problem, loss):
    return replace(problem, cap=loss[0], ridge=loss[1])


def noisy_problem(loss, *, seed=0, n=80, d=7, lam=0.01, weighted=True, offsets=True, layout="dense", dtype=np.float64):
    random = np.random.default_rng(seed)
    X = (random.normal(size=(n, d)) * (random.random((n, d)) < 0.7)).astype(np.float32)
    sign = np.where(X @ random.normal(size=d) + random.normal(size=n) > 0.2, 1, -1)
    cost = random.integers(0, 3, n) * random.uniform(0.2, 2.0, n) if weighted else 1.0
    offset = 0.4 * random.normal(size=n) if offsets else 0.0
    columns = {"cost": cost, "offset": offset, "lam": lam, "total": 0.9 * n}
    return with_loss(problem_of(X, sign, bias=1.0, layout=layout, dtype=dtype, **columns), loss)


@of_loss
@pytest.mark.parametrize("layout", ["dense", "csr int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("weighted", "offsets"), [(False, False), (True, False), (False, True), (True, True)])
def test_the_optimum_is_that_of_the_interior_point_solver(loss, layout, dtype, weighted, offsets):
    problem = noisy_problem(loss, weighted=weighted, offsets=offsets, layout=layout, dtype=dtype)
    best = optimum_of(problem)
    solution = run(problem, AUTO, TIGHT)
    assert solution.certificate.relative_gap <= 1e-9
    assert solution.certificate.primal == pytest.approx(best.primal, rel=2e-9)
    assert np.linalg.norm(solution.weights - best.weights) <= solution.certificate.weight_radius + 1e-6


@of_loss
@pytest.mark.parametrize("offsets", [False, True])
def test_the_optimum_with_a_free_intercept_is_that_of_the_interior_point_solver(loss, offsets):
    problem = noisy_problem(loss, offsets=offsets, lam=0.02)
    plain = PlainProblem.of(problem)
    best = free_optimum_of(replace(plain, X=plain.X[:, :-1]))
    solution = run(problem, FreeIntercept(Auto(Pegasos(), DualAscent(), 1e-8), 1e-8), Stop(1e-8, 100_000))
    assert solution.certificate.relative_gap <= 1e-8
    assert solution.certificate.primal == pytest.approx(best.primal, rel=2e-8)


@of_loss
@pytest.mark.parametrize("free", [False, True])
def test_the_optimum_with_a_kernel_is_that_of_the_interior_point_solver(loss, free):
    problem = with_loss(awkward_kernel_problem(RBF(0.3), bias=0.0 if free else 0.5), loss)
    solution = run(problem, Decomposition(1e-9, free), Stop(1e-9, 100_000))
    assert solution.certificate.relative_gap <= 1e-9
    rows = problem.rows
    K = rows.kernel.evaluate(rows.items, rows.items) + rows.bias**2
    plain = PlainProblem(K, problem.sign.astype(float), problem.cost, problem.offset, problem.lam, problem.total, *loss)
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    kept = values > 1e-14 * values[-1]
    plain = replace(plain, X=vectors[:, kept] * np.sqrt(values[kept]))
    best = (free_optimum_of if free else optimum_of)(plain)
    assert solution.certificate.primal == pytest.approx(best.primal, rel=1e-8)


@of_loss
@settings(max_examples=25)
@given(problem=small_problems(), seed=st.integers(0, 2**32))
def test_any_two_points_certify_the_distance_to_the_optimum(loss, problem, seed):
    problem = with_loss(problem, loss)
    random = np.random.default_rng(seed)
    best = optimum_of(problem)
    alpha = random.uniform(0.0, 1.0, problem.alpha_shape) * np.minimum(problem.bound, 3.0 * problem.cost)
    weights = best.weights + random.normal(size=problem.weights_shape) * random.choice([0.0, 1e-3, 1.0])
    found = certify(problem, weights, alpha)
    plain, room = PlainProblem.of(problem), 1e-10 * (1.0 + best.primal)
    assert found.primal == pytest.approx(plain.primal(weights), rel=1e-12, abs=1e-13)
    assert found.dual <= plain.dual(plain.clip(alpha)) + 1e-12 * (1.0 + abs(found.dual))
    assert found.gap >= 0.0
    assert found.dual <= best.primal + room
    assert np.linalg.norm(weights - best.weights) <= found.weight_radius + 1e-5
    longer = stretched(problem, alpha)
    assert plain.dual(longer) >= plain.dual(plain.clip(alpha)) - room
    assert (longer <= problem.bound).all()
    free, _, intercept = certify_free(problem, alpha)
    assert free.gap >= -room
    assert np.isfinite(free.primal) or not np.isfinite(intercept)


@of_loss
@pytest.mark.parametrize("seed", range(3))
def test_the_best_intercept_is_where_the_loss_is_least(loss, seed):
    problem = noisy_problem(loss, seed=seed)
    certificate, weights, intercept = certify_free(problem, np.zeros(problem.rows.n_rows))
    plain = PlainProblem.of(problem)
    nearby = intercept + np.concatenate([np.linspace(-2.0, 2.0, 401), [-1e-4, 1e-4]])
    losses = [replace(plain, offset=plain.offset + b).primal(weights) for b in nearby]
    assert certificate.primal <= min(losses) + 1e-12


@of_loss
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
@pytest.mark.parametrize("lam", [0.1, 1e-3])
def test_the_region_holds_the_exact_solution(loss, tol, lam):
    for seed in range(3):
        problem = noisy_problem(loss, seed=seed, lam=lam, n=150)
        solution = run(problem, DualAscent(), Stop(tol, 10_000))
        best = optimum_of(problem)
        region = find_region(problem, solution.weights, solution.alpha).region
        if region is None:
            continue
        rows = Rows.of(np.random.default_rng(seed).normal(size=(50, problem.rows.n_features)), 1.0)
        moves, errors = region.moves(rows)
        centre = rows.scores_of(solution.weights) + moves[:, 0]
        apart = np.abs(rows.scores_of(best.weights) - centre)
        reaches = region.reaches(rows) + errors[:, 0]
        assert (apart <= reaches + 1e-6).all()


def test_the_region_of_the_squared_hinge_is_smaller_than_the_ball():
    problem = noisy_problem(LOSSES["squared hinge"], lam=1e-3, n=400)
    solution = run(problem, DualAscent(), Stop(1e-3, 10_000))
    region = find_region(problem, solution.weights, solution.alpha).region
    reaches = region.reaches(problem.rows)
    assert np.mean(reaches) < 0.1 * np.mean(solution.certificate.weight_radius * problem.rows.lengths)


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_squared_hinge_is_that_of_liblinear(dual, C, sparse):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    given_rows = sp.csr_array(X) if sparse else X
    ours = PegasosClassifier(C=C, loss="squared_hinge", tol=1e-10).fit(given_rows, y, sample_weight=weights)
    rival = LinearSVC(C=C, loss="squared_hinge", dual=dual, tol=1e-8, max_iter=1_000_000, random_state=0)
    rival.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, rival.coef_, atol=1e-5 if dual else 2e-4)
    objective = [objective_of(X, y, weights, C, model) for model in (ours, rival)]
    assert objective[0] <= objective[1] * (1.0 + 1e-9)
    assert objective[0] == pytest.approx(objective[1], rel=1e-6)


def objective_of(X, y, weights, C, model):
    """LIBLINEAR's, with the intercept as the weight of a column of ones."""
    w = np.append(model.coef_[0], model.intercept_)
    margins = np.where(y == 1, 1.0, -1.0) * (np.column_stack([X, np.ones(len(X))]) @ w)
    return 0.5 * w @ w + C * np.sum(weights * np.maximum(0.0, 1.0 - margins) ** 2)


@pytest.mark.parametrize("loss", ["squared_hinge", "huber_hinge"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_sample_weight_of_two_is_the_row_twice(kind, multi_class, loss):
    random = np.random.default_rng(3)
    X = random.normal(size=(90, 4))
    y = (X[:, 0] + 0.5 * random.normal(size=90) > 0).astype(int) + (X[:, 1] > 0.5)
    weights = random.integers(0, 3, 90)
    estimator = PegasosClassifier if kind == "linear" else KernelPegasosClassifier
    common = {"loss": loss, "multi_class": multi_class, "tol": 1e-9, "max_iter": 100_000}
    if kind == "kernel":
        common["gamma"] = 0.5
    weighted = estimator(lam=0.01, **common).fit(X, y, sample_weight=weights)
    repeated = estimator(lam=0.01, **common).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-8)


@of_loss
def test_newton_and_the_interior_point_meet_at_the_same_optimum(loss):
    random = np.random.default_rng(1)
    X = random.normal(size=(4000, 8))
    sign = np.where(X @ random.normal(size=8) + 2.0 * random.normal(size=4000) > 0, 1, -1).astype(np.int8)
    problem = with_loss(Problem.plain(Rows.of(X, 1.0), sign, 1e-3), loss)
    newton = Newton()
    state = newton.start(problem)
    while not state.stalled and not (state.stride == 1 and state.gap <= 1e-4):
        newton.step(problem, state, 1e-4)
    assert not state.is_lost
    interior = InteriorPoint()
    everyone = np.arange(4000, dtype=np.uint32)
    inside = interior.enter(problem, everyone, np.zeros(problem.weights_shape), np.zeros(4000))
    interior.advance(problem, inside, 60, 1e-9)
    assert inside.relative_gap <= 1e-9
    exact = certify(problem, inside.best_weights, inside.best_alpha)
    assert exact.relative_gap <= 1e-8
    assert certify(problem, state.weights, state.alpha).primal == pytest.approx(exact.primal, rel=2e-4)
