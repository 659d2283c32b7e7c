"""The solvers that `pegasos bench` races, each with the same problem.

    P(w, b) = lam/2 (|w|^2 + b^2) + (1/n) sum_i max(0, 1 - sign_i (<w, x_i> + b))

A rival is asked for ever more, along a ladder of its own settings, until the objective of its result, measured by our
own sums, is close enough to the proved bound: what it takes itself for is not asked. The intercept is regularised by
all of them. Conversions that a rival needs are made before the clock runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


class Data(NamedTuple):
    """Rows, signs, and lam."""

    X: Any
    sign: npt.NDArray[np.float64]
    lam: float

    @property
    def cost(self) -> float:
        """C, which is 1 / (lam n)."""
        return 1.0 / (self.lam * len(self.sign))


Result = tuple[Any, float]  # weights and intercept


class Rival(Protocol):
    """A solver in the race."""

    name: str
    ladder: Sequence[float]  # from loose to strict

    def prepare(self, data: Data) -> Any:
        """What it needs, made before the clock runs."""

    def fit(self, prepared: Any, data: Data, setting: float) -> Result:
        """Weights and intercept; this is timed."""


_tolerances: Sequence[float] = (10.0, 2.5, 1.0, 0.25, 0.1, 0.025, 0.01, 1e-3, 1e-4)


class Pegasos:
    """`PegasosClassifier`: its tol is the target itself."""

    name = "pegasos"

    def __init__(self, target: float, n_jobs: int | None) -> None:
        self.ladder: Sequence[float] = (target,)
        self.n_jobs = n_jobs

    def prepare(self, data: Data) -> Any:
        """Nothing."""
        return data.X

    def fit(self, prepared: Any, data: Data, setting: float) -> Result:
        """Until the gap is proved."""
        from pegasos.estimators.linear import PegasosClassifier

        model = PegasosClassifier(data.lam, tol=setting, max_iter=100_000, n_jobs=self.n_jobs, random_state=0)
        model.fit(prepared, data.sign)
        return model.coef_[0], float(model.intercept_[0])


class ScikitLinearSVC:
    """scikit-learn's LinearSVC: C = 1 / (lam n), a ladder of tol, which is a violation of optimality conditions."""

    name = "LinearSVC"
    ladder = _tolerances

    def prepare(self, data: Data) -> Any:
        """Double precision, which it would copy to."""
        return data.X.astype(np.float64)

    def fit(self, prepared: Any, data: Data, setting: float) -> Result:
        """With the hinge, in the dual."""
        from sklearn.svm import LinearSVC

        model = LinearSVC(loss="hinge", dual=True, C=data.cost, tol=setting, max_iter=1_000_000, random_state=0)
        model.fit(prepared, data.sign)
        return model.coef_[0], float(model.intercept_[0])


class ScikitSgd:
    """scikit-learn's SGDClassifier: alpha = lam, a column of ones for the intercept, a ladder of epochs."""

    name = "SGDClassifier"
    ladder: Sequence[float] = (1, 2, 5, 10, 20, 50, 100, 200)

    def prepare(self, data: Data) -> Any:
        """The column of ones."""
        ones = np.ones((data.X.shape[0], 1), dtype=data.X.dtype)
        return sp.hstack([data.X, ones], format="csr") if sp.issparse(data.X) else np.hstack([data.X, ones])

    def fit(self, prepared: Any, data: Data, setting: float) -> Result:
        """So many epochs, the mean of the iterates."""
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(
            alpha=data.lam, fit_intercept=False, tol=None, max_iter=int(setting), average=True, random_state=0
        ).fit(prepared, data.sign)
        return model.coef_[0, :-1], float(model.coef_[0, -1])


class Liblinear:
    """LIBLINEAR itself, -s 3 -B 1: C = 1 / (lam n), a ladder of -e."""

    name = "LIBLINEAR"
    ladder = _tolerances

    def __init__(self) -> None:
        import liblinear.liblinearutil as own

        self.own = own

    def prepare(self, data: Data) -> Any:
        """Its own rows."""
        return self.own.problem(data.sign, sp.csr_matrix(data.X), bias=1)

    def fit(self, prepared: Any, data: Data, setting: float) -> Result:
        """Its weights belong to the label it met first."""
        model = self.own.train(prepared, self.own.parameter(f"-s 3 -B 1 -c {data.cost!r} -e {setting!r} -q"))
        weights = np.ctypeslib.as_array(model.w, (model.nr_feature + 1,)) * model.get_labels()[0]
        return weights[:-1], float(weights[-1])


class SnapMl:
    """IBM Snap ML: regularizer = lam n, a ladder of tol, which is a change of the weights."""

    name = "Snap ML"
    ladder: Sequence[float] = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)

    def __init__(self) -> None:
        from snapml import SupportVectorMachine

        self.kind = SupportVectorMachine

    def prepare(self, data: Data) -> Any:
        """Single precision, which it trains in."""
        return data.X.astype(np.float32)

    def fit(self, prepared: Any, data: Data, setting: float) -> Result:
        """On one thread."""
        model = self.kind(
            regularizer=data.lam * len(data.sign),
            fit_intercept=True,
            intercept_scaling=1.0,
            tol=setting,
            max_iter=10_000,
            n_jobs=1,
            random_state=0,
        )
        model.fit(prepared, data.sign)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def installed(target: float, n_jobs: int | None) -> tuple[list[Rival], list[str]]:
    """Ours, and all whose libraries are there; and the libraries that are not."""
    found: list[Rival] = [Pegasos(target, n_jobs), ScikitLinearSVC(), ScikitSgd()]
    missing = []
    for kind, library in ((Liblinear, "liblinear-official"), (SnapMl, "snapml")):
        try:
            with warnings.catch_warnings():  # what a rival's import has to say is no news to the user
                warnings.simplefilter("ignore")
                found.append(kind())
        except ImportError:
            missing.append(library)
    return found, missing
