"""Pictures of a path, and of the choice of lam."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from pegasos.errors import PegasosError
from pegasos.estimators.linear_cv import PegasosClassifierCV
from pegasos.estimators.regression_cv import PegasosRegressorCV
from pegasos.plots import _style as style

Numbers = npt.NDArray[np.float64]

_MOST_NAMED = 7


class LamPathDisplay:
    """Curves against lam: the coefficients of a path, or the scores of a cross-validation.

    Created by `from_path` or `from_estimator`, drawn by `plot`.

    Parameters
    ----------
    lams : array of shape (n_lams,)
        The x axis, logarithmic.
    curves : array of shape (n_curves, n_lams)
        The y values of each curve.
    names : list of str, one per curve
    ylabel : str
    band : array of shape (n_lams,), optional
        Half the height of a band around the first curve.
    chosen : float, optional
        The lam to mark.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import LamPathDisplay, lam_path
    >>> X, y = load_iris(return_X_y=True)
    >>> drawn = LamPathDisplay.from_path(lam_path(X, y == 0, lams=[0.1, 0.01], random_state=0)).plot()
    >>> drawn.ax_.get_xscale()
    'log'
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(
        self,
        lams: Numbers,
        curves: Numbers,
        names: list[str],
        ylabel: str,
        *,
        band: Numbers | None = None,
        chosen: float | None = None,
    ):
        self.lams = lams
        self.curves = curves
        self.names = names
        self.ylabel = ylabel
        self.band = band
        self.chosen = chosen

    @classmethod
    def from_path(cls, path: Any, *, problem: int = 0, feature_names: Any = None) -> Self:
        """The coefficients of one problem of a path, one curve a feature.

        Parameters
        ----------
        path : LamPath
        problem : int, default=0
            Which class against the rest, where there are more than two; or which target.
        feature_names : list of str, optional
        """
        if getattr(getattr(path, "coefs", None), "ndim", 0) != 3:
            raise PegasosError(f"path must be a LamPath, as lam_path returns one, got {path!r:.80}.")
        n_problems, n_features = path.coefs.shape[1:]
        if not 0 <= problem < n_problems:
            raise PegasosError(f"problem must be one of 0..{n_problems - 1}, got {problem!r}.")
        names = [f"feature {j}" for j in range(n_features)] if feature_names is None else list(feature_names)
        if len(names) != n_features:
            raise PegasosError(f"feature_names must name the {n_features} features, got {len(names)} names.")
        whose = f"target {problem}" if path.classes is None else f"class {path.classes[problem]} against the rest"
        whose = f", {whose}" if n_problems > 1 else ""
        return cls(path.lams, path.coefs[:, problem].T, names, f"coefficient{whose}")

    @classmethod
    def from_estimator(cls, estimator: PegasosClassifierCV | PegasosRegressorCV) -> Self:
        """The mean score of the folds, and one standard error to either side; with the epsilon that was chosen."""
        check_is_fitted(estimator, "scores_")
        table = estimator.cv_results_
        of_task = slice(None)
        if "param_epsilon" in table:
            of_task = table["param_epsilon"] == estimator.fitted_.task.epsilon
        scores, errors = estimator.scores_[:, of_task], table["standard_error"][of_task]
        band = None if np.isnan(errors).any() else errors
        name = "mean of the folds, and one standard error" if band is not None else "held-out data"
        measure = estimator.scoring if isinstance(estimator.scoring, str) else "score"
        ylabel = estimator.fitted_.task.metric if estimator.scoring is None else measure
        mean = scores.mean(axis=0)[None]
        return cls(estimator.lams_[of_task], mean, [name], ylabel, band=band, chosen=estimator.lam_)

    def plot(self, ax: Any = None, *, n_named: int = 5, title: str | None = None) -> Self:
        """Draw the curves against lam, on a logarithmic axis, large lam on the left.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        n_named : int, default=5
            Curves that get a color and a name, at most 7: those that reach furthest from 0. The others are gray.
        title : str, optional
        """
        if not 0 <= n_named <= _MOST_NAMED:
            raise PegasosError(f"n_named must be one of 0..{_MOST_NAMED}, got {n_named!r}.")
        ax = style.axes_for(ax, (6.4, 4.0))
        self.lines_ = self._draw(ax, n_named)
        ax.set(xscale="log", xlabel="lam", ylabel=self.ylabel, title=title or "")
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
        if any(not line.get_label().startswith("_") for line in self.lines_):
            ax.legend(framealpha=0.8, edgecolor="none")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, n_named: int) -> list[Any]:
        reach = np.abs(self.curves).max(axis=1)
        named = np.argsort(-reach, kind="stable")[:n_named]
        others = np.setdiff1d(np.arange(len(self.curves)), named)
        lines = [ax.plot(self.lams, self.curves[k], color=style.faint, alpha=0.6, linewidth=0.8)[0] for k in others]
        for number, k in enumerate(named):
            look = style.curve(number) | {"markevery": style.some_marks(len(self.lams))}
            lines += ax.plot(self.lams, self.curves[k], label=self.names[k], **look)
        if self.band is not None:
            below, above = self.curves[0] - self.band, self.curves[0] + self.band
            ax.fill_between(self.lams, below, above, color=style.colours[0], alpha=0.2, linewidth=0)
        if self.chosen is not None:
            lines.append(ax.axvline(self.chosen, color=style.ink(), linestyle="--", linewidth=1, label="chosen lam"))
        return lines
