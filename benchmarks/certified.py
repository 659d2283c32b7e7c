"""Certified predictions: how many, at which price, and whether any of them is wrong.

    python -m benchmarks.certified [--quick] [names ...]

Shares: whole data sets, columns divided by their largest value, lam = 1e-4, every setting at its default; of the rows
of the fit and, where the set has a split, of its test rows. Beside them the share of the ball of the same certificate,
and the seconds of the fit, of the regions, and of certifying the rows of the fit; with `certified_share=0.99`, the
seconds of that fit.

Violations: pairs of a row and a binary problem. A pair is violated when the interval of the score that the fit at the
default tol claims and the interval that a fit at tol=1e-10 claims have no point in common: one of the two proofs would
be wrong. A certified row is contradicted when the two fits predict different classes and both are certified.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.preprocessing import maxabs_scale

from benchmarks import collection
from pegasos import KernelPegasosClassifier, PegasosClassifier

_RESULT = Path(__file__).parent / "results" / "certified.json"
_SETS = ("covtype", "satimage", "letter", "mnist", "digits", "a9a", "reuters21578", "usps", "shuttle", "w8a")
_LAM = 1e-4
_MOST_EXACT = 20_000  # rows of a fit at tol=1e-10
_KERNELS = ("breast_cancer", "svmguide1", "magic04", "spambase", "phishing")
_SECONDS = 20.0  # of a fit at tol=1e-10
_SECONDS_UNTIL = 120.0  # of a fit until 99 % are certified
_ONE_AGAINST_ONE = ("satimage", "digits", "usps")


def main() -> None:
    """Fit, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets; by default those of the page")
    parser.add_argument("--quick", action="store_true", help="at most 3,000 rows of each")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    shares = [_share(name, quick=arguments.quick) for name in arguments.names or _SETS]
    violations = _violations(arguments.names, quick=arguments.quick)
    total = {key: sum(each[key] for each in violations) for key in ("pairs", "violated", "certified", "contradicted")}
    print(f"{len(violations)} fits: {total}")
    if not arguments.names and not arguments.quick:
        found = {"shares": shares, "violations": violations, "total": total}
        _RESULT.write_text(json.dumps(found, indent=1) + "\n")


def _read(name: str):
    """Rows, classes, and which of the rows are for tests."""
    if name == "digits":
        X, y = datasets.load_digits(return_X_y=True)
        return X, y, np.zeros(len(y), bool)
    with np.load(Path(os.environ["PEGASOS_DATA"]) / f"{name}.npz", allow_pickle=False) as archive:
        split = archive["split"] if "split" in archive.files else np.zeros(len(archive["y"]))
        y = archive["y"]
        if "indptr" in archive.files:
            parts = (archive["data"].astype(np.float32), archive["indices"], archive["indptr"])
            X = sp.csr_matrix(parts, shape=tuple(archive["shape"]))
        else:
            X = archive["X"].astype(np.float32)
    return X, y == 2 if name == "covtype" else y, split == 1


def _share(name: str, *, quick: bool) -> dict:
    X, y, is_test = _read(name)
    if quick:
        kept = np.random.default_rng(0).permutation(len(y))[:3000]
        X, y, is_test = X[kept], y[kept], is_test[kept]
    X = maxabs_scale(X) if sp.issparse(X) else np.ascontiguousarray(maxabs_scale(X))
    fit, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    X_fit, y_fit = X[fit], y[fit]
    model, seconds = _timed(lambda: PegasosClassifier(_LAM, random_state=0).fit(X_fit, y_fit))
    ball = float(model.certified(X_fit, region="ball").mean())
    _, of_regions = _timed(model._regions_now)
    share, of_rows = _timed(lambda: model.certified_share_)
    on = PegasosClassifier(_LAM, certified_share=0.99, time_budget=_SECONDS_UNTIL, random_state=0)
    until, of_until = _timed(lambda: on.fit(X_fit, y_fit))
    found = {
        "name": name,
        "rows": len(fit),
        "features": X.shape[1],
        "classes": len(model.classes_),
        "ball": ball,
        "share": share,
        "share_of_test": float(model.certified(X[test]).mean()) if len(test) else None,
        "seconds": seconds,
        "seconds_of_regions": of_regions,
        "seconds_of_rows": of_rows,
        "share_until": until.certified_share_,
        "seconds_until": of_until,
        "gap_until": until.certificate_.relative_gap,
    }
    print(json.dumps(found), flush=True)
    return found


def _timed(work):
    begun = time.perf_counter()
    found = work()
    return found, time.perf_counter() - begun


def _violations(names, *, quick: bool) -> list[dict]:
    """Every binary problem of the collection, several classes of some sets, free intercepts, and kernels."""
    found = []
    for name in names or collection.names():
        if name not in collection.names():
            continue
        problem = next(collection.load(name))
        X, y = (problem.X[:3000], problem.y[:3000]) if quick else (problem.X, problem.y)
        found.append(_compared(name, PegasosClassifier(_LAM, random_state=0), X, y))
        if X.shape[1] < 100:
            free = PegasosClassifier(1e-3, regularize_intercept=False, random_state=0)
            found.append(_compared(f"{name}, free intercept", free, X, y))
        if name in _KERNELS:
            kernel = KernelPegasosClassifier("rbf", lam=1e-3, random_state=0)
            found.append(_compared(f"{name}, rbf", kernel, X[:2000], y[:2000]))
    for name in names or ("satimage", "digits", "usps", "letter", "shuttle", "isolet", "dna"):
        if name != "digits" and not (Path(os.environ.get("PEGASOS_DATA", ".")) / f"{name}.npz").exists():
            continue
        X, y, _ = _read(name)
        kept = np.random.default_rng(0).permutation(len(y))[: 3000 if quick else _MOST_EXACT]
        X, y = maxabs_scale(X[kept]), y[kept]
        for scheme in ("ovr", *(("ovo", "crammer_singer") if name in _ONE_AGAINST_ONE else ())):
            model = PegasosClassifier(_LAM, multi_class=scheme, random_state=0)
            found.append(_compared(f"{name}, {scheme}", model, X, y))
    return found


def _compared(name: str, model, X, y) -> dict:
    """The model at its tol against the same at 1e-10."""
    X = X if sp.issparse(X) else np.ascontiguousarray(X)
    exact = type(model)(**{**model.get_params(), "tol": 1e-10, "time_budget": _SECONDS})
    model.fit(X, y)
    exact.fit(X, y)
    (lower, upper), (low, high) = model.score_interval(X), exact.score_interval(X)
    violated = (lower > high) | (upper < low)
    sure, also = model.certified(X), exact.certified(X)
    found = {
        "name": name,
        "pairs": int(violated.size),
        "violated": int(violated.sum()),
        "certified": int(sure.sum()),
        "contradicted": int(np.sum(sure & also & (model.predict(X) != exact.predict(X)))),
        "gap": float(exact.certificate_.relative_gap),
    }
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    main()
