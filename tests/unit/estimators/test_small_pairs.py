"""All pairs at once: the machine, the certificates and the intercepts of pairs solved one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos import KernelPegasosClassifier
from pegasos.certificate import best_intercepts, intercept_reach
from pegasos.machines import small_pairs as module
from pegasos.machines.small_pairs import SmallPairs
from pegasos.tasks import pairs_of

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 4))
Y = (X[:, 0] + 0.5 * RANDOM.normal(size=120) > 0).astype(int) + 2 * (X[:, 1] > 0.5)
WEIGHTS = RANDOM.choice([0.5, 1.0, 3.0], 120)


def fitted(**settings):
    settings = {"gamma": 0.5, "C": 10.0, "tol": 1e-7, "multi_class": "ovo", "random_state": 0, **settings}
    weights = settings.pop("weights", None)
    return KernelPegasosClassifier(**settings).fit(X, Y, weights)


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
}


@pytest.mark.parametrize("case", CASES)
def test_pairs_together_are_the_pairs_one_by_one(monkeypatch, case):
    together, alone = fitted(**CASES[case]), one_by_one(monkeypatch, **CASES[case])
    assert together.certificate_.relative_gap <= 1e-7
    primals = ([part.primal for part in model.certificate_.parts] for model in (together, alone))
    np.testing.assert_allclose(*primals, rtol=2e-7)
    np.testing.assert_allclose(together.decision_function(X), alone.decision_function(X), atol=1e-3)
    again = together.certify(X, Y, CASES[case].get("weights"))
    for part, anew in zip(together.certificate_.parts, again.parts, strict=True):
        assert part.primal == pytest.approx(anew.primal, rel=1e-10)
        assert part.dual == pytest.approx(anew.dual, rel=1e-10)
        assert part.least_margin == pytest.approx(anew.least_margin, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_no_bit_depends_on_the_number_of_threads(case):
    one, two = fitted(**CASES[case], n_jobs=1), fitted(**CASES[case], n_jobs=2)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    assert one.certificate_ == two.certificate_


def test_pairs_that_are_not_certified_together_are_left_to_the_driver(monkeypatch):
    expected = fitted(regularize_intercept=False)
    monkeypatch.setattr(module, "_steps_per_row", 1)
    model = fitted(regularize_intercept=False)
    assert model.certificate_.relative_gap <= 1e-7
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-3)


def small_pairs(monkeypatch, **settings):
    """The columns that a fit makes of its pairs."""
    seen = []
    monkeypatch.setattr(
        "pegasos.machines.kernel_solving.solve_together",
        lambda small, *_: seen.append(small) or [None] * len(small.sizes),
    )
    fitted(**settings)
    return seen[0]


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.0, 0.3, 3.0]))
def test_the_best_intercepts_are_those_of_each_pair(seed, spread):
    with pytest.MonkeyPatch.context() as patch:
        small = small_pairs(patch, regularize_intercept=False, weights=WEIGHTS, tol=1e-2)
    random = np.random.default_rng(seed)
    scores = np.round(spread * random.normal(size=len(small.members)), 1)  # many of them equal
    lowest, highest = small.best_intercepts(scores)
    for k in range(len(small.sizes)):
        expected = best_intercepts(small.pairs[k], scores[small.starts[k] : small.starts[k + 1]])
        assert (lowest[k], highest[k]) == pytest.approx(expected, abs=1e-12)


def test_the_reach_of_the_intercepts_is_that_of_each_pair(monkeypatch):
    small: SmallPairs = small_pairs(monkeypatch, regularize_intercept=False, tol=1e-2)
    alpha = small.balanced(small.solve(1e-3, 1)[0])
    certificates, _, intercepts, reaches = small.certified(alpha)
    for k in range(len(pairs_of(4))):
        mine = alpha[small.starts[k] : small.starts[k + 1]]
        radius = certificates[k].weight_radius
        assert reaches[k] == pytest.approx(intercept_reach(small.pairs[k], mine, intercepts[k], radius), rel=1e-9)
