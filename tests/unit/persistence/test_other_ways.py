"""Pickle, joblib and skops keep models too."""

import io
import pickle
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from tests.unit.persistence.mutations import sources


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(sources())


def assert_same(loaded, model, rows):
    says = "decision_function" if hasattr(model, "decision_function") else "predict"
    np.testing.assert_array_equal(getattr(loaded, says)(rows), getattr(model, says)(rows))


def test_pickles_predict_the_same(models):
    for model, rows, _ in models:
        assert_same(pickle.loads(pickle.dumps(model)), model, rows)


def test_files_of_joblib_predict_the_same(models):
    for model, rows, _ in models:
        file = io.BytesIO()
        joblib.dump(model, file)
        file.seek(0)
        assert_same(joblib.load(file), model, rows)


def test_skops_asks_for_trust_in_nothing_but_our_own_classes(models):
    skops = pytest.importorskip("skops.io")
    for number in (2, 5, 16):
        model, rows, _ = models[number]
        stored = skops.dumps(model)
        untrusted = skops.get_untrusted_types(data=stored)
        # The form that the user's own rows came in; skops knows csr_matrix, but not this one.
        allowed = {"scipy.sparse._csr.csr_array"} if sp.issparse(getattr(model, "support_vectors_", None)) else set()
        assert all(name.startswith("pegasos.") for name in {*untrusted} - allowed), untrusted
        assert_same(skops.loads(stored, trusted=untrusted), model, rows)
