"""What is said of a search, on scores made up for the purpose."""

from types import SimpleNamespace

import numpy as np

from pegasos.tuning.account import account
from pegasos.tuning.race import Race
from pegasos.tuning.space import Setting, Space
from pegasos.tuning.trials import Trial

SPACE = Space.of(np.eye(4), "rows", 2, class_weights=(None,), rng=np.random.default_rng(0))


def trial(number, family, scores, *, finished=True):
    made = Trial(
        SimpleNamespace(number=number), Setting(family, "none", 1.0, {"gamma": 1.0} if family == "rbf" else {})
    )
    made.scores, made.climbed, made.is_finished, made.n_rows = list(scores), [(100, scores[0])], finished, 100
    return made


def told(*trials):
    return account(Race(2, 1.0, list(trials)), SPACE, metric="accuracy", reason="the time budget ended", seconds=1.0)


def test_of_a_fit_that_the_certificate_settled_no_more_is_said_than_that_it_stays_ahead_on_its_fold():
    settled = trial(0, "linear", [0.8, 0.9])
    settled.n_proved = 1
    assert told(settled).endswith(
        "For 1 fit the certificate proved, before training on, that an exact solution scores above the best so far on "
        "that fold."
    )


def test_a_tie_is_called_a_tie():
    both = told(trial(0, "linear", [0.8, 0.9]), trial(1, "rbf", [0.8, 0.9]))
    assert "RBF kernel 0.8500; the best of them is as good as the winner." in both
    fewer = told(trial(0, "linear", [0.8, 0.9]), trial(1, "rbf", [0.86], finished=False))
    assert "RBF kernel 0.8600; on fewer folds, and not clearly ahead on the folds that they share" in fewer
