"""What is wrong with a line of svmlight text, and what to do about it."""

from __future__ import annotations

import re
from typing import Any, Protocol

import numpy as np


class Searchable(Protocol):
    """Bytes, or a file in memory."""

    def __getitem__(self, where: slice, /) -> bytes: ...
    def __len__(self) -> int: ...
    def find(self, sub: bytes, start: int, /) -> int: ...  # noqa: D102


class TextError(Exception):
    """Text that cannot be read.

    Parameters
    ----------
    what : str
        The name of a `TextFault` of the core.
    place : int
        The byte where it is; of a repeated index the beginning of its line.
    index : int
        The index it is about, as the file writes it; negative for none.
    """

    def __init__(self, what: str, place: int, index: int) -> None:
        self.what, self.place, self.index = what, place, index

    def position(self, text: Searchable) -> int:
        """The byte to show: for a repeated index, its second occurrence."""
        if self.what != "repeated":
            return self.place
        line = self._until(text, rb"[\n#]", len(text))
        starts = [match.start() for match in re.finditer(rb"(?<!\S)0*%d:" % self.index, line)]
        return self.place + starts[1]

    def sentence(self, text: Searchable, dtype: np.dtype[Any]) -> str:
        """The error and the remedy."""
        token = ascii(self._until(text, rb"[\s#]", 40).decode("latin-1"))
        return _sentences[self.what].format(token=token, index=self.index, dtype=dtype)

    def _until(self, text: Searchable, stop: bytes, longest: int) -> bytes:
        """The bytes of the line from this position on."""
        end = text.find(b"\n", self.place)
        rest = text[self.place : min(end if end >= 0 else len(text), self.place + longest)]
        found = re.search(stop, rest)
        return rest[: found.start()] if found else rest


_sentences = {
    "label": "{token} is not a label; a line of svmlight text begins with a number.",
    "no_label": "the line begins with a feature, {token}, and has no label: write one before it, 0 if there is none.",
    "many_labels": "{token} contains several labels, and a row can have only one: make a file for each label first.",
    "query": "{token} is not a query number; write qid:1, or leave it out.",
    "entry": "{token} is not a feature; features are index:value, with blanks between them.",
    "index": "the index of {token} is larger than any that can be read, 18 digits.",
    "below_base": "index 0, though indices should begin with 1; give zero_based=True or 'auto'.",
    "beyond_features": "index {index} is larger than n_features allows; give a larger n_features, or none.",
    "repeated": "index {index} occurs twice in this row; write it once.",
    "value": "{token} is not a number, as the value of index {index}.",
    "not_finite": "{token} is not finite; impute it, drop the line, or read it with allow_nan=True.",
    "too_large": "{token} is too large for {dtype}; rescale it, or read it as a wider type.",
    "no_room": "the file has changed while it was read; read it again when it is complete.",
}
