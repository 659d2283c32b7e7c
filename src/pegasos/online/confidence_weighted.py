"""Learning with a confidence for each weight: N(w, S) with a diagonal S; what is well known moves little.

    w <- w + push sign S x,     1 / S_j <- 1 / S_j + gain x_j^2,     v = x' S x

    AROW    push = (1 - margin) / (v + r / cost),  gain = cost / r     when the margin is below 1
    CW      the least change (Kullback and Leibler) after which the row is right with the given probability

Crammer, Kulesza, Dredze: Adaptive regularization of weight vectors. Machine Learning 91, 2013. Dredze, Crammer,
Pereira: Confidence-weighted linear classification. ICML 2008; the step in closed form: Crammer, Dredze, Pereira: Exact
convex confidence-weighted learning. NIPS 2008. The diagonal is kept by adding to the diagonal of the inverse of S.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.online.base import WeighsClasses
from pegasos.online.linear import LinearOnlineClassifier
from pegasos.problem import Rows
from pegasos.solvers.online import ArowStep, ConfidenceWeightedStep, OnlineLearner, OnlineState


@dataclass(eq=False, repr=False, kw_only=True)
class ConfidenceWeighted(WeighsClasses, LinearOnlineClassifier):
    """Confidence-weighted classifier with a diagonal covariance: AROW and CW.

    Weights of rare features move far when the feature occurs, those of frequent ones hardly move: this suits text,
    where most words are rare. Several classes: one vector per class, against the rest.

    Parameters
    ----------
    method : {"arow", "cw"}, default="arow"
        "arow" tolerates noise; "cw" fits every sample exactly, and needs clean labels.
    r : float, default=1.0
        Parameter of "arow": a larger r means smaller steps and slower growth of confidence.
    confidence : float, default=0.9
        Parameter of "cw": the probability, above 0.5, with which each sample must be right after its step.
    class_weight : dict, "balanced" or None, default=None
        Factor on the loss of each class; in a stream "balanced" uses the samples seen so far.
    fit_intercept, max_iter, shuffle, random_state
        As in `Perceptron`.

    Attributes
    ----------
    variances_ : array of shape (1, n_features) or (n_classes, n_features)
        S, initially 1; small for weights that are well determined.
    coef_, intercept_, classes_, mistakes_, mistake_curve_, loss_curve_, n_steps_, n_iter_, n_features_in_
        As in `Perceptron`.

    Notes
    -----
    A ``sample_weight`` divides r for that sample: it multiplies both terms of AROW's objective that depend
    on the sample. "cw" has a constraint instead, and accepts only weights of 0 and 1.

    References
    ----------
    Crammer, Kulesza, Dredze: Adaptive regularization of weight vectors. Machine Learning 91, 2013. Crammer, Dredze,
    Pereira: Exact convex confidence-weighted learning. NIPS 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pegasos.online import ConfidenceWeighted
    >>> X, y = make_blobs(300, centers=2, random_state=0, cluster_std=0.6)
    >>> model = ConfidenceWeighted(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> bool((model.variances_ < 0.1).all())
    True
    """

    variances_: npt.NDArray[np.float64] = field(init=False)
    method: str = field(default="arow", kw_only=False)
    r: float = 1.0
    confidence: float = 0.9

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.check_word("method", self.method, ("arow", "cw"))
        check.check_positive("r", self.r)
        check.check_positive("confidence", self.confidence)
        if not 0.5 < self.confidence < 1.0:
            raise PegasosError(f"confidence must be between 0.5 and 1, got {self.confidence!r}.")

    def _why_costs_are_refused(self) -> str | None:
        if self.method != "cw":
            return None
        return "method='cw' does not support weights other than 0 and 1; use method='arow'."

    def _learner(self) -> OnlineLearner:
        if self.method == "cw":
            return OnlineLearner(ConfidenceWeightedStep(float(self.confidence)))
        return OnlineLearner(ArowStep(float(self.r)))

    def _model(self, state: OnlineState, rows: Rows) -> dict[str, Any]:
        assert state.variances is not None
        return super()._model(state, rows) | {"variances_": state.variances[:, :-1].copy()}
