"""The exceptions and warnings of the library; each message states the value and the remedy."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence


class PegasosError(ValueError):
    """Input or a parameter cannot be used; the message states the value and what to do. It is a ``ValueError``.

    Examples
    --------
    >>> from pegasos import PegasosClassifier, PegasosError
    >>> try:
    ...     PegasosClassifier(lam=-1.0).fit([[0.0], [1.0]], [0, 1])
    ... except PegasosError as error:
    ...     print("lam" in str(error), isinstance(error, ValueError))
    True True
    """


class NotFiniteError(PegasosError):
    """A value of X that is NaN or infinite, located by row and column number."""

    def __init__(self, row: int, column: int, name: str | None = None):
        self.row, self.column = row, column
        where = f"column {column}" if name is None else f"column {name!r}"
        super().__init__(f"X contains NaN or infinity in row {row}, {where}; impute it, or drop the row.")

    def named(self, names: Sequence[str] | None) -> NotFiniteError:
        """The same with the name of the column."""
        return self if names is None else NotFiniteError(self.row, self.column, str(names[self.column]))


class PriorWarning(UserWarning):
    """The features of a prior and of X differ; the message states how many, and how they are treated.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from pegasos import PegasosClassifier, PriorWarning
    >>> old = pd.DataFrame({"age": [20.0, 60.0, 30.0, 70.0]})
    >>> new = old.assign(income=[1.0, 2.0, 2.0, 1.0])
    >>> prior = PegasosClassifier(lam=0.1, random_state=0).fit(old, [0, 1, 0, 1])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = PegasosClassifier(lam=0.1, prior=prior, random_state=0).fit(new, [0, 1, 0, 1])
    >>> any(each.category is PriorWarning for each in caught)
    True
    """


class NuWarning(UserWarning):
    """``nu`` is smaller than the data allows; the message states the smallest possible value.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from pegasos import NuWarning, PegasosOneClass
    >>> X = np.random.default_rng(0).normal(size=(100, 2))  # surrounds the origin: no plane separates it
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = PegasosOneClass(nu=0.1, random_state=0).fit(X)
    >>> any(each.category is NuWarning for each in caught)
    True
    """


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code, however deep in the library the cause was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("pegasos", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
