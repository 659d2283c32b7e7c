"""Faults of a cluster: a fit survives with the same bits, or an error names the partition; nothing hangs."""

import os
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from pegasos import PegasosError
from pegasos.dask import PegasosClassifier, _rounds, _workers
from pegasos.solvers import partitioned_newton

SETTINGS = {"lam": 1e-4, "tol": 1e-6, "probability": True, "random_state": 0}
QUIET = {"dashboard_address": ":0", "threads_per_worker": 1, "silence_logs": 50, "processes": True}
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dask_faults")]


@pytest.fixture(autouse=True)
def _rows_stay_where_they_are(monkeypatch):
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)


def fitted(client, X, y, **settings):
    """A fit that may take a minute."""

    def too_long(*_):
        raise AssertionError("the fit hangs")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(60)
    try:
        return PegasosClassifier(client=client, **settings).fit(X, y)
    finally:
        signal.alarm(0)


def blocks(n=2000, n_partitions=4):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 6))
    y = X[:, 0] + 0.5 * random.normal(size=n) > 0
    return da.from_array(X, chunks=(n // n_partitions, 6)), da.from_array(y, chunks=n // n_partitions)


@pytest.fixture(scope="module")
def undisturbed():
    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler="synchronous"):
        patch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)
        return PegasosClassifier(**SETTINGS).fit(*blocks())


def is_same(model, undisturbed):
    return model.certificate_ == undisturbed.certificate_ and np.array_equal(
        model.predict_proba(blocks()[0]).compute(), undisturbed.predict_proba(blocks()[0]).compute()
    )


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, **QUIET) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def before(monkeypatch, owner, method, number, event):
    """Let something happen before that call of a method."""
    whole, calls = getattr(owner, method), []

    def disturbed(*arguments, **named):
        calls.append(1)
        if len(calls) == number:
            event()
        return whole(*arguments, **named)

    monkeypatch.setattr(owner, method, disturbed)
    return calls


# The first `locate` waits for the partitions to be read, the second `compute` encodes them. Calls of `map`: 1 counts
# the partitions, 2 their folds, 3 measures them; each later one is a pass. The last pass collects held-out scores.
# `fetch` brings the answers of a pass here.
PHASES = [("locate", 1), ("compute", 2), ("map", 1), ("map", 2), ("map", 3), ("map", 5), ("map", "last"), ("fetch", 6)]


@pytest.mark.parametrize(("method", "number"), PHASES)
def test_a_worker_killed_in_any_phase_does_not_change_a_bit(method, number, client, undisturbed, monkeypatch):
    client.wait_for_workers(2)
    number = undisturbed.n_passes_ + 3 if number == "last" else number

    def kill_one():
        os.kill(sorted(client.run(os.getpid).items())[0][1], signal.SIGKILL)

    calls = before(monkeypatch, _workers.OnCluster, method, number, kill_one)
    model = fitted(client, *blocks(), **SETTINGS)
    assert len(calls) >= number
    assert is_same(model, undisturbed)


@pytest.mark.parametrize("n_workers", [1, 4])
def test_the_number_of_workers_does_not_change_a_bit(n_workers, undisturbed):
    with LocalCluster(n_workers=n_workers, **QUIET) as cluster, Client(cluster, set_as_default=False) as client:
        assert is_same(fitted(client, *blocks(), **SETTINGS), undisturbed)


def test_a_restart_of_all_workers_is_survived_or_named(client, undisturbed, monkeypatch):
    client.wait_for_workers(2)
    before(monkeypatch, _rounds.OnWorkers, "answers", 3, lambda: client.restart(timeout=30))
    with pytest.raises(PegasosError, match=r"partitions \[0, 1, 2, 3\] were lost"):
        fitted(client, *blocks(), **SETTINGS)
    assert is_same(fitted(client, *blocks(), **SETTINGS), undisturbed)


def test_a_scheduler_that_dies_is_an_error(tmp_path, monkeypatch):
    where = tmp_path / "scheduler.json"
    named = ["--scheduler-file", str(where)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    run = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*run, "scheduler", *named, "--port", "0", "--no-dashboard"], **quiet)
    worker = subprocess.Popen([*run, "worker", *named, "--nthreads", "1", "--no-dashboard"], **quiet)
    try:
        while not where.exists():
            time.sleep(0.1)
        with Client(scheduler_file=str(where), set_as_default=False, timeout=30) as client:
            client.wait_for_workers(1)
            before(monkeypatch, _rounds.OnWorkers, "answers", 3, scheduler.kill)
            with pytest.raises(PegasosError, match="scheduler"):
                fitted(client, *blocks(), **SETTINGS)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def huge(k):
    """Partition 1 needs more memory than its worker may have."""
    kept = [np.ones(1 << 20) for _ in range(200 if k == 1 else 1)]
    time.sleep(5.0 if k == 1 else 0.0)
    return np.random.default_rng(k).normal(size=(50, 3)) * kept[0][0]


def test_a_worker_out_of_memory_is_an_error_that_names_the_partition():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0, "distributed.worker.memory.terminate": 0.9}),
        LocalCluster(n_workers=2, memory_limit="700MB", **QUIET) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        X = [dask.delayed(huge)(k) for k in range(3)]
        y = [dask.delayed(np.arange)(50) % 2 for _ in range(3)]
        # Without a second try, dask also gives up a partition that happened to be on the worker that died.
        named = r"(partition 1|one of the partitions \[[02, ]*1[2, ]*\]) kills the workers .* lack of memory"
        with pytest.raises(PegasosError, match=named):
            fitted(client, X, y)


def fill_the_disk():
    import zict

    def full(*_):
        raise OSError(28, "No space left on device")

    zict.File.__setitem__ = full


def test_a_full_disk_is_survived_while_memory_lasts(undisturbed):
    spill_at_once = {"distributed.worker.memory.target": 1e-6, "distributed.worker.memory.spill": False}
    with (
        dask.config.set(spill_at_once),
        LocalCluster(n_workers=2, memory_limit="1GB", **QUIET) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.run(fill_the_disk)
        assert is_same(fitted(client, *blocks(), **SETTINGS), undisturbed)


def test_a_column_missing_in_one_file_is_named(client, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
    for k in range(3):
        (frame.drop(columns="b") if k == 2 else frame).to_parquet(tmp_path / f"{k}.parquet")
    X = [dask.delayed(pd.read_parquet)(tmp_path / f"{k}.parquet") for k in range(3)]
    y = [dask.delayed(np.arange)(40) % 2 for _ in range(3)]
    with pytest.raises(PegasosError, match="partition 2 lacks column 'b'"):
        fitted(client, X, y)
