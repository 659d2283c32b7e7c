"""The picture of online learning: mistakes made so far, against samples seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import named, opened


class MistakesDisplay:
    """Cumulative mistakes of online learners in one figure.

    Parameters
    ----------
    curves : dict of str to array of shape (n_points, 2)
        For each learner the samples seen and the mistakes so far, as in ``mistake_curve_``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pegasos.online import PassiveAggressive, Perceptron
    >>> from pegasos.plots import MistakesDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> learners = [Perceptron(random_state=0).fit(X, y), PassiveAggressive(random_state=0).fit(X, y)]
    >>> drawn = MistakesDisplay.from_estimators(learners).plot()
    >>> [line.get_label() for line in drawn.lines_]
    ['Perceptron', 'PassiveAggressive']
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(self, curves: Mapping[str, npt.ArrayLike]):
        if not curves:
            raise PegasosError("there is nothing to draw: give at least one curve.")
        self.curves = {str(name): _checked(name, points) for name, points in curves.items()}

    @classmethod
    def from_estimators(cls, estimators: Any) -> Self:
        """The curves of fitted online learners.

        Parameters
        ----------
        estimators : dict of str to learner, list of learners, or one learner
            Of a pipeline the last step is meant. Without names, those of the classes are used.
        """
        curves = {}
        for name, estimator in named(estimators).items():
            model, _ = opened(estimator)
            if not hasattr(model, "mistake_curve_"):
                raise PegasosError(
                    f"{name} ({type(model).__name__}) counts no mistakes; use a learner of pegasos.online."
                )
            curves[name] = model.mistake_curve_
        return cls(curves)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """The curve of one learner."""
        return cls.from_estimators(estimator)

    def plot(self, ax: Any = None, *, share: bool = False, legend: bool = True, title: str | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        share : bool, default=False
            Whether to divide by the samples seen, on a logarithmic axis.
        legend : bool, default=True
        title : str, optional
        """
        ax = style.axes_for(ax, (6.0, 4.0))
        self.lines_ = []
        for k, (name, points) in enumerate(self.curves.items()):
            seen, mistakes = points[points[:, 0] > 0.0].T
            look = style.curve(k) | {"markevery": style.some_marks(len(seen))}
            self.lines_ += ax.plot(seen, mistakes / seen if share else mistakes, label=name, **look)
        ax.set(
            xlabel="samples seen",
            ylabel="mistakes / samples seen" if share else "cumulative mistakes",
            title=title or "",
        )
        ax.set_ylim(bottom=0.0)
        if share:
            ax.set_xscale("log")
        if legend:
            ax.legend(frameon=False)
        ax.grid(True, alpha=0.25)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _checked(name: Any, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    found = np.asarray(points, np.float64)
    if found.ndim != 2 or found.shape[1] != 2 or not len(found):
        raise PegasosError(f"the curve of {name!r} must have two columns, rows and mistakes, got shape {found.shape}.")
    return found
