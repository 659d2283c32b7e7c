"""The certificate holds whatever it is given, and is the sum that the formulas say."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.certificate import Certificate, certify, certify_dual, combine, dual_point
from tests.agreement.interior_point import optimum_of
from tests.problems import LAYOUTS, awkward_problem, problem_of, small_problems
from tests.reference.objective import PlainProblem


@st.composite
def problems_with_any_point(draw):
    """A problem with weights and alphas of any size and sign, right or wildly wrong."""
    problem = draw(small_problems())
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = st.sampled_from((0.0, 1e-3, 1.0, 1e3, 1e8))
    weights = draw(size) * random.normal(size=problem.rows.n_features + 1)
    alpha = draw(size) * random.normal(size=problem.rows.n_rows)
    return problem, weights, alpha


@given(problems_with_any_point())
def test_the_optimum_lies_between_the_two_numbers(case):
    problem, weights, alpha = case
    certificate, best = certify(problem, weights, alpha), optimum_of(problem)
    scale = 1e-12 * (1.0 + abs(certificate.primal) + abs(certificate.dual))
    assert certificate.gap >= -scale
    assert certificate.primal >= best.dual - scale
    assert certificate.dual <= best.primal + scale
    assert certificate.primal - best.primal <= certificate.gap + scale


@given(problems_with_any_point())
def test_the_exact_weights_lie_within_the_radius(case):
    problem, weights, alpha = case
    best = optimum_of(problem)
    uncertainty = math.sqrt(2.0 * max(best.primal - best.dual, 0.0) / problem.lam)
    certificate = certify(problem, weights, alpha)
    distance = np.linalg.norm(weights - best.weights)
    assert distance <= certificate.weight_radius * (1 + 1e-9) + uncertainty + 1e-7
    of_the_gap = math.sqrt(max(certificate.gap, 0.0) / problem.lam)
    of_rounding = math.sqrt(1e-14 * (abs(certificate.primal) + abs(certificate.dual)) / problem.lam)
    assert of_the_gap <= certificate.weight_radius <= math.sqrt(2.0) * math.hypot(of_the_gap, of_rounding) * (1 + 1e-12)


@given(problems_with_any_point())
def test_the_sums_are_those_of_the_formulas(case):
    problem, weights, alpha = case
    plain = PlainProblem.of(problem)
    clipped = plain.clip(alpha)
    certificate = certify(problem, weights, alpha)
    assert certificate.primal == pytest.approx(plain.primal(weights), rel=1e-12, abs=1e-300)
    scale = 1e-12 * (1.0 + clipped.sum() + 0.5 * plain.lam * np.sum(plain.weights_of(clipped) ** 2))
    assert certificate.dual == pytest.approx(plain.dual(clipped), rel=0, abs=scale)
    assert certificate.gap == certificate.primal - certificate.dual
    dual_weights, dual = dual_point(problem, alpha)
    assert dual == certificate.dual
    np.testing.assert_allclose(dual_weights, plain.weights_of(clipped), rtol=1e-12, atol=1e-12 / plain.lam)


def test_a_dual_point_certifies_its_own_weights():
    problem = awkward_problem()
    alpha = 0.3 * problem.cost
    certificate, weights = certify_dual(problem, alpha)
    np.testing.assert_array_equal(weights, dual_point(problem, alpha)[0])
    assert certificate == certify(problem, weights, alpha)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_and_type_of_the_rows_do_not_matter(layout, dtype):
    random = np.random.default_rng(2)
    reference = awkward_problem()
    weights, alpha = random.normal(size=88), random.random(41)
    expected = certify(reference, weights, alpha)
    certificate = certify(awkward_problem(layout, dtype), weights, alpha)
    for name in ("primal", "dual", "gap", "relative_gap", "weight_radius"):
        assert getattr(certificate, name) == pytest.approx(getattr(expected, name), rel=1e-13)


def test_costs_and_offsets_may_be_strided_views():
    random = np.random.default_rng(3)
    X, sign, table = random.normal(size=(9, 4)), np.resize([1, -1], 9), random.random((9, 2))
    weights, alpha = random.normal(size=5), random.random(9)
    views = problem_of(X, sign, cost=table[:, 0], offset=table[::-1, 1])
    copies = problem_of(X, sign, cost=table[:, 0].copy(), offset=table[::-1, 1].copy())
    assert certify(views, weights, alpha) == certify(copies, weights, alpha)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_many_rows_of_float32_are_summed_in_double(layout):
    random = np.random.default_rng(4)
    n = 100_000
    X = random.normal(size=(n, 3)).astype(np.float32)
    sign = np.where(random.random(n) < 0.5, 1, -1)
    cost = random.random(n)
    problem = problem_of(X, sign, cost=cost, lam=1e-3, layout=layout, dtype=np.float32)
    weights, alpha = np.array([0.3, -0.2, 0.1, 0.0]), (cost * random.random(n)).astype(np.float32)
    certificate = certify(problem, weights, alpha)

    loss = math.fsum(cost * np.maximum(0.0, 1.0 - sign * (X.astype(np.float64) @ weights[:3])))
    pushes = (np.minimum(alpha.astype(np.float64), cost) * sign)[:, None] * X.astype(np.float64)
    w = [math.fsum(pushes[:, j]) / (1e-3 * n) for j in range(3)]
    gain = math.fsum(np.minimum(alpha.astype(np.float64), cost)) / n
    assert certificate.primal == pytest.approx(loss / n + 5e-4 * (weights @ weights), rel=1e-13)
    assert certificate.dual == pytest.approx(gain - 5e-4 * math.fsum(x * x for x in w), rel=1e-12)


def test_nothing_is_open_where_the_objective_is_zero():
    problem = problem_of(np.eye(3), [1, 1, -1], offset=[1.0, 5.0, -2.0])
    certificate = certify(problem, np.zeros(4), np.array([0.0, 1.0, 0.5]))
    numbers = certificate.primal, certificate.dual, certificate.gap, certificate.relative_gap, certificate.weight_radius
    assert numbers == (0.0, 0.0, 0.0, 0.0, 0.0)  # alpha = 0 proves more than the dual point given


def test_rows_that_cost_nothing_leave_the_zero_vector_optimal():
    certificate = certify(problem_of(np.eye(2), [1, -1], cost=0.0), np.zeros(3), np.ones(2))
    assert (certificate.primal, certificate.dual, certificate.gap, certificate.relative_gap) == (0.0, 0.0, 0.0, 0.0)
    assert str(certificate).startswith("certified: the objective 0 is at most 0 % above the best possible")


def certificate_of(primal, dual, **more):
    return Certificate(primal, dual, primal - dual, (primal - dual) / primal, 0.1, **more)


@pytest.mark.parametrize(
    ("primal", "dual", "sentence"),
    [
        (0.5, 0.5, "certified: the objective 0.5 is at most 0 % above the best possible (proved lower bound 0.5)"),
        (1.5, 1.0, "certified: the objective 1.5 is at most 50 % above the best possible (proved lower bound 1)"),
        (0.5, 0.0, "not certified: the objective 0.5 has no useful lower bound yet (proved 0)"),
        (0.5, -2.0, "not certified: the objective 0.5 has no useful lower bound yet (proved -2)"),
    ],
)
def test_the_text_of_a_certificate_is_a_sentence(primal, dual, sentence):
    assert str(certificate_of(primal, dual)) == sentence


@given(st.floats(1e-12, 0.99), st.floats(1e-3, 1e3))
def test_the_percentage_said_is_true_and_not_far_from_the_truth(relative_gap, primal):
    certificate = Certificate(primal, primal * (1 - relative_gap), primal * relative_gap, relative_gap, 1.0)
    said = float(re.search(r"at most (\S+) % above", str(certificate)).group(1))
    share = 100.0 * relative_gap / (1.0 - relative_gap)
    assert share * (1 - 1e-12) <= said <= 1.1001 * share


@pytest.mark.parametrize(("weights", "alpha"), [(np.nan, 0.5), (np.inf, 0.5), (1e300, 0.5)])
def test_numbers_out_of_range_are_never_called_certified(weights, alpha):
    certificate = certify(problem_of(np.eye(2), [1, -1]), np.full(3, weights), np.full(2, alpha))
    assert not certificate.is_finite
    assert str(certificate).startswith("not certified")


def test_several_problems_are_as_good_as_their_worst_part():
    parts = [certificate_of(1.0, 0.9), certificate_of(3.0, 2.0)]
    whole = combine(parts)
    assert (whole.primal, whole.dual, whole.relative_gap) == (4.0, 2.9, parts[1].relative_gap)
    assert whole.gap == pytest.approx(1.1)
    assert whole.weight_radius == pytest.approx(math.hypot(0.1, 0.1))
    assert str(whole).startswith(
        "certified: the sum of the objectives 4 is at most 50 % above the best possible in each"
    )
    assert combine(parts[:1]).parts == (parts[0],)
    assert str(combine(parts[:1])) == str(parts[0])


@pytest.mark.parametrize(("dual", "word"), [(0.5, "at most 1"), (1e-9, "no useful lower bound"), (0.0, "no useful")])
def test_a_bound_that_proves_next_to_nothing_says_so(dual, word):
    certificate = Certificate(1.0, dual, 1.0 - dual, 1.0 - dual, 1.0)
    assert word in str(certificate)
