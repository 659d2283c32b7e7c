"""The window: read ahead, kept while there is room, and every trouble of the reader reaches the caller."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.data import ArraySource, Block
from pegasos.errors import PegasosError
from pegasos.window import Window

X = np.random.default_rng(0).normal(size=(100, 4))
Y = np.arange(100) % 2
ROW_BYTES = 4 * 8 + 8  # and the squared norm
EVERYTHING = range(10)


class Scripted(ArraySource):
    """A source that does what a test says instead of reading some block."""

    def __init__(self, X, block_rows=10, **script):
        super().__init__(X, Y[: X.shape[0]], block_rows)
        self.script, self.asked = {int(name[1:]): action for name, action in script.items()}, []

    def block(self, k):
        self.asked.append(k)
        return self.script[k](super().block(k)) if k in self.script else super().block(k)


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("pegasos-reader")]


def test_pieces_are_the_rows_of_the_blocks():
    with Window(Scripted(X), 1.0, 0) as window:
        window.plan(0, EVERYTHING, whole=EVERYTHING)
        pieces = [window.piece(k, whole=True) for k in EVERYTHING]
    np.testing.assert_array_equal(np.vstack([piece.rows.values for piece in pieces]), X)
    np.testing.assert_allclose(pieces[3].rows.squared_norms, np.square(X[30:40]).sum(axis=1) + 1.0)


def test_the_next_block_is_read_while_one_is_at_work():
    source = Scripted(X)
    with Window(source, 1.0, 0) as window:
        window.plan(0, [4, 7, 2], whole=[])
        window.piece(4, whole=False)
        window._reader.submit(lambda: None).result()  # one thread: whatever was requested has been read by now
        assert source.asked == [4, 7]


def test_no_more_is_kept_than_there_is_room_for():
    source = Scripted(X)
    with Window(source, 1.0, 35 * ROW_BYTES) as window:
        for _ in range(2):
            window.plan(0, EVERYTHING, whole=EVERYTHING)
            for k in EVERYTHING:
                window.piece(k, whole=True)
                window.leave(k, np.arange(10))
                assert sum(piece.n_bytes for piece in window._kept.values()) <= window.room
        assert window.n_read == (10 + 7) * 10 * ROW_BYTES


def test_what_is_left_of_a_block_is_kept_where_the_block_has_no_room():
    source = Scripted(X)
    with Window(source, 1.0, 30 * ROW_BYTES) as window:
        for k in EVERYTHING:
            window.piece(k, whole=True)
            window.leave(k, np.array([1, 5, 6]))
        n_asked = len(source.asked)
        piece = window.piece(7, whole=False)
        np.testing.assert_array_equal(piece.rows.values, X[[71, 75, 76]])
        assert len(source.asked) == n_asked
        assert window.piece(7, whole=True).numbers is None
        assert len(source.asked) == n_asked + 1


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_gathered_rows_are_those_asked_for(make):
    numbers = np.array([3, 8, 50, 51, 99])
    with Window(Scripted(make(X)), 1.0, 0) as window:
        values = window.gathered(numbers).values
    np.testing.assert_array_equal(values.toarray() if sp.issparse(values) else values, X[numbers])


def test_rows_of_a_file_are_copied_into_memory(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with Window(Scripted(mapped), 1.0, 0) as window:
        values = window.piece(2, whole=True).rows.values
    assert not np.shares_memory(values, mapped)
    np.testing.assert_array_equal(values, X[20:30])


def spoilt(row, value):
    def action(block):
        values = block.X.copy()
        values[row] = value
        return Block(values, block.y)

    return action


def fail_with(error):
    def action(block):
        raise error

    return action


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (spoilt(3, np.nan), r"block 6 of the source \(rows 60 to 69\): X contains NaN or infinity in row 3"),
        (fail_with(OSError("the disk is gone")), r"block 6 .* could not be read: the disk is gone"),
        (fail_with(ValueError("cannot reshape")), r"block 6 .* could not be read: cannot reshape"),
        (lambda block: Block(block.X[:5], block.y), r"block 6 .*: it must be dense float64 of shape \(10, 4\), got"),
        (lambda block: Block(block.X.astype(np.float32), block.y), "got float32 of shape"),
    ],
)
def test_what_the_reader_meets_reaches_the_caller_and_the_thread_ends(action, sentence):
    with Window(Scripted(X, b6=action), 1.0, 0) as window:
        window.plan(0, EVERYTHING, whole=EVERYTHING)
        for k in range(6):
            window.piece(k, whole=True)
        with pytest.raises(PegasosError, match=sentence):
            window.piece(6, whole=True)
    assert readers() == []


def test_a_block_that_has_changed_is_noticed():
    source = Scripted(X)
    with Window(source, 1.0, 0) as window:
        window.piece(4, whole=True)
        window.piece(5, whole=True)
        source.script[4] = spoilt(0, 3.0)
        with pytest.raises(PegasosError, match=r"block 4 .* has changed since it was first read"):
            window.piece(4, whole=True)


def test_columns_beyond_the_features_are_refused_whenever_they_appear():
    source = Scripted(sp.csr_matrix(X))

    def broken(block):
        block.X.indices[7] = 1000
        return block

    with Window(source, 1.0, 0) as window:
        window.piece(0, whole=True)
        window.piece(1, whole=True)
        source.script[0] = broken
        with pytest.raises(PegasosError, match="names a column outside"):
            window.piece(0, whole=True)
