"""The picture of a one-class model: how typical rows are, and where the offset divides them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import opened


class NoveltyDisplay:
    """A histogram of scores, with the offset below which a sample is novel.

    Parameters
    ----------
    scores : array of shape (n_rows,)
    offset : float
    y : array of shape (n_rows,), optional
        1 for samples that belong, -1 for the others, which are drawn separately.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    patches_ : list of matplotlib StepPatch, one per kind of rows

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosOneClass
    >>> from pegasos.plots import NoveltyDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelPegasosOneClass(gamma=0.5, nu=0.1, random_state=0).fit(X)
    >>> drawn = NoveltyDisplay.from_estimator(model, X).plot()
    >>> drawn.ax_.get_xlabel()
    'score: below the offset a sample is novel'
    """

    ax_: Any
    figure_: Any
    patches_: list[Any]

    def __init__(self, scores: npt.ArrayLike, offset: float, y: npt.ArrayLike | None = None):
        self.scores, self.offset = np.asarray(scores, np.float64), float(offset)
        if self.scores.ndim != 1 or not len(self.scores) or not np.isfinite(self.scores).all():
            raise PegasosError(f"scores must be a vector of finite numbers, got shape {self.scores.shape}.")
        self.y = None if y is None else np.asarray(y)
        if self.y is not None and (self.y.shape != self.scores.shape or not np.isin(self.y, (1, -1)).all()):
            raise PegasosError(
                f"y must be 1 or -1 for each of the {len(self.scores)} rows, got shape {self.y.shape} with values such "
                f"as {self.y.ravel()[:3].tolist()}."
            )

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: npt.ArrayLike | None = None) -> Self:
        """Score rows.

        Parameters
        ----------
        estimator : fitted one-class model, alone or in a pipeline
            Anything with ``score_samples`` and ``offset_``.
        X : rows, as in `predict`
        y : array of shape (n_rows,), optional
            1 for rows that belong, -1 for the others.
        """
        model, prepared = opened(estimator)
        if not hasattr(model, "score_samples") or not hasattr(model, "offset_"):
            raise PegasosError(f"{type(model).__name__} has no scores of novelty; give a PegasosOneClass.")
        return cls(model.score_samples(prepared(X)), float(np.ravel(model.offset_)[0]), y)

    def plot(self, ax: Any = None, *, bins: int = 40, title: str | None = None) -> Self:
        """Draw one outline per kind of rows, of shares.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        bins : int, default=40
        title : str, optional
        """
        check.check_count("bins", bins)
        ax = style.axes_for(ax, (6.4, 4.0))
        low, high = min(self.scores.min(), self.offset), max(self.scores.max(), self.offset)
        room = 0.02 * (high - low) + 1e-12
        edges = np.linspace(low - room, high + room, int(bins) + 1)
        kinds = [("samples", self.scores)]
        if self.y is not None:
            kinds = [
                (name, self.scores[self.y == k]) for name, k in (("typical", 1), ("novel", -1)) if (self.y == k).any()
            ]
        self.patches_ = []
        for k, (name, mine) in enumerate(kinds):
            shares, look = np.histogram(mine, edges)[0] / len(mine), style.curve(k)
            label = f"{name}: {float(np.mean(mine < self.offset)):.1%} below"
            ax.stairs(shares, edges, fill=True, color=look["color"], alpha=0.25)
            patch = ax.stairs(
                shares, edges, color=look["color"], linestyle=look["linestyle"], linewidth=1.5, label=label
            )
            self.patches_.append(patch)
        ax.axvline(self.offset, color=style.ink(), linewidth=1.0, linestyle="--", label=f"offset: {self.offset:.4g}")
        ax.set(xlabel="score: below the offset a sample is novel", ylabel="share of the samples", title=title or "")
        ax.set_xlim(edges[0], edges[-1])
        ax.set_ylim(bottom=0.0)
        style.legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
