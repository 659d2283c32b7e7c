"""The picture of a linear model: its strongest weights by name, or all of them as an image."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from pegasos.errors import PegasosError
from pegasos.plots import _style as style
from pegasos.plots._models import opened, problem_names

_ACROSS = 5  # panels in a line


class WeightsDisplay:
    """The weights of a linear model, one panel per problem: bars of the largest, or a heat map.

    Parameters
    ----------
    coefs : array of shape (n_panels, n_features)
    names : list of str, one per panel
    feature_names : list of str, optional
    shape : pair of int, optional
        Height and width of the image that the features are the pixels of; without it, bars are drawn.

    Attributes
    ----------
    axes_ : list of matplotlib Axes, one per panel
    ax_ : the first of them
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.plots import WeightsDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PegasosClassifier(lam=1e-2, random_state=0).fit(X / 16, y)
    >>> drawn = WeightsDisplay.from_estimator(model, shape=(8, 8)).plot()
    >>> len(drawn.axes_)
    10
    """

    ax_: Any
    axes_: list[Any]
    figure_: Any

    def __init__(
        self,
        coefs: npt.ArrayLike,
        names: list[str],
        *,
        feature_names: Any = None,
        shape: tuple[int, int] | None = None,
    ):
        self.coefs = np.atleast_2d(np.asarray(coefs, np.float64))
        n_panels, n_features = self.coefs.shape
        self.names = list(names)
        if len(self.names) != n_panels:
            raise PegasosError(f"names must name the {n_panels} panels, got {len(self.names)} names.")
        known = [f"feature {j}" for j in range(n_features)] if feature_names is None else list(feature_names)
        self.feature_names = [str(name) for name in known]
        if len(self.feature_names) != n_features:
            raise PegasosError(f"feature_names must name the {n_features} features, got {len(known)} names.")
        self.shape = shape
        if shape is not None and (np.shape(shape) != (2,) or int(np.prod(shape)) != n_features):
            raise PegasosError(f"shape must be (height, width) of {n_features} pixels, got {shape!r}.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Any = None, shape: tuple[int, int] | None = None, part: int | None = None
    ) -> Self:
        """The weights of a fitted linear model.

        Parameters
        ----------
        estimator : any linear classifier with ``coef_``, or what contains one
            Of a pipeline the last step is meant; the steps before it name the features, if they can.
        feature_names : list of str, optional
            By default those that the fit has seen.
        shape : pair of int, optional
            Height and width of the images that rows are.
        part : int, optional
            The problem to draw; by default all of them, one panel each.
        """
        model, _ = opened(estimator)
        if getattr(model, "coef_", None) is None:
            raise PegasosError(
                f"{type(model).__name__} has no coef_: only a linear model has a weight for each feature."
            )
        coefs = np.atleast_2d(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_)
        names = problem_names(model, len(coefs))
        if part is not None:
            if isinstance(part, bool) or not isinstance(part, int | np.integer) or not 0 <= part < len(coefs):
                raise PegasosError(f"part must be one of 0..{len(coefs) - 1}, got {part!r}.")
            coefs, names = coefs[[part]], [names[part]]
        known = _names_of(estimator, model) if feature_names is None else feature_names
        return cls(coefs, names, feature_names=known, shape=shape)

    def plot(self, ax: Any = None, *, top: int = 10, title: str | None = None) -> Self:
        """Draw all panels; an image has the same scale in each.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure. For several panels its place is divided among them.
        top : int, default=10
            Of bars: how many of the strongest features, of either sign.
        title : str, optional
            By default each panel says what its problem is about.
        """
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise PegasosError(f"top must be a whole number of at least 1, got {top!r}.")
        top = min(int(top), self.coefs.shape[1])
        self.axes_ = self._panels(ax, top)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        for panel, coef, name in zip(self.axes_, self.coefs, self.names, strict=True):
            panel.set_title(name, fontsize="medium" if len(self.axes_) == 1 else "small")
            if self.shape is None:
                self._draw_bars(panel, coef, top)
            else:
                self._draw_image(panel, coef.reshape(self.shape))
                panel.set_title(name.removesuffix(" against the rest"), fontsize="small")  # there is no room
        if title is not None:
            self.ax_.set_title(title) if len(self.axes_) == 1 else self.figure_.suptitle(title)
        return self

    def _panels(self, ax: Any, top: int) -> list[Any]:
        n = len(self.coefs)
        wide = min(n, _ACROSS if self.shape is not None else 2)
        high = -(-n // wide)
        if ax is None:
            size = (1.28 * wide, 1.5 * high) if self.shape is not None else (3.2 * wide, 0.6 + 0.24 * top)
            width = max(size[0], 4.8)
            figure = style.pyplot().figure(
                figsize=(width, max(size[1] * (1 if self.shape else high), 2.4)), layout="constrained"
            )
            grid = figure.add_gridspec(high, wide)
        else:
            place = style.axes_for(ax, (0.0, 0.0))
            if n == 1:
                return [place]
            figure = place.figure
            place.set_axis_off()
            grid = place.get_subplotspec().subgridspec(high, wide)
        return [figure.add_subplot(grid[k // wide, k % wide]) for k in range(n)]

    def _draw_bars(self, ax: Any, coef: npt.NDArray[np.float64], top: int) -> None:
        strongest = np.argsort(-np.abs(coef), kind="stable")[:top]
        strongest = strongest[np.argsort(coef[strongest], kind="stable")]
        values = coef[strongest]
        bars = ax.barh(
            np.arange(top), values, color=[style.colours[0] if v >= 0.0 else style.colours[1] for v in values]
        )
        for bar, value in zip(bars, values, strict=True):
            bar.set_hatch("" if value >= 0.0 else "////")
        ax.set_yticks(np.arange(top), [self.feature_names[j] for j in strongest])
        ax.axvline(0.0, color=style.ink(), linewidth=0.8)
        ax.set_xlabel("weight")

    def _draw_image(self, ax: Any, image: npt.NDArray[np.float64]) -> None:
        reach = float(np.abs(self.coefs).max()) or 1.0
        drawn = ax.imshow(image, cmap="RdBu_r", vmin=-reach, vmax=reach)
        ax.set_xticks([])
        ax.set_yticks([])
        if ax is self.axes_[-1]:
            ax.figure.colorbar(drawn, ax=self.axes_, label="weight", shrink=0.8)


def _names_of(estimator: Any, model: Any) -> Any:
    """The names of the features as the model sees them; None where nobody knows."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        try:
            return estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):  # of a step that names nothing
            return None
    return getattr(model, "feature_names_in_", None)
