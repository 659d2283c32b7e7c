"""Online learners on items known by their kernel: f(x) = sum_j coefficient_j (k(x_j, x) + bias^2).

The stream is cut into blocks. The kernel of a block with the support, and with itself, comes as two products of
matrices; then the loop of the linear learners (cpp/core/pegasos/online.h) goes through the block, with the scores of
its rows instead of weights: testing a row reads its score, adding it adds its column to all scores.

Kivinen, Smola, Williamson: Online learning with kernels. IEEE Transactions on Signal Processing 52, 2004 (NORMA, and
the truncation of the oldest terms). Freund, Schapire: Large margin classification using the perceptron algorithm.
Machine Learning 37, 1999 (the perceptron in dual form). Cavallanti, Cesa-Bianchi, Gentile: Tracking the best hyperplane
with a simple budget perceptron. Machine Learning 69, 2007 (a support vector dropped at random).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.kernels.base import Items, Kernel
from pegasos.problem import Floats
from pegasos.solvers.online import Curve, Labels, NativeRule, Order, StepRule, no_limit

_BLOCK_ROWS = 256

Numbers = npt.NDArray[np.intp]
Removal = Literal["oldest", "random"]


@dataclass(frozen=True)
class NormaStep:
    """Shrink by 1 - eta lam; below a margin of rho add eta cost sign k(x, .), and with nu move rho too."""

    eta: float = 0.5
    lam: float = 1e-3
    nu: float | None = None

    def native(self) -> NativeRule:
        """Pass all three parameters; nu = 0 keeps rho at 1."""
        return NativeRule("norma", self.eta, self.lam, self.nu or 0.0)


@dataclass
class KernelOnlineState:
    """Coefficients of the current items, stored without the common scale, and the support among them, oldest first."""

    counters: _core.OnlineCounters
    stored: npt.NDArray[np.float64]  # (n_problems, n_items)
    support: dict[int, None]  # an ordered set
    rho: npt.NDArray[np.float64]
    curve: Curve
    random: np.random.Generator
    scale: float = 1.0

    def copy(self) -> KernelOnlineState:
        """Return an independent copy."""
        return copy.deepcopy(self)

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite."""
        return bool(np.isfinite(self.stored).all())

    @property
    def support_numbers(self) -> Numbers:
        """The numbers of the support, the oldest first."""
        return np.fromiter(self.support, np.intp, len(self.support))

    @property
    def vectors(self) -> npt.NDArray[np.float64]:
        """Coefficients of all current items, one row per problem."""
        return self.scale * self.stored

    def shrink(self, factor: float) -> None:
        """Multiply all coefficients; those of items outside the support are 0."""
        self.scale *= factor
        if self.scale < 1e-9:  # keep the stored values from overflowing
            self.stored *= self.scale
            self.scale = 1.0

    def move_to(self, n_items: int) -> KernelOnlineState:
        """Return a state with the support first, in its order, and new items after it, n_items in total."""
        n_old = len(self.support)
        kept = self.stored[:, self.support_numbers]
        self.stored = np.hstack([kept, np.zeros((len(kept), n_items - n_old))])
        self.support = dict.fromkeys(range(n_old))
        return self


@dataclass(frozen=True)
class KernelOnlineLearner:
    """A rule, and how many support vectors it may have.

    Attributes
    ----------
    rule : a step rule of first order
    budget : support vectors at most; None for no limit
    removal : "oldest" or "random": which one goes when the budget is exceeded
    bias : the constant feature
    """

    rule: StepRule
    budget: int | None = None
    removal: Removal = "oldest"
    bias: float = 1.0

    @cached_property
    def _native(self) -> NativeRule:
        return self.rule.native()

    @cached_property
    def _shrink(self) -> float:
        """Factor that each step applies to the coefficients."""
        return 1.0 - self._native.size * self._native.lam if self._native.word == "norma" else 1.0

    def start(self, n_problems: int, n_items: int, seed: int) -> KernelOnlineState:
        """Before the first item."""
        return KernelOnlineState(
            _core.OnlineCounters(),
            np.zeros((n_problems, n_items)),
            {},
            np.ones(n_problems),
            Curve(),
            np.random.default_rng(seed),
        )

    def advance(self, state: KernelOnlineState, kernel: Kernel, items: Items, labels: Labels, order: Order) -> None:
        """Visit the items of the order that have a positive cost, block by block."""
        for begin in range(0, len(order), _BLOCK_ROWS):
            members = order[begin : begin + _BLOCK_ROWS].astype(np.intp)
            block = _Block.of(kernel, items, members, state, self.bias)
            self._visit(state, block, Labels(labels.codes[members], labels.cost[members]))

    def _visit(self, state: KernelOnlineState, block: _Block, labels: Labels) -> None:
        """Visit one block: the loop stops where the curve has a point, or where the support might exceed its budget."""
        n, now = len(block.members), state.counters
        order = np.arange(n, dtype=np.uint32)
        place = 0
        while place < n:
            until = min(n, place + state.curve.due - now.step)
            limit = no_limit if self.budget is None else max(1, self.budget - len(state.support))
            moves = np.zeros((len(state.rho), until - place))
            reached = _core.online_advance(
                block.native, labels.codes, labels.cost, order, place, until, limit, *self._native,
                now, block.scores, state.rho, None, None, np.empty(len(state.rho)), moves,
            )  # fmt: skip
            block.scores *= now.scale
            now.scale = 1.0
            self._enter(state, block.members[place:reached], moves[:, : reached - place])
            while self.budget is not None and len(state.support) > self.budget:
                self._remove(state, block)
            state.curve.note(now)
            place = reached

    def _enter(self, state: KernelOnlineState, visited: Numbers, moves: npt.NDArray[np.float64]) -> None:
        """Apply the changes of the scores to the coefficients."""
        if self._shrink != 1.0:
            state.shrink(self._shrink ** len(visited))
            moves = moves * self._shrink ** np.arange(len(visited) - 1, -1, -1)
        for place in np.flatnonzero(moves.any(axis=0)):
            item = int(visited[place])
            state.stored[:, item] += moves[:, place] / state.scale
            state.support.setdefault(item)  # an item that is already there gets a larger coefficient

    def _remove(self, state: KernelOnlineState, block: _Block) -> None:
        if self.removal == "oldest":
            item = next(iter(state.support))
        else:
            item = list(state.support)[state.random.integers(len(state.support))]
        block.scores[:, :-1] -= np.outer(state.scale * state.stored[:, item], block.column(item))
        state.stored[:, item] = 0.0
        del state.support[item]


@dataclass
class _Block:
    """Some items to visit: their kernel with the support and with themselves, and their scores."""

    members: Numbers
    kernel_with: Floats  # rows: the support at the start of the block, then the members; columns: the members
    row_of: dict[int, int]
    native: _core.Rows
    scores: npt.NDArray[np.float64]  # (n_problems, n_members + 1); the last entry is unused

    @classmethod
    def of(cls, kernel: Kernel, items: Items, members: Numbers, state: KernelOnlineState, bias: float) -> _Block:
        support = state.support_numbers
        everyone = np.concatenate([support, members])
        mine = items.take(members)
        values = np.empty((len(everyone), len(members)), kernel.result_type(mine, mine))
        kernel.fill(items.take(everyone), mine, values, bias**2)
        scores = np.zeros((len(state.rho), len(members) + 1))
        coefficients = state.scale * state.stored[:, support]
        scores[:, :-1] = coefficients.astype(values.dtype) @ values[: len(support)]
        row_of = {int(item): row for row, item in enumerate(everyone)}
        return cls(members, values, row_of, _core.gram_rows(values[len(support) :]), scores)

    def column(self, item: int) -> Floats:
        """The kernel of an item with the members."""
        column: Floats = self.kernel_with[self.row_of[item]]
        return column
