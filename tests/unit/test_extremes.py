"""Numbers at the ends of their ranges: the certificate stays right, checked in exact arithmetic."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV
from pegasos.certificate import certify_dual
from pegasos.data import ArraySource
from pegasos.errors import PegasosError
from pegasos.estimators.warnings import GapWarning
from pegasos.problem import Problem, Rows
from pegasos.problem.sums import long_scores

_CERTIFIED = "The duality gap reached tol"


def small_data():
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3))
    y = np.sign(X[:, 0] + 0.3 * random.normal(size=12)).astype(int)
    y[:2] = 1, -1
    return X, y


def fitted(X, y, sample_weight=None, **parameters):
    """A fit in which nothing but an open gap is a warning."""
    model = PegasosClassifier(**{"lam": 1e-3, "random_state": 0, "time_budget": 5.0, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GapWarning)
        return model.fit(X, y, sample_weight=sample_weight)


def exact_objectives(model, X, y, sample_weight=None):
    """P of the weights and D of the dual point that a model shows, of two classes, in rational numbers."""
    cost = [Fraction(1)] * len(y) if sample_weight is None else [Fraction(float(c)) for c in sample_weight]
    lam, total, bias = (
        Fraction(number) for number in (model.fitted_.terms.lam, model.fitted_.terms.total, model.fitted_.terms.bias)
    )
    rows = [[Fraction(float(value)) for value in row] for row in X]
    sign = [1 if label == model.classes_[1] else -1 for label in y]
    weights = [Fraction(float(value)) for value in model.coef_[0]]
    intercept = Fraction(float(model.intercept_[0]))
    constant = intercept / bias if bias else Fraction(0)
    primal = lam / 2 * (sum(w * w for w in weights) + constant * constant)
    for x, s, c in zip(rows, sign, cost, strict=True):
        score = sum(a * w for a, w in zip(x, weights, strict=True)) + intercept
        primal += c * max(Fraction(0), 1 - s * score) / total
    alpha = [Fraction(float(a)) for a in model.alpha_]
    assert all(0 <= a <= c for a, c in zip(alpha, cost, strict=True))
    signed = [a * s for a, s in zip(alpha, sign, strict=True)]
    own = [sum(a * x[j] for a, x in zip(signed, rows, strict=True)) / (lam * total) for j in range(len(weights))]
    own.append(sum(signed) * bias / (lam * total))
    dual = sum(alpha) / total - lam / 2 * sum(w * w for w in own)
    return primal, dual


def assert_truthful(model, X, y, sample_weight=None):
    certificate = model.certificate_
    numbers = certificate.primal, certificate.dual, certificate.relative_gap, certificate.weight_radius
    assert not any(math.isnan(number) for number in numbers)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert certificate.primal >= certificate.dual
    primal, dual = exact_objectives(model, X, y, sample_weight)
    assert primal <= Fraction(certificate.primal) * (1 + Fraction(1, 10**9))
    assert dual >= Fraction(certificate.dual) - abs(primal) * Fraction(1, 10**9)
    if model.status_.startswith(_CERTIFIED):
        assert primal - dual <= Fraction(model.tol) * primal * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("lam", [1e-12, 1e-3, 1e6])
@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e-30, 1e5, 1e10, 1e19, 1e38, 1e150])
def test_data_of_any_scale_has_a_certificate_that_is_right(scale, lam):
    X, y = small_data()
    X = X * scale
    assert_truthful(fitted(X, y, lam=lam, tol=1e-9), X, y)


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e19, 1e38])
def test_float32_rows_of_any_scale_have_a_certificate_that_is_right(scale):
    X, y = small_data()
    X = (X * scale).astype(np.float32)
    assert_truthful(fitted(X, y), X, y)


def test_separated_classes_are_not_certified_by_losses_that_rounding_hides():
    X, y = small_data()
    for scale in (1e8, 1e10, 1e15, 1e19, 1e25):
        model = fitted(scale * X, y)
        assert_truthful(model, scale * X, y)
        # The optimum is as small as 1e-50, the rounding of a margin 1e-16: a gap that is mostly that is not closed.
        certificate = model.certificate_
        if certificate.relative_gap > model.tol and certificate.rounding > 0.5 * certificate.gap:
            assert model.status_.startswith("The gap cannot fall further in the arithmetic")


def test_all_classes_at_once_leave_room_for_rounding():
    X = 1e5 * np.array([[1.0, 0.1], [0.9, -0.2], [-0.7, 0.8], [-0.5, 1.0], [-0.6, -0.9], [-0.4, -1.1]])
    model = fitted(X, np.array([0, 0, 1, 1, 2, 2]), multi_class="crammer_singer")
    assert model.certificate_.rounding > 0.0


@pytest.mark.parametrize("scale", [1e10, 1e19])
def test_rows_in_blocks_have_room_for_rounding_too(scale):
    X, y = small_data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        source = ArraySource(scale * X, y, block_rows=5)
        model = PegasosClassifier(random_state=0).fit_source(source, memory="1M")
    assert_truthful(model, scale * X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_scores_are_those_of_rational_numbers(dtype):
    random = np.random.default_rng(0)
    X = random.normal(size=(5, 4)).astype(dtype)
    X[2] = 0.0
    weights = random.normal(size=5)
    for values in (X, sp.csr_matrix(X)):
        rows = Rows.of(values, 0.5)
        view = rows.view(np.array([4, 2]))
        long, all_rows = weights.astype(np.longdouble), slice(None)
        scores = [*long_scores(rows, long, all_rows)[0], *long_scores(view, long, all_rows)[0]]
        for x, score in zip([*X, X[4], X[2]], scores, strict=True):
            terms = [Fraction(float(a)) * Fraction(w) for a, w in zip([*x, 0.5], weights, strict=True)]
            assert float(score) == pytest.approx(float(sum(terms)), rel=1e-15)


def test_features_of_many_scales_do_not_raise_the_lower_bound():
    X, y = small_data()
    X = X * [1e-8, 1.0, 1e8]
    assert_truthful(fitted(X, y, lam=1e-12), X, y)


def test_the_lower_bound_never_exceeds_the_objective_by_a_rounding():
    X, y = small_data()
    for lam in (1e5, 1e6, 1e7):
        for solver in ("auto", "dual"):
            certificate = fitted(X, y, lam=lam, solver=solver).certificate_
            assert certificate.gap >= 0.0


@pytest.mark.parametrize("weight", [1e-42, 1e39])
@pytest.mark.parametrize("solver", ["auto", "dual"])
def test_weights_beyond_single_precision_leave_float32_rows_the_same_model(weight, solver):
    X, y = small_data()
    X = X.astype(np.float32)
    plain = fitted(X.astype(np.float64), y, solver=solver, tol=1e-6)
    weights = np.full(len(y), weight)
    model = fitted(X, y, weights, solver=solver)
    assert model.status_.startswith(_CERTIFIED)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-3)
    assert_truthful(model, X, y, weights)


@pytest.mark.parametrize(
    ("weight", "lam"), [(1e-292, 1e-12), (1e-300, 1e-6), (1e-300, 1.0), (1e300, 1e-12), (1e300, 1.0)]
)
def test_weights_at_the_ends_of_double_precision_give_no_warning_of_numpy(weight, lam):
    X, y = small_data()
    model = fitted(X, y, np.full(len(y), weight), lam=lam)
    assert model.certificate_.is_finite
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("free", [False, True])
def test_rows_whose_squares_overflow_are_told_to_be_scaled(free):
    X, y = small_data()
    model = fitted(X * 1e160, y, regularize_intercept=not free)
    assert "scale the features" in model.status_
    assert model.certificate_.primal == pytest.approx(1.0)
    assert model.certificate_.dual == 0.0


DEGENERATE = {
    "all rows equal": (np.ones((6, 2)), [1, -1, 1, -1, 1, 1]),
    "the same row with both labels": (np.array([[1.0, 2.0], [1.0, 2.0]]), [1, -1]),
    "two rows": (np.array([[1.0, 2.0], [1.5, -1.0]]), [1, -1]),
    "one feature": (np.array([[1.0], [2.0], [-3.0]]), [1, 1, -1]),
    "only zeros": (np.zeros((4, 2)), [1, -1, 1, 1]),
    "some rows of zeros": (np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]), [1, 1, -1, -1]),
    "a constant feature": (np.array([[1.0, 1e6], [-1.0, 1e6], [0.5, 1e6]]), [1, -1, 1]),
    "one row of a class": (np.array([[3.0], [1.0], [1.001], [0.999]]), [1, -1, -1, -1]),
}


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_has_a_certificate_that_is_right(name, solver):
    X, y = DEGENERATE[name]
    assert_truthful(fitted(X, np.array(y), solver=solver, max_iter=200), X, y)


@pytest.mark.parametrize("n_features", [100_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_of_many_features_only_the_entries_round(n_features):
    columns = np.array([0, n_features - 1, n_features // 2, n_features - 1])
    X = sp.csr_matrix((np.array([1.0, 2.0, -1.0, 0.5]), columns, [0, 2, 3, 4]), shape=(3, n_features))
    model = fitted(X, np.array([1, -1, 1]), time_budget=None)
    assert model.status_.startswith(_CERTIFIED)
    assert model.certificate_.rounding == 0.0


def test_kernel_values_beyond_single_precision_are_predicted_with():
    X, y = small_data()
    X = (X + 1e8).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GapWarning)
        model = KernelPegasosClassifier(kernel="poly", gamma=1.0, degree=5, time_budget=2.0).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()


def test_a_variance_that_overflows_raises_an_error():
    X, y = small_data()
    with pytest.raises(PegasosError, match="variance of X"):
        KernelPegasosClassifier().fit(X * 1e160, y)


def test_a_path_with_weights_beyond_single_precision_is_that_of_plain_ones():
    X, y = small_data()
    X = np.tile(X, (4, 1)).astype(np.float32)
    y = np.tile(y, 4)
    settings = {"lams": [1e-1, 1e-2], "cv": 2, "random_state": 0}
    plain = PegasosClassifierCV(**settings).fit(X, y)
    weighted = PegasosClassifierCV(**settings).fit(X, y, sample_weight=np.full(len(y), 1e-42))
    assert weighted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=5e-3)


def test_many_classes_of_one_row_each_are_certified():
    X = np.eye(60)
    model = fitted(X, np.arange(60), time_budget=None)
    assert model.status_.startswith(_CERTIFIED)
    assert (model.predict(X) == np.arange(60)).all()


@pytest.mark.slow
def test_thousands_of_classes_end_with_a_truthful_status():
    X = sp.identity(3000, format="csr")
    model = fitted(X[:, :100], np.arange(3000), time_budget=0.001, max_iter=1)
    assert model.certificate_.primal >= model.certificate_.dual
    assert len(model.certificate_.parts) == 3000
    assert np.isfinite(model.coef_).all()


@pytest.mark.slow
def test_sums_over_ten_million_float32_rows_agree_with_exact_summation():
    random = np.random.default_rng(0)
    n = 10_000_000
    X = random.normal(size=(n, 1)).astype(np.float32)
    sign = np.where(X[:, 0] + random.normal(size=n) > 0.0, 1, -1).astype(np.int8)
    problem = Problem.plain(Rows.of(X, 0.0), sign, 0.1)
    alpha = random.random(n).astype(np.float32)
    certificate, weights = certify_dual(problem, alpha)
    x, a = X[:, 0].astype(np.float64), alpha.astype(np.float64)
    own = math.fsum((a * sign * x).tolist()) / (0.1 * n)  # products of float32 are exact
    assert weights[0] == pytest.approx(own, rel=1e-13)
    primal = 0.05 * weights[0] ** 2 + math.fsum(np.maximum(0.0, 1.0 - sign * x * weights[0]).tolist()) / n
    dual = math.fsum(a.tolist()) / n - 0.05 * own * own
    assert certificate.primal == pytest.approx(primal, rel=1e-13)
    assert certificate.dual == pytest.approx(dual, rel=1e-13)


def test_a_prior_without_any_loss_is_proved_by_the_dual_point_of_zeros():
    X, _ = small_data()
    right = np.sign(X[:, 0]).astype(int)
    model = fitted(1e12 * X, right, prior=([1.0, 0.0, 0.0], 0.0), lam=1e-9, tol=1e-10, max_iter=5)
    certificate = model.certificate_
    assert (certificate.primal, certificate.dual, certificate.gap, certificate.weight_radius) == (0.0, 0.0, 0.0, 0.0)
    assert not model.alpha_.any()
    assert model.certify(1e12 * X, right).dual == 0.0


def test_blocks_of_single_precision_return_dual_variables_within_bounds_that_it_cannot_represent():
    X, _ = small_data()
    y = np.array([1] + [-1] * 11)  # costs of 6 and 6 / 11
    source = ArraySource(1e-9 * X.astype(np.float32), y, block_rows=5)
    model = PegasosClassifier(lam=0.4, class_weight="balanced", random_state=0).fit_source(source, memory="1M")
    assert (model.alpha_ <= np.where(y > 0, 6.0, 12 / (2 * 11))).all()


def test_blocks_of_single_precision_return_the_dual_point_that_was_certified():
    random = np.random.default_rng(9117391)
    X = (1e-7 * random.normal(size=(9, 4))).astype(np.float32)
    y = np.array([-1, 1, -1, -1, -1, -1, 1, 1, 1])  # costs of 0.9, which single precision rounds down, and 1.125
    model = PegasosClassifier(3e-10, class_weight="balanced", fit_intercept=False, max_iter=23, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        model.fit_source(ArraySource(X, y, block_rows=2), memory="1M")
    _, dual = exact_objectives(model, X, y, np.where(y > 0, 9 / 8, 9 / 10))
    assert float(dual) == pytest.approx(model.certificate_.dual, rel=1e-10)


def test_balanced_classes_whose_weights_no_factor_can_balance_are_refused():
    X, y = small_data()
    weights = np.where(y == 1, 1e200, 1e-150)
    with pytest.raises(PegasosError, match="out of range for class -1"):
        PegasosClassifier(class_weight="balanced").fit(X, y, sample_weight=weights)
