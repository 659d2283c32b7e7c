"""Rounds of CoCoA+ on partitions that are elsewhere: what moves is one vector of features each way, and sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pegasos.dask._workers import WorkerLostError, Workers, most_lost, patiently, too_many_lost
from pegasos.distributed import advance, losses, terms_of
from pegasos.errors import PegasosError
from pegasos.problem import Losses, added
from pegasos.rounding import Gain
from pegasos.solvers.cocoa import Climb, DualPoint, LostError, Vector, combine

# A share is made from the one before, so dask's scheduler keeps the recipes of all rounds. What was scattered has no
# recipe: with its end, dask forgets all that was made from it or before it. So once in so many rounds weights are.
recipes_kept = 20


@dataclass
class PartitionsThere:
    """The partitions of problem k, by the handles of their blocks."""

    workers: Workers
    blocks: Sequence[Any]
    k: int
    n_rows: int
    n_features: int
    n_rounds: int = 0
    n_lost: int = 0  # times that workers were lost since the last whole round
    placed: list[tuple[Vector, Any]] = field(default_factory=list)  # weights that the workers have

    @property
    def n_partitions(self) -> int:
        """How many there are."""
        return len(self.blocks)

    @property
    def _is_cut(self) -> bool:
        """Whether this is a round whose recipe dask is to forget."""
        return self.n_rounds % recipes_kept == recipes_kept - 1

    def round(self, point: DualPoint, before: Vector, climb: Climb) -> DualPoint:
        """A round of all of them. When a worker is lost, so are the dual variables that it held."""
        self.n_rounds += 1
        if self._is_cut:
            self.placed.clear()  # they may have gone with tasks
        try:
            reached = self._advance(range(self.n_partitions), point.held, (point.weights, before), climb)
        except WorkerLostError:
            self.n_lost += 1
            if self.n_lost > most_lost:
                raise PegasosError(too_many_lost) from None
            raise LostError(patiently(self.workers, self.blocks, lambda: self._restored(point, climb))) from None
        self.n_lost = 0
        self.placed = self.placed[-1:]  # one vector a round goes out; the one before it is there
        return reached

    def losses(self, weights: Vector) -> Losses:
        """The losses of all of them: what they need, dask can make again."""
        try:
            return self._losses(weights)
        except WorkerLostError:
            self.placed.clear()
            again: Losses = patiently(self.workers, self.blocks, lambda: self._losses(weights))
            return again

    def _advance(
        self, chosen: Sequence[int], held: Sequence[Any], points: tuple[Vector, Vector], climb: Climb
    ) -> DualPoint:
        """A round of some of them, with w(alpha) now and a round ago."""
        n = len(chosen)
        before, now = self._place(points[1]), self._place(points[0])
        shares = self.workers.map(
            advance,
            chosen,
            [(self.k, climb.of_partition(j)) for j in chosen],
            [self.blocks[j] for j in chosen],
            held,
            [now] * n,
            [before] * n,
        )
        terms = self.workers.fetch(self.workers.map(terms_of, chosen, shares))
        return DualPoint(shares, *combine(terms))

    def _losses(self, weights: Vector) -> Losses:
        n = self.n_partitions
        columns = self.blocks, [self.k] * n, [self._place(weights)] * n
        return added(self.workers.fetch(self.workers.map(losses, range(n), *columns)), weights)

    def _place(self, weights: Vector) -> Any:
        """Bring the weights to the workers, unless they are there."""
        for known, handle in self.placed:
            if known is weights:
                return handle
        self.placed.append((weights, self.workers.place(weights, is_apart=self._is_cut)))
        return self.placed[-1][1]

    def _restored(self, point: DualPoint, climb: Climb) -> DualPoint:
        """The dual point without what is lost; then the partitions that lost theirs climb alone, the others wait.

        That is ascent on a block of coordinates: near the end it finds what was lost.
        """
        self.placed.clear()
        are_held = self.workers.which_are_held(point.held)
        held = [share if is_held else None for share, is_held in zip(point.held, are_held, strict=True)]
        kept = [j for j, share in enumerate(held) if share is not None]
        lost = [j for j, share in enumerate(held) if share is None]
        terms = self.workers.fetch(self.workers.map(terms_of, kept, [held[j] for j in kept]))
        rest, gain = combine([(np.zeros(self.n_features + 1), Gain()), *terms])
        if not lost:
            return DualPoint(held, rest, gain)
        alone = replace(climb, sigma=float(len(lost)), beta=0.0)
        found = self._advance(lost, [None] * len(lost), (rest, rest), alone)
        for j, share in zip(lost, found.held, strict=True):
            held[j] = share
        return DualPoint(held, *combine([(rest, gain), (found.weights, found.gain)]))
