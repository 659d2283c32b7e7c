"""Scores of held-out rows on partitions, for probabilities: folds that follow from the values of a row, and histograms.

Equal rows share a fold, whatever partition they are in, so no model has seen the rows that it is scored on. A partition
returns its scores as a histogram. A bin holds the scores that agree in sign, exponent and the first bits of the
mantissa, and stands for their weighted mean, so it is at most 2^-8 of a score wide on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.machines.linear import LinearModel
from pegasos.problem import Matrix
from pegasos.solvers.passes import Vector

_SALT = 20070101  # folds depend on the values of a row alone, not on the seed of a fit
_MANTISSA_BITS = 7  # of a score that its bin keeps
_VALUES_AT_ONCE = 1 << 20
_MIX = np.uint64(0xBF58476D1CE4E5B9)  # a step of splitmix64, which spreads the few bits in which short numbers differ

Keys = npt.NDArray[np.uint32]


class Histogram(NamedTuple):
    """The held-out scores of one problem."""

    keys: npt.NDArray[np.int64]  # bin of each entry, and its lowest bit: whether the rows are positive
    weights: Vector
    sums: Vector  # of weight times score

    @property
    def is_positive(self) -> npt.NDArray[np.bool_]:
        """The label of each entry."""
        return np.asarray((self.keys & 1) == 1)

    @property
    def scores(self) -> Vector:
        """The mean score of each entry."""
        return self.sums / self.weights


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A question about a whole partition: the scores of its rows by the model that was trained without their fold."""

    coefs: tuple[Vector, ...]  # per fold, (n_problems, n_features)
    intercepts: tuple[Vector, ...]

    def __call__(self, coded: Any) -> list[Histogram]:
        """One histogram per problem."""
        task = coded.plans[0].task
        scores = np.zeros((coded.rows.n_rows, task.n_problems))
        for fold, vectors in enumerate(zip(self.coefs, self.intercepts, strict=True)):
            held = np.flatnonzero(coded.fold_of == fold)
            scores[held] = LinearModel(*vectors).scores_of(coded.rows.view(held))
        weights = np.ones(len(scores)) if coded.weights is None else coded.weights
        counts = (coded.target >= 0) & (weights > 0.0)
        found = []
        for score, sign in zip(task.against_others(scores).T, task.signs(coded.target), strict=True):
            chosen = counts & (sign != 0)
            found.append(_histogram(score[chosen], sign[chosen] > 0, weights[chosen]))
        return found

    def merge(self, answers: Sequence[list[Histogram]]) -> list[Histogram]:
        """Add up the bins."""
        return [_added(parts) for parts in zip(*answers, strict=True)]


def keys_of_rows(values: Matrix) -> Keys:
    """One number per row, the same for equal rows, dense or sparse, on any machine."""
    random = np.random.default_rng(_SALT)
    factors = random.integers(0, 1 << 63, values.shape[1], np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.zeros(values.shape[0], np.uint64)
    if sp.issparse(values):
        mixed = _mixed(values.data) * factors[values.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])  # modulo 2^64
        keys[:] = sums[values.indptr[1:]] - sums[values.indptr[:-1]]
    else:
        step = max(1, _VALUES_AT_ONCE // max(1, values.shape[1]))
        for begin in range(0, len(keys), step):
            keys[begin : begin + step] = _mixed(values[begin : begin + step]) @ factors
    keys ^= keys >> np.uint64(31)
    return ((keys * _MIX) >> np.uint64(32)).astype(np.uint32)


def _mixed(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """The bits of numbers in double precision, spread; those of 0 are 0."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    bits ^= bits >> np.uint64(30)
    bits *= _MIX
    bits ^= bits >> np.uint64(27)
    return bits


def _histogram(scores: Vector, is_positive: npt.NDArray[np.bool_], weights: Vector) -> Histogram:
    keys = ((scores.view(np.int64) >> (52 - _MANTISSA_BITS)) << 1) | is_positive
    return _added([Histogram(keys, weights, weights * scores)])


def _added(parts: Sequence[Histogram]) -> Histogram:
    keys, where = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)

    def total(columns: Sequence[Vector]) -> Vector:
        return np.bincount(where, np.concatenate(columns), len(keys)).astype(np.float64)

    return Histogram(keys, total([part.weights for part in parts]), total([part.sums for part in parts]))
