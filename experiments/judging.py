"""The one rule by which claims are judged.

A claim is turned into a number and a range that the number must lie in. The number is measured several times: over
seeds, draws, splits, pairs of classes or data sets. Its 95 % interval decides:

- *held*: the interval lies within the range;
- *did not hold*: it lies outside;
- *undecided*: it lies across the border, and more of the same might tell.

A claim about every case (an identity, a bound that was proved, a rule without exception) is judged by the cases: it
held if none contradicts. If a claim has several parts, all must hold; one that does not is enough against it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

HELD, FAILED, UNDECIDED = "held", "did not hold", "undecided"
VERDICTS = (HELD, FAILED, UNDECIDED)


class Interval(NamedTuple):
    """Where a number lies with a confidence of 95 %."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The estimate itself."""
        return 0.5 * (self.low + self.high)

    @property
    def half(self) -> float:
        """How far it reaches either way."""
        return 0.5 * (self.high - self.low)

    def verdict(self, least: float = -np.inf, most: float = np.inf) -> str:
        """Whether the number lies in a range."""
        if least <= self.low and self.high <= most:
            return HELD
        return FAILED if self.high < least or self.low > most else UNDECIDED

    def __str__(self) -> str:
        return f"{self.middle:.2f} ± {self.half:.2f}"


def around(middle: float, standard_error: float, n: int) -> Interval:
    """The interval of a mean with a known standard error over n measurements."""
    half = float(stats.t.ppf(0.975, max(n - 1, 1))) * standard_error if n > 1 else np.inf
    return Interval(middle - half, middle + half)


def interval(values: Sequence[float]) -> Interval:
    """That of the mean, by Student's t; a single measurement tells nothing of its own chance."""
    values = np.asarray(values, np.float64)
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf
    return around(float(values.mean()), error, len(values))


def every(cases: Iterable[bool]) -> str:
    """The verdict on a claim about every case."""
    return HELD if all(cases) else FAILED


def together(*verdicts: str) -> str:
    """The verdict on a claim with several parts."""
    if FAILED in verdicts:
        return FAILED
    return UNDECIDED if UNDECIDED in verdicts else HELD
