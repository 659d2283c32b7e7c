"""Real data: every default fit ends with the proof that was requested. Needs the folder named by PEGASOS_DATA."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from pegasos import PegasosClassifier

FOLDER = os.environ.get("PEGASOS_DATA")
pytestmark = pytest.mark.skipif(not FOLDER, reason="PEGASOS_DATA does not name a folder with the data sets")


def read(name):
    with np.load(Path(FOLDER) / f"{name}.npz", allow_pickle=False) as archive:
        if "indptr" in archive:
            parts = (archive["data"].astype(np.float32), archive["indices"], archive["indptr"])
            return sp.csr_matrix(parts, shape=tuple(archive["shape"])), archive["y"]
        return archive["X"].astype(np.float32), archive["y"]


def rows_and_signs(name):
    rows, labels = read(name)
    if name == "covtype":
        return np.ascontiguousarray(rows / np.abs(rows).max(axis=0)), labels == 2
    if name == "fashion_mnist":
        return rows / np.float32(255), np.isin(labels, [0, 2, 4, 6])
    if name == "reuters21578":
        return sp.csr_matrix(TfidfTransformer().fit_transform(rows), dtype=np.float32), labels > 0
    return rows, labels > 0


@pytest.mark.parametrize("lam", [1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize(
    "name",
    [
        "a9a",
        "w8a",
        "reuters21578",
        pytest.param("covtype", marks=pytest.mark.slow),
        pytest.param("fashion_mnist", marks=pytest.mark.slow),
    ],
)
def test_the_default_fit_is_certified(name, lam):
    rows, signs = rows_and_signs(name)
    model = PegasosClassifier(lam=lam, random_state=0).fit(rows, signs)
    assert model.certificate_.relative_gap <= 1e-3
    again, certificate = model.certify(rows, signs), model.certificate_
    assert (again.primal, again.dual, again.rounding) == (certificate.primal, certificate.dual, certificate.rounding)
    assert again.weight_radius == pytest.approx(certificate.weight_radius, rel=1e-9)  # from norms in double


def test_the_published_accuracy_of_a9a_is_reached():
    rows, signs = rows_and_signs("a9a")
    with np.load(Path(FOLDER) / "a9a.npz", allow_pickle=False) as archive:
        train = archive["split"] == 0
    model = PegasosClassifier(random_state=0).fit(rows[train], signs[train])
    assert model.score(rows[~train], signs[~train]) > 0.845
