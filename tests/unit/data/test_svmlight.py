"""Svmlight text: what is read is what is written, and what cannot be read is refused where it stands."""

import bz2
import gzip
import io
import os
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pegasos import _core
from pegasos.data import open_source, parsing, read_svmlight
from pegasos.data.faults import TextError
from pegasos.errors import PegasosError
from tests.reference import svmlight as slow

TEXT = b"""# a comment
+1 qid:3 1:0.5 4:-2e3 # another
-1\t3:1.25\r

0 2:.5 3:7. 10:1E-2
2 5:1 4:2 1:3
"""
ROWS = [{0: 0.5, 3: -2e3}, {2: 1.25}, {1: 0.5, 2: 7.0, 9: 0.01}, {0: 3, 3: 2, 4: 1}]


def written(tmp_path, text, name="data.svm"):
    path = tmp_path / name
    path.write_bytes(text)
    return path


def dense(rows, n_features, dtype=np.float32):
    X = np.zeros((len(rows), n_features), dtype=dtype)
    for i, row in enumerate(rows):
        for column, value in row.items():
            X[i, column] = value
    return X


def random_file(path, n_rows=300, zero_based=False, decimals=".6g"):
    X = sp.random(n_rows, 40, density=0.2, format="csr", random_state=1)
    y = np.random.default_rng(0).integers(3, size=n_rows)
    with path.open("w") as file:
        for i in range(n_rows):
            row = X[i]
            pairs = zip(row.indices, row.data, strict=True)
            file.write(f"{y[i]} " + " ".join(f"{j + 1 - zero_based}:{v:{decimals}}" for j, v in pairs) + "\n")
    return path


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_everything_the_format_allows_is_read(tmp_path, dtype, end):
    X, y = read_svmlight(written(tmp_path, TEXT.rstrip(b"\n") + end), dtype=dtype)
    np.testing.assert_array_equal(X.toarray(), dense(ROWS, 10, dtype))
    np.testing.assert_array_equal(y, [1, -1, 0, 2])
    assert (X.dtype, X.indices.dtype, X.indptr.dtype) == (dtype, np.int32, np.int32)
    assert X.has_sorted_indices
    X.check_format()


@pytest.mark.parametrize("zero_based", [True, False, "auto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decimals", [".3g", ".9g", ".17g", ".3e"])
def test_the_reader_of_scikit_learn_agrees(tmp_path, zero_based, dtype, decimals):
    path = random_file(tmp_path / "data.svm", zero_based=zero_based is True, decimals=decimals)
    X, y = read_svmlight(path, zero_based=zero_based, dtype=dtype)
    theirs, labels = load_svmlight_file(str(path), zero_based=zero_based, dtype=dtype)
    assert X.shape == theirs.shape
    np.testing.assert_array_equal(X.toarray(), theirs.toarray())
    np.testing.assert_array_equal(y, labels)


def test_real_data_is_read_as_scikit_learn_does(tmp_path):
    folder = os.environ.get("PEGASOS_DATA")
    if not folder or not (Path(folder) / "a9a.npz").exists():
        pytest.skip("needs PEGASOS_DATA")
    with np.load(Path(folder) / "a9a.npz", allow_pickle=False) as stored:
        parts = stored["data"].astype(np.float32), stored["indices"], stored["indptr"]
        X = sp.csr_matrix(parts, shape=tuple(stored["shape"]))
        y = stored["y"]
    path = tmp_path / "a9a"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    found, labels = read_svmlight(path, n_features=X.shape[1])
    theirs, _ = load_svmlight_file(str(path), n_features=X.shape[1], dtype=np.float32)
    assert (found != X).nnz == (found != theirs).nnz == 0
    np.testing.assert_array_equal(y, labels)


def test_one_index_of_zero_makes_all_indices_begin_with_zero(tmp_path):
    X, _ = read_svmlight(written(tmp_path, b"1 2:1\n1 0:1\n"))
    np.testing.assert_array_equal(X.toarray(), [[0, 0, 1], [1, 0, 0]])


def test_the_number_of_features_can_be_given(tmp_path):
    path = written(tmp_path, TEXT)
    assert read_svmlight(path, n_features=25)[0].shape == (4, 25)
    with pytest.raises(PegasosError, match=r"line 5, column 13: index 10 is larger than n_features allows"):
        read_svmlight(path, n_features=9)
    # Nine features if the first is 1, ten if it is 0, and only the last line says which.
    with pytest.raises(PegasosError, match=r"line 1, column 3: index 9 is larger"):
        read_svmlight(written(tmp_path, b"1 9:1\n1 0:1\n"), n_features=9)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# nothing\n", b"   \t", b"\r\n"])
def test_a_file_without_rows_has_none(tmp_path, text):
    X, y = read_svmlight(written(tmp_path, text))
    assert (X.shape, y.shape) == ((0, 0), (0,))


def test_wide_indices_get_wide_types(tmp_path):
    X, _ = read_svmlight(written(tmp_path, b"1 3:1 3000000000:2\n-1 2147483647:5\n"))
    assert (X.shape, X.indices.dtype, X.indptr.dtype) == ((2, 3000000000), np.int64, np.int64)
    assert X.indices.tolist() == [2, 2999999999, 2147483646]
    X, _ = read_svmlight(written(tmp_path, b"1 999999999999999999:1\n"))
    assert X.shape == (1, 999999999999999999)


@pytest.mark.parametrize(
    ("line", "column", "sentence"),
    [
        (b"spam 1:2", 1, "'spam' is not a label"),
        (b"nan 1:2", 1, "'nan' is not finite"),
        (b"1e999 1:2", 1, "'1e999' is too large"),
        (b"1:2 3:4", 1, "begins with a feature, '1:2', and has no label"),
        (b"1,2 1:2", 1, "'1,2' contains several labels"),
        (b"  +-1", 3, "'+-1' is not a label"),
        (b"1 qid: 1:2", 3, "'qid:' is not a query number"),
        (b"1 1:2 qid:4", 7, "'qid:4' is not a feature"),
        (b"1 2", 3, "'2' is not a feature"),
        (b"1 -2:4", 3, "'-2:4' is not a feature"),
        (b"1 a:4", 3, "'a:4' is not a feature"),
        (b"1 1.5:4", 3, "'1.5:4' is not a feature"),
        (b"1 1 :4", 3, "'1' is not a feature"),
        (b"1 1: 4", 5, "'' is not a number, as the value of index 1"),
        (b"1 1:4:5", 5, "'4:5' is not a number"),
        (b"1 1:x", 5, "'x' is not a number"),
        (b"1 1:1_0", 5, "'1_0' is not a number"),
        (b"1 1:0x10", 5, "'0x10' is not a number"),
        (b"1 1:1e", 5, "'1e' is not a number"),
        (b"1 1:1 2:NaN", 9, "'NaN' is not finite; impute it, drop the line, or read it with allow_nan=True"),
        (b"1 1:-inf", 5, "'-inf' is not finite"),
        (b"1 1:1e39", 5, "'1e39' is too large for float32"),
        (b"1 1234567890123456789:1", 3, "18 digits"),
        (b"1 1:1 2:5 2:6", 11, "index 2 occurs twice"),
        (b"1 7:1 02:5 1:1 2:6 3:1", 16, "index 2 occurs twice"),
        (b"1 1:1\x00", 5, r"'1\x00' is not a number"),
        (b"1 \xff\xfe:1", 3, r"'\xff\xfe:1' is not a feature"),
        (b"1 1:1\r2 1:1", 5, "is not a number"),
        (b"\xef\xbb\xbf1 1:1", 1, "is not a label"),
    ],
)
def test_what_cannot_be_read_is_refused_where_it_stands(tmp_path, line, column, sentence):
    for text, number in ((line, 1), (TEXT + b"# six\n" + line + b"\n1 1:1\n", 8)):
        path = written(tmp_path, text)
        with pytest.raises(PegasosError) as refused:
            read_svmlight(path)
        place, _, rest = str(refused.value).partition(": ")
        assert place == f"{path}, line {number}, column {column}"
        assert sentence in rest
        with pytest.raises(PegasosError) as again:
            open_source(path, block_bytes=1)
        assert str(again.value) == str(refused.value)


def test_numbers_that_are_not_finite_are_read_when_allowed(tmp_path):
    X, _ = read_svmlight(written(tmp_path, b"1 1:nan 2:-Infinity 3:INF\n"), allow_nan=True)
    np.testing.assert_array_equal(X.toarray(), [[np.nan, -np.inf, np.inf]])


@pytest.mark.parametrize(
    "number",
    "1e-400 -1e-99999999999999999999 0e99999 4.9e-324 1.7976931348623157e308 9007199254740993 0.1 1e22 1e23 8.5e-45 -0 "
    "123456789012345678901234567890 2.2250738585072011e-308 00000000000000000000001.5 6.0221407600000000000000001e23 "
    f"0.{400 * '0'}1e401 1{400 * '0'}e-400".split(),
)
def test_numbers_are_rounded_to_the_nearest(tmp_path, number):
    X, y = read_svmlight(written(tmp_path, f"{number} 1:{number}\n".encode()), dtype=np.float64)
    assert np.float64(number).tobytes() == X.data.tobytes() == y.tobytes()


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["r", ".3f", ".20e", ".9g", "+.12g"]))
def test_any_double_comes_back(value, form):
    word = repr(value) if form == "r" else f"{value:{form}}"
    text = f"1 1:{word}".encode()
    found = parsing.parse(text, parsing.Reading(False, None, np.dtype(np.float64)))
    assert found.data.tobytes() == np.float64(word).tobytes()


blanks = [b" ", b" ", b" ", b"\t", b"\n", b"\n", b"\r\n", b"\r"]
words = b"1 -1 +1 0 : : # qid: qid:7 1:1 2:.5 3:1e-3 4:-7.25 0:1 nan inf 1e39 e . , \x00 \xff 12345678901:1 1. -"
tokens = st.sampled_from([*blanks, *words.split(), b"infinity", b"999999999999999999999:1"])


def fast_outcome(text, reading):
    """The rows, or the number of the line that is refused."""
    try:
        return parsing.known_base(reading, lambda reading: parsing.parse(text, reading))
    except TextError as error:
        return text[: error.position(text)].count(b"\n") + 1


def slow_outcome(text, reading):
    try:
        return slow.read(text, n_features=reading.n_features, allow_nan=reading.allow_nan)
    except slow.RefusedError as error:
        return error.args[0]


def check_against_the_slow_reading(text, n_features=None, allow_nan=False):
    reading = parsing.Reading("auto", n_features, np.dtype(np.float32), allow_nan)
    found, expected = fast_outcome(text, reading), slow_outcome(text, reading)
    if isinstance(found, int) or isinstance(expected, int):
        assert found == expected
        return
    labels, rows = expected
    np.testing.assert_array_equal(found.labels, labels)
    assert len(found.indptr) == len(rows) + 1
    for i, row in enumerate(rows):
        begin, end = found.indptr[i : i + 2]
        assert found.indices[begin:end].tolist() == sorted(row)
        np.testing.assert_array_equal(found.data[begin:end], [row[column] for column in sorted(row)])


@settings(max_examples=200)
@given(st.lists(tokens, max_size=40).map(b"".join), st.sampled_from([None, 3]), st.booleans())
@example(b"1 3:1 2:1 3:1", None, False)
def test_pieces_of_lines_in_any_order_are_read_as_slowly_or_refused_in_the_same_line(text, n_features, allow_nan):
    check_against_the_slow_reading(text, n_features=n_features, allow_nan=allow_nan)


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_as_slowly_or_refused_in_the_same_line(text):
    check_against_the_slow_reading(text)


@settings(max_examples=150)
@given(st.integers(0, len(TEXT) - 1), st.binary(max_size=3), st.integers(0, 5))
def test_a_damaged_file_is_read_as_slowly_or_refused_in_the_same_line(place, bytes_in, n_out):
    check_against_the_slow_reading(TEXT[:place] + bytes_in + TEXT[place + n_out :])


def test_pieces_of_the_text_in_threads_give_the_whole(tmp_path, monkeypatch):
    path = random_file(tmp_path / "data.svm")
    X, y = read_svmlight(path, n_jobs=1)
    monkeypatch.setattr(parsing, "_LEAST_PIECE", 50)
    text = TEXT * 20 + path.read_bytes()  # with comments, which leave gaps between the pieces
    many, labels = read_svmlight(written(tmp_path, text, "more.svm"), n_jobs=3)
    np.testing.assert_array_equal(many.toarray()[80:], X.toarray())
    np.testing.assert_array_equal(labels[80:], y)
    np.testing.assert_array_equal(many.toarray()[:80, :10], dense(ROWS * 20, 10))
    many.check_format()


def test_the_first_of_several_faults_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(parsing, "_LEAST_PIECE", 50)
    path = written(tmp_path, b"1 1:1\n" * 100 + b"1 x\n" + b"1 1:1\n" * 100 + b"2 y\n")
    with pytest.raises(PegasosError, match="line 101, column 3: 'x'"):
        read_svmlight(path, n_jobs=3)


def test_long_lines_in_any_order_take_no_longer_than_others(tmp_path):
    n = 200_000  # an insertion sort would take a minute
    path = written(tmp_path, b"1 " + b" ".join(b"%d:1" % j for j in range(n, 0, -1)))
    X, _ = read_svmlight(path)
    np.testing.assert_array_equal(X.indices, np.arange(n))


def test_text_that_changes_under_its_reader_is_not_written_beyond_the_room():
    text = np.frombuffer(b"1 1:1 2:1\n" * 5, dtype=np.uint8)
    assert _core.count_svmlight(text) == (5, 10)
    for n_rows, n_entries, read in ((3, 10, 3), (5, 7, 3), (0, 0, 0)):
        labels, ends = np.full(8, -9.0), np.full(8, -9)
        columns, values = np.full(12, -9), np.full(12, -9.0)
        arrays = labels[:n_rows], ends[:n_rows], columns[:n_entries], values[:n_entries]
        found = _core.read_svmlight(text, 1, 100, False, *arrays)
        assert (found[0], found[3]) == (read, "no_room")
        assert (labels[n_rows:] == -9).all()
        assert (values[n_entries:] == -9).all()


def packed(name, text):
    if name.endswith("gz"):
        return gzip.compress(text)
    if name.endswith("bz2"):
        return bz2.compress(text)
    return pytest.importorskip("zstandard").compress(text)


@pytest.mark.parametrize("name", ["data.svm.gz", "data.svm.bz2", "data.svm.zst"])
def test_compressed_text_is_read_whole_or_refused(tmp_path, name):
    whole = packed(name, TEXT)
    X, _ = read_svmlight(written(tmp_path, whole + packed(name, TEXT), name))
    np.testing.assert_array_equal(X.toarray(), dense(ROWS * 2, 10))
    for broken in (whole[:-5], whole[:5], whole[:20] + b"rubbish" + whole[27:]):
        with pytest.raises(PegasosError, match=r"is not a whole (gzip|bzip2|zstandard) file"):
            read_svmlight(written(tmp_path, broken, name))
    with pytest.raises(PegasosError, match=r"is a (gzip|bzip2|zstandard) file, which has no blocks: .*pegasos convert"):
        open_source(written(tmp_path, whole, name))


@pytest.mark.parametrize("block_bytes", [1, 7, 300, 10**6])
def test_blocks_of_a_file_are_the_file(tmp_path, block_bytes):
    path = random_file(tmp_path / "data.svm")
    path.write_bytes(TEXT + path.read_bytes().rstrip(b"\n"))
    X, y = read_svmlight(path)
    source = open_source(path, block_bytes=block_bytes)
    for _ in range(2):
        blocks = list(source)
        np.testing.assert_array_equal(sp.vstack([block.X for block in blocks]).toarray(), X.toarray())
        np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
    assert source.starts.tolist() == np.cumsum([0, *(len(block.y) for block in blocks)]).tolist()
    assert all(len(block.y) for block in blocks)
    assert (source.n_rows, source.n_features, source.is_sparse, source.dtype) == (304, 40, True, np.float32)
    last = source.n_blocks - 1
    np.testing.assert_array_equal(source.block(last).X.toarray(), blocks[last].X.toarray())


def test_blocks_of_a_zero_based_file_agree_on_what_is_first(tmp_path):
    path = written(tmp_path, b"1 2:1\n1 5:1\n1 0:1\n")
    source = open_source(path, block_bytes=4)
    assert (source.n_blocks, source.n_features) == (3, 6)
    assert [block.X.indices.tolist() for block in source] == [[2], [5], [0]]


def test_blocks_can_be_read_from_many_threads(tmp_path):
    path = random_file(tmp_path / "data.svm")
    source, X = open_source(path, block_bytes=500), read_svmlight(path)[0].toarray()
    wrong = []

    def look(order):
        for k in order:
            if not np.array_equal(source.block(k).X.toarray(), X[source.starts[k] : source.starts[k + 1]]):
                wrong.append(k)

    orders = [np.random.default_rng(seed).permutation(source.n_blocks) for seed in range(4)]
    threads = [threading.Thread(target=look, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_file_that_changes_is_noticed_and_has_another_fingerprint(tmp_path):
    path = random_file(tmp_path / "data.svm")
    source = open_source(path)
    assert open_source(path).fingerprint == source.fingerprint
    assert open_source(path, zero_based=False).fingerprint != source.fingerprint
    with path.open("ab") as file:
        file.write(b"1 1:1\n")
    with pytest.raises(PegasosError, match="has changed since it was opened: open it again"):
        source.block(0)
    assert open_source(path).fingerprint != source.fingerprint


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"zero_based": "maybe"}, "zero_based must be True, False or 'auto', got 'maybe'"),
        ({"n_features": 0}, "n_features must be an integer of at least 1, got 0"),
        ({"n_features": 2.5}, "n_features must be an integer of at least 1, got 2.5"),
        ({"n_features": 2**70}, "n_features must be an integer of at least 1, got 1180591620717411303424"),
        ({"n_jobs": -1}, "n_jobs must be an integer of at least 1, got -1"),
        ({"dtype": "int32"}, "dtype must be float32 or float64, got 'int32'"),
        ({"dtype": "spam"}, "dtype must be float32 or float64, got 'spam'"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, options, sentence):
    with pytest.raises(PegasosError, match=sentence):
        read_svmlight(written(tmp_path, TEXT), **options)


def test_files_that_are_not_there_are_refused(tmp_path):
    for read in (read_svmlight, open_source):
        with pytest.raises(PegasosError, match="cannot be read: No such file"):
            read(tmp_path / "absent.svm")
        with pytest.raises(PegasosError, match="is a folder or a device: name a file"):
            read(tmp_path)


def test_what_scikit_learn_writes_is_read(tmp_path):
    X = sp.random(50, 20, density=0.3, format="csr", random_state=0)
    buffer = io.BytesIO()
    dump_svmlight_file(X, np.arange(50), buffer, comment="with a comment", query_id=np.arange(50) // 5)
    found, y = read_svmlight(written(tmp_path, buffer.getvalue()), dtype=np.float64, zero_based=True, n_features=20)
    np.testing.assert_allclose(found.toarray(), X.toarray(), rtol=1e-15)
    np.testing.assert_array_equal(y, np.arange(50))
