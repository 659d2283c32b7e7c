"""The interior point on the dual of a kernel machine: its optimum, its face, and factors of low rank."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pegasos.solvers.kernel_interior import DenseSystem, InteriorPoint, LowRankSystem, PivotedFactor


def quadratic(n, *, seed, unit, width=0.3):
    """Q, targets and bounds of a machine with a Gaussian kernel on overlapping classes."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    sign = np.where(X[:, 0] + random.normal(size=n) > 0, 1.0, -1.0)
    cost = random.choice([0.5, 1.0, 3.0], n)
    K = np.exp(-width * np.square(X[:, None] - X[None]).sum(axis=-1))
    return unit * K, sign - 0.1 * random.normal(size=n), np.minimum(sign, 0) * cost, np.maximum(sign, 0) * cost


def exact(Q, target, lower, upper, total):
    """The optimum by an independent solver."""
    n = len(Q)
    rows, bounds, cones = [np.eye(n), -np.eye(n)], [upper, -lower], [clarabel.NonnegativeConeT(2 * n)]
    if total is not None:
        rows, bounds, cones = [np.ones((1, n)), *rows], [[total], *bounds], [clarabel.ZeroConeT(1), *cones]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    P = sp.csc_matrix(np.triu(Q))
    args = P, -target, sp.csc_matrix(np.vstack(rows)), np.concatenate(bounds), cones, settings
    return -clarabel.DefaultSolver(*args).solve().obj_val


def solved(system, target, lower, upper, total, *, share=1e-9):
    interior = InteriorPoint(system, target, lower, upper, total, share)
    with np.errstate(all="ignore"):
        while not interior.is_over:
            interior.advance()
    return interior


def objective(Q, target, b):
    return target @ b - 0.5 * b @ Q @ b


@pytest.mark.parametrize("total", [None, 0.0])
@pytest.mark.parametrize("unit", [0.1, 10.0, 1e3, 1e4])
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_that_of_an_independent_solver(seed, unit, total):
    Q, target, lower, upper = quadratic(60, seed=seed, unit=unit)
    interior = solved(DenseSystem(Q), target, lower, upper, total)
    b = interior.on_face()
    assert interior.n_iterations <= 60
    assert (b >= lower).all()
    assert (b <= upper).all()
    if total is not None:
        assert abs(b.sum()) <= 1e-9 * np.abs(b).sum()
    best = exact(Q, target, lower, upper, total)
    assert objective(Q, target, b) == pytest.approx(best, rel=2e-7)


@pytest.mark.parametrize("total", [None, 0.0])
def test_a_huge_matrix_is_solved_to_a_gap_that_it_proves_itself(total):
    # Where an independent solver stops more than 1 % short.
    Q, target, lower, upper = quadratic(60, seed=0, unit=1e6)
    b = solved(DenseSystem(Q), target, lower, upper, total).on_face()
    slope = target - Q @ b
    free = (b > lower) & (b < upper)
    above = slope - (0.0 if total is None else np.median(slope[free]))
    gap = np.sum(above * np.where(above > 0, upper - b, lower - b))
    assert gap <= 1e-6 * objective(Q, target, b)


@pytest.mark.parametrize("total", [None, 0.0])
def test_rows_at_bounds_are_exactly_there_and_free_ones_have_one_slope(total):
    Q, target, lower, upper = quadratic(80, seed=3, unit=100.0)
    b = solved(DenseSystem(Q), target, lower, upper, total).on_face()
    free = (b > lower) & (b < upper)
    assert 0 < free.sum() < 80
    slope = target - Q @ b
    level = 0.0 if total is None else slope[free].mean()
    np.testing.assert_allclose(slope[free], level, atol=1e-7)
    assert (slope[b == lower] <= level + 1e-7).all()
    assert (slope[b == upper] >= level - 1e-7).all()


def test_a_kernel_of_low_rank_gives_the_same_optimum_as_its_matrix():
    random = np.random.default_rng(0)
    root = random.normal(size=(70, 6))
    _, target, lower, upper = quadratic(70, seed=1, unit=1.0)
    by_root, by_matrix = (
        objective(root @ root.T, target, solved(system, target, lower, upper, 0.0).best[1])
        for system in (LowRankSystem(root), DenseSystem(root @ root.T))
    )
    assert by_root == pytest.approx(by_matrix, rel=1e-7)


@given(rank=st.integers(1, 8), seed=st.integers(0, 100))
def test_low_rank_solves_equal_dense_ones(rank, seed):
    random = np.random.default_rng(seed)
    root, right = random.normal(size=(20, rank)), random.normal(size=20)
    diagonal = 10.0 ** random.uniform(-3, 3, 20)
    low, dense = LowRankSystem(root), DenseSystem(root @ root.T)
    assert low.factor(diagonal)
    assert dense.factor(diagonal)
    np.testing.assert_allclose(low.solve(right), dense.solve(right), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(low.times(right), dense.times(right), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("at_once", [1, 7, 16])
def test_the_error_of_a_pivoted_factor_is_what_it_says_and_falls(at_once):
    K = quadratic(90, seed=2, unit=1.0)[0]
    factor = PivotedFactor(lambda places: K[places], K.diagonal(), most=60, at_once=at_once)
    before = factor.error
    while factor.advance():
        root = factor.root[:, : factor.rank]
        assert factor.error == pytest.approx(np.trace(K - root @ root.T), abs=1e-10)
        assert factor.error < before
        before = factor.error
    assert factor.rank <= 60
    assert factor.error < 1e-3 * np.trace(K)


def test_a_pivoted_factor_ends_at_the_rank_of_the_matrix():
    root = np.random.default_rng(0).normal(size=(40, 5))
    K = root @ root.T
    factor = PivotedFactor(lambda places: K[places], K.diagonal(), most=40, at_once=3)
    while factor.advance():
        pass
    assert factor.rank == 5
    np.testing.assert_allclose(factor.root[:, :5] @ factor.root[:, :5].T, K, atol=1e-9)


def test_a_matrix_that_rounding_has_made_indefinite_is_solved():
    Q = np.ones((6, 6)) + np.diag([1e-13, -1e-13] * 3)
    interior = solved(DenseSystem(Q), np.full(6, 0.5), np.zeros(6), np.ones(6), None, share=1e-6)
    assert objective(Q, np.full(6, 0.5), interior.on_face()) == pytest.approx(0.125, rel=1e-5)
