"""The picture of a decision in the plane: the boundary, the margins, and where the decision is proved."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import codes_of, margins_of, opened

_ROOM = 0.1  # of the extent of the rows, to each side


class BoundaryDisplay:
    """The decision of a model on two features.

    Each class has a color; lines are the boundary, h = 0, and the margins, h = ±1; with several classes, where the
    winner leads by 1. Rings are support vectors. In the hatched region an exact solution of the training problem
    might predict another class; everywhere else the prediction is certified.

    Parameters
    ----------
    grid : pair of arrays of shape (height, width)
        The two features of the points of a lattice.
    codes : array of int of shape (height, width)
        The index of the class predicted there.
    lead : array of shape (height, width)
        The lead of the predicted class: |h|.
    classes : array of shape (n_classes,)
    certified : array of bool of shape (height, width), optional
    rows, labels : arrays, optional
        Samples to draw, of shape (n_rows, 2), and the indices of their classes.
    support : array of shape (n_support, 2), optional
    feature_names : pair of str, optional

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    surface_ : matplotlib QuadContourSet

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pegasos import KernelPegasosClassifier
    >>> from pegasos.plots import BoundaryDisplay
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = KernelPegasosClassifier(gamma=2.0, lam=1e-2, random_state=0).fit(X, y)
    >>> drawn = BoundaryDisplay.from_estimator(model, X, y, resolution=50).plot()
    >>> bool(drawn.certified.mean() > 0.9)
    True
    """

    ax_: Any
    figure_: Any
    surface_: Any

    def __init__(
        self,
        grid: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
        codes: npt.NDArray[np.intp],
        lead: npt.NDArray[np.float64],
        classes: npt.NDArray[Any],
        *,
        certified: npt.NDArray[np.bool_] | None = None,
        rows: npt.NDArray[np.float64] | None = None,
        labels: npt.NDArray[np.intp] | None = None,
        support: npt.NDArray[np.float64] | None = None,
        feature_names: tuple[str, str] = ("feature 0", "feature 1"),
    ):
        self.grid = grid
        self.codes = codes
        self.lead = lead
        self.classes = classes
        self.certified = certified
        self.rows = rows
        self.labels = labels
        self.support = support
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, resolution: int = 200, mark_support: bool = True
    ) -> Self:
        """The decision of a fitted classifier around these rows.

        Parameters
        ----------
        estimator : classifier of two features
            One of this library, or any other with ``predict`` and ``decision_function``; the certified region needs
            one with ``certified``. Rows go through all steps of a pipeline.
        X : array of shape (n_rows, 2)
            The rows to draw: those of the fit, for support vectors that a model knows by number only.
        y : array of shape (n_rows,), optional
            Their classes.
        resolution : int, default=200
            Points of the lattice along each feature.
        mark_support : bool, default=True
            Whether to mark the support vectors of a model that has them; False for rows other than those of the fit.
        """
        if isinstance(resolution, bool) or not isinstance(resolution, int | np.integer) or resolution < 2:
            raise PegasosError(f"resolution must be a whole number of at least 2, got {resolution!r}.")
        model, before = opened(estimator)
        rows = _plane(X)
        labels = None if y is None else codes_of(y, model.classes_, len(rows))
        grid = _lattice(rows, int(resolution))
        points = before(_like(X, np.column_stack([grid[0].ravel(), grid[1].ravel()])))
        predicted = model.predict(points)
        certified = model.certified(points).reshape(grid[0].shape) if hasattr(model, "certified") else None
        names = [str(name) for name in getattr(X, "columns", ("feature 0", "feature 1"))]
        return cls(
            grid,
            codes_of(predicted, model.classes_, len(predicted)).reshape(grid[0].shape),
            margins_of(model, points, predicted).reshape(grid[0].shape),
            model.classes_,
            certified=certified,
            rows=rows,
            labels=labels,
            support=_support(estimator, model, rows) if mark_support else None,
            feature_names=(names[0], names[1]),
        )

    def plot(self, ax: Any = None, *, legend: bool = True, title: str | None = None) -> Self:
        """Draw the regions, the lines and the rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        legend : bool, default=True
            Whether to name what is drawn, beside the axes.
        title : str, optional
        """
        ax = style.axes_for(ax, (6.4, 4.2))
        n = len(self.classes)
        shades = [style.curve(k)["color"] for k in range(n)]
        levels = np.arange(n + 1) - 0.5
        self.surface_ = ax.contourf(*self.grid, self.codes, levels=levels, colors=shades, alpha=0.25)
        self._draw_lines(ax)
        self._draw_doubt(ax)
        self._draw_rows(ax)
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1], title=title or "")
        ax.set(xlim=self.grid[0][0, [0, -1]], ylim=self.grid[1][[0, -1], 0])
        if legend:
            style.legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_lines(self, ax: Any) -> None:
        ink = style.ink()
        for k in range(len(self.classes) if len(self.classes) > 2 else 1):
            # Signed by class k: a smooth line, where the winners' numbers would make steps. Where pairs of classes
            # tie, the winner by sums may be behind in one of them.
            score = np.where(self.codes == k, 1.0, -1.0) * np.abs(self.lead)
            if score.min() < 0.0 < score.max():
                ax.contour(*self.grid, score, levels=[0.0], colors=[ink], linewidths=1.6, linestyles="-")
        if self.lead.min() < 1.0 < self.lead.max():
            ax.contour(*self.grid, self.lead, levels=[1.0], colors=[ink], linewidths=1.0, linestyles="--")
        ax.plot([], [], color=ink, linewidth=1.6, label="boundary")
        ax.plot([], [], color=ink, linewidth=1.0, linestyle="--", label="margin")

    def _draw_doubt(self, ax: Any) -> None:
        if self.certified is None:
            return
        share = float(np.mean(self.certified))
        if share < 1.0:
            doubt = ax.contourf(
                *self.grid, ~self.certified, levels=[0.5, 1.5], colors=[style.faint], alpha=0.45, hatches=["////"]
            )
            doubt.set_edgecolor(style.ink())
            doubt.set_linewidth(0.0)
        ax.fill_between(
            [],
            [],
            [],
            facecolor=style.faint,
            edgecolor=style.ink(),
            alpha=0.45,
            hatch="////",
            linewidth=0.0,
            label=f"not certified: {1.0 - share:.1%}",
        )

    def _draw_rows(self, ax: Any) -> None:
        if self.rows is not None and self.labels is None:
            ax.scatter(*self.rows.T, s=14, color=style.ink(), label="samples")
        elif self.rows is not None:
            for k, name in enumerate(self.classes):
                look = style.curve(k)
                mine = self.rows[self.labels == k]
                ax.scatter(*mine.T, s=18, color=look["color"], marker=look["marker"], linewidth=0.0, label=str(name))
        if self.support is not None and len(self.support):
            rings = {"facecolor": "none", "edgecolor": style.ink(), "linewidth": 0.8}
            ax.scatter(*self.support.T, s=55, label="support vectors", **rings)


def _plane(X: Any) -> npt.NDArray[np.float64]:
    """The rows as numbers, two a row."""
    try:
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"a boundary is drawn over two features that are numbers: {error}.") from error
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        raise PegasosError(
            f"a boundary is drawn over exactly 2 features, got X of shape {rows.shape}; train on two of them, or on "
            "two components of them (sklearn.decomposition.PCA(2))."
        )
    if not np.isfinite(rows).all():
        raise PegasosError("a boundary needs finite features, got NaN or infinity in X.")
    return rows


def _lattice(rows: npt.NDArray[np.float64], resolution: int) -> tuple[Any, Any]:
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = np.where(high > low, _ROOM * (high - low), 1.0)
    first, second = np.meshgrid(*np.linspace(low - room, high + room, resolution).T)
    return first, second


def _like(X: Any, points: npt.NDArray[np.float64]) -> Any:
    """The points as a frame of the same kind and columns as X, if that is one."""
    if not hasattr(X, "columns"):
        return points
    columns = list(X.columns)
    return type(X)(points, schema=columns) if hasattr(X, "schema") else type(X)(points, columns=columns)


def _support(estimator: Any, model: Any, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """The support vectors: those that the model stores, or else the rows of the fit with their numbers."""
    is_alone = getattr(estimator, "best_estimator_", estimator) is model
    if is_alone and len(getattr(model, "support_vectors_", ())):
        return _plane(model.support_vectors_)
    support = getattr(model, "support_", None)
    if support is None or not hasattr(model, "alpha_"):
        return None
    alphas = model.alpha_
    # With one-vs-one, each row belongs to one pair fewer than there are classes.
    n = sum(map(len, alphas)) // (len(model.classes_) - 1) if isinstance(alphas, list) else np.shape(alphas)[-1]
    if n != len(rows):
        raise PegasosError(
            f"support vectors are among the {n} rows of the fit, got {len(rows)} rows; give those of the fit, or "
            "mark_support=False."
        )
    return np.asarray(rows[support])
