"""Small linear problems in one native call: optima, certificates and bits are those of the other ways to solve them."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import PegasosClassifier, PegasosRegressor
from pegasos.machines import linear
from pegasos.machines.small_linear import solve_small

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 6))
Y = (X @ RANDOM.normal(size=(6, 3)) + RANDOM.normal(size=(200, 3))).argmax(axis=1)
T = X @ RANDOM.normal(size=6) + RANDOM.standard_t(3, size=200)
WEIGHTS = RANDOM.choice([0.0, 1.0, 2.5], size=200)


@pytest.fixture
def solved(monkeypatch):
    """How many problems of each fit were solved at once."""
    counts = []

    def count(*arguments):
        found = solve_small(*arguments)
        counts.append(sum(solution is not None for solution in found))
        return found

    monkeypatch.setattr(linear, "solve_small", count)
    return counts


def by_the_driver(model, monkeypatch, *data):
    with monkeypatch.context() as patch:
        patch.setattr(linear, "solve_small", lambda problems, *_: [None] * len(problems))
        return model.fit(*data)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lam", [1e-1, 1e-4, 1e-7])
@pytest.mark.parametrize(
    "task", [("ovr", "hinge"), ("ovr", "squared_hinge"), ("ovo", "hinge"), ("ovo", "squared_hinge")]
)
def test_classifiers_reach_the_optimum_of_the_driver(solved, monkeypatch, lam, dtype, weights, *, task):
    multi_class, loss = task
    how = {"lam": lam, "loss": loss, "multi_class": multi_class, "tol": 1e-9, "class_weight": "balanced"}
    data = X.astype(dtype), Y, weights
    model = PegasosClassifier(**how).fit(*data)
    assert solved == [3]
    other = by_the_driver(PegasosClassifier(**how), monkeypatch, *data)
    assert model.certificate_.relative_gap <= 1e-9
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-9)
    assert model.certify(*data) == model.certificate_
    assert len(model.trace_.parts) == 3


@pytest.mark.parametrize("lam", [1e-1, 1e-4])
@pytest.mark.parametrize(
    "how",
    [
        {"epsilon": 0.3},
        {"loss": "squared_epsilon_insensitive", "epsilon": 0.3},
        {"loss": "quantile", "quantile": 0.8},
    ],
    ids=lambda how: how.get("loss", "epsilon_insensitive"),
)
def test_regressors_reach_the_optimum_of_the_driver(solved, monkeypatch, how, lam):
    targets = np.column_stack([T, 1e3 * T + 1e4])
    model = PegasosRegressor(lam=lam, tol=1e-8, **how).fit(X, targets, WEIGHTS)
    assert solved == [2]
    other = by_the_driver(PegasosRegressor(lam=lam, tol=1e-8, **how), monkeypatch, X, targets, WEIGHTS)
    for mine, theirs in zip(model.certificate_.parts, other.certificate_.parts, strict=True):
        assert mine.relative_gap <= 1e-8
        assert mine.primal == pytest.approx(theirs.primal, rel=2e-8)


def test_dual_variables_end_exactly_at_their_bounds(solved):
    model = PegasosClassifier(lam=1e-3).fit(X, Y == 1)
    assert solved == [1]
    between = (model.alpha_ > 0.0) & (model.alpha_ < 1.0)
    assert np.count_nonzero(between) <= X.shape[1] + 1
    assert model.alpha_.min() == 0.0
    assert model.alpha_.max() == 1.0


def test_sparse_rows_and_any_number_of_threads_give_the_same_bits(solved):
    one = PegasosClassifier(n_jobs=1).fit(X, Y)
    assert np.array_equal(one.coef_, PegasosClassifier(n_jobs=2).fit(X, Y).coef_)
    sparse = PegasosClassifier().fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, one.coef_, rtol=1e-9, atol=1e-9)
    assert solved == [3, 3, 3]


@pytest.mark.parametrize(
    "how",
    [
        {"solver": "dual"},
        {"regularize_intercept": False},
        {"tol": None, "max_iter": 3},
        {"max_iter": 5},
        {"loss": "huber_hinge"},
        {"C": np.inf},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::pegasos.estimators.warnings.GapWarning")
def test_other_problems_are_left_to_the_driver(solved, how):
    PegasosClassifier(**how).fit(X, Y)
    assert solved == [0]


def test_a_gap_that_rounding_leaves_open_is_left_to_the_driver(solved):
    separable = np.where(Y == 1, 1.0, -1.0)[:, None] * (1.0 + np.abs(X))
    model = PegasosClassifier(lam=1e-12, tol=1e-6).fit(separable, Y == 1)
    assert model.certificate_.relative_gap <= 1e-6
    assert solved == [0]


def test_an_f_ordered_array_gives_the_same_bits():
    assert np.array_equal(PegasosClassifier().fit(np.asfortranarray(X), Y).coef_, PegasosClassifier().fit(X, Y).coef_)


def test_few_rows_with_a_squared_loss_reach_the_exact_optimum(solved):
    rows = np.random.default_rng(0).normal(size=(20_000, 8))
    target = rows @ np.arange(8.0) + np.random.default_rng(1).standard_t(3, size=20_000)
    model = PegasosRegressor(1e-3, loss="squared_epsilon_insensitive", epsilon=0.1, tol=1e-3, n_jobs=1)
    assert 1e-9 < model.fit(rows, target).certificate_.relative_gap <= 1e-3
    assert model.fit(rows[:500], target[:500]).certificate_.relative_gap < 1e-12
    assert solved == [1, 1]


def test_csr_rows_that_need_no_conversion_are_not_checked_twice(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    expected = PegasosClassifier(1e-3, random_state=0).fit(X, Y > 0)
    monkeypatch.setattr("pegasos.estimators.reading.validate_data", refuse)
    model = PegasosClassifier(1e-3, random_state=0).fit(sp.csr_matrix(X), Y > 0)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
