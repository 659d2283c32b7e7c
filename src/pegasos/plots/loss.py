"""The picture of the loss: what a row costs, against its margin."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.plots import _style as style
from pegasos.plots._models import checked_margins, margins_of, opened

_DEPTH = 0.3  # of the height of the losses: how far the rows reach below


class LossDisplay:
    """The hinge loss, the 0-1 loss it approximates, and a histogram of the rows below.

    Parameters
    ----------
    margins : array of shape (n_rows,), optional
        y h(x) of rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Of the hinge, and of the mistakes.

    Examples
    --------
    >>> from pegasos.plots import LossDisplay
    >>> drawn = LossDisplay.from_margins([-0.5, 0.2, 0.9, 1.0, 1.4, 2.0]).plot()
    >>> [line.get_label() for line in drawn.lines_]
    ['hinge, mean 0.4', '0-1, mean 0.167']
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(self, margins: npt.ArrayLike | None = None):
        self.margins = None if margins is None else checked_margins(margins)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """The losses, and the margins that a fitted model gives these rows.

        Parameters
        ----------
        estimator : any classifier with ``decision_function``, or what contains one
        X, y : rows and their classes, seen or not
        """
        model, before = opened(estimator)
        return cls(margins_of(model, before(X), y))

    @classmethod
    def from_margins(cls, margins: npt.ArrayLike | None = None) -> Self:
        """The losses, and margins that are known already."""
        return cls(margins)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the losses, and below them a histogram of the rows, over the range of 99 % of them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        title : str, optional
        """
        ax = style.axes_for(ax, (6.0, 4.0))
        low, high = self._limits()
        x = np.array([low, 0.0, 1.0, high])
        hinge, wrong = style.curve(0), style.curve(1)
        for look in (hinge, wrong):
            look.pop("marker")
        means = self._means()
        self.lines_ = [
            *ax.plot(x, np.maximum(0.0, 1.0 - x), linewidth=2.0, label=f"hinge{means[0]}", **hinge),
            *ax.plot([low, 0.0, 0.0, high], [1.0, 1.0, 0.0, 0.0], linewidth=2.0, label=f"0-1{means[1]}", **wrong),
        ]
        top = 1.05 * (1.0 - low)
        if self.margins is not None:
            _draw_rows(ax, self.margins, (low, high), top)
        ax.set(xlabel="margin y h(x)", ylabel="loss", title=title or "", xlim=(low, high))
        ax.set_ylim(-(_DEPTH if self.margins is not None else 0.03) * top, top)
        ax.set_yticks([tick for tick in ax.get_yticks() if 0.0 <= tick <= top])
        ax.legend(frameon=False, loc="upper right")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _limits(self) -> tuple[float, float]:
        if self.margins is None:
            return -2.0, 3.0
        low, high = np.quantile(self.margins, [0.005, 0.995])
        return min(float(low) - 0.1, -1.0), max(float(high) + 0.1, 2.0)

    def _means(self) -> tuple[str, str]:
        if self.margins is None:
            return "", ""
        hinge, wrong = np.maximum(0.0, 1.0 - self.margins).mean(), np.mean(self.margins <= 0.0)
        return f", mean {hinge:.3g}", f", mean {wrong:.3g}"


def _draw_rows(ax: Any, margins: npt.NDArray[np.float64], limits: tuple[float, float], top: float) -> None:
    """How many rows have each margin, hanging below the losses."""
    counts, edges = np.histogram(margins, np.linspace(*limits, 61))
    depths = -0.9 * _DEPTH * top * counts / max(int(counts.max()), 1)
    ax.stairs(depths, edges, fill=True, color=style.colours[2], alpha=0.5, label="samples")
    ax.axhline(0.0, color=style.ink(), linewidth=0.8)
