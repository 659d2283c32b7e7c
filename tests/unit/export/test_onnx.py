"""ONNX graphs say what the models say, as onnxruntime computes them."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.export import to_onnx
from pegasos.kernels import RBF, Spectrum
from tests.unit.export.models import CODES, MODELS, NEW, PAIR, X, model_of

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")


def answers(proto, rows):
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", MODELS)
def test_the_graph_gives_scores_labels_and_probabilities_of_the_model(name, dtype):
    model, rows = model_of(name), NEW.astype(dtype)
    found = answers(to_onnx(model, dtype=dtype), rows)
    exact = 1e-5 if dtype == np.float32 else 1e-9
    decisions = model.decision_function(rows.astype(np.float64))
    size = max(1.0, np.abs(decisions).max())
    assert found["scores"].dtype == dtype
    assert found["scores"].shape == decisions.shape
    np.testing.assert_allclose(found["scores"], decisions, rtol=0, atol=exact * size)
    assert found["label"].tolist() == model.predict(rows).tolist()
    assert ("probabilities" in found) == name.startswith("probability")
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=0, atol=exact)


def test_any_number_of_rows_will_do():
    proto = to_onnx(model_of("rbf, pairs"))
    whole = answers(proto, NEW.astype(np.float32))["label"]
    assert answers(proto, NEW[:1].astype(np.float32))["label"].tolist() == whole[:1].tolist()
    assert len(answers(proto, np.empty((0, 4), np.float32))["label"]) == 0


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [1.0, 2.0], [np.uint8(3), np.uint8(200)]])
def test_labels_keep_their_kind(labels):
    y = np.array(labels)[(CODES == 0).astype(int)]
    model = PegasosClassifier(lam=0.01, random_state=0).fit(X, y)
    assert answers(to_onnx(model), NEW.astype(np.float32))["label"].tolist() == model.predict(NEW).tolist()


def test_the_file_says_how_good_the_model_is(tmp_path):
    model = model_of("linear, two")
    to_onnx(model, tmp_path / "model.onnx")
    facts = {entry.key: entry.value for entry in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert float(facts["primal"]) == model.certificate_.primal
    assert float(facts["dual"]) == model.certificate_.dual
    assert float(facts["relative_gap"]) == model.certificate_.relative_gap
    assert facts["certificate"].startswith("certified: ")
    assert facts["written_by"].startswith("pegasos ")


def test_support_vectors_of_sparse_rows_are_written_out():
    model = KernelPegasosClassifier(RBF(0.5), C=1.0, random_state=0).fit(sp.csr_array(X), PAIR)
    found = answers(to_onnx(model, dtype="float64"), NEW)
    np.testing.assert_allclose(found["scores"], model.decision_function(NEW), atol=1e-9)


def test_rows_far_from_zero_lose_little_in_single_precision():
    model = KernelPegasosClassifier(RBF(0.5), C=1.0, random_state=0).fit(X + 100.0, PAIR)
    rows = (NEW + 100.0).astype(np.float32)
    found = answers(to_onnx(model), rows)
    np.testing.assert_allclose(found["scores"], model.decision_function(rows.astype(np.float64)), atol=3e-5)


def test_what_has_no_graph_is_refused_with_a_reason(tmp_path):
    strings = KernelPegasosClassifier(Spectrum(2), lam=0.1).fit(["abab", "cdcd"], [0, 1])
    own = KernelPegasosClassifier(lambda x, z: float(x @ z), lam=0.1).fit(X, PAIR)
    matrix = KernelPegasosClassifier("precomputed", lam=0.1).fit(X @ X.T, PAIR)
    cosine = KernelPegasosClassifier(RBF(0.5).normalized(), lam=0.1).fit(X, PAIR)
    for model, sentence in (
        (strings, "not a kernel of rows of numbers"),
        (own, "not a kernel of rows of numbers"),
        (matrix, "precomputed kernel matrix holds no support vectors"),
        (cosine, "has no ONNX form"),
        (PegasosClassifier(), "not fitted"),
        (PegasosClassifier, "only fitted models of pegasos"),
    ):
        with pytest.raises(PegasosError, match=sentence):
            to_onnx(model, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()
    with pytest.raises(PegasosError, match="float32 or float64, got 'float16'"):
        to_onnx(model_of("linear, two"), dtype="float16")
    with pytest.raises(PegasosError, match="could not be written"):
        to_onnx(model_of("linear, two"), tmp_path / "missing" / "model.onnx")


def test_numbers_that_single_precision_cannot_hold_are_refused():
    model = PegasosClassifier(lam=0.01, random_state=0).fit(X, PAIR)
    model.coef_ = model.coef_ * 1e60
    with pytest.raises(PegasosError, match="float32 cannot hold; use dtype='float64'"):
        to_onnx(model)


def test_without_onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "pegasos\[onnx\]"'):
        to_onnx(model_of("linear, two"))
