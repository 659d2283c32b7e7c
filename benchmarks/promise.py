"""The promise: how many fits end with their proof.

    python -m benchmarks.promise [--quick] [--fits] [--seconds 10] [--patience 1] [--alone] [--again] [names ...]

Every binary problem of `benchmarks.collection`, over lam, tol, float32 and float64, and two units, each fit with
`time_budget=10`. On a shared machine, `--patience 4` gives four times as long, of which ten seconds of processor time
count. A fit keeps the promise when its certificate reaches tol, or when its status says that double precision cannot
represent the answer: at tol 1e-9, and where the whole gap is below 1e-11, the zero vector costing 1 (a prior may leave
nothing to learn). Beside it: LinearSVC (hinge) with the same lam and tol, its other settings at their defaults, and its
objective measured against the best lower bound that our fits proved. The other ways to train (several classes, a free
intercept, a prior, weights, a path, cross-validation, a source, dask) have their rows at the default tol.

The whole takes hours, most of them LinearSVC's; `--alone` leaves it out, `--fits` leaves out the other ways too. The
rows of every data set are kept in build/promise, so that an interrupted run continues where it stopped, and parts
can be run side by side; results/promise_full.json, or promise_coarse.json with `--quick`, is written from all of them;
with `--fits` too, promise_full_fits.json or promise_coarse_fits.json.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import dask
import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks import collection
from benchmarks.collection import Binary
from pegasos import PegasosClassifier, PegasosClassifierCV, lam_path
from pegasos.dask import PegasosClassifier as OnDask
from pegasos.data import ArraySource
from pegasos.solution import Status

_RESULTS = Path(__file__).parent / "results"
_LAMS = tuple(10.0**-k for k in range(1, 9))
_TOLS = (1e-2, 1e-3, 1e-5, 1e-7, 1e-9)
_TYPES = (np.float32, np.float64)
_SECONDS = 10.0
_FEWEST_OF_A_SIGN = 10  # rows, for cross-validation to have some in each fold
_KEPT = Path("build") / "promise"
_ROUNDING = Status.ROUNDING.value
_NOTHING = 1e-11  # a gap this small, where the zero vector costs 1


def main() -> None:
    """Fit, print what is open, and write the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets; by default all at hand")
    parser.add_argument("--quick", action="store_true", help="three lams, two tols, float32")
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="time_budget of every fit")
    parser.add_argument("--patience", type=float, default=1.0, help="seconds on the clock per second that counts")
    parser.add_argument("--alone", action="store_true", help="without LinearSVC")
    parser.add_argument("--fits", action="store_true", help="default fits only, without LinearSVC")
    parser.add_argument("--again", action="store_true", help="repeat data sets that were measured before")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    grid = ("coarse" if arguments.quick else "full") + ("_fits" if arguments.fits else "")
    kept = _KEPT / f"{grid}-{arguments.seconds:g}s"
    kept.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or collection.names():
        file = kept / f"{name}.json"
        if arguments.again or not file.exists():
            limit = _Limit(arguments.seconds, arguments.patience)
            rows = _measured(name, limit, arguments)
            file.write_text(json.dumps(list(rows)))
        _report(name, json.loads(file.read_text()))
        results = [row for file in sorted(kept.glob("*.json")) for row in json.loads(file.read_text())]
        about = {
            "grid": grid,
            "seconds": arguments.seconds,
            "patience": arguments.patience,
            "problems": len({row["problem"] for row in results}),
        }
        result = _RESULTS / f"promise_{grid}.json"
        result.write_text(json.dumps({**about, **_summary(results)}, indent=1) + "\n")


class _Limit(NamedTuple):
    seconds: float
    patience: float

    @property
    def on_the_clock(self) -> float:
        return self.seconds * self.patience


def _measured(name: str, limit: _Limit, arguments: argparse.Namespace) -> Iterator[dict]:
    for problem in collection.load(name):
        yield from _fits(problem, limit, quick=arguments.quick, alone=arguments.alone or arguments.fits)
        if not arguments.fits:
            yield from _others(problem, limit)


def _fits(problem: Binary, limit: _Limit, *, quick: bool, alone: bool) -> Iterator[dict]:
    lams, tols, types = ((1e-2, 1e-5, 1e-8), (1e-3, 1e-7), (np.float32,)) if quick else (_LAMS, _TOLS, _TYPES)
    for lam in lams:
        best = 0.0
        for dtype in types:
            X = problem.X.astype(dtype)
            for tol in tols:
                model = PegasosClassifier(lam, tol=tol, time_budget=limit.on_the_clock, random_state=0)
                row, dual = _timed(problem, partial(model.fit, X, problem.y), tol, limit)
                best = max(best, dual)
                yield {**row, "way": "fit", "lam": lam, "dtype": np.dtype(dtype).name}
        if not alone:
            yield from _linear_svcs(problem, lam, tols, best)


def _timed(problem: Binary, fit: Callable[[], PegasosClassifier], tol: float, limit: _Limit) -> tuple[dict, float]:
    clock = time.perf_counter if limit.patience == 1.0 else time.process_time
    start = clock()
    row = {"problem": problem.name, "units": problem.units, "tol": tol}
    try:
        model = fit()
    except Exception as error:  # what this looks for
        return {**row, "gap": None, "kept": False, "status": repr(error), "seconds": clock() - start}, 0.0
    certificate, seconds = model.certificate_, clock() - start
    is_rounding = certificate.relative_gap > tol and model.status_.startswith(_ROUNDING[:40])
    is_true = certificate.relative_gap <= tol or (is_rounding and (tol <= 1e-9 or certificate.gap <= _NOTHING))
    is_in_time = limit.patience == 1.0 or seconds <= limit.seconds
    found = {"gap": certificate.relative_gap, "kept": is_true and is_in_time}
    return {**row, **found, "status": model.status_, "seconds": seconds}, certificate.dual


def _linear_svcs(problem: Binary, lam: float, tols: tuple[float, ...], best: float) -> Iterator[dict]:
    """LinearSVC at every tol; once it has stopped at max_iter, a smaller tol would end at the same weights."""
    row = None
    for tol in tols:
        if row is None or row["status"].startswith("0"):
            row = _linear_svc(problem, lam, tol, best)
        yield {**row, "tol": tol, "kept": row["gap"] <= tol}


def _linear_svc(problem: Binary, lam: float, tol: float, best: float) -> dict:
    n = len(problem.y)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = LinearSVC(loss="hinge", C=1.0 / (lam * n), tol=tol, random_state=0).fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    scores = np.asarray(problem.X @ model.coef_[0]).ravel() + model.intercept_[0]
    square = float(model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2)
    primal = 0.5 * lam * square + float(np.maximum(0.0, 1.0 - problem.y * scores).mean())
    gap = (primal - best) / primal if primal > 0.0 else 0.0
    row = {"problem": problem.name, "units": problem.units, "tol": tol, "lam": lam, "way": "LinearSVC"}
    return {**row, "gap": gap, "status": f"{len(caught)} warnings", "seconds": seconds}


def _others(problem: Binary, limit: _Limit) -> Iterator[dict]:
    """Every other way to train, at the default tol."""
    X, y = problem.X.astype(np.float32), problem.y
    parts = np.random.default_rng(0).integers(0, 3, len(y)) + 3 * (y > 0)
    weights = 10.0 ** np.random.default_rng(1).uniform(-2, 2, len(y))
    prior = PegasosClassifier(1e-1, random_state=0).fit(X, y)
    for lam in (1e-3, 1e-6):
        settings = {"lam": lam, "time_budget": limit.on_the_clock, "random_state": 0}
        several = PegasosClassifier(**settings), parts
        models = {
            "one-vs-rest": several,
            "one-vs-one": (PegasosClassifier(multi_class="ovo", **settings), parts),
            "Crammer-Singer": (PegasosClassifier(multi_class="crammer_singer", **settings), parts),
            "free intercept": (PegasosClassifier(regularize_intercept=False, **settings), y),
            "prior": (PegasosClassifier(prior=prior, **settings), y),
        }
        if min(np.count_nonzero(y > 0), np.count_nonzero(y < 0)) >= _FEWEST_OF_A_SIGN:
            models["cross-validation"] = PegasosClassifierCV(lams=[1e-2, lam], random_state=0), y
        ways = {way: partial(model.fit, X, target) for way, (model, target) in models.items()}
        ways["weights"] = partial(PegasosClassifier(**settings).fit, X, y, sample_weight=weights)
        ways["source"] = partial(PegasosClassifier(**settings).fit_source, ArraySource(X, y, block_rows=4096))
        ways["dask"] = partial(_over_partitions, settings, X, y)
        for way, fit in ways.items():
            yield {**_timed(problem, fit, 1e-3, limit)[0], "way": way, "lam": lam, "dtype": "float32"}
    start = time.perf_counter()
    path = lam_path(X, y, lams=[1e-2, 1e-3, 1e-4, 1e-5, 1e-6], random_state=0)
    gaps = [certificate.relative_gap for certificate in path.certificates]
    yield {
        **{"problem": problem.name, "units": problem.units, "tol": 1e-3, "way": "path", "lam": 1e-6},
        **{"gap": max(gaps), "kept": max(gaps) <= 1e-3, "status": "", "seconds": time.perf_counter() - start},
    }


def _over_partitions(settings: dict, X: np.ndarray | sp.csr_matrix, y: np.ndarray) -> OnDask:
    """Four partitions of random rows, trained in this process, so that its processor time counts."""
    parts = np.array_split(np.random.default_rng(2).permutation(len(y)), 4)
    with dask.config.set(scheduler="synchronous"):
        blocks = [dask.delayed(X[part]) for part in parts]
        return OnDask(**settings).fit(blocks, [dask.delayed(y[part]) for part in parts])


def _report(name: str, results: list[dict]) -> None:
    for row in results:
        if row["problem"] == name and not row["kept"] and row["way"] != "LinearSVC":
            gap = "none" if row["gap"] is None else f"{row['gap']:.1e}"
            what = (
                f"{name} {row['units']} {row.get('dtype', '')} {row['way']}, lam {row['lam']:.0e}, tol {row['tol']:.0e}"
            )
            print(f"open: {what}: gap {gap} after {row['seconds']:.1f} s: {row['status'][:60]}")
    ways = dict.fromkeys(row["way"] for row in results)
    shares = {way: [row["kept"] for row in results if row["way"] == way] for way in ways}
    print(f"{name}: " + ", ".join(f"{way} {sum(kept)} of {len(kept)}" for way, kept in shares.items()), flush=True)


def _summary(results: list[dict]) -> dict:
    ways = dict.fromkeys(row["way"] for row in results)
    groups = {way: [row for row in results if row["way"] == way] for way in ways}
    return {
        "shares": {way: [sum(row["kept"] for row in rows), len(rows)] for way, rows in groups.items()},
        "spent": {way: sum(row["seconds"] for row in rows) for way, rows in groups.items()},
        "open": [row for row in results if not row["kept"] and row["way"] != "LinearSVC"],
    }


if __name__ == "__main__":
    main()
