"""Model files that are lines of words and numbers, read without trust and written atomically."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.files import atomically

_whole = re.compile(r"[+-]?[0-9]{1,18}")
_LONGEST_SHOWN = 40  # characters of what was found
_LARGEST_LABEL = 2**31 - 1  # what the readers of these files hold

Path = str | os.PathLike[str]
Header = dict[str, tuple[int, list[str]]]


def read_bytes(path: Path) -> bytes:
    """Read the file; failures other than FileNotFoundError raise an error that names the file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PegasosError(f"{os.fspath(path)} could not be read: {error.strerror or error}.") from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    try:
        with atomically(path) as file:
            file.write(content)
    except OSError as error:
        raise PegasosError(f"{os.fspath(path)} could not be written: {error.strerror or error}.") from error


def exactly(number: float) -> str:
    """The shortest text that is read back as the same number."""
    return repr(float(number)).removesuffix(".0")


@dataclass(frozen=True)
class ModelText:
    """The lines of a file; numbered from 1 in what is said about them."""

    name: str
    lines: list[str]

    @classmethod
    def read(cls, path: Path) -> ModelText:
        """Plain ASCII, whatever ends its lines."""
        content = read_bytes(path)
        name = os.fspath(path)
        try:
            return cls(name, content.decode("ascii").replace("\r\n", "\n").split("\n"))
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise PegasosError(f"{name}, line {line}: byte {content[error.start]:#x} is not ASCII text.") from error

    def fault(self, line: int, why: str) -> PegasosError:
        """The error that says what is wrong and where."""
        return PegasosError(f"{self.name}, line {line}: {why}.")

    def header(self, end: str, keys: frozenset[str]) -> tuple[Header, int]:
        """The words after each key, with the number of the line; and the number of the line that ends the header."""
        found: Header = {}
        for number, line in enumerate(self.lines, 1):
            words = line.split()
            if words == [end]:
                return found, number
            if not words and number == len(self.lines):
                break
            if not words or words[0] not in keys:
                raise self.fault(number, f"expected a key of a model file, got {shown(line)}")
            if words[0] in found:
                raise self.fault(number, f"{words[0]} has been said already in line {found[words[0]][0]}")
            found[words[0]] = number, words[1:]
        raise self.fault(len(self.lines), f"the file ends before {end!r}")

    def words(self, header: Header, key: str, n: int, end: int) -> tuple[int, list[str]]:
        """Exactly n words after a key that must be there."""
        if key not in header:
            raise self.fault(end, f"the header ends without {key}")
        line, words = header[key]
        if len(words) != n:
            raise self.fault(line, f"expected {n} value(s) after {key}, got {len(words)}")
        return line, words

    def whole_numbers(self, line: int, words: list[str]) -> list[int]:
        """The words as integers that 32 bits hold."""
        for word in words:
            if not _whole.fullmatch(word) or abs(int(word)) > _LARGEST_LABEL:
                raise self.fault(line, f"expected a whole number of 32 bits, got {shown(word)}")
        return [int(word) for word in words]

    def count(self, header: Header, key: str, least: int, end: int) -> int:
        """The one whole number after a key."""
        line, words = self.words(header, key, 1, end)
        (number,) = self.whole_numbers(line, words)
        if number < least:
            raise self.fault(line, f"{key} must be at least {least}, got {number}")
        return number

    def number(self, header: Header, key: str, end: int) -> float:
        """The one number after a key."""
        line, words = self.words(header, key, 1, end)
        return self.numbers(line, words)[0]

    def numbers(self, line: int, words: list[str]) -> list[float]:
        """The words as finite numbers."""
        try:
            found = [float(word) for word in words]
        except ValueError:
            found = [math.nan]
        # Python's own notation allows underscores.
        if not all(map(math.isfinite, found)) or any("_" in word for word in words):
            raise self.fault(line, f"expected finite numbers, got {shown(_first_bad(words))}")
        return found

    def labels(self, header: Header, n_classes: int, end: int) -> list[int]:
        """The classes, which are whole numbers, each of them once."""
        line, words = self.words(header, "label", n_classes, end)
        labels = self.whole_numbers(line, words)
        if len(set(labels)) < len(labels):
            raise self.fault(line, f"a label is there twice: {shown(' '.join(words))}")
        return labels

    def check_end(self, last: int) -> None:
        """Nothing but blank lines may follow."""
        for number, line in enumerate(self.lines[last:], last + 1):
            if line.strip():
                raise self.fault(number, f"the model has ended, got {shown(line)}")


def shown(text: str) -> str:
    """What was found, no more than can be read."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "...")


def _first_bad(words: list[str]) -> str:
    for word in words:
        try:
            if not math.isfinite(float(word)) or "_" in word:
                return word
        except ValueError:
            return word
    return ""


def whole_labels(classes: npt.NDArray[Any], what: str) -> list[int]:
    """The classes as the whole numbers that the format has for labels."""
    values = classes.tolist()
    is_whole = [
        isinstance(value, int | float) and float(value).is_integer() and abs(value) <= _LARGEST_LABEL
        for value in values
    ]
    if not all(is_whole):
        raise PegasosError(
            f"labels of {what} are whole numbers of 32 bits, got {values[is_whole.index(False)]!r}; encode y first, "
            "with scikit-learn's LabelEncoder say."
        )
    return [int(value) for value in values]


def in_order(labels: list[int]) -> npt.NDArray[np.intp]:
    """The places of the labels from the smallest to the largest."""
    return np.argsort(np.array(labels, np.int64), kind="stable")
