"""The warnings of the estimators."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from pegasos.errors import NuWarning, PriorWarning

__all__ = ["ChangedRowsWarning", "GapWarning", "GridWarning", "NuWarning", "PriorWarning"]


class GapWarning(ConvergenceWarning):
    """A fit ended before its duality gap reached ``tol``; the message states the gap and what to do.

    A filter for scikit-learn's ``ConvergenceWarning`` applies to it too.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_digits
    >>> from pegasos import GapWarning, PegasosClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = PegasosClassifier(lam=1e-6, solver="pegasos", max_iter=1, random_state=0).fit(X, y == 8)
    >>> caught[0].category is GapWarning
    True
    """


class GridWarning(UserWarning):
    """The best parameter of a search lies at the end of what was tried."""


class ChangedRowsWarning(UserWarning):
    """The rows of a fit were changed after it, so that nothing more can be proved from them."""
