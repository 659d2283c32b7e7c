"""What the pictures have in common: colors, dashes, marks, and where they are drawn."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError

# Okabe and Ito's colors, which color-blind people tell apart; black, the eighth, is the text's color here.
colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
dashes = ("-", "--", "-.", ":")
marks = "os^Dv*"
faint = "0.6"  # seen on white and on black


class NoMatplotlibError(PegasosError, ImportError):
    """The pictures' own dependency is not installed."""


def pyplot() -> Any:
    """The pyplot module of matplotlib; raises an error that says how to install it."""
    return matplotlib_module("pyplot")


def matplotlib_module(name: str) -> Any:
    """A module of matplotlib; raises an error that says how to install it."""
    try:
        return import_module(f"matplotlib.{name}")
    except ImportError as error:
        raise NoMatplotlibError('plots need matplotlib: pip install "pegasos[plots]".') from error


def ink() -> Any:
    """The color of text in the style that is in use."""
    return pyplot().rcParams["text.color"]


def curve(k: int) -> dict[str, Any]:
    """Color, dash and mark of the curve of this number: no two of the first dozens are alike."""
    return {
        "color": colours[k % len(colours)],
        "linestyle": dashes[(k + k // len(colours)) % len(dashes)],
        "marker": marks[k % len(marks)],
        "markersize": 4,
    }


def some_marks(n: int) -> int:
    """Every k-th point gets a mark: about a dozen."""
    return max(1, n // 12)


def axes_for(ax: Any, figsize: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure."""
    if ax is None:
        return pyplot().subplots(figsize=figsize, layout="constrained")[1]
    pyplot()
    if not hasattr(ax, "get_figure") or not hasattr(ax, "plot"):
        raise PegasosError(f"ax must be axes of matplotlib, got {type(ax).__name__}; leave it out for a new figure.")
    return ax


def legend_beside(ax: Any, **settings: Any) -> Any:
    """A legend that hides no data: to the right of the axes."""
    return ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, **settings)


def above_zero(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """What a logarithmic axis can show; NaN for the others, so that no line leads to them."""
    numbers = np.asarray(values, np.float64)
    return np.where(numbers > 0.0, numbers, np.nan)
