"""Where a model comes from that others have trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """The file or the estimator that the weights were read from; what a fit would have left of itself is not known."""

    words: str  # "a LIBLINEAR file (MCSVM_CS)"
    multi_class: str  # how its scores make a class

    def __str__(self) -> str:
        return self.words
