"""Regressors and one-class machines in the formats of others, read back by a few lines that share no code."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVR, LinearSVR, NuSVR, OneClassSVM

from pegasos import (
    KernelPegasosOneClass,
    KernelPegasosRegressor,
    PegasosError,
    PegasosOneClass,
    PegasosRegressor,
    PegasosRegressorCV,
)
from pegasos.export import (
    from_json,
    from_liblinear,
    from_libsvm,
    from_sklearn,
    read_model,
    to_json,
    to_liblinear,
    to_libsvm,
    to_onnx,
)

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


def answers(model, rows=X):
    return model.decision_function(rows) if "OneClass" in type(model).__name__ else model.predict(rows)


EVERY = [
    PegasosRegressor(1e-3, epsilon=0.3),
    PegasosRegressor(C=1.0, loss="squared_epsilon_insensitive", regularize_intercept=False),
    PegasosRegressor(1e-2, loss="quantile", quantile=0.8, intercept_scaling=3.0),
    PegasosRegressor(1e-2, loss="huber", delta=0.7, fit_intercept=False),
    PegasosRegressor(C=1.0, nu=0.4, regularize_intercept=False),
    KernelPegasosRegressor(gamma=0.3, C=10.0, regularize_intercept=False),
    KernelPegasosRegressor("poly", degree=2, C=1.0),
    PegasosOneClass(nu=0.8),
    KernelPegasosOneClass(gamma=0.3, nu=0.2),
]


@pytest.mark.parametrize("model", EVERY, ids=str)
def test_json_is_read_back_with_the_same_answers_and_problem(model, tmp_path):
    model.fit(X, Y)
    to_json(model, tmp_path / "model.json")
    same = read_model(tmp_path / "model.json")
    assert type(same) is type(model)
    np.testing.assert_allclose(answers(same), answers(model), rtol=0, atol=1e-12 * np.abs(answers(model)).max())
    if "OneClass" in type(model).__name__:
        assert same.nu == model.nu
        return
    found, mine = same.certify(X, Y), model.certify(X, Y)
    assert found.primal == pytest.approx(mine.primal, rel=1e-6 if model.nu is None else 1e-3)
    assert found.relative_gap <= 3e-3


def test_json_of_several_targets_is_read_back():
    model = KernelPegasosRegressor(gamma=0.3, C=1.0).fit(X, np.column_stack([Y, -Y]))
    same = from_json(to_json(model))
    np.testing.assert_allclose(same.predict(X), model.predict(X), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"predicts": "ranks"}, "predicts must be regression or one_class, got 'ranks'"),
        ({"intercept": []}, "one number for each target"),
        ({"coef": [[1.0]]}, "coef must be finite numbers of shape"),
        ({"problem": {"loss": "cubic"}}, "loss must be one of .*, got 'cubic'"),
        ({"problem": {"epsilon": -1.0}}, "epsilon must lie between 0 and inf, got '-1.0'"),
        ({"problem": {"quantile": 2.0}}, "quantile must lie between 0 and 1"),
        ({"problem": {"delta": "x"}}, "delta must lie"),
    ],
)
def test_json_that_is_damaged_says_where(change, sentence):
    found = json.loads(to_json(PegasosRegressor(1e-3).fit(X, Y))) | change
    with pytest.raises(PegasosError, match=sentence):
        from_json(json.dumps(found))


@pytest.mark.parametrize(
    "settings", [{}, {"fit_intercept": False}, {"loss": "squared_epsilon_insensitive"}, {"intercept_scaling": 4.0}]
)
def test_liblinear_files_of_regressors_are_read_back(settings, tmp_path):
    model = PegasosRegressor(1e-3, **settings).fit(X, Y)
    to_liblinear(model, tmp_path / "model")
    same = read_model(tmp_path / "model", lam=1e-3)
    np.testing.assert_allclose(same.predict(X), model.predict(X), atol=1e-12)
    assert same.loss == model.loss
    assert same.certify(X, Y).primal == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_liblinear_files_of_one_class_are_read_back(tmp_path):
    model = PegasosOneClass(nu=0.3).fit(X + 3.0)
    to_liblinear(model, tmp_path / "model")
    same = from_liblinear(tmp_path / "model")
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), atol=1e-12)
    assert same.offset_ == pytest.approx(model.offset_)
    with pytest.raises(PegasosError, match=r"lacks its nu and its unit: fit one here with PegasosOneClass\(nu"):
        same.certify(X + 3.0)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_liblinear_as_scikit_learn_has_it_predicts_and_is_certified(loss, tmp_path):
    rival = LinearSVR(C=0.5, epsilon=0.1, loss=loss, tol=1e-10, max_iter=1_000_000, random_state=0).fit(X, Y)
    kinds = ["L2R_L1LOSS_SVR_DUAL"] if loss == "epsilon_insensitive" else ["L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL"]
    weights = "\n".join(repr(float(w)) for w in [*rival.coef_, rival.intercept_[0]])
    for kind in kinds:
        path = tmp_path / kind
        path.write_text(f"solver_type {kind}\nnr_class 2\nnr_feature 3\nbias 1\nw\n{weights}\n", "ascii")
        for same in (from_liblinear(path, C=0.5), from_sklearn(rival)):
            np.testing.assert_allclose(same.predict(X), rival.predict(X), rtol=1e-12)
            assert 0.0 <= same.certify(X, Y).relative_gap < 2e-3


def libsvm_file(path, kind, rival, gamma):
    """What svm-train writes."""
    lines = [f"svm_type {kind}", "kernel_type rbf", f"gamma {gamma!r}", "nr_class 2", f"total_sv {len(rival.support_)}"]
    lines += [f"rho {-float(rival.intercept_[0])!r}", "SV"]
    for coefficient, row in zip(rival.dual_coef_[0], rival.support_vectors_, strict=True):
        lines.append(" ".join([repr(float(coefficient)), *(f"{j}:{float(v)!r}" for j, v in enumerate(row, 1))]))
    path.write_text("\n".join(lines) + "\n", "ascii")


@pytest.mark.parametrize("kind", ["epsilon_svr", "nu_svr", "one_class"])
def test_libsvm_as_scikit_learn_has_it_predicts_and_is_certified(kind, tmp_path):
    exact = {"gamma": 0.3, "tol": 1e-8}
    rivals = {"epsilon_svr": SVR(C=2.0, **exact), "nu_svr": NuSVR(C=2.0, nu=0.4, **exact)}
    rival = rivals.get(kind, OneClassSVM(nu=0.2, **exact)).fit(X, Y)
    libsvm_file(tmp_path / "model", kind, rival, 0.3)
    theirs = rival.decision_function(X) if kind == "one_class" else rival.predict(X)
    read, taken = from_libsvm(tmp_path / "model", C=2.0), from_sklearn(rival)
    for same in (read, taken):
        np.testing.assert_allclose(answers(same), theirs, atol=1e-10)
    if kind == "one_class":
        assert np.array_equal(read.predict(X), rival.predict(X))
        assert taken.nu == 0.2
    elif kind == "nu_svr":
        assert 0.0 <= taken.certify(X, Y).relative_gap < 2e-3
    else:
        for same in (read, taken):
            assert 0.0 <= same.certify(X, Y).relative_gap < 2e-3


@pytest.mark.parametrize("model", [EVERY[5], EVERY[8]], ids=str)
def test_libsvm_files_of_kernels_are_read_back(model, tmp_path):
    rows = sp.csr_array(X)
    model.fit(rows, Y)
    to_libsvm(model, tmp_path / "model")
    same = read_model(tmp_path / "model", n_features=3)
    np.testing.assert_allclose(answers(same, rows), answers(model, rows), atol=1e-12)
