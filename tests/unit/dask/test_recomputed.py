"""What a fit on partitions states, computed again from the collected rows; rows from an object store by URL."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import pegasos
from pegasos.dask import PegasosClassifier
from pegasos.solvers import partitioned_newton


@pytest.fixture(autouse=True)
def _in_this_thread(monkeypatch):
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)  # data as small as this would be gathered as a whole
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n_classes):
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 5)) * [1.0, 100.0, 0.01, 1.0, 1.0]
    return X, (X[:, :1] + random.normal(size=(900, n_classes))).argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("is_free", [False, True])
def test_the_certificate_agrees_with_one_from_the_collected_rows(n_classes, is_free):
    X, y = data(n_classes)
    cut = [[dask.delayed(part) for part in np.array_split(column, 4)] for column in (X, y)]
    settings = {"lam": 1e-3, "regularize_intercept": not is_free, "random_state": 0}
    model = PegasosClassifier(**settings, tol=1e-5).fit(*cut)
    exact = pegasos.PegasosClassifier(**settings, tol=1e-9).fit(X, y)
    signs = [np.where(y == k, 1.0, -1.0) for k in ([1] if n_classes == 2 else range(3))]
    parts = zip(model.certificate_.parts, exact.certificate_.parts, signs, model.coef_, model.intercept_, strict=True)
    for part, best, sign, coef, intercept in parts:
        square = coef @ coef + (0.0 if is_free else intercept**2)
        primal = 0.5e-3 * square + np.maximum(0.0, 1.0 - sign * (X @ coef + intercept)).mean()
        assert part.primal == pytest.approx(primal, rel=1e-10)
        assert part.relative_gap <= 1e-5
        assert part.dual <= best.primal
        assert best.dual <= part.primal


def test_files_of_an_object_store_are_read_by_url():
    X, y = data(2)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    for k, part in enumerate(np.array_split(np.arange(900), 3)):
        frame.iloc[part].to_parquet(f"memory://pegasos/rows/{k}.parquet")
    there = dd.read_parquet("memory://pegasos/rows/*.parquet")
    model = PegasosClassifier(lam=1e-3, random_state=0).fit(there[list("abcde")], there["y"])
    assert model.n_partitions_ == 3
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.certificate_.relative_gap <= 1e-3
