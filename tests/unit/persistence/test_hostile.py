"""Untrusted model files: an error message, never a crash, a hang or an unexpected exception."""

import json
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError, archive
from pegasos.kernels import Spectrum, WeisfeilerLehman
from tests.unit.persistence.mutations import X, packed_models, tampered, three, two, use, words


@pytest.fixture(scope="module")
def packed():
    return packed_models()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.pegasos"
    PegasosClassifier(lam=1e-2, solver="pegasos", tol=None, max_iter=2, random_state=0).fit(X, two).save(path)
    return path


def stored(path):
    found = archive.read(path, "model")
    return found.values, found.arrays


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_file_that_was_tampered_with_is_refused_or_harmless(packed, data):
    def choose(n):
        return data.draw(st.integers(0, n - 1))

    model, arrays, rows, labels = packed[choose(len(packed))]
    changed, arrays = tampered(model, arrays, choose)
    use(changed, arrays, rows, labels)


def test_what_was_not_tampered_with_can_be_used(packed):
    assert all(use(*each) for each in packed)


@given(st.data())
def test_a_damaged_file_is_refused_or_reads_as_it_was(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "model.pegasos"
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, two)
    model.save(path)
    raw = bytearray(path.read_bytes())
    place = int(len(raw) * data.draw(st.floats(0.0, 1.0, exclude_max=True)))
    if data.draw(st.booleans()):
        raw[place] ^= data.draw(st.integers(1, 255))
    else:
        del raw[place:]
    path.write_bytes(raw)
    try:
        loaded = pegasos.load(path)
    except PegasosError:
        return
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda values: values.update(layout=2), "its layout is 2, and this version of pegasos reads 1"),
        (lambda values: values["model"].update(name="os"), "names a class that this version .* 'os'"),
        (lambda values: values["model"].update(name="StandardScaler"), "no parameter"),
        (lambda values: values["model"]["parameters"].update(lam=-1.0), "lam must be a positive number, got -1.0"),
        (lambda values: values["model"]["parameters"].update(colour=1), "no parameter 'colour'"),
        (lambda values: values["model"]["fitted"].update(predict=1), "no attribute 'predict'"),
        (lambda values: values["model"]["fitted"].pop("coef_"), "it lacks coef_"),
        (lambda values: values["model"]["fitted"].pop("trace_"), "it lacks trace_"),
        (lambda values: values["model"]["fitted"].update(coef_="alpha"), "coef_ is not an array of its type"),
        (lambda values: values["model"]["fitted"].update(n_features_in_=4), "does not fit the rest"),
        (lambda values: values["model"]["parameters"].update(n_jobs=2**63), "n_jobs must be None or a whole number"),
        (lambda values: values.pop("model"), "the model is not a model"),
    ],
)
def test_what_is_wrong_is_named_in_the_error(path, change, sentence):
    values, arrays = stored(path)
    change(values)
    archive.write(path, "model", values, arrays)
    with pytest.raises(PegasosError, match=sentence) as caught:
        pegasos.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("pair", [[{"is": "dict", "pairs": []}, 0.0], ["one", 0.0], [[1.0, 2.0, 3.0], [0.0, 0.0]]])
def test_a_pair_of_a_prior_that_is_none_of_numbers_is_refused(tmp_path, pair):
    path = tmp_path / "model.pegasos"
    KernelPegasosClassifier(lam=0.1, prior=(np.ones(3), 0.0)).fit(X, two).save(path)
    values, arrays = stored(path)
    values["model"]["parameters"]["prior"] = {"is": "tuple", "items": pair}
    archive.write(path, "model", values, arrays)
    with pytest.raises(PegasosError, match="the coefficients of the prior must"):
        pegasos.load(path)


def test_the_version_that_wrote_a_file_is_named_when_it_is_another(path, monkeypatch):
    values, arrays = stored(path)
    values["layout"] = 2
    monkeypatch.setattr(archive, "version", lambda _: "99.0")
    archive.write(path, "model", values, arrays)
    with pytest.raises(PegasosError, match=r"version 99\.0 of pegasos wrote it, and this is"):
        pegasos.load(path)


def test_an_order_beyond_the_rows_never_reaches_a_loop(path):
    values, arrays = stored(path)
    name = values["model"]["fitted"]["_stream"]["states"][0]["order"]
    arrays[name][0] = 10**6
    archive.write(path, "model", values, arrays)
    with pytest.raises(PegasosError, match="order is not numbers of rows"):
        pegasos.load(path)


def test_pairs_of_classes_without_a_weight_are_not_certified(tmp_path):
    path = tmp_path / "model.pegasos"
    PegasosClassifier(lam=1e-2, multi_class="ovo", random_state=0).fit(X, three).save(path)
    values, arrays = stored(path)
    arrays[values["model"]["fitted"]["_terms"]["totals"]][:2] = 0.0
    archive.write(path, "model", values, arrays)
    with pytest.raises(PegasosError, match="has seen no row of class 0"):
        pegasos.load(path).certify(X, three)


def test_columns_beyond_the_shape_of_a_sparse_matrix_are_refused(tmp_path):
    path = tmp_path / "model.pegasos"
    KernelPegasosClassifier(lam=1e-2, random_state=0).fit(sp.csr_array(X), two).save(path)
    values, arrays = stored(path)
    arrays[values["model"]["fitted"]["support_vectors_"]["indices"]][0] = 10**8
    archive.write(path, "model", values, arrays)
    with pytest.raises(PegasosError, match="indices lie within its shape"):
        pegasos.load(path)


def test_a_short_file_takes_little_memory(tmp_path):
    """Whatever lengths it claims: kernels whose whole numbers cost memory, matrices of a shape without an end."""
    for kernel, items, parameter in [
        (Spectrum(2), words, "k"),
        (WeisfeilerLehman(1), [(np.eye(2), None)] * 12, "h"),
    ]:
        path = tmp_path / "model.pegasos"
        KernelPegasosClassifier(kernel, lam=1e-1).fit(items, two).save(path)
        values, arrays = stored(path)
        values["model"]["fitted"]["kernel_"]["parameters"][parameter] = 2**40
        archive.write(path, "model", values, arrays)
        tracemalloc.start()
        with pytest.raises(PegasosError, match="whole numbers of kernels up to 10000"):
            pegasos.load(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
        tracemalloc.stop()


@pytest.mark.parametrize(
    "value",
    [
        {"is": "texts", "bytes": True, "letters": "letters", "starts": "starts"},
        {"is": "series", "values": "data", "starts": "many"},
        {"is": "records", "fields": [["a", {"is": "array", "array": "wide"}]]},
        {"is": "frame", "library": "polars", "columns": [["a", {"is": "array", "array": "wide"}]]},
        {"is": "column", "library": "pandas", "values": {"is": "array", "array": "wide"}},
        {"is": "csr", "shape": [1, 20_000], "matrix": True, "data": "data", "indices": "indices", "indptr": "indptr"},
    ],
    ids=lambda value: value["is"],
)
def test_an_array_that_is_named_again_and_again_takes_no_more_memory_than_the_file(path, value):
    arrays = {
        "letters": np.full(200_000, 65, np.uint8),
        "starts": np.array([0, 200_000]),
        "many": np.append(np.zeros(25_000, np.int64), 20_000),
        "wide": np.zeros(25_000),
        "data": np.zeros(20_000),
        "indices": np.arange(20_000),
        "indptr": np.array([0, 20_000]),
    }
    values, own = stored(path)
    values["model"]["parameters"]["class_weight"] = [value] * 1000
    archive.write(path, "model", values, own | arrays)
    with pytest.raises(PegasosError, match="not made of as much as the file holds"):
        pegasos.load(path)


def test_lists_within_lists_are_refused_not_followed_to_the_bottom(path):
    values, _ = stored(path)
    text = json.dumps({**values["model"]["parameters"], "n_jobs": 0}).replace('"n_jobs": 0', '"n_jobs": ' + "[" * 10**5)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    members["contents.json"] = members["contents.json"][:-1] + text.encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(PegasosError):
        pegasos.load(path)


def test_another_kind_of_file_is_named(tmp_path, path):
    archive.write(path, "checkpoint", {}, {})
    with pytest.raises(PegasosError, match="holds a 'checkpoint', not a 'model'"):
        pegasos.load(path)
    path.write_bytes(b"\x80\x04\x95 a pickle")
    with pytest.raises(PegasosError, match="not a complete archive"):
        pegasos.load(path)
    with pytest.raises(FileNotFoundError):
        pegasos.load(tmp_path / "none.pegasos")
    with pytest.raises(PegasosError, match="could not be read"):
        pegasos.load(tmp_path)
