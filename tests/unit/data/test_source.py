"""Blocks of arrays in memory: the whole, in order, without copies."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.data import ArraySource
from pegasos.errors import PegasosError


def rows(layout, dtype=np.float32, index=np.int32):
    X = sp.random(53, 7, density=0.4, format="csr", random_state=0, dtype=dtype)
    if layout == "dense":
        return X.toarray()
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("block_rows", [1, 10, 53, 100])
def test_the_blocks_together_are_the_whole_and_twice_the_same(layout, block_rows):
    X, y = rows(layout), np.arange(53)
    source = ArraySource(X, y, block_rows=block_rows)
    for _ in range(2):
        blocks = list(source)
        np.testing.assert_array_equal(np.concatenate([dense(block.X) for block in blocks]), dense(X))
        np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
    assert source.n_blocks == len(blocks) == len(source.starts) - 1
    assert [len(block.y) for block in blocks] == np.diff(source.starts).tolist()
    assert (source.n_rows, source.n_features, source.is_sparse) == (53, 7, layout == "csr")
    np.testing.assert_array_equal(dense(source.block(source.n_blocks - 1).X), dense(blocks[-1].X))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_block_looks_into_the_arrays_it_was_given(index):
    X = rows("csr", np.float64, index)
    block = ArraySource(X, np.zeros(53), block_rows=10).block(3)
    assert np.shares_memory(block.X.data, X.data)
    assert np.shares_memory(block.X.indices, X.indices)
    assert block.X.indices.dtype == index
    flat = rows("dense")
    assert np.shares_memory(ArraySource(flat, np.zeros(53), block_rows=10).block(3).X, flat)


def test_a_block_that_is_not_there_is_an_index_error():
    source = ArraySource(rows("dense"), np.zeros(53), block_rows=10)
    for k in (-1, 6, 10**30):
        with pytest.raises(IndexError, match=f"no block {k}: the blocks are 0..5"):
            source.block(k)


def test_no_rows_make_no_blocks():
    source = ArraySource(np.empty((0, 3)), [])
    assert (source.n_rows, source.n_blocks, list(source)) == (0, 0, [])


def test_the_fingerprint_is_that_of_the_content():
    X, y = rows("csr"), np.array(["a", "b"] * 26 + ["a"])
    first = ArraySource(X, y).fingerprint
    assert ArraySource(X.copy(), y.copy(), block_rows=3).fingerprint == first
    changed = X.copy()
    changed.data[0] += 1
    others = [(changed, y), (X, np.roll(y, 1)), (X, y.astype(object)), (dense(X), y)]
    assert len({first, *(ArraySource(*other).fingerprint for other in others)}) == 5


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (np.eye(3, dtype=int), [1, 2, 3], r"float32 or float64, got int64: use X.astype"),
        (np.asfortranarray(rows("dense")), np.zeros(53), "C-contiguous"),
        ([[1.0]], [1], "C-contiguous array of two dimensions"),
        (rows("csr").tocsc(), np.zeros(53), "format 'csc': use X.tocsr"),
        (np.eye(3), [1, 2], r"shape \(3,\), .*got \(2,\)"),
    ],
)
def test_what_would_need_a_copy_is_refused(X, y, sentence):
    with pytest.raises(PegasosError, match=sentence):
        ArraySource(X, y)


@pytest.mark.parametrize("block_rows", [0, -5])
def test_blocks_have_rows(block_rows):
    with pytest.raises(PegasosError, match=f"block_rows must be an integer of at least 1, got {block_rows}"):
        ArraySource(np.eye(3), [1, 2, 3], block_rows=block_rows)
