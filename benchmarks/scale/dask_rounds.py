"""Rounds on a cluster: their number, seconds and bytes, a model of them, and dask-ml's way to the same objective.

    python -m benchmarks.scale.dask_rounds

The workers are processes of this machine, of one thread each. The same two partitions are given to one worker and to
two, so that the mathematics is the same. A round should take

    seconds = (local_epochs + 2) values / rate + latency + bytes / bandwidth

where values are the stored ones of the largest worker's rows; the two more passes are those of w(alpha) and of the
losses. The three constants are measured apart from the fits that the model is held against: the rate by a partition in
this process, the latency by a fit of a few rows, the bandwidth by one long vector each way.

dask-ml's rival is ``Incremental(SGDClassifier(average=True))``, pass by pass until its objective, which is computed
here and not timed, is as low as ours. There is no intercept, which the two regularise differently.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import dask
import dask.array as da
import numpy as np
import psutil
import scipy.sparse as sp
from dask_ml.wrappers import Incremental
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

from pegasos.dask import PegasosClassifier
from pegasos.dask._workers import OnCluster
from pegasos.problem import Problem, Rows
from pegasos.solution import Status
from pegasos.solvers import driver
from pegasos.solvers.cocoa import Climb, Cocoa, PartitionedProblem, PartitionsHere, local_round

title = "On a cluster of this machine: rounds of pegasos.dask"
RESULTS = Path(__file__).parents[1] / "results" / "dask_rounds.json"
N_PARTITIONS = 2
MOST_PASSES = 20
TIMED_ROUNDS = 15
PASSES = Cocoa().local_epochs + 2


def covtype(n_rows=200_000):
    """Class 2 against the rest, every feature divided by its largest value; generated where PEGASOS_DATA is not set."""
    random = np.random.default_rng(0)
    if "PEGASOS_DATA" in os.environ:
        with np.load(Path(os.environ["PEGASOS_DATA"]) / "covtype.npz", allow_pickle=False) as archive:
            chosen = random.permutation(len(archive["y"]))[:n_rows]
            X, y = archive["X"][chosen].astype(np.float32), archive["y"][chosen]
        largest = np.maximum(np.abs(X).max(axis=0), 1e-9)  # some soils may be missing
        return np.ascontiguousarray(X / largest), np.where(y == 2, 1, -1)
    X = random.normal(size=(n_rows, 54)).astype(np.float32)
    return X, np.where(X[:, :5].sum(axis=1) + random.normal(size=n_rows) > 0, 1, -1)


def text(n_rows=100_000, n_features=100_000, n_words=40):
    """Unit rows of words whose frequency falls as one over their rank; a tenth of the labels is wrong."""
    random = np.random.default_rng(0)
    words = (n_features ** random.random((n_rows, n_words))).astype(np.int32) - 1
    counts = np.ones(words.size, np.float32), words.ravel(), np.arange(0, words.size + 1, n_words, dtype=np.int32)
    X = sp.csr_matrix(counts, shape=(n_rows, n_features))
    X.sum_duplicates()
    X = normalize(X, copy=False)
    score = X @ random.normal(size=n_features)
    return X, np.where((score > np.median(score)) ^ (random.random(n_rows) < 0.1), 1, -1)


PROBLEMS = {"covtype": (covtype, 1e-5), "text": (text, 1e-5)}


def part(name, k, column):
    """Read by the worker itself: partition k of the rows or the labels."""
    whole = PROBLEMS[name][0]()[column]
    ends = np.linspace(0, whole.shape[0], N_PARTITIONS + 1).astype(int)
    return whole[ends[k] : ends[k + 1]]


def cluster_of(n_workers):
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50)


def seconds_a_round(model):
    """The median: what else the machine does falls on some rounds and not on others."""
    return float(np.median(np.diff(model.trace_["seconds"])))


def fit_on(client, name):
    """The fit, and the bytes that went through the interface between the processes meanwhile."""
    blocks = [[dask.delayed(part)(name, k, column) for k in range(N_PARTITIONS)] for column in (0, 1)]
    blocks = [client.compute(each) for each in blocks]
    client.gather([client.submit(np.shape, block) for each in blocks for block in each])
    model = PegasosClassifier(lam=PROBLEMS[name][1], fit_intercept=False, random_state=0, client=client)
    begun = perf_counter()
    model.fit(*blocks)
    seconds = perf_counter() - begun
    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
    timed = clone(model).set_params(tol=None, max_iter=TIMED_ROUNDS).fit(*blocks)
    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - sent
    vector = 8 * (model.n_features_in_ + 1)
    return model, {
        "rounds": model.n_iter_,
        "seconds": seconds,
        "seconds_a_round": seconds_a_round(timed),
        "bytes_a_round": sent / TIMED_ROUNDS,
        "bytes_of_the_vectors": vector * (N_PARTITIONS + len(client.nthreads())),
        "primal": model.certificate_.primal,
        "relative_gap": model.certificate_.relative_gap,
    }


def constants_of(client):
    """The latency of a round and the bandwidth."""
    random = np.random.default_rng(0)
    X = da.from_array(random.normal(size=(40, 3)), chunks=(20, 3))
    y = da.from_array(np.arange(40) % 2, chunks=20)
    tiny = PegasosClassifier(lam=1e-2, tol=None, max_iter=TIMED_ROUNDS, random_state=0, client=client).fit(X, y)
    workers, vector = OnCluster(client, None), np.zeros(2_000_000)
    begun = perf_counter()
    sum(map(len, client.gather([workers.place(vector, is_apart=True)])))
    return {"latency": seconds_a_round(tiny), "bandwidth": 2 * vector.nbytes / (perf_counter() - begun)}


def partitions_of(name, n):
    X, y = PROBLEMS[name][0]()
    lam, ends = PROBLEMS[name][1], np.linspace(0, X.shape[0], n + 1).astype(int)
    whole = Problem.plain(Rows.of(X, 0.0), y.astype(np.int8), lam)
    cuts = [slice(ends[k], ends[k + 1]) for k in range(n)]
    return whole, [
        replace(whole, rows=Rows.of(X[c], 0.0), sign=whole.sign[c], cost=whole.cost[c], offset=whole.offset[c])
        for c in cuts
    ]


def rate_of(name):
    """Values a second of one partition: a round's passes over its rows, in this process."""
    whole, parts = partitions_of(name, N_PARTITIONS)
    zero = np.zeros(whole.weights_shape)
    climb = Climb(Cocoa().local_epochs, np.float32, sigma=float(N_PARTITIONS), beta=0.0, seed=0)
    share = local_round(parts[0], None, zero, zero, climb)
    begun = perf_counter()
    share = local_round(parts[0], share, 2.0 * share.weights, share.weights, climb)
    parts[0].losses(share.weights)
    return PASSES * parts[0].rows.n_stored / (perf_counter() - begun)


def rounds_of(name, counts=(1, 2, 4, 8, 16, 32)):
    """Rounds to a relative gap of 1e-3 for so many partitions, which needs no cluster. None: more than 400."""
    found = {}
    for n in counts:
        whole, parts = partitions_of(name, n)
        problem = PartitionedProblem(PartitionsHere(parts), whole.lam, whole.total, whole.lam * whole.radius**2)
        solution = driver.run(problem, Cocoa(dtype=np.float32), driver.Stop(1e-3, 400))
        found[n] = solution.n_epochs if solution.status is Status.CERTIFIED else None
    return found


def rival(client, name, goal):
    """Passes and seconds of dask-ml until its objective is at most the goal."""
    X, y = PROBLEMS[name][0]()
    lam = PROBLEMS[name][1]
    problem = Problem.plain(Rows.of(X, 0.0), y.astype(np.int8), lam)
    futures = [[client.submit(part, name, k, c) for k in range(N_PARTITIONS)] for c in (0, 1)]
    lengths = client.gather([client.submit(np.shape, f) for f in futures[0]])
    rows = [da.from_delayed(dask.delayed(f), n, X.dtype) for f, n in zip(futures[0], lengths, strict=True)]
    labels = [da.from_delayed(dask.delayed(f), n[:1], y.dtype) for f, n in zip(futures[1], lengths, strict=True)]
    rows, labels = da.concatenate(rows), da.concatenate(labels)
    model = Incremental(
        SGDClassifier(alpha=lam, fit_intercept=False, average=True, random_state=0), shuffle_blocks=False
    )
    n_passes, seconds, best = 0, 0.0, np.inf
    while best > goal and n_passes < MOST_PASSES:
        n_passes += 1
        begun = perf_counter()
        model.partial_fit(rows, labels, classes=[-1, 1])
        seconds += perf_counter() - begun
        weights = np.append(model.estimator_.coef_[0], 0.0)
        losses = problem.losses(weights)
        best = min(best, losses.total / problem.total + 0.5 * lam * losses.square)
    return {"passes": n_passes, "seconds": seconds, "primal": best, "reached": bool(best <= goal)}


def model_of(found, n_workers):
    """What a round should take."""
    constants = found["constants"][str(n_workers)]
    compute = PASSES * found["values"] / n_workers / found["rate"]
    network = (N_PARTITIONS + n_workers) * 8 * (found["features"] + 1) / constants["bandwidth"]
    return compute + constants["latency"] + network


def measure():
    found = {}
    for name, (make, _) in PROBLEMS.items():
        whole, _ = make()
        stored = int(whole.nnz) if sp.issparse(whole) else whole.size
        found[name] = {"rows": whole.shape[0], "features": whole.shape[1], "values": stored, "rate": rate_of(name)}
        found[name].update(rounds_by_partitions=rounds_of(name), workers={}, constants={})
    for n_workers in (1, 2):
        with cluster_of(n_workers) as cluster, Client(cluster) as client:
            constants = constants_of(client)
            for name, its in found.items():
                its["constants"][str(n_workers)] = constants
                model, its["workers"][str(n_workers)] = fit_on(client, name)
                its["workers"][str(n_workers)]["model_seconds_a_round"] = model_of(its, n_workers)
                if n_workers == 2:
                    its["dask_ml"] = rival(client, name, model.certificate_.primal)
    return found


def forecast(its, *, rows=1e9, values_a_row=100, features=1e6, workers=100, bandwidth=1.25e9):
    """A round of so many workers, with a partition each, behind one link of 10 Gbit/s; rounds by a power of the number.

    Every worker's vector comes through the link, and goes out through it once.
    """
    known = {int(n): rounds for n, rounds in its["rounds_by_partitions"].items() if rounds is not None and int(n) > 1}
    power, log_one = np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)
    compute = PASSES * rows * values_a_row / workers / its["rate"]
    network = (workers + 1) * 8 * features / bandwidth
    latency = its["constants"]["2"]["latency"] * workers / N_PARTITIONS  # as if every partition took its turn
    rounds = float(np.exp(log_one) * workers**power)
    hours = rounds * (compute + network + latency) / 3600.0
    return {
        "workers": workers,
        "compute": compute,
        "network": network,
        "latency": latency,
        "power": power,
        "rounds": rounds,
        "hours": hours,
    }


def show(found):
    print("forecast", {key: round(value, 2) for key, value in found["forecast"].items()})
    for name, its in found["problems"].items():
        print(f"{name}: {its['rows']} x {its['features']}, {its['rate']:.2g} values a second")
        print("  rounds by partitions", its["rounds_by_partitions"])
        for n_workers, fit in its["workers"].items():
            a_round = f"{fit['seconds_a_round']:.3f} s a round (model {fit['model_seconds_a_round']:.3f})"
            amount = f"{fit['bytes_a_round'] / 1e6:.2f} MB a round"
            print(f"  {n_workers} workers: {fit['rounds']} rounds, {fit['seconds']:.1f} s, {a_round}, {amount}")
        passes = its["dask_ml"]
        print("  dask-ml", {key: round(value, 4) for key, value in passes.items()})


def run():
    """Rows of a table; the details, with the model and its forecast, are printed and kept apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = measure()
    found = {"problems": found, "forecast": forecast(found["text"])}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    show(found)
    return [
        {
            "problem": name,
            "workers": n_workers,
            "rounds": fit["rounds"],
            "seconds": round(fit["seconds"], 2),
            "seconds a round": round(fit["seconds_a_round"], 3),
            "by the model": round(fit["model_seconds_a_round"], 3),
            "MB a round": round(fit["bytes_a_round"] / 1e6, 3),
        }
        for name, its in found["problems"].items()
        for n_workers, fit in its["workers"].items()
    ]


if __name__ == "__main__":
    run()
