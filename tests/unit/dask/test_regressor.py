"""The regressor on dask collections, against the one in memory."""

import dask
import dask.array as da
import numpy as np
import pytest

import pegasos
from pegasos.dask import PegasosRegressor
from pegasos.solvers import partitioned_newton

TOL = 1e-4


@pytest.fixture(autouse=True)
def _in_this_thread(monkeypatch):
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n=500, n_targets=1):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5))
    Y = 100.0 + 50.0 * X[:, :n_targets] + 20.0 * random.standard_t(3, size=(n, n_targets))
    return X, Y[:, 0] if n_targets == 1 else Y


def blocks_of(*columns):
    return [da.from_array(column, chunks=(150, *column.shape[1:])) for column in columns]


@pytest.mark.parametrize("regularize_intercept", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 5.0},
        {"loss": "squared_epsilon_insensitive", "epsilon": 5.0},
        {"loss": "quantile", "quantile": 0.2},
        {"loss": "huber", "delta": 10.0},
    ],
    ids=lambda options: options.get("loss", "epsilon_insensitive"),
)
def test_every_loss_has_the_optimum_of_the_fit_in_memory(options, regularize_intercept):
    X, y = data()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    settings = {"lam": 1e-4, "regularize_intercept": regularize_intercept, **options}
    model = PegasosRegressor(**settings, tol=TOL, random_state=0).fit(*blocks_of(X, y, weights))
    local = pegasos.PegasosRegressor(**settings, tol=TOL).fit(X, y, weights)
    assert model.certificate_.relative_gap <= TOL
    assert local.certificate_.dual <= model.certificate_.primal * (1 + 1e-12)
    assert model.certificate_.dual <= local.certificate_.primal * (1 + 1e-12)
    reach = model.certificate_.weight_radius + local.certificate_.weight_radius
    assert np.linalg.norm(model.coef_ - local.coef_) <= reach


def test_several_targets_are_predicted_and_scored_by_blocks():
    X, Y = data(n_targets=2)
    model = PegasosRegressor(lam=1e-4, epsilon=5.0, random_state=0).fit(*blocks_of(X, Y))
    local = model.to_local()
    found = model.predict(blocks_of(X)[0])
    assert found.shape == (500, 2)
    np.testing.assert_array_equal(found.compute(), local.predict(X))
    assert model.score(*blocks_of(X, Y)) == pytest.approx(local.score(X, Y), abs=1e-12)


def test_targets_that_are_not_numbers_are_refused_with_the_number_of_their_partition():
    X, y = data()
    y[400] = np.nan
    with pytest.raises(pegasos.PegasosError, match="In partition 2: y contains NaN"):
        PegasosRegressor().fit(*blocks_of(X, y))
