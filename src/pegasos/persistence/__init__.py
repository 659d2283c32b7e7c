"""Model files: written atomically, read without trusting them."""

from pegasos.persistence import items  # noqa: F401  (its kinds of values are in the table once it is imported)
from pegasos.persistence.models import Fitted, Saved, load, save

__all__ = ["Fitted", "Saved", "load", "save"]
