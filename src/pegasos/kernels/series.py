"""Kernels of time series of unequal length: global alignment, spectra, and dynamic time warping.

A collection of series is a list of arrays, each of shape (n_times,) or (n_times, n_channels), or one array whose rows
are series of one length; all series have as many channels.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.kernels.base import Items, Kernel, check_count, check_positive, n_threads, objects_of
from pegasos.kernels.sequences import Sequences
from pegasos.problem import Floats

Doubles = npt.NDArray[np.float64]


class IndefiniteKernelWarning(UserWarning):
    """A similarity that is not positive semi-definite is used as a kernel, so nothing can be proved.

    Examples
    --------
    >>> import warnings
    >>> from pegasos.kernels import DynamicTimeWarping, IndefiniteKernelWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     kernel = DynamicTimeWarping(gamma=1.0)
    >>> caught[0].category is IndefiniteKernelWarning
    True
    """


def series_of(items: Any) -> Sequences:
    """The series of a collection; what is none raises an error."""
    if len(getattr(items, "shape", ())) > 1 and not sp.issparse(items):
        items = np.asarray(items)  # a frame would list its columns; its rows are the series
    arrays = [_array_of(number, item) for number, item in enumerate(objects_of(items, "time series"))]
    for number, array in enumerate(arrays):
        if array.shape[1] != arrays[0].shape[1]:
            raise PegasosError(
                f"series {number} has {array.shape[1]} channels and series 0 has {arrays[0].shape[1]}; "
                f"all series must have the same channels."
            )
    values = np.concatenate(arrays) if arrays else np.empty((0, 1))
    return Sequences.of(np.ascontiguousarray(values), [len(array) for array in arrays])


def _array_of(number: int, item: Any) -> Doubles:
    try:
        given = np.asarray(item)
    except ValueError:  # a list of lists of unequal length
        given = np.empty(0, dtype=object)
    if given.dtype.kind not in "biuf" or given.ndim not in {1, 2}:
        raise PegasosError(
            f"series {number} is a {type(item).__name__} that is not a series; pass arrays of numbers of shape "
            f"(times,) or (times, channels), and a single series in a list."
        )
    if not given.size:
        raise PegasosError(f"series {number} is empty; leave it out.")
    array = given.astype(np.float64).reshape(len(given), -1)
    if not np.isfinite(array).all():
        time = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise PegasosError(f"series {number} has NaN or infinity at time {time}; fill the gap, or cut it out.")
    return array


def _check_channels(a: Sequences | Spectra, b: Sequences | Spectra) -> None:
    if a.n_channels != b.n_channels and len(a) and len(b):
        raise PegasosError(
            f"the series of one collection have {a.n_channels} channels, those of the other {b.n_channels}; "
            f"all series must have the same channels."
        )


@dataclass(frozen=True, eq=False)
class SelfAligned:
    """Series, each with the logarithm of its alignment kernel with itself."""

    series: Sequences
    log_self: Doubles

    def __len__(self) -> int:
        return len(self.series)

    def take(self, indices: npt.NDArray[Any]) -> SelfAligned:
        """The series of these numbers."""
        return SelfAligned(self.series.take(indices), self.log_self[indices])


@dataclass
class GlobalAlignment(Kernel):
    """A kernel that sums over all alignments of two time series, where dynamic time warping takes the best one.

    With e_ij = max(0, 1 - |i - j| / triangular) exp(-|x_i - y_j|^2 / (2 sigma^2)),

        a(x, y) = sum over all alignments of x and y of the product of e_ij / (2 - e_ij) over their pairs (i, j),
        k(x, y) = a(x, y) / sqrt(a(x, x) a(y, y)).

    From Cuturi (2011), "Fast global alignment kernels": e / (2 - e) makes the sum positive definite. The numbers a
    span hundreds of orders of magnitude, with the lengths, so only the normalized kernel is offered: k(x, x) = 1.

    Parameters
    ----------
    sigma : float
        The distance at which two values still count as similar. Cuturi's advice is a multiple, of 0.1 to 10, of the
        median of |x_i - y_j| times the square root of the median length. A small sigma leaves a kernel close to the
        identity.
    triangular : int or None, default=None
        Positions this far apart, or farther, are never aligned; nearer ones count by 1 - |i - j| / triangular. Time is
        proportional to it. Series whose lengths differ by as much have kernel 0. None allows all alignments.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.series import GlobalAlignment
    >>> slow, fast = np.sin(np.arange(0, 6, 0.2)), np.sin(np.arange(0, 6, 0.25))
    >>> GlobalAlignment(sigma=4.0).block([slow], [slow, fast, -slow]).round(2)
    array([[1.  , 0.61, 0.  ]])
    """

    sigma: float
    triangular: int | None = None

    def check(self) -> None:
        """Require a positive, finite sigma, and a band width that is a count."""
        check_positive(self, sigma=self.sigma)
        if self.triangular is not None:
            check_count(self, triangular=self.triangular)

    def read(self, items: Any) -> SelfAligned:
        """The series, and their kernels with themselves."""
        series = series_of(items)
        return SelfAligned(series, self._fill(series, series, np.empty(len(series))))

    def evaluate(self, a: Items, b: Items) -> Floats:
        """The normalized kernel of each pair."""
        assert isinstance(a, SelfAligned)
        assert isinstance(b, SelfAligned)
        _check_channels(a.series, b.series)
        logs = self._fill(a.series, b.series, np.empty((len(a), len(b))))
        logs -= 0.5 * (a.log_self[:, None] + b.log_self[None, :])
        return np.exp(logs, out=logs)

    def evaluate_diagonal(self, a: Items) -> Doubles:
        """The diagonal: all 1."""
        return np.ones(len(a))

    def _fill(self, a: Sequences, b: Sequences, values: Doubles) -> Doubles:
        scale = min(1.0 / (float(self.sigma) * math.sqrt(2.0)), 1e300)
        if values.size:
            _core.alignments(a.native, b.native, scale, self.triangular or 0, values, n_threads())
        return values


@dataclass(frozen=True, eq=False)
class Spectra:
    """The amplitudes of time series in bands of frequency."""

    amplitudes: Doubles
    n_channels: int

    def __len__(self) -> int:
        return len(self.amplitudes)

    def take(self, indices: npt.NDArray[Any]) -> Spectra:
        """The series of these numbers."""
        return Spectra(self.amplitudes[indices], self.n_channels)


@dataclass
class Fourier(Kernel):
    """A Gaussian kernel on the amplitudes of time series in frequency bands, independent of shifts in time.

        k(x, y) = exp(-gamma |f(x) - f(y)|^2 / n_channels),
        f_j(x) = sqrt(sum over q = 1, ..., n/2 of h_j(q/n) |X_q|^2 / sum over q of |X_q|^2)

    for j = 1, ..., n_frequencies, where X is the discrete Fourier transform of x, of n times, and the h_j are hats,
    that is, linear interpolation: h_j is 1 at the frequency j / (2 n_frequencies) per time step and 0 at those of the
    other hats. They add up to 1, so f has length 1, whatever n and the units of x: series of unequal length can be
    compared. Shifts are not seen: x rolled around by any number of steps has the same f. Nor are the mean and the scale
    of x; a constant channel has f = 0. As a Gaussian of a vector that depends on one series only, k is positive
    semi-definite.

    Parameters
    ----------
    n_frequencies : int, default=32
        Number of bands between 0 and half a cycle per time step.
    gamma : float, default=1.0
        Width of the Gaussian; the squared distance it multiplies is at most 2.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.kernels.series import Fourier
    >>> slow, fast = np.sin(np.arange(60) / 5), np.sin(np.arange(80))
    >>> Fourier().block([slow], [np.roll(slow, 7), fast]).round(3)
    array([[1.   , 0.168]])
    """

    n_frequencies: int = 32
    gamma: float = 1.0

    def check(self) -> None:
        """Require a positive number of bands, and a positive, finite gamma."""
        check_count(self, n_frequencies=self.n_frequencies)
        check_positive(self, gamma=self.gamma)

    def read(self, items: Any) -> Spectra:
        """The amplitudes of each series."""
        series = series_of(items)
        energies = np.zeros((len(series), self.n_frequencies, series.n_channels))
        for length in np.unique(series.lengths):
            chosen = np.flatnonzero(series.lengths == length)
            values = series.take(chosen).values.reshape(len(chosen), length, series.n_channels)
            energies[chosen] = np.einsum("qj,iqc->ijc", self._hats(int(length)), _energies(values))
        return Spectra(
            np.sqrt(energies).reshape(len(series), self.n_frequencies * series.n_channels), series.n_channels
        )

    def _hats(self, length: int) -> Doubles:
        """h_j(q / length), one row a frequency of the transform from q = 1 on."""
        place = 2.0 * self.n_frequencies * np.arange(1, length // 2 + 1) / length
        centres = np.arange(1, self.n_frequencies + 1)
        # What lies below the first hat belongs to it.
        return np.maximum(0.0, 1.0 - np.abs(np.maximum(place, 1.0)[:, None] - centres))

    def evaluate(self, a: Items, b: Items) -> Floats:
        """exp(-gamma |f(x) - f(y)|^2 / n_channels)."""
        assert isinstance(a, Spectra)
        assert isinstance(b, Spectra)
        _check_channels(a, b)
        if not len(a) or not len(b):
            return np.empty((len(a), len(b)))
        x, y = a.amplitudes, b.amplitudes
        squared = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2.0 * x @ y.T
        block: Floats = np.exp(-self.gamma / a.n_channels * np.maximum(squared, 0.0))
        return block

    def evaluate_diagonal(self, a: Items) -> Doubles:
        """The diagonal: all 1."""
        return np.ones(len(a))


def _energies(values: Doubles) -> Doubles:
    """|X_q|^2 for q = 1, ..., n/2, of sum 1 in each channel of each series; 0 for a constant."""
    size = np.abs(values).max(axis=1, keepdims=True)
    constant = values.max(axis=1) == values.min(axis=1)
    scaled = values / np.where(size > 0.0, size, 1.0)  # no square overflows
    transform = np.fft.rfft(scaled - scaled.mean(axis=1, keepdims=True), axis=1)[:, 1:]
    energies = transform.real**2 + transform.imag**2
    total = energies.sum(axis=1, keepdims=True)
    energies /= np.where(total > 0.0, total, 1.0)
    return np.where(constant[:, None, :], 0.0, energies)


@dataclass
class DynamicTimeWarping(Kernel):
    """exp(-gamma times the cost of the best alignment): a similarity that is not positive semi-definite.

    The cost is the least sum of |x_i - y_j|^2 over all alignments of x and y (Sakoe and Chiba, 1978, "Dynamic
    programming algorithm optimization for spoken word recognition"). The matrix of its exponentials can have negative
    eigenvalues; the problem is then not convex, and a gap proves nothing. `GlobalAlignment` sums over all alignments
    and is a kernel; ``check_mercer`` tests the matrix of given series.

    Parameters
    ----------
    gamma : float
        One over a typical cost.

    Warns
    -----
    IndefiniteKernelWarning
        Always, when it is created.

    Examples
    --------
    >>> import warnings
    >>> from pegasos.kernels.series import DynamicTimeWarping
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     similarity = DynamicTimeWarping(gamma=1.0)
    >>> similarity.block([[0, 1, 1, 2]], [[0, 1, 2], [0, 0, 1]]).round(3)
    array([[1.   , 0.368]])
    """

    gamma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        warnings.warn(
            "DynamicTimeWarping is not a positive semi-definite kernel, so the certificate of a model with it proves "
            "nothing; use GlobalAlignment, or test your series with check_mercer.",
            IndefiniteKernelWarning,
            stacklevel=3,
        )

    def check(self) -> None:
        """Require a positive, finite gamma."""
        check_positive(self, gamma=self.gamma)

    def read(self, items: Any) -> Sequences:
        """The series."""
        return series_of(items)

    def evaluate(self, a: Items, b: Items) -> Floats:
        """exp(-gamma cost) of each pair."""
        assert isinstance(a, Sequences)
        assert isinstance(b, Sequences)
        _check_channels(a, b)
        costs = np.empty((len(a), len(b)))
        if costs.size:
            _core.warpings(a.native, b.native, costs, n_threads())
        return np.exp(-self.gamma * costs)

    def evaluate_diagonal(self, a: Items) -> Doubles:
        """The diagonal: all 1."""
        return np.ones(len(a))
