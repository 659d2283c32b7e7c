"""The picture of a race: seconds against what is left, of several solvers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import named, opened, trace_of

_LEAST = 1e-7  # of measured distances: below, the optimum itself is not known better
_FEW = 4  # names that find a place among the curves
_words = {"seconds": "seconds", "epoch": "epochs (passes over the data)", "step": "steps"}


class SolversDisplay:
    """How fast several solvers approach the optimum, on logarithmic axes.

    Parameters
    ----------
    curves : dict of str to pair of arrays
        For each solver the x values (seconds) and the distances from the optimum.
    xlabel, ylabel : str, default="seconds" and "relative duality gap"
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D, one per solver

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.plots import SolversDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> solvers = {word: PegasosClassifier(lam=1e-2, solver=word, random_state=0) for word in ("auto", "dual")}
    >>> solvers = {word: model.fit(X / 16, y == 8) for word, model in solvers.items()}
    >>> drawn = SolversDisplay.from_estimators(solvers).plot()
    >>> drawn.ax_.get_ylabel()
    'relative duality gap'
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(
        self,
        curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
        *,
        xlabel: str = "seconds",
        ylabel: str = "relative duality gap",
        title: str = "",
    ):
        if not curves:
            raise PegasosError("there is nothing to draw: give at least one curve.")
        self.curves = {str(name): _checked(name, curve) for name, curve in curves.items()}
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.title = title

    @classmethod
    def from_estimators(cls, estimators: Any, *, by: str = "seconds") -> Self:
        """The proved relative gap of fitted models: of several problems, the sum of the gaps over that of the primals.

        Parameters
        ----------
        estimators : dict of str to model, list of models, or one model
            Of a pipeline the last step is meant. Without names, those of the classes are used.
        by : {"seconds", "epoch", "step"}, default="seconds"
        """
        return cls.from_traces({k: trace_of(opened(each)[0], k) for k, each in named(estimators).items()}, by=by)

    @classmethod
    def from_traces(cls, traces: Mapping[str, Any], *, by: str = "seconds") -> Self:
        """The relative gap of traces, or of mappings with the columns gap, primal and the one named by ``by``."""
        if by not in _words:
            raise PegasosError(f"by must be one of {', '.join(map(repr, _words))}, got {by!r}.")
        curves = {}
        for name, trace in traces.items():
            try:
                primal = style.above_zero(trace["primal"])
                curves[name] = (np.asarray(trace[by]), np.asarray(trace["gap"]) / primal)
            except (TypeError, KeyError, IndexError, ValueError) as error:
                raise PegasosError(f"{name}: a trace has the columns {by}, primal and gap; got others.") from error
        return cls(curves, xlabel=_words[by])

    @classmethod
    def from_runs(cls, runs: Mapping[str, Any], *, title: str = "") -> Self:
        """Measured runs of each solver, as triples of setting, seconds and relative distance from the optimum.

        The fastest run of a setting counts; what is no better than a faster one is left out.
        """
        ylabel = "distance from the optimum, relative"
        return cls({name: _best(mine) for name, mine in runs.items() if len(mine)}, ylabel=ylabel, title=title)

    @classmethod
    def from_results(cls, results: Any, problem: str, *, lam: float | None = None) -> Self:
        """One problem of a benchmark's results.

        Parameters
        ----------
        results : path of a JSON file that ``make bench`` wrote, or what is in it
        problem : str
            The name of the data.
        lam : float, optional
            By default the first lam that was measured on it.
        """
        rows = _rows_of(results)
        mine = [row for row in rows if row["problem"] == problem and (lam is None or row["lam"] == lam)]
        if not mine:
            known = ", ".join(dict.fromkeys(f"{row['problem']} (lam={row['lam']:g})" for row in rows)) or "nothing"
            raise PegasosError(f"the results have no {problem!r} with lam={lam}; they have {known}.")
        return cls.from_runs(mine[0]["runs"], title=f"{problem}, lam = {mine[0]['lam']:g}")

    def plot(
        self,
        ax: Any = None,
        *,
        looks: Mapping[str, Mapping[str, Any]] | None = None,
        legend: bool = True,
        title: str | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        looks : dict of str to dict, optional
            Settings of single lines, as ``Line2D`` takes them.
        legend : bool, default=True
        title : str, optional
        """
        ax = style.axes_for(ax, (6.4, 4.0))
        self.lines_ = []
        for k, (name, (x, y)) in enumerate(self.curves.items()):
            look = style.curve(k) | {"markevery": style.some_marks(len(x))} | dict((looks or {}).get(name, {}))
            self.lines_ += ax.plot(style.above_zero(x), style.above_zero(y), label=name, **look)
        has_gaps = any((np.asarray(y) > 0.0).any() for _, y in self.curves.values())
        ax.set(xscale="log", yscale="log" if has_gaps else "linear", xlabel=self.xlabel, ylabel=self.ylabel)
        ax.set_title(self.title if title is None else title)
        ax.xaxis.set_minor_formatter("")
        ax.grid(True, alpha=0.25)
        if legend and len(self.curves) <= _FEW:
            ax.legend(frameon=False)
        elif legend:
            style.legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _rows_of(results: Any) -> list[Any]:
    """The rows of a benchmark's results, each with a problem, a lam and runs."""
    try:
        content = results if isinstance(results, Mapping) else json.loads(Path(results).read_text(encoding="utf8"))
        rows = [row for row in content["rows"] if {"problem", "lam", "runs"} <= row.keys()]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PegasosError(f"{results!s:.100} holds no results of a benchmark: {error}.") from error
    return rows


def _best(runs: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The fastest run of each setting, in the order of seconds; what is no better than a faster one is left out."""
    fastest = {}
    for setting, seconds, distance in sorted(runs, key=lambda run: -run[1]):
        fastest[setting] = (seconds, max(distance, _LEAST))
    points = np.array(sorted(fastest.values()))
    kept = points[:, 1] <= np.minimum.accumulate(points[:, 1])
    return points[kept, 0], points[kept, 1]


def _checked(name: Any, curve: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    x, y = (np.asarray(each, np.float64) for each in curve)
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise PegasosError(f"the curve of {name!r} must be two vectors of one length, got {x.shape} and {y.shape}.")
    return x, y
