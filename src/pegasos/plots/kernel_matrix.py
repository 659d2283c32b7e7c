"""The picture of a kernel: which items it takes for similar."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.kernels import Precomputed
from pegasos.machines.kernel_choice import WORDS, KernelChoice, kernel_of
from pegasos.plots import _style as style
from pegasos.plots._models import opened

_MOST = 3000  # items: beyond this, a picture shows nothing and takes gigabytes

Numbers = npt.NDArray[np.float64]


class KernelMatrixDisplay:
    """The kernel matrix of items, ordered by class, and within a class so that similar ones are neighbors.

    Parameters
    ----------
    matrix : array of shape (n_items, n_items)
    y : array of shape (n_items,), optional
        The classes.

    Attributes
    ----------
    order : array of int
        The items in the order in which they are drawn.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos.kernels import RBF
    >>> from pegasos.plots import KernelMatrixDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> drawn = KernelMatrixDisplay.from_kernel(RBF(0.5), X, y).plot()
    >>> drawn.image_.get_array().shape
    (150, 150)
    """

    ax_: Any
    figure_: Any
    image_: Any

    def __init__(self, matrix: npt.ArrayLike, y: npt.ArrayLike | None = None):
        self.matrix = np.asarray(matrix, np.float64)
        n = len(self.matrix)
        if self.matrix.shape != (n, n) or n == 0 or not np.isfinite(self.matrix).all():
            raise PegasosError(f"a kernel matrix is square and finite, got shape {self.matrix.shape}.")
        self.y = np.zeros(n, np.intp) if y is None else np.asarray(y)
        if self.y.shape != (n,):
            raise PegasosError(f"y must name the class of each of the {n} items, got shape {self.y.shape}.")
        self.classes, self.counts = np.unique(self.y, return_counts=True)
        members = [np.flatnonzero(self.y == name) for name in self.classes]
        self.order = np.concatenate([mine[_by_similarity(self.matrix[np.ix_(mine, mine)])] for mine in members])

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, y: Any = None, *, gamma: float | str = "scale") -> Self:
        """The matrix of a kernel.

        Parameters
        ----------
        kernel : str, Kernel or callable
            As in `KernelPegasosClassifier`; with "precomputed" X is the matrix.
        X : what the kernel takes, at most 3000 items
        y : array of shape (n_items,), optional
        gamma : "scale", "auto" or float, default="scale"
            Of a kernel given as a word.
        """
        if isinstance(kernel, str):
            check.check_word("kernel", kernel, WORDS)
            X = np.asarray(X.todense() if hasattr(X, "todense") else X)
            if X.ndim != 2:
                raise PegasosError(
                    f"kernel={kernel!r} compares rows of numbers: X must be a matrix, got shape {X.shape}."
                )
        _check_number(X)
        if isinstance(kernel, str) and kernel == "precomputed":
            return cls(X, y)
        return cls(kernel_of(KernelChoice(kernel, gamma), X, None).block(X, X), y)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None) -> Self:
        """The matrix of the kernel of a fitted machine, its parameters as the fit settled them."""
        model, before = opened(estimator)
        if not hasattr(model, "kernel_"):
            raise PegasosError(f"{type(model).__name__} has no kernel; use from_kernel, or a KernelPegasosClassifier.")
        _check_number(X)
        X = before(X)
        return cls(X if isinstance(model.kernel_, Precomputed) else model.kernel_.block(X, X), y)

    def plot(self, ax: Any = None, *, cmap: str | None = None, title: str | None = None) -> Self:
        """Draw the matrix, the classes apart.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        cmap : str, optional
            By default "viridis"; where values are negative, "RdBu_r" around 0.
        title : str, optional
        """
        ax = style.axes_for(ax, (5.4, 4.4))
        values = self.matrix[np.ix_(self.order, self.order)]
        largest = float(np.abs(values).max())
        is_signed = values.min() < -1e-9 * largest
        limits = {"vmin": -largest, "vmax": largest} if is_signed else {"vmin": min(0.0, float(values.min()))}
        self.image_ = ax.imshow(
            values, cmap=cmap or ("RdBu_r" if is_signed else "viridis"), interpolation="nearest", **limits
        )
        ax.figure.colorbar(self.image_, ax=ax, label="k(x, z)")
        self._name_classes(ax)
        ax.set_title(title or "")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_classes(self, ax: Any) -> None:
        if len(self.classes) == 1:
            ax.set(xlabel="item, in the order of similarity", ylabel="item, in the order of similarity")
            return
        ends = np.cumsum(self.counts)
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="white" if len(self.classes) <= 20 else "none", linewidth=0.8)
            ax.axvline(end - 0.5, color="white" if len(self.classes) <= 20 else "none", linewidth=0.8)
        middles = ends - 0.5 * self.counts - 0.5
        names = [str(name) for name in self.classes]
        is_long = sum(map(len, names)) > 40
        ax.set_xticks(middles, names, rotation=45 if is_long else 0, ha="right" if is_long else "center")
        ax.set_yticks(middles, names)
        ax.tick_params(length=0)
        ax.set(xlabel="class", ylabel="class")


def _check_number(X: Any) -> None:
    n = _num_samples(X)
    if n > _MOST:
        raise PegasosError(f"a kernel matrix of {n} items is too large to draw; pass a sample of at most {_MOST}.")


def _by_similarity(square: Numbers) -> npt.NDArray[np.intp]:
    """The leaves of a tree of clusters, by |phi(x) - phi(z)|^2 = k(x, x) + k(z, z) - 2 k(x, z)."""
    from scipy.cluster.hierarchy import leaves_list, linkage  # slow to import, and nothing else needs it
    from scipy.spatial.distance import squareform

    if len(square) < 3:
        return np.arange(len(square))
    diagonal = np.diag(square)
    distances = np.sqrt(np.maximum(diagonal[:, None] + diagonal - square - square.T, 0.0))
    np.fill_diagonal(distances, 0.0)
    return np.asarray(leaves_list(linkage(squareform(distances, checks=False), "average")), np.intp)
