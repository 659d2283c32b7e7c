"""The machines that are tried, each a line of data: its kernel, what can be chosen of it, where to begin.

The order is that of the advice given in lectures: linear, polynomials of low degree, an RBF kernel of a reasonable
width; for strings, graphs and series their own kernels, the cheapest first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from pegasos.kernels import (
    RBF,
    Fourier,
    GlobalAlignment,
    Kernel,
    Laplacian,
    Polynomial,
    RandomWalk,
    ShortestPath,
    Spectrum,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
)
from pegasos.kernels.graph_reading import read_graphs
from pegasos.kernels.series import series_of
from pegasos.kernels.strings import strings_of

_COSTS = (0.03, 1e3)  # of C: with a larger one a fit takes long and seldom gains anything
_STRIDE = 3.0  # between a number and the next ones to try
_MOST_MEASURED = 500  # items whose distances are looked at
_MOST_WORK = 2e10  # of a kernel that costs the square of an item's size: all pairs of items together


@dataclass(frozen=True)
class Choice:
    """A number that is searched for: whole, or on a logarithmic scale."""

    low: float
    high: float
    is_whole: bool = False

    def near(self, value: float) -> list[float]:
        """The next numbers on both sides, within the range."""
        steps = (value - 1, value + 1) if self.is_whole else (value / _STRIDE, value * _STRIDE)
        return [step for step in steps if self.low <= step <= self.high]


@dataclass(frozen=True)
class Units:
    """Sizes of the items after scaling, which make the search the same in any unit of measurement."""

    mean_square: float = 1.0  # of the length of an item
    median_square: float = 1.0  # of the distance of two
    median_sum: float = 1.0  # of the sum of absolute differences of two


@dataclass(frozen=True)
class Family:
    """A kernel with parameters to be chosen.

    Attributes
    ----------
    words : str
        What the account calls it.
    choices : mapping of str to Choice
        The parameters beside C.
    kernel : callable, or None
        The kernel of these parameters in these units; None is the linear machine.
    first : tuple of dicts
        What to try before the search begins: C and the parameters.
    mean_square : callable
        k(x, x) of a typical row of numbers. C counts in units of its inverse; for other items, of that of their spread.
    """

    words: str
    choices: Mapping[str, Choice]
    kernel: Callable[[Units, Mapping[str, Any]], Kernel] | None
    first: tuple[dict[str, Any], ...]
    mean_square: Callable[[Units, Mapping[str, Any]], float] = lambda units, chosen: 1.0
    is_of_items: bool = True  # whether the kernel reads items as they are, unscaled, and its units are those of a probe

    @property
    def numbers(self) -> dict[str, Choice]:
        """All that is searched for: C and the parameters."""
        return {"C": Choice(*_COSTS), **self.choices}


Families = dict[str, Family]
_width = Choice(0.03, 30.0)


def _whole(low: int, high: int) -> Choice:
    return Choice(low, high, is_whole=True)


def measure(X: Any, rng: np.random.Generator) -> Units:
    """The units of rows of numbers, by a sample of them; ones where all rows are equal."""
    chosen = rng.permutation(X.shape[0])[:_MOST_MEASURED]
    rows = X[np.sort(chosen)]
    squares = rows.multiply(rows) if sp.issparse(rows) else np.square(rows, dtype=np.float64)
    upper = np.triu_indices(rows.shape[0], 1)
    names = ("euclidean",) if sp.issparse(rows) else ("euclidean", "manhattan")
    apart = [pairwise_distances(rows, metric=name)[upper] for name in names]
    return Units(float(squares.sum()) / rows.shape[0] or 1.0, _typical(np.square(apart[0])), _typical(apart[-1]))


def _typical(distances: Any) -> float:
    """The median, of the pairs that differ."""
    apart = distances[distances > 1e-12 * distances.max(initial=0.0)]
    return float(np.median(apart)) if len(apart) else 1.0


def families_of_rows(is_sparse: bool) -> Families:
    """For rows of numbers; sums of absolute differences only where rows are dense, for their cost."""
    families = {
        "linear": Family(
            "linear machine",
            {},
            None,
            ({"C": 10.0}, {"C": 1.0}, {"C": 100.0}, {"C": 0.1}),
            lambda units, chosen: units.mean_square,
            is_of_items=False,
        ),
        "poly": Family(
            "polynomial kernel",
            {"degree": _whole(2, 3)},
            lambda units, chosen: Polynomial(chosen["degree"], 1.0 / units.mean_square, 1.0),
            ({"C": 100.0, "degree": 2},),
            lambda units, chosen: 2.0 ** chosen["degree"],
            is_of_items=False,
        ),
        "rbf": Family(
            "RBF kernel",
            {"width": _width},
            lambda units, chosen: RBF(chosen["width"] / units.median_square),
            ({"C": 10.0, "width": 1.0}, {"C": 10.0, "width": 4.0}, {"C": 1.0, "width": 0.5}),
            is_of_items=False,
        ),
    }
    laplacian = Family(
        "Laplacian kernel",
        {"width": _width},
        lambda units, chosen: Laplacian(chosen["width"] / units.median_sum),
        ({"C": 10.0, "width": 1.0},),
        is_of_items=False,
    )
    return families if is_sparse else families | {"laplacian": laplacian}


def families_of_strings(X: Any) -> Families:
    """Words anywhere; words in their places where all strings have one length; words with gaps where that is cheap."""
    strings = strings_of(X)
    lengths = np.array([len(text) for text in strings])
    longest = int(np.clip(np.median(lengths), 1, 8))
    families = {
        "spectrum": Family(
            "spectrum kernel",
            {"k": _whole(1, longest)},
            lambda units, chosen: Spectrum(chosen["k"]).normalized(),
            tuple({"C": 10.0, "k": min(k, longest)} for k in (3, 5)),
        ),
        "spectra": Family(
            "kernel of all substrings of up to k letters",
            {"k": _whole(2, max(2, longest))},
            lambda units, chosen: reduce(add, map(Spectrum, range(1, chosen["k"] + 1))).normalized(),
            ({"C": 10.0, "k": min(4, max(2, longest))},),
        ),
    }
    if lengths.min() == lengths.max():
        highest = int(min(20, lengths[0]))
        families["weighted degree"] = Family(
            "weighted-degree kernel",
            {"degree": _whole(1, highest)},
            lambda units, chosen: WeightedDegree(chosen["degree"]).normalized(),
            tuple({"C": 10.0, "degree": min(degree, highest)} for degree in (10, 4)),
        )
    if longest >= 2 and float(lengths.sum()) ** 2 < _MOST_WORK:
        families["subsequence"] = Family(
            "subsequence kernel",
            {"k": _whole(2, min(5, longest)), "decay": Choice(0.2, 0.9)},
            lambda units, chosen: Subsequence(chosen["k"], chosen["decay"]).normalized(),
            ({"C": 10.0, "k": min(3, longest), "decay": 0.5},),
        )
    return families


def families_of_graphs(X: Any) -> Families:
    """Subtree patterns, shortest paths, and random walks where there are few small graphs."""
    graphs = read_graphs(X, "label")
    n_nodes = sum(map(len, graphs))
    families = {
        "subtrees": Family(
            "Weisfeiler-Lehman kernel",
            {"h": _whole(0, 8)},
            lambda units, chosen: WeisfeilerLehman(chosen["h"]).normalized(),
            ({"C": 10.0, "h": 2}, {"C": 100.0, "h": 1}, {"C": 10.0, "h": 4}),
        ),
        "paths": Family(
            "shortest-path kernel",
            {},
            lambda units, chosen: ShortestPath().normalized(),
            ({"C": 10.0},),
        ),
    }
    if float(n_nodes) ** 2 < _MOST_WORK / 1e3:
        # Walks of bounded length: the sum over all of them could be infinite for a graph that is still to come.
        most = 1.0 / max(1, *(graph.degree for graph in graphs)) ** 2
        families["walks"] = Family(
            "random-walk kernel",
            {"decay": Choice(most / 30.0, most)},
            lambda units, chosen: RandomWalk(chosen["decay"], n_steps=8).normalized(),
            ({"C": 100.0, "decay": most / 2.0},),
        )
    return families


def families_of_series(X: Any, rng: np.random.Generator) -> Families:
    """Frequencies; alignments, with sigma in Cuturi's unit: the median difference of values times sqrt(length)."""
    series = series_of(X)
    pairs = rng.integers(len(series.values), size=(2, 4000))
    apart = _typical(np.linalg.norm(series.values[pairs[0]] - series.values[pairs[1]], axis=1))
    unit = apart * float(np.sqrt(np.median(series.lengths)))
    families = {
        "frequencies": Family(
            "Fourier kernel",
            {"n_frequencies": _whole(8, 64), "gamma": Choice(0.1, 100.0)},
            lambda units, chosen: Fourier(chosen["n_frequencies"], chosen["gamma"]),
            ({"C": 10.0, "n_frequencies": 32, "gamma": 5.0},),
        )
    }
    if float(series.lengths.sum()) ** 2 < _MOST_WORK:
        families["alignment"] = Family(
            "global alignment kernel",
            {"sigma": Choice(0.05, 10.0)},
            lambda units, chosen: GlobalAlignment(chosen["sigma"] * unit),
            ({"C": 10.0, "sigma": 0.2}, {"C": 10.0, "sigma": 1.0}),
        )
    return families
