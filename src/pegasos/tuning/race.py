"""Which settings continue: those that cannot win, or very probably do not, are dropped early.

Three rules, all of which compare scores on the same folds; a setting that is trained on a sample of the rows is also
scored on a sample:

- from a sample of the rows, a setting continues to the next larger one if it is among the best third of its family so
  far (successive halving, as in Li et al. 2020, "A system for massively parallel hyperparameter tuning"): within its
  family, because a more flexible machine gains more from more rows;
- after some of the folds, it is dropped if perfect scores in all others would not make it the best;
- or if it is worse than the best on those folds by more than 1.5 standard errors of a mean of that many folds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from pegasos.tuning.trials import Trial

_KEPT = 3  # one of this many settings continues to more rows
_DOUBT = 1.5  # standard errors; the best was probably lucky on some folds, so a smaller lead says little


@dataclass
class Race:
    """What has been seen so far.

    Attributes
    ----------
    n_folds : int
    perfect : float
        The highest score there can be; infinite where that is not known.
    deal : int
        Folds of one repetition, if cross-validation is repeated; 0 if not.
    """

    n_folds: int
    perfect: float
    trials: list[Trial] = field(default_factory=list)
    deal: int = 0

    @property
    def best(self) -> Trial | None:
        """The finished trial with the highest mean; before there is one, that of a whole repetition or most folds."""
        # In a tie the first one, which is the simpler one, since the search begins with simple settings.
        seen = [trial for trial in self.trials if trial.climbed and not trial.has_failed]
        return max(seen, key=lambda trial: (*self._progress(trial), trial.mean, -trial.number), default=None)

    @property
    def winner(self) -> Trial | None:
        """The best, unless the end of the search cut a trial short that is clearly ahead on the folds they share."""
        best = self.best
        if best is None or not best.is_finished:
            return best
        ahead = [
            (self._ahead(trial, best), trial) for trial in self.trials if not (trial.is_finished or trial.has_failed)
        ]
        most, trial = max(ahead, key=lambda pair: pair[0], default=(0.0, best))
        return trial if most > 0.0 else best

    def _ahead(self, trial: Trial, best: Trial) -> float:
        """How far a trial is ahead of the best, beyond the noise."""
        done = len(trial.scores)
        if not done:
            return -math.inf
        return trial.mean - float(np.mean(best.scores[:done])) - self.noise / math.sqrt(done)

    @property
    def noise(self) -> float:
        """The standard deviation of a score from fold to fold, of finished trials."""
        spreads = [np.var(trial.scores, ddof=1) for trial in self.trials if trial.is_finished and len(trial.scores) > 1]
        return float(np.sqrt(np.mean(spreads))) if spreads else 0.0

    def may_climb(self, trial: Trial) -> bool:
        """Whether a setting continues from the sample it was last trained on to more rows."""
        n_rows, score = trial.climbed[-1]
        rivals = [
            other_score
            for other in self.trials
            if other is not trial and other.setting.family == trial.setting.family
            for other_rows, other_score in other.climbed
            if other_rows == n_rows
        ]
        return sum(other > score for other in rivals) < math.ceil((len(rivals) + 1) / _KEPT)

    def lost(self, trial: Trial) -> str | None:
        """Why a setting is dropped after the folds so far; None if it continues."""
        best, done = self.best, len(trial.scores)
        if best is None or best is trial or not best.is_finished:
            return None
        most = (sum(trial.scores) + self.perfect * (self.n_folds - done)) / self.n_folds
        after = f"after {done} of {self.n_folds} folds"
        if most <= best.mean:
            return f"given up {after}: even perfect scores in the others would not win"
        behind = float(np.mean(best.scores[:done])) - trial.mean
        if behind > _DOUBT * self.noise / math.sqrt(done):
            return f"given up {after}: {behind:.4f} behind the best"
        return None

    def rival(self, fold: int) -> float:
        """The score on a fold from which on a setting may become the best one; none as long as there is no best."""
        best = self.best
        return math.inf if best is None or not best.is_finished else best.scores[fold]

    def estimate(self, trial: Trial) -> float:
        """The mean that a trial would have over all folds of all rows, if it kept its distance from the best."""
        best, done = self.best, len(trial.scores)
        if best is None or trial.is_finished or not best.is_finished:
            return trial.mean
        if done:
            return best.mean + trial.mean - float(np.mean(best.scores[:done]))
        n_rows, score = trial.climbed[-1]
        return best.mean + score - dict(best.climbed).get(n_rows, best.mean)

    def _progress(self, trial: Trial) -> tuple[int, int, int]:
        if trial.is_finished:
            return (2, 0, 0)
        if self.deal and len(trial.scores) >= self.deal:
            return (1, 0, 0)
        return (0, len(trial.scores), trial.climbed[-1][0])
