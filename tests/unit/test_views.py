"""Views of rows: what any loop does with them is, bit for bit, what it does with a copy of these rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos import _core
from pegasos.certificate import certify
from pegasos.problem import Problem, Rows
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.pegasos import Pegasos
from tests.problems import LAYOUTS, PRECISIONS, in_layout

N_ROWS, N_FEATURES = 23, 37
numbers_of_rows = st.lists(st.integers(0, N_ROWS - 1), min_size=1, max_size=40).map(np.array)
layouts, precisions = st.sampled_from(LAYOUTS), st.sampled_from(tuple(PRECISIONS))


def some_rows(layout, dtype, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N_ROWS, N_FEATURES)) * (random.random((N_ROWS, N_FEATURES)) < 0.4)
    X[3] = 0.0
    return Rows.of(in_layout(X.astype(dtype), layout), 0.5)


def problem_on(rows, seed=0):
    random = np.random.default_rng(seed)
    n = rows.n_rows
    sign = random.choice(np.array([-1, 1], np.int8), n)
    return Problem(rows, sign, random.uniform(0.0, 2.0, n), 0.3 * random.normal(size=n), 0.03, 0.9 * n)


def view_and_copy(layout, dtype, numbers):
    rows = some_rows(layout, dtype)
    return problem_on(rows.view(numbers)), problem_on(rows.take(numbers))


def same(one, other):
    np.testing.assert_array_equal(np.asarray(one), np.asarray(other), strict=True)


@given(layouts, precisions, numbers_of_rows, st.sampled_from(("shuffle", "uniform")), st.booleans())
def test_pegasos_on_a_view_is_pegasos_on_a_copy(layout, precision, numbers, sampling, projection):
    dtype, weights_type, _ = PRECISIONS[precision]
    solver = Pegasos(3, sampling, projection, "uniform", weights_type)
    points = []
    for problem in view_and_copy(layout, dtype, numbers):
        state = solver.start(problem, 5)
        solver.advance_to(problem, state, 200)
        points.append(solver.point(problem, state))
    for mine, theirs in zip(*points, strict=True):
        same(mine, theirs)


@given(layouts, precisions, numbers_of_rows)
def test_dual_ascent_on_a_view_is_dual_ascent_on_a_copy(layout, precision, numbers):
    dtype, weights_type, _ = PRECISIONS[precision]
    solver = DualAscent(weights_type)
    points = []
    for problem in view_and_copy(layout, dtype, numbers):
        state = solver.start(problem, 5)
        solver.advance_to(problem, state, 200)
        points.append((*solver.point(problem, state), solver.estimate(problem, state)))
    for mine, theirs in zip(*points, strict=True):
        same(mine, theirs)


@given(layouts, precisions, numbers_of_rows)
def test_the_interior_point_on_a_view_is_that_on_a_copy(layout, precision, numbers):
    dtype = PRECISIONS[precision][0]
    solver = InteriorPoint()
    points = []
    for problem in view_and_copy(layout, dtype, numbers):
        n = problem.rows.n_rows
        chosen = np.flatnonzero(problem.cost > 0.0).astype(np.uint32)
        state = solver.enter(problem, chosen, np.zeros(N_FEATURES + 1), np.zeros(n))
        solver.advance(problem, state, 3, 0.0)
        points.append((state.alpha, state.weights, state.relative_gap))
    for mine, theirs in zip(*points, strict=True):
        same(mine, theirs)


@given(layouts, precisions, numbers_of_rows)
def test_objectives_certificates_and_scores_of_a_view_are_those_of_a_copy(layout, precision, numbers):
    view, copy = view_and_copy(layout, PRECISIONS[precision][0], numbers)
    random = np.random.default_rng(1)
    weights = random.normal(size=(3, N_FEATURES + 1))
    alpha = random.uniform(-0.5, 2.5, len(numbers))
    assert certify(view, weights[0], alpha) == certify(copy, weights[0], alpha)
    same(view.rows.dual_sums(view, alpha)[0], copy.rows.dual_sums(copy, alpha)[0])
    scores = np.empty((2, len(numbers), 3))
    for problem, out in zip((view, copy), scores, strict=True):
        _core.scores(problem.rows.native, weights, out)
    same(scores[0], scores[1])


@given(layouts, st.sampled_from((np.float32, np.float64)), numbers_of_rows, st.data())
def test_what_is_made_of_a_view_is_what_is_made_of_a_copy(layout, dtype, numbers, data):
    rows = some_rows(layout, dtype)
    view, copy = rows.view(numbers), rows.take(numbers)
    again = data.draw(st.lists(st.integers(0, len(numbers) - 1), min_size=1, max_size=9).map(np.array))
    wide = np.float64 if dtype == np.float32 else np.float32
    made = [
        (view, copy),
        (view.view(again), copy.take(again)),
        (view.take(again), copy.take(again)),
        (view.of_type(wide), copy.of_type(wide)),
        (view.of_type(dtype), copy),
    ]
    made += [(view.part(0, 1), copy.part(0, 1))] if layout == "dense" else [(view.dense(), copy.dense())]
    for mine, theirs in made:
        dense = [r.own_values for r in (mine, theirs)]
        same(*(values.toarray() if hasattr(values, "toarray") else values for values in dense))
        same(mine.squared_norms, theirs.squared_norms)
        assert (mine.n_rows, mine.n_features, mine.bias, mine.dtype) == (
            theirs.n_rows,
            theirs.n_features,
            theirs.bias,
            theirs.dtype,
        )
    assert view.n_stored == copy.n_stored
    prices = Auto(Pegasos(), DualAscent()).prices
    assert prices.epoch(problem_on(view)) == prices.epoch(problem_on(copy))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_whole_fits_on_a_view_are_those_on_a_copy(layout):
    """Auto, from the first row to a gap that only the interior point reaches in these epochs."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5)) * np.array([1.0, 30.0, 0.01, 1.0, 5.0])
    rows = Rows.of(in_layout(X, layout), 1.0)
    chosen = np.sort(random.permutation(300)[:200])
    sign = np.where(X[chosen].sum(axis=1) + 5 * random.normal(size=200) > 0, 1, -1).astype(np.int8)
    found = [
        run(Problem.plain(some, sign, 1e-5), Auto(Pegasos(), DualAscent(), 1e-8), Stop(1e-8), seed=3)
        for some in (rows.view(chosen), rows.take(chosen))
    ]
    assert found[0].certificate == found[1].certificate
    same(found[0].weights, found[1].weights)
    same(found[0].alpha, found[1].alpha)


def test_a_view_copies_no_values():
    values = np.ones((5, 3), np.float32)
    view = Rows.of(values, 0.0).view(np.array([4, 1]))
    assert view.values is values
    values[4] = 7.0
    scores = np.empty((2, 1))
    _core.scores(view.native, np.ones((1, 4)), scores)
    assert scores[:, 0].tolist() == [21.0, 3.0]


def test_a_view_may_be_empty():
    rows = Rows.of(np.ones((5, 3)), 0.0).view(np.arange(0))
    assert rows.n_rows == 0
    assert rows.n_stored == 0


def test_rows_are_chosen_as_numpy_chooses_them():
    rows = Rows.of(np.arange(15.0).reshape(5, 3), 0.0)
    for indices in (np.array([-1, 2]), np.array([True, False, False, True, True]), np.array([0, 0])):
        same(rows.view(indices).own_values, rows.values[indices])
    view = rows.view(np.array([4, 3, 1]))
    same(view.view(np.array([False, True, True])).own_values, rows.values[[3, 1]])


@pytest.mark.parametrize("number", [-6, 5, 2**32])
def test_a_row_beyond_the_rows_is_refused(number):
    rows = Rows.of(np.ones((5, 3)), 0.0)
    with pytest.raises(IndexError):
        rows.view(np.array([0, number]))
    with pytest.raises(ValueError, match="out of bounds"):
        _core.view_rows(rows.native, np.array([5], np.uint32))


def test_only_whole_rows_are_inspected():
    rows = Rows.of(np.ones((5, 3)), 0.0)
    with pytest.raises(ValueError, match="inspected"):
        _core.inspect(rows.view(np.arange(2)).native, np.empty(2))
    with pytest.raises(ValueError, match="no views"):
        _core.view_rows(_core.gram_rows(np.eye(3)), np.arange(2, dtype=np.uint32))
