"""Passes on the workers of a dask cluster of this machine: seconds, bytes, and a formula that predicts them.

    python -m benchmarks.scale.run cluster

A pass should take

    seconds = values / (rate speedup) + latency + bytes / bandwidth + client / passes

where client is what the client computes itself, on the sample and on gathered rows. The constants are measured apart
from the fits that the formula is held against: the rate and the client's part by a fit in this process; the speedup of
the workers by one question about generated rows, here and there, since they share the cores of this machine with each
other, the scheduler and the client; the latency by fits of a few rows; the bandwidth by one long vector each way. Every
time is the best of several. Workers have one thread each; the partitions are eight, whatever the number of workers.
"""

import os
from functools import lru_cache
from time import perf_counter

import dask
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait

from benchmarks.scale.problems import LAM, covtype, text
from benchmarks.scale.rounds import partitions_of
from pegasos.dask import PegasosClassifier
from pegasos.solvers import driver
from pegasos.solvers.partitioned import PartitionedProblem, PartitionsHere
from pegasos.solvers.partitioned_newton import PartitionedNewton
from pegasos.solvers.passes import Survey

title = "Passes on a dask cluster of this machine"
PROBLEMS = {"covtype": covtype, "text": text}
N_PARTITIONS = 8
BEST_OF = 3


@lru_cache(maxsize=1)
def whole_of(name):
    """The data of a problem, made once per process."""
    return PROBLEMS[name]()


def part(name, k, column):
    """Made by the worker itself: partition k of the rows or the labels."""
    whole = whole_of(name)[column]
    ends = np.linspace(0, whole.shape[0], N_PARTITIONS + 1).astype(int)
    return whole[ends[k] : ends[k + 1]]


def generated(k):
    """Partition k of rows that no fit uses."""
    random = np.random.default_rng(k)
    X = random.normal(size=(20_000, 54)).astype(np.float32)
    return partitions_of(X, np.where(X[:, 0] > 0, 1, -1), 1)[0]


def best_of(function, n=BEST_OF):
    """The least seconds of several calls."""
    found = []
    for _ in range(n):
        begun = perf_counter()
        function()
        found.append(perf_counter() - begun)
    return min(found)


def nothing(block):
    """A task that computes nothing."""


def speedup_of(client, n_workers):
    """How many times faster than this process the workers answer a question about generated rows, at most as many."""
    question, places = Survey(np.full(55, 0.1), (0.3,), bent=0.3), range(N_PARTITIONS)
    rows = [generated(k) for k in places]
    here = best_of(lambda: [question(each) for each in rows])
    there = [client.submit(generated, k, pure=False) for k in places]
    wait(there)
    asked = best_of(lambda: client.gather(client.map(question, there, pure=False)))
    overhead = best_of(lambda: client.gather(client.map(nothing, there, pure=False)))
    return min(here / max(asked - overhead, 1e-3), n_workers, os.cpu_count())


class Timed(PartitionsHere):
    """Partitions in this process, and the seconds that they take."""

    def ask(self, question):
        begun = perf_counter()
        answer = super().ask(question)
        self.seconds.append(perf_counter() - begun)
        return answer


def here(name):
    """Stored values per second of a pass on one thread, and the seconds that the client computes in between."""
    X, y = whole_of(name)
    rates, clients = [], []
    for _ in range(BEST_OF):
        parts = Timed(partitions_of(X, y, N_PARTITIONS))
        object.__setattr__(parts, "seconds", [])
        begun = perf_counter()
        problem = PartitionedProblem(parts, LAM, float(X.shape[0]), 1.0)
        driver.run(problem, PartitionedNewton(), driver.Stop(1e-3, 1000, None))
        whole, passes = perf_counter() - begun, sum(parts.seconds)
        rates.append(parts.n_stored * len(parts.seconds) / passes)
        clients.append(whole - passes)
    return max(rates), min(clients)


def constants_of(client):
    X = da.from_array(np.random.default_rng(0).normal(size=(80, 3)), chunks=(10, 3))
    y = da.from_array(np.arange(80) % 2, chunks=10)
    tiny = [PegasosClassifier(lam=1e-2, client=client).fit(X, y) for _ in range(BEST_OF + 1)]
    latency = min(float(model.trace_["seconds"][-1]) / model.n_passes_ for model in tiny)
    vector = np.zeros(2_000_000)
    seconds = best_of(lambda: client.gather(client.scatter([vector], broadcast=True, hash=False)))
    return latency, 2 * vector.nbytes / seconds


def fit_on(client, name):
    """The fastest of several fits, and the bytes that went between the processes meanwhile."""
    blocks = [[dask.delayed(part)(name, k, column) for k in range(N_PARTITIONS)] for column in (0, 1)]
    blocks = [client.compute(each) for each in blocks]
    client.gather([client.submit(np.shape, block) for each in blocks for block in each])
    found = []
    for _ in range(BEST_OF):
        sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
        model = PegasosClassifier(lam=LAM, client=client, random_state=0).fit(*blocks)
        found.append((model, psutil.net_io_counters(pernic=True)["lo"].bytes_sent - sent))
    return min(found, key=lambda each: each[0].trace_["seconds"][-1])


def run():
    """One row for each problem and number of workers."""
    rows = []
    for name in PROBLEMS:
        X, _ = whole_of(name)
        stored, (rate, client_seconds) = (X.nnz if hasattr(X, "nnz") else X.size), here(name)
        for n_workers in (1, 2, 4):
            options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
            with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
                latency, bandwidth = constants_of(client)
                speedup = speedup_of(client, n_workers)
                model, sent = fit_on(client, name)
            seconds, passes = float(model.trace_["seconds"][-1]), model.n_passes_
            predicted = stored / (rate * speedup) + latency + sent / passes / bandwidth
            predicted += client_seconds / passes
            rows.append(
                {
                    "problem": name,
                    "workers": n_workers,
                    "passes": passes,
                    "gap": f"{model.certificate_.relative_gap:.1e}",
                    "seconds": round(seconds, 2),
                    "seconds per pass": round(seconds / passes, 3),
                    "by the formula": round(predicted, 3),
                    "MB per pass": round(sent / passes / 1e6, 2),
                    "rate": f"{rate:.2g}",
                    "speedup": round(speedup, 2),
                    "latency": round(latency, 3),
                    "bandwidth": f"{bandwidth:.2g}",
                    "client": round(client_seconds, 2),
                }
            )
            print(rows[-1], flush=True)  # a busy machine takes minutes
    return rows
