"""Neighborhoods of a large kernel problem."""

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier
from pegasos.deadline import within
from pegasos.kernels import RBF
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.neighborhoods import fit_in_time, neighborhoods_of
from tests.problems import kernel_problem_of


def items(n, d=4):
    return RBF(0.3).read(np.random.default_rng(0).normal(size=(n, d)) * np.arange(1, d + 1))


@pytest.mark.parametrize(("n", "most"), [(1000, 130), (1001, 300), (7, 1), (50, 50)])
def test_neighborhoods_divide_the_samples_into_equal_parts(n, most):
    neighborhoods = neighborhoods_of(items(n), most, 0)
    np.testing.assert_array_equal(np.sort(np.concatenate(neighborhoods)), np.arange(n))
    sizes = [len(each) for each in neighborhoods]
    assert max(sizes) <= most
    assert max(sizes) <= min(sizes) + 1


def test_samples_of_a_neighborhood_are_closer_to_one_another_than_to_others():
    rows = items(1000)
    nearby = np.mean([rows.values[each].var(axis=0).sum() for each in neighborhoods_of(rows, 130, 0)])
    assert nearby < 0.4 * rows.values.var(axis=0).sum()


def test_equal_samples_are_divided_too():
    rows = RBF(0.3).read(np.ones((100, 3)))
    assert sorted(len(each) for each in neighborhoods_of(rows, 30, 0)) == [25, 25, 25, 25]


@pytest.mark.parametrize(("dtype", "factor"), [(np.float64, 1e150), (np.float64, 1e-150), (np.float32, 1e18)])
def test_samples_of_any_length_are_divided(dtype, factor):
    rows = RBF(0.3).read((factor * np.random.default_rng(0).normal(size=(100, 3))).astype(dtype))
    assert sorted(len(each) for each in neighborhoods_of(rows, 50, 0)) == [50, 50]


def test_a_short_budget_starts_from_some_of_the_samples():
    assert fit_in_time(items(1000), 300)
    with within(1e-6):
        assert not fit_in_time(items(1000), 300)


def test_the_first_set_holds_all_neighborhoods_and_gets_near_the_optimum(monkeypatch):
    monkeypatch.setattr("pegasos.gram.columns._LEAST_BYTES", 1 << 17)
    monkeypatch.setattr("pegasos.solvers.working_set._ROWS", (300, 300))
    random = np.random.default_rng(3)
    X = random.uniform(-6.0, 6.0, size=(1200, 2))
    sign = np.where(np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.2 * random.normal(size=1200) > 0, 1, -1)
    problem = kernel_problem_of(RBF(2.0), X, sign, lam=1e-2 / 1200, bias=0.0, cache_bytes=1.0)
    solver = Decomposition(1e-3, is_free=True)
    state = solver.start(problem, 0)
    while state.rounds == 0:
        solver._work(problem, state)
    model = KernelPegasosClassifier(RBF(2.0), C=100.0, tol=1e-6, regularize_intercept=False).fit(X, sign)
    assert state.primal - state.gap > 0.8 * model.certificate_.primal


def test_dual_points_of_neighborhoods_that_are_too_long_together_are_shortened(monkeypatch):
    """With a kernel that reaches everywhere, each neighborhood finds the whole model."""
    monkeypatch.setattr("pegasos.gram.columns._LEAST_BYTES", 1 << 17)
    monkeypatch.setattr("pegasos.solvers.working_set._ROWS", (300, 300))
    random = np.random.default_rng(3)
    X = random.normal(size=(1200, 2))
    sign = np.where(X[:, 0] > 0, 1, -1)
    problem = kernel_problem_of(RBF(1e-3), X, sign, lam=1e-4, bias=1.0, cache_bytes=1.0)
    solver = Decomposition(1e-3, is_free=False)
    state = solver.start(problem, 0)
    while state.rounds == 0:
        solver._work(problem, state)
    scores = problem.rows.scores_of(problem.rows.coefficients(problem, state.alpha))
    np.testing.assert_allclose(state.slope, problem.sign - scores, atol=1e-9)
    assert state.primal - state.gap > 0.0
    assert not state.is_fine
