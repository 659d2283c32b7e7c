"""The exceptions and warnings of the library; each message states the value and the remedy."""

import sys
import warnings


class PegasosError(ValueError):
    """Input or a setting that cannot be used."""


class PriorWarning(UserWarning):
    """The features of a prior and of X differ; the message says how many, and what becomes of them."""


class NuWarning(UserWarning):
    """The rows do not allow a share of support vectors as small as nu; the message states the smallest."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code, however deep in the library the reason was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("pegasos", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
