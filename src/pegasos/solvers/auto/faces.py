"""Conjugate gradients over the rows between their bounds, a face of the box, in turn with dual ascent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos import _core
from pegasos.certificate import dual_point
from pegasos.problem import Problem, Rows
from pegasos.solvers.auto.stage import AutoState

_EPOCHS = 8  # conjugate gradients are tried when at least this many epochs remain
_PRICE = 100  # price of an interior point, in epochs, above which conjugate gradients are tried
_SHARE = 0.5  # conjugate gradients may take this fraction of the work of dual ascent
_FIRST_PRODUCTS = 30  # products with all rows that the first move is expected to take
_PASSES = 3  # passes over the rows before and after a move
_WORK = 3e7  # multiplications allowed per call of conjugate gradients
_MOST_PRODUCTS = 300


@dataclass(frozen=True)
class Faces:
    """Moves on faces; there is nothing to set."""

    def is_turn(self, problem: Problem, state: AutoState, to_go: float, inside: float, *, epoch: float) -> bool:
        """Whether to move now, given the epochs to go and the prices of an interior point and of an epoch.

        After another move, conjugate gradients must have had at most their share of the work.
        """
        if not (inside > _PRICE * epoch and to_go > _EPOCHS and len(state.gaps) >= 2):
            return False
        expected = state.face_work / state.faces if state.faces > 0 else _price(problem, 2 * _FIRST_PRODUCTS)
        assert state.dual is not None
        visits = state.visits_before + state.dual.visits - state.face_visits
        return state.face_work + expected <= _SHARE * (visits / problem.rows.n_rows) * epoch

    def move(self, problem: Problem, state: AutoState) -> tuple[Any, int, int] | None:
        """Return the dual point after a move, with its visits and products; None on a face that is too large."""
        assert state.dual is not None
        alpha = problem.within_bounds(state.dual.alpha).astype(np.float64)
        free = np.flatnonzero((alpha > 0.0) & (alpha < problem.bound)).astype(np.uint32)
        if len(free) > problem.rows.n_features:  # more rows than the weights can satisfy at once
            return None
        weights, _ = dual_point(problem, alpha)
        products, _, _ = _core.face_advance(problem.native, free, weights, alpha, most_products(problem, len(free)))
        visits = 2 * products * len(free)
        state.faces += 1
        state.face_visits += visits
        state.face_work += _price(problem, visits / problem.rows.n_rows)
        return alpha, visits, products


def most_products(problem: Problem, n_rows: int) -> int:
    """How many products with this many rows one call of conjugate gradients may take."""
    assert isinstance(problem.rows, Rows)
    stored = problem.rows.n_stored / problem.rows.n_rows
    return int(np.clip(_WORK / (2.0 * max(n_rows, 1) * (stored + 10.0)), 10, _MOST_PRODUCTS))


def _price(problem: Problem, passes: float) -> float:
    """Nanoseconds of a move by conjugate gradients that reads the rows this often, the change of methods included."""
    assert isinstance(problem.rows, Rows)
    n, stored = problem.rows.n_rows, problem.rows.n_stored
    return (passes + _PASSES) * (3.0 * n + 0.7 * stored)
