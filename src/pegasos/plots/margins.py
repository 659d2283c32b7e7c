"""The picture of margins: how far rows are on the right side, class by class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import checked_margins, margins_of, opened

_FEW = 3  # classes whose outlines can lie upon each other


class MarginDisplay:
    """The distribution of margins, for each class, and where the hinge loss begins.

    Rows with a margin below 1 cost something; those below 0 are predicted wrongly.

    Parameters
    ----------
    margins : array of shape (n_rows,)
    y : array of shape (n_rows,)
        The classes.
    geometric : bool, default=False
        Whether the margins are distances, for which the hinge loss begins at no fixed value.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    patches_ : list of matplotlib StepPatch, one per class

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.plots import MarginDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PegasosClassifier(lam=1e-2, random_state=0).fit(scale(X), y)
    >>> drawn = MarginDisplay.from_estimator(model, scale(X), y).plot(bins=30)
    >>> len(drawn.patches_)
    2
    """

    ax_: Any
    figure_: Any
    patches_: list[Any]

    def __init__(self, margins: npt.ArrayLike, y: npt.ArrayLike, *, geometric: bool = False):
        self.margins = checked_margins(margins)
        self.y = np.asarray(y)
        if self.y.shape != self.margins.shape:
            raise PegasosError(f"y must name the class of each of the {len(self.margins)} rows, got {self.y.shape}.")
        self.geometric = geometric

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, geometric: bool = False) -> Self:
        """The margins that a fitted model gives these rows.

        Parameters
        ----------
        estimator : any classifier with ``decision_function``, or what contains one
        X, y : rows and their classes, seen or not
        geometric : bool, default=False
            Distances from the boundary instead of functional margins, of a model with ``margin``.
        """
        model, before = opened(estimator)
        return cls(margins_of(model, before(X), y, geometric=geometric), y, geometric=geometric)

    @classmethod
    def from_margins(cls, margins: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Functional margins, y h(x), that are known already."""
        return cls(margins, y)

    def plot(self, ax: Any = None, *, bins: int = 40, title: str | None = None) -> Self:
        """Draw one outline per class, as shares, so that small classes are as visible as large ones.

        More than three classes are drawn one below the other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        bins : int, default=40
        title : str, optional
        """
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise PegasosError(f"bins must be a whole number of at least 1, got {bins!r}.")
        classes = np.unique(self.y)
        ax = style.axes_for(ax, (6.4, 4.0))
        knee = 0.0 if self.geometric else 1.0
        low, high = min(self.margins.min(), knee), max(self.margins.max(), knee)
        room = 0.02 * (high - low) + 1e-12
        edges = np.linspace(low - room, high + room, int(bins) + 1)
        shares = [np.histogram(mine, edges)[0] / len(mine) for mine in (self.margins[self.y == k] for k in classes)]
        self.patches_ = _draw(ax, [str(name) for name in classes], shares, edges)
        self._mark(ax)
        unit = "distance from the boundary" if self.geometric else "margin y h(x)"
        ax.set(xlabel=unit, title=title or "", xlim=(edges[0], edges[-1]))
        ax.set_ylim(bottom=0.0)
        style.legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark(self, ax: Any) -> None:
        wrong = float(np.mean(self.margins < 0.0))
        ax.axvline(0.0, color=style.ink(), linewidth=1.0, label=f"boundary: {wrong:.1%} beyond")
        if not self.geometric:
            within = float(np.mean(self.margins < 1.0))
            ax.axvline(1.0, color=style.ink(), linewidth=1.0, linestyle="--", label=f"margin 1: {within:.1%} below")


def _draw(
    ax: Any, names: list[str], shares: list[npt.NDArray[np.float64]], edges: npt.NDArray[np.float64]
) -> list[Any]:
    """One outline a class: a few upon each other, more than that one below the other."""
    lift = 0.0 if len(names) <= _FEW else 0.9 * float(np.max(shares))
    patches = []
    for k in range(len(names)):
        look = {key: style.curve(k)[key] for key in ("color", "linestyle")}
        base = lift * (len(names) - 1 - k)
        ax.stairs(shares[k] + base, edges, baseline=base, fill=True, color=look["color"], alpha=0.25)
        label = names[k] if lift == 0.0 else None
        patches.append(ax.stairs(shares[k] + base, edges, baseline=base, linewidth=1.5, label=label, **look))
    if lift:
        ax.set_yticks(lift * np.arange(len(names)), names[::-1])
    ax.set_ylabel("class, and share of its samples" if lift else "share of the samples of a class")
    return patches
