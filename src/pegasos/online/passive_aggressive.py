"""Passive-aggressive learning: passive while the margin is 1, aggressive when it is not.

    w <- argmin_w 1/2 |w - w_t|^2 + C cost xi      with margin 1 - xi,  so   w <- w + tau sign x

    PA      tau = loss / |x|^2                        no xi: whatever it takes
    PA-I    tau = min(C cost, loss / |x|^2)
    PA-II   tau = loss / (|x|^2 + 1 / (2 C cost))     xi squared

Crammer, Dekel, Keshet, Shalev-Shwartz, Singer: Online passive-aggressive algorithms. JMLR 7, 2006, Fig. 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pegasos import checks as check
from pegasos.online.base import WeighsClasses
from pegasos.online.linear import LinearOnlineClassifier
from pegasos.solvers.online import OnlineLearner, PassiveAggressiveStep


@dataclass(eq=False, repr=False, kw_only=True)
class PassiveAggressive(WeighsClasses, LinearOnlineClassifier):
    """Passive-aggressive classifier: PA, PA-I and PA-II.

    Each step is the smallest change of the weights that gives the sample a margin of 1, or as much of it as ``C``
    allows. Several classes: one vector per class, against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness: the cost of a loss relative to a change of the weights. Use a small value for noisy data. "pa"
        has none.
    variant : {"pa", "pa-1", "pa-2"}, default="pa-1"
        "pa" removes every loss completely, "pa-1" takes steps of at most C, "pa-2" penalizes the squared loss.
    average : bool, default=False
        Return the mean of the vectors after each sample, not the last.
    class_weight : dict, "balanced" or None, default=None
        Factor on the loss of each class; in a stream "balanced" uses the samples seen so far.
    fit_intercept, max_iter, shuffle, random_state
        As in `Perceptron`.

    Attributes
    ----------
    coef_, intercept_, classes_, mistakes_, mistake_curve_, loss_curve_, n_steps_, n_iter_, n_features_in_
        As in `Perceptron`.

    Notes
    -----
    A ``sample_weight`` multiplies C for that sample, as the paper's objective suggests; so does
    ``class_weight``. "pa" has no C, and accepts only weights of 0 and 1.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer: Online passive-aggressive algorithms. JMLR 7, 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pegasos.online import PassiveAggressive
    >>> X, y = make_blobs(300, centers=3, random_state=1, cluster_std=0.6)
    >>> PassiveAggressive(C=0.1, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    C: float = field(default=1.0, kw_only=False)
    variant: str = "pa-1"
    average: bool = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.check_positive("C", self.C)
        check.check_word("variant", self.variant, ("pa", "pa-1", "pa-2"))
        check.check_flag("average", self.average)

    def _why_costs_are_refused(self) -> str | None:
        if self.variant != "pa":
            return None
        return "variant='pa' does not support weights other than 0 and 1; use variant='pa-1' or 'pa-2'."

    def _learner(self) -> OnlineLearner:
        variant: Any = self.variant
        return OnlineLearner(PassiveAggressiveStep(variant, float(self.C)), "averaged" if self.average else "last")
