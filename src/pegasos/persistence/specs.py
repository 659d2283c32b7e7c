"""What a value in a model file may be: each spec writes a value to JSON and arrays, and reads and checks it.

Lengths have names. The first array with a named length defines it, and every other one must agree, so the shapes of a
model are consistent or the file is rejected. The spec, never the file, chooses which objects are created.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError

_LARGEST_COUNT = 2**53
_FREE_BYTES = 1 << 24  # bytes that may be created from arrays repeatedly
_TRANSPOSED = ".T"

Dimension = str | int | None  # a name, a name and "+1", a number; None: any length


class Writer:
    """The arrays of a file being written, each stored once."""

    def __init__(self, *, dual: bool = True) -> None:
        self.dual = dual  # whether dual points are stored
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self._names: dict[int, str] = {}
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # keeps objects alive, so that no id is reused

    def number_of(self, value: Any) -> int | None:
        """The number of an object that was stored before."""
        return self._numbers.get(id(value))

    def remember(self, value: Any) -> None:
        """Give an object the next number."""
        self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)

    def array(self, name: str, value: npt.NDArray[Any]) -> str:
        """Store an array under a name like this one; return the name it got."""
        if id(value) not in self._names:
            base = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "array"
            base = base if base[0].isalpha() else f"a{base}"
            stored = base if base not in self.arrays else f"{base}_{len(self.arrays)}"
            is_transposed = value.flags.f_contiguous and not value.flags.c_contiguous
            self.arrays[stored] = value.T if is_transposed else value
            self._names[id(value)] = stored + _TRANSPOSED * is_transposed
            self._kept.append(value)
        return self._names[id(value)]


class Reader:
    """The arrays of a file, the lengths defined so far, and values read so far that may be shared."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.lengths: dict[str, int] = {}
        self.seen: list[Any] = []  # indexed by the numbers that the writer assigned
        self._arrays = {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}
        self._bytes_left = _FREE_BYTES + 4 * sum(array.nbytes for array in arrays.values())

    def array(self, stored: Any, what: str) -> npt.NDArray[Any]:
        """The array of this name."""
        name = stored.removesuffix(_TRANSPOSED) if isinstance(stored, str) else stored
        require(isinstance(name, str) and name in self._arrays, what, "an array")
        return self._arrays[name] if name == stored else self._arrays[name].T

    def spend(self, what: str, n_bytes: int) -> None:
        """Count the bytes of repeated arrays: referenced often enough, a short one would fill any memory."""
        self._bytes_left -= n_bytes
        require(self._bytes_left >= 0, what, "made of as much as the file holds")

    def agree(self, what: str, dimension: Dimension, length: int) -> None:
        """Define a length, or compare it with its definition."""
        if dimension is None:
            return
        expected: int | None
        if isinstance(dimension, str):
            name, _, more = dimension.partition("+")
            own = length - int(more or 0)
            expected = self.lengths.setdefault(name, own) if own >= 0 else None
            fits = own == expected
        else:
            fits = length == dimension
        if not fits:
            raise PegasosError(f"{what} has a length of {length}, which does not fit the rest ({dimension})")

    @contextmanager
    def scope(self, *own: str, new: bool = False) -> Any:
        """Context in which these lengths, or all of them, are undefined."""
        before = self.lengths
        self.lengths = {} if new else {name: length for name, length in before.items() if name not in own}
        try:
            yield
        finally:
            inner, self.lengths = self.lengths, before
            if not new:
                self.lengths.update({name: length for name, length in inner.items() if name not in own})


def require(holds: bool, what: str, expected: str) -> None:
    """Raise an error for an unexpected value."""
    if not holds:
        raise PegasosError(f"{what} is not {expected}")


class Spec(Protocol):
    """How one value is stored."""

    def pack(self, value: Any, what: str, out: Writer) -> Any:
        """Return its JSON; its arrays go to the writer."""

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """Return the value; raise PegasosError if it is not of this kind."""


@dataclass(frozen=True)
class Number:
    """A number."""

    least: float = -math.inf
    is_finite: bool = True
    is_number: bool = True  # and not NaN

    def pack(self, value: Any, what: str, out: Writer) -> float:
        """As it is."""
        return float(value)

    def unpack(self, stored: Any, what: str, source: Reader) -> float:
        """Within its range."""
        require(isinstance(stored, int | float) and not isinstance(stored, bool), what, "a number")
        value = float(stored)
        if math.isnan(value) and not self.is_number:
            return value
        require(value >= self.least and (math.isfinite(value) or not self.is_finite), what, "within its range")
        return value


@dataclass(frozen=True)
class Count:
    """A whole number."""

    least: int = 0
    most: int = _LARGEST_COUNT
    dimension: str | None = None  # the length that it is

    def pack(self, value: Any, what: str, out: Writer) -> int:
        """As it is."""
        return int(value)

    def unpack(self, stored: Any, what: str, source: Reader) -> int:
        """Within its range."""
        require(isinstance(stored, int) and not isinstance(stored, bool), what, "a whole number")
        require(self.least <= stored <= self.most, what, f"between {self.least} and {self.most}")
        source.agree(what, self.dimension, stored)
        return int(stored)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def pack(self, value: Any, what: str, out: Writer) -> bool:
        """As it is."""
        return bool(value)

    def unpack(self, stored: Any, what: str, source: Reader) -> bool:
        """One of the two."""
        require(isinstance(stored, bool), what, "True or False")
        return bool(stored)


@dataclass(frozen=True)
class Text:
    """A text, one of some words if there are any."""

    words: tuple[str, ...] = ()

    def pack(self, value: Any, what: str, out: Writer) -> str:
        """As it is."""
        return str(value)

    def unpack(self, stored: Any, what: str, source: Reader) -> str:
        """A word, or any text."""
        require(isinstance(stored, str) and (not self.words or stored in self.words), what, "a word that is known")
        return str(stored)


class Array:
    """An array of one of some types, with these lengths; floats must be finite."""

    def __init__(self, dtypes: str, *dimensions: Dimension, below: str | None = None, is_finite: bool = True):
        self.dtypes = tuple(np.dtype(word) for word in dtypes.split())
        self.dimensions, self.below, self.is_finite = dimensions, below, is_finite

    def pack(self, value: Any, what: str, out: Writer) -> str:
        """Its name."""
        return out.array(what, value)

    def unpack(self, stored: Any, what: str, source: Reader) -> npt.NDArray[Any]:
        """Read an array of the right type and shape; indices must be below a known length."""
        array = source.array(stored, what)
        require(array.dtype in self.dtypes and array.ndim == len(self.dimensions), what, "an array of its type")
        for dimension, length in zip(self.dimensions, array.shape, strict=True):
            source.agree(what, dimension, length)
        if array.dtype.kind == "f" and self.is_finite:
            require(bool(np.isfinite(array).all()), what, "finite")
        if self.below is not None and array.size:
            within = array.min() >= 0 and array.max() < source.lengths.get(self.below, 0)
            require(bool(within), what, f"a list of numbers below {self.below}")
        return array


@dataclass(frozen=True)
class Names:
    """An array of texts, as objects."""

    dimension: Dimension = None

    def pack(self, value: Any, what: str, out: Writer) -> list[str]:
        """A list."""
        return [str(name) for name in value]

    def unpack(self, stored: Any, what: str, source: Reader) -> npt.NDArray[Any]:
        """All texts."""
        require(isinstance(stored, list) and all(isinstance(name, str) for name in stored), what, "a list of names")
        source.agree(what, self.dimension, len(stored))
        return np.array(stored, dtype=object)


@dataclass(frozen=True)
class Optional:
    """Something, or None."""

    spec: Spec

    def pack(self, value: Any, what: str, out: Writer) -> Any:
        """Null for None."""
        return None if value is None else self.spec.pack(value, what, out)

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """None for null."""
        return None if stored is None else self.spec.unpack(stored, what, source)


@dataclass(frozen=True)
class Either:
    """One of several kinds, told apart by the Python type of the value."""

    kinds: Mapping[type, Spec]

    def pack(self, value: Any, what: str, out: Writer) -> Any:
        """With the number of its kind."""
        for number, (kind, spec) in enumerate(self.kinds.items()):
            if isinstance(value, kind):
                return [number, spec.pack(value, what, out)]
        raise PegasosError(f"{what} is a {type(value).__name__}, which a model file cannot hold")

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """Read a value by the spec with the stored number."""
        require(isinstance(stored, list) and len(stored) == 2, what, "a kind and a value")
        number, value = stored
        require(isinstance(number, int) and 0 <= number < len(self.kinds), what, "of a kind that is known")
        return list(self.kinds.values())[number].unpack(value, what, source)


@dataclass(frozen=True)
class Many:
    """Several of one kind, as a list or a tuple."""

    spec: Spec
    dimension: Dimension = None
    kind: Callable[[Any], Any] = list

    def pack(self, value: Any, what: str, out: Writer) -> list[Any]:
        """Each."""
        return [self.spec.pack(each, f"{what}_{number}", out) for number, each in enumerate(value)]

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """Each."""
        require(isinstance(stored, list), what, "a list")
        source.agree(what, self.dimension, len(stored))
        return self.kind(self.spec.unpack(each, f"{what}_{number}", source) for number, each in enumerate(stored))


@dataclass(frozen=True)
class Row:
    """A tuple of values, each of its own kind."""

    specs: tuple[Spec, ...]
    make: Callable[[Any], Any] = tuple

    def pack(self, value: Any, what: str, out: Writer) -> list[Any]:
        """Each."""
        return [spec.pack(each, what, out) for spec, each in zip(self.specs, value, strict=True)]

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """As many as there must be."""
        require(isinstance(stored, list) and len(stored) == len(self.specs), what, "a row of its length")
        return self.make(spec.unpack(each, what, source) for spec, each in zip(self.specs, stored, strict=True))


def _holds(value: Any, lengths: Mapping[str, int]) -> None:
    """Nothing more to check."""


@dataclass(frozen=True)
class Record:
    """An object of one class, by its fields.

    ``own`` are lengths that each record has for itself; ``check`` raises PegasosError when fields do not fit together.
    ``added`` are fields that the first files did not have: the class has a default for them.
    """

    make: Callable[..., Any]
    fields: Mapping[str, Spec]
    own: tuple[str, ...] = ()
    added: frozenset[str] = frozenset()
    check: Callable[[Any, Mapping[str, int]], None] = field(default=_holds)

    def pack(self, value: Any, what: str, out: Writer) -> dict[str, Any]:
        """Each field."""
        return {name: spec.pack(getattr(value, name), f"{what}_{name}", out) for name, spec in self.fields.items()}

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """Made of its fields."""
        is_whole = isinstance(stored, dict) and stored.keys() | self.added == self.fields.keys()
        require(is_whole, what, "a record of its kind")
        fields = {name: spec for name, spec in self.fields.items() if name in stored}
        with source.scope(*self.own):
            parts = {name: spec.unpack(stored[name], f"{what}_{name}", source) for name, spec in fields.items()}
            made = self.make(**parts)
            self.check(made, source.lengths)
        return made
