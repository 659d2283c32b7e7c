"""How a classifier is trained: settings, `fitting.fit`, attributes."""

from __future__ import annotations

from typing import Any, Self

import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators import _checks
from pegasos.estimators._until import until_certified
from pegasos.estimators.certified import CertifiedClassifier, Evidence
from pegasos.estimators.inputs import is_indicator, keeps_on_failure
from pegasos.estimators.measuring import MeasuresRows
from pegasos.estimators.warnings import GapWarning
from pegasos.estimators.watching import Onlookers, with_callbacks
from pegasos.fitting import GivenWeights, WarmStart, fit, goes_on_from, pass_over
from pegasos.machines.base import Data
from pegasos.tasks import ManyLabels


def can_stream(model: Any) -> bool:
    refusal = model._why_not_a_stream()
    if refusal is not None:
        raise AttributeError(refusal)
    return True


class TrainedModel(MeasuresRows):
    """An estimator that is a machine and a task: a subclass has the parameters, and says what they mean."""

    @property
    def lam_(self) -> Any:
        """The lam of the fit, also where C or nu was given; for ``multi_class="ovo"`` with C, one for each pair."""
        return self.solved_lam_

    @with_callbacks
    @keeps_on_failure
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        *,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Train until the gap is proved, or a budget ends.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features); with a kernel, any collection that the kernel takes
            A list of strings, of graphs or of arrays; a frame of mixed records; with kernel="precomputed" the square
            kernel matrix.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            A weight of 2 is equivalent to repeating the row, a weight of 0 to leaving it out.
        X_val : as X, optional
            Rows without targets, of which `certified_share` is counted, instead of those of the fit.
        coef_init : array of the shape of ``coef_``, or (n_features,) if that has one row; optional
            The weights before the first step, for a linear machine with ``solver="pegasos"``; by default 0, or with
            ``warm_start`` those of the last fit. The first step has the length 1/lam and forgets them, after they have
            decided which of its rows violate.
        intercept_init : array of the shape of ``intercept_``, or float; optional
            The intercept that belongs to ``coef_init``, by default 0.
        """
        self._check_parameters()
        _checks.check_aim(self, self._origin)
        share = getattr(self, "certified_share", None)
        if X_val is not None and share is None:
            raise PegasosError("X_val is used by certified_share only; set that too, for example to 0.99.")
        settings, data = self._settings(), self._read(X, y, sample_weight, reset=True)
        start: Any = WarmStart(self.fitted_) if self.warm_start and hasattr(self, "fitted_") else None
        if coef_init is not None or intercept_init is not None:
            _checks.check_initial(self, coef_init)
            start = GivenWeights(coef_init, intercept_init)
        audience = Onlookers.of(self, X, y, settings.max_iter, verbose=self.verbose)
        self._write(fit(self._machine(), self._task_for(data), settings, data, start=start, audience=audience))
        if not self.fitted_.doubt:
            self._evidence = Evidence(X, y, sample_weight)
        is_met = self.fitted_.is_satisfied
        if share is not None and hasattr(self, "_evidence"):
            is_met &= until_certified(self, data.begun, X_val)
        if not is_met:
            warn_caller(self.status_, GapWarning)
        return self

    def _task_for(self, data: Data) -> Any:
        """The task that the parameters mean for these rows and targets."""
        return self._task()

    def _pass_over(self, X: Any, y: Any, sample_weight: Any, told: Any) -> Self:
        """Learn from a block of a stream; ``told`` is what the task must know of all targets that will occur."""
        self._check_parameters()
        if self.C is not None:
            raise PegasosError(f"C={self.C!r} needs the number of samples, which is unknown in a stream; give lam.")
        _checks.check_aim(self, self._origin)
        before, settings = getattr(self, "fitted_", None), self._settings()
        task = self._task() if before is None else goes_on_from(before, self._task(), settings)
        data = self._read(X, y, sample_weight, reset=before is None)
        if before is None:
            task = task.begin(told)
        else:
            task.goes_on(told)
        self._write(pass_over(self._machine(), task, settings, data, before))
        return self

    @property
    def _origin(self) -> Any:
        return self.fitted_.origin if hasattr(self, "fitted_") else None


class TrainedClassifier(TrainedModel, CertifiedClassifier):
    """A classifier that also learns from a stream, whose classes its first block must name."""

    _takes_indicators = True

    def _task_for(self, data: Data) -> Any:
        if data.y.ndim == 1:
            return self._task_of(data)
        if self.probability:
            raise PegasosError("probability=True does not support an indicator matrix; give probability=False.")
        return ManyLabels(self.class_weight)

    @available_if(can_stream)
    @keeps_on_failure
    def partial_fit(self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: Any = None) -> Self:
        """One pass of Pegasos over a block of rows; the step count continues.

        Unless ``solver="pegasos"``, it begins at what zero weights are worth, so that the first steps are not of length
        1 / lam. ``average="tail"`` or "uniform" suits a single pass better than the last iterate.

        The certificate is about the last block alone: the rows before it are gone. With a kernel, support vectors of
        earlier blocks stay, within ``max_support``. A block whose weights are all 0 is skipped; so is, with
        ``multi_class="ovo"``, a pair without rows in it, which keeps its last certificate.

        Parameters
        ----------
        X : as in `fit`
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All classes that will occur; needed at the first call.
        sample_weight : array of shape (n_rows,), optional
        """
        if is_indicator(y):
            raise PegasosError("partial_fit does not support an indicator matrix; give one label per row, or use fit.")
        return self._pass_over(X, y, sample_weight, classes)
