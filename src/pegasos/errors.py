"""The exceptions and warnings of the library; each message states the value and the remedy."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence


class PegasosError(ValueError):
    """Input or a setting that cannot be used."""


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
    """The features of a prior and of X differ; the message states how many, and how they are treated."""


class NuWarning(UserWarning):
    """The rows do not allow a fraction of support vectors as small as nu; the message states the smallest."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code, however deep in the library the cause was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("pegasos", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
