"""The linear support vector machine whose rows are on the workers of a cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Self

import dask
import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from pegasos import checks as check
from pegasos.dask._collections import blocks_of, feature_names, is_collection, lengths_of
from pegasos.dask._reading import columns_of, read_partitions
from pegasos.dask._rounds import PartitionsThere
from pegasos.dask._workers import Workers, patiently, workers_of
from pegasos.distributed import code, hits, predicted
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators import linear
from pegasos.estimators.assembly import plan_of, with_fit
from pegasos.estimators.parameters import DEFAULT_LAM
from pegasos.estimators.warnings import GapWarning
from pegasos.estimators.watching import Onlookers
from pegasos.fitting.cluster import fit_partitions, terms_of_partitions
from pegasos.machines.settings import Settings

_shared = (
    "lam",
    "C",
    "fit_intercept",
    "intercept_scaling",
    "class_weight",
    "tol",
    "max_iter",
    "time_budget",
    "n_jobs",
    "random_state",
    "verbose",
)
_written = ("coef_", "intercept_", "classes_", "certificate_", "status_", "margin_", "trace_", "n_iter_", "n_steps_")
_named = ("n_features_in_", "feature_names_in_")


class PegasosClassifier(ClassifierMixin, BaseEstimator):
    """`pegasos.PegasosClassifier` on dask collections: the same problem, the same certificate.

    The rows stay where they are. In a round every partition climbs on its own rows, and one vector of features goes
    each way. How the rows are cut into partitions decides the result to the last bit; the number of workers does not.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the regularization.
    C : float, optional
        The other convention: sets ``lam = 1 / (C N)``, N being the sum of the sample weights. Give one of the two.
    fit_intercept : bool, default=True
        The intercept is the weight of a constant feature of value ``intercept_scaling``, regularized like the others.
    intercept_scaling : float, default=1.0
        A larger value regularizes the intercept less.
    class_weight : dict, "balanced" or None, default=None
        What multiplies the cost of a mistake on each class; "balanced" is ``N / (n_classes * N_class)``, counted over
        all partitions.
    classes : array of shape (n_classes,), optional
        The labels that y may have, where the partitions happen not to show all of them; by default those that they
        show.
    tol : float or None, default=1e-3
        The relative duality gap of the whole problem at which the fit ends. None: run ``max_iter`` rounds.
    max_iter : int, default=1000
        Rounds at most.
    time_budget : float, optional
        Seconds at most. Kept to within one round.
    local_epochs : int, default=4
        Visits of each row in a round. More of them make fewer rounds: worth it where the network is slow.
    timeout : float, optional
        Seconds that a worker may take for its part of a round, or to make its partitions, before the fit ends with an
        error that names it. None: wait.
    n_jobs : int, optional
        How many problems of several classes are under way at the same time. The result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1: a line for each round.
    client : dask.distributed.Client, optional
        The cluster. None: that of the current client, or, where there is none, dask's scheduler in this process.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    certificate_ : Certificate
        Of the whole problem, at these weights: primal, dual, gap, relative_gap, weight_radius, and one part for each
        binary problem.
    status_ : str
        Why the fit ended, and what is proved.
    margin_ : float, or array of shape (n_problems,)
        The geometric margin of the rows of the fit.
    trace_ : Trace
        One row per round: step, epoch (which is the round), seconds, primal, dual, gap.
    n_iter_ : int
        Rounds, of the problem that took the most.
    n_steps_ : int
        Coordinate steps, of all problems and partitions.
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

    def __init__(
        self,
        lam: float = DEFAULT_LAM,
        *,
        C: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        classes: Any = None,
        tol: float | None = 1e-3,
        max_iter: int = 1000,
        time_budget: float | None = None,
        local_epochs: int = 4,
        timeout: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Any = None,
    ):
        self.lam = lam
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.classes = classes
        self.tol = tol
        self.max_iter = max_iter
        self.time_budget = time_budget
        self.local_epochs = local_epochs
        self.timeout = timeout
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train until the gap is proved, or a budget ends.

        Parameters
        ----------
        X : dask array, dataframe or bag of blocks, or list of delayed blocks or futures
            Blocks are arrays, frames or CSR matrices, of any number of rows.
        y : the same with one column
            Cut like X; that of an array is cut alike where the lengths are known.
        sample_weight : the same with one column, optional
            A row of weight 2 is the same as that row twice, a row of weight 0 the same as no row.
        """
        local = self._local()
        _, task, settings = self._plan(local)
        workers = workers_of(self.client, self.timeout)
        blocks, whole = read_partitions(workers, X, y, sample_weight, settings.bias)
        task, terms = terms_of_partitions(task, settings, whole, self.classes)
        coded = workers.compute([dask.delayed(code)(block, task, terms) for block in blocks])
        del blocks  # a worker keeps one form of its partitions
        patiently(workers, coded, lambda: None)
        size, audience = (
            (whole.n_rows, whole.n_features),
            Onlookers.of(local, X, y, settings.max_iter, verbose=self.verbose),
        )
        partitions_of = partial(_partitions, workers, coded, size)
        plan: dict[str, Any] = {"local_epochs": self.local_epochs, "audience": audience}
        fitted = fit_partitions(partitions_of, task, terms, settings, whole, **plan)
        self._write(with_fit(local, fitted, whole.n_features, _text_names(X)), len(coded))
        if not fitted.is_satisfied:
            warn_caller(self.status_, GapWarning)
        return self

    def predict(self, X: Any) -> Any:
        """The class of each row: of a dask collection a dask array, by blocks and lazily; of local rows an array."""
        check_is_fitted(self, "classes_")
        return self._by_blocks("predict", X, self.classes_.dtype, ())

    def decision_function(self, X: Any) -> Any:
        """Scores: of shape (n_rows,) for two classes, positive for ``classes_[1]``; else (n_rows, n_classes)."""
        check_is_fitted(self, "classes_")
        n_classes = len(self.classes_)
        return self._by_blocks("decision_function", X, np.dtype(np.float64), (n_classes,) if n_classes > 2 else ())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows that are predicted right, weighted; computed block by block."""
        check_is_fitted(self, "classes_")
        if not is_collection(X):
            return float(self._model.score(X, y, sample_weight))
        blocks = blocks_of("X", X)
        columns = columns_of(X, y, sample_weight, len(blocks))
        model = dask.delayed(self._model, traverse=False)
        workers = workers_of(self.client, self.timeout)
        found = workers.compute([dask.delayed(hits)(model, *block) for block in zip(blocks, *columns, strict=True)])
        parts = patiently(workers, found, lambda: workers.fetch(found))
        right, total = (math.fsum(part[k] for part in parts) for k in (0, 1))
        if total == 0.0:
            raise PegasosError("there is no row with a weight above 0 to score.")
        return right / total

    def to_local(self) -> linear.PegasosClassifier:
        """The fitted model as a plain `pegasos.PegasosClassifier`, which predicts the same.

        Its dual point stayed with the rows, so it can neither be certified anew nor warm-start a fit.
        """
        check_is_fitted(self, "classes_")
        return deepcopy(self._model)

    def __sklearn_clone__(self) -> Any:
        """A clone works on the same cluster."""
        kept = {
            name: clone(value, safe=False) for name, value in self.get_params(deep=False).items() if name != "client"
        }
        return type(self)(**kept, client=self.client)

    def __getstate__(self) -> Any:
        """A stored model has no client; where it is used again, the current one takes its place."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _local(self) -> linear.PegasosClassifier:
        """The model that the fit will fill in."""
        shared = {name: getattr(self, name) for name in _shared}
        return linear.PegasosClassifier(solver="dual", **shared)

    def _plan(self, local: linear.PegasosClassifier) -> tuple[Any, Any, Settings]:
        """The machine, the task and the settings of the parameters, which are checked."""
        found = plan_of(local)
        check.check_count("local_epochs", self.local_epochs)
        if self.timeout is not None:
            check.check_positive("timeout", self.timeout)
        if self.C is not None and np.isinf(self.C):
            raise PegasosError("C=inf, a hard margin, is not for partitions; give a finite C, or use one machine.")
        return found

    def _write(self, local: linear.PegasosClassifier, n_partitions: int) -> None:
        """Every fitted attribute, in one place: those of the local model, and the model itself."""
        self._model, self.n_partitions_ = local, n_partitions
        self.__dict__.pop("feature_names_in_", None)
        for name in (*_written, *(name for name in _named if hasattr(local, name))):
            setattr(self, name, getattr(local, name))

    def _by_blocks(self, method: str, X: Any, dtype: np.dtype[Any], more: tuple[int, ...]) -> Any:
        if not is_collection(X):
            return getattr(self._model, method)(X)
        model = dask.delayed(self._model, traverse=False)
        blocks = zip(blocks_of("X", X), lengths_of(X), strict=True)
        parts = [
            da.from_delayed(dask.delayed(predicted)(model, method, block, (0, *more), dtype), (n, *more), dtype)
            for block, n in blocks
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)


def _partitions(workers: Workers, coded: Sequence[Any], size: tuple[int, int], k: int) -> PartitionsThere:
    return PartitionsThere(workers, coded, k, *size)


def _text_names(X: Any) -> list[Any] | None:
    """The names of the features, where all of them are texts."""
    names = feature_names(X)
    return names if names is not None and all(isinstance(name, str) for name in names) else None
