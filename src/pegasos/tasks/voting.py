"""Classification by the votes of the pairs of classes only, as in LIBSVM."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pegasos.tasks.base import Scores
from pegasos.tasks.one_vs_one import OneVsOne, pairs_of


class Voting(OneVsOne):
    """Pairs of classes decided by votes only: among classes with equally many votes the first one wins."""

    nu_may_be_small = True

    def why_nu_is_small(self, least: float) -> str:
        """Explain why no solution spends less than this share."""
        return "no plane has a margin above 0 on both sides with as few"

    def winners(self, scores: Scores) -> npt.NDArray[np.intp]:
        """The number of the class with the most votes."""
        if self.n_classes == 2:
            return np.asarray(scores[:, 0] >= 0.0, np.intp)
        return np.asarray(self._votes(scores >= 0.0, scores < 0.0).argmax(axis=1))

    def settled(self, scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
        """Whether the winner's certain votes exceed the most that any other class can have."""
        if self.n_classes == 2:
            return super().settled(scores, reach)
        sure = self._votes(scores > reach, scores < -reach)
        possible = self._votes(scores >= -reach, scores <= reach)
        winner = self.winners(scores)[:, None]
        ahead = np.take_along_axis(sure, winner, axis=1) > possible
        np.put_along_axis(ahead, winner, True, axis=1)
        return np.asarray(ahead.all(axis=1))

    def _votes(self, for_second: npt.NDArray[np.bool_], for_first: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        votes = np.zeros((len(for_first), self.n_classes), np.intp)
        for k, (i, j) in enumerate(pairs_of(self.n_classes)):
            votes[:, i] += for_first[:, k]
            votes[:, j] += for_second[:, k]
        return votes
