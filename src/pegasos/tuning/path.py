"""The solutions for many lam, each certified, at little more than the cost of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate, combine
from pegasos.checks import check_count, check_word
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators.assembly import labelled_rows, plan_of
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.regression import PegasosRegressor
from pegasos.estimators.warnings import GapWarning
from pegasos.fitting.path import LabelledRows, Lams, Lane, check_grid, falling, grid, in_threads
from pegasos.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES
from pegasos.plots.lam_path import LamPathDisplay
from pegasos.problem import Floats
from pegasos.solvers.driver import Watcher


@dataclass(frozen=True, eq=False, repr=False)
class LamPath:
    """Solutions of one problem for decreasing lam, as returned by `lam_path`.

    Attributes
    ----------
    lams : array of shape (n_lams,), the largest first
    coefs : array of shape (n_lams, n_problems, n_features)
        One problem for two classes, otherwise one per class, against the rest; for a regression one per target.
    intercepts : array of shape (n_lams, n_problems)
    certificates : tuple of Certificate, one per lam
    alphas : array of shape (n_lams, n_problems, n_rows); for a regression (n_lams, n_targets, 2 n_rows)
        The dual points that prove the certificates: 0 <= alpha_i <= cost_i for the losses without a square.
    n_iter : int array of shape (n_lams,)
        Epochs of the problem that took the most.
    seconds : array of shape (n_lams,)
        Total time of all problems.
    classes : array of shape (n_classes,); None for a regression

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import lam_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = lam_path(X, y, lams=[0.1, 0.01], random_state=0)
    >>> path.coefs.shape  # lams, classes, features
    (2, 3, 4)
    >>> max(proof.relative_gap for proof in path.certificates) <= 1e-3
    True
    """

    lams: Lams
    coefs: npt.NDArray[np.float64]
    intercepts: npt.NDArray[np.float64]
    certificates: tuple[Certificate, ...]
    alphas: Floats
    n_iter: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    classes: npt.NDArray[Any] | None

    def plot(self, ax: Any = None, **settings: Any) -> LamPathDisplay:
        """Draw the coefficients against lam; the settings are those of `LamPathDisplay.plot`."""
        return LamPathDisplay.from_path(self).plot(ax, **settings)

    def __len__(self) -> int:
        return len(self.lams)

    def __repr__(self) -> str:
        worst = max(certificate.relative_gap for certificate in self.certificates)
        ends = f"{self.lams[0]:.3g} to {self.lams[-1]:.3g}"
        return f"LamPath({len(self)} lams from {ends}, relative gaps up to {worst:.1g}, {self.seconds.sum():.3g} s)"


def lam_path(
    X: Any,
    y: Any,
    *,
    lams: npt.ArrayLike | None = None,
    n_lams: int = 50,
    eps: float = 1e-4,
    sample_weight: Any = None,
    class_weight: Any = None,
    loss: str = "hinge",
    smoothing: float = 0.5,
    epsilon: float = 0.1,
    quantile: float = 0.5,
    delta: float = 1.35,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 100_000,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LamPath:
    """Fit a linear support vector machine for many values of lam, from large to small, each certified.

    Each fit begins at the dual point of the last one, which makes the path several times faster than its fits one by
    one. Several classes are told apart one against the rest. The loss of a regressor makes it a path of regressions.

    Parameters
    ----------
    X : array or CSR of shape (n_rows, n_features)
    y : array of shape (n_rows,); for a regression also (n_rows, n_targets)
    lams : array of shape (n_lams,), optional
        Sorted either way. By default ``n_lams`` values in equal ratios, from the largest at which more than the length
        of the weights changes, max_i y_i <v, x_i> with v = (1/N) sum_i cost_i y_i x_i, down to ``eps`` times that.
        For a regression, from the largest at which predictions are about as large as the residuals of the zero vector.
    n_lams : int, default=50
    eps : float, default=1e-4
    sample_weight : array of shape (n_rows,), optional
    class_weight : dict, "balanced" or None, default=None
    loss : str, default="hinge"
        One of `PegasosClassifier`: "hinge", "squared_hinge", "huber_hinge". Or one of `PegasosRegressor`:
        "epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "huber".
    smoothing : float, default=0.5
        Parameter of "huber_hinge".
    epsilon, quantile, delta : float, default=0.1, 0.5 and 1.35
        Parameters of the losses of `PegasosRegressor`.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight, regularized like the others, is the intercept.
    tol : float, default=1e-3
        The relative duality gap of every fit.
    max_iter : int, default=100_000
        Maximum number of epochs of each fit.
    n_jobs : int, optional
        Threads for the problems of several classes. The result does not depend on it.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    LamPath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import lam_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = lam_path(scale(X), y, n_lams=20, random_state=0)
    >>> path.coefs.shape
    (20, 1, 30)
    >>> max(certificate.relative_gap for certificate in path.certificates) <= 1e-3
    True
    """
    check_word("loss", loss, (*CLASSIFICATION_LOSSES, *REGRESSION_LOSSES))
    common: dict[str, Any] = {
        "loss": loss,
        "fit_intercept": fit_intercept,
        "intercept_scaling": intercept_scaling,
        "tol": tol,
        "max_iter": max_iter,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    model: PegasosClassifier | PegasosRegressor
    if loss in CLASSIFICATION_LOSSES:
        model = PegasosClassifier(class_weight=class_weight, smoothing=smoothing, **common)
    else:
        if class_weight is not None:
            raise PegasosError(
                f"loss={loss!r} is a regression loss, which does not support class_weight; give sample_weight."
            )
        model = PegasosRegressor(epsilon=epsilon, quantile=quantile, delta=delta, **common)
    plan_of(model)  # a wrong parameter is an error before any work
    check_count("n_lams", n_lams)
    check_grid(eps, tol)
    chosen = None if lams is None else falling(lams)
    data = labelled_rows(model, X, y, sample_weight)
    lanes = data.lanes()
    chosen = grid(lanes, n_lams, eps) if chosen is None else chosen
    seed = data.settings.draw_seed()
    tasks: list[Callable[[Watcher], list[_Point]]] = [
        partial(_points, data=data, lane=lane, lams=chosen, seed=seed) for lane in lanes
    ]
    path = _path(chosen, in_threads(tasks, n_jobs), data)
    missed = sum(certificate.relative_gap > tol for certificate in path.certificates)
    if missed:
        warn_caller(
            f"{missed} of {len(path)} fits of the path ended before the gap reached tol={tol:g}: {path!r}; raise "
            "max_iter, raise tol, or scale the features.",
            GapWarning,
        )
    return path


class _Point(NamedTuple):
    """What is kept of a solution: not its state, which is as large as many of these."""

    weights: npt.NDArray[np.float64]
    alpha: Floats
    certificate: Certificate
    n_epochs: int
    seconds: float


def _points(watcher: Watcher, data: LabelledRows, lane: Lane, lams: Lams, seed: int) -> list[_Point]:
    solver, points, before = data.solver(), [], perf_counter()
    for solution in lane.follow(solver, lams, data.settings.stop(), seed=seed, watcher=watcher):
        now = perf_counter()
        alpha = solution.alpha.astype(getattr(solver.ascent, "dtype", np.float64))  # the type it was found in
        points.append(_Point(solution.weights, alpha, solution.certificate, solution.n_epochs, now - before))
        before = now
    return points


def _path(lams: Lams, of_problems: list[list[_Point]], data: LabelledRows) -> LamPath:
    points = list(zip(*of_problems, strict=True))  # those of each lam
    weights = np.array([[point.weights for point in here] for here in points])
    return LamPath(
        lams=lams,
        coefs=weights[:, :, :-1].copy(),
        intercepts=data.rows.bias * weights[:, :, -1],
        certificates=tuple(combine([point.certificate for point in here]) for here in points),
        alphas=np.array([[point.alpha for point in here] for here in points]),
        n_iter=np.array([max(point.n_epochs for point in here) for here in points]),
        seconds=np.array([sum(point.seconds for point in here) for here in points]),
        classes=getattr(data.task, "classes", None),
    )
