"""The ellipsoid around the exact solution (docs/theory/region.md), in rational numbers where that is possible."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pegasos.joint_problem import JointProblem
from pegasos.problem import Rows
from pegasos.region import find_region
from pegasos.region.bounds import Point, Slacks, joint_pins_of
from pegasos.region.rounds import curvatures
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from tests.adversary.exact import ExactProblem, exactly
from tests.adversary.optima import dot, optimum
from tests.agreement.interior_point import optimum_of
from tests.problems import problem_of, small_problems
from tests.reference.objective import PlainProblem

NUMBERS = st.integers(-64, 64).map(lambda k: k / 16)


@st.composite
def tiny_cases(draw):
    """A problem whose optimum is found in rational numbers, weights, and a dual point between its bounds."""
    n, d = draw(st.integers(3, 5)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n)))
    sign = draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n))
    cost = np.array(draw(st.lists(st.sampled_from((0.5, 1.0, 2.0)), min_size=n, max_size=n)))
    lam = draw(st.sampled_from((2.0**-10, 0.125, 1.0)))
    problem = problem_of(X, sign, cost=cost, lam=lam, bias=draw(st.sampled_from((0.0, 1.0))))
    near = draw(st.sampled_from((1e-6, 1e-3, 0.3, 1.0)))
    return problem, near, draw(st.integers(0, 2**32))


def exact_problem(problem):
    """The same in rational numbers, without a prior."""
    rows = [[exactly(value) for value in row] for row in problem.rows.values]
    zero = [Fraction(0)] * len(rows[0]), Fraction(0)
    numbers = exactly(problem.lam), exactly(problem.total), exactly(problem.rows.bias)
    return ExactProblem(rows, problem.sign.tolist(), [exactly(c) for c in problem.cost], zero, *numbers, False)


def point_near(problem, weights, near, seed):
    """Weights and a dual point that are about so far from the best ones; hardly any row is at its bound."""
    random = np.random.default_rng(seed)
    best = run(problem, DualAscent(np.float64), Stop(1e-9, max_iter=20_000)).alpha
    alpha = np.clip(best + near * random.normal(size=len(best)), 0.0, problem.cost)
    return weights + near * random.normal(size=len(weights)), alpha


@settings(max_examples=60)
@given(tiny_cases())
def test_the_exact_solution_lies_in_the_ellipsoid(case):
    """Optimum, centre, factor and level are rational numbers here: nothing is rounded in the comparison."""
    problem, near, seed = case
    exact = optimum(exact_problem(problem))
    assume(exact is not None)
    weights, alpha = point_near(problem, np.array([float(w) for w in exact]), near, seed)
    region = find_region(problem, weights, alpha).region
    assume(region is not None)
    away = [w - exactly(mine) - exactly(s) for w, mine, s in zip(exact, weights, region.shift[0], strict=True)]
    factor = [[exactly(value) for value in row] for row in np.tril(region.factor)]
    products = [dot(away, [row[j] for row in factor]) for j in range(len(away))]
    assert dot(products, products) <= exactly(region.level)


@settings(max_examples=60)
@given(tiny_cases(), st.integers(0, 2**32))
def test_no_exact_score_is_out_of_reach(case, seed):
    problem, near, where = case
    exact = optimum(exact_problem(problem))
    assume(exact is not None)
    weights, alpha = point_near(problem, np.array([float(w) for w in exact]), near, where)
    region = find_region(problem, weights, alpha).region
    assume(region is not None)
    rows = Rows.of(np.random.default_rng(seed).normal(size=(20, problem.rows.n_features)), problem.rows.bias)
    moves, errors = region.moves(rows)
    reaches = region.reaches(rows)
    for k, row in enumerate(rows.values):
        vector = [*(exactly(value) for value in row), exactly(rows.bias)]
        centre = dot(vector, [exactly(w) for w in weights]) + exactly(moves[k, 0])
        assert abs(dot(vector, exact) - centre) <= exactly(reaches[k]) + exactly(errors[k, 0])


@given(
    st.tuples(*[st.integers(0, 1000).map(lambda k: k / 1000)] * 2),
    st.tuples(*[st.integers(-3000, 3000).map(lambda k: k / 1000)] * 2),
    st.integers(0, 1000),
    st.sampled_from((0.0, 1e-3, 0.3, 2.0)),
)
def test_between_its_bounds_a_slack_is_above_the_parabola(masses, ends, where, damping):
    low, high = sorted(ends)
    slacks = Slacks(*np.array(masses)[:, None], np.array([damping]))
    (curvature,) = curvatures(slacks, np.array([low]), np.array([high]))
    r, d = exactly(low) + (exactly(high) - exactly(low)) * Fraction(where, 1000), exactly(damping)
    # The largest m r - d m^2 / 2 within the masses, which is at an end where there is no damping.
    above, below = exactly(masses[0]), -exactly(masses[1])
    best = (above if r > 0 else below) if damping == 0.0 else max(below, min(above, r / d))
    assert exactly(curvature) * r * r <= best * r - d * best * best / 2


@st.composite
def claims(draw):
    """A row of all classes at once: dual variables that add up to the cost, and any scores."""
    n = draw(st.integers(3, 5))
    parts = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any))
    own = draw(st.integers(0, n - 1))
    scores = draw(st.lists(NUMBERS, min_size=n, max_size=n))
    return np.array(parts) / sum(parts), own, np.array(scores)


@given(claims())
def test_the_slack_of_a_row_of_all_classes_is_at_least_that_of_its_pins(case):
    parts, own, scores = case
    n = len(parts)
    alpha = parts.copy()
    alpha[own] = 0.0
    problem = JointProblem.plain(Rows.of(np.ones((1, 1)), 0.0), np.array([own]), n, 0.1)
    pins = joint_pins_of(problem, alpha[None])
    claim = (np.arange(n) != own) + scores
    slack = float(np.sum(parts * (claim.max() - claim)))
    r = pins.target - (scores[pins.leader] - scores[pins.rival])
    least = float(np.sum(pins.slacks.above * np.maximum(r, 0.0) + pins.slacks.below * np.maximum(-r, 0.0)))
    np.testing.assert_allclose(r, claim[pins.rival] - claim[pins.leader], atol=1e-12)
    assert least <= slack + 1e-12
    assert (len(pins.row) > 0) == (np.count_nonzero(parts) > 1)


@settings(max_examples=20)
@given(small_problems(lams=(0.01, 0.2)), st.sampled_from((1e-3, 0.1)), st.integers(0, 2**32))
def test_the_gap_bounds_the_distance_from_the_middle_and_all_slacks(problem, near, seed):
    plain, best = PlainProblem.of(problem), optimum_of(problem)
    weights, alpha = point_near(problem, best.weights, near, seed)
    point = Point.of(problem, weights, alpha)
    ball, (primal, dual) = point.ball(problem, weights, problem.rows.bias), point.ends
    r = 1.0 - plain.sign * (plain.X @ best.weights + plain.offset)
    slack = float(np.sum(plain.cost * np.maximum(0.0, r) - alpha * r)) / plain.total
    away = best.weights - ball.middle
    assert primal == pytest.approx(plain.primal(weights), rel=1e-9)
    assert dual == pytest.approx(plain.dual(alpha), abs=1e-9 * primal)
    assert ball.lam * (away @ away) + slack <= ball.gap + 1e-7 * primal
    own = plain.weights_of(alpha)
    gap = plain.primal(weights) - plain.dual(alpha) - 0.25 * plain.lam * ((weights - own) @ (weights - own))
    assert ball.gap == pytest.approx(gap, rel=1e-6, abs=1e-9 * primal)
