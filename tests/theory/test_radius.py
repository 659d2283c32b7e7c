"""The ball that holds the optimum (docs/theory/radius.md)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from pegasos.solvers.crammer_singer import JointAscent
from pegasos.solvers.driver import Stop, run
from tests.agreement.interior_point import optimum_of
from tests.problems import problem_of, small_joint_problems, small_problems
from tests.reference.objective import PlainProblem


@given(small_problems())
def test_the_radius_is_the_root_of_the_objective_at_zero_over_lam(problem):
    at_zero = PlainProblem.of(problem).primal(np.zeros(problem.weights_shape))
    assert problem.radius == pytest.approx(np.sqrt(at_zero / problem.lam))


@given(st.floats(1e-3, 10.0))
def test_the_radius_is_reached(lam):
    problem = problem_of([[np.sqrt(lam)]], [1], lam=lam)
    assert problem.radius == pytest.approx(1.0 / np.sqrt(lam))
    assert optimum_of(problem).weights[0] == pytest.approx(problem.radius, rel=1e-4)


def test_in_the_classic_ball_the_example_ends_where_the_page_says():
    plain = PlainProblem.of(problem_of([[1.0]], [1], cost=6.0, lam=5.0))
    grid = np.linspace(-1 / np.sqrt(5.0), 1 / np.sqrt(5.0), 10_001)
    within = min(plain.primal(np.array([w, 0.0])) for w in grid)
    assert within == pytest.approx(3.82, abs=0.005)
    assert plain.primal(np.array([1.0, 0.0])) == 2.5
    assert plain.radius() == pytest.approx(1.095, abs=0.0005)


@given(st.integers(1, 20), st.integers(1, 20))
def test_balanced_class_weights_leave_the_radius_as_it_was(n_positive, n_negative):
    sign = np.repeat([1, -1], [n_positive, n_negative])
    rows = np.ones((len(sign), 1))
    cost = compute_sample_weight("balanced", sign)
    assert problem_of(rows, sign, cost=cost).radius == pytest.approx(problem_of(rows, sign).radius)


@given(small_joint_problems())
def test_the_joint_radius_contains_the_optimum(problem):
    """Within what is still open of the optimum that dual ascent has reached."""
    solution = run(problem, JointAscent(), Stop(tol=1e-6, max_iter=500), seed=0)
    open_still = solution.certificate.weight_radius
    assert np.linalg.norm(solution.weights) <= problem.radius + open_still + 1e-9
