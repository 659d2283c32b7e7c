"""Linear support vector regression whose rows are on the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from pegasos.dask._collections import is_collection
from pegasos.dask.base import OnCollections
from pegasos.dask.classifier import PegasosClassifier
from pegasos.distributed import squares
from pegasos.docstrings import documented_by
from pegasos.errors import PegasosError
from pegasos.estimators import regression


@documented_by(PegasosClassifier)
@dataclass(eq=False, repr=False, kw_only=True)
class PegasosRegressor(RegressorMixin, OnCollections):
    """`pegasos.PegasosRegressor` on dask collections: the same problem, the same certificate.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the regularization.
    C : float, optional
        The other convention: sets ``lam = 1 / (C N)``, N being the sum of the sample weights. Give one of the two.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "huber"}, default="epsilon_insensitive"
        As in `pegasos.PegasosRegressor`.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y.
    quantile : float, default=0.5
        The share of targets that should lie below the prediction, for ``loss="quantile"``.
    delta : float, default=1.35
        Where "huber" becomes a line, in units of y.
    fit_intercept, regularize_intercept, intercept_scaling
        As in `PegasosClassifier`.
    prior : fitted linear regressor, (coef, intercept) or None, default=None
        A model learned from other data: the weights are regularized toward it instead of toward 0.
    start : fitted linear regressor, (coef, intercept) or None, default=None
        The starting point. It saves passes and does not change the problem.
    tol, max_iter, time_budget, timeout, random_state, verbose, client
        As in `PegasosClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
    certificate_ : Certificate
        Of the whole problem, with one part for each target.
    status_, trace_, n_iter_, n_steps_, n_passes_, n_partitions_, n_features_in_, feature_names_in_
        As in `PegasosClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from pegasos.dask import PegasosRegressor
    >>> X = da.random.default_rng(0).normal(size=(2000, 10), chunks=(500, 10))
    >>> model = PegasosRegressor(lam=1e-4, random_state=0).fit(X, 3.0 * X[:, 0] - X[:, 1])
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> bool(model.score(X, 3.0 * X[:, 0] - X[:, 1]) > 0.99)
    True
    """

    loss: str = "epsilon_insensitive"
    epsilon: float = 0.1
    quantile: float = 0.5
    delta: float = 1.35

    _local_type = regression.PegasosRegressor
    _written = ("coef_", "intercept_", "certificate_", "status_", "trace_", "n_iter_", "n_steps_", "fitted_")
    _about = "coef_"

    def predict(self, X: Any) -> Any:
        """The prediction for each row; for a dask collection, a lazy dask array computed by blocks."""
        check_is_fitted(self, "coef_")
        more = (len(self.coef_),) if self.fitted_.task.is_matrix else ()
        return self._by_blocks("predict", X, np.dtype(np.float64), more)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination, weighted; the mean over several targets. Computed block by block."""
        check_is_fitted(self, "coef_")
        if not is_collection(X):
            return float(self._model.score(X, y, sample_weight))
        total, first, second, errors = self._sums(squares, X, y, sample_weight)
        if not (total > 0.0).all():
            raise PegasosError("there is no row with a weight above 0 to score.")
        spread = second - first**2 / total
        return float(np.mean(1.0 - errors / spread))
