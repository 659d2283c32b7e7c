"""What a search found, as a table and in plain words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from pegasos.tuning.race import Race
from pegasos.tuning.space import Space
from pegasos.tuning.trials import Trial


def leaderboard(race: Race, space: Space) -> list[dict[str, Any]]:
    """One row a trial: the winner, then those examined on all folds, then those given up, the later the higher."""
    winner = race.winner
    ranked = sorted(
        (trial for trial in race.trials if trial.climbed),
        key=lambda trial: (trial is not winner, not trial.is_finished, -len(trial.scores), -trial.mean, trial.number),
    )
    rows = [
        {
            "rank": rank,
            "score": trial.mean,
            "spread": _spread(trial),
            "folds": len(trial.scores),
            "finished": trial.is_finished,
            "rows": trial.n_rows,
            **space.as_row(trial.setting),
            "trial": trial.number,
            "seconds": trial.seconds,
            "ended_at": trial.ended_at,
            "verdict": trial.verdict,
        }
        for rank, trial in enumerate(ranked, 1)
    ]
    empty = {key for key in (rows[0] if rows else ()) if all(row[key] is None for row in rows)}
    return [{key: value for key, value in row.items() if key not in empty} for row in rows]


def _spread(trial: Trial) -> float | None:
    return float(np.std(trial.scores, ddof=1)) if len(trial.scores) > 1 else None


def account(race: Race, space: Space, *, metric: str, reason: str, seconds: float) -> str:
    """Why this one won, in a few sentences."""
    best = race.winner
    assert best is not None
    sentences = [_effort(race, space, reason, seconds), _winner(race, space, best, metric)]
    sentences += [_against(race, space, best, "family"), _against(race, space, best, "scaling"), _proofs(race)]
    return " ".join(sentence for sentence in sentences if sentence)


def _effort(race: Race, space: Space, reason: str, seconds: float) -> str:
    tried = [trial for trial in race.trials if trial.climbed]
    counts = Counter(trial.setting.family for trial in tried)
    listed = ", ".join(f"{count} with the {space.families[name].words}" for name, count in counts.items())
    finished = sum(trial.is_finished for trial in tried)
    noun = "setting was" if len(tried) == 1 else "settings were"
    return (
        f"{len(tried)} {noun} tried in {seconds:.1f} s, until {reason}: {listed}; {finished} went through all folds, "
        f"{len(tried) - finished} did not."
    )


def _winner(race: Race, space: Space, best: Trial, metric: str) -> str:
    words = space.in_words(best.setting)
    spread = _spread(best)
    noise = "" if spread is None else f" (standard deviation {spread:.4f} from fold to fold)"
    n_folds = len(best.scores)
    where = f"the mean of {n_folds} folds" if n_folds > 1 else "on one fold"
    return f"The best is the {words}: {metric} {best.mean:.4f}, {where} of {best.n_rows} training rows{noise}."


def _against(race: Race, space: Space, best: Trial, what: str) -> str:
    """The best among those that differ from the winner in one respect."""
    mine = getattr(best.setting, what)
    found: dict[str, Trial] = {}
    for trial in race.trials:
        name = getattr(trial.setting, what)
        is_rival = name != mine and (what == "family" or trial.setting.family == best.setting.family)
        if is_rival and trial.scores and (name not in found or trial.mean > found[name].mean):
            found[name] = trial
    if not found:
        return ""
    rivals = sorted(found.items(), key=lambda pair: -pair[1].mean)
    listed = ", ".join(f"{_name(space, what, name)} {trial.mean:.4f}" for name, trial in rivals)
    weight = _weight(race, best, rivals[0][1])
    words = space.families[best.setting.family].words
    label = "Other machines" if what == "family" else f"Other scalings with the {words}"
    return f"{label} reached at most: {listed}; {weight}."


def _name(space: Space, what: str, name: str) -> str:
    return space.families[name].words if what == "family" else name


def _weight(race: Race, best: Trial, rival: Trial) -> str:
    ahead = best.mean - rival.mean
    error = race.noise / np.sqrt(max(len(best.scores), 1))
    if ahead == 0.0 and len(rival.scores) == len(best.scores):
        return "the best of them is as good as the winner"
    if ahead <= 0.0:
        fewer = "on fewer folds, and " if len(rival.scores) < len(best.scores) else ""
        return f"{fewer}not clearly ahead on the folds that they share with the winner"
    if ahead < error:
        return f"{ahead:.4f} behind, which is within the noise of {error:.4f}: they may be as good"
    return f"{ahead:.4f} behind, more than the noise of {error:.4f}"


def _proofs(race: Race) -> str:
    n_proved = sum(trial.n_proved for trial in race.trials)
    if not n_proved:
        return ""
    fits = "fit" if n_proved == 1 else "fits"
    return (
        f"For {n_proved} {fits} the certificate proved, before training on, that an exact solution scores above the "
        "best so far on that fold."
    )
