"""One against one as LIBSVM lays it out, and as this library does.

LIBSVM keeps support vectors class by class. One of class i has K - 1 coefficients, one for its part in the pair with
each other class: of the pair (i, j), i < j, those of class i are in row j - 1 and those of class j in row i. Here there
is one row per pair, in the order (0, 1), (0, 2), ..., (1, 2), ... A score is positive here for the first class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.tasks import pairs_of

Numbers = npt.NDArray[np.float64]


class ByClass(NamedTuple):
    """Support vectors class by class."""

    numbers: npt.NDArray[np.intp]  # which support vector stands in each place; one of two classes stands in two
    n_support: npt.NDArray[np.intp]  # how many places each class has
    dual_coef: Numbers  # (n_classes - 1, n_places)


def by_class(of_pairs: Numbers, n_classes: int) -> ByClass:
    """From one row per pair. Which class a support vector was of is seen from the pairs it has a part in."""
    pairs = pairs_of(n_classes)
    missing = of_pairs != 0.0
    places: list[tuple[int, int]] = []
    while missing.any():
        numbers = np.flatnonzero(missing.any(axis=0))
        classes = _likely_class(np.where(missing, of_pairs, 0.0)[:, numbers], pairs, n_classes)
        for k, pair in enumerate(pairs):
            missing[k, numbers[(classes == pair[0]) | (classes == pair[1])]] = False
        places += zip(classes.tolist(), numbers.tolist(), strict=True)
    places.sort()
    classes, numbers = np.array(places, np.intp).reshape(-1, 2).T
    dual_coef = np.zeros((n_classes - 1, len(numbers)))
    done = np.zeros(of_pairs.shape, np.bool_)
    for k, (i, j) in enumerate(pairs):
        for mine, row in ((i, j - 1), (j, i)):
            chosen = np.flatnonzero(classes == mine)
            chosen = chosen[~done[k, numbers[chosen]]]  # a part that the other class has taken over is counted there
            dual_coef[row, chosen] = of_pairs[k, numbers[chosen]]
            done[k, numbers[chosen]] = True
    return ByClass(numbers, np.bincount(classes, minlength=n_classes), dual_coef)


def _likely_class(of_pairs: Numbers, pairs: Sequence[tuple[int, int]], n_classes: int) -> npt.NDArray[np.intp]:
    """The class with a part in most of the pairs; the sign decides where two have."""
    evidence = np.zeros((n_classes, of_pairs.shape[1]))
    for row, (i, j) in zip(np.sign(of_pairs), pairs, strict=True):
        evidence[i] += np.abs(row) + row / (2.0 * n_classes)
        evidence[j] += np.abs(row) - row / (2.0 * n_classes)
    return np.asarray(evidence.argmax(axis=0))


def by_pair(dual_coef: Numbers, n_support: npt.NDArray[np.intp]) -> Numbers:
    """One row per pair, from support vectors class by class."""
    n_classes = len(n_support)
    ends = np.cumsum(n_support)
    begins = ends - n_support
    of_pairs = np.zeros((n_classes * (n_classes - 1) // 2, dual_coef.shape[1]))
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        of_pairs[k, begins[i] : ends[i]] = dual_coef[j - 1, begins[i] : ends[i]]
        of_pairs[k, begins[j] : ends[j]] = dual_coef[i, begins[j] : ends[j]]
    return of_pairs


def reordered(of_pairs: Numbers, order: npt.NDArray[np.intp]) -> Numbers:
    """The rows of pairs, or one number per pair, when class order[a] comes to stand in place a.

    A pair whose classes change places changes its sign.
    """
    n_classes = len(order)
    row_of = {pair: k for k, pair in enumerate(pairs_of(n_classes))}
    result = np.empty_like(of_pairs)
    for k, (a, b) in enumerate(pairs_of(n_classes)):
        i, j = int(order[a]), int(order[b])
        result[k] = of_pairs[row_of[i, j]] if i < j else -of_pairs[row_of[j, i]]
    return result
