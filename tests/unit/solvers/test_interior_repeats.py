"""The interior point on rows that occur twice, as in regression, reads each of them once."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.problem import Problem, Rows, constant
from pegasos.solvers.auto import all_rows
from pegasos.solvers.interior_point import InteriorPoint


def two_sided(n, d, *, sparse, threads=1, seed=0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n, d))
    values[random.random(values.shape) < 0.3] = 0.0
    y = values @ random.normal(size=d) + random.standard_t(3, size=n)
    stored = sp.csr_matrix(values) if sparse else values
    sign = np.repeat(np.array([1, -1], np.int8), n)
    offset = np.r_[-y, -y] + 1.1 * sign
    copied = sp.vstack([stored, stored]).tocsr() if sparse else np.vstack([stored, stored])
    rows = Rows.of(stored, 1.0, threads).view(np.tile(np.arange(n), 2), repeats=2), Rows.of(copied, 1.0, threads)
    return [Problem(one, sign, constant(1.0, 2 * n), offset, 1e-3, float(n)) for one in rows]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "d"), [(150, 6), (4000, 70), (30, 80)])  # packed, read in place, by rows
@pytest.mark.parametrize("part", ["all", "pairs", "some"])
def test_the_result_is_that_of_a_copy(sparse, n, d, part):
    found = []
    for problem in two_sided(n, d, sparse=sparse, threads=2):
        chosen = all_rows(problem)
        if part == "pairs":
            chosen = np.r_[chosen[: n // 2], chosen[n : n + n // 2]]
        elif part == "some":
            chosen = chosen[::3].copy()
        solver = InteriorPoint()
        zero = np.zeros(problem.weights_shape), np.zeros(problem.alpha_shape)
        state = solver.enter(problem, chosen, *zero)
        solver.advance(problem, state, 60, 1e-9)
        assert state.relative_gap <= 1e-9
        found.append(state)
    view, copy = found
    assert view.best_weights == pytest.approx(copy.best_weights, rel=1e-4, abs=1e-5)
    assert view.counters.primal == pytest.approx(copy.counters.primal, rel=1e-8)
