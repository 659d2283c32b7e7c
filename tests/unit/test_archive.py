"""Archives: what was written comes back, and nothing else ever does."""

import io
import json
import pickle
import resource
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos import archive
from pegasos.errors import PegasosError

ARRAYS = {
    "numbers": np.arange(12.0).reshape(3, 4),
    "narrow": np.array([1, 2], np.float32),
    "nothing": np.zeros((0, 5)),
    "flag": np.array(True),
    "words": np.array(["a", "bcd"]),
}
VALUES = {"lam": 1e-4, "words": ["x", None], "deep": {"a": [1.5, float("inf")]}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.zip"
    archive.write(path, "test", VALUES, ARRAYS)
    return path


def rewritten(path, change):
    """The archive with the bytes of its members changed, and every checksum of the zip right again."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)


def changed_contents(path, **changes):
    def change(members):
        members["contents.json"] = json.dumps(json.loads(members["contents.json"]) | changes).encode()

    rewritten(path, change)


def test_what_was_written_comes_back(path):
    found = archive.read(path, "test")
    assert found.values == VALUES
    assert found.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        np.testing.assert_array_equal(found.arrays[name], array)


def test_what_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_LARGEST_JSON", 1000)
    with pytest.raises(PegasosError, match="was not written"):
        archive.write(tmp_path / "file", "test", {"long": "x" * 1000}, {})
    assert not (tmp_path / "file").exists()


def test_a_file_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        archive.read(tmp_path / "none", "test")


def test_another_kind_and_another_format_are_refused(path):
    with pytest.raises(PegasosError, match="holds a 'test', not a 'model'"):
        archive.read(path, "model")
    changed_contents(path, format=2)
    with pytest.raises(PegasosError, match="format 2, and this version of pegasos reads 1"):
        archive.read(path, "test")


@given(st.data())
def test_a_damaged_file_is_refused_or_reads_as_it_was(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "file"
    archive.write(path, "test", VALUES, ARRAYS)
    raw = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
    else:
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    try:
        found = archive.read(path, "test")
    except PegasosError:
        return
    np.testing.assert_array_equal(found.arrays["numbers"], ARRAYS["numbers"])


def test_a_small_file_cannot_take_much_memory(path):
    def claim(members):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9,)})
        members["numbers.npy"] = header.getvalue()

    rewritten(path, claim)
    tracemalloc.start()
    with pytest.raises(PegasosError, match="does not have the size that it claims"):
        archive.read(path, "test")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_packed_members_are_refused(tmp_path):
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("contents.json", b"0" * 10_000_000)
    with pytest.raises(PegasosError, match="packed"):
        archive.read(path, "test")


def test_numbers_that_were_changed_together_with_the_checksum_of_the_zip_are_noticed(path):
    def change(members):
        raw = bytearray(members["numbers.npy"])
        raw[-1] ^= 1
        members["numbers.npy"] = bytes(raw)

    rewritten(path, change)
    with pytest.raises(PegasosError, match="not what was written"):
        archive.read(path, "test")


def test_nothing_is_ever_unpickled(path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    def change(members):
        file = io.BytesIO()
        np.save(file, np.array([Trap()], object), allow_pickle=True)
        members["numbers.npy"] = file.getvalue()

    rewritten(path, change)
    with pytest.raises(PegasosError, match="a type that pegasos does not write"):
        archive.read(path, "test")
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(PegasosError, match="not a complete archive"):
        archive.read(path, "test")


HEADERS = ["{'descr': '<f8', 'shape': (", "-" * 9000 + "1", "  x\n y", '"""', "{[]: 1}", "{1: 2, 'a': 3}", "x" * 60000]


@pytest.mark.parametrize("header", HEADERS, ids=range(len(HEADERS)))
def test_an_array_whose_header_is_invalid_is_refused(path, header):
    text = header.encode() + b"\n"

    def change(members):
        members["numbers.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text

    rewritten(path, change)
    with pytest.raises(PegasosError):
        archive.read(path, "test")


def test_names_that_lead_elsewhere_are_refused(path):
    def change(members):
        members["../../outside.npy"] = members.pop("numbers.npy")

    rewritten(path, change)
    with pytest.raises(PegasosError, match="its arrays differ from those that it names"):
        archive.read(path, "test")


@pytest.mark.parametrize("arrays", [{"objects": np.array([{}], object)}, {"../a": np.zeros(2)}])
def test_only_numbers_and_strings_under_plain_names_are_written(tmp_path, arrays):
    with pytest.raises(PegasosError, match="plain names"):
        archive.write(tmp_path / "file", "test", {}, arrays)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_file_as_it_was(path):
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(PegasosError, match="could not be written: File too large; an existing file is unchanged"):
            archive.write(path, "test", {}, {"large": np.ones(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert len(list(path.parent.iterdir())) == 1


def test_a_header_of_an_array_that_cannot_be_parsed_is_refused(path):
    def change(members):  # found by fuzzing: numpy lets an error of Python's tokenizer through
        members["numbers.npy"] = members["numbers.npy"].replace(b"}", b"\0", 1)

    rewritten(path, change)
    with pytest.raises(PegasosError, match="an array in it has a header that says neither its type nor its shape"):
        archive.read(path, "test")
