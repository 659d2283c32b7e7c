"""The dual point that Pegasos carries along (docs/theory/dual-point.md)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.solvers.pegasos import Pegasos
from pegasos.theory import suboptimality_bound
from tests.problems import awkward_problem, small_problems
from tests.reference.objective import PlainProblem
from tests.reference.pegasos import Pegasos as PlainPegasos
from tests.theory.runs import longest
from tests.theory.test_convergence import noisy_problem


@given(small_problems(), st.integers(1, 4), st.booleans(), st.sampled_from(("shuffle", "uniform", "balanced")))
def test_averages_and_projections_keep_the_weights_of_the_dual_point(problem, batch_size, projection, sampling):
    plain = PlainProblem.of(problem)
    solver = Pegasos(min(batch_size, plain.n_rows), sampling, projection, average="uniform")
    state = solver.start(problem, 3)
    solver.step(problem, state, 3 * plain.n_rows)
    weights, alpha = solver.point(problem, state)
    np.testing.assert_allclose(weights, plain.weights_of(alpha), atol=1e-9 * (1.0 + np.abs(weights).max()))


@pytest.mark.parametrize("sampling", ["shuffle", "uniform"])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_the_dual_point_counts_violations(sampling, batch_size):
    """By a transcription that counts what it sees, and by the library's loop."""
    problem = awkward_problem()
    plain, steps = PlainProblem.of(problem), 200
    slow, counts = PlainPegasos(plain, batch_size=batch_size, sampling=sampling, seed=5), np.zeros(plain.n_rows)
    for _ in range(steps):
        before = slow.alpha * (1.0 - 1.0 / (slow.t + 1))
        slow.step()
        added = (slow.alpha - before) * slow.t * batch_size / plain.n_rows
        counts += np.divide(added, plain.cost, out=np.zeros(plain.n_rows), where=plain.cost > 0.0)
    np.testing.assert_allclose(counts, counts.round(), atol=1e-6)
    assert 0 < counts.sum() < steps * batch_size
    solver = Pegasos(batch_size, sampling)
    state = solver.start(problem, 5)
    solver.step(problem, state, steps)
    expected = plain.n_rows * plain.cost * counts / (batch_size * steps)
    np.testing.assert_allclose(solver.point(problem, state)[1], expected, atol=1e-9)


@given(small_problems(costs=(0.5, 1.0, 3.0)), st.integers(1, 6))
def test_the_dual_point_is_the_cost_times_the_share_of_epochs_that_violated(problem, epochs):
    solver = Pegasos()
    state = solver.start(problem, 1)
    solver.step(problem, state, epochs * problem.rows.n_rows)
    shares = epochs * solver.point(problem, state)[1] / problem.cost
    np.testing.assert_allclose(shares, shares.round(), atol=1e-9)
    assert shares.min() >= -1e-9
    assert shares.max() <= epochs + 1e-9


def test_the_measured_gap_is_below_what_the_paper_promises():
    problem = noisy_problem()
    solver = Pegasos(projection=True)
    state = solver.start(problem, 0)
    for _ in range(20):
        solver.step(problem, state, problem.rows.n_rows)
        certificate = solver.review(problem, state, None).certificate
        bound = suboptimality_bound(state.counters.step, problem.lam, longest(PlainProblem.of(problem)))
        assert certificate.gap < 0.2 * bound
