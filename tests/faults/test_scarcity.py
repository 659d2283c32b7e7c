"""Memory and threads that are refused at one moment after the other: an exception, and the right bits afterwards."""

import errno
import mmap
import re
import shutil
import sys
import zipfile

import numpy as np
import pytest

import pegasos
from pegasos import KernelPegasosClassifier, PegasosError
from pegasos.data import read
from pegasos.kernels import FunctionKernel
from tests.faults.models import rows
from tests.faults.scarcity import preloaded

can_refuse = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="what refuses is compiled, for Linux"
)


def refuse(*_, **__):
    """In the place of what needs memory."""
    raise MemoryError


def test_a_table_of_kernel_columns_that_finds_no_room_is_a_memory_error(monkeypatch):
    X, many = rows(100)

    def no_room(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", no_room)
    monkeypatch.setattr("pegasos.gram.columns._FEW_BYTES", 1)
    with pytest.raises(MemoryError, match="cache_size"):
        KernelPegasosClassifier(random_state=0).fit(X, many % 2)


def test_want_of_memory_is_not_taken_for_a_broken_file(monkeypatch, tmp_path):
    X, many = rows(100)
    np.savez(tmp_path / "rows.npz", X=X, y=many)
    np.save(tmp_path / "rows.npy", X)
    KernelPegasosClassifier(random_state=0).fit(X, many).save(tmp_path / "model.pegasos")
    with monkeypatch.context() as patched:
        patched.setattr(zipfile, "ZipFile", refuse)
        with pytest.raises(MemoryError):
            read(tmp_path / "rows.npz")
    with monkeypatch.context() as patched:
        patched.setattr(np, "load", refuse)
        with pytest.raises(PegasosError, match="not enough memory"):
            read(tmp_path / "rows.npy", labels=False)
    with monkeypatch.context() as patched:
        patched.setattr(np.lib.format, "read_array_header_1_0", refuse)
        with pytest.raises(PegasosError, match="not enough memory"):
            pegasos.load(tmp_path / "model.pegasos")


def test_want_of_memory_in_a_kernel_of_the_user_is_not_taken_for_a_fault_of_it():
    with pytest.raises(MemoryError):
        FunctionKernel(refuse).block(np.ones((3, 2)), np.ones((3, 2)))


def counts_of(*arguments):
    """For each job and kind of failure: how often it failed, at how many places, and how often it found another way."""
    done = preloaded(arguments, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    found = re.findall(r"(.{24})(\w+) +(\d+) failed at +(\d+) places, +(\d+) found another way", done.stdout)
    return {(job.strip(), means): tuple(map(int, counts)) for job, means, *counts in found}


@can_refuse
def test_without_threads_the_loops_give_the_same_bits_and_without_memory_an_exception():
    counts = counts_of("--job", "newton", "--job", "read npz", "--means", "thread", "--means", "request", "--most", "4")
    assert counts["newton", "thread"] == (0, 0, 4)
    assert counts["newton", "request"][0] == counts["read npz", "request"][0] == 4


@can_refuse
@pytest.mark.slow
def test_a_request_for_memory_that_is_refused_is_an_exception_and_changes_nothing():
    names = ["newton", "kernel", "predict", "read svmlight", "read npz", "save", "load"]
    chosen = [word for name in names for word in ("--job", name)]
    counts = counts_of(*chosen, "--means", "request", "--most", "12")
    assert {name for name, _ in counts} == set(names)
    assert all(failed > 0 for failed, _, _ in counts.values())
    assert sum(places for _, places, _ in counts.values()) > 30


@can_refuse
@pytest.mark.slow
def test_no_job_ends_the_process_where_memory_or_threads_give_out():
    counts = counts_of("--most", "40")
    assert len(counts) > 100
    assert sum(failed for failed, _, _ in counts.values()) > 1000
    assert sum(failed for (_, means), (failed, _, _) in counts.items() if means == "limit") > 100
