"""Duality, radii and what follows from them (docs/theory/certificate.md)."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pegasos.certificate import best_intercepts, certify, certify_dual, dual_point, stretched
from pegasos.theory import margin_bound
from tests.agreement.interior_point import optimum_of
from tests.problems import awkward_problem, problem_of, small_problems
from tests.reference.objective import PlainProblem
from tests.theory.runs import margins, with_vectors


@st.composite
def with_dual_points(draw, problems):
    """A problem with weights anywhere and a dual point within its bounds."""
    problem = draw(problems)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = draw(st.sampled_from((0.0, 0.3, 20.0))) * random.normal(size=problem.weights_shape)
    # On the bounds as often as between them.
    return problem, weights, problem.cost * np.clip(random.uniform(-0.5, 1.5, problem.rows.n_rows), 0.0, 1.0)


@given(with_dual_points(small_problems()))
def test_the_gap_is_a_sum_of_terms_that_are_not_negative(case):
    problem, w, alpha = case
    plain = PlainProblem.of(problem)
    r = 1.0 - margins(plain, w)
    terms = plain.cost * np.maximum(0.0, r) - alpha * r
    away = w - plain.weights_of(alpha)
    certificate = certify(problem, w, alpha)
    assert (terms >= 0.0).all()
    expected = terms.sum() / plain.total + 0.5 * plain.lam * (away @ away)
    assert certificate.gap == pytest.approx(expected, abs=1e-11 * (1.0 + certificate.primal + abs(certificate.dual)))


@settings(max_examples=8)
@given(small_problems(lams=(0.2, 1.0)))
def test_at_the_optimum_rows_beyond_the_margin_are_at_zero_and_violators_at_their_cost(problem):
    """The dual point of a general-purpose solver of box-constrained problems, which is independent of the library."""
    plain = PlainProblem.of(problem)
    scale = plain.lam * plain.total
    gram = (plain.sign[:, None] * plain.X) @ (plain.sign[:, None] * plain.X).T / scale
    linear = 1.0 - plain.sign * plain.offset
    found = minimize(
        lambda a: (0.5 * a @ gram @ a - linear @ a, gram @ a - linear),
        np.zeros(plain.n_rows),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, cost) for cost in plain.cost],
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )
    margin = margins(plain, plain.weights_of(found.x))
    assume(plain.primal(plain.weights_of(found.x)) - plain.dual(found.x) < 1e-9)
    assert (found.x[margin > 1.01] <= 1e-4).all()
    assert (found.x[margin < 0.99] >= plain.cost[margin < 0.99] - 1e-4).all()


@given(with_dual_points(small_problems()), st.sampled_from((0.0, 1e-6, 0.1, 0.5, 1.0)))
def test_the_exact_weights_lie_within_a_radius_that_shrinks_with_the_distance_to_the_dual_point(case, share):
    problem, weights, alpha = case
    plain, best = PlainProblem.of(problem), optimum_of(problem)
    own = plain.weights_of(alpha)
    weights = own + share * (weights - own)
    certificate = certify(problem, weights, alpha)
    square, apart = max(certificate.gap, 0.0) / problem.lam, np.linalg.norm(weights - own)
    expected = 0.5 * apart + math.sqrt(max(square - 0.25 * apart**2, 0.0))
    rounding = 1e-6 * math.sqrt((abs(certificate.primal) + abs(certificate.dual)) / problem.lam)
    assert certificate.weight_radius == pytest.approx(expected, abs=rounding)
    slack = math.sqrt(2.0 * max(best.primal - best.dual, 0.0) / problem.lam) + 1e-6
    assert np.linalg.norm(weights - best.weights) <= certificate.weight_radius + slack


def test_the_radius_around_the_weights_of_a_dual_point_is_reached():
    """One row, x = 1, cost 1, lam = 1 and a dual point of 1/2: the gap is 1/4, and w* = 1 is 1/2 away."""
    problem = problem_of([[1.0]], [1], lam=1.0)
    certificate, weights = certify_dual(problem, np.array([0.5]))
    assert weights[0] == 0.5
    assert optimum_of(problem).weights[0] == pytest.approx(1.0, abs=1e-6)
    assert certificate.weight_radius == pytest.approx(0.5)


def test_the_radius_around_other_weights_is_reached():
    """One row, x = 1, cost 1, lam = 2 and a dual point of 1, which is exact: w* = 1/2, and any w up to 1."""
    problem = problem_of([[1.0]], [1], lam=2.0)
    for w in (-3.0, 0.0, 0.4, 1.0):
        certificate = certify(problem, np.array([w, 0.0]), np.array([1.0]))
        assert certificate.weight_radius == pytest.approx(abs(w - 0.5), abs=1e-6)


@given(with_dual_points(small_problems()), st.integers(0, 2**32))
def test_scores_differ_by_no_more_than_their_reach(case, seed):
    problem, w, alpha = case
    best = optimum_of(problem).weights
    row = np.random.default_rng(seed).normal(size=problem.weights_shape)
    reach = np.linalg.norm(row) * certify(problem, w, alpha).weight_radius
    assert abs(row @ w - row @ best) <= reach * (1 + 1e-9) + 1e-5


@given(with_vectors(small_problems(costs=(0.5, 1.0, 3.0)), 1), st.integers(0, 2**32))
def test_best_intercepts_fall_where_scores_rise(case, seed):
    plain, w = case
    assume(len(np.unique(plain.sign)) == 2)
    problem = problem_of(plain.X, plain.sign, cost=plain.cost, offset=plain.offset)
    scores = plain.X @ w
    raised = scores + np.random.default_rng(seed).exponential(size=plain.n_rows)
    low, high = best_intercepts(problem, scores)
    low_raised, high_raised = best_intercepts(problem, raised)
    rounding = 1e-9 * (1.0 + np.abs(scores).max())
    assert low_raised <= low + rounding
    assert high_raised <= high + rounding


@given(with_dual_points(small_problems(costs=(1.0,), offsets=(0.0,))), st.integers(0, 2**32))
def test_no_weights_have_a_larger_margin_than_the_dual_allows(case, seed):
    problem, _, alpha = case
    # As long as it proves most: of most dual points as they come the bound is below 0, and proves nothing.
    plain, dual = PlainProblem.of(problem), dual_point(problem, stretched(problem, alpha))[1]
    directions = np.random.default_rng(seed).normal(size=(20, plain.X.shape[1]))
    directions = np.vstack([directions, optimum_of(problem).weights + 1e-12])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    least = (plain.sign[:, None] * (plain.X @ directions.T)).min(axis=0)
    assert least.max() <= margin_bound(dual, problem.lam) * (1 + 1e-9)


@pytest.mark.parametrize("softness", [1.0, 0.1, 0.01])
def test_the_gap_of_the_smoothed_minimum_is_at_most_the_softness_times_a_constant(softness):
    problem = awkward_problem(n_features=5, lam=0.05)
    plain = PlainProblem.of(problem)

    def smoothed(w):
        r = 1.0 - margins(plain, w)
        alpha = plain.cost / (1.0 + np.exp(-np.clip(r / softness, -700, 700)))
        loss = plain.cost @ (softness * np.logaddexp(0.0, r / softness)) / plain.total
        return 0.5 * plain.lam * (w @ w) + loss, plain.lam * w - (alpha * plain.sign) @ plain.X / plain.total

    found = minimize(smoothed, np.zeros(plain.X.shape[1]), jac=True, options={"gtol": 1e-11, "maxiter": 2000})
    r = 1.0 - margins(plain, found.x)
    alpha = plain.cost / (1.0 + np.exp(-np.clip(r / softness, -700, 700)))
    np.testing.assert_allclose(plain.weights_of(alpha), found.x, atol=1e-5)
    gap = certify(problem, plain.weights_of(alpha), alpha).gap
    assert gap == pytest.approx(plain.cost @ (np.abs(r) / (1.0 + np.exp(np.abs(r) / softness))) / plain.total, abs=1e-5)
    assert gap <= 0.2785 * softness * plain.cost.sum() / plain.total + 1e-6
    z = np.linspace(0.0, 20.0, 200_001)
    assert 0.2784 < (z / (1.0 + np.exp(z))).max() < 0.2785
