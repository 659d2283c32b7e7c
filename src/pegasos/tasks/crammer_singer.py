"""Classification with one problem of all classes at once, after Crammer and Singer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.joint_problem import JointProblem, no_offset
from pegasos.rounding import all_of, nothing
from pegasos.tasks.base import NOTHING_KNOWN, Known, Scores, Target, Weights
from pegasos.tasks.labels import costs_of
from pegasos.tasks.one_vs_rest import OneVsRest
from pegasos.tasks.terms import Terms


class CrammerSinger(OneVsRest):
    """One problem of all classes at once.

    For two classes it is the problem of w_1 - w_0, an ordinary one with half the lam: among all pairs with the same
    difference, the shortest is w_1 = -w_0.
    """

    name = "crammer_singer"
    noun = "problem"
    words = "all classes at once"

    @property
    def n_problems(self) -> int:
        """One."""
        return 1

    @property
    def n_vectors(self) -> int:
        """One vector per class; for two classes their difference."""
        return 1 if self.n_classes == 2 else self.n_classes

    def problem_names(self, names: Sequence[str]) -> list[str]:
        """The one problem."""
        return super().problem_names(names) if self.n_classes == 2 else [self.words]

    def problems(
        self, rows: Any, target: Target, weights: Weights | None, terms: Terms, known: Known = NOTHING_KNOWN
    ) -> Sequence[Any]:
        """A `JointProblem`, with an offset for each class."""
        if self.n_classes == 2:
            return super().problems(rows, target, weights, replace(terms, lam=0.5 * terms.lam), known)
        # A row of weight 0 may have a label outside the classes, encoded as -1.
        codes = np.maximum(target, 0).astype(np.int32)
        offset = no_offset(rows.n_rows, self.n_classes) if known.offsets is None else np.column_stack(known.offsets)
        cost = costs_of(target, weights, self.factors)
        together = nothing if known.carried is None else all_of(known.carried)
        return [JointProblem(rows, codes, cost, offset, terms.lam, terms.total, together)]

    def against_others(self, scores: Scores) -> Scores:
        """Margin of each class over the best other one."""
        if self.n_classes == 2:
            return scores
        first_two = np.partition(scores, self.n_classes - 2, axis=1)[:, -2:]
        is_best = scores == first_two[:, 1:]
        return np.asarray(scores - np.where(is_best, first_two[:, :1], first_two[:, 1:]))

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """Whether the winner leads by more than the difference of two scores can move.

        Within a distance r of all weights together, w_r - w_s moves by at most sqrt(2) r.
        """
        if self.n_classes == 2:
            return super().settled(scores, reach)
        first_two = np.partition(scores, self.n_classes - 2, axis=1)[:, -2:]
        return np.asarray(first_two[:, 1] - first_two[:, 0] > np.sqrt(2.0) * reach.max(axis=1))
