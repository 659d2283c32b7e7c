"""Whole files in memory, of any kind."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.data import convert, read
from pegasos.errors import PegasosError

TEXT = "+1 1:0.5 3:2\n-1 2:1\n+1 1:4\n"
ROWS = [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0], [4.0, 0.0, 0.0]]


def test_text_its_archive_and_its_cache_hold_the_same_rows(tmp_path):
    plain, packed = tmp_path / "rows.svm", tmp_path / "rows.svm.gz"
    plain.write_text(TEXT)
    packed.write_bytes(gzip.compress(TEXT.encode()))
    convert(plain, tmp_path / "rows.cache", block_bytes=10)
    for path in (plain, packed, tmp_path / "rows.cache"):
        X, y = read(path)
        assert X.toarray().tolist() == ROWS
        assert y.tolist() == [1, -1, 1]


@pytest.mark.parametrize("X", [np.array(ROWS), sp.csr_matrix(ROWS, dtype=np.float32)])
def test_arrays_come_back_as_they_were(tmp_path, X):
    path = tmp_path / "rows.npz"
    if sp.issparse(X):
        sp.save_npz(path, X)
        np.save(tmp_path / "y.npy", np.array(["a", "b", "a"]))
        found, y = read(path, labels=tmp_path / "y.npy")
        assert found.toarray().tolist() == ROWS
    else:
        np.savez(path, X=X, y=np.array(["a", "b", "a"]))
        found, y = read(path)
        assert np.array_equal(found, X)
    assert found.dtype == X.dtype
    assert y.tolist() == ["a", "b", "a"]


def test_an_option_of_another_format_is_refused(tmp_path):
    (tmp_path / "rows.svm").write_text(TEXT)
    with pytest.raises(PegasosError, match="label"):
        read(tmp_path / "rows.svm", label="y")


@pytest.mark.parametrize("X", [np.empty((0, 3)), sp.csr_matrix((0, 3), dtype=np.float32)])
def test_a_file_without_rows_is_an_empty_matrix(tmp_path, X):
    parts = {part: getattr(X, part) for part in ("data", "indices", "indptr", "shape")} if sp.issparse(X) else {"X": X}
    np.savez(tmp_path / "rows.npz", y=np.empty(0), **parts)
    found, y = read(tmp_path / "rows.npz")
    assert sp.issparse(found) == sp.issparse(X)
    assert (found.shape, found.dtype, y.shape) == ((0, 3), X.dtype, (0,))
