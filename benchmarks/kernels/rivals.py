"""The kernel machines that are compared.

All take the same C, gamma and megabytes of cache. What differs:

LIBSVM                scikit-learn's SVC, one thread. Rows in float64 and dense, which its fit would make of them itself
                      (sparse ones it would take too, and be slower on a9a); converting them is not timed.
scikit-learn-intelex  its SVC, oneDAL on all cores. Rows in float32 and dense, its fastest form here.
pegasos               KernelPegasosClassifier, two threads. Rows in float32, unscaled, a9a in CSR.

classes     The SVCs train a machine for each pair of classes, 45 small problems for ten of them. pegasos trains one for
            each class against the rest, ten problems of all rows. Two classes are one problem for all.
intercept   free for the SVCs; for pegasos the weight of a constant feature, regularized. Each is judged by its own P
            and D.
stopping    tol of the SVCs is the largest violation of the optimality conditions, so a ladder of it, and the loosest
            that reaches the target counts, which nobody can know beforehand. tol of pegasos is the relative gap: one
            rung.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmarks.kernels.objective import Binaries, one_against_one, one_against_rest
from benchmarks.kernels.problems import Matrix
from pegasos import KernelPegasosClassifier

target = 1e-3
_TOLERANCES = (1.0, 0.5, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
_CACHE = 1000  # MB


class Solver(Protocol):
    """What a machine has to offer; `usual` is the setting of a user who wants the target without checking."""

    name: str
    ladder: Sequence[float]
    usual: float

    def prepare(self, X: Matrix) -> Matrix: ...

    def fit(self, X: Matrix, y: np.ndarray, C: float, gamma: float, setting: float) -> Any: ...

    def binaries(self, model: Any, y: np.ndarray) -> Binaries: ...


class Pegasos:
    """The machine that the others are compared with."""

    name = "pegasos"
    ladder = (target,)
    usual = target

    def prepare(self, X: Matrix) -> Matrix:
        return X

    def fit(self, X: Matrix, y: np.ndarray, C: float, gamma: float, setting: float) -> KernelPegasosClassifier:
        model = KernelPegasosClassifier(C=C, gamma=gamma, tol=setting, cache_size=_CACHE, n_jobs=2, random_state=0)
        return model.fit(X, y)

    def binaries(self, model: KernelPegasosClassifier, y: np.ndarray) -> Binaries:
        return one_against_rest(model, y)


class Libsvm:
    """Decomposition on two coefficients at a time."""

    name = "LIBSVM"
    ladder = _TOLERANCES
    usual = 1e-3

    def prepare(self, X: Matrix) -> np.ndarray:
        return _dense(X).astype(np.float64)

    def fit(self, X: Matrix, y: np.ndarray, C: float, gamma: float, setting: float) -> SVC:
        return SVC(C=C, gamma=gamma, tol=setting, cache_size=_CACHE).fit(X, y)

    def binaries(self, model: SVC, y: np.ndarray) -> Binaries:
        return one_against_one(model, y)


class Intelex(Libsvm):
    """Decomposition on large working sets, by oneDAL."""

    name = "scikit-learn-intelex"
    ladder = (0.99, *_TOLERANCES[1:])  # oneDAL takes none of 1

    def __init__(self):
        import sklearnex.svm

        self._svc = sklearnex.svm.SVC

    def prepare(self, X: Matrix) -> np.ndarray:
        return _dense(X).astype(np.float32)

    def fit(self, X: Matrix, y: np.ndarray, C: float, gamma: float, setting: float) -> Any:
        model = self._svc(C=C, gamma=gamma, tol=setting, cache_size=_CACHE).fit(X, y)
        if not hasattr(model, "_onedal_estimator"):
            raise RuntimeError("scikit-learn-intelex fell back to scikit-learn: it would be LIBSVM once more.")
        return model


def installed() -> list[Solver]:
    """All machines whose library can be imported, pegasos first; a line is printed for each that cannot."""
    solvers: list[Solver] = []
    for kind in (Pegasos, Libsvm, Intelex):
        try:
            solvers.append(kind())
        except ImportError as error:
            print(f"{kind.name} cannot be imported and is left out ({error}).")
    return solvers


def called(name: str) -> Solver:
    """The machine of that name."""
    return next(solver for solver in installed() if solver.name == name)


def _dense(X: Matrix) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)
