"""The objective and the slack of rows under a fitted estimator, in the words of the textbook."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from pegasos.estimators import _checks
from pegasos.estimators.certified import CertifiedModel
from pegasos.fitting.objective import measure, objective_of
from pegasos.fitting.result import Fit
from pegasos.machines.base import Data
from pegasos.machines.solving import threads_of
from pegasos.tasks.terms import Terms


class MeasuresRows(CertifiedModel):
    """An estimator that minimizes lam / 2 |w|^2 plus a mean loss of rows with targets."""

    def objective(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """What the fit minimizes, lam / 2 |w|^2 + mean loss, of the current weights on given rows.

        With the lam of the fit (``lam_``), its loss, class weights and prior; the sum over the problems of several
        classes or targets. On the rows of the fit it is ``certificate_.primal``. ``coef_`` and ``intercept_`` may have
        been changed. A model that was trained elsewhere is measured by its parameters.

        Parameters
        ----------
        X, y : rows and their targets, as in `fit`
        sample_weight : array of shape (n_rows,), optional

        Examples
        --------
        >>> from pegasos import PegasosClassifier
        >>> X, y = [[0.0], [1.0], [3.0]], [0, 0, 1]
        >>> model = PegasosClassifier(lam=0.1).fit(X, y)
        >>> abs(model.objective(X, y) - model.certificate_.primal) < 1e-12
        True
        >>> model.coef_ = 0.0 * model.coef_
        >>> model.intercept_ = 0.0 * model.intercept_
        >>> model.objective(X, y)
        1.0
        """
        fitted, data, task, terms = self._measured(X, y, sample_weight)
        return objective_of(fitted, data, task, terms, threads_of(self.n_jobs))

    def slack(self, X: Any, y: Any) -> npt.NDArray[np.float64]:
        """The slack xi of each row: how far it is from where its loss is 0.

        For classes, max(0, 1 - y (<w, x> + b)); with ``multi_class="crammer_singer"``, 1 minus the margin over the best
        other class. For numbers, max(0, |y - prediction| - epsilon).

        Parameters
        ----------
        X, y : rows and their targets, as in `fit`

        Returns
        -------
        array of shape (n_rows,), or (n_rows, n_problems) for several problems
            A row that has no part in a pair of classes has a slack of 0 there.

        Examples
        --------
        >>> from pegasos import PegasosClassifier
        >>> X, y = [[0.0], [1.0], [3.0]], [0, 0, 1]
        >>> model = PegasosClassifier(lam=1e-3).fit(X, y)
        >>> bool((model.slack(X, y) < 0.01).all())
        True
        """
        slack = measure(*self._measured(X, y, None), threads_of(self.n_jobs)).slack
        return slack[:, 0] if slack.shape[1] == 1 else slack

    def _measured(self, X: Any, y: Any, sample_weight: Any) -> tuple[Fit, Data, Any, Terms]:
        """The fit, the rows, and the task and terms by which they are measured."""
        check_is_fitted(self, "fitted_")
        model: Any = self
        fitted = self._current
        data = self._read(X, y, sample_weight, reset=False)
        if fitted.origin is None:
            check_is_fitted(self, "certificate_")
            return fitted, data, fitted.task, fitted.terms  # type: ignore[return-value]
        _checks.check_aim(self, fitted.origin)
        fitted.task.check_complete(fitted.task.target(data.y, data.weights), data.weights)
        settings, task = model._settings(), model._task(fitted.task.name).learn(data.y, data.weights)
        of_settings = {"bias": settings.bias, "is_free": settings.is_free, "loss": settings.loss}
        return fitted, data, task, Terms.of(settings.lam, settings.C, total=task.total, **of_settings)
