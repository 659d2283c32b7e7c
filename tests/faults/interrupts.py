"""Ctrl-C at random moments of many kinds of fits: a usable model, or a clean KeyboardInterrupt, and never a hang.

    python -m tests.faults.interrupts --each 20 --seed 0

Every fit is done once undisturbed, for its length; then again and again with a SIGINT after a random part of that. Half
of the models have learnt something else before: after an interrupt they are wholly the old one or wholly the new one.
"""

import argparse
import faulthandler
import os
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos import AutoPegasos, KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV
from pegasos.data import ArraySource
from pegasos.solution import Status

_LONGEST = 120.0  # seconds until a fit counts as one that hangs


@dataclass(frozen=True)
class Kind:
    """A kind of fit: an estimator, what it learns from, and the name of the method."""

    make: Callable[[], Any]
    X: np.ndarray
    y: np.ndarray
    method: str = "fit"

    def fit(self, model):
        """All of it."""
        if self.method == "fit_source":
            return model.fit_source(ArraySource(self.X, self.y, block_rows=len(self.y) // 7 + 1), memory="1G")
        return model.fit(self.X, self.y)


def kinds():
    """The fits by name, each of some tenths of a second."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 30))
    y = (X[:, :3].sum(axis=1) + random.normal(size=len(X)) > 0).astype(int)
    many = (2 * y + (X[:, 3] > 0)).astype(int)
    few = slice(0, 1500)
    settings = {"random_state": 0}
    return {
        "auto": Kind(lambda: PegasosClassifier(lam=1e-5, tol=1e-4, **settings), X, y),
        "dual": Kind(lambda: PegasosClassifier(lam=1e-5, solver="dual", tol=1e-4, **settings), X, y),
        "pegasos": Kind(lambda: PegasosClassifier(lam=1e-4, solver="pegasos", tol=1e-3, **settings), X, y),
        "newton": Kind(lambda: PegasosClassifier(lam=1e-7, tol=1e-3, n_jobs=2, **settings), X, y),
        "interior point": Kind(lambda: PegasosClassifier(lam=1e-8, tol=1e-7, **settings), X[:4000], y[:4000]),
        "free intercept": Kind(lambda: PegasosClassifier(lam=1e-4, regularize_intercept=False, **settings), X, y),
        "one against the rest": Kind(lambda: PegasosClassifier(lam=1e-4, n_jobs=2, **settings), X, many),
        "one against one": Kind(lambda: PegasosClassifier(multi_class="ovo", n_jobs=2, **settings), X, many),
        "all classes at once": Kind(lambda: PegasosClassifier(multi_class="crammer_singer", **settings), X, many),
        "kernel": Kind(lambda: KernelPegasosClassifier(lam=1e-4, **settings), X[few], y[few]),
        "kernel pegasos": Kind(lambda: KernelPegasosClassifier(solver="pegasos", lam=1e-3, **settings), X[few], y[few]),
        "kernel pairs": Kind(
            lambda: KernelPegasosClassifier(multi_class="ovo", n_jobs=2, **settings), X[few], many[few]
        ),
        "source": Kind(lambda: PegasosClassifier(lam=1e-4, **settings), X, many, "fit_source"),
        "folds": Kind(lambda: PegasosClassifierCV(n_jobs=2, **settings), X[:5000], y[:5000]),
        "search": Kind(lambda: AutoPegasos(time_budget=1.0, n_trials=8, **settings), X[few], y[few]),
    }


def is_fitted(model):
    """Whether there is a model."""
    try:
        check_is_fitted(model)
    except ValueError:
        return False
    return True


def check_model(model, kind, *, former):
    """A fitted model predicts, proves and speaks the truth; `former` is what it was fitted to before, if anything."""
    machine = model.best_estimator_[-1] if isinstance(model, AutoPegasos) else model
    known = kind if former is None or model.n_features_in_ == kind.X.shape[1] else former
    assert model.predict(known.X[:50]).shape == (50,)
    certificate, status = machine.certificate_, machine.status_
    assert np.isfinite(certificate.gap), status
    assert certificate.gap >= -1e-9 * certificate.primal, status
    if status.startswith(Status.CERTIFIED.value):
        assert certificate.relative_gap <= machine.tol, status
    if machine is model:  # what stands in the certificate is what a new one says
        again = model.certify(known.X, known.y)
        assert abs(again.primal - certificate.primal) <= 1e-6 * certificate.primal, (again, certificate)
        assert again.gap <= certificate.gap + 1e-6 * certificate.primal, (again, certificate)


def interrupted_after(seconds, work):
    """How the work ended: "finished" or "raised". The interrupt comes after the seconds, unless it ends before."""
    timer = threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT])
    try:
        timer.start()
        work()
        outcome = "finished"
    except KeyboardInterrupt:
        outcome = "raised"
    while timer.is_alive():  # an interrupt that is still to come must not reach the next fit
        try:
            timer.cancel()
            timer.join()
            time.sleep(0.01)
        except KeyboardInterrupt:
            continue
    return outcome


def once(kind, share, length, *, refits):
    """One fit that is interrupted after a share of its length; what became of it, in a word."""
    model, former = kind.make(), None
    if refits:
        former = Kind(kind.make, kind.X[:300, :5].copy(), kind.y[:300])
        former.fit(model)
    faulthandler.dump_traceback_later(_LONGEST, exit=True)
    outcome = interrupted_after(share * length, lambda: kind.fit(model))
    faulthandler.cancel_dump_traceback_later()
    assert former is None or is_fitted(model)
    if is_fitted(model):
        check_model(model, kind, former=former)
    if outcome == "finished":
        machine = model.best_estimator_[-1] if isinstance(model, AutoPegasos) else model
        is_short = Status.INTERRUPTED.value in machine.status_
        return "stopped, certified" if is_short else "finished"
    return "raised, old model kept" if refits else "raised, no model"


def campaign(each, seed, names=None):
    """Interrupt every kind of fit this many times; the outcomes, by kind."""
    random = np.random.default_rng(seed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    outcomes = {}
    try:
        for name, kind in kinds().items():
            if names and name not in names:
                continue
            begun = time.perf_counter()
            kind.fit(kind.make())
            length = time.perf_counter() - begun
            n_threads = threading.active_count()
            found = [once(kind, random.uniform(0.0, 1.1), length, refits=k % 2 == 1) for k in range(each)]
            deadline = time.monotonic() + _LONGEST  # a thread that ends is listed a little longer
            while threading.active_count() > n_threads and time.monotonic() < deadline:
                time.sleep(0.01)
            left = [thread for thread in threading.enumerate()[n_threads:] if thread.is_alive()]
            assert not left, left
            outcomes[name] = Counter(found)
            print(f"{name:24}" + ", ".join(f"{n} {word}" for word, n in sorted(Counter(found).items())), flush=True)
    finally:
        signal.signal(signal.SIGINT, before)
    return outcomes


def main():
    """Print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=20, help="interrupts of each kind of fit")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=list(kinds()), help="only this kind; may be given again")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    outcomes = campaign(asked.each, asked.seed, asked.kind)
    print(f"{sum(sum(counts.values()) for counts in outcomes.values())} interrupts, no hang, no broken model")


if __name__ == "__main__":
    main()
