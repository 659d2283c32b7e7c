"""The picture of what more optimization would change: the share of certified predictions, by gap or by seconds."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from pegasos.errors import PegasosError
from pegasos.plots import _style as style

_TOLS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)


class CertifiedShareDisplay:
    """The share of certified predictions for fits with decreasing gaps.

    Parameters
    ----------
    gaps : array of shape (n_fits,)
        The relative duality gap that each fit reached.
    seconds : array of shape (n_fits,)
        The duration of each fit.
    shares : array of shape (n_fits,)
        The share of certified predictions.
    balls : array of shape (n_fits,), optional
        The share that the ball of the certificate alone would certify.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D, of the shares and, if given, of those of the ball

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.plots import CertifiedShareDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PegasosClassifier(lam=1e-3, random_state=0)
    >>> drawn = CertifiedShareDisplay.from_estimator(model, X / 16, y, tols=(1e-1, 1e-3)).plot()
    >>> drawn.shares[1] > 0.9
    np.True_
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(
        self, gaps: npt.ArrayLike, seconds: npt.ArrayLike, shares: npt.ArrayLike, balls: npt.ArrayLike | None = None
    ):
        self.gaps, self.seconds, self.shares = (np.asarray(each, np.float64) for each in (gaps, seconds, shares))
        self.balls = None if balls is None else np.asarray(balls, np.float64)
        columns = [self.gaps, self.seconds, self.shares, *([] if self.balls is None else [self.balls])]
        if any(column.shape != (len(self.gaps),) for column in columns) or not len(self.gaps):
            raise PegasosError(f"there must be one number per fit, got {[column.shape for column in columns]}.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, tols: Sequence[float] = _TOLS, X_val: Any = None
    ) -> Self:
        """Fit a model once for each ``tol``, and certify rows.

        Parameters
        ----------
        estimator : PegasosClassifier or KernelPegasosClassifier
            Fitted or not: copies of it are fitted. The earlier steps of a pipeline are fitted once.
        X, y : rows to train on and their classes
        tols : sequence of float
            The relative gaps at which the fits end.
        X_val : rows, optional
            The rows to certify; by default those of the fit.
        """
        if not len(tols):
            raise PegasosError("tols is empty: give at least one relative gap.")
        steps = getattr(estimator, "steps", None)
        if steps is not None:
            before = clone(estimator[:-1]).fit(X, y) if len(steps) > 1 else None
            machine = estimator[-1]
            X, X_val = (each if each is None or before is None else before.transform(each) for each in (X, X_val))
        else:
            machine = getattr(estimator, "best_estimator_", estimator)
        asked = X if X_val is None else X_val
        found = [_fitted(machine, X, y, asked, float(tol)) for tol in sorted(tols, reverse=True)]
        return cls(*np.array(found).T)

    def plot(self, ax: Any = None, *, by: str = "gap", title: str | None = None) -> Self:
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        by : {"gap", "seconds"}, default="gap"
            Against what the shares are drawn.
        title : str, optional
        """
        if by not in ("gap", "seconds"):
            raise PegasosError(f"by must be 'gap' or 'seconds', got {by!r}.")
        ax = style.axes_for(ax, (6.4, 4.0))
        x = style.above_zero(self.gaps if by == "gap" else self.seconds)
        self.lines_ = ax.plot(x, self.shares, label="certified", **style.curve(0))
        if self.balls is not None:
            self.lines_ += ax.plot(x, self.balls, label="by the ball alone", **style.curve(1))
        ax.set(xscale="log", ylim=(-0.02, 1.02), ylabel="share of the predictions", title=title or "")
        ax.set_xlabel("relative duality gap" if by == "gap" else "seconds of the fit")
        if by == "gap":
            ax.invert_xaxis()
        ax.grid(True, alpha=0.25)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _fitted(machine: Any, X: Any, y: Any, asked: Any, tol: float) -> tuple[float, float, float, float]:
    """The gap, the seconds and both shares of a fit."""
    if not hasattr(machine, "certified"):
        raise PegasosError(f"{type(machine).__name__} has no certificate; pass a classifier of this library.")
    model = clone(machine).set_params(tol=tol)
    begun = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - begun
    share = float(np.mean(model.certified(asked)))
    ball = float(np.mean(model.certified(asked, region="ball")))
    return model.certificate_.relative_gap, seconds, share, ball
