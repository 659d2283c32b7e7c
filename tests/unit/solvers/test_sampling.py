"""Which row comes next: the generator, its bounded numbers and its shuffles."""

from itertools import islice

import numpy as np
import pytest

from pegasos.solvers.pegasos import Pegasos
from tests.problems import problem_of
from tests.reference.pegasos import draw_rows
from tests.reference.random import INCREMENT, Random

SEED_WHOSE_FIRST_NUMBER_IS_ZERO = 2**64 - INCREMENT
SEEDS = (0, 1, 2**32 + 5, 2**64 - 1, SEED_WHOSE_FIRST_NUMBER_IS_ZERO)


def visited(sampling, n_rows, seed, n_visits):
    """The rows that native steps visit: each row has a feature of its own, and violates whenever it is visited."""
    problem = problem_of(np.eye(n_rows), np.ones(n_rows), offset=-1e9)
    solver = Pegasos(sampling=sampling)
    state = solver.start(problem, seed)
    rows = []
    for _ in range(n_visits):
        before = state.alphas.copy() if state.counters.step else np.zeros(n_rows)
        solver.step(problem, state, 1)
        rows.extend(np.flatnonzero(state.alphas > before))
    return rows


def test_the_transcription_is_splitmix64():
    random = Random(1234567)
    published = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)
    assert tuple(random.next() for _ in published) == published


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_rows", [1, 2, 7, 64])
@pytest.mark.parametrize("sampling", ["shuffle", "uniform", "sequential"])
def test_native_visits_the_rows_of_the_transcription(sampling, n_rows, seed):
    n_visits = 3 * n_rows + 1
    assert visited(sampling, n_rows, seed, n_visits) == list(islice(draw_rows(sampling, n_rows, seed), n_visits))


def test_a_number_that_would_favour_some_rows_is_drawn_again():
    random = Random(SEED_WHOSE_FIRST_NUMBER_IS_ZERO)
    random.below(7)
    assert random.state == INCREMENT  # two numbers were drawn: the first left the state at 0
    powers_of_two_divide_evenly = Random(SEED_WHOSE_FIRST_NUMBER_IS_ZERO)
    assert powers_of_two_divide_evenly.below(64) == 0
    assert powers_of_two_divide_evenly.state == 0


def test_every_epoch_visits_every_row_once_in_an_order_of_its_own():
    rows = visited("shuffle", 20, 5, 60)
    epochs = [tuple(rows[begin : begin + 20]) for begin in (0, 20, 40)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(20))] * 3
    assert len(set(epochs)) == 3


def test_uniform_draws_favour_no_row():
    counts = np.bincount(visited("uniform", 5, 3, 5000), minlength=5)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000 * 0.8)
