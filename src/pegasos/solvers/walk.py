"""Walking over the blocks of a source, whose rows need not fit into memory.

    P_k(w) = lam/2 |w|^2 + (1/total) sum_i cost_i max(0, 1 - sign_ik <w, x_i>),    all k while a block is in memory

Matsushima, Vishwanathan, Smola: Linear support vector machines via dual cached loops. KDD 2012 (StreamSVM): one thread
reads while another trains, and rows that cannot matter leave memory. Unlike there, the order of training depends only
on the seed and on the data: the blocks of a walk come in random order, the rows of a block in random order, and no
result depends on the speed of the reader or on the available memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from pegasos.certificate import certificate_of, combine
from pegasos.problem import Floats, inner
from pegasos.solvers.driver import Review
from pegasos.source_problem import SourceProblem, Sums
from pegasos.window import Numbers


@dataclass
class Walk:
    """The position of a run among the blocks."""

    seed: int
    number: int = -1  # number of the walk
    place: int = -1  # position in the order of the walk; -1 between two walks
    turn: int = 0  # turn on the current block: that of problem turn % n_problems
    left: int = 0  # visits left in this turn
    visits: int = 0  # visits of all walks and problems


@dataclass
class BlockState:
    """The state that every walker carries from block to block; one row per problem."""

    walk: Walk
    weights: Floats  # (n_problems, n_features + 1)
    alpha: Floats  # (n_problems, n_rows)


State = TypeVar("State", bound=BlockState)


class Walker(ABC, Generic[State]):
    """Go from block to block, and on each block from problem to problem: each makes some visits per turn."""

    def steps(self, state: State) -> int:
        """Rows visited so far, for all problems."""
        return state.walk.visits

    def visits(self, state: State) -> int:
        """Rows visited so far, for all problems."""
        return state.walk.visits

    def advance_to(self, problem: SourceProblem, state: State, visits: int) -> None:
        """Continue with the current block, and then with the next ones."""
        walk, order = state.walk, self._order(problem, state)
        while walk.visits < visits:
            if walk.place < 0:
                self._begin_walk(problem, state)
                order = self._order(problem, state)
            if problem.window.occasion != walk.number:
                self._announce(problem, state, order)
            block = order[walk.place]
            n_visits = min(visits - walk.visits, walk.left)
            self._work(problem, state, block, n_visits)
            walk.visits += n_visits
            walk.left -= n_visits
            if walk.left == 0:
                self._end_turn(problem, state, block)
                self._move_on(problem, state, order)
                if walk.place < 0 or order[walk.place] != block:
                    self._leave(problem, state, block)

    def next_look(self, problem: SourceProblem, state: State) -> int:
        """Return the visits of this walk as far as they can be foreseen, never beyond its end."""
        walk, problems = state.walk, range(problem.n_problems)
        here, *others = self._order(problem, state)[max(walk.place, 0) :]
        first = 0 if walk.place < 0 else walk.turn + 1
        # The second turn of a problem on a block depends on the first.
        coming = {turn % problem.n_problems for turn in range(first, self._n_turns(problem))}
        if walk.place >= 0:
            coming.discard(walk.turn % problem.n_problems)
        to_come = sum(self._size(problem, state, k, here) for k in coming)
        to_come += sum(self._size(problem, state, k, block) for k in problems for block in others)
        return walk.visits + walk.left + to_come

    def point(self, problem: SourceProblem, state: State) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual points of all problems that the loops have computed."""
        return state.weights.astype(np.float64), state.alpha

    def _begin_walk(self, problem: SourceProblem, state: State) -> None:
        walk = state.walk
        walk.number, walk.place, walk.turn = walk.number + 1, 0, -1
        self._move_on(problem, state, self._order(problem, state))

    def _move_on(self, problem: SourceProblem, state: State, order: list[int]) -> None:
        """Go to the next turn of this walk that has visits to make, or to its end."""
        walk = state.walk
        for place in range(walk.place, len(order)):
            for turn in range(walk.turn + 1 if place == walk.place else 0, self._n_turns(problem)):
                walk.left = self._size(problem, state, turn % problem.n_problems, order[place])
                if walk.left > 0:
                    walk.place, walk.turn = place, turn
                    self._begin_turn(problem, state, order[place])
                    return
        walk.place, walk.turn = -1, 0

    def _n_turns(self, problem: SourceProblem) -> int:
        """How many turns there are on a block."""
        return problem.n_problems

    def _order(self, problem: SourceProblem, state: State) -> list[int]:
        """The blocks in the order of this walk."""
        order: list[int] = (
            np.random.default_rng([state.walk.seed, max(state.walk.number, 0)]).permutation(problem.n_blocks).tolist()
        )
        return order

    def _announce(self, problem: SourceProblem, state: State, order: list[int]) -> None:
        """Announce to the reader the blocks that the rest of this walk needs."""
        at_hand, *others = order[state.walk.place :]
        busy = [b for b in others if any(self._size(problem, state, k, b) for k in range(problem.n_problems))]
        blocks = [at_hand, *busy]
        problem.window.plan(state.walk.number, blocks, whole=[b for b in blocks if self._needs_all(state, b)])

    def _leave(self, problem: SourceProblem, state: State, block: int) -> None:
        """Called when the block has had all its turns of this walk."""
        problem.window.leave(block, self._rows_left(problem, state, block))

    @abstractmethod
    def _size(self, problem: SourceProblem, state: State, k: int, block: int) -> int:
        """Return the visits that the next turn of problem k on this block will make."""

    @abstractmethod
    def _needs_all(self, state: State, block: int) -> bool:
        """Whether all rows of the block are needed, not only the active ones."""

    @abstractmethod
    def _rows_left(self, problem: SourceProblem, state: State, block: int) -> Numbers:
        """Return the rows of the source's block that its next turns will need, ascending."""

    @abstractmethod
    def _work(self, problem: SourceProblem, state: State, block: int, n_visits: int) -> None:
        """Make visits of the problem whose turn it is."""

    def _begin_turn(self, problem: SourceProblem, state: State, block: int) -> None:
        """Called before the first visit."""

    def _end_turn(self, problem: SourceProblem, state: State, block: int) -> None:
        """Called after the last visit."""


def rows_of(problem: SourceProblem, block: int) -> int:
    """Number of a problem's rows in a block."""
    mine = problem.span(block)
    return int(mine.stop - mine.start)


def review_of(problem: SourceProblem, weights: npt.NDArray[np.float64], alpha: Floats) -> tuple[Review, list[Sums]]:
    """Certify all problems in one pass over all rows; also return the underlying sums."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = problem.sums(weights, alpha)
        parts = []
        for given, (losses, own) in zip(weights, found, strict=True):
            away = given - own.weights
            parts.append(certificate_of(problem, losses, own, inner(own.weights, own.weights), inner(away, away)))
    return Review(combine(parts), weights, alpha), found
