"""The binary cache: the same rows, made once, believed only when its checksums are right."""

import gzip
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import tracemalloc
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pegasos.cli import main
from pegasos.data import ArraySource, convert, open_source
from pegasos.data.cache import CacheSource, write_cache
from pegasos.errors import PegasosError

LABELS = {
    "float": np.linspace(-1, 1, 30),
    "int": np.arange(30) % 4 - 1,
    "bool": np.arange(30) % 2 == 0,
    "text": np.array(["ham", "spam", "ünï", ""] * 7 + ["ham", "eggs"]),
    "object": np.array(["a", "b", "c"] * 10, dtype=object),
}


def rows(layout):
    X = sp.random(30, 12, density=0.3, format="csr", random_state=0, dtype=np.float32)
    if layout == "int64":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X.toarray().astype(np.float64) if layout == "dense" else X


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def svmlight(path, n=200):
    X = sp.random(n, 12, density=0.3, format="csr", random_state=0)
    lines = (f"{i % 3} " + " ".join(f"{j + 1}:{X[i, j]:.4g}" for j in X[i].indices) for i in range(n))
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("layout", ["dense", "int32", "int64"])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("block_rows", [1, 7, 30])
def test_a_cache_holds_what_its_source_does(tmp_path, layout, labels, block_rows):
    X, y = rows(layout), LABELS[labels]
    source = ArraySource(X, y, block_rows=block_rows)
    write_cache(tmp_path / "cache", source, "made of arrays")
    cache = open_source(tmp_path / "cache")
    assert (cache.n_rows, cache.n_features, cache.n_blocks) == (30, 12, source.n_blocks)
    assert (cache.is_sparse, cache.dtype, cache.made_from) == (source.is_sparse, source.dtype, "made of arrays")
    np.testing.assert_array_equal(cache.starts, source.starts)
    for mine, theirs in zip(cache, source, strict=True):
        np.testing.assert_array_equal(dense(mine.X), dense(theirs.X))
        np.testing.assert_array_equal(mine.y, theirs.y)
        assert mine.y.dtype.kind == (theirs.y.dtype.kind if labels != "object" else "U")
        if cache.is_sparse:
            assert mine.X.indices.dtype == theirs.X.indices.dtype


def test_blocks_are_views_of_the_file_and_cannot_be_written_to(tmp_path):
    for layout in ("dense", "int32"):
        write_cache(tmp_path / layout, ArraySource(rows(layout), LABELS["int"], block_rows=10), "")
        cache = open_source(tmp_path / layout)
        values = cache.block(1).X.data if cache.is_sparse else cache.block(1).X
        assert np.shares_memory(np.asarray(values), cache._file)
        assert not np.asarray(values).flags.writeable
        assert np.asarray(values).flags.aligned


def test_no_rows_make_a_cache_without_blocks(tmp_path):
    write_cache(tmp_path / "cache", ArraySource(np.empty((0, 3)), []), "")
    assert (open_source(tmp_path / "cache").n_blocks, open_source(tmp_path / "cache").n_features) == (0, 3)
    (tmp_path / "empty.svm").write_bytes(b"")
    assert convert(tmp_path / "empty.svm").n_rows == 0


def test_a_cache_is_made_once_and_again_when_the_file_or_the_options_change(tmp_path):
    path = svmlight(tmp_path / "data.svm")
    first = convert(path, block_bytes=2000)
    assert first.path == tmp_path / "data.svm.pegasos-cache"
    assert first.n_blocks > 2
    made = first.path.stat().st_mtime_ns
    again = convert(path, block_bytes=2000)
    assert (again.path.stat().st_mtime_ns, again.fingerprint) == (made, first.fingerprint)
    assert convert(path, block_bytes=1000).n_blocks > first.n_blocks
    before = convert(path)
    with path.open("a") as file:
        file.write("\n1 1:1\n")
    after = convert(path)
    assert (after.n_rows, before.n_rows) == (201, 200)
    assert after.fingerprint != before.fingerprint
    assert dense(before.block(0).X).shape == (200, 12)  # the old one is read on by whoever has it


def test_the_blocks_of_a_converted_file_are_those_of_the_file(tmp_path):
    path = svmlight(tmp_path / "data.svm")
    packed = tmp_path / "data.svm.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    plain = open_source(path, block_bytes=1500)
    for cache in (convert(path, block_bytes=1500), convert(packed, tmp_path / "c", block_bytes=1500)):
        for mine, theirs in zip(cache, plain, strict=True):
            np.testing.assert_array_equal(dense(mine.X), dense(theirs.X))
            np.testing.assert_array_equal(mine.y, theirs.y)
    assert sorted(os.listdir(tmp_path)) == ["c", "data.svm", "data.svm.gz", "data.svm.pegasos-cache"]


def test_a_fault_in_compressed_text_is_named_by_its_file_and_leaves_nothing(tmp_path):
    packed = tmp_path / "data.svm.gz"
    packed.write_bytes(gzip.compress(b"1 1:1\n1 x\n"))
    with pytest.raises(PegasosError, match=r"data\.svm\.gz, line 2, column 3: 'x' is not a feature"):
        convert(packed)
    assert os.listdir(tmp_path) == ["data.svm.gz"]


def test_a_conversion_never_holds_more_than_a_few_blocks(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes((b"1 " + b" ".join(b"%d:0.5" % j for j in range(1, 300)) + b"\n") * 2000)  # 5 MB
    tracemalloc.start()
    try:
        cache = convert(path, block_bytes=100_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert cache.n_rows == 2000
    assert peak < 1_500_000


def test_a_cache_can_be_pickled_without_its_rows(tmp_path):
    cache = convert(svmlight(tmp_path / "data.svm"))
    stored = pickle.dumps(cache)
    assert len(stored) < 500
    np.testing.assert_array_equal(pickle.loads(stored).block(0).y, cache.block(0).y)


SLOWLY = """
import sys, time
from pegasos.data import cache, convert
write = cache._write_block
def slowly(*arguments, **options):
    done = write(*arguments, **options)
    print("a block", flush=True)
    time.sleep(30)
    return done
cache._write_block = slowly
convert(sys.argv[1], block_bytes=1000)
"""


def test_a_killed_conversion_leaves_no_cache(tmp_path):
    path = svmlight(tmp_path / "data.svm")
    process = subprocess.Popen([sys.executable, "-c", SLOWLY, path], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "a block\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not (tmp_path / "data.svm.pegasos-cache").exists()
    assert convert(path).n_rows == 200


def broken(path, begin, bytes_in):
    content = bytearray(path.read_bytes())
    content[begin : begin + len(bytes_in)] = bytes_in
    path.write_bytes(content)


def test_a_cache_that_is_none_too_new_or_damaged_says_so(tmp_path):
    path = svmlight(tmp_path / "data.svm")
    cache = convert(path, block_bytes=1000).path
    whole = cache.read_bytes()

    cache.write_bytes(whole[:-10])
    with pytest.raises(PegasosError, match=rf"damaged: it is truncated, {len(whole) - 10} bytes of {len(whole)}"):
        open_source(cache)
    cache.write_bytes(whole[:30])
    with pytest.raises(PegasosError, match="damaged: it is truncated; rebuild it with pegasos convert"):
        open_source(cache)
    cache.write_bytes(whole)
    broken(cache, 20, b"\xff")
    with pytest.raises(PegasosError, match="damaged: the checksum of its preamble is wrong"):
        open_source(cache)
    cache.write_bytes(whole)
    broken(cache, len(whole) - 3, b"?")
    with pytest.raises(PegasosError, match="damaged: the checksum of its directory is wrong"):
        open_source(cache)
    cache.write_bytes(whole)
    broken(cache, 100, bytes([whole[100] ^ 1]))
    source = open_source(cache)
    for _ in range(2):
        with pytest.raises(PegasosError, match="damaged: the checksum of block 0 is wrong"):
            source.block(0)
    source.block(1)
    cache.write_bytes(whole)
    broken(cache, 8, struct.pack("<I", 2))
    with pytest.raises(PegasosError, match=r"a cache in format 2, of a newer version; this one reads format 1: update"):
        open_source(cache)


def test_what_is_not_a_cache_is_not_written_over_and_a_damaged_one_is(tmp_path):
    path = svmlight(tmp_path / "data.svm")
    goal = tmp_path / "thesis.tex"
    goal.write_text("precious")
    with pytest.raises(PegasosError, match=r"thesis\.tex is not a cache of pegasos"):
        convert(path, goal)
    assert goal.read_text() == "precious"
    cache = convert(path).path
    broken(cache, 20, b"\xff")
    assert convert(path).n_rows == 200
    broken(cache, 8, struct.pack("<I", 2))
    with pytest.raises(PegasosError, match="newer version"):
        convert(path)


def forged(path, change):
    """A cache whose directory lies though its checksums are right."""
    content = path.read_bytes()
    magic, number, begin, size, _ = struct.unpack_from("<8sIQQI", content)
    directory = json.loads(content[begin : begin + size])
    text = json.dumps(change(directory) or directory).encode()
    preamble = struct.pack("<8sIQQI", magic, number, begin, len(text), zlib.crc32(text))
    path.write_bytes(preamble + struct.pack("<I", zlib.crc32(preamble)) + content[36:begin] + text)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["blocks"][0].__setitem__(0, True),  # an int to isinstance, no length to numpy
        lambda found: [1, 2],
        lambda found: found.update(layout="diagonal"),
        lambda found: found.update(dtype="object"),
        lambda found: found.update(n_features="many"),
        lambda found: found.update(label="object"),
        lambda found: found.pop("blocks"),
        lambda found: found["blocks"][0].pop(),
        lambda found: found["blocks"][0].__setitem__(0, -3),
        lambda found: found["blocks"][0].__setitem__(0, 10**30),
        lambda found: found["blocks"][0].__setitem__(1, 10**12),
        lambda found: found["blocks"][0].__setitem__(2, "float64"),
        lambda found: found["blocks"][0].__setitem__(3, 10**12),
        lambda found: found["blocks"][0].__setitem__(3, -64),
        lambda found: found.update(n_features=3),
        lambda found: found.update(classes=["a"], label="int32"),
    ],
)
def test_a_directory_that_lies_is_not_believed(tmp_path, change):
    cache = convert(svmlight(tmp_path / "data.svm"), block_bytes=1000).path
    forged(cache, change)
    with pytest.raises(PegasosError, match="is damaged: "):
        list(open_source(cache))


@given(st.data())
def test_any_damage_is_noticed(tmp_path_factory, data):
    cache = convert(svmlight(tmp_path_factory.mktemp("any") / "data.svm", n=20), block_bytes=300).path
    whole = bytearray(cache.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    is_padding = 36 <= place < 64
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    cache.write_bytes(whole)
    try:
        list(open_source(cache, **({"format": "svmlight"} if place < 8 else {})))
        assert is_padding
    except PegasosError:
        assert not is_padding


@given(st.binary(max_size=300))
def test_any_bytes_behind_the_magic_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "cache"
    path.write_bytes(b"\x89PEGASOS" + content)
    with pytest.raises(PegasosError):
        CacheSource(path)


def test_options_belong_to_the_conversion(tmp_path):
    cache = convert(svmlight(tmp_path / "data.svm"))
    with pytest.raises(PegasosError, match="is a cache, which has no options"):
        open_source(cache.path, n_features=3)
    with pytest.raises(PegasosError, match="is a cache already"):
        convert(cache.path)
    with pytest.raises(PegasosError, match="is a folder: name the file of the cache"):
        convert(tmp_path / "data.svm", tmp_path)
    with pytest.raises(PegasosError, match="is not a folder"):
        convert(tmp_path / "data.svm", tmp_path / "absent" / "cache")


def test_the_command_makes_a_cache_and_says_what_it_holds(tmp_path, capsys):
    path = svmlight(tmp_path / "data.svm")
    assert main(["convert", str(path), "--zero-based", "no", "--n-features", "20"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{path}.pegasos-cache: 200 rows, 20 features, sparse float32\n1 blocks, ")
    assert main(["convert", str(path), "-o", str(tmp_path / "other"), "--block-bytes", "1000"]) == 0
    assert open_source(tmp_path / "other").n_blocks > 3
    assert main(["convert", str(path), "--label", "3"]) == 2
    assert "is read as svmlight, whose options are n_features, dtype, zero_based" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "absent")]) == 2
    assert "absent cannot be read: No such file" in capsys.readouterr().err
