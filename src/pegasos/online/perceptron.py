"""The perceptron: on a mistake, add the row.

    if sign <w, x> <= 0:   w <- w + cost sign x

Rosenblatt: The perceptron: a probabilistic model for information storage and organization in the brain. Psychological
Review 65, 1958. If some w of length 1 gives every row a margin of at least g and no row is longer than R, it makes at
most (R / g)^2 mistakes, whatever the order (Novikoff 1962). Averaged and voted: Freund, Schapire: Large margin
classification using the perceptron algorithm. Machine Learning 37, 1999.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import checks as check
from pegasos.estimators.inputs import read_rows
from pegasos.online.linear import LinearOnlineClassifier
from pegasos.solvers.online import OnlineLearner, PerceptronStep


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(LinearOnlineClassifier):
    """Perceptron, with the last, the averaged or the voted vector.

    ``if sign <w, x> <= 0: w <- w + cost sign x``. Several classes: one vector per class, against the rest.

    Parameters
    ----------
    prediction : {"last", "averaged", "voted"}, default="averaged"
        Predict by the last vector, by the mean of the vectors after each sample, or by a vote of all vectors, each
        with as many votes as the samples it survived. Voting stores the samples of the mistakes, sparse if X is.
    max_votes : int, default=5000
        Maximum number of voting vectors per class; beyond it the oldest are dropped, which bounds the memory.
    fit_intercept : bool, default=True
        The intercept is the weight of a constant column of ones.
    max_iter : int, default=5
        Maximum number of passes of `fit`; a pass without a mistake is the last.
    shuffle : bool, default=True
        Whether `fit` visits the rows in a new order in each pass; `partial_fit` uses the given order.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The mean vector for "averaged", otherwise the last one.
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    mistakes_ : int
        Samples that were wrong or undecided before they were learned from.
    mistake_curve_ : int array of shape (n_points, 2)
        Samples visited and mistakes so far; points 5 % apart, so a few hundred for any stream.
    loss_curve_ : array of shape (n_points, 2)
        Samples visited and the sum of ``cost max(0, 1 - sign score)`` so far, over all classes.
    n_steps_ : int
        Rows visited.
    n_iter_ : int
        Passes of the last `fit`.
    n_features_in_ : int
    feature_names_in_ : array of str, when X has names

    Notes
    -----
    A ``sample_weight`` is the length of the sample's step: a weight of 2 moves the vector twice as far, which is not
    equivalent to repeating the sample, since after the first step it may be right. There is no ``class_weight``: longer
    steps do not favor a class, since the perceptron stops at the first vector without mistakes.

    References
    ----------
    Rosenblatt: The perceptron. Psychological Review 65, 1958. Freund, Schapire: Large margin classification using the
    perceptron algorithm. Machine Learning 37, 1999.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pegasos.online import Perceptron
    >>> X, y = make_blobs(300, centers=2, random_state=0, cluster_std=0.6)
    >>> model = Perceptron(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.mistake_curve_[-1].tolist() == [model.n_steps_, model.mistakes_]
    True
    """

    prediction: str = field(default="averaged", kw_only=False)
    max_votes: int = 5000

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.check_word("prediction", self.prediction, ("last", "averaged", "voted"))
        check.check_count("max_votes", self.max_votes)

    def _learner(self) -> OnlineLearner:
        keep: Any = self.prediction
        return OnlineLearner(PerceptronStep(), keep, self.max_votes)

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        if not self._state.votes:
            return super()._scores(X)
        rows = read_rows(self, X, self._bias)
        return np.column_stack([votes.scores(rows.values, rows.bias) for votes in self._state.votes])
