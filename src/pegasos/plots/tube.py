"""The picture of a regression on one feature: the curve, its tube and the support vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import opened

_GRID = 400  # points of the curve
_ROUNDING = 1e-6  # of epsilon: rows this close to the edge are on it


class TubeDisplay:
    """The prediction over one feature, the tube of half width epsilon around it, and the support vectors.

    Rows inside the tube have no loss and no influence on the solution; those on its edge or outside are the support
    vectors.

    Parameters
    ----------
    x, y : arrays of shape (n_rows,)
        The feature and the targets of the rows.
    grid, curve : arrays of shape (n_points,)
        Values of the feature, and the predictions there.
    lower, upper : arrays of shape (n_points,), optional
        Bounds on the predictions of the exact solution there.
    predicted : array of shape (n_rows,)
        The predictions for the samples.
    epsilon : float
        Half the width of the tube.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    support_ : array of int
        Rows on the edge of the tube or outside.
    points_ : matplotlib PathCollection, the support vectors

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosRegressor
    >>> from pegasos.plots import TubeDisplay
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(scale=0.1, size=60)
    >>> model = KernelPegasosRegressor(C=10.0, gamma=1.0, epsilon=0.2, random_state=0).fit(X, y)
    >>> drawn = TubeDisplay.from_estimator(model, X, y).plot()
    >>> len(drawn.support_) < 20
    True
    """

    ax_: Any
    figure_: Any
    points_: Any

    def __init__(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        grid: npt.ArrayLike,
        curve: npt.ArrayLike,
        predicted: npt.ArrayLike,
        epsilon: float,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
    ):
        self.x, self.y, self.predicted = (np.asarray(each, np.float64) for each in (x, y, predicted))
        self.grid, self.curve = np.asarray(grid, np.float64), np.asarray(curve, np.float64)
        self.lower = self.curve if lower is None else np.asarray(lower, np.float64)
        self.upper = self.curve if upper is None else np.asarray(upper, np.float64)
        shapes = [each.shape for each in (self.x, self.y, self.predicted)]
        if any(shape != (len(self.x),) for shape in shapes) or not len(self.x):
            raise PegasosError(f"there must be one number per row, got shapes {shapes}; draw one target at a time.")
        if not 0.0 <= epsilon < np.inf:
            raise PegasosError(f"epsilon must be a number of at least 0, got {epsilon!r}.")
        self.epsilon = float(epsilon)
        self.support_ = np.flatnonzero(np.abs(self.y - self.predicted) >= self.epsilon * (1.0 - _ROUNDING))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Predict rows, and a grid over their range.

        Parameters
        ----------
        estimator : fitted regressor of one feature, alone or in a pipeline or a search
        X : array of shape (n_rows, 1)
        y : array of shape (n_rows,)
            Their targets.
        """
        model, prepared = opened(estimator)
        if hasattr(model, "classes_") or not hasattr(model, "predict"):
            raise PegasosError(f"{type(model).__name__} does not predict numbers; pass a regressor.")
        given = np.asarray(X, np.float64)
        if given.ndim != 2 or given.shape[1] != 1:
            raise PegasosError(
                f"a tube is drawn over one feature, got X of shape {given.shape}; for more features use "
                "PredictionsDisplay with kind='residuals'."
            )
        grid = np.linspace(given.min(), given.max(), _GRID)
        points = prepared(grid[:, None])
        lower, upper = model.predict_interval(points) if hasattr(model, "predict_interval") else (None, None)
        return cls(
            given[:, 0],
            y,
            grid=grid,
            curve=model.predict(points),
            predicted=model.predict(prepared(given)),
            epsilon=float(np.max(getattr(model, "epsilon_", getattr(model, "epsilon", 0.0)))),
            lower=lower,
            upper=upper,
        )

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the curve, the tube, the bounds of the exact curve, and the rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        title : str, optional
        """
        ax = style.axes_for(ax, (6.4, 4.0))
        tube = self.curve - self.epsilon, self.curve + self.epsilon
        ax.fill_between(self.grid, *tube, color=style.colours[0], alpha=0.15, linewidth=0.0, label="tube: no loss")
        if not np.array_equal(self.lower, self.upper):
            ax.fill_between(
                self.grid, self.lower, self.upper, color=style.faint, alpha=0.6, linewidth=0.0, label="exact prediction"
            )
        ax.plot(self.grid, self.curve, color=style.colours[0], linewidth=1.5, label="prediction")
        inside = np.setdiff1d(np.arange(len(self.x)), self.support_)
        ax.scatter(self.x[inside], self.y[inside], s=14, color=style.faint, linewidth=0.0, label="inside", zorder=3)
        self.points_ = ax.scatter(
            self.x[self.support_],
            self.y[self.support_],
            s=22,
            marker="s",
            facecolors="none",
            edgecolors=style.colours[1],
            label=f"support vectors: {len(self.support_)} of {len(self.x)}",
            zorder=4,
        )
        ax.set(xlabel="feature", ylabel="target", title=title or "")
        style.legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
