"""A look at a kernel on a few items: how far apart it sees them, and how long all of them would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from pegasos.errors import PegasosError
from pegasos.kernels import Kernel

_MOST_ITEMS = 16


@dataclass(frozen=True)
class Look:
    """What a few items say of a kernel.

    Attributes
    ----------
    spread : float
        Half the mean squared distance of two items in the space of the kernel: k(x, x) would say little, since
        normalized graphs or long strings are often almost alike, and machines of any use have a large C then.
    item_seconds, pair_seconds : float
        What it takes to read an item, and to evaluate a pair.
    """

    spread: float
    item_seconds: float
    pair_seconds: float

    def seconds(self, n_items: int) -> float:
        """The seconds that the kernel matrix of this many items would take."""
        return self.item_seconds * n_items + self.pair_seconds * n_items**2


@dataclass(frozen=True)
class Probe:
    """A few items, and what they said of the kernels so far."""

    items: Sequence[Any]
    looks: dict[str, Look] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Sequence[Any]) -> Probe:
        """Items from all parts of a collection."""
        return cls(X[:: -(-len(X) // _MOST_ITEMS)])

    def look(self, kernel: Kernel) -> Look:
        """Once a kernel."""
        key = repr(kernel)
        if key not in self.looks:
            self.looks[key] = self._look(kernel)
        return self.looks[key]

    def _look(self, kernel: Kernel) -> Look:
        begun = perf_counter()
        try:
            items = kernel.read(self.items)
            one = items.take(np.arange(1))
            read = perf_counter()
            kernel.evaluate(one, one)  # what a call costs, whatever the items
            called = perf_counter()
            block = kernel.evaluate(items, items)
            ended = perf_counter()
        except PegasosError:  # a fit says why
            return Look(1.0, 0.0, 0.0)
        n_items = len(items)
        apart = float(block.trace() - block.mean() * n_items) / max(1, n_items - 1)
        # Items that are all alike, except for rounding, have no unit of their own.
        spread = apart if apart > 1e-9 * float(np.abs(block).max()) else 1.0
        evaluated = max(0.0, (ended - called) - (called - read))
        return Look(spread, (read - begun) / n_items, evaluated / n_items**2)
