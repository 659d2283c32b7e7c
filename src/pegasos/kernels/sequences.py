"""Sequences of unequal length, end to end in one array: strings and time series as the native kernels read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core


@dataclass(frozen=True, eq=False)
class Sequences:
    """A collection of sequences.

    Attributes
    ----------
    values : array of shape (n_positions, n_channels), float64
        The sequences one after the other; a letter is one channel.
    starts : array of shape (n_sequences + 1,), int64
        Where each sequence begins, and where the last one ends.
    """

    values: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: npt.NDArray[np.float64], lengths: list[int]) -> Sequences:
        """Sequences of these lengths."""
        return cls(values, starts_of(lengths))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of positions of each sequence."""
        return np.diff(self.starts)

    @property
    def n_channels(self) -> int:
        """The number of values at each position."""
        return int(self.values.shape[1])

    @property
    def native(self) -> _core.Sequences:
        """As the core reads them."""
        return _core.Sequences(self.values, self.starts)

    def take(self, indices: npt.NDArray[Any]) -> Sequences:
        """The sequences of these numbers."""
        lengths = self.lengths[indices]
        starts = starts_of(lengths)
        positions = np.arange(starts[-1]) + np.repeat(self.starts[:-1][indices] - starts[:-1], lengths)
        return Sequences(self.values[positions], starts)


def starts_of(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Where pieces of these lengths begin, one after the other, and where the last one ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
