"""The solvers that `pegasos bench` and the benchmarks race, each on the same problem.

    P(w, b) = lam/2 (|w|^2 + b^2) + (1/n) sum_i max(0, 1 - y_i (<w, x_i> + b))

A rival is given ever stricter settings, along a ladder of its own, until the objective of its result, measured by our
own sums, is close enough to the proved bound; what it reports itself is not used. All of them regularize the intercept.
Conversions that a rival needs are not timed. A ladder is kinder to a rival than practice is: nobody knows beforehand
which tolerance reaches a target.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Result = tuple[Any, float]  # weights and intercept
_VIOLATIONS = (10.0, 5.0, 2.5, 1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 3e-3, 1e-3, 1e-4)
_CHANGES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7, 1e-8)
_EPOCHS = (1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300)


class RacedRows(NamedTuple):
    """Rows and their signs."""

    X: Any
    y: npt.NDArray[np.float64]

    def cost(self, lam: float) -> float:
        """C, which is 1 / (lam n)."""
        return 1.0 / (lam * len(self.y))


class Rival(Protocol):
    """A solver in the race."""

    name: str

    def prepare(self, problem: Any) -> Any:
        """What it needs, made before the clock runs, from rows ``X`` and signs ``y``; None: it does not take part."""

    def ladder(self, target: float) -> Sequence[float]:
        """Its settings, from loose to strict; the loosest good one counts."""

    def fit(self, data: Any, lam: float, setting: float) -> Result:
        """Weights and intercept; this is timed."""


class Pegasos:
    """`PegasosClassifier`: its tol is the target itself."""

    name = "pegasos"

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def prepare(self, problem: Any) -> RacedRows:
        """Nothing."""
        return RacedRows(problem.X, problem.y)

    def ladder(self, target: float) -> Sequence[float]:
        """The target."""
        return (target,)

    def fit(self, data: RacedRows, lam: float, setting: float) -> Result:
        """Until the gap is proved."""
        from pegasos.estimators.linear import PegasosClassifier

        model = PegasosClassifier(lam, tol=setting, max_iter=100_000, n_jobs=self.n_jobs, random_state=0)
        model.fit(data.X, data.y)
        return model.coef_[0], float(model.intercept_[0])


class ScikitLinearSVC:
    """scikit-learn's LinearSVC, its own copy of LIBLINEAR: dual coordinate descent with shrinking, on one thread.

    lam        C = 1 / (lam n): 1/2 |w|^2 + C sum of losses is P / lam.
    intercept  intercept_scaling=1: a constant column of value 1, regularized.
    stopping   tol is the largest violation of the optimality conditions of the dual, so a ladder of it.
    untimed    the conversion to float64, which its fit would do. Its copy into LIBLINEAR's rows is timed.
    """

    name = "LinearSVC"

    def prepare(self, problem: Any) -> RacedRows:
        """Double precision."""
        return RacedRows(problem.X.astype(np.float64), problem.y)

    def ladder(self, target: float) -> Sequence[float]:
        """Violations."""
        return _VIOLATIONS

    def fit(self, data: RacedRows, lam: float, setting: float) -> Result:
        """With the hinge, in the dual."""
        from sklearn.svm import LinearSVC

        model = LinearSVC(loss="hinge", dual=True, C=data.cost(lam), tol=setting, max_iter=1_000_000, random_state=0)
        model.fit(data.X, data.y)
        return model.coef_[0], float(model.intercept_[0])


class ScikitSgd:
    """scikit-learn's SGDClassifier: stochastic sub-gradient steps; the last weights, or the mean of all.

    lam        alpha = lam: its objective is alpha/2 |w|^2 + mean loss, which is P.
    intercept  its own is not regularized and has a slower rate for CSR, so a column of ones is appended.
    stopping   its tol watches the training loss and promises nothing, so tol=None and a ladder of epochs.
    untimed    appending the column.
    """

    def __init__(self, name: str = "SGDClassifier", *, average: bool = True) -> None:
        self.name = name
        self._average = average

    def prepare(self, problem: Any) -> RacedRows:
        """The column of ones."""
        ones = np.ones((problem.X.shape[0], 1), dtype=problem.X.dtype)
        is_sparse = sp.issparse(problem.X)
        X = sp.csr_matrix(sp.hstack([problem.X, ones], format="csr")) if is_sparse else np.hstack([problem.X, ones])
        return RacedRows(X, problem.y)

    def ladder(self, target: float) -> Sequence[float]:
        """Epochs."""
        return _EPOCHS

    def fit(self, data: RacedRows, lam: float, setting: float) -> Result:
        """So many epochs."""
        from sklearn.linear_model import SGDClassifier

        steps = {"tol": None, "max_iter": int(setting), "average": self._average, "random_state": 0}
        model = SGDClassifier(loss="hinge", alpha=lam, fit_intercept=False, **steps).fit(data.X, data.y)
        return model.coef_[0, :-1], float(model.coef_[0, -1])


class Liblinear:
    """LIBLINEAR itself (liblinear-official), -s 3: dual coordinate descent with shrinking, on one thread.

    lam        C = 1 / (lam n): 1/2 |w|^2 + C sum of losses is P / lam.
    intercept  -B 1: a constant column of value 1, regularized.
    stopping   -e is the largest violation of the optimality conditions of the dual, so a ladder of it. LIBLINEAR ends
               every run after its own number of iterations; strict rungs may then be all alike, and miss the target.
    untimed    building its `problem`, without the zeros of dense rows, which helps it on data that are half empty.
    """

    name = "LIBLINEAR"

    def __init__(self) -> None:
        import liblinear.liblinearutil as own

        self.own = own

    def prepare(self, problem: Any) -> RacedRows:
        """Its own rows."""
        signs = np.asarray(problem.y, np.float64)
        return RacedRows(self.own.problem(signs, sp.csr_matrix(problem.X), bias=1), signs)

    def ladder(self, target: float) -> Sequence[float]:
        """Violations."""
        return _VIOLATIONS

    def fit(self, data: RacedRows, lam: float, setting: float) -> Result:
        """Its weights belong to the label it met first."""
        model = self.own.train(data.X, self.own.parameter(f"-s 3 -B 1 -c {data.cost(lam)!r} -e {setting!r} -q"))
        weights = np.ctypeslib.as_array(model.w, (model.nr_feature + 1,)) * model.get_labels()[0]
        return weights[:-1], float(weights[-1])


class SnapMl:
    """IBM Snap ML's SupportVectorMachine: parallel dual coordinate ascent.

    lam        regularizer = lam n: its objective is regularizer/2 |w|^2 + sum of losses, which is n P. That is not
               documented; its strict runs come to the optimum of P with this value, not with lam or 1 / (lam n).
    intercept  fit_intercept=True, intercept_scaling=1: an appended feature of value 1, regularized with the others.
    stopping   tol is the largest change of the coefficients, so a ladder of it.
    untimed    the conversion to float32, which it trains in.
    """

    def __init__(self, threads: int = 1, name: str = "Snap ML") -> None:
        # Where warnings are errors, its check for AVX2 fails on numpy's and it would run without: unfair to it.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from snapml import SupportVectorMachine

        self.name, self._threads, self._kind = name, threads, SupportVectorMachine

    def prepare(self, problem: Any) -> RacedRows:
        """Single precision."""
        return RacedRows(problem.X.astype(np.float32), problem.y)

    def ladder(self, target: float) -> Sequence[float]:
        """Changes."""
        return _CHANGES

    def fit(self, data: RacedRows, lam: float, setting: float) -> Result:
        """With its number of threads."""
        model = self._kind(
            regularizer=lam * len(data.y),
            fit_intercept=True,
            intercept_scaling=1.0,
            tol=setting,
            max_iter=10_000,
            n_jobs=self._threads,
            random_state=0,
        )
        model.fit(data.X, data.y)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def installed(n_jobs: int | None) -> tuple[list[Rival], list[str]]:
    """Ours, and all whose libraries can be imported; and the libraries that cannot."""
    found: list[Rival] = [Pegasos(n_jobs), ScikitLinearSVC(), ScikitSgd()]
    missing = []
    for kind, library in ((Liblinear, "liblinear-official"), (SnapMl, "snapml")):
        try:
            with warnings.catch_warnings():  # about the import of a rival, which is not the user's business
                warnings.simplefilter("ignore")
                found.append(kind())
        except ImportError:
            missing.append(library)
    return found, missing
