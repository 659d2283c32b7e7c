"""Every function of the core at least once, on little data of each type: ``make valgrind`` runs it.

    python -m tests.faults.verbs

Fails where there is a function that nothing here has led to.
"""

import pickle
import tempfile
import warnings
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV, _core
from pegasos.data import ArraySource, read
from pegasos.kernels import (
    RBF,
    DynamicTimeWarping,
    GlobalAlignment,
    Laplacian,
    Polynomial,
    RandomWalk,
    Subsequence,
    WeightedDegree,
)
from pegasos.online import ConfidenceWeighted, KernelPerceptron, Norma, PassiveAggressive, Perceptron
from tests.faults.models import rows, words


def counted(counts):
    """Have the functions of the core count their calls."""
    for name in dir(_core):
        function = getattr(_core, name)
        if not name.startswith("_") and callable(function) and not isinstance(function, type):
            counts[name] = 0
            setattr(_core, name, counting(name, function, counts))


def counting(name, function, counts):
    """The function, counted."""

    def call(*arguments, **named):
        counts[name] += 1
        return function(*arguments, **named)

    return call


def matrices(X):
    """The same rows as every type that the loops are compiled for."""
    for single, wide in product((False, True), (False, True)):
        dense = X.astype(np.float32 if single else np.float64)
        if not wide:
            yield dense
        sparse = sp.csr_array(dense)
        index = np.int64 if wide else np.int32
        sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
        yield sparse


def linear(X, y, many):
    """All linear solvers."""
    settings = {"random_state": 0, "max_iter": 20, "n_jobs": 2}
    for solver in ("auto", "pegasos", "dual", "cutting_plane"):
        PegasosClassifier(solver=solver, lam=1e-2, **settings).fit(X, y).predict(X)
    PegasosClassifier(solver="pegasos", sampling="balanced", batch_size=3, average="uniform", **settings).fit(X, y)
    for scheme, solver in product(("ovr", "ovo", "crammer_singer"), ("auto", "pegasos", "dual")):
        PegasosClassifier(multi_class=scheme, solver=solver, lam=1e-2, **settings).fit(X, many).predict(X)
    PegasosClassifier(lam=1e-8, tol=1e-7, random_state=0).fit(X, y)
    PegasosClassifier(lam=1e-4, regularize_intercept=False, random_state=0).fit(X, y)
    PegasosClassifierCV(lams=3, cv=2, random_state=0).fit(X, y)
    PegasosClassifier(lam=1e-2, random_state=0).fit_source(ArraySource(X, many, block_rows=40), memory="1G")
    for learner in (Perceptron, PassiveAggressive, ConfidenceWeighted):
        pickle.loads(pickle.dumps(learner(random_state=0).fit(X, many))).predict(X)


def kernels(X, y, many):
    """Kernel machines on rows."""
    for kernel in (RBF(0.1), Polynomial(2), Laplacian(0.1)):
        KernelPegasosClassifier(kernel, lam=1e-2, random_state=0).fit(X, y).predict(X)
    KernelPegasosClassifier(RBF(0.1), solver="pegasos", max_iter=3, random_state=0).fit(X, many).predict(X)
    for learner in (KernelPerceptron(RBF(0.1)), Norma(RBF(0.1))):
        learner.fit(X, y).predict(X)


def larger():
    """What little data does not lead to."""
    X, y = rows(9000, 4)  # enough for passes to be split into threads
    PegasosClassifier(lam=1e-7, tol=1e-3, n_jobs=2, random_state=0).fit(X, y % 2).predict(X)
    X, y = rows(3000, 330)  # so wide that the matrix of Newton's method is not computed at each step
    PegasosClassifier(lam=1e-7, tol=1e-2, max_iter=3, random_state=0).fit(X, y % 2)
    X, y = rows(60, 80)  # more features than rows
    PegasosClassifier(lam=1e-9, tol=1e-9, random_state=0).fit(X, y % 2)
    X, y = rows(700, 201)  # more rows than a block of columns, and kernels that are slow to compute
    KernelPegasosClassifier(RBF(0.5), lam=1e-3, max_iter=3, random_state=0).fit(X, y % 2)


def others(folder):
    """Strings, series, graphs, and text."""
    texts, said = words(20)
    KernelPegasosClassifier(Subsequence(3), lam=1e-2, random_state=0).fit(texts, said)
    for kernel in (Subsequence(3), WeightedDegree(3)):
        kernel.block(texts, texts[:7])
        kernel.block(texts, texts)
    series = [np.cumsum(np.arange(n, dtype=float) % 5) for n in range(3, 20)]
    for kernel in (GlobalAlignment(1.0), DynamicTimeWarping(1.0)):
        kernel.block(series, series[:5])
    rings = [(np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1), ["C", *"N" * (n - 1)]) for n in (3, 5, 8)]
    for kernel in (RandomWalk(0.1), RandomWalk(0.5, n_steps=5)):
        kernel.block(rings, rings)
        kernel.block(rings, rings[:2])
        kernel.diagonal(rings)
    path = folder / "rows.svm"
    path.write_text("+1 1:0.5 3:2 # a comment\n\n-1 7:1e-3 2:1\n-1 qid:3 1:1\r\n+1")
    read(path)


def main():
    """Call them all."""
    counts = Counter()
    counted(counts)
    print(_core.instruction_set(), flush=True)
    warnings.simplefilter("ignore")
    X, many = rows(120, 6)
    for matrix in matrices(X):
        linear(matrix, many % 2, many)
        kernels(matrix, many % 2, many)
        print(f"{type(matrix).__name__} of {matrix.dtype}: {sum(counts.values())} calls so far", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        others(Path(folder))
    larger()
    missed = sorted(name for name, n in counts.items() if n == 0)
    assert not missed, f"never called: {missed}"
    print(f"{len(counts)} functions of the core, {sum(counts.values())} calls")


if __name__ == "__main__":
    main()
