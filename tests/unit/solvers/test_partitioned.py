"""Newton's method over partitions: answers are the sums of the formulas, proofs those of the whole problem."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import PegasosClassifier
from pegasos.certificate import certify, certify_around
from pegasos.data import ArraySource
from pegasos.errors import PegasosError
from pegasos.losses import loss_of
from pegasos.problem import Problem, Rows
from pegasos.solution import Status
from pegasos.solvers import driver, partitioned_descent, partitioned_newton
from pegasos.solvers.auto import Auto
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import FreeIntercept
from pegasos.solvers.partitioned import ZERO, PartitionedDual, PartitionedProblem, PartitionsHere
from pegasos.solvers.partitioned_descent import dual_of
from pegasos.solvers.partitioned_finish import beside_others
from pegasos.solvers.partitioned_newton import PartitionedNewton
from pegasos.solvers.passes import LENGTHS, WIDTHS, Along, Bend, DualRule, Gather, Survey, merged
from pegasos.solvers.pegasos import Pegasos

TOL = 1e-5


@pytest.fixture(autouse=True)
def _rows_stay_where_they_are(monkeypatch):
    """Data as small as this would be gathered as a whole."""
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)


def whole_of(n=600, d=6, *, lam=1e-4, loss="hinge", sparse=False, spread=1.0, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.geomspace(1.0, spread, d)
    if sparse:
        X = sp.csr_matrix(X * (random.random((n, d)) < 8 / d))
    score = X @ (random.normal(size=d) / np.geomspace(1.0, spread, d))
    sign = np.where(score + 0.5 * np.std(score) * random.normal(size=n) > 0, 1, -1).astype(np.int8)
    cost = random.uniform(0.5, 2.0, n)
    found = loss_of(loss, 0.5)
    rows = Rows.of(X, 1.0)
    offset = 0.1 * random.normal(size=n)
    return Problem(rows, sign, cost, offset, lam, float(n), cap=found.cap, ridge=found.ridge)


def cut(whole, n_partitions):
    ends = np.linspace(0, whole.rows.n_rows, n_partitions + 1).astype(int)
    parts = []
    for a, b in pairwise(ends):
        rows = Rows.of(whole.rows.values[a:b], whole.rows.bias)
        parts.append(replace(whole, rows=rows, sign=whole.sign[a:b], cost=whole.cost[a:b], offset=whole.offset[a:b]))
    return parts


def partitioned(whole, n_partitions, *, is_free=False):
    zero = whole.lam * whole.radius**2
    parts = PartitionsHere(cut(whole, n_partitions))
    return PartitionedProblem(parts, whole.lam, whole.total, zero, whole.rows.bias, whole.loss, is_free)


def solve(problem, tol=TOL, first=None):
    return driver.run(problem, PartitionedNewton(tol, first), driver.Stop(tol, 500, None))


def residuals(whole, weights):
    return 1.0 - whole.sign * (whole.rows.values @ weights[:-1] + weights[-1] + whole.offset)


@pytest.mark.parametrize("n_partitions", [1, 3, 20])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_survey_is_the_sums_of_the_formulas(loss, n_partitions):
    whole = whole_of(loss=loss)
    weights, s = np.random.default_rng(1).normal(size=7), 0.7
    found = PartitionsHere(cut(whole, n_partitions)).ask(Survey(weights, (s,), bent=s))
    r = residuals(whole, weights)
    share = 1.0 / (1.0 + np.exp(-r / s)) if whole.ridge == 0.0 else np.maximum(r / s, 0.0)
    bend = share * (1.0 - share) / s if whole.ridge == 0.0 else (r > 0.0) / s
    alpha, Z = whole.cost * share, np.column_stack([whole.rows.values, np.ones(len(r))])
    (level,) = found.levels
    np.testing.assert_allclose(level.sums[0], np.sum(whole.cost * whole.loss.value(r)))
    np.testing.assert_allclose(level.total, Z.T @ (alpha * whole.sign), rtol=1e-9)
    np.testing.assert_allclose(level.spent, [alpha[whole.sign < 0].sum(), alpha[whole.sign > 0].sum()], rtol=1e-9)
    matrix = Z.T @ ((whole.cost * bend)[:, None] * Z)
    np.testing.assert_allclose(found.curvature, matrix[np.tril_indices(7)], rtol=1e-3, atol=1e-3 * np.abs(matrix).max())
    product = PartitionsHere(cut(whole, n_partitions)).ask(Bend(weights, s, weights))
    np.testing.assert_allclose(product, matrix @ weights, rtol=1e-3, atol=1e-3 * np.abs(matrix @ weights).max())
    near = [np.count_nonzero((np.abs(r) <= width) & (r <= 0.0)) * 6 for width in WIDTHS]
    np.testing.assert_array_equal(found.near[0][:-1], near)
    assert found.near.sum(axis=0)[-1] == whole.rows.n_stored


def test_the_losses_along_a_line_are_those_of_its_points():
    whole = whole_of()
    begin, end = np.random.default_rng(2).normal(size=(2, 7))
    found = PartitionsHere(cut(whole, 3)).ask(Along(begin, end))
    expected = [whole.losses(begin + t * (end - begin)).total for t in LENGTHS]
    np.testing.assert_allclose(found.losses, expected, rtol=1e-12)


def test_without_a_better_point_the_lower_bound_is_that_of_zero():
    state = PartitionedNewton().start(partitioned(whole_of(), 3, is_free=False), 0)
    state.offer(np.ones(7), 0.5)
    state.offer_dual("a bad point", -20.0)
    assert (state.gap, state.dual_point) == (1.0, ZERO)


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber_hinge"])
@pytest.mark.parametrize("lam", [1e-1, 1e-6])
def test_partitions_reach_the_optimum_of_the_whole(lam, loss, is_free):
    whole = whole_of(lam=lam, loss=loss)
    solution = solve(partitioned(whole, 4, is_free=is_free))
    auto = Auto(Pegasos(), DualAscent(np.float64), 1e-9, ends_at_once=not is_free)
    exact = driver.run(whole, FreeIntercept(auto, 1e-9) if is_free else auto, driver.Stop(1e-9, 100_000, None))
    assert solution.status is Status.CERTIFIED
    assert exact.certificate.dual * (1 - 1e-12) <= solution.certificate.primal
    assert solution.certificate.primal <= exact.certificate.primal * (1 + 2 * TOL)
    assert np.linalg.norm(solution.weights - exact.weights) <= (
        solution.certificate.weight_radius + exact.certificate.weight_radius
    )
    assert solution.n_steps < 60


@pytest.mark.parametrize("tol", [1e-5, 1e-8])
def test_a_free_intercept_beside_large_features_reaches_any_gap(tol):
    """The intercept follows from weights and rows: that of a dual point would be rounding times |x|^2 / lam."""
    solution = solve(partitioned(whole_of(spread=1e3, lam=1e-5), 4, is_free=True), tol)
    assert solution.status is Status.CERTIFIED
    assert solution.n_steps < 60


@pytest.mark.parametrize("loss", ["hinge", "huber_hinge"])
def test_the_estimate_of_a_free_dual_point_is_no_more_than_its_certificate(loss):
    """Far from the best intercept one sign is much heavier than the other, and its part of w(alpha) shrinks with it."""
    whole = whole_of(lam=1e-3, loss=loss)
    problem = partitioned(whole, 3, is_free=True)
    weights = np.append(0.1 * np.ones(6), 2.0)
    softness = max(0.7, whole.ridge)
    (level,) = problem.partitions.ask(Survey(weights, (softness,), by_sign=True)).levels
    rule, dual = dual_of(problem, weights, softness, level)
    proved = problem.certify(weights, PartitionedDual(rule)).dual
    assert min(rule.scales) < 0.5
    assert dual <= proved + 1e-9 * abs(proved)
    assert dual == pytest.approx(proved, rel=1e-9 if loss == "hinge" else 0.2)


@pytest.mark.parametrize("n_partitions", [2, 8])
def test_features_in_other_units_take_no_more_passes(n_partitions):
    solution = solve(partitioned(whole_of(spread=1e4, lam=1e-3), n_partitions))
    assert solution.status is Status.CERTIFIED
    assert solution.n_steps < 60


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("gathers", [True, False])
def test_many_sparse_features_are_solved_by_products(loss, gathers, monkeypatch):
    monkeypatch.setattr(partitioned_descent, "_LARGEST_SIDE", 50)
    if not gathers:
        monkeypatch.setattr(partitioned_descent, "_SHARE_TO_BEGIN", 0)
    whole = whole_of(2000, 300, lam=1e-3, loss=loss, sparse=True)
    kinds = []
    ask = PartitionsHere.ask
    monkeypatch.setattr(
        PartitionsHere, "ask", lambda self, question: kinds.append(type(question)) or ask(self, question)
    )
    solution = solve(partitioned(whole, 4), 1e-4)
    assert solution.status is Status.CERTIFIED
    assert (Bend in kinds) == (not gathers or loss == "squared_hinge")
    assert (Gather in kinds) >= gathers * (loss == "hinge")


@pytest.mark.parametrize("is_free", [False, True])
def test_the_certificate_is_that_of_the_collected_rows(is_free):
    whole = whole_of(lam=1e-3)
    problem = partitioned(whole, 5, is_free=is_free)
    solution = solve(problem)
    point = solution.alpha
    alpha = point.rule.alpha(whole)
    if point.part is not None:
        alpha[point.rule.left_out(whole)] = point.alpha
    if is_free:
        again = certify_around(whole, solution.weights, alpha, solution.intercept)
    else:
        again = certify(whole, solution.weights, alpha)
    assert solution.certificate.primal == pytest.approx(again.primal, rel=1e-12)
    assert solution.certificate.dual == pytest.approx(again.dual, rel=1e-10)


def test_weights_to_begin_at_save_passes():
    problem = partitioned(whole_of(lam=1e-3), 4)
    cold = solve(problem)
    warm = solve(problem, first=cold.weights)
    assert warm.status is Status.CERTIFIED
    assert warm.n_steps < cold.n_steps


def test_partitions_that_change_between_passes_are_noticed():
    whole = whole_of()
    problem = partitioned(whole, 2)
    rule = DualRule(np.zeros(7), 0.0, 1.0, 1.0)
    gathered = problem.partitions.ask(Gather(rule))
    part = problem.part(gathered.rows)
    point = PartitionedDual(rule, part, np.zeros(part.rows.n_rows))
    assert problem.certify(np.zeros(7), point).is_finite
    fewer = replace(problem, partitions=PartitionsHere(cut(whole, 4)[:3]))
    with pytest.raises(PegasosError, match="the partitions have changed since"):
        fewer.certify(np.zeros(7), point)


def test_answers_are_merged_in_groups_of_a_fixed_size():
    whole = whole_of(400)
    parts = cut(whole, 20)
    question = Survey(np.ones(7), (0.3,))
    by_hand = [question.merge([question(part) for part in parts[k : k + 8]]) for k in (0, 8, 16)]
    one, other = question.merge(by_hand), merged(question, [question(part) for part in parts])
    assert np.array_equal(one.levels[0].total, other.levels[0].total)


def test_a_partition_without_rows_adds_nothing():
    whole = whole_of()
    columns = {name: getattr(whole, name)[:0] for name in ("sign", "cost", "offset")}
    empty = replace(whole, rows=Rows.of(whole.rows.values[:0], 1.0), **columns)
    zero = whole.lam * whole.radius**2
    problem = PartitionedProblem(PartitionsHere([empty, whole, empty]), whole.lam, whole.total, zero)
    assert solve(problem).status is Status.CERTIFIED


@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5])
def test_a_source_of_features_in_other_units_is_certified(lam):
    """Rows of which only a part may be gathered."""
    whole = whole_of(3000, 8, spread=1e4)
    source = ArraySource(whole.rows.values, whole.sign, block_rows=200)
    model = PegasosClassifier(lam=lam, random_state=0, max_iter=64).fit_source(source)
    local = PegasosClassifier(lam=lam, tol=1e-6).fit(whole.rows.values, whole.sign)
    assert model.certificate_.relative_gap <= 1e-3
    assert local.certificate_.dual <= model.certificate_.primal <= local.certificate_.primal * (1 + 2e-3)


def test_no_gathered_rows_leave_the_weights_of_the_others():
    whole = whole_of()
    problem = partitioned(whole, 2)
    gathered = problem.partitions.ask(Gather(DualRule(np.zeros(7), 0.0)))
    part = problem.part(gathered.rows)
    assert part.rows.n_rows == 0
    weights, alpha, dual = beside_others(problem, part, gathered.others, np.zeros(7), 1e-3)
    assert len(alpha) == 0
    np.testing.assert_array_equal(weights, gathered.others.weights)
    assert dual == pytest.approx(
        certify(whole, weights, np.where(residuals(whole, np.zeros(7)) > 0, whole.cost, 0)).dual
    )


def test_a_source_of_a_few_long_rows_is_certified(monkeypatch):
    """Dual ascent in rounding believes that it has arrived."""
    monkeypatch.undo()
    X = np.array([[1e3, 2e5], [1.2e3, 1.9e5], [900.0, 2.05e5]])
    model = PegasosClassifier(lam=1e-3, random_state=0, max_iter=64).fit_source(ArraySource(X, [0, 1, 0], block_rows=1))
    assert model.certificate_.relative_gap <= 1e-3
