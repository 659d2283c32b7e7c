"""Neighborhoods of a large kernel problem: samples that are close to one another, few enough to be solved at once.

Hsieh, Si, Dhillon: A divide-and-conquer solver for kernel support vector machines. ICML 2014. Where the kernel is small
between distant samples, the dual points of the neighborhoods side by side are close to that of the whole. The paper's
clusters are halves here: the samples are divided at their median along the direction in which they vary most, again and
again, so that all neighborhoods have about the same size.
"""

from __future__ import annotations

import numpy as np

from pegasos.deadline import time_left
from pegasos.gram import Numbers
from pegasos.kernels.vector import Vectors

_SAMPLE = 1000  # samples that a direction is computed from
# Seconds per product of a kernel value on two processors, where a third of the samples become support vectors, whose
# columns are summed once for the slopes and once for the certificate.
_SECONDS = 2.5e-11


def neighborhoods_of(items: Vectors, most: int, seed: int) -> list[Numbers]:
    """Divide dense vectors into neighborhoods of at most so many."""
    random = np.random.default_rng(seed)
    parts = [np.arange(len(items))]
    while max(map(len, parts)) > most:
        parts = [half for part in parts for half in _halves(items, part, random)]
    return parts


def fit_in_time(items: Vectors, most: int) -> bool:
    """Whether the time budget, if there is one, lets all neighborhoods be solved and their dual points certified."""
    left, n = time_left(), len(items)
    return left is None or _SECONDS * n * (n + most) * (items.rows.n_features + 8) <= left


def _halves(items: Vectors, part: Numbers, random: np.random.Generator) -> tuple[Numbers, Numbers]:
    sample = items.take(np.sort(random.choice(part, min(_SAMPLE, len(part)), replace=False)))
    centered = sample.values - sample.values.mean(axis=0, dtype=np.float64)
    centered /= max(float(np.abs(centered).max()), np.finfo(np.float64).tiny)  # so that squares do not overflow
    direction = np.linalg.eigh(centered.T @ centered)[1][:, -1]
    along = items.take(part).values @ direction.astype(items.values.dtype)
    order = np.argpartition(along, len(part) // 2)
    return np.sort(part[order[: len(part) // 2]]), np.sort(part[order[len(part) // 2 :]])
