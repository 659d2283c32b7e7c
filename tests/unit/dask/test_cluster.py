"""On clusters: rows stay where they are, any number of workers gives the same bits, and a dead worker is survived."""

import gc
import os
import signal
import time

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import pegasos
from pegasos import PegasosError
from pegasos.dask import PegasosClassifier, _rounds
from pegasos.distributed import answer
from pegasos.solvers import partitioned_newton

SETTINGS = {"lam": 1e-2, "random_state": 0}


@pytest.fixture(autouse=True)
def _rows_stay_where_they_are(monkeypatch):
    """Data as small as this would be gathered as a whole."""
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)


def data(n=2000, n_partitions=4):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 6))
    y = np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, 1, 0)
    chunks = n // n_partitions
    return da.from_array(X, chunks=(chunks, 6)), da.from_array(y, chunks=chunks)


def cluster_of(n_workers, *, processes=False):
    quiet = {"dashboard_address": ":0", "threads_per_worker": 1, "silence_logs": 50}
    return LocalCluster(n_workers=n_workers, processes=processes, **quiet)


@pytest.fixture(scope="module")
def cluster():
    with cluster_of(2) as cluster, Client(cluster):
        yield cluster


@pytest.fixture(scope="module")
def processes():
    with cluster_of(2, processes=True) as cluster, Client(cluster) as client:
        yield client


def test_workers_do_not_change_a_bit(cluster):
    X, y = data()
    of_two = PegasosClassifier(**SETTINGS).fit(X, y)
    with cluster_of(1) as single, Client(single, set_as_default=False) as client:
        of_one = PegasosClassifier(**SETTINGS, client=client).fit(X, y)
    with dask.config.set(scheduler="synchronous"), Client.as_current(None):
        of_none = PegasosClassifier(**SETTINGS).fit(X, y)
    assert of_two.certificate_ == of_one.certificate_ == of_none.certificate_
    assert np.array_equal(of_two.coef_, of_one.coef_)
    assert np.array_equal(of_two.coef_, of_none.coef_)


def test_rows_never_move_between_workers_and_nothing_is_left_behind(cluster):
    X, y = data()
    before = {address: len(worker.transfer_incoming_log) for address, worker in all_workers(cluster)}
    PegasosClassifier(**SETTINGS, tol=1e-6).fit(X, y)
    moved = [
        key
        for address, worker in all_workers(cluster)
        for transfer in list(worker.transfer_incoming_log)[before[address] :]
        for key in transfer["keys"]
        if str(key).startswith(("pegasos-read", "pegasos-code"))
    ]
    assert moved == []
    deadline = time.monotonic() + 10
    while cluster.scheduler.tasks and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    assert not cluster.scheduler.tasks


def all_workers(cluster):
    return [(worker.address, worker) for worker in cluster.workers.values()]


def test_the_scheduler_does_not_remember_all_passes(cluster, monkeypatch):
    counts, answers = [], _rounds.OnWorkers.answers

    def counted(self, asked):
        found = answers(self, asked)
        counts.append(len(cluster.scheduler.tasks))
        return found

    monkeypatch.setattr(_rounds.OnWorkers, "answers", counted)
    monkeypatch.setattr(partitioned_newton, "_MOST_HERE", 1)  # nothing is ever gathered
    with pytest.warns(pegasos.GapWarning):
        PegasosClassifier(lam=1e-6, tol=1e-12, max_iter=40, random_state=0).fit(*data(400))
    assert len(counts) >= 20
    assert max(counts[20:]) < 60  # four more a pass would be 80


def test_many_features_go_out_by_scatter(cluster):
    X = da.random.default_rng(1).normal(size=(200, 9000), chunks=(50, -1))
    y = X[:, 0] > 0
    model = PegasosClassifier(lam=1.0, random_state=0).fit(X, y)
    local = pegasos.PegasosClassifier(lam=1.0).fit(X.compute(), y.compute())
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certificate_.primal == pytest.approx(local.certificate_.primal, rel=2e-3)


def test_a_worker_that_is_stuck_is_named(cluster, monkeypatch):
    def asleep(*arguments):
        time.sleep(3.0)

    monkeypatch.setattr(_rounds, "answer", asleep)
    X, y = data()
    with pytest.raises(PegasosError, match=r"worker inproc://.* had not finished .* timeout=0.6 seconds"):
        PegasosClassifier(**SETTINGS, timeout=0.6).fit(X, y)


def test_a_pass_that_fails_in_a_partition_names_it(cluster, monkeypatch):
    def failing(coded, asked):
        if coded.number == 2:
            raise PegasosError(f"In partition {coded.number}: out of memory")
        return answer(coded, asked)

    monkeypatch.setattr(_rounds, "answer", failing)
    y = da.from_array(np.arange(2000) % 3, chunks=500)  # three problems, whose threads wait for each other
    with pytest.raises(PegasosError, match="In partition 2: out of memory"):
        PegasosClassifier(**SETTINGS).fit(data()[0], y)


def test_a_corrupt_file_is_an_error_that_names_its_partition(cluster, tmp_path):
    X, _ = data(40, 1)
    frame = pd.DataFrame(X.compute(), columns=list("abcdef")).assign(y=np.arange(40) % 2)
    for k in range(3):
        frame.to_parquet(tmp_path / f"{k}.parquet")
    (tmp_path / "1.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    parts = [dask.delayed(pd.read_parquet)(tmp_path / f"{k}.parquet") for k in range(3)]
    blocks = [[part[names] for part in parts] for names in (list("abcdef"), "y")]
    with pytest.raises(PegasosError, match="partition 1 cannot be made: "):
        PegasosClassifier(**SETTINGS).fit(*blocks)


def test_many_partitions_are_merged_on_the_workers_with_the_same_bits(cluster):
    X, y = data(2000, 20)
    model = PegasosClassifier(**SETTINGS).fit(X, y)
    with dask.config.set(scheduler="synchronous"), Client.as_current(None):
        here = PegasosClassifier(**SETTINGS).fit(X, y)
    assert model.certificate_ == here.certificate_
    assert np.array_equal(model.coef_, here.coef_)


def fitted_within_a_task(blocks, labels):
    blocks, labels = ([dask.delayed(part) for part in each] for each in (blocks, labels))
    return PegasosClassifier(**SETTINGS).fit(blocks, labels).coef_


@pytest.mark.slow
def test_a_fit_within_a_task_does_not_wait(cluster):
    X, y = (list(np.split(column.compute(), 4)) for column in data())
    coef = Client.current().submit(fitted_within_a_task, X, y).result(timeout=60)
    assert np.array_equal(coef, PegasosClassifier(**SETTINGS).fit(*data()).coef_)


def test_a_closed_client_is_refused(cluster):
    client = Client(cluster, set_as_default=False)
    client.close()
    with pytest.raises(PegasosError, match="the client is closed"):
        PegasosClassifier(**SETTINGS, client=client).fit(*data())


def kill_one(client):
    """A worker that holds rows, at once and without a word."""
    address, pid = sorted(client.run(os.getpid).items())[0]
    os.kill(pid, signal.SIGKILL)
    return address


def dying_in_pass(monkeypatch, client, number):
    """The worker dies when that pass begins."""
    passes, dead = [], []
    whole = _rounds.OnWorkers.answers

    def pass_with_a_death(self, asked):
        passes.append(asked)
        if len(passes) == number:
            dead.append(kill_one(client))
        return whole(self, asked)

    monkeypatch.setattr(_rounds.OnWorkers, "answers", pass_with_a_death)
    return dead


@pytest.mark.parametrize(
    "number", [4, pytest.param(1, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)]
)
def test_a_dead_worker_does_not_change_a_bit(number, processes, monkeypatch):
    processes.wait_for_workers(2)
    X, y = data()
    settings = {"lam": 1e-4, "tol": 1e-6, "random_state": 0}
    with dask.config.set(scheduler="synchronous"), Client.as_current(None):
        undisturbed = PegasosClassifier(**settings).fit(X, y)
    dead = dying_in_pass(monkeypatch, processes, number)
    model = PegasosClassifier(**settings, client=processes).fit(X, y)
    assert len(dead) == 1
    assert model.certificate_ == undisturbed.certificate_
    assert np.array_equal(model.coef_, undisturbed.coef_)


@pytest.mark.slow
def test_partitions_that_cannot_be_made_again_are_named(processes, monkeypatch):
    processes.wait_for_workers(2)
    X, y = data()
    scattered = processes.scatter(list(np.split(X.compute(), 4)))
    dying_in_pass(monkeypatch, processes, 2)
    with pytest.raises(PegasosError, match=r"partitions \[.*\] were lost with their worker"):
        PegasosClassifier(**SETTINGS, tol=1e-7, client=processes).fit(scattered, y)
