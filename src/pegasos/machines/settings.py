"""What the parameters of an estimator ask of a fit, whatever its rows and its targets are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from pegasos.errors import PegasosError
from pegasos.losses import HINGE, Loss
from pegasos.machines.solving import threads_of
from pegasos.solvers.driver import Stop
from pegasos.solvers.pegasos import Pegasos

FOLDS = 5  # at most, that scores for probabilities come from; each takes as long as the fit itself
_GAP_OF_SEARCH = 1e-6  # the largest relative gap of a solve on the way to nu
_FINE = 1e-5  # a smaller relative gap needs weights in double precision


@dataclass(frozen=True)
class Settings:
    """One fit's parameters; `tol` and the budgets become a `Stop` here and nowhere else."""

    lam: float | None
    C: float | None
    solver: str
    bias: float  # value of the constant column that carries a regularized intercept; 0 for none
    is_free: bool  # whether there is an intercept that is not regularized
    prior: Any
    tol: float | None
    max_iter: int
    time_budget: float | None
    random_state: Any
    n_jobs: int | None
    probability: bool | str = False  # or by which curve, "sigmoid" or "isotonic"
    batch_size: int | str = 1
    sampling: str = "shuffle"
    projection: bool = False
    average: str | None = None
    loss: Loss = HINGE
    max_steps: int | None = None  # of decomposition, which may end within an epoch
    nu: float | None = None  # the share of the rows that the dual point is to spend, which then sets lam or epsilon

    @property
    def threads(self) -> int:
        """How many threads may run."""
        return threads_of(self.n_jobs)

    @property
    def is_fine(self) -> bool:
        """Whether double precision is needed: single precision weights carry a gap of 1e-5.

        Next to a good prior the losses can be smaller than what single precision leaves of a score.
        """
        return self.prior is not None or self.is_exact

    @property
    def is_exact(self) -> bool:
        """Whether the gap asked for is smaller than single precision can prove."""
        return self.tol is not None and self.tol < _FINE

    @property
    def time_share(self) -> float | None:
        """The budget of the fit of all rows: with probabilities, those of the folds take as much each."""
        whole = self.time_budget
        return whole / (FOLDS + 1) if whole is not None and self.probability else whole

    def stop(self, *, seconds: float = 0.0, is_hard: bool = False) -> Stop:
        """When a run ends that begins so many seconds after the fit did."""
        share = self.time_share
        return Stop(self.tol, self.max_iter, None if share is None else max(0.0, share - seconds), is_hard)

    @property
    def of_search(self) -> Settings:
        """Those of every solve of a search for nu, whose gap must tell how much a dual point spends."""
        return replace(self, tol=min(_GAP_OF_SEARCH, self.tol or _GAP_OF_SEARCH))

    def draw_seed(self) -> int:
        """A seed from the random state, which a fit draws once."""
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def of_fold(self, seed: int, time_budget: float | None) -> Settings:
        """Those of a fit of a part of the rows."""
        return replace(self, probability=False, random_state=seed, time_budget=time_budget)

    def pegasos(self, n: int, dtype: npt.DTypeLike, noun: str = "", *, at_most_all: bool = False) -> Pegasos:
        """The step of Pegasos for n rows. A larger batch is refused, except in a stream of blocks of any size."""
        size = n if self.batch_size == "all" else int(self.batch_size)
        if at_most_all:
            size = min(size, n)
        if size > n:
            whose = f"the {n} rows" + (" of a pair of classes" if noun == "pair" else "")
            raise PegasosError(f"batch_size={size} exceeds {whose}; use batch_size='all' for all of them.")
        # A batch of all rows leaves nothing to shuffle, and holds both signs as often as they occur.
        sampling: Any = "sequential" if size == n and self.sampling != "uniform" else self.sampling
        average: Any = self.average
        return Pegasos(size, sampling, bool(self.projection), average, dtype)
