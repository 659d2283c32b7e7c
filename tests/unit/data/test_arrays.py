"""Arrays of numpy in files: mapped, converted where loops could not read them, and never unpickled."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.data import convert, open_source
from pegasos.errors import PegasosError

y = np.arange(50) % 3


def dense(dtype=np.float32):
    return (np.random.default_rng(0).normal(size=(50, 6)) * 50).astype(dtype)


def whole(source):
    blocks = list(source)
    stack = sp.vstack if source.is_sparse else np.concatenate
    return stack([block.X for block in blocks]), np.concatenate([block.y for block in blocks])


def npy(tmp_path, X, labels=y):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", labels)
    return open_source(tmp_path / "X.npy", labels=tmp_path / "y.npy", block_bytes=300)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int64", "bool", ">f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files_are_read_in_blocks_of_floats(tmp_path, dtype, order):
    X = dense(dtype)
    source = npy(tmp_path, np.asarray(X, order=order))
    assert source.n_blocks > 1
    assert source.dtype == (np.float64 if dtype in ("float64", "int64", ">f8") else np.float32)
    rows, labels = whole(source)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    assert rows.dtype == source.dtype
    assert rows.dtype.isnative
    assert all(block.X.flags.c_contiguous for block in source)


def test_floats_are_not_copied(tmp_path):
    block = npy(tmp_path, dense()).block(1)
    assert isinstance(block.X.base, np.ndarray)
    assert not block.X.flags.writeable


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("labels", [y, y.astype(str), y / 2])
def test_npz_files_hold_dense_or_sparse_rows(tmp_path, save, dtype, labels):
    X = sp.csr_matrix(np.where(dense() > 20, dense(dtype), 0))
    save(tmp_path / "dense.npz", X=X.toarray(), y=labels)
    save(tmp_path / "sparse.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=labels)
    for name in ("dense.npz", "sparse.npz"):
        source = open_source(tmp_path / name, block_bytes=200)
        assert source.n_blocks > 1
        assert (source.n_rows, source.n_features, source.is_sparse) == (50, 6, name == "sparse.npz")
        for found, found_labels in (whole(source), whole(convert(tmp_path / name, block_bytes=200))):
            np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X.toarray())
            np.testing.assert_array_equal(found_labels, labels)


def test_what_scipy_saves_is_read_with_labels_of_another_file(tmp_path):
    X = sp.csr_matrix(np.where(dense() > 20, dense(), 0))
    np.save(tmp_path / "y.npy", y)
    sp.save_npz(tmp_path / "X.npz", X)
    found, labels = whole(open_source(tmp_path / "X.npz", labels=tmp_path / "y.npy"))
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    np.testing.assert_array_equal(labels, y)
    sp.save_npz(tmp_path / "X.npz", X.tocsc())
    with pytest.raises(PegasosError, match=r"not CSR: save X\.tocsr"):
        open_source(tmp_path / "X.npz", labels=tmp_path / "y.npy")


def test_an_npz_file_is_not_read_before_it_is_asked_for(tmp_path):
    np.savez(tmp_path / "data.npz", X=dense(), y=y)
    source = open_source(tmp_path / "data.npz")
    assert not source._X.flags.owndata
    assert isinstance(source._X.base.base, np.memmap) or isinstance(source._X.base, np.memmap)


def test_another_file_of_labels_is_another_fingerprint(tmp_path):
    first = npy(tmp_path, dense())
    assert npy(tmp_path, dense(), labels=1 - y).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("X", "labels", "sentence"),
    [
        (dense(), y[:-1], r"one label per row, shape \(50,\), .*got \(49,\)"),
        (dense()[0], y[:6], r"two dimensions, got shape \(6,\)"),
        (dense(), y.astype("datetime64[s]"), "y must hold numbers or texts, got datetime64"),
        (dense().astype(complex), y, "X must hold numbers that a float64 can hold, got complex128"),
        (dense().astype(str), y, "X must hold numbers that a float64 can hold, got <U"),
    ],
)
def test_arrays_that_are_not_rows_are_refused(tmp_path, X, labels, sentence):
    with pytest.raises(PegasosError, match=sentence):
        npy(tmp_path, X, labels)


def test_pickles_are_never_read(tmp_path):
    np.save(tmp_path / "X.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    with pytest.raises(PegasosError, match=r"X.npy is not a complete \.npy file: .*objects"):
        open_source(tmp_path / "X.npy", labels=tmp_path / "X.npy")
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "data.npz", X=np.array([[1, "a"]], dtype=object), y=y, allow_pickle=True)
        with pytest.raises(PegasosError, match=r"data\.npz: X cannot be read: .*[Oo]bject"):
            open_source(tmp_path / "data.npz")


def npy_that_says(shape):
    """A file of no numbers, whose header tells of some."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(64)


@pytest.mark.parametrize("shape", [(2**62, 4), (2**70, 1), (2**63, 2**63), (2**50, 2), (0, 2**70), (-1, 4), (-2, -4)])
def test_shapes_that_cannot_be_are_refused(tmp_path, shape):
    content = npy_that_says(shape)
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "data.npz", "w", compression) as archive:
            archive.writestr("X.npy", content)
            archive.writestr("y.npy", content)
        with pytest.raises(PegasosError, match=r"data\.npz: X cannot be read: "):
            open_source(tmp_path / "data.npz")
    (tmp_path / "X.npy").write_bytes(content)
    with pytest.raises(PegasosError, match=r"X\.npy is not a complete \.npy file"):
        open_source(tmp_path / "X.npy", labels=tmp_path / "X.npy")


def test_what_is_missing_or_broken_is_said(tmp_path):
    np.save(tmp_path / "X.npy", dense())
    np.savez(tmp_path / "data.npz", X=dense())
    with pytest.raises(PegasosError, match=r"holds X alone: give the file of the labels, labels='y.npy'"):
        open_source(tmp_path / "X.npy")
    with pytest.raises(PegasosError, match=r"data\.npz holds no y: add it, or give"):
        open_source(tmp_path / "data.npz")
    np.savez(tmp_path / "other.npz", rows=dense(), y=y)
    with pytest.raises(PegasosError, match=r"must hold X, or data, .*; it holds \['rows', 'y'\]"):
        open_source(tmp_path / "other.npz")
    with pytest.raises(PegasosError, match=r"y.npy cannot be read: No such file"):
        open_source(tmp_path / "X.npy", labels=tmp_path / "y.npy")
    for name in ("X.npy", "data.npz"):
        path = tmp_path / name
        whole = path.read_bytes()
        for broken in (whole[:100], b"", b"rubbish", whole[:-300]):
            path.write_bytes(broken)
            options = {"labels": path} if name == "X.npy" else {}
            with pytest.raises(PegasosError, match=rf"{name} is not a complete"):
                open_source(path, **options)


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 9])},
        {"indices": np.array([-1, 0])},
        {"indptr": np.array([0, 2, 1])},
        {"indptr": np.array([0, 1, 5])},
        {"indptr": np.array([0, -1, 2])},
        {"indptr": np.array([0, 2])},
        {"shape": np.array([2])},
        {"shape": np.array([2, -3])},
        {"data": np.ones((2, 2))},
        {"indices": np.array([0.0, 1.0])},
    ],
)
def test_sparse_arrays_that_point_outside_are_refused(tmp_path, change):
    parts = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 3])}
    np.savez(tmp_path / "data.npz", y=np.zeros(2), **{**parts, **change})
    with pytest.raises(PegasosError, match=r"data\.npz: "):
        list(open_source(tmp_path / "data.npz"))


def test_a_header_that_cannot_be_parsed_is_refused(tmp_path):
    np.save(tmp_path / "X.npy", dense())
    raw = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "X.npy").write_bytes(raw.replace(b"}", b"\0", 1))  # numpy raises an error of Python's tokenizer
    with pytest.raises(PegasosError, match=r"X\.npy is not a complete \.npy file"):
        open_source(tmp_path / "X.npy", labels=tmp_path / "X.npy")


def test_packed_arrays_that_cannot_be_unpacked_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "data.npz", X=dense(), y=y)
    raw = bytearray((tmp_path / "data.npz").read_bytes())
    raw[60:90] = b"\xff" * 30  # zlib raises an error of its own
    (tmp_path / "data.npz").write_bytes(raw)
    with pytest.raises(PegasosError, match=r"data\.npz: X cannot be read"):
        open_source(tmp_path / "data.npz")
