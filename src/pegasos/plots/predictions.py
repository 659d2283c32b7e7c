"""The picture of a regression: predictions against targets, or what is left of these."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import opened


class PredictionsDisplay:
    """Predictions against targets, with bounds on the predictions of the exact solution; or the residuals.

    Parameters
    ----------
    true, predicted : arrays of shape (n_rows,)
    lower, upper : arrays of shape (n_rows,), optional
        Bounds on the predictions of the exact solution.
    epsilon : float, default=0
        Half the width of the tube, which is drawn if it is not 0.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib PathCollection

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pegasos import PegasosRegressor
    >>> from pegasos.plots import PredictionsDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PegasosRegressor(C=10.0, epsilon=20.0, random_state=0).fit(20.0 * X, y)
    >>> drawn = PredictionsDisplay.from_estimator(model, 20.0 * X, y).plot(kind="residuals")
    >>> drawn.ax_.get_ylabel()
    'target minus prediction'
    """

    ax_: Any
    figure_: Any
    points_: Any

    def __init__(
        self,
        true: npt.ArrayLike,
        predicted: npt.ArrayLike,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        *,
        epsilon: float = 0.0,
    ):
        self.true, self.predicted = np.asarray(true, np.float64), np.asarray(predicted, np.float64)
        self.lower = self.predicted if lower is None else np.asarray(lower, np.float64)
        self.upper = self.predicted if upper is None else np.asarray(upper, np.float64)
        self.epsilon = epsilon
        shapes = [each.shape for each in (self.true, self.predicted, self.lower, self.upper)]
        if any(shape != (len(self.true),) for shape in shapes) or not len(self.true):
            raise PegasosError(f"there must be one number per row, got shapes {shapes}; draw one target at a time.")

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Predict rows.

        Parameters
        ----------
        estimator : fitted regressor, alone or in a pipeline or a search
        X : rows, as in `predict`
        y : array of shape (n_rows,)
            Their targets.
        """
        model, prepared = opened(estimator)
        if hasattr(model, "classes_") or not hasattr(model, "predict"):
            raise PegasosError(f"{type(model).__name__} does not predict numbers; pass a regressor.")
        rows = prepared(X)
        bounds = model.predict_interval(rows) if hasattr(model, "predict_interval") else (None, None)
        return cls(y, model.predict(rows), *bounds, epsilon=float(np.max(getattr(model, "epsilon_", 0.0))))

    def plot(self, ax: Any = None, *, kind: str = "predictions", title: str | None = None) -> Self:
        """Draw one point per row.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        kind : {"predictions", "residuals"}, default="predictions"
            Predictions against targets, or targets less predictions against predictions.
        title : str, optional
        """
        if kind not in ("predictions", "residuals"):
            raise PegasosError(f"kind must be 'predictions' or 'residuals', got {kind!r}.")
        ax = style.axes_for(ax, (5.0, 4.6))
        is_residual = kind == "residuals"
        x = self.predicted if is_residual else self.true
        middle = self.true - self.predicted if is_residual else self.predicted
        low, high = (self.true - self.upper, self.true - self.lower) if is_residual else (self.lower, self.upper)
        ax.vlines(x, low, high, colors=style.faint, linewidth=1.0, zorder=1)
        self.points_ = ax.scatter(x, middle, s=12, color=style.colours[0], alpha=0.6, linewidth=0.0, zorder=2)
        ends = np.array([np.min(x), np.max(x)])
        for shift, dash in ((0.0, "-"), (self.epsilon, ":"), (-self.epsilon, ":")):
            if shift or dash == "-":
                line = np.full(2, shift) if is_residual else ends + shift
                ax.plot(ends, line, color=style.ink(), linestyle=dash, linewidth=1.0, zorder=0)
        ax.set_xlabel("prediction" if is_residual else "target")
        ax.set_ylabel("target minus prediction" if is_residual else "prediction")
        ax.set_title(title or "")
        self.ax_, self.figure_ = ax, ax.figure
        return self
