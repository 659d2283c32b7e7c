"""Walks over blocks: each step is that of the numpy transcription, and no number depends on memory or chunks."""

from contextlib import contextmanager
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.certificate import certify, certify_dual, dual_point
from pegasos.data import ArraySource
from pegasos.deadline import TimeIsUp, within
from pegasos.errors import PegasosError
from pegasos.problem import Problem, Rows
from pegasos.solvers.auto import Auto
from pegasos.solvers.block_ascent import BlockAscent
from pegasos.solvers.block_auto import BlockAuto
from pegasos.solvers.block_checkpoint import pack, unpack
from pegasos.solvers.block_newton import BlockNewton
from pegasos.solvers.block_pegasos import BlockPegasos
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos
from pegasos.source_columns import ClassColumns
from pegasos.source_problem import SourceProblem
from pegasos.window import Window, bytes_of
from tests.reference.objective import PlainProblem
from tests.reference.pegasos import Pegasos as ReferencePegasos
from tests.reference.walk import rows_of_pegasos, walks_of_ascent

SEED, LAM, BIAS = 11, 0.01, 0.5
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(120, 7)) * (RANDOM.random((120, 7)) < 0.6)
X[13] = 0.0
CODES = (X[:, 0] + 0.5 * RANDOM.normal(size=120) > 0).astype(np.int8)
THREE = np.digitize(X[:, 0] + 0.5 * RANDOM.normal(size=120), [-0.3, 0.3]).astype(np.int8)
FACTORS = np.array([0.7, 1.6])
SOLVERS = [BlockAscent(), BlockAscent(sweeps=2), BlockPegasos(), BlockPegasos("tail"), BlockAuto.of_type(np.float64)]


@contextmanager
def of_blocks(values=X, codes=CODES, *, block_rows=25, room=10**6, positive=(1,), factors=FACTORS, lam=LAM):
    with Window(ArraySource(values, codes, block_rows), BIAS, room) as window:
        yield SourceProblem(window, ClassColumns(codes, positive, factors), lam, float(values.shape[0]))


def whole(codes=CODES, positive=1, factors=FACTORS, lam=LAM):
    """The same problem, in memory."""
    rows, sign = Rows.of(X, BIAS), np.where(codes == positive, 1, -1).astype(np.int8)
    cost = np.ones(len(X)) if factors is None else factors[codes]
    return Problem(rows, sign, cost, np.zeros(len(X)), lam, float(len(X)))


def solved(solver, stop, **settings):
    with of_blocks(**settings) as problem:
        return run(problem, solver, stop, seed=SEED)


@pytest.mark.parametrize("n_walks", [1, 2, 5])
def test_walks_of_dual_ascent_are_those_of_the_transcription(n_walks):
    with of_blocks() as problem:
        solver = BlockAscent()
        state = solver.start(problem, SEED)
        for _ in range(n_walks):
            solver.advance_to(problem, state, solver.next_look(problem, state))
        starts = problem.window.source.starts
    assert state.walk.number == n_walks - 1
    assert state.walk.place < 0
    w, alpha = walks_of_ascent(PlainProblem.of(whole()), starts, SEED, n_walks)
    np.testing.assert_allclose(state.alpha[0], alpha, atol=1e-12)
    np.testing.assert_allclose(state.weights[0], w, atol=1e-12)


@pytest.mark.parametrize("average", [None, "uniform", "tail"])
def test_steps_of_pegasos_are_those_of_the_transcription(average):
    n_steps = 3 * len(X) + 40
    with of_blocks() as problem:
        solver = BlockPegasos(average)
        state = solver.start(problem, SEED)
        solver.advance_to(problem, state, n_steps)
        weights, alpha = solver.point(problem, state)
        reference = ReferencePegasos(PlainProblem.of(whole()), average=average)
        reference.rows = rows_of_pegasos(problem.window.source.starts, SEED)
    for _ in range(n_steps):
        reference.step()
    w, a = (reference.w, reference.alpha) if average is None else reference.mean()
    np.testing.assert_allclose(weights[0], w, atol=1e-10)
    np.testing.assert_allclose(alpha[0], a, atol=1e-10)


@pytest.mark.parametrize("solver", [BlockAscent(), BlockAscent(sweeps=2), BlockAuto.of_type(np.float64)])
@pytest.mark.parametrize("lam", [0.1, 0.01])
def test_the_optimum_is_that_in_memory(solver, lam):
    solution = solved(solver, Stop(1e-4, 10_000), lam=lam)
    in_memory = run(whole(lam=lam), DualAscent(), Stop(1e-6, 10_000), seed=0)
    assert solution.certificate.relative_gap <= 1e-4
    assert solution.certificate.primal == pytest.approx(in_memory.certificate.primal, rel=2e-4)


@pytest.mark.parametrize("solver", [BlockAscent(), BlockAscent(sweeps=2), BlockAuto.of_type(np.float64)])
def test_without_tol_rows_that_were_left_out_come_back(solver):
    assert solved(solver, Stop(None, 80)).certificate.relative_gap <= 1e-3


def test_the_certificate_is_that_of_all_rows_in_memory():
    solution = solved(BlockAscent(), Stop(None, 3))
    proof = certify(whole(), solution.weights[0], solution.alpha[0])
    assert solution.certificate.primal == pytest.approx(proof.primal, rel=1e-12)
    assert solution.certificate.dual == pytest.approx(proof.dual, rel=1e-12)
    assert solution.certificate.least_margin == pytest.approx(proof.least_margin, rel=1e-12)
    assert solution.certificate.weight_radius == pytest.approx(proof.weight_radius, rel=1e-9)


def test_problems_side_by_side_are_the_problems_one_by_one():
    classes = {"codes": THREE, "positive": (0, 1, 2), "factors": None}
    solution = solved(BlockAuto.of_type(np.float64), Stop(1e-4, 10_000), **classes)
    assert len(solution.certificate.parts) == 3
    for k, part in enumerate(solution.certificate.parts):
        alone = certify_dual(whole(THREE, k, None), solution.alpha[k])[0]
        assert part.dual == pytest.approx(alone.dual, rel=1e-9)
        assert part.relative_gap <= 1e-4
        best = run(whole(THREE, k, None), DualAscent(), Stop(1e-6, 10_000), seed=0).certificate.primal
        assert part.primal == pytest.approx(best, rel=2e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("codes", [CODES, THREE])
def test_nothing_depends_on_the_memory(solver, codes):
    settings = {"codes": codes, "positive": (1,) if codes is CODES else (0, 1, 2), "factors": None, "lam": 1e-3}
    found = [solved(solver, Stop(None, 25), room=room, **settings) for room in (0, 1500, 4000, 10**6)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].weights, other.weights)
        np.testing.assert_array_equal(found[0].alpha, other.alpha)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_cutting_into_chunks_gives_the_same_bits(solver):
    with of_blocks() as problem:
        straight = solver.start(problem, SEED)
        solver.advance_to(problem, straight, 1000)
    with of_blocks() as problem:
        cut = solver.start(problem, SEED)
        for visits in (1, 2, 20, 26, 119, 120, 121, 240, 500, 777, 1000):
            solver.advance_to(problem, cut, visits)
        np.testing.assert_array_equal(solver.point(problem, cut)[1], solver.point(problem, straight)[1])
        np.testing.assert_array_equal(solver.point(problem, cut)[0], solver.point(problem, straight)[0])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("visits", [60, 120, 361, 2500])
def test_a_state_that_was_packed_continues_as_if_it_had_not(solver, visits):
    with of_blocks() as problem:
        state = solver.start(problem, SEED)
        solver.advance_to(problem, state, visits)
        again = unpack(problem, solver, deepcopy(pack(state)))
        solver.advance_to(problem, state, visits + 500)
        first = [part.copy() for part in solver.point(problem, state)]
    with of_blocks(room=0) as problem:
        solver.advance_to(problem, again, visits + 500)
        for one, other in zip(first, solver.point(problem, again), strict=True):
            np.testing.assert_array_equal(one, other)


def test_sparse_blocks_lead_to_the_same_steps():
    dense, sparse = (solved(BlockAscent(), Stop(None, 5), values=values) for values in (X, sp.csr_matrix(X)))
    np.testing.assert_allclose(dense.alpha, sparse.alpha, atol=1e-12)


def test_what_is_left_is_gathered_and_blocks_are_not_read_again():
    with of_blocks(room=0) as problem:
        solver = BlockAscent()
        state = solver.start(problem, SEED)
        for _ in range(1000):
            solver.advance_to(problem, state, solver.next_look(problem, state) + 1)
            if state.gathered is not None:
                break
        n_read = problem.window.n_read
        solver.advance_to(problem, state, state.walk.visits + 2000)
        assert problem.window.n_read == n_read
        assert len(state.gathered.numbers) <= 25


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", 10**6),
        ("counters", 0xEE),
        ("weights", None),
        ("alpha", None),
        ("place", 77),
        ("left", 0),
        ("turn", -5),
    ],
)
@pytest.mark.parametrize("solver", SOLVERS[:3])
def test_parts_that_would_lead_a_loop_astray_are_refused(solver, name, value):
    with of_blocks() as problem:
        state = solver.start(problem, SEED)
        solver.advance_to(problem, state, 305)
        packed = deepcopy(pack(state))
        if name in packed.values["walk"]:
            packed.values["walk"][name] = value
        elif value is None:
            packed.arrays[name] = packed.arrays[name][:, :-1]
        else:
            packed.arrays[name][:] = value
        with pytest.raises(PegasosError, match="its parts do not fit together"):
            unpack(problem, solver, packed)


def uneven_source():
    """A block of 360 short rows, and seven of 50 long ones: all long rows are fewer than the rows of one block."""
    random = np.random.default_rng(8)
    short = sp.csr_matrix((random.normal(size=360), random.integers(20, size=360), np.arange(361)), (360, 20))
    values = sp.vstack([short, sp.csr_matrix(random.normal(size=(350, 20)))], "csr")
    codes = (values[:, [0, 1]].sum(axis=1).A1 + random.normal(size=710) > 0).astype(np.int8)
    source = ArraySource(values, codes)
    source.starts = np.append([0], np.arange(360, 711, 50))
    return source, codes


def test_gathered_rows_take_no_more_memory_than_a_block():
    source, codes = uneven_source()
    with Window(source, BIAS, 0) as window:
        problem, solver = SourceProblem(window, ClassColumns(codes, (1,)), 0.05, 710.0), BlockAscent()
        state = solver.start(problem, SEED)
        while state.gathered is None:
            solver.advance_to(problem, state, state.walk.visits + 1)
        largest = max(bytes_of(source.block(k).X) for k in range(source.n_blocks))
        assert bytes_of(window.gathered(state.gathered.numbers).values) <= largest


def test_rows_are_not_numbered_while_their_counts_say_that_they_are_too_many(monkeypatch):
    with of_blocks(room=0) as problem:
        solver = BlockAscent()
        state = solver.start(problem, SEED)
        solver.advance_to(problem, state, solver.next_look(problem, state))
        assert sum(mine.active for mine in state.counters[0]) > 25
        monkeypatch.setattr(BlockAscent, "_rows_left", lambda *_: pytest.fail("the rows were numbered"))
        solver._consider_gathering(problem, state)
    assert state.gathered is None


def test_sums_of_blocks_have_the_room_of_those_in_memory_where_rounding_counts():
    values = X * 10.0 ** np.arange(3, 10)
    sign = np.where(CODES == 1, 1, -1).astype(np.int8)
    here = Problem(Rows.of(values, BIAS), sign, FACTORS[CODES], np.zeros(len(X)), 1e-6, float(len(X)))
    alpha = run(here, Auto(Pegasos(), DualAscent(), 1e-6), Stop(tol=1e-6)).alpha
    bound = dual_point(here, alpha)[1]
    with of_blocks(values, lam=1e-6) as problem:
        assert dual_point(problem, alpha[None])[1] == pytest.approx(bound, rel=1e-9)


def test_what_newtons_method_left_is_not_lost():
    """Dual ascent continues from it, through points that are worse, on features that suit it badly."""
    values = X * 10.0 ** np.arange(7)
    gaps = []
    with of_blocks(values, lam=1e-5) as problem:
        solver = BlockAuto.of_type(np.float64, 1e-14)
        state = solver.start(problem, SEED)
        for _ in range(40):
            solver.advance_to(problem, state, solver.next_look(problem, state))
            if state.best is not None or state.is_finished:
                gaps.append(solver.review(problem, state, 1e-14).certificate.relative_gap)
            if state.is_exhausted:
                break
    assert len(gaps) > 1
    assert gaps == sorted(gaps, reverse=True)


def test_newton_over_blocks_ends_when_its_time_is_over():
    with of_blocks() as problem, within(0.0), pytest.raises(TimeIsUp):  # in its first pass, and in every other one
        BlockNewton(problem, 1e-9)
