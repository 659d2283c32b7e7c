"""Kernels for the columns of a table: categories, text, numbers in units of their own; and one for a whole frame."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel, TokenKernel
from pegasos.kernels.composition import on
from pegasos.kernels.records import column_of
from pegasos.kernels.vector import RBF
from pegasos.problem import Floats

_LEAST_WORDS = 3.0  # per value on average: shorter strings are names of categories
_LEAST_DISTINCT = 0.5  # of the values of a text column


@dataclass
class Category(TokenKernel):
    """1 if two values are equal, otherwise 0; for tuples, the share of equal entries.

    Values are numbers, strings or anything hashable. Missing values (None, NaN) are a category of their own.

    Examples
    --------
    >>> from pegasos.kernels import Category
    >>> Category().block(["red", None], ["red", "blue", None])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    >>> Category().block([("red", "S")], [("red", "M"), ("red", "S")]).round(2)
    array([[0.5, 1. ]])
    """

    def tokens(self, item: Any) -> Mapping[Hashable, float]:
        """One coordinate per place."""
        values = item if isinstance(item, tuple) else (item,)
        length = len(values) ** -0.5 if values else 0.0
        try:
            return {(place, None if _is_missing(value) else value): length for place, value in enumerate(values)}
        except TypeError as error:
            raise PegasosError(f"a category must be hashable, got {item!r}; turn it into a string.") from error


@dataclass
class Words(TokenKernel):
    """The inner product of two texts as counts of their words, in lower case; ``Words().normalized()`` is the cosine.

    A missing text (None, NaN) has no words.

    Examples
    --------
    >>> from pegasos.kernels import Words
    >>> Words().block(["To be or not to be"], ["to be", "not now"])
    array([[4., 1.]])
    """

    def tokens(self, item: Any) -> Mapping[Hashable, float]:
        """How often each word occurs."""
        if _is_missing(item):
            return {}
        if not isinstance(item, str):
            raise PegasosError(f"Words reads texts, got {item!r} of type {type(item).__name__}.")
        return Counter(re.findall(r"\w+", item.lower()))


@dataclass
class Standardized(Kernel):
    """A kernel of vectors on standardized numbers: (x - mean) / scale, feature by feature.

    Parameters
    ----------
    kernel : Kernel
    means, scales : sequence of float
        One for each feature; a scale is above 0.

    Examples
    --------
    >>> from pegasos.kernels import RBF, Standardized
    >>> Standardized(RBF(0.5), [40.0], [10.0]).block([[40.0]], [[40.0], [50.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    kernel: Kernel
    means: Sequence[float]
    scales: Sequence[float]

    @property
    def takes_vectors(self) -> bool:
        """Return True."""
        return True

    @property
    def has_features(self) -> bool:
        """Whether the inner kernel has."""
        return self.kernel.has_features

    def check(self) -> None:
        """Require a kernel of vectors, and as many means as scales."""
        if not isinstance(self.kernel, Kernel) or not self.kernel.takes_vectors:
            raise PegasosError(f"Standardized needs a kernel of vectors, such as RBF; got {self.kernel!r}.")
        means, scales = self._numbers
        if means.shape != scales.shape or means.ndim != 1 or not np.isfinite(means).all() or not (scales > 0).all():
            raise PegasosError(
                f"Standardized needs a finite mean and a positive scale for each feature; got {len(means)} means and "
                f"{len(scales)} scales, the least {scales.min(initial=np.inf):g}."
            )

    @property
    def _numbers(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        return np.asarray(self.means, np.float64), np.asarray(self.scales, np.float64)

    def read(self, items: Any) -> Items:
        """The standardized rows, as the kernel reads them."""
        means, scales = self._numbers
        rows = np.asarray(items, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(means):
            raise PegasosError(f"Standardized was made for {len(means)} features, got rows of shape {rows.shape}.")
        return self.kernel.read((rows - means) / scales)

    def value_error(self, items: Items, dtype: npt.DTypeLike) -> float:
        """The error of the kernel on the standardized rows."""
        return self.kernel.value_error(items, dtype)

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The block of the kernel."""
        return self.kernel.evaluate(a, b)

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonal of the kernel."""
        return self.kernel.evaluate_diagonal(a)

    def map(self, *collections: Items) -> Any:
        """The features of the kernel."""
        return self.kernel.map(*collections)


def for_frame(frame: Any) -> Kernel:
    """A kernel for the rows of a frame, by the types of its columns.

    Numbers: an RBF kernel of all number columns, standardized by this frame. Categories and short strings: the share
    of columns that agree. Text, which is strings of three words or more on average that are mostly different: the
    cosine of the counts of words, column by column. The parts are added, each with the share of its columns, so that
    every row has a kernel of 1 with itself (a row whose text is missing: less). Give it the training rows; the kernel
    reads other frames by the names of the columns, and may be stored in a model file.

    Parameters
    ----------
    frame : pandas or polars frame
        The features only, without the label.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import pandas as pd
    >>> from pegasos import KernelPegasosClassifier
    >>> from pegasos.kernels import for_frame
    >>> frame = pd.DataFrame({"age": [22, 25, 61, 65], "city": ["Oslo", "Rome", "Oslo", "Rome"]})
    >>> kernel = for_frame(frame)
    >>> KernelPegasosClassifier(kernel, C=10.0).fit(frame, ["no", "no", "yes", "yes"]).predict(frame)
    array(['no', 'no', 'yes', 'yes'], dtype='<U3')
    """
    if not hasattr(frame, "columns") or not list(frame.columns):
        raise PegasosError(f"for_frame needs a frame with at least one column, got {type(frame).__name__}.")
    kinds: dict[str, list[Any]] = {"number": [], "category": [], "text": []}
    for name in frame.columns:
        kinds[_kind_of(frame, name)].append(name)
    n_columns, parts = sum(map(len, kinds.values())), []
    if numbers := kinds["number"]:
        parts.append((len(numbers) / n_columns) * on(numbers, _of_numbers(frame, numbers)))
    if categories := kinds["category"]:
        parts.append((len(categories) / n_columns) * on(categories, Category()))
    parts += [(1 / n_columns) * on(name, Words().normalized()) for name in kinds["text"]]
    whole: Kernel = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


def _of_numbers(frame: Any, names: list[Any]) -> Standardized:
    rows = np.column_stack([np.asarray(column_of(frame, name), np.float64) for name in names])
    spread = rows.std(axis=0)
    return Standardized(
        RBF(gamma=1.0 / len(names)), rows.mean(axis=0).tolist(), np.where(spread > 0.0, spread, 1.0).tolist()
    )


def _kind_of(frame: Any, name: Any) -> str:
    kind = np.asarray(frame[name]).dtype.kind
    if kind in "mM":
        raise PegasosError(f"column {name!r} holds times; turn them into numbers, such as days since a date.")
    values = column_of(frame, name)
    there = [value for value in values if not _is_missing(value)]
    is_number = kind in "iuf" or (bool(there) and all(map(_is_number, there)))
    if is_number:
        if len(there) < len(values):
            raise PegasosError(f"column {name!r} has {len(values) - len(there)} missing numbers; fill them in first.")
        return "number"
    if "cat" in str(frame[name].dtype).lower() or not there or not all(isinstance(value, str) for value in there):
        return "category"
    n_words = float(np.mean([len(value.split()) for value in there]))
    is_text = n_words >= _LEAST_WORDS and len(set(there)) >= _LEAST_DISTINCT * len(there)
    return "text" if is_text else "category"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_missing(value: Any) -> bool:
    """None, NaN, and the NA and NaT of frames, which are not equal to themselves or do not say."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
