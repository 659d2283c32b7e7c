"""Curves and counts of scores, thinned to as many points as a picture shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

most_points = 200

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ScoreCurve:
    """Points of a curve, and the area below it."""

    x: Numbers
    y: Numbers
    area: float


@dataclass(frozen=True)
class Curves:
    """What thresholds on a score do: the receiver operating characteristic, and precision against recall."""

    roc: ScoreCurve
    precision_recall: ScoreCurve


def curves_of(is_positive: npt.NDArray[np.bool_], scores: Numbers) -> Curves | None:
    """Both curves, from one sorting; None where rows of one kind are missing."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(is_positive[order])
    # Rows of the same score pass a threshold together.
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0.0, True))
    hits, alarms = hits[last].astype(np.float64), last + 1.0
    misses = alarms - hits
    if hits[-1] == 0.0 or misses[-1] == 0.0:
        return None
    recall = np.append(0.0, hits / hits[-1])
    false_rate = np.append(0.0, misses / misses[-1])
    precision = np.append(hits[0] / alarms[0], hits / alarms)
    area = float(np.sum(np.diff(false_rate) * (recall[1:] + recall[:-1]))) / 2.0
    average = float(np.sum(np.diff(recall) * precision[1:]))
    return Curves(ScoreCurve(*thinned(false_rate, recall), area), ScoreCurve(*thinned(recall, precision), average))


def thinned(x: Numbers, y: Numbers, n: int = most_points) -> tuple[Numbers, Numbers]:
    """At most about n of the points, in equal steps along the curve; the first and the last stay."""
    if len(x) <= n:
        return x, y
    way = np.append(0.0, np.cumsum(_steps(x) + _steps(y)))
    kept = np.unique(np.append(np.searchsorted(way, np.linspace(0.0, way[-1], n)), [0, len(x) - 1]))
    return x[kept], y[kept]


def _steps(values: Numbers) -> Numbers:
    extent = float(np.ptp(values))
    return np.abs(np.diff(values)) / extent if extent > 0.0 else np.zeros(len(values) - 1)


@dataclass(frozen=True)
class Bins:
    """What happened in each bin of a score or a probability."""

    means: Numbers  # of what was said
    shares: Numbers  # of the rows for which it came true
    counts: npt.NDArray[np.int64]


def reliability(said: Numbers, is_true: npt.NDArray[np.bool_], edges: Numbers) -> Bins:
    """Rows in bins of what was said of them, the empty ones left out."""
    bins = np.clip(np.searchsorted(edges, said, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(bins, minlength=len(edges) - 1)
    some = counts > 0
    sums, hits = (np.bincount(bins, each, len(edges) - 1)[some] for each in (said, is_true.astype(np.float64)))
    return Bins(sums / counts[some], hits / counts[some], counts[some])


def calibration_error(bins: Bins) -> float:
    """The mean distance of what was said and what was true, rows counting alike."""
    return float(np.abs(bins.means - bins.shares) @ bins.counts / bins.counts.sum())


def equal_parts(scores: Numbers, n: int) -> Numbers:
    """Edges of bins with about as many rows each; fewer where scores are equal."""
    edges = np.unique(np.quantile(scores, np.linspace(0.0, 1.0, n + 1)))
    return edges if len(edges) > 1 else np.array([edges[0], edges[0] + 1.0])


def margin_edges(margins: Numbers, n: int = 40) -> Numbers:
    """Edges of equal bins around 0 and 1; the outermost rows in a thousand are counted in the bins at the ends."""
    finite = margins[np.isfinite(margins)]
    low, high = np.quantile(finite, [0.001, 0.999]) if len(finite) else (0.0, 1.0)
    low, high = min(float(low), -0.25), max(float(high), 1.25)
    width = (high - low) / n
    # 0 is an edge, so that no bin holds rows of both sides.
    first, last = int(np.floor(low / width)), int(np.ceil(high / width))
    return width * np.arange(first, last + 1, dtype=np.float64)


def counted(values: Numbers, edges: Numbers) -> npt.NDArray[np.int64]:
    """How many values are in each bin; those beyond the ends in the outermost."""
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The interval of 95 % for a share, of rows that are independent (Wilson, 1927)."""
    z = 1.959964
    share, square = hits / n, z * z / n
    middle = (share + square / 2.0) / (1.0 + square)
    reach = z * np.sqrt(share * (1.0 - share) / n + square / (4.0 * n)) / (1.0 + square)
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))
