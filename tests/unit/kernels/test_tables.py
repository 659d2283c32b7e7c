"""Kernels for the columns of tables: categories, words, numbers in their own units, whole frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pegasos
from pegasos import KernelPegasosClassifier, PegasosError
from pegasos.kernels import RBF, Category, Spectrum, Standardized, Words, check_mercer, for_frame, on

RNG = np.random.default_rng(0)
N = 120
PLAN = RNG.choice(["free", "team", "firm"], N)
MOOD = np.where(RNG.random(N) < 0.5, "good", "bad")
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, N),
        "visits": RNG.integers(0, 100_000, N),
        "plan": PLAN,
        "active": RNG.random(N) < 0.5,
        "note": [f"{word} number {k} of the list" for k, word in enumerate(MOOD)],
    }
)
TARGET = (FRAME["age"] > 40) ^ (FRAME["plan"] == "team") ^ FRAME["note"].str.startswith("bad")


def test_categories_are_equal_or_not_and_missing_ones_are_a_category():
    values = ["a", "b", None, float("nan"), pd.NA, "a"]
    expected = [[v == w for w in "abmmma"] for v in "abmmma"]
    assert np.array_equal(Category().block(values, values), np.array(expected, float))
    assert Category().block([1], [1.0, "1"]).tolist() == [[1.0, 0.0]]
    pairs = [("a", 1), ("a", 2), ("b", 2)]
    np.testing.assert_allclose(Category().block(pairs, pairs), [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
    with pytest.raises(PegasosError, match="hashable"):
        Category().block([["a"]], [["a"]])


def test_words_count_and_refuse_what_is_not_text():
    assert Words().block(["a b A"], ["A c", "", None]).tolist() == [[2.0, 0.0, 0.0]]
    with pytest.raises(PegasosError, match="reads texts, got 3"):
        Words().block([3], [3])


def test_standardized_numbers_are_those_of_a_scaler():
    X = RNG.normal(5, 3, (20, 2))
    means, scales = X.mean(axis=0), X.std(axis=0)
    found = Standardized(RBF(0.3), means.tolist(), scales.tolist()).block(X, X)
    scaled = (X - means) / scales
    np.testing.assert_allclose(found, RBF(0.3).block(scaled, scaled), rtol=1e-12)
    for bad in (([0.0], [0.0]), ([0.0, 1.0], [1.0])):
        with pytest.raises(PegasosError, match="positive scale"):
            Standardized(RBF(1.0), *bad)
    with pytest.raises(PegasosError, match="kernel of vectors"):
        Standardized(Spectrum(2), [0.0], [1.0])
    with pytest.raises(PegasosError, match="was made for 1 features"):
        Standardized(RBF(1.0), [0.0], [1.0]).block(X, X)


def test_on_takes_a_function():
    records = [{"city": "Oslo"}, {"city": "Rome"}]
    same = on("city", lambda a, b: float(a == b)).block(records, records)
    assert np.array_equal(same, np.eye(2))
    with pytest.raises(PegasosError, match="a function of two items"):
        on("city", "rbf")


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_frame_of_mixed_columns_is_learnt_and_kept(make, tmp_path):
    frame = make(FRAME)
    kernel = for_frame(frame)
    assert check_mercer(kernel, frame).valid
    np.testing.assert_allclose(kernel.diagonal(frame), 1.0)
    model = KernelPegasosClassifier(kernel, C=100.0).fit(frame, TARGET)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.score(frame, TARGET) > 0.9
    model.save(tmp_path / "frame.pegasos")
    again = pegasos.load(tmp_path / "frame.pegasos")
    # By name: the order of the columns does not matter.
    other = frame[list(frame.columns)[::-1]]
    np.testing.assert_array_equal(again.decision_function(other), model.decision_function(frame))


def test_units_of_numbers_do_not_matter():
    other = FRAME.assign(age=FRAME["age"] * 1000, visits=FRAME["visits"] / 7 - 3)
    np.testing.assert_allclose(for_frame(FRAME).block(FRAME, FRAME), for_frame(other).block(other, other), atol=1e-9)


def test_kinds_of_columns():
    frame = pd.DataFrame({"c": pd.Categorical(["x y z", "u v w"]), "s": ["one", "two"], "t": ["a b c d", "e f g h"]})
    words = str(for_frame(frame))
    assert "on(['c', 's'], Category())" in words or "field=['c', 's'], kernel=Category()" in words
    assert "Words" in words
    with pytest.raises(PegasosError, match="column 'when' holds times"):
        for_frame(pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}))
    with pytest.raises(PegasosError, match="column 'n' has 1 missing numbers"):
        for_frame(pd.DataFrame({"n": [1.0, np.nan]}))
    with pytest.raises(PegasosError, match="at least one column"):
        for_frame([1, 2])
