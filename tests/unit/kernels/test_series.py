"""Kernels of time series, against sums over all alignments listed one by one."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos.errors import PegasosError
from pegasos.kernels.series import DynamicTimeWarping, Fourier, GlobalAlignment, IndefiniteKernelWarning

numbers = st.floats(-3, 3, width=32)


def collections(n_channels):
    one = st.integers(1, 5).flatmap(lambda n: arrays(np.float64, (n, n_channels), elements=numbers))
    return st.lists(one, min_size=1, max_size=6)


pairs_of_collections = st.integers(1, 2).flatmap(lambda c: st.tuples(collections(c), collections(c)))


def warping(gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        return DynamicTimeWarping(gamma)


@cache
def alignments_of(n, m):
    """All paths from (0, 0) to (n - 1, m - 1) by steps (1, 0), (0, 1) and (1, 1)."""
    if n == 0 or m == 0:
        return []
    if n == m == 1:
        return [[(0, 0)]]
    before = alignments_of(n - 1, m) + alignments_of(n, m - 1) + alignments_of(n - 1, m - 1)
    return [[*path, (n - 1, m - 1)] for path in before]


def alignment_sum(x, y, sigma, triangular=None):
    total = 0.0
    for path in alignments_of(len(x), len(y)):
        term = 1.0
        for i, j in path:
            e = np.exp(-((x[i] - y[j]) ** 2).sum() / (2 * sigma**2))
            e *= 1.0 if triangular is None else max(0.0, 1 - abs(i - j) / triangular)
            term *= e / (2 - e)
        total += term
    return total


def normalized(x, y, *parameters):
    lengths = alignment_sum(x, x, *parameters) * alignment_sum(y, y, *parameters)
    return alignment_sum(x, y, *parameters) / np.sqrt(lengths)


def log_alignment_sum(x, y, sigma, triangular=np.inf):
    """The recurrence in logarithms, one diagonal after the other."""
    n, m = len(x), len(y)
    apart = np.abs(np.arange(n)[:, None] - np.arange(m))
    e = np.maximum(0.0, 1 - apart / triangular) * np.exp(-((x[:, None] - y) ** 2) / (2 * sigma**2))
    with np.errstate(divide="ignore"):
        local = np.log(e) - np.log(2 - e)
    M = np.full((n + 1, m + 1), -np.inf)
    M[0, 0] = 0.0
    for diagonal in range(2, n + m + 1):
        i = np.arange(max(1, diagonal - m), min(n, diagonal - 1) + 1)
        j = diagonal - i
        M[i, j] = local[i - 1, j - 1] + np.logaddexp(np.logaddexp(M[i - 1, j], M[i, j - 1]), M[i - 1, j - 1])
    return M[n, m]


def normalized_by_logarithms(x, y, *parameters):
    lengths = log_alignment_sum(x, x, *parameters) + log_alignment_sum(y, y, *parameters)
    return np.exp(log_alignment_sum(x, y, *parameters) - lengths / 2)


@given(pairs_of_collections, st.sampled_from([0.3, 1.0, 10.0]), st.sampled_from([None, 1, 2, 4]))
def test_global_alignment_sums_over_all_alignments(collections, sigma, triangular):
    A, B = collections
    expected = [[normalized(x, y, sigma, triangular) for y in B] for x in A]
    # Below 2^-500 the exponential of the core is 0.
    np.testing.assert_allclose(GlobalAlignment(sigma, triangular).block(A, B), expected, rtol=1e-11, atol=2.0**-500)


@given(pairs_of_collections)
def test_dynamic_time_warping_takes_the_best_alignment(collections):
    A, B = collections

    def cost(x, y):
        return min(sum(((x[i] - y[j]) ** 2).sum() for i, j in path) for path in alignments_of(len(x), len(y)))

    expected = [[np.exp(-0.5 * cost(x, y)) for y in B] for x in A]
    np.testing.assert_allclose(warping(0.5).block(A, B), expected, rtol=1e-12)


@pytest.mark.parametrize("lengths", [(127, 129), (300, 290), (128, 256), (20, 400)])
@pytest.mark.parametrize("sigma", [0.2, 2.0, 200.0])
def test_long_series_keep_their_digits(lengths, sigma):
    rng = np.random.default_rng(0)
    x = rng.normal(size=lengths[0]).cumsum() * 0.1
    stretched = np.interp(np.linspace(0, 1, lengths[1]), np.linspace(0, 1, lengths[0]), x)
    y = stretched + 0.05 * rng.normal(size=lengths[1])
    kernel = GlobalAlignment(sigma)
    expected = normalized_by_logarithms(x, y, sigma)
    np.testing.assert_allclose(kernel.block([x], [y]), [[expected]], rtol=1e-9, atol=1e-60)
    np.testing.assert_allclose(np.diag(kernel.block([x, y], [x, y])), 1.0, rtol=1e-9)


def test_values_far_beyond_the_range_of_a_number_are_0_or_1():
    x, y = np.arange(1500.0), np.arange(1500.0) + 1e200
    np.testing.assert_allclose(GlobalAlignment(1e-3).block([x, y], [x, y]), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(GlobalAlignment(1e250).block([x, y], [x, y]), np.ones((2, 2)), rtol=1e-9)
    np.testing.assert_allclose(GlobalAlignment(5e-324).block([x[:9], y[:9]], [x[:9], y[:9]]), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(warping(1.0).block([x, y], [x, y]), np.eye(2), atol=1e-9)


def test_a_band_as_wide_as_the_series_is_long_crosses_strips():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=300), rng.normal(size=310)
    wide = GlobalAlignment(5.0, 10**13).block([x, x[:130]], [y, y[:40]])
    np.testing.assert_allclose(wide, GlobalAlignment(5.0).block([x, x[:130]], [y, y[:40]]), rtol=1e-5)
    narrow = GlobalAlignment(5.0, 20).block([x, y], [y, y[:295], y[:200]])
    assert (narrow[:, 2] == 0.0).all()
    assert (narrow[:, :2] > 0.0).all()


@pytest.mark.parametrize("band", [1, 3, 40])
def test_a_narrow_band_is_followed_through_the_strips(band):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=260), rng.normal(size=260)
    expected = normalized_by_logarithms(x, y, 4.0, band)
    np.testing.assert_allclose(GlobalAlignment(4.0, band).block([x], [y]), [[expected]], rtol=1e-9)


def walks(n, n_channels=1, longest=200, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(1, longest), n_channels)).cumsum(axis=0) for _ in range(n)]


KERNELS = [GlobalAlignment(20.0), GlobalAlignment(20.0, 30), Fourier(8, 0.5), Fourier()]


@pytest.mark.parametrize("n_channels", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_blocks_are_symmetric_positive_semidefinite_and_have_their_diagonal(kernel, n_channels):
    A = walks(30, n_channels)
    block = kernel.block(A, A)
    np.testing.assert_allclose(block, block.T, rtol=1e-14)
    eigenvalues = np.linalg.eigvalsh(block)
    assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(block), rtol=1e-12)


@pytest.mark.parametrize("kernel", [*KERNELS, warping(1e-3)], ids=str)
def test_a_value_depends_on_its_own_pair_only(kernel):
    A, B = walks(9), walks(31, seed=1)
    block = kernel.block(A, B)
    np.testing.assert_allclose(block[3:4, 7:8], kernel.block(A[3:4], B[7:8]), rtol=1e-14)
    np.testing.assert_allclose(block.T, kernel.block(B, A), rtol=1e-14)
    a, b = kernel.read(A), kernel.read(B)
    rows, columns = np.array([5, 5, 2]), np.array([30, 0])
    taken = kernel.evaluate(a.take(rows), b.take(columns))
    np.testing.assert_allclose(taken, block[np.ix_(rows, columns)], rtol=1e-14)
    np.testing.assert_array_equal(kernel.diagonal(A), np.ones(9))


@given(arrays(np.float64, st.integers(2, 40), elements=numbers), st.integers(0, 50))
def test_fourier_does_not_see_shifts_means_and_scales(x, shift):
    other = np.linspace(-1, 2, 17) ** 3
    block = Fourier(12).block([x, np.roll(x, shift), 5 - 2 * np.roll(x, shift)], [x, other])
    np.testing.assert_allclose(block, block[[0, 0, 0]], rtol=1e-6)


def test_fourier_is_the_gaussian_of_energies_shared_between_bands():
    x, y = np.sin(np.arange(20)), np.cos(np.arange(31) ** 1.3)

    def amplitudes(series, n_frequencies):
        energy = np.zeros(n_frequencies + 1)
        for q in range(1, len(series) // 2 + 1):
            transform = sum(value * np.exp(-2j * np.pi * q * t / len(series)) for t, value in enumerate(series))
            place = max(1.0, 2 * n_frequencies * q / len(series))
            low = int(place)
            energy[low - 1] += (1 - (place - low)) * abs(transform) ** 2
            energy[low] += (place - low) * abs(transform) ** 2
        return np.sqrt(energy[:-1] / energy.sum())

    expected = np.exp(-0.7 * ((amplitudes(x, 6) - amplitudes(y, 6)) ** 2).sum())
    np.testing.assert_allclose(Fourier(6, 0.7).block([x], [y]), [[expected]], rtol=1e-10)
    tiny, constant = [3.0], [0.1] * 24
    np.testing.assert_allclose(Fourier().block([tiny, constant], [constant, x]), np.exp([[0, -1], [0, -1]]))


@pytest.mark.parametrize("kernel", [*KERNELS, warping(0.1)], ids=str)
def test_every_way_to_pass_series_is_the_same(kernel):
    A = np.random.default_rng(0).normal(size=(4, 12))
    expected = kernel.block(A, A)
    for given_as in (A.tolist(), list(A), tuple(A), A[:, :, None], list(A[:, :, None]), pd.DataFrame(A)):
        np.testing.assert_allclose(kernel.block(given_as, A), expected, rtol=1e-14)
    np.testing.assert_allclose(kernel.block(np.asfortranarray(A), A), expected, rtol=1e-14)
    whole = np.rint(10 * A)
    np.testing.assert_allclose(kernel.block(whole.astype(np.int16), whole), kernel.block(whole, whole), rtol=1e-14)
    assert kernel.block([], []).shape == (0, 0)
    assert kernel.block(A[:, :, None].repeat(2, axis=2), []).shape == (4, 0)


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ("abc", "expected a list of time series, got str."),
        (5.0, "expected a list of time series, got float."),
        ([[1.0, 2.0], []], "series 1 is empty; leave it out."),
        ([np.zeros((0, 2))], "series 0 is empty; leave it out."),
        ([[1.0], [1.0, np.nan]], "series 1 has NaN or infinity at time 1; fill the gap, or cut it out."),
        ([[1.0, np.inf, 2.0]], "series 0 has NaN or infinity at time 1"),
        ([[1.0], "abc"], "series 1 is a str that is not a series; pass arrays of numbers"),
        ([1.0, 2.0], "series 0 is a float that is not a series; .* a single series in a list."),
        ([[[1.0, 2.0], [3.0]]], "series 0 is a list that is not a series"),
        ([np.zeros((2, 2, 2))], "series 0 is a ndarray that is not a series"),
        ([np.zeros(3, dtype=complex)], "series 0 is a ndarray that is not a series"),
        ([np.zeros((3, 2)), np.zeros((3, 1))], "series 1 has 1 channels and series 0 has 2; all series must have"),
    ],
)
@pytest.mark.parametrize("kernel", [GlobalAlignment(1.0), Fourier(), warping(1.0)], ids=str)
def test_what_is_not_a_collection_of_series_raises_an_error(kernel, items, sentence):
    with pytest.raises(PegasosError, match=sentence):
        kernel.read(items)


@pytest.mark.parametrize("kernel", [GlobalAlignment(1.0), Fourier(), warping(1.0)], ids=str)
def test_collections_of_different_channels_are_refused(kernel):
    with pytest.raises(
        PegasosError, match="series of one collection have 2 channels, those of the other 1; all series"
    ):
        kernel.block([np.zeros((3, 2))], [np.zeros(3)])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: GlobalAlignment(None), "sigma of GlobalAlignment must be a positive number, got None."),
        (lambda: GlobalAlignment(-1.0), "sigma of GlobalAlignment must be a positive number, got -1.0."),
        (lambda: GlobalAlignment(1.0, 0), "triangular of GlobalAlignment must be a whole number of at least 1, got 0."),
        (lambda: Fourier(0), "n_frequencies of Fourier must be a whole number of at least 1, got 0."),
        (lambda: Fourier(gamma=0.0), "gamma of Fourier must be a positive number, got 0.0."),
        (lambda: warping(np.inf), "gamma of DynamicTimeWarping must be a positive number, got inf."),
    ],
)
def test_parameters_that_make_no_kernel_raise_an_error(make, sentence):
    with pytest.raises(PegasosError, match=sentence):
        make()


def test_dynamic_time_warping_warns_where_it_is_made():
    with pytest.warns(
        IndefiniteKernelWarning, match=r"not a positive semi-definite .* use GlobalAlignment, .* check_mercer"
    ) as caught:
        DynamicTimeWarping(gamma=1.0)
    assert caught[0].filename == __file__


def test_dynamic_time_warping_has_matrices_with_negative_eigenvalues():
    A = np.random.default_rng(0).integers(0, 2, size=(40, 8))
    assert np.linalg.eigvalsh(warping(0.5).block(A, A))[0] < -1e-3
