"""The warning of a fit that ended early."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


class GapWarning(ConvergenceWarning):
    """A fit ended before its duality gap reached ``tol``; the message says the gap and the remedy.

    Whoever filters scikit-learn's ``ConvergenceWarning`` filters this one too.
    """
