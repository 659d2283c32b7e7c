"""A fit on a cluster that is watched, limited or cancelled: lines, names on the dashboard, budgets, Ctrl-C."""

import gc
import os
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import pegasos
from pegasos.dask import PegasosClassifier, _rounds
from pegasos.distributed import answer
from pegasos.solvers import partitioned_newton

SLOW_PASS = 0.2  # seconds


@pytest.fixture(autouse=True)
def _rows_stay_where_they_are(monkeypatch):
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)


@pytest.fixture(scope="module")
def cluster():
    quiet = {"dashboard_address": ":0", "threads_per_worker": 1, "silence_logs": 50}
    with LocalCluster(n_workers=2, processes=False, **quiet) as cluster, Client(cluster):
        yield cluster


@pytest.fixture
def slow(monkeypatch):
    """Passes that take their time."""

    def slowly(*arguments):
        time.sleep(SLOW_PASS)
        return answer(*arguments)

    monkeypatch.setattr(_rounds, "answer", slowly)


def data(n_classes=2):
    random = np.random.default_rng(0)
    X = random.normal(size=(800, 5))
    y = (X[:, :n_classes] + random.normal(size=(800, n_classes))).argmax(axis=1)
    return da.from_array(X, chunks=(400, 5)), da.from_array(y, chunks=400)


def nothing_is_left(cluster, seconds=10.0):
    end = time.monotonic() + seconds
    while cluster.scheduler.tasks and time.monotonic() < end:
        gc.collect()
        time.sleep(0.05)
    return not cluster.scheduler.tasks


def test_verbose_2_prints_a_line_for_each_pass(cluster, capsys):
    model = PegasosClassifier(lam=1e-3, random_state=0, verbose=2).fit(*data(3))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("pass ")]
    assert [line.split(":")[0] for line in lines] == [f"pass {k + 1}" for k in range(model.n_passes_)]
    counts = [int(line.split(":")[1].split()[0]) for line in lines]
    assert counts[0] == 3
    assert counts == sorted(counts, reverse=True)  # problems that are solved ask no more


def test_the_dashboard_has_a_name_for_each_phase_and_counts_its_tasks(cluster):
    """Its progress bars are the scheduler's prefixes."""
    counted = {name: prefix.state_counts["memory"] for name, prefix in cluster.scheduler.task_prefixes.items()}
    model = PegasosClassifier(lam=1e-3, probability=True, random_state=0).fit(*data())
    done = {
        name: prefix.state_counts["memory"] - counted.get(name, 0)
        for name, prefix in cluster.scheduler.task_prefixes.items()
    }
    ours = {name: n for name, n in done.items() if name.startswith("pegasos-")}
    for name in ("read", "summarize", "summarize-folds", "code", "measure"):
        assert ours.pop(f"pegasos-{name}") == 2  # one for each partition
    assert ours.pop("pegasos-answer") == 2 * model.n_passes_  # that of the held-out scores is one of them
    assert not any(ours.values())


@pytest.mark.usefixtures("slow")
def test_a_time_budget_ends_a_fit_within_a_pass(cluster):
    model = PegasosClassifier(lam=1e-6, tol=1e-12, random_state=0, time_budget=1.0)
    begun = time.monotonic()
    with pytest.warns(pegasos.GapWarning, match="time_budget"):
        model.fit(*data())
    # The certificate of the last point is one more pass.
    assert 1.0 <= model.trace_["seconds"][-1] <= time.monotonic() - begun < 1.0 + 10 * SLOW_PASS
    assert model.certificate_.is_finite
    assert nothing_is_left(cluster)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ctrl_c_leaves_the_best_model_and_no_task_on_the_cluster(n_classes, cluster):
    model = PegasosClassifier(lam=1e-6, tol=1e-12, random_state=0)
    threading.Timer(5.5 * SLOW_PASS, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.warns(pegasos.GapWarning, match="interrupted"):
        model.fit(*data(n_classes))
    assert time.monotonic() - begun < 20.0
    assert model.certificate_.is_finite
    assert nothing_is_left(cluster)
