"""Both forms of the region, and what they are computed from."""

import numpy as np
import pytest

from pegasos.certificate import certify_dual
from pegasos.kernels import RBF, Linear
from pegasos.problem import Rows
from pegasos.region import GramRegion, PrimalRegion, find_region, finding
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from tests.agreement.interior_point import optimum_of
from tests.problems import awkward_kernel_problem, awkward_problem, kernel_problem_of, problem_of


def solved(problem, tol=1e-2):
    """The first point of dual ascent with this gap: a solver that is looked at seldom may end far below it."""
    for n_epochs in range(1, 1000):
        solution = run(problem, DualAscent(np.float64), Stop(None, max_iter=n_epochs))
        if solution.certificate.relative_gap <= tol:
            break
    return solution.weights, solution.alpha


def asked(problem, n=200):
    values = np.random.default_rng(9).normal(size=(n, problem.rows.n_features))
    return Rows.of(values, problem.rows.bias)


def bounds(region, rows):
    """The middle and the half of the interval of each score, beside that of the weights."""
    if isinstance(region, GramRegion):
        moves, errors, reaches = region.bounds(rows, rows.n_rows)
        return moves, errors + reaches
    moves, errors = region.moves(rows)
    return moves[:, 0], errors[:, 0] + region.reaches(rows)


@pytest.mark.parametrize("layout", ["dense", "csr int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_pinned_rows_give_the_ellipsoid_of_the_features(monkeypatch, layout, dtype):
    problem = awkward_problem(layout, dtype)
    weights, alpha = solved(problem)
    by_features = find_region(problem, weights, alpha).region
    monkeypatch.setattr(finding, "_MOST_FEATURES", 0)
    by_products = find_region(problem, weights, alpha).region
    assert isinstance(by_features, PrimalRegion)
    assert isinstance(by_products, GramRegion)
    for one, other in zip(bounds(by_features, asked(problem)), bounds(by_products, asked(problem)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_a_linear_kernel_has_the_ellipsoid_of_the_features(monkeypatch):
    monkeypatch.setattr(finding, "_MOST_LOOKS", 1)  # as for every kernel
    linear = awkward_problem(bias=0.5)
    _, alpha = solved(linear)
    columns = {"cost": linear.cost, "offset": linear.offset, "lam": linear.lam, "total": linear.total, "bias": 0.5}
    problem = kernel_problem_of(Linear(), linear.rows.values, linear.sign, **columns)
    certificate, coefficients = certify_dual(problem, alpha)
    by_kernel = find_region(problem, coefficients, alpha)
    own = certify_dual(linear, alpha)[1]
    by_features = find_region(linear, own, alpha)
    assert by_kernel.ends.primal == pytest.approx(certificate.primal, rel=1e-12)
    rows = asked(linear)
    middle, half = bounds(by_features.region, rows)
    items = Linear().read(rows.values)
    moves, errors, reaches = by_kernel.region.bounds(items, rows.n_rows)
    np.testing.assert_allclose(moves, middle, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(reaches + errors, half, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("tol", [0.1, 1e-2, 1e-4])
def test_the_exact_scores_lie_within_their_bounds(tol):
    problem = awkward_problem(n_features=20, lam=0.05)
    weights, alpha = solved(problem, tol)
    exact = optimum_of(problem).weights
    region = find_region(problem, weights, alpha).region
    rows = asked(problem)
    moves, half = bounds(region, rows)
    away = rows.scores_of(exact) - rows.scores_of(weights) - moves
    assert (np.abs(away) <= half + 1e-6).all()
    ball = certify_dual(problem, alpha)[0].weight_radius * rows.lengths
    assert np.median(half / ball) < 0.8


def test_kernel_scores_lie_within_their_bounds():
    problem = awkward_kernel_problem(RBF(0.3), lam=0.02, n_rows=60)
    rough = np.clip(optimum_alpha(problem) + 1e-3 * np.random.default_rng(0).normal(size=60), 0.0, problem.cost)
    _, weights = certify_dual(problem, rough)
    region = find_region(problem, weights, rough).region
    _, exact = certify_dual(problem, optimum_alpha(problem))
    moves, errors, reaches = region.bounds(problem.rows.items, 60)
    away = problem.rows.scores_of(exact) - problem.rows.scores_of(weights) - moves
    assert (np.abs(away) <= errors + reaches + 1e-5).all()
    assert reaches.max() < certify_dual(problem, rough)[0].weight_radius * problem.rows.longest


def optimum_alpha(problem):
    return run(problem, Decomposition(1e-10, is_free=False), Stop(1e-10)).alpha


def test_fewer_pinned_rows_make_a_larger_region_that_still_holds(monkeypatch):
    problem = awkward_problem(n_features=20, lam=0.05)
    weights, alpha = solved(problem, 1e-2)
    rows = asked(problem)
    whole = bounds(find_region(problem, weights, alpha).region, rows)[1]
    monkeypatch.setattr(finding, "_most_pinned", lambda problem: 3)
    moves, half = bounds(find_region(problem, weights, alpha).region, rows)
    assert np.median(half) > np.median(whole)
    away = rows.scores_of(optimum_of(problem).weights) - rows.scores_of(weights) - moves
    assert (np.abs(away) <= half + 1e-6).all()


def test_without_a_row_between_its_bounds_there_is_only_the_ball():
    problem = problem_of([[1.0], [-1.0]], [1, -1], lam=1e-2)
    assert find_region(problem, np.zeros(2), np.zeros(2)).region is None


def test_huge_curvatures_leave_room_for_rounding():
    """A gap of next to nothing: curvatures are cut where the rounding of the matrix would exceed lam."""
    problem = awkward_problem(n_features=20, lam=1e-7)
    weights, alpha = solved(problem, 1e-9)
    region = find_region(problem, weights, alpha).region
    rows = asked(problem)
    moves, half = bounds(region, rows)
    finer = solved(problem, 1e-12)[0]
    away = rows.scores_of(finer) - rows.scores_of(weights) - moves
    assert np.isfinite(half).all()
    room = certify_dual(problem, solved(problem, 1e-12)[1])[0].weight_radius * rows.lengths
    assert (np.abs(away) <= half + room).all()


def test_going_to_the_centre_makes_the_gap_and_the_region_smaller(monkeypatch):
    problem = awkward_problem(n_features=20, lam=0.01)
    weights, alpha = solved(problem, 0.05)
    rows = asked(problem)
    several = bounds(find_region(problem, weights, alpha).region, rows)
    monkeypatch.setattr(finding, "_MOST_LOOKS", 1)
    one = bounds(find_region(problem, weights, alpha).region, rows)
    assert np.mean(several[1]) < 0.9 * np.mean(one[1])
    away = rows.scores_of(optimum_of(problem).weights) - rows.scores_of(weights) - several[0]
    assert (np.abs(away) <= several[1] + 1e-6).all()
