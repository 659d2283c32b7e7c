"""Kernels of strings, against what their definitions say letter by letter."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.errors import PegasosError
from pegasos.kernels.strings import Mismatch, Spectrum, Subsequence, WeightedDegree

texts = st.lists(st.text("ACGT", min_size=1, max_size=9), min_size=1, max_size=7)
unicode_texts = st.lists(st.text("aé字𝄞", min_size=1, max_size=8), min_size=1, max_size=6)
equal_texts = st.integers(1, 150).flatmap(
    lambda n: st.lists(st.text("ACGT字", min_size=n, max_size=n), min_size=1, max_size=5)
)
KERNELS = [Spectrum(2), Mismatch(3, 1), Subsequence(3, 0.7), Subsequence(7, 0.9), WeightedDegree(4)]


def spectrum(s, t, k):
    return sum(s[i : i + k] == t[j : j + k] for i in range(len(s) - k + 1) for j in range(len(t) - k + 1))


def mismatch(s, t, k, m):
    def near(text, word):
        return sum(
            sum(x != y for x, y in zip(text[i : i + k], word, strict=True)) <= m for i in range(len(text) - k + 1)
        )

    return sum(near(s, word) * near(t, word) for word in product("ACGT", repeat=k))


def subsequence(s, t, k, decay):
    def spans(text):
        found = {}
        for places in combinations(range(len(text)), k):
            word = "".join(text[place] for place in places)
            found[word] = found.get(word, 0.0) + decay ** (places[-1] - places[0] + 1)
        return found

    mine, theirs = spans(s), spans(t)
    return sum(value * theirs.get(word, 0.0) for word, value in mine.items())


def weighted_degree(s, t, degree):
    return sum(
        2 * (degree - length + 1) / (degree * (degree + 1)) * (s[p : p + length] == t[p : p + length])
        for length in range(1, degree + 1)
        for p in range(len(s) - length + 1)
    )


def table(function, A, B, *parameters):
    return np.array([[function(s, t, *parameters) for t in B] for s in A], dtype=float)


@given(unicode_texts, unicode_texts, st.integers(1, 4))
def test_spectrum_counts_common_substrings(A, B, k):
    np.testing.assert_array_equal(Spectrum(k).block(A, B), table(spectrum, A, B, k))


@given(texts, texts, st.sampled_from([(1, 0), (2, 1), (3, 1), (3, 2), (4, 0)]))
def test_mismatch_counts_words_in_the_balls_around_substrings(A, B, parameters):
    np.testing.assert_array_equal(Mismatch(*parameters).block(A, B), table(mismatch, A, B, *parameters))


@given(unicode_texts, unicode_texts, st.integers(1, 7), st.sampled_from([0.3, 0.9, 1]))
def test_subsequence_sums_over_all_choices_of_places(A, B, k, decay):
    expected = table(subsequence, A, B, k, decay)
    np.testing.assert_allclose(Subsequence(k, decay).block(A, B), expected, rtol=1e-12, atol=0)


@given(equal_texts, st.integers(1, 6))
def test_weighted_degree_counts_agreements_in_place(A, degree):
    expected = table(weighted_degree, A, A, degree)
    np.testing.assert_allclose(WeightedDegree(degree).block(A, A), expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(WeightedDegree(degree).block(A, list(A)), expected, rtol=1e-12, atol=0)


def test_weighted_degree_compares_letters_of_different_widths():
    block = WeightedDegree(2).block(["AC", "CC"], ["A字", "AC"])
    np.testing.assert_allclose(block, table(weighted_degree, ["AC", "CC"], ["A字", "AC"], 2))


def test_long_runs_cross_the_words_of_the_machine():
    letters = np.random.default_rng(0).choice(list("AC"), size=(6, 200), p=[0.9, 0.1])
    A = ["".join(row) for row in letters]
    np.testing.assert_allclose(WeightedDegree(70).block(A, A), table(weighted_degree, A, A, 70), rtol=1e-12)


def strings(n, shortest=1, longest=30, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), size=rng.integers(shortest, longest + 1))) for _ in range(n)]


def items_for(kernel, n, seed=0):
    return strings(n, 20, 20, seed) if isinstance(kernel, WeightedDegree) else strings(n, seed=seed)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_blocks_are_symmetric_positive_semidefinite_and_have_their_diagonal(kernel):
    A = items_for(kernel, 40)
    block = kernel.block(A, A)
    np.testing.assert_array_equal(block, block.T)
    eigenvalues = np.linalg.eigvalsh(block)
    assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(block), rtol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_value_depends_on_its_own_pair_only(kernel):
    A, B = items_for(kernel, 20), items_for(kernel, 31, seed=1)
    block = kernel.block(A, B)
    np.testing.assert_array_equal(block[3:4, 7:8], kernel.block(A[3:4], B[7:8]))
    np.testing.assert_allclose(block.T, kernel.block(B, A), rtol=1e-14)
    a, b = kernel.read(A), kernel.read(B)
    rows, columns = np.array([5, 5, 2]), np.array([30, 0])
    np.testing.assert_array_equal(kernel.evaluate(a.take(rows), b.take(columns)), block[np.ix_(rows, columns)])


@pytest.mark.parametrize("kernel", [Spectrum(3), Mismatch(3, 1)], ids=str)
def test_the_explicit_map_gives_the_same_block(kernel):
    A, B = strings(15), strings(9, seed=1)
    assert kernel.has_features
    F = kernel.features(A)
    np.testing.assert_array_equal((F @ F.T).toarray(), kernel.block(A, A))
    F, G = kernel.features(A, B)
    np.testing.assert_array_equal((F @ G.T).toarray(), kernel.block(A, B))
    assert kernel.tokens("ACGT") == kernel.read(["ACGT"]).values[0]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_way_to_pass_strings_is_the_same(kernel):
    A = ["ACGTACGT", "AACCGGTT", "TTTTACGA"]
    expected = kernel.block(A, A)
    codes = np.array([[ord(letter) for letter in text] for text in A])
    for given_as in (tuple(A), np.array(A), np.array(A, dtype=object), pd.Series(A), [t.encode() for t in A], codes):
        np.testing.assert_allclose(kernel.block(given_as, A), expected, rtol=1e-14)
    assert kernel.block([], []).shape == (0, 0)
    assert kernel.block(A, []).shape == (3, 0)
    assert kernel.diagonal([]).shape == (0,)


@pytest.mark.parametrize("kernel", [Spectrum(3), Mismatch(3), Subsequence(3)], ids=str)
def test_a_string_shorter_than_k_has_kernel_0(kernel):
    np.testing.assert_array_equal(kernel.block(["AC", "ACG"], ["AC", "ACG"]) > 0, [[False, False], [False, True]])


def test_a_long_string_neither_overflows_nor_underflows_on_the_way():
    text = "A" * 600
    assert Subsequence(40, 0.01).diagonal([text])[0] > 0
    assert np.isfinite(Subsequence(40, 1.0).diagonal([text])[0])
    with pytest.raises(PegasosError, match="exceeds every number of 64 bits; use a smaller decay or k"):
        Subsequence(300, 1.0).diagonal([text])


BAD_STRINGS = [
    ("ACGT", "expected a list of strings, got str."),
    (5, "expected a list of strings, got int."),
    (["ACGT", ""], "string 1 is empty; leave it out."),
    ([b""], "string 0 is empty; leave it out."),
    (["ACGT", 3.5], "string 1 is a float, 3.5; a kernel of strings takes str or bytes"),
    (["ACGT", None], "string 1 is a NoneType, None;"),
    ([np.zeros(40)], "string 0 is a ndarray, array"),
    (np.zeros((2, 3)), r"letter codes that are whole numbers; got shape \(2, 3\) of float64."),
    (np.zeros((2, 3, 4), dtype=int), r"got shape \(2, 3, 4\) of int64."),
    (np.array([[1, 2], [3, 256]]), "string 1 has a letter code outside 0, ..., 255"),
    (pd.DataFrame({"a": ["AC"], "b": ["GT"]}), "got a DataFrame of columns; pass one of them."),
]


@pytest.mark.parametrize(("items", "sentence"), BAD_STRINGS)
@pytest.mark.parametrize("kernel", [Spectrum(1), Mismatch(2), Subsequence(1), WeightedDegree(1)], ids=str)
def test_what_is_not_a_collection_of_strings_raises_an_error(kernel, items, sentence):
    with pytest.raises(PegasosError, match=sentence):
        kernel.read(items)


def test_weighted_degree_refuses_strings_of_unequal_length():
    with pytest.raises(PegasosError, match="string 1 has 3 letters and string 0 has 4; WeightedDegree compares"):
        WeightedDegree(2).block(["ACGT", "ACG"], ["ACGT"])
    with pytest.raises(PegasosError, match="strings of one length, got 4 and 3 letters"):
        WeightedDegree(2).block(["ACGT"], ["ACG"])


def test_mismatch_refuses_a_letter_outside_its_alphabet():
    with pytest.raises(PegasosError, match="string 1 has the letter 'N', which is not in the alphabet 'ACGT'; pass an"):
        Mismatch(2).read(["ACGT", "ACNT"])
    assert Mismatch(2, alphabet="ACGNT").block(["ACNT"], ["ACNT"]) > 0
    codes = np.array([[0, 1, 2, 3]])
    np.testing.assert_array_equal(
        Mismatch(2, alphabet="\0\1\2\3").block(codes, codes), Mismatch(2).block(["ACGT"], ["ACGT"])
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Spectrum(0), "k of Spectrum must be a whole number of at least 1, got 0."),
        (lambda: Spectrum(2.0), "k of Spectrum must be a whole number"),
        (lambda: Mismatch(3, -1), "m of Mismatch must be a whole number of at least 0, got -1."),
        (lambda: Mismatch(3, 3), "m of Mismatch must be less than k, got m=3 and k=3."),
        (lambda: Mismatch(3, 1, "ACGA"), "alphabet of Mismatch must be a str with each letter once, got 'ACGA'."),
        (lambda: Mismatch(3, 1, ""), "alphabet of Mismatch must be a str with each letter once, got ''."),
        (
            lambda: Mismatch(12, 6, "ACDEFGHIKLMNPQRSTVWY"),
            "words within 6 mismatches, more than 1000000; use a smaller",
        ),
        (lambda: Subsequence(3, 0.0), "decay of Subsequence must be a positive number, got 0.0."),
        (lambda: Subsequence(3, 1.5), "decay of Subsequence must be at most 1, got 1.5."),
        (lambda: Subsequence(100, 1e-3), "too small for a number of 64 bits with decay=0.001 and k=100"),
        (lambda: Spectrum(3).set_params(k=-1), "k of Spectrum must be a whole number"),
        (lambda: WeightedDegree(True), "degree of WeightedDegree must be a whole number of at least 1, got True."),
    ],
)
def test_parameters_that_make_no_kernel_raise_an_error(make, sentence):
    with pytest.raises(PegasosError, match=sentence):
        make()


def test_distinct_words_are_counted_once():
    texts = ["banana", "bananabanana", "ananas", "x"]
    words = [{text[i : i + 3] for i in range(len(text) - 2)} for text in texts]
    common = [[len(a & b) for b in words] for a in words]
    np.testing.assert_array_equal(Spectrum(3, count="distinct").block(texts, texts), common)
    with pytest.raises(PegasosError, match="count of Spectrum must be 'all' or 'distinct', got 'some'"):
        Spectrum(3, count="some")
