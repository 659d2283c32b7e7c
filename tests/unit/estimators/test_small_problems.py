"""Small problems at once: the machine, the certificates and the intercepts of problems solved one by one."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos import KernelPegasosClassifier
from pegasos.certificate import best_intercepts, intercept_reach
from pegasos.kernels import RBF, Laplacian, Polynomial
from pegasos.machines import small_problems as module
from pegasos.machines.small_problems import SmallProblems
from pegasos.tasks import pairs_of

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 4))
Y = (X[:, 0] + 0.5 * RANDOM.normal(size=120) > 0).astype(int) + 2 * (X[:, 1] > 0.5)
WEIGHTS = RANDOM.choice([0.5, 1.0, 3.0], 120)


def fitted(**settings):
    settings = {"gamma": 0.5, "C": 10.0, "tol": 1e-7, "multi_class": "ovo", "random_state": 0, **settings}
    weights = settings.pop("weights", None)
    rows = X.astype(np.float32) if settings.pop("single", False) else X
    return KernelPegasosClassifier(**settings).fit(rows, Y, weights)


def one_by_one(monkeypatch, **settings):
    with monkeypatch.context() as patch:
        patch.setattr("pegasos.machines.kernel_solving._are_small", lambda *_: False)
        return fitted(**settings)


CASES = {
    "free": {"regularize_intercept": False},
    "regularised": {},
    "none": {"fit_intercept": False},
    "weights": {"regularize_intercept": False, "weights": WEIGHTS, "class_weight": "balanced"},
    "strong": {"regularize_intercept": False, "C": 1e4},
    "polynomial": {"kernel": Polynomial(2, 0.5, 1.0), "C": 1.0},
    "from a table": {"kernel": Laplacian(0.5), "regularize_intercept": False},
    "one against the rest": {"kernel": RBF(0.5), "multi_class": "ovr"},
    "single precision": {"single": True, "tol": 1e-4},
}


@pytest.mark.parametrize("case", CASES)
def test_problems_together_are_the_problems_one_by_one(monkeypatch, case):
    together, alone = fitted(**CASES[case]), one_by_one(monkeypatch, **CASES[case])
    tol = CASES[case].get("tol", 1e-7)
    assert together.certificate_.relative_gap <= tol
    primals = ([part.primal for part in model.certificate_.parts] for model in (together, alone))
    np.testing.assert_allclose(*primals, rtol=2 * tol)
    np.testing.assert_allclose(together.decision_function(X), alone.decision_function(X), atol=1e3 * np.sqrt(tol) / 100)
    rows = X.astype(np.float32) if "single" in CASES[case] else X
    again = together.certify(rows, Y, CASES[case].get("weights"))
    for part, anew in zip(together.certificate_.parts, again.parts, strict=True):
        # Both leave room for rounding, and not the same.
        room = 1e-10 * part.primal + 2.0 * (part.rounding + anew.rounding)
        assert part.primal == pytest.approx(anew.primal, abs=room)
        assert part.dual == pytest.approx(anew.dual, abs=room)
        assert part.least_margin == pytest.approx(anew.least_margin, abs=1e-9)


def test_a_batch_at_a_time_is_the_same(monkeypatch):
    whole = fitted(regularize_intercept=False)
    monkeypatch.setattr(module, "_BATCH_WORK", 1.0)
    parts = fitted(regularize_intercept=False)
    np.testing.assert_array_equal(whole.dual_coef_, parts.dual_coef_)
    assert whole.certificate_ == parts.certificate_


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_the_certificate_holds_in_more_digits(C):
    model = fitted(regularize_intercept=False, C=C, tol=1e-4)
    K = np.exp(-0.5 * np.square(X[:, None].astype(np.longdouble) - X[None]).sum(axis=2))
    n = len(X)
    for k, (first, second) in enumerate(pairs_of(4)):
        mine = np.isin(Y, [first, second])
        sign = np.where(Y[mine] == second, 1, -1)
        b = sign * model.alpha_[k].astype(np.longdouble) * C
        scores = K[np.ix_(mine, mine)] @ b
        losses = np.maximum(0, 1 - sign * (scores + model.intercept_[k])).sum()
        unit = 1 / (C * mine.sum())
        primal, dual = unit * (0.5 * b @ scores + C * losses), unit * (np.abs(b).sum() - 0.5 * b @ scores)
        part = model.certificate_.parts[k]
        assert mine.sum() <= n
        assert part.primal >= primal * (1 - 1e-9)
        assert part.dual <= dual * (1 + 1e-9)
        assert part.gap <= 1e-4 * part.primal


@pytest.mark.parametrize("case", CASES)
def test_no_bit_depends_on_the_number_of_threads(case):
    one, two = fitted(**CASES[case], n_jobs=1), fitted(**CASES[case], n_jobs=2)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    assert one.certificate_ == two.certificate_


def test_pairs_that_are_not_certified_together_are_left_to_the_driver(monkeypatch):
    expected = fitted(regularize_intercept=False)
    monkeypatch.setattr(module, "_STEPS_PER_ROW", 1)
    model = fitted(regularize_intercept=False)
    assert model.certificate_.relative_gap <= 1e-7
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-3)


def small_problems(monkeypatch, **settings):
    """The columns that a fit makes of its pairs, and the pairs."""
    seen = []

    def make(problems, is_free):
        seen.append((SmallProblems.of(problems, is_free), problems))
        return seen[0][0]

    monkeypatch.setattr("pegasos.machines.kernel_solving.SmallProblems", SimpleNamespace(of=make))
    fitted(**settings)
    return seen[0]


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.0, 0.3, 3.0]))
def test_the_sums_and_the_best_intercepts_are_those_of_each_pair(seed, spread):
    with pytest.MonkeyPatch.context() as patch:
        small, pairs = small_problems(patch, regularize_intercept=False, weights=WEIGHTS, tol=1e-2)
    random = np.random.default_rng(seed)
    scores = np.round(spread * random.normal(size=len(small.members)), 1)  # many of them equal
    alpha = random.uniform(size=len(scores)) * small.cost
    certificates, coefficients, intercepts, _ = small.certified(alpha, scores)
    for k, certificate in enumerate(certificates):
        part, pair = slice(small.starts[k], small.starts[k + 1]), pairs[k]
        assert intercepts[k] == pytest.approx(np.mean(best_intercepts(pair, scores[part])), abs=1e-12)
        margins = pair.sign * (scores[part] + pair.offset + intercepts[k])
        losses = np.sum(pair.cost * np.maximum(0.0, 1.0 - margins))
        square = float(coefficients[part] @ scores[part])
        np.testing.assert_allclose(coefficients[part], pair.sign * alpha[part] / (pair.lam * pair.total))
        primal = losses / pair.total + 0.5 * pair.lam * square
        assert certificate.primal - certificate.rounding == pytest.approx(primal, rel=1e-12)
        assert certificate.least_margin == margins[pair.cost > 0.0].min()
        dual = alpha[part] @ (1.0 - pair.sign * pair.offset) / pair.total - 0.5 * pair.lam * square
        assert certificate.dual <= dual + 1e-12 * abs(dual)


def test_the_reach_of_the_intercepts_is_that_of_each_pair(monkeypatch):
    small, pairs = small_problems(monkeypatch, regularize_intercept=False, tol=1e-2)
    alpha, scores, _, _ = small.solve(1e-3, 0.0, 1)
    certificates, _, intercepts, reaches = small.certified(alpha, scores)
    for k in range(len(pairs_of(4))):
        mine = alpha[small.starts[k] : small.starts[k + 1]]
        radius = certificates[k].weight_radius
        assert reaches[k] == pytest.approx(intercept_reach(pairs[k], mine, intercepts[k], radius), rel=1e-9)
