"""CSV, Parquet and Arrow: the columns as rows, the label as it is, and what is missing named by row and column."""

import bz2
import sys

import numpy as np
import pytest

from pegasos.data import convert, open_source
from pegasos.errors import PegasosError

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

CSV = b"width,height,species\n1,2.5,cat\n-3e-1,4,dog\n\n5,6,cat\n"
X = np.array([[1, 2.5], [-0.3, 4], [5, 6]], dtype=np.float32)


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(text)
    return path


def whole(source):
    blocks = list(source)
    return np.concatenate([block.X for block in blocks]), np.concatenate([block.y for block in blocks])


def table(n=20):
    rng = np.random.default_rng(0)
    labels = np.array(["ham", "spam", "eggs"])[rng.integers(3, size=n)]
    columns = {"a": rng.normal(size=n).astype(np.float32), "b": rng.integers(5, size=n).astype(np.int8)}
    return pa.table({**columns, "y": labels, "c": rng.random(n) < 0.5})


def as_rows(of):
    return np.column_stack([of[name].to_numpy() for name in ("a", "b", "c")]).astype(np.float32)


@pytest.mark.parametrize("block_bytes", [1, 15, 10**6])
def test_a_csv_file_is_read_in_blocks(tmp_path, block_bytes):
    source = open_source(written(tmp_path, CSV), label="species", block_bytes=block_bytes)
    for _ in range(2):
        rows, labels = whole(source)
        np.testing.assert_array_equal(rows, X)
        assert labels.tolist() == ["cat", "dog", "cat"]
    assert (source.n_rows, source.n_features, source.is_sparse, source.dtype) == (3, 2, False, np.float32)
    assert source.block(source.n_blocks - 1).y.tolist()[-1] == "cat"
    assert source.block(0).X.flags.c_contiguous


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (CSV, {"label": -1}),
        (CSV, {"label": 2}),
        (CSV.replace(b"\n", b"\r\n"), {"label": "species"}),
        (CSV.rstrip(), {"label": "species"}),
        (b"\xef\xbb\xbf" + CSV, {"label": "species"}),
        (CSV.partition(b"\n")[2], {"label": 2}),
        (CSV.partition(b"\n")[2], {"label": 2, "header": False}),
        (CSV.replace(b",", b";"), {"label": "species", "delimiter": ";"}),
        (b"0,1,2\n" + CSV.partition(b"\n")[2], {"label": "2"}),
        (b"id," + CSV[:21] + b"9,1,2.5,cat\n9,-.3,4,dog\n9,5,6,cat", {"label": 3, "features": ["width", "height"]}),
    ],
)
def test_a_label_has_a_name_or_a_number_and_a_header_is_found(tmp_path, text, options):
    rows, labels = whole(open_source(written(tmp_path, text), **options))
    np.testing.assert_array_equal(rows, X)
    assert labels.tolist() == ["cat", "dog", "cat"]


@pytest.mark.parametrize(
    ("labels", "kind"), [("1 -1 3", "i"), ("1 2.5 3", "f"), ("1 2.5 x", "U"), ("1 nan 2", "U"), ("NA null 1", "U")]
)
@pytest.mark.parametrize("block_bytes", [1, 10**6])
def test_labels_that_are_all_numbers_are_numbers_in_every_block(tmp_path, labels, kind, block_bytes):
    text = "\n".join(f"{j},{label}" for j, label in enumerate(labels.split())).encode()
    source = open_source(written(tmp_path, text), label=1, block_bytes=block_bytes)
    assert {block.y.dtype.kind for block in source} == {kind}
    assert [str(label) for label in whole(source)[1]] == [
        str(float(label)) if kind == "f" else label for label in labels.split()
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "the first line is empty"),
        (b"\n1,2\n", "the first line is empty"),
        (CSV + b"7,,cat\n", "row 4: column 'height' has no value"),
        (CSV + b"7,nan,cat\n", "row 4: column 'height' has no value"),
        (CSV + b"7,8,\n", "row 4: the label '' is empty"),
        (CSV + b'7,8,"a\nb"\n', "contains a line break"),
        (CSV + b"7,x,cat\n", "row 4: column 'height': CSV conversion error to float: invalid value 'x'"),
        (CSV + b"7,8\n", "row 4: CSV parse error: Expected 3 columns, got 2"),
        (CSV + b"7,8,cat,9\n", "Expected 3 columns, got 4"),
        (CSV + b"\x00\xff\n", "Expected 3 columns, got 1"),
        (CSV + b"7,8,\xff\n", "row 4: column 'species': .*invalid UTF8"),
        (b"\xff\xfe1,2,species\n", "line 1: it is not CSV text in UTF-8"),
        (b"a,a,species\n1,2,x\n", "several columns are called 'a'"),
        (b"a,b\n1,2\n", "there is no column 'species' for the labels; the columns are 'a', 'b'"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 10**6])
def test_what_a_csv_file_cannot_represent_is_refused(tmp_path, text, sentence, block_bytes):
    with pytest.raises(PegasosError, match=sentence) as refused:
        open_source(written(tmp_path, text), label="species", block_bytes=block_bytes)
    assert "data.csv" in str(refused.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "say which column holds the labels, label='name' or label=0; the columns are 'width', 'height'"),
        ({"label": 3}, "there is no column 3"),
        ({"label": True}, "there is no column True"),
        ({"label": "species", "features": ["width", "age"]}, "'age' is not a column of features"),
        ({"label": "species", "features": ["species"]}, "'species' is not a column of features"),
        ({"label": "species", "header": "maybe"}, "header must be True, False or 'auto', got 'maybe'"),
        ({"label": "species", "delimiter": "ab"}, "delimiter must be one character"),
        ({"label": "species", "dtype": "int8"}, "dtype must be float32 or float64, got 'int8'"),
        ({"label": "species", "block_bytes": 0}, "block_bytes must be an integer of at least 1, got 0"),
        ({"label": "species", "zero_based": True}, "is read as csv, whose options are label, .*; got 'zero_based'"),
        ({"label": "species", "format": "excel"}, "format must be one of svmlight, csv, .*, got 'excel'"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, options, sentence):
    with pytest.raises(PegasosError, match=sentence):
        open_source(written(tmp_path, CSV), **options)


@pytest.mark.parametrize(
    ("raised", "expected", "sentence"),
    [
        (
            pa.ArrowException("Unknown error: Failed to launch worker thread"),
            PegasosError,
            "could not be read: Unknown",
        ),
        (pa.ArrowMemoryError("malloc of size 64 failed"), MemoryError, "malloc"),
    ],
)
def test_what_pyarrow_lacks_is_not_a_fault_of_the_file(tmp_path, monkeypatch, raised, expected, sentence):
    source = open_source(written(tmp_path, CSV), label="species")

    def fail(*_, **__):
        raise raised

    monkeypatch.setattr("pyarrow.csv.read_csv", fail)
    with pytest.raises(expected, match=sentence):
        list(source)


def test_a_compressed_csv_file_becomes_a_cache(tmp_path):
    path = written(tmp_path, bz2.compress(CSV), "data.csv.bz2")
    with pytest.raises(PegasosError, match="a bzip2 file, which has no blocks"):
        open_source(path, label="species")
    rows, labels = whole(convert(path, label="species", block_bytes=15))
    np.testing.assert_array_equal(rows, X)
    assert labels.tolist() == ["cat", "dog", "cat"]


def parquet_file(tmp_path, of, n):
    parquet.write_table(of, tmp_path / "data.parquet", row_group_size=n)
    return tmp_path / "data.parquet"


def arrow_file(tmp_path, of, n):
    feather.write_feather(of, str(tmp_path / "data.arrow"), chunksize=n, compression="uncompressed")
    return tmp_path / "data.arrow"


@pytest.mark.parametrize("write", [parquet_file, arrow_file])
def test_row_groups_and_batches_are_blocks(tmp_path, write):
    of = table()
    source = open_source(write(tmp_path, of, 8), label="y")
    assert (source.starts.tolist(), source.n_features, source.dtype) == ([0, 8, 16, 20], 3, np.float32)
    rows, labels = whole(source)
    np.testing.assert_array_equal(rows, as_rows(of))
    assert labels.tolist() == of["y"].to_pylist()
    np.testing.assert_array_equal(source.block(2).X, rows[16:])
    cache = convert(tmp_path / source.origin.path.name, label="y")
    np.testing.assert_array_equal(whole(cache)[0], rows)
    assert whole(cache)[1].tolist() == labels.tolist()


@pytest.mark.parametrize("write", [parquet_file, arrow_file])
def test_labels_stay_what_they_are(tmp_path, write):
    of = table()
    for labels in (of["y"].dictionary_encode(), pa.array(range(20)), pa.array([0.5, 1] * 10), pa.array([True] * 20)):
        found = whole(open_source(write(tmp_path, of.set_column(2, "y", labels), 8), label="y"))[1]
        assert found.tolist() == labels.to_pylist()


@pytest.mark.parametrize("write", [parquet_file, arrow_file])
def test_wide_numbers_make_double_rows(tmp_path, write):
    of = pa.table({"a": pa.array([2**40 + 1, 2]), "b": pa.array([1.5, 2.5], pa.float32()), "y": pa.array([0, 1])})
    source = open_source(write(tmp_path, of, 8), label="y")
    assert source.dtype == np.float64
    assert source.block(0).X.tolist() == [[2**40 + 1, 1.5], [2, 2.5]]


@pytest.mark.parametrize("write", [parquet_file, arrow_file])
def test_what_a_table_cannot_represent_is_refused(tmp_path, write):
    def refused(of, **options):
        with pytest.raises(PegasosError) as refused:
            list(open_source(write(tmp_path, of, 8), **{"label": "y", **options}))
        return str(refused.value)

    of = table()
    missing = pa.array([1.0] * 10 + [None] + [1.0] * 9)
    assert "row 11: column 'a' has no value" in refused(of.set_column(0, "a", missing))
    assert "row 11: column 'y' has no value" in refused(of.set_column(2, "y", missing))
    assert "column 'a' holds words, and blocks hold numbers" in refused(of.set_column(0, "a", of["y"]))
    assert "labels must be numbers or texts; 'y' is timestamp" in refused(
        of.set_column(2, "y", pa.array([0] * 20, pa.timestamp("s")))
    )
    assert "labels must be numbers or texts; 'y' is list" in refused(of.set_column(2, "y", pa.array([[1]] * 20)))
    assert "say which column holds the labels" in refused(of, label=None)
    assert "there is no column 'z'" in refused(of, label="z")


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
def test_rubbish_is_not_a_table(tmp_path, name):
    of = table()
    path = parquet_file(tmp_path, of, 8) if name.endswith("parquet") else arrow_file(tmp_path, of, 8)
    content = path.read_bytes()
    for broken in (b"", b"rubbish", content[:-7], b"\xff" * 300):
        with pytest.raises(PegasosError, match=r"is not a complete (Parquet|Arrow) file"):
            open_source(written(tmp_path, broken, name), label="y")


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.arrow"])
def test_without_pyarrow_the_error_names_the_extra(tmp_path, name, monkeypatch):
    for part in ("pyarrow", "pyarrow.csv", "pyarrow.parquet", "pyarrow.ipc"):
        monkeypatch.setitem(sys.modules, part, None)
    with pytest.raises(PegasosError, match=r"not installed: run pip install \"pegasos\[data\]\""):
        open_source(written(tmp_path, CSV, name), label="species")
