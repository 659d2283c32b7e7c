"""The problem of all classes: what the certificate promises and the solvers reach, against exact solvers by others."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import LinearSVC

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.solution import Status
from pegasos.solvers.auto import all_rows
from pegasos.solvers.auto.stage import Inside
from pegasos.solvers.crammer_singer import JointAscent, JointAuto, JointPegasos
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.theory import c_of_lam
from tests.problems import joint_problem_of, problem_of, small_joint_problems
from tests.reference.joint_objective import PlainJointProblem

TIGHT = Stop(tol=1e-8, max_iter=200_000)
SOLVERS = {
    "pegasos": JointPegasos(),
    "pegasos uniform projected": JointPegasos(sampling="uniform", projection=True),
    "pegasos averaged batches": JointPegasos(batch_size=3, average="tail"),
    "dual ascent": JointAscent(),
    "auto": JointAuto(JointPegasos(), JointAscent()),
}


def optimum_of(problem):
    """min lam/2 |W|^2 + (1/total) sum_i cost_i slack_i,  slack_i >= g_ir - g_iy for all r, by an interior point."""
    plain = PlainJointProblem.of(problem)
    n, d, k = plain.n_rows, plain.X.shape[1], plain.n_classes
    quadratic = sp.block_diag([plain.lam * sp.eye(k * d), sp.csc_matrix((n, n))], format="csc")
    linear = np.concatenate([np.zeros(k * d), np.maximum(plain.cost, 1e-12) / plain.total])
    constraints, bounds = [], []
    for i in range(n):
        for r in range(k):  # for r = y_i: slack_i >= 0
            row = np.zeros((k, d))
            row[r] += plain.X[i]
            row[plain.codes[i]] -= plain.X[i]
            constraints.append(np.concatenate([row.ravel(), -np.eye(n)[i]]))
            margin = float(r != plain.codes[i]) + plain.offset[i, r] - plain.offset[i, plain.codes[i]]
            bounds.append(-margin)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cone = [clarabel.NonnegativeConeT(len(bounds))]
    solver = clarabel.DefaultSolver(
        quadratic, linear, sp.csc_matrix(np.array(constraints)), np.array(bounds), cone, settings
    )
    W = np.array(solver.solve().x)[: k * d].reshape(k, d)
    return W, plain.primal(W)


def solved(problem, solver=None):
    solution = run(problem, solver or JointAscent(), TIGHT)
    assert solution.status is Status.CERTIFIED
    return solution


def of_rows(problem, which, **changed):
    """The problem of some of the rows, or of some of them several times."""
    kept = {"lam": problem.lam, "total": problem.total, "bias": problem.rows.bias, "n_classes": problem.n_classes}
    columns = {"cost": problem.cost[which], "offset": problem.offset[which]}
    return joint_problem_of(problem.rows.values[which], problem.codes[which], **{**columns, **kept, **changed})


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@given(problem=small_joint_problems(), epochs=st.sampled_from((1, 2, 5, 30)))
def test_the_gap_bounds_the_distance_to_the_optimum_after_any_epoch(solver, problem, epochs):
    _, best = optimum_of(problem)
    solution = run(problem, solver, Stop(tol=None, max_iter=epochs))
    slack = 1e-9 * (1.0 + best)
    assert PlainJointProblem.of(problem).primal(solution.weights) - best <= solution.certificate.gap + slack
    for row in solution.trace.rows:
        assert row.dual <= best + slack
        assert row.primal >= best - slack


@given(small_joint_problems())
def test_dual_ascent_reaches_the_optimum_of_the_interior_point_solver(problem):
    W, best = optimum_of(problem)
    solution = solved(problem)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-7, abs=1e-8)
    assert np.linalg.norm(solution.weights - W) <= solution.certificate.weight_radius + 1e-4
    assert np.linalg.norm(W) <= problem.radius + 1e-4


@pytest.mark.parametrize("load", [load_iris, load_digits])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_classifier_reaches_the_optimum_of_liblinear(load, weighted):
    X, y = load(return_X_y=True)
    X, lam = X[::3] / X.max(), 0.01
    y = y[::3]
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(X)) if weighted else np.ones(len(X))
    model = PegasosClassifier(lam=lam, multi_class="crammer_singer", intercept_scaling=2.0, tol=1e-9, max_iter=50_000)
    model.fit(X, y, sample_weight=weights)
    rival = LinearSVC(
        multi_class="crammer_singer",
        C=c_of_lam(lam, weights.sum()),
        intercept_scaling=2.0,
        tol=1e-9,
        max_iter=100_000,
        random_state=0,
    ).fit(X, y, sample_weight=weights)
    problem = joint_problem_of(X, y, cost=weights, lam=lam, total=weights.sum(), bias=2.0)
    theirs = PlainJointProblem.of(problem).primal(np.column_stack([rival.coef_, rival.intercept_ / 2.0]))
    assert model.certificate_.primal == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(model.coef_, rival.coef_, rtol=0, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, rival.intercept_, rtol=0, atol=2e-3)


def test_two_classes_are_the_difference_that_liblinear_returns():
    X, y = load_iris(return_X_y=True)
    X, y, lam = X[50:], y[50:], 0.05
    model = PegasosClassifier(lam=lam, multi_class="crammer_singer", tol=1e-10).fit(X, y)
    rival = LinearSVC(multi_class="crammer_singer", C=c_of_lam(lam, 100), tol=1e-6, max_iter=100_000, random_state=0)
    rival.fit(X, y)
    assert model.coef_.shape == rival.coef_.shape == (1, 4)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, rival.intercept_, atol=1e-4)


@given(small_joint_problems())
def test_of_two_classes_the_joint_problem_is_the_binary_one_with_half_the_lam(problem):
    codes, offset = problem.codes % 2, problem.offset[:, :2]
    joint = joint_problem_of(
        problem.rows.values, codes, n_classes=2, cost=problem.cost, offset=offset, lam=problem.lam, total=problem.total
    )
    binary = problem_of(
        problem.rows.values,
        2 * codes - 1,
        cost=problem.cost,
        offset=offset[:, 1] - offset[:, 0],
        lam=0.5 * problem.lam,
        total=problem.total,
    )
    both = solved(joint), run(binary, DualAscent(), TIGHT)
    assert both[0].certificate.primal == pytest.approx(both[1].certificate.primal, rel=1e-7)
    difference = both[0].weights[1] - both[0].weights[0] - both[1].weights
    assert np.linalg.norm(difference) <= 2.0 * sum(each.certificate.weight_radius for each in both)


@given(small_joint_problems(), st.data())
def test_weight_two_equals_the_row_twice_and_weight_zero_no_row(problem, data):
    n = problem.rows.n_rows
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weight[0] = 1
    total = float(weight.sum())
    heavy = of_rows(problem, slice(None), cost=problem.cost * weight, total=total)
    repeated = of_rows(problem, np.repeat(np.arange(n), weight), total=total)
    assert solved(heavy).certificate.primal == pytest.approx(solved(repeated).certificate.primal, rel=1e-6)
    assert heavy.radius == pytest.approx(repeated.radius, rel=1e-12)


@given(small_joint_problems())
def test_sparse_rows_and_float32_reach_the_same_optimum(problem):
    wide = solved(problem).certificate
    sparse = solved(of_rows(problem, slice(None), layout="csr int64")).certificate
    assert sparse.primal == pytest.approx(wide.primal, rel=1e-7)
    narrow = run(of_rows(problem, slice(None), dtype=np.float32), JointAscent(np.float32), Stop(tol=1e-2)).certificate
    assert narrow.relative_gap <= 1e-2
    assert wide.dual * (1 - 1e-9) <= narrow.primal
    assert narrow.primal <= wide.primal / (1 - 1e-2)


def test_far_more_features_than_rows_need_no_matrix_of_all_weights():
    random = np.random.default_rng(0)
    problem = joint_problem_of(random.normal(size=(12, 5000)), np.arange(12) % 3, lam=1e-6)
    auto = JointAuto(JointPegasos(), JointAscent())
    state = auto.start(problem, 0)
    auto.hand_over(problem, state, Inside(all_rows(problem), *auto.point(problem, state)))
    assert state.interior.weights.shape == (3, 13)  # in a basis of the rows


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("lam", [0.1, 1e-3, 1e-5])
@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_a_kernel_machine_reaches_the_optimum_of_features_with_the_same_inner_products(gamma, lam, bias):
    rng = np.random.default_rng(3)
    X, y, cost = rng.normal(size=(24, 3)), rng.integers(0, 3, 24), rng.uniform(0.0, 2.0, 24)
    gram = np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))
    values, vectors = np.linalg.eigh(gram)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    problem = joint_problem_of(features, y, lam=lam, bias=bias, cost=cost, total=float(cost.sum()))
    best = optimum_of(problem)[1]
    model = KernelPegasosClassifier(
        gamma=gamma, lam=lam, multi_class="crammer_singer", tol=1e-7, max_iter=100_000, fit_intercept=bias > 0.0
    ).fit(X, y, sample_weight=cost)
    assert model.certificate_.relative_gap <= 1e-7
    assert model.certificate_.dual <= best * (1.0 + 1e-9)
    assert best <= model.certificate_.primal * (1.0 + 1e-7)
