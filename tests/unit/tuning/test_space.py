"""What a setting means does not depend on the units of the features, nor on how many rows are looked at."""

import numpy as np
import pytest

from pegasos.errors import PegasosError
from pegasos.tuning.space import Setting, Space

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3)) + np.repeat([[0.0], [1.0]], 40, axis=0)
y = np.repeat([0, 1], 40)
SETTINGS = [
    Setting("linear", "none", 10.0),
    Setting("poly", "none", 10.0, {"degree": 2}),
    Setting("rbf", "none", 10.0, {"width": 2.0}),
    Setting("laplacian", "none", 10.0, {"width": 2.0}),
]


def space_of(X, kind="rows"):
    return Space.of(X, kind, 2, class_weights=(None,), rng=np.random.default_rng(0))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.family)
def test_a_setting_means_the_same_in_other_units(setting):
    scores = [
        space_of(factor * X).pipeline(setting, 80, tol=1e-10).fit(factor * X, y).decision_function(factor * X)
        for factor in (1.0, 1000.0)
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-3)


def test_on_a_sample_lam_grows_so_that_a_row_weighs_the_same():
    space = space_of(X)
    assert space.lam(SETTINGS[2], 20) == pytest.approx(4.0 * space.lam(SETTINGS[2], 80))
    assert space.machine(SETTINGS[2], 20).lam == space.lam(SETTINGS[2], 20) == 1.0 / (10.0 * 20)


def test_the_width_counts_in_the_median_distance():
    apart = np.linalg.norm(X[:, None] - X[None], axis=2)[np.triu_indices(80, 1)]
    gamma = space_of(X).machine(SETTINGS[2], 80).kernel.gamma
    assert gamma == pytest.approx(2.0 / np.median(apart**2))


def test_linear_comes_first_and_every_family_has_a_turn_before_any_has_two():
    first = [start["kernel"] for start in space_of(X).first()]
    assert first[:4] == ["linear", "poly", "rbf", "laplacian"]


def test_every_first_setting_of_every_kind_can_be_trained():
    ring = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)
    collections = {
        "rows": X[::10],
        "strings": ["abab", "baba", "abba", "aabb", "cdcd", "dcdc", "cddc", "ccdd"],
        "graphs": [(ring, ["C"] * 4), (ring, ["N"] * 4)] * 4,
        "series": [np.sin(np.arange(8 + i) * (1 + i % 2)) for i in range(8)],
    }
    import optuna

    for kind, collection in collections.items():
        space = space_of(collection, kind)
        for start in space.first():
            setting = space.suggest(optuna.trial.FixedTrial(start))
            model = space.pipeline(setting, 8).fit(collection, [0, 1] * 4)
            assert len(model.predict(collection)) == 8
            assert f"lam {space.lam(setting, 8):.2g}" in space.in_words(setting)


def test_rows_that_are_all_the_same_raise_an_error():
    with pytest.raises(PegasosError, match="every one of the 3 columns of X is constant"):
        space_of(np.ones((10, 3)))


def test_beside_a_setting_are_one_step_of_each_number_and_the_other_scalings():
    found = space_of(X).near(Setting("rbf", "none", 10.0, {"width": 20.0}))
    moved = [start for start in found if start["scaling"] == "none"]
    assert {start["scaling"] for start in found} == {"none", "standard", "min-max", "unit rows"}
    assert [(start["rbf C"], start["rbf width"]) for start in moved] == [
        (pytest.approx(10.0 / 3.0), 20.0),
        (30.0, 20.0),
        (10.0, pytest.approx(20.0 / 3.0)),  # 60 is out of range
    ]
