"""The regressors: shapes, streams, files, intervals, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge

import pegasos
from pegasos import KernelPegasosRegressor, PegasosError, PegasosRegressor

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(120, 4))
Y = 2.0 * X[:, 0] - X[:, 1] + 0.5 + 0.3 * RANDOM.normal(size=120)
BOTH = [PegasosRegressor(lam=1e-3, random_state=0), KernelPegasosRegressor(gamma=0.2, lam=1e-3, random_state=0)]


@pytest.mark.parametrize("model", BOTH)
def test_a_weight_of_two_is_the_row_twice(model):
    weights = RANDOM.integers(0, 3, 120)
    repeated = np.repeat(np.arange(120), weights)
    one = clone(model).set_params(tol=1e-10).fit(X, Y, weights)
    other = clone(model).set_params(tol=1e-10).fit(X[repeated], Y[repeated])
    assert one.predict(X) == pytest.approx(other.predict(X), abs=1e-5)
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("model", BOTH)
def test_columns_of_y_are_solved_as_they_would_be_alone(model):
    both = np.column_stack([Y, X[:, 2] ** 2])
    together = clone(model).set_params(n_jobs=2).fit(X, both)
    assert together.predict(X).shape == (120, 2)
    assert len(together.certificate_.parts) == 2
    alone = clone(model).fit(X, both[:, 1])
    assert together.predict(X)[:, 1] == pytest.approx(alone.predict(X), abs=1e-10)
    assert together.certify(X, both).gap == pytest.approx(together.certificate_.gap, rel=1e-6)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("model", BOTH)
def test_the_interval_holds_what_the_exact_solution_predicts(model, free):
    rough = clone(model).set_params(tol=1e-2, regularize_intercept=not free).fit(X, Y)
    exact = clone(model).set_params(tol=1e-11, regularize_intercept=not free).fit(X, Y)
    new = RANDOM.normal(size=(50, 4))
    lower, upper = rough.predict_interval(new)
    assert (lower <= exact.predict(new)).all()
    assert (exact.predict(new) <= upper).all()
    narrow = exact.predict_interval(new)
    # A fit may end far below its tol.
    assert (narrow[1] - narrow[0]).max() < max((upper - lower).max(), 1e-5)


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("columns", [1, 2])
def test_files_keep_a_regressor(model, columns, tmp_path):
    y = Y if columns == 1 else np.column_stack([Y, -Y])
    prior = Ridge().fit(X[:50], y[:50])
    prior = (np.atleast_2d(prior.coef_), prior.intercept_)
    for fitted in (
        clone(model).fit(X, y),
        clone(model).set_params(prior=prior).fit(X, y),
        clone(model).set_params(nu=0.4, regularize_intercept=False).fit(X, y),
        clone(model).partial_fit(X, y),
    ):
        fitted.save(tmp_path / "model.pegasos")
        again = pegasos.load(tmp_path / "model.pegasos")
        assert np.array_equal(again.predict(X), fitted.predict(X))
        assert again.certificate_ == fitted.certificate_
        assert np.array_equal(again.epsilon_, fitted.epsilon_)
        rounding = 1e-8 * fitted.certificate_.primal
        assert again.certify(X, y).gap == pytest.approx(fitted.certificate_.gap, rel=1e-6, abs=rounding)
    again.partial_fit(X, y)


@pytest.mark.parametrize("model", BOTH)
def test_a_stream_comes_near_to_the_fit_of_all_rows(model):
    stream = clone(model).set_params(lam=1e-2)
    for _ in range(20):
        for begin in range(0, 120, 40):
            stream.partial_fit(X[begin : begin + 40], Y[begin : begin + 40])
    assert stream.score(X, Y) > 0.8
    with pytest.raises(PegasosError, match="2 column"):
        stream.partial_fit(X, np.column_stack([Y, Y]))


def test_sparse_rows_are_dense_rows():
    matrix = X * (np.abs(X) > 0.5)
    dense, sparse = (PegasosRegressor(1e-3, tol=1e-9).fit(rows, Y) for rows in (matrix, sp.csr_array(matrix)))
    assert dense.coef_ == pytest.approx(sparse.coef_, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-4, 1e3, 1e6])
def test_units_of_the_target_do_not_matter(scale):
    one = PegasosRegressor(C=1.0, epsilon=0.1, tol=1e-9, regularize_intercept=False).fit(X, Y)
    other = PegasosRegressor(C=scale, epsilon=0.1 * scale, tol=1e-9, regularize_intercept=False).fit(X, scale * Y)
    assert other.certificate_.relative_gap <= 1e-9
    assert other.predict(X) / scale == pytest.approx(one.predict(X), abs=1e-5)


def test_a_warm_start_needs_less_work():
    model = PegasosRegressor(1e-4, tol=1e-6, solver="dual", warm_start=True, random_state=0).fit(X, Y)
    first = model.n_steps_
    assert model.fit(X, Y).n_steps_ < first


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": -0.1}, r"epsilon must be a number of at least 0, got -0\.1"),
        ({"quantile": 1.0}, r"quantile must lie between 0 and 1, both excluded, got 1\.0"),
        ({"quantile": 0.0}, "quantile must lie between 0 and 1"),
        ({"loss": "hinge"}, "loss must be one of 'epsilon_insensitive'"),
        ({"delta": 0.0}, "delta must be a positive number"),
        ({"nu": 0.0}, "nu must be None or a number above 0 and at most 1"),
        ({"nu": 0.5, "loss": "quantile"}, "nu sets epsilon of loss='epsilon_insensitive'"),
        ({"C": np.inf}, "C=inf is a hard margin"),
        ({"nu": 0.5, "solver": "pegasos"}, "nu needs solutions to a small gap"),
    ],
)
@pytest.mark.parametrize("model", BOTH)
def test_parameters_that_make_no_sense_are_refused(model, parameters, message):
    with pytest.raises(PegasosError, match=message):
        clone(model).set_params(**parameters).fit(X, Y)


@pytest.mark.parametrize("model", BOTH)
def test_targets_that_are_not_numbers_are_refused(model):
    with pytest.raises(PegasosError, match=r"y contains NaN or infinity in row 7, got nan; impute it or drop the row"):
        clone(model).fit(X, np.where(np.arange(120) == 7, np.nan, Y))
    with pytest.raises(PegasosError, match="y contains NaN or infinity in row 7, got inf"):
        clone(model).fit(X, np.where(np.arange(120) == 7, np.inf, Y))
    with pytest.raises(ValueError, match=r"Unknown label|numbers"):
        clone(model).fit(X, np.full(120, "a"))
    with pytest.raises(ValueError, match=r"inconsistent numbers|one entry for each"):
        clone(model).fit(X, Y[:-1])


def test_squared_and_huber_losses_bound_their_dual_points():
    squared = PegasosRegressor(1e-2, loss="squared_epsilon_insensitive", tol=1e-8).fit(X, 5.0 * Y)
    assert squared.alpha_.max() > 1.0
    huber = PegasosRegressor(1e-2, loss="huber", delta=0.7, tol=1e-8).fit(X, 5.0 * Y)
    assert huber.alpha_.max() == pytest.approx(0.7)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "huber"])
def test_one_pass_of_an_averaged_stream_comes_near_the_fit(loss):
    X, y = make_friedman1(3000, random_state=0)
    y = (y - y.mean()) / y.std()
    model = PegasosRegressor(lam=1e-4, loss=loss, average="uniform", random_state=0)
    for begin in range(0, 3000, 300):
        model.partial_fit(X[begin : begin + 300], y[begin : begin + 300])
    assert model.score(X, y) > PegasosRegressor(lam=1e-4, loss=loss).fit(X, y).score(X, y) - 0.05
