"""fit_source of a regressor: the model of fit, from blocks that need not fit into memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import PegasosClassifier, PegasosRegressor
from pegasos.data import ArraySource, open_source
from pegasos.errors import PegasosError

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(1500, 8)) * [3.0, 1.0, 1.0, 0.3, 1.0, 1.0, 1.0, 5.0]
Y = X @ RANDOM.normal(size=8) + RANDOM.standard_t(3, size=1500)
LOSSES = [
    {"epsilon": 0.3},
    {"loss": "squared_epsilon_insensitive"},
    {"loss": "quantile", "quantile": 0.8},
    {"loss": "huber", "delta": 0.7},
]


def source(y=Y, values=X, block_rows=170):
    return ArraySource(values, y, block_rows)


def model(**settings):
    return PegasosRegressor(**{"random_state": 0, "lam": 1e-3, "tol": 1e-5, **settings})


@pytest.mark.parametrize(("solver", "lam", "tol"), [("auto", 1e-3, 1e-5), ("dual", 1.0, 1e-3)])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.get("loss", "epsilon_insensitive"))
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_the_model_is_that_of_fit(solver, lam, tol, loss, scale):
    loss = {name: value * scale if name in ("epsilon", "delta") else value for name, value in loss.items()}
    is_curved = loss.get("loss") in ("squared_epsilon_insensitive", "huber")
    aim = {"lam": lam if is_curved else lam / scale, "tol": tol}
    mine = model(solver=solver, **aim, **loss).fit_source(source(scale * Y), memory="300K")
    theirs = model(**aim, **loss).fit(X, scale * Y)
    assert mine.certificate_.relative_gap <= tol
    assert mine.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=2 * tol)
    radius = mine.certificate_.weight_radius + theirs.certificate_.weight_radius
    assert np.linalg.norm(mine.coef_ - theirs.coef_) <= radius
    again = mine.certify(X, scale * Y)
    assert again.primal == pytest.approx(mine.certificate_.primal, rel=1e-9)
    assert again.dual == pytest.approx(mine.certificate_.dual, rel=1e-6)
    assert mine.alpha_.shape == theirs.alpha_.shape == (2 * len(X),)
    assert mine.trace_["primal"][-1] == pytest.approx(mine.certificate_.primal)
    np.testing.assert_array_equal(mine.support_, np.flatnonzero(mine.alpha_.reshape(2, -1).any(axis=0)))


@pytest.mark.parametrize("settings", [{"C": 0.1, "lam": 1e-4}, {"fit_intercept": False}, {"intercept_scaling": 9.0}])
def test_the_parameters_mean_what_they_mean_for_fit(settings):
    mine, theirs = model(**settings).fit_source(source()), model(**settings).fit(X, Y)
    assert mine.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=2e-5)


def test_the_result_depends_neither_on_the_memory_nor_on_the_type_of_the_rows():
    values = sp.csr_matrix(X * (X > 0))
    little = model(epsilon=1.0).fit_source(source(values=values), memory="170K")
    much = model(epsilon=1.0).fit_source(source(values=values), memory="10M")
    np.testing.assert_array_equal(little.coef_, much.coef_)
    np.testing.assert_array_equal(little.alpha_, much.alpha_)


def test_rows_in_raw_units_are_solved():
    values = X * 10.0 ** np.arange(-4, 4)
    mine = model(tol=1e-4, lam=1e-6, time_budget=20.0).fit_source(source(values=values))
    assert mine.certificate_.relative_gap <= 1e-4


def test_pegasos_walks_over_both_sides_of_each_row():
    mine = model(solver="pegasos", tol=None, max_iter=6, lam=0.1, average="tail").fit_source(source())
    best = model(lam=0.1).fit(X, Y).certificate_
    assert mine.n_iter_ == 6
    assert mine.n_steps_ == 12 * len(X)
    assert best.dual <= mine.certificate_.primal <= 1.2 * best.primal


def test_an_interrupted_fit_continues_from_its_checkpoint(tmp_path):
    path, stopped = tmp_path / "state", []

    class Interrupted(ArraySource):
        def _read(self, k):
            stopped.append(k)
            if len(stopped) == 60:
                raise OSError("the disk is gone")
            return super()._read(k)

    settings = {"tol": None, "max_iter": 30, "solver": "dual"}
    with pytest.raises(PegasosError, match="the disk is gone"):
        model(**settings).fit_source(Interrupted(X, Y, 170), memory="120K", checkpoint=path, checkpoint_seconds=0.0)
    assert path.exists()
    mine = model(**settings).fit_source(source(), memory="120K", checkpoint=path)
    straight = model(**settings).fit_source(source(), memory="120K")
    np.testing.assert_array_equal(mine.coef_, straight.coef_)
    assert mine.trace_["primal"].tolist() == straight.trace_["primal"].tolist()
    with pytest.raises(PegasosError, match=r"there epsilon was 0\.1"):
        model(**settings, epsilon=0.2).fit_source(source(), checkpoint=path)


def test_columns_are_known_by_name(tmp_path):
    path = tmp_path / "a.csv"
    rows = np.column_stack([Y, X])[:200]
    np.savetxt(path, rows, delimiter=",", header="price," + ",".join(f"f{k}" for k in range(8)), comments="")
    mine = model().fit_source(open_source(path, label="price"))
    assert mine.feature_names_in_.tolist() == [f"f{k}" for k in range(8)]
    assert mine.certificate_.primal == pytest.approx(model().fit(X[:200], Y[:200]).certificate_.primal, rel=2e-5)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(np.arange(1500) == 400, np.nan, Y), r"block 2 of the source has the target nan in row 400"),
        (np.where(np.arange(1500) == 3, np.inf, Y), r"block 0 of the source has the target inf in row 3"),
        (np.repeat("dear", 1500), "targets that are not numbers"),
    ],
)
def test_targets_that_are_not_numbers_are_refused(y, message):
    with pytest.raises(PegasosError, match=message):
        model().fit_source(source(y))


@pytest.mark.parametrize(
    "settings",
    [{"regularize_intercept": False}, {"nu": 0.5}, {"solver": "cutting_plane"}, {"prior": (np.ones(8), 0.0)}],
)
def test_what_needs_all_rows_at_once_is_refused(settings):
    with pytest.raises(PegasosError, match="fit_source"):
        model(**settings).fit_source(source())


def test_all_targets_may_be_equal():
    mine = model().fit_source(source(np.full(1500, 7.0)))
    assert mine.certificate_.relative_gap <= 1e-5


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.get("loss", "epsilon_insensitive"))
def test_several_targets_are_solved_side_by_side(solver, loss):
    several = np.column_stack([Y, 30.0 * Y[::-1] + 5.0, X[:, 0]])
    aim = {"lam": 1.0, "tol": 1e-3} if solver == "dual" else {"tol": 1e-4}
    if solver == "pegasos":
        aim = {"lam": 1.0, "tol": None, "max_iter": 2}
    mine = model(solver=solver, **aim, **loss).fit_source(source(several), memory="600K")
    assert mine.predict(X[:5]).shape == (5, 3)
    assert mine.coef_.shape == (3, 8)
    again = mine.certify(X, several)
    assert len(again.parts) == 3
    assert again.primal == pytest.approx(mine.certificate_.primal, rel=1e-8)
    if solver != "pegasos":
        theirs = model(**aim, **loss).fit(X, several)
        for one, other in zip(mine.certificate_.parts, theirs.certificate_.parts, strict=True):
            assert one.relative_gap <= aim["tol"]
            assert one.primal == pytest.approx(other.primal, rel=2 * aim["tol"])


def test_one_column_stays_a_matrix_and_equals_a_vector():
    flat, column = (model().fit_source(source(y)) for y in (Y, Y[:, None]))
    assert column.predict(X[:2]).shape == (2, 1)
    np.testing.assert_array_equal(flat.coef_, column.coef_)


def test_several_targets_are_read_from_a_file(tmp_path):
    several = np.column_stack([Y, -Y])
    np.savez(tmp_path / "rows.npz", X=X, y=several)
    mine = model().fit_source(tmp_path / "rows.npz")
    np.testing.assert_allclose(mine.coef_[0], -mine.coef_[1], atol=2 * mine.certificate_.weight_radius)


def test_several_columns_that_do_not_fit_get_a_message():
    several = np.column_stack([Y, Y])
    with pytest.raises(PegasosError, match=r"takes one label per row; fit a model to each column"):
        PegasosClassifier().fit_source(source((several > 0).astype(int)))
    several[7, 1] = np.nan
    with pytest.raises(PegasosError, match="in row 7; impute it or drop the row"):
        model().fit_source(source(several))
    with pytest.raises(PegasosError, match="a column per target"):
        source(np.zeros((1500, 2, 2)))
