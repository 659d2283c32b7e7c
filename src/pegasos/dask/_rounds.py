"""Passes over partitions on the workers of dask: questions go out once per worker, answers are merged on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pegasos.dask._workers import Workers, patiently
from pegasos.distributed import Asked, answer, bytes_of_all, groups_of, merge, merge_all


class Questions(list[Asked]):
    """The questions of a pass, and how many bytes they are."""

    @property
    def nbytes(self) -> int:
        """Approximate number of bytes."""
        return bytes_of_all(self)


@dataclass
class OnWorkers:
    """An `Engine`: the partitions are given by the handles of their blocks.

    A task depends only on a block and on the questions. So when a worker is lost, the pass is repeated as soon as dask
    has recomputed its partitions, and its answers are the same.
    """

    workers: Workers
    blocks: Sequence[Any]

    def answers(self, asked: Sequence[Asked]) -> list[Any]:
        """The merged answers of all partitions."""
        found: list[Any] = patiently(self.workers, self.blocks, lambda: self._answers(Questions(asked)))
        return found

    def _answers(self, asked: Questions) -> list[Any]:
        places: Sequence[int] = range(len(self.blocks))
        there = self.workers.place(asked)
        handles = self.workers.map(answer, places, self.blocks, [there] * len(places))
        groups = groups_of(handles)
        while len(groups) > 1:
            places = [group[0] for group in groups_of(places)]
            handles = [
                self.workers.map(merge, [place], [there], *([handle] for handle in group))[0]
                for place, group in zip(places, groups, strict=True)
            ]
            groups = groups_of(handles)
        return merge_all(asked, self.workers.fetch(handles))
