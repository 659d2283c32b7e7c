"""For any bad input, the error message says what is wrong and where."""

from dataclasses import replace

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pegasos import PegasosError
from pegasos.dask import PegasosClassifier
from pegasos.distributed import Plan, Reading, code, read
from pegasos.tasks import OneVsRest, Terms

X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def cut(column, n=3):
    return [dask.delayed(part) for part in np.array_split(column, n)]


def spoilt(column, where, value):
    column = column.astype(type(value) if isinstance(value, str) else float)
    column[where] = value
    return cut(column)


def frame(values, names):
    return dask.delayed(pd.DataFrame(values, columns=list(names)))


CASES = {
    "a numpy X": (X, cut(y), "numpy's ndarray.*pegasos.PegasosClassifier"),
    "a numpy y": (cut(X), y, "y must be a dask array.*in memory"),
    "a sparse matrix": (sp.csr_matrix(X), cut(y), "scipy's csr_matrix"),
    "a pandas frame": (pd.DataFrame(X), cut(y), "pandas's DataFrame"),
    "an empty list": ([], cut(y), "X must be a dask"),
    "no X": (None, cut(y), "X must be a dask"),
    "y in fewer partitions": (cut(X), cut(y, 2), "y has 2 partitions and X has 3"),
    "y cut elsewhere": (
        cut(X),
        [dask.delayed(part) for part in np.split(y, [10, 30])],
        r"In partition \d: X has 20 rows",
    ),
    "a shorter y": (da.from_array(X, chunks=(20, 4)), da.from_array(y[:50], chunks=20), "each of the 60 rows, got 50"),
    "NaN in X": (spoilt(X, (45, 2), np.nan), cut(y), "In partition 2: X contains NaN or infinity .* row 5"),
    "infinity in X": (spoilt(X, (25, 2), np.inf), cut(y), "In partition 1: X contains NaN"),
    "NaN in y": (cut(X), spoilt(y, 25, np.nan), "In partition 1: y contains NaN"),
    "one class": (cut(X), cut(np.ones(60)), "only one class"),
    "labels of two types": (cut(X), cut(np.array([1, "a"] * 30, object)), "mixes labels"),
    "text in one partition and numbers in the others": (
        cut(X),
        [*cut(y[:40], 2), *cut(y[40:].astype(str), 1)],
        "some partitions are numbers, such as 0, and of others text, such as '0'",
    ),
    "text in one item of a bag": (
        db.from_delayed([dask.delayed([X[:30], X[30:]])]),
        db.from_delayed([dask.delayed([y[:30], y[30:].astype(str)])]),
        "In partition 0: y mixes labels",
    ),
    "two columns of labels": (cut(X), cut(np.column_stack([y, y])), r"In partition \d: y should be a 1d array"),
    "one dimension": (da.from_array(X[:, 0], chunks=20), cut(y), "matrix of rows"),
    "strings in X": (cut(np.full((60, 4), "a")), cut(y), r"In partition \d: X holds text such as 'a'"),
    "complex numbers": (cut(X * 1j), cut(y), r"In partition \d: Complex"),
    "partitions of other widths": ([*cut(X[:40], 2), *cut(X[40:, :3], 1)], cut(y), "partition 2 has 3 features"),
    "a column that one partition lacks": (
        [
            dask.delayed(pd.DataFrame(X[:20], columns=list("abcd"))),
            dask.delayed(pd.DataFrame(X[20:, :3], columns=list("abd"))),
        ],
        [dask.delayed(y[:20]), dask.delayed(y[20:])],
        "partition 1 lacks column 'c', unlike partition 0",
    ),
    "columns in another order": (
        [
            dask.delayed(pd.DataFrame(X[:20], columns=list("abcd"))),
            dask.delayed(pd.DataFrame(X[20:], columns=list("abdc"))),
        ],
        [dask.delayed(y[:20]), dask.delayed(y[20:])],
        "partition 1 has the columns of partition 0 in another order",
    ),
    "no rows": ([dask.delayed(X[:0])], [dask.delayed(y[:0])], "no rows in any of its 1 partitions"),
    "a text column": (
        dd.from_pandas(pd.DataFrame({"a": ["x", "y"] * 30}), npartitions=3),
        dd.from_pandas(pd.Series(y), npartitions=3),
        r"In partition \d: column 'a' of X holds text",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_collections_are_refused(case):
    bad_X, bad_y, sentence = CASES[case]
    with pytest.raises(PegasosError, match=sentence):
        PegasosClassifier().fit(bad_X, bad_y)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lam": 0.0}, "lam must be a positive number"),
        ({"C": np.inf}, "C=inf"),
        ({"C": 1.0, "lam": 0.1}, "lam or C, not both"),
        ({"tol": -1.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"timeout": 0}, "timeout must be a positive number"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"class_weight": {0: 0.0, 1: 0.0}}, "class_weight is zero"),
        ({"classes": [1]}, "at least 2 classes"),
        ({"classes": [1, 2]}, "y contains 0"),
        ({"client": "tcp://localhost:8786"}, "client must be a dask.distributed.Client"),
        ({"loss": "log"}, "loss must be one of"),
        ({"start": 3}, "prior must be"),
    ],
)
def test_bad_settings_are_refused(settings, sentence):
    with pytest.raises(PegasosError, match=sentence):
        PegasosClassifier(**settings).fit(cut(X), cut(y))


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (spoilt(np.ones(60), 25, -1.0), "In partition 1: sample_weight must not be negative, got -1.0 for row 5"),
        (spoilt(np.ones(60), 25, np.nan), "In partition 1: sample_weight contains NaN"),
        (cut(np.zeros(60)), "zero for every row"),
        (cut(np.ones(60), 2), "sample_weight has 2 partitions and X has 3"),
        ([*cut(np.ones(40), 2), dask.delayed(np.ones(3))], r"In partition 2: sample_weight must have shape \(20,\)"),
        (np.ones(60), "sample_weight must be a dask array"),
    ],
)
def test_bad_weights_are_refused(weights, sentence):
    with pytest.raises(PegasosError, match=sentence):
        PegasosClassifier().fit(cut(X), cut(y), weights)


def test_a_regression_is_refused_as_scikit_learn_does_it():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        PegasosClassifier().fit(cut(X), cut(X[:, 0]))


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="not fitted"):
        PegasosClassifier().predict(cut(X))


def test_a_failed_fit_leaves_the_last_model():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(cut(X), cut(y))
    coef = model.coef_.copy()
    with pytest.raises(PegasosError):
        model.fit(cut(X), spoilt(y, 3, np.nan))
    assert np.array_equal(model.coef_, coef)
    assert model.predict(cut(X)).compute().shape == (60,)


def test_other_features_than_those_of_the_fit_are_refused():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(cut(X), cut(y))
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(cut(X[:, :3])).compute()


def test_a_row_that_counts_and_has_no_class_is_refused_and_one_without_weight_is_not():
    plan = Plan(OneVsRest.of([0, 5]), Terms(1.0, 1.0, False, 60.0), None, 1.0, (60.0,), (1.0,))
    weights = np.where(y == 1, 0.0, 1.0)
    block = read(0, X, y, weights, Reading(1.0))
    assert set(code(block, (plan,)).target) == {0, -1}
    with pytest.raises(PegasosError, match="y contains 1, which is not in the classes"):
        code(replace(block, weights=None), (plan,))
