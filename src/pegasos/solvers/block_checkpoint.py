"""Convert the state of a walk over blocks to values and arrays that a file can hold, and back.

A state from a file is compared with a fresh one, and every number that a loop would use to address memory is checked,
so a file that was tampered with is rejected, whatever it contains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.solvers.block_ascent import BlockAscent, BlockDualState, Gathered
from pegasos.solvers.block_auto import BlockAuto, BlockAutoState
from pegasos.solvers.block_pegasos import BlockPegasos, BlockPegasosState
from pegasos.solvers.walk import Walk, rows_of
from pegasos.source_problem import SourceProblem

BlockSolver = BlockAscent | BlockPegasos | BlockAuto
Arrays = Mapping[str, npt.NDArray[Any]]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Packed(NamedTuple):
    """A state in parts."""

    values: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


def pack(state: BlockDualState | BlockPegasosState | BlockAutoState) -> Packed:
    """Return the parts of a state, sharing its arrays."""
    if isinstance(state, BlockAutoState):
        at_work = state.dual if state.dual is not None else state.pegasos
        assert at_work is not None
        values, arrays = pack(at_work)
        return Packed({**values, "first_gap": state.first_gap}, arrays)
    arrays = {"weights": state.weights, "alpha": state.alpha, "order": state.order}
    if isinstance(state, BlockPegasosState):
        arrays["counters"] = _bytes(state.counters)
        if state.weight_sums is not None and state.alpha_sums is not None:
            arrays |= {"weight_sums": state.weight_sums, "alpha_sums": state.alpha_sums}
        return Packed({"method": "pegasos", "walk": asdict(state.walk)}, arrays)
    arrays["resting"] = state.resting
    arrays["counters"] = _bytes([each for of_problem in state.counters for each in of_problem])
    if state.gathered is not None:
        arrays |= {"gathered_numbers": state.gathered.numbers, "gathered_order": state.gathered.order}
        arrays["gathered_counters"] = _bytes(state.gathered.counters)
    return Packed({"method": "dual", "walk": asdict(state.walk), "target": state.target}, arrays)


def unpack(problem: SourceProblem, solver: BlockSolver, packed: Packed) -> Any:
    """Rebuild the state from these parts; raise PegasosError where they do not fit this solver and problem."""
    try:
        return _unpack(problem, solver, packed)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise PegasosError(f"its parts do not fit together: {error}.") from error


def _unpack(problem: SourceProblem, solver: BlockSolver, packed: Packed) -> Any:
    values, arrays = packed
    walk = Walk(**{name: _count(name, value) for name, value in values["walk"].items()})
    if isinstance(solver, BlockAuto):
        is_dual = values["method"] == "dual"
        inner_solver = solver.ascent if is_dual else solver.pegasos
        state = _unpack(problem, inner_solver, packed)
        first_gap = float(values["first_gap"])
        return BlockAutoState(dual=state, first_gap=first_gap) if is_dual else BlockAutoState(state, None, first_gap)
    if values["method"] != ("pegasos" if isinstance(solver, BlockPegasos) else "dual"):
        raise ValueError("another solver")
    if isinstance(solver, BlockPegasos):
        return _pegasos_state(problem, solver.start(problem, walk.seed), walk, arrays)
    return _dual_state(problem, solver.start(problem, walk.seed), walk, float(values["target"]), arrays)


def _pegasos_state(problem: SourceProblem, fresh: BlockPegasosState, walk: Walk, arrays: Arrays) -> BlockPegasosState:
    sums = {name: _like(getattr(fresh, name), name, arrays) for name in ("weight_sums", "alpha_sums")}
    counters = _counters(_core.PegasosCounters, len(fresh.counters), arrays["counters"])
    order = _like(fresh.order, "order", arrays)
    if walk.place >= 0:
        _check_place(problem, walk, problem.n_problems, problem.n_blocks)
        n_rows = rows_of(problem, _block(problem, walk))
        at_work = counters[walk.turn]
        _check(0 <= at_work.position <= n_rows and walk.left <= n_rows, "position")
        _check(bool((order[:n_rows] < n_rows).all()), "order")
    point = {name: _like(getattr(fresh, name), name, arrays) for name in ("weights", "alpha")}
    return replace(fresh, walk=walk, counters=counters, order=order, **point, **sums)


def _dual_state(
    problem: SourceProblem, fresh: BlockDualState, walk: Walk, target: float, arrays: Arrays
) -> BlockDualState:
    kept = {name: _like(getattr(fresh, name), name, arrays) for name in ("weights", "alpha", "order", "resting")}
    n_problems, n_blocks = problem.n_problems, problem.n_blocks
    flat = _counters(_core.DualCounters, n_problems * n_blocks, arrays["counters"])
    counters = [flat[k * n_blocks : (k + 1) * n_blocks] for k in range(n_problems)]
    for k, of_problem in enumerate(counters):
        for block, mine in enumerate(of_problem):
            _check_sweep(mine, kept["order"][k, problem.span(block)])
    gathered = _gathered(problem, arrays) if "gathered_numbers" in arrays else None
    if walk.place >= 0:
        _check_place(problem, walk, 2 * n_problems, n_blocks if gathered is None else 1)
    return replace(fresh, walk=walk, counters=counters, gathered=gathered, target=target, **kept)


def _gathered(problem: SourceProblem, arrays: Arrays) -> Gathered:
    numbers, order = arrays["gathered_numbers"], arrays["gathered_order"]
    _check(numbers.ndim == 1 and numbers.dtype == np.intp and len(numbers) > 0, "gathered_numbers")
    _check(bool((np.diff(numbers) > 0).all()) and numbers[0] >= 0 and numbers[-1] < problem.n_rows, "numbers")
    _check(order.shape == (problem.n_problems, len(numbers)) and order.dtype == np.uint32, "gathered_order")
    counters = _counters(_core.DualCounters, problem.n_problems, arrays["gathered_counters"])
    for k, mine in enumerate(counters):
        _check_sweep(mine, order[k])
    return Gathered(numbers, order, counters)


def _check_sweep(counters: _core.DualCounters, order: npt.NDArray[np.uint32]) -> None:
    """Check that the loop can continue from here without reading beyond the rows."""
    n_rows, left = len(order), counters.active
    _check(0 <= counters.position <= n_rows and 0 <= left <= n_rows and 0 <= counters.visits < 2**62, "counters")
    _check(bool((order[:left] < n_rows).all()), "order")


def _check_place(problem: SourceProblem, walk: Walk, n_turns: int, n_places: int) -> None:
    _check(walk.place < n_places and 0 <= walk.turn < n_turns and walk.left > 0, "walk")


def _block(problem: SourceProblem, walk: Walk) -> int:
    order = np.random.default_rng([walk.seed, walk.number]).permutation(problem.n_blocks)
    return int(order[walk.place])


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} cannot be")


def _count(name: str, value: Any) -> int:
    _check(isinstance(value, int) and -1 <= value < 2**62, name)
    return int(value)


def _like(fresh: npt.NDArray[Any] | None, name: str, arrays: Arrays) -> Any:
    """Return the array of this name, with the type and the shape that it must have.

    Another tol may require another precision, so floats are converted.
    """
    if fresh is None:
        _check(name not in arrays, name)
        return None
    array = arrays[name]
    are_floats = array.dtype in _FLOATS and fresh.dtype in _FLOATS
    _check(array.shape == fresh.shape and (are_floats or array.dtype == fresh.dtype), name)
    with np.errstate(over="ignore"):  # the certificate reports it
        return array.astype(fresh.dtype, copy=False)


def _bytes(counters: list[Any]) -> npt.NDArray[np.uint8]:
    return np.stack([np.frombuffer(each.__getstate__(), np.uint8) for each in counters])


def _counters(kind: Any, n: int, stored: npt.NDArray[Any]) -> list[Any]:
    _check(stored.ndim == 2 and len(stored) == n and stored.dtype == np.uint8, "counters")
    counters = [kind.__new__(kind) for _ in range(n)]
    for each, row in zip(counters, stored, strict=True):
        each.__setstate__(row.tobytes())
    return counters
