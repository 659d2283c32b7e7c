"""Regressors and one-class machines in the formats of others, read back by a few lines that share no code."""

import numpy as np
import pytest

from pegasos import (
    KernelPegasosOneClass,
    KernelPegasosRegressor,
    PegasosError,
    PegasosOneClass,
    PegasosRegressor,
    PegasosRegressorCV,
)
from pegasos.export import to_liblinear, to_libsvm, to_onnx

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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "model",
    [
        PegasosRegressor(1e-3),
        PegasosRegressorCV(3, cv=3, random_state=0),
        KernelPegasosRegressor(gamma=0.3, C=10.0, regularize_intercept=False),
        KernelPegasosRegressor(prior=([1.0, 0.0, 0.0], 0.5), C=10.0),
        PegasosOneClass(nu=0.8),
        KernelPegasosOneClass(gamma=0.3, nu=0.2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_onnx_files_have_the_same_answers(model, dtype, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    is_regressor = "Regressor" in type(model).__name__
    for y in (Y, np.column_stack([Y, -Y])) if is_regressor and getattr(model, "prior", None) is None else (Y,):
        model.fit(X, y)
        to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
        outputs = [output.name for output in session.get_outputs()]
        found = dict(zip(outputs, session.run(outputs, {"X": X.astype(dtype)}), strict=True))
        scores = model.predict(X) if is_regressor else model.decision_function(X)
        given = found["prediction" if is_regressor else "scores"]
        assert given.shape == scores.shape
        exact = 1e-4 if dtype == np.float32 else 1e-9
        np.testing.assert_allclose(given, scores, rtol=0, atol=exact * np.abs(scores).max())
        if not is_regressor:
            clear = np.abs(scores) > 1e-3 * np.abs(scores).max()
            np.testing.assert_array_equal(found["label"][clear], model.predict(X)[clear])


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"loss": "squared_epsilon_insensitive"}])
def test_liblinear_files_of_regressors_have_the_same_predictions(settings, tmp_path):
    model = PegasosRegressor(1e-3, **settings).fit(X, Y)
    to_liblinear(model, tmp_path / "model")
    head, _, body = (tmp_path / "model").read_text("utf8").partition("w\n")
    keys = dict(line.split(" ", 1) for line in head.splitlines())
    weights = np.array([float(line) for line in body.splitlines()])
    bias = float(keys["bias"])
    assert keys["solver_type"] == ("L2R_L2LOSS_SVR_DUAL" if "loss" in settings else "L2R_L1LOSS_SVR_DUAL")
    assert keys["nr_class"] == "2"
    rows = np.column_stack([X, np.full(len(X), bias)]) if bias >= 0.0 else X
    np.testing.assert_allclose(rows @ weights, model.predict(X), atol=1e-12)


def test_liblinear_refuses_several_targets_and_kernels(tmp_path):
    with pytest.raises(PegasosError, match="one number, and this model 2"):
        to_liblinear(PegasosRegressor().fit(X, np.column_stack([Y, Y])), tmp_path / "model")
    with pytest.raises(PegasosError, match="linear models only"):
        to_liblinear(KernelPegasosRegressor().fit(X, Y), tmp_path / "model")
