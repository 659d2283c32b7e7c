"""One fit and its score: loose, tightened where it may win, settled where the certificate says so."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import get_scorer

from pegasos import PegasosClassifier
from pegasos.errors import PegasosError
from pegasos.estimators.assembly import with_fit
from pegasos.solution import Status
from pegasos.tuning.probe import Look
from pegasos.tuning.space import Setting, Space
from pegasos.tuning.trials import Examiner

rng = np.random.default_rng(0)
y = np.arange(300) % 2
X = rng.normal(size=(300, 4)) + 0.8 * y[:, None]
FOLD = (np.arange(200), np.arange(200, 300))
LINEAR = Setting("linear", "standard", 1.0)


def examiner_of(X=X, y=y, metric="accuracy", kind="rows", scorer=None):
    space = Space.of(X, kind, 2, class_weights=(None,), rng=np.random.default_rng(0))
    scorer = scorer or get_scorer(metric)
    return Examiner(space, X, y, [FOLD], scorer, metric, metric == "accuracy", 0, None)


def exact_score(setting, examiner):
    model = examiner.space.pipeline(setting, 200, tol=1e-10)
    return model.fit(X[FOLD[0]], y[FOLD[0]]).score(X[FOLD[1]], y[FOLD[1]])


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_where_the_certificate_settles_a_score_the_exact_solution_has_it_too_or_wins_as_well(C):
    examiner, setting = examiner_of(), Setting("linear", "standard", C)
    marks = {rival: examiner.examine(setting, 0, 200, limit=None, rival=rival) for rival in (0.0, 0.3, 0.7)}
    assert C > 0.01 or marks[0.0].is_proved
    for rival, mark in marks.items():
        if mark.is_proved:
            exact = exact_score(setting, examiner)
            assert exact == mark.score or exact > rival


def test_the_certificate_settles_a_fit_whose_rows_are_all_certain():
    # Far from the boundary, and well regularized: every exact solution predicts the same.
    apart = X + 20.0 * y[:, None]
    examiner = examiner_of(apart)
    assert examiner.examine(Setting("linear", "standard", 0.01), 0, 200, limit=None, rival=0.0).is_proved


def test_a_fit_that_may_win_is_tightened_and_one_that_cannot_is_not():
    seen = []

    def scorer(model, rows, truth):
        seen.append(model.certificate_.relative_gap)
        return 0.8

    examiner = examiner_of(metric="custom", scorer=scorer)
    examiner.examine(LINEAR, 0, 200, limit=None, rival=0.9)
    assert len(seen) == 1
    examiner.examine(LINEAR, 0, 200, limit=None, rival=0.7)
    assert len(seen) == 3
    assert seen[-1] <= 1e-3


def test_a_matrix_of_items_is_computed_once_for_all_folds_and_all_lam(monkeypatch):
    words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"] * 50
    labels = np.array([0, 0, 0, 1, 1, 1] * 50)
    examiner = examiner_of(words, labels, kind="strings")
    for C in (0.1, 10.0):
        mark = examiner.examine(Setting("spectrum", "none", C, {"k": 2}), 0, 200, limit=None, rival=1.0)
        assert mark.score == 1.0
    assert len(examiner.matrices) == 1


def test_the_score_of_a_matrix_is_that_of_the_kernel():
    words = ["".join(rng.choice(list("abcd"), 6)) for _ in range(300)]
    labels = np.array([word.count("a") > 1 for word in words]).astype(int)
    examiner, setting = examiner_of(words, labels, kind="strings"), Setting("spectrum", "none", 10.0, {"k": 2})
    mark = examiner.examine(setting, 0, 200, limit=None, rival=0.0)
    model = examiner.space.pipeline(setting, 200).fit(words[:200], labels[:200])
    assert mark.score == pytest.approx(model.score(words[200:], labels[200:]), abs=0.02)


def test_a_kernel_matrix_that_would_take_too_much_of_the_budget_is_not_begun():
    words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"] * 50
    examiner = examiner_of(words, np.array([0, 0, 0, 1, 1, 1] * 50), kind="strings")
    settings = [Setting("spectrum", "none", 1.0, {"k": k}) for k in (1, 2, 3)]
    for setting in settings:
        examiner.space.probe.looks[repr(examiner.space.kernel(setting))] = Look(1.0, 0.001, 1e-4)  # 9.3 s
    examiner.examine(settings[0], 0, 200, limit=1e-4, rival=1.0)  # the first one is tried, whatever it takes
    with pytest.raises(PegasosError, match=r"its kernel matrix would take about 9.3 s, too much of the time budget"):
        examiner.examine(settings[1], 0, 200, limit=3.0, rival=1.0)
    examiner.examine(settings[1], 0, 200, limit=3.2, rival=1.0)
    examiner.examine(settings[2], 0, 200, limit=None, rival=1.0)


def test_a_fit_that_is_interrupted_says_so(monkeypatch):
    fit = PegasosClassifier.fit

    def interrupted(self, X, y):
        fit(self, X, y)
        proof = replace(self.fitted_.proof, status=Status.INTERRUPTED)
        with_fit(self, replace(self.fitted_, proof=proof), X.shape[1])

    monkeypatch.setattr(PegasosClassifier, "fit", interrupted)
    assert examiner_of().examine(LINEAR, 0, 200, limit=None, rival=0.0).is_interrupted


def test_a_score_that_cannot_be_computed_raises_an_error():
    with pytest.raises(PegasosError, match="scoring='neg_log_loss' cannot be computed here"):
        examiner_of(metric="neg_log_loss").examine(LINEAR, 0, 200, limit=None, rival=0.0)


def test_what_is_trained_on_is_the_beginning_of_the_fold(monkeypatch):
    sizes = []
    fit = PegasosClassifier.fit
    monkeypatch.setattr(PegasosClassifier, "fit", lambda self, X, y: sizes.append(len(y)) or fit(self, X, y))
    examiner_of().examine(LINEAR, 0, 50, limit=None, rival=1.0)
    assert sizes == [50]


def test_a_setting_that_is_trained_on_a_sample_is_scored_on_as_many_rows_and_at_least_1000(monkeypatch):
    asked = []
    examiner = examiner_of(metric="custom", scorer=lambda model, rows, truth: asked.append(len(truth)) or 0.5)
    monkeypatch.setattr("pegasos.tuning.trials._FEWEST_ASKED", 60)
    for n_rows in (50, 80, 200):
        examiner.examine(LINEAR, 0, n_rows, limit=None, rival=1.0)
    assert asked == [60, 80, 100]
