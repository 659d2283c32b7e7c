"""Shared by the estimators on dask collections: reading, fitting, predicting by blocks."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import dask
import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from pegasos import checks as check
from pegasos.dask._collections import blocks_of, feature_names, is_collection, lengths_of
from pegasos.dask._reading import columns_of, make_ready
from pegasos.dask._workers import patiently, workers_of
from pegasos.distributed import predicted
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators.assembly import plan_of, with_fit
from pegasos.estimators.parameters import DEFAULT_LAM
from pegasos.estimators.warnings import GapWarning
from pegasos.estimators.watching import Onlookers
from pegasos.fitting.cluster import Elsewhere, refuse_elsewhere

_NAMED = ("n_features_in_", "feature_names_in_")


@dataclass(eq=False, repr=False, kw_only=True)
class OnCollections(BaseEstimator):
    """An estimator whose rows are in partitions; a local one has its parameters and becomes its model."""

    lam: float = field(default=DEFAULT_LAM, kw_only=False)
    C: float | None = None
    fit_intercept: bool = True
    regularize_intercept: bool = True
    intercept_scaling: float = 1.0
    prior: Any = None
    start: Any = None
    tol: float | None = 1e-3
    max_iter: int = 1000
    time_budget: float | None = None
    timeout: float | None = None
    random_state: Any = None
    verbose: int = 0
    client: Any = None

    _local_type: ClassVar[Any]
    _own: ClassVar[frozenset[str]] = frozenset({"start", "timeout", "client"})  # parameters of no local estimator
    _written: ClassVar[tuple[str, ...]]  # attributes that are those of the local model
    _about: ClassVar[str]  # attribute that shows that a model is fitted

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train until the gap is proved, or a budget ends.

        Parameters
        ----------
        X : dask array, dataframe or bag of blocks, or list of delayed blocks or futures
            Blocks are arrays, frames or CSR matrices, of any number of rows.
        y : the same with one column
            Cut like X; that of an array is cut alike where the lengths are known.
        sample_weight : the same with one column, optional
            A sample weight of 2 is equivalent to repeating the row, one of 0 to leaving it out.
        """
        local = self._local()
        self._fit_ready(self._made_ready(local, X, y, sample_weight), local, X, y, self.start)
        return self

    def path(self, X: Any, y: Any, lams: Any, sample_weight: Any = None) -> list[Self]:
        """One fitted model per lam, each with its certificate; every fit starts where the last one ended.

        The partitions are read once. From the largest lam to the smallest, few passes per lam are needed.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        lams : sequence of float
            The models are returned in this order.
        """
        asked = [float(lam) for lam in lams]
        for lam in asked:
            check.check_positive("lams", lam)
        if getattr(self, "C", None) is not None:
            raise PegasosError(f"a path varies lam and does not support C, got C={self.C}; give C=None.")
        there = self._made_ready(self._local(), X, y, sample_weight)
        found: dict[float, Self] = {}
        last: Any = self.start
        for lam in sorted(set(asked), reverse=True):
            model = clone(self).set_params(lam=lam)
            model._fit_ready(there, model._local(), X, y, last)
            found[lam], last = model, model._model
        return [found[lam] for lam in asked]

    def to_local(self) -> Any:
        """The fitted model as a plain estimator of `pegasos`, which predicts the same.

        Its dual point stayed with the rows, so it can neither be certified again nor warm-start a local fit.
        """
        check_is_fitted(self, self._about)
        return deepcopy(self._model)

    @property
    def lam_(self) -> Any:
        """The lam of the fit, also where C was given."""
        check_is_fitted(self, self._about)
        return self._model.lam_

    def __sklearn_clone__(self) -> Any:
        """A clone works on the same cluster."""
        kept = {
            name: clone(value, safe=False) for name, value in self.get_params(deep=False).items() if name != "client"
        }
        return type(self)(**kept, client=self.client)

    def __getstate__(self) -> Any:
        """Pickle without the client; when the model is used again, the current client replaces it."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _local(self) -> Any:
        """The model that the fit will fill in."""
        parameters = self.get_params(deep=False)
        return self._local_type(solver="auto", **{name: parameters[name] for name in parameters.keys() - self._own})

    def _made_ready(self, local: Any, X: Any, y: Any, sample_weight: Any) -> Elsewhere:
        """The partitions on the workers, coded."""
        _, task, settings = plan_of(local)
        refuse_elsewhere(settings, task)
        if self.timeout is not None:
            check.check_positive("timeout", self.timeout)
        workers = workers_of(self.client, self.timeout)
        columns, names = (X, y, sample_weight), _text_names(X)
        classes = getattr(self, "classes", None)
        return make_ready(workers, columns, task, settings, classes=classes, names=names)

    def _fit_ready(self, there: Elsewhere, local: Any, X: Any, y: Any, start: Any) -> None:
        settings = plan_of(local)[2]
        audience = Onlookers.of(local, X, y, settings.max_iter, verbose=self.verbose)
        begin = None if start is None else there.start_at(start, _text_names(X))
        on_pass = _print_pass if self.verbose > 1 else None
        fitted, n_passes = there.fit(settings, start=begin, audience=audience, on_pass=on_pass)
        self._write(with_fit(local, fitted, there.whole.n_features, _text_names(X)))
        self.n_partitions_, self.n_passes_ = len(there.sizes), n_passes
        if not fitted.is_satisfied:
            warn_caller(local.status_, GapWarning)

    def _write(self, local: Any) -> None:
        """Every fitted attribute, in one place: those of the local model, and the model itself."""
        self._model = local
        self.__dict__.pop("feature_names_in_", None)
        for name in (*self._written, *(name for name in _NAMED if hasattr(local, name))):
            setattr(self, name, getattr(local, name))

    def _by_blocks(self, method: str, X: Any, dtype: np.dtype[Any], more: tuple[int, ...]) -> Any:
        """A method of the local model: of a dask collection a dask array, by blocks and lazily."""
        check_is_fitted(self, self._about)
        if not is_collection(X):
            return getattr(self._model, method)(X)
        model = dask.delayed(self._model, traverse=False)
        blocks = zip(blocks_of("X", X), lengths_of(X), strict=True)
        parts = [
            da.from_delayed(dask.delayed(predicted)(model, method, block, (0, *more), dtype), (n, *more), dtype)
            for block, n in blocks
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)

    def _sums(self, function: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        """Sum a function of the model and a block over all blocks, without further rounding."""
        blocks = blocks_of("X", X)
        columns = columns_of(X, y, sample_weight, len(blocks))
        model = dask.delayed(self._model, traverse=False)
        workers = workers_of(self.client, self.timeout)
        found = workers.compute([dask.delayed(function)(model, *block) for block in zip(blocks, *columns, strict=True)])
        parts = np.array(patiently(workers, found, lambda: workers.fetch(found)))
        return np.apply_along_axis(math.fsum, 0, parts)


def _print_pass(number: int, n_problems: int, seconds: float) -> None:
    print(f"pass {number}: {n_problems} {'problem' if n_problems == 1 else 'problems'}, {seconds:.3g} s", flush=True)


def _text_names(X: Any) -> list[Any] | None:
    """The names of the features, if all of them are strings."""
    names = feature_names(X)
    return names if names is not None and all(isinstance(name, str) for name in names) else None
