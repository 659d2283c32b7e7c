"""Errors about data name the place and the remedy."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError, PegasosRegressor

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.arange(20) % 2


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier, PegasosRegressor])
def test_a_missing_value_is_named_by_row_and_column(make):
    rows = X.copy()
    rows[3, 1] = np.nan
    with pytest.raises(PegasosError, match="row 3, column 1;"):
        make().fit(rows, Y)
    with pytest.raises(PegasosError, match="row 3, column 1;"):
        make().fit(sp.csr_matrix(rows), Y)
    with pytest.raises(PegasosError, match="row 3, column 'income';"):
        make().fit(pd.DataFrame(rows, columns=["age", "income", "z"]), Y)


def test_new_rows_with_a_missing_value_are_refused_likewise():
    rows = X.copy()
    rows[7, 2] = np.inf
    with pytest.raises(PegasosError, match="row 7, column 2;"):
        PegasosClassifier().fit(X, Y).predict(rows)


@pytest.mark.parametrize("text", [["some text", "more text"] * 10, np.array([["a", "b"]] * 20)])
def test_text_is_refused_with_what_to_do(text):
    with pytest.raises(PegasosError, match="TfidfVectorizer"):
        PegasosClassifier().fit(text, Y)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(X).assign(city=["a", "b"] * 10),
        pd.DataFrame(X).assign(city=pd.Categorical(["a", "b"] * 10)),
        pl.DataFrame(X).with_columns(pl.Series("city", ["a", "b"] * 10)),
    ],
)
def test_a_column_of_text_is_named(frame):
    if isinstance(frame, pd.DataFrame):
        frame.columns = frame.columns.astype(str)
    with pytest.raises(PegasosError, match="column 'city' of X holds text such as 'a'"):
        PegasosClassifier().fit(frame, Y)


def test_a_lazy_frame_is_refused():
    with pytest.raises(PegasosError, match=r"X\.collect\(\)"):
        PegasosClassifier().fit(pl.DataFrame(X).lazy(), Y)


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_a_missing_label_is_refused_with_what_to_do(make):
    with pytest.raises(PegasosError, match=r"y contains None; drop the rows"):
        make().fit(np.eye(4), ["a", None, "b", "a"])
