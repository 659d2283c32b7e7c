"""Models of LIBLINEAR and LIBSVM on real data, read and certified. Needs the folder named by PEGASOS_DATA."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pegasos.export import read_model
from tests.agreement.test_real_data import pytestmark as needs_data
from tests.agreement.test_real_data import read

liblinearutil = pytest.importorskip("liblinear.liblinearutil")
svmutil = pytest.importorskip("libsvm.svmutil")
pytestmark = needs_data


def entries(rows):
    """Index and value of each entry, numbered from 1."""
    dense = np.asarray(rows.todense()) if hasattr(rows, "todense") else rows
    return [{j + 1: row[j] for j in np.flatnonzero(row).tolist()} for row in dense.astype(np.float64)]


@pytest.mark.parametrize(("precision", "most"), [(0.1, 0.1), (1e-3, 0.01)])
def test_the_default_precision_of_liblinear_is_seen_in_its_certificate(precision, most, tmp_path):
    rows, labels = read("a9a")
    rows, y = rows[:8000], labels[:8000].astype(int)
    model = liblinearutil.train(y.tolist(), entries(rows), f"-q -s 3 -B 1 -c 1 -e {precision}")
    liblinearutil.save_model(str(tmp_path / "model"), model)
    ours = read_model(tmp_path / "model", C=1.0)
    theirs, _, _ = liblinearutil.predict([], entries(rows[:500]), model, "-q")
    width = ours.n_features_in_
    assert ours.predict(rows[:500, :width]).tolist() == theirs
    assert 0.0 <= ours.certify(rows[:, :width], y).relative_gap < most


def test_the_default_model_of_libsvm_is_nearly_the_best(tmp_path):
    rows, labels = read("satimage")
    rows, y = rows[:1500] / np.float32(255), labels[:1500].astype(int)
    with threadpool_limits(1):
        model = svmutil.svm_train(y.tolist(), entries(rows), "-q -c 10 -g 1")
        svmutil.svm_save_model(str(tmp_path / "model"), model)
        theirs, _, _ = svmutil.svm_predict([], entries(rows[:300]), model, "-q")
    ours = read_model(tmp_path / "model", C=10.0, n_features=rows.shape[1])
    assert (ours.predict(rows[:300]) == theirs).mean() > 0.99
    assert 0.0 <= ours.certify(rows, y).relative_gap < 5e-3
