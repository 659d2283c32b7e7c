"""The warnings of the estimators."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from pegasos.errors import NuWarning, PriorWarning

__all__ = ["ChangedRowsWarning", "GapWarning", "GridWarning", "NuWarning", "PriorWarning"]


class GapWarning(ConvergenceWarning):
    """A fit ended before its duality gap reached ``tol``; the message states the gap and the remedy.

    A filter for scikit-learn's ``ConvergenceWarning`` applies to it too.
    """


class GridWarning(UserWarning):
    """The best parameter of a search lies at the end of what was tried."""


class ChangedRowsWarning(UserWarning):
    """The rows of a fit were changed after it, so that nothing more can be proved from them."""
