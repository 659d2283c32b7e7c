"""The parameters that several estimators share, each declared once.

An estimator is a dataclass: its signature, which scikit-learn, editors and mypy read, is made from these fields. They
are keyword-only unless an estimator declares one of its own as positional.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.estimators import _checks
from pegasos.losses import loss_of
from pegasos.machines.base import Data
from pegasos.machines.prior import check_prior
from pegasos.machines.settings import Settings
from pegasos.tasks import CLASSIFICATIONS, STORED_CLASSIFICATIONS, OneVsOne, OneVsRest

DEFAULT_LAM = 1e-4


@dataclass(eq=False, repr=False, kw_only=True)
class CommonParameters:
    """What every certified estimator has."""

    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    tol: float | None = 1e-3
    max_iter: int | None = None
    n_jobs: int | None = None
    random_state: Any = None

    def _check_common(self) -> None:
        check.check_flag("fit_intercept", self.fit_intercept)
        check.check_positive("intercept_scaling", self.intercept_scaling)
        check.check_optional("tol", self.tol)
        if self.max_iter is not None:
            check.check_count("max_iter", self.max_iter)
        check.check_jobs(self.n_jobs)


@dataclass(eq=False, repr=False, kw_only=True)
class SolverParameters(CommonParameters):
    """What estimators with a choice of solver have, whatever their targets are."""

    lam: float = DEFAULT_LAM
    C: float | None = None
    nu: float | None = None
    solver: str = "auto"
    batch_size: int | str = 1
    sampling: str = "shuffle"
    projection: bool = False
    average: str | None = None
    regularize_intercept: bool = True
    prior: Any = None
    max_steps: int | None = None
    time_budget: float | None = None
    warm_start: bool = False
    verbose: int = 0

    @property
    def _is_free(self) -> bool:
        """Whether there is an intercept that is not regularized."""
        return bool(self.fit_intercept and not self.regularize_intercept)

    def _why_not_a_stream(self) -> str | None:
        """What `partial_fit` does not support; None: nothing is in the way."""
        if self.nu is not None:
            return "nu is a share of all samples, which a stream does not have; give lam instead of nu."
        if self.max_steps is not None:
            return "max_steps ends a fit, while a stream passes over every block once; give max_steps=None."
        if self._is_free:
            return "a stream does not support an unregularized intercept; give regularize_intercept=True."
        return None

    def _settings(self) -> Settings:
        """What the parameters ask of a fit."""
        return Settings(
            lam=self.lam,
            C=self.C,
            solver=self.solver,
            bias=float(self.intercept_scaling) if self.fit_intercept and self.regularize_intercept else 0.0,
            is_free=self._is_free,
            prior=self.prior,
            tol=self.tol,
            max_iter=_checks.epochs_of(self),
            time_budget=self.time_budget,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            batch_size=self.batch_size,
            sampling=self.sampling,
            projection=bool(self.projection),
            average=self.average,
            max_steps=None if self.max_steps is None else int(self.max_steps),
            nu=self.nu,
        )

    def _check_solver(self, solvers: tuple[str, ...]) -> None:
        self._check_common()
        if self.lam is not None:
            check.check_positive("lam", self.lam)
        if self.C is not None:
            _checks.check_soft_margin(self.C, self.lam, self.prior, DEFAULT_LAM)
        check.check_word("solver", self.solver, solvers)
        _checks.check_nu(self)
        if self.batch_size != "all":
            check.check_count("batch_size", self.batch_size)
        check.check_word("sampling", self.sampling, ("shuffle", "uniform", "balanced", "sequential"))
        check.check_word("average", self.average, (None, "uniform", "tail"))
        for name in ("projection", "regularize_intercept", "warm_start"):
            check.check_flag(name, getattr(self, name))
        _checks.check_intercept(self.solver, is_free=self._is_free)
        _checks.check_max_steps(self.max_steps, self.solver)
        check_prior(self.prior)
        check.check_optional("time_budget", self.time_budget)


@dataclass(eq=False, repr=False, kw_only=True)
class ClassificationParameters(SolverParameters):
    """What the classifiers with a choice of solver and of task have."""

    loss: str = "hinge"
    smoothing: float = 0.5
    multi_class: str = "ovr"
    _most_paired: ClassVar[int] = 0  # classes that "auto" tells apart pair by pair
    class_weight: Any = None
    certified_share: float | None = None
    probability: bool | str = False

    def _why_not_a_stream(self) -> str | None:
        if self.probability:
            return "a stream keeps no rows to fit probabilities on; give probability=False."
        return super()._why_not_a_stream()

    @property
    def _curve(self) -> bool | str:
        """By which curve scores become probabilities; False: they do not."""
        return self.probability if isinstance(self.probability, str) else "sigmoid" if self.probability else False

    def _task(self, multi_class: str | None = None) -> OneVsRest:
        """The task of this name, or of the parameter; "auto" without labels is that of the fit, or "ovr"."""
        name = multi_class or self.multi_class
        if name == "auto":
            name = self.fitted_.task.name if hasattr(self, "fitted_") else OneVsRest.name
        return {**STORED_CLASSIFICATIONS, **CLASSIFICATIONS}[name](self.class_weight)

    def _task_of(self, data: Data) -> OneVsRest:
        """The task for these rows and labels; see docs/multiclass.md for what "auto" rests on."""
        if self.multi_class != "auto":
            return self._task()
        is_paired = not sp.issparse(data.X) and 2 < len(np.unique(data.y)) <= self._most_paired
        return self._task(OneVsOne.name if is_paired else OneVsRest.name)

    def _settings(self) -> Settings:
        """What the parameters ask of a fit."""
        return replace(super()._settings(), probability=self._curve, loss=loss_of(self.loss, self.smoothing))

    def _check_classification(self, solvers: tuple[str, ...]) -> None:
        check.check_word("multi_class", self.multi_class, ("auto", *CLASSIFICATIONS))
        check.check_probability(self.probability)
        check.check_class_weight(self.class_weight)
        _checks.check_loss(self.loss, self.smoothing, self.C)
        if self.multi_class == "crammer_singer":
            _checks.check_joint(self.solver, self.sampling, self.loss, self.nu, is_free=self._is_free)
        self._check_solver(solvers)
        check.check_share("certified_share", self.certified_share)
        if self.certified_share is not None and self.tol is None:
            raise PegasosError("certified_share needs a tol to begin with; give tol=1e-3, or certified_share=None.")
        if self.certified_share is not None and self.max_steps is not None:
            raise PegasosError(
                f"certified_share continues until predictions are proved, which max_steps={self.max_steps!r} prevents; "
                "give one of the two."
            )
