"""Plain JSON: enough to predict with in ten lines of any language."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.export import from_json, from_sklearn, read_model, to_json
from pegasos.kernels import Spectrum
from tests.unit.export.models import CODES, MODELS, NEW, NUMBERS, PAIR, X, model_of

PLAIN = [name for name in MODELS if name not in ("algebra", "kernel on a prior", "kernel on a kernel")]
GUIDE = Path(__file__).parents[3] / "docs" / "exports.md"


@pytest.mark.parametrize("name", PLAIN)
def test_a_model_read_back_is_the_same(name, tmp_path):
    model = model_of(name)
    text = to_json(model, tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text() == text + "\n"
    for again in (from_json(text), read_model(tmp_path / "model.json")):
        assert again.predict(NEW).tolist() == model.predict(NEW).tolist()
        np.testing.assert_allclose(again.decision_function(NEW), model.decision_function(NEW), rtol=0, atol=1e-12)
        if name.startswith("probability"):
            np.testing.assert_allclose(again.predict_proba(NEW), model.predict_proba(NEW), atol=1e-12)
    assert to_json(again).split('"problem"')[0] == text.split('"problem"')[0]


@pytest.mark.parametrize("weights", ["balanced", {2: 5.0, 0: 0.5}], ids=str)
def test_the_class_weights_of_a_model_that_was_read_are_handed_on(weights):
    read = from_sklearn(SVC(class_weight=weights).fit(X, CODES))
    again = from_json(to_json(read))
    assert again.certify(X, CODES) == read.certify(X, CODES)
    assert again.class_weight == ("balanced" if weights == "balanced" else {0: 0.5, 1: 1.0, 2: 5.0})


@pytest.mark.parametrize(
    "name",
    ["linear, two", "linear, two, free", "linear, rest", "linear, pairs", "linear, joint", "rbf, two", "rbf, pairs"],
)
def test_a_model_read_back_is_certified_as_it_was(name):
    model = model_of(name)
    y = PAIR if len(model.classes_) == 2 else NUMBERS
    proof = from_json(to_json(model)).certify(X, y)
    assert proof.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert proof.relative_gap < 2e-3


def test_costs_of_classes_are_kept():
    model = PegasosClassifier(lam=0.01, class_weight="balanced").fit(X, PAIR)
    again = from_json(to_json(model))
    assert again.certify(X, PAIR).primal == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_names_of_features_are_kept():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    again = from_json(to_json(PegasosClassifier(lam=0.1).fit(frame, PAIR)))
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["b", "a", "c", "d"]])


def test_the_certificate_of_a_file_is_not_believed():
    described = json.loads(to_json(model_of("linear, two")))
    described["coef"][0][0] += 1.0
    proof = from_json(json.dumps(described)).certify(X, PAIR)
    assert proof.primal > described["certificate"]["primal"] * 1.01


def shown_lines(language):
    """The lines of the guide that predict."""
    return re.search(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf8"), re.DOTALL).group(1)


@pytest.mark.parametrize("name", ["linear, two", "linear, rest", "linear, joint", "names", "rbf, two", "rbf, rest"])
def test_the_lines_of_javascript_in_the_guide_predict_what_the_model_does(name, tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    to_json(model_of(name), tmp_path / "model.json")
    (tmp_path / "rows.json").write_text(json.dumps(NEW.tolist()))
    script = shown_lines("javascript") + (
        "\nconst rows = JSON.parse(fs.readFileSync('rows.json'));\nconsole.log(JSON.stringify(rows.map(predict)));\n"
    )
    (tmp_path / "predict.cjs").write_text(script)
    done = subprocess.run([node, "predict.cjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == model_of(name).predict(NEW).tolist()


def test_what_json_cannot_represent_is_refused_with_a_reason():
    strings = KernelPegasosClassifier(Spectrum(2), lam=0.1).fit(["abab", "cdcd"], [0, 1])
    for model, sentence in (
        (strings, "not a kernel of rows of numbers"),
        (model_of("algebra"), "use to_onnx"),
        (model_of("kernel on a prior"), "adds a prior to its own"),
        (KernelPegasosClassifier("precomputed", lam=0.1).fit(X @ X.T, PAIR), "precomputed kernel matrix"),
    ):
        with pytest.raises(PegasosError, match=sentence):
            to_json(model)


GOOD = json.loads(to_json(model_of("linear, rest")))
KERNEL = json.loads(to_json(model_of("rbf, two")))


@pytest.mark.parametrize(
    ("base", "changes", "sentence"),
    [
        (GOOD, {"format": "2"}, "format is not 'pegasos model 1'"),
        (GOOD, {"classes": [1]}, "two labels or more"),
        (GOOD, {"classes": [1, 2, "x"]}, "all strings or all numbers"),
        (GOOD, {"classes": [1, 3, 2]}, "sorted, each of them once"),
        (GOOD, {"classes": [[1], [2], [3]]}, "all strings or all numbers"),
        (GOOD, {"classes": [1, 2, 10**400]}, "classes must be sorted|too large"),
        (GOOD, {"classes": [-3, 7]}, r"intercept must be finite numbers of shape \(1,\), got float64 of \(3,\)"),
        (GOOD, {"multi_class": "one"}, "multi_class must be one of ovr, ovo, crammer_singer, got 'one'"),
        (GOOD, {"multi_class": []}, "multi_class must be one of"),
        (GOOD, {"n_features": 10**9}, r"coef must be finite numbers of shape \(3, 1000000000\)"),
        (GOOD, {"n_features": True}, "n_features must be a whole number"),
        (GOOD, {"coef": [[1.0], [2.0, 3.0]]}, "coef must be an array"),
        (GOOD, {"coef": "abc"}, "coef must be finite numbers"),
        (GOOD, {"intercept": [1.0, None, 2.0]}, "intercept must be finite numbers"),
        (GOOD, {"intercept": [10**400] * 3}, "intercept must be"),
        (GOOD, {"probability": 3}, "slopes must be finite"),
        (GOOD, {"problem": {"intercept": "odd"}}, "regularised, free or none, got 'odd'"),
        (GOOD, {"problem": {"lam": -1}}, "lam must be a positive number, got -1"),
        (GOOD, {"problem": {"lam": 1, "C": 1}}, "lam or C, not both"),
        (GOOD, {"problem": [1]}, "problem must be an object"),
        (GOOD, {"problem": {"class_weight": [1, -1, 1]}}, "class_weight must not be negative"),
        (GOOD, {"feature_names": ["a"]}, "feature_names must be 4 strings"),
        (KERNEL, {"kernel": {"name": "tanh"}}, "kernel must have a name, one of linear"),
        (KERNEL, {"kernel": {"name": ["rbf"]}}, "kernel must have a name"),
        (KERNEL, {"kernel": {"name": "rbf", "gamma": "x"}}, "the kernel has other parameters"),
        (KERNEL, {"kernel": {"name": "rbf", "gamma": 1.0, "colour": 1}}, "the kernel has other parameters"),
        (KERNEL, {"dual_coef": [[1.0]]}, r"dual_coef must be finite numbers of shape \(1, \d+\), got"),
        (KERNEL, {"support_vectors": 7}, "support_vectors must be finite numbers"),
        (KERNEL, {"intercept": [17.0]}, "call it free"),
    ],
)
def test_a_broken_file_is_refused_with_a_reason(base, changes, sentence):
    with pytest.raises(PegasosError, match=sentence):
        from_json(json.dumps(base | changes))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"format": "pegasos model 1",\n "classes": [1, 2,\n}', "the text, line 3: "),
        ('{"intercept": NaN}', "NaN is not a JSON number"),
        ('{"a":' * 100_000, "not the JSON of a model"),
        ('{"a": ' + "1" * 100_000 + "}", "not the JSON of a model|format is not"),
    ],
)
def test_what_is_not_json_is_refused_with_the_line(text, sentence):
    with pytest.raises(PegasosError, match=sentence):
        from_json(text)


def test_files_that_are_not_models_are_refused(tmp_path):
    for content, sentence in (
        (b"", "begins with ''"),
        (b"\xff\xfe{", "neither a model file of"),
        (b"PK\x03\x04", "read by pegasos.load"),
        (b"hello world", "begins with 'hello'"),
        (b"[1, 2]", "begins with"),
    ):
        (tmp_path / "model").write_bytes(content)
        with pytest.raises(PegasosError, match=sentence):
            read_model(tmp_path / "model")
    (tmp_path / "list.json").write_text("[1, 2]")
    with pytest.raises(PegasosError, match="format is not"):
        from_json(tmp_path / "list.json")
    (tmp_path / "bytes.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(PegasosError, match="not the JSON of a model"):
        from_json(tmp_path / "bytes.json")
    with pytest.raises(FileNotFoundError):
        read_model(tmp_path / "none")
    with pytest.raises(PegasosError, match="could not be read"):
        read_model(tmp_path)


def test_reading_may_name_another_lam(tmp_path):
    to_json(model_of("linear, two"), tmp_path / "model.json")
    model = read_model(tmp_path / "model.json", C=2.0)
    assert (model.C, model.certify(X, PAIR).relative_gap > 0.0) == (2.0, True)
    assert read_model(tmp_path / "model.json", lam=0.5).lam == 0.5
    assert len(CODES) == len(X)
