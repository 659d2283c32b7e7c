"""How linear estimators train on a source of blocks."""

from __future__ import annotations

from typing import Any, Self

from pegasos.estimators import _checks
from pegasos.estimators.assembly import with_fit
from pegasos.estimators.inputs import keeps_on_failure
from pegasos.fitting.source import SourcePlan, fit_source


class TrainsOnSources:
    """A linear estimator whose rows may lie on a disk."""

    @keeps_on_failure
    def fit_source(
        self, source: Any, *, memory: int | str = "2G", checkpoint: Any = None, checkpoint_seconds: float = 60.0
    ) -> Self:
        """Train on rows that need not fit into memory: the same problem, the same certificate.

        A thread reads blocks while those in memory are trained on; rows that no longer matter are not read again. The
        problems of several classes, each against the rest, are all worked on while a block is in memory. The parameters
        of the model mean what they mean for `fit`; those that need all rows at once are refused. The result does not
        depend on the memory. With ``solver="pegasos"`` no rows need to stay in memory.

        Parameters
        ----------
        source : path, or source of blocks
            A file that `pegasos.data.open_source` opens, or what it returns. Sample weights are not part of a source.
            Where it names its columns, the model identifies them by name.
        memory : int or str, default="2G"
            Bytes for blocks, dual variables and weights, as a number or with a unit, "500M". The interpreter and its
            libraries take 0.3 to 0.4 GB besides.
        checkpoint : path, optional
            A file that the state of the run is written to. A fit that finds one there continues from it, and ends where
            it would have ended without the interruption. It stays when the fit is over.
        checkpoint_seconds : float, default=60
            How often it is written.

        Examples
        --------
        >>> import numpy as np
        >>> from pegasos import PegasosClassifier
        >>> from pegasos.data import ArraySource
        >>> X = np.random.default_rng(0).normal(size=(1000, 5))
        >>> source = ArraySource(X, X[:, 0] > 0.3, block_rows=200)
        >>> model = PegasosClassifier(lam=1e-3, random_state=0).fit_source(source, memory="1M")
        >>> model.certificate_.relative_gap <= 1e-3
        True
        """
        model: Any = self
        model._check_parameters()
        _checks.check_for_source(model)
        _checks.check_aim(model, model._origin)
        plan = SourcePlan.of(memory, checkpoint, checkpoint_seconds)
        fitted, source = fit_source(model._task(), model._settings(), source, plan, verbose=model.verbose)
        with_fit(model, fitted, int(source.n_features), getattr(source, "feature_names", None))
        model._warn_of_gap()
        return self
