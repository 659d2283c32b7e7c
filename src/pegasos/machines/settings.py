"""What the parameters of an estimator require of a fit, independent of its rows and targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from pegasos.errors import PegasosError
from pegasos.losses import HINGE, Loss
from pegasos.machines.solving import threads_of
from pegasos.solvers.driver import Stop
from pegasos.solvers.pegasos import Pegasos

FOLDS = 5  # most folds that scores for probabilities come from; each takes as long as the fit itself
_GAP_OF_SEARCH = 1e-6  # largest relative gap of a solve during the search for nu
_FINE = 1e-5  # a smaller relative gap needs weights in double precision


def _drawn(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


_seed_of = lru_cache(_drawn)  # of a number: its generator is fresh, and takes long to create


@dataclass(frozen=True)
class Settings:
    """The parameters of one fit; this is the only place where `tol` and the budgets become a `Stop`."""

    lam: float | None
    C: float | None
    solver: str
    bias: float  # value of the constant column that carries a regularized intercept; 0 for none
    is_free: bool  # whether there is an unregularized intercept
    prior: Any
    tol: float | None
    max_iter: int
    time_budget: float | None
    random_state: Any
    n_jobs: int | None
    probability: bool | str = False  # or the curve, "sigmoid" or "isotonic"
    batch_size: int | str = 1
    sampling: str = "shuffle"
    projection: bool = False
    average: str | None = None
    loss: Loss = HINGE
    max_steps: int | None = None  # limit for Pegasos and for decomposition, which may end within an epoch
    # fraction of the rows that the dual point should spend, which then determines lam or epsilon
    nu: float | None = None
    # relative gap below tol that small kernel problems go on to if that takes few more steps; 0 for none
    fine: float = 0.0

    @property
    def threads(self) -> int:
        """Number of threads that may run."""
        return threads_of(self.n_jobs)

    @property
    def is_fine(self) -> bool:
        """Whether double precision is needed: weights in single precision support a gap of 1e-5.

        With a good prior, the losses can be smaller than the rounding errors of a single-precision score.
        """
        return self.prior is not None or self.is_exact

    @property
    def is_exact(self) -> bool:
        """Whether the requested gap is smaller than single precision can prove."""
        return self.tol is not None and self.tol < _FINE

    @property
    def time_share(self) -> float | None:
        """The budget of the fit on all rows: with probabilities, each fold takes as much."""
        whole = self.time_budget
        return whole / (FOLDS + 1) if whole is not None and self.probability else whole

    def stop(self, *, seconds: float = 0.0, is_hard: bool = False) -> Stop:
        """The stopping rule of a run that starts this many seconds after the fit."""
        share = self.time_share
        max_steps = self.max_steps if self.solver == "pegasos" else None
        return Stop(self.tol, self.max_iter, None if share is None else max(0.0, share - seconds), is_hard, max_steps)

    @property
    def of_search(self) -> Settings:
        """Settings of every solve in a search for nu, whose gap must resolve how much a dual point spends."""
        return replace(self, tol=min(_GAP_OF_SEARCH, self.tol or _GAP_OF_SEARCH))

    def draw_seed(self) -> int:
        """Draw a seed from the random state, once per fit."""
        return _seed_of(self.random_state) if isinstance(self.random_state, int) else _drawn(self.random_state)

    def of_fold(self, seed: int, time_budget: float | None) -> Settings:
        """Settings of a fit on a part of the rows."""
        return replace(self, probability=False, random_state=seed, time_budget=time_budget)

    def pegasos(self, n: int, dtype: npt.DTypeLike, noun: str = "", *, at_most_all: bool = False) -> Pegasos:
        """Pegasos for n rows. A larger batch is rejected, except in a stream, whose blocks may have any size."""
        size = n if self.batch_size == "all" else int(self.batch_size)
        if at_most_all:
            size = min(size, n)
        if size > n:
            whose = f"the {n} rows" + (" of a pair of classes" if noun == "pair" else "")
            raise PegasosError(f"batch_size={size} exceeds {whose}; use batch_size='all' for all of them.")
        # A batch of all rows leaves nothing to shuffle, and contains both signs in their proportions.
        sampling: Any = "sequential" if size == n and self.sampling != "uniform" else self.sampling
        average: Any = self.average
        return Pegasos(size, sampling, bool(self.projection), average, dtype)
