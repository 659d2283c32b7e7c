"""A kernel machine on an explicit map of few features: the linear machine on a factor of the kernel matrix.

`landmarks` has the map.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from pegasos.gram import KernelRows
from pegasos.kernels.base import Items
from pegasos.machines.base import Data, Plan, Points
from pegasos.machines.kernel import Kernel
from pegasos.machines.kernel_model import KernelModel
from pegasos.machines.landmarks import Landmarks, landmark_features
from pegasos.machines.linear import Linear
from pegasos.machines.prior import ScoredPrior
from pegasos.machines.settings import Settings
from pegasos.problem import Problem, Rows
from pegasos.solution import Solution
from pegasos.solvers.driver import Solver, Stop
from pegasos.solvers.free_intercept import natural_bias
from pegasos.tasks.base import Members, Task
from pegasos.tasks.terms import Terms

_AUTO_ERROR = 1e-4  # fraction of the trace of the kernel matrix that "auto" may leave
_AUTO_WORK, _AUTO_RANKS = 1e11, (64, 4096)  # most rows times squared rank, and the range of ranks


@dataclass(frozen=True)
class Approximated(Kernel):
    """A kernel machine that trains on the map of its landmarks, by the linear solvers."""

    landmarks: Landmarks | None = None
    linear: Linear = field(default_factory=Linear)

    def with_rows(self, items: Items, data: Data, settings: Settings, task: Task) -> tuple[Any, Rows]:
        """The machine with its landmarks, and the features of all rows; the constant column is part of the kernel."""
        assert self.kernel is not None
        exact = KernelRows.of(self.kernel, items, settings.bias, cache_bytes=0.0, double=True)
        features, landmarks = landmark_features(exact, *self._limits(exact))
        rows = Rows.of(features, 0.0, settings.threads)
        if settings.is_free:
            rows = rows.with_bias(natural_bias(rows.squared_norms))
        return replace(self, landmarks=landmarks), rows if task.n_problems == 1 else rows.in_threads(1)

    def _limits(self, rows: KernelRows) -> tuple[int, float]:
        """The largest rank, and the trace of K - K' at which fewer landmarks are enough."""
        n, trace = rows.n_rows, float(rows.squared_norms.sum())
        if isinstance(self.approximation, numbers.Integral):
            return min(int(self.approximation), n), 0.0
        least, most = _AUTO_RANKS
        return min(n, int(np.clip(math.sqrt(_AUTO_WORK / max(n, 1)), least, most))), _AUTO_ERROR * trace

    def solver_for(self, rows: Any, n: int, settings: Settings, task: Task, terms: Terms) -> Solver:
        """Use the solver of the linear machine."""
        return self.linear.solver_for(rows, n, settings, task, terms)

    def solve(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, plan: Plan) -> list[Solution]:
        """Solve as the linear machine does."""
        return self.linear.solve(problems, solvers, stop, plan)

    def finish(self, rows: Any, problems: Sequence[Problem], solutions: list[Solution], plan: Plan) -> list[Solution]:
        """Finish as the linear machine does."""
        return self.linear.finish(rows, problems, solutions, plan)

    def model_of(
        self, points: Points, members: list[Members], data: Data, *, prior: ScoredPrior | None, bias: float
    ) -> KernelModel:
        """Build the model from the coefficients of the landmarks."""
        assert self.kernel is not None
        assert self.landmarks is not None
        coefficients = np.zeros((len(points), _num_samples(data.X)))
        for row, point in zip(coefficients, points, strict=True):
            row[self.landmarks.rows] = self.landmarks.coefficients(point.weights[:-1])
        model = KernelModel.of(self.kernel, coefficients, data.X, bias=bias, prior=prior)
        return replace(model, intercept=model.intercept + np.array([point.intercept for point in points]))
