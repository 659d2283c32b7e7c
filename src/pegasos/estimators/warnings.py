"""The warnings of the estimators."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


class GapWarning(ConvergenceWarning):
    """A fit ended before its duality gap reached ``tol``; the message says the gap and the remedy.

    Whoever filters scikit-learn's ``ConvergenceWarning`` filters this one too.
    """


class PriorWarning(UserWarning):
    """The features of a prior and of X are not the same; the message says how many, and what becomes of them."""


class ChangedRowsWarning(UserWarning):
    """The rows of a fit were changed after it, so that nothing more can be proved from them."""
