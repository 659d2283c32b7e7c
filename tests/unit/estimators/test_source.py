"""fit_source: the model of fit, from blocks that need not fit into memory; checkpoints; and what it refuses."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import PegasosClassifier
from pegasos.data import ArraySource, Block
from pegasos.errors import PegasosError
from pegasos.estimators.warnings import GapWarning
from pegasos.fitting.source import bytes_of_memory

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(3000, 12)).astype(np.float32)
Y = np.where(X[:, 0] + X[:, 1] + RANDOM.normal(size=3000) > 0.5, "yes", "no")
MANY = np.digitize(X[:, 0] + 0.5 * RANDOM.normal(size=3000), [-1.0, 0.0, 1.0]) + 7


def source(y=Y, values=X, block_rows=250):
    return ArraySource(values, y, block_rows)


def model(**settings):
    return PegasosClassifier(**{"random_state": 0, "lam": 1e-3, **settings})


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        return call()


@pytest.mark.parametrize("solver", ["auto", "dual"])
@pytest.mark.parametrize(
    "settings", [{}, {"class_weight": "balanced"}, {"C": 0.02, "lam": 1e-4}, {"fit_intercept": False}]
)
@pytest.mark.parametrize("y", [Y, MANY])
def test_the_model_is_that_of_fit(solver, settings, y):
    mine = model(solver=solver, tol=1e-4, **settings).fit_source(source(y), memory="300K")
    theirs = model(tol=1e-4, **settings).fit(X, y)
    assert mine.certificate_.relative_gap <= 1e-4
    assert mine.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=2e-4)
    assert mine.coef_.shape == theirs.coef_.shape
    np.testing.assert_array_equal(mine.classes_, theirs.classes_)
    pairs = zip(mine.certificate_.parts, theirs.certificate_.parts, strict=True)
    for k, (one, other) in enumerate(pairs):  # the optimum lies within both radii
        assert np.linalg.norm(mine.coef_[k] - theirs.coef_[k]) <= one.weight_radius + other.weight_radius
    again = mine.certify(X, y)
    assert again.relative_gap == pytest.approx(mine.certificate_.relative_gap, abs=1e-9)
    assert mine.status_.startswith("The duality gap reached tol")
    assert mine.alpha_.shape == theirs.alpha_.shape
    assert len(mine.trace_["gap"]) >= 1


def test_pegasos_makes_as_many_walks_as_asked_for():
    mine = model(solver="pegasos", tol=None, max_iter=5).fit_source(source(), memory="200K")
    assert mine.n_iter_ == 5
    assert mine.n_steps_ == 5 * len(X)
    assert mine.certificate_.relative_gap < 0.5
    best = model().fit(X, Y).certificate_
    assert best.dual <= mine.certificate_.primal < 1.2 * best.primal


def test_sparse_float64_blocks_are_trained_on():
    values = sp.csr_matrix(X.astype(np.float64) * (X > 0))
    mine = model().fit_source(source(values=values), memory="500K")
    assert mine.certificate_.primal == pytest.approx(model().fit(values, Y).certificate_.primal, rel=2e-3)


def test_the_result_does_not_depend_on_the_memory_or_on_the_reader():
    class Slow(ArraySource):
        def block(self, k):
            time.sleep(0.001 * (k % 3))
            return super().block(k)

    found = [
        model(tol=1e-5).fit_source(made, memory=memory).coef_
        for made, memory in ((source(), "160K"), (source(), "10M"), (Slow(X, Y, 250), "200K"))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_what_fits_into_memory_is_read_once():
    class Counting(ArraySource):
        n_read = 0

        def block(self, k):
            self.n_read += 1
            return super().block(k)

    counting = Counting(X, Y, 250)
    model(tol=1e-5).fit_source(counting, memory="10M")
    assert counting.n_read == 2 * counting.n_blocks + 1  # the labels, the rows, and one look at a block's norms


def test_a_time_budget_and_max_iter_are_kept_with_a_certificate():
    with pytest.warns(GapWarning, match="time_budget ended"):
        short = model(lam=1e-7, tol=1e-9, time_budget=1e-4).fit_source(source(), memory="200K")
    assert np.isfinite(short.certificate_.gap)
    with pytest.warns(GapWarning, match="max_iter epochs ended"):
        short = model(lam=1e-7, tol=1e-9, max_iter=2).fit_source(source(), memory="200K")
    assert short.n_iter_ == 2


def test_an_interrupt_leaves_the_model_reached_and_no_thread():
    class Interrupting(ArraySource):
        n_read = 0

        def block(self, k):
            self.n_read += 1
            if self.n_read == 40:
                raise KeyboardInterrupt
            return super().block(k)

    with pytest.warns(GapWarning, match="was interrupted"):
        reached = model(lam=1e-6).fit_source(Interrupting(X, Y, 250), memory="160K")
    assert np.isfinite(reached.certificate_.gap)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pegasos-reader")]


def test_a_model_continues_learning_from_a_stream():
    mine = model().fit_source(source(), memory="200K").partial_fit(X[:500], Y[:500])
    assert mine.score(X, Y) > 0.7


def test_verbose_says_what_was_read_and_what_is_proved(capsys):
    model(verbose=1).fit_source(source(), memory="200K")
    line = capsys.readouterr().out.splitlines()[-1]
    assert "relative gap" in line
    assert "MB/s" in line


# Checkpoints


def test_going_on_from_a_checkpoint_is_running_straight_through(tmp_path):
    path = tmp_path / "state"
    settings = {"tol": None, "lam": 1e-5, "verbose": 0}
    straight = model(max_iter=40, **settings).fit_source(source(MANY), memory="200K")

    class Failing(ArraySource):
        n_read = 0

        def block(self, k):
            self.n_read += 1
            if self.n_read == 150:
                raise OSError("the cable was pulled")
            return super().block(k)

    failing = Failing(X, MANY, 250)
    with pytest.raises(PegasosError, match="could not be read: the cable was pulled"):
        model(max_iter=40, **settings).fit_source(failing, memory="200K", checkpoint=path, checkpoint_seconds=0)
    resumed = model(max_iter=40, **settings).fit_source(source(MANY), memory="400K", checkpoint=path)
    np.testing.assert_array_equal(resumed.coef_, straight.coef_)
    np.testing.assert_array_equal(resumed.alpha_, straight.alpha_)
    np.testing.assert_array_equal(resumed.trace_["gap"], straight.trace_["gap"])
    assert resumed.n_iter_ == straight.n_iter_
    assert resumed.n_steps_ == straight.n_steps_


PROGRAM = """
import sys
import numpy as np
from pegasos import PegasosClassifier
from pegasos.data import ArraySource

values = np.load(sys.argv[1], mmap_mode="r")
model = PegasosClassifier(lam=1e-6, tol=None, max_iter=300, random_state=3)
source = ArraySource(values, values[:, 0] + values[:, 1] ** 2 > 0.7, 400)
model.fit_source(source, memory="500K", checkpoint=sys.argv[2], checkpoint_seconds=0.1)
"""


def test_a_process_that_was_killed_ends_where_it_would_have_ended(tmp_path):
    values, path = RANDOM.normal(size=(4000, 10)), tmp_path / "state"
    np.save(tmp_path / "X.npy", values)
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path / "X.npy"), str(path)])
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    again = source(values[:, 0] + values[:, 1] ** 2 > 0.7, values, 400)
    settings = {"lam": 1e-6, "tol": None, "max_iter": 300, "random_state": 3}
    resumed = model(**settings).fit_source(again, memory="500K", checkpoint=path)
    straight = model(**settings).fit_source(again, memory="500K")
    np.testing.assert_array_equal(resumed.coef_, straight.coef_)


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "state"
    quietly(lambda: model(max_iter=3).fit_source(source(), memory="200K", checkpoint=path, checkpoint_seconds=0))
    return path


@pytest.mark.parametrize(
    ("settings", "y", "sentence"),
    [
        ({"lam": 2e-3}, Y, r"another run: there lam was 0.001, here it is 0.002"),
        ({"random_state": 1}, Y, "random_state was"),
        ({"solver": "dual"}, Y, "solver was 'auto', here it is 'dual'"),
        ({"class_weight": "balanced"}, Y, "class_weight was None"),
        ({"intercept_scaling": 2.0}, Y, "intercept_scaling was 1.0"),
        ({}, Y[::-1], "the fingerprint of the source was"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused(checkpoint, settings, y, sentence):
    before = checkpoint.read_bytes()
    with pytest.raises(PegasosError, match=sentence):
        model(**settings).fit_source(source(y), memory="200K", checkpoint=checkpoint)
    assert checkpoint.read_bytes() == before


def test_the_checkpoint_of_the_same_rows_in_other_blocks_is_refused(checkpoint):
    other = source(block_rows=260)
    assert other.n_blocks == source().n_blocks
    with pytest.raises(PegasosError, match="another run: there the digest of the starts of its blocks was"):
        model().fit_source(other, memory="200K", checkpoint=checkpoint)


@pytest.mark.parametrize("solver", ["auto", "dual"])
def test_a_checkpoint_continues_to_a_smaller_tol_and_back(tmp_path, solver):
    options = {"memory": "300K", "checkpoint": tmp_path / "state", "checkpoint_seconds": 0}
    loose = model(tol=1e-3, solver=solver).fit_source(source(), **options)
    tight = model(tol=1e-4, solver=solver).fit_source(source(), **options)
    assert tight.certificate_.relative_gap <= 1e-4
    assert tight.n_iter_ >= loose.n_iter_
    again = model(tol=1e-3, solver=solver).fit_source(source(), **options)
    assert again.certificate_.relative_gap <= 1e-3
    assert again.alpha_.min() >= 0.0
    assert again.alpha_.max() <= 1.0


def test_a_checkpoint_knows_its_seed_where_none_is_given(tmp_path):
    path, settings = tmp_path / "state", {"random_state": None, "tol": None}
    options = {"memory": "200K", "checkpoint": path, "checkpoint_seconds": 0}
    quietly(lambda: model(max_iter=2, **settings).fit_source(source(), **options))
    model(max_iter=4, **settings).fit_source(source(), **options)


def test_a_damaged_checkpoint_is_refused(checkpoint):
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.raises(PegasosError, match="state is not a complete archive of pegasos"):
        model().fit_source(source(), memory="200K", checkpoint=checkpoint)


def test_a_full_disk_ends_the_fit_with_an_error_and_leaves_the_last_checkpoint(checkpoint):
    before, limits = checkpoint.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(PegasosError, match="state could not be written: File too large"):
            model().fit_source(source(), memory="200K", checkpoint=checkpoint, checkpoint_seconds=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert checkpoint.read_bytes() == before


# What is refused


@pytest.mark.parametrize(
    ("memory", "n_bytes"),
    [("2G", 2 << 30), ("500M", 500 << 20), ("1.5 gb", 3 << 29), ("10KiB", 10240), (12345, 12345), ("7", 7)],
)
def test_memory_is_bytes_or_a_number_with_a_unit(memory, n_bytes):
    assert bytes_of_memory(memory) == n_bytes


@pytest.mark.parametrize("memory", ["much", "", "-1G", 0, -5, 1.5, None, True, "1e9", "2 G G"])
def test_other_memory_is_refused(memory):
    with pytest.raises(PegasosError, match="memory must be a number of bytes or a string such as '2G'"):
        model().fit_source(source(), memory=memory)


def test_too_little_memory_says_how_much_would_do():
    with pytest.raises(PegasosError, match="too little") as failure:
        model().fit_source(source(), memory="10K")
    enough = int(str(failure.value).split("give at least ")[1].split(",")[0])
    model().fit_source(source(), memory=enough)
    with pytest.raises(PegasosError, match="too little"):
        model().fit_source(source(), memory=enough - 1)


@pytest.mark.parametrize(
    "settings",
    [
        {"multi_class": "ovo"},
        {"multi_class": "crammer_singer"},
        {"C": np.inf, "lam": 1e-4},
        {"regularize_intercept": False},
        {"prior": (np.zeros((1, 12)), np.zeros(1))},
        {"probability": True},
        {"warm_start": True},
        {"batch_size": 10},
        {"batch_size": "all"},
        {"sampling": "uniform"},
        {"projection": True},
    ],
)
def test_what_needs_all_rows_at_hand_is_refused_by_name(settings):
    with pytest.raises(PegasosError, match=f"^fit_source .*, got {next(iter(settings))}="):
        model(**settings).fit_source(source())


class Labelled(ArraySource):
    """Labels as they come, one array for each block."""

    def __init__(self, labels):
        super().__init__(X, Y, 250)
        self.labels = labels

    def block(self, k):
        return Block(super().block(k).X, self.labels(k))


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (X, "needs a path or a source of blocks, got ndarray; for arrays in memory use fit"),
        (None, "got NoneType"),
        (ArraySource(X[:0], Y[:0]), "the source has no rows"),
        (ArraySource(X, np.ones(3000)), "y has only one class, 1.0"),
        (
            Labelled(lambda k: np.full(250, np.nan if k == 3 else k % 2)),
            "block 3 of the source has a label that is NaN",
        ),
        (Labelled(lambda k: np.arange(9)), r"block 0 of the source has 250 rows and labels of shape \(9,\)"),
        (Labelled(lambda k: np.array([1, "a"] * 125, object)), "labels of several kinds"),
    ],
)
def test_sources_that_cannot_be_trained_on_are_refused(bad, sentence):
    with pytest.raises(PegasosError, match=sentence):
        model().fit_source(bad, memory="200K")


def test_labels_that_are_not_classes_are_refused():
    with pytest.raises(ValueError, match="Unknown label type"):
        model().fit_source(ArraySource(X, RANDOM.normal(size=3000), 250), memory="200K")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"checkpoint": 3}, "checkpoint must be None or the path of a file, got 3"),
        ({"checkpoint": "/no/such/folder/state"}, "must be a file in a folder that exists"),
        ({"checkpoint": "/tmp"}, "must be a file in a folder that exists"),
        (
            {"checkpoint": "state", "checkpoint_seconds": -1},
            "checkpoint_seconds must be a number of at least 0, got -1",
        ),
    ],
)
def test_checkpoints_that_could_not_be_written_are_refused_before_any_work(options, sentence):
    with pytest.raises(PegasosError, match=sentence):
        model().fit_source(source(), **options)


def test_a_fit_that_fails_leaves_the_last_model():
    mine = model().fit(X, Y)
    before = mine.coef_.copy()
    values = X[:, :5].copy()
    values[700] = np.inf
    with pytest.raises(
        PegasosError, match=r"block 2 of the source \(rows 500 to 749\): X contains NaN or inf.* in row 200"
    ):
        mine.fit_source(source(values=values), memory="200K")
    np.testing.assert_array_equal(mine.coef_, before)
    assert mine.predict(X).shape == Y.shape
