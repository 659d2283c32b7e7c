"""The linear support vector machine whose rows are on the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pegasos.dask._collections import is_collection
from pegasos.dask.base import OnCollections
from pegasos.distributed import hits
from pegasos.errors import PegasosError
from pegasos.estimators import linear


def _has_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError("probabilities are fitted only with probability=True.")
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class PegasosClassifier(ClassifierMixin, OnCollections):
    """`pegasos.PegasosClassifier` on dask collections: the same problem, the same certificate.

    The rows are not moved, except for a sample and those near the margin. In a pass, every partition computes its part
    of the objective and its derivatives. The bits of the result depend on how the rows are partitioned, but not on the
    number of workers or on lost workers.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the regularization.
    C : float, optional
        The other convention: sets ``lam = 1 / (C N)``, N being the sum of the sample weights. Give one of the two.
    loss : {"hinge", "squared_hinge", "huber_hinge"}, default="hinge"
        As in `pegasos.PegasosClassifier`.
    smoothing : float, default=0.5
        The r at which "huber_hinge" becomes linear.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One problem per class against the rest, or one per pair of classes. All problems share their passes.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    regularize_intercept : bool, default=True
        The intercept is the weight of a constant feature of value ``intercept_scaling``, regularized like the others.
        False: it is not regularized.
    intercept_scaling : float, default=1.0
        A larger value regularizes the intercept less.
    prior : fitted linear classifier, (coef, intercept) or None, default=None
        A model learned from other data: the weights are regularized toward it instead of toward 0.
    class_weight : dict, "balanced" or None, default=None
        Factor on the loss of each class; "balanced" is ``N / (n_classes * N_class)``, counted over all partitions.
    classes : array of shape (n_classes,), optional
        The possible labels, if some may not occur in the data; by default those that occur.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether to fit `predict_proba`: Platt's sigmoid, or an increasing curve, on scores of held-out rows. The fits
        for up to five folds share the passes of the main fit, and one more pass collects histograms of the scores. The
        fold of a row is determined by its values.
    start : fitted linear classifier, (coef, intercept) or None, default=None
        The starting point, for example yesterday's model. It saves passes and does not change the problem.
    tol : float or None, default=1e-3
        The relative duality gap of the whole problem at which the fit ends. None: run ``max_iter`` passes.
    max_iter : int, default=1000
        Maximum number of passes over all partitions.
    time_budget : float, optional
        Time limit in seconds, kept to within one pass.
    timeout : float, optional
        Seconds that a worker may take for its part of a pass, or to make its partitions, before the fit ends with an
        error that names it. None: wait.
    random_state : int, RandomState or None, default=None
        Seed of solvers on gathered rows.
    verbose : int, default=0
        1: a line for each certificate. 2: also a line for each pass, with the number of problems that are still open.
    client : dask.distributed.Client, optional
        The cluster. None: that of the current client, or, if there is none, dask's scheduler in this process.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features); with "ovo" (n_pairs, n_features)
    intercept_ : array of shape (1,) or (n_classes,); with "ovo" (n_pairs,)
    classes_ : array of shape (n_classes,)
    certificate_ : Certificate
        Of the whole problem, at these weights: primal, dual, gap, relative_gap, weight_radius, and one part for each
        binary problem.
    status_ : str
        Why the fit ended, and what is proved.
    margin_ : float, or array of shape (n_problems,)
        The geometric margin of the rows of the fit.
    trace_ : Trace
        One row per certificate: step, epoch (which is the pass), seconds, primal, dual, gap.
    n_iter_ : int
        Passes of the problem that took the most.
    n_steps_ : int
        Passes of all problems, counted separately.
    n_passes_ : int
        Passes over the partitions, shared by all problems.
    n_partitions_ : int
        Partitions that have rows.
    n_features_in_ : int
    feature_names_in_ : array of str, when X has names

    Examples
    --------
    >>> import dask.array as da
    >>> from pegasos.dask import PegasosClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 10), chunks=(500, 10))
    >>> y = da.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    >>> model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.predict(X[:3]).compute().shape
    (3,)
    >>> bool(model.to_local().score(X.compute(), y.compute()) > 0.95)
    True
    """

    loss: str = "hinge"
    smoothing: float = 0.5
    multi_class: str = "ovr"
    class_weight: Any = None
    classes: Any = None
    probability: bool | str = False

    _local_type = linear.PegasosClassifier
    _own = OnCollections._own | {"classes"}
    _written = (
        "coef_",
        "intercept_",
        "classes_",
        "certificate_",
        "status_",
        "margin_",
        "trace_",
        "n_iter_",
        "n_steps_",
        "fitted_",
    )
    _about = "classes_"

    def predict(self, X: Any) -> Any:
        """The class of each row: of a dask collection a dask array, by blocks and lazily; of local rows an array."""
        check_is_fitted(self, "classes_")
        return self._by_blocks("predict", X, self.classes_.dtype, ())

    def decision_function(self, X: Any) -> Any:
        """Scores: of shape (n_rows,) for two classes, positive for ``classes_[1]``; else (n_rows, n_classes)."""
        check_is_fitted(self, "classes_")
        n_classes = len(self.classes_)
        return self._by_blocks("decision_function", X, np.dtype(np.float64), (n_classes,) if n_classes > 2 else ())

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, of shape (n_rows, n_classes), as in `pegasos.PegasosClassifier`."""
        check_is_fitted(self, "classes_")
        return self._by_blocks("predict_proba", X, np.dtype(np.float64), (len(self.classes_),))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows that are predicted right, weighted; computed block by block."""
        check_is_fitted(self, "classes_")
        if not is_collection(X):
            return float(self._model.score(X, y, sample_weight))
        right, total = self._sums(hits, X, y, sample_weight)
        if total == 0.0:
            raise PegasosError("there is no row with a weight above 0 to score.")
        return float(right / total)
