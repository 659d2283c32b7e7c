"""How classes become problems: votes against a slow count, and certainty against every corner of what is possible."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.multiclass import _ovr_decision_function

from pegasos.problem import Rows
from pegasos.tasks import Known, OneVsOne, OneVsRest, Terms, pairs_of
from tests.reference import voting


def pairs(n_classes):
    return OneVsOne.of(np.arange(n_classes))


grid = st.sampled_from((-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0))


def scores_of(n_classes, n_rows=6):
    n = n_rows * n_classes * (n_classes - 1) // 2
    return st.lists(grid, min_size=n, max_size=n).map(lambda values: np.array(values).reshape(n_rows, -1))


@given(st.integers(3, 6).flatmap(lambda k: st.tuples(st.just(k), scores_of(k))))
def test_the_winner_is_that_of_a_slow_count_of_votes(given_):
    n_classes, scores = given_
    decisions = pairs(n_classes).decisions(scores)
    assert decisions.argmax(axis=1).tolist() == [voting.winner(row, n_classes) for row in scores]


@given(st.integers(3, 6).flatmap(lambda k: st.tuples(st.just(k), scores_of(k))))
def test_the_decisions_are_those_of_scikit_learn(given_):
    n_classes, scores = given_
    theirs = _ovr_decision_function((scores > 0).astype(int), scores, n_classes)
    assert np.array_equal(pairs(n_classes).decisions(scores), theirs)


@given(st.integers(3, 4).flatmap(lambda k: st.tuples(st.just(k), scores_of(k, 3), scores_of(k, 3))))
def test_what_is_certified_has_one_winner_whatever_the_scores_within_reach(given_):
    n_classes, scores, reach = given_
    reach = np.abs(reach)
    found = pairs(n_classes).settled(scores, reach)
    for is_certified, row, its_reach in zip(found, scores, reach, strict=True):
        winners = voting.winners_within(row, its_reach, n_classes)
        if is_certified:
            assert winners == {voting.winner(row, n_classes)}


@given(st.integers(3, 5).flatmap(lambda k: st.tuples(st.just(k), scores_of(k))))
def test_where_votes_decide_all_that_is_certain_is_certified(given_):
    """Nothing within reach changes a sign: then the winner is certified, except for ties of the sums."""
    n_classes, scores = given_
    scores = np.where(scores == 0.0, 1.0, scores)
    decisions = np.sort(pairs(n_classes).decisions(scores), axis=1)
    clear = decisions[:, -1] - decisions[:, -2] > 1e-9
    reach = np.full_like(scores, 1e-12)
    assert np.array_equal(pairs(n_classes).settled(scores, reach), clear)


def test_a_doubtful_pair_of_losers_does_no_harm():
    """Class 2 wins both its duels; who wins between 0 and 1 does not matter."""
    scores, reach = np.array([[0.1, 3.0, 3.0]]), np.array([[1.0, 1.0, 1.0]])
    assert pairs(3).settled(scores, reach).tolist() == [True]
    assert pairs(3).settled(scores, np.array([[0.0, 7.0, 0.0]])).tolist() == [False]


def test_large_sums_that_the_squeeze_cannot_tell_apart_are_not_certified():
    """A cycle of votes: 1 beats 0, 2 beats 1, 0 beats 2, with sums that differ in the last digits."""
    scores = np.array([[1e9 + 1.0, -2e9 - 1.0, 2.0]])
    assert voting.tally(scores[0], 3) == ([1, 1, 1], [1e9, 1e9 - 1.0, 1.0 - 2e9])
    assert pairs(3).settled(scores, np.zeros((1, 3))).tolist() == [False]


def test_two_classes_are_one_problem_as_against_the_rest():
    scores, reach = np.array([[1.0], [-0.5]]), np.array([[0.5], [0.5]])
    assert np.array_equal(pairs(2).decisions(scores), OneVsRest.of(np.arange(2)).decisions(scores))
    assert pairs(2).settled(scores, reach).tolist() == OneVsRest.of(np.arange(2)).settled(scores, reach).tolist()
    assert pairs(2).members(np.array([0, 1])) == [slice(None)]


def problems_of(rows, codes, weights=None, *, lam=0.1, C=None, factors=None, known=None):
    seen = codes[codes >= 0]
    totals = np.bincount(seen, None if weights is None else weights[codes >= 0], codes.max() + 1).astype(float)
    counts = np.bincount(seen).astype(float)
    task = OneVsOne(classes=np.arange(len(totals)), totals=totals, counts=counts, factors=factors)
    return task.problems(rows, codes, weights, Terms(lam, 1.0, False, totals.sum(), C), known or Known())


def test_a_pair_has_the_rows_signs_costs_and_total_of_its_classes():
    codes = np.array([2, 0, 1, -1, 2, 0])
    weights = np.array([1.0, 2.0, 3.0, 0.0, 4.0, 5.0])
    rows = Rows.of(np.arange(12.0).reshape(6, 2), 1.0)
    problems = problems_of(rows, codes, weights, factors=np.array([1.0, 10.0, 100.0]))
    expected = {
        (0, 1): ([1, 2, 5], [-1, 1, -1], [2.0, 30.0, 5.0], 10.0),
        (0, 2): ([0, 1, 4, 5], [1, -1, 1, -1], [100.0, 2.0, 400.0, 5.0], 12.0),
        (1, 2): ([0, 2, 4], [1, -1, 1], [100.0, 30.0, 400.0], 8.0),
    }
    assert list(pairs_of(3)) == list(expected)
    for problem, (members, signs, costs, total) in zip(problems, expected.values(), strict=True):
        assert np.array_equal(problem.rows.own_values, rows.values[members])
        assert problem.sign.tolist() == signs
        assert problem.cost.tolist() == costs
        assert (problem.lam, problem.total) == (0.1, total)


def test_offsets_of_a_pair_are_those_of_its_rows():
    codes = np.array([0, 1, 2])
    rows = Rows.of(np.eye(3), 0.0)
    offsets = [np.array([1.0, 2.0, 3.0]) * k for k in (1, 10, 100)]
    problems = problems_of(rows, codes, known=Known(offsets))
    assert [problem.offset.tolist() for problem in problems] == [[1.0, 2.0], [10.0, 30.0], [200.0, 300.0]]


def test_c_means_the_same_for_every_pair():
    codes = np.array([0, 0, 0, 1, 2])
    problems = problems_of(Rows.of(np.eye(5), 0.0), codes, C=5.0)
    assert [1 / (problem.lam * problem.total) for problem in problems] == pytest.approx([5.0] * 3)


def test_pairs_share_the_memory_of_the_rows():
    codes = np.array([0, 1, 2])
    rows = Rows.of(np.eye(3), 0.0)
    assert all(p.rows.values is rows.values for p in problems_of(rows, codes))


def test_the_loss_of_zero_needs_no_rows():
    codes = np.array([0, 1, 2, 2])
    problems = problems_of(Rows.of(np.eye(4), 0.0), codes)
    losses = problems.losses_of_zero()
    assert losses == pytest.approx([problem.lam * problem.radius**2 for problem in problems])
