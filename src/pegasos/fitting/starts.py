"""Where a fit starts: at zero weights by default, or at given weights or dual variables; `warm` has the last fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.checks import shown
from pegasos.errors import PegasosError
from pegasos.machines.base import Data
from pegasos.tasks.terms import Terms


class Ready(NamedTuple):
    """A fit before its first step."""

    machine: Any
    task: Any
    solvers: Sequence[Any]  # one per problem, like the next two
    problems: Sequence[Any]
    n_rows: list[int]
    seed: int
    data: Data
    terms: Terms


class Start(Protocol):
    """The starting point of a fit that does not start at 0."""

    def states(self, ready: Ready) -> list[Any]:
        """Return the state of each solver; None means a fresh start."""


class GivenWeights:
    """Weights from which Pegasos takes its first step; the problems are those of a linear machine."""

    def __init__(self, coef: Any, intercept: Any = None):
        self.coef, self.intercept = coef, intercept

    def states(self, ready: Ready) -> list[Any]:
        """Every solver starts at its weights, before step 1."""
        return self.entered(ready.solvers, ready.problems, ready.seed)

    def entered(self, solvers: Any, problems: Any, seed: int) -> list[Any]:
        """The states of these solvers at the weights."""
        shape, bias = problems[0].weights_shape, problems[0].rows.bias
        n_vectors = len(problems) * math.prod(shape[:-1])
        coef = _given("coef_init", self.coef, (n_vectors, shape[-1] - 1))
        carried = np.zeros((n_vectors, 1))
        if self.intercept is not None:
            carried = _given("intercept_init", self.intercept, (n_vectors, 1))
            if bias == 0.0 and carried.any():
                raise PegasosError("intercept_init needs an intercept; give fit_intercept=True, or only coef_init.")
            carried = carried / (bias or 1.0)
        weights = np.hstack([coef, carried]).reshape(len(problems), *shape)
        each = zip(solvers, problems, weights, strict=True)
        return [solver.enter(problem, mine, step=0, seed=seed) for solver, problem, mine in each]


def _given(name: str, values: Any, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """The values in this shape: one row per weight vector, which may be left out if there is one of them."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise PegasosError(f"{name} must be numbers, got {shown(values)}.") from error
    allowed = {shape, shape[:1] if shape[1] == 1 else shape, shape[1:] if shape[0] == 1 else shape}
    if found.shape not in allowed and not (found.ndim == 0 and shape == (1, 1)):
        wanted = shape[:1] if shape[1] == 1 else shape
        raise PegasosError(f"{name} must be of shape {wanted}, got {found.shape}.")
    if not np.isfinite(found).all():
        raise PegasosError(f"{name} must be finite numbers; replace NaN and infinity.")
    return found.reshape(shape)


class SharesStart:
    """Dual variables as a fraction of every row's cost, for each problem."""

    def __init__(self, shares: Any):
        self.shares = shares

    def states(self, ready: Ready) -> list[Any]:
        """Every solver starts at its dual variables."""
        each = zip(ready.solvers, ready.problems, self.shares, strict=True)
        return [solver.enter(problem, share * problem.cost, ready.seed) for solver, problem, share in each]
