"""ONNX graphs of whole pipelines: scikit-learn's steps and the machine give what the pipeline gives."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import pegasos
from pegasos import AutoPegasos, KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.export import to_onnx

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*:DeprecationWarning", "ignore:.*:FutureWarning", "ignore::UserWarning"
)

X, Y = load_iris(return_X_y=True)
WORDS = ["Cheap pills now", "dear friend, hello there", "cheap PILLS cheap", "meeting at noon", "hello noon meeting"]
TEXTS, SPAM = WORDS * 8, ["spam", "ham", "spam", "ham", "ham"] * 8


def run(proto, inputs):
    names = [output.name for output in proto.graph.output]
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    return dict(zip(names, session.run(names, inputs), strict=True))


@pytest.mark.parametrize(
    "machine", [PegasosClassifier(lam=1e-3), KernelPegasosClassifier(C=1.0, multi_class="ovo", probability=True)]
)
def test_a_scaler_and_a_machine(machine):
    pipeline = make_pipeline(StandardScaler(), machine).fit(X, Y)
    found = run(to_onnx(pipeline, dtype=np.float64), {"X": X})
    assert (found["label"] == pipeline.predict(X)).all()
    np.testing.assert_allclose(found["scores"], pipeline.decision_function(X), rtol=1e-5, atol=1e-5)
    if machine.probability:
        np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(X), atol=1e-5)


def test_text_from_strings_to_labels(tmp_path):
    pipeline = make_pipeline(TfidfVectorizer(), PegasosClassifier(lam=1e-3)).fit(TEXTS, SPAM)
    proto = to_onnx(pipeline, tmp_path / "text.onnx", example=TEXTS[:2])
    found = run(proto, {"X": np.array(WORDS)})
    assert found["label"].tolist() == pipeline.predict(WORDS).tolist()
    np.testing.assert_allclose(found["scores"], pipeline.decision_function(WORDS), atol=1e-5)
    assert (tmp_path / "text.onnx").read_bytes() == proto.SerializeToString()
    facts = {entry.key: entry.value for entry in proto.metadata_props}
    assert float(facts["gap"]) == pipeline[-1].certificate_.gap


def test_a_frame_of_mixed_columns_has_an_input_for_each():
    frame = pd.DataFrame({"age": X[:, 0], "size": X[:, 1], "city": np.where(X[:, 2] > 3, "Oslo", "Rome")})
    columns = ColumnTransformer([("n", StandardScaler(), ["age", "size"]), ("c", OneHotEncoder(), ["city"])])
    pipeline = make_pipeline(columns, PegasosClassifier(lam=1e-3)).fit(frame, Y)
    proto = to_onnx(pipeline, example=frame)
    assert [each.name for each in proto.graph.input] == ["age", "size", "city"]
    inputs = {name: frame[[name]].to_numpy() for name in frame}
    inputs = {name: each.astype(np.float32 if each.dtype.kind == "f" else object) for name, each in inputs.items()}
    found = run(proto, inputs)
    assert (found["label"] == pipeline.predict(frame)).all()
    np.testing.assert_allclose(found["scores"], pipeline.decision_function(frame), rtol=1e-3, atol=1e-4)


def test_a_search_returns_its_best_estimator():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PegasosClassifier()), {"pegasosclassifier__lam": [1e-3, 1e-1]}
    )
    search.fit(X, Y)
    assert (run(to_onnx(search), {"X": X.astype(np.float32)})["label"] == search.predict(X)).all()
    auto = AutoPegasos(time_budget=1.0, random_state=0).fit(X, Y)
    assert (run(to_onnx(auto, dtype=np.float64), {"X": X})["label"] == auto.predict(X)).mean() > 0.99


def test_a_search_over_the_columns_of_a_frame_has_an_input_for_each(tmp_path):
    frame = pd.DataFrame({"length": X[:, 2], "color": np.where(X[:, 0] > 5.8, "red", "blue")})
    frame["note"] = [f"petal is {'long' if wide > 1.0 else 'short'} here" for wide in X[:, 3]]
    auto = AutoPegasos(time_budget=None, n_trials=2, cv=2, random_state=0).fit(frame, Y)
    auto.save(tmp_path / "auto.pegasos")
    proto = to_onnx(pegasos.load(tmp_path / "auto.pegasos"), example=frame)
    inputs = {name: frame[[name]].to_numpy() for name in frame}
    inputs = {name: each.astype(np.float32 if each.dtype.kind == "f" else object) for name, each in inputs.items()}
    assert (run(proto, inputs)["label"] == auto.predict(frame)).mean() > 0.99


def test_what_cannot_be_written_is_named():
    with pytest.raises(PegasosError, match="example="):
        to_onnx(make_pipeline(TfidfVectorizer(), PegasosClassifier()).fit(TEXTS, SPAM))
    own = make_pipeline(FunctionTransformer(np.log1p), PegasosClassifier()).fit(X, Y)
    with pytest.raises(PegasosError, match="skl2onnx has no form"):
        to_onnx(own)
