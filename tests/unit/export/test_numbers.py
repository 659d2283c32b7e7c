"""Regressors and one-class machines as model files of LIBSVM, read back by a few lines that share no code."""

import numpy as np
import pytest

from pegasos import KernelPegasosOneClass, KernelPegasosRegressor, PegasosError, PegasosRegressor
from pegasos.export import to_libsvm

X = np.random.default_rng(0).normal(size=(50, 3))
Y = X[:, 0] - 2.0 * X[:, 1] + 3.0


def scores_of(path, rows):
    """What svm-predict computes: sum_j coef_j k(z_j, x) - rho."""
    head, _, body = path.read_text("utf8").partition("SV\n")
    keys = dict(line.split(" ", 1) for line in head.splitlines())
    coefficients, vectors = [], []
    for line in body.splitlines():
        coefficient, *entries = line.split()
        coefficients.append(float(coefficient))
        vectors.append(np.zeros(rows.shape[1]))
        for entry in entries:
            index, value = entry.split(":")
            vectors[-1][int(index) - 1] = float(value)
    assert int(keys["total_sv"]) == len(vectors)
    if keys["kernel_type"] == "linear":
        K = rows @ np.array(vectors).T
    else:
        K = np.exp(-float(keys["gamma"]) * ((rows[:, None] - np.array(vectors)) ** 2).sum(axis=2))
    return keys["svm_type"], K @ coefficients - float(keys["rho"])


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (PegasosRegressor(1e-3), "epsilon_svr"),
        (KernelPegasosRegressor(gamma=0.3, C=10.0, regularize_intercept=False), "epsilon_svr"),
        (KernelPegasosOneClass(gamma=0.3, nu=0.2), "one_class"),
    ],
)
def test_libsvm_files_have_the_same_scores(model, kind, tmp_path):
    model.fit(X, Y)
    to_libsvm(model, tmp_path / "model")
    found, scores = scores_of(tmp_path / "model", X)
    assert found == kind
    mine = model.predict(X) if kind == "epsilon_svr" else model.decision_function(X)
    assert scores == pytest.approx(mine, abs=1e-10)


def test_what_the_format_cannot_hold_is_refused(tmp_path):
    with pytest.raises(PegasosError, match="LIBSVM predicts one number, and this model 2"):
        to_libsvm(PegasosRegressor().fit(X, np.column_stack([Y, Y])), tmp_path / "model")
    with pytest.raises(PegasosError, match="adds a prior"):
        to_libsvm(KernelPegasosRegressor(prior=([1.0, 0.0, 0.0], 0.0)).fit(X, Y), tmp_path / "model")
