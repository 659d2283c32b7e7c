"""The picture of a run: the objective from above, the bound from below, and what is left between them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import opened, problem_names, trace_of
from pegasos.theory import suboptimality_bound

_words = {"step": "steps", "epoch": "epochs (passes over the data)", "seconds": "seconds"}
_COLUMNS = ("primal", "dual", "gap")


class ConvergenceDisplay:
    """Primal, dual and duality gap of a run against its steps, epochs or seconds.

    With one problem all three are drawn, with several the gap of each. For ``solver="pegasos"`` the paper's bound
    c (1 + ln T) / (2 lam T) after T steps, with c = (sqrt(lam) + R)^2, is drawn as well.

    Parameters
    ----------
    traces : list of Trace, or of anything with the columns step, epoch, seconds, primal, dual and gap
    names : list of str, one per trace
    lam, largest_norm : float, optional
        lam, and the length R of the longest row, the constant column included; both are needed for the bound.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.plots import ConvergenceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PegasosClassifier(lam=1e-2, random_state=0).fit(scale(X), y)
    >>> drawn = ConvergenceDisplay.from_estimator(model).plot()
    >>> [line.get_label() for line in drawn.lines_]
    ['primal', 'dual', 'gap']
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(
        self, traces: list[Any], names: list[str], *, lam: float | None = None, largest_norm: float | None = None
    ):
        columns = (*_words, *_COLUMNS)
        if not traces or any(not hasattr(trace, "keys") or not set(columns) <= set(trace.keys()) for trace in traces):
            raise PegasosError("a trace has the columns step, epoch, seconds, primal, dual and gap; got others.")
        for trace in traces:
            shapes = {np.shape(trace[column]) for column in columns}
            if len(shapes) > 1 or len(min(shapes)) != 1 or 0 in min(shapes):
                raise PegasosError(f"the columns of a trace must be vectors of one length above 0, got {shapes}.")
        if len(names) != len(traces):
            raise PegasosError(f"names must name the {len(traces)} traces, got {len(names)} names.")
        self.traces = traces
        self.names = names
        self.lam = lam
        self.largest_norm = largest_norm

    @classmethod
    def from_estimator(cls, estimator: Any, *, part: int | None = None) -> Self:
        """The run of a fitted model, the last step of a pipeline, or the best of a search.

        Parameters
        ----------
        estimator : PegasosClassifier, PegasosClassifierCV, KernelPegasosClassifier, or what contains one
        part : int, optional
            The problem to draw, where several classes made several; by default the gaps of all of them.
        """
        model, _ = opened(estimator)
        parts = list(trace_of(model).parts)
        names = problem_names(model, len(parts))
        if part is not None:
            if isinstance(part, bool) or not isinstance(part, int | np.integer) or not 0 <= part < len(parts):
                raise PegasosError(f"part must be one of 0..{len(parts) - 1}, got {part!r}.")
            parts, names = [parts[part]], [names[part]]
        return cls(parts, names, **_terms_of_the_bound(model))

    @classmethod
    def from_trace(cls, trace: Any, *, lam: float | None = None, largest_norm: float | None = None) -> Self:
        """One trace, or a mapping with its columns; with lam and the longest row's length the bound is drawn too."""
        return cls([trace], ["trace"], lam=lam, largest_norm=largest_norm)

    def plot(self, ax: Any = None, *, by: str = "step", title: str | None = None) -> Self:
        """Draw on logarithmic axes; values that are not positive, such as early duals, are left out.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        by : {"step", "epoch", "seconds"}, default="step"
        title : str, optional
            By default what the problem is about.
        """
        if by not in _words:
            raise PegasosError(f"by must be one of {', '.join(map(repr, _words))}, got {by!r}.")
        ax = style.axes_for(ax, (6.4, 4.0) if len(self.traces) > 1 else (6.0, 4.0))
        ax.set(xscale="log", yscale="log", xlabel=_words[by])
        if len(self.traces) == 1:
            self.lines_ = self._draw_one(ax, by)
            ax.set(ylabel="objective, and duality gap", title=self.names[0] if title is None else title)
            ax.legend(frameon=False)
        else:
            self.lines_ = self._draw_gaps(ax, by)
            ax.set(ylabel="duality gap", title=title or "")
            style.legend_beside(ax, fontsize="small")
        ax.grid(True, alpha=0.25)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_one(self, ax: Any, by: str) -> list[Any]:
        trace = self.traces[0]
        x = style.above_zero(trace[by])
        lines = []
        for k, column in enumerate(_COLUMNS):
            look = style.curve(k) | {"markevery": style.some_marks(len(x))}
            lines += ax.plot(x, style.above_zero(trace[column]), label=column, **look)
        return lines + self._draw_bound(ax, trace, by)

    def _draw_gaps(self, ax: Any, by: str) -> list[Any]:
        lines = []
        for k, (trace, name) in enumerate(zip(self.traces, self.names, strict=True)):
            lines += ax.plot(style.above_zero(trace[by]), style.above_zero(trace["gap"]), label=name, **style.curve(k))
        longest = max(self.traces, key=lambda trace: float(trace["step"][-1]))
        return lines + self._draw_bound(ax, longest, by)

    def _draw_bound(self, ax: Any, trace: Any, by: str) -> list[Any]:
        if self.lam is None or self.largest_norm is None:
            return []
        steps = np.maximum(np.asarray(trace["step"], np.float64), 1.0)
        bound: npt.NDArray[np.float64] = suboptimality_bound(steps, self.lam, self.largest_norm)
        look = {"color": style.ink(), "linestyle": (0, (1, 1.5)), "linewidth": 1.2}
        return list(ax.plot(style.above_zero(trace[by]), bound, label="Pegasos bound", **look))


def _terms_of_the_bound(model: Any) -> dict[str, float]:
    """Return lam and the longest row if the paper's bound applies to the fit, otherwise nothing.

    It applies to Pegasos steps on the hinge loss with costs of 1, a regularized intercept and no prior.
    """
    if getattr(model, "solver", None) != "pegasos" or getattr(model, "loss", "hinge") != "hinge":
        return {}
    fitted = getattr(model, "fitted_", None)
    terms = None if fitted is None else fitted.terms
    if fitted is None or terms is None or terms.largest_norm == 0.0 or terms.is_free or terms.is_hard:
        return {}
    task, shares_rows = fitted.task, fitted.task.name == "ovr" or fitted.task.n_problems == 1 == fitted.task.n_vectors
    if not shares_rows or fitted.model.prior is not None:
        return {}
    if task.factors is not None or not np.array_equal(task.totals, task.counts):
        return {}
    return {"lam": terms.lam, "largest_norm": terms.largest_norm}
