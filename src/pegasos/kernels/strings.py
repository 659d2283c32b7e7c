"""Kernels of strings: common substrings, substrings up to mismatches, subsequences with gaps, letters in their places.

A collection of strings is a list, tuple, one-dimensional array or series of ``str`` or ``bytes``, or an array of whole
numbers whose rows are strings of letter codes. A byte, or a code, is the letter of that number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, product
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.kernels.base import (
    Items,
    Kernel,
    Objects,
    TokenKernel,
    check_count,
    check_positive,
    in_time,
    n_threads,
    objects_of,
)
from pegasos.kernels.sequences import Sequences
from pegasos.problem import Floats

_MOST_NEIGHBOURS = 1_000_000


def strings_of(items: Any) -> list[str]:
    """The strings of a collection; what is none raises an error."""
    given: list[Any]
    if isinstance(items, np.ndarray) and items.ndim != 1:
        given = list(_rows_of_codes(items))
    elif len(getattr(items, "shape", ())) > 1:
        raise PegasosError(f"expected a list of strings, got a {type(items).__name__} of columns; pass one of them.")
    else:
        given = objects_of(items, "strings")
    return [_string_of(number, item) for number, item in enumerate(given)]


def _rows_of_codes(codes: npt.NDArray[Any]) -> list[bytes]:
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise PegasosError(
            f"an array of strings must have one dimension, or two and letter codes that are whole numbers; "
            f"got shape {codes.shape} of {codes.dtype}."
        )
    outside = np.flatnonzero(((codes < 0) | (codes > 255)).any(axis=1))
    if outside.size:
        raise PegasosError(
            f"string {outside[0]} has a letter code outside 0, ..., 255; encode the letters, or pass text."
        )
    return [row.tobytes() for row in codes.astype(np.uint8)]


def _string_of(number: int, item: Any) -> str:
    if not isinstance(item, str | bytes):
        raise PegasosError(
            f"string {number} is a {type(item).__name__}, {_short(item)}; a kernel of strings takes str or bytes, "
            f"or a two-dimensional array of letter codes."
        )
    if len(item) == 0:
        raise PegasosError(f"string {number} is empty; leave it out.")
    return item.decode("latin-1") if isinstance(item, bytes) else item


def _short(item: Any) -> str:
    text = " ".join(repr(item).split())
    return text if len(text) <= 40 else text[:37] + "..."


def _codes_of(strings: list[str]) -> npt.NDArray[np.uint32]:
    """The code points of all letters, end to end."""
    return np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)


def _kmers(text: str, k: int) -> list[str]:
    return [text[i : i + k] for i in range(len(text) - k + 1)]


@dataclass
class Spectrum(TokenKernel):
    """The number of common substrings of k letters, each pair of places counted.

    k(s, t) = sum over all words u of k letters of count_u(s) count_u(t), from Leslie, Eskin and Noble (2002), "The
    spectrum kernel: a string kernel for SVM protein classification". A string of fewer than k letters has no such
    word, and kernel 0 with everything.

    Parameters
    ----------
    k : int
        Length of the substrings.
    count : {"all", "distinct"}, default="all"
        "distinct" counts a word once, however often it occurs: k(s, t) is then the number of words that both strings
        contain.

    Examples
    --------
    >>> from pegasos.kernels.strings import Spectrum
    >>> Spectrum(2).block(["banana", "ananas"], ["banana", "band"])
    array([[9., 3.],
           [8., 2.]])
    >>> Spectrum(2, count="distinct").block(["banana", "ananas"], ["banana", "band"])
    array([[3., 2.],
           [2., 1.]])
    """

    k: int
    count: str = "all"

    def check(self) -> None:
        """Require a positive k and a known word for count."""
        check_count(self, k=self.k)
        if self.count not in ("all", "distinct"):
            raise PegasosError(f"count of Spectrum must be 'all' or 'distinct', got {self.count!r}.")

    def read(self, items: Any) -> Objects:
        """The words of each string."""
        return Objects([self.tokens(text) for text in in_time(strings_of(items))])

    def tokens(self, item: str) -> Mapping[Hashable, float]:
        """How often each word of k letters occurs; with count="distinct", 1 for each."""
        words = _kmers(item, self.k)
        return Counter(words) if self.count == "all" else dict.fromkeys(words, 1.0)


@dataclass
class Mismatch(TokenKernel):
    r"""The number of common substrings of k letters, up to m letters that differ.

    Each substring of k letters counts once for every word of the alphabet that differs from it in at most m places,
    itself included; k(s, t) is the inner product of those counts. From Leslie, Eskin, Cohen, Weston and Noble (2004),
    "Mismatch string kernels for discriminative protein classification". The number of words near two substrings
    depends on the size of the alphabet, so it is a parameter of the kernel.

    Parameters
    ----------
    k : int
        Length of the substrings.
    m : int, default=1
        Number of letters that may differ, less than k.
    alphabet : str, default="ACGT"
        Every letter that can occur, once. For arrays of letter codes, the letters of those numbers: ``"\0\1\2\3"``.

    Examples
    --------
    >>> from pegasos.kernels.strings import Mismatch
    >>> Mismatch(k=3, m=1).block(["ACGT"], ["ACGT", "ACCT", "TTTT"])
    array([[20., 10.,  4.]])
    """

    k: int
    m: int = 1
    alphabet: str = "ACGT"

    def check(self) -> None:
        """Refuse an alphabet with repeated letters, and neighborhoods that no memory holds."""
        check_count(self, k=self.k)
        check_count(self, least=0, m=self.m)
        if self.m >= self.k:
            raise PegasosError(f"m of Mismatch must be less than k, got m={self.m} and k={self.k}.")
        if not isinstance(self.alphabet, str) or not self.alphabet or len(set(self.alphabet)) < len(self.alphabet):
            raise PegasosError(f"alphabet of Mismatch must be a str with each letter once, got {self.alphabet!r}.")
        n_neighbours = sum(comb(self.k, i) * (len(self.alphabet) - 1) ** i for i in range(self.m + 1))
        if n_neighbours > _MOST_NEIGHBOURS:
            raise PegasosError(
                f"each substring has {n_neighbours} words within {self.m} mismatches, more than {_MOST_NEIGHBOURS}; "
                f"use a smaller m or k."
            )

    def read(self, items: Any) -> Objects:
        """The words within m letters of the substrings of each string."""
        strings = strings_of(items)
        known = set(self.alphabet)
        for number, text in enumerate(strings):
            if not known.issuperset(text):
                letter = next(letter for letter in text if letter not in known)
                raise PegasosError(
                    f"string {number} has the letter {letter!r}, which is not in the alphabet {self.alphabet!r}; "
                    f"pass an alphabet with every letter that can occur."
                )
        # The strings of a collection share most of their substrings: each neighborhood is listed once.
        neighbours = cache(self._neighbours)
        return Objects([self._count(text, neighbours) for text in strings])

    def tokens(self, item: str) -> Mapping[Hashable, float]:
        """How many substrings are within m letters of each word."""
        return self._count(item, self._neighbours)

    def _count(self, text: str, neighbours: Callable[[str], Iterable[str]]) -> Mapping[Hashable, float]:
        return Counter(chain.from_iterable(map(neighbours, in_time(_kmers(text, self.k)))))

    def _neighbours(self, word: str) -> list[str]:
        """The words of the alphabet within m mismatches."""
        others = {letter: self.alphabet.replace(letter, "") for letter in set(word)}
        found = []
        for n_changes in range(self.m + 1):
            for places in combinations(range(self.k), n_changes):
                letters = list(word)
                for changes in product(*(others[word[place]] for place in places)):
                    for place, letter in zip(places, changes, strict=True):
                        letters[place] = letter
                    found.append("".join(letters))
        return found


@dataclass
class Subsequence(Kernel):
    """Common subsequences of k letters; gaps are allowed and reduce the weight.

    k(s, t) = sum over all words u of k letters, over all the places i in s and j in t at which u is read in order, of
    decay^(span(i) + span(j)), where span is the number of letters from the first place to the last. From Lodhi,
    Saunders, Shawe-Taylor, Cristianini and Watkins (2002), "Text classification using string kernels", in O(k |s| |t|).
    A string of fewer than k letters has kernel 0 with everything. Long strings have far larger values than short ones:
    usually you want ``Subsequence(k).normalized()``.

    Parameters
    ----------
    k : int
        Number of letters of the subsequences.
    decay : float, default=0.5
        The factor of each letter spanned, in (0, 1]; 1 counts subsequences whatever their gaps.

    Examples
    --------
    >>> from pegasos.kernels.strings import Subsequence
    >>> Subsequence(k=2, decay=0.5).block(["cat"], ["car", "cat"])  # "ca": 0.5^4; "ct": 0.5^6; "at": 0.5^4
    array([[0.0625  , 0.140625]])
    """

    k: int
    decay: float = 0.5

    def check(self) -> None:
        """Require a decay in (0, 1] for which the weight of k letters does not underflow."""
        check_count(self, k=self.k)
        check_positive(self, decay=self.decay)
        if self.decay > 1:
            raise PegasosError(f"decay of Subsequence must be at most 1, got {self.decay!r}.")
        if float(self.decay) ** (2 * self.k) < np.finfo(np.float64).tiny:
            raise PegasosError(
                f"decay ** (2 k) of Subsequence is too small for a number of 64 bits with decay={self.decay!r} and "
                f"k={self.k}; use a larger decay or a smaller k."
            )

    def read(self, items: Any) -> Sequences:
        """The code points of the letters."""
        strings = strings_of(items)
        return Sequences.of(_codes_of(strings).astype(np.float64)[:, None], [len(text) for text in strings])

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The kernel of each pair."""
        return self._fill(a, b, np.empty((len(a), len(b))))

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The kernel of each string with itself."""
        return self._fill(a, a, np.empty(len(a)))

    def _fill(self, a: Items, b: Items, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        assert isinstance(a, Sequences)
        assert isinstance(b, Sequences)
        if self.k > min(a.lengths.max(initial=0), b.lengths.max(initial=0)):  # no string has so many letters
            values[...] = 0.0
            return values
        _core.subsequences(a.native, b.native, self.k, self.decay, values, n_threads())
        if not np.isfinite(values).all():
            raise PegasosError(f"{self} of these strings exceeds every number of 64 bits; use a smaller decay or k.")
        return values


@dataclass(frozen=True, eq=False)
class Places:
    """Strings of one length, a bit of every letter in each plane."""

    planes: npt.NDArray[np.uint64]  # string, bit of the letter, 64 places
    length: int

    def __len__(self) -> int:
        return len(self.planes)

    def take(self, indices: npt.NDArray[Any]) -> Places:
        """The strings of these numbers."""
        return Places(self.planes[indices], self.length)

    def with_planes(self, n_planes: int) -> npt.NDArray[np.uint64]:
        """The planes, and as many empty ones as are missing."""
        missing = n_planes - self.planes.shape[1]
        return np.pad(self.planes, ((0, 0), (0, missing), (0, 0))) if missing else self.planes


@dataclass
class WeightedDegree(Kernel):
    """Common substrings at the same positions, for strings of equal length.

    k(s, t) = sum over l = 1, ..., degree of beta_l times the number of places p with s[p:p+l] = t[p:p+l], where beta_l
    = 2 (degree - l + 1) / (degree (degree + 1)). From Rätsch and Sonnenburg (2004), "Accurate splice site detection for
    Caenorhabditis elegans": it suits sites in a genome, and other signals at fixed positions.

    Parameters
    ----------
    degree : int
        Length of the longest common substring that counts as a whole; longer ones count by their parts.

    Examples
    --------
    >>> from pegasos.kernels.strings import WeightedDegree
    >>> WeightedDegree(degree=2).block(["ACGT"], ["ACGT", "ACCT", "TGCA"]).round(3)
    array([[3.667, 2.333, 0.   ]])
    """

    degree: int

    def check(self) -> None:
        """Require a positive whole degree."""
        check_count(self, degree=self.degree)

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """beta_1, ..., beta_degree."""
        lengths = np.arange(1, self.degree + 1)
        return 2.0 * (self.degree - lengths + 1) / (self.degree * (self.degree + 1))

    def read(self, items: Any) -> Places:
        """The letters as bits."""
        strings = strings_of(items)
        length = len(strings[0]) if strings else 0
        for number, text in enumerate(strings):
            if len(text) != length:
                raise PegasosError(
                    f"string {number} has {len(text)} letters and string 0 has {length}; WeightedDegree compares "
                    f"strings of one length: cut them to it, or use Spectrum or Subsequence."
                )
        codes = _codes_of(strings).reshape(len(strings), length)
        n_planes = max(1, int(codes.max(initial=0)).bit_length())
        words = np.zeros((len(strings), n_planes, -(-length // 64) * 8), dtype=np.uint8)
        for bit in range(n_planes):
            packed = np.packbits((codes >> bit & 1).astype(np.uint8), axis=1, bitorder="little")
            words[:, bit, : packed.shape[1]] = packed
        return Places(words.view("<u8").astype(np.uint64), length)

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The kernel of each pair."""
        assert isinstance(a, Places)
        assert isinstance(b, Places)
        values = np.empty((len(a), len(b)))
        if not values.size:
            return values
        if a.length != b.length:
            raise PegasosError(
                f"WeightedDegree compares strings of one length, got {a.length} and {b.length} letters; cut them to it."
            )
        n_planes = max(a.planes.shape[1], b.planes.shape[1])
        mine, theirs = a.with_planes(n_planes), b.with_planes(n_planes)
        _core.weighted_degrees(mine, theirs, a.length, self.weights, values, n_threads())
        return values

    def evaluate_diagonal(self, a: Items) -> npt.NDArray[np.float64]:
        """The diagonal: the same for all strings, because every position agrees."""
        assert isinstance(a, Places)
        n_places = np.maximum(a.length - np.arange(self.degree), 0)
        return np.full(len(a), float(self.weights @ n_places))
