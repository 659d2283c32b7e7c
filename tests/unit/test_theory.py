"""The paper's guarantee, and the two conventions of regularization."""

import numpy as np
import pytest

from pegasos import theory
from pegasos.problem import Problem, Rows
from pegasos.solvers.pegasos import Pegasos
from tests.agreement.interior_point import optimum_of


def test_c_and_lam_are_inverse():
    assert theory.c_of_lam(theory.lam_of_c(0.3, 50.0), 50.0) == pytest.approx(0.3)


def test_the_bound_falls_with_the_steps():
    bound = theory.suboptimality_bound(np.arange(1, 1000), lam=0.1, largest_norm=2.0)
    assert (np.diff(bound) < 0).all()


@pytest.mark.parametrize("lam", [0.03, 0.3])
def test_the_average_of_projected_pegasos_keeps_the_guarantee(lam):
    """On average over the draws, at every look."""
    random = np.random.default_rng(0)
    values = random.normal(size=(80, 5))
    sign = np.where(values[:, 0] + random.normal(size=80) > 0, 1, -1).astype(np.int8)
    problem = Problem.plain(Rows.of(values, 1.0), sign, lam)
    best = optimum_of(problem).primal
    solver = Pegasos(sampling="uniform", projection=True, average="uniform")
    states = [solver.start(problem, seed) for seed in range(20)]
    largest = float(np.sqrt(problem.rows.squared_norms.max()))
    for n_steps in (10, 90, 900):
        for state in states:
            solver.step(problem, state, n_steps)
        reached = [solver.review(problem, state, None).certificate.primal for state in states]
        bound = theory.suboptimality_bound(states[0].counters.step, lam, largest)
        assert np.mean(reached) - best <= bound
