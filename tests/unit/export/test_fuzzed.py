"""Whatever a file contains, reading it gives a model or an error message."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pegasos import PegasosError
from pegasos.export import from_json, from_liblinear, from_libsvm, read_model, to_json, to_liblinear, to_libsvm
from tests.unit.export.models import model_of
from tests.unit.export.test_liblinear import GOOD as LIBLINEAR
from tests.unit.export.test_libsvm import GOOD as LIBSVM

JSON = to_json(model_of("linear, two"))
SEEDS = {from_liblinear: LIBLINEAR, from_libsvm: LIBSVM, from_json: JSON}
WORDS = [
    *("0", "-1", "1", "2", "3", "nan", "1e308", "1e-400", "99999999999999999999", "1.5", "1:1", "0:1", ":"),
    *("w", "SV", "label", "linear", "precomputed", "MCSVM_CS", "[]", "{}", "null", "true", '"'),
    *("\n", "\r", " ", "\x85", "\x00", "é"),
]


def reads_or_says_why(reader, content, path):
    path.write_bytes(content)
    sentence = "."
    try:
        model = reader(path)
    except PegasosError as error:
        model, sentence = None, str(error)
    assert sentence.endswith(".")
    assert len(sentence) < 1000
    if model is not None and 1 <= model.n_features_in_ < 100:
        with np.errstate(all="ignore"):
            assert len(model.predict(np.ones((2, model.n_features_in_)))) == 2


@st.composite
def mutated(draw, text):
    """A file with a few places changed."""
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 12)))
        text = text[:begin] + draw(st.sampled_from(WORDS) | st.text(max_size=3)) + text[end:]
    return text.encode("utf8", "surrogatepass")


@pytest.mark.parametrize("reader", SEEDS)
@settings(max_examples=100)
@given(data=st.data())
def test_a_mutated_file_is_read_or_refused(reader, data, tmp_path_factory):
    reads_or_says_why(reader, data.draw(mutated(SEEDS[reader])), tmp_path_factory.getbasetemp() / "mutated")


@settings(max_examples=50)
@given(content=st.binary(max_size=200))
@example(content=b"svm_type")
@example(content=b"solver_type")
@example(content=b"{")
@example(content=b"{}")
def test_any_bytes_are_read_or_refused(content, tmp_path_factory):
    reads_or_says_why(read_model, content, tmp_path_factory.getbasetemp() / "bytes")


def test_the_files_that_are_mutated_are_good(tmp_path):
    to_liblinear(model_of("linear, rest"), tmp_path / "a")
    to_libsvm(model_of("rbf, two"), tmp_path / "b")
    for reader, text in SEEDS.items():
        (tmp_path / "c").write_text(text)
        assert reader(tmp_path / "c").classes_.tolist() in ([-1, 1], [-2, 5])
    assert read_model(tmp_path / "a").classes_.tolist() == [-3, 7, 10]
    assert read_model(tmp_path / "b").classes_.tolist() == [-2, 5]
