"""Labels as class numbers, sample weights as costs."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from pegasos.errors import PegasosError
from pegasos.problem import constant

Weights = npt.NDArray[np.float64]
_LABELS_AT_ONCE = 1 << 16  # labels counted per call


def find_classes(y: Any, weights: Weights | None) -> npt.NDArray[Any]:
    """The classes of the rows with a positive weight, sorted."""
    counted = y if weights is None else y[weights > 0.0]
    if len(counted) == 0:
        raise PegasosError("sample_weight is zero for every row: give at least one row of each class a weight.")
    classes = distinct(counted)
    if classes.dtype.kind not in "iubUS":  # floating-point or object labels must still name classes
        # each repeated, because many classes occurring once would look like a regression
        check_classification_targets(np.repeat(classes, 2))
    if len(classes) < 2:
        which = f"{classes.tolist()[0]!r}" + ("" if weights is None else " among the rows with a weight above 0")
        raise PegasosError(f"y has only one class, {which}; a classifier needs at least 2 classes.")
    return classes


def distinct(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The distinct labels, sorted. Integers in a narrow range are counted, which is far faster than `np.unique`."""
    if labels.dtype == object:
        _check_objects(labels)
    if labels.dtype.kind not in "iu" or len(labels) == 0:
        return np.unique(labels)
    low, high = int(labels.min()), int(labels.max())
    if high - low > 1000 or low > np.iinfo(np.int64).max:
        return np.unique(labels)
    counts = np.zeros(high - low + 1, np.int64)
    for begin in range(0, len(labels), _LABELS_AT_ONCE):
        numbers = np.subtract(labels[begin : begin + _LABELS_AT_ONCE], low, dtype=np.int64)
        counts += np.bincount(numbers, minlength=len(counts))
    return (np.flatnonzero(counts) + low).astype(labels.dtype)


def _check_objects(labels: npt.NDArray[Any]) -> None:
    """Reject labels that cannot be sorted."""
    if any(label is None for label in labels):
        raise PegasosError("y contains None; drop the rows without a label first.")
    kinds = {"number" if isinstance(label, numbers.Number) else type(label).__name__ for label in labels}
    if len(kinds) > 1:
        raise PegasosError(f"y mixes labels of several types ({', '.join(sorted(kinds))}); make them all of one.")


def number_classes(
    blocks: Iterable[npt.NDArray[Any]], n_rows: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.integer[Any]]]:
    """The classes of labels that come in blocks, and each row's class number in the smallest sufficient type."""
    codes, begin = np.empty(n_rows, np.int32), 0
    number_of: dict[Any, int] = {}  # classes are numbered as they occur, and sorted afterwards
    for k, y in enumerate(blocks):
        codes[begin : begin + len(y)] = _numbered(y, number_of, k)
        begin += len(y)
    labels = np.array(list(number_of))
    classes = find_classes(labels, None)
    in_order = np.searchsorted(classes, labels).astype(np.min_scalar_type(-len(classes)))
    return classes, in_order[codes]


def _numbered(y: npt.NDArray[Any], number_of: dict[Any, int], k: int) -> npt.NDArray[np.int32]:
    try:
        labels, places = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise PegasosError(f"block {k} of the source has labels of several kinds: {error}.") from error
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise PegasosError(f"block {k} of the source has a label that is NaN or infinite; drop its row first.")
    numbers = [number_of.setdefault(label, len(number_of)) for label in labels.tolist()]
    return np.array(numbers, np.int32)[places]


def encode(y: Any, classes: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """The class number of each label; -1 for a label that is not among the classes."""
    if len(classes) == 2:  # much faster than a search
        y = np.asarray(y)
        is_second = y == classes[1]
        is_known = is_second | (y == classes[0])
        numbers: npt.NDArray[np.intp] = is_second.astype(np.intp)
        if not is_known.all():
            numbers[~is_known] = -1
        return numbers
    codes: npt.NDArray[np.intp] = np.searchsorted(classes, y)
    codes[codes == len(classes)] = 0
    codes[classes[codes] != y] = -1
    return codes


def encode_known(y: Any, classes: npt.NDArray[Any], weights: Weights | None) -> npt.NDArray[np.intp]:
    """The same for a model's classes: every row with a positive weight must have one of them."""
    codes = encode(y, classes)
    strange = codes < 0 if weights is None else (codes < 0) & (weights > 0.0)
    if strange.any():
        raise PegasosError(
            f"y contains {y[strange.argmax()]}, which is not in the classes {classes.tolist()}; "
            "a fit or the first call of partial_fit must know them all."
        )
    return codes


def check_classes(given: npt.ArrayLike | None, known: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    """The classes of a stream: given at its first call, and the same at every later one."""
    named = None if given is None else np.unique(np.asarray(given))
    if known is None:
        if named is None:
            raise PegasosError("the first call of partial_fit needs classes=, all labels that will occur.")
        if len(named) < 2:
            raise PegasosError(f"classes must name at least 2 classes, got {named.tolist()}.")
        return named
    if named is not None and not np.array_equal(named, known):
        raise PegasosError(f"classes must be those of the first call, {known.tolist()}, got {named.tolist()}.")
    return known


def class_totals(codes: npt.NDArray[np.intp], n_classes: int, weights: Weights | None) -> Weights:
    """Total sample weight of each class."""
    if weights is None and n_classes == 2:  # the most common case, computed the fastest way
        return np.array([np.count_nonzero(codes == k) for k in range(2)], np.float64)
    # Labels outside the classes, encoded as -1, are counted first and dropped.
    return np.bincount(codes + 1, weights=weights, minlength=n_classes + 1)[1:].astype(np.float64)


def class_factors(class_weight: Any, classes: npt.NDArray[Any], totals: Weights) -> Weights | None:
    """Factor on the cost of each class; "balanced" is N / (n_classes N_class)."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        with np.errstate(divide="ignore", over="ignore"):
            factors = np.where(totals > 0.0, totals.sum() / (len(classes) * totals), 0.0)
        if not np.isfinite(factors).all():
            k = int(np.argmax(factors))
            raise PegasosError(
                f"class_weight='balanced' is out of range for class {classes.tolist()[k]!r}, whose samples weigh "
                f"{totals[k]:g} of {totals.sum():g} in total; give it larger sample weights, or class_weight as a dict."
            )
        return factors
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    # A class may be absent, for example in a fold; an unknown name while another class has no weight is a mistake.
    if unknown and any(label not in class_weight for label in labels):
        raise PegasosError(f"class_weight names class {unknown[0]!r}, which is not in y; the classes are {labels}.")
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def costs_of(codes: npt.NDArray[np.intp], weights: Weights | None, factors: Weights | None) -> Weights:
    """Cost of a mistake on each row: its sample weight times the factor of its class."""
    if factors is None:
        return constant(1.0, len(codes)) if weights is None else weights
    if not factors.any():
        raise PegasosError("class_weight is zero for every class: no row would count.")
    costs = factors[codes]
    return costs if weights is None else costs * weights
