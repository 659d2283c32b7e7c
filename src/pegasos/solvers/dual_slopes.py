"""The slopes of the dual of a kernel machine: the gap and the violations that they show, and feasible dual points.

In the variables b_i = sign_i alpha_i, slopes and room are as in `decomposition`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.certificate import balanced
from pegasos.gram import KernelRows, Numbers
from pegasos.problem import Floats, Problem, inner

_HALVINGS = 60  # bisection steps for the best intercept
_SETTLEMENTS = 32  # rows tried when making two sums of doubles equal

Column = npt.NDArray[np.float64]


class Room(NamedTuple):
    """How far each b_i can still fall and rise."""

    down: Column  # at most 0
    up: Column  # at least 0


def rows_of(problem: Problem) -> KernelRows:
    """The rows of a problem that are given by a kernel."""
    assert isinstance(problem.rows, KernelRows)
    return problem.rows


def room_of(problem: Problem, alpha: Column) -> Room:
    """How far each row can move from this dual point."""
    left = problem.bound - alpha
    return Room(np.where(problem.sign > 0, -alpha, -left), np.where(problem.sign > 0, left, alpha))


def feasible(problem: Problem, alpha: Floats, *, is_free: bool) -> Column:
    """Bring the dual point within its bounds; where the intercept is free, make sum alpha_i sign_i = 0.

    What rounding leaves of that sum goes to free rows, so that rows at their bounds stay exactly there.
    """
    if not is_free:
        return np.clip(alpha, 0.0, problem.bound).astype(np.float64)
    near = np.clip(alpha, 0.0, problem.bound).astype(np.float64)
    room = np.minimum(near, problem.bound - near)
    n = min(_SETTLEMENTS, len(room))
    for row in np.argpartition(-room, n - 1)[:n] if n else ():
        left = float(np.sum(near[problem.sign > 0]) - np.sum(near[problem.sign < 0]))
        if left == 0.0 or not abs(left) < room[row]:
            break
        near[row] -= problem.sign[row] * left
    return balanced(problem, near)


def best_part(problem: Problem, alpha: Column, scores: Column) -> float:
    """Fraction of a dual point with the best objective: a point from another kernel may be far too long."""
    gain = inner(alpha, 1.0 - problem.sign * problem.offset)
    square = inner(problem.sign * alpha, scores) + 2.0 * float(problem.ridge_terms(alpha))
    return gain / square if 0.0 < gain < square < np.inf else 1.0


def slopes_of(problem: Problem, alpha: Column, scores: Column) -> Column:
    """Compute h_i of a dual point with these scores."""
    slopes: Column = problem.sign - problem.offset - scores
    return slopes if problem.ridge == 0.0 else slopes - problem.damping * problem.sign * alpha


def moved(problem: Problem, alpha: Column, slope: Column, members: Numbers, b: Column) -> tuple[Column, Column]:
    """Move these rows to b; return the dual point and the slopes of all rows there."""
    rows = rows_of(problem)
    after = np.clip(problem.sign[members] * b, 0.0, problem.bound[members])
    change = after - alpha[members]
    factors = np.zeros(rows.n_rows)
    factors[members] = -problem.sign[members] * change / (problem.lam * problem.total)
    slope, alpha = slope.copy(), alpha.copy()
    rows.add_columns(members[change != 0.0], factors, slope)
    if problem.ridge > 0.0:
        slope[members] -= problem.damping[members] * problem.sign[members] * change
    alpha[members] = after
    return alpha, slope


def extremes(slope: Column, room: Room) -> tuple[float, float]:
    """Return the smallest slope of a row that can fall, and the largest slope of a row that can rise."""
    lowest = float(np.min(slope, where=room.down < 0.0, initial=np.inf))
    return lowest, float(np.max(slope, where=room.up > 0.0, initial=-np.inf))


def can_move(slope: Column, room: Room, *, is_free: bool) -> npt.NDArray[np.bool_]:
    """Rows whose move improves the objective, alone or together with another row."""
    lowest, highest = extremes(slope, room) if is_free else (0.0, 0.0)
    return ((room.up > 0.0) & (slope > lowest)) | ((room.down < 0.0) & (slope < highest))


def violations(problem: Problem, slope: Column, room: Room, *, is_free: bool) -> Column:
    """Violation of each row: for pairs the difference from the extreme slope, else the gain of its step."""
    if is_free:
        lowest, highest = extremes(slope, room)
        rising = np.where(room.up > 0.0, slope - lowest, 0.0)
        return np.maximum(np.maximum(rising, np.where(room.down < 0.0, highest - slope, 0.0)), 0.0)
    curvature = problem.rows.squared_norms / (problem.lam * problem.total) + problem.damping
    with np.errstate(divide="ignore", invalid="ignore"):
        full = np.where(curvature > 0.0, slope / curvature, np.inf * np.sign(slope))
    move = np.clip(np.nan_to_num(full), room.down, room.up)
    return np.asarray(move * (slope - 0.5 * curvature * move))


def gap_of(slope: Column, room: Room, damping: Column, is_free: bool) -> tuple[float, float]:
    """Duality gap implied by slopes and room, times total, and the best intercept, at which it is measured."""
    if damping.any():
        return _damped_gap(slope, room, damping, is_free)
    level = 0.0
    if is_free and len(slope):
        order = np.argsort(slope)
        passed = np.cumsum((room.up - room.down)[order])  # the gap falls until this exceeds the sum of all `up`
        level = float(slope[order[min(int(np.searchsorted(passed, np.sum(room.up))), len(order) - 1)]])
    above = slope - level
    return float(np.sum(above * np.where(above > 0.0, room.up, room.down))), level


def _damped_gap(slope: Column, room: Room, damping: Column, is_free: bool) -> tuple[float, float]:
    """The same with a ridge: a row contributes the largest m (h_i - level) - d_i m^2 / 2 within its room."""

    def moves(level: float) -> Column:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.nan_to_num((slope - level) / damping)
        return np.clip(found, room.down, room.up)

    level = 0.0
    if is_free and len(slope):
        low, high = float(slope.min()), float(slope.max())
        for _ in range(_HALVINGS):
            level = 0.5 * (low + high)
            low, high = (level, high) if float(np.sum(moves(level))) > 0.0 else (low, level)
    move = moves(level)
    return float(np.sum(move * (slope - level - 0.5 * damping * move))), level
