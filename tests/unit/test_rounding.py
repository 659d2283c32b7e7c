"""One accounting of rounding: certificates recomputed in rational numbers, where terms of sums differ in size."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos import PegasosClassifier
from pegasos.certificate import certify_dual, dual_point
from pegasos.data import ArraySource
from pegasos.estimators.warnings import GapWarning
from pegasos.problem import Problem, Rows, constant
from pegasos.rounding import Gain, cost_sums, length_of
from pegasos.solvers.partitioned import PartitionedDual, PartitionedProblem, PartitionsHere
from pegasos.solvers.passes import DualRule
from pegasos.solvers.path import ScoredProblem
from tests.adversary.exact import ExactProblem, exactly


def fitted(X, y, sample_weight=None, **parameters):
    """A fit in which only an open gap may be a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GapWarning)
        model = PegasosClassifier(**{"random_state": 0, "time_budget": 5.0, **parameters})
        return model.fit(X, y, sample_weight=sample_weight)


def assert_truthful(model, X, y, sample_weight=None):
    problem = ExactProblem.of(model, X, y, sample_weight)
    primal, dual = problem.primal(model.coef_[0], model.intercept_[0]), problem.dual(model.alpha_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        certificates = [model.certificate_, model.certify(X, y, sample_weight)]
    for certificate in certificates:
        assert primal <= Fraction(certificate.primal) * (1 + Fraction(1, 10**9))
        assert dual >= Fraction(certificate.dual) - Fraction(1, 10**9) * abs(primal)
        assert certificate.dual <= certificate.primal


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("scale", [1e4, 1e9, 1e12])
def test_a_prior_of_unscaled_rows_has_its_rounding_counted(scale, free):
    for seed in range(3):
        random = np.random.default_rng(seed)
        X, y = scale * random.normal(size=(10, 2)), np.arange(10) % 2
        prior = random.normal(size=2), random.normal()
        model = fitted(X, y, lam=1e-4, prior=prior, regularize_intercept=not free)
        assert_truthful(model, X, y)


@pytest.mark.parametrize("weight", [1e-200, 1e-160, 1e160, 1e200])
def test_even_weights_of_any_size_have_the_certificate_of_weights_of_1(weight):
    random = np.random.default_rng(0)
    X, y = 1e10 * random.normal(size=(12, 3)), np.arange(12) % 2
    X[y == 1] += 3e10
    weights = np.full(12, weight)
    model = fitted(X, y, weights, lam=1e-3)
    assert_truthful(model, X, y, weights)


@pytest.mark.parametrize("decades", [8, 10])
def test_a_free_intercept_with_uneven_weights_has_its_rounding_counted(decades):
    for seed in range(8):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(4, 2)), np.array([0, 1, 0, 1])
        weights = 10.0 ** random.uniform(-decades, decades, 4)
        model = fitted(X, y, weights, lam=1e-6, tol=1e-9, regularize_intercept=False)
        assert_truthful(model, X, y, weights)


def test_the_radius_has_room_for_all_that_the_sums_may_be_off_by():
    for seed in range(10):
        random = np.random.default_rng(seed)
        X = random.normal(size=(6, 3))
        X[:, 2] = X[:, 1] * (1.0 + 1e-9 * random.normal(size=6))
        y = np.array([0, 1, 0, 1, 0, 1])
        model = fitted(X, y, lam=3e-11, tol=1e-14, fit_intercept=False)
        # In rational numbers: P is lam-strongly convex, so that |w - w*|^2 <= 2 (P(w) - D) / lam; with D exact, and the
        # dual point that of the weights, half of it.
        problem = ExactProblem.of(model, X, y)
        gap = problem.primal(model.coef_[0], 0.0) - problem.dual(model.alpha_)
        assert Fraction(model.certificate_.weight_radius) ** 2 >= gap / problem.lam


@pytest.mark.parametrize("scale", [1e-8, 1e8, 1e12])
def test_every_objective_counts_the_rounding_of_rows_in_memory(scale):
    """The path over lam, blocks of a source, and partitions: bounds as those of one problem in memory."""
    random = np.random.default_rng(3)
    X = scale * random.normal(size=(40, 3))
    sign = np.where(X[:, 0] > 0.0, 1, -1).astype(np.int8)
    whole = Problem.plain(Rows.of(X, 1.0), sign, 1e-3)
    alpha = random.random(40)
    certificate, weights = certify_dual(whole, alpha)
    scored, own = certify_dual(ScoredProblem.of(whole, 1e-3), alpha)
    np.testing.assert_array_equal(own, weights)
    parts = [Problem(Rows.of(X[k : k + 10], 1.0), sign[k : k + 10], constant(1.0, 10), constant(0.0, 10), 1e-3, 40.0)
             for k in range(0, 40, 10)]  # fmt: skip
    partitioned = PartitionedProblem(PartitionsHere(parts), 1e-3, 40.0, 1.0)
    rule = DualRule(np.zeros(4), 0.0, np.inf, np.inf)  # which leaves all rows to those that were gathered
    apart = partitioned.certify(weights, PartitionedDual(rule, whole, alpha))
    exact = exact_objectives(X, sign, alpha, weights)
    for each in (certificate, scored, apart):
        assert exact[0] <= Fraction(each.primal) * (1 + Fraction(1, 10**9))
        assert exact[1] >= Fraction(each.dual) - Fraction(1, 10**9) * abs(exact[0])
    assert scored.rounding == pytest.approx(certificate.rounding, rel=1e-3, abs=1e-12 * certificate.primal)


def exact_objectives(X, sign, alpha, weights):
    rows = [[*(exactly(value) for value in row), Fraction(1)] for row in X]
    n, lam = len(rows), exactly(1e-3)
    own = [sum(exactly(a) * int(s) * row[j] for a, s, row in zip(alpha, sign, rows, strict=True)) / (lam * n)
           for j in range(len(rows[0]))]  # fmt: skip
    given = [exactly(w) for w in weights]
    losses = (
        max(Fraction(0), 1 - int(s) * sum(a * w for a, w in zip(row, given, strict=True)))
        for s, row in zip(sign, rows, strict=True)
    )
    primal = lam / 2 * sum(w * w for w in given) + sum(losses) / n
    return primal, sum(exactly(a) for a in alpha) / n - lam / 2 * sum(w * w for w in own)


def test_blocks_of_a_source_lower_their_bound_for_the_rounding_of_features_of_many_scales():
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3)) * [1e-8, 1.0, 1e8]
    y = (X[:, 1] > 0.0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        model = PegasosClassifier(lam=1e-12, random_state=0, max_iter=50).fit_source(
            ArraySource(X, y, block_rows=5), memory="1M"
        )
    problem = ExactProblem.of(model, X, y)
    primal, dual = problem.primal(model.coef_[0], model.intercept_[0]), problem.dual(model.alpha_)
    assert primal <= Fraction(model.certificate_.primal) * (1 + Fraction(1, 10**9))
    assert dual >= Fraction(model.certificate_.dual) - Fraction(1, 10**9) * primal


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.integers(0, 10**6), st.floats(-15, 15))
@settings(max_examples=20)
def test_the_lower_bound_is_never_above_the_exact_dual(layout, dtype, seed, decades):
    random = np.random.default_rng(seed)
    X = (random.normal(size=(9, 3)) * 10.0**decades).astype(dtype)
    sign = np.where(random.random(9) < 0.5, 1, -1).astype(np.int8)
    problem = Problem.plain(Rows.of(layout(X), 1.0), sign, 1e-3)
    alpha = random.random(9).astype(dtype)
    weights, dual = dual_point(problem, alpha)
    _, exact = exact_objectives(X, sign, alpha, weights)
    certificate, _ = certify_dual(problem, alpha)
    if np.isfinite(dual):
        assert exact >= Fraction(certificate.dual) - abs(exact) * Fraction(1, 10**9)


@given(st.integers(0, 10**6), st.floats(-300, 150), st.floats(-150, 150))
def test_lengths_and_reaches_are_bounds_whatever_the_scale(seed, cost_decades, decades):
    random = np.random.default_rng(seed)
    X = random.normal(size=(7, 3)) * 10.0**decades
    cost = random.random(7) * 10.0**cost_decades
    rows = Rows.of(X, 0.0)
    exact = [sum(exactly(value) ** 2 for value in row) for row in X]
    assert all(Fraction(length) ** 2 >= square for length, square in zip(rows.lengths, exact, strict=True))
    assert Fraction(length_of(X[0])) ** 2 >= exact[0]
    # sum_i c_i |x_i| <= reach, compared by squares of lower bounds of the lengths.
    reach = Fraction(cost_sums(cost, rows.squared_norms).reach(3))
    below = [Fraction(length) * Fraction(999_999, 1_000_000) for length in rows.lengths]
    assert reach >= sum(exactly(c) * length for c, length in zip(cost, below, strict=True)) * Fraction(9, 10)


def test_gains_of_parts_add_up_with_their_errors():
    whole = Gain(1.0, 1e-16, 2e-16) + Gain(2.0, 1e-16, 1e-16)
    assert (whole.value, whole.error, whole.off) == (3.0, 2e-16, pytest.approx(3e-16))
    assert whole.with_sum_of(10.0).off > whole.off


def test_a_tiny_prior_rounds_the_weights_that_were_learned_too():
    random = np.random.default_rng(0)
    for seed in range(10):
        X = 2.7e5 + np.random.default_rng(seed).uniform(-0.5, 0.5, size=(5, 5))
        y, prior = np.array([0, 1, 0, 0, 0]), (1e-6 * random.normal(size=5), 0.02)
        weights = 10.0 ** random.uniform(-60, 60, 5)
        model = fitted(X, y, weights, lam=1e-5, tol=1e-9, prior=prior, intercept_scaling=0.5149169296367813)
        assert_truthful(model, X, y, weights)
