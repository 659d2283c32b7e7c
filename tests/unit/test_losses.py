"""Losses as data: the two numbers, the certificate they lead to, and every linear solver on them."""

from dataclasses import replace

import numpy as np
import pytest

from pegasos.losses import LOSSES, Loss, loss_of
from pegasos.problem import Problem, Rows
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.split_ascent import SplitAscent

FAMILY = [Loss(), Loss(np.inf, 0.5), Loss(1.0, 0.3), Loss(1.0, 1e-3), Loss(0.7, 1.0), Loss(2.5, 0.0)]


def by_search(loss, r):
    """Phi from its definition, by trying many values of a."""
    largest = loss.cap if np.isfinite(loss.cap) else max(0.0, r) / loss.ridge + 1.0
    a = np.linspace(0.0, largest, 200_001)
    return np.max(a * r - 0.5 * loss.ridge * a**2)


@pytest.mark.parametrize("loss", FAMILY)
def test_the_value_and_the_slope_are_those_of_the_definition(loss):
    r = np.array([-2.0, -1e-9, 0.0, 0.1, 0.3, 0.7, 1.0, 4.0])
    assert loss.value(r) == pytest.approx([by_search(loss, one) for one in r], abs=1e-8)
    step = 1e-6
    inside = r[np.abs(r) > step]
    slopes = (loss.value(inside + step) - loss.value(inside - step)) / (2.0 * step)
    assert loss.slope(inside) == pytest.approx(slopes, abs=2e-3)


def test_the_names_are_the_formulas_they_stand_for():
    r = np.linspace(-1.0, 3.0, 41)
    positive = np.maximum(r, 0.0)
    assert loss_of("hinge").value(r) == pytest.approx(positive)
    assert loss_of("squared_hinge").value(r) == pytest.approx(positive**2)
    assert loss_of("huber_hinge", 0.5).value(r) == pytest.approx(
        np.where(r < 0.5, positive**2 / 1.0, positive - 0.25)
    )
    assert loss_of("huber", 1.5).value(r) == pytest.approx(
        np.where(r < 1.5, positive**2 / 2.0, 1.5 * positive - 1.125)
    )
    assert set(LOSSES) >= {"epsilon_insensitive", "squared_epsilon_insensitive", "quantile"}
    with pytest.raises(ValueError, match="loss must be one of"):
        loss_of("logistic")


def make_problem(loss, seed=0, n=120, d=6, lam=1e-2, weighted=True):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    sign = np.where(X @ random.normal(size=d) + random.normal(size=n) > 0.0, 1, -1).astype(np.int8)
    problem = replace(Problem.plain(Rows.of(X, 1.0), sign, lam), cap=loss.cap, ridge=loss.ridge)
    if not weighted:
        return problem
    cost = random.integers(0, 3, n) * random.uniform(0.1, 2.0, n)
    return replace(problem, cost=cost, offset=0.3 * random.normal(size=n))


def objective(problem, weights):
    rows = np.column_stack([problem.rows.values, np.full(problem.rows.n_rows, problem.rows.bias)])
    r = 1.0 - problem.sign * (rows @ weights + problem.offset)
    phi = [by_search(problem.loss, one) for one in r]
    return 0.5 * problem.lam * weights @ weights + problem.cost @ phi / problem.total


@pytest.mark.parametrize("loss", FAMILY)
@pytest.mark.parametrize(
    ("solver", "tol"),
    [
        (DualAscent(), 1e-9),
        (SplitAscent(), 1e-9),
        (Auto(Pegasos(), SplitAscent(), 1e-9), 1e-9),
        (Pegasos(), 3e-2),
        (Pegasos(batch_size=10, average="tail"), 3e-2),
    ],
    ids=["dual", "split", "auto", "pegasos", "batches"],
)
def test_every_solver_reaches_the_gap_and_its_primal_is_the_objective(loss, solver, tol):
    problem = make_problem(loss)
    solution = run(problem, solver, Stop(tol, 3000, None), seed=0)
    certificate = solution.certificate
    assert certificate.relative_gap <= tol
    assert certificate.primal == pytest.approx(objective(problem, solution.weights), rel=1e-7)
    assert (solution.alpha >= 0.0).all()
    assert (solution.alpha <= problem.bound).all()
    assert (solution.alpha[problem.cost == 0.0] == 0.0).all()
