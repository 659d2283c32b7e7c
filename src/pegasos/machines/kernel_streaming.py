"""How a kernel machine learns from a stream: the support vectors so far precede every block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from pegasos.gram import KernelRows
from pegasos.kernels import Kernel
from pegasos.kernels.base import Items
from pegasos.machines.base import Data, Plan
from pegasos.machines.kernel_choice import joined
from pegasos.machines.kernel_model import KernelModel, behind_support
from pegasos.machines.kernel_stream import KernelStream
from pegasos.machines.prior import ScoredPrior
from pegasos.machines.settings import Settings
from pegasos.problem import Problem
from pegasos.solution import Solution
from pegasos.solvers.kernel_pegasos import KernelPegasos
from pegasos.tasks.base import Task
from pegasos.tasks.one_vs_one import Pairs


@dataclass(frozen=True)
class ExtendedRows:
    """A block of a stream: kernel rows that start with the support vectors, and the extent of the block itself."""

    rows: KernelRows
    together: Any
    n_support: int

    @property
    def n_rows(self) -> int:
        """Rows of the block."""
        return self.rows.n_rows - self.n_support

    @property
    def n_features(self) -> int:
        """One coefficient per row."""
        return self.n_rows

    def view(self, indices: npt.NDArray[Any], *, repeats: int = 1) -> ExtendedRows:
        """Some of the rows of the block, possibly repeated, after all support vectors."""
        numbers = np.concatenate([np.arange(self.n_support), self.n_support + indices])
        return ExtendedRows(self.rows.view(numbers), _safe_indexing(self.together, numbers), self.n_support)


@dataclass(frozen=True)
class KernelStreaming:
    """The kernel of a stream, determined by its first block, and the budget of support vectors."""

    kernel: Kernel
    max_support: int | None
    rows_of: Callable[[Kernel, Items, float], KernelRows]

    def begin(self, data: Data, settings: Settings, task: Task) -> KernelStream:
        """A stream before its first block."""
        return KernelStream.begin(task.n_problems, settings.draw_seed(), _safe_indexing(data.X, np.arange(0)))

    def read(self, stream: KernelStream, data: Data, settings: Settings) -> ExtendedRows:
        """The rows of a block, after the support vectors so far."""
        together = joined(stream.support, data.X) if stream.n_support else data.X
        rows = self.rows_of(self.kernel, self.kernel.read(together), settings.bias)
        return ExtendedRows(rows, together, stream.n_support)

    def learn(
        self, stream: KernelStream, rows: ExtendedRows, problems: Sequence[Problem], data: Data, plan: Plan
    ) -> tuple[KernelStream, list[Solution]]:
        """One pass of kernel Pegasos over a block; for a pair of classes, over its rows in the block."""
        settings = plan.settings
        if isinstance(problems, Pairs):
            mine: Any = rows
            behind = [
                behind_support(problems.over_all_rows(k), rows.rows, rows.n_support) for k in range(len(problems))
            ]
            pools = [rows.n_support + members for members in problems.members]
            present = problems.task.is_present(problems.codes, problems.weights)
        else:
            mine = problems[0].rows  # these rows, or a view of them
            behind = [behind_support(problem, mine.rows, mine.n_support) for problem in problems]
            pools = [np.arange(mine.n_support, mine.rows.n_rows)] * len(problems)
            present = [True] * len(problems)
        solvers = [KernelPegasos(settings.pegasos(max(1, len(pool)), np.float64, at_most_all=True)) for pool in pools]
        drawn = list(zip(pools, present, strict=True))
        head_start = settings.solver != "pegasos"
        after, solutions = stream.learn(
            behind, solvers, drawn, self.max_support, mine.together, begun=data.begun, head_start=head_start
        )
        return replace(after, n_rows=stream.n_rows + rows.n_rows), solutions

    def model_of(self, stream: KernelStream, prior: ScoredPrior | None, bias: float) -> KernelModel:
        """What predicts after a block."""
        coefficients, support = stream.averages, np.arange(stream.n_support)
        vectors = support, stream.support, coefficients, bias**2 * coefficients.sum(axis=1)
        return KernelModel(self.kernel, *vectors, n_training=0, prior=prior, indexed=False)
